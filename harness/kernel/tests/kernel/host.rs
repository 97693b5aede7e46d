//! The CUDA source, compiled as plain C++ by g++, against the twins, bit for bit. Knows `cuda/host.cpp`'s
//! input; skips where there is no g++. `CONVICT_KERNEL_HOST` may name another program that reads the same
//! input, such as one that runs the PTX on a GPU.

use std::io::Write;
use std::mem::offset_of;
use std::path::PathBuf;
use std::process::{Command, Stdio};
use std::sync::OnceLock;

use bytemuck::{NoUninit, bytes_of, cast_slice};
use kernel::{
    BF16, CHECK, CompareParams, CompareTotals, DiffParams, DiffTotals, ElementwiseParams, F16, F32, F64,
    FillKind, FillParams, Kernel, PAINT, ReferenceParams, ReferenceTotals, Step, VerifyParams, VerifyTotals,
    ZONES_MAX, Zone, ZoneTotals, ZonesParams, encode, twin,
};
use proptest::strategy::{Strategy, ValueTree};
use proptest::test_runner::TestRunner;

use crate::naive::{Problem, problem};
use crate::{gapped, memory, packed};

/// Memory that a kernel is given: where its address goes in the parameters, its bytes, and its distance from
/// an address that is a multiple of eight.
struct Buffer {
    pointer_offset: usize,
    bytes: Vec<u8>,
    skew: u64,
}

fn buffer(pointer_offset: usize, bytes: &[u8]) -> Buffer {
    Buffer { pointer_offset, bytes: bytes.to_vec(), skew: 0 }
}

/// The program that runs kernels; none where it cannot be built.
fn program() -> Option<&'static PathBuf> {
    static PROGRAM: OnceLock<Option<PathBuf>> = OnceLock::new();
    PROGRAM
        .get_or_init(|| {
            if let Some(path) = std::env::var_os("CONVICT_KERNEL_HOST") {
                return Some(path.into());
            }
            let source = concat!(env!("CARGO_MANIFEST_DIR"), "/cuda/host.cpp");
            let program = PathBuf::from(env!("CARGO_TARGET_TMPDIR")).join("kernel_host");
            let options = ["-std=c++20", "-O1", "-ffp-contract=off", "-pthread", source, "-o"];
            let status = Command::new("g++").args(options).arg(&program).status().ok()?;
            assert!(status.success(), "g++ cannot compile {source}");
            Some(program)
        })
        .as_ref()
}

/// Runs a kernel and returns its buffers afterwards; none without a program.
fn run(kernel: Kernel, grid: [u32; 2], params: &impl NoUninit, buffers: &[Buffer]) -> Option<Vec<Vec<u8>>> {
    let number = Kernel::ALL.iter().position(|&other| other == kernel).expect("listed") as u32;
    let params = bytes_of(params);
    let head = [number, grid[0], grid[1], params.len() as u32, buffers.len() as u32];
    let mut input = [cast_slice(&head), params].concat();
    for buffer in buffers {
        let head = [buffer.pointer_offset as u64, buffer.bytes.len() as u64, buffer.skew];
        input.extend_from_slice(cast_slice(&head));
        input.extend_from_slice(&buffer.bytes);
    }
    let mut child = Command::new(program()?)
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .spawn()
        .expect("program starts");
    child.stdin.take().expect("stdin is piped").write_all(&input).expect("program reads");
    let output = child.wait_with_output().expect("program ends");
    assert!(output.status.success(), "{}", output.status);
    let mut rest = &output.stdout[..];
    let mut after = Vec::new();
    for buffer in buffers {
        let (bytes, tail) = rest.split_at(buffer.bytes.len());
        after.push(bytes.to_vec());
        rest = tail;
    }
    Some(after)
}

fn problems(count: usize) -> Vec<Problem> {
    let mut runner = TestRunner::deterministic();
    (0..count).map(|_| problem().new_tree(&mut runner).expect("strategy generates").current()).collect()
}

