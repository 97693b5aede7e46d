//! What a climb tells: a line a rung as it is climbed, then where it broke, what that means and what to run next; or
//! all of it as JSON. Knows words and the exit code; climbs nothing.

use case::{Case, EngineChoice};
use ladder::{Break, Meaning, Rung, Seen, Standing, Stress, Trouble};
use serde::Serialize;

use crate::args::{Devices, Ladder};
use crate::failure::{CLEAN, ELSEWHERE, FOUND, Failure, MACHINE, UNJUDGED};
use crate::screen::outln;

/// Breaks of a rung that are printed; JSON has all.
const BREAKS_PRINTED: usize = 5;

/// What `--json` prints.
#[derive(Serialize)]
struct Report<'run> {
    set: &'run str,
    under: &'run [Stress],
    rungs: &'run [Seen],
    /// The lowest rung that broke.
    broke_at: Option<Rung>,
    trouble: Option<Trouble>,
    means: Option<&'run str>,
    next: &'run [String],
}

/// A climb and how it is told.
pub(super) struct Told<'run> {
    arguments: &'run Ladder,
    under: Vec<Stress>,
    /// The library set, once it is known.
    pub(super) set: String,
    seen: Vec<Seen>,
}

impl<'run> Told<'run> {
    pub(super) fn new(arguments: &'run Ladder, under: Vec<Stress>) -> Self {
        Self { arguments, under, set: String::new(), seen: Vec::new() }
    }

    /// Tells of a rung.
    pub(super) fn add(&mut self, seen: Seen) {
        let asked = seen.rung == Rung::Answers || self.asks_for(seen.rung);
        if !self.arguments.json && asked {
            print(&seen);
        }
        self.seen.push(seen);
    }

    /// True where any rung broke.
    pub(super) fn broke(&self) -> bool {
        self.first().is_some()
    }

    /// True where machine or libraries can't be used any further.
    pub(super) fn is_lost(&self) -> bool {
        self.breaks().any(|found| matches!(found.trouble, Trouble::Unusable | Trouble::Unhealthy))
    }

    fn breaks(&self) -> impl Iterator<Item = &Break> {
        self.seen.iter().flat_map(|seen| &seen.breaks)
    }

    /// The lowest rung that broke, and what counts most there.
    fn first(&self) -> Option<(Rung, &Break)> {
        self.seen.iter().find_map(|seen| Some((seen.rung, seen.breaks.first()?)))
    }

    /// Tells of the rungs that nobody climbed, where it broke and what that means; gives the exit code.
    pub(super) fn finish(mut self, why: &str) -> Result<u8, Failure> {
        for rung in Rung::ALL {
            if self.seen.iter().all(|seen| seen.rung != rung) {
                self.add(Seen::unclimbed(rung, why));
            }
        }
        self.seen.sort_by_key(|seen| seen.rung);
        let meaning = self.first().map(|(rung, found)| self.meaning(rung, found));
        if self.arguments.json {
            let report = Report {
                set: &self.set,
                under: &self.under,
                rungs: &self.seen,
                broke_at: self.first().map(|(rung, _)| rung),
                trouble: self.first().map(|(_, found)| found.trouble),
                means: meaning.as_ref().map(|meaning| meaning.means.as_str()),
                next: meaning.as_ref().map_or(&[], |meaning| &meaning.next),
            };
            outln!("{}", serde_json::to_string(&report).map_err(|error| Failure::Ours(error.to_string()))?);
        } else if let (Some((rung, found)), Some(meaning)) = (self.first(), &meaning) {
            outln!("\nit broke at rung {}: {}", rung.number(), found.trouble.words());
            outln!("what that means: {}", meaning.means);
            for command in &meaning.next {
                outln!("next: {command}");
            }
        } else if self.is_whole() && self.arguments.rung.is_none() {
            outln!("\nevery rung held");
        } else {
            outln!("\nwhat was climbed held");
        }
        Ok(self.code())
    }

    /// True where nothing that was asked for was left out.
    fn is_whole(&self) -> bool {
        let mut asked = self.seen.iter().filter(|seen| self.asks_for(seen.rung));
        asked.all(|seen| seen.standing != Standing::Unclimbed)
    }

    fn asks_for(&self, rung: Rung) -> bool {
        self.arguments.rung.is_none_or(|one| one == rung.number())
    }

