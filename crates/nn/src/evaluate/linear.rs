//! Matrix products and convolutions.

use std::ops::Range;

use madrigal_kernels::crew;

use super::strided::{broadcast_strides, split, strides, walk};
use crate::graph::{Type, Window};
use crate::tensor::{Data, Tensor};

/// Numbers that are multiplied and added up.
trait Number: Copy + Default + Send + Sync + 'static {
    fn plus_product(self, a: Self, b: Self) -> Self;
    /// The elements of a tensor that is of such numbers.
    fn of(tensor: &Tensor) -> Option<&[Self]>;
}

macro_rules! numbers {
    ($($number:ty, $kind:ident, $plus_product:expr;)*) => { $(
        impl Number for $number {
            fn plus_product(self, a: Self, b: Self) -> Self {
                $plus_product(self, a, b)
            }

            fn of(tensor: &Tensor) -> Option<&[Self]> {
                match tensor.data() {
                    Data::$kind(values) => Some(values),
                    _ => None,
                }
            }
        }
    )* };
}
numbers! {
    f32, F32, |sum, a, b| sum + a * b;
    f64, F64, |sum, a, b| sum + a * b;
    // Modulo two to the element's width, in the end.
    i64, Int, |sum: i64, a: i64, b| sum.wrapping_add(a.wrapping_mul(b));
}

/// Applies a function that is generic over numbers, by those that the tensors have.
macro_rules! of_numbers {
    ($inputs:expr, $output:expr, $function:ident($($argument:expr),*)) => {{
        let data = match $inputs[0].data() {
            Data::F32(_) => Data::F32($function::<f32>($inputs, $($argument),*)),
            Data::F64(_) => Data::F64($function::<f64>($inputs, $($argument),*)),
            Data::Int(_) => Data::Int($function::<i64>($inputs, $($argument),*)),
            Data::Bool(_) => unreachable!("all are of the same numbers"),
        };
        Tensor::made($output.element, $output.shape.clone(), data)
    }};
}

/// The elements of a tensor that is of the same numbers as others.
fn numbers<'t, T: Number>(tensor: &'t &Tensor) -> &'t [T] {
    T::of(tensor).unwrap_or_default()
}

/// Products that are worth a thread's attention.
const SHARED: usize = 1 << 18;

/// Columns that are computed at a time: their sums stay in the cache.
const COLUMNS: usize = 512;

/// Adds the product of `left` (rows x inner) and `right` (inner x columns) to `sums`; the crew at work shares the rows.
fn multiply<T: Number>(left: &[T], right: &[T], inner: usize, columns: usize, sums: &mut [T]) {
    if inner == 0 || columns == 0 {
        return;
    }
    let least = SHARED.div_ceil(inner * columns);
    let parts = crew::slices(sums, 4 * columns, least * columns);
    crew::each(parts, |(first, sums)| {
        let left = &left[first / columns * inner..];
        multiply_rows(left, right, inner, columns, sums);
    });
}

fn multiply_rows<T: Number>(left: &[T], right: &[T], inner: usize, columns: usize, sums: &mut [T]) {
    for begin in (0..columns).step_by(COLUMNS) {
        let end = columns.min(begin + COLUMNS);
        let quads = sums.chunks_mut(4 * columns);
        for (sums, left) in quads.zip(left.chunks(4 * inner)) {
            let mut rows: Vec<&mut [T]> = sums
                .chunks_mut(columns)
                .map(|row| &mut row[begin..end])
                .collect();
            if let [a, b, c, d] = &mut rows[..] {
                // Four rows at a time, so that each element on the right is read once for four products.
                for step in 0..inner {
                    let row = &right[step * columns + begin..step * columns + end];
                    let of = |index: usize| left[index * inner + step];
                    let (w, x, y, z) = (of(0), of(1), of(2), of(3));
                    let sums = a.iter_mut().zip(&mut **b).zip(&mut **c).zip(&mut **d);
                    for ((((a, b), c), d), &value) in sums.zip(row) {
                        *a = a.plus_product(w, value);
                        *b = b.plus_product(x, value);
                        *c = c.plus_product(y, value);
                        *d = d.plus_product(z, value);
                    }
                }
                continue;
            }
            for (row, left) in rows.into_iter().zip(left.chunks(inner)) {
                for (step, &factor) in left.iter().enumerate() {
                    let values = &right[step * columns + begin..step * columns + end];
                    for (sum, &value) in row.iter_mut().zip(values) {
                        *sum = sum.plus_product(factor, value);
                    }
                }
            }
        }
    }
}

