//! The smallest conjunction of conditions that agrees with all answers: every condition holds where the failure was
//! seen, and each passing case breaks one. Knows values and prices; asks nobody.

use case::{Atom, Quantity};

use super::terms::{Facts, Term, Terms};

/// Price of a condition of each form, before what it is about.
const THRESHOLD: u32 = 100;
const EXACT: u32 = 104;
const RESIDUE: u32 = 120;
const DIFFERS: u32 = 130;
const NOT_RESIDUE: u32 = 140;
const ONE_OF: u32 = 100;
const NONE_OF: u32 = 107;
const WORD: u32 = 5;

/// Moduli of remainders that are looked for, the likeliest first.
const MODULI: [i64; 18] = [2, 4, 8, 16, 32, 64, 3, 6, 12, 24, 48, 5, 10, 20, 40, 7, 9, 15];

/// Moduli of remainders that may be excluded.
const EXCLUDED: [i64; 8] = [4, 8, 16, 32, 64, 3, 5, 7];

/// Highest price of a quantity of which single values and remainders may be excluded. Excluding those of sizes and
/// products words each exception instead of a rule: exceptions are better counted than worded.
const PLAIN_ENOUGH: u32 = 10;

/// Steps of one search for the smallest conjunction.
const STEPS_MAX: u32 = 5_000;

/// A test of one case's facts.
#[derive(Clone, Debug, PartialEq)]
enum Test {
    Equal(usize, i64),
    Differs(usize, i64),
    AtMost(usize, i64),
    AtLeast(usize, i64),
    Residue(usize, i64, i64),
    NotResidue(usize, i64, i64),
    OneOf(usize, Vec<String>),
    NoneOf(usize, Vec<String>),
}

impl Test {
    fn holds(&self, facts: &Facts) -> bool {
        let known = |term: &usize, test: &dyn Fn(i64) -> bool| facts.numbers[*term].is_some_and(test);
        match self {
            Self::Equal(term, value) => known(term, &|seen| seen == *value),
            Self::Differs(term, value) => known(term, &|seen| seen != *value),
            Self::AtMost(term, most) => known(term, &|seen| seen <= *most),
            Self::AtLeast(term, least) => known(term, &|seen| seen >= *least),
            Self::Residue(term, modulus, rest) => known(term, &|seen| seen.rem_euclid(*modulus) == *rest),
            Self::NotResidue(term, modulus, rest) => known(term, &|seen| seen.rem_euclid(*modulus) != *rest),
            Self::OneOf(property, words) => words.contains(&facts.words[*property]),
            Self::NoneOf(property, words) => !words.contains(&facts.words[*property]),
        }
    }
}

/// A condition that holds wherever the failure was seen.
#[derive(Clone, Debug)]
pub(super) struct Condition {
    pub(super) atom: Atom,
    /// What it costs in a conjunction.
    pub(super) price: u32,
    test: Test,
    /// Which of the passing cases break it, by position.
    excludes: Vec<u64>,
}

impl Condition {
    pub(super) fn holds(&self, facts: &Facts) -> bool {
        self.test.holds(facts)
    }
}

/// A conjunction that agrees with the answers.
#[derive(Clone, Debug, Default)]
pub(super) struct Fit {
    pub(super) conditions: Vec<Condition>,
    /// True where no further question was known that could have told it from a rival.
    pub(super) settled: bool,
    /// True where it speaks of the number of axes of the case alone, because no conjunction covers others as well.
    pub(super) narrowed: bool,
}

impl Fit {
    /// What its conditions cost together.
    pub(super) fn price(&self) -> u32 {
        self.conditions.iter().map(|condition| condition.price).sum()
    }

    pub(super) fn contains(&self, facts: &Facts) -> bool {
        self.conditions.iter().all(|condition| condition.holds(facts))
    }

    /// The only condition that a case breaks; `None` where it breaks none or several.
    pub(super) fn broken_alone(&self, facts: &Facts) -> Option<usize> {
        let mut broken = (0..self.conditions.len()).filter(|place| !self.conditions[*place].holds(facts));
        broken.next().filter(|_| broken.next().is_none())
    }
}

/// What was seen, by outcome.
pub(super) struct Seen<'a> {
    pub(super) failing: Vec<&'a Facts>,
    pub(super) passing: Vec<&'a Facts>,
}

