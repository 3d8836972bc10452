//! Normalisations.

use super::builder::Builder;
use super::constants::element_of;
use super::shapes::of_rank;
use super::table::{Imported, Table};
use super::view::{View, at_least, axes_of, axis_of, required};
use crate::error::Fault;
use crate::graph::{Binary, Op, Reduction, Unary, ValueId};

pub(super) const TABLE: Table = &[
    ("BatchNormalization", batch),
    ("GroupNormalization", group),
    ("InstanceNormalization", instance),
    ("LayerNormalization", layer),
    ("LpNormalization", lp),
    ("MeanVarianceNormalization", mean_variance),
    ("RMSNormalization", rms),
];

/// A vector of channels, shaped so that it is broadcast over data of `rank` dimensions.
fn channels(b: &mut Builder, x: ValueId, rank: usize) -> Result<ValueId, Fault> {
    let mut shape = vec![1; rank.max(2)];
    shape[1] = b.ty(x).elements();
    b.reshape(x, shape)
}

/// `x * scale + shift`, of which both are computed beforehand if they are known.
fn batch(b: &mut Builder, v: &View<'_>) -> Imported {
    let x = v.input(0)?;
    if v.flag("training_mode", false)? {
        return Err(Fault::attribute(
            "training_mode",
            "1",
            "0: export the model for inference",
        ));
    }
    let rank = b.shape(x).len();
    if rank < 2 {
        return Err(of_rank(b, x, "at least 2 dimensions"));
    }
    // Before version 14 who declares more than the first output wants the statistics of the batch.
    let mut more = v.proto.output.iter().skip(1);
    if v.opset < 14 && more.any(|name| !name.is_empty()) {
        return by_own_statistics(b, v);
    }
    let mut of = |index: usize| {
        let vector = v.input(index)?;
        channels(b, vector, rank)
    };
    let (scale, bias, mean, variance) = (of(1)?, of(2)?, of(3)?, of(4)?);
    let element = b.element(variance);
    let variance = b.affine(variance, 1.0, v.float("epsilon", 1e-5)?)?;
    let deviation = b.unary(Unary::Sqrt, variance)?;
    let scale = b.cast(scale, element)?;
    let bias = b.cast(bias, element)?;
    let scale = b.binary(Binary::Div, scale, deviation)?;
    let moved = b.mul(mean, scale)?;
    let shift = b.sub(bias, moved)?;
    let own = b.element(x);
    let (scale, shift) = (b.cast(scale, own)?, b.cast(shift, own)?);
    let x = b.mul(x, scale)?;
    Ok(vec![b.add(x, shift)?])
}

/// Normalises as in training: each channel by the mean and the variance that it has in this batch.
fn by_own_statistics(b: &mut Builder, v: &View<'_>) -> Imported {
    let x = v.input(0)?;
    let shape = b.shape(x).to_vec();
    let mut swapped: Vec<usize> = (0..shape.len()).collect();
    swapped.swap(0, 1);
    let turned = b.transpose(x, swapped.clone())?;
    let turned_shape = b.shape(turned).to_vec();
    let size = turned_shape[1..].iter().product();
    let rows = b.reshape(turned, vec![shape[1], size])?;
    let op = Op::Normalize {
        axis: 1,
        epsilon: v.float("epsilon", 1e-5)?,
        center: true,
    };
    let rows = b.push(op, &[rows])?;
    let turned = b.reshape(rows, turned_shape)?;
    let y = b.transpose(turned, swapped)?;
    let scale = channels(b, v.input(1)?, shape.len())?;
    let bias = channels(b, v.input(2)?, shape.len())?;
    let y = b.mul(y, scale)?;
    Ok(vec![b.add(y, bias)?])
}

/// Normalises over the axes from `axis` on, in the precision that the node asks for.
fn trailing(
    b: &mut Builder,
    v: &View<'_>,
    x: ValueId,
    (axis, center): (usize, bool),
) -> Result<ValueId, Fault> {
    let own = b.element(x);
    let to = element_of(v, "stash_type")?.filter(|to| to.is_float() && own.is_float());
    let x = b.cast(x, to.unwrap_or(own))?;
    let op = Op::Normalize {
        axis,
        epsilon: v.float("epsilon", 1e-5)?,
        center,
    };
    let x = b.push(op, &[x])?;
    b.cast(x, own)
}

fn layer(b: &mut Builder, v: &View<'_>) -> Imported {
    let x = v.input(0)?;
    let rank = b.shape(x).len();
    let axis = axis_of(v.int("axis", -1)?, rank)?;
    let mut y = trailing(b, v, x, (axis, true))?;
    y = b.mul(y, v.input(1)?)?;
    if let Some(bias) = v.optional(2) {
        y = b.add(y, bias)?;
    }
    let mut made = vec![y];
    if v.makes(1) || v.makes(2) {
        let axes: Vec<usize> = (axis..rank).collect();
        let mean = b.reduce(Reduction::Mean, x, axes.clone())?;
        let distance = b.sub(x, mean)?;
        let squares = b.mul(distance, distance)?;
        let variance = b.reduce(Reduction::Mean, squares, axes)?;
        let variance = b.affine(variance, 1.0, v.float("epsilon", 1e-5)?)?;
        let deviation = b.unary(Unary::Sqrt, variance)?;
        made.extend([mean, b.unary(Unary::Reciprocal, deviation)?]);
    }
    Ok(made)
}

