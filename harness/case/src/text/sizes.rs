//! The sizes of a case line, each at most once, and the problem that an operation makes of them. Knows which letters
//! belong to which operation; knows no options.

use crate::dtype::DTypes;
use crate::error::CaseError;
use crate::layout::Layouts;
use crate::operation::Operation;
use crate::problem::{Axis, Problem};

use super::number::{read_extents, read_integer, read_pads};
use super::{join_extents, once, print_pad};

/// The letters that an operation's sizes begin with. Those of matmul are its own: b batch, m rows, n columns, k the
/// extent that is summed over.
pub(super) fn letters(operation: Operation) -> &'static str {
    match operation {
        Operation::Fprop | Operation::Dgrad | Operation::Wgrad => "n c k g i f p s d",
        Operation::MaxPool | Operation::AvgPool => "n c i f p s",
        Operation::MatMul => "b m n k",
        Operation::RmsNorm => "n c",
    }
}

/// Sizes as they are met.
#[derive(Default)]
pub(super) struct Sizes {
    b: Option<i64>,
    m: Option<i64>,
    n: Option<i64>,
    c: Option<i64>,
    k: Option<i64>,
    g: Option<i64>,
    input: Option<Vec<i64>>,
    filter: Option<Vec<i64>>,
    pads: Option<Vec<(i64, i64)>>,
    stride: Option<Vec<i64>>,
    dilation: Option<Vec<i64>>,
}

fn required(slot: Option<i64>, field: &str, what: &str) -> Result<i64, CaseError> {
    slot.ok_or_else(|| CaseError::bare(field, format!("is missing; write the {what}, as in {field}8")))
}

impl Sizes {
    /// Reads one word, a letter of that operation and its numbers.
    pub(super) fn take(&mut self, operation: Operation, word: &str) -> Result<(), CaseError> {
        let known = letters(operation);
        let unknown = || CaseError::new("size", word, format!("is no field: {known} take a number"));
        let field = word.get(..1).ok_or_else(unknown)?;
        if !known.split(' ').any(|letter| letter == field) {
            return Err(unknown());
        }
        let text = &word[1..];
        match field {
            "b" => once(&mut self.b, field, text, read_integer(field, text)?),
            "m" => once(&mut self.m, field, text, read_integer(field, text)?),
            "n" => once(&mut self.n, field, text, read_integer(field, text)?),
            "c" => once(&mut self.c, field, text, read_integer(field, text)?),
            "k" => once(&mut self.k, field, text, read_integer(field, text)?),
            "g" => once(&mut self.g, field, text, read_integer(field, text)?),
            "i" => once(&mut self.input, field, text, read_extents(field, text)?),
            "f" => once(&mut self.filter, field, text, read_extents(field, text)?),
            "p" => once(&mut self.pads, field, text, read_pads(text)?),
            "s" => once(&mut self.stride, field, text, read_extents(field, text)?),
            "d" => once(&mut self.dilation, field, text, read_extents(field, text)?),
            _ => Err(unknown()),
        }
    }

    /// The problem of these sizes.
    pub(super) fn problem(
        self,
        operation: Operation,
        dtypes: DTypes,
        layouts: Layouts,
        declared_output: Option<Vec<i64>>,
    ) -> Result<Problem, CaseError> {
        let blank = |n: i64, c: i64, k: i64, g: i64, axes: Vec<Axis>| Problem {
            operation,
            dtypes,
            layouts,
            n,
            c,
            k,
            g,
            axes,
            declared_output,
        };
        match operation {
            Operation::Fprop | Operation::Dgrad | Operation::Wgrad => {
                let (n, c, k, g) = (self.n, self.c, self.k, self.g);
                let axes = self.axes("filter")?;
                let n = required(n, "n", "batch size")?;
                let c = required(c, "c", "number of input channels")?;
                Ok(blank(n, c, required(k, "k", "number of filters")?, g.unwrap_or(1), axes))
            }
            Operation::MaxPool | Operation::AvgPool => {
                let (n, c) = (self.n, self.c);
                let axes = self.axes("window")?;
                let n = required(n, "n", "batch size")?;
                let c = required(c, "c", "number of channels")?;
                Ok(blank(n, c, c, c, axes))
            }
            Operation::MatMul => {
                let b = self.b.unwrap_or(1);
                let m = required(self.m, "m", "rows of x")?;
                let columns = required(self.n, "n", "columns of w")?;
                let inner = required(self.k, "k", "columns of x, which are summed over")?;
                let total = |field: &str, value: i64| {
                    b.checked_mul(value).ok_or_else(|| CaseError::new(field, value, "times b leaves 63 bits"))
                };
                Ok(blank(m, total("k", inner)?, total("n", columns)?, b, vec![Axis::plain(1, 1)]))
            }
            Operation::RmsNorm => {
                let n = required(self.n, "n", "rows of x")?;
                let c = required(self.c, "c", "length of a row")?;
                Ok(blank(n, c, c, c, vec![Axis::plain(1, 1); 2]))
            }
        }
    }

    fn axes(self, filter_name: &str) -> Result<Vec<Axis>, CaseError> {
        let missing = |field: &str, rule: String| CaseError::bare(field, rule);
        let input = self.input.ok_or_else(|| {
            missing("i", "is missing; write the input's extent along each axis, as in i56x56".to_owned())
        })?;
        let filter = self.filter.ok_or_else(|| {
            missing("f", format!("is missing; write the {filter_name}'s extent along each axis, as in f3x3"))
        })?;
        let rank = input.len();
        let pads = self.pads.unwrap_or_else(|| vec![(0, 0); rank]);
        let stride = self.stride.unwrap_or_else(|| vec![1; rank]);
        let dilation = self.dilation.unwrap_or_else(|| vec![1; rank]);
        let given = [
            ("f", filter.len(), join_extents(&filter)),
            ("p", pads.len(), join_pads(&pads)),
            ("s", stride.len(), join_extents(&stride)),
            ("d", dilation.len(), join_extents(&dilation)),
        ];
        for (field, length, shown) in given {
            if length != rank {
                return Err(wrong_rank(field, &shown, length, rank));
            }
        }
        Ok((0..rank)
            .map(|axis| Axis {
                input: input[axis],
                filter: filter[axis],
                pad_before: pads[axis].0,
                pad_after: pads[axis].1,
                stride: stride[axis],
                dilation: dilation[axis],
            })
            .collect())
    }
}

fn join_pads(pads: &[(i64, i64)]) -> String {
    let pad = |&(before, after): &(i64, i64)| print_pad(before, after);
    pads.iter().map(pad).collect::<Vec<_>>().join("x")
}

/// A field that speaks of another number of axes than the input has.
pub(crate) fn wrong_rank(field: &str, shown: &str, length: usize, rank: usize) -> CaseError {
    let axes = |count: usize| if count == 1 { "1 axis".to_owned() } else { format!("{count} axes") };
    let first = shown.split('x').next().unwrap_or_default();
    let sign = if field == "y" { "=" } else { "" };
    let example = vec![first; rank].join("x");
    let rule =
        format!("has {}, but i has {}; write it as in {field}{sign}{example}", axes(length), axes(rank));
    CaseError::new(field, shown, rule)
}
