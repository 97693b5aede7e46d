//! Executing a plan on guarded, poisoned buffers and measuring what it left. Knows recipes; judges nothing.

use case::{Case, Census, Execution, Fill, Notes, Phase, Recipe, Role, Workspace};
use gpu::{CallError, Guarded, Plan};
use kernel::{CHECK, CompareParams, DiffParams, FillParams, Kernel, PAINT, PATTERN_HASH, VerifyParams};

use crate::board::Board;
use crate::buffers::{constant, element, hits, workspace_given, workspace_zone, zone, zones_params};
use crate::gate::Gate;
use crate::reference::{self, Reference};
use crate::session::Device;
use crate::totals::Totals;

/// Executions that are queued before the device is waited for.
const BATCH_MAX: usize = 16;

/// Largest x, w and y together, in bytes, whose executions are queued in batches.
const BATCHED_BYTES_MAX: u64 = 4 << 20;

/// Mismatches listed with their values.
const EXCERPT_MAX: usize = 32;

/// Largest output, in elements, that is copied back whole for an excerpt.
const EXCERPT_ELEMENTS_MAX: u64 = 4 << 20;

/// Guard patterns take turns, so that a write that equals one of them shows against the other.
const GUARD_SEED: u64 = 0x6775_6172_6473;

/// The buffers and references of one job.
pub(crate) struct Bench<'job> {
    device: &'job Device,
    board: &'job Board,
    gate: &'job Gate,
    case: &'job Case,
    guard: u64,
    alone: bool,
    tensors: [Guarded; 3],
    references: Vec<Reference>,
    filled: Option<Fill>,
    totals: u64,
}

/// What stays the same while a plan's recipes are gone through.
pub(crate) struct Trial<'plan> {
    pub(crate) plan: &'plan Plan,
    pub(crate) notes: &'plan Notes,
    pub(crate) recipes: &'plan [Recipe],
}

/// Who asks for a bench.
pub(crate) struct Owner<'job> {
    pub(crate) device: &'job Device,
    pub(crate) board: &'job Board,
    pub(crate) gate: &'job Gate,
    pub(crate) guard: u64,
    pub(crate) alone: bool,
}

impl<'job> Bench<'job> {
    /// Allocates the tensors of a case.
    pub(crate) fn new(owner: &Owner<'job>, case: &'job Case) -> Result<Self, CallError> {
        owner.device.arena.trim();
        let geometry = case.problem.geometry();
        let tensor = |role: Role| {
            let bytes = geometry.bytes(role).max(0) as u64;
            owner.device.arena.guarded(role.name(), bytes, owner.guard, 256)
        };
        Ok(Self {
            device: owner.device,
            board: owner.board,
            gate: owner.gate,
            case,
            guard: owner.guard,
            alone: owner.alone,
            tensors: [tensor(Role::X)?, tensor(Role::W)?, tensor(Role::Y)?],
            references: Vec::new(),
            filled: None,
            totals: owner.device.arena.plain("batch totals", (BATCH_MAX * Totals::BYTES) as u64)?,
        })
    }

    fn pointers(&self) -> [u64; 3] {
        self.tensors.map(|tensor| tensor.pointer)
    }

    fn output(&self) -> (Role, Guarded) {
        let role = self.case.problem.operation.output();
        (role, self.tensors[role.index()])
    }

    /// Runs every recipe of a trial, adding executions to `done` as they are measured, so that an error keeps the ones
    /// before it.
    ///
    /// Recipes are queued in batches and waited for once: each wait costs a turn on a device that other workers
    /// share, which was measured to cost more than the work. An asynchronous error is therefore known per batch.
    pub(crate) fn run(&mut self, trial: &Trial<'_>, done: &mut Vec<Execution>) -> Result<(), CallError> {
        self.board.announce(Phase::Allocate);
        let workspace = self.workspace(trial.plan)?;
        let fills: Vec<Fill> = trial.recipes.iter().map(|recipe| recipe.fill).collect();
        self.compute_references(&fills)?;
        let indices: Vec<usize> = (0..trial.recipes.len()).collect();
        for batch in indices.chunks(self.batch_size()) {
            let first = done.len();
            let queued = self.run_batch(trial, batch, workspace, done);
            if done[first..].iter().any(strayed) {
                self.distrust();
            }
            self.show_first_odd(trial, (batch, first), workspace, done)?;
            queued?;
        }
        Ok(())
    }

    /// Executions to queue at once: where each may take long, one, so that others get their turns in between and the
    /// deadline is one execution's.
    fn batch_size(&self) -> usize {
        let bytes: u64 = self.tensors.iter().map(|tensor| tensor.bytes).sum();
        if bytes > BATCHED_BYTES_MAX { 1 } else { BATCH_MAX }
    }