/// The product of stacks of matrices, plus a bias.
fn product<T: Number>(inputs: &[&Tensor], shape: &[usize]) -> Vec<T> {
    let (left, right) = (numbers::<T>(&inputs[0]), numbers(&inputs[1]));
    let mut sums = vec![T::default(); shape.iter().product()];
    if let Some(bias) = inputs.get(2) {
        let from = broadcast_strides(bias.shape(), shape);
        let bias = numbers(bias);
        let mut to = sums.iter_mut();
        walk(shape, [&from], [0], |[at]| {
            if let Some(sum) = to.next() {
                *sum = bias[at];
            }
        });
    }
    // A vector is a row on the left and a column on the right.
    let left_shape = match inputs[0].shape() {
        [inner] => vec![1, *inner],
        own => own.to_vec(),
    };
    let right_shape = match inputs[1].shape() {
        [inner] => vec![*inner, 1],
        own => own.to_vec(),
    };
    let (left_stack, left_matrix) = left_shape.split_at(left_shape.len() - 2);
    let (right_stack, right_matrix) = right_shape.split_at(right_shape.len() - 2);
    let (rows, inner, columns) = (left_matrix[0], left_matrix[1], right_matrix[1]);
    if right_stack.iter().all(|&size| size == 1) {
        // One matrix on the right: all rows are one matrix on the left.
        multiply(left, right, inner, columns, &mut sums);
        return sums;
    }
    let rank = left_stack.len().max(right_stack.len());
    let stack: Vec<usize> = (0..rank)
        .map(|axis| {
            let size = |stack: &[usize]| match (axis + stack.len()).checked_sub(rank) {
                Some(own) => stack[own],
                None => 1,
            };
            match size(left_stack) {
                1 => size(right_stack),
                own => own,
            }
        })
        .collect();
    let left_strides = broadcast_strides(left_stack, &stack);
    let right_strides = broadcast_strides(right_stack, &stack);
    let mut outputs = sums.chunks_mut((rows * columns).max(1));
    walk(&stack, [&left_strides, &right_strides], [0, 0], |[l, r]| {
        if let Some(sums) = outputs.next() {
            let left = &left[l * rows * inner..][..rows * inner];
            let right = &right[r * inner * columns..][..inner * columns];
            multiply(left, right, inner, columns, sums);
        }
    });
    sums
}

/// The product of stacks of matrices, plus a bias where there is one.
pub(super) fn matmul(inputs: &[&Tensor], output: &Type) -> Tensor {
    of_numbers!(inputs, output, product(&output.shape))
}

/// Places of a kernel's elements over data, for some places of the kernel.
struct Reach {
    /// Element of a channel, if any, for each element of the kernel and each place.
    from: Vec<Option<usize>>,
    /// Number of places.
    places: usize,
}

impl Reach {
    fn new(
        window: &Window,
        (data, places): (&[usize], &[usize]),
        elements: Range<usize>,
        range: Range<usize>,
    ) -> Reach {
        let mut from = Vec::with_capacity(elements.len() * range.len());
        let steps = strides(data);
        for element in elements {
            let element = split(element, &window.kernel);
            for place in range.clone() {
                let place = split(place, places);
                let at = (0..data.len()).try_fold(0, |sum, axis| {
                    let inside =
                        place[axis] * window.strides[axis] + element[axis] * window.dilations[axis];
                    let own = inside.checked_sub(window.before[axis])?;
                    (own < data[axis]).then(|| sum + own * steps[axis] as usize)
                });
                from.push(at);
            }
        }
        let places = range.len();
        Reach { from, places }
    }
}

/// Elements of the matrix that a convolution is made at a time.
const BLOCK: usize = 1 << 17;

/// Sizes of a convolution; those of channels and elements are of one group.
struct Sizes {
    batch: usize,
    groups: usize,
    read: usize,
    made: usize,
    /// Elements of a channel of the data.
    plane: usize,
    kernel: usize,
    places: usize,
}

