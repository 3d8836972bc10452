//! Carries out a plan as one party of a session.

use std::cell::{Cell, RefCell};
use std::ops::Range;
use std::sync::Arc;
use std::time::{Duration, Instant};

use futures_util::future::{LocalBoxFuture, try_join};
use madrigal_circuit::Rows;
use madrigal_core::{Party, Phase, bits};
use madrigal_correlations::{BitTripleSource, BitTriples, Means, Supply};
use madrigal_net::{Context, Error, Session};
use zeroize::Zeroizing;

use crate::plan::{Phases, Plan};
use crate::report::{PhaseReport, Progress, Report};
use crate::workers::{Opened, Task, Workers};

/// The step of a job that everything before the inputs is part of.
pub(crate) const SETUP: &str = "setup";

/// Why a job could not be run.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum RunError {
    /// The inputs are not those that the plan has for this party.
    #[error(
        "{party} owns {wires} input bits in {lanes} lanes by the plan, and was given {got_wires} in {got_lanes}"
    )]
    Inputs {
        /// This party.
        party: Party,
        /// Input bits that it owns.
        wires: usize,
        /// Lanes of the plan.
        lanes: usize,
        /// Rows given.
        got_wires: usize,
        /// Lanes given.
        got_lanes: usize,
    },
    /// The session has another number of parties than the plan, helpers counted.
    #[error("the plan is for {plan} parties, helpers counted, the session has {session}")]
    Parties {
        /// Parties of the plan.
        plan: usize,
        /// Parties of the session.
        session: usize,
    },
    /// This party is the plan's helper: it computes nothing.
    #[error(
        "{party} deals correlations by the plan and computes nothing: it calls `serve`, or `deal` in a job of its own, where the others run the plan"
    )]
    Helper {
        /// This party.
        party: Party,
    },
    /// Something went wrong between the parties.
    #[error(transparent)]
    Net(#[from] Error),
}

/// What one party brings to a job. Made from its inputs alone where that is all.
#[derive(Debug)]
pub struct Brought<'a> {
    /// A row for each bit of this party's own input values, in circuit order; all threads read them.
    pub inputs: Arc<Rows>,
    /// What the origin of the job's correlations asks for.
    pub means: Means<'a>,
}

impl From<Arc<Rows>> for Brought<'_> {
    fn from(inputs: Arc<Rows>) -> Self {
        Self {
            inputs,
            means: Means::default(),
        }
    }
}

impl From<Rows> for Brought<'_> {
    fn from(inputs: Rows) -> Self {
        Arc::new(inputs).into()
    }
}

/// Runs `plan` as job `id` of `session`, with what this party brings: its inputs, and its store where
/// the plan's origin is one. `observe` hears of progress; it must be quick.
///
/// # Errors
/// Inputs that do not fit the plan, before anything is sent; what goes wrong between the parties,
/// after which no party has an output.
///
/// The future is boxed, as all of the engine's: so protocols are compiled with the engine, once, and not
/// again in each program and test that runs a job.
pub fn run<'a>(
    session: &'a Session,
    id: u32,
    plan: &'a Plan,
    brought: impl Into<Brought<'a>>,
    deadline: Option<Duration>,
    observe: &'a dyn Fn(Progress),
) -> LocalBoxFuture<'a, Result<Report, RunError>> {
    run_job(session, id, plan, brought.into(), deadline, observe)
}

fn run_job<'a>(
    session: &'a Session,
    id: u32,
    plan: &'a Plan,
    brought: Brought<'a>,
    deadline: Option<Duration>,
    observe: &'a dyn Fn(Progress),
) -> LocalBoxFuture<'a, Result<Report, RunError>> {
    Box::pin(job(session, id, plan, brought, deadline, observe))
}

