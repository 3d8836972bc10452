//! Operators that choose elements by their places, and that put some around or instead.

use super::builder::Builder;
use super::shapes::of_rank;
use super::table::{Imported, Table};
use super::view::{View, at_least, axis_of, required};
use crate::error::Fault;
use crate::evaluate::{place, split};
use crate::graph::{Binary, Op, ValueId};
use crate::tensor::{Data, Element, Tensor, elements};

pub(super) const TABLE: Table = &[
    ("Gather", gather),
    ("GatherElements", gather_elements),
    ("GatherND", gather_nd),
    ("OneHot", one_hot),
    ("ScatterElements", scatter_elements),
    ("ScatterND", scatter_nd),
    ("Slice", slice),
    ("Trilu", trilu),
];

/// Places that are constants are counted from the start, so that nobody need look again.
fn gather(b: &mut Builder, v: &View<'_>) -> Imported {
    let (x, mut places) = (v.input(0)?, v.input(1)?);
    let axis = axis_of(v.int("axis", 0)?, b.shape(x).len())?;
    if let Some(known) = b.read(places).cloned()
        && let Some(indices) = known.as_ints()
    {
        let size = b.shape(x)[axis];
        let found = indices.iter().map(|&index| place(index, size));
        let all = found.clone().try_for_each(|place| place.map(drop));
        all?;
        if indices.iter().any(|&index| index < 0) {
            b.allow(known.shape())?;
            let found: Result<Vec<i64>, Fault> =
                found.map(|place| place.map(|place| place as i64)).collect();
            places = b.constant(Tensor::vector(found?).with_shape(known.shape().to_vec()));
        }
    }
    Ok(vec![b.push(Op::Gather { axis }, &[x, places])?])
}

/// Elements of `x`, seen as one line, in a new shape.
fn pick(b: &mut Builder, x: ValueId, offsets: Vec<usize>, shape: Vec<usize>) -> Imported {
    let count = b.ty(x).elements();
    let line = b.reshape(x, vec![count])?;
    let picked = b.gather(line, 0, offsets)?;
    Ok(vec![b.reshape(picked, shape)?])
}

fn offset(place: &[usize], shape: &[usize]) -> usize {
    let sizes = place.iter().zip(shape);
    sizes.fold(0, |sum, (&place, &size)| sum * size + place)
}

/// Gives for each index the offset in a tensor of `shape` to which it points, as GatherElements and ScatterElements have it.
fn offsets_along(
    v: &View<'_>,
    b: &Builder,
    shape: &[usize],
) -> Result<(Vec<usize>, Vec<usize>), Fault> {
    let axis = axis_of(v.int("axis", 0)?, shape.len())?;
    let indices = v.const_ints(b, 1, "indices")?;
    let own = b.shape(v.input(1)?).to_vec();
    let fits = |axis_of: usize| axis_of == axis || own[axis_of] <= shape[axis_of];
    if own.len() != shape.len() || !(0..own.len()).all(fits) {
        return Err(Fault::shape(
            "indices",
            &own,
            format!("at most {shape:?} but for axis {axis}"),
        ));
    }
    let offsets = indices.iter().enumerate().map(|(number, &index)| {
        let mut at = split(number, &own);
        at[axis] = place(index, shape[axis])?;
        Ok(offset(&at, shape))
    });
    Ok((offsets.collect::<Result<_, Fault>>()?, own))
}

fn gather_elements(b: &mut Builder, v: &View<'_>) -> Imported {
    let x = v.input(0)?;
    let (offsets, shape) = offsets_along(v, b, b.shape(x))?;
    pick(b, x, offsets, shape)
}

