//! Executing a plan on guarded, poisoned buffers and measuring what it left. Knows recipes; judges nothing.

use case::{
    Case, Census, Execution, Fill, Notes, Phase, Recipe, Role, Workspace, WorkspaceAmount, WorkspaceFill,
    Zone, ZoneHit,
};
use gpu::{CallError, Guarded, Plan};
use kernel::{
    CHECK, CompareParams, DiffParams, FillParams, Kernel, PAINT, PATTERN_CONSTANT, PATTERN_HASH,
    VerifyParams, ZoneTotals, ZonesParams,
};

use crate::board::Board;
use crate::gate::Gate;
use crate::reference::Reference;
use crate::session::Device;
use crate::totals::Totals;

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

/// Bytes of device memory that a case needs beside its workspace: tensors and guards, two f64 per output and fill,
/// and copies of the output for bitwise comparison.
pub(crate) fn bytes_needed(case: &Case, recipes: &[Recipe], guard: u64) -> u64 {
    let geometry = case.problem.geometry();
    let output = case.problem.operation.output();
    let outputs = geometry.elements(output).max(0) as u64;
    let fills = fills(recipes).len() as u64;
    let tensors = geometry.total_bytes().max(0) as u64 + 8 * guard;
    tensors
        .saturating_add(outputs.saturating_mul(16 * fills))
        .saturating_add(geometry.bytes(output).max(0) as u64)
}