    /// Forgets inputs and references after writes that strayed: they may have hit them too, and the next plan must
    /// not be blamed for it.
    fn distrust(&mut self) {
        self.filled = None;
        self.references.clear();
    }

    /// Queues a batch, waits for it and reads what was counted. Where the library declines an execution, the ones
    /// queued before it are measured all the same.
    fn run_batch(
        &mut self,
        trial: &Trial<'_>,
        batch: &[usize],
        workspace: Guarded,
        done: &mut Vec<Execution>,
    ) -> Result<(), CallError> {
        let driver = &self.device.driver;
        let start = [Totals::START; BATCH_MAX];
        driver.write(Phase::Allocate, self.totals, bytemuck::cast_slice(&start[..batch.len()]))?;
        self.board.announce(Phase::Execute);
        // Without its lock file a worker still runs; it only can't be alone.
        let turn = self.gate.enter(self.alone, &|| self.board.announce(Phase::Execute)).ok();
        let begun = std::time::Instant::now();
        let mut queued = 0;
        let mut declined = Ok(());
        for (place, index) in batch.iter().copied().enumerate() {
            declined = self.queue(trial, (place, index), workspace);
            if declined.is_err() {
                break;
            }
            queued += 1;
        }
        self.board.announce(Phase::Sync);
        // The counts are read before the wait for streams that an engine may have of its own: the read waits for
        // this stream, where the counting was queued, and a second turn on a shared device is saved.
        let mut totals = [Totals::START; BATCH_MAX];
        let counted = bytemuck::cast_slice_mut(&mut totals[..batch.len()]);
        self.device.driver.read(Phase::Sync, self.totals, counted)?;
        self.device.driver.wait_all(Phase::Sync)?;
        drop(turn);
        let batch_us = u64::try_from(begun.elapsed().as_micros()).unwrap_or(u64::MAX);
        for (totals, index) in totals.iter().zip(batch.iter().copied().take(queued)) {
            let mut execution = self.execution(trial, index, totals)?;
            execution.execute_us = batch_us / queued as u64;
            done.push(execution);
        }
        declined
    }

    /// Queues one execution: contents, launch, measurements. A CUDA error here is a launch that was refused at once.
    fn queue(
        &mut self,
        trial: &Trial<'_>,
        (place, index): (usize, usize),
        workspace: Guarded,
    ) -> Result<(), CallError> {
        let recipe = &trial.recipes[index];
        self.prepare(recipe, index, workspace)?;
        self.launch(trial.plan, workspace)?;
        self.queue_measurements(trial, index, workspace, self.totals + (place * Totals::BYTES) as u64)?;
        if trial.recipes.iter().any(|later| later.repeats == Some(index)) {
            self.keep_output(index)?;
        }
        Ok(())
    }

    /// Runs the first odd execution of a batch once more and lists its first wrong elements: by the end of the batch
    /// its output is overwritten. A failure that does not come back leaves the list empty.
    fn show_first_odd(
        &mut self,
        trial: &Trial<'_>,
        (batch, first): (&[usize], usize),
        workspace: Guarded,
        done: &mut [Execution],
    ) -> Result<(), CallError> {
        let odd = |execution: &Execution| {
            let (facts, fill) = (&execution.reference, execution.recipe.fill);
            let exact = || oracle::certificate(self.case, trial.notes, facts, fill).is_exact();
            execution.census.over_element > 0 || (execution.census.differing > 0 && exact())
        };
        let Some(place) = done[first..].iter().position(odd) else { return Ok(()) };
        let index = batch[place];
        self.board.announce(Phase::Execute);
        let turn = self.gate.enter(self.alone, &|| self.board.announce(Phase::Execute)).ok();
        self.prepare(&trial.recipes[index], index, workspace)?;
        self.launch(trial.plan, workspace)?;
        self.board.announce(Phase::Sync);
        self.device.driver.wait_all(Phase::Sync)?;
        drop(turn);
        self.board.announce(Phase::ReadBack);
        let reference = self.reference(trial.recipes[index].fill)?;
        let shown = &mut done[first + place];
        shown.excerpt = self.excerpt(&reference, &shown.census)?;
        if strayed(shown) {
            self.distrust();
        }
        Ok(())
    }

    fn workspace(&self, plan: &Plan) -> Result<Guarded, CallError> {
        let Workspace { alignment, .. } = self.case.options.workspace;
        let given = workspace_given(&self.case.options.workspace, plan.workspace_bytes());
        self.device.arena.guarded("workspace", given, self.guard, alignment.max(1) as u64)
    }

    fn fill_params(&self, role: Role, fill: Fill) -> FillParams {
        let mut parameters = oracle::fill_params(self.case, role, fill);
        parameters.view.pointer = self.tensors[role.index()].pointer;
        parameters
    }

