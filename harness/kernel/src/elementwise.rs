//! The small steps between the convolutions of a training run: their parameters and the memory they reach. Knows packed
//! tensors; knows no network.

use bytemuck::{Pod, Zeroable};

use crate::number::element_bytes;
use crate::params::F32;
use crate::refusal::Refusal;

/// What the kernel makes of its operands, element by element.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[repr(u32)]
pub enum Step {
    /// `a` where it is not negative, else 0; NaN stays.
    Relu = 0,
    /// `b` where `a` is above 0 or NaN, else 0.
    ReluBack = 1,
    /// `factor` times the sum of a channel of an item.
    Average = 2,
    /// `factor` times the mean's gradient, for every element that went into it.
    AverageBack = 3,
    /// `factor` times the difference of `a` and `b`.
    LossBack = 4,
    /// The f32 at `master` less `factor` times `a`, kept there and rounded into the output.
    Update = 5,
}

impl Step {
    /// Every step, by number.
    pub const ALL: [Self; 6] =
        [Self::Relu, Self::ReluBack, Self::Average, Self::AverageBack, Self::LossBack, Self::Update];
}

impl From<Step> for u32 {
    fn from(step: Step) -> Self {
        step as Self
    }
}

impl TryFrom<u32> for Step {
    type Error = Refusal;

    fn try_from(number: u32) -> Result<Self, Refusal> {
        Self::ALL.get(number as usize).copied().ok_or(Refusal::Op(number))
    }
}

/// One step over packed tensors of one element type.
#[repr(C)]
#[derive(Clone, Copy, Debug, Default, PartialEq, Pod, Zeroable)]
pub struct ElementwiseParams {
    /// A [`Step`] as its number.
    pub op: u32,
    /// Element type of `a`, `b` and `out`.
    pub dtype: u32,
    /// Device address of the first operand.
    pub a: u64,
    /// Device address of the second operand, where the step has one.
    pub b: u64,
    /// Device address of the result.
    pub out: u64,
    /// Device address of the weights in f32; `Update` alone touches them.
    pub master: u64,
    /// Elements of the result.
    pub count: u64,
    /// Elements of one channel of one item, for the means.
    pub inner: u64,
    /// Channels, for the means.
    pub channels: u64,
    /// 1 where channels are the innermost dimension.
    pub channels_last: u32,
    /// Zero.
    pub reserved: u32,
    /// What results are multiplied by.
    pub factor: f64,
}

impl ElementwiseParams {
    /// Elements of the first operand.
    ///
    /// # Errors
    /// No such step, or means whose counts do not fit together.
    pub(crate) fn operands(&self) -> Result<u64, Refusal> {
        let whole =
            |count: u64, part: u64| if part > 0 && count.is_multiple_of(part) { Some(count) } else { None };
        let operands = match Step::try_from(self.op)? {
            Step::Relu | Step::ReluBack | Step::LossBack | Step::Update => Some(self.count),
            Step::Average => whole(self.count, self.channels).and_then(|count| count.checked_mul(self.inner)),
            Step::AverageBack => {
                let item = self.inner.checked_mul(self.channels).ok_or(Refusal::View)?;
                whole(self.count, item).map(|count| count / self.inner)
            }
        };
        operands.ok_or(Refusal::View)
    }

    /// Address, bytes and whether they are written, of every buffer.
    pub(crate) fn reach(&self) -> Result<Vec<(u64, u64, bool)>, Refusal> {
        let width = element_bytes(self.dtype) as u64;
        if width == 0 {
            return Err(Refusal::Dtype(self.dtype));
        }
        let bytes = |count: u64, width: u64| count.checked_mul(width).ok_or(Refusal::View);
        let mut reach = vec![(self.a, bytes(self.operands()?, width)?, false)];
        match Step::try_from(self.op)? {
            Step::ReluBack | Step::LossBack => reach.push((self.b, bytes(self.count, width)?, false)),
            Step::Update => {
                reach.push((self.master, bytes(self.count, element_bytes(F32) as u64)?, true));
            }
            Step::Relu | Step::Average | Step::AverageBack => {}
        }
        reach.push((self.out, bytes(self.count, width)?, true));
        Ok(reach)
    }
}
