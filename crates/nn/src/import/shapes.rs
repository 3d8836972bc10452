//! Operators that give elements another shape or order.

use super::builder::Builder;
use super::table::{Imported, Table};
use super::view::{View, at_least, axes_of, axis_of, few, required};
use crate::error::Fault;
use crate::graph::{Op, ValueId, broadcast};

pub(super) const TABLE: Table = &[
    ("Concat", concat),
    ("DepthToSpace", depth_to_space),
    ("Expand", expand),
    ("Flatten", flatten),
    ("Reshape", reshape),
    ("SpaceToDepth", space_to_depth),
    ("Split", split),
    ("Squeeze", squeeze),
    ("Tile", tile),
    ("Transpose", transpose),
    ("Unsqueeze", unsqueeze),
];

/// Dimensions, none of which may be below 0.
pub(super) fn sizes(sizes: &[i64]) -> Result<Vec<usize>, Fault> {
    few(sizes)?;
    let sizes = sizes.iter();
    sizes
        .map(|&size| at_least(0, size, "dimension", "at least 0"))
        .collect()
}

/// Makes the fault of an operand with another number of dimensions than it should have.
pub(super) fn of_rank(b: &Builder, x: ValueId, expected: &str) -> Fault {
    Fault::shape("operand", b.shape(x), expected)
}

fn concat(b: &mut Builder, v: &View<'_>) -> Imported {
    let all = v.all()?;
    let axis = required("axis", v.maybe_int("axis"))?;
    let axis = axis_of(axis, b.shape(all[0]).len())?;
    Ok(vec![b.push(Op::Concat { axis }, &all)?])
}

fn flatten(b: &mut Builder, v: &View<'_>) -> Imported {
    let x = v.input(0)?;
    let shape = b.shape(x).to_vec();
    let axis = v.int("axis", 1)?;
    // It may be behind the last dimension.
    let axis = match axis < 0 {
        true => axis_of(axis, shape.len())?,
        false => axis_of(axis, shape.len() + 1)?,
    };
    let (rows, columns) = shape.split_at(axis);
    let matrix = vec![rows.iter().product(), columns.iter().product()];
    Ok(vec![b.reshape(x, matrix)?])
}

/// 0 is the input's own size, unless `allowzero` is set; -1 is what is left.
fn reshape(b: &mut Builder, v: &View<'_>) -> Imported {
    let x = v.input(0)?;
    let wanted = v.const_ints(b, 1, "shape")?;
    few(&wanted)?;
    let shape = b.shape(x).to_vec();
    let zeros = v.flag("allowzero", false)?;
    let mut free = None;
    let mut new = Vec::with_capacity(wanted.len());
    for (axis, &size) in wanted.iter().enumerate() {
        new.push(match size {
            -1 if free.is_none() => {
                free = Some(axis);
                1
            }
            0 if !zeros => *shape.get(axis).ok_or(Fault::Axis {
                axis: axis as i64,
                rank: shape.len(),
            })?,
            size => at_least(0, size, "dimension", "at least 0, or -1 once")?,
        });
    }
    if let Some(free) = free {
        let others = crate::tensor::elements(&new).filter(|&count| count > 0);
        let count = b.ty(x).elements();
        let rest = others.filter(|others| count.is_multiple_of(*others));
        new[free] = count / rest.ok_or_else(|| of_rank(b, x, &format!("the shape {wanted:?}")))?;
    }
    Ok(vec![b.reshape(x, new)?])
}

/// Axes are an input since version 13.
fn squeeze(b: &mut Builder, v: &View<'_>) -> Imported {
    let x = v.input(0)?;
    let shape = b.shape(x).to_vec();
    let axes = match v.ints_from(b, "axes", (1, 13))? {
        Some(axes) => axes_of(&axes, shape.len())?,
        None => (0..shape.len()).filter(|&axis| shape[axis] == 1).collect(),
    };
    if axes.iter().any(|&axis| shape[axis] != 1) {
        return Err(of_rank(b, x, &format!("size 1 along the axes {axes:?}")));
    }
    let left = (0..shape.len()).filter(|axis| !axes.contains(axis));
    let left = left.map(|axis| shape[axis]).collect();
    Ok(vec![b.reshape(x, left)?])
}

fn unsqueeze(b: &mut Builder, v: &View<'_>) -> Imported {
    let x = v.input(0)?;
    let axes = required("axes", v.ints_from(b, "axes", (1, 13)))?;
    let mut old = b.shape(x).to_vec().into_iter();
    let rank = old.len() + axes.len();
    let axes = axes_of(&axes, rank)?;
    let sizes = (0..rank).map(|axis| match axes.contains(&axis) {
        true => 1,
        false => old.next().unwrap_or(1),
    });
    let sizes = sizes.collect();
    Ok(vec![b.reshape(x, sizes)?])
}

fn transpose(b: &mut Builder, v: &View<'_>) -> Imported {
    let x = v.input(0)?;
    let rank = b.shape(x).len();
    let axes = match v.ints("perm")? {
        Some(axes) => axes
            .iter()
            .map(|&axis| axis_of(axis, rank))
            .collect::<Result<_, _>>()?,
        None => (0..rank).rev().collect(),
    };
    Ok(vec![b.transpose(x, axes)?])
}

