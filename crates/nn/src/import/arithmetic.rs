//! Arithmetic, element by element.

use super::builder::Builder;
use super::table::{Imported, Table};
use super::view::View;
use crate::error::Fault;
use crate::graph::{Binary, Unary, ValueId};
use crate::tensor::Element;

pub(super) const TABLE: Table = &[
    ("Abs", |b, v| unary(b, v, Unary::Abs)),
    ("Add", |b, v| binary(b, v, Binary::Add)),
    ("Ceil", |b, v| unary(b, v, Unary::Ceil)),
    ("Clip", clip),
    ("Cos", |b, v| unary(b, v, Unary::Cos)),
    ("Div", |b, v| binary(b, v, Binary::Div)),
    ("Erf", |b, v| unary(b, v, Unary::Erf)),
    ("Exp", |b, v| unary(b, v, Unary::Exp)),
    ("Floor", |b, v| unary(b, v, Unary::Floor)),
    ("Log", |b, v| unary(b, v, Unary::Log)),
    ("Max", |b, v| chain(b, v, Binary::Max)),
    ("Mean", mean),
    ("Min", |b, v| chain(b, v, Binary::Min)),
    ("Mod", modulo),
    ("Mul", |b, v| binary(b, v, Binary::Mul)),
    ("Neg", |b, v| unary(b, v, Unary::Neg)),
    ("Pow", pow),
    ("Reciprocal", |b, v| unary(b, v, Unary::Reciprocal)),
    ("Round", |b, v| unary(b, v, Unary::Round)),
    ("Sign", |b, v| unary(b, v, Unary::Sign)),
    ("Sin", |b, v| unary(b, v, Unary::Sin)),
    ("Sqrt", |b, v| unary(b, v, Unary::Sqrt)),
    ("Sub", |b, v| binary(b, v, Binary::Sub)),
    ("Sum", |b, v| chain(b, v, Binary::Add)),
];

pub(super) fn unary(b: &mut Builder, v: &View<'_>, unary: Unary) -> Imported {
    Ok(vec![b.unary(unary, v.input(0)?)?])
}

pub(super) fn binary(b: &mut Builder, v: &View<'_>, binary: Binary) -> Imported {
    Ok(vec![b.binary(binary, v.input(0)?, v.input(1)?)?])
}

/// Any number of operands, one after the other.
fn chain(b: &mut Builder, v: &View<'_>, binary: Binary) -> Imported {
    let all = v.all()?;
    let mut result = all[0];
    for &next in &all[1..] {
        result = b.binary(binary, result, next)?;
    }
    Ok(vec![result])
}

fn mean(b: &mut Builder, v: &View<'_>) -> Imported {
    let sum = chain(b, v, Binary::Add)?[0];
    Ok(vec![b.affine(sum, 1.0 / v.inputs.len() as f64, 0.0)?])
}

fn modulo(b: &mut Builder, v: &View<'_>) -> Imported {
    let dividend = v.flag("fmod", false)?;
    binary(b, v, Binary::Mod { dividend })
}

/// Powers that are products, roots or quotients become these.
fn pow(b: &mut Builder, v: &View<'_>) -> Imported {
    let (x, y) = (v.input(0)?, v.input(1)?);
    let single = b.ty(y).elements() == 1;
    // An exponent that is known decides on what is computed, whatever its dimensions.
    let known = if single { b.read(y) } else { None };
    let known = known.filter(|y| y.shape().len() <= 1);
    let exponent = known.map(|y| y.to_f64()[0]);
    // A vector of one number still adds a dimension to a single number.
    let alike = b.shape(y).len() <= b.shape(x).len();
    if let (Some(exponent), true, true) = (exponent, alike, b.element(x).is_float()) {
        let square = |b: &mut Builder| b.mul(x, x);
        let made = match exponent {
            1.0 => Some(x),
            2.0 => Some(square(b)?),
            3.0 => {
                let square = square(b)?;
                Some(b.mul(square, x)?)
            }
            4.0 => {
                let square = square(b)?;
                Some(b.mul(square, square)?)
            }
            0.5 => Some(b.unary(Unary::Sqrt, x)?),
            -1.0 => Some(b.unary(Unary::Reciprocal, x)?),
            _ => None,
        };
        if let Some(made) = made {
            return Ok(vec![made]);
        }
    }
    Ok(vec![b.binary(Binary::Pow, x, y)?])
}

/// Bounds are attributes before version 11, and inputs since.
fn clip(b: &mut Builder, v: &View<'_>) -> Imported {
    let x = v.input(0)?;
    if v.opset < 11 {
        let low = v.float("min", f64::NEG_INFINITY)?;
        let high = v.float("max", f64::INFINITY)?;
        return Ok(vec![b.clip(x, low, high)?]);
    }
    let (low, high) = (v.optional(1), v.optional(2));
    let known = |bound: Option<ValueId>, default: f64| match bound {
        None => Some(default),
        Some(bound) if b.ty(bound).elements() == 1 => b.read(bound)?.to_f64().first().copied(),
        Some(_) => None,
    };
    let bounds = known(low, f64::NEG_INFINITY).zip(known(high, f64::INFINITY));
    if let (Some((low, high)), true) = (bounds, b.element(x).is_float()) {
        return Ok(vec![b.clip(x, low, high)?]);
    }
    if b.element(x) == Element::Bool {
        return Err(Fault::Element {
            found: Element::Bool,
            supported: "numbers",
        });
    }
    let mut result = x;
    if let Some(low) = low {
        result = b.binary(Binary::Max, result, low)?;
    }
    if let Some(high) = high {
        result = b.binary(Binary::Min, result, high)?;
    }
    Ok(vec![result])
}
