//! Pooling, and where kernels go.

use super::builder::Builder;
use super::shapes::of_rank;
use super::table::{Imported, Table};
use super::view::{View, at_least, required};
use crate::error::Fault;
use crate::graph::{Binary, Op, Reduction, Unary, Window};
use crate::tensor::Tensor;

pub(super) const TABLE: Table = &[
    ("AveragePool", average),
    ("GlobalAveragePool", |b, v| global(b, v, Reduction::Mean)),
    ("GlobalMaxPool", |b, v| global(b, v, Reduction::Max)),
    ("LRN", lrn),
    ("LpPool", lp),
    ("MaxPool", max),
];

/// Ways to round sizes.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Padding {
    /// Padding that leaves over what no place of the kernel reaches.
    Floor,
    /// Another place of the kernel, if it begins within the data or what was added before.
    Ceil,
    /// Padding of a transposed convolution, which chooses it itself.
    Transposed,
}

/// Gives the window of a node's kernel over data of this shape; and the padding behind it that is the model's, while the
/// window's may be more for rounding up.
pub(super) fn window(
    v: &View<'_>,
    shape: &[usize],
    kernel: Vec<usize>,
    padding: Padding,
) -> Result<(Window, Vec<usize>), Fault> {
    let rank = kernel.len();
    let list = |name: &'static str, least: i64, default: i64, count: usize| {
        let found = v.ints(name)?.unwrap_or_else(|| vec![default; count]);
        if found.len() != count {
            return Err(Fault::attribute(
                name,
                format!("a list of {} numbers", found.len()),
                "as many numbers as the kernel has dimensions (twice as many pads)",
            ));
        }
        let sizes = found.into_iter();
        let sizes = sizes.map(|size| at_least(least, size, name, "not below its least value"));
        sizes.collect::<Result<Vec<usize>, Fault>>()
    };
    let pads = list("pads", 0, 0, 2 * rank)?;
    let mut window = Window {
        strides: list("strides", 1, 1, rank)?,
        dilations: list("dilations", 1, 1, rank)?,
        before: pads[..rank].to_vec(),
        after: pads[rank..].to_vec(),
        kernel,
    };
    let sizes = shape.get(2..).filter(|sizes| sizes.len() == rank);
    let Some(sizes) = sizes else {
        return Err(Fault::shape(
            "data",
            shape,
            format!("{} dimensions", rank + 2),
        ));
    };
    let auto = v.string("auto_pad", "NOTSET")?;
    match &auto[..] {
        "NOTSET" | "" => {}
        "VALID" => (window.before, window.after) = (vec![0; rank], vec![0; rank]),
        "SAME_UPPER" | "SAME_LOWER" if padding == Padding::Transposed => {}
        "SAME_UPPER" | "SAME_LOWER" => {
            for (axis, &size) in sizes.iter().enumerate() {
                let stride = window.strides[axis];
                let places = size.div_ceil(stride);
                let reach = places.saturating_sub(1).saturating_mul(stride);
                let reach = reach.saturating_add(window.extent(axis).unwrap_or(usize::MAX));
                let total = reach.saturating_sub(size);
                let half = total / 2;
                let (before, after) = match auto == "SAME_UPPER" {
                    true => (half, total - half),
                    false => (total - half, half),
                };
                (window.before[axis], window.after[axis]) = (before, after);
            }
        }
        _ => {
            return Err(Fault::attribute(
                "auto_pad",
                auto,
                "NOTSET, VALID, SAME_UPPER, SAME_LOWER",
            ));
        }
    }
    let declared = window.after.clone();
    if padding == Padding::Ceil {
        for (axis, &size) in sizes.iter().enumerate() {
            let (before, stride) = (window.before[axis], window.strides[axis]);
            let inside = size.saturating_add(before);
            let padded = inside.saturating_add(window.after[axis]);
            let room = padded.checked_sub(window.extent(axis).unwrap_or(usize::MAX));
            let over = room.map_or(0, |room| room % stride);
            let next = (room.unwrap_or(0) - over).saturating_add(stride);
            if over > 0 && next < inside {
                window.after[axis] = window.after[axis].saturating_add(stride - over);
            }
        }
    }
    Ok((window, declared))
}

