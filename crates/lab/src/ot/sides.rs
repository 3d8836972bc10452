//! Columns of `madrigal-lab ot` alone: the two sides of OTs, and the ceiling that AES sets.

use madrigal_ot::cost::Cost;
use serde::Serialize;

use super::wire::{OtRun, Side};
use crate::exit::{Failure, Result};
use crate::measured::{self, Own, Runs, per_second};
use crate::numbers::seconds;
use crate::spread::Spread;

/// All runs of one name.
pub(super) struct Measured {
    /// Bytes and AES blocks are those of all parties, the mean of all runs.
    pub runs: Runs,
    /// Before the first run, in seconds.
    pub setup: f64,
    /// Whether AES is what most of the work is: else it sets no ceiling.
    pub by_aes: bool,
    /// Figures of the two sides of OTs; the sender's are the first.
    pub sides: Option<[SideMeasured; 2]>,
    /// Threads that share the work evenly; for OTs the busier side binds.
    pub threads: usize,
}

/// Means over all runs but for the time.
pub(super) struct SideMeasured {
    pub busy: Vec<f64>,
    pub bytes: f64,
    pub aes: f64,
}

impl Measured {
    /// Puts together runs of OTs that cost `declared` together: what was sent and computed must be what is declared.
    pub fn of_runs(count: usize, setup: f64, runs: &[OtRun], declared: Cost) -> Result<Self> {
        let repeats = runs.len() as f64;
        let side = |pick: fn(&OtRun) -> Side, bytes: u64, aes: u64| {
            let sides = || runs.iter().map(pick);
            let sent: u64 = sides().map(|side| side.bytes).sum();
            let computed: u64 = sides().map(|side| side.aes).sum();
            if (sent, computed) != (bytes, aes) {
                return Err(Failure::bug(format!(
                    "{sent} bytes were sent and {computed} AES blocks computed where {bytes} and \
                     {aes} are declared"
                )));
            }
            Ok(SideMeasured {
                busy: sides().map(|side| side.busy).collect(),
                bytes: sent as f64 / repeats,
                aes: computed as f64 / repeats,
            })
        };
        let sender = side(|run| run.sender, declared.sender_bytes, declared.sender_aes)?;
        let receiver = side(
            |run| run.receiver,
            declared.receiver_bytes,
            declared.receiver_aes,
        )?;
        Ok(Self {
            runs: Runs {
                ops: count,
                seconds: runs.iter().map(|run| run.wall).collect(),
                bytes: sender.bytes + receiver.bytes,
                aes: sender.aes + receiver.aes,
            },
            setup,
            by_aes: true,
            sides: Some([sender, receiver]),
            threads: 2,
        })
    }

    /// Operations per second that the AES blocks alone allow: those of the side or the core that has
    /// the most. `aes` is the rate of one thread in blocks per second, `cores` what the parties share.
    fn ceiling(&self, aes: f64, cores: usize) -> Option<f64> {
        let busiest = match &self.sides {
            Some([sender, receiver]) => sender.aes.max(receiver.aes),
            None => self.runs.aes / self.threads.min(cores) as f64,
        };
        (self.by_aes && busiest > 0.0).then(|| aes * self.runs.ops as f64 / busiest)
    }

    /// See [`Measured::ceiling`] for `aes` and `cores`.
    pub fn line(self, name: &str, aes: f64, cores: usize, cores_free: f64) -> RateRow {
        let ceiling = self.ceiling(aes, cores);
        let ops = self.runs.ops as f64;
        let sides = self.sides.map(|[sender, receiver]| Sides {
            sender_per_second: ops / Spread::of(sender.busy).median,
            receiver_per_second: ops / Spread::of(receiver.busy).median,
            sender_bytes_per_op: sender.bytes / ops,
            receiver_bytes_per_op: receiver.bytes / ops,
            sender_aes_blocks_per_op: sender.aes / ops,
            receiver_aes_blocks_per_op: receiver.aes / ops,
        });
        let own = Figures {
            sides,
            count: self.runs.ops,
            setup_seconds: self.setup,
        };
        RateRow::new(name.to_owned(), &self.runs, ceiling, cores_free, own)
    }
}

pub(super) type RateRow = measured::RateRow<Figures>;

#[derive(Serialize)]
pub(super) struct Figures {
    #[serde(flatten)]
    sides: Option<Sides>,
    /// Operations of one run.
    count: usize,
    /// Base OTs and what else comes before the first run.
    setup_seconds: f64,
}

/// The two sides of OTs. Their rates are by the time in which they did not wait for each other.
#[derive(Serialize)]
struct Sides {
    sender_per_second: f64,
    receiver_per_second: f64,
    sender_bytes_per_op: f64,
    receiver_bytes_per_op: f64,
    sender_aes_blocks_per_op: f64,
    receiver_aes_blocks_per_op: f64,
}

/// Where two numbers stand in a cell, the sender's is the first.
impl Own for Figures {
    const HEADER: &'static [&'static str] = &[
        "name",
        "both at work",
        "sender busy",
        "receiver busy",
        "bytes sent",
        "AES blocks",
        "AES ceiling",
        "reached",
        "time of a run",
        "set-up",
    ];

    fn row(line: &RateRow) -> Vec<String> {
        let sides = line.own.sides.as_ref();
        let side = |pick: fn(&Sides) -> f64| sides.map(pick).map(per_second).unwrap_or_default();
        let both = |pick: fn(&Sides) -> [f64; 2], all: f64| match sides {
            Some(sides) => pick(sides).map(figure).join(" + "),
            None => figure(all),
        };
        vec![
            line.name.clone(),
            per_second(line.per_second),
            side(|sides| sides.sender_per_second),
            side(|sides| sides.receiver_per_second),
            both(
                |sides| [sides.sender_bytes_per_op, sides.receiver_bytes_per_op],
                line.bytes_per_op,
            ),
            both(
                |sides| {
                    [
                        sides.sender_aes_blocks_per_op,
                        sides.receiver_aes_blocks_per_op,
                    ]
                },
                line.aes_blocks_per_op,
            ),
            line.ceiling_per_second.map(per_second).unwrap_or_default(),
            line.reached(),
            seconds(line.seconds),
            seconds(line.own.setup_seconds),
        ]
    }
}

/// Three digits are all that is true.
fn figure(value: f64) -> String {
    match value {
        0.0 => "0".to_owned(),
        v if v < 10.0 => format!("{v:.2}"),
        v if v < 1000.0 => format!("{v:.1}"),
        v => format!("{v:.0}"),
    }
}