#[test]
fn fill_and_verify_make_the_twins_bits() {
    for (index, kind) in FillKind::ALL.into_iter().enumerate() {
        let dtype = [F32, F64, F16, BF16][index % 4];
        let fill = FillParams {
            view: gapped(dtype, [2, 5, 2, 3, 11]),
            seed: 77 + index as u64,
            tensor: index as u32 % 3,
            kind: kind.into(),
            argument: 5,
            first: 7 * index as u64,
            kept: [0, 1, 40][index % 3],
        };
        let mut expected = memory(&fill.view);
        let Some(after) = run(Kernel::Fill, [2, 1], &fill, &[buffer(0, &expected)]) else { return };
        twin::fill(&fill, &mut expected).unwrap();
        assert_eq!(after[0], expected, "{kind:?}");

        let params = VerifyParams { fill, totals: 0 };
        expected[57] ^= 4;
        expected[1203] ^= 1;
        let totals = buffer(offset_of!(VerifyParams, totals), bytes_of(&VerifyTotals::START));
        let Some(after) = run(Kernel::Verify, [3, 1], &params, &[buffer(0, &expected), totals]) else {
            return;
        };
        assert_eq!(after[1], bytes_of(&twin::verify(&fill, &expected).unwrap()));
    }
}

#[test]
fn reference_makes_the_twins_bits() {
    for problem in problems(60).into_iter().chain(crate::others::others()) {
        let [x, w, y] = problem.operands();
        let expected = twin::reference(&problem.params, &x, &w, &y).unwrap();
        let results = vec![0; expected.result.len() * 8];
        let buffers = [
            buffer(offset_of!(ReferenceParams, x), &x),
            buffer(offset_of!(ReferenceParams, w), &w),
            buffer(offset_of!(ReferenceParams, y), &y),
            buffer(offset_of!(ReferenceParams, result), &results),
            buffer(offset_of!(ReferenceParams, abs_sum), &results),
            buffer(offset_of!(ReferenceParams, totals), bytes_of(&ReferenceTotals::START)),
        ];
        let Some(after) = run(Kernel::Reference, [2, 1], &problem.params, &buffers) else { return };
        assert_eq!(after[3], cast_slice::<f64, u8>(&expected.result), "{problem:?}");
        assert_eq!(after[4], cast_slice::<f64, u8>(&expected.abs_sum), "{problem:?}");
        assert_eq!(after[5], bytes_of(&expected.totals), "{problem:?}");
    }
}

#[test]
fn compare_makes_the_twins_totals() {
    let specials = [f64::NAN, f64::INFINITY, -1e300, 1e-310, 65519.999, 65520.0, 0.0, -0.0, 2f64.powi(-25)];
    for (index, problem) in problems(30).into_iter().enumerate() {
        let outcome = problem.outcome();
        let mut result = outcome.result.clone();
        for (slot, special) in result.iter_mut().skip(index).step_by(7).zip(specials) {
            *slot = special;
        }
        let view = packed(problem.output().view.dtype, [1, 1, 1, 1, result.len() as i64]);
        let width = kernel::element_bytes(view.dtype);
        let mut got: Vec<u8> = result
            .iter()
            .flat_map(|&value| encode(view.dtype, value).to_le_bytes().into_iter().take(width))
            .collect();
        for byte in got.iter_mut().skip(index).step_by(11) {
            *byte ^= 0xc1;
        }
        let poison = u64::from(got[0]) | 0x3c00;
        let params = CompareParams {
            got: view,
            accumulate: 1e-3,
            output: 1e-3,
            absolute: 1e-6,
            norm_bound: 0.5,
            poison,
            poison_known: index as u32 % 2,
            ..CompareParams::default()
        };
        let expected = twin::compare(&params, &got, &result, &outcome.abs_sum).unwrap();
        let buffers = [
            buffer(0, &got),
            buffer(offset_of!(CompareParams, result), cast_slice(&result)),
            buffer(offset_of!(CompareParams, abs_sum), cast_slice(&outcome.abs_sum)),
            buffer(offset_of!(CompareParams, totals), bytes_of(&CompareTotals::START)),
        ];
        let Some(after) = run(Kernel::Compare, [2, 1], &params, &buffers) else { return };
        assert_eq!(after[3], bytes_of(&expected));
    }
}

