//! Table 4: AES-128 and SHA-256, and section 8.2.2: one block and 1,000 of them over a line of 75 ms.

use std::sync::Arc;

use madrigal_core::Party;
use madrigal_engine::Sharing;
use madrigal_operations::{Backend, Circuit, CircuitJob};

use super::{Jobs, of_one, random_inputs, run, setting};
use crate::exit::Failure;
use crate::known::Known;
use crate::paper::bench::{Bench, Job, Quantity};
use crate::paper::published::Place;
use crate::programs::measure::Operations;

/// Blocks side by side.
const AES: usize = 512;
const SHA: usize = 256;

/// Rows of the table; those of Y2 are of two parties.
const ROWS: [(&str, Known, Sharing, usize); 8] = [
    ("AES^B", Known::Aes, Sharing::B, AES),
    ("AES^Y", Known::Aes, Sharing::Y, AES),
    ("AES^Y2", Known::Aes, Sharing::Y2, AES),
    ("SHA^B", Known::Sha256, Sharing::B, SHA),
    ("SHA^Y", Known::Sha256, Sharing::Y, SHA),
    ("SHA^Y2", Known::Sha256, Sharing::Y2, SHA),
    ("AES^Y/1", Known::Aes, Sharing::Y, 1),
    ("AES^Y/1000", Known::Aes, Sharing::Y, 1000),
];

pub fn jobs(bench: &Bench<'_>, place: &Place) -> Jobs {
    let rows = ROWS.into_iter();
    let rows = rows.filter(|(_, _, sharing, _)| *sharing != Sharing::Y2 || place.parties == 2);
    let jobs = rows.map(|(row, known, sharing, lanes)| {
        let lanes = match lanes {
            1 => 1,
            lanes => bench.scaled(lanes),
        };
        let whats = ["total", "setup", "online"];
        let quantities = whats.map(|what| Quantity::seconds(row, what));
        Job::new(quantities.into(), move |bench, place| {
            let circuit = Circuit::new(&known.netlist()?).with_variants(bench.args.variants());
            let circuit = Arc::new(circuit);
            let values = circuit.inputs().len();
            let job = CircuitJob {
                protocol: Backend::of(sharing),
                owners: (0..values)
                    .map(|value| Some(Party::new(value % place.parties)))
                    .collect(),
                to: Party::all(place.parties).collect(),
                lanes,
                ..CircuitJob::new(circuit, place.parties)
            };
            let spec = job.spec().map_err(Failure::bug)?;
            let inputs = random_inputs(&spec.graph)?;
            let setting = setting(bench, place, true)?;
            let planned = Operations::new(spec, inputs, &setting)?;
            run(bench, &planned, &setting, |measured| {
                vec![
                    of_one(measured, lanes, |times| times.total),
                    of_one(measured, lanes, |times| times.setup),
                    of_one(measured, lanes, |times| times.online),
                ]
            })
        })
    });
    Ok(jobs.collect())
}