    /// Queues what brings inputs, output, workspace and guards into the state that the recipe asks for.
    fn prepare(&mut self, recipe: &Recipe, index: usize, workspace: Guarded) -> Result<(), CallError> {
        self.fill_inputs(recipe.fill)?;
        let mut zones = self.guards(index, workspace);
        zones.push(workspace_zone(workspace, recipe.workspace));
        let (role, output) = self.output();
        if self.case.options.beta.value() == 0.0 {
            zones.push(zone(output.pointer, output.bytes, constant(oracle::poison_byte(recipe.output))));
        } else {
            self.fill(role, recipe.fill)?;
        }
        let parameters = zones_params(PAINT, &zones, 0);
        let (x, y) = kernel::zones_grid(&parameters);
        self.device.kernels.launch(Phase::Allocate, Kernel::Zones, [x, y], bytemuck::bytes_of(&parameters))
    }

    fn fill_inputs(&mut self, fill: Fill) -> Result<(), CallError> {
        if self.filled == Some(fill) {
            return Ok(());
        }
        for role in self.case.problem.operation.inputs() {
            self.fill(*role, fill)?;
        }
        self.filled = Some(fill);
        Ok(())
    }

    fn fill(&self, role: Role, fill: Fill) -> Result<(), CallError> {
        let parameters = self.fill_params(role, fill);
        let grid = [self.grid(role), 1];
        self.device.kernels.launch(Phase::Allocate, Kernel::Fill, grid, bytemuck::bytes_of(&parameters))
    }

    fn grid(&self, role: Role) -> u32 {
        kernel::grid_for(self.case.problem.geometry().elements(role).max(0) as u64)
    }

    /// The right answers for a fill, computed at its first use.
    fn reference(&mut self, fill: Fill) -> Result<Reference, CallError> {
        if let Some(known) = self.references.iter().find(|reference| reference.fill == fill) {
            return Ok(*known);
        }
        self.compute_references(&[fill])?;
        // What was missing was just added.
        Ok(self.references[self.references.len() - 1])
    }

    /// Computes the right answers that are still missing for those fills.
    fn compute_references(&mut self, fills: &[Fill]) -> Result<(), CallError> {
        let mut missing: Vec<Fill> = Vec::new();
        for fill in fills {
            if !missing.contains(fill) && self.references.iter().all(|known| known.fill != *fill) {
                missing.push(*fill);
            }
        }
        if missing.is_empty() {
            return Ok(());
        }
        let (device, case, known) = (self.device, self.case, self.references.len());
        let pointers = self.pointers();
        let computed = reference::compute(device, case, (&missing, known), pointers, &mut |fill| {
            self.fill_inputs(fill)
        })?;
        self.references.extend(computed);
        Ok(())
    }

    fn launch(&self, plan: &Plan, workspace: Guarded) -> Result<(), CallError> {
        let address = if workspace.bytes == 0 { 0 } else { workspace.pointer };
        plan.execute(self.device.handle, self.pointers(), address)
    }

    /// The guards before and after x, w, y and the workspace, with the pattern of this execution.
    fn guards(&self, index: usize, workspace: Guarded) -> Vec<kernel::Zone> {
        let pattern = |number: usize| {
            if index.is_multiple_of(2) { constant(0xFF) } else { (PATTERN_HASH, GUARD_SEED + number as u64) }
        };
        self.tensors
            .iter()
            .chain(std::iter::once(&workspace))
            .enumerate()
            .flat_map(|(buffer, guarded)| {
                [
                    zone(guarded.before(), guarded.guard, pattern(2 * buffer)),
                    zone(guarded.after(), guarded.guard, pattern(2 * buffer + 1)),
                ]
            })
            .collect()
    }

    /// Queues everything that is counted after an execution, into the totals at that address.
    fn queue_measurements(
        &mut self,
        trial: &Trial<'_>,
        index: usize,
        workspace: Guarded,
        totals: u64,
    ) -> Result<(), CallError> {
        let recipe = &trial.recipes[index];
        let reference = self.reference(recipe.fill)?;
        let kernels = &self.device.kernels;
        let launch =
            |kernel, grid, parameters: &[u8]| kernels.launch(Phase::ReadBack, kernel, grid, parameters);
        let zones = zones_params(CHECK, &self.guards(index, workspace), Totals::zones_at(totals));
        let (x, y) = kernel::zones_grid(&zones);
        launch(Kernel::Zones, [x, y], bytemuck::bytes_of(&zones))?;
        let mut compare = self.compare_params(trial.notes, recipe, &reference);
        compare.totals = Totals::compare_at(totals);
        let (output, _) = self.output();
        launch(Kernel::Compare, [self.grid(output), 1], bytemuck::bytes_of(&compare))?;
        for (input, role) in self.case.problem.operation.inputs().iter().copied().enumerate() {
            let fill = self.fill_params(role, recipe.fill);
            let verify = VerifyParams { fill, totals: Totals::verify_at(totals, input) };
            launch(Kernel::Verify, [self.grid(role), 1], bytemuck::bytes_of(&verify))?;
        }
        if let Some(earlier) = recipe.repeats {
            let mut diff = self.diff_params(earlier)?;
            diff.totals = Totals::diff_at(totals);
            launch(Kernel::Diff, [kernel::grid_for(diff.count), 1], bytemuck::bytes_of(&diff))?;
        }
        Ok(())
    }

