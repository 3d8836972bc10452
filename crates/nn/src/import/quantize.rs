//! Quantised numbers: integers with a scale and a zero point become casts, products and roundings.

use super::builder::Builder;
use super::constants::element_of;
use super::shapes::of_rank;
use super::table::{Imported, Table};
use super::view::{View, at_least, axis_of};
use crate::error::Fault;
use crate::graph::{Binary, Op, Reduction, Unary, ValueId};
use crate::tensor::Element;

pub(super) const TABLE: Table = &[
    ("ConvInteger", |b, v| {
        let (x, w) = (v.input(0)?, v.input(1)?);
        let x = shifted(b, x, v.optional(2))?;
        let zero = weights_zero(b, w, v.optional(3))?;
        let w = shifted(b, w, zero)?;
        Ok(vec![super::linear::conv(b, v, &[x, w])?])
    }),
    ("DequantizeLinear", dequantize),
    ("DynamicQuantizeLinear", dynamic),
    ("MatMulInteger", |b, v| {
        let zero = rows(b, v.optional(2))?;
        let x = shifted(b, v.input(0)?, zero)?;
        let y = shifted(b, v.input(1)?, v.optional(3))?;
        Ok(vec![b.push(Op::MatMul, &[x, y])?])
    }),
    ("QLinearConv", conv),
    ("QLinearMatMul", matmul),
    ("QuantizeLinear", quantize),
];

/// Narrow integers as wide ones, less their zero point.
fn shifted(b: &mut Builder, x: ValueId, zero: Option<ValueId>) -> Result<ValueId, Fault> {
    let x = b.cast(x, Element::I32)?;
    match zero {
        None => Ok(x),
        // A difference of known values is known, too: no need to look at the zero point, which is a weight's then.
        Some(zero) if !b.is_known(x) && b.read(zero).is_some_and(|zero| zero.is_all(0.0)) => Ok(x),
        Some(zero) => {
            let zero = b.cast(zero, Element::I32)?;
            b.sub(x, zero)
        }
    }
}

/// A vector of rows' numbers as a column.
fn rows(b: &mut Builder, x: Option<ValueId>) -> Result<Option<ValueId>, Fault> {
    match x {
        Some(x) if b.shape(x).len() == 1 && b.shape(x) != [1] => {
            let count = b.shape(x)[0];
            b.reshape(x, vec![count, 1]).map(Some)
        }
        other => Ok(other),
    }
}

/// A number, or a vector of one for each index of `axis`, so that it is broadcast over `rank` dimensions.
fn along(b: &mut Builder, x: ValueId, axis: usize, rank: usize) -> Result<ValueId, Fault> {
    match b.shape(x) {
        [] => Ok(x),
        [1] => b.reshape(x, Vec::new()),
        [count] if axis < rank => {
            let mut shape = vec![1; rank];
            shape[axis] = *count;
            b.reshape(x, shape)
        }
        _ => Err(of_rank(b, x, "at most 1 dimension")),
    }
}

fn weights_zero(
    b: &mut Builder,
    weights: ValueId,
    zero: Option<ValueId>,
) -> Result<Option<ValueId>, Fault> {
    let rank = b.shape(weights).len();
    zero.map(|zero| along(b, zero, 0, rank)).transpose()
}

/// Floats rounded, moved by a zero point, brought into the range of `to`, and made such integers.
fn saturate(
    b: &mut Builder,
    x: ValueId,
    zero: Option<ValueId>,
    to: Element,
) -> Result<ValueId, Fault> {
    if !to.is_integer() {
        return Err(Fault::Element {
            found: to,
            supported: "integers as quantised numbers",
        });
    }
    let mut x = b.unary(Unary::Round, x)?;
    if let Some(zero) = zero {
        let zero = b.cast(zero, b.element(x))?;
        x = b.add(x, zero)?;
    }
    let (low, high) = to.range();
    let x = b.clip(x, low as f64, high as f64)?;
    b.cast(x, to)
}

/// Scale or zero point as they are broadcast over `x`: one for all, for each index of an axis, or for blocks of it.
fn spread(b: &mut Builder, v: &View<'_>, x: ValueId, of: ValueId) -> Result<ValueId, Fault> {
    let shape = b.shape(x).to_vec();
    let block = at_least(0, v.int("block_size", 0)?, "block_size", "at least 0")?;
    let single = b.ty(of).elements() == 1;
    if block == 0 || single {
        let axis = match single {
            true => 0,
            false => axis_of(v.int("axis", 1)?, shape.len())?,
        };
        return along(b, of, axis, shape.len());
    }
    let axis = axis_of(v.int("axis", 1)?, shape.len())?;
    let mut own = b.shape(of).to_vec();
    if own.len() != shape.len() || own[axis] != shape[axis].div_ceil(block) {
        return Err(of_rank(
            b,
            of,
            &format!("blocks of {block} along axis {axis} of {shape:?}"),
        ));
    }
    own.insert(axis + 1, 1);
    let of = b.reshape(of, own.clone())?;
    own[axis + 1] = block;
    let of = b.expand(of, own.clone())?;
    own.remove(axis + 1);
    own[axis] *= block;
    let of = b.reshape(of, own)?;
    b.part(of, axis, 0, shape[axis])
}

