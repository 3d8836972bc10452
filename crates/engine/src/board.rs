//! Board of a program at work: what its tasks make, and what they wait for: values of earlier ones, blocks that must have
//! ended, correlations.

mod wholes;

use std::collections::VecDeque;
use std::future::poll_fn;
use std::ops::Range;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::task::{Poll, Waker};
use std::time::Instant;

use madrigal_core::Phase;
use madrigal_correlations::{BitTriples, Steps, Stock, TriplePieces};
use madrigal_net::{Context, Error, Result};

use crate::graph::{Graph, Node, Value};
use crate::operation::{Mismatch, Prepared, PreparedState};
use crate::schedule::{Schedule, Task};
use crate::shares::{Shares, give_up};
use wholes::Wholes;

/// Why a task has a stock before its Boolean triples come.
const OTHERS_FIRST: &str = "other correlations come before Boolean triples are handed out";

/// Where tasks leave what they made, and find what they need; all threads use it.
pub(crate) struct Board {
    graph: Arc<Graph>,
    schedule: Arc<Schedule>,
    /// The task that makes each block of each operation.
    makers: Vec<Vec<u32>>,
    /// The tasks that read what each task makes, once each: in setup and online.
    readers: [Vec<Vec<u32>>; 2],
    state: Mutex<State>,
}

struct State {
    tasks: Vec<TaskState>,
    /// Values in pieces that several tasks read whole, in setup and online.
    wholes: [Wholes; 2],
    /// Clear inputs, by node; gone when nobody reads them any more.
    inputs: Vec<(Option<Arc<Shares>>, usize)>,
    /// Tasks of each block that have not ended.
    blocks: Vec<Vec<usize>>,
    /// Tasks that wait for the end of a block.
    gated: Vec<Vec<Vec<u32>>>,
    parts: Vec<PartState>,
    maker: Option<Waker>,
    /// Tasks that are prepared ahead and have not been.
    ahead_left: usize,
    /// When the last one was.
    prepared: Option<Instant>,
    waiting_for_ahead: Vec<Waker>,
    /// Boolean triples that were handed out and are nobody's yet.
    triples: TriplePieces,
    /// Steps that have had their triples, of those that get them as they are made.
    served: usize,
    failed: Option<Error>,
}

/// A part of the correlations.
#[derive(Default)]
struct PartState {
    /// Tasks that have not ended.
    unfinished: usize,
    /// Tasks that are prepared ahead and have not been.
    unprepared: usize,
    /// The rounds after which its correlations were there.
    supplied: Option<Context>,
}

/// One task.
#[derive(Default)]
struct TaskState {
    /// Preparation, and work online.
    turns: [TurnState; 2],
    stock: Option<Stock>,
    /// Memory that its preparation left for its work online.
    kept: Option<PreparedState>,
    /// Number of times that its preparation told of its results.
    told: usize,
    /// Boolean triples of later steps, in order.
    steps: VecDeque<BitTriples>,
    step_waker: Option<Waker>,
}

/// Turn of a task in one phase.
#[derive(Default)]
struct TurnState {
    /// Number of things that it waits for: tasks, the end of a block, correlations.
    missing: usize,
    waker: Option<Waker>,
    /// Number of tasks that will read what it makes; online, also of outputs of the program.
    readers: usize,
    made: Vec<Arc<Shares>>,
    /// The rounds after which that was there.
    clock: Option<Context>,
}

impl TurnState {
    /// One thing less that it waits for.
    fn arrived(&mut self) {
        self.missing -= 1;
        if self.missing == 0 {
            wake(&mut self.waker);
        }
    }
}

fn wake(waker: &mut Option<Waker>) {
    waker.take().into_iter().for_each(Waker::wake);
}

/// Inputs and correlations that a task, or its preparation, begins with.
pub(crate) struct Start {
    pub(crate) inputs: Vec<Arc<Shares>>,
    pub(crate) stock: Stock,
    /// Memory that the preparation left.
    pub(crate) kept: Option<PreparedState>,
    /// When everything was there.
    pub(crate) ready: Instant,
}

