//! Operators along axes: sums and their kin, places of the greatest, orders, normalisations.

use super::strided::{strides, walk};
use crate::graph::{Reduction, Type};
use crate::tensor::{Data, Element, Tensor};

/// Reduces some axes.
pub(super) fn reduce(by: Reduction, axes: &[usize], input: &Tensor, output: &Type) -> Tensor {
    let shape = input.shape();
    // Reduced axes do not move the result.
    let mut to = strides(&output.shape);
    axes.iter().for_each(|&axis| to[axis] = 0);
    let from = strides(shape);
    let count: usize = axes.iter().map(|&axis| shape[axis]).product();
    fn fold<T: Copy, U: Clone>(
        values: &[T],
        (shape, from, to): (&[usize], &[isize], &[isize]),
        start: U,
        made: usize,
        mut f: impl FnMut(&mut U, T),
    ) -> Vec<U> {
        let mut found = vec![start; made];
        walk(shape, [from, to], [0, 0], |[at, place]| {
            f(&mut found[place], values[at]);
        });
        found
    }
    let ways = (shape, &from[..], &to[..]);
    let made = output.elements();
    if let Data::Int(values) = input.data() {
        let unsigned = input.element() == Element::U64;
        let (least, greatest) = input.element().range();
        let found = match by {
            Reduction::Sum => fold(values, ways, 0, made, |s: &mut i64, v| {
                *s = s.wrapping_add(v)
            }),
            Reduction::Prod => fold(values, ways, 1, made, |s: &mut i64, v| {
                *s = s.wrapping_mul(v)
            }),
            Reduction::Mean if unsigned => {
                fold(values, ways, 0u128, made, |s, v| *s += u128::from(v as u64))
                    .into_iter()
                    .map(|sum| (sum / count.max(1) as u128) as i64)
                    .collect()
            }
            Reduction::Mean => fold(values, ways, 0i128, made, |s, v| *s += i128::from(v))
                .into_iter()
                .map(|sum| (sum / count.max(1) as i128) as i64)
                .collect(),
            Reduction::Max if unsigned => fold(values, ways, 0, made, |s: &mut i64, v| {
                *s = (*s as u64).max(v as u64) as i64;
            }),
            Reduction::Min if unsigned => fold(values, ways, -1, made, |s: &mut i64, v| {
                *s = (*s as u64).min(v as u64) as i64;
            }),
            Reduction::Max => fold(values, ways, least as i64, made, |s, v| *s = v.max(*s)),
            Reduction::Min => fold(values, ways, greatest as i64, made, |s, v| *s = v.min(*s)),
        };
        return Tensor::made(output.element, output.shape.clone(), Data::Int(found));
    }
    let values = input.to_f64();
    let found = match by {
        Reduction::Sum => fold(&values, ways, 0.0, made, |s: &mut f64, v| *s += v),
        Reduction::Prod => fold(&values, ways, 1.0, made, |s: &mut f64, v| *s *= v),
        Reduction::Mean => fold(&values, ways, 0.0, made, |s: &mut f64, v| {
            *s += v / count as f64;
        }),
        Reduction::Max => fold(&values, ways, f64::NEG_INFINITY, made, |s: &mut f64, v| {
            *s = if v.is_nan() || v > *s { v } else { *s };
        }),
        Reduction::Min => fold(&values, ways, f64::INFINITY, made, |s: &mut f64, v| {
            *s = if v.is_nan() || v < *s { v } else { *s };
        }),
    };
    floats(found, output)
}

/// A tensor of floats, rounded.
fn floats(values: Vec<f64>, output: &Type) -> Tensor {
    let data = match output.element {
        Element::F64 => Data::F64(values),
        _ => Data::F32(values.into_iter().map(|v| v as f32).collect()),
    };
    Tensor::made(output.element, output.shape.clone(), data)
}

/// A tensor seen as lines along an axis: how many before it, its size, how many behind it.
fn lines(shape: &[usize], axis: usize) -> (usize, usize, usize) {
    let outer = shape[..axis].iter().product();
    let inner = shape[axis + 1..].iter().product();
    (outer, shape[axis], inner)
}

/// Calls `each` with the offsets of each line along an axis, in the order of the result.
fn each_line(shape: &[usize], axis: usize, mut each: impl FnMut(&dyn Fn(usize) -> usize, usize)) {
    let (outer, size, inner) = lines(shape, axis);
    for line in 0..outer * inner {
        let (before, behind) = (line / inner, line % inner);
        each(&|place| (before * size + place) * inner + behind, size);
    }
}

/// Values in an order that all elements have: for comparing alone.
fn ordered(input: &Tensor) -> Vec<i128> {
    match input.data() {
        Data::Int(values) if input.element() == Element::U64 => {
            values.iter().map(|&v| i128::from(v as u64)).collect()
        }
        Data::Int(values) => values.iter().map(|&v| i128::from(v)).collect(),
        // The order of floats is that of their bits, once those of negative ones are turned over.
        _ => input
            .to_f64()
            .into_iter()
            .map(|v| {
                let bits = (v + 0.0).to_bits() as i64;
                i128::from(bits ^ ((bits >> 63) as u64 >> 1) as i64)
            })
            .collect(),
    }
}

