//! `madrigal-lab ot`: oblivious transfers and correlations, beside the ceiling that this machine's AES sets.
//!
//! Sender and receiver of OTs have a thread each and are at work at the same time, joined by a
//! channel of messages in memory. They go through calls of `bench::CALL` OTs with buffers that are used
//! again and again, so that memory is bounded whatever the count; all outputs are written. Base OTs
//! and what else an instance needs to start are made before, and told apart. The outputs of the last
//! call are compared after each run: nothing wrong has a rate.

mod base;
mod bench;
pub mod between;
mod correlations;
mod extensions;
mod flavours;
mod kinds;
mod outputs;
mod sides;
mod silent;
mod wire;

use std::thread;

use madrigal_kernels::{Kernels, ceilings};

use self::bench::{Bench, Plan};
use crate::args::BenchOt;
use crate::exit::{Failure, Result};
use crate::measured::{RateRows, Watch, is_wanted, select};
use crate::numbers::{count, rate};
use crate::progress::Steps;

fn all() -> Vec<Bench> {
    let mut all = base::benches();
    all.extend(extensions::benches());
    all.extend(silent::benches());
    all.extend(flavours::benches());
    all.extend(correlations::benches());
    all
}

pub fn run(args: &BenchOt) -> Result<()> {
    let wanted = |name: &str| is_wanted(&args.only, name);
    let benches = select(all(), wanted, |bench| &bench.name)?;
    let kernels = Kernels::detect();
    let aes = ceilings::measure(kernels).aes.rate;
    let cores = thread::available_parallelism().map_or(1, usize::from);
    let watch = Watch::new(2);
    let steps = Steps::new(benches.len() as u64 * u64::from(args.repeat), args.json);
    let plan = Plan {
        ots: args.count.0,
        repeat: args.repeat,
        steps: &steps,
        watch: &watch,
    };
    let mut lines = RateRows::new(args.json);
    for bench in &benches {
        steps.name(&bench.name);
        let measured = (bench.measure)(&plan).map_err(|failure| of_bench(&bench.name, failure))?;
        lines.add(&measured.line(&bench.name, watch.aes(), cores, watch.least()))?;
    }
    steps.clear();
    lines.print(|| {
        format!(
            "{} OTs a run, median of {} runs; {cores} cores, {}, {} of one thread; where there are \
             two figures, the sender's is the first.",
            count(args.count.0 as u64),
            args.repeat,
            kernels.level().name(),
            rate(aes, " AES blocks/s"),
        )
    })
}

/// Says what was measured when a fault of ours showed.
fn of_bench(name: &str, failure: Failure) -> Failure {
    match failure {
        Failure::Bug { what } => Failure::Bug {
            what: format!("{name}: {what}"),
        },
        other => other,
    }
}