fn quantize(b: &mut Builder, v: &View<'_>) -> Imported {
    let (mut x, scale) = (v.input(0)?, v.input(1)?);
    let scale = spread(b, v, x, scale)?;
    let zero = match v.optional(2) {
        Some(zero) => Some(spread(b, v, x, zero)?),
        None => None,
    };
    let to = match (zero, element_of(v, "output_dtype")) {
        (Some(zero), _) => b.element(zero),
        // 0 says that nothing is said.
        (None, Err(Fault::ElementCode { code: 0 }) | Ok(None)) => Element::U8,
        (None, told) => told?.unwrap_or(Element::U8),
    };
    let (own, of_scale) = (b.element(x), b.element(scale));
    if own != of_scale {
        x = b.cast(x, of_scale)?;
    }
    let x = b.binary(Binary::Div, x, scale)?;
    Ok(vec![saturate(b, x, zero, to)?])
}

fn dequantize(b: &mut Builder, v: &View<'_>) -> Imported {
    let (x, scale) = (v.input(0)?, v.input(1)?);
    let zero = match v.optional(2) {
        Some(zero) => Some(spread(b, v, x, zero)?),
        None => None,
    };
    let scale = spread(b, v, x, scale)?;
    let x = shifted(b, x, zero)?;
    let x = b.cast(x, b.element(scale))?;
    Ok(vec![b.mul(x, scale)?])
}

/// The scale and zero point that fit the range of the data, and 0.
fn dynamic(b: &mut Builder, v: &View<'_>) -> Imported {
    let x = v.input(0)?;
    let axes: Vec<usize> = (0..b.shape(x).len()).collect();
    let low = b.reduce(Reduction::Min, x, axes.clone())?;
    let high = b.reduce(Reduction::Max, x, axes)?;
    let (low, high) = (b.reshape(low, Vec::new())?, b.reshape(high, Vec::new())?);
    let zero = b.scalar(x, 0.0);
    let low = b.binary(Binary::Min, low, zero)?;
    let high = b.binary(Binary::Max, high, zero)?;
    let span = b.sub(high, low)?;
    let steps = b.scalar(x, 255.0);
    let scale = b.binary(Binary::Div, span, steps)?;
    let place = b.binary(Binary::Div, low, scale)?;
    let place = b.unary(Unary::Neg, place)?;
    let zero = saturate(b, place, None, Element::U8)?;
    let x = b.binary(Binary::Div, x, scale)?;
    Ok(vec![saturate(b, x, Some(zero), Element::U8)?, scale, zero])
}

/// Sums of products of integers, scaled to those that the result is in.
fn rescaled(
    b: &mut Builder,
    sums: ValueId,
    [first, second, result]: [ValueId; 3],
    zero: ValueId,
) -> Result<ValueId, Fault> {
    let own = b.element(first);
    let sums = b.cast(sums, own)?;
    let scale = b.mul(first, second)?;
    let scale = b.binary(Binary::Div, scale, result)?;
    let sums = b.mul(sums, scale)?;
    let to = b.element(zero);
    saturate(b, sums, Some(zero), to)
}

fn matmul(b: &mut Builder, v: &View<'_>) -> Imported {
    let zero = rows(b, Some(v.input(2)?))?;
    let x = shifted(b, v.input(0)?, zero)?;
    let y = shifted(b, v.input(3)?, Some(v.input(5)?))?;
    let sums = b.push(Op::MatMul, &[x, y])?;
    let first = rows(b, Some(v.input(1)?))?.unwrap_or(x);
    let scales = [first, v.input(4)?, v.input(6)?];
    Ok(vec![rescaled(b, sums, scales, v.input(7)?)?])
}

fn conv(b: &mut Builder, v: &View<'_>) -> Imported {
    let (x, w) = (v.input(0)?, v.input(3)?);
    let x = shifted(b, x, Some(v.input(2)?))?;
    let zero = weights_zero(b, w, Some(v.input(5)?))?;
    let w = shifted(b, w, zero)?;
    let mut inputs = vec![x, w];
    inputs.extend(v.optional(8));
    let sums = super::linear::conv(b, v, &inputs)?;
    let rank = b.shape(sums).len();
    let scale = along(b, v.input(4)?, 1, rank)?;
    let first = along(b, v.input(1)?, 1, rank)?;
    let scales = [first, scale, along(b, v.input(6)?, 1, rank)?];
    let zero = along(b, v.input(7)?, 1, rank)?;
    Ok(vec![rescaled(b, sums, scales, zero)?])
}