#[test]
fn zones_of_any_alignment_make_the_twins_bytes_and_totals() {
    let mut params = ZonesParams { mode: PAINT, count: ZONES_MAX as u32, ..ZonesParams::default() };
    let mut buffers = Vec::new();
    for (index, zone) in params.zones.iter_mut().enumerate() {
        let bytes = [0, 1, 3, 8, 9, 31, 64, 5000][index / 2];
        *zone = Zone { bytes, pattern: index as u32 % 2, argument: index as u64 * 0x55, ..Zone::default() };
        let pointer_offset = offset_of!(ZonesParams, zones) + index * size_of::<Zone>();
        buffers.push(Buffer {
            pointer_offset,
            bytes: vec![0x3c; bytes as usize],
            skew: (index as u64 * 5) % 8,
        });
    }
    let Some(painted) = run(Kernel::Zones, [2, 3], &params, &buffers) else { return };
    let mut expected = [ZoneTotals::START; ZONES_MAX];
    for (index, zone) in params.zones.iter().enumerate() {
        let mut bytes = vec![0x3c; zone.bytes as usize];
        twin::paint(zone, &mut bytes).unwrap();
        assert_eq!(painted[index], bytes, "zone {index}");
        for byte in bytes.iter_mut().skip(index % 5).step_by(13) {
            *byte = byte.wrapping_add(1);
        }
        expected[index] = twin::check(zone, &bytes).unwrap();
        buffers[index].bytes = bytes;
    }
    params.mode = CHECK;
    let start = [ZoneTotals::START; ZONES_MAX];
    buffers.push(buffer(offset_of!(ZonesParams, totals), cast_slice(&start)));
    let after = run(Kernel::Zones, [1, 16], &params, &buffers).unwrap();
    assert_eq!(after[ZONES_MAX], cast_slice::<ZoneTotals, u8>(&expected));
}

#[test]
fn diff_makes_the_twins_totals_for_every_width() {
    for (bytes_per_element, skew) in [(1, 0), (2, 0), (3, 1), (4, 0), (4, 2), (8, 0), (16, 0)] {
        let params = DiffParams { bytes_per_element, count: 300, ..DiffParams::default() };
        let a = vec![7; 300 * bytes_per_element as usize];
        let mut b = a.clone();
        for byte in b.iter_mut().skip(40).step_by(97) {
            *byte = 8;
        }
        let buffers = [
            Buffer { pointer_offset: 0, bytes: a.clone(), skew },
            Buffer { pointer_offset: 8, bytes: b.clone(), skew },
            buffer(offset_of!(DiffParams, totals), bytes_of(&DiffTotals::START)),
        ];
        let Some(after) = run(Kernel::Diff, [1, 1], &params, &buffers) else { return };
        assert_eq!(after[2], bytes_of(&twin::diff(&params, &a, &b).unwrap()));
    }
}

#[test]
fn steps_of_a_training_make_the_twins_bits() {
    let (items, channels, inner) = (3, 5, 7);
    for (number, step) in Step::ALL.into_iter().enumerate() {
        for (dtype, channels_last) in [(F32, 0), (F16, 1), (BF16, 0), (F32, 1)] {
            let width = kernel::element_bytes(dtype);
            let count = if step == Step::Average { items * channels } else { items * channels * inner };
            let params = ElementwiseParams {
                op: step.into(),
                dtype,
                count,
                inner,
                channels,
                channels_last,
                factor: 0.3,
                ..ElementwiseParams::default()
            };
            let seeded = |seed: u64, width: usize| {
                let element = |index: u64| match (index + seed) % 9 {
                    0 => f64::NAN,
                    1 => 0.0,
                    _ => (kernel::mix(seed ^ index) >> 40) as f64 / 8_388_608.0 - 1.0,
                };
                let bits = |value: f64| encode(if width == 4 { F32 } else { dtype }, value).to_le_bytes();
                (0..items * channels * inner)
                    .flat_map(|index| bits(element(index)).into_iter().take(width))
                    .collect::<Vec<u8>>()
            };
            let (a, b, mut master) = (seeded(number as u64, width), seeded(90, width), seeded(17, 4));
            let mut out = vec![0; count as usize * width];
            let buffers = [
                buffer(offset_of!(ElementwiseParams, a), &a),
                buffer(offset_of!(ElementwiseParams, b), &b),
                buffer(offset_of!(ElementwiseParams, out), &out),
                buffer(offset_of!(ElementwiseParams, master), &master),
            ];
            let Some(after) = run(Kernel::Elementwise, [2, 1], &params, &buffers) else { return };
            twin::elementwise(&params, [&a, &b], &mut out, &mut master).unwrap();
            assert_eq!(after[2], out, "{step:?} {dtype}");
            assert_eq!(after[3], master, "{step:?} {dtype}");
        }
    }
}