/// The shape to expand to may itself be broadcast.
fn expand(b: &mut Builder, v: &View<'_>) -> Imported {
    let x = v.input(0)?;
    let wanted = sizes(&v.const_ints(b, 1, "shape")?)?;
    let shape = broadcast(b.shape(x), &wanted)?;
    Ok(vec![b.expand(x, shape)?])
}

/// Repeats by expanding new dimensions before those that are repeated.
fn tile(b: &mut Builder, v: &View<'_>) -> Imported {
    let x = v.input(0)?;
    let repeats = sizes(&v.const_ints(b, 1, "repeats")?)?;
    let shape = b.shape(x).to_vec();
    if repeats.len() != shape.len() {
        return Err(of_rank(b, x, &format!("{} dimensions", repeats.len())));
    }
    let apart = shape.iter().flat_map(|&size| [1, size]).collect();
    let pairs = || repeats.iter().zip(&shape);
    let repeated = pairs().flat_map(|(&times, &size)| [times, size]).collect();
    let product = pairs().map(|(&times, &size)| times.checked_mul(size));
    let Some(product) = product.collect::<Option<Vec<usize>>>() else {
        return Err(Fault::TooLarge {
            shape,
            limit: v.limits.elements,
        });
    };
    let x = b.reshape(x, apart)?;
    let x = b.expand(x, repeated)?;
    Ok(vec![b.reshape(x, product)?])
}

/// Sizes are an input since version 13; since 18 there may be a number of parts instead.
fn split(b: &mut Builder, v: &View<'_>) -> Imported {
    let x = v.input(0)?;
    let axis = axis_of(v.int("axis", 0)?, b.shape(x).len())?;
    let whole = b.shape(x)[axis];
    let count = v.proto.output.len().max(1);
    let parts: Vec<usize> = match v.ints_from(b, "split", (1, 13))? {
        // The parts are as many as outputs, which the file has, so there may be more than dimensions.
        Some(parts) if parts.len() == count => parts
            .iter()
            .map(|&part| at_least(0, part, "part", "at least 0"))
            .collect::<Result<_, _>>()?,
        Some(parts) => {
            return Err(Fault::number(
                "number of parts",
                parts.len() as i64,
                "that of outputs",
            ));
        }
        None => {
            // All of the same size but the last.
            let size = whole.div_ceil(count);
            let left = |part: usize| whole.saturating_sub(part * size).min(size);
            (0..count).map(left).collect()
        }
    };
    let sum = parts
        .iter()
        .try_fold(0usize, |sum, &part| sum.checked_add(part));
    if sum != Some(whole) {
        let expected = format!("along axis {axis} as much as its parts");
        return Err(of_rank(b, x, &expected));
    }
    let mut start = 0;
    let mut made = Vec::new();
    for &part in parts.iter().take(count) {
        made.push(b.part(x, axis, start, part)?);
        start += part;
    }
    Ok(made)
}

/// Batch, channels, height, width, and the size of blocks.
fn blocks(b: &Builder, v: &View<'_>) -> Result<([usize; 4], usize), Fault> {
    let x = v.input(0)?;
    let size = required("blocksize", v.maybe_int("blocksize"))?;
    let size = at_least(1, size, "blocksize", "at least 1")?;
    // So that its square can be computed.
    if size > 1 << 16 {
        return Err(of_rank(b, x, &format!("blocks of {size} times {size}")));
    }
    match b.shape(x)[..] {
        [batch, channels, height, width] => Ok(([batch, channels, height, width], size)),
        _ => Err(of_rank(b, x, "4 dimensions")),
    }
}

fn depth_to_space(b: &mut Builder, v: &View<'_>) -> Imported {
    let x = v.input(0)?;
    let ([batch, channels, height, width], size) = blocks(b, v)?;
    if !channels.is_multiple_of(size * size) {
        return Err(of_rank(
            b,
            x,
            &format!("channels in {size} times {size} groups"),
        ));
    }
    let depth = channels / (size * size);
    let (shape, axes) = match &v.string("mode", "DCR")?[..] {
        "CRD" => (
            vec![batch, depth, size, size, height, width],
            [0, 1, 4, 2, 5, 3],
        ),
        _ => (
            vec![batch, size, size, depth, height, width],
            [0, 3, 4, 1, 5, 2],
        ),
    };
    let x = b.reshape(x, shape)?;
    let x = b.transpose(x, axes.to_vec())?;
    Ok(vec![b.reshape(
        x,
        vec![batch, depth, height * size, width * size],
    )?])
}

fn space_to_depth(b: &mut Builder, v: &View<'_>) -> Imported {
    let x = v.input(0)?;
    let ([batch, channels, height, width], size) = blocks(b, v)?;
    if !height.is_multiple_of(size) || !width.is_multiple_of(size) {
        return Err(of_rank(
            b,
            x,
            &format!("height and width in blocks of {size}"),
        ));
    }
    let (rows, columns) = (height / size, width / size);
    let x = b.reshape(x, vec![batch, channels, rows, size, columns, size])?;
    let x = b.transpose(x, vec![0, 3, 5, 1, 2, 4])?;
    Ok(vec![b.reshape(
        x,
        vec![batch, channels * size * size, rows, columns],
    )?])
}
