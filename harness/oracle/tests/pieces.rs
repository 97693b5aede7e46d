//! Recipes, certificates, bounds and shapes by example: what each rule of the design says, in numbers.
#![allow(clippy::unwrap_used, reason = "a test that cannot set up its own case has failed")]

use case::{Case, DType, Fill, FillKind, Matrix, Notes, OutputFill, ReferenceFacts, Role, WorkspaceFill};
use oracle::{
    Certificate, bounds, certificate, coordinates, fill_params, poison_bits, print_position, recipes,
    reference_params, sample_positions, tensor_view,
};

fn case(line: &str) -> Case {
    line.parse().unwrap()
}

fn notes(numerical: &[i32]) -> Notes {
    Notes { numerical: numerical.to_vec(), behavior: Vec::new() }
}

fn facts(products_max: u64, abs_sum_max: f64, abs_result_max: f64) -> ReferenceFacts {
    ReferenceFacts { products_max, abs_sum_max, abs_result_max, ..ReferenceFacts::default() }
}

fn fill(kind: FillKind) -> Fill {
    Fill { kind, seed: 1 }
}

const F32: &str = "fprop f32 nchw n1 c2 k2 i4x4 f3x3";

/// Fill, output and workspace in words, with the execution that must be equal.
fn shown(line: &str, matrix: Matrix) -> Vec<String> {
    let word = |recipe: &case::Recipe| {
        let workspace = match recipe.workspace {
            WorkspaceFill::Zero => "00".to_owned(),
            WorkspaceFill::Ones => "ff".to_owned(),
            WorkspaceFill::Random(seed) => format!("rand:{seed}"),
        };
        let again = recipe.repeats.map_or(String::new(), |index| format!(" ={index}"));
        let data = format!("{}:{}", recipe.fill.kind.name(), recipe.fill.seed);
        format!("{data} {} {workspace}{again}", recipe.output.name())
    };
    recipes(&case(line), matrix).iter().map(word).collect()
}

#[test]
fn the_standard_matrix_is_four_executions() {
    let four = ["int2:1 nan ff", "int2:1 nan ff =0", "int2:2 finite 00", "real:3 nan rand:1"];
    assert_eq!(shown(F32, Matrix::Standard), four);
}

#[test]
fn the_full_matrix_adds_workspaces_families_and_ten_executions_of_the_first() {
    let full = shown(F32, Matrix::Full);
    assert_eq!(full[..4], shown(F32, Matrix::Standard));
    assert!(full.contains(&"int2:1 nan 00 =0".to_owned()));
    assert!(full.contains(&"int2:1 nan rand:1 =0".to_owned()));
    for kind in ["int1", "tern", "index", "onehot", "ramp"] {
        assert_eq!(full.iter().filter(|word| word.starts_with(kind)).count(), 1, "{kind}");
    }
    assert_eq!(full.iter().filter(|word| word.starts_with("int2:1 nan ff")).count(), 10);
}

#[test]
fn a_pinned_part_replaces_itself_and_equal_rows_are_made_once() {
    let data = ["int1:9 nan ff", "int1:9 nan ff =0", "int1:9 finite 00 =0", "int1:9 nan rand:1 =0"];
    assert_eq!(shown(&format!("{F32} fill=int1:9"), Matrix::Standard), data);
    let no_workspace = ["int1:9 nan 00", "int1:9 nan 00 =0", "int1:9 finite 00 =0"];
    assert_eq!(shown(&format!("{F32} wsfill=00 fill=int1:9"), Matrix::Standard), no_workspace);
}

#[test]
fn a_case_that_pins_everything_is_taken_at_its_word() {
    let pinned = format!("{F32} wsfill=00 fill=int1:9 out=finite");
    assert_eq!(shown(&pinned, Matrix::Standard), ["int1:9 finite 00"]);
    let three = ["int1:9 finite 00", "int1:9 finite 00 =0", "int1:9 finite 00 =0"];
    assert_eq!(shown(&format!("{pinned} repeat=3"), Matrix::Standard), three);
    assert_eq!(shown(&pinned, Matrix::Full).len(), 10);
    // The fill decides the output where beta is not 0, so two pins are all there are.
    let scaled = format!("{F32} wsfill=ff fill=int1:9 beta=1");
    assert_eq!(shown(&scaled, Matrix::Standard), ["int1:9 nan ff"]);
}

#[test]
fn repeat_adds_executions_of_the_first_contents() {
    let six = shown(&format!("{F32} repeat=4"), Matrix::Standard);
    assert_eq!(six.len(), 6);
    assert_eq!(six.iter().filter(|word| word.starts_with("int2:1 nan ff")).count(), 4);
}

