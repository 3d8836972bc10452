//! MOTIF's Figures 5 to 7 and Masked Triples' Figures 8 to 12: conditionals, every way to compute them.
//!
//! Rows are `WAY/bBRANCHES`. Beside each quantity stand the factors by which the papers' ways save it: for random circuits
//! their mean over all circuits, the least and the most.

use std::sync::Arc;

use madrigal_circuit::Builder;
use madrigal_circuit::branches::{Branching, Layering, Random};
use madrigal_correlations_make::Extension;
use madrigal_operations::Scheme;

use super::bench::{Bench, Job, Quantity, Told};
use super::estimate::Estimate;
use super::published::Place;
use super::unit::Unit;
use crate::args::{MergingArg, TransportArg};
use crate::branches::{Setting, Way, measure};
use crate::exit::{Failure, Result};
use crate::graphs;
use crate::reach::Network;

/// Bits of the strings that MOTIF's branches compare.
const STRING: u32 = 65_000;

const MOTIF: Way = Way::Shared(Scheme::Vectors);
const MASKED: Way = Way::Shared(Scheme::Masked);

/// Branches of the papers' figures.
const OF_MOTIF: [usize; 5] = [1, 2, 4, 8, 16];
const OF_MASKED: [usize; 5] = [2, 4, 8, 16, 32];

/// Circuits that are timed without `--circuits`, and that are counted.
const TIMED: u32 = 3;
const COUNTED: u32 = 100;

/// One quantity that all ways take.
#[derive(Clone, Copy)]
enum What {
    Bytes,
    SetupBytes,
    Ots,
    Seconds,
}

impl What {
    const fn name(self) -> &'static str {
        match self {
            Self::Bytes => "bytes",
            Self::SetupBytes => "setup bytes",
            Self::Ots => "OTs",
            Self::Seconds => "total",
        }
    }

    const fn unit(self) -> Unit {
        match self {
            Self::Bytes | Self::SetupBytes => Unit::Bytes,
            Self::Ots => Unit::Ots,
            Self::Seconds => Unit::Seconds,
        }
    }
}

/// Circuits in the branches.
#[derive(Clone, Copy)]
enum Circuits {
    /// Whether two strings are equal: the same circuit in all branches and runs.
    Strings,
    /// Random circuits, as many as this.
    Random(u32),
}

impl Circuits {
    fn count(self) -> u32 {
        match self {
            Self::Strings => 1,
            Self::Random(count) => count,
        }
    }

    /// Ways whose savings are told, each over another one.
    const fn savings(self) -> &'static [(Way, Way)] {
        match self {
            Self::Strings => &[(MOTIF, Way::Plain)],
            Self::Random(_) => &[(MASKED, MOTIF), (MASKED, Way::Plain)],
        }
    }

    fn make(self, branches: usize, number: u32) -> Result<Branching> {
        match self {
            Self::Strings => strings(branches),
            Self::Random(_) => {
                let made = Random::PAPER.conditional(branches, u64::from(number));
                Ok(made.map_err(madrigal_app::failure::Usage::Branches)?)
            }
        }
    }
}

/// MOTIF's: each branch says whether two strings are equal.
fn strings(branches: usize) -> Result<Branching> {
    let mut builder = Builder::new("equal strings");
    let (a, b) = (builder.input(STRING), builder.input(STRING));
    let equal = builder.equal(&a, &b);
    builder.output(&[equal]);
    let branch = Arc::new(Branching::netlist(Arc::new(builder.finish())));
    let branches = vec![branch; branches];
    Branching::conditional("strings", branches).map_err(Failure::bug)
}

type Jobs = Result<Vec<Job<'static>>>;

pub fn strings_timed(_: &Bench<'_>, _: &Place) -> Jobs {
    Ok(jobs(&OF_MOTIF, Circuits::Strings, &[What::Seconds]))
}

pub fn strings_by_branches(_: &Bench<'_>, _: &Place) -> Jobs {
    Ok(jobs(&OF_MOTIF, Circuits::Strings, &[What::Bytes]))
}

pub fn strings_by_parties(_: &Bench<'_>, _: &Place) -> Jobs {
    Ok(jobs(&[16], Circuits::Strings, &[What::Bytes]))
}

fn counted(bench: &Bench<'_>) -> Circuits {
    Circuits::Random(bench.args.circuits.unwrap_or(COUNTED))
}

pub fn alignment(bench: &Bench<'_>, _: &Place) -> Jobs {
    Ok(jobs(&[2], counted(bench), &[What::Ots]))
}

pub fn random_by_branches(bench: &Bench<'_>, _: &Place) -> Jobs {
    let whats = [What::SetupBytes, What::Bytes];
    Ok(jobs(&OF_MASKED, counted(bench), &whats))
}

