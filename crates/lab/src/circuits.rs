//! `madrigal-lab aes`, `madrigal-lab sha256`: known circuits on this machine, beside what the machine can do at most.

use std::fmt::Write as _;
use std::sync::Arc;

use madrigal_app::holders::HolderArg;
use madrigal_circuit::{Rows, values};
use madrigal_core::Zeroizing;
use madrigal_kernels::{Block, Prg};
use madrigal_operations::Circuit;
use serde::Serialize;

use crate::args::{BenchCircuit, Patience};
use crate::exit::{Failure, Result};
use crate::figures::{print, print_json};
use crate::jobs::local::LocalRun;
use crate::jobs::{Input, Job, Own, Statistics, Task};
use crate::known::Known;
use crate::machine::Machine;
use crate::numbers::{counted, rate, seconds, wide_table};
use crate::spread::Spread;
use madrigal_app::runs::PartyStatistics;

#[derive(Serialize)]
struct BenchReport {
    per_lane_seconds: f64,
    online_lanes_per_second: f64,
    results: Vec<Comparison>,
    machine: Machine,
    statistics: Statistics,
}

/// A result beside the machine's limit for it.
#[derive(Serialize)]
struct Comparison {
    what: &'static str,
    result: f64,
    ceiling: f64,
    unit: &'static str,
    /// How much of the ceiling is reached, 0 to 1.
    reached: f64,
}

pub fn run(args: BenchCircuit, known: Known) -> Result<()> {
    let json = args.json;
    // First: it says at once what is wrong with the flags.
    let statistics = statistics(args, known)?;
    let report = BenchReport::new(statistics, Machine::measure()?);
    if json {
        return print_json(&report);
    }
    print(report.text().as_bytes())
}

/// Runs a job, and compares its outputs with those of the circuit in the clear, on the same inputs.
fn statistics(args: BenchCircuit, known: Known) -> Result<Statistics> {
    let circuit = Arc::new(Circuit::new(&known.netlist()?));
    let values = circuit.inputs().len();
    let mut how = args.how;
    how.settle(&args.network, Some(args.parties));
    let job = Job {
        circuit: known.source(),
        parties: args.parties,
        owners: (0..values)
            .map(|value| HolderArg::Party(value % args.parties))
            .collect(),
        to: (0..args.parties).map(HolderArg::Party).collect(),
        lanes: args.lanes,
        how,
        branches: Default::default(),
        repeat: args.repeat,
        apart: true,
    };
    let plan = job.plan(Arc::clone(&circuit))?;
    let own = random_inputs(&job, &circuit)?;
    let inputs = rows_of_all(&job, &own, &circuit)?;
    let outcome = LocalRun {
        task: &Task::Compute(job),
        circuit: Some(Arc::clone(&circuit)),
        circuit_text: known.text(),
        own,
        transport: args.transport,
        network: &args.network,
        patience: &Patience::default(),
        quiet: args.json,
    }
    .start()?;
    let expected = circuit.layered().interpret(&inputs).map_err(Failure::bug)?;
    let expected = values::write(&expected, circuit.outputs()).map_err(Failure::bug)?;
    if outcome.output != expected {
        return Err(Failure::bug("a wrong result"));
    }
    Ok(Statistics::new(
        &plan,
        args.transport,
        &args.network,
        &outcome.figures,
    ))
}

/// Makes random inputs for each party of a job.
pub fn random_inputs(job: &Job, circuit: &Circuit) -> Result<Vec<Own>> {
    let inputs = (0..job.parties).map(|party| random_values(job, party, circuit));
    let own = inputs.map(|input| {
        input.map(|input| Own {
            input,
            ..Own::default()
        })
    });
    own.collect()
}

/// The rows of all values, in the circuit's order.
fn rows_of_all(job: &Job, own: &[Own], circuit: &Circuit) -> Result<Rows> {
    let lanes = usize::try_from(job.lanes).map_err(Failure::bug)?;
    let mut all = Rows::new(circuit.layered().input_bits(), lanes);
    for (party, own) in own.iter().enumerate() {
        let Some(input) = &own.input else {
            continue;
        };
        let rows = input.rows(job, party, circuit)?;
        let (mut from, mut to) = (0, 0);
        for (value, &width) in circuit.inputs().iter().enumerate() {
            for wire in to..to + width as usize {
                if job.owners[value].party() == Some(party) {
                    all.row_mut(wire).copy_from_slice(rows.row(from));
                    from += 1;
                }
            }
            to += width as usize;
        }
    }
    Ok(all)
}

