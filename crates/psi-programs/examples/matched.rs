//! Times of programs on matched bins on this machine, both parties in one process, one thread each: `cargo run --release -p
//! madrigal-psi-programs --example matched [BINS] [k of SoftSpoken, or silent]`.
#![allow(clippy::print_stdout, reason = "printing is what it is for")]

use std::error::Error;

use madrigal_correlations_make::Extension;
use madrigal_engine::{Matrices, Origin};
use madrigal_kernels::{Block, Prg};
use madrigal_ot::softspoken::FieldBits;
use madrigal_program::lower::Mix;
use madrigal_program::{Everyone, Inputs, Party};
use madrigal_psi_programs::{Ask, Parts, Question};

/// Runs of each program.
const RUNS: usize = 5;

fn main() -> Result<(), Box<dyn Error>> {
    let mut args = std::env::args().skip(1);
    let bins: usize = args.next().map_or(Ok(1_270_000), |word| word.parse())?;
    let extension = match args.next().as_deref() {
        Some("silent") => Extension::Silent,
        Some(k) => Extension::SoftSpoken(FieldBits::new(k.parse()?)?),
        None => Extension::SoftSpoken(FieldBits::new(2)?),
    };
    let mut words = vec![0_u64; 4 * bins];
    Prg::new(Block::new(bins as u64, 1)).fill_words(&mut words);
    let columns: Vec<&[u64]> = words.chunks(bins).collect();
    // Every third item is in both sets.
    let mut targets = columns[1].to_vec();
    for bin in (0..bins).step_by(3) {
        targets[bin] = columns[0][bin];
    }
    let asks = [
        ("count", vec![Ask::Count]),
        ("sum", vec![Ask::Sum]),
        ("sum of the receiver's", vec![Ask::OwnSum]),
        ("count and sum", vec![Ask::Count, Ask::Sum]),
        ("all", vec![Ask::Count, Ask::Sum, Ask::OwnSum]),
    ];
    let parts = Parts::new(bins, Party::new(0), Party::new(1));
    println!("{bins} bins, {extension}");
    println!(
        "{:<24} {:>8} {:>8} {:>8} {:>10} {:>10}",
        "asked", "total", "setup", "online", "MB setup", "MB online"
    );
    for (name, asks) in asks {
        let question = Question::new(asks);
        let asked = question.program(parts, Everyone)?;
        let mut inputs = Inputs::new()
            .with(columns[0].to_vec())
            .with(targets.clone());
        if question.has(Ask::Sum) {
            inputs = inputs.with(columns[2].to_vec()).with(columns[3].to_vec());
        }
        if question.has(Ask::OwnSum) {
            inputs = inputs.with(columns[3].to_vec());
        }
        let planned = asked.program.plan(Mix::AB, None, &|spec| {
            spec.origin = Origin::Ot {
                extension,
                threads: 1,
                matrices: Matrices::Ot,
            };
        })?;
        let expected = asked.program.simulate(&inputs)?;
        let mut times = Vec::new();
        for _ in 0..RUNS {
            let ended = planned.run_locally(&asked.program, &inputs)?;
            for party in &ended {
                let outputs = &party.outputs;
                let right = asked
                    .count
                    .is_none_or(|it| outputs.get(it) == expected.get(it))
                    && asked
                        .sum
                        .is_none_or(|it| outputs.get(it) == expected.get(it))
                    && asked
                        .own_sum
                        .is_none_or(|it| outputs.get(it) == expected.get(it));
                assert!(right, "wrong results");
            }
            let of = &ended[0].outcome;
            let seconds = [of.total, of.setup.time, of.online.time];
            let bytes = [of.setup.spent.bytes_sent, of.online.spent.bytes_sent];
            times.push((seconds.map(|time| time.as_secs_f64()), bytes));
        }
        times.sort_by(|a, b| a.0[0].total_cmp(&b.0[0]));
        let ([total, setup, online], bytes) = times[RUNS / 2];
        let [before, after] = bytes.map(|bytes| bytes as f64 / 1e6);
        println!(
            "{name:<24} {total:>7.3}s {setup:>7.3}s {online:>7.3}s {before:>10.1} {after:>10.1}"
        );
    }
    Ok(())
}