fn conv<T: Number>(
    inputs: &[&Tensor],
    window: &Window,
    sizes: &Sizes,
    (data_shape, places): (&[usize], &[usize]),
) -> Vec<T> {
    let (data, weights) = (numbers::<T>(&inputs[0]), numbers(&inputs[1]));
    let bias = inputs.get(2).map(numbers::<T>);
    let all = sizes.places;
    let channels = sizes.groups * sizes.made;
    let mut sums = vec![T::default(); sizes.batch * channels * all];
    if all == 0 || sums.is_empty() {
        return sums;
    }
    let inner = sizes.read * sizes.kernel;
    let block = (BLOCK / inner.max(1)).clamp(1, all);
    for begin in (0..all).step_by(block) {
        let range = begin..all.min(begin + block);
        let reach = Reach::new(window, (data_shape, places), 0..sizes.kernel, range.clone());
        let width = reach.places;
        // One image after the other, of each the groups.
        let made = sums.chunks_mut(sizes.made * all).enumerate();
        crew::each(made, |(number, sums)| {
            let group = number % sizes.groups;
            let mut seen = vec![T::default(); inner * width];
            let mut part = vec![T::default(); sizes.made * width];
            for channel in 0..sizes.read {
                let plane = &data[(number * sizes.read + channel) * sizes.plane..][..sizes.plane];
                let rows = &mut seen[channel * sizes.kernel * width..];
                for (value, from) in rows.iter_mut().zip(&reach.from) {
                    *value = from.map_or(T::default(), |at| plane[at]);
                }
            }
            for (channel, row) in part.chunks_mut(width).enumerate() {
                let start = bias.map_or(T::default(), |bias| bias[group * sizes.made + channel]);
                row.fill(start);
            }
            let weights = &weights[group * sizes.made * inner..][..sizes.made * inner];
            multiply(weights, &seen, inner, width, &mut part);
            for (row, to) in part.chunks(width).zip(sums.chunks_mut(all)) {
                to[range.clone()].copy_from_slice(row);
            }
        });
    }
    sums
}

/// The sum over all places of the kernel, scaled by the element of the data there; the transposed map of `conv`.
fn spread<T: Number>(
    inputs: &[&Tensor],
    window: &Window,
    sizes: &Sizes,
    (data_shape, made_shape): (&[usize], &[usize]),
) -> Vec<T> {
    let (data, weights) = (numbers::<T>(&inputs[0]), numbers(&inputs[1]));
    let bias = inputs.get(2).map(numbers::<T>);
    let channels = sizes.groups * sizes.made;
    let mut sums = vec![T::default(); sizes.batch * channels * sizes.places];
    if let (Some(bias), false) = (bias, sums.is_empty()) {
        for (channel, sums) in sums.chunks_mut(sizes.places).enumerate() {
            sums.fill(bias[channel % channels]);
        }
    }
    for element in 0..sizes.kernel {
        // A place of the kernel over what is made is an element of the data.
        let shapes = (made_shape, data_shape);
        let reach = Reach::new(window, shapes, element..element + 1, 0..sizes.plane);
        for image in 0..sizes.batch {
            for channel in 0..channels {
                let at = (image * channels + channel) * sizes.places;
                let sums = &mut sums[at..at + sizes.places];
                for own in 0..sizes.read {
                    let read = channel / sizes.made * sizes.read + own;
                    let plane = (image * sizes.groups * sizes.read + read) * sizes.plane;
                    let kernel = read * sizes.made + channel % sizes.made;
                    let weight = weights[kernel * sizes.kernel + element];
                    let plane = &data[plane..plane + sizes.plane];
                    for (&value, to) in plane.iter().zip(&reach.from) {
                        if let Some(to) = *to {
                            sums[to] = sums[to].plus_product(weight, value);
                        }
                    }
                }
            }
        }
    }
    sums
}

/// A convolution, or its transposed map.
pub(super) fn convolve(
    window: &Window,
    groups: usize,
    transposed: bool,
    inputs: &[&Tensor],
    output: &Type,
) -> Tensor {
    let data = inputs[0];
    let (data_shape, made_shape) = (&data.shape()[2..], &output.shape[2..]);
    let sizes = Sizes {
        batch: output.shape[0],
        groups,
        read: data.shape()[1] / groups,
        made: output.shape[1] / groups,
        plane: data_shape.iter().product(),
        kernel: window.kernel.iter().product(),
        places: made_shape.iter().product(),
    };
    let shapes = (data_shape, made_shape);
    match transposed {
        true => of_numbers!(inputs, output, spread(window, &sizes, shapes)),
        false => of_numbers!(inputs, output, conv(window, &sizes, shapes)),
    }
}
