//! One case run through raw calls, as plainly as a stand-alone program would. Knows the calls of one execution;
//! measures by the kernels' twins.

use std::path::Path;

use abi::cudnn::{Attribute as A, AttributeType as T, DescriptorType as D};
use case::{Case, EngineChoice, Operation, Role};
use kernel::{FillParams, Kernel, ReferenceParams, TensorView, twin};

use crate::library::{Descriptor, Libraries, Refused, cuda_ok};

/// Guard bytes on each side of a buffer, and what they hold.
const GUARD: u64 = 512;
const CANARY: u8 = 0x5A;

/// What was seen.
#[derive(Debug, Default, PartialEq, Eq)]
pub(crate) struct Seen {
    /// The call that refused, and its status.
    pub(crate) refused: Option<Refused>,
    /// What the wait after the first execution said.
    pub(crate) waited: i32,
    /// Outputs that are not what the reference says.
    pub(crate) wrong: usize,
    /// Guards that changed: `x` to `workspace`, before and after.
    pub(crate) touched: Vec<&'static str>,
    /// True where an input changed.
    pub(crate) input: bool,
    /// True where the second execution gave other bits.
    pub(crate) differs: bool,
}

fn number(dtype: case::DType) -> i32 {
    match dtype {
        case::DType::F32 => 0,
        case::DType::F64 => 1,
        case::DType::F16 => 2,
        case::DType::Bf16 => 9,
        case::DType::I8 => 3,
        case::DType::I32 => 4,
    }
}

/// The whole graph of a case.
fn graph<'a>(libraries: &'a Libraries, case: &Case) -> Result<Descriptor<'a>, Refused> {
    let problem = &case.problem;
    let geometry = problem.geometry();
    let tensor = |role: Role| {
        let tensor = libraries.descriptor(D::TENSOR);
        let dtype = number(problem.dtypes.tensors()[role.index()]);
        tensor.set(A::TENSOR_DATA_TYPE, T::DATA_TYPE, &[dtype])?;
        tensor.longs(A::TENSOR_DIMENSIONS, &geometry.extents(role));
        tensor.longs(A::TENSOR_STRIDES, &geometry.strides(role));
        tensor.longs(A::TENSOR_UNIQUE_ID, &[role.index() as i64 + 1]);
        tensor.longs(A::TENSOR_ALIGNMENT, &[16]);
        tensor.finalize("tensor").map(|()| tensor)
    };
    let (x, w, y) = (tensor(Role::X)?, tensor(Role::W)?, tensor(Role::Y)?);
    let convolution = libraries.descriptor(D::CONVOLUTION);
    let column = |of: fn(&case::Axis) -> i64| problem.axes.iter().map(of).collect::<Vec<i64>>();
    convolution.set(A::CONVOLUTION_COMPUTE_TYPE, T::DATA_TYPE, &[number(problem.dtypes.compute)])?;
    convolution.set(A::CONVOLUTION_MODE, T::CONVOLUTION_MODE, &[1_i32])?;
    convolution.longs(A::CONVOLUTION_SPATIAL_DIMS, &[problem.axes.len() as i64]);
    convolution.longs(A::CONVOLUTION_DILATIONS, &column(|axis| axis.dilation));
    convolution.longs(A::CONVOLUTION_STRIDES, &column(|axis| axis.stride));
    convolution.longs(A::CONVOLUTION_PRE_PADDINGS, &column(|axis| axis.pad_before));
    convolution.longs(A::CONVOLUTION_POST_PADDINGS, &column(|axis| axis.pad_after));
    convolution.finalize("convolution")?;
    let (kind, first) = match problem.operation {
        Operation::Fprop => (D::OPERATION_FORWARD, [700, 701, 702, 704, 703, 705]),
        Operation::Dgrad => (D::OPERATION_BACKWARD_DATA, [706, 707, 708, 710, 709, 711]),
        Operation::Wgrad => (D::OPERATION_BACKWARD_FILTER, [712, 713, 714, 716, 715, 717]),
        Operation::MaxPool | Operation::AvgPool | Operation::MatMul | Operation::RmsNorm => {
            panic!(
                "{} has descriptors of its own, which the end-to-end tests drive",
                problem.operation.name()
            )
        }
    };
    let [alpha, beta, conv, x_name, w_name, y_name] = first.map(A);
    let operation = libraries.descriptor(kind);
    operation.set(alpha, T::FLOAT, &[1.0_f32])?;
    operation.set(beta, T::FLOAT, &[0.0_f32])?;
    for (name, part) in [(conv, &convolution), (x_name, &x), (w_name, &w), (y_name, &y)] {
        operation.parts(name, &[part]);
    }
    operation.finalize("operation")?;
    let graph = libraries.descriptor(D::OPERATION_GRAPH);
    graph.parts(A::GRAPH_OPERATIONS, &[&operation]);
    graph.finalize("graph").map(|()| graph)
}