/// Places of the greatest or least elements along an axis.
pub(super) fn arg(
    (greatest, last): (bool, bool),
    axis: usize,
    input: &Tensor,
    output: &Type,
) -> Tensor {
    let values = ordered(input);
    let mut found = Vec::with_capacity(output.elements());
    each_line(input.shape(), axis, |at, size| {
        let better = |a: i128, b: i128| if greatest { a > b } else { a < b };
        let best = (0..size).reduce(|best, place| {
            let (old, new) = (values[at(best)], values[at(place)]);
            match better(new, old) || (last && new == old) {
                true => place,
                false => best,
            }
        });
        found.push(best.unwrap_or(0) as i64);
    });
    Tensor::made(output.element, output.shape.clone(), Data::Int(found))
}

/// The greatest or least elements along an axis, and their places.
pub(super) fn top(
    (count, axis, greatest): (usize, usize, bool),
    input: &Tensor,
    outputs: &[Type],
) -> Vec<Tensor> {
    let values = ordered(input);
    let (_, _, inner) = lines(&outputs[0].shape, axis);
    let mut places = vec![0; outputs[0].elements()];
    let mut from = vec![0; places.len()];
    let mut line = 0;
    each_line(input.shape(), axis, |at, size| {
        let mut order: Vec<usize> = (0..size).collect();
        // Stable, so that of equal ones the first comes first.
        order.sort_by(|&a, &b| {
            let (a, b) = (values[at(a)], values[at(b)]);
            if greatest { b.cmp(&a) } else { a.cmp(&b) }
        });
        for (rank, &place) in order.iter().take(count).enumerate() {
            let to = (line / inner * count + rank) * inner + line % inner;
            places[to] = place as i64;
            from[to] = at(place);
        }
        line += 1;
    });
    let chosen = super::moves::pick(input, &from, &outputs[0]);
    let shape = outputs[1].shape.clone();
    vec![chosen, Tensor::made(Element::I64, shape, Data::Int(places))]
}

/// Sums along an axis.
pub(super) fn cumulate(
    axis: usize,
    (exclusive, reverse): (bool, bool),
    input: &Tensor,
    output: &Type,
) -> Tensor {
    fn sums<T: Copy>(
        values: &[T],
        (shape, axis): (&[usize], usize),
        (exclusive, reverse): (bool, bool),
        zero: T,
        add: impl Fn(T, T) -> T,
    ) -> Vec<T> {
        let mut found = values.to_vec();
        each_line(shape, axis, |at, size| {
            let mut sum = zero;
            for step in 0..size {
                let place = at(if reverse { size - 1 - step } else { step });
                let next = add(sum, values[place]);
                found[place] = if exclusive { sum } else { next };
                sum = next;
            }
        });
        found
    }
    let (way, flags) = ((input.shape(), axis), (exclusive, reverse));
    if let Data::Int(values) = input.data() {
        let found = sums(values, way, flags, 0, i64::wrapping_add);
        return Tensor::made(output.element, output.shape.clone(), Data::Int(found));
    }
    floats(sums(&input.to_f64(), way, flags, 0.0, |a, b| a + b), output)
}

/// Softmax, or its logarithm, along an axis.
pub(super) fn softmax(axis: usize, logarithm: bool, input: &Tensor, output: &Type) -> Tensor {
    let mut values = input.to_f64();
    each_line(input.shape(), axis, |at, size| {
        // Shifted so that the greatest is 0: no exponential overflows.
        let greatest = (0..size).map(|place| values[at(place)]);
        let greatest = greatest.fold(f64::NEG_INFINITY, f64::max);
        let sum: f64 = (0..size)
            .map(|place| (values[at(place)] - greatest).exp())
            .sum();
        for place in 0..size {
            let value = &mut values[at(place)];
            *value = match logarithm {
                true => *value - greatest - sum.ln(),
                false => (*value - greatest).exp() / sum,
            };
        }
    });
    floats(values, output)
}

/// Normalises over the axes from `axis` on.
pub(super) fn normalize(
    axis: usize,
    epsilon: f64,
    center: bool,
    input: &Tensor,
    output: &Type,
) -> Tensor {
    let mut values = input.to_f64();
    let size: usize = input.shape()[axis..].iter().product();
    for part in values.chunks_mut(size.max(1)) {
        let mean = match center {
            true => part.iter().sum::<f64>() / size as f64,
            false => 0.0,
        };
        let squares = part.iter().map(|v| (v - mean) * (v - mean));
        let scale = (squares.sum::<f64>() / size as f64 + epsilon).sqrt();
        part.iter_mut().for_each(|v| *v = (*v - mean) / scale);
    }
    floats(values, output)
}
