//! `madrigal-lab programs`: programs on typed secrets, from the base OTs to the opened result.
//!
//! All parties are threads of this process, in one session. A run is a job: what is timed is its slowest
//! party, from the opening of the job to its finish at all parties. Each result is compared with what the
//! program means in the clear.

pub(super) mod measure;
pub(super) mod workloads;

use madrigal_app::explain::saving;
use madrigal_circuit::Goal;
use madrigal_core::PhaseCost;
use madrigal_operations::Variants;
use madrigal_program::lower::Mix;
use serde::Serialize;

use crate::args::{BenchPrograms, TransportArg};
use crate::exit::Result;
use crate::graphs::{self, Measured, Times};
use crate::machine::Machine;
use crate::measured::{Row, Rows, is_wanted, per_second, select};
use crate::numbers::{bytes, rate, seconds};
use crate::progress::Steps;
use crate::reach::Network;
use measure::{Setting, measure};
use workloads::Workload;

pub fn run(args: &BenchPrograms) -> Result<()> {
    let wanted = |name: &str| is_wanted(&args.only, name);
    let wanted = select(workloads::all(), wanted, |workload| workload.name)?;
    let network = args.network.as_deref().map(Network::parse).transpose()?;
    let machine = Machine::measure()?;
    let steps = Steps::new(wanted.len() as u64, args.json);
    let mut rows = Rows::new(args.json);
    for workload in &wanted {
        steps.name(workload.name);
        steps.advance();
        let setting = Setting {
            runs: graphs::Setting {
                transport: args.transport,
                network: network.unwrap_or(workload.network),
                threads: args.threads,
                repeat: args.repeat,
            },
            online: false,
            variants: Variants::default(),
        };
        rows.add(&ProgramRow::measure(workload, &setting, &machine)?)?;
    }
    steps.clear();
    rows.print(|table| format!("{}.\n\n{table}\n", ceilings(&machine, args.repeat)))
}

/// Tells the limits of this machine and the number of runs.
pub(super) fn ceilings(machine: &Machine, repeat: u32) -> String {
    format!(
        "All parties on {} cores, median of {repeat} runs; {} by each core, loopback TCP carries {}, \
         a round trip takes {}",
        machine.cores,
        rate(machine.aes_blocks, " AES blocks/s"),
        rate(machine.loopback_bytes_per_second, "B/s"),
        seconds(machine.loopback_round_trip_seconds),
    )
}

/// Figures of every program that is measured. Medians, in seconds, of the slowest party.
#[derive(Serialize)]
pub(super) struct Usual {
    /// Everything included.
    pub seconds: f64,
    minimum_seconds: f64,
    maximum_seconds: f64,
    pub online_seconds: f64,
    pub base_ots_seconds: f64,
    parties: usize,
    mix: String,
    /// Goal of circuits: `size` or `depth`.
    pub circuits: &'static str,
    threads: usize,
    repeats: usize,
    /// Least seconds that this machine could take.
    least_seconds: f64,
    /// Limit that these seconds come from: `aes`, `loopback` or `rounds`.
    bound_by: &'static str,
    /// How much of it is reached, 0 to 1.
    reached: f64,
}

impl Usual {
    pub(super) fn new(
        measured: &Measured,
        goal: Goal,
        mix: Mix,
        setting: &Setting,
        machine: &Machine,
    ) -> Self {
        let total = measured.spread(|times| times.total);
        let (least_seconds, bound_by) = least(&measured.costs, &setting.runs, machine);
        Self {
            seconds: total.median,
            minimum_seconds: total.min,
            maximum_seconds: total.max,
            online_seconds: measured.median(|times| times.online),
            base_ots_seconds: measured.median(|times| times.base_ots),
            parties: measured.costs.len(),
            mix: mix.to_string(),
            circuits: saving(goal),
            threads: setting.runs.threads,
            repeats: measured.times.len(),
            least_seconds,
            bound_by,
            reached: least_seconds / total.median,
        }
    }

    /// Cells of the times, behind the name.
    pub(super) fn times(&self) -> [String; 4] {
        let times = [
            self.seconds,
            self.minimum_seconds,
            self.maximum_seconds,
            self.online_seconds,
        ];
        times.map(seconds)
    }

    /// The last two cells of a row.
    pub(super) fn limit(&self) -> [String; 2] {
        [
            format!("{} ({})", seconds(self.least_seconds), self.bound_by),
            format!("{:.0} %", 100.0 * self.reached),
        ]
    }
}

/// One line of JSON, one row of the table.
#[derive(Serialize)]
struct ProgramRow {
    name: &'static str,
    #[serde(flatten)]
    usual: Usual,
    setup_seconds: f64,
    beyond_base_ots_seconds: Option<f64>,
    per_second: Option<f64>,
    online_per_second: Option<f64>,
    #[serde(flatten)]
    parts: Parts,
    ops: Option<usize>,
    /// Bytes that the party sends which sends most.
    bytes_sent: u64,
    rounds: u64,
    /// AES blocks of all parties.
    aes_blocks: u64,
}

