//! One party's part in a task, wherever it runs.

use std::io;
use std::pin::Pin;
use std::sync::Arc;

use madrigal_circuit::Rows;
use madrigal_circuit::values::Lines;
use madrigal_core::Party;
use madrigal_correlations_store::Store;
use madrigal_engine::{Means, Origin, Precomputation, Progress, Shares};
use madrigal_net::{Fact, Session};
use madrigal_operations::{Brought, Circuit, run_shared_rows};
use sha2::{Digest, Sha256};

use super::fault::Misuse;
use super::task::{self, Job, Own, PlannedCircuit, Task};
use crate::failure::{Failure, Result};
use crate::figures::peak_rss_bytes;
use crate::flags::Patience;
use crate::progress::Bars;
use crate::remote::RemoteParty;
use crate::runs::{PartyRuns, RunFigures};
use crate::stores::StoreFiles;
use crate::threads::unplanned;

/// A party that has read all it needs.
pub struct Prepared {
    /// The party.
    pub me: Party,
    part: Part,
}

enum Part {
    Compute(Box<Computation>),
    Precompute(Box<StoreTask>),
}

/// A store that is to be made.
struct StoreTask {
    task: task::Precomputation,
    files: StoreFiles,
    /// The new store, which is taken when it is made.
    new: Option<Precomputation>,
}

struct Computation {
    job: Job,
    /// The circuit as it was read.
    circuit: Arc<Circuit>,
    planned: PlannedCircuit,
    inputs: Arc<Rows>,
    dealt: Vec<(Shares, Fact)>,
    /// Open from the beginning, so that what is wrong with it is known before the parties meet.
    store: Option<(StoreFiles, Store)>,
    repeat: u32,
}

/// Result and costs of a party.
pub struct PartyOutcome {
    /// The result; `None` at a party that does not get it.
    pub output: Option<PartyOutput>,
    /// Shares of the result that are for clients; `None` if it is for none.
    pub handed: Option<Handed>,
    /// Costs of the runs.
    pub figures: PartyRuns,
}

/// Shares of a result that are for clients.
pub struct Handed {
    /// This party's share of each output value.
    pub shares: Vec<Shares>,
    /// Bytes that are the same at all parties, and of this run alone.
    pub run: [u8; 32],
}

/// A result. The text of values takes twice their memory and more, so it is made as it is written.
#[derive(PartialEq)]
pub enum PartyOutput {
    /// The name of a store.
    Store(String),
    /// Opened values, and the width of each.
    Values(Rows, Vec<u32>),
}

impl PartyOutput {
    /// Writes the text.
    pub fn write_to(&self, to: &mut dyn io::Write) -> io::Result<()> {
        match self {
            Self::Store(id) => writeln!(to, "{id}"),
            Self::Values(rows, widths) => {
                let lines = Lines::new(rows, widths).map_err(io::Error::other)?;
                lines.write_to(to)
            }
        }
    }

    /// Makes the whole text.
    pub fn text(&self) -> Result<Vec<u8>> {
        let mut text = Vec::new();
        self.write_to(&mut text).map_err(Failure::bug)?;
        Ok(text)
    }
}

impl PartyOutcome {
    /// Reports of a party of the session that computes nothing.
    pub fn of_helper(party: usize) -> Self {
        Self {
            output: None,
            handed: None,
            figures: PartyRuns {
                party,
                runs: Vec::new(),
                peak_rss_bytes: peak_rss_bytes(),
            },
        }
    }
}

/// Runs of a task in its session.
#[derive(Clone, Copy)]
pub struct Runs<'a> {
    /// Number of the first job in its session; the parties have the same.
    pub first_job: u32,
    /// Time that parties wait for each other.
    pub patience: &'a Patience,
}

impl Prepared {
    /// Reads what the party brings, and makes the plan or the new store's directory. The circuit is
    /// read if it is not there yet. A store must have enough for all repetitions.
    pub fn new(task: &Task, me: usize, circuit: Option<Arc<Circuit>>, own: &Own) -> Result<Self> {
        Ok(Self {
            me: Party::checked(me, task.parties()).map_err(Failure::bug)?,
            part: match task {
                Task::Compute(job) => {
                    let circuit = match circuit {
                        Some(circuit) => circuit,
                        None => Arc::new(job.circuit.circuit()?.compiled()),
                    };
                    Part::Compute(Box::new(Computation::new(job, me, circuit, own)?))
                }
                Task::Precompute(task) => Part::Precompute(Box::new(StoreTask::new(task, own)?)),
            },
        })
    }

    /// Gives the plan of a computation.
    pub fn planned(&self) -> Result<&PlannedCircuit> {
        match &self.part {
            Part::Compute(computation) => Ok(&computation.planned),
            Part::Precompute(_) => Err(Failure::bug("a precomputation has no plan")),
        }
    }

