//! Matrix products and convolutions.

use super::builder::Builder;
use super::pool::{Padding, window};
use super::shapes::of_rank;
use super::table::{Imported, Table};
use super::view::{View, at_least};
use crate::error::Fault;
use crate::graph::{Op, ValueId};

pub(super) const TABLE: Table = &[
    ("Conv", |b, v| {
        let inputs = operands(v)?;
        Ok(vec![conv(b, v, &inputs)?])
    }),
    ("ConvTranspose", transposed),
    ("Gemm", gemm),
    ("MatMul", |b, v| {
        Ok(vec![b.push(Op::MatMul, &[v.input(0)?, v.input(1)?])?])
    }),
];

/// Data, weights, and a bias where there is one.
fn operands(v: &View<'_>) -> Result<Vec<ValueId>, Fault> {
    let mut inputs = vec![v.input(0)?, v.input(1)?];
    inputs.extend(v.optional(2));
    Ok(inputs)
}

/// A convolution with the attributes of a node.
pub(super) fn conv(b: &mut Builder, v: &View<'_>, inputs: &[ValueId]) -> Result<ValueId, Fault> {
    let kernel = kernel(b, v, inputs[1])?;
    let window = window(v, b.shape(inputs[0]), kernel, Padding::Floor)?.0;
    let groups = at_least(1, v.int("group", 1)?, "group", "at least 1")?;
    b.push(Op::Conv { window, groups }, inputs)
}

/// The size of the kernel: that of the weights, which the attribute may repeat.
fn kernel(b: &Builder, v: &View<'_>, weights: ValueId) -> Result<Vec<usize>, Fault> {
    let shape = b.shape(weights);
    let Some(kernel) = shape.get(2..).filter(|kernel| !kernel.is_empty()) else {
        return Err(of_rank(b, weights, "at least 3 dimensions"));
    };
    if let Some(told) = v.ints("kernel_shape")?
        && !told
            .iter()
            .copied()
            .eq(kernel.iter().map(|&size| size as i64))
    {
        return Err(of_rank(b, weights, "the kernel that kernel_shape says"));
    }
    Ok(kernel.to_vec())
}

/// Padding is taken off the result; it may be chosen so that this has a certain size.
fn transposed(b: &mut Builder, v: &View<'_>) -> Imported {
    let inputs = operands(v)?;
    let (x, weights) = (inputs[0], inputs[1]);
    let kernel = kernel(b, v, weights)?;
    let rank = kernel.len();
    let shape = b.shape(x).to_vec();
    if shape.len() != rank + 2 {
        return Err(of_rank(b, x, &format!("{} dimensions", rank + 2)));
    }
    let auto = v.string("auto_pad", "NOTSET")?;
    let explicit = Padding::Transposed;
    let (mut window, _) = window(v, &shape, kernel, explicit)?;
    let groups = at_least(1, v.int("group", 1)?, "group", "at least 1")?;
    let extra = v.ints("output_padding")?.unwrap_or_else(|| vec![0; rank]);
    let mut extra = super::shapes::sizes(&extra)?;
    if extra.len() != rank {
        return Err(of_rank(
            b,
            x,
            "an output_padding for each dimension of its kernel",
        ));
    }
    let wanted = v.ints("output_shape")?;
    let same = auto.starts_with("SAME");
    for axis in (0..rank).filter(|_| wanted.is_some() || same) {
        let stride = window.strides[axis];
        let wanted = match &wanted {
            Some(sizes) => {
                // Batch and channels may be told too.
                let own = sizes
                    .len()
                    .checked_sub(rank)
                    .and_then(|skip| sizes.get(skip + axis));
                let size = own.ok_or_else(|| of_rank(b, x, "an output_shape of as many"))?;
                at_least(0, *size, "output_shape", "at least 0")?
            }
            None => shape[axis + 2].saturating_mul(stride),
        };
        let extent = window.extent(axis).unwrap_or(usize::MAX);
        let whole = shape[axis + 2].saturating_sub(1).saturating_mul(stride);
        let whole = whole.saturating_add(extent).saturating_add(extra[axis]);
        let total = whole.saturating_sub(wanted);
        extra[axis] = extra[axis].saturating_add(wanted.saturating_sub(whole));
        let half = total / 2;
        let (before, after) = match &auto[..] {
            "SAME_UPPER" => (half, total - half),
            _ => (total - half, half),
        };
        (window.before[axis], window.after[axis]) = (before, after);
    }
    let op = Op::ConvTranspose {
        window,
        extra,
        groups,
    };
    Ok(vec![b.push(op, &inputs)?])
}

/// `alpha * A * B + beta * C`, with either matrix transposed.
fn gemm(b: &mut Builder, v: &View<'_>) -> Imported {
    let (mut left, mut right) = (v.input(0)?, v.input(1)?);
    for x in [left, right] {
        if b.shape(x).len() != 2 {
            return Err(of_rank(b, x, "2 dimensions"));
        }
    }
    if v.flag("transA", false)? {
        left = b.transpose(left, vec![1, 0])?;
    }
    if v.flag("transB", false)? {
        right = b.transpose(right, vec![1, 0])?;
    }
    // The factor goes to what is known.
    let alpha = v.float("alpha", 1.0)?;
    match b.is_known(right) {
        true => right = b.affine(right, alpha, 0.0)?,
        false => left = b.affine(left, alpha, 0.0)?,
    }
    let mut inputs = vec![left, right];
    if let Some(bias) = v.optional(2) {
        inputs.push(b.affine(bias, v.float("beta", 1.0)?, 0.0)?);
    }
    Ok(vec![b.push(Op::MatMul, &inputs)?])
}
