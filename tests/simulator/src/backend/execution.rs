//! One execution of a plan: pointers checked, the engine run, faults laid over it, results written. Knows buffers
//! through a trait, so that it is the same over device memory and in tests.

use std::sync::atomic::{AtomicU64, Ordering};

use abi::cudnn::DataType;
use case::Role;

use super::{Pack, Plan};
use crate::compute::{Work, operate};
use crate::element::encode;
use crate::engine;
use crate::faults::{Acting, Buffer, Facts, Outside, Script, Side, Site, Tampered, spoiled_input, tamper};
use crate::stop::{self, Stop};

/// `CUDA_ERROR_ILLEGAL_ADDRESS`.
const ILLEGAL_ADDRESS: i32 = 700;

/// What fault writes leave: no guard pattern consists of it.
const SCRIBBLE: u8 = 0xA5;

/// Device memory, as an execution uses it.
pub trait Memory {
    /// A copy of live bytes; `None` where some are not live.
    fn read(&self, address: u64, bytes: u64) -> Option<Vec<u8>>;
    /// Writes live bytes.
    fn write(&self, address: u64, bytes: &[u8]);
    /// Writes bytes that may not be live.
    fn scribble(&self, address: u64, bytes: u64, value: u8);
    /// The device meets an error.
    fn poison(&self, error: i32);
}

/// One execution.
#[derive(Clone, Copy)]
pub struct Execution<'a> {
    /// The plan.
    pub plan: &'a Plan,
    /// Its pointers.
    pub pack: &'a Pack,
    /// The faults.
    pub script: &'a Script,
}

/// Where the buffers of an execution are.
struct Places {
    tensors: [u64; 3],
    spans: [u64; 3],
    workspace: u64,
    workspace_bytes: u64,
}

/// Seeds the orders that are left to chance: no two executions of a process share one.
static EXECUTIONS: AtomicU64 = AtomicU64::new(0);

/// Executes a plan. What goes wrong on the device shows at the next synchronization.
///
/// # Errors
/// A status of the real library, or what the fault script wants.
pub fn execute(execution: &Execution<'_>, memory: &impl Memory) -> Result<(), Stop> {
    let Execution { plan, pack, script } = *execution;
    if plan.problem.tensors.iter().any(|tensor| [DataType::INT8.0, DataType::INT32.0].contains(&tensor.dtype))
    {
        return Err(Stop::status(stop::NOT_SUPPORTED_DATA_TYPE, "integers are planned for alone"));
    }
    let places = places(plan, pack)?;
    let facts = Facts {
        problem: &plan.problem,
        engine: Some(plan.config.engine),
        workspace_alignment: (places.workspace != 0).then(|| 1 << places.workspace.trailing_zeros()),
    };
    let acting = script.at(Site::Execute, &facts);
    if let Some(stop) = acting.iter().find_map(|acting| acting.action.stop()) {
        return Err(stop);
    }
    let output = plan.problem.operation.output();
    let Some(mut buffers) = Buffers::read(&places, memory) else {
        memory.poison(ILLEGAL_ADDRESS);
        return Ok(());
    };
    let Some(result) = run(plan, &mut buffers, &acting) else {
        return Err(Stop::status(stop::NOT_SUPPORTED, "engine"));
    };
    let mut bytes = std::mem::take(&mut buffers.tensors[output.index()]);
    encode(plan.problem.tensor(output), &result.values, &mut bytes);
    memory.write(places.tensors[output.index()], &bytes);
    if !buffers.workspace.is_empty() {
        memory.write(places.workspace, &buffers.workspace);
    }
    leave(plan, &places, &result, memory);
    Ok(())
}

