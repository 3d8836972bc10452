//! What was measured, beside what the machine allows.

use comfy_table::Table;
use serde::Serialize;

use super::Setting;
use crate::args::TransportArg;
use crate::machine::Machine;
use crate::numbers::{rate, seconds, table};
use crate::stats::Spread;

/// One run of one party.
#[derive(Clone, Copy)]
pub(super) struct Part {
    pub seconds: f64,
    pub bytes: u64,
    pub aes: u64,
    pub rounds: u64,
}

/// All runs of all parties.
pub(super) struct Measured {
    /// Operations of one run.
    ops: usize,
    /// Of each run, of all parties.
    seconds: Vec<f64>,
    /// Of a run, by the party that sends most.
    bytes: u64,
    /// Of a run, by all parties together.
    aes: u64,
    all_bytes: u64,
    rounds: u64,
}

impl Measured {
    /// `parties[i][k]` is run k of party i.
    pub(super) fn together(ops: usize, parties: &[Vec<Part>]) -> Self {
        let runs = parties.first().map_or(0, Vec::len);
        let slowest = |run: usize| {
            let times = parties.iter().map(|parts| parts[run].seconds);
            times.fold(0.0, f64::max)
        };
        // Costs are declared and counted alike in all runs.
        let first = || parties.iter().filter_map(|parts| parts.first());
        Self {
            ops,
            seconds: (0..runs).map(slowest).collect(),
            bytes: first().map(|part| part.bytes).max().unwrap_or(0),
            all_bytes: first().map(|part| part.bytes).sum(),
            aes: first().map(|part| part.aes).sum(),
            rounds: first().map(|part| part.rounds).max().unwrap_or(0),
        }
    }
}

impl Measured {
    /// Operations per second, and seconds of a run: those of the median run.
    pub(super) fn median(&self) -> (f64, f64) {
        let time = Spread::of(self.seconds.clone()).median;
        (self.ops as f64 / time, time)
    }
}

/// What binds on this machine.
pub(super) struct Ceilings {
    /// Blocks per second of a core.
    aes: f64,
    /// Bytes per second between two processes, one pair at work.
    loopback: f64,
    cores: usize,
}

impl Ceilings {
    pub(super) fn new(machine: &Machine) -> Self {
        Self {
            aes: machine.aes_blocks,
            loopback: machine.loopback_bytes_per_second,
            cores: machine.cores,
        }
    }

    /// Blocks per second of all cores that three parties can use.
    fn aes(&self, threads: usize) -> f64 {
        self.aes * self.cores.min(3 * threads) as f64
    }
}

impl std::fmt::Display for Ceilings {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(
            f,
            "Three parties on {} cores: {} by each of them; loopback TCP carries {}.",
            self.cores,
            rate(self.aes, " AES blocks/s"),
            rate(self.loopback, "B/s"),
        )
    }
}

/// One line of JSON, one row of the table.
#[derive(Serialize)]
pub(super) struct Line {
    name: String,
    /// Of each party.
    threads: usize,
    per_second: f64,
    minimum_per_second: f64,
    maximum_per_second: f64,
    /// Sent by one party.
    bytes_per_op: f64,
    /// Computed by all parties.
    aes_blocks_per_op: f64,
    ceiling_per_second: Option<f64>,
    /// What sets the ceiling: `aes` or `loopback`.
    bound_by: Option<&'static str>,
    reached: Option<f64>,
    ops: usize,
    rounds: u64,
    repeats: usize,
    seconds: f64,
}

impl Line {
    pub(super) fn new(
        name: String,
        setting: &Setting,
        measured: Measured,
        ceilings: &Ceilings,
    ) -> Self {
        let ops = measured.ops as f64;
        let time = Spread::of(measured.seconds.clone());
        let per_second = ops / time.median;
        let aes = (measured.aes > 0).then(|| {
            (
                ceilings.aes(setting.threads) * ops / measured.aes as f64,
                "aes",
            )
        });
        let over_wire = setting.transport != TransportArg::Memory && measured.all_bytes > 0;
        let wire = over_wire.then(|| {
            let bound = ceilings.loopback * ops / measured.all_bytes as f64;
            (bound, "loopback")
        });
        let bound = [aes, wire]
            .into_iter()
            .flatten()
            .min_by(|a, b| a.0.total_cmp(&b.0));
        Self {
            name,
            threads: setting.threads,
            per_second,
            minimum_per_second: ops / time.max,
            maximum_per_second: ops / time.min,
            bytes_per_op: measured.bytes as f64 / ops,
            aes_blocks_per_op: measured.aes as f64 / ops,
            ceiling_per_second: bound.map(|bound| bound.0),
            bound_by: bound.map(|bound| bound.1),
            reached: bound.map(|bound| per_second / bound.0),
            ops: measured.ops,
            rounds: measured.rounds,
            repeats: measured.seconds.len(),
            seconds: time.median,
        }
    }
}

pub(super) fn lines_table(lines: &[Line]) -> Table {
    let mut table = table(&[
        "name",
        "threads",
        "rate",
        "least",
        "most",
        "bytes sent by one",
        "AES blocks",
        "rounds",
        "time of a run",
        "ceiling",
        "reached",
    ]);
    let per_second = |per_second: f64| rate(per_second, "/s");
    for line in lines {
        let bound = line.ceiling_per_second.zip(line.bound_by);
        table.add_row([
            line.name.clone(),
            line.threads.to_string(),
            per_second(line.per_second),
            per_second(line.minimum_per_second),
            per_second(line.maximum_per_second),
            format!("{:.3}", line.bytes_per_op),
            format!("{:.3}", line.aes_blocks_per_op),
            line.rounds.to_string(),
            seconds(line.seconds),
            bound
                .map(|(ceiling, by)| format!("{} ({by})", per_second(ceiling)))
                .unwrap_or_default(),
            line.reached
                .map(|reached| format!("{:.0} %", 100.0 * reached))
                .unwrap_or_default(),
        ]);
    }
    table
}
