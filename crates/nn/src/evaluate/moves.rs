//! Operators that rearrange.

use super::strided::{broadcast_strides, collect, strides};
use crate::error::Fault;
use crate::graph::Type;
use crate::tensor::{Data, Tensor, map_data};

/// `input` at offsets.
pub(super) fn pick(input: &Tensor, from: &[usize], output: &Type) -> Tensor {
    let data = map_data!(input.data(), values => from.iter().map(|&at| values[at]).collect());
    Tensor::made(output.element, output.shape.clone(), data)
}

/// `input` at regular distances.
fn regular(input: &Tensor, strides: &[isize], start: usize, output: &Type) -> Tensor {
    let shape = &output.shape[..];
    let data = map_data!(input.data(), values => collect(values, shape, strides, start));
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
    let outer: usize = output.shape[..axis].iter().product();
    let size = |part: &Tensor| part.shape()[axis..].iter().product::<usize>();
    let lines = (0..outer).flat_map(|line| inputs.iter().map(move |part| (line, *part)));
    let mut found = Tensor::filled(output.element, output.shape.clone(), 0.0);
    let mut at = 0;
    for (line, part) in lines {
        let from = line * size(part)..(line + 1) * size(part);
        let to = at..at + from.len();
        at = to.end;
        match (part.data(), found.data_mut()) {
            (Data::F32(part), Data::F32(found)) => found[to].copy_from_slice(&part[from]),
            (Data::F64(part), Data::F64(found)) => found[to].copy_from_slice(&part[from]),
            (Data::Int(part), Data::Int(found)) => found[to].copy_from_slice(&part[from]),
            (Data::Bool(part), Data::Bool(found)) => found[to].copy_from_slice(&part[from]),
            _ => unreachable!("all are of the same elements"),
        }
    }
    found
}

/// A place along an axis of `size`; below 0 counted from the end.
pub(crate) fn place(index: i64, size: usize) -> Result<usize, Fault> {
    let counted = match index < 0 {
        true => index.saturating_add_unsigned(size as u64),
        false => index,
    };
    let found = usize::try_from(counted).ok().filter(|&found| found < size);
    found.ok_or(Fault::Index { index, size })
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
    let places = places.as_ints().unwrap_or_default().iter();
    let places = places.map(|&index| place(index, size));
    let places = places.collect::<Result<Vec<usize>, Fault>>()?;
    let mut from = Vec::with_capacity(output.elements());
    for line in 0..outer {
        for &place in &places {
            let start = (line * size + place) * inner;
            from.extend(start..start + inner);
        }
    }
    Ok(pick(input, &from, output))
}
