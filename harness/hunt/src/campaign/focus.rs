//! Which engines a problem's survey visits: all of them, or only some that compile at run time. Knows what engines
//! cost so far; knows nothing of problems.

use std::collections::BTreeMap;

use case::{Engines, Operation};

use crate::event::Check;

/// One check in so many is of an engine that compiles at run time, as long as time allows. A problem has dozens of
/// precompiled plans and about one of the others, which cost a hundred times as much; yet that is where
/// most failures were met.
const ONE_IN: u64 = 18;

/// Share of the surveys' time that compilation may take before it has to stand back.
const SHARE_MAX: f64 = 0.7;

/// Share of the surveys' time below which compilation costs too little to be shared out.
const SHARE_NOTED: f64 = 0.05;

/// A sibling's plan costs at most one in so many of what the engine's dearest cost where no kernel was compiled.
const SERVED: u64 = 6;

/// Siblings after which it is known whether an engine's kernels serve them.
const TRIED_ENOUGH: u32 = 4;

/// What an engine that compiles at run time cost so far in one pass.
#[derive(Debug, Default)]
struct Compiler {
    checks: u64,
    spent_us: u64,
    /// Most that a plan cost.
    dearest_us: u64,
    /// Grows by its share with each problem; a whole one lets it in.
    credit: f64,
    /// Siblings tried, and how many the kernel of their problem served.
    siblings: u32,
    served: u32,
}

impl Compiler {
    fn cost(&self) -> f64 {
        self.spent_us as f64 / self.checks.max(1) as f64
    }
}

/// What engines that compile at run time cost so far.
#[derive(Debug, Default)]
pub(super) struct Focus {
    checks: u64,
    compiled: u64,
    busy_us: u64,
    compile_us: u64,
    compilers: BTreeMap<(Operation, i64), Compiler>,
}

impl Focus {
    /// Takes in a check of a problem of that pass.
    pub(super) fn note(&mut self, operation: Operation, check: &Check) {
        self.checks += 1;
        if !check.compiled {
            return;
        }
        self.compiled += 1;
        self.compile_us += check.plan_us;
        if let Some(config) = &check.config {
            let compiler = self.compilers.entry((operation, config.engine)).or_default();
            compiler.checks += 1;
            compiler.spent_us += check.plan_us;
            compiler.dearest_us = compiler.dearest_us.max(check.plan_us);
        }
    }

    /// Takes in how long a worker was busy with a problem.
    pub(super) fn note_busy(&mut self, busy_us: u64) {
        self.busy_us += busy_us;
    }

    /// Takes in what an engine's plan took for a sibling; true where the kernel of its problem served it.
    pub(super) fn note_sibling(&mut self, operation: Operation, engine: i64, plan_us: u64) -> bool {
        let compiler = self.compilers.entry((operation, engine)).or_default();
        let served = plan_us * SERVED <= compiler.dearest_us;
        compiler.siblings += 1;
        compiler.served += u32::from(served);
        served
    }

    /// True where an engine's kernels, once compiled, may serve siblings of their problem.
    pub(super) fn may_serve(&self, operation: Operation, engine: i64) -> bool {
        let known = self.compilers.get(&(operation, engine));
        known.is_none_or(|compiler| {
            compiler.siblings < TRIED_ENOUGH || 2 * compiler.served >= compiler.siblings
        })
    }

    /// True while there are too few checks of engines that compile at run time.
    pub(super) fn lacks_compiled(&self) -> bool {
        let compiling = self.compile_us as f64 / self.busy_us.max(1) as f64;
        self.compiled * ONE_IN < self.checks && compiling < SHARE_MAX
    }

    /// The engines to visit for the next problem of that pass: where compilation takes its time, either all that are
    /// precompiled or some of the others, so that what was compiled for one problem can serve many siblings. Of
    /// the others each is let in as often as makes it cost, problem by problem, what the cheapest costs: otherwise
    /// the many checks of the fast ones are lost to a few of the slow.
    pub(super) fn next(&mut self, operation: Operation) -> Engines {
        let compiling = self.compile_us as f64 / self.busy_us.max(1) as f64;
        let costs = self.of(operation).map(|(_, compiler)| compiler.cost());
        let Some(least) = costs.min_by(f64::total_cmp).filter(|_| compiling >= SHARE_NOTED) else {
            return Engines::All;
        };
        if !self.lacks_compiled() {
            return Engines::AllBut(self.of(operation).map(|(engine, _)| engine).collect());
        }
        let mut due = Vec::new();
        for ((_, engine), compiler) in self.compilers.iter_mut().filter(|((of, _), _)| *of == operation) {
            compiler.credit += (least / compiler.cost()).clamp(0.0, 1.0);
            if compiler.credit >= 1.0 {
                compiler.credit -= 1.0;
                due.push(*engine);
            }
        }
        Engines::Only(due)
    }

    fn of(&self, operation: Operation) -> impl Iterator<Item = (i64, &Compiler)> {
        let wanted = move |((of, _), _): &(&(Operation, i64), &Compiler)| *of == operation;
        self.compilers.iter().filter(wanted).map(|((_, engine), compiler)| (*engine, compiler))
    }
}

#[cfg(test)]
mod tests;
