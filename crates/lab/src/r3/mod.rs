//! `madrigal-lab r3`: three parties with an honest majority (protocol R), as throughput over each transport.
//!
//! All three parties are threads of this process, in one session per transport. What is timed is the
//! online phase of the slowest party, inputs and outputs included, as `run --stats` tells it; each run
//! is checked. Beside each rate stands the ceiling that this machine sets: what its cores make of the
//! AES blocks, or what the loopback interface carries of the bytes, whichever is lower.

mod ceilings;
mod circuits;
mod plots;
mod rings;
mod setting;
mod workload;

use madrigal_protocols::replicated::PARTIES;

pub use circuits::ands;

use crate::args::BenchR3;
use crate::exit::Result;
use crate::machine::Machine;
use crate::progress::Steps;

use crate::measured::{RateRows, Watch, is_wanted, nothing};
use ceilings::Ceilings;
use setting::{Setting, TRANSPORTS};

pub fn run(args: &BenchR3) -> Result<()> {
    if let Some(directory) = &args.plots {
        return plots::write(args, directory);
    }
    let mut workloads = circuits::workloads(args)?;
    workloads.extend(rings::workloads(args));
    let mut wanted = Vec::new();
    let mut names = Vec::new();
    for workload in &workloads {
        for (transport, arg) in TRANSPORTS {
            let name = format!("{}/{transport}", workload.name);
            if is_wanted(&args.only, &name) {
                let all = args.threads.iter();
                wanted.extend(all.map(|&threads| (name.clone(), workload, arg, threads)));
            } else {
                names.push(name);
            }
        }
    }
    if wanted.is_empty() {
        return Err(nothing(names.iter().map(String::as_str)));
    }
    let ceilings = Ceilings::new(&Machine::measure()?);
    let most = args.threads.iter().max();
    let watch = Watch::new(most.map_or(PARTIES, |threads| PARTIES * threads));
    let steps = Steps::new(wanted.len() as u64, args.json);
    let mut lines = RateRows::new(args.json);
    for (name, workload, transport, threads) in wanted {
        steps.name(&name);
        steps.advance();
        let setting = Setting {
            transport,
            threads,
            repeat: args.repeat,
        };
        watch.look();
        let measured = (workload.measure)(&setting)?;
        watch.look();
        let beside = ceilings.beside(&setting, watch.aes())?;
        lines.add(&measured.line(name, &setting, &beside, watch.least()))?;
    }
    steps.clear();
    lines.print(|| ceilings.to_string())
}