impl Board {
    /// Board on which nothing is done; `inputs` are all of the graph's, in order.
    pub(crate) fn new(
        graph: &Arc<Graph>,
        schedule: &Arc<Schedule>,
        inputs: impl IntoIterator<Item = Shares>,
    ) -> Self {
        let count = schedule.tasks.len();
        let mut makers: Vec<Vec<u32>> = vec![Vec::new(); graph.len()];
        let mut by_block: Vec<u32> = (0..count as u32).collect();
        by_block.sort_by_key(|&index| {
            let task = &schedule.tasks[index as usize];
            (task.node, task.block)
        });
        for index in by_block {
            makers[schedule.tasks[index as usize].node as usize].push(index);
        }
        let mut given = vec![(None, 0); graph.len()];
        for (&value, shares) in graph.inputs().iter().zip(inputs) {
            given[value.node as usize].0 = Some(Arc::new(shares));
        }
        let mut board = Self {
            graph: Arc::clone(graph),
            schedule: Arc::clone(schedule),
            makers,
            readers: [(); 2].map(|()| vec![Vec::new(); count]),
            state: Mutex::new(State {
                tasks: (0..count).map(|_| TaskState::default()).collect(),
                wholes: Default::default(),
                inputs: given,
                blocks: Vec::new(),
                gated: Vec::new(),
                parts: schedule
                    .parts
                    .iter()
                    .map(|_| PartState::default())
                    .collect(),
                maker: None,
                ahead_left: 0,
                prepared: None,
                waiting_for_ahead: Vec::new(),
                triples: TriplePieces::new(),
                served: 0,
                failed: None,
            }),
        };
        board.count();
        board
    }

    /// Counts what each task will wait for, and who will read what it makes.
    fn count(&mut self) {
        let (graph, schedule) = (&self.graph, &self.schedule);
        let state = self.state.get_mut().unwrap_or_else(PoisonError::into_inner);
        for (tasks, count) in schedule.block_tasks() {
            state.blocks.push(vec![tasks; count]);
            state.gated.push(vec![Vec::new(); count]);
        }
        for (index, task) in (0..).zip(&schedule.tasks) {
            for &input in &graph.node(task.node).inputs {
                if graph.node(input.node).operation.is_none() {
                    state.inputs[input.node as usize].1 += 1;
                }
            }
            let prepares = schedule.prepares(graph, task.node);
            for phase in Phase::ALL {
                if phase == Phase::Setup && !prepares {
                    continue;
                }
                let whole = read_whole(graph, schedule, &self.makers, task, phase);
                state.wholes[phase.index()].read(whole);
                let made = |source: &&u32| {
                    let node = schedule.tasks[**source as usize].node;
                    phase == Phase::Online || schedule.prepares(graph, node)
                };
                let mut missing = 1;
                for &source in task.sources.iter().filter(made) {
                    missing += 1;
                    state.tasks[source as usize].turns[phase.index()].readers += 1;
                    self.readers[phase.index()][source as usize].push(index);
                }
                state.tasks[index as usize].turns[phase.index()].missing = missing;
            }
            let first = schedule.stream.is_some() && task.price.steps[0] > 0;
            let waits = usize::from(task.after.is_some()) + usize::from(first);
            state.tasks[index as usize].turns[Phase::Online.index()].missing += waits;
            if let Some((region, block)) = task.after {
                state.gated[region as usize][block as usize].push(index);
            }
            state.ahead_left += usize::from(prepares);
            let part = &mut state.parts[task.part as usize];
            part.unprepared += usize::from(prepares);
            part.unfinished += 1;
        }
        state.wholes.iter_mut().for_each(Wholes::keep_shared);
        for value in graph.outputs() {
            for &source in &self.makers[value.node as usize] {
                state.tasks[source as usize].turns[Phase::Online.index()].readers += 1;
            }
            if graph.node(value.node).operation.is_none() {
                state.inputs[value.node as usize].1 += 1;
            }
        }
    }

    pub(crate) fn schedule(&self) -> &Schedule {
        &self.schedule
    }

