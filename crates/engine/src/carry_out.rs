//! Programs carried out by one party: correlations part by part, tasks on strands, strands on threads.

use std::cell::Cell;
use std::future::poll_fn;
use std::pin::pin;
use std::sync::Arc;
use std::time::{Duration, Instant};

use futures_util::future::{LocalBoxFuture, try_join};
use madrigal_core::{Digest256, Party, Phase, Zeroizing, domains};
use madrigal_correlations::{Hand, Kind, Means, Source, Stock};
use madrigal_correlations_make::{Made, Supply};
use madrigal_kernels::crew::Crew;
use madrigal_net::{Context, Error, Fact, Session, block_on, on_threads};
use sha2::{Digest, Sha256};

use crate::board::Board;
use crate::error::RunError;
use crate::graph::Graph;
use crate::operation::Strand;
use crate::phases::Phases;
use crate::plan::Plan;
use crate::report::{Outcome, PhaseReport, Progress, TaskReport};
use crate::runner::{Runner, flushed, work};
use crate::schedule::Task;
use crate::shares::Shares;
use crate::strands::PREPARERS;

/// The step of a job that everything before the inputs is part of.
pub(crate) const SETUP: &str = "setup";

/// Inputs and means that one party brings to a program.
#[derive(Debug, Default)]
pub struct Given<'a> {
    /// One value for each input of the graph in order: clear ones, with [`Shares::unknown`] for those that this
    /// party does not know, and of shared ones this party's share, all parties' from the same earlier run:
    /// [`Stages`](crate::Stages) sees to that.
    pub inputs: Vec<Shares>,
    /// Means that the origin of the correlations asks for.
    pub means: Means<'a>,
    /// Facts about what the party brings, which all computing parties must have in common beside those of the plan: where
    /// their shares of an input come from, for one.
    pub facts: Vec<Fact>,
}

/// Runs a plan as job `id` of `session`. `observe` hears of progress; it must be quick.
///
/// # Errors
/// [`RunError`] for inputs that do not fit the plan, before anything is sent; and where something goes wrong between
/// the parties, after which no party has an output.
pub fn run_program<'a>(
    session: &'a Session,
    id: u32,
    plan: &'a Plan,
    given: Given<'a>,
    deadline: Option<Duration>,
    observe: &'a dyn Fn(Progress),
) -> LocalBoxFuture<'a, Result<Outcome, RunError>> {
    Box::pin(async move {
        run_with_facts(session, id, plan, &plan.facts(), given, deadline, observe).await
    })
}

/// Runs a plan as [`run_program`] does, with other facts that parties agree on: among them a digest of the plan's.
///
/// # Errors
/// [`RunError`] in the same cases as [`run_program`].
pub(crate) fn run_with_facts<'a>(
    session: &'a Session,
    id: u32,
    plan: &'a Plan,
    facts: &'a [Fact],
    given: Given<'a>,
    deadline: Option<Duration>,
    observe: &'a dyn Fn(Progress),
) -> LocalBoxFuture<'a, Result<Outcome, RunError>> {
    Box::pin(async move {
        let begin = Instant::now();
        fits(session.me(), session.parties(), plan, &given.inputs)?;
        let wire_bytes = session.wire_bytes_sent();
        let mut facts = facts.to_vec();
        facts.extend(given.facts.iter().cloned());
        if let Some(digest) = public_values(&plan.spec().graph, &given.inputs) {
            let digest = Digest256(digest).to_string();
            facts.push((PUBLIC_VALUES.to_owned(), digest));
        }
        let spec = plan.spec();
        let job = match spec.origin.helpers() {
            0 => session.job(id, &facts, deadline).await?,
            _ => {
                let told = plan.told_helpers();
                let computing = spec.graph.parties();
                let opened = session.job_among(id, &told, computing, &facts, deadline);
                opened.await?
            }
        };
        let agreed = begin.elapsed();
        let carried = carry_out(&job.context(), plan, given, begin, observe).await?;
        let [setup, online] = Phase::ALL.map(|phase| PhaseReport {
            time: carried.times[phase.index()],
            spent: job.spent(phase),
        });
        job.finish().await?;
        Ok(Outcome {
            outputs: carried.outputs,
            setup,
            online,
            agreed,
            opening: carried.opening,
            total: begin.elapsed(),
            wire_bytes_sent: session.wire_bytes_sent() - wire_bytes,
            tasks: carried.tasks,
            made: carried.made,
        })
    })
}