    /// Takes part.
    pub fn work<'a>(
        &'a mut self,
        session: &'a Session,
        runs: Runs<'a>,
        observe: &'a dyn Fn(Progress),
    ) -> Pin<Box<dyn Future<Output = Result<PartyOutcome>> + 'a>> {
        Box::pin(self.do_part(session, runs, observe))
    }

    /// Takes part as one real party.
    pub fn run(&mut self, party: RemoteParty<'_>, quiet: bool) -> Result<PartyOutcome> {
        let runs = Runs {
            first_job: 1,
            patience: party.patience(),
        };
        let bars = Bars::new(1, quiet);
        let observe = |progress: Progress| bars.update(0, progress.into());
        bars.meeting();
        let party = party.with_quiet(quiet);
        let done = party.in_session(async |session| {
            bars.met();
            self.work(session, runs, &observe).await
        });
        bars.clear();
        done
    }

    async fn do_part(
        &mut self,
        session: &Session,
        runs: Runs<'_>,
        observe: &dyn Fn(Progress),
    ) -> Result<PartyOutcome> {
        let (output, handed, runs) = match &mut self.part {
            Part::Compute(computation) => computation.compute(session, runs, observe).await?,
            Part::Precompute(store) => {
                let precomputation = store.on_common_threads(session)?;
                let deadline = runs.patience.deadline;
                let made = precomputation
                    .run(session, runs.first_job, deadline, observe)
                    .await?;
                let id = made.id.to_string();
                let runs = vec![RunFigures::from(&made)];
                (Some(PartyOutput::Store(id)), None, runs)
            }
        };
        Ok(PartyOutcome {
            output,
            handed,
            figures: PartyRuns {
                party: self.me.index(),
                runs,
                peak_rss_bytes: peak_rss_bytes(),
            },
        })
    }
}

impl Computation {
    fn new(job: &Job, me: usize, circuit: Arc<Circuit>, own: &Own) -> Result<Self> {
        let inputs = own.input.as_ref();
        let inputs = inputs.map(|input| input.rows(job, me, &circuit));
        let inputs = inputs.transpose()?;
        let planned = job.plan(Arc::clone(&circuit))?;
        let inputs = inputs.unwrap_or_else(|| Rows::new(0, planned.job.lanes));
        if own.store.is_none() && planned.plan.spec().origin == Origin::Store {
            return Err(Misuse::StoreElsewhere.into());
        }
        let mut store = None;
        if let Some(files) = &own.store {
            let opened = files.open()?;
            let enough = planned.plan.check_store(&opened, job.repeat);
            enough.map_err(files.failed())?;
            store = Some((files.clone(), opened));
        }
        Ok(Self {
            job: job.clone(),
            circuit,
            planned,
            inputs: Arc::new(inputs),
            dealt: own.dealt.clone(),
            store,
            repeat: job.repeat,
        })
    }

    /// Plans again if the parties have fewer threads in common than this one has.
    fn replan(&mut self, session: &Session) -> Result<()> {
        let common = session.common_threads(self.job.parties)?;
        if common == self.planned.plan.spec().threads {
            return Ok(());
        }
        let planned = self.job.plan_on(Arc::clone(&self.circuit), common)?;
        if let Some((files, store)) = &self.store {
            let enough = planned.plan.check_store(store, self.repeat);
            enough.map_err(files.failed())?;
        }
        self.planned = planned;
        Ok(())
    }

    /// Computes, `repeat` times.
    async fn compute(
        &mut self,
        session: &Session,
        runs: Runs<'_>,
        observe: &dyn Fn(Progress),
    ) -> Result<(Option<PartyOutput>, Option<Handed>, Vec<RunFigures>)> {
        self.replan(session).inspect_err(|_| unplanned(session))?;
        let mut figures = Vec::new();
        let (mut output, mut handed) = (None, None);
        // All that is kept of the results before: a result may be as large as all else.
        let mut digest = None;
        for repetition in 0..self.repeat {
            let (id, last) = (runs.first_job + repetition, repetition + 1 == self.repeat);
            let deadline = runs.patience.deadline;
            let brought = Brought {
                // The last run may drop them when they are shared.
                inputs: match last {
                    true => std::mem::take(&mut self.inputs),
                    false => Arc::clone(&self.inputs),
                },
                dealt: match last {
                    true => std::mem::take(&mut self.dealt),
                    false => self.dealt.clone(),
                },
                means: match &mut self.store {
                    Some((_, store)) => Means::from(store),
                    None => Means::default(),
                },
            };
            let plan = &self.planned.plan;
            let report = run_shared_rows(session, id, plan, brought, deadline, observe).await?;
            figures.push(RunFigures::from(&report));
            if self.repeat > 1 {
                let made = report.outputs.opened.as_ref();
                let made = made.map(|rows| Sha256::digest(rows.as_bytes()));
                if digest.replace(made).is_some_and(|before| before != made) {
                    return Err(Failure::bug("a repetition gave another result"));
                }
            }
            if last {
                output = report.outputs.opened;
                handed = self.planned.job.hands_out.then(|| Handed {
                    shares: report.outputs.handed,
                    run: session.run_id(id),
                });
            }
        }
        let widths = self.planned.job.circuit.outputs();
        let output = output.map(|rows| PartyOutput::Values(rows, widths.to_vec()));
        Ok((output, handed, figures))
    }
}

impl StoreTask {
    /// Makes the directory of a new store.
    fn new(task: &task::Precomputation, own: &Own) -> Result<Self> {
        let files = own.store.clone();
        let files = files.ok_or_else(|| Failure::bug("a new store without a directory"))?;
        let new = files.make(task.spec(task.threads)?)?;
        Ok(Self {
            task: task.clone(),
            files,
            new: Some(new),
        })
    }

    /// Takes the new store, made anew if the parties have fewer threads in common than this one has.
    fn on_common_threads(&mut self, session: &Session) -> Result<Precomputation> {
        let new = self.new.take();
        let new = new.ok_or_else(|| Failure::bug("a store is made once"))?;
        let common = session.common_threads(self.task.parties)?;
        if common == new.spec().threads {
            return Ok(new);
        }
        // The directory is free again then.
        drop(new);
        let made = self
            .task
            .spec(common)
            .and_then(|spec| self.files.make(spec));
        made.inspect_err(|_| unplanned(session))
    }
}
