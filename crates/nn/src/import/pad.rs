//! Operators that put elements around.

use super::builder::Builder;
use super::shapes::of_rank;
use super::table::{Imported, Table};
use super::view::{View, axis_of, required};
use crate::error::Fault;
use crate::graph::Op;

pub(super) const TABLE: Table = &[("Pad", pad)];

/// Counts are an attribute before version 11, and an input since. A mode that repeats the operand is a choice of places.
fn pad(b: &mut Builder, v: &View<'_>) -> Imported {
    let x = v.input(0)?;
    let shape = b.shape(x).to_vec();
    let rank = shape.len();
    let pads = required("pads", v.ints_from(b, "pads", (1, 11)))?;
    let axes = match v.optional(3) {
        Some(_) => v.const_ints(b, 3, "axes")?,
        None => (0..rank as i64).collect(),
    };
    if pads.len() != 2 * axes.len() {
        return Err(Fault::number(
            "number of pads",
            pads.len() as i64,
            "two for each axis",
        ));
    }
    let (mut before, mut after) = (vec![0; rank], vec![0; rank]);
    for (number, &axis) in axes.iter().enumerate() {
        let axis = axis_of(axis, rank)?;
        (before[axis], after[axis]) = (pads[number], pads[number + axes.len()]);
    }
    // Counts below 0 take away.
    let mut value = x;
    for axis in 0..rank {
        let less = |count: i64| count.min(0).unsigned_abs() as usize;
        let (start, end) = (less(before[axis]), less(after[axis]));
        let left = b.shape(value)[axis].checked_sub(start.saturating_add(end));
        let left = left.ok_or_else(|| of_rank(b, x, "more than is taken away"))?;
        if start + end > 0 {
            value = b.part(value, axis, start, left)?;
        }
    }
    let more = |count: &i64| (*count).max(0) as usize;
    let before: Vec<usize> = before.iter().map(more).collect();
    let after: Vec<usize> = after.iter().map(more).collect();
    let mode = v.string("mode", "constant")?;
    if mode == "constant" {
        let fill = match v.optional(2) {
            Some(_) if v.opset >= 11 => v.const_number(b, 2, "constant_value")?,
            _ => v.float("value", 0.0)?,
        };
        // It is kept as a float.
        if b.element(x).is_integer() && fill.abs() >= 2f64.powi(53) {
            return Err(Fault::number(
                "constant_value",
                fill as i64,
                "an integer between -2^53 and 2^53",
            ));
        }
        let op = Op::Pad {
            before,
            after,
            value: fill,
        };
        return Ok(vec![b.push(op, &[value])?]);
    }
    for axis in 0..rank {
        let size = b.shape(value)[axis];
        if before[axis] + after[axis] == 0 {
            continue;
        }
        let total = before[axis].checked_add(after[axis]);
        let total = total.and_then(|sum| sum.checked_add(size));
        b.allow(&[total.unwrap_or(usize::MAX)])?;
        let places = (0..total.unwrap_or(0)).map(|at| mirrored(&mode, at, before[axis], size));
        let places = places.collect::<Option<Vec<usize>>>();
        let places = places.ok_or_else(|| {
            Fault::attribute(
                "mode",
                format!("{mode} along an axis of {size}"),
                "constant; and, of what is not empty, edge, reflect, wrap",
            )
        })?;
        value = b.gather(value, axis, places)?;
    }
    Ok(vec![value])
}

/// Gives the element of an axis that stands at a place of the padded one.
fn mirrored(mode: &str, at: usize, before: usize, size: usize) -> Option<usize> {
    let (at, last) = (at as i128 - before as i128, size.checked_sub(1)? as i128);
    let found = match mode {
        "edge" => at.clamp(0, last),
        "wrap" => at.rem_euclid(last + 1),
        "reflect" if last == 0 => 0,
        "reflect" => {
            let turn = at.rem_euclid(2 * last);
            turn.min(2 * last - turn)
        }
        _ => return None,
    };
    usize::try_from(found).ok()
}