fn fills(recipes: &[Recipe]) -> Vec<Fill> {
    let mut fills: Vec<Fill> = Vec::new();
    for recipe in recipes {
        if !fills.contains(&recipe.fill) {
            fills.push(recipe.fill);
        }
    }
    fills
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
            totals: owner.device.arena.plain("totals", Totals::BYTES as u64)?,
        })
    }

    fn pointers(&self) -> [u64; 3] {
        self.tensors.map(|tensor| tensor.pointer)
    }

    fn output(&self) -> (Role, Guarded) {
        let role = self.case.problem.operation.output();
        (role, self.tensors[role.index()])
    }

    /// Runs every recipe of a trial, adding each execution to `done` as it is measured, so that an error keeps the
    /// ones before it.
    pub(crate) fn run(&mut self, trial: &Trial<'_>, done: &mut Vec<Execution>) -> Result<(), CallError> {
        self.board.announce(Phase::Allocate);
        let workspace = self.workspace(trial.plan)?;
        for (index, recipe) in trial.recipes.iter().enumerate() {
            self.board.announce(Phase::Allocate);
            let reference = self.prepare(recipe, index, workspace)?;
            let execute_us = self.execute(trial.plan, workspace)?;
            self.board.announce(Phase::ReadBack);
            let mut execution = self.measure(trial.notes, recipe, &reference, (index, workspace))?;
            execution.execute_us = execute_us;
            done.push(execution);
            if trial.recipes.iter().any(|later| later.repeats == Some(index)) {
                self.keep_output(index)?;
            }
        }
        self.device.driver.wait(Phase::ReadBack)
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

    /// Brings inputs, output, workspace and guards into the state that the recipe asks for.
    fn prepare(&mut self, recipe: &Recipe, index: usize, workspace: Guarded) -> Result<Reference, CallError> {
        let (device, phase) = (self.device, Phase::Allocate);
        let launch = |kernel, grid, parameters: &[u8]| device.kernels.launch(phase, kernel, grid, parameters);
        if self.filled != Some(recipe.fill) {
            for role in self.case.problem.operation.inputs() {
                let parameters = self.fill_params(role, recipe.fill);
                launch(Kernel::Fill, [self.grid(role), 1], bytemuck::bytes_of(&parameters))?;
            }
            self.filled = Some(recipe.fill);
        }
        let reference = self.reference(recipe.fill)?;
        let mut zones = self.guards(index, workspace);
        zones.push(workspace_zone(workspace, recipe.workspace));
        let (role, output) = self.output();
        if self.case.options.beta.value() == 0.0 {
            zones.push(zone(output.pointer, output.bytes, constant(oracle::poison_byte(recipe.output))));
        } else {
            let parameters = self.fill_params(role, recipe.fill);
            launch(Kernel::Fill, [self.grid(role), 1], bytemuck::bytes_of(&parameters))?;
        }
        let parameters = zones_params(PAINT, &zones, 0);
        let (x, y) = kernel::zones_grid(&parameters);
        launch(Kernel::Zones, [x, y], bytemuck::bytes_of(&parameters))?;
        device.driver.write(phase, self.totals, bytemuck::bytes_of(&Totals::START))?;
        // Our own launches must be done before the library's, so that their errors are not taken for its.
        device.driver.wait(phase)?;
        Ok(reference)
    }

    fn grid(&self, role: Role) -> u32 {
        kernel::grid_for(self.case.problem.geometry().elements(role).max(0) as u64)
    }

    fn reference(&mut self, fill: Fill) -> Result<Reference, CallError> {
        if let Some(known) = self.references.iter().find(|reference| reference.fill == fill) {
            return Ok(*known);
        }
        let position = self.references.len();
        let reference = Reference::compute(self.device, self.case, fill, position, self.pointers())?;
        self.references.push(reference);
        Ok(reference)
    }

    /// Launches the plan and waits, holding the device as the job asks. Microseconds.
    fn execute(&self, plan: &Plan, workspace: Guarded) -> Result<u64, CallError> {
        self.board.announce(Phase::Execute);
        // Without its lock file a worker still runs; it only can't be alone.
        let _turn = self.gate.enter(self.alone).ok();
        let start = std::time::Instant::now();
        let address = if workspace.bytes == 0 { 0 } else { workspace.pointer };
        plan.execute(self.device.handle, self.pointers(), address)?;
        self.board.announce(Phase::Sync);
        self.device.driver.wait_all(Phase::Sync)?;
        Ok(u64::try_from(start.elapsed().as_micros()).unwrap_or(u64::MAX))
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

    fn measure(
        &self,
        notes: &Notes,
        recipe: &Recipe,
        reference: &Reference,
        (index, workspace): (usize, Guarded),
    ) -> Result<Execution, CallError> {
        let (device, phase) = (self.device, Phase::ReadBack);
        let launch = |kernel, grid, parameters: &[u8]| device.kernels.launch(phase, kernel, grid, parameters);
        let guards = self.guards(index, workspace);
        let zones = zones_params(CHECK, &guards, Totals::zones_at(self.totals));
        let (x, y) = kernel::zones_grid(&zones);
        launch(Kernel::Zones, [x, y], bytemuck::bytes_of(&zones))?;
        let compare = self.compare_params(notes, recipe, reference);
        let (output, _) = self.output();
        launch(Kernel::Compare, [self.grid(output), 1], bytemuck::bytes_of(&compare))?;
        for (input, role) in self.case.problem.operation.inputs().into_iter().enumerate() {
            let fill = self.fill_params(role, recipe.fill);
            let verify = VerifyParams { fill, totals: Totals::verify_at(self.totals, input) };
            launch(Kernel::Verify, [self.grid(role), 1], bytemuck::bytes_of(&verify))?;
        }
        if let Some(earlier) = recipe.repeats {
            let diff = self.diff_params(earlier)?;
            launch(Kernel::Diff, [kernel::grid_for(diff.count), 1], bytemuck::bytes_of(&diff))?;
        }
        let mut totals = Totals::START;
        device.driver.read(phase, self.totals, bytemuck::bytes_of_mut(&mut totals))?;
        let census = oracle::census(&compare, &totals.compare);
        let worth_showing =
            census.over_element > 0 || (census.differing > 0 && recipe.fill.kind.is_integer());
        let excerpt = if worth_showing { self.excerpt(reference, &census)? } else { Vec::new() };
        Ok(Execution {
            recipe: *recipe,
            reference: reference.facts,
            spot: reference.spot,
            census,
            guards: hits(&totals.zones, self.guard),
            inputs_changed: self.inputs_changed(&totals),
            repeat_differing: recipe.repeats.map(|_| totals.diff.differing),
            excerpt,
            execute_us: 0,
        })
    }

    fn inputs_changed(&self, totals: &Totals) -> Vec<(Role, u64)> {
        let inputs = self.case.problem.operation.inputs();
        let counts = totals.verify.map(|verify| verify.differing);
        inputs.into_iter().zip(counts).filter(|(_, count)| *count > 0).collect()
    }

    fn compare_params(&self, notes: &Notes, recipe: &Recipe, reference: &Reference) -> CompareParams {
        let mut parameters = oracle::compare_params(self.case, notes, &reference.facts, recipe);
        parameters.got.pointer = self.output().1.pointer;
        parameters.result = reference.result;
        parameters.abs_sum = reference.abs_sum;
        parameters.totals = Totals::compare_at(self.totals);
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
            totals: Totals::diff_at(self.totals),
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

fn zone(pointer: u64, bytes: u64, (pattern, argument): (u32, u64)) -> kernel::Zone {
    kernel::Zone { pointer, bytes, pattern, reserved: 0, argument }
}

fn constant(byte: u8) -> (u32, u64) {
    (PATTERN_CONSTANT, u64::from(byte))
}

fn workspace_zone(workspace: Guarded, fill: WorkspaceFill) -> kernel::Zone {
    let pattern = match fill {
        WorkspaceFill::Zero => constant(0x00),
        WorkspaceFill::Ones => constant(0xFF),
        WorkspaceFill::Random(seed) => (PATTERN_HASH, seed),
    };
    zone(workspace.pointer, workspace.bytes, pattern)
}

fn zones_params(mode: u32, zones: &[kernel::Zone], totals: u64) -> ZonesParams {
    let mut parameters = ZonesParams { mode, count: zones.len() as u32, totals, ..ZonesParams::default() };
    parameters.zones[..zones.len()].copy_from_slice(zones);
    parameters
}

/// Changed guards, told by their distance from the buffer.
fn hits(totals: &[ZoneTotals], guard: u64) -> Vec<ZoneHit> {
    let buffers = [Zone::Tensor(Role::X), Zone::Tensor(Role::W), Zone::Tensor(Role::Y), Zone::Workspace];
    let mut hits = Vec::new();
    for (buffer, zone) in buffers.into_iter().enumerate() {
        for after in [false, true] {
            let counted = totals[2 * buffer + usize::from(after)];
            if counted.changed == 0 {
                continue;
            }
            let (nearest, farthest) = if after {
                (counted.first, counted.last)
            } else {
                (guard - 1 - counted.last, guard - 1 - counted.first)
            };
            hits.push(ZoneHit { zone, after, changed: counted.changed, nearest, farthest });
        }
    }
    hits
}

/// Bytes of workspace that a plan is given where it asks for `asked`; what a wrong library asks below 0 counts as 0.
pub(crate) fn workspace_given(workspace: &Workspace, asked: i64) -> u64 {
    let extra = match workspace.amount {
        WorkspaceAmount::Exact | WorkspaceAmount::Max(_) => 0,
        WorkspaceAmount::Extra(bytes) => bytes,
    };
    asked.max(0).saturating_add(extra).max(0) as u64
}

/// The element at a row-major position of a strided tensor whose bytes were copied back.
fn element(view: &kernel::TensorView, position: u64, bytes: &[u8]) -> Option<f64> {
    let mut rest = position;
    let mut offset = 0_u64;
    for (extent, stride) in view.extent.into_iter().zip(view.stride).rev() {
        let extent = u64::try_from(extent).ok().filter(|extent| *extent > 0)?;
        offset += rest % extent * u64::try_from(stride).ok()?;
        rest /= extent;
    }
    let width = kernel::element_bytes(view.dtype);
    let start = usize::try_from(offset).ok()?.checked_mul(width)?;
    let mut word = [0_u8; 8];
    word[..width].copy_from_slice(bytes.get(start..start + width)?);
    Some(kernel::decode_bits(view.dtype, u64::from_le_bytes(word)))
}
