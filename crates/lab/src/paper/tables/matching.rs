//! Table 3: the nearest of 1,024 or 4,096 entries of four features.

use madrigal_circuit::hycc::BitSharing;
use madrigal_program::lower::Mix;

use super::gates::{self, Shape};
use super::{Jobs, of_one, run, run_program, setting};
use crate::paper::bench::{Bench, Job, Quantity};
use crate::paper::published::Place;
use crate::programs::measure::of_gates;
use crate::programs::workloads::{Random, matching};

/// Entries, and how many circuits of single gates are side by side in the paper's SIMD rows.
const SIZES: [(usize, usize); 2] = [(1024, 192), (4096, 32)];

/// With two parties programs garble by one of them, as ABY does.
pub fn jobs(_: &Bench<'_>, place: &Place) -> Jobs {
    let garbled = match place.parties {
        2 => Mix::AY2,
        _ => Mix::AY,
    };
    let mixes = [
        ("A+B", Mix::AB, BitSharing::Gmw),
        ("A+Y", garbled, BitSharing::Yao),
    ];
    let mut jobs = Vec::new();
    for (name, mix, sharing) in mixes {
        for (entries, simd) in SIZES {
            let row = format!("{name}/{entries}");
            jobs.push(single(format!("gates/{row}"), sharing, entries, 1));
            jobs.push(single(format!("SIMD/{row}"), sharing, entries, simd));
            let total = vec![Quantity::seconds(row, "total")];
            jobs.push(Job::new(total, move |bench, place| {
                let make = |random: &mut Random, parties| matching(random, parties, entries);
                run_program(bench, place, (mix, false), make, |measured| {
                    vec![of_one(measured, 1, |times| times.total)]
                })
            }));
        }
    }
    Ok(jobs)
}

/// Circuits of single gates, of which one is told.
fn single(row: String, sharing: BitSharing, entries: usize, copies: usize) -> Job<'static> {
    Job::new(
        vec![Quantity::seconds(row, "total")],
        move |bench, place| {
            let shape = Shape {
                parties: place.parties,
                bits: sharing,
                alpha: false,
                copies,
            };
            let gates = gates::matching(entries, shape)?;
            let setting = setting(bench, place, false)?;
            run(bench, &of_gates(gates, &setting)?, &setting, |measured| {
                vec![of_one(measured, copies, |times| times.total)]
            })
        },
    )
}
