//! Activations. Activations that consist of a few operators become these.

use super::arithmetic::unary;
use super::builder::Builder;
use super::table::{Imported, Table};
use super::view::{View, axis_of};
use crate::error::Fault;
use crate::graph::{Binary, Op, Unary, ValueId};

pub(super) const TABLE: Table = &[
    ("Celu", celu),
    ("Elu", elu),
    ("Gelu", gelu),
    ("HardSigmoid", hard_sigmoid),
    ("HardSwish", hard_swish),
    ("Hardmax", hardmax),
    ("LeakyRelu", |b, v| {
        let slope = v.float("alpha", 0.01)?;
        unary(b, v, Unary::LeakyRelu { slope })
    }),
    ("LogSoftmax", |b, v| softmax(b, v, true)),
    ("Mish", mish),
    ("PRelu", prelu),
    ("Relu", |b, v| unary(b, v, Unary::Relu)),
    ("Selu", selu),
    ("Shrink", shrink),
    ("Sigmoid", |b, v| unary(b, v, Unary::Sigmoid)),
    ("Softmax", |b, v| softmax(b, v, false)),
    ("Softplus", |b, v| unary(b, v, Unary::Softplus)),
    ("Softsign", softsign),
    ("Swish", swish),
    ("Tanh", |b, v| unary(b, v, Unary::Tanh)),
    ("ThresholdedRelu", thresholded),
];

/// `positive * max(x, 0) + negative * (exp(min(x, 0) / scale) - 1)`
fn exponential(b: &mut Builder, x: ValueId, factors: [f64; 3]) -> Result<ValueId, Fault> {
    let [positive, negative, scale] = factors;
    let above = b.unary(Unary::Relu, x)?;
    let above = b.affine(above, positive, 0.0)?;
    let below = b.clip(x, f64::NEG_INFINITY, 0.0)?;
    let below = b.affine(below, 1.0 / scale, 0.0)?;
    let below = b.unary(Unary::Exp, below)?;
    let below = b.affine(below, negative, -negative)?;
    b.add(above, below)
}

fn elu(b: &mut Builder, v: &View<'_>) -> Imported {
    let alpha = v.float("alpha", 1.0)?;
    Ok(vec![exponential(b, v.input(0)?, [1.0, alpha, 1.0])?])
}

fn celu(b: &mut Builder, v: &View<'_>) -> Imported {
    let alpha = v.float("alpha", 1.0)?;
    Ok(vec![exponential(b, v.input(0)?, [1.0, alpha, alpha])?])
}

fn selu(b: &mut Builder, v: &View<'_>) -> Imported {
    // The defaults are ONNX's: those of the paper in single precision.
    let alpha = v.float("alpha", 1.673_263_192_176_818_8)?;
    let gamma = v.float("gamma", 1.050_701_022_148_132_3)?;
    Ok(vec![exponential(
        b,
        v.input(0)?,
        [gamma, gamma * alpha, 1.0],
    )?])
}

fn gelu(b: &mut Builder, v: &View<'_>) -> Imported {
    let tanh = v.choice("approximate", "none", "none, tanh")? == "tanh";
    unary(b, v, Unary::Gelu { tanh })
}

fn hard_sigmoid(b: &mut Builder, v: &View<'_>) -> Imported {
    let (alpha, beta) = (v.float("alpha", 0.2)?, v.float("beta", 0.5)?);
    let line = b.affine(v.input(0)?, alpha, beta)?;
    Ok(vec![b.clip(line, 0.0, 1.0)?])
}

fn hard_swish(b: &mut Builder, v: &View<'_>) -> Imported {
    let x = v.input(0)?;
    let line = b.affine(x, 1.0 / 6.0, 0.5)?;
    let gate = b.clip(line, 0.0, 1.0)?;
    Ok(vec![b.mul(x, gate)?])
}

fn mish(b: &mut Builder, v: &View<'_>) -> Imported {
    let x = v.input(0)?;
    let gate = b.unary(Unary::Softplus, x)?;
    let gate = b.unary(Unary::Tanh, gate)?;
    Ok(vec![b.mul(x, gate)?])
}