    /// A machine that is unfit without any pressure is no finding.
    fn code(&self) -> u8 {
        let stressed = self.under.iter().any(|stress| matches!(stress, Stress::Memory | Stress::SecondStack));
        match self.first() {
            Some((_, found)) if stressed && found.place != Rung::Answers.name() => FOUND,
            Some((_, found)) if found.trouble == Trouble::Unusable => MACHINE,
            Some((_, found)) if found.trouble == Trouble::Unhealthy => ELSEWHERE,
            Some(_) => FOUND,
            None if self.is_whole() => CLEAN,
            None => UNJUDGED,
        }
    }

    /// The meaning with its commands filled in; one that needs a case line is left out where there is none.
    fn meaning(&self, rung: Rung, found: &Break) -> Meaning {
        let under: &[Stress] = if found.place == Rung::Answers.name() { &[] } else { &self.under };
        let Meaning { means, next } = ladder::meaning(rung, found.trouble, under);
        let (machine, stress) = (machine(self.arguments), stress(self.arguments));
        let filled = |command: String| {
            let command = match &found.case {
                Some(case) => command.replace("{case}", case).replace("{problem}", &problem(case)),
                None if command.contains("{case}") || command.contains("{problem}") => return None,
                None => command,
            };
            Some(command.replace("{machine}", &machine).replace("{stress}", &stress))
        };
        Meaning { means, next: next.into_iter().filter_map(filled).collect() }
    }
}

fn print(seen: &Seen) {
    let standing = match seen.standing {
        Standing::Held => "held",
        Standing::Broke => "BROKE",
        Standing::Unclimbed => "-",
    };
    outln!("rung {}  {standing:<5}  {}: {}", seen.rung.number(), seen.name, seen.words);
    for note in &seen.notes {
        outln!("               {note}");
    }
    for found in seen.breaks.iter().take(BREAKS_PRINTED) {
        outln!("        {}: {}", found.place, found.summary);
        let again = found.again.map(|(hits, runs)| format!("came back in {hits} of {runs} fresh processes"));
        let alone = found.alone.map(|alone| match alone {
            true => "fails alone too",
            false => "alone, with the data of a check, it is right",
        });
        let known: Vec<&str> = again.as_deref().into_iter().chain(alone).collect();
        if !known.is_empty() {
            outln!("          {}", known.join("; "));
        }
        if let Some(case) = &found.case {
            outln!("          {case}");
        }
    }
    let more = seen.breaks.len().saturating_sub(BREAKS_PRINTED);
    if more > 0 {
        outln!("        and {more} more (--json has all)");
    }
}

/// The case line without its engine, so that all others are spoken of too; as it is where it cannot be read.
fn problem(line: &str) -> String {
    let Ok(mut case) = line.parse::<Case>() else { return line.to_owned() };
    case.options.engine = EngineChoice::Any;
    case.options.set = None;
    case.to_string()
}

/// The options that name libraries and device, as they were given.
fn machine(arguments: &Ladder) -> String {
    let mut words = String::new();
    let mut add = |option: &str, value: &std::path::Path| {
        words.push_str(&format!(" {option} {}", quoted(&value.to_string_lossy())));
    };
    let given = &arguments.machine;
    if let Some(folder) = &given.library {
        add("--library", folder);
    }
    for folder in &given.companion {
        add("--companion", folder);
    }
    if let Some(script) = &given.faults {
        add("--faults", script);
    }
    if let Some(folder) = &given.simulate {
        let folder = folder.to_string_lossy();
        words.push_str(" --simulate");
        if !folder.is_empty() {
            words.push_str(&format!("={}", quoted(&folder)));
        }
    }
    if let Devices::Listed(ordinals) = &arguments.device.device
        && let Some(ordinal) = ordinals.first().filter(|ordinal| **ordinal != 0)
    {
        words.push_str(&format!(" --device {ordinal}"));
    }
    words
}

/// The options of the pressure, as they were given.
fn stress(arguments: &Ladder) -> String {
    let mut words = String::new();
    if let Some(bytes) = arguments.memory_left {
        words.push_str(&format!(" --memory-left {bytes}"));
    }
    if arguments.fragment {
        words.push_str(" --fragment");
    }
    if let Some(bytes) = arguments.workspace_limit {
        words.push_str(&format!(" --workspace-limit {bytes}"));
    }
    if let Some(folder) = &arguments.second_stack {
        words.push_str(&format!(" --second-stack {}", quoted(&folder.to_string_lossy())));
    }
    words
}

