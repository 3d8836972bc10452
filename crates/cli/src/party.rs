//! One party's part in a task, wherever it runs.

use std::cell::Cell;
use std::sync::Arc;
use std::time::Instant;

use madrigal_circuit::{Rows, values};
use madrigal_core::{Party, Phase, PhaseCost};
use madrigal_correlations::store::{NewStore, Store, StoreError};
use madrigal_correlations::{Extension, Needs, OtSource};
use madrigal_engine::{Brought, Circuit, Means, Origin, Plan, Progress, RunError, run};
use madrigal_net::transport::Transport;
use madrigal_net::{Session, SessionConfig};

use crate::args::{MatricesArg, Patience};
use crate::exit::{Failure, Result, Usage};
use crate::stats::{PartyFigures, PhaseFigures, RunFigures, peak_rss_bytes};
use crate::work::{Job, Own, Precomputation, Task};

/// A party that has read all it needs.
pub struct Prepared {
    pub me: Party,
    part: Part,
}

enum Part {
    Compute(Box<Computation>),
    Precompute(Box<Making>),
}

/// A store to be filled.
struct Making {
    needs: Needs,
    extension: Extension,
    threads: usize,
    matrices: MatricesArg,
    /// Taken when it is made.
    new: Option<NewStore>,
}

struct Computation {
    plan: Plan,
    inputs: Arc<Rows>,
    /// Open from the beginning, so that what is wrong with it is known before the parties meet.
    store: Option<Store>,
    repeat: u32,
}

/// What a party has at the end.
pub struct Outcome {
    /// The result, as lines; `None` at a party that does not get it.
    pub output: Option<Vec<u8>>,
    pub figures: PartyFigures,
}

impl Outcome {
    /// Of a party of the session that computes nothing.
    pub fn of_helper(party: usize) -> Self {
        Self {
            output: None,
            figures: PartyFigures {
                party,
                runs: Vec::new(),
                peak_rss_bytes: peak_rss_bytes(),
            },
        }
    }
}

