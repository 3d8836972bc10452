//! Table 2: OTs, ten million of them side by side.

use super::Jobs;
use crate::args::TransportArg;
use crate::graphs;
use crate::ot::between::{Flavour, seconds};
use crate::paper::bench::{Bench, Job, Quantity, Told};
use crate::paper::estimate::Estimate;
use crate::paper::published::Place;
use crate::reach::Network;

const OTS: usize = 10_000_000;

/// The paper's columns, of which it has one row for each system.
const FLAVOURS: [(&str, Flavour); 9] = [
    ("G-OT/1", Flavour::Chosen(1)),
    ("G-OT/128", Flavour::Chosen(128)),
    ("R-OT/128", Flavour::Random(128)),
    ("XC-OT/1", Flavour::Xor(1)),
    ("XC-OT/128", Flavour::Xor(128)),
    ("AC-OT/8", Flavour::Additive(8)),
    ("AC-OT/16", Flavour::Additive(16)),
    ("AC-OT/32", Flavour::Additive(32)),
    ("AC-OT/64", Flavour::Additive(64)),
];

/// SoftSpoken's field over lines of 1 Gbit/s and less, where bytes count, and over faster ones.
const FIELDS: [u8; 2] = [4, 2];
const SLOW: f64 = 125e6;

pub fn jobs(bench: &Bench<'_>, _: &Place) -> Jobs {
    let ots = bench.scaled(OTS);
    let jobs = FLAVOURS.into_iter().map(|(row, flavour)| {
        let total = vec![Quantity::seconds(row, "total")];
        Job::new(total, move |bench, place| {
            let network = Network::parse(&place.network)?;
            let bandwidth = network.link().bytes_per_second;
            let field = FIELDS[usize::from(bandwidth.is_none_or(|bandwidth| bandwidth > SLOW))];
            let setting = graphs::Setting {
                transport: TransportArg::Tcp,
                network,
                threads: 1,
                repeat: bench.repeat(),
            };
            let pairs = place.parties * (place.parties - 1) / 2;
            let made = (ots * pairs) as f64;
            let runs = seconds(flavour, place.parties, field, ots, &setting)?;
            let each = runs.iter().map(|seconds| seconds / made);
            Ok(Told::Values(vec![Estimate::of(each.collect())]))
        })
    });
    Ok(jobs.collect())
}
