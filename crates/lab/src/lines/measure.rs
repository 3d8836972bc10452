//! A job run with and without its line, and what is expected of it.

use std::path::PathBuf;
use std::sync::Arc;

use madrigal_core::time::{Link, Rates, Time};
use madrigal_core::{Party, Phase};
use madrigal_operations::Circuit;

use super::rows::{Row, Rule};
use crate::args::{Patience, TransportArg};
use crate::circuits::random_inputs;
use crate::exit::{Failure, Result};
use crate::jobs::local::{LocalOutcome, LocalRun};
use crate::jobs::{Own, PlannedCircuit, Task};
use crate::rates;
use crate::reach::Network;
use crate::spread::Spread;
use crate::stores::StoreFiles;
use madrigal_app::runs::{PartyRuns, RunFigures};

/// Trips from one end of the line to the other that a setup may take on top.
const TRIPS: f64 = 6.0;

/// How often a party doubles how far it goes ahead, from a line without latency to a far one.
const DOUBLINGS: f64 = 6.0;

/// Seconds that were measured for a row, in the phase that its rule is about.
pub(super) struct Measured {
    /// Without the line.
    pub alone: f64,
    pub measured: f64,
    pub expected: f64,
    /// Seconds that the line takes for bytes or for rounds if nothing is computed.
    pub line: f64,
    pub limit: f64,
    /// Bytes that the party sends which sends most.
    pub bytes_sent: u64,
    pub rounds: u64,
    /// Memory of the party that takes most.
    pub peak_rss_bytes: Option<u64>,
    /// Memory by the plan, without the program itself; `None` for stores.
    pub expected_memory: Option<u64>,
    /// The network of the run.
    pub network: String,
}

/// A job and its plan.
pub(super) struct Measurement<'a> {
    row: &'a Row,
    link: Link,
    circuit: Option<Arc<Circuit>>,
    plan: Option<PlannedCircuit>,
    repeat: u32,
}

impl<'a> Measurement<'a> {
    pub(super) fn new(row: &'a Row, repeat: u32) -> Result<Self> {
        let (circuit, plan) = match &row.task {
            Task::Compute(job) => {
                let circuit = Arc::new(Circuit::new(&job.circuit.netlist()?));
                let plan = job.plan(Arc::clone(&circuit))?;
                (Some(circuit), Some(plan))
            }
            Task::Precompute(_) => (None, None),
        };
        Ok(Self {
            link: Network::parse(&row.line)?.link(),
            row,
            circuit,
            plan,
            repeat,
        })
    }

    /// Measures the row on `cores` cores, which the parties share.
    pub(super) fn run(&self, cores: usize) -> Result<Measured> {
        let alone = self.median("none")?.0;
        let (bytes, waiting) = self.least()?;
        let before = self.expected_now(cores)?;
        let line = bytes.max(waiting);
        let usual = alone.max(line);
        let trip = self.link.latency;
        let mut network = self.row.line.clone();
        let limit = match self.row.rule {
            Rule::Setup | Rule::Whole => 1.3 * usual + TRIPS * trip,
            Rule::Lengthening => {
                network = format!("lan/100ms/{}", self.row.line);
                1.3 * usual + (TRIPS + 2.0 * DOUBLINGS) * trip
            }
            Rule::Online => 1.5 * trip * self.block_rounds()? as f64 + alone.max(bytes),
            Rule::Disordered => {
                let profile = Network::parse(&self.row.line)?.profile;
                let late = profile.map_or(0.0, |profile| profile.jitter.as_secs_f64());
                let trips = waiting / trip.max(f64::MIN_POSITIVE);
                1.5 * alone.max(bytes + trips * (trip + late))
            }
            Rule::Falling => {
                let half = usual / 2.0;
                // The line's clock begins before the parties greet each other.
                network = falling(&self.row.line, TRIPS * trip + half)?;
                // The half that has not been sent by then takes ten times as long.
                1.5 * alone.max(waiting + bytes / 2.0 + 10.0 * bytes / 2.0)
            }
        };
        let (measured, figures) = self.median(&network)?;
        let expected = (before + self.expected_now(cores)?) / 2.0;
        let runs = || figures.iter().flat_map(|party| &party.runs);
        let phases = runs().flat_map(|run| self.phases(run));
        let peaks = figures.iter().map(|party| party.peak_rss_bytes);
        Ok(Measured {
            alone,
            measured,
            expected,
            line,
            limit,
            bytes_sent: phases.clone().map(|phase| phase.0).max().unwrap_or(0),
            rounds: phases.map(|phase| phase.1).max().unwrap_or(0),
            peak_rss_bytes: peaks.max().flatten(),
            expected_memory: self.plan.as_ref().map(|plan| {
                let of = |me| plan.plan.memory(me) as u64;
                Party::all(self.row.parties()).map(of).max().unwrap_or(0)
            }),
            network,
        })
    }

    /// The slowest party's seconds, in the median run, and the figures of the last one.
    fn median(&self, network: &str) -> Result<(f64, Vec<PartyRuns>)> {
        let mut seconds = Vec::new();
        let mut last = Vec::new();
        for _ in 0..self.repeat {
            let figures = self.once(network)?.figures;
            seconds.push(self.seconds(&figures));
            last = figures;
        }
        Ok((Spread::of(seconds).median, last))
    }

