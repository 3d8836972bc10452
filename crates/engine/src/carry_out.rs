//! Programs carried out by one party: correlations part by part, tasks on strands, strands on threads.

use std::cell::Cell;
use std::future::poll_fn;
use std::pin::pin;
use std::sync::Arc;
use std::time::{Duration, Instant};

use futures_util::future::{LocalBoxFuture, try_join, try_join_all};
use madrigal_core::{Digest256, Party, Phase, Zeroizing, domains};
use madrigal_correlations::{Hand, Kind, Means, Source, Stock};
use madrigal_correlations_make::Supply;
use madrigal_net::{Context, Error, Fact, Session, block_on, breathe, on_threads};
use sha2::{Digest, Sha256};

use crate::board::Board;
use crate::error::RunError;
use crate::graph::{Graph, Node};
use crate::operation::{Early, Prepared, Strand, Turn};
use crate::phases::Phases;
use crate::plan::Plan;
use crate::report::{PhaseReport, Progress};
use crate::schedule::{Schedule, Task};
use crate::shares::Shares;
use crate::strands::PREPARERS;

/// The step of a job that everything before the inputs is part of.
pub(crate) const SETUP: &str = "setup";

/// What one party brings to a program.
#[derive(Debug, Default)]
pub struct Given<'a> {
    /// One value for each input of the graph in order: clear ones, with [`Shares::unknown`] for those that this
    /// party does not know, and of shared ones this party's share, all parties' from the same earlier run:
    /// [`Stages`](crate::Stages) sees to that.
    pub inputs: Vec<Shares>,
    /// What the origin of the correlations asks for.
    pub means: Means<'a>,
}

/// A program that has ended well.
#[derive(Debug)]
pub struct Outcome<Outputs = Vec<Shares>> {
    /// The outputs: as shares in order, unknown where they are for others, shares of what is shared; or what was made
    /// of these.
    pub outputs: Outputs,
    /// Before the inputs.
    pub setup: PhaseReport,
    /// From the inputs on.
    pub online: PhaseReport,
    /// From the opening of the job until all parties had agreed on it: then the phases begin.
    pub agreed: Duration,
    /// From the opening of the job to its finish at all parties.
    pub total: Duration,
    /// Bytes sent with headers and control messages.
    pub wire_bytes_sent: u64,
    /// When each operation was at work on which block.
    pub tasks: Vec<TaskReport>,
}

impl<Outputs> Outcome<Outputs> {
    /// Makes something else of the outputs.
    pub fn map<Made>(self, make: impl FnOnce(Outputs) -> Made) -> Outcome<Made> {
        Outcome {
            outputs: make(self.outputs),
            setup: self.setup,
            online: self.online,
            agreed: self.agreed,
            total: self.total,
            wire_bytes_sent: self.wire_bytes_sent,
            tasks: self.tasks,
        }
    }
}

/// One operation at work on one block.
#[derive(Debug, Clone)]
pub struct TaskReport {
    /// The operation, by its place in the graph.
    pub operation: usize,
    /// The block.
    pub block: usize,
    /// What did it, one task after the other.
    pub strand: usize,
    /// From the beginning of the job until everything it needs was there.
    pub ready: Duration,
    /// From the beginning of the job until it had ended.
    pub ended: Duration,
    /// How much of that it was at work itself; for the rest it waited, for messages or for the thread that it shares
    /// with other strands.
    pub worked: Duration,
}

/// Runs a plan as job `id` of `session`. `observe` hears of progress; it must be quick.
///
/// # Errors
/// Inputs that do not fit the plan, before anything is sent; what goes wrong between the parties,
/// after which no party has an output.
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
/// As [`run_program`].
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
        let done = carry_out(&job.context(), plan, given, begin, observe).await?;
        let [setup, online] = Phase::ALL.map(|phase| PhaseReport {
            time: done.times[phase.index()],
            spent: job.spent(phase),
        });
        job.finish().await?;
        Ok(Outcome {
            outputs: done.outputs,
            setup,
            online,
            agreed,
            total: begin.elapsed(),
            wire_bytes_sent: session.wire_bytes_sent() - wire_bytes,
            tasks: done.tasks,
        })
    })
}

/// Carries out a plan within a job that is open already: for jobs that do more than one thing.
/// Gives the outputs.
///
/// # Errors
/// As [`run_program`].
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
        let done = carry_out(context, plan, given, Instant::now(), observe).await?;
        Ok(done.outputs)
    })
}

/// What parties that bring different public values are told.
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
    public.for_each(|(_, shares)| shares.hash_into(&mut hash));
    Some(hash.finalize().into())
}

