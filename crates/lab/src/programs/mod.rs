//! `madrigal-lab programs`: programs on typed secrets, from the base OTs to the opened result.
//!
//! All parties are threads of this process, in one session. A run is a job: what is timed is its slowest
//! party, from the opening of the job to its finish at all parties. Each result is compared with what the
//! program means in the clear.

pub(super) mod measure;
pub(super) mod workloads;

use madrigal_circuit::Goal;
use madrigal_core::PhaseCost;
use serde::Serialize;

use crate::args::{BenchPrograms, TransportArg};
use crate::exit::{Result, Usage};
use crate::figures::{print, print_json_line};
use crate::machine::Machine;
use crate::measured::{is_wanted, per_second};
use crate::numbers::{Table, bytes, rate, seconds, wide_table};
use crate::progress::Steps;
use crate::rates;
use crate::reach::Network;
use crate::spread::Spread;
use measure::{Measured, Setting, Times, measure};
use workloads::Workload;

pub fn run(args: &BenchPrograms) -> Result<()> {
    let (wanted, others): (Vec<_>, Vec<_>) = workloads::all()
        .into_iter()
        .partition(|workload| is_wanted(&args.only, workload.name));
    if wanted.is_empty() {
        let names: Vec<_> = others.iter().map(|workload| workload.name).collect();
        let names = names.join(", ");
        return Err(Usage::NothingToMeasure { names }.into());
    }
    let network = args.network.as_deref().map(Network::parse).transpose()?;
    let (machine, rates) = (Machine::measure()?, rates::measure(None)?);
    let steps = Steps::new(wanted.len() as u64, args.json);
    let mut rows = (!args.json).then(header);
    for workload in &wanted {
        steps.name(workload.name);
        steps.advance();
        let setting = Setting {
            transport: args.transport,
            network: network.unwrap_or(workload.network),
            threads: args.threads,
            repeat: args.repeat,
            rates: &rates,
            online: false,
        };
        let line = Line::measure(workload, &setting, &machine)?;
        match &mut rows {
            Some(table) => {
                table.add_row(line.row());
            }
            None => print_json_line(&line)?,
        }
    }
    steps.clear();
    let Some(table) = rows else {
        return Ok(());
    };
    print(format!("{}.\n\n{table}\n", ceilings(&machine, args.repeat)).as_bytes())
}

/// What this machine can do at most, and how often it was tried.
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

/// One line of JSON, one row of the table. Medians, in seconds.
#[derive(Serialize)]
struct Line {
    name: &'static str,
    /// Everything included.
    seconds: f64,
    minimum_seconds: f64,
    maximum_seconds: f64,
    setup_seconds: f64,
    online_seconds: f64,
    base_ots_seconds: f64,
    beyond_base_ots_seconds: Option<f64>,
    per_second: Option<f64>,
    online_per_second: Option<f64>,
    #[serde(flatten)]
    parts: Parts,
    parties: usize,
    mix: String,
    /// What circuits save: `size` or `depth`.
    circuits: &'static str,
    threads: usize,
    ops: Option<usize>,
    repeats: usize,
    /// Bytes that the party sends which sends most.
    bytes_sent: u64,
    rounds: u64,
    /// AES blocks of all parties.
    aes_blocks: u64,
    /// What this machine takes at least.
    least_seconds: f64,
    /// Which of its limits that is.
    bound_by: &'static str,
    /// How much of it is reached, 0 to 1.
    reached: f64,
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

fn header() -> Table {
    wide_table(&[
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
    ])
}

fn spread(times: &[Times], pick: impl Fn(&Times) -> f64) -> Spread {
    Spread::of(times.iter().map(pick).collect())
}

impl Line {
    fn measure(workload: &Workload, setting: &Setting<'_>, machine: &Machine) -> Result<Self> {
        let (mix, parties) = workload.mix;
        let run = |recorded: &_| measure(mix, recorded, setting);
        let measured = run(&workload.make()?)?;
        let alone: Vec<Measured> = workload.parts()?.iter().map(run).collect::<Result<_>>()?;
        let median = |pick: fn(&Times) -> f64| spread(&measured.times, pick).median;
        let (total, online) = (
            spread(&measured.times, |times| times.total),
            median(|t| t.online),
        );
        let ops = workload.ops.map(|ops| ops as f64);
        let (least, bound_by) = least(&measured.costs, setting, machine);
        Ok(Self {
            name: workload.name,
            seconds: total.median,
            minimum_seconds: total.min,
            maximum_seconds: total.max,
            setup_seconds: median(|times| times.setup),
            online_seconds: online,
            base_ots_seconds: median(|times| times.base_ots),
            beyond_base_ots_seconds: workload
                .beyond_base_ots
                .then(|| median(|times| times.total - times.base_ots)),
            per_second: ops.map(|ops| ops / total.median),
            online_per_second: ops.map(|ops| ops / online),
            parts: match &alone[..] {
                [] => Parts::default(),
                alone => Parts::new(total.median, online, alone),
            },
            parties,
            mix: mix.to_string(),
            circuits: match measured.goal {
                Goal::Size => "size",
                Goal::Depth => "depth",
            },
            threads: setting.threads,
            ops: workload.ops,
            repeats: measured.times.len(),
            bytes_sent: most(&measured.costs, |cost| cost.bytes_sent),
            rounds: most(&measured.costs, |cost| cost.rounds),
            aes_blocks: measured.costs.iter().map(|cost| cost.aes_blocks).sum(),
            least_seconds: least,
            bound_by,
            reached: least / total.median,
        })
    }

    fn row(&self) -> Vec<String> {
        let some = |value: Option<f64>| value.map(seconds).unwrap_or_default();
        let ratio = |ratio: Option<f64>| ratio.map(|ratio| format!("{ratio:.2}"));
        vec![
            self.name.to_owned(),
            seconds(self.seconds),
            seconds(self.minimum_seconds),
            seconds(self.maximum_seconds),
            seconds(self.online_seconds),
            some(self.beyond_base_ots_seconds),
            self.per_second.map(per_second).unwrap_or_default(),
            ratio(self.parts.ratio).unwrap_or_default(),
            self.circuits.to_owned(),
            bytes(self.bytes_sent),
            self.rounds.to_string(),
            format!("{} ({})", seconds(self.least_seconds), self.bound_by),
            format!("{:.0} %", 100.0 * self.reached),
        ]
    }
}

impl Parts {
    fn new(total: f64, online: f64, alone: &[Measured]) -> Self {
        let of = |pick: fn(&Times) -> f64| -> Vec<f64> {
            alone
                .iter()
                .map(|part| spread(&part.times, pick).median)
                .collect()
        };
        let slower = |times: &[f64]| times.iter().copied().fold(f64::MIN_POSITIVE, f64::max);
        let (totals, onlines) = (of(|times| times.total), of(|times| times.online));
        Self {
            ratio: Some(online / slower(&onlines)),
            total_ratio: Some(total / slower(&totals)),
            parts_online_seconds: Some(onlines),
            parts_seconds: Some(totals),
        }
    }
}

fn most(costs: &[PhaseCost], pick: fn(&PhaseCost) -> u64) -> u64 {
    costs.iter().map(pick).max().unwrap_or(0)
}

/// The time that the AES blocks take on the cores, the bytes on the loopback interface, or the rounds on
/// their way, whichever is the longest.
pub(super) fn least(
    costs: &[PhaseCost],
    setting: &Setting<'_>,
    machine: &Machine,
) -> (f64, &'static str) {
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
