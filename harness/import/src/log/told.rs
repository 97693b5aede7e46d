//! What calls of cuDNN's log tell, kept: a training run writes the same few calls without end. Knows bytes of calls and
//! what was made of them; counts nothing.

use std::collections::HashMap;
use std::rc::Rc;

use case::Case;

use super::call::{Call, Function};
use super::entry::Entry;
use crate::table::Evidence;

/// Most bytes of calls that are remembered, over all; a longer call than the second is read anew each time.
const REMEMBERED_MAX: usize = 8 << 20;
const CALL_MAX: usize = 256 << 10;

/// What one call tells.
#[derive(Debug)]
pub(super) struct Told {
    /// What a case of it is evidence of; nothing where the call neither runs nor describes anything.
    pub(super) evidence: Option<Evidence>,
    /// Operations of its graph.
    pub(super) operations: usize,
    /// Its convolutions, or why each is none.
    pub(super) cases: Vec<Result<Case, String>>,
    /// The engine that it names.
    pub(super) engine: Option<i64>,
    /// True where more than one convolution is computed at once.
    pub(super) is_fused: bool,
}

impl Told {
    /// Reads the lines of a call.
    fn read(function: Function, lines: &[u8]) -> Self {
        let entries = lines.split(|byte| *byte == b'\n').filter_map(Entry::read).collect();
        let call = Call { function, entries };
        let mut told = Self {
            evidence: Some(Evidence::Executed),
            operations: 1,
            cases: Vec::new(),
            engine: call.engine(),
            is_fused: false,
        };
        let convolutions = match function {
            Function::Execute | Function::Finalize => {
                let graph = call.graph();
                told.operations = graph.operations;
                told.is_fused = graph.operations > 1;
                if function == Function::Finalize {
                    told.evidence = call.described();
                } else if !call.names("executionPlan") {
                    told.evidence = None;
                }
                graph.convolutions
            }
            Function::ExecuteInternal => {
                told.is_fused = call.is_fused_internal();
                vec![call.internal()]
            }
            Function::Legacy(_) | Function::LegacyFused => {
                told.is_fused = function == Function::LegacyFused;
                vec![call.legacy()]
            }
        };
        if told.evidence.is_some() {
            let case = |told: Result<crate::convolution::Convolution, String>| told?.case();
            told.cases = convolutions.into_iter().map(case).collect();
        }
        told
    }
}

/// Calls that were read, by their lines.
#[derive(Debug, Default)]
pub(super) struct Remembered {
    calls: HashMap<Function, HashMap<Box<[u8]>, Rc<Told>>>,
    bytes: usize,
}

impl Remembered {
    /// What a call of these lines tells.
    pub(super) fn told(&mut self, function: Function, lines: &[u8]) -> Rc<Told> {
        if let Some(known) = self.calls.get(&function).and_then(|known| known.get(lines)) {
            return Rc::clone(known);
        }
        let told = Rc::new(Told::read(function, lines));
        if lines.len() <= CALL_MAX {
            if self.bytes + lines.len() > REMEMBERED_MAX {
                self.calls.clear();
                self.bytes = 0;
            }
            self.bytes += lines.len();
            self.calls.entry(function).or_default().insert(lines.into(), Rc::clone(&told));
        }
        told
    }
}