/// The window of a pooling node.
fn pooling(b: &Builder, v: &View<'_>) -> Result<(Window, Vec<usize>), Fault> {
    let kernel = required("kernel_shape", v.ints("kernel_shape"))?.into_iter();
    let kernel = kernel.map(|size| at_least(1, size, "kernel_shape", "at least 1"));
    let kernel = kernel.collect::<Result<_, _>>()?;
    let padding = match v.flag("ceil_mode", false)? {
        true => Padding::Ceil,
        false => Padding::Floor,
    };
    window(v, b.shape(v.input(0)?), kernel, padding)
}

fn max(b: &mut Builder, v: &View<'_>) -> Imported {
    let (window, _) = pooling(b, v)?;
    if v.makes(1) {
        let what = "Indices";
        return Err(Fault::Output { what });
    }
    Ok(vec![b.push(Op::MaxPool(window), &[v.input(0)?])?])
}

fn average(b: &mut Builder, v: &View<'_>) -> Imported {
    let (window, declared) = pooling(b, v)?;
    let counted = v.flag("count_include_pad", false)?.then_some(declared);
    let op = Op::AveragePool { window, counted };
    Ok(vec![b.push(op, &[v.input(0)?])?])
}

/// The root of the sum of powers: the sum is a convolution of each channel with ones.
fn lp(b: &mut Builder, v: &View<'_>) -> Imported {
    let x = v.input(0)?;
    let (window, _) = pooling(b, v)?;
    let power = v.int("p", 2)?;
    let channels = b.shape(x)[1];
    let shape = [&[channels, 1], &window.kernel[..]].concat();
    b.allow(&shape)?;
    let ones = b.constant(Tensor::filled(b.element(x), shape, 1.0));
    let powers = match power {
        1 => b.unary(Unary::Abs, x)?,
        2 => b.mul(x, x)?,
        _ => {
            let size = b.unary(Unary::Abs, x)?;
            let power = b.scalar(x, power as f64);
            b.binary(Binary::Pow, size, power)?
        }
    };
    let groups = channels;
    let sum = b.push(Op::Conv { window, groups }, &[powers, ones])?;
    Ok(vec![match power {
        1 => sum,
        2 => b.unary(Unary::Sqrt, sum)?,
        _ => {
            let root = b.scalar(x, 1.0 / power as f64);
            b.binary(Binary::Pow, sum, root)?
        }
    }])
}

/// All dimensions behind the first two.
fn global(b: &mut Builder, v: &View<'_>, by: Reduction) -> Imported {
    let x = v.input(0)?;
    let axes = (2..b.shape(x).len()).collect();
    Ok(vec![b.reduce(by, x, axes)?])
}

/// `x / (bias + alpha / size * sum of squares in neighbouring channels) ^ beta`
fn lrn(b: &mut Builder, v: &View<'_>) -> Imported {
    let x = v.input(0)?;
    let size = required("size", v.maybe_int("size"))?;
    let size = at_least(1, size, "size", "at least 1")?;
    let shape = b.shape(x).to_vec();
    let [batch, channels, ref rest @ ..] = shape[..] else {
        return Err(of_rank(b, x, "at least 2 dimensions"));
    };
    let plane: usize = rest.iter().product();
    let (alpha, beta) = (v.float("alpha", 1e-4)?, v.float("beta", 0.75)?);
    let squares = b.mul(x, x)?;
    // Channels as the rows of an image, over which a kernel of ones goes.
    let image = b.reshape(squares, vec![batch, 1, channels, plane])?;
    let kernel = vec![1, 1, size, 1];
    b.allow(&kernel)?;
    let ones = b.constant(Tensor::filled(b.element(x), kernel, 1.0));
    let window = Window {
        kernel: vec![size, 1],
        strides: vec![1, 1],
        dilations: vec![1, 1],
        before: vec![(size - 1) / 2, 0],
        after: vec![size / 2, 0],
    };
    let sums = b.push(Op::Conv { window, groups: 1 }, &[image, ones])?;
    let sums = b.reshape(sums, shape.clone())?;
    let scale = b.affine(sums, alpha / size as f64, v.float("bias", 1.0)?)?;
    let power = b.scalar(x, beta);
    let divisor = b.binary(Binary::Pow, scale, power)?;
    Ok(vec![b.binary(Binary::Div, x, divisor)?])
}