/// The plan of an engine with default knobs.
pub(crate) fn plan<'a>(libraries: &'a Libraries, case: &Case) -> Result<Descriptor<'a>, Refused> {
    let graph = graph(libraries, case)?;
    let heuristics = libraries.descriptor(D::ENGINE_HEURISTIC);
    heuristics.parts(A::HEURISTIC_GRAPH, &[&graph]);
    heuristics.set(A::HEURISTIC_MODE, T::HEURISTIC_MODE, &[3_i32])?;
    heuristics.finalize("heuristics")?;
    let index = match &case.options.engine {
        EngineChoice::Pinned(config) => config.engine,
        EngineChoice::Any | EngineChoice::Ranked { .. } => 2,
    };
    let engine = libraries.descriptor(D::ENGINE);
    engine.parts(A::ENGINE_GRAPH, &[&graph]);
    engine.longs(A::ENGINE_INDEX, &[index]);
    engine.finalize("engine")?;
    let config = libraries.descriptor(D::ENGINE_CONFIG);
    config.parts(A::CONFIG_ENGINE, &[&engine]);
    config.finalize("config")?;
    let plan = libraries.descriptor(D::EXECUTION_PLAN);
    plan.set(A::PLAN_HANDLE, T::HANDLE, &[libraries.handle])?;
    plan.parts(A::PLAN_CONFIG, &[&config]);
    plan.finalize("plan").map(|()| plan)
}

fn guarded(libraries: &Libraries, bytes: u64) -> u64 {
    let room = usize::try_from(bytes + 2 * GUARD).unwrap();
    let base = libraries.allocate(room);
    cuda_ok(libraries.set_bytes(base, CANARY, room));
    base + GUARD
}