fn places(plan: &Plan, pack: &Pack) -> Result<Places, Stop> {
    let problem = &plan.problem;
    let mut tensors = [0; 3];
    let mut spans = [0; 3];
    for role in problem.operation.tensors().iter().copied() {
        let tensor = problem.tensor(role);
        let named = pack.ids.iter().position(|id| *id == tensor.id);
        let Some(address) = named.and_then(|at| pack.pointers.get(at)).copied() else {
            return Err(Stop::bad_param(format!("no pointer for tensor {}", tensor.id)));
        };
        if address == 0 {
            return Err(Stop::status(stop::NULL_POINTER, format!("pointer of tensor {} is null", tensor.id)));
        }
        if !address.is_multiple_of(tensor.alignment.unsigned_abs()) {
            return Err(Stop::status(stop::MISALIGNED_POINTER, format!("pointer of tensor {}", tensor.id)));
        }
        tensors[role.index()] = address;
        spans[role.index()] = tensor.span_bytes().map_or(0, i64::unsigned_abs);
    }
    let workspace_bytes = plan.workspace_bytes.unsigned_abs();
    if workspace_bytes > 0 && pack.workspace == 0 {
        return Err(Stop::status(stop::NULL_POINTER, "workspace is null"));
    }
    Ok(Places { tensors, spans, workspace: pack.workspace, workspace_bytes })
}

/// Copies of every buffer, as the device's caches would hold them.
struct Buffers {
    tensors: [Vec<u8>; 3],
    workspace: Vec<u8>,
}

impl Buffers {
    fn read(places: &Places, memory: &impl Memory) -> Option<Self> {
        let tensor = |role: Role| match places.spans[role.index()] {
            // The operation has no such tensor.
            0 => Some(Vec::new()),
            bytes => memory.read(places.tensors[role.index()], bytes),
        };
        let tensors = [tensor(Role::X)?, tensor(Role::W)?, tensor(Role::Y)?];
        let workspace = memory.read(places.workspace, places.workspace_bytes)?;
        Some(Self { tensors, workspace })
    }
}

/// Right values with the faults laid over them; `None` only for an engine that does not exist.
fn run(plan: &Plan, buffers: &mut Buffers, acting: &[Acting]) -> Option<Tampered> {
    let engine = engine::engine(plan.problem.operation, plan.config.engine)?;
    let residue = buffers.workspace.last_chunk::<4>().map(|bytes| f32::from_le_bytes(*bytes));
    let parts = engine.parts(&plan.config.knobs);
    // A plan that was given less than it uses computes in its own copy, and spills below.
    let honest = engine.workspace_bytes(&plan.problem, &plan.config.knobs).unsigned_abs() as usize;
    let given = buffers.workspace.len();
    buffers.workspace.resize(honest.max(given), 0);
    let values = {
        let [x, w, y] = &buffers.tensors;
        let mut work = Work {
            tensors: [x, w, y],
            workspace: &mut buffers.workspace,
            parts,
            chance: EXECUTIONS.fetch_add(1, Ordering::Relaxed),
        };
        operate(&plan.problem, engine.way, &mut work)
    };
    buffers.workspace.truncate(given);
    Some(tamper(&plan.problem, values, residue, acting))
}

/// What faults do beside the output.
fn leave(plan: &Plan, places: &Places, result: &Tampered, memory: &impl Memory) {
    let output = plan.problem.operation.output().index();
    for Outside { buffer, side, bytes } in &result.outside {
        let (first, length) = match buffer {
            Buffer::Output => (places.tensors[output], places.spans[output]),
            Buffer::Workspace => (places.workspace, places.workspace_bytes),
        };
        if first == 0 {
            continue;
        }
        let address = match side {
            Side::Before => first.wrapping_sub(*bytes),
            Side::After => first.wrapping_add(length),
        };
        memory.scribble(address, *bytes, SCRIBBLE);
    }
    if result.input {
        let role = spoiled_input(&plan.problem);
        let width = plan.problem.tensor(role).element_bytes() as u64;
        memory.scribble(places.tensors[role.index()], width, SCRIBBLE);
    }
    if let Some(error) = result.sticky {
        memory.poison(error);
    }
    if result.leak > 0 {
        std::mem::forget(vec![SCRIBBLE; result.leak]);
    }
}
