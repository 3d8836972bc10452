//! `madrigal-lab psi`: lists of two parties, matched.
//!
//! Each run is a process for each party, which reads its list from a CSV file and, where the question has rows for an answer, writes those that match. A half of
//! the keys is common. Time is from when the parties have met to when both have written their files.

mod lists;
mod party;
mod row;

use std::path::Path;

use madrigal_app::processes;
use madrigal_matching::Question;
use serde::{Deserialize, Serialize};

pub use party::run as take_part;

use crate::args::{BenchPsi, TransportArg};
use crate::exit::{Failure, Result};
use crate::measured::{Rows, Watch, is_wanted, select};
use crate::numbers::rate;
use crate::progress::Steps;
use crate::scaling::line::Line;
use row::PsiRow;

/// The command of a process of this benchmark.
const COMMAND: &str = "psi-party";

/// A question that is measured.
#[derive(Clone, Copy)]
pub(crate) struct Workload {
    pub(crate) name: &'static str,
    pub(crate) question: Question,
}

/// All of them. The variant with the fewest bytes is the one that takes the least time, too: it has two names, by which scripts find it.
const ALL: [Workload; 6] = [
    Workload {
        name: "psi/rr",
        question: Question::Rows,
    },
    Workload {
        name: "psi/rr-low",
        question: Question::Rows,
    },
    Workload {
        name: "psi/join",
        question: Question::Join,
    },
    Workload {
        name: "psi/size",
        question: Question::Numbers {
            keys: true,
            sums: false,
        },
    },
    Workload {
        name: "psi/sum",
        question: Question::Numbers {
            keys: false,
            sums: true,
        },
    },
    // Membership and payloads as shares.
    Workload {
        name: "psi/shares",
        question: Question::Shares,
    },
];

/// The task of a process.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub(crate) struct Assignment {
    pub(crate) name: String,
    pub(crate) me: usize,
    pub(crate) items: u64,
    pub(crate) threads: usize,
    pub(crate) memory: u64,
    pub(crate) transport: TransportArg,
    pub(crate) network: String,
    pub(crate) folder: std::path::PathBuf,
}

/// What a process tells.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub(crate) struct Done {
    pub(crate) seconds: f64,
    pub(crate) seconds_read: f64,
    pub(crate) seconds_protocol: f64,
    pub(crate) bytes_sent: u64,
    pub(crate) spilled: u64,
    pub(crate) peak_rss_bytes: Option<u64>,
    pub(crate) connections: Option<usize>,
}

pub fn run(args: &BenchPsi) -> Result<()> {
    let wanted = |name: &str| is_wanted(&args.only, name);
    let wanted = select(ALL.to_vec(), wanted, |workload: &Workload| workload.name)?;
    let folder = match &args.folder {
        Some(folder) => tempfile::tempdir_in(folder),
        None => tempfile::tempdir(),
    };
    let folder = folder.map_err(Failure::system("cannot make a directory for lists"))?;
    lists::write(folder.path(), args.items).map_err(Failure::system("cannot write lists"))?;
    let steps = Steps::new(wanted.len() as u64 * u64::from(args.repeat), args.json);
    let mut rows = Rows::new(args.json);
    let mut line = Line::default();
    let mut aes = 0_f64;
    for workload in &wanted {
        let watch = Watch::new(2 * args.threads);
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
            "Two lists of {} keys, a half of them common, both parties on {cores} cores; {} by each core{line}.\n\n{table}\n",
            args.items,
            rate(aes, " AES blocks/s")
        )
    })
}

fn tasks(workload: &Workload, args: &BenchPsi, folder: &Path) -> [Assignment; 2] {
    [0, 1].map(|me| Assignment {
        name: workload.name.to_owned(),
        me,
        items: args.items,
        threads: args.threads,
        memory: args.memory,
        transport: args.transport,
        network: args.network.clone(),
        folder: folder.to_owned(),
    })
}
