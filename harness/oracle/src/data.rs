//! What each buffer holds before a run. Knows which operand gets which family of values and which bits are
//! poison; the formula of the values belongs to `kernel`.

use case::{Case, DType, Fill, FillKind, Operation, OutputFill, Role};
use kernel::FillParams;

use crate::view::tensor_view;

/// One element in so many is not 0 in a sparse operand: thin enough to isolate taps, and only one operand is
/// thinned, so that most products of a long reduction do not vanish.
const SPARSE_DIVISOR: u64 = 8;

/// How a fill treats one tensor: the kernels' kind, and the argument that the kind takes.
///
/// Four families single out elements of the *probe* (what an operation reads first: x, and y for
/// dgrad) and give every other tensor plain values, so that their products stay telling:
///
/// | fill | probe | other tensors |
/// |---|---|---|
/// | `onehot:S` | 1 at linear index mix(S) modulo the elements, else 0 | `ramp` |
/// | `nan:S` | `int2` with NaN at that index | `int2` |
/// | `sparse:S` | `int2` at one element in 8, else 0 | `int2` |
/// | `ramp:S` | linear index mod 257, less 128 | `int2` |
///
/// Every other family fills all tensors alike. The output, read only where beta is not 0, counts as other.
#[must_use]
pub fn operand_fill(operation: Operation, role: Role, fill: Fill) -> (kernel::FillKind, u64) {
    use kernel::FillKind as Kernel;
    let probe = match operation {
        Operation::Fprop
        | Operation::Wgrad
        | Operation::MaxPool
        | Operation::AvgPool
        | Operation::MatMul
        | Operation::RmsNorm => Role::X,
        Operation::Dgrad => Role::Y,
    };
    let pick = |of_probe: (Kernel, u64), of_others: Kernel| {
        if role == probe { of_probe } else { (of_others, 0) }
    };
    let index = kernel::mix(fill.seed);
    match fill.kind {
        FillKind::Zero => (Kernel::Zero, 0),
        FillKind::One => (Kernel::One, 0),
        FillKind::Int2 => (Kernel::Int2, 0),
        FillKind::Int1 => (Kernel::Int1, 0),
        FillKind::Tern => (Kernel::Tern, 0),
        FillKind::Real => (Kernel::Real, 0),
        FillKind::Index => (Kernel::Index, 0),
        FillKind::Onehot => pick((Kernel::OneHot, index), Kernel::Ramp),
        FillKind::Ramp => pick((Kernel::Ramp, 0), Kernel::Int2),
        FillKind::Nan => pick((Kernel::Nan, index), Kernel::Int2),
        FillKind::Sparse => pick((Kernel::Sparse, SPARSE_DIVISOR), Kernel::Int2),
    }
}

/// What to write into a tensor of the case, with address 0: the caller knows it. For the output it is the
/// prior value that beta scales.
#[must_use]
pub fn fill_params(case: &Case, role: Role, fill: Fill) -> FillParams {
    let (kind, argument) = operand_fill(case.problem.operation, role, fill);
    let tensor = match role {
        Role::X => kernel::TENSOR_X,
        Role::W => kernel::TENSOR_W,
        Role::Y => kernel::TENSOR_Y,
    };
    let (first, kept) = kept(case, role);
    FillParams {
        view: tensor_view(case, role),
        seed: fill.seed,
        tensor,
        kind: kind.into(),
        argument,
        first,
        kept,
    }
}

/// The run of elements that keep their values, as the kernels take it: a count of 0 keeps all.
fn kept(case: &Case, role: Role) -> (u64, u64) {
    let number = |value: i64| u64::try_from(value).unwrap_or(0);
    case.options.keep.of(role).map_or((0, 0), |kept| (number(kept.first), number(kept.elements())))
}

/// The byte that an output which must not be read is filled with.
#[must_use]
pub fn poison_byte(output_fill: OutputFill) -> u8 {
    match output_fill {
        OutputFill::Nan => 0xFF,
        // Finite in each type and large: 61280 in f16, about 1e36 in bf16 and f32.
        OutputFill::Finite => 0x7B,
    }
}

/// The bits of one poisoned element, in the low bits that its type has.
#[must_use]
pub fn poison_bits(dtype: DType, output_fill: OutputFill) -> u64 {
    let bits = 8 * u32::try_from(dtype.bytes()).unwrap_or(8);
    u64::from_le_bytes([poison_byte(output_fill); 8]) >> (64 - bits)
}