    /// The operation of a task.
    pub(crate) fn node(&self, index: u32) -> &Node {
        self.graph.node(self.schedule.tasks[index as usize].node)
    }

    /// Whether a task is prepared before inputs are there.
    pub(crate) fn prepares(&self, index: u32) -> bool {
        let node = self.schedule.tasks[index as usize].node;
        self.schedule.prepares(&self.graph, node)
    }

    fn lock(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Waits until `done` says so; where it does not, it leaves the waker for who will know.
    async fn wait(&self, mut done: impl FnMut(&mut State, &Waker) -> bool) -> Result<()> {
        poll_fn(|waiting| {
            let mut state = self.lock();
            if let Some(error) = &state.failed {
                return Poll::Ready(Err(error.clone()));
            }
            match done(&mut state, waiting.waker()) {
                true => Poll::Ready(Ok(())),
                false => Poll::Pending,
            }
        })
        .await
    }

    /// Waits for all that a task needs for its preparation or for its work online. Its rounds go on from those of what it
    /// reads, in `context`.
    pub(crate) async fn start(
        self: &Arc<Self>,
        index: u32,
        phase: Phase,
        context: &Context,
    ) -> Result<Start> {
        self.wait(|state, waker| {
            let turn = &mut state.tasks[index as usize].turns[phase.index()];
            if turn.missing > 0 {
                turn.waker = Some(waker.clone());
            }
            turn.missing == 0
        })
        .await?;
        let ready = Instant::now();
        let task = &self.schedule.tasks[index as usize];
        let mut state = self.lock();
        let kept = state.tasks[index as usize].kept.take();
        let stock = state.tasks[index as usize].stock.take();
        let mut stock = stock.expect("correlations come before a task begins");
        let pieces = self.collect(&mut state, task, phase, context);
        drop(state);
        if self.schedule.stream.is_some() && task.price.steps.len() > 1 {
            stock.set_steps(Box::new(LaterSteps {
                board: Arc::clone(self),
                task: index,
                step: 0,
            }));
        }
        let inputs: Vec<_> = pieces.into_iter().map(assemble).collect();
        self.share(task, &inputs, phase);
        Ok(Start {
            inputs,
            stock,
            kept,
            ready,
        })
    }

    /// The pieces of each input with the elements that are read of each.
    fn collect(
        &self,
        state: &mut State,
        task: &Task,
        phase: Phase,
        context: &Context,
    ) -> Vec<Pieces> {
        let (graph, schedule) = (&self.graph, &self.schedule);
        if phase == Phase::Setup
            && let Some(supplied) = &state.parts[task.part as usize].supplied
        {
            context.join(supplied);
        }
        // Values read whole that another task has put together before; this task reads their pieces no more.
        let whole = read_whole(graph, schedule, &self.makers, task, phase);
        let together = state.wholes[phase.index()].take(whole);
        let mut inputs = Vec::new();
        let mut read = Vec::new();
        for &input in &graph.node(task.node).inputs {
            let range = schedule.reads(graph, task, input);
            if let Some(piece) = self.not_made(state, input, &range, phase) {
                inputs.push(vec![piece]);
                continue;
            }
            let pieces = schedule.pieces(input.node, &range);
            let sources = &self.makers[input.node as usize][pieces];
            let mut pieces = Vec::new();
            for &source in sources {
                let turn = &state.tasks[source as usize].turns[phase.index()];
                if let Some(clock) = &turn.clock {
                    context.join(clock);
                }
                read.push(source);
                if !together.contains_key(&input) {
                    let value = &turn.made[input.output as usize];
                    pieces.push(piece(schedule, source, value, sources.len() == 1, &range));
                }
            }
            if let Some(shares) = together.get(&input) {
                pieces.push((Arc::clone(shares), range));
            }
            inputs.push(pieces);
        }
        read.sort_unstable();
        read.dedup();
        for source in read {
            let turn = &mut state.tasks[source as usize].turns[phase.index()];
            turn.readers -= 1;
            if turn.readers == 0 {
                turn.made.clear();
            }
        }
        inputs
    }

    /// An input that no task has made by then: online an input of the program, in setup what is part of the program, or
    /// is not known yet.
    fn not_made(
        &self,
        state: &mut State,
        input: Value,
        range: &Range<usize>,
        phase: Phase,
    ) -> Option<(Arc<Shares>, Range<usize>)> {
        let maker = self.graph.node(input.node).operation.as_ref();
        if phase == Phase::Online {
            if maker.is_some() {
                return None;
            }
            let (value, readers) = &mut state.inputs[input.node as usize];
            *readers -= 1;
            let value = match readers {
                0 => value.take(),
                _ => value.clone(),
            };
            let value = value.expect("inputs stay until the last task that reads them");
            return Some((value, range.clone()));
        }
        let known = match maker.and_then(|operation| operation.constant()) {
            Some(value) => value.slice(range.clone()),
            None if self.schedule.prepares(&self.graph, input.node) => return None,
            None => Shares::unknown(self.graph.sort(input).of_len(range.len())),
        };
        Some((Arc::new(known), 0..range.len()))
    }

    /// Keeps values that a task has put together for others that read them whole. The pieces go, unless somebody
    /// reads one of them alone.
    fn share(&self, task: &Task, inputs: &[Arc<Shares>], phase: Phase) {
        let mut state = self.lock();
        if state.wholes[phase.index()].is_empty() {
            return;
        }
        for (&value, shares) in self.graph.node(task.node).inputs.iter().zip(inputs) {
            if shares.len() < self.graph.sort(value).len {
                continue;
            }
            let Some(readers) = state.wholes[phase.index()].put(value, shares) else {
                continue;
            };
            let sources = &self.makers[value.node as usize];
            let tasks = &mut state.tasks;
            let mut turns = sources
                .iter()
                .map(|&source| &tasks[source as usize].turns[phase.index()]);
            if turns.any(|turn| turn.readers > readers) {
                continue;
            }
            for &source in sources {
                let turn = &mut tasks[source as usize].turns[phase.index()];
                let piece = &mut turn.made[value.output as usize];
                *piece = Arc::new(Shares::zeros(piece.sort().of_len(0)));
            }
        }
    }

    /// Leaves what a task made.
    pub(crate) fn put(&self, index: u32, made: Vec<Shares>, clock: &Context) {
        let task = &self.schedule.tasks[index as usize];
        let mut state = self.lock();
        let state = &mut *state;
        self.made(state, index, Phase::Online, made, clock.clone());
        let (region, block) = (task.of.0 as usize, task.of.1 as usize);
        state.blocks[region][block] -= 1;
        if state.blocks[region][block] == 0 {
            for next in std::mem::take(&mut state.gated[region][block]) {
                state.tasks[next as usize].turns[Phase::Online.index()].arrived();
            }
        }
        let part = &mut state.parts[task.part as usize];
        part.unfinished -= 1;
        if part.unfinished == 0 {
            wake(&mut state.maker);
        }
    }

    /// Leaves results of a task for those that read them in the same phase.
    fn made(&self, state: &mut State, index: u32, phase: Phase, made: Vec<Shares>, clock: Context) {
        let turn = &mut state.tasks[index as usize].turns[phase.index()];
        turn.clock = Some(clock);
        if turn.readers > 0 {
            turn.made = made.into_iter().map(Arc::new).collect();
        }
        for &reader in &self.readers[phase.index()][index as usize] {
            state.tasks[reader as usize].turns[phase.index()].arrived();
        }
    }

    /// Leaves what is known of a task's results, while it is still prepared, after the rounds of `clock`.
    pub(crate) fn tell_ahead(&self, index: u32, results: Vec<Shares>, clock: &Context) {
        let mut state = self.lock();
        let told = &mut state.tasks[index as usize].told;
        *told += 1;
        if *told == 1 {
            self.made(&mut state, index, Phase::Setup, results, clock.beside());
        }
    }

    /// Leaves what was prepared for a task.
    ///
    /// # Errors
    /// [`Mismatch`] if its results were told otherwise than its bill says.
    pub(crate) fn put_ahead(
        &self,
        index: u32,
        prepared: Prepared,
        stock: Stock,
        clock: &Context,
    ) -> std::result::Result<(), Mismatch> {
        let task = &self.schedule.tasks[index as usize];
        let mut state = self.lock();
        let own = &mut state.tasks[index as usize];
        // Correlations that are used up would keep the memory of their whole part.
        own.stock = Some(match task.price.online.needs.is_empty() {
            true => stock.emptied(),
            false => stock,
        });
        own.kept = Some(prepared.kept);
        let (told, wanted) = (own.told, usize::from(task.price.known));
        if told != wanted {
            return Err(Mismatch::new(format!(
                "it told of its results {told} times while it was prepared, and its bill says {wanted}"
            )));
        }
        if told == 0 {
            self.made(
                &mut state,
                index,
                Phase::Setup,
                prepared.results,
                clock.clone(),
            );
        }
        let part = &mut state.parts[task.part as usize];
        part.unprepared -= 1;
        if part.unprepared == 0 {
            wake(&mut state.maker);
        }
        state.ahead_left -= 1;
        if state.ahead_left == 0 {
            state.prepared = Some(Instant::now());
            state.waiting_for_ahead.drain(..).for_each(Waker::wake);
        }
        Ok(())
    }

    /// Waits until all is prepared that is to be.
    pub(crate) async fn all_prepared(&self) -> Result<()> {
        self.wait(|state, waker| {
            if state.ahead_left > 0 {
                state.waiting_for_ahead.push(waker.clone());
            }
            state.ahead_left == 0
        })
        .await
    }

    /// When all was prepared, if anything was.
    pub(crate) fn prepared_at(&self) -> Option<Instant> {
        self.lock().prepared
    }

    /// Gives the tasks of a part their correlations, which came in the rounds of `made`.
    pub(crate) fn deliver(&self, part: u32, mut stock: Stock, made: &Context) {
        let me = made.me();
        let mut state = self.lock();
        state.parts[part as usize].supplied = Some(made.beside());
        for index in self.schedule.tasks_of(part) {
            let needs = &self.schedule.tasks[index].price.needs;
            let own = match self.schedule.stream {
                None => stock.take(needs, me),
                Some(_) => stock.take(&needs.without_bit_triples(), me),
            };
            let task = &mut state.tasks[index];
            task.stock = Some(own);
            let turns = task.turns.iter_mut();
            turns
                .filter(|turn| turn.missing > 0)
                .for_each(TurnState::arrived);
        }
    }

    /// Takes Boolean triples as they are made, and gives the next steps theirs. What the parts before bring is
    /// there by then.
    pub(crate) fn hand(&self, triples: BitTriples) {
        let mut state = self.lock();
        let state = &mut *state;
        state.triples.push(triples);
        let order = self.schedule.stream.as_deref().unwrap_or_default();
        for of in &order[state.served..] {
            let Some(own) = state.triples.take(of.triples) else {
                break;
            };
            state.served += 1;
            let task = &mut state.tasks[of.task as usize];
            if of.step == 0 {
                let stock = task.stock.as_mut();
                stock.expect(OTHERS_FIRST).set_bit_triples(own);
                task.turns[Phase::Online.index()].arrived();
            } else {
                task.steps.push_back(own);
                wake(&mut task.step_waker);
            }
        }
    }

    /// Waits until all tasks of a part have ended, or, where tasks are prepared ahead, until those of the part
    /// are prepared.
    pub(crate) async fn part_ended(&self, part: u32) -> Result<()> {
        self.wait(|state, waker| {
            let part = &state.parts[part as usize];
            let left = match self.schedule.ahead {
                true => part.unprepared,
                false => part.unfinished,
            };
            if left > 0 {
                state.maker = Some(waker.clone());
            }
            left == 0
        })
        .await
    }

    /// Ends all waiting with this error.
    pub(crate) fn fail(&self, error: &Error) {
        let mut state = self.lock();
        let state = &mut *state;
        state.failed.get_or_insert_with(|| error.clone());
        for task in &mut state.tasks {
            task.turns.iter_mut().for_each(|turn| wake(&mut turn.waker));
            wake(&mut task.step_waker);
        }
        state.waiting_for_ahead.drain(..).for_each(Waker::wake);
        wake(&mut state.maker);
    }

    /// The program's outputs, when all tasks have ended.
    pub(crate) fn outputs(&self) -> Vec<Shares> {
        let state = self.lock();
        let mut outputs = Vec::new();
        for &value in self.graph.outputs() {
            if self.graph.node(value.node).operation.is_none() {
                let input = state.inputs[value.node as usize].0.clone();
                outputs.extend(input.map(Arc::unwrap_or_clone));
                continue;
            }
            let sources = self.makers[value.node as usize].iter();
            let made = sources.map(|&source| {
                let turn = &state.tasks[source as usize].turns[Phase::Online.index()];
                &*turn.made[value.output as usize]
            });
            outputs.push(match &made.collect::<Vec<&Shares>>()[..] {
                [one] => Shares::clone(one),
                many => Shares::concat(many),
            });
        }
        outputs
    }
}

/// Boolean triples of a task that gets them step by step.
struct LaterSteps {
    board: Arc<Board>,
    task: u32,
    /// Step at work.
    step: usize,
}

impl Steps for LaterSteps {
    fn poll_next(&mut self, waiting: &mut std::task::Context<'_>) -> Poll<Result<BitTriples>> {
        let steps = &self.board.schedule.tasks[self.task as usize].price.steps;
        let next = self.step + 1;
        // A step too many finds nothing: the operation's own call says so.
        let count = steps.get(next).copied().unwrap_or(0);
        let mut state = self.board.lock();
        if let Some(error) = &state.failed {
            return Poll::Ready(Err(error.clone()));
        }
        let task = &mut state.tasks[self.task as usize];
        let triples = match count {
            0 => BitTriples::none(),
            _ => match task.steps.pop_front() {
                Some(triples) => triples,
                None => {
                    task.step_waker = Some(waiting.waker().clone());
                    return Poll::Pending;
                }
            },
        };
        self.step = next;
        Poll::Ready(Ok(triples))
    }
}

/// Parts of values, with the elements that are read of each.
type Pieces = Vec<(Arc<Shares>, Range<usize>)>;

/// Piece of a value from the task that makes these elements, perhaps alone, for a task that reads `range`.
fn piece(
    schedule: &Schedule,
    source: u32,
    value: &Arc<Shares>,
    alone: bool,
    range: &Range<usize>,
) -> (Arc<Shares>, Range<usize>) {
    let made = &schedule.tasks[source as usize].range;
    let whole = value.len();
    let part = if alone && whole == range.len() {
        0..whole
    } else {
        let from = range.start.max(made.start) - made.start;
        from..range.end.min(made.end) - made.start
    };
    (Arc::clone(value), part)
}

/// One vector of the pieces; no copy of a piece that is read whole and alone.
fn assemble(pieces: Pieces) -> Arc<Shares> {
    let read = |(piece, range): (Arc<Shares>, Range<usize>)| match range.len() == piece.len() {
        true => piece,
        false => Arc::new(piece.slice(range)),
    };
    let mut pieces: Vec<Arc<Shares>> = pieces.into_iter().map(read).collect();
    match pieces.len() {
        1 => pieces.remove(0),
        _ => {
            let refs: Vec<_> = pieces.iter().map(Arc::as_ref).collect();
            let whole = Arc::new(Shares::concat(&refs));
            give_up(pieces);
            whole
        }
    }
}

/// The values in pieces that a task reads whole in a phase, once each.
fn read_whole(
    graph: &Graph,
    schedule: &Schedule,
    makers: &[Vec<u32>],
    task: &Task,
    phase: Phase,
) -> Vec<Value> {
    let inputs = graph.node(task.node).inputs.iter().copied();
    let mut whole: Vec<Value> = inputs
        .filter(|input| {
            let made = phase == Phase::Online || schedule.prepares(graph, input.node);
            made && makers[input.node as usize].len() > 1
                && schedule.reads(graph, task, *input).len() == graph.sort(*input).len
        })
        .collect();
    whole.sort_unstable();
    whole.dedup();
    whole
}