/// A word that a shell takes as it is.
fn quoted(text: &str) -> String {
    let is_plain = |character: char| character.is_ascii_alphanumeric() || "-_./:=+,@%".contains(character);
    if !text.is_empty() && text.chars().all(is_plain) {
        return text.to_owned();
    }
    format!("'{}'", text.replace('\'', "'\\''"))
}

#[cfg(test)]
mod tests {
    use clap::{CommandFactory, Parser};

    use super::*;
    use crate::args::{Arguments, Command};

    fn arguments(words: &[&str]) -> Ladder {
        let all = ["convict", "ladder"].iter().chain(words);
        let Command::Ladder(arguments) = Arguments::try_parse_from(all).expect("arguments").command else {
            panic!("another command")
        };
        arguments
    }

    #[test]
    fn options_come_back_as_a_shell_takes_them() {
        let given =
            ["--library", "/a b/it's", "--simulate", "--device", "3", "--memory-left", "1MiB", "--fragment"];
        let given = arguments(&given);
        assert_eq!(machine(&given), " --library '/a b/it'\\''s' --simulate --device 3");
        assert_eq!(stress(&given), " --memory-left 1048576 --fragment");
        assert_eq!(machine(&arguments(&[])), "");
        assert_eq!(quoted(""), "''");
    }

    #[test]
    fn engines_are_listed_of_the_problem_without_the_engine_that_failed() {
        let given = arguments(&["--simulate"]);
        let told = Told::new(&given, Vec::new());
        let found = Break {
            trouble: Trouble::Wrong,
            place: "shapes".to_owned(),
            summary: String::new(),
            case: Some("maxpool f16 nhwc n8 c64 i14x14 f3x3 engine=3 knobs=2:1 set=9.19.0-full".to_owned()),
            again: None,
            alone: None,
        };
        let next = told.meaning(Rung::Shapes, &found).next;
        assert!(
            next[0].starts_with("convict minimize 'maxpool ") && next[0].contains(" engine=3 knobs=2:1 ")
        );
        let words = "convict engines 'maxpool f16 nhwc n8 c64 i14x14 f3x3' --simulate";
        assert!(next.iter().any(|command| command.starts_with(words)), "{next:?}");
        assert_eq!(problem("no case"), "no case");
    }

    #[test]
    fn every_command_of_every_meaning_is_one_of_convict_or_names_another_program() {
        let known: Vec<String> =
            Arguments::command().get_subcommands().map(|command| command.get_name().to_owned()).collect();
        for rung in Rung::ALL {
            for trouble in Trouble::ALL {
                for stress in [Stress::Memory, Stress::Workspace, Stress::SecondStack, Stress::StalePlans] {
                    for command in ladder::meaning(rung, trouble, &[stress]).next {
                        let mut words = command.split_whitespace();
                        if words.next() != Some("convict") {
                            continue;
                        }
                        let name = words.next().and_then(|name| name.split('{').next()).unwrap_or("");
                        assert!(known.iter().any(|one| one == name) || name == "doctor", "{command}");
                    }
                }
            }
        }
    }

    #[test]
    fn an_unfit_machine_is_no_finding_but_what_pressure_breaks_is() {
        let given = arguments(&[]);
        let code = |under: &[Stress], rung: Rung, trouble: Trouble, place: &str| {
            let mut told = Told::new(&given, under.to_vec());
            let mut seen = Seen::unclimbed(rung, "");
            seen.breaks.push(Break {
                trouble,
                place: place.to_owned(),
                summary: String::new(),
                case: None,
                again: None,
                alone: None,
            });
            told.seen.push(seen);
            told.code()
        };
        let place = Rung::Answers.name();
        assert_eq!(code(&[], Rung::Answers, Trouble::Unusable, place), 3);
        assert_eq!(code(&[], Rung::Shapes, Trouble::Unhealthy, "shapes"), 75);
        assert_eq!(code(&[Stress::Memory], Rung::Shapes, Trouble::Unhealthy, "shapes"), 1);
        assert_eq!(code(&[Stress::SecondStack], Rung::Answers, Trouble::Unusable, place), 3);
        assert_eq!(code(&[Stress::SecondStack], Rung::Answers, Trouble::Unusable, "pressed"), 1);
        assert_eq!(code(&[], Rung::Shapes, Trouble::Unusable, "shapes"), 3);
        assert_eq!(code(&[], Rung::Shapes, Trouble::Wrong, "shapes"), 1);
        let empty = Told::new(&given, Vec::new());
        assert_eq!(empty.code(), 0);
    }
}