#[test]
fn certificates_hold_up_to_the_significand_of_the_sums() {
    let limit = f64::powi(2.0, 24);
    let table: [(&str, &[i32], f64, f64, bool); 17] = [
        (F32, &[], limit, 9e5, true),
        (F32, &[], limit + 1.0, 9e5, false),
        (F32, &[0], limit, 9e5, true),
        // Transforms are excluded; notes on determinism and NaN change nothing.
        (F32, &[3], 100.0, 50.0, false),
        (F32, &[6], 100.0, 50.0, false),
        (F32, &[4, 9], 100.0, 50.0, true),
        // Narrowed f32 inputs: results up to 2^11, whatever the sum.
        (F32, &[1], 9e5, 2048.0, true),
        (F32, &[1], 9e5, 2049.0, false),
        ("fprop f16 nchw n1 c2 k2 i4 f3", &[1], 9e5, 2049.0, true),
        // Reduced precision: the narrower type holds the sums.
        ("fprop f16 nchw n1 c2 k2 i4 f3", &[2], 2048.0, 100.0, true),
        ("fprop f16 nchw n1 c2 k2 i4 f3", &[2], 2049.0, 100.0, false),
        ("fprop bf16 nchw n1 c2 k2 i4 f3", &[2], 256.0, 100.0, true),
        ("fprop bf16 nchw n1 c2 k2 i4 f3", &[2], 257.0, 100.0, false),
        ("fprop f16/f16 nchw n1 c2 k2 i4 f3", &[], 2049.0, 100.0, false),
        // Results must fit f16, not its exact integers.
        ("fprop f16 nchw n1 c2 k2 i4 f3", &[], 1e6, 65504.0, true),
        ("fprop f16 nchw n1 c2 k2 i4 f3", &[], 1e6, 65505.0, false),
        ("fprop f64 nchw n1 c2 k2 i4 f3", &[], 9e15, 1e9, true),
    ];
    for (line, numerical, sum, result, exact) in table {
        let answer =
            certificate(&case(line), &notes(numerical), &facts(9, sum, result), fill(FillKind::Int2));
        assert_eq!(answer.is_exact(), exact, "{line} {numerical:?} {sum} {result}: {}", answer.because());
    }
}

#[test]
fn a_certificate_tells_its_numbers() {
    let of = |kind, sum| certificate(&case(F32), &notes(&[]), &facts(18, sum, 21.0), fill(kind));
    let exact = Certificate::Exact { because: "largest sum of absolute products 288 <= 2^24".to_owned() };
    assert_eq!(of(FillKind::Int2, 288.0), exact);
    assert_eq!(of(FillKind::Real, 2.0).because(), "real data are no integers");
    assert!(!of(FillKind::Int2, f64::NAN).is_exact());
    assert!(!of(FillKind::Nan, 4.0).is_exact());
}

#[test]
fn scales_certify_only_as_powers_of_two_and_count_their_smallest_step() {
    let of = |scale: &str, sum| {
        let line = format!("{F32} {scale}");
        certificate(&case(&line), &notes(&[]), &facts(9, sum, 9.0), fill(FillKind::Int2)).is_exact()
    };
    assert!(of("alpha=-0.5 beta=2", 100.0));
    assert!(!of("alpha=3", 100.0));
    assert!(!of("alpha=1 beta=0.3", 100.0));
    assert!(!of("alpha=0.0009765625", 100.0));
    assert!(of("alpha=0", 0.0));
    // Results in steps of 1/2: half as many fit.
    assert!(of("alpha=0.5 beta=1", f64::powi(2.0, 23)));
    assert!(!of("alpha=0.5 beta=1", f64::powi(2.0, 23) + 1.0));
}

