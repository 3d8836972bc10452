//! `madrigal-lab tensors`: what neural networks are made of, each in several mixes of protocols.
//!
//! Measured as `madrigal-lab programs` is; where a result is not exact, it is compared with real numbers, too.

mod workloads;

use madrigal_core::PhaseCost;
use madrigal_operations::Variants;
use serde::Serialize;

use crate::args::BenchTensors;
use crate::exit::{Failure, Result};
use crate::graphs;
use crate::machine::Machine;
use crate::measured::{Row, Rows, is_wanted, select};
use crate::numbers::{bytes, seconds};
use crate::programs::measure::{Setting, measure};
use crate::programs::{Usual, ceilings, most};
use crate::progress::Steps;
use crate::reach::Network;
use workloads::{Case, Workload};

pub fn run(args: &BenchTensors) -> Result<()> {
    let wanted = |name: &str| is_wanted(&args.only, name);
    let wanted = select(workloads::all(), wanted, |workload| &workload.name)?;
    let network = args.network.as_deref().map(Network::parse).transpose()?;
    let machine = Machine::measure()?;
    let setting = Setting {
        runs: graphs::Setting {
            transport: args.transport,
            network: network.unwrap_or_default(),
            threads: args.threads,
            repeat: args.repeat,
        },
        online: false,
        variants: Variants::default(),
    };
    let steps = Steps::new(wanted.len() as u64, args.json);
    let mut rows = Rows::new(args.json);
    for workload in &wanted {
        steps.name(&workload.name);
        steps.advance();
        rows.add(&TensorRow::measure(workload, &setting, &machine)?)?;
    }
    steps.clear();
    rows.print(|table| {
        format!(
            "{}. Bytes are of all parties, errors in steps of the last place.\n\n{table}\n",
            ceilings(&machine, args.repeat)
        )
    })
}

/// One line of JSON, one row of the table.
#[derive(Serialize)]
struct TensorRow<'a> {
    name: &'a str,
    #[serde(flatten)]
    usual: Usual,
    /// Bytes of all parties in both phases.
    bytes: u64,
    online_bytes: u64,
    /// Online, of the party with most.
    online_rounds: u64,
    /// Largest difference from the real numbers, in steps of the last place; `null` where results are exact.
    largest_error: Option<f64>,
    values: usize,
}

impl<'a> TensorRow<'a> {
    fn measure(workload: &'a Workload, setting: &Setting, machine: &Machine) -> Result<Self> {
        let (case, mix) = (workload.make()?, workload.mix.0);
        let (measured, goal) = measure(mix, &case.recorded, setting)?;
        let sum = |costs: &[PhaseCost]| costs.iter().map(|cost| cost.bytes_sent).sum();
        Ok(Self {
            name: &workload.name,
            usual: Usual::new(&measured, goal, mix, setting, machine),
            bytes: sum(&measured.costs),
            online_bytes: sum(&measured.online_costs),
            online_rounds: most(&measured.online_costs, |cost| cost.rounds),
            largest_error: largest_error(&case)?,
            values: workload.values,
        })
    }
}

impl Row for TensorRow<'_> {
    const HEADER: &'static [&'static str] = &[
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
    ];

    fn cells(&self) -> Vec<String> {
        let error = |error: f64| format!("{error:.2}");
        let mut cells = vec![self.name.to_owned()];
        cells.extend(self.usual.times());
        cells.extend([
            seconds(self.usual.base_ots_seconds),
            bytes(self.bytes),
            bytes(self.online_bytes),
            self.online_rounds.to_string(),
            self.largest_error.map(error).unwrap_or_default(),
            self.usual.circuits.to_owned(),
        ]);
        cells.extend(self.usual.limit());
        cells
    }
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
