//! `madrigal-lab tables`: rows shuffled, sorted, joined and grouped.
//!
//! Each run is a set of fresh processes, as those of `scaling` are, so that peak memory is a party's own. Time is from the opening of the
//! job to its finish at all parties, inputs and outputs included.

mod row;
mod workloads;

pub use workloads::all as workloads;

use crate::args::BenchTables;
use crate::exit::Result;
use crate::measured::{Rows, Watch, is_wanted, select};
use crate::numbers::rate;
use crate::progress::Steps;
use crate::scaling::line::Line;
use crate::scaling::messages::Assignment;
use crate::scaling::processes;
use row::TableRow;
use workloads::ROWS;

pub fn run(args: &BenchTables) -> Result<()> {
    let wanted = |name: &str| is_wanted(&args.only, name);
    let wanted = select(workloads(), wanted, |workload| workload.name)?;
    let steps = Steps::new(wanted.len() as u64 * u64::from(args.repeat), args.json);
    let mut rows = Rows::new(args.json);
    let mut line = Line::default();
    let mut aes = 0_f64;
    for workload in &wanted {
        let watch = Watch::new(args.threads * workload.parties);
        let mut runs = Vec::new();
        for turn in 0..args.repeat {
            steps.name(workload.name);
            steps.advance();
            let assignment = Assignment {
                workload: workload.name.to_owned(),
                scale: args.rows as f64 / ROWS as f64,
                threads: args.threads,
                transport: args.transport,
                me: None,
                is_checked: turn == 0,
            };
            watch.look();
            let once = processes::once(&assignment, workload.parties)?;
            watch.look();
            line.look(once.connections)?;
            runs.push(once);
        }
        let row = TableRow::new(workload, args, &runs, &watch, &line);
        aes = aes.max(watch.aes());
        rows.add(&row)?;
    }
    steps.clear();
    let cores = std::thread::available_parallelism().map_or(1, usize::from);
    rows.print(|table| {
        format!(
            "{} rows, all parties on {cores} cores; {} by each core{line}.\n\n{table}\n",
            args.rows,
            rate(aes, " AES blocks/s")
        )
    })
}