/// Carries out a plan within a job that is open already: for jobs that do more than one thing.
/// Gives the outputs.
///
/// # Errors
/// [`RunError`] in the same cases as [`run_program`].
pub fn evaluate_program<'a>(
    context: &'a Context,
    plan: &'a Plan,
    given: Given<'a>,
    observe: &'a dyn Fn(Progress),
) -> LocalBoxFuture<'a, Result<Vec<Shares>, RunError>> {
    Box::pin(async move {
        fits(context.me(), context.parties(), plan, &given.inputs)?;
        if let Some(digest) = public_values(&plan.spec().graph, &given.inputs) {
            let numbers = digest.map(usize::from);
            // A helper could search the digest of few bits.
            let computing = context.among(plan.spec().graph.parties());
            computing.tally(PUBLIC_VALUES, &numbers);
        }
        if !given.facts.is_empty() {
            let numbers = digest_of(&given.facts).map(usize::from);
            let computing = context.among(plan.spec().graph.parties());
            computing.tally(BROUGHT, &numbers);
        }
        let carried = carry_out(context, plan, given, Instant::now(), observe).await?;
        Ok(carried.outputs)
    })
}

/// Name of the tally in which parties that bring shares of different inputs differ.
const BROUGHT: &str = "inputs that were shared before";

/// SHA-256 of facts, each with its length.
fn digest_of(facts: &[Fact]) -> [u8; 32] {
    let mut hash = Sha256::new_with_prefix(domains::BROUGHT_FACTS);
    for text in facts.iter().flat_map(|(name, value)| [name, value]) {
        hash.update((text.len() as u64).to_le_bytes());
        hash.update(text);
    }
    hash.finalize().into()
}

/// Name of the fact in which parties that bring different public values differ.
const PUBLIC_VALUES: &str = "public values";

/// SHA-256 of the inputs that all parties know, if there are such: each brings its own copy, and with
/// different ones nothing would be right.
fn public_values(graph: &Graph, inputs: &[Shares]) -> Option<[u8; 32]> {
    let inputs = graph.inputs().iter().zip(inputs);
    let mut public = inputs
        .filter(|&(&value, _)| graph.sort(value).sharing.is_public(graph.parties()))
        .peekable();
    public.peek()?;
    let mut hash = Sha256::new_with_prefix(domains::PUBLIC_INPUTS);
    public.for_each(|(_, shares)| shares.each_bytes(|bytes| hash.update(bytes)));
    Some(hash.finalize().into())
}

/// Whether plan and inputs are for this party of this session.
fn fits(me: Party, session: usize, plan: &Plan, inputs: &[Shares]) -> Result<(), RunError> {
    let graph = &plan.spec().graph;
    let planned = graph.parties() + plan.spec().origin.helpers();
    if planned != session {
        return Err(RunError::Parties {
            plan: planned,
            session,
        });
    }
    if me.index() >= graph.parties() {
        return Err(RunError::Helper { party: me });
    }
    let wrong = |problem: String| RunError::Values { party: me, problem };
    let wanted = graph.inputs();
    if wanted.len() != inputs.len() {
        let (want, got) = (wanted.len(), inputs.len());
        return Err(wrong(format!(
            "the program has {want} inputs, and {got} were given"
        )));
    }
    for (index, (&value, got)) in wanted.iter().zip(inputs).enumerate() {
        let want = graph.sort(value);
        let (element, len) = (got.sort().element, got.len());
        if (element, len) != (want.element, want.len) {
            return Err(wrong(format!(
                "input {index} is {want}, {len} x {element} were given"
            )));
        }
        if !want.sharing.is_clear() {
            if got.sort().sharing != want.sharing || !got.is_known() {
                let got = got.sort();
                return Err(wrong(format!(
                    "input {index} is {want}, which an earlier program keeps, {got} were given"
                )));
            }
            continue;
        }
        if !got.sort().sharing.is_clear() {
            return Err(wrong(format!(
                "input {index} is {want}, {} were given",
                got.sort()
            )));
        }
        if want.sharing.is_known_to(me) && !got.is_known() {
            return Err(wrong(format!(
                "input {index} is ours to give and is not there"
            )));
        }
    }
    Ok(())
}

