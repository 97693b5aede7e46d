//! Shows on this device that the kernels compute what their twins compute and that each guard fires. Knows small
//! fixed cases; says what failed in one line each.

use abi::cuda::CuResult;
use case::{Case, Fill, FillKind, Phase, Provocation, Role};
use gpu::CallError;
use kernel::{
    CHECK, CompareTotals, DiffParams, DiffTotals, Kernel, PAINT, PATTERN_CONSTANT, PATTERN_HASH,
    ReferenceTotals, VerifyParams, VerifyTotals, Zone, ZoneTotals, ZonesParams, twin,
};

use crate::board::Board;
use crate::session::{Device, Session};
use crate::totals::Totals;

/// Cases whose extents, strides, groups and types differ from each other in every field.
const CASES: [&str; 11] = [
    "fprop f32 nchw n2 c6 k4 g2 i7x9 f3x2 p1:0x1 s2x1",
    "fprop f16 nhwc n1 c5 k3 i4x5x6 f2x3x1 p0x1x0 d1x2x1",
    "dgrad bf16 nhwc n3 c4 k6 i8x5 f3x3 p1x1 s1x2",
    "dgrad f64 nchw n1 c3 k2 i11 f4 p2 d2",
    "wgrad f16,f16,f32 nchw,nhwc,nchw n2 c3 k5 i9x6 f3x3 p1x1",
    "wgrad f32 nhwc n40 c2 k3 i12x12 f2x2",
    "dgrad f32 nhwc n2 c3 k4 i7x9 f3x2 fill=int2:1 keep=w:5-40,y:100",
    "maxpool f16 nhwc n2 c5 i7x9 f3x2 p1x0 s2x1",
    "avgpool f32 nchw n3 c4 i5x6x4 f2x3x1 p1x1x0",
    "matmul f16,f16,f32 row,col,row b3 m5 n7 k9",
    "rmsnorm bf16 nhwc n6 c33",
];

/// Brings trouble on this worker: only the device error comes back from it.
pub(crate) fn provoke(session: &Session, board: &Board, provocation: Provocation) -> CallError {
    match provocation {
        Provocation::Hang => {
            board.announce(Phase::Execute);
            loop {
                std::thread::sleep(std::time::Duration::from_secs(1));
            }
        }
        Provocation::Abort => {
            board.announce(Phase::Plan);
            std::process::abort();
        }
        Provocation::IllegalAddress => {
            board.announce(Phase::Sync);
            let none = CallError::Device { phase: Phase::Sync, result: CuResult::NO_DEVICE };
            session.device.as_ref().map_or(none, illegal_address)
        }
    }
}

/// Fills a tensor at an address that no allocation has.
fn illegal_address(device: &Device) -> CallError {
    let unmapped = kernel::TensorView {
        pointer: 0x1000,
        dtype: kernel::F32,
        reserved: 0,
        extent: [1, 1, 1, 1, 4],
        stride: [4, 4, 4, 4, 1],
    };
    let parameters = kernel::FillParams { view: unmapped, ..kernel::FillParams::default() };
    let launched = device.kernels.launch(Phase::Sync, Kernel::Fill, [1, 1], bytemuck::bytes_of(&parameters));
    match launched.and_then(|()| device.driver.wait_all(Phase::Sync)) {
        Err(error) => error,
        // Reported as success: the caller sees that nothing was noticed.
        Ok(()) => CallError::Device { phase: Phase::Sync, result: CuResult::SUCCESS },
    }
}

/// Name, passed, detail.
type Finding = (String, bool, String);

/// Runs every check; a device error ends the list with a failed line.
pub(crate) fn run(session: &Session) -> Vec<Finding> {
    let Some(device) = &session.device else {
        return vec![("device".to_owned(), false, "there is none".to_owned())];
    };
    let mut findings = Vec::new();
    for (name, check) in CHECKS {
        let (passed, detail) = match check(device) {
            Ok(detail) => (true, detail),
            Err(Trouble::Differs(detail)) => (false, detail),
            Err(Trouble::Call(error)) => (false, error.to_string()),
        };
        findings.push((name.to_owned(), passed, detail));
    }
    findings
}

