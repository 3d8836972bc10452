//! What is measured: jobs, the lines that they run over, and what they may take there.

use madrigal_engine::Sharing;
use madrigal_kernels::{Block, Prg};

use crate::args::{
    BenchLines, BroadcastArg, CorrelationsArg, How, MemoryArg, Over, PhasesArg, ProtocolArg,
    StoreMatricesArg,
};
use crate::exit::{Failure, Result};
use crate::jobs::{Job, Precomputation, Source, Task};

/// Round trip of 100 ms, 1 Gbit/s.
const FAR: &str = "100ms,1Gbps";
/// Round trip of 20 ms, 100 Mbit/s.
const NARROW: &str = "20ms,100Mbps";
/// AES-128 in so many lanes needs 25.6 million triples.
const LANES: u64 = 4_000;

/// A job over a line.
pub(super) struct Row {
    pub name: String,
    /// The line, as `--network` has it.
    pub line: String,
    pub task: Task,
    pub rule: Rule,
}

/// What of a job is measured, and what it may take.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Rule {
    /// The setup: 1.3 times the larger of computing alone and the line alone, and six one-way trips.
    Setup,
    /// The online phase: 1.5 times the rounds of one block, and the larger of computing alone and
    /// the bytes alone.
    Online,
    /// All of it, as the setup.
    Whole,
    /// The setup over a line whose bandwidth falls to a tenth half way: 1.5 times the larger of computing
    /// alone and what that line takes.
    Falling,
    /// The setup over a line that was short when its round trip was measured: as over one that always was so long,
    /// and a round trip for each time that a party doubles how far it goes ahead.
    Lengthening,
    /// The setup over a line that brings packets in another order: 1.5 times the same.
    Disordered,
}

impl Row {
    pub(super) fn parties(&self) -> usize {
        self.task.parties()
    }
}

/// All rows, those of lines by chance from `seed`.
pub(super) fn all(args: &BenchLines, seed: u64) -> Result<Vec<Row>> {
    let scaled = |count: u64| ((count as f64 * args.scale).round() as u64).max(1);
    let lanes = scaled(LANES);
    let mut rows = Vec::new();
    for (name, line) in [("far", FAR), ("narrow", NARROW)] {
        for parties in [2, 3, 5] {
            for extension in ["softspoken2", "softspoken4", "softspoken8", "silent"] {
                rows.push(Row {
                    name: format!("{name}/n{parties}/{extension}"),
                    line: line.to_owned(),
                    task: aes(parties, lanes, over(extension)?),
                    rule: Rule::Setup,
                });
            }
            rows.push(Row {
                name: format!("{name}/n{parties}/dealer"),
                line: line.to_owned(),
                task: dealt(parties, lanes),
                rule: Rule::Setup,
            });
        }
    }
    let stores = [
        ("u64", scaled(100_000)),
        ("shared-u64", scaled(1_000_000)),
        ("matrix-u64-128x128x128", scaled(4)),
        ("bits", scaled(25_000_000)),
    ];
    for parties in [2, 3] {
        for (kind, count) in stores {
            for extension in ["softspoken4", "silent"] {
                rows.push(Row {
                    name: format!("far/n{parties}/{extension}/{kind}"),
                    line: FAR.to_owned(),
                    task: store(parties, kind, count, extension, StoreMatricesArg::Ot)?,
                    rule: Rule::Setup,
                });
            }
        }
        rows.push(Row {
            name: format!("far/n{parties}/lattice/matrix-u64-128x128x128"),
            line: FAR.to_owned(),
            task: store(
                parties,
                "matrix-u64-128x128x128",
                scaled(16),
                "softspoken4",
                StoreMatricesArg::Lattice,
            )?,
            rule: Rule::Setup,
        });
    }
    rows.push(Row {
        name: "far/r/online".to_owned(),
        line: FAR.to_owned(),
        task: replicated(scaled(100_000)),
        rule: Rule::Online,
    });
    for parties in [2, 3] {
        rows.push(Row {
            name: format!("far/n{parties}/online"),
            line: FAR.to_owned(),
            task: dealt(parties, scaled(100_000)),
            rule: Rule::Online,
        });
    }
    rows.extend(by_chance(seed, &scaled)?);
    rows.push(Row {
        name: "falling/n2/softspoken2".to_owned(),
        line: FAR.to_owned(),
        task: aes(2, lanes, over("softspoken2")?),
        rule: Rule::Falling,
    });
    rows.push(Row {
        name: "lengthening/n2/softspoken4".to_owned(),
        line: FAR.to_owned(),
        task: aes(2, lanes, over("softspoken4")?),
        rule: Rule::Lengthening,
    });
    rows.push(Row {
        name: "disordered/n2/softspoken4".to_owned(),
        line: format!("{FAR},jitter=20ms"),
        task: aes(2, lanes, over("softspoken4")?),
        rule: Rule::Disordered,
    });
    rows.push(Row {
        name: "far/n3/million".to_owned(),
        line: FAR.to_owned(),
        task: aes(3, scaled(1_000_000), over("softspoken4")?),
        rule: Rule::Whole,
    });
    for row in &mut rows {
        let line = row.line.clone();
        match &mut row.task {
            Task::Compute(job) => job.how.over.or_network(&line, true),
            Task::Precompute(task) => task.over.or_network(&line, true),
        }
    }
    Ok(rows)
}

