//! `madrigal-lab tensors`: what neural networks are made of, each in several mixes of protocols.
//!
//! Measured as `madrigal-lab programs` is; where a result is not exact, it is compared with real numbers, too.

mod workloads;

use madrigal_circuit::Goal;
use madrigal_core::PhaseCost;
use serde::Serialize;

use crate::args::BenchTensors;
use crate::exit::{Failure, Result, Usage};
use crate::figures::{print, print_json_line};
use crate::machine::Machine;
use crate::measured::is_wanted;
use crate::numbers::{Table, bytes, seconds, wide_table};
use crate::programs::measure::{Measured, Setting, Times, measure};
use crate::programs::{ceilings, least};
use crate::progress::Steps;
use crate::rates;
use crate::reach::Network;
use crate::spread::Spread;
use workloads::{Case, Workload};

pub fn run(args: &BenchTensors) -> Result<()> {
    let (wanted, others): (Vec<_>, Vec<_>) = workloads::all()
        .into_iter()
        .partition(|workload| is_wanted(&args.only, &workload.name));
    if wanted.is_empty() {
        let names: Vec<_> = others.into_iter().map(|workload| workload.name).collect();
        let names = names.join(", ");
        return Err(Usage::NothingToMeasure { names }.into());
    }
    let network = match &args.network {
        Some(network) => Network::parse(network)?,
        None => Network::new(None),
    };
    let (machine, rates) = (Machine::measure()?, rates::measure(None)?);
    let setting = Setting {
        transport: args.transport,
        network,
        threads: args.threads,
        repeat: args.repeat,
        rates: &rates,
        online: false,
    };
    let steps = Steps::new(wanted.len() as u64, args.json);
    let mut rows = (!args.json).then(header);
    for workload in &wanted {
        steps.name(&workload.name);
        steps.advance();
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
    let text = format!(
        "{}. Bytes are of all parties, errors in steps of the last place.\n\n{table}\n",
        ceilings(&machine, args.repeat)
    );
    print(text.as_bytes())
}

/// One line of JSON, one row of the table. Medians, in seconds, of the slowest party.
#[derive(Serialize)]
struct Line<'a> {
    name: &'a str,
    /// Everything included.
    seconds: f64,
    minimum_seconds: f64,
    maximum_seconds: f64,
    online_seconds: f64,
    base_ots_seconds: f64,
    /// Bytes of all parties in both phases.
    bytes: u64,
    online_bytes: u64,
    /// Online, of the party with most.
    online_rounds: u64,
    /// Largest difference from the real numbers, in steps of the last place; `null` where results are exact.
    largest_error: Option<f64>,
    values: usize,
    parties: usize,
    mix: String,
    /// What circuits save: `size` or `depth`.
    circuits: &'static str,
    threads: usize,
    repeats: usize,
    /// What this machine takes at least.
    least_seconds: f64,
    /// Which of its limits that is.
    bound_by: &'static str,
    /// How much of it is reached, 0 to 1.
    reached: f64,
}

fn header() -> Table {
    wide_table(&[
        "name",
        "total",
        "least",
        "most",
        "online",
        "base OTs",
        "bytes",
        "online",
        "rounds",
        "error",
        "circuits",
        "this machine's least",
        "reached",
    ])
}

impl<'a> Line<'a> {
    fn measure(workload: &'a Workload, setting: &Setting<'_>, machine: &Machine) -> Result<Self> {
        let case = workload.make()?;
        let measured = measure(workload.mix.0, &case.recorded, setting)?;
        let total = spread(&measured, |times| times.total);
        let (least, bound_by) = least(&measured.costs, setting, machine);
        let sum = |costs: &[PhaseCost]| costs.iter().map(|cost| cost.bytes_sent).sum();
        Ok(Self {
            name: &workload.name,
            seconds: total.median,
            minimum_seconds: total.min,
            maximum_seconds: total.max,
            online_seconds: spread(&measured, |times| times.online).median,
            base_ots_seconds: spread(&measured, |times| times.base_ots).median,
            bytes: sum(&measured.costs),
            online_bytes: sum(&measured.online_costs),
            online_rounds: measured
                .online_costs
                .iter()
                .map(|cost| cost.rounds)
                .max()
                .unwrap_or(0),
            largest_error: largest_error(&case)?,
            values: workload.values,
            parties: workload.mix.1,
            mix: workload.mix.0.to_string(),
            circuits: match measured.goal {
                Goal::Size => "size",
                Goal::Depth => "depth",
            },
            threads: setting.threads,
            repeats: measured.times.len(),
            least_seconds: least,
            bound_by,
            reached: least / total.median,
        })
    }

    fn row(&self) -> Vec<String> {
        vec![
            self.name.to_owned(),
            seconds(self.seconds),
            seconds(self.minimum_seconds),
            seconds(self.maximum_seconds),
            seconds(self.online_seconds),
            seconds(self.base_ots_seconds),
            bytes(self.bytes),
            bytes(self.online_bytes),
            self.online_rounds.to_string(),
            self.largest_error
                .map(|error| format!("{error:.2}"))
                .unwrap_or_default(),
            self.circuits.to_owned(),
            format!("{} ({})", seconds(self.least_seconds), self.bound_by),
            format!("{:.0} %", 100.0 * self.reached),
        ]
    }
}

fn spread(measured: &Measured, pick: impl Fn(&Times) -> f64) -> Spread {
    Spread::of(measured.times.iter().map(pick).collect())
}

/// How far the result in the clear, which is that of every run, is from the real numbers.
fn largest_error(case: &Case) -> Result<Option<f64>> {
    let Some(exact) = &case.exact else {
        return Ok(None);
    };
    let outputs = case.recorded.program.simulate(&case.recorded.inputs);
    let outputs = outputs.map_err(Failure::bug)?;
    let Some(found) = outputs.arrays().next().flatten() else {
        return Err(Failure::bug("a program without an output"));
    };
    let steps = 2f64.powi(found.element().fraction() as i32);
    let pairs = found.to_f64().into_iter().zip(exact);
    let errors = pairs.map(|(found, exact)| (found - exact).abs() * steps);
    Ok(Some(errors.fold(0.0, f64::max)))
}
