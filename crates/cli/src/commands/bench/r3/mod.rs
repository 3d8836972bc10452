//! `bench r3`: three parties with an honest majority (protocol R), as throughput over each transport.
//!
//! All three parties are threads of this process, in one session per transport. What is timed is the
//! online phase of the slowest party, inputs and outputs included, as `run --stats` tells it; each run
//! is checked. Beside each rate stands the ceiling that this machine sets: what its cores make of the
//! AES blocks, or what the loopback interface carries of the bytes, whichever is lower.

mod circuits;
mod measured;
mod plots;
mod rings;

use crate::args::{BenchR3, TransportArg};
use crate::exit::{Result, Usage};
use crate::machine::Machine;
use crate::progress::Steps;
use crate::stats::{print, print_json_line};

use measured::{Ceilings, Line, Measured, lines_table};

/// Something to measure, over any transport.
struct Workload {
    name: &'static str,
    /// What is timed, in the order of the runs.
    measure: Box<Measure>,
}

type Measure = dyn Fn(&Setting) -> Result<Measured>;

/// How a workload is measured.
struct Setting {
    transport: TransportArg,
    /// Of each party.
    threads: usize,
    /// Runs.
    repeat: u32,
}

const TRANSPORTS: [(&str, TransportArg); 3] = [
    ("memory", TransportArg::Memory),
    ("tcp", TransportArg::Tcp),
    ("tls", TransportArg::Tls),
];

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
            if args.only.is_empty() || args.only.iter().any(|part| name.contains(part.as_str())) {
                let all = args.threads.iter();
                wanted.extend(all.map(|&threads| (name.clone(), workload, arg, threads)));
            } else {
                names.push(name);
            }
        }
    }
    if wanted.is_empty() {
        let names = names.join(", ");
        return Err(Usage::NothingToMeasure { names }.into());
    }
    let ceilings = Ceilings::new(&Machine::measure()?);
    let steps = Steps::new(wanted.len() as u64, args.json);
    let mut lines = Vec::new();
    for (name, workload, transport, threads) in wanted {
        steps.name(&name);
        steps.advance();
        let setting = Setting {
            transport,
            threads,
            repeat: args.repeat,
        };
        let measured = (workload.measure)(&setting)?;
        let line = Line::new(name, &setting, measured, &ceilings);
        if args.json {
            print_json_line(&line)?;
        }
        lines.push(line);
    }
    steps.clear();
    if args.json {
        return Ok(());
    }
    print(format!("{ceilings}\n\n{}\n", lines_table(&lines)).as_bytes())
}