/// All conditions that hold wherever the failure was seen and that some passing case breaks.
pub(super) fn conditions(terms: &Terms, seen: &Seen<'_>) -> Vec<Condition> {
    let mut found = Vec::new();
    for (place, term) in terms.numbers.iter().enumerate() {
        let failing: Option<Vec<i64>> = seen.failing.iter().map(|facts| facts.numbers[place]).collect();
        let Some(mut failing) = failing else { continue };
        let mut passing: Vec<i64> = seen.passing.iter().filter_map(|facts| facts.numbers[place]).collect();
        for values in [&mut failing, &mut passing] {
            values.sort_unstable();
            values.dedup();
        }
        if let (false, [.., _]) = (passing.is_empty(), failing.as_slice()) {
            numeric(place, term, (&failing, &passing), &mut found);
        }
    }
    for place in 0..terms.properties.len() {
        words(terms, place, seen, &mut found);
    }
    for condition in &mut found {
        condition.excludes = excluded(&condition.test, &seen.passing);
    }
    found.retain(|condition| condition.excludes.iter().any(|part| *part != 0));
    found
}

/// The condition that the number of axes is that one.
pub(super) fn of_rank(terms: &Terms, rank: i64, seen: &Seen<'_>) -> Option<Condition> {
    let place = terms.numbers.iter().position(|term| term.quantity == Quantity::Rank)?;
    let test = Test::Equal(place, rank);
    let excludes = excluded(&test, &seen.passing);
    Some(Condition { atom: Atom::Equal(Quantity::Rank, rank), price: EXACT, test, excludes })
}

fn excluded(test: &Test, passing: &[&Facts]) -> Vec<u64> {
    let mut bits = vec![0_u64; passing.len().div_ceil(64)];
    for (position, facts) in passing.iter().enumerate() {
        if !test.holds(facts) {
            bits[position / 64] |= 1 << (position % 64);
        }
    }
    bits
}

/// Conditions on one quantity; both lists are sorted, without doubles, and not empty.
fn numeric(place: usize, term: &Term, (failing, passing): (&[i64], &[i64]), found: &mut Vec<Condition>) {
    let (least, most) = (failing[0], failing[failing.len() - 1]);
    let of = || term.quantity.clone();
    let mut push = |atom: Atom, price: u32, test: Test| {
        found.push(Condition { atom, price: price + term.price, test, excludes: Vec::new() });
    };
    let (below, above) = (passing[0] < least, passing[passing.len() - 1] > most);
    if below {
        push(Atom::AtLeast(of(), least), THRESHOLD, Test::AtLeast(place, least));
    }
    if above {
        push(Atom::AtMost(of(), most), THRESHOLD, Test::AtMost(place, most));
    }
    if term.is_remainder {
        return;
    }
    if least == most && below && above {
        push(Atom::Equal(of(), least), EXACT, Test::Equal(place, least));
    }
    if term.price > PLAIN_ENOUGH {
        return;
    }
    let inside = passing.iter().filter(|value| (least..=most).contains(*value));
    for value in inside.filter(|value| failing.binary_search(value).is_err()).take(4) {
        push(Atom::Differs(of(), *value), DIFFERS, Test::Differs(place, *value));
    }
    if !term.residues || failing.len() < 2 {
        return;
    }
    for (step, modulus) in (0..).zip(MODULI) {
        let rest = least.rem_euclid(modulus);
        if failing.iter().all(|value| value.rem_euclid(modulus) == rest) {
            push(Atom::Residue(of(), modulus, rest), RESIDUE + step, Test::Residue(place, modulus, rest));
        }
    }
    for (step, modulus) in (0..).zip(EXCLUDED) {
        let mut rests: Vec<i64> = passing.iter().map(|value| value.rem_euclid(modulus)).collect();
        rests.sort_unstable();
        rests.dedup();
        rests.retain(|rest| failing.iter().all(|value| value.rem_euclid(modulus) != *rest));
        for rest in rests.into_iter().take(4) {
            let test = Test::NotResidue(place, modulus, rest);
            push(Atom::NotResidue(of(), modulus, rest), NOT_RESIDUE + step, test);
        }
    }
}

fn words(terms: &Terms, place: usize, seen: &Seen<'_>, found: &mut Vec<Condition>) {
    let property = terms.properties[place];
    let collect = |of: &[&Facts]| {
        let mut words: Vec<String> = of.iter().map(|facts| facts.words[place].clone()).collect();
        words.sort_unstable();
        words.dedup();
        words
    };
    let failing = collect(&seen.failing);
    let mut passing = collect(&seen.passing);
    passing.retain(|word| !failing.contains(word));
    if passing.is_empty() {
        return;
    }
    let price = |words: &[String]| WORD * u32::try_from(words.len()).unwrap_or(u32::MAX / WORD);
    found.push(Condition {
        price: ONE_OF + price(&failing),
        atom: Atom::OneOf(property, failing.clone()),
        test: Test::OneOf(place, failing),
        excludes: Vec::new(),
    });
    found.push(Condition {
        price: NONE_OF + price(&passing),
        atom: Atom::NoneOf(property, passing.clone()),
        test: Test::NoneOf(place, passing),
        excludes: Vec::new(),
    });
}

