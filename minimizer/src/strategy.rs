//! Which case to try next: passes in their order, each value of each number, the closing sweep. Knows what was
//! adopted; asks nobody and judges nothing.

use std::collections::{HashMap, HashSet};

use case::Case;

use crate::edits::{self, Edit};
use crate::field::Field;
use crate::handle::Handle;
use crate::lowering::Lowering;
use crate::order::Key;
use crate::passes::{Pass, Proposals, SHORTCUT, STAGES};
use crate::repair::admit;

/// Name of the closing sweep in logs.
pub(crate) const SWEEP: &str = "sweep";

/// A valid case, smaller than the current one.
#[derive(Clone, Debug)]
pub(crate) struct Proposal {
    /// The pass that proposed it.
    pub(crate) pass: &'static str,
    pub(crate) case: Case,
}

/// Where the passes stand.
#[derive(Clone, Debug)]
pub(crate) struct Strategy {
    current: Case,
    /// The current case's place in the order.
    key: Key,
    /// The case at the start of the present round of stages.
    round: Case,
    place: Place,
    cursor: Cursor,
    /// Where an integer field stood when its search ended.
    settled: HashMap<Field, i64>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Place {
    Shortcut,
    Stage(usize),
    Sweep,
    Done,
}

#[derive(Clone, Debug)]
enum Cursor {
    /// The pass at this place has not begun.
    Before,
    Listed(Listed),
    Numbers(Numbers),
}

/// A list of edits; made anew after an adoption, names already tried are passed over.
#[derive(Clone, Debug)]
struct Listed {
    edits: std::vec::IntoIter<Edit>,
    tried: HashSet<String>,
}

/// Numbers that are lowered one after the other.
#[derive(Clone, Debug)]
struct Numbers {
    handles: std::vec::IntoIter<Handle>,
    open: Option<(Handle, Lowering)>,
    /// The value of the proposal that is out.
    probed: i64,
}

impl Strategy {
    pub(crate) fn new(original: &Case) -> Self {
        Self {
            current: original.clone(),
            key: Key::of(original),
            round: original.clone(),
            place: Place::Shortcut,
            cursor: Cursor::Before,
            settled: HashMap::new(),
        }
    }

    /// The best case so far.
    pub(crate) fn current(&self) -> &Case {
        &self.current
    }

    /// The next proposal, other than those that `skip` is true for; `None` at the end.
    pub(crate) fn propose(&mut self, skip: &mut dyn FnMut(&Case, bool) -> bool) -> Option<Proposal> {
        loop {
            let sweeping = self.place == Place::Sweep;
            let pass = self.begin()?;
            let Some(case) = self.advance(pass) else {
                self.turn();
                continue;
            };
            match admit(&self.current, &self.key, case).filter(|case| !skip(case, sweeping)) {
                Some(case) => return Some(Proposal { pass: pass.name, case }),
                None => self.decided(None),
            }
        }
    }

    /// Takes note of what became of the last proposal.
    pub(crate) fn decide(&mut self, adopted: Option<Case>) {
        self.decided(adopted);
    }

    /// Goes back to an earlier case and begins again from there.
    pub(crate) fn restart(&mut self, from: Case) {
        *self = Self { place: Place::Stage(0), ..Self::new(&from) };
    }

    /// The pass at the present place, begun where it has not been.
    fn begin(&mut self) -> Option<Pass> {
        let pass = match self.place {
            Place::Shortcut => SHORTCUT,
            Place::Stage(index) => *STAGES.get(index)?,
            Place::Sweep => Pass { name: SWEEP, proposals: Proposals::Listed(edits::list), unproven: false },
            Place::Done => return None,
        };
        if let Cursor::Before = self.cursor {
            self.cursor = match pass.proposals {
                Proposals::Listed(list) => {
                    Cursor::Listed(Listed { edits: list(&self.current).into_iter(), tried: HashSet::new() })
                }
                Proposals::Numbers(handles) => Cursor::Numbers(Numbers {
                    handles: handles(&self.current).into_iter(),
                    open: None,
                    probed: 0,
                }),
            };
        }
        Some(pass)
    }

    /// The next case of the present pass, as proposed; `None` at its end.
    fn advance(&mut self, pass: Pass) -> Option<Case> {
        match &mut self.cursor {
            Cursor::Before => None,
            Cursor::Listed(listed) => {
                let tried = &mut listed.tried;
                listed.edits.find(|edit| tried.insert(edit.name.clone())).map(|edit| edit.case)
            }
            Cursor::Numbers(numbers) => numbers.advance(&self.current, pass.unproven, &mut self.settled),
        }
    }

    fn decided(&mut self, adopted: Option<Case>) {
        let taken = adopted.is_some();
        if let Some(adopted) = adopted {
            self.key = Key::of(&adopted);
            self.current = adopted;
        }
        match &mut self.cursor {
            Cursor::Before => {}
            Cursor::Listed(_) if taken && self.place == Place::Sweep => self.enter(Place::Stage(0)),
            Cursor::Listed(listed) => {
                if taken && let Some(list) = listing(self.place) {
                    listed.edits = list(&self.current).into_iter();
                }
            }
            Cursor::Numbers(numbers) => numbers.decided(&self.current, taken),
        }
    }

    /// To the next pass, round or end.
    fn turn(&mut self) {
        let next = match self.place {
            Place::Shortcut => Place::Stage(0),
            Place::Stage(index) if index + 1 < STAGES.len() => Place::Stage(index + 1),
            Place::Stage(_) if self.round != self.current => Place::Stage(0),
            Place::Stage(_) => Place::Sweep,
            Place::Sweep | Place::Done => Place::Done,
        };
        self.enter(next);
    }

    fn enter(&mut self, place: Place) {
        if place == Place::Stage(0) {
            self.round = self.current.clone();
        }
        self.place = place;
        self.cursor = Cursor::Before;
    }
}

/// The list that a place goes through, where it is one.
fn listing(place: Place) -> Option<fn(&Case) -> Vec<Edit>> {
    let pass = match place {
        Place::Shortcut => SHORTCUT,
        Place::Stage(index) => *STAGES.get(index)?,
        Place::Sweep | Place::Done => return None,
    };
    match pass.proposals {
        Proposals::Listed(list) => Some(list),
        Proposals::Numbers(_) => None,
    }
}

impl Numbers {
    fn advance(&mut self, current: &Case, unproven: bool, settled: &mut HashMap<Field, i64>) -> Option<Case> {
        loop {
            if let Some((handle, lowering)) = &mut self.open {
                while let Some(probe) = lowering.probe() {
                    self.probed = probe;
                    match handle.set(current, probe) {
                        Some(case) => return Some(case),
                        None => lowering.learn(probe, handle.get(current), false),
                    }
                }
                if let Some(field) = handle.settles() {
                    settled.insert(field, field.get(current));
                }
            }
            let handle = self.handles.next()?;
            let value = handle.get(current);
            let lowering = if unproven {
                Lowering::unproven(handle.least(), value)
            } else {
                let stays = handle.settles().is_none_or(|field| settled.get(&field) == Some(&value));
                Lowering::new(handle.least(), value, stays)
            };
            self.open = Some((handle, lowering));
        }
    }

    fn decided(&mut self, current: &Case, taken: bool) {
        if let Some((handle, lowering)) = &mut self.open {
            // The smallest geometry of a size may be a little larger: what was asked for is where it stands.
            let value = match (&*handle, taken) {
                (Handle::Size(_), true) => self.probed,
                (Handle::Size(_), false) => lowering.value(),
                _ => handle.get(current),
            };
            lowering.learn(self.probed, value, taken);
        }
    }
}