pub fn random_totals(bench: &Bench<'_>, _: &Place) -> Jobs {
    Ok(jobs(&OF_MASKED, counted(bench), &[What::Bytes]))
}

pub fn random_timed(bench: &Bench<'_>, _: &Place) -> Jobs {
    let circuits = Circuits::Random(bench.args.circuits.unwrap_or(TIMED));
    Ok(jobs(&OF_MASKED, circuits, &[What::Seconds]))
}

pub fn random_by_parties(bench: &Bench<'_>, _: &Place) -> Jobs {
    Ok(jobs(&[16], counted(bench), &[What::Bytes]))
}

/// One job for each number of branches: all ways on the same circuits.
fn jobs(branches: &[usize], circuits: Circuits, whats: &[What]) -> Vec<Job<'static>> {
    let job = |&branches: &usize| {
        let whats = whats.to_vec();
        let quantities = quantities(branches, circuits, &whats);
        Job::new(quantities, move |bench, place| {
            let values = values(bench, place, branches, circuits, &whats)?;
            Ok(Told::Values(estimates(&values, circuits)))
        })
    };
    branches.iter().map(job).collect()
}

fn quantities(branches: usize, circuits: Circuits, whats: &[What]) -> Vec<Quantity> {
    let row = |way: Way| format!("{}/b{branches}", way.name());
    let mut all = Vec::new();
    for what in whats {
        let of = |way| Quantity::new(row(way), what.name(), what.unit());
        all.extend(Way::ALL.map(of));
        for &(way, other) in circuits.savings() {
            let saved = format!("{}, times less than {}", what.name(), other.name());
            let mut tell = |name| all.push(Quantity::new(row(way), name, Unit::Times));
            match circuits {
                Circuits::Strings => tell(saved),
                Circuits::Random(_) => {
                    let ends = ["least", "most"].map(|end| format!("{saved}, {end}"));
                    tell(saved);
                    ends.into_iter().for_each(tell);
                }
            }
        }
    }
    all
}

/// Values of all runs of one quantity, by way.
type Values = [Vec<f64>; Way::ALL.len()];

fn estimates(values: &[Values], circuits: Circuits) -> Vec<Estimate> {
    let mut all = Vec::new();
    let place = |way| {
        Way::ALL
            .iter()
            .position(|one| *one == way)
            .unwrap_or_default()
    };
    for values in values {
        all.extend(values.iter().map(|runs| Estimate::of(runs.clone())));
        for &(way, other) in circuits.savings() {
            let [less, more] = [way, other].map(|way| &values[place(way)]);
            match circuits {
                // Runs of one circuit are not in pairs.
                Circuits::Strings => {
                    let [less, more] = [less, more].map(|runs| Estimate::of(runs.clone()).middle);
                    all.push(Estimate::exact(more / less));
                }
                Circuits::Random(_) => {
                    let pairs = more.iter().zip(less);
                    let saved = Estimate::of(pairs.map(|(more, less)| more / less).collect());
                    let ends = [saved.min, saved.max].map(Estimate::exact);
                    all.push(saved);
                    all.extend(ends);
                }
            }
        }
    }
    all
}

/// Counts or measures all ways.
fn values(
    bench: &Bench<'_>,
    place: &Place,
    branches: usize,
    circuits: Circuits,
    whats: &[What],
) -> Result<Vec<Values>> {
    let repeat = match circuits {
        Circuits::Strings => bench.repeat(),
        Circuits::Random(_) => 1,
    };
    let setting = Setting {
        parties: place.parties,
        extension: Extension::IKNP,
        lanes: 1,
        layering: match bench.args.merging {
            Some(MergingArg::Depth) => Layering::ByDepth,
            Some(MergingArg::Aligned) | None => Layering::Aligned,
        },
        runs: graphs::Setting {
            transport: TransportArg::Tcp,
            network: Network::parse(&place.network)?,
            threads: 1,
            repeat,
        },
    };
    let mut all: Vec<Values> = whats.iter().map(|_| Values::default()).collect();
    for number in 0..circuits.count() {
        let circuit = Arc::new(circuits.make(branches, number)?);
        for (at, way) in Way::ALL.into_iter().enumerate() {
            let plan = way.plan(&circuit, &setting)?;
            let counted = plan.counted();
            for (values, what) in all.iter_mut().zip(whats) {
                match what {
                    What::Bytes => {
                        values[at].push((counted.setup_bytes + counted.online_bytes) as f64);
                    }
                    What::SetupBytes => values[at].push(counted.setup_bytes as f64),
                    What::Ots => values[at].push(counted.ots as f64),
                    What::Seconds => {
                        let measured = measure(&circuit, &plan, &setting)?;
                        values[at].extend(measured.times.iter().map(|times| times.total));
                    }
                }
            }
        }
    }
    Ok(all)
}
