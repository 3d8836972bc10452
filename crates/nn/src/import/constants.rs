//! Values that depend on no input, and operators that only pass values on.

use super::builder::Builder;
use super::table::{Imported, Table};
use super::view::{View, required};
use crate::error::Fault;
use crate::read::element;
use crate::tensor::{Data, Element, Tensor};

pub(super) const TABLE: Table = &[
    ("Cast", |b, v| {
        let to = required("to", element_of(v, "to"))?;
        Ok(vec![b.cast(v.input(0)?, to)?])
    }),
    ("CastLike", |b, v| {
        let to = b.element(v.input(1)?);
        Ok(vec![b.cast(v.input(0)?, to)?])
    }),
    ("Constant", constant),
    ("ConstantOfShape", filled),
    ("Dropout", dropout),
    ("EyeLike", eye),
    ("Identity", |_, v| Ok(vec![v.input(0)?])),
    ("Range", range),
    ("Shape", shape),
    ("Size", |b, v| {
        let size = b.ty(v.input(0)?).elements();
        let size = Tensor::made(Element::I64, Vec::new(), Data::Int(vec![size as i64]));
        Ok(vec![b.constant(size)])
    }),
];

/// An attribute that names an element type.
pub(super) fn element_of(v: &View<'_>, name: &'static str) -> Result<Option<Element>, Fault> {
    let Some(code) = v.maybe_int(name)? else {
        return Ok(None);
    };
    element(code).map(Some).ok_or(Fault::ElementCode { code })
}

fn constant(b: &mut Builder, v: &View<'_>) -> Imported {
    let (tensor, name) = if let Some(tensor) = v.tensor(b, "value")? {
        (tensor, "value")
    } else if let Some(value) = v.maybe_float("value_float")? {
        let tensor = Tensor::filled(Element::F32, Vec::new(), value);
        return Ok(vec![b.constant(tensor)]);
    } else if let Some(values) = v.floats("value_floats")? {
        let shape = vec![values.len()];
        let tensor = Tensor::made(Element::F32, shape, Data::F32(values));
        (tensor, "value_floats")
    } else if let Some(value) = v.maybe_int("value_int")? {
        let tensor = Tensor::vector(vec![value]).with_shape(Vec::new());
        return Ok(vec![b.constant(tensor)]);
    } else if let Some(values) = v.ints("value_ints")? {
        (Tensor::vector(values), "value_ints")
    } else if v.has("value_string") || v.has("value_strings") || v.has("sparse_value") {
        return Err(Fault::attribute(
            "value",
            "a string or a sparse tensor",
            "dense tensors of numbers or Booleans",
        ));
    } else {
        return Err(Fault::AttributeMissing { name: "value" });
    };
    Ok(vec![match v.source(name) {
        Some(source) => b.stored(tensor, source),
        None => b.constant(tensor),
    }])
}

fn filled(b: &mut Builder, v: &View<'_>) -> Imported {
    let sizes = v.const_ints(b, 0, "shape")?;
    let value = v.tensor(b, "value")?;
    let value = match value {
        None => Tensor::filled(Element::F32, Vec::new(), 0.0),
        Some(value) if value.len() == 1 => value.with_shape(Vec::new()),
        Some(value) => {
            return Err(Fault::shape("value", value.shape(), "one element"));
        }
    };
    let shape = super::shapes::sizes(&sizes)?;
    let value = b.constant(value);
    Ok(vec![b.expand(value, shape)?])
}

/// Imports Dropout, which drops nothing at work.
fn dropout(b: &mut Builder, v: &View<'_>) -> Imported {
    let x = v.input(0)?;
    if v.opset >= 12 && v.optional(2).is_some() {
        // Without a ratio there is nothing to drop even in training.
        let trains = v.const_number(b, 2, "training_mode")? != 0.0;
        let ratio = match v.optional(1) {
            Some(_) => v.const_number(b, 1, "ratio")?,
            None => 0.5,
        };
        if trains && ratio != 0.0 {
            return Err(Fault::attribute(
                "training_mode",
                "true",
                "false: export the model for inference",
            ));
        }
    }
    let mut made = vec![x];
    if v.makes(1) {
        let shape = b.shape(x).to_vec();
        b.allow(&shape)?;
        let count = shape.iter().product();
        made.push(b.mask(shape, vec![true; count]));
    }
    Ok(made)
}

fn eye(b: &mut Builder, v: &View<'_>) -> Imported {
    let x = v.input(0)?;
    let to = element_of(v, "dtype")?.unwrap_or(b.element(x));
    let shift = v.int("k", 0)?;
    let [rows, columns] = b.shape(x)[..] else {
        return Err(super::shapes::of_rank(b, x, "2 dimensions"));
    };
    b.allow(&[rows, columns])?;
    let places = (0..rows as i128).flat_map(|row| (0..columns as i128).map(move |c| (row, c)));
    let bools = places.map(|(row, column)| row + i128::from(shift) == column);
    let mask = b.mask(vec![rows, columns], bools.collect());
    Ok(vec![b.cast(mask, to)?])
}

fn range(b: &mut Builder, v: &View<'_>) -> Imported {
    let start = v.const_number(b, 0, "start")?;
    let limit = v.const_number(b, 1, "limit")?;
    let delta = v.const_number(b, 2, "delta")?;
    let element = b.element(v.input(0)?);
    if element.is_integer() {
        return integers(b, v, element);
    }
    let count = ((limit - start) / delta).ceil().max(0.0);
    if !count.is_finite() {
        return Err(Fault::number(
            "delta",
            0,
            "a number that leads from start to limit",
        ));
    }
    let count = count as usize;
    b.allow(&[count])?;
    let values = (0..count).map(|place| start + place as f64 * delta);
    let values = Tensor::made(Element::F64, vec![count], Data::F64(values.collect()));
    let values = b.constant(values);
    Ok(vec![b.cast(values, element)?])
}

/// A range of integers, which floats may not have.
fn integers(b: &mut Builder, v: &View<'_>, element: Element) -> Imported {
    let of = |index: usize, what: &'static str| {
        let tensor = v.constant(b, index, what)?;
        match tensor.to_integers().as_deref() {
            Some(&[value]) => Ok(value),
            _ => Err(Fault::shape(what, tensor.shape(), "one integer")),
        }
    };
    let (start, limit, delta) = (of(0, "start")?, of(1, "limit")?, of(2, "delta")?);
    if delta == 0 {
        return Err(Fault::number(
            "delta",
            0,
            "a number that leads from start to limit",
        ));
    }
    // Rounded up, and none where it leads elsewhere.
    let (span, step) = ((limit - start) * delta.signum(), delta.abs());
    let count = usize::try_from((span + step - 1).max(0) / step).unwrap_or(usize::MAX);
    b.allow(&[count])?;
    let values = (0..count as i128).map(|place| (start + place * delta) as i64);
    let values = Tensor::made(element, vec![count], Data::Int(values.collect()));
    Ok(vec![b.constant(values)])
}

fn shape(b: &mut Builder, v: &View<'_>) -> Imported {
    let shape = b.shape(v.input(0)?).to_vec();
    let rank = shape.len() as i64;
    let bound = |axis: i64| {
        let axis = if axis < 0 {
            axis.saturating_add(rank)
        } else {
            axis
        };
        axis.clamp(0, rank) as usize
    };
    let (start, end) = (bound(v.int("start", 0)?), bound(v.int("end", rank)?));
    let sizes = shape.get(start..end).unwrap_or_default();
    let sizes = sizes.iter().map(|&size| size as i64).collect();
    Ok(vec![b.constant(Tensor::vector(sizes))])
}
