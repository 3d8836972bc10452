//! Jobs that are measured, the lines that they run over, and the time that they may take there.

use madrigal_app::holders::HolderArg;
use madrigal_engine::Sharing;
use madrigal_kernels::{Block, Prg};

use crate::args::{
    BenchLines, CorrelationsArg, How, MemoryArg, Over, PhasesArg, ProtocolArg, StoreMatricesArg,
};
use crate::exit::{Failure, Result};
use crate::jobs::{Job, Precomputation, Source, Task};

/// Round trip of 100 ms, 1 Gbit/s.
const FAR: &str = "100ms,1Gbps";
/// Round trip of 20 ms, 100 Mbit/s.
const NARROW: &str = "20ms,100Mbps";
/// Lanes of AES-128, which need 25.6 million triples.
const LANES: u64 = 4_000;

/// A job over a line.
pub(super) struct Row {
    pub name: String,
    /// The line, as `--network` has it.
    pub line: String,
    pub task: Task,
    pub rule: Rule,
}

/// Part of a job that is measured, and the time that it may take.
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
    let mut add = |name: String, line: &str, task: Task, rule: Rule| {
        let line = line.to_owned();
        rows.push(Row {
            name,
            line,
            task,
            rule,
        });
    };
    for (name, line) in [("far", FAR), ("narrow", NARROW)] {
        for parties in [2, 3, 5] {
            for extension in ["softspoken2", "softspoken4", "softspoken8", "silent"] {
                let task = aes(parties, lanes, over(extension)?);
                add(
                    format!("{name}/n{parties}/{extension}"),
                    line,
                    task,
                    Rule::Setup,
                );
            }
            let task = dealt(parties, lanes);
            add(format!("{name}/n{parties}/dealer"), line, task, Rule::Setup);
        }
    }
    const MATRICES: &str = "matrix-u64-128x128x128";
    let stores = [
        ("u64", scaled(100_000)),
        ("shared-u64", scaled(1_000_000)),
        (MATRICES, scaled(4)),
        ("bits", scaled(25_000_000)),
    ];
    for parties in [2, 3] {
        for (kind, count) in stores {
            for extension in ["softspoken4", "silent"] {
                let task = store(parties, kind, count, extension, StoreMatricesArg::Ot)?;
                add(
                    format!("far/n{parties}/{extension}/{kind}"),
                    FAR,
                    task,
                    Rule::Setup,
                );
            }
        }
        let (count, lattice) = (scaled(16), StoreMatricesArg::Lattice);
        let task = store(parties, MATRICES, count, "softspoken4", lattice)?;
        add(
            format!("far/n{parties}/lattice/{MATRICES}"),
            FAR,
            task,
            Rule::Setup,
        );
    }
    let many = scaled(100_000);
    add(
        "far/r/online".to_owned(),
        FAR,
        replicated(many),
        Rule::Online,
    );
    for parties in [2, 3] {
        add(
            format!("far/n{parties}/online"),
            FAR,
            dealt(parties, many),
            Rule::Online,
        );
    }
    for (name, line, task) in by_chance(seed, &scaled)? {
        add(name, &line, task, Rule::Setup);
    }
    let (disordered, million) = (format!("{FAR},jitter=20ms"), scaled(1_000_000));
    for (name, line, parties, lanes, extension, rule) in [
        (
            "falling/n2/softspoken2",
            FAR,
            2,
            lanes,
            "softspoken2",
            Rule::Falling,
        ),
        (
            "lengthening/n2/softspoken4",
            FAR,
            2,
            lanes,
            "softspoken4",
            Rule::Lengthening,
        ),
        (
            "disordered/n2/softspoken4",
            &disordered,
            2,
            lanes,
            "softspoken4",
            Rule::Disordered,
        ),
        (
            "far/n3/million",
            FAR,
            3,
            million,
            "softspoken4",
            Rule::Whole,
        ),
    ] {
        add(
            name.to_owned(),
            line,
            aes(parties, lanes, over(extension)?),
            rule,
        );
    }
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
fn by_chance(seed: u64, scaled: &dyn Fn(u64) -> u64) -> Result<Vec<(String, String, Task)>> {
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
        let name = format!("chance{number}/n{parties}/{extension}");
        rows.push((name, line, aes(parties, lanes, over(extension)?)));
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
        over,
        ..How::of(protocol)
    }
}

fn job(parties: usize, lanes: u64, how: How) -> Task {
    Task::Compute(Job {
        circuit: Source::Aes,
        parties,
        owners: [0, 1].map(HolderArg::Party).into(),
        to: (0..parties).map(HolderArg::Party).collect(),
        lanes,
        how,
        branches: Default::default(),
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lines_by_chance_follow_from_the_seed() {
        let drawn = |seed| {
            let rows = by_chance(seed, &|count| count).expect("rows");
            let lines = rows.into_iter().map(|(name, line, _)| (name, line));
            lines.collect::<Vec<_>>()
        };
        assert_eq!(drawn(5).len(), 5);
        assert_eq!(drawn(5), drawn(5));
        assert_ne!(drawn(5), drawn(6));
    }
}