async fn job(
    session: &Session,
    id: u32,
    plan: &Plan,
    brought: Brought<'_>,
    deadline: Option<Duration>,
    observe: &dyn Fn(Progress),
) -> Result<Report, RunError> {
    let start = Instant::now();
    fits(session.me(), session.parties(), plan, &brought.inputs)?;
    let wire_bytes = session.wire_bytes_sent();
    let job = session.job(id, &plan.facts(), deadline).await?;
    let (outputs, times) = evaluated(&job.context(), plan, brought, observe).await?;
    let [setup, online] = Phase::ALL.map(|phase| PhaseReport {
        time: times[phase.index()],
        spent: job.spent(phase),
    });
    job.finish().await?;
    Ok(Report {
        outputs,
        setup,
        online,
        total: start.elapsed(),
        wire_bytes_sent: session.wire_bytes_sent() - wire_bytes,
    })
}

/// Carries out `plan` within a job that is open already: the part of [`run`] between opening a job
/// and finishing it, for jobs that do more than one thing. Gives the output, if this party is to
/// have it, and the time that setup and online took.
///
/// # Errors
/// As [`run`].
pub fn evaluate<'a>(
    context: &'a Context,
    plan: &'a Plan,
    brought: impl Into<Brought<'a>>,
    observe: &'a dyn Fn(Progress),
) -> LocalBoxFuture<'a, Result<Evaluated, RunError>> {
    evaluate_plan(context, plan, brought.into(), observe)
}

/// The output, at a party that has it, and the times of setup and online.
type Evaluated = (Option<Rows>, [Duration; 2]);

fn evaluate_plan<'a>(
    context: &'a Context,
    plan: &'a Plan,
    brought: Brought<'a>,
    observe: &'a dyn Fn(Progress),
) -> LocalBoxFuture<'a, Result<Evaluated, RunError>> {
    Box::pin(evaluated(context, plan, brought, observe))
}

async fn evaluated(
    context: &Context,
    plan: &Plan,
    brought: Brought<'_>,
    observe: &dyn Fn(Progress),
) -> Result<Evaluated, RunError> {
    let Brought { inputs, means } = brought;
    fits(context.me(), context.parties(), plan, &inputs)?;
    let online = context
        .among(plan.spec().parties)
        .enter(Phase::Online, "online");
    let workers = Workers::new(Task {
        plan: plan.clone(),
        inputs,
        online,
    })?;
    let runner = Runner {
        plan,
        observe,
        output: RefCell::new(Output::new(plan, context.me())),
        triples_done: Cell::new(0),
        ands_done: Cell::new(0),
        times: Cell::default(),
    };
    let setup = context.enter(Phase::Setup, SETUP);
    runner.phases(&setup, means, workers).await?;
    let times = runner.times.get();
    Ok((runner.output.into_inner().rows, times))
}

/// Whether plan and inputs are for this party of this session.
fn fits(me: Party, parties: usize, plan: &Plan, inputs: &Rows) -> Result<(), RunError> {
    let planned = plan.spec().parties + plan.spec().origin.helpers();
    if planned != parties {
        return Err(RunError::Parties {
            plan: planned,
            session: parties,
        });
    }
    if me.index() >= plan.spec().parties {
        return Err(RunError::Helper { party: me });
    }
    let (wires, lanes) = (plan.input_bits_of(me), plan.spec().lanes);
    if inputs.rows() != wires || (wires > 0 && inputs.lanes() != lanes) {
        return Err(RunError::Inputs {
            party: me,
            wires,
            lanes,
            got_wires: inputs.rows(),
            got_lanes: inputs.lanes(),
        });
    }
    Ok(())
}

struct Runner<'a> {
    plan: &'a Plan,
    observe: &'a dyn Fn(Progress),
    output: RefCell<Output>,
    triples_done: Cell<u64>,
    ands_done: Cell<u64>,
    times: Cell<[Duration; 2]>,
}

