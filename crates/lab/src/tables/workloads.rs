//! Work on tables, with its inputs, by name.

use std::sync::Arc;

use madrigal_core::Party;
use madrigal_engine::{Operation, Sharing};
use madrigal_operations::{ShuffleRows, ShuffleTable};
use madrigal_program::lower::Mix;
use madrigal_program::{Inputs, Program, Tensor, Type};
use madrigal_tables::Rows;
use madrigal_tables::rows::{Aggregate, Join};

use crate::exit::{Failure, Result};
use crate::programs::workloads::{Random, with_inputs};
use crate::scaling::workloads::{Kind, RECEIVER, Work, Workload};

/// Rows of a table with a scale of 1.
pub(super) const ROWS: usize = 1_000_000;
/// Different keys of the rows that are grouped.
const GROUPS: u64 = 1000;

pub fn all() -> Vec<Workload> {
    vec![
        Workload::new("shuffle/r3", 3, "rows", |random, scale| {
            shuffle(random, rows(scale), Mix::R)
        }),
        Workload::new("sort64/r3", 3, "rows", |random, scale| {
            sort(random, rows(scale), Mix::R)
        }),
        Workload::new("join/r3", 3, "rows", |random, scale| {
            join(random, rows(scale), Mix::R)
        }),
        Workload::new("groupby/r3", 3, "rows", |random, scale| {
            group(random, rows(scale), Mix::R)
        }),
        Workload::new("shuffle/n2", 2, "rows", |random, scale| {
            shuffle(random, rows(scale), Mix::AB)
        }),
        Workload::new("sort64/n2", 2, "rows", |random, scale| {
            sort(random, rows(scale), Mix::AB)
        }),
        Workload::new("join/n2", 2, "rows", |random, scale| {
            join(random, rows(scale), Mix::AB)
        }),
        Workload::new("groupby/n2", 2, "rows", |random, scale| {
            group(random, rows(scale), Mix::AB)
        }),
    ]
}

fn rows(scale: f64) -> usize {
    (ROWS as f64 * scale).round().max(1.0) as usize
}

/// Number of parties of a mix.
fn parties(mix: Mix) -> usize {
    if mix == Mix::R { 3 } else { 2 }
}

/// A program, with the bytes of a party's shares of this many columns of 64 bits as what its rate counts.
fn work(p: Program, inputs: Inputs, mix: Mix, columns: usize, rows: usize) -> Result<Work> {
    let components = if mix == Mix::R { 2 } else { 1 };
    let recorded = with_inputs(p, inputs).map_err(Failure::bug)?;
    Ok(Work {
        ops: (components * 8 * columns * rows) as u64,
        kind: Kind::Program(mix, Box::new(recorded)),
    })
}

/// A column of each of two parties.
fn columns(p: &mut Program, rows: usize) -> [Tensor; 2] {
    [0, 1].map(|owner| p.input::<u64>(Party::new(owner), [rows]).untyped())
}

/// Two columns in a random order. Their sums are opened, as that is what no order changes.
fn shuffle(random: &mut Random, rows: usize, mix: Mix) -> Result<Work> {
    let mut p = Program::new(parties(mix));
    let [a, b] = columns(&mut p, rows);
    let (operation, sharing): (Arc<dyn Operation>, Sharing) = match mix {
        Mix::R => (Arc::new(ShuffleRows), Sharing::R),
        _ => (Arc::new(ShuffleTable), Sharing::A),
    };
    let shape = [rows];
    let typed: (Type, &[usize]) = (a.element(), &shape);
    let shuffled = p.operation(operation, &[(&a, sharing), (&b, sharing)], &[typed; 2]);
    for column in &shuffled {
        let _ = p.open(column.sum(0).typed::<u64>(), RECEIVER);
    }
    let inputs = Inputs::new()
        .with(random.words(rows))
        .with(random.words(rows));
    work(p, inputs, mix, 2, rows)
}

/// A payload in the order of a key, both opened.
fn sort(random: &mut Random, rows: usize, mix: Mix) -> Result<Work> {
    let mut p = Program::new(parties(mix));
    let [key, payload] = columns(&mut p, rows);
    for column in Tensor::sort_by(&[(&key, false)], &[&payload]) {
        let _ = p.open(column.typed::<u64>(), RECEIVER);
    }
    let inputs = Inputs::new()
        .with(random.words(rows))
        .with(random.words(rows));
    work(p, inputs, mix, 2, rows)
}

/// As many rows joined with as many of which each has another key; about half of them find one. The sum of both payloads over the rows that
/// do, and their number, are opened.
fn join(random: &mut Random, rows: usize, mix: Mix) -> Result<Work> {
    let mut p = Program::new(parties(mix));
    let [key, payload] = columns(&mut p, rows);
    let many = Rows::new(vec![key, payload]);
    let [key, payload] = columns(&mut p, rows);
    let one = Rows::new(vec![key, payload]);
    let joined = many.join(&mut p, &one, &[(0, 0)], Join::Inner);
    let valid = joined
        .valid()
        .expect("rows without a match")
        .typed::<bool>();
    let both = joined.columns()[1].plus(&joined.columns()[2]);
    let shown = both.typed::<u64>();
    let shown = valid.select(&shown, 0_u64);
    let _ = p.open(shown.sum_all(), RECEIVER);
    let _ = p.open(valid.count(0), RECEIVER);
    // Multiples of an odd number are different, and look like random keys.
    const ODD: u64 = 0x9e37_79b9_7f4a_7c15;
    let many: Vec<u64> = random
        .words(rows)
        .into_iter()
        .map(|word| (word % (2 * rows as u64)).wrapping_mul(ODD))
        .collect();
    let one: Vec<u64> = (0..rows as u64).map(|row| row.wrapping_mul(ODD)).collect();
    let inputs = Inputs::new()
        .with(many)
        .with(random.words(rows))
        .with(one)
        .with(random.words(rows));
    work(p, inputs, mix, 4, rows)
}

/// Numbers and sums of the rows of each key, opened.
fn group(random: &mut Random, rows: usize, mix: Mix) -> Result<Work> {
    let mut p = Program::new(parties(mix));
    let [key, payload] = columns(&mut p, rows);
    let table = Rows::new(vec![key, payload]);
    let bound = (GROUPS as usize).min(rows);
    let aggregates = [Aggregate::Count, Aggregate::Sum(1)];
    let groups = table.group(&mut p, &[0], &aggregates, Some(bound));
    let _ = groups.open(&mut p, RECEIVER);
    let keys: Vec<u64> = random
        .words(rows)
        .into_iter()
        .map(|word| (word % GROUPS).wrapping_mul(0x9e37_79b9_7f4a_7c15))
        .collect();
    let inputs = Inputs::new().with(keys).with(random.words(rows));
    work(p, inputs, mix, 2, rows)
}
