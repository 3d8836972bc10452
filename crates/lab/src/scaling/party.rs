//! A process of the benchmark: one party over a socket, or all of them over memory.

use std::io::{self, BufRead, Read};
use std::net::{Ipv4Addr, TcpListener};
use std::sync::Arc;

use madrigal_app::reach::Way;
use madrigal_app::threads::Threads;
use madrigal_circuit::Rows;
use madrigal_core::Party;
use madrigal_engine::{Given, Outcome, Shares, run_program};
use madrigal_net::Session;
use madrigal_net::identity::{Identity, Validity};
use madrigal_net::roster::Roster;
use madrigal_net::tls::TlsParty;
use madrigal_net::transport::Security;
use madrigal_operations::{Circuit, Variants, input_bits_of, run_rows};

use super::messages::{Assignment, Done, Event, Figures, Meeting, Used, receive, send};
use super::processor::Clock;
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
    let told = match take_part() {
        Ok(done) => Event::Done(done),
        Err(failure) => Event::Failed {
            status: failure.status(),
            message: failure.to_string(),
            echo: failure.is_echo(),
        },
    };
    let told = send(&mut io::stdout().lock(), &told);
    told.map_err(Failure::system("the starter has gone"))
}

fn take_part() -> Result<Done> {
    let lost = Failure::system("this command is started by `madrigal-lab scaling` alone");
    let mut input = io::stdin().lock();
    let assignment: Option<Assignment> = receive(&mut input).map_err(lost)?;
    let assignment = assignment.ok_or_else(|| Failure::bug("a process without a task"))?;
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
            let meeting = begin(input, &party.ready())?;
            let work = async |session: &Session| {
                let clock = Clock::start();
                let result = prepared.work(session, 0).await?;
                Ok((result, clock.stop()))
            };
            let (result, used) = party.meet(me, &meeting, assignment.threads, work)?;
            (vec![result], used)
        }
        _ => {
            begin(
                input,
                &Event::Ready {
                    address: None,
                    key: None,
                },
            )?;
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

/// Tells the starter that all is ready, and waits until it says where the parties are.
fn begin(mut input: impl BufRead, ready: &Event) -> Result<Meeting> {
    let told = send(&mut io::stdout().lock(), ready);
    told.map_err(Failure::system("the starter has gone"))?;
    let meeting = receive(&mut input).map_err(Failure::system("cannot read the addresses"))?;
    let meeting = meeting.ok_or_else(|| Failure::bug("a process without addresses"))?;
    drop(input);
    end_with_the_starter();
    Ok(meeting)
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
                Ok((figures(&outcome), Outputs::Shares(outcome.outputs)))
            }
            (Planned::Circuit(planned), Brought::Rows(rows)) => {
                let outcome = run_rows(session, 1, &planned.plan, rows, None, &|_| {}).await?;
                Ok((figures(&outcome), Outputs::Rows(outcome.outputs)))
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

fn figures<T>(outcome: &Outcome<T>) -> Figures {
    let spent = outcome.setup.spent + outcome.online.spent;
    Figures {
        seconds: outcome.total.as_secs_f64(),
        setup_seconds: outcome.setup.time.as_secs_f64(),
        online_seconds: outcome.online.time.as_secs_f64(),
        bytes_sent: spent.bytes_sent,
        aes_blocks: spent.aes_blocks,
        rounds: spent.rounds,
    }
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

/// A party that others can reach.
struct Listening {
    listener: TcpListener,
    address: String,
    /// A key for this run alone; it never leaves this process.
    identity: Option<Identity>,
}

impl Listening {
    fn new(transport: TransportArg) -> Result<Self> {
        // Port 0: the system gives a free one, and it stays ours.
        let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, 0));
        let listener =
            listener.map_err(Failure::system("cannot listen on the loopback interface"))?;
        let address = listener.local_addr();
        let address = address.map_err(Failure::system("cannot listen"))?;
        let identity = match transport {
            TransportArg::Tls => Some(Identity::generate(Validity::days(1)?)?),
            TransportArg::Tcp | TransportArg::Memory => None,
        };
        Ok(Self {
            listener,
            address: address.to_string(),
            identity,
        })
    }

    fn ready(&self) -> Event {
        let key = self
            .identity
            .as_ref()
            .map(|identity| identity.fingerprint());
        Event::Ready {
            address: Some(self.address.clone()),
            key: key.map(|key| key.to_string()),
        }
    }

    fn meet<T>(
        self,
        me: Party,
        meeting: &Meeting,
        threads: usize,
        work: impl AsyncFnOnce(&Session) -> Result<T>,
    ) -> Result<T> {
        let security = match &self.identity {
            None => Security::Clear,
            Some(identity) => Security::Tls(TlsParty::new(identity, Arc::new(roster(meeting)?))?),
        };
        let way = Way {
            me,
            addresses: &meeting.addresses,
            listener: self.listener,
            security: &security,
            network: Network::new(None),
            patience: &Patience::default(),
            threads,
            name: "",
            observe: &|_| {},
        };
        way.in_session(work)
    }
}

fn roster(meeting: &Meeting) -> Result<Roster> {
    let mut parties = Vec::new();
    for (address, key) in meeting.addresses.iter().zip(&meeting.keys) {
        let address = address.parse().map_err(Failure::bug)?;
        let key = key.parse().map_err(Failure::bug)?;
        parties.push((address, key));
    }
    Ok(Roster::local(parties)?)
}

/// Ends this process when its standard input does: the starter keeps it open as long as it lives.
fn end_with_the_starter() {
    std::thread::spawn(|| {
        let _ = io::stdin().lock().read_to_end(&mut Vec::new());
        std::process::exit(1);
    });
}