    /// What was counted, in the words of the report.
    fn execution(
        &mut self,
        trial: &Trial<'_>,
        index: usize,
        totals: &Totals,
    ) -> Result<Execution, CallError> {
        let recipe = trial.recipes[index];
        let reference = self.reference(recipe.fill)?;
        let compare = self.compare_params(trial.notes, &recipe, &reference);
        Ok(Execution {
            recipe,
            reference: reference.facts,
            spot: reference.spot,
            census: oracle::census(&compare, &totals.compare),
            guards: hits(&totals.zones, self.guard),
            inputs_changed: self.inputs_changed(totals),
            repeat_differing: recipe.repeats.map(|_| totals.diff.differing),
            excerpt: Vec::new(),
            execute_us: 0,
        })
    }

    fn inputs_changed(&self, totals: &Totals) -> Vec<(Role, u64)> {
        let inputs = self.case.problem.operation.inputs();
        let counts = totals.verify.map(|verify| verify.differing);
        inputs.iter().copied().zip(counts).filter(|(_, count)| *count > 0).collect()
    }

    fn compare_params(&self, notes: &Notes, recipe: &Recipe, reference: &Reference) -> CompareParams {
        let mut parameters = oracle::compare_params(self.case, notes, &reference.facts, recipe);
        parameters.got.pointer = self.output().1.pointer;
        parameters.result = reference.result;
        parameters.abs_sum = reference.abs_sum;
        parameters
    }

    fn copy_of(&self, index: usize) -> Result<u64, CallError> {
        self.device.arena.plain(&format!("output {index}"), self.output().1.bytes)
    }

    fn keep_output(&self, index: usize) -> Result<(), CallError> {
        let (_, output) = self.output();
        self.device.driver.copy(Phase::ReadBack, self.copy_of(index)?, output.pointer, output.bytes)
    }

    fn diff_params(&self, earlier: usize) -> Result<DiffParams, CallError> {
        let (role, output) = self.output();
        let bytes = self.case.problem.dtypes.tensors()[role.index()].bytes().max(1) as u64;
        Ok(DiffParams {
            a: self.copy_of(earlier)?,
            b: output.pointer,
            bytes_per_element: bytes,
            count: output.bytes / bytes,
            totals: 0,
        })
    }

    /// The first wrong elements with what was expected, from a copy of output and reference.
    fn excerpt(
        &self,
        reference: &Reference,
        census: &Census,
    ) -> Result<Vec<(u64, String, String)>, CallError> {
        let (role, output) = self.output();
        let outputs = reference.facts.outputs;
        let (first, count) = if outputs <= EXCERPT_ELEMENTS_MAX {
            (0, outputs)
        } else {
            // A window of the expected values around the first mismatch; the output itself is strided and is copied.
            (
                census.first_differing.min(outputs - 1),
                EXCERPT_ELEMENTS_MAX.min(outputs - census.first_differing.min(outputs - 1)),
            )
        };
        let mut bytes = vec![0_u8; usize::try_from(output.bytes).unwrap_or(0)];
        self.device.driver.read(Phase::ReadBack, output.pointer, &mut bytes)?;
        let mut expected = vec![0_f64; usize::try_from(count).unwrap_or(0)];
        let from = reference.result + 8 * first;
        self.device.driver.read(Phase::ReadBack, from, bytemuck::cast_slice_mut(&mut expected))?;
        let view = oracle::tensor_view(self.case, role);
        let mut listed = Vec::new();
        for (position, expected) in (first..).zip(&expected) {
            let Some(got) = element(&view, position, &bytes) else { break };
            let rounded = kernel::round_to(view.dtype, *expected);
            if got != rounded && !(got.is_nan() && rounded.is_nan()) {
                listed.push((position, got.to_string(), rounded.to_string()));
            }
            if listed.len() == EXCERPT_MAX {
                break;
            }
        }
        Ok(listed)
    }
}

/// True where something outside the output and the workspace was written.
fn strayed(execution: &Execution) -> bool {
    !execution.guards.is_empty() || !execution.inputs_changed.is_empty()
}