fn touched(libraries: &Libraries, address: u64, bytes: u64, names: [&'static str; 2]) -> Vec<&'static str> {
    let sides = [(address - GUARD, names[0]), (address + bytes, names[1])];
    let changed = |from: u64| libraries.read(from, GUARD as usize).iter().any(|byte| *byte != CANARY);
    sides.into_iter().filter(|(from, _)| changed(*from)).map(|(_, name)| name).collect()
}

fn view(case: &Case, role: Role, pointer: u64) -> TensorView {
    let geometry = case.problem.geometry();
    let spread = |values: Vec<i64>, neutral: i64| {
        let lead = 5 - values.len();
        let mut five = [neutral; 5];
        five[..2].copy_from_slice(&values[..2]);
        five[2 + lead..].copy_from_slice(&values[2..]);
        five
    };
    TensorView {
        pointer,
        dtype: number(case.problem.dtypes.tensors()[role.index()]) as u32,
        extent: spread(geometry.extents(role), 1),
        stride: spread(geometry.strides(role), 0),
        ..TensorView::default()
    }
}

fn reference(case: &Case, views: [TensorView; 3], bytes: &[Vec<u8>; 3]) -> Vec<f64> {
    let axis = |of: fn(&case::Axis) -> i64, neutral: i64| {
        let mut three = [neutral; 3];
        let lead = 3 - case.problem.axes.len();
        for (slot, axis) in three[lead..].iter_mut().zip(&case.problem.axes) {
            *slot = of(axis);
        }
        three
    };
    let params = ReferenceParams {
        op: case.problem.operation as u32,
        lanes: 1,
        x: views[0],
        w: views[1],
        y: views[2],
        groups: case.problem.g,
        pad_before: axis(|axis| axis.pad_before, 0),
        conv_stride: axis(|axis| axis.stride, 1),
        dilation: axis(|axis| axis.dilation, 1),
        alpha: 1.0,
        ..ReferenceParams::default()
    };
    twin::reference(&params, &bytes[0], &bytes[1], &bytes[2]).unwrap().result
}

/// Runs a case after its history, and says what the case itself showed.
pub(crate) fn run(folder: &Path, case: &Case) -> Seen {
    let libraries = Libraries::start(folder);
    for earlier in &case.history {
        assert_eq!(run_alone(&libraries, earlier), Seen::default(), "{earlier}");
    }
    run_alone(&libraries, case)
}

/// Runs a case twice on small integers, with a workspace full of 0xFF.
fn run_alone(libraries: &Libraries, case: &Case) -> Seen {
    let plan = match plan(libraries, case) {
        Ok(plan) => plan,
        Err(refused) => return Seen { refused: Some(refused), ..Seen::default() },
    };
    let workspace_bytes = plan.get::<i64>(A::PLAN_WORKSPACE_SIZE, T::INT64, 1).unwrap()[0].unsigned_abs();
    let spans = Role::ALL.map(|role| case.problem.geometry().bytes(role) as u64);
    let tensors = spans.map(|span| guarded(libraries, span));
    let workspace = guarded(libraries, workspace_bytes);
    cuda_ok(libraries.set_bytes(workspace, 0xFF, workspace_bytes as usize));
    for role in Role::ALL {
        let view = view(case, role, tensors[role.index()]);
        let fill =
            FillParams { view, seed: 1, tensor: role.index() as u32, kind: 2, ..FillParams::default() };
        cuda_ok(libraries.launch(Kernel::Fill, bytemuck::bytes_of(&fill)));
    }
    let output = case.problem.operation.output().index();
    cuda_ok(libraries.set_bytes(tensors[output], 0xFF, spans[output] as usize));
    let contents =
        |libraries: &Libraries| [0, 1, 2].map(|index| libraries.read(tensors[index], spans[index] as usize));
    let before = contents(libraries);
    let pack = libraries.descriptor(D::VARIANT_PACK);
    pack.longs(A::PACK_UNIQUE_IDS, &[1, 2, 3]);
    pack.set(A::PACK_DATA_POINTERS, T::VOID_POINTER, &tensors).unwrap();
    pack.set(A::PACK_WORKSPACE, T::VOID_POINTER, &[workspace]).unwrap();
    pack.finalize("pack").unwrap();
    let mut seen = Seen::default();
    if let Err(refused) = libraries.execute(&plan, &pack) {
        seen.refused = Some(refused);
        return seen;
    }
    seen.waited = libraries.synchronize().0;
    if seen.waited != 0 {
        // The context is lost: every later call says so, too.
        assert_eq!(libraries.set_bytes(tensors[0], 0, 1).0, seen.waited);
        assert_eq!(libraries.execute(&plan, &pack), Err(("execute", 5001)));
        return seen;
    }
    let after = contents(libraries);
    let views = Role::ALL.map(|role| view(case, role, 0));
    let expected = reference(case, views, &before);
    let mut right = vec![0_u8; spans[output] as usize];
    libraries.write(tensors[output], &right);
    encode(&views[output], &expected, &mut right);
    let dtype = views[output].dtype;
    let width = kernel::element_bytes(dtype);
    let elements = right.chunks(width).zip(after[output].chunks(width));
    seen.wrong = elements.filter(|(due, got)| !is_near(value(dtype, due), value(dtype, got))).count();
    seen.input = [0, 1, 2].iter().any(|index| *index != output && before[*index] != after[*index]);
    cuda_ok(libraries.set_bytes(workspace, 0xFF, workspace_bytes as usize));
    libraries.execute(&plan, &pack).unwrap();
    cuda_ok(libraries.synchronize());
    seen.differs = contents(libraries)[output] != after[output];
    for (index, names) in
        [["x_before", "x_after"], ["w_before", "w_after"], ["y_before", "y_after"]].into_iter().enumerate()
    {
        seen.touched.extend(touched(libraries, tensors[index], spans[index], names));
    }
    seen.touched.extend(touched(
        libraries,
        workspace,
        workspace_bytes,
        ["workspace_before", "workspace_after"],
    ));
    seen
}

/// Writes values in logical order into a strided tensor.
fn encode(view: &TensorView, values: &[f64], bytes: &mut [u8]) {
    let width = kernel::element_bytes(view.dtype);
    for (linear, value) in values.iter().enumerate() {
        let mut rest = linear as i64;
        let mut offset = 0;
        for axis in (0..5).rev() {
            offset += rest % view.extent[axis] * view.stride[axis];
            rest /= view.extent[axis];
        }
        let at = offset as usize * width;
        bytes[at..at + width].copy_from_slice(&kernel::encode(view.dtype, *value).to_le_bytes()[..width]);
    }
}

fn value(dtype: u32, bytes: &[u8]) -> f64 {
    let mut word = [0_u8; 8];
    word[..bytes.len()].copy_from_slice(bytes);
    kernel::decode_bits(dtype, u64::from_le_bytes(word))
}

/// True where a transform's rounding explains the difference; data are small integers, so a fault is at least 1 off.
fn is_near(due: f64, got: f64) -> bool {
    (due - got).abs() <= 1e-3 * due.abs().max(1.0)
}