/// Why a check did not pass.
enum Trouble {
    Differs(String),
    Call(CallError),
}

impl From<CallError> for Trouble {
    fn from(error: CallError) -> Self {
        Self::Call(error)
    }
}

impl From<kernel::Refusal> for Trouble {
    fn from(refusal: kernel::Refusal) -> Self {
        Self::Differs(format!("the twin refuses: {refusal}"))
    }
}

impl From<case::CaseError> for Trouble {
    fn from(error: case::CaseError) -> Self {
        Self::Differs(format!("a built-in case is refused: {error}"))
    }
}

type Check = fn(&Device) -> Result<String, Trouble>;

const CHECKS: [(&str, Check); 6] = [
    ("fills equal their twin", fills),
    ("one changed input element is found", changed_input),
    ("references and comparison equal their twins", references),
    ("an output that was not written is found", unwritten),
    ("one byte past a buffer is found on either side", guards),
    ("one differing element of a repeat is found", repeats),
];

const PHASE: Phase = Phase::Judge;

fn expect<T: PartialEq + std::fmt::Debug>(what: &str, got: &T, wanted: &T) -> Result<(), Trouble> {
    if got == wanted {
        return Ok(());
    }
    let shorten = |text: String| text.chars().take(200).collect::<String>();
    let (got, wanted) = (shorten(format!("{got:?}")), shorten(format!("{wanted:?}")));
    Err(Trouble::Differs(format!("{what}: device {got}, twin {wanted}")))
}

fn byte_count(case: &Case, role: Role) -> usize {
    usize::try_from(case.problem.geometry().bytes(role)).unwrap_or(0)
}

fn elements(case: &Case, role: Role) -> u64 {
    u64::try_from(case.problem.geometry().elements(role)).unwrap_or(0)
}

/// Fills a tensor on the device and by the twin; gives the address and the twin's bytes after comparing them. Nothing
/// for a tensor that the operation lacks.
fn filled(device: &Device, case: &Case, role: Role, fill: Fill) -> Result<(u64, Vec<u8>), Trouble> {
    if !case.problem.operation.tensors().contains(&role) {
        return Ok((0, Vec::new()));
    }
    let bytes = byte_count(case, role);
    let address = device.arena.plain(role.name(), bytes as u64)?;
    let mut parameters = oracle::fill_params(case, role, fill);
    let mut wanted = vec![0_u8; bytes];
    twin::fill(&parameters, &mut wanted)?;
    parameters.view.pointer = address;
    let grid = [kernel::grid_for(elements(case, role)), 1];
    device.kernels.launch(PHASE, Kernel::Fill, grid, bytemuck::bytes_of(&parameters))?;
    let mut got = vec![0_u8; bytes];
    device.driver.read(PHASE, address, &mut got)?;
    expect(&format!("{case}, tensor {}, {} bytes", role.name(), fill.kind.name()), &got, &wanted)?;
    Ok((address, wanted))
}

fn fills(device: &Device) -> Result<String, Trouble> {
    let mut count = 0;
    for line in CASES {
        let case: Case = line.parse()?;
        for kind in FillKind::ALL {
            for role in case.problem.operation.tensors().iter().copied() {
                filled(device, &case, role, Fill { kind, seed: 7 })?;
                count += 1;
            }
        }
    }
    Ok(format!("{count} tensors, every kind of data"))
}

fn changed_input(device: &Device) -> Result<String, Trouble> {
    let case: Case = CASES[0].parse()?;
    let fill = Fill { kind: FillKind::Int2, seed: 7 };
    let (address, bytes) = filled(device, &case, Role::X, fill)?;
    let element = 5;
    device.driver.write(PHASE, address + 4 * element, &[bytes[4 * 5] ^ 1])?;
    let totals = fresh_totals(device)?;
    let mut parameters = oracle::fill_params(&case, Role::X, fill);
    parameters.view.pointer = address;
    let verify = VerifyParams { fill: parameters, totals: Totals::verify_at(totals, 0) };
    let grid = [kernel::grid_for(elements(&case, Role::X)), 1];
    device.kernels.launch(PHASE, Kernel::Verify, grid, bytemuck::bytes_of(&verify))?;
    let got = read_totals(device, totals)?.verify[0];
    expect("totals", &got, &VerifyTotals { differing: 1, first: element })?;
    Ok("1 of 1".to_owned())
}

