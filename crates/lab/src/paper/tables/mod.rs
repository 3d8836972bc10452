//! The tables of MOTION and MOTION2NX.

pub mod circuits;
pub mod costs;
mod gates;
pub mod integers;
pub mod matching;
pub mod networks;
pub mod ots;
pub mod primitives;

use std::thread;

use madrigal_circuit::Rows;
use madrigal_core::Party;
use madrigal_engine::{Graph, Plan, Shares};
use madrigal_program::Plain;
use madrigal_program::lower::Mix;

use super::bench::{Bench, Job, Told};
use super::estimate::Estimate;
use super::published::Place;
use crate::args::{BenchPaper, TransportArg};
use crate::exit::{Failure, Result};
use crate::graphs::{self, Measured, Repeated, Times};
use crate::machine::available_memory;
use crate::numbers::{bytes, seconds};
use crate::programs::measure::{Setting, typed};
use crate::programs::workloads::{Random, Recorded, Recording};
use crate::reach::Network;

type Jobs = Result<Vec<Job<'static>>>;

/// Memory of all parties together above which a row is not run, where the system does not say how much there is.
const MOST_MEMORY: u64 = 8 << 30;

/// How the programs of a table are measured; `phases` says whether the phases' times count.
fn setting(bench: &Bench<'_>, place: &Place, phases: bool) -> Result<Setting> {
    Ok(Setting {
        runs: graphs::Setting {
            transport: TransportArg::Tcp,
            network: Network::parse(&place.network)?,
            threads: 1,
            repeat: bench.repeat(),
        },
        online: phases,
        variants: bench.args.variants(),
    })
}

/// Says why a plan is too large to be run: the parties share this machine's cores.
fn too_large(bench: &Bench<'_>, plan: &Plan, setting: &Setting) -> Result<Option<String>> {
    let parties = plan.spec().graph.parties();
    let cores = thread::available_parallelism().map_or(1, usize::from);
    let crowd = (parties as f64 / cores as f64).max(1.0);
    let link = setting.runs.network.link();
    let time = plan.time(Party::new(0), bench.rates()?, &link);
    let waiting = time.setup.waiting + time.online.waiting;
    let expected = waiting + crowd * (time.total - waiting).max(0.0);
    if expected > bench.args.limit.unwrap_or(BenchPaper::LIMIT) {
        let expected = seconds(expected);
        return Ok(Some(format!(
            "a run is expected to take {expected}, more than --limit"
        )));
    }
    let memory: usize = Party::all(parties).map(|party| plan.memory(party)).sum();
    let most = available_memory().unwrap_or(MOST_MEMORY);
    let memory = (memory as u64 > most).then_some(memory as u64);
    Ok(memory.map(|memory| {
        let [memory, most] = [memory, most].map(bytes);
        format!("the parties would take {memory}, and this machine has {most} to give")
    }))
}

/// Measures what is planned, unless it is too large, and tells of it.
fn run(
    bench: &Bench<'_>,
    planned: &impl Repeated,
    setting: &Setting,
    tell: impl FnOnce(&Measured) -> Vec<Estimate>,
) -> Result<Told> {
    if let Some(reason) = too_large(bench, planned.plan(), setting)? {
        return Ok(Told::NotRun(reason));
    }
    let measured = graphs::run(planned, &setting.runs)?;
    Ok(Told::Values(tell(&measured)))
}

/// Measures a typed program.
fn run_program(
    bench: &Bench<'_>,
    place: &Place,
    (mix, phases): (Mix, bool),
    make: impl FnOnce(&mut Random, usize) -> Recording,
    tell: impl FnOnce(&Measured) -> Vec<Estimate>,
) -> Result<Told> {
    let recorded = make(&mut Random::new()?, place.parties).map_err(Failure::bug)?;
    run_recorded(bench, place, (mix, phases), &recorded, tell)
}

/// Measures a typed program that is there.
fn run_recorded(
    bench: &Bench<'_>,
    place: &Place,
    (mix, phases): (Mix, bool),
    recorded: &Recorded,
    tell: impl FnOnce(&Measured) -> Vec<Estimate>,
) -> Result<Told> {
    let setting = setting(bench, place, phases)?;
    run(bench, &typed(mix, recorded, &setting)?, &setting, tell)
}

/// A time of all runs, for one of `ops` operations.
fn of_one(measured: &Measured, ops: usize, pick: impl Fn(&Times) -> f64) -> Estimate {
    let each = measured.times.iter().map(|times| pick(times) / ops as f64);
    Estimate::of(each.collect())
}

/// Draws random elements.
fn random<T: Plain>(random: &mut Random, count: usize) -> Vec<T> {
    let words = random.words(count).into_iter();
    words.map(|word| T::decode(word.into())).collect()
}

/// Random values for the inputs of operations.
fn random_inputs(graph: &Graph) -> Result<Vec<Shares>> {
    let mut random = Random::new()?;
    let mut inputs = Vec::new();
    for &value in graph.inputs() {
        let sort = *graph.sort(value);
        let mut rows = Rows::new(sort.element.bits(), sort.len);
        for row in 0..rows.rows() {
            let words = random.words(rows.row(row).len() / 8);
            let bytes = words.iter().flat_map(|word| word.to_le_bytes());
            let to = rows.row_mut(row).iter_mut();
            to.zip(bytes).for_each(|(to, byte)| *to = byte);
        }
        rows.clear_padding();
        inputs.push(Shares::rows(sort.sharing, &rows));
    }
    Ok(inputs)
}