fn rms(b: &mut Builder, v: &View<'_>) -> Imported {
    let x = v.input(0)?;
    let axis = axis_of(v.int("axis", -1)?, b.shape(x).len())?;
    let y = trailing(b, v, x, (axis, false))?;
    Ok(vec![b.mul(y, v.input(1)?)?])
}

/// Groups of channels become rows, which are normalised.
fn in_groups(b: &mut Builder, v: &View<'_>, groups: usize) -> Result<ValueId, Fault> {
    let x = v.input(0)?;
    let shape = b.shape(x).to_vec();
    let [batch, channels, ref rest @ ..] = shape[..] else {
        return Err(of_rank(b, x, "at least 2 dimensions"));
    };
    if groups == 0 || !channels.is_multiple_of(groups) {
        return Err(of_rank(b, x, &format!("channels in {groups} groups")));
    }
    let size = channels / groups * rest.iter().product::<usize>();
    let rows = b.reshape(x, vec![batch, groups, size])?;
    let rows = trailing(b, v, rows, (2, true))?;
    b.reshape(rows, shape)
}

fn instance(b: &mut Builder, v: &View<'_>) -> Imported {
    let shape = b.shape(v.input(0)?).to_vec();
    let groups = shape.get(1).copied().unwrap_or(0);
    let y = in_groups(b, v, groups)?;
    let scale = channels(b, v.input(1)?, shape.len())?;
    let bias = channels(b, v.input(2)?, shape.len())?;
    let y = b.mul(y, scale)?;
    Ok(vec![b.add(y, bias)?])
}

/// Imports group normalisation: before version 21 scale and bias are of groups, since then of channels.
fn group(b: &mut Builder, v: &View<'_>) -> Imported {
    let x = v.input(0)?;
    let groups = required("num_groups", v.maybe_int("num_groups"))?;
    let groups = at_least(1, groups, "num_groups", "at least 1")?;
    let mut y = in_groups(b, v, groups)?;
    let shape = b.shape(x).to_vec();
    for (index, op) in [(1, Binary::Mul), (2, Binary::Add)] {
        let mut vector = v.input(index)?;
        if v.opset < 21 {
            let each = shape[1] / groups;
            vector = b.reshape(vector, vec![groups, 1])?;
            vector = b.expand(vector, vec![groups, each])?;
        }
        let vector = channels(b, vector, shape.len())?;
        y = b.binary(op, y, vector)?;
    }
    Ok(vec![y])
}

/// `x` divided by the sum of its sizes, or the root of the sum of its squares, along an axis.
fn lp(b: &mut Builder, v: &View<'_>) -> Imported {
    let x = v.input(0)?;
    let axis = axis_of(v.int("axis", -1)?, b.shape(x).len())?;
    let norm = match v.int("p", 2)? {
        1 => {
            let sizes = b.unary(Unary::Abs, x)?;
            b.reduce(Reduction::Sum, sizes, vec![axis])?
        }
        2 => {
            let squares = b.mul(x, x)?;
            let sum = b.reduce(Reduction::Sum, squares, vec![axis])?;
            b.unary(Unary::Sqrt, sum)?
        }
        other => {
            return Err(Fault::attribute("p", other.to_string(), "1, 2"));
        }
    };
    // Where all is 0 the result is 0.
    let zero = b.scalar(x, 0.0);
    let empty = b.binary(Binary::Equal, norm, zero)?;
    let one = b.scalar(x, 1.0);
    let norm = b.push(Op::Select, &[empty, one, norm])?;
    Ok(vec![b.binary(Binary::Div, x, norm)?])
}

/// `(x - mean) / (deviation + 1e-9)` over some axes.
fn mean_variance(b: &mut Builder, v: &View<'_>) -> Imported {
    let x = v.input(0)?;
    let axes = v.ints("axes")?.unwrap_or_else(|| vec![0, 2, 3]);
    let axes = axes_of(&axes, b.shape(x).len())?;
    let mean = b.reduce(Reduction::Mean, x, axes.clone())?;
    let distance = b.sub(x, mean)?;
    let squares = b.mul(distance, distance)?;
    let variance = b.reduce(Reduction::Mean, squares, axes)?;
    let deviation = b.unary(Unary::Sqrt, variance)?;
    let divisor = b.affine(deviation, 1.0, 1e-9)?;
    Ok(vec![b.binary(Binary::Div, distance, divisor)?])
}