/// How a task runs in its session.
#[derive(Clone, Copy)]
pub struct Runs<'a> {
    /// Number of the first job in its session; the parties have the same.
    pub first_job: u32,
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
                        None => Arc::new(Circuit::new(&job.circuit.netlist()?)),
                    };
                    let computation = Computation::new(job, me, circuit, own)?;
                    computation.check_store(own)?;
                    Part::Compute(Box::new(computation))
                }
                Task::Precompute(task) => precomputation(task, own)?,
            },
        })
    }

    /// The plan of a computation.
    pub fn plan(&self) -> Result<&Plan> {
        match &self.part {
            Part::Compute(computation) => Ok(&computation.plan),
            Part::Precompute(_) => Err(Failure::bug("a precomputation has no plan")),
        }
    }

    /// Takes part.
    pub async fn work(
        &mut self,
        session: &Session,
        runs: Runs<'_>,
        observe: &dyn Fn(Progress),
    ) -> Result<Outcome> {
        let (output, runs) = match &mut self.part {
            Part::Compute(computation) => computation.compute(session, runs, observe).await?,
            Part::Precompute(making) => {
                let (line, figures) = making.fill(session, runs, observe).await?;
                (Some(line), vec![figures])
            }
        };
        Ok(Outcome {
            output,
            figures: PartyFigures {
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
        let plan = job.plan(circuit)?;
        let inputs = inputs.unwrap_or_else(|| Rows::new(0, plan.spec().lanes));
        if own.store.is_none() && plan.spec().origin == Origin::Store {
            return Err(Usage::StoreElsewhere.into());
        }
        let store = own.store.as_ref().map(|files| {
            let key = files.load_key()?;
            Store::open(&files.directory, &key).map_err(files.failed())
        });
        Ok(Self {
            plan,
            inputs: Arc::new(inputs),
            store: store.transpose()?,
            repeat: job.repeat,
        })
    }

    /// Our store has enough. Others may have used more of theirs: each computation asks again.
    fn check_store(&self, own: &Own) -> Result<()> {
        let (Some(store), Some(files)) = (&self.store, &own.store) else {
            return Ok(());
        };
        let holdings = store.holdings();
        for (kind, needed) in self.plan.needs().kinds() {
            let holding = holdings.iter().find(|holding| holding.kind == kind);
            let (made, left) = holding.map_or((0, 0), |holding| (holding.made, holding.left()));
            let needed = (needed as u64).saturating_mul(self.repeat.into());
            if needed > left {
                return Err(files.failed()(StoreError::Few {
                    kind,
                    needed,
                    left,
                    made,
                }));
            }
        }
        Ok(())
    }

    /// Computes, `repeat` times.
    async fn compute(
        &mut self,
        session: &Session,
        runs: Runs<'_>,
        observe: &dyn Fn(Progress),
    ) -> Result<(Option<Vec<u8>>, Vec<RunFigures>)> {
        let mut figures = Vec::new();
        let mut output: Option<Rows> = None;
        for id in (runs.first_job..).take(self.repeat as usize) {
            let deadline = runs.patience.deadline;
            let brought = Brought {
                inputs: Arc::clone(&self.inputs),
                means: self.store.as_mut().map(Means::from).unwrap_or_default(),
            };
            let report = run(session, id, &self.plan, brought, deadline, observe)
                .await
                .map_err(of_engine)?;
            if !figures.is_empty() && report.outputs != output {
                return Err(Failure::bug("a repetition gave another result"));
            }
            figures.push(RunFigures::from(&report));
            output = report.outputs;
        }
        let widths = self.plan.spec().circuit.outputs();
        let output = output.map(|rows| values::write(&rows, widths)).transpose();
        Ok((output.map_err(Failure::bug)?, figures))
    }
}

fn precomputation(task: &Precomputation, own: &Own) -> Result<Part> {
    let needs: Needs = task.triples.parse().map_err(Failure::bug)?;
    let files = own.store.as_ref();
    let files = files.ok_or_else(|| Failure::bug("a new store without a directory"))?;
    let key = files.load_or_make_key()?;
    let new = NewStore::create(&files.directory, &key, &needs).map_err(files.failed())?;
    Ok(Part::Precompute(Box::new(Making {
        extension: task.over.choose(task.threads, needs.steps()).extension,
        threads: task.threads,
        matrices: task.matrices,
        new: Some(new),
        needs,
    })))
}

impl Making {
    /// Fills the new store, without a dealer; the result is its name.
    async fn fill(
        &mut self,
        session: &Session,
        runs: Runs<'_>,
        observe: &dyn Fn(Progress),
    ) -> Result<(Vec<u8>, RunFigures)> {
        let Self {
            needs,
            extension,
            threads,
            matrices,
            new,
        } = self;
        let new = new.take();
        let new = new.ok_or_else(|| Failure::bug("a store is made once"))?;
        let start = Instant::now();
        let wire_bytes = session.wire_bytes_sent();
        let facts = [
            ("program", "a new store".to_owned()),
            ("triples", needs.to_string()),
            ("extension", extension.to_string()),
            ("threads", threads.to_string()),
            ("matrices", matrices.to_string()),
        ]
        .map(|(name, value)| (name.to_owned(), value));
        let job = session
            .job(runs.first_job, &facts, runs.patience.deadline)
            .await?;
        let context = job.context();
        let (done, total) = (Cell::new(0), needs.steps());
        let made = |more: usize| {
            done.set(done.get() + more as u64);
            observe(Progress {
                phase: Phase::Setup,
                done: done.get(),
                total,
            });
        };
        let mut source = OtSource::with_threads(&context, *extension, *threads).await?;
        if *matrices == MatricesArg::Lattice {
            source = source.with_lattice_matrices()?;
        }
        let id = new.fill(&context, &mut source, &made).await?;
        let spent = job.spent(Phase::Setup);
        job.finish().await?;
        let seconds = start.elapsed().as_secs_f64();
        let figures = RunFigures {
            setup: PhaseFigures::new(seconds, &spent),
            online: PhaseFigures::new(0.0, &PhaseCost::default()),
            total_seconds: seconds,
            wire_bytes_sent: session.wire_bytes_sent() - wire_bytes,
        };
        Ok((format!("{id}\n").into_bytes(), figures))
    }
}

/// Greets the other parties over `transport`, does `work`, and takes leave. On an error the other
/// parties are told before it returns.
pub async fn in_session<T>(
    me: Party,
    parties: usize,
    transport: impl Transport,
    patience: &Patience,
    work: impl AsyncFnOnce(&Session) -> Result<T>,
) -> Result<T> {
    let mut config = SessionConfig::new(me, parties);
    // We may have met everybody while two others still look for each other.
    config.patience = config.patience.max(patience.connect_timeout);
    config.silence = patience.silence_timeout;
    config.stall = patience.stall_timeout;
    if let Some(version) = patience.test_protocol_version {
        config.protocol_version = version;
    }
    let session = Session::new(config, transport);
    let done = match session.greet().await {
        Ok(()) => work(&session).await,
        Err(error) => Err(error.into()),
    };
    session.close().await;
    done
}

fn of_engine(error: RunError) -> Failure {
    match error {
        RunError::Net(error) => error.into(),
        other => Failure::bug(other),
    }
}
