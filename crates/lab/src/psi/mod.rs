//! `madrigal-lab psi`: lists of two parties or more, matched.
//!
//! Each run is a process for each party, which reads its list from a CSV file and, where the question has rows for an answer, writes those that match. A half of
//! the keys is common. Time is from when the parties have met to when all have written their files.

mod lists;
mod messages;
mod party;
mod row;

use std::path::Path;

use madrigal_app::processes;

pub use party::run as take_part;

use crate::args::BenchPsi;
use crate::exit::{Failure, Result};
use crate::measured::{Rows, Watch, is_wanted, select};
use crate::numbers::rate;
use crate::progress::Steps;
use crate::scaling::line::Line;
use messages::{Assignment, Done, Workload, of_parties};
use row::PsiRow;

/// The command of a process of this benchmark.
const COMMAND: &str = "psi-party";

pub fn run(args: &BenchPsi) -> Result<()> {
    let wanted = |name: &str| is_wanted(&args.only, name);
    let wanted = select(of_parties(args.parties), wanted, |workload: &Workload| {
        workload.name
    })?;
    let folder = match &args.folder {
        Some(folder) => tempfile::tempdir_in(folder),
        None => tempfile::tempdir(),
    };
    let folder = folder.map_err(Failure::system("cannot make a directory for lists"))?;
    lists::write(folder.path(), args.parties, args.items)
        .map_err(Failure::system("cannot write lists"))?;
    let steps = Steps::new(wanted.len() as u64 * u64::from(args.repeat), args.json);
    let mut rows = Rows::new(args.json);
    let mut line = Line::default();
    let mut aes = 0_f64;
    for workload in &wanted {
        let watch = Watch::new(args.parties * args.threads);
        let mut runs = Vec::new();
        for _ in 0..args.repeat {
            steps.name(workload.name);
            steps.advance();
            watch.look();
            let once: Vec<Done> = processes::run(COMMAND, &tasks(workload, args, folder.path()))?;
            watch.look();
            line.look(1)?;
            runs.push(once);
        }
        let row = PsiRow::new(workload, args, &runs, &watch, &line);
        aes = aes.max(watch.aes());
        rows.add(&row)?;
    }
    steps.clear();
    let cores = std::thread::available_parallelism().map_or(1, usize::from);
    rows.print(|table| {
        format!(
            "{} lists of {} keys, a half of them common, all parties on {cores} cores; {} by each core{line}.\n\n{table}\n",
            args.parties,
            args.items,
            rate(aes, " AES blocks/s")
        )
    })
}

fn tasks(workload: &Workload, args: &BenchPsi, folder: &Path) -> Vec<Assignment> {
    let task = |me| Assignment {
        name: workload.name.to_owned(),
        me,
        parties: args.parties,
        items: args.items,
        threads: args.threads,
        memory: args.memory,
        transport: args.transport,
        network: args.network.clone(),
        folder: folder.to_owned(),
    };
    (0..args.parties).map(task).collect()
}