/// A program beside its parts, where it has any.
#[derive(Serialize, Default)]
struct Parts {
    /// Online, against the slower part alone.
    ratio: Option<f64>,
    /// Everything included, the same.
    total_ratio: Option<f64>,
    /// Online time of each part alone.
    parts_online_seconds: Option<Vec<f64>>,
    /// Time of each part alone, everything included.
    parts_seconds: Option<Vec<f64>>,
}

impl ProgramRow {
    fn measure(workload: &Workload, setting: &Setting, machine: &Machine) -> Result<Self> {
        let mix = workload.mix.0;
        let run = |recorded: &_| measure(mix, recorded, setting);
        let (measured, goal) = run(&workload.make()?)?;
        let alone: Vec<_> = workload.parts()?.iter().map(run).collect::<Result<_>>()?;
        let usual = Usual::new(&measured, goal, mix, setting, machine);
        let ops = workload.ops.map(|ops| ops as f64);
        Ok(Self {
            name: workload.name,
            setup_seconds: measured.median(|times| times.setup),
            beyond_base_ots_seconds: workload
                .beyond_base_ots
                .then(|| measured.median(|times| times.beyond_base_ots)),
            per_second: ops.map(|ops| ops / usual.seconds),
            online_per_second: ops.map(|ops| ops / usual.online_seconds),
            parts: match &alone[..] {
                [] => Parts::default(),
                alone => Parts::new(&usual, alone),
            },
            ops: workload.ops,
            bytes_sent: most(&measured.costs, |cost| cost.bytes_sent),
            rounds: most(&measured.costs, |cost| cost.rounds),
            aes_blocks: measured.costs.iter().map(|cost| cost.aes_blocks).sum(),
            usual,
        })
    }
}

impl Row for ProgramRow {
    const HEADER: &'static [&'static str] = &[
        "name",
        "total",
        "least",
        "most",
        "online",
        "without base OTs",
        "rate",
        "ratio",
        "circuits",
        "bytes sent by one",
        "rounds",
        "this machine's least",
        "reached",
    ];

    fn cells(&self) -> Vec<String> {
        let ratio = |ratio: f64| format!("{ratio:.2}");
        let mut cells = vec![self.name.to_owned()];
        cells.extend(self.usual.times());
        cells.extend([
            self.beyond_base_ots_seconds
                .map(seconds)
                .unwrap_or_default(),
            self.per_second.map(per_second).unwrap_or_default(),
            self.parts.ratio.map(ratio).unwrap_or_default(),
            self.usual.circuits.to_owned(),
            bytes(self.bytes_sent),
            self.rounds.to_string(),
        ]);
        cells.extend(self.usual.limit());
        cells
    }
}

impl Parts {
    fn new(whole: &Usual, alone: &[(Measured, Goal)]) -> Self {
        let of = |pick: fn(&Times) -> f64| -> Vec<f64> {
            alone.iter().map(|(part, _)| part.median(pick)).collect()
        };
        let slower = |times: &[f64]| times.iter().copied().fold(f64::MIN_POSITIVE, f64::max);
        let (totals, onlines) = (of(|times| times.total), of(|times| times.online));
        Self {
            ratio: Some(whole.online_seconds / slower(&onlines)),
            total_ratio: Some(whole.seconds / slower(&totals)),
            parts_online_seconds: Some(onlines),
            parts_seconds: Some(totals),
        }
    }
}

pub(super) fn most(costs: &[PhaseCost], pick: fn(&PhaseCost) -> u64) -> u64 {
    costs.iter().map(pick).max().unwrap_or(0)
}

/// The time that the AES blocks take on the cores, the bytes on the loopback interface, or the rounds on
/// their way, whichever is the longest.
fn least(costs: &[PhaseCost], setting: &graphs::Setting, machine: &Machine) -> (f64, &'static str) {
    let sum = |pick: fn(&PhaseCost) -> u64| costs.iter().map(pick).sum::<u64>() as f64;
    let cores = machine.cores.min(costs.len() * setting.threads) as f64;
    let over_wire = setting.transport != TransportArg::Memory;
    // A round is one way.
    let hop = match over_wire {
        true => machine.loopback_round_trip_seconds / 2.0,
        false => 0.0,
    };
    let rounds = most(costs, |cost| cost.rounds) as f64;
    let wire = sum(|cost| cost.bytes_sent) / machine.loopback_bytes_per_second;
    let limits = [
        (
            sum(|cost| cost.aes_blocks) / (machine.aes_blocks * cores),
            "aes",
        ),
        (if over_wire { wire } else { 0.0 }, "loopback"),
        (rounds * (hop + setting.network.link().latency), "rounds"),
    ];
    let longer = |one: (f64, _), other: (f64, _)| if other.0 > one.0 { other } else { one };
    limits.into_iter().fold((0.0, "aes"), longer)
}