fn union(one: &[u64], other: &[u64]) -> Vec<u64> {
    one.iter().zip(other).map(|(one, other)| one | other).collect()
}

fn contains_all(whole: &[u64], part: &[u64]) -> bool {
    whole.iter().zip(part).all(|(whole, part)| part & !whole == 0)
}

/// The cheapest conjunction that excludes every passing case that can be excluded.
pub(super) fn cheapest(conditions: &[Condition]) -> Fit {
    let Some(first) = conditions.first() else { return Fit::default() };
    let target = conditions
        .iter()
        .fold(vec![0; first.excludes.len()], |all, condition| union(&all, &condition.excludes));
    let conditions = leaders(conditions);
    let order = hardest_first(&conditions, &target);
    let mut search = Search { conditions, order, best: None, steps: 0 };
    let nothing = vec![0; first.excludes.len()];
    search.extend(&mut Vec::new(), &nothing, 0);
    let chosen = search.best.map(|(_, chosen)| chosen).unwrap_or_default();
    Fit {
        conditions: chosen.into_iter().map(|place| search.conditions[place].clone()).collect(),
        ..Fit::default()
    }
}

/// Conditions that no cheaper one makes superfluous, the cheapest first.
fn leaders(conditions: &[Condition]) -> Vec<&Condition> {
    let mut sorted: Vec<&Condition> = conditions.iter().collect();
    sorted.sort_by_key(|condition| condition.price);
    let mut kept: Vec<&Condition> = Vec::new();
    for condition in sorted {
        if !kept.iter().any(|leader| contains_all(&leader.excludes, &condition.excludes)) {
            kept.push(condition);
        }
    }
    kept
}

struct Search<'a> {
    conditions: Vec<&'a Condition>,
    /// Passing cases that can be excluded, those that the fewest conditions exclude first.
    order: Vec<usize>,
    best: Option<(u32, Vec<usize>)>,
    steps: u32,
}

impl Search<'_> {
    /// Tries every way to exclude the passing case that the fewest conditions exclude.
    fn extend(&mut self, chosen: &mut Vec<usize>, excluded: &[u64], price: u32) {
        self.steps += 1;
        let Some(open) = self.order.iter().copied().find(|position| !has(excluded, *position)) else {
            if self.best.as_ref().is_none_or(|(best, _)| price < *best) {
                self.best = Some((price, chosen.clone()));
            }
            return;
        };
        for place in 0..self.conditions.len() {
            let condition = self.conditions[place];
            let sum = price + condition.price;
            if !has(&condition.excludes, open) {
                continue;
            }
            let hopeless = self.best.as_ref().is_some_and(|(best, _)| sum >= *best);
            if hopeless || (self.steps > STEPS_MAX && self.best.is_some()) {
                break;
            }
            chosen.push(place);
            self.extend(chosen, &union(excluded, &condition.excludes), sum);
            chosen.pop();
        }
    }
}

fn has(bits: &[u64], position: usize) -> bool {
    bits[position / 64] >> (position % 64) & 1 == 1
}

fn hardest_first(conditions: &[&Condition], target: &[u64]) -> Vec<usize> {
    let positions = (0..target.len() * 64).filter(|position| has(target, *position));
    let count = |position: usize| conditions.iter().filter(|one| has(&one.excludes, position)).count();
    let mut counted: Vec<(usize, usize)> = positions.map(|position| (count(position), position)).collect();
    counted.sort_unstable();
    counted.into_iter().map(|(_, position)| position).collect()
}

/// Conditions that could stand in for the one at a place, every answer being the same: what still has to be told
/// apart.
pub(super) fn rivals<'a>(fit: &Fit, place: usize, conditions: &'a [Condition]) -> Vec<&'a Condition> {
    let own = &fit.conditions[place];
    let others = fit.conditions.iter().enumerate().filter(|(other, _)| *other != place);
    let covered = others.fold(vec![0; own.excludes.len()], |all, (_, other)| union(&all, &other.excludes));
    let needed: Vec<u64> = own.excludes.iter().zip(&covered).map(|(own, covered)| own & !covered).collect();
    let mut rivals: Vec<&Condition> = conditions
        .iter()
        .filter(|rival| rival.test != own.test && contains_all(&rival.excludes, &needed))
        .collect();
    rivals.sort_by_key(|rival| rival.price);
    rivals
}