/// Five jobs over lines of 2 to 200 ms and 50 Mbit/s to 4 Gbit/s, each order of magnitude as likely.
fn by_chance(seed: u64, scaled: &dyn Fn(u64) -> u64) -> Result<Vec<Row>> {
    let mut prg = Prg::new(Block::from_bytes(u128::from(seed).to_le_bytes()));
    let mut dice = || {
        let mut bytes = [0; 8];
        prg.fill(&mut bytes);
        (u64::from_le_bytes(bytes) >> 11) as f64 / (1u64 << 53) as f64
    };
    let mut rows = Vec::new();
    for number in 1..=5 {
        let round_trip = 2.0 * 100_f64.powf(dice());
        let megabits = 50.0 * 80_f64.powf(dice());
        let parties = [2, 2, 3][(3.0 * dice()) as usize];
        let extensions = [
            "auto",
            "softspoken2",
            "softspoken4",
            "softspoken6",
            "silent",
        ];
        let extension = extensions[(5.0 * dice()) as usize];
        let lanes = scaled((500.0 * 8_f64.powf(dice())) as u64);
        let line = format!("{round_trip:.1}ms,{megabits:.0}Mbps");
        rows.push(Row {
            name: format!("chance{number}/n{parties}/{extension}"),
            line,
            task: aes(parties, lanes, over(extension)?),
            rule: Rule::Setup,
        });
    }
    Ok(rows)
}

fn over(extension: &str) -> Result<Over> {
    Ok(Over {
        extension: extension.parse().map_err(Failure::bug)?,
        link: None,
    })
}

fn how(protocol: ProtocolArg, over: Over) -> How {
    How {
        garbling: crate::args::GarblingArg::default(),
        protocol,
        phases: PhasesArg::Auto,
        broadcast: BroadcastArg::Auto,
        correlations: None,
        over,
        memory: MemoryArg(160 << 20),
        threads: 1,
    }
}

fn job(parties: usize, lanes: u64, how: How) -> Task {
    Task::Compute(Job {
        circuit: Source::Aes,
        parties,
        owners: vec![0, 1],
        to: (0..parties).collect(),
        lanes,
        how,
        repeat: 1,
        apart: true,
    })
}

fn aes(parties: usize, lanes: u64, over: Over) -> Task {
    job(parties, lanes, how(ProtocolArg::of(Sharing::B), over))
}

fn replicated(lanes: u64) -> Task {
    job(3, lanes, how(ProtocolArg::of(Sharing::R), Over::default()))
}

/// Makes a job with a dealer, and with all triples before the inputs, however many.
fn dealt(parties: usize, lanes: u64) -> Task {
    let usual = how(ProtocolArg::of(Sharing::B), Over::default());
    let how = How {
        phases: PhasesArg::Sequential,
        correlations: Some(CorrelationsArg::Dealer),
        memory: MemoryArg(1 << 30),
        ..usual
    };
    job(parties, lanes, how)
}

fn store(
    parties: usize,
    kind: &str,
    count: u64,
    extension: &str,
    matrices: StoreMatricesArg,
) -> Result<Task> {
    Ok(Task::Precompute(Precomputation {
        parties,
        triples: format!("{kind}={count}"),
        over: over(extension)?,
        matrices,
        threads: 1,
    }))
}
