//! The convolution as a product of matrices over unfolded images. Knows unfolding and dot products.

use case::{Operation, Role};

use super::Real;
use super::rows::zeros;
use crate::problem::Shape;

/// Independent sums of one dot product.
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

/// Where each entry of an unfolded image lies in one group's channels of one image: \[output\]\[c taps\], absent in
/// the padding.
struct Unfolding {
    places: Vec<Option<u32>>,
    outputs: usize,
    depth: usize,
}

impl Unfolding {
    fn new(shape: &Shape) -> Self {
        let [yd, yh, yw] = shape.y;
        let [wd, wh, ww] = shape.w;
        let (outputs, taps) = (yd * yh * yw, wd * wh * ww);
        let spatial: usize = shape.x.iter().product();
        let mut places = Vec::with_capacity(outputs * shape.c * taps);
        for output in 0..outputs {
            let out = [output / (yh * yw), output / yw % yh, output % yw];
            let meets: Vec<Option<usize>> =
                (0..taps).map(|tap| place(shape, out, [tap / (wh * ww), tap / ww % wh, tap % ww])).collect();
            for c in 0..shape.c {
                places.extend(meets.iter().map(|at| at.map(|at| (c * spatial + at) as u32)));
            }
        }
        Self { places, outputs, depth: shape.c * taps }
    }

    fn row(&self, output: usize) -> &[Option<u32>] {
        &self.places[output * self.depth..(output + 1) * self.depth]
    }
}

fn place(shape: &Shape, out: [usize; 3], tap: [usize; 3]) -> Option<usize> {
    let mut at = 0;
    for axis in 0..3 {
        let position =
            out[axis] as i64 * shape.stride[axis] + tap[axis] as i64 * shape.dilation[axis] - shape.pad[axis];
        let position = usize::try_from(position).ok().filter(|position| *position < shape.x[axis])?;
        at = at * shape.x[axis] + position;
    }
    Some(at)
}

fn transpose<R: Real>(matrix: &[R], rows: usize, columns: usize) -> Vec<R> {
    let mut turned = vec![R::default(); matrix.len()];
    for row in 0..rows {
        for column in 0..columns {
            turned[column * rows + row] = matrix[row * columns + column];
        }
    }
    turned
}

/// One pass by matrix products: `a` and `b` are its inputs in role order.
pub(crate) fn multiply<R: Real>(operation: Operation, shape: &Shape, [a, b]: [&[R]; 2]) -> Vec<R> {
    let mut out = zeros(shape, operation.output());
    let unfolding = Unfolding::new(shape);
    let image = shape.elements(Role::X) / shape.n / shape.groups;
    let filters = shape.k * unfolding.depth;
    let response = shape.k * unfolding.outputs;
    for n in 0..shape.n {
        for group in 0..shape.groups {
            let block = n * shape.groups + group;
            let x = block * image..(block + 1) * image;
            let w = group * filters..(group + 1) * filters;
            let y = block * response..(block + 1) * response;
            match operation {
                Operation::Fprop => forward(&unfolding, shape.k, [&a[x], &b[w]], &mut out[y]),
                Operation::Dgrad => backward_data(&unfolding, shape.k, [&a[w], &b[y]], &mut out[x]),
                Operation::Wgrad => backward_filter(&unfolding, shape.k, [&a[x], &b[y]], &mut out[w]),
            }
        }
    }
    out
}

fn unfold<R: Real>(unfolding: &Unfolding, x: &[R]) -> Vec<R> {
    unfolding.places.iter().map(|at| at.map_or_else(R::default, |at| x[at as usize])).collect()
}

fn forward<R: Real>(unfolding: &Unfolding, k: usize, [x, w]: [&[R]; 2], y: &mut [R]) {
    let (unfolded, depth) = (unfold(unfolding, x), unfolding.depth);
    for filter in 0..k {
        let weights = &w[filter * depth..(filter + 1) * depth];
        let outputs = y[filter * unfolding.outputs..].iter_mut().zip(unfolded.chunks_exact(depth));
        outputs.for_each(|(y, column)| *y = dot(weights, column));
    }
}

fn backward_data<R: Real>(unfolding: &Unfolding, k: usize, [w, y]: [&[R]; 2], x: &mut [R]) {
    let weights = transpose(w, k, unfolding.depth);
    let responses = transpose(y, k, unfolding.outputs);
    for (output, response) in responses.chunks_exact(k).enumerate() {
        for (at, weights) in unfolding.row(output).iter().zip(weights.chunks_exact(k)) {
            if let Some(at) = at {
                let x = &mut x[*at as usize];
                *x = x.add(dot(weights, response));
            }
        }
    }
}

fn backward_filter<R: Real>(unfolding: &Unfolding, k: usize, [x, y]: [&[R]; 2], w: &mut [R]) {
    let (outputs, depth) = (unfolding.outputs, unfolding.depth);
    let unfolded = transpose(&unfold(unfolding, x), outputs, depth);
    for filter in 0..k {
        let response = &y[filter * outputs..(filter + 1) * outputs];
        let weights = &mut w[filter * depth..(filter + 1) * depth];
        for (w, column) in weights.iter_mut().zip(unfolded.chunks_exact(outputs)) {
            *w = w.add(dot(response, column));
        }
    }
}