fn swish(b: &mut Builder, v: &View<'_>) -> Imported {
    let x = v.input(0)?;
    let gate = b.affine(x, v.float("alpha", 1.0)?, 0.0)?;
    let gate = b.unary(Unary::Sigmoid, gate)?;
    Ok(vec![b.mul(x, gate)?])
}

fn softsign(b: &mut Builder, v: &View<'_>) -> Imported {
    let x = v.input(0)?;
    let size = b.unary(Unary::Abs, x)?;
    let divisor = b.affine(size, 1.0, 1.0)?;
    Ok(vec![b.binary(Binary::Div, x, divisor)?])
}

/// `max(x, 0) + slope * min(x, 0)`, of which the second is `x - max(x, 0)`.
fn prelu(b: &mut Builder, v: &View<'_>) -> Imported {
    let (x, slope) = (v.input(0)?, v.input(1)?);
    let above = b.unary(Unary::Relu, x)?;
    let below = b.sub(x, above)?;
    let below = b.mul(below, slope)?;
    Ok(vec![b.add(above, below)?])
}

fn thresholded(b: &mut Builder, v: &View<'_>) -> Imported {
    let x = v.input(0)?;
    let alpha = b.scalar(x, v.float("alpha", 1.0)?);
    let zero = b.scalar(x, 0.0);
    let above = b.binary(Binary::Less, alpha, x)?;
    Ok(vec![b.push(Op::Select, &[above, x, zero])?])
}

/// 0 between `-lambd` and `lambd`, beyond that moved towards 0 by `bias`.
fn shrink(b: &mut Builder, v: &View<'_>) -> Imported {
    let x = v.input(0)?;
    let (bias, lambda) = (v.float("bias", 0.0)?, v.float("lambd", 0.5)?);
    let zero = b.scalar(x, 0.0);
    let (low, high) = (b.scalar(x, -lambda), b.scalar(x, lambda));
    let (below, above) = (b.affine(x, 1.0, bias)?, b.affine(x, 1.0, -bias)?);
    let is_below = b.binary(Binary::Less, x, low)?;
    let is_above = b.binary(Binary::Less, high, x)?;
    let inner = b.push(Op::Select, &[is_above, above, zero])?;
    Ok(vec![b.push(Op::Select, &[is_below, below, inner])?])
}

/// Flattens `x`, before version 13, to a matrix whose rows begin at `axis`; gives the matrix and its axis.
fn flattened(b: &mut Builder, v: &View<'_>) -> Result<(ValueId, usize), Fault> {
    let x = v.input(0)?;
    let shape = b.shape(x).to_vec();
    if v.opset >= 13 {
        return Ok((x, axis_of(v.int("axis", -1)?, shape.len())?));
    }
    let axis = axis_of(v.int("axis", 1)?, shape.len())?;
    let (rows, columns) = shape.split_at(axis);
    let matrix = vec![rows.iter().product(), columns.iter().product()];
    match columns.len() {
        1 => Ok((x, axis)),
        _ => Ok((b.reshape(x, matrix)?, 1)),
    }
}

fn softmax(b: &mut Builder, v: &View<'_>, logarithm: bool) -> Imported {
    let (x, axis) = flattened(b, v)?;
    let op = match logarithm {
        true => Op::LogSoftmax { axis },
        false => Op::Softmax { axis },
    };
    let made = b.push(op, &[x])?;
    let shape = b.shape(v.input(0)?).to_vec();
    Ok(vec![b.reshape(made, shape)?])
}

/// 1 at the first of the greatest elements, else 0.
fn hardmax(b: &mut Builder, v: &View<'_>) -> Imported {
    let (x, axis) = flattened(b, v)?;
    let (shape, element) = (b.shape(x).to_vec(), b.element(x));
    let place = b.push(
        Op::Arg {
            greatest: true,
            axis,
            last: false,
        },
        &[x],
    )?;
    b.allow(&[shape[axis]])?;
    let mut along = vec![1; shape.len()];
    along[axis] = shape[axis];
    let places = crate::tensor::Tensor::vector((0..shape[axis] as i64).collect());
    let places = b.constant(places.with_shape(along));
    let hit = b.binary(Binary::Equal, place, places)?;
    let made = b.cast(hit, element)?;
    let shape = b.shape(v.input(0)?).to_vec();
    Ok(vec![b.reshape(made, shape)?])
}
