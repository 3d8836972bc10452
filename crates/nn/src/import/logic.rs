//! Booleans, comparisons, choices.

use super::arithmetic::{binary, unary};
use super::builder::Builder;
use super::table::{Imported, Table};
use super::view::View;
use crate::graph::{Binary, Op, Unary};

pub(super) const TABLE: Table = &[
    ("And", |b, v| binary(b, v, Binary::And)),
    ("Equal", |b, v| binary(b, v, Binary::Equal)),
    ("Greater", |b, v| swapped(b, v, Binary::Less)),
    ("GreaterOrEqual", |b, v| swapped(b, v, Binary::LessOrEqual)),
    ("IsNaN", |b, v| unary(b, v, Unary::IsNan)),
    ("Less", |b, v| binary(b, v, Binary::Less)),
    ("LessOrEqual", |b, v| binary(b, v, Binary::LessOrEqual)),
    ("Not", |b, v| unary(b, v, Unary::Not)),
    ("Or", |b, v| binary(b, v, Binary::Or)),
    ("Where", |b, v| {
        let inputs = [v.input(0)?, v.input(1)?, v.input(2)?];
        Ok(vec![b.push(Op::Select, &inputs)?])
    }),
    ("Xor", |b, v| binary(b, v, Binary::Xor)),
];

fn swapped(b: &mut Builder, v: &View<'_>, binary: Binary) -> Imported {
    Ok(vec![b.binary(binary, v.input(1)?, v.input(0)?)?])
}