/// Lines of random values for a party; they need not be secret.
fn random_values(job: &Job, party: usize, circuit: &Circuit) -> Result<Option<Input>> {
    let values = job.values_of(party, circuit);
    if values.is_empty() {
        return Ok(None);
    }
    let mut seed = [0; 16];
    getrandom::fill(&mut seed).map_err(Failure::bug)?;
    let mut prg = Prg::new(Block::from_bytes(seed));
    let mut text = String::new();
    for _ in 0..job.lanes {
        for &value in &values {
            let width = circuit.inputs()[value] as usize;
            let mut random = vec![0; width.div_ceil(8)];
            prg.fill(&mut random);
            if let Some(first) = random.first_mut().filter(|_| !width.is_multiple_of(8)) {
                *first &= (1 << (width % 8)) - 1;
            }
            // At most as many digits as the width takes.
            let digits = crate::numbers::hex(&random);
            let _ = write!(text, "{} ", &digits[digits.len() - width.div_ceil(4)..]);
        }
        text.push('\n');
    }
    Ok(Some(Input {
        name: "random values".to_owned(),
        text: Zeroizing::new(text.into_bytes()),
    }))
}

impl BenchReport {
    fn new(statistics: Statistics, machine: Machine) -> Self {
        // The slowest party counts.
        let slowest = |pick: &dyn Fn(&PartyStatistics) -> f64| {
            let all = statistics.parties.iter().flatten().map(pick);
            all.fold(0.0_f64, f64::max)
        };
        let setup = slowest(&|party| party.setup.figures.seconds).max(1e-9);
        let online = slowest(&|party| party.online.figures.seconds).max(1e-9);
        let total = slowest(&|party| party.total_seconds);
        let lanes = statistics.lanes as f64;
        let blocks = slowest(&|party| party.setup.figures.aes_blocks as f64);
        let sent = slowest(&|party| party.setup.figures.bytes_sent as f64);
        let rounds = slowest(&|party| party.online.figures.rounds as f64);
        let higher = |what, result: f64, ceiling: f64, unit| Comparison {
            what,
            result,
            ceiling,
            unit,
            reached: result / ceiling,
        };
        let round_trip = machine.loopback_round_trip_seconds;
        let mut results = vec![
            higher(
                "setup: AES blocks of one party",
                blocks / setup,
                machine.hashed_blocks,
                "blocks/s",
            ),
            higher(
                "setup: bytes sent by one party",
                sent / setup,
                machine.loopback_bytes_per_second,
                "B/s",
            ),
            // A round is one way, and half of a round trip is the least it can take.
            higher(
                "online: rounds",
                rounds / online,
                2.0 / round_trip,
                "rounds/s",
            ),
        ];
        // A phase in which nothing is done has no speed.
        results.retain(|one| one.result > 0.0);
        Self {
            per_lane_seconds: total / lanes,
            online_lanes_per_second: lanes / online,
            results,
            machine,
            statistics,
        }
    }

    fn text(&self) -> String {
        let statistics = &self.statistics;
        let mut results = wide_table(&["", "result", "ceiling of one thread", "reached"]);
        for one in &self.results {
            results.add_row([
                one.what.to_owned(),
                rate(one.result, one.unit),
                rate(one.ceiling, one.unit),
                format!("{:.0} %", one.reached * 100.0),
            ]);
        }
        let total = Spread::of(
            statistics
                .parties
                .iter()
                .flatten()
                .map(|party| party.total_seconds)
                .collect(),
        );
        format!(
            "{}: {} parties, {}, {}, of which the median counts; {}, {}.\n\n{}\n\n\
             total {}, {} per lane; online {}\n\n{results}\n",
            statistics.circuit.name,
            statistics.parties.len(),
            counted(statistics.lanes, "lane"),
            counted(statistics.repeat.into(), "run"),
            counted(self.machine.cores as u64, "core"),
            self.machine.level,
            statistics.table(),
            seconds(total.max),
            seconds(self.per_lane_seconds),
            rate(self.online_lanes_per_second, "lanes/s"),
        )
    }
}