#[test]
fn bounds_grow_with_the_reduction_and_with_what_notes_admit() {
    let real = fill(FillKind::Real);
    let of = |line: &str, numerical: &[i32], products: u64| {
        bounds(&case(line), &notes(numerical), &facts(products, 100.0, 10.0), real)
    };
    let strict = format!("{F32} tf32=off");
    for products in [0, 1, 2, 100, 1 << 20] {
        let (one, more) = (of(&strict, &[4], products), of(&strict, &[4], products + products / 2 + 1));
        assert!(one.accumulate < more.accumulate && one.norm < more.norm, "{products}");
    }
    let plain = of(&strict, &[4], 18);
    assert!((plain.accumulate - (4.0 + 18_f64.sqrt()) * f64::powi(2.0, -24)).abs() < 1e-12);
    assert_eq!(plain.output, f64::powi(2.0, -24));
    // Narrowing allows 2^-10 for each operand; integers survive it.
    assert!(of(F32, &[], 18).accumulate > f64::powi(2.0, -9));
    assert!(of(&strict, &[1], 18).accumulate > f64::powi(2.0, -9));
    let integers = bounds(&case(F32), &notes(&[1]), &facts(18, 100.0, 10.0), fill(FillKind::Int2));
    assert_eq!(integers.accumulate, plain.accumulate);
    assert!(of(&strict, &[2], 18).accumulate > 2000.0 * plain.accumulate);
    // Room for a transform: declared, or nothing declared at all.
    let sums_only = of(&strict, &[0], 18);
    assert!(of(&strict, &[3], 18).absolute > 1e-5 && of(&strict, &[], 18).absolute > 1e-5);
    assert!(sums_only.absolute < 1e-30);
    assert!(of(&strict, &[5], 18).absolute >= 5e-6 * 100.0);
    assert!(of("fprop f16 nchw n1 c2 k2 i4 f3", &[5], 18).absolute >= 1e-2 * 100.0);
}

#[test]
fn no_element_bound_exceeds_the_common_one_and_all_are_finite() {
    for line in [F32, "dgrad f16 nchw n1 c2 k2 i9 f3 s2 alpha=0.3 beta=2", "wgrad f64 nhwc n1 c2 k2 i9 f3"] {
        for note in -1..10 {
            for kind in FillKind::ALL {
                for (sum, result) in [(0.0, 0.0), (288.0, 21.0), (1e30, 1e29), (f64::MAX, f64::MAX)] {
                    let facts = facts(577, sum, result);
                    let bounds = bounds(&case(line), &notes(&[note]), &facts, fill(kind));
                    let element = bounds.accumulate * sum + bounds.output * result + bounds.absolute;
                    assert!(bounds.norm >= element || bounds.norm == f64::MAX, "{line} {note} {kind:?}");
                    assert!(bounds.norm.is_finite() && bounds.absolute.is_finite());
                }
            }
        }
    }
    let unknown = bounds(&case(F32), &notes(&[]), &facts(9, f64::NAN, f64::INFINITY), fill(FillKind::Nan));
    assert!(unknown.norm.is_finite() && unknown.absolute.is_finite());
}

#[test]
fn tensors_are_aligned_on_the_right_with_strides_of_their_layout() {
    let case = case("fprop f16 nhwc n2 c6 k4 g2 i5x7 f3x2 p1:2x0 s2x1 d1x3");
    let x = tensor_view(&case, Role::X);
    assert_eq!((x.dtype, x.extent), (kernel::F16, [2, 6, 1, 5, 7]));
    assert_eq!(x.stride, [210, 1, 0, 42, 6]);
    assert_eq!(tensor_view(&case, Role::W).extent, [4, 3, 1, 3, 2]);
    let params = reference_params(&case, fill(FillKind::Int2));
    assert_eq!((params.groups, params.pad_before), (2, [0, 1, 0]));
    assert_eq!((params.conv_stride, params.dilation), ([1, 2, 1], [1, 1, 3]));
    assert_eq!(params.prior, fill_params(&case, Role::Y, fill(FillKind::Int2)));
}

#[test]
fn positions_are_row_major_and_named_by_their_tensor() {
    let y = case("fprop f32 nchw n2 c3 k4 i5x6 f3x3 p1x1");
    assert_eq!(coordinates(&y, 0), [0, 0, 0, 0]);
    assert_eq!(coordinates(&y, 239), [1, 3, 4, 5]);
    assert_eq!(print_position(&y, 37), "(n0 k1 h1 w1)");
    let w = case("wgrad f32 nhwc n2 c3 k4 i5x6x7 f3x3x2");
    assert_eq!(print_position(&w, 18 * 3 + 17), "(k1 c0 d2 h2 w1)");
    assert_eq!(print_position(&case("dgrad f32 nchw n1 c1 k1 i9 f3"), 4), "(n0 c0 w4)");
    let odd = case("fprop f32 nchw n0 c1 k1 i4 f9 expect=refuse");
    assert_eq!(print_position(&odd, u64::MAX), "(n0 k0 w0)");
}

