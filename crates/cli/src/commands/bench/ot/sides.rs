//! What was measured of one name, for scripts and for people.

use comfy_table::Table;
use madrigal_ot::cost::Cost;
use serde::Serialize;

use super::wire::{Run, Side};
use crate::exit::{Failure, Result};
use crate::numbers::{rate, seconds, table};
use crate::stats::Spread;

/// All runs of one name.
pub(super) struct Measured {
    /// Operations of one run.
    pub count: usize,
    /// Of each run, in seconds.
    pub walls: Vec<f64>,
    /// Before the first run, in seconds.
    pub setup: f64,
    /// Bytes sent by all in one run, the mean of all runs.
    pub bytes: f64,
    /// AES blocks computed by all in one run, the mean of all runs.
    pub aes: f64,
    /// Whether AES is what most of the work is: else it sets no ceiling.
    pub by_aes: bool,
    /// For OTs, which have two sides; the sender first.
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
    /// Of runs of OTs that cost `declared` together: what was sent and computed must be what is declared.
    pub fn of_runs(count: usize, setup: f64, runs: &[Run], declared: Cost) -> Result<Self> {
        let repeats = runs.len() as f64;
        let side = |pick: fn(&Run) -> Side, bytes: u64, aes: u64| {
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
            count,
            walls: runs.iter().map(|run| run.wall).collect(),
            setup,
            bytes: sender.bytes + receiver.bytes,
            aes: sender.aes + receiver.aes,
            by_aes: true,
            sides: Some([sender, receiver]),
            threads: 2,
        })
    }
}

/// One line of JSON, and one row of the table. Rates are in operations per second.
#[derive(Serialize)]
pub(super) struct Line {
    name: String,
    /// Of the median run, from the start of all parties to the end of all.
    per_second: f64,
    minimum_per_second: f64,
    maximum_per_second: f64,
    /// Bytes sent by all parties.
    bytes_per_op: f64,
    /// AES blocks computed by all parties.
    aes_blocks_per_op: f64,
    #[serde(flatten)]
    sides: Option<Sides>,
    /// What the AES blocks alone allow on this machine; `null` for what has none.
    ceiling_per_second: Option<f64>,
    /// How much of the ceiling is reached, 0 to 1.
    reached: Option<f64>,
    /// Operations of one run.
    count: usize,
    repeats: usize,
    /// Of the median run.
    seconds: f64,
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

impl Line {
    /// `aes` is the rate of one thread in blocks per second, `cores` what the parties share.
    pub fn new(name: &str, measured: Measured, aes: f64, cores: usize) -> Self {
        let ops = measured.count as f64;
        let wall = Spread::of(measured.walls.clone());
        // Seconds of one core that an operation's AES blocks take at least, for the side or the
        // core that has the most.
        let busiest = match &measured.sides {
            Some([sender, receiver]) => sender.aes.max(receiver.aes),
            None => measured.aes / measured.threads.min(cores) as f64,
        };
        let ceiling = (measured.by_aes && busiest > 0.0).then(|| aes * ops / busiest);
        let per_second = ops / wall.median;
        let sides = measured.sides.map(|[sender, receiver]| Sides {
            sender_per_second: ops / Spread::of(sender.busy).median,
            receiver_per_second: ops / Spread::of(receiver.busy).median,
            sender_bytes_per_op: sender.bytes / ops,
            receiver_bytes_per_op: receiver.bytes / ops,
            sender_aes_blocks_per_op: sender.aes / ops,
            receiver_aes_blocks_per_op: receiver.aes / ops,
        });
        Self {
            name: name.to_owned(),
            per_second,
            minimum_per_second: ops / wall.max,
            maximum_per_second: ops / wall.min,
            bytes_per_op: measured.bytes / ops,
            aes_blocks_per_op: measured.aes / ops,
            sides,
            ceiling_per_second: ceiling,
            reached: ceiling.map(|ceiling| per_second / ceiling),
            count: measured.count,
            repeats: measured.walls.len(),
            seconds: wall.median,
            setup_seconds: measured.setup,
        }
    }
}

/// All lines. Where two numbers stand in a cell, the sender's is the first.
pub(super) fn lines_table(lines: &[Line]) -> Table {
    let mut table = table(&[
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
    ]);
    let per_second = |per_second: f64| rate(per_second, "/s");
    for line in lines {
        let both = |pick: fn(&Sides) -> [f64; 2], all: f64| match &line.sides {
            Some(sides) => pick(sides).map(figure).join(" + "),
            None => figure(all),
        };
        let side = |pick: fn(&Sides) -> f64| line.sides.as_ref().map(pick).map(per_second);
        table.add_row([
            line.name.clone(),
            per_second(line.per_second),
            side(|sides| sides.sender_per_second).unwrap_or_default(),
            side(|sides| sides.receiver_per_second).unwrap_or_default(),
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
            line.reached
                .map(|reached| format!("{:.0} %", reached * 100.0))
                .unwrap_or_default(),
            seconds(line.seconds),
            seconds(line.setup_seconds),
        ]);
    }
    table
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
