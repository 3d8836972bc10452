//! Work that is measured, with its inputs, by name.

use std::sync::Arc;

use madrigal_app::holders::HolderArg;
use madrigal_circuit::{Netlist, Rows};
use madrigal_core::Party;
use madrigal_engine::Sharing;
use madrigal_operations::Circuit;
use madrigal_program::lower::Mix;
use madrigal_program::{Inputs, Program};

use super::network::{Draft, Size};
use crate::args::{How, ProtocolArg};
use crate::exit::{Failure, Result};
use crate::jobs::{Job, Source};
use crate::known::Known;
use crate::programs::workloads::{Random, Recorded, Recording, matrices, with_inputs};
use crate::r3::ands;

/// The party that gets the result.
pub(crate) const RECEIVER: Party = Party::new(1);

/// Blocks of AES in R, where one costs so little, and lanes of ANDs.
const LANES_OF_R: usize = 1 << 18;
/// Numbers of comparisons and of products in R.
const NUMBERS_OF_R: usize = 1 << 20;
/// Comparisons and products of each number.
const COMPARISONS: u64 = 4;
const PRODUCTS: usize = 32;
/// Rows and columns of matrices.
const SIDE: usize = 1000;

/// One name of the benchmark.
pub(crate) struct Workload {
    pub name: &'static str,
    pub parties: usize,
    /// Things that its rate counts.
    pub unit: &'static str,
    make: Make,
}

/// Makes the work with random inputs; its size is scaled by the factor.
pub(crate) type Make = fn(&mut Random, f64) -> Result<Work>;

/// Work with the inputs of all parties.
pub(crate) struct Work {
    /// Operations that its rate counts.
    pub ops: u64,
    pub kind: Kind,
}

pub(crate) enum Kind {
    Program(Mix, Box<Recorded>),
    Circuit {
        job: Job,
        circuit: Arc<Circuit>,
        inputs: Rows,
    },
}

impl Workload {
    pub(crate) const fn new(
        name: &'static str,
        parties: usize,
        unit: &'static str,
        make: Make,
    ) -> Self {
        Self {
            name,
            parties,
            unit,
            make,
        }
    }

    /// Makes the work; all processes make it of the same inputs, which nobody keeps secret.
    pub(super) fn make(&self, scale: f64) -> Result<Work> {
        const SEED: u64 = 1;
        (self.make)(&mut Random::of(SEED), scale)
    }
}

pub(super) fn all() -> Vec<Workload> {
    let of = Workload::new;
    vec![
        of("cifar/A+B", 2, "images", |random, scale| {
            cifar(random, scale, Mix::AB, 2)
        }),
        of("cifar/alpha+beta", 2, "images", |random, scale| {
            cifar(random, scale, Mix::ALPHA_BETA, 2)
        }),
        of("cifar/R", 3, "images", |random, scale| {
            cifar(random, scale, Mix::R, 3)
        }),
        of("aes/B", 2, "blocks", |random, scale| {
            aes(random, scaled(20_000, scale), Sharing::B, 2)
        }),
        of("aes/Y2", 2, "blocks", |random, scale| {
            aes(random, scaled(20_000, scale), Sharing::Y2, 2)
        }),
        of("aes/Y", 2, "blocks", |random, scale| {
            aes(random, scaled(4_000, scale), Sharing::Y, 2)
        }),
        of("aes/R", 3, "blocks", |random, scale| {
            aes(random, scaled(LANES_OF_R, scale), Sharing::R, 3)
        }),
        of("lt64/R", 3, "comparisons", comparisons),
        of("and/R", 3, "ANDs", |random, scale| {
            let (netlist, gates) = ands()?;
            let lanes = scaled(LANES_OF_R, scale);
            let source = Source::File(netlist.name().into());
            circuit(random, source, &netlist, lanes, gates, (Sharing::R, 3))
        }),
        of("mul64/R", 3, "products", products),
        of("matmul1000/A", 2, "multiply-adds", |random, scale| {
            let side = scaled(SIDE, scale.min(1.0).cbrt());
            let ops = (side as u64).pow(3);
            program(Mix::AB, matrices(random, 2, side), ops)
        }),
    ]
}