/// Work of both phases that is done.
struct Carried {
    outputs: Vec<Shares>,
    /// Time of each phase.
    times: [Duration; 2],
    /// Time that the source of the correlations took to open.
    opening: Duration,
    tasks: Vec<TaskReport>,
    made: Vec<Made>,
}

/// Does the work of both phases.
async fn carry_out(
    context: &Context,
    plan: &Plan,
    given: Given<'_>,
    begin: Instant,
    observe: &dyn Fn(Progress),
) -> Result<Carried, RunError> {
    let spec = plan.spec();
    let graph = &spec.graph;
    let online = context
        .among(graph.parties())
        .enter(Phase::Online, "online")
        .gathering();
    let ahead = context
        .among(graph.parties())
        .enter(Phase::Setup, "ahead")
        .gathering();
    // Sharings have the program's names, whatever the caller's are: values are put together with others.
    let inputs = graph.inputs().iter().zip(given.inputs);
    let inputs = inputs.map(|(&value, shares)| shares.as_shared(graph.sort(value).sharing));
    let board = Arc::new(Board::new(graph, plan.schedule(), inputs));
    let _given_up = GivenUp(&board);
    let team = Team {
        plan,
        online: &online,
        ahead: &ahead,
        begin,
        board: &board,
        observe,
        done: Cell::new(0),
        made: Cell::new(0),
        opening: Cell::new(Duration::ZERO),
    };
    let times = Cell::new([Duration::ZERO; 2]);
    let setup = async {
        let start = Instant::now();
        let made = team.setup(context, given.means).await;
        times.set([start.elapsed(), times.get()[1]]);
        made
    };
    let start = Instant::now();
    let work = async {
        let done = team.strands().await;
        // The threads' own failure is the job's.
        if let Err(error) = &done {
            board.fail(error);
        }
        done
    };
    let guarded = async {
        let made = setup.await;
        if let Err(error) = &made {
            board.fail(error);
        }
        made
    };
    let started = Instant::now();
    let crew = context.crew(spec.threads)?;
    let both = with_crew(crew, flushed(context, try_join(guarded, work)));
    let (made, (tasks, first)) = both.await?;
    let online_began = first.unwrap_or(started);
    let supplied = times.get()[0];
    let prepared = board.prepared_at().map(|end| end - start);
    times.set([
        supplied.max(prepared.unwrap_or_default()),
        online_began.elapsed(),
    ]);
    Ok(Carried {
        outputs: board.outputs(),
        times: times.get(),
        opening: team.opening.get(),
        tasks,
        made,
    })
}

/// Has a crew at work whenever `work` is.
async fn with_crew<F: Future>(crew: Crew, work: F) -> F::Output {
    let mut work = pin!(work);
    poll_fn(|task| crew.at_work(|| work.as_mut().poll(task))).await
}

/// Ends the threads that wait for each other when the future that they work for is dropped, or panics:
/// the end of the job ends only what waits for messages.
struct GivenUp<'a>(&'a Board);

impl Drop for GivenUp<'_> {
    fn drop(&mut self) {
        let reason = "the program was given up".to_owned();
        self.0.fail(&Error::Ended { reason });
    }
}

/// The party at work.
struct Team<'a> {
    plan: &'a Plan,
    online: &'a Context,
    /// Where operations are prepared.
    ahead: &'a Context,
    begin: Instant,
    board: &'a Arc<Board>,
    observe: &'a dyn Fn(Progress),
    done: Cell<u64>,
    made: Cell<u64>,
    opening: Cell<Duration>,
}

