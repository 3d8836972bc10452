//! A process of the benchmark: one party over a socket, or all of them over memory.

use std::sync::Arc;

use madrigal_app::processes::{self, Clock, Listening, Ready as Listens, Starter};
use madrigal_app::threads::Threads;
use madrigal_circuit::Rows;
use madrigal_core::Party;
use madrigal_engine::{Given, Shares, run_program};
use madrigal_net::Session;
use madrigal_operations::{Circuit, Variants, input_bits_of, run_rows};

use super::messages::{Assignment, Done, Figures, Used};
use super::workloads::{Kind, RECEIVER, Work, Workload, all};
use crate::args::{Patience, TransportArg};
use crate::everyone::everyone;
use crate::exit::{Failure, Result};
use crate::graphs;
use crate::jobs::PlannedCircuit;
use crate::programs::measure::{Ready, Setting, is_right};
use crate::reach::Network;

/// Work that is planned, with the inputs of the parties of this process.
struct Prepared {
    plan: Planned,
    brought: Vec<Brought>,
    ops: u64,
}

enum Planned {
    Program(Box<Ready>),
    Circuit(Box<PlannedCircuit>),
}

/// Inputs of a party.
#[derive(Clone)]
enum Brought {
    Shares(Vec<Shares>),
    Rows(Arc<Rows>),
}

/// Results of a party.
enum Outputs {
    Shares(Vec<Shares>),
    Rows(Option<Rows>),
}

/// Computes what the starter says, and tells it the outcome.
pub fn run() -> Result<()> {
    processes::take_part(compute)
}

fn compute(assignment: Assignment, starter: Starter) -> Result<Done> {
    let mut all = all().into_iter().chain(crate::tables::workloads());
    let workload = all.find(|workload| workload.name == assignment.workload);
    let workload = workload.ok_or_else(|| Failure::bug("a workload that nobody knows"))?;
    let parties: Vec<Party> = match assignment.me {
        Some(me) => vec![Party::checked(me, workload.parties).map_err(Failure::bug)?],
        None => Party::all(workload.parties).collect(),
    };
    let prepared = Prepared::new(workload.make(assignment.scale)?, &assignment, &parties)?;
    let prepared = &prepared;
    let (results, used) = match parties[..] {
        [me] => {
            let party = Listening::new(assignment.transport)?;
            let meeting = starter.begin(party.ready())?;
            let work = async |session: &Session| {
                let clock = Clock::start();
                let result = prepared.work(session, 0).await?;
                Ok((result, clock.stop()))
            };
            let (result, used) = party.meet(me, &meeting, assignment.threads, work)?;
            (vec![result], used)
        }
        _ => {
            starter.begin(Listens::default())?;
            let clock = Clock::start();
            let results = everyone(
                TransportArg::Memory,
                Network::new(None),
                parties.len(),
                assignment.threads,
                &Patience::default(),
                async |session: &Session| prepared.work(session, session.me().index()).await,
            )?;
            let used = Used {
                // Threads of several parties have the same names.
                busiest_thread_seconds: None,
                ..clock.stop()
            };
            (results, used)
        }
    };
    if assignment.is_checked {
        let receiver = parties
            .iter()
            .zip(&results)
            .find(|(me, _)| **me == RECEIVER);
        if let Some((_, (_, outputs))) = receiver {
            prepared.check(&workload, assignment.scale, outputs)?;
        }
    }
    Ok(Done {
        ops: prepared.ops,
        parties: results.into_iter().map(|(figures, _)| figures).collect(),
        used,
    })
}