impl Runner<'_> {
    async fn phases(
        &self,
        setup: &Context,
        means: Means<'_>,
        mut workers: Workers,
    ) -> Result<(), Error> {
        let origin = self.plan.spec().origin;
        let mut source = match self.plan.triples() {
            0 if origin.helpers() == 0 => None,
            _ => {
                let needs = self.plan.needs();
                let open = Supply::open(origin, setup, &needs, means);
                Some(self.timed(Phase::Setup, open).await?)
            }
        };
        let parts: Vec<Range<usize>> = self.plan.parts().collect();
        match self.plan.phases() {
            Phases::Sequential => {
                let mut ready = Vec::new();
                for part in &parts {
                    ready.push(self.triples(&mut source, part).await?);
                }
                for (part, triples) in parts.iter().zip(ready) {
                    self.part(&mut workers, part, triples).await?;
                }
            }
            Phases::Interleaved => {
                let mut parts = parts.iter();
                let mut current = parts.next();
                let mut triples = match current {
                    Some(part) => self.triples(&mut source, part).await?,
                    None => BitTriples::none(),
                };
                while let Some(part) = current {
                    let next = parts.next();
                    let ahead = async {
                        match next {
                            Some(next) => self.triples(&mut source, next).await,
                            None => Ok(BitTriples::none()),
                        }
                    };
                    let now = self.part(&mut workers, part, triples);
                    (triples, ()) = try_join(ahead, now).await?;
                    current = next;
                }
            }
        }
        if let Some(source) = &mut source {
            source.end().await?;
        }
        Ok(())
    }

    async fn triples(
        &self,
        source: &mut Option<Supply>,
        part: &Range<usize>,
    ) -> Result<BitTriples, Error> {
        let Some(source) = source else {
            return Ok(BitTriples::none());
        };
        let count = self.plan.part_triples(part);
        let made = |more: usize| {
            let done = self.triples_done.get() + more as u64;
            self.triples_done.set(done);
            let total = self.plan.triples() as u64;
            (self.observe)(Progress {
                phase: Phase::Setup,
                done,
                total,
            });
        };
        let triples = self
            .timed(Phase::Setup, source.bit_triples(count, &made))
            .await?;
        Ok(triples)
    }

    async fn part(
        &self,
        workers: &mut Workers,
        part: &Range<usize>,
        triples: BitTriples,
    ) -> Result<(), Error> {
        let ands = self.plan.spec().circuit.layered().and_count();
        let hear = |opened: Opened| {
            let done = self.ands_done.get() + (ands * opened.lanes.len()) as u64;
            self.ands_done.set(done);
            self.output.borrow_mut().store(opened);
            (self.observe)(Progress {
                phase: Phase::Online,
                done,
                total: self.plan.ands() as u64,
            });
        };
        let work = workers.part(part, triples, &hear);
        self.timed(Phase::Online, work).await
    }

    async fn timed<T>(&self, phase: Phase, work: impl Future<Output = T>) -> T {
        let start = Instant::now();
        let result = work.await;
        let mut times = self.times.get();
        times[phase.index()] += start.elapsed();
        self.times.set(times);
        result
    }
}

/// The opened values, put together from blocks.
struct Output {
    rows: Option<Rows>,
}

impl Output {
    fn new(plan: &Plan, me: Party) -> Self {
        let spec = plan.spec();
        let mine = spec.to.contains(&me);
        Self {
            rows: mine.then(|| Rows::new(spec.circuit.output_bits(), spec.lanes)),
        }
    }

    fn store(&mut self, opened: Opened) {
        let lanes = opened.lanes;
        let (Some(rows), Some(values)) = (&mut self.rows, opened.values) else {
            return;
        };
        let mut row = Zeroizing::new(vec![0; bits::bytes_for(lanes.len())]);
        for index in 0..rows.rows() {
            bits::take(&values, index * lanes.len(), &mut row, lanes.len());
            bits::put(rows.row_mut(index), lanes.start, &row, lanes.len());
        }
    }
}
