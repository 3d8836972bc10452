//! Reductions and orders along axes.

use super::builder::Builder;
use super::table::{Imported, Table};
use super::view::{View, at_least, axes_of, axis_of, required};
use crate::error::Fault;
use crate::graph::{Op, Reduction, Unary, ValueId};
use crate::tensor::Element;

pub(super) const TABLE: Table = &[
    ("ArgMax", |b, v| arg(b, v, true)),
    ("ArgMin", |b, v| arg(b, v, false)),
    ("CumSum", cumsum),
    ("ReduceL1", |b, v| {
        reduce(b, v, Reduction::Sum, |b, x| b.unary(Unary::Abs, x), as_is)
    }),
    ("ReduceL2", |b, v| {
        reduce(b, v, Reduction::Sum, square, |b, x| b.unary(Unary::Sqrt, x))
    }),
    ("ReduceLogSum", |b, v| {
        reduce(b, v, Reduction::Sum, as_is, |b, x| b.unary(Unary::Log, x))
    }),
    ("ReduceLogSumExp", log_sum_exp),
    ("ReduceMax", |b, v| extreme(b, v, Reduction::Max)),
    ("ReduceMean", |b, v| {
        reduce(b, v, Reduction::Mean, as_is, as_is)
    }),
    ("ReduceMin", |b, v| extreme(b, v, Reduction::Min)),
    ("ReduceProd", |b, v| {
        reduce(b, v, Reduction::Prod, as_is, as_is)
    }),
    ("ReduceSum", |b, v| {
        reduce(b, v, Reduction::Sum, as_is, as_is)
    }),
    ("ReduceSumSquare", |b, v| {
        reduce(b, v, Reduction::Sum, square, as_is)
    }),
    ("TopK", top),
];

type Step = fn(&mut Builder, ValueId) -> Result<ValueId, Fault>;

fn as_is(_: &mut Builder, x: ValueId) -> Result<ValueId, Fault> {
    Ok(x)
}

fn square(b: &mut Builder, x: ValueId) -> Result<ValueId, Fault> {
    b.mul(x, x)
}

/// The axes, or none if nothing is to be reduced. They are an input since version 18, of the sum since 13.
fn axes(b: &Builder, v: &View<'_>) -> Result<Option<Vec<usize>>, Fault> {
    let since = match &v.proto.op_type[..] {
        "ReduceSum" => 13,
        _ => 18,
    };
    let rank = b.shape(v.input(0)?).len();
    let axes = v.ints_from(b, "axes", (1, since))?.unwrap_or_default();
    match axes.is_empty() {
        true if v.flag("noop_with_empty_axes", false)? => Ok(None),
        true => Ok(Some((0..rank).collect())),
        false => axes_of(&axes, rank).map(Some),
    }
}

/// Takes reduced axes out, unless they are to stay.
fn drop_axes(b: &mut Builder, v: &View<'_>, x: ValueId, axes: &[usize]) -> Result<ValueId, Fault> {
    if v.flag("keepdims", true)? {
        return Ok(x);
    }
    let sizes = b.shape(x).iter().enumerate();
    let left = sizes.filter(|(axis, _)| !axes.contains(axis));
    let left = left.map(|(_, &size)| size).collect();
    b.reshape(x, left)
}

fn reduce(b: &mut Builder, v: &View<'_>, by: Reduction, before: Step, after: Step) -> Imported {
    let axes = axes(b, v)?;
    let mut x = before(b, v.input(0)?)?;
    if let Some(axes) = axes {
        x = b.reduce(by, x, axes.clone())?;
        x = drop_axes(b, v, x, &axes)?;
    }
    Ok(vec![after(b, x)?])
}

/// Reduces to the largest or the least; Booleans since version 20.
fn extreme(b: &mut Builder, v: &View<'_>, by: Reduction) -> Imported {
    if b.element(v.input(0)?) != Element::Bool {
        return reduce(b, v, by, as_is, as_is);
    }
    let to_number: Step = |b, x| b.cast(x, Element::U8);
    reduce(b, v, by, to_number, |b, x| b.cast(x, Element::Bool))
}

/// Shifted by the greatest, so that no exponential overflows.
fn log_sum_exp(b: &mut Builder, v: &View<'_>) -> Imported {
    let x = v.input(0)?;
    let Some(axes) = axes(b, v)? else {
        return Ok(vec![x]);
    };
    if b.ty(x).elements() == 0 {
        return reduce(b, v, Reduction::Sum, as_is, |b, x| b.unary(Unary::Log, x));
    }
    let greatest = b.reduce(Reduction::Max, x, axes.clone())?;
    // If all are minus infinity, so is the result.
    let shift = b.clip(greatest, f64::from(f32::MIN), f64::from(f32::MAX))?;
    let x = b.sub(x, shift)?;
    let x = b.unary(Unary::Exp, x)?;
    let x = b.reduce(Reduction::Sum, x, axes.clone())?;
    let x = b.unary(Unary::Log, x)?;
    let x = b.add(x, shift)?;
    Ok(vec![drop_axes(b, v, x, &axes)?])
}

fn arg(b: &mut Builder, v: &View<'_>, greatest: bool) -> Imported {
    let x = v.input(0)?;
    let axis = axis_of(v.int("axis", 0)?, b.shape(x).len())?;
    let last = v.flag("select_last_index", false)?;
    let op = Op::Arg {
        greatest,
        axis,
        last,
    };
    let place = b.push(op, &[x])?;
    Ok(vec![drop_axes(b, v, place, &[axis])?])
}

fn cumsum(b: &mut Builder, v: &View<'_>) -> Imported {
    let x = v.input(0)?;
    let axis = v.const_number(b, 1, "axis")? as i64;
    let op = Op::CumSum {
        axis: axis_of(axis, b.shape(x).len())?,
        exclusive: v.flag("exclusive", false)?,
        reverse: v.flag("reverse", false)?,
    };
    Ok(vec![b.push(op, &[x])?])
}

/// The number is an input since version 10.
fn top(b: &mut Builder, v: &View<'_>) -> Imported {
    let x = v.input(0)?;
    let count = match v.opset < 10 {
        true => required("k", v.maybe_int("k"))?,
        false => v.const_number(b, 1, "k")? as i64,
    };
    let op = Op::TopK {
        count: at_least(0, count, "k", "at least 0")?,
        axis: axis_of(v.int("axis", -1)?, b.shape(x).len())?,
        greatest: v.flag("largest", true)?,
    };
    b.push_all(op, &[x])
}