impl Team<'_> {
    /// Makes the correlations, part by part. Gives what each primitive took.
    async fn setup(&self, context: &Context, means: Means<'_>) -> Result<Vec<Made>, Error> {
        let setup = context.enter(Phase::Setup, SETUP);
        let (spec, needs) = (self.plan.spec(), self.plan.needs());
        let mut source = if needs.is_empty() && spec.origin.helpers() == 0 {
            None
        } else {
            let begin = Instant::now();
            let source = Supply::open(&spec.origin, &setup, &needs, means).await?;
            self.opening.set(begin.elapsed());
            Some(source)
        };
        let total = needs.steps();
        let made = |more: usize| {
            self.made.set(self.made.get() + more as u64);
            (self.observe)(Progress {
                phase: Phase::Setup,
                done: self.made.get(),
                total,
            });
        };
        // Correlations that are used up in setup are not kept until the end of it.
        let interleaved = self.plan.phases() == Phases::Interleaved || self.plan.schedule().ahead;
        // Garbled values need an offset; where OTs are made it is theirs.
        let has_offset = source
            .as_ref()
            .is_some_and(|source| source.offset().is_some());
        let offset = (spec.graph.is_garbled() && !has_offset).then(|| {
            let mut offset = Zeroizing::new(setup.private_prg().next_block());
            offset.0[0] |= 1;
            offset
        });
        let mut ready = Vec::new();
        let schedule = self.plan.schedule();
        for (part, needs) in (0..).zip(&schedule.parts) {
            let last = part as usize + 1 == schedule.parts.len();
            if let (Some(source), true, true) = (&mut source, last, schedule.stream.is_some()) {
                let board = Arc::clone(self.board);
                let hand: Hand = Arc::new(move |triples| board.hand(triples));
                let count = needs.of(Kind::BitTriples);
                source.bit_triples_as_made(count, &made, &hand).await?;
                continue;
            }
            if interleaved && part >= 2 {
                self.board.part_ended(part - 2).await?;
            }
            let mut stock = match &mut source {
                Some(source) => source.fill(needs, &made).await?,
                None => Stock::empty(),
            };
            if let Some(offset) = &offset {
                stock.set_offset(**offset);
            }
            if interleaved {
                self.board.deliver(part, stock, &setup);
            } else {
                ready.push(stock);
            }
        }
        for (part, stock) in (0..).zip(ready) {
            self.board.deliver(part, stock, &setup);
        }
        let Some(mut source) = source else {
            return Ok(Vec::new());
        };
        source.end().await?;
        Ok(source.made().to_vec())
    }

    /// Does all tasks. Gives what each took, and when the first one began.
    async fn strands(&self) -> Result<(Vec<TaskReport>, Option<Instant>), Error> {
        let lists = &self.plan.schedule().strands;
        let opening = self.plan.spec().opening;
        let both = [self.ahead, self.online];
        let strand = |name: &str| Strand::new(both.map(|context| context.fork(name)), opening);
        let beside = match self.plan.schedule().ahead {
            true => 1..PREPARERS,
            false => 0..0,
        };
        let runners = lists.iter().enumerate().map(|(index, list)| Runner {
            strand: strand(&format!("strand {index}")),
            preparers: (beside.clone())
                .map(|preparer| strand(&format!("strand {index} preparer {preparer}")))
                .collect(),
            index,
            list: list.clone(),
            begin: self.begin,
        });
        let lanes = |task: &Task| task.range.len().max(1) as u64;
        let total = self.plan.schedule().tasks.iter().map(lanes).sum();
        let hear = |task: u32| {
            let task = &self.plan.schedule().tasks[task as usize];
            self.done.set(self.done.get() + lanes(task));
            (self.observe)(Progress {
                phase: Phase::Online,
                done: self.done.get(),
                total,
            });
        };
        let threads = self.plan.spec().threads.min(lists.len()).max(1);
        let mut shares: Vec<Vec<Runner>> = (0..threads).map(|_| Vec::new()).collect();
        runners
            .enumerate()
            .for_each(|(index, runner)| shares[index % threads].push(runner));
        let ended = if threads == 1 {
            let mut runners = shares.remove(0);
            vec![work(&mut runners, self.board, &hear).await?]
        } else {
            let shares = shares.into_iter().map(|mut runners| {
                let (board, online) = (Arc::clone(self.board), self.online.clone());
                move |tell: &dyn Fn(u32)| {
                    block_on(flushed(&online, work(&mut runners, &board, tell)))
                }
            });
            on_threads(self.online, shares, hear).await?
        };
        let mut tasks = Vec::new();
        for (reports, contexts) in ended {
            contexts
                .iter()
                .for_each(|context| self.online.join(context));
            tasks.extend(reports);
        }
        tasks.sort_by_key(|task| task.ready);
        let first = tasks.first().map(|task| self.begin + task.ready);
        Ok((tasks, first))
    }
}