/// Gives for each row of indices the first offset in a tensor of `shape`, and the shape of what lies there.
fn offsets_of_rows(
    v: &View<'_>,
    b: &Builder,
    shape: &[usize],
    batch: usize,
) -> Result<(Vec<usize>, Vec<usize>), Fault> {
    let indices = v.const_ints(b, 1, "indices")?;
    let own = b.shape(v.input(1)?);
    let width = own.last().copied().unwrap_or(0);
    let alike = own.len() > batch && shape.len() >= batch && own[..batch] == shape[..batch];
    if !alike || width == 0 || width + batch > shape.len() {
        return Err(Fault::shape(
            "indices",
            own,
            format!(
                "rows of at most {} places",
                shape.len() - batch.min(shape.len())
            ),
        ));
    }
    let rows = indices.len() / width;
    let batches: usize = shape[..batch].iter().product();
    let rest: usize = shape[batch + width..].iter().product();
    let inner = &shape[batch..batch + width];
    let offsets = indices.chunks(width).enumerate().map(|(number, row)| {
        let at = row
            .iter()
            .zip(inner)
            .map(|(&index, &size)| place(index, size));
        let at: Vec<usize> = at.collect::<Result<_, _>>()?;
        let outer = number / (rows / batches.max(1)).max(1);
        let whole = outer * inner.iter().product::<usize>() + offset(&at, inner);
        Ok(whole * rest)
    });
    let offsets = offsets.collect::<Result<_, Fault>>()?;
    Ok((offsets, shape[batch + width..].to_vec()))
}

fn gather_nd(b: &mut Builder, v: &View<'_>) -> Imported {
    let x = v.input(0)?;
    let shape = b.shape(x).to_vec();
    let batch = v.int("batch_dims", 0)?;
    let batch = at_least(0, batch, "batch_dims", "at least 0")?.min(shape.len());
    let (starts, part) = offsets_of_rows(v, b, &shape, batch)?;
    let own = b.shape(v.input(1)?);
    let made = [&own[..own.len() - 1], &part[..]].concat();
    b.allow(&made)?;
    let size: usize = part.iter().product();
    let offsets = starts.into_iter().flat_map(|start| start..start + size);
    pick(b, x, offsets.collect(), made)
}

/// Elements of `x` of which some are replaced: places in `x` followed by `updates`.
fn replace(b: &mut Builder, v: &View<'_>, offsets: &[usize]) -> Imported {
    let (x, updates) = (v.input(0)?, v.input(2)?);
    v.choice("reduction", "none", "none")?;
    let shape = b.shape(x).to_vec();
    let (count, new) = (b.ty(x).elements(), b.ty(updates).elements());
    if new != offsets.len() {
        return Err(Fault::shape(
            "updates",
            b.shape(updates),
            format!("{} elements", offsets.len()),
        ));
    }
    b.allow(&shape)?;
    let mut from: Vec<usize> = (0..count).collect();
    for (number, &offset) in offsets.iter().enumerate() {
        from[offset] = count + number;
    }
    let line = b.reshape(x, vec![count])?;
    let updates = b.reshape(updates, vec![new])?;
    let both = b.push(Op::Concat { axis: 0 }, &[line, updates])?;
    pick(b, both, from, shape)
}

fn scatter_elements(b: &mut Builder, v: &View<'_>) -> Imported {
    let (offsets, _) = offsets_along(v, b, b.shape(v.input(0)?))?;
    replace(b, v, &offsets)
}

fn scatter_nd(b: &mut Builder, v: &View<'_>) -> Imported {
    let shape = b.shape(v.input(0)?).to_vec();
    let (starts, part) = offsets_of_rows(v, b, &shape, 0)?;
    let size: usize = part.iter().product();
    let made = size.checked_mul(starts.len());
    b.allow(&[made.unwrap_or(usize::MAX)])?;
    let offsets = starts.into_iter().flat_map(|start| start..start + size);
    replace(b, v, &offsets.collect::<Vec<_>>())
}

/// Bounds are attributes before version 10, and inputs since.
fn slice(b: &mut Builder, v: &View<'_>) -> Imported {
    let x = v.input(0)?;
    let shape = b.shape(x).to_vec();
    let starts = required("starts", v.ints_from(b, "starts", (1, 10)))?;
    let ends = required("ends", v.ints_from(b, "ends", (2, 10)))?;
    let axes = v.ints_from(b, "axes", (3, 10))?;
    let axes = axes.unwrap_or_else(|| (0..starts.len() as i64).collect());
    let steps = v.ints_from(b, "steps", (4, 10))?;
    let steps = steps.unwrap_or_else(|| vec![1; starts.len()]);
    if ends.len() != starts.len() || axes.len() != starts.len() || steps.len() != starts.len() {
        return Err(Fault::number(
            "number of ends, axes or steps",
            ends.len().min(axes.len()).min(steps.len()) as i64,
            "that of starts",
        ));
    }
    let mut lengths = shape.clone();
    let mut firsts = vec![0; shape.len()];
    let mut moves = vec![1; shape.len()];
    for (number, &axis) in axes.iter().enumerate() {
        let axis = axis_of(axis, shape.len())?;
        let (size, step) = (shape[axis] as i64, steps[number]);
        if step == 0 {
            return Err(Fault::number("step", 0, "not 0"));
        }
        let counted = |bound: i64| {
            if bound < 0 {
                bound.saturating_add(size)
            } else {
                bound
            }
        };
        // Backwards the end may be before the first element.
        let (low, high) = if step > 0 { (0, size) } else { (-1, size - 1) };
        let start = counted(starts[number]).clamp(low.max(0), high.max(0));
        let end = counted(ends[number]).clamp(low, high.max(low));
        let distance = if step > 0 { end - start } else { start - end };
        let count = distance.max(0).unsigned_abs().div_ceil(step.unsigned_abs());
        lengths[axis] = if size == 0 { 0 } else { count as usize };
        (firsts[axis], moves[axis]) = (start as usize, step);
    }
    let op = Op::Slice {
        starts: firsts,
        steps: moves,
        lengths,
    };
    Ok(vec![b.push(op, &[x])?])
}