fn fresh_totals(device: &Device) -> Result<u64, Trouble> {
    let totals = device.arena.plain("totals", Totals::BYTES as u64)?;
    device.driver.write(PHASE, totals, bytemuck::bytes_of(&Totals::START))?;
    Ok(totals)
}

fn read_totals(device: &Device, totals: u64) -> Result<Totals, Trouble> {
    let mut read = Totals::START;
    device.driver.read(PHASE, totals, bytemuck::bytes_of_mut(&mut read))?;
    Ok(read)
}

fn references(device: &Device) -> Result<String, Trouble> {
    let mut count = 0;
    for line in CASES {
        let case: Case = line.parse()?;
        for kind in [FillKind::Int2, FillKind::Real] {
            for lanes in [1, 32, 256] {
                reference_and_comparison(device, &case, Fill { kind, seed: 3 }, lanes)?;
                count += 1;
            }
        }
    }
    Ok(format!("{count} problems, bit for bit"))
}

fn reference_and_comparison(device: &Device, case: &Case, fill: Fill, lanes: u32) -> Result<(), Trouble> {
    let output = case.problem.operation.output();
    let outputs = elements(case, output);
    let tensors = Role::ALL.map(|role| filled(device, case, role, fill));
    let [(x, x_bytes), (w, w_bytes), (y, y_bytes)] = match tensors {
        [Ok(x), Ok(w), Ok(y)] => [x, w, y],
        [Err(trouble), ..] | [_, Err(trouble), _] | [.., Err(trouble)] => return Err(trouble),
    };
    let totals = fresh_totals(device)?;
    let mut parameters = oracle::reference_params(case, fill);
    parameters.lanes = lanes;
    let wanted = twin::reference(&parameters, &x_bytes, &w_bytes, &y_bytes)?;
    (parameters.x.pointer, parameters.w.pointer, parameters.y.pointer) = (x, w, y);
    parameters.result = device.arena.plain("reference 0", 8 * outputs)?;
    parameters.abs_sum = device.arena.plain("abs_sum 0", 8 * outputs)?;
    parameters.totals = Totals::reference_at(totals);
    let grid = [kernel::reference_grid(outputs, lanes), 1];
    device.kernels.launch(PHASE, Kernel::Reference, grid, bytemuck::bytes_of(&parameters))?;
    let count = usize::try_from(outputs).unwrap_or(0);
    let (mut result, mut abs_sum) = (vec![0_f64; count], vec![0_f64; count]);
    device.driver.read(PHASE, parameters.result, bytemuck::cast_slice_mut(&mut result))?;
    device.driver.read(PHASE, parameters.abs_sum, bytemuck::cast_slice_mut(&mut abs_sum))?;
    let bits = |values: &[f64]| values.iter().map(|value| value.to_bits()).collect::<Vec<_>>();
    let what = format!("{case}, {lanes} lanes");
    expect(&what, &bits(&result), &bits(&wanted.result))?;
    expect(&what, &bits(&abs_sum), &bits(&wanted.abs_sum))?;
    let got: ReferenceTotals = read_totals(device, totals)?.reference;
    expect(&what, &got, &wanted.totals)?;
    // The output tensor holds its fill, which is wrong almost everywhere: a good subject for the comparison.
    let facts = oracle::facts(case, &wanted.totals);
    let recipe = oracle::recipes(case, case::Matrix::Standard)[0];
    let mut compare = oracle::compare_params(case, &case::Notes::default(), &facts, &recipe);
    let bytes = [&x_bytes, &w_bytes, &y_bytes][output.index()];
    let wanted: CompareTotals = twin::compare(&compare, bytes, &wanted.result, &wanted.abs_sum)?;
    compare.got.pointer = [x, w, y][output.index()];
    (compare.result, compare.abs_sum) = (parameters.result, parameters.abs_sum);
    compare.totals = Totals::compare_at(totals);
    let grid = [kernel::grid_for(outputs), 1];
    device.kernels.launch(PHASE, Kernel::Compare, grid, bytemuck::bytes_of(&compare))?;
    expect(&what, &read_totals(device, totals)?.compare, &wanted)
}

