//! The convolution as a product of matrices over unfolded images. Knows unfolding and products of matrices, whose
//! innermost loops run along the longer side.

use case::Role;

use super::rows::{Span, spans, zeros};
use super::{PassKind, Real};
use crate::problem::Shape;

/// Independent sums of one dot product, and the length below which a loop is not worth running innermost.
const LANES: usize = 8;

fn dot<R: Real>(a: &[R], b: &[R]) -> R {
    let mut lanes = [R::default(); LANES];
    let (left, right) = (a.chunks_exact(LANES), b.chunks_exact(LANES));
    let (left_rest, right_rest) = (left.remainder(), right.remainder());
    for (a, b) in left.zip(right) {
        for (lane, (a, b)) in lanes.iter_mut().zip(a.iter().zip(b)) {
            *lane = lane.plus(*a, *b);
        }
    }
    let rest = left_rest.iter().zip(right_rest).fold(R::default(), |sum, (a, b)| sum.plus(*a, *b));
    lanes.into_iter().fold(rest, R::add)
}

/// A row-major matrix of so many columns.
#[derive(Clone, Copy)]
struct Matrix<'a, R> {
    values: &'a [R],
    columns: usize,
}

impl<'a, R: Real> Matrix<'a, R> {
    fn new(values: &'a [R], columns: usize) -> Self {
        Self { values, columns }
    }

    fn rows(&self) -> std::slice::ChunksExact<'a, R> {
        self.values.chunks_exact(self.columns)
    }

    fn transposed(&self) -> Vec<R> {
        let rows = self.values.len() / self.columns;
        let mut turned = vec![R::default(); self.values.len()];
        for (row, values) in self.rows().enumerate() {
            for (column, value) in values.iter().enumerate() {
                turned[column * rows + row] = *value;
            }
        }
        turned
    }

    /// Adds this times another to `out`.
    fn times(&self, other: Self, out: &mut [R]) {
        let width = other.columns;
        if width >= LANES || self.columns < LANES {
            for (row, out) in self.rows().zip(out.chunks_exact_mut(width)) {
                for (factor, values) in row.iter().zip(other.rows()) {
                    out.iter_mut().zip(values).for_each(|(out, value)| *out = out.plus(*factor, *value));
                }
            }
            return;
        }
        self.times_turned(Matrix::new(&other.transposed(), self.columns), out);
    }

    /// Adds this times the transpose of another to `out`.
    fn times_turned(&self, other: Matrix<'_, R>, out: &mut [R]) {
        let width = other.values.len() / other.columns;
        for (row, out) in self.rows().zip(out.chunks_exact_mut(width)) {
            out.iter_mut().zip(other.rows()).for_each(|(out, column)| *out = out.add(dot(row, column)));
        }
    }
}

/// How one group's channels of one image become a matrix \[c taps\]\[outputs\], and back.
struct Unfolding {
    spans: Vec<Span>,
    step: usize,
    image: usize,
    channels: usize,
    taps: usize,
    outputs: usize,
}

impl Unfolding {
    fn new(shape: &Shape) -> Self {
        let product = |extents: [usize; 3]| extents.iter().product();
        Self {
            spans: spans(shape),
            step: shape.stride[2] as usize,
            image: product(shape.x),
            channels: shape.c,
            taps: product(shape.w),
            outputs: product(shape.y),
        }
    }

    fn depth(&self) -> usize {
        self.channels * self.taps
    }

    fn unfold<R: Real>(&self, x: &[R]) -> Vec<R> {
        let mut matrix = vec![R::default(); self.depth() * self.outputs];
        for (image, block) in
            x.chunks_exact(self.image).zip(matrix.chunks_exact_mut(self.taps * self.outputs))
        {
            for span in &self.spans {
                let row = &mut block[span.tap * self.outputs + span.y..][..span.count];
                row.iter_mut()
                    .zip(image[span.x..].iter().step_by(self.step))
                    .for_each(|(to, from)| *to = *from);
            }
        }
        matrix
    }

    fn fold<R: Real>(&self, matrix: &[R], x: &mut [R]) {
        for (image, block) in
            x.chunks_exact_mut(self.image).zip(matrix.chunks_exact(self.taps * self.outputs))
        {
            for span in &self.spans {
                let row = &block[span.tap * self.outputs + span.y..][..span.count];
                let places = image[span.x..].iter_mut().step_by(self.step);
                places.zip(row).for_each(|(to, from)| *to = to.add(*from));
            }
        }
    }
}

/// One pass by matrix products: `a` and `b` are its inputs in role order.
pub(crate) fn multiply<R: Real>(operation: PassKind, shape: &Shape, [a, b]: [&[R]; 2]) -> Vec<R> {
    let mut out = zeros(shape, operation.output());
    let unfolding = Unfolding::new(shape);
    let image = shape.elements(Role::X) / shape.n / shape.groups;
    let (depth, outputs) = (unfolding.depth(), unfolding.outputs);
    for group in 0..shape.groups {
        let w = group * shape.k * depth..(group + 1) * shape.k * depth;
        let weights = match operation {
            PassKind::Dgrad => Matrix::new(&a[w.clone()], depth).transposed(),
            PassKind::Fprop | PassKind::Wgrad => Vec::new(),
        };
        for n in 0..shape.n {
            let block = n * shape.groups + group;
            let x = block * image..(block + 1) * image;
            let y = block * shape.k * outputs..(block + 1) * shape.k * outputs;
            match operation {
                PassKind::Fprop => {
                    let columns = unfolding.unfold(&a[x]);
                    Matrix::new(&b[w.clone()], depth).times(Matrix::new(&columns, outputs), &mut out[y]);
                }
                PassKind::Dgrad => {
                    let mut columns = vec![R::default(); depth * outputs];
                    Matrix::new(&weights, shape.k).times(Matrix::new(&b[y], outputs), &mut columns);
                    unfolding.fold(&columns, &mut out[x]);
                }
                PassKind::Wgrad => {
                    let columns = unfolding.unfold(&a[x]);
                    let (responses, columns) = (Matrix::new(&b[y], outputs), Matrix::new(&columns, outputs));
                    if outputs >= LANES {
                        responses.times_turned(columns, &mut out[w.clone()]);
                    } else {
                        responses.times(Matrix::new(&columns.transposed(), depth), &mut out[w.clone()]);
                    }
                }
            }
        }
    }
    out
}
