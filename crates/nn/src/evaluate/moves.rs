//! Operators that rearrange.

use super::strided::{broadcast_strides, collect, strides};
use crate::error::Fault;
use crate::graph::Type;
use crate::tensor::{Data, Tensor};

/// `input` at offsets.
pub(super) fn pick(input: &Tensor, from: &[usize], output: &Type) -> Tensor {
    let data = match input.data() {
        Data::F32(values) => Data::F32(from.iter().map(|&at| values[at]).collect()),
        Data::F64(values) => Data::F64(from.iter().map(|&at| values[at]).collect()),
        Data::Int(values) => Data::Int(from.iter().map(|&at| values[at]).collect()),
        Data::Bool(values) => Data::Bool(from.iter().map(|&at| values[at]).collect()),
    };
    Tensor::made(output.element, output.shape.clone(), data)
}

/// `input` at regular distances.
fn regular(input: &Tensor, strides: &[isize], start: usize, output: &Type) -> Tensor {
    let shape = &output.shape[..];
    let data = match input.data() {
        Data::F32(values) => Data::F32(collect(values, shape, strides, start)),
        Data::F64(values) => Data::F64(collect(values, shape, strides, start)),
        Data::Int(values) => Data::Int(collect(values, shape, strides, start)),
        Data::Bool(values) => Data::Bool(collect(values, shape, strides, start)),
    };
    Tensor::made(output.element, shape.to_vec(), data)
}

/// Reorders axes.
pub(super) fn transpose(axes: &[usize], input: &Tensor, output: &Type) -> Tensor {
    let own = strides(input.shape());
    let moved: Vec<isize> = axes.iter().map(|&axis| own[axis]).collect();
    regular(input, &moved, 0, output)
}

/// Elements at regular distances.
pub(super) fn slice(starts: &[usize], steps: &[i64], input: &Tensor, output: &Type) -> Tensor {
    if output.elements() == 0 {
        return pick(input, &[], output);
    }
    let own = strides(input.shape());
    let moved: Vec<isize> = own
        .iter()
        .zip(steps)
        .map(|(&stride, &step)| stride.wrapping_mul(step as isize))
        .collect();
    let start = own
        .iter()
        .zip(starts)
        .map(|(&stride, &start)| stride as usize * start)
        .sum();
    regular(input, &moved, start, output)
}

/// Repeats dimensions of size 1.
pub(super) fn expand(input: &Tensor, output: &Type) -> Tensor {
    let strides = broadcast_strides(input.shape(), &output.shape);
    regular(input, &strides, 0, output)
}

/// Adds a constant around.
pub(super) fn pad(before: &[usize], value: f64, input: &Tensor, output: &Type) -> Tensor {
    let to = strides(&output.shape);
    let start: usize = to
        .iter()
        .zip(before)
        .map(|(&stride, &before)| stride as usize * before)
        .sum();
    fn fill<T: Copy>(
        values: &[T],
        into: &mut [T],
        shape: &[usize],
        (to, start): (&[isize], usize),
    ) {
        let from = strides(shape);
        super::strided::walk(shape, [&from, to], [0, start], |[from, to]| {
            into[to] = values[from];
        });
    }
    let mut filled = Tensor::filled(output.element, output.shape.clone(), value);
    let (shape, way) = (input.shape(), (&to[..], start));
    match (input.data(), filled.data_mut()) {
        (Data::F32(values), Data::F32(into)) => fill(values, into, shape, way),
        (Data::F64(values), Data::F64(into)) => fill(values, into, shape, way),
        (Data::Int(values), Data::Int(into)) => fill(values, into, shape, way),
        (Data::Bool(values), Data::Bool(into)) => fill(values, into, shape, way),
        _ => unreachable!("both are of the same elements"),
    }
    filled
}

/// One behind the other.
pub(super) fn concat(axis: usize, inputs: &[&Tensor], output: &Type) -> Tensor {
    fn join<'a, T: Copy + 'a>(
        parts: impl Iterator<Item = (&'a [T], usize)> + Clone,
        outer: usize,
    ) -> Vec<T> {
        let mut found = Vec::new();
        for line in 0..outer {
            for (values, size) in parts.clone() {
                found.extend_from_slice(&values[line * size..][..size]);
            }
        }
        found
    }
    let outer = output.shape[..axis].iter().product();
    let parts = inputs
        .iter()
        .map(|input| (*input, input.shape()[axis..].iter().product::<usize>()));
    macro_rules! join {
        ($kind:ident) => {
            Data::$kind(join(
                parts.filter_map(|(input, size)| match input.data() {
                    Data::$kind(values) => Some((&values[..], size)),
                    _ => None,
                }),
                outer,
            ))
        };
    }
    let data = match inputs[0].data() {
        Data::F32(_) => join!(F32),
        Data::F64(_) => join!(F64),
        Data::Int(_) => join!(Int),
        Data::Bool(_) => join!(Bool),
    };
    Tensor::made(output.element, output.shape.clone(), data)
}

/// Gathers elements at places along an axis.
pub(super) fn gather(
    axis: usize,
    input: &Tensor,
    places: &Tensor,
    output: &Type,
) -> Result<Tensor, Fault> {
    let shape = input.shape();
    let size = shape[axis];
    let outer: usize = shape[..axis].iter().product();
    let inner: usize = shape[axis + 1..].iter().product();
    let places: Result<Vec<usize>, Fault> = places
        .as_ints()
        .unwrap_or_default()
        .iter()
        .map(|&index| {
            let place = if index < 0 {
                index.saturating_add_unsigned(size as u64)
            } else {
                index
            };
            let place = usize::try_from(place).ok().filter(|&place| place < size);
            place.ok_or(Fault::Index { index, size })
        })
        .collect();
    let places = places?;
    let mut from = Vec::with_capacity(output.elements());
    for line in 0..outer {
        for &place in &places {
            let start = (line * size + place) * inner;
            from.extend(start..start + inner);
        }
    }
    Ok(pick(input, &from, output))
}