struct Done {
    outputs: Vec<Shares>,
    times: [Duration; 2],
    tasks: Vec<TaskReport>,
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

async fn carry_out(
    context: &Context,
    plan: &Plan,
    given: Given<'_>,
    begin: Instant,
    observe: &dyn Fn(Progress),
) -> Result<Done, RunError> {
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
    // What the program calls them, whatever the caller does: values are put together with others.
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
    let ((), (tasks, first)) = flushed(context, try_join(guarded, work)).await?;
    let online_began = first.unwrap_or(started);
    let supplied = times.get()[0];
    let prepared = board.prepared_at().map(|end| end - start);
    times.set([
        supplied.max(prepared.unwrap_or_default()),
        online_began.elapsed(),
    ]);
    Ok(Done {
        outputs: board.outputs(),
        times: times.get(),
        tasks,
    })
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

/// Sends off what has gathered when all of `work` waits: for messages, or for each other.
async fn flushed<F: Future>(context: &Context, work: F) -> F::Output {
    let mut work = pin!(work);
    poll_fn(|task| {
        let poll = work.as_mut().poll(task);
        if poll.is_pending() {
            context.flush();
        }
        poll
    })
    .await
}

/// What a future gives, and how long it was at work: that it waits takes no time of it.
async fn timed<F: Future>(work: F) -> (F::Output, Duration) {
    let mut work = pin!(work);
    let mut worked = Duration::ZERO;
    let made = poll_fn(|task| {
        let begin = Instant::now();
        let poll = work.as_mut().poll(task);
        worked += begin.elapsed();
        poll
    })
    .await;
    (made, worked)
}

/// What a thread tells while it works.
enum Event {
    Ended(u32),
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
}

impl Team<'_> {
    /// Makes the correlations, part by part.
    async fn setup(&self, context: &Context, means: Means<'_>) -> Result<(), Error> {
        let setup = context.enter(Phase::Setup, SETUP);
        let (spec, needs) = (self.plan.spec(), self.plan.needs());
        let mut source = if needs.is_empty() && spec.origin.helpers() == 0 {
            None
        } else {
            Some(Supply::open(&spec.origin, &setup, &needs, means).await?)
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
        // What is used up in setup is not kept until the end of it.
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
        if let Some(source) = &mut source {
            source.end().await?;
        }
        Ok(())
    }

    /// Does all tasks. Gives what each took, and when the first one began.
    async fn strands(&self) -> Result<(Vec<TaskReport>, Option<Instant>), Error> {
        let lists = &self.plan.schedule().strands;
        let opening = self.plan.spec().opening;
        let both = [self.ahead, self.online];
        let strand = |name: &str| Strand::new(both.map(|context| context.fork(name)), opening);
        let beside = if self.plan.schedule().ahead {
            1..PREPARERS
        } else {
            0..0
        };
        let strands = lists.iter().enumerate().map(|(index, list)| Runner {
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
        let hear = |event: Event| match event {
            Event::Ended(task) => {
                let task = &self.plan.schedule().tasks[task as usize];
                self.done.set(self.done.get() + lanes(task));
                (self.observe)(Progress {
                    phase: Phase::Online,
                    done: self.done.get(),
                    total,
                });
            }
        };
        let threads = self.plan.spec().threads.min(lists.len()).max(1);
        let done: Vec<Vec<TaskReport>> = if threads == 1 {
            let plan = self.plan.schedule();
            let graph = &self.plan.spec().graph;
            let mut runners: Vec<Runner> = strands.collect();
            let work = runners
                .iter_mut()
                .map(|runner| runner.work(graph, plan, self.board, &hear));
            let done = try_join_all(work).await?;
            for runner in &runners {
                self.online.join(runner.strand.context(Phase::Online));
            }
            done
        } else {
            let mut shares: Vec<Vec<Runner>> = (0..threads).map(|_| Vec::new()).collect();
            strands
                .enumerate()
                .for_each(|(index, runner)| shares[index % threads].push(runner));
            let work = shares.into_iter().map(|mut runners| {
                let (graph, schedule) = (
                    Arc::clone(&self.plan.spec().graph),
                    Arc::clone(self.plan.schedule()),
                );
                let (board, online) = (Arc::clone(self.board), self.online.clone());
                move |tell: &dyn Fn(Event)| {
                    let work = runners
                        .iter_mut()
                        .map(|runner| runner.work(&graph, &schedule, &board, tell));
                    let done = block_on(flushed(&online, try_join_all(work)));
                    if let Err(error) = &done {
                        board.fail(error);
                    }
                    let contexts: Vec<Context> = runners
                        .iter()
                        .map(|runner| runner.strand.context(Phase::Online).clone())
                        .collect();
                    done.map(|done| (done, contexts))
                }
            });
            let ended = on_threads(self.online, work, hear).await?;
            let mut all = Vec::new();
            for (done, contexts) in ended {
                contexts
                    .iter()
                    .for_each(|context| self.online.join(context));
                all.extend(done);
            }
            all
        };
        let mut tasks: Vec<TaskReport> = done.into_iter().flatten().collect();
        tasks.sort_by_key(|task| task.ready);
        let first = tasks.first().map(|task| self.begin + task.ready);
        Ok((tasks, first))
    }
}

/// What is this operation's fault names it, and ends the job for all.
fn told(error: Error, node: &Node, context: &Context) -> Error {
    let Error::Short { .. } = &error else {
        return error;
    };
    let reason = format!("{} cannot go on: {error}", named(node));
    context.fail(Error::Ended { reason })
}

/// An operation, and where the program asked for it.
fn named(node: &Node) -> String {
    let name = node.operation.as_ref().map(|operation| operation.name());
    let name = name.unwrap_or_else(|| "input".to_owned());
    match node.label.as_str() {
        "" => format!("operation `{name}`"),
        label => format!("operation `{name}` ({label})"),
    }
}

/// One strand at work.
struct Runner {
    strand: Strand,
    /// Those that prepare, the first of which is the strand itself.
    preparers: Vec<Strand>,
    index: usize,
    list: Vec<u32>,
    begin: Instant,
}

impl Runner {
    /// All tasks of the strand. Its failure ends the others at once: those that wait for each other hear
    /// of it from the board alone, and `try_join_all` tells of the failure of one of many futures only
    /// when those before it have ended.
    async fn work(
        &mut self,
        graph: &Graph,
        schedule: &Schedule,
        board: &Arc<Board>,
        tell: &dyn Fn(Event),
    ) -> Result<Vec<TaskReport>, Error> {
        let done = self.tasks(graph, schedule, board, tell).await;
        if let Err(error) = &done {
            board.fail(error);
        }
        done
    }

    async fn tasks(
        &mut self,
        graph: &Graph,
        schedule: &Schedule,
        board: &Arc<Board>,
        tell: &dyn Fn(Event),
    ) -> Result<Vec<TaskReport>, Error> {
        let mut reports = Vec::with_capacity(self.list.len());
        if schedule.ahead {
            self.prepare(graph, schedule, board).await?;
        }
        for &index in &self.list {
            let task = &schedule.tasks[index as usize];
            let node = graph.node(task.node);
            let context = self.strand.context(Phase::Online).beside();
            let start = board.start(index, &context).await?;
            let operation = node.operation.as_ref().expect("inputs are no tasks");
            let mut turn = Turn::new(&mut self.strand, context.clone(), start.stock, start.kept);
            let (made, worked) = match node.empty(turn.me()) {
                Some(made) => (made, Duration::ZERO),
                None => {
                    let (made, worked) = timed(operation.online(&mut turn, start.inputs)).await;
                    let made = made.map_err(|error| told(error, node, &context));
                    (made?, worked)
                }
            };
            drop(turn);
            self.strand.context(Phase::Online).join(&context);
            board.put(index, made, &context);
            reports.push(TaskReport {
                operation: task.node as usize,
                block: task.block as usize,
                strand: self.index,
                ready: start.ready - self.begin,
                ended: self.begin.elapsed(),
                worked,
            });
            tell(Event::Ended(index));
            breathe().await;
        }
        Ok(reports)
    }

    /// Does what does not depend on inputs, for all tasks of this strand and then of all others.
    async fn prepare(
        &mut self,
        graph: &Graph,
        schedule: &Schedule,
        board: &Board,
    ) -> Result<(), Error> {
        let mut lists: Vec<Vec<u32>> = vec![Vec::new(); 1 + self.preparers.len()];
        for &index in &self.list {
            if schedule.prepares(graph, index) {
                lists[schedule.tasks[index as usize].preparer as usize].push(index);
            }
        }
        let strands = std::iter::once(&mut self.strand).chain(&mut self.preparers);
        let work = strands
            .zip(&lists)
            .map(|(strand, list)| prepare(strand, list, graph, schedule, board));
        try_join_all(work).await?;
        // With what they worked in: all that is needed online is on the board.
        self.preparers.clear();
        board.all_prepared().await
    }
}

/// That many futures are told of the first failure of any of them; more, in order.
const _: () = assert!(PREPARERS <= 30);

/// Prepares tasks one after the other.
async fn prepare(
    strand: &mut Strand,
    list: &[u32],
    graph: &Graph,
    schedule: &Schedule,
    board: &Board,
) -> Result<(), Error> {
    for &index in list {
        let node = graph.node(schedule.tasks[index as usize].node);
        let context = strand.context(Phase::Setup).beside();
        let start = board.start_ahead(index, &context).await?;
        let operation = node.operation.as_ref().expect("inputs are no tasks");
        let turn = Turn::new(strand, context.clone(), start.stock, None);
        let mut turn = turn.telling(Early::of(board, index, &context));
        let prepared = match node.empty(turn.me()) {
            Some(results) => Prepared {
                results,
                kept: Box::new(()),
            },
            None => {
                let prepared = operation.prepare(&mut turn, start.inputs).await;
                prepared.map_err(|error| told(error, node, &context))?
            }
        };
        let stock = turn.into_stock();
        strand.context(Phase::Setup).join(&context);
        board
            .put_ahead(index, prepared, stock, &context)
            .map_err(|problem| {
                let reason = format!("{} cannot go on: {problem}", named(node));
                context.fail(Error::Ended { reason })
            })?;
        breathe().await;
    }
    Ok(())
}