fn unwritten(device: &Device) -> Result<String, Trouble> {
    let case: Case = CASES[0].parse()?;
    let fill = Fill { kind: FillKind::Int2, seed: 3 };
    reference_and_comparison(device, &case, fill, 1)?;
    let outputs = elements(&case, Role::Y);
    let address = device.arena.plain("y", 4 * outputs)?;
    let recipe = oracle::recipes(&case, case::Matrix::Standard)[0];
    device.driver.set_bytes(PHASE, address, oracle::poison_byte(recipe.output), 4 * outputs)?;
    let totals = fresh_totals(device)?;
    let facts = case::ReferenceFacts { outputs, ..case::ReferenceFacts::default() };
    let mut compare = oracle::compare_params(&case, &case::Notes::default(), &facts, &recipe);
    compare.got.pointer = address;
    compare.result = device.arena.plain("reference 0", 8 * outputs)?;
    compare.abs_sum = device.arena.plain("abs_sum 0", 8 * outputs)?;
    compare.totals = Totals::compare_at(totals);
    let grid = [kernel::grid_for(outputs), 1];
    device.kernels.launch(PHASE, Kernel::Compare, grid, bytemuck::bytes_of(&compare))?;
    let got = read_totals(device, totals)?.compare;
    expect("stale elements", &got.stale, &outputs)?;
    Ok(format!("{outputs} of {outputs}"))
}

/// Paints both guards of a small buffer, writes one byte just outside on either side, and reads the counts.
fn guards(device: &Device) -> Result<String, Trouble> {
    let guard = 4096;
    let buffer = device.arena.guarded("x", 1000, guard, 256)?;
    for (pattern, argument) in [(PATTERN_CONSTANT, 0xFF), (PATTERN_HASH, 9)] {
        let zone = |pointer| Zone { pointer, bytes: guard, pattern, reserved: 0, argument };
        let mut parameters = ZonesParams { mode: PAINT, count: 2, ..ZonesParams::default() };
        (parameters.zones[0], parameters.zones[1]) = (zone(buffer.before()), zone(buffer.after()));
        let (x, y) = kernel::zones_grid(&parameters);
        device.kernels.launch(PHASE, Kernel::Zones, [x, y], bytemuck::bytes_of(&parameters))?;
        let mut edge = [0_u8; 1];
        for address in [buffer.pointer - 1, buffer.after()] {
            device.driver.read(PHASE, address, &mut edge)?;
            device.driver.write(PHASE, address, &[edge[0] ^ 0x10])?;
        }
        let totals = fresh_totals(device)?;
        (parameters.mode, parameters.totals) = (CHECK, Totals::zones_at(totals));
        device.kernels.launch(PHASE, Kernel::Zones, [x, y], bytemuck::bytes_of(&parameters))?;
        let got = read_totals(device, totals)?.zones;
        expect("guard before", &got[0], &ZoneTotals { changed: 1, first: guard - 1, last: guard - 1 })?;
        expect("guard after", &got[1], &ZoneTotals { changed: 1, first: 0, last: 0 })?;
    }
    Ok("2 sides, 2 patterns".to_owned())
}

fn repeats(device: &Device) -> Result<String, Trouble> {
    let (bytes, element) = (4096_u64, 77_u64);
    let (a, b) = (device.arena.plain("x", bytes)?, device.arena.plain("w", bytes)?);
    device.driver.set_bytes(PHASE, a, 1, bytes)?;
    device.driver.set_bytes(PHASE, b, 1, bytes)?;
    device.driver.write(PHASE, b + 2 * element, &[0])?;
    let totals = fresh_totals(device)?;
    let diff = DiffParams { a, b, bytes_per_element: 2, count: bytes / 2, totals: Totals::diff_at(totals) };
    let grid = [kernel::grid_for(diff.count), 1];
    device.kernels.launch(PHASE, Kernel::Diff, grid, bytemuck::bytes_of(&diff))?;
    let got = read_totals(device, totals)?.diff;
    expect("totals", &got, &DiffTotals { differing: 1, first: element })?;
    Ok("1 of 1".to_owned())
}
