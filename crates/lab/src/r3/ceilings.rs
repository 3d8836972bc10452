//! Columns of `madrigal-lab r3` alone: threads and rounds, and the ceiling that cores or the loopback
//! interface set.

use serde::Serialize;

use super::setting::Setting;
use crate::args::TransportArg;
use crate::exit::{Failure, Result};
use crate::machine::{Machine, loopback};
use crate::measured::{self, Own, Runs, per_second};
use crate::numbers::{rate, seconds};

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
    /// Bytes are those of the party that sends most.
    pub runs: Runs,
    /// Sent by all parties in a run.
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
            runs: Runs {
                ops,
                seconds: (0..runs).map(slowest).collect(),
                bytes: first().map(|part| part.bytes).max().unwrap_or(0) as f64,
                aes: first().map(|part| part.aes).sum::<u64>() as f64,
            },
            all_bytes: first().map(|part| part.bytes).sum(),
            rounds: first().map(|part| part.rounds).max().unwrap_or(0),
        }
    }

    pub(super) fn line(
        self,
        name: String,
        setting: &Setting,
        ceilings: &Ceilings,
        cores_free: f64,
    ) -> RateRow {
        let bound = ceilings.bound(&self, setting);
        let own = Figures {
            threads: setting.threads,
            bound_by: bound.map(|(_, by)| by),
            ops: self.runs.ops,
            rounds: self.rounds,
        };
        let ceiling = bound.map(|(ceiling, _)| ceiling);
        RateRow::new(name, &self.runs, ceiling, cores_free, own)
    }
}

/// Limits of this machine.
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

    /// Measures the ceilings at another time, for a row that was measured then.
    pub(super) fn beside(&self, setting: &Setting, aes: f64) -> Result<Self> {
        let loopback = match setting.transport {
            TransportArg::Memory => self.loopback,
            _ => {
                let measured = loopback();
                measured
                    .map_err(Failure::system("cannot measure the loopback interface"))?
                    .1
            }
        };
        Ok(Self {
            aes,
            loopback,
            cores: self.cores,
        })
    }

    /// The lower one of the limits in operations per second, and what sets it.
    fn bound(&self, measured: &Measured, setting: &Setting) -> Option<(f64, &'static str)> {
        let Runs { ops, aes, .. } = measured.runs;
        let cores = self.aes(setting.threads) * ops as f64 / aes;
        let wire = self.loopback * ops as f64 / measured.all_bytes as f64;
        let over_wire = setting.transport != TransportArg::Memory && measured.all_bytes > 0;
        let limits = [
            (aes > 0.0).then_some((cores, "aes")),
            over_wire.then_some((wire, "loopback")),
        ];
        let limits = limits.into_iter().flatten();
        limits.min_by(|(one, _), (other, _)| one.total_cmp(other))
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

pub(super) type RateRow = measured::RateRow<Figures>;

#[derive(Serialize)]
pub(super) struct Figures {
    /// Threads of each party.
    threads: usize,
    /// Limit that the ceiling comes from: `aes` or `loopback`.
    bound_by: Option<&'static str>,
    /// Operations of one run.
    ops: usize,
    rounds: u64,
}

impl Own for Figures {
    const HEADER: &'static [&'static str] = &[
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
    ];

    fn row(line: &RateRow) -> Vec<String> {
        let bound = line.ceiling_per_second.zip(line.own.bound_by);
        let bound = bound.map(|(ceiling, by)| format!("{} ({by})", per_second(ceiling)));
        vec![
            line.name.clone(),
            line.own.threads.to_string(),
            per_second(line.per_second),
            per_second(line.minimum_per_second),
            per_second(line.maximum_per_second),
            format!("{:.3}", line.bytes_per_op),
            format!("{:.3}", line.aes_blocks_per_op),
            line.own.rounds.to_string(),
            seconds(line.seconds),
            bound.unwrap_or_default(),
            line.reached(),
        ]
    }
}