    fn once(&self, network: &str) -> Result<LocalOutcome> {
        let mut stores = None;
        let own = match &self.row.task {
            Task::Compute(job) => {
                let circuit = self.circuit.as_ref();
                let circuit = circuit.ok_or_else(|| Failure::bug("a job without a circuit"))?;
                let own = random_inputs(job, circuit)?;
                let helpers = (0..self.row.task.helpers()).map(|_| Own::default());
                own.into_iter().chain(helpers).collect()
            }
            Task::Precompute(task) => {
                let directory = &stores.insert(Directory::new()?).0;
                let own = |me| Own {
                    store: Some(StoreFiles::local(directory, me)),
                    ..Own::default()
                };
                (0..task.parties).map(own).collect()
            }
        };
        LocalRun {
            task: &self.row.task,
            circuit: self.circuit.clone(),
            circuit_text: None,
            own,
            transport: TransportArg::Tcp,
            network,
            patience: &Patience::default(),
            quiet: true,
        }
        .start()
    }

    /// Adds up the seconds of the phases that count, at the slowest party. The online phase begins when the last party has
    /// ended its setup.
    fn seconds(&self, figures: &[PartyRuns]) -> f64 {
        let slowest = |pick: fn(&RunFigures) -> f64| {
            let runs = figures.iter().flat_map(|party| &party.runs);
            runs.map(pick).fold(0.0, f64::max)
        };
        let setup = |run: &RunFigures| run.setup.seconds;
        match self.row.rule {
            Rule::Setup | Rule::Falling | Rule::Lengthening | Rule::Disordered => slowest(setup),
            Rule::Online => slowest(|run| run.setup.seconds + run.online.seconds) - slowest(setup),
            Rule::Whole => slowest(|run| run.total_seconds),
        }
    }

    /// Bytes sent and rounds of the phases that count.
    fn phases(&self, run: &RunFigures) -> impl Iterator<Item = (u64, u64)> + Clone {
        let phases = match self.row.rule {
            Rule::Setup | Rule::Falling | Rule::Lengthening | Rule::Disordered => vec![run.setup],
            Rule::Online => vec![run.online],
            Rule::Whole => vec![run.setup, run.online],
        };
        phases
            .into_iter()
            .map(|phase| (phase.bytes_sent, phase.rounds))
    }

    /// Estimates the time by this machine's rates as they are now.
    fn expected_now(&self, cores: usize) -> Result<f64> {
        let trial = match (&self.plan, &self.row.task) {
            (Some(plan), _) => plan.plan.trial(),
            (None, Task::Precompute(task)) => Some(task.spec(task.threads)?.trial()),
            _ => None,
        };
        let processes = self.row.parties() + self.row.task.helpers();
        let part = (cores as f64 / processes as f64).min(1.0);
        let rates = rates::measure_together(trial.as_ref(), processes)?.of_part(part);
        Ok(self.expected(&rates, &self.link)?.total)
    }

    /// Estimates the time of the slowest party.
    fn expected(&self, rates: &Rates, link: &Link) -> Result<Time> {
        let of = |me: Party| -> Result<Time> {
            match (&self.plan, &self.row.task) {
                (Some(plan), _) => {
                    let time = plan.plan.time(me, rates, link);
                    Ok(match self.row.rule {
                        Rule::Setup | Rule::Falling | Rule::Lengthening | Rule::Disordered => {
                            time.setup
                        }
                        Rule::Online => *time.phase(Phase::Online),
                        Rule::Whole => Time {
                            total: time.total,
                            ..time.setup.then(time.online)
                        },
                    })
                }
                (None, Task::Precompute(task)) => {
                    Ok(task.spec(task.threads)?.time(me, task.parties, rates, link))
                }
                _ => Err(Failure::bug("a computation without a plan")),
            }
        };
        let all = Party::all(self.row.parties()).map(of);
        let all = all.collect::<Result<Vec<_>>>()?;
        let slowest = all.into_iter().max_by(|a, b| a.total.total_cmp(&b.total));
        Ok(slowest.unwrap_or_default())
    }

    /// Gives the seconds that bytes take, and those that rounds take, if computing takes none.
    fn least(&self) -> Result<(f64, f64)> {
        let time = |link: &Link| self.expected(&Rates::UNBOUNDED, link);
        // A line that is as narrow waits for rounds alone, and not for windows.
        let narrow = Link {
            bytes_per_second: Some(1.0),
            ..self.link
        };
        Ok((time(&self.link)?.sending, time(&narrow)?.waiting))
    }

    /// Online rounds of one block.
    fn block_rounds(&self) -> Result<u64> {
        let (Some(circuit), Task::Compute(job)) = (&self.circuit, &self.row.task) else {
            return Err(Failure::bug("a computation without a circuit"));
        };
        let mut job = job.clone();
        job.lanes = 1;
        let plan = job.plan(Arc::clone(circuit))?;
        let rounds = Party::all(self.row.parties()).map(|me| plan.plan.cost(me).online.rounds);
        Ok(rounds.max().unwrap_or(0))
    }
}

/// Describes the line whose bandwidth falls to a tenth `after` some seconds.
fn falling(line: &str, after: f64) -> Result<String> {
    let profile = Network::parse(line)?.profile.unwrap_or_default();
    let round_trip = 2.0 * profile.latency.as_secs_f64();
    let kilobits = profile.bits_per_second.unwrap_or_default() / 10_000;
    Ok(format!(
        "{line}/{}ms/{}ms,{kilobits}kbps",
        (1e3 * after).round(),
        1e3 * round_trip
    ))
}

/// A directory for stores, which is removed in the end.
struct Directory(PathBuf);

impl Directory {
    fn new() -> Result<Self> {
        let mut random = [0; 8];
        getrandom::fill(&mut random).map_err(Failure::bug)?;
        let name = format!("madrigal-bench-{}", crate::numbers::hex(&random));
        Ok(Self(std::env::temp_dir().join(name)))
    }
}

impl Drop for Directory {
    fn drop(&mut self) {
        // A directory that cannot be removed is a temporary one, and holds random numbers alone.
        let _ = std::fs::remove_dir_all(&self.0);
    }
}