impl Prepared {
    /// Plans the work, and keeps of its inputs those of the parties that are here.
    fn new(work: Work, assignment: &Assignment, parties: &[Party]) -> Result<Self> {
        let ops = work.ops;
        match work.kind {
            Kind::Program(mix, recorded) => {
                let setting = Setting {
                    runs: graphs::Setting {
                        transport: assignment.transport,
                        network: Network::new(None),
                        threads: assignment.threads,
                        repeat: 1,
                    },
                    online: false,
                    variants: Variants::default(),
                };
                let ready = Ready::new(mix, &recorded, &setting)?;
                let of = |&me: &Party| {
                    let executable = &ready.executable;
                    let given = executable.given(&recorded.program, &recorded.inputs, me);
                    Ok(Brought::Shares(given.map_err(Failure::bug)?))
                };
                let brought = parties.iter().map(of).collect::<Result<_>>()?;
                Ok(Self {
                    plan: Planned::Program(Box::new(ready)),
                    brought,
                    ops,
                })
            }
            Kind::Circuit {
                mut job,
                circuit,
                inputs,
            } => {
                job.how.threads = Threads::Exactly(assignment.threads);
                let planned = job.plan(circuit)?;
                let of = |&me: &Party| Brought::Rows(Arc::new(own(&planned, me, &inputs)));
                Ok(Self {
                    brought: parties.iter().map(of).collect(),
                    plan: Planned::Circuit(Box::new(planned)),
                    ops,
                })
            }
        }
    }

    /// Runs the work as the party whose inputs are at this place.
    async fn work(&self, session: &Session, place: usize) -> Result<(Figures, Outputs)> {
        match (&self.plan, self.brought[place].clone()) {
            (Planned::Program(ready), Brought::Shares(inputs)) => {
                let given = Given {
                    inputs,
                    ..Given::default()
                };
                let outcome = run_program(session, 1, &ready.plan, given, None, &|_| {}).await?;
                Ok((Figures::from(&outcome), Outputs::Shares(outcome.outputs)))
            }
            (Planned::Circuit(planned), Brought::Rows(rows)) => {
                let outcome = run_rows(session, 1, &planned.plan, rows, None, &|_| {}).await?;
                Ok((Figures::from(&outcome), Outputs::Rows(outcome.outputs)))
            }
            _ => Err(Failure::bug("inputs of another kind")),
        }
    }

    /// Compares the receiver's results with those in the clear.
    fn check(&self, workload: &Workload, scale: f64, outputs: &Outputs) -> Result<()> {
        let right = match (workload.make(scale)?.kind, &self.plan, outputs) {
            (Kind::Program(_, recorded), Planned::Program(ready), Outputs::Shares(shares)) => {
                let found = ready.executable.outputs(shares).map_err(Failure::bug)?;
                let expected = recorded.program.simulate(&recorded.inputs);
                let is_there = found.arrays().all(|array| array.is_some());
                is_there && is_right(&found, &expected.map_err(Failure::bug)?)
            }
            (
                Kind::Circuit {
                    circuit, inputs, ..
                },
                _,
                Outputs::Rows(Some(rows)),
            ) => is_that_of(&circuit, &inputs, rows)?,
            _ => false,
        };
        match right {
            true => Ok(()),
            false => Err(Failure::bug(format!("{}: a wrong result", workload.name))),
        }
    }
}

fn is_that_of(circuit: &Circuit, inputs: &Rows, found: &Rows) -> Result<bool> {
    let [mut expected, mut found] = [
        circuit.layered().interpret(inputs).map_err(Failure::bug)?,
        found.clone(),
    ];
    expected.clear_padding();
    found.clear_padding();
    Ok(expected == found)
}

/// A party's own rows.
fn own(planned: &PlannedCircuit, me: Party, inputs: &Rows) -> Rows {
    let job = &planned.job;
    let mut own = Rows::new(input_bits_of(&planned.plan.spec().graph, me), job.lanes);
    let (mut from, mut to) = (0, 0);
    for (&width, owner) in job.circuit.inputs().iter().zip(&job.owners) {
        for wire in from..from + width as usize {
            if *owner == Some(me) {
                own.row_mut(to).copy_from_slice(inputs.row(wire));
                to += 1;
            }
        }
        from += width as usize;
    }
    own
}