#[test]
fn samples_hold_the_corners_are_distinct_and_cost_a_bounded_amount() {
    let large = case("fprop f32 nchw n4 c3 k40 i70x70 f3x3");
    let positions = sample_positions(&large, 64);
    assert_eq!(positions.len(), 64);
    assert!(positions.windows(2).all(|pair| pair[0] < pair[1]));
    assert_eq!((positions[0], positions[63]), (0, 4 * 40 * 68 * 68 - 1));
    // Both sides of the last edge of tiles of 32 along w.
    let columns: Vec<i64> = positions.iter().map(|position| coordinates(&large, *position)[3]).collect();
    assert!(columns.contains(&63) && columns.contains(&64));
    assert_eq!(sample_positions(&large, 64), positions);
    let wide = case("wgrad f32 nchw n64 c2 k2 i112x112 f3x3 p1x1");
    assert_eq!(sample_positions(&wide, 64).len(), 2);
    let huge = case("wgrad f32 nchw n4096 c2 k2 i112x112 f3x3 p1x1");
    assert!(sample_positions(&huge, 64).is_empty());
    assert_eq!(sample_positions(&case("fprop f32 nchw n1 c1 k1 i3 f1"), 64), [0, 1, 2]);
    let empty = case("fprop f32 nchw n0 c1 k1 i4 f9 expect=refuse");
    assert!(sample_positions(&empty, 64).is_empty());
}

#[test]
fn poison_is_one_byte_repeated_in_each_type() {
    assert_eq!(poison_bits(DType::F16, OutputFill::Nan), 0xFFFF);
    assert_eq!(poison_bits(DType::F64, OutputFill::Nan), u64::MAX);
    assert_eq!(poison_bits(DType::F32, OutputFill::Finite), 0x7B7B_7B7B);
    for dtype in DType::FLOATS {
        let value = |fill| kernel::decode_bits(oracle::dtype_code(dtype), poison_bits(dtype, fill));
        assert!(value(OutputFill::Nan).is_nan() && value(OutputFill::Finite).is_finite(), "{dtype:?}");
    }
}

#[test]
fn one_operand_is_singled_out_and_the_other_stays_telling() {
    let kinds = |line: &str, kind| {
        Role::ALL
            .map(|role| kernel::FillKind::try_from(fill_params(&case(line), role, fill(kind)).kind).unwrap())
    };
    use kernel::FillKind::{Int2, Nan, OneHot, Ramp, Real, Sparse};
    assert_eq!(kinds(F32, FillKind::Onehot), [OneHot, Ramp, Ramp]);
    assert_eq!(kinds("dgrad f32 nchw n1 c1 k1 i3 f1", FillKind::Onehot), [Ramp, Ramp, OneHot]);
    assert_eq!(kinds("wgrad f32 nchw n1 c1 k1 i3 f1", FillKind::Nan), [Nan, Int2, Int2]);
    assert_eq!(kinds(F32, FillKind::Sparse), [Sparse, Int2, Int2]);
    assert_eq!(kinds(F32, FillKind::Ramp), [Ramp, Int2, Int2]);
    assert_eq!(kinds(F32, FillKind::Real), [Real, Real, Real]);
}

#[test]
fn a_reference_of_kept_inputs_is_that_of_tensors_with_zeros_elsewhere() {
    let numbers = |line: &str| -> Vec<f64> {
        let case = case(line);
        let fill = case.options.fill.unwrap();
        let output = case.problem.operation.output();
        let outputs = u64::try_from(case.problem.geometry().elements(output)).unwrap();
        (0..outputs).map(|position| oracle::expected_at(&case, fill, position).result).collect()
    };
    assert_eq!(
        numbers("fprop f32 nchw n1 c1 k1 i4x4 f2x2 fill=index:1 keep=x:5"),
        // index: x(1, 1) = 7 + 3 - 30; w = -30, -27, -23, -20 from the first tap to the last.
        [400.0, 460.0, 0.0, 540.0, 600.0, 0.0, 0.0, 0.0, 0.0]
    );
    assert_eq!(
        numbers("fprop f32 nchw n1 c1 k1 i4x4 f2x2 fill=index:1 keep=x:5-6,w:3"),
        [400.0, 340.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0]
    );
    assert_eq!(numbers("dgrad f32 nchw n1 c1 k1 i4 f2 fill=one:1 keep=y:2,w:0-1"), [0.0, 0.0, 1.0, 1.0]);
    assert_eq!(numbers("wgrad f32 nchw n2 c1 k1 i4 f2 fill=one:1 keep=x:3-5"), [2.0, 2.0]);
    // The prior output is no input: all of it stays.
    assert_eq!(numbers("fprop f32 nchw n1 c1 k1 i3 f1 fill=one:1 beta=2 keep=x:1"), [2.0, 3.0, 2.0]);
}