fn scaled(count: usize, scale: f64) -> usize {
    (count as f64 * scale).ceil().max(1.0) as usize
}

fn program(mix: Mix, recorded: Recording, ops: u64) -> Result<Work> {
    Ok(Work {
        ops,
        kind: Kind::Program(mix, Box::new(recorded.map_err(Failure::bug)?)),
    })
}

fn cifar(random: &mut Random, scale: f64, mix: Mix, parties: usize) -> Result<Work> {
    let size = Size::new(scale);
    let draft = Draft::new(random, size);
    program(mix, draft.record(parties), size.images as u64)
}

fn aes(random: &mut Random, lanes: usize, sharing: Sharing, parties: usize) -> Result<Work> {
    let (source, netlist) = (Known::Aes.source(), Known::Aes.netlist()?);
    circuit(random, source, &netlist, lanes, 1, (sharing, parties))
}

/// A circuit whose values party 0 and party 1 bring in turn, and party 1 gets.
fn circuit(
    random: &mut Random,
    source: Source,
    netlist: &Netlist,
    lanes: usize,
    ops_per_lane: usize,
    (sharing, parties): (Sharing, usize),
) -> Result<Work> {
    let circuit = Arc::new(Circuit::new(netlist));
    let mut how = How::of(ProtocolArg::of(sharing));
    how.over.or_network("none", true);
    let job = Job {
        circuit: source,
        parties,
        owners: (0..circuit.inputs().len())
            .map(|value| HolderArg::Party(value % 2))
            .collect(),
        to: vec![HolderArg::Party(RECEIVER.index())],
        lanes: lanes as u64,
        how,
        branches: Default::default(),
        repeat: 1,
        apart: false,
    };
    let mut inputs = Rows::new(netlist.input_bits() as usize, lanes);
    random.fill(inputs.as_bytes_mut());
    inputs.clear_padding();
    Ok(Work {
        ops: lanes as u64 * ops_per_lane as u64,
        kind: Kind::Circuit {
            job,
            circuit,
            inputs,
        },
    })
}

/// Comparisons of numbers, several for each.
fn comparisons(random: &mut Random, scale: f64) -> Result<Work> {
    let count = scaled(NUMBERS_OF_R, scale);
    let mut p = Program::new(3);
    let [x, y] = [0, 1].map(|owner| p.input::<u64>(Party::new(owner), [count]));
    let mut less = x.lt(&y);
    for more in 1..COMPARISONS {
        less = less ^ x.lt(&(&y + more));
    }
    let _ = p.open(less, RECEIVER);
    let inputs = Inputs::new()
        .with(random.words(count))
        .with(random.words(count));
    program(Mix::R, with_inputs(p, inputs), COMPARISONS * count as u64)
}

/// Products of numbers, one after the other.
fn products(random: &mut Random, scale: f64) -> Result<Work> {
    let count = scaled(NUMBERS_OF_R, scale);
    let mut p = Program::new(3);
    let [mut x, y] = [0, 1].map(|owner| p.input::<u64>(Party::new(owner), [count]));
    for _ in 0..PRODUCTS {
        x = &x * &y;
    }
    let _ = p.open(x, RECEIVER);
    let inputs = Inputs::new()
        .with(random.words(count))
        .with(random.words(count));
    program(Mix::R, with_inputs(p, inputs), (PRODUCTS * count) as u64)
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use super::*;

    #[test]
    fn names_are_unique() {
        let names: Vec<_> = all().iter().map(|workload| workload.name).collect();
        let unique: BTreeSet<_> = names.iter().collect();
        assert_eq!(names.len(), unique.len(), "{names:?}");
    }
}