/// 1s where an index points, as the second of two values; the first is for all else.
fn one_hot(b: &mut Builder, v: &View<'_>) -> Imported {
    let (indices, values) = (v.input(0)?, v.input(2)?);
    let depth = v.const_number(b, 1, "depth")? as i64;
    let depth = at_least(0, depth, "depth", "at least 0")?;
    let rank = b.shape(indices).len();
    let axis = axis_of(v.int("axis", -1)?, rank + 1)?;
    b.allow(&[depth])?;
    let indices = b.cast(indices, Element::I64)?;
    let mut shape = b.shape(indices).to_vec();
    shape.insert(axis, 1);
    let indices = b.reshape(indices, shape)?;
    // Indices below 0 count from the end.
    let size = b.scalar(indices, depth as f64);
    let zero = b.scalar(indices, 0.0);
    let below = b.binary(Binary::Less, indices, zero)?;
    let moved = b.add(indices, size)?;
    let indices = b.push(Op::Select, &[below, moved, indices])?;
    let mut along = vec![1; rank + 1];
    along[axis] = depth;
    let places = Tensor::vector((0..depth as i64).collect()).with_shape(along);
    let places = b.constant(places);
    let hit = b.binary(Binary::Equal, indices, places)?;
    if b.shape(values) != [2] {
        return Err(of_rank(b, values, "the shape [2]"));
    }
    let (off, on) = (b.part(values, 0, 0, 1)?, b.part(values, 0, 1, 1)?);
    let (off, on) = (b.reshape(off, Vec::new())?, b.reshape(on, Vec::new())?);
    Ok(vec![b.push(Op::Select, &[hit, on, off])?])
}

/// The upper or lower triangle of (stacks of) matrices.
fn trilu(b: &mut Builder, v: &View<'_>) -> Imported {
    let x = v.input(0)?;
    let shape = b.shape(x).to_vec();
    let [.., rows, columns] = shape[..] else {
        return Err(of_rank(b, x, "at least 2 dimensions"));
    };
    let shift = match v.optional(1) {
        Some(_) => v.const_ints(b, 1, "k")?.first().copied().unwrap_or(0),
        None => 0,
    };
    let upper = v.flag("upper", true)?;
    if elements(&[rows, columns]) == Some(0) {
        return Ok(vec![x]);
    }
    b.allow(&[rows, columns])?;
    let places = (0..rows as i128).flat_map(|row| (0..columns as i128).map(move |c| (row, c)));
    let stays = places.map(|(row, column)| {
        let distance = column - row - i128::from(shift);
        if upper { distance >= 0 } else { distance <= 0 }
    });
    let stays: Vec<bool> = stays.collect();
    let mask = Tensor::made(Element::Bool, vec![rows, columns], Data::Bool(stays));
    let (mask, zero) = (b.constant(mask), b.scalar(x, 0.0));
    Ok(vec![b.push(Op::Select, &[mask, x, zero])?])
}

/// Several axes of a tensor, in the order in which the model names them.
pub(super) fn named_axes(
    b: &Builder,
    x: ValueId,
    axes: Option<Vec<i64>>,
) -> Result<Vec<usize>, Fault> {
    let rank = b.shape(x).len();
    match axes {
        Some(axes) => axes.iter().map(|&axis| axis_of(axis, rank)).collect(),
        None => Ok((0..rank).collect()),
    }
}
