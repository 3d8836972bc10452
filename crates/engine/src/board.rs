//! What tasks wait for: values of earlier ones, blocks that must have ended, correlations.

mod wholes;

use std::any::Any;
use std::collections::VecDeque;
use std::future::poll_fn;
use std::ops::Range;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::task::{Poll, Waker};
use std::time::Instant;

use madrigal_correlations::{BitTriples, Steps, Stock, TriplePieces};
use madrigal_net::{Context, Error, Result};

use crate::graph::{Graph, Value};
use crate::operation::{Mismatch, Prepared};
use crate::schedule::{Schedule, Task};
use crate::shares::Shares;
use wholes::{When, Wholes, read_whole};

/// Why a task has a stock before its Boolean triples come.
const OTHERS_FIRST: &str = "other correlations come before Boolean triples are handed out";

/// Where tasks leave what they made, and find what they need; all threads use it.
pub(crate) struct Board {
    graph: Arc<Graph>,
    schedule: Arc<Schedule>,
    /// The task that makes each block of each operation.
    places: Vec<Vec<u32>>,
    /// The tasks that read what each task makes, once each.
    readers: Vec<Vec<u32>>,
    state: Mutex<State>,
}

struct State {
    tasks: Vec<Place>,
    /// Values in pieces that several tasks read whole.
    wholes: Wholes,
    wholes_ahead: Wholes,
    /// Clear inputs, by node; gone when nobody reads them any more.
    inputs: Vec<(Option<Arc<Shares>>, usize)>,
    /// Tasks of each block that have not ended.
    blocks: Vec<Vec<usize>>,
    /// Tasks that wait for the end of a block.
    gated: Vec<Vec<Vec<u32>>>,
    /// Tasks of each part that have not ended.
    parts: Vec<usize>,
    maker: Option<Waker>,
    /// Tasks that are prepared ahead and have not been.
    ahead_left: usize,
    /// When the last one was.
    prepared: Option<Instant>,
    waiting_for_ahead: Vec<Waker>,
    /// By part, the rounds after which its correlations were there.
    supplied: Vec<Option<Context>>,
    /// By part, tasks that are prepared ahead and have not been.
    unprepared: Vec<usize>,
    /// Boolean triples that were handed out and are nobody's yet.
    triples: TriplePieces,
    /// How many steps have theirs, of those that get them as they are made.
    served: usize,
    failed: Option<Error>,
}

/// One task.
#[derive(Default)]
struct Place {
    /// What it waits for: tasks, the end of a block, its part's correlations.
    missing: usize,
    waker: Option<Waker>,
    stock: Option<Stock>,
    /// Tasks that will read what it made, and the program itself.
    readers: usize,
    made: Vec<Arc<Shares>>,
    clock: Option<Context>,
    ahead: Ahead,
    /// Boolean triples of later steps, in order.
    steps: VecDeque<BitTriples>,
    step_waker: Option<Waker>,
}

/// What is done for a task before inputs are there.
#[derive(Default)]
struct Ahead {
    /// Tasks whose preparation it waits for, and the correlations.
    missing: usize,
    waker: Option<Waker>,
    /// Tasks whose preparation will read what it made.
    readers: Vec<u32>,
    unread: usize,
    made: Vec<Arc<Shares>>,
    kept: Option<Box<dyn Any + Send>>,
    clock: Option<Context>,
    /// How often what it made was told before it had ended.
    told: usize,
}

/// What the preparation of a task begins with.
pub(crate) struct StartAhead {
    pub(crate) inputs: Vec<Arc<Shares>>,
    pub(crate) stock: Stock,
}

/// What a task begins with.
pub(crate) struct Start {
    pub(crate) inputs: Vec<Arc<Shares>>,
    pub(crate) stock: Stock,
    /// What was prepared.
    pub(crate) kept: Option<Box<dyn Any + Send>>,
    /// When everything was there.
    pub(crate) ready: Instant,
}

impl Board {
    /// Nothing is done; `inputs` are all of the graph's, in order.
    pub(crate) fn new(
        graph: &Arc<Graph>,
        schedule: &Arc<Schedule>,
        inputs: impl IntoIterator<Item = Shares>,
    ) -> Self {
        let mut places: Vec<Vec<u32>> = vec![Vec::new(); graph.len()];
        let mut by_block: Vec<(u32, u32, u32)> = (0..)
            .zip(&schedule.tasks)
            .map(|(index, task)| (task.node, task.block, index))
            .collect();
        by_block.sort_unstable();
        for (node, _, index) in by_block {
            places[node as usize].push(index);
        }
        let mut given = vec![(None, 0); graph.len()];
        for (&value, shares) in graph.inputs().iter().zip(inputs) {
            given[value.node as usize].0 = Some(Arc::new(shares));
        }
        let mut readers: Vec<Vec<u32>> = vec![Vec::new(); schedule.tasks.len()];
        let mut tasks: Vec<Place> = schedule.tasks.iter().map(|_| Place::default()).collect();
        let mut gated: Vec<Vec<Vec<u32>>> = Vec::new();
        let mut blocks = Vec::new();
        for (tasks, count) in schedule.block_tasks() {
            blocks.push(vec![tasks; count]);
            gated.push(vec![Vec::new(); count]);
        }
        let mut parts = vec![0; schedule.parts.len()];
        let mut ahead_left = 0;
        let mut unprepared = vec![0; schedule.parts.len()];
        let [mut wholes, mut wholes_ahead] = [(); 2].map(|()| Wholes::default());
        for (index, task) in (0..).zip(&schedule.tasks) {
            let mut sources = Vec::new();
            wholes.read(read_whole(graph, schedule, &places, task, When::Online));
            for &input in &graph.node(task.node).inputs {
                if graph.node(input.node).operation.is_none() {
                    given[input.node as usize].1 += 1;
                    continue;
                }
                let range = schedule.reads(graph, task, input);
                let pieces = pieces_of(schedule, &places, input, &range);
                sources.extend(pieces.iter().copied());
            }
            sources.sort_unstable();
            sources.dedup();
            if schedule.prepares(graph, index) {
                wholes_ahead.read(read_whole(graph, schedule, &places, task, When::Ahead));
                let prepared = sources
                    .iter()
                    .filter(|&&source| schedule.prepares(graph, source));
                let prepared: Vec<u32> = prepared.copied().collect();
                tasks[index as usize].ahead.missing = prepared.len() + 1;
                for source in prepared {
                    let source = &mut tasks[source as usize].ahead;
                    source.readers.push(index);
                    source.unread += 1;
                }
                ahead_left += 1;
                unprepared[task.part as usize] += 1;
            }
            let place = &mut tasks[index as usize];
            let first = schedule.stream.is_some() && task.price.steps[0] > 0;
            let waits = usize::from(task.after.is_some()) + usize::from(first);
            place.missing = sources.len() + waits + 1;
            for source in sources {
                tasks[source as usize].readers += 1;
                readers[source as usize].push(index);
            }
            if let Some((region, block)) = task.after {
                gated[region as usize][block as usize].push(index);
            }
            parts[task.part as usize] += 1;
        }
        wholes.keep_shared();
        wholes_ahead.keep_shared();
        for value in graph.outputs() {
            for &source in &places[value.node as usize] {
                tasks[source as usize].readers += 1;
            }
            if graph.node(value.node).operation.is_none() {
                given[value.node as usize].1 += 1;
            }
        }
        Self {
            graph: Arc::clone(graph),
            schedule: Arc::clone(schedule),
            places,
            readers,
            state: Mutex::new(State {
                tasks,
                wholes,
                wholes_ahead,
                inputs: given,
                blocks,
                gated,
                parts,
                maker: None,
                ahead_left,
                prepared: None,
                waiting_for_ahead: Vec::new(),
                supplied: vec![None; schedule.parts.len()],
                unprepared,
                triples: TriplePieces::new(),
                served: 0,
                failed: None,
            }),
        }
    }

    fn lock(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Waits for all that a task needs. Its rounds go on from those of what it reads, in `context`.
    pub(crate) async fn start(self: &Arc<Self>, index: u32, context: &Context) -> Result<Start> {
        poll_fn(|waiting| {
            let mut state = self.lock();
            if let Some(error) = &state.failed {
                return Poll::Ready(Err(error.clone()));
            }
            let place = &mut state.tasks[index as usize];
            if place.missing > 0 {
                place.waker = Some(waiting.waker().clone());
                return Poll::Pending;
            }
            Poll::Ready(Ok(()))
        })
        .await?;
        let ready = Instant::now();
        let task = &self.schedule.tasks[index as usize];
        let kept = self.lock().tasks[index as usize].ahead.kept.take();
        let (pieces, mut stock) = self.collect(task, index, context);
        if self.schedule.stream.is_some() && task.price.steps.len() > 1 {
            stock.set_steps(Box::new(LaterSteps {
                board: Arc::clone(self),
                task: index,
                step: 0,
            }));
        }
        let inputs: Vec<_> = pieces.into_iter().map(assemble).collect();
        self.share(task, &inputs, When::Online);
        Ok(Start {
            inputs,
            stock,
            kept,
            ready,
        })
    }

    /// The pieces of each input with the elements that are read of each, and the correlations.
    fn collect(&self, task: &Task, index: u32, context: &Context) -> (Vec<Pieces>, Stock) {
        let (graph, schedule) = (&self.graph, &self.schedule);
        let mut state = self.lock();
        let stock = state.tasks[index as usize].stock.take();
        let stock = stock.expect("correlations come before a task begins");
        let mut inputs = Vec::new();
        let mut read = Vec::new();
        let together = self.together(&mut state, task, When::Online);
        for &input in &graph.node(task.node).inputs {
            let range = schedule.reads(graph, task, input);
            if graph.node(input.node).operation.is_none() {
                let (value, readers) = &mut state.inputs[input.node as usize];
                *readers -= 1;
                let value = if *readers == 0 {
                    value.take()
                } else {
                    value.clone()
                };
                let value = value.expect("inputs stay until the last task that reads them");
                inputs.push(vec![(value, range)]);
                continue;
            }
            let sources = pieces_of(schedule, &self.places, input, &range);
            let mut pieces = Vec::new();
            for &source in sources {
                let place = &state.tasks[source as usize];
                if let Some(clock) = &place.clock {
                    context.join(clock);
                }
                read.push(source);
                if together.contains_key(&input) {
                    continue;
                }
                let value = &place.made[input.output as usize];
                pieces.push(piece(schedule, source, value, sources.len() == 1, &range));
            }
            if let Some(shares) = together.get(&input) {
                pieces.push((Arc::clone(shares), range));
            }
            inputs.push(pieces);
        }
        read.sort_unstable();
        read.dedup();
        for source in read {
            let place = &mut state.tasks[source as usize];
            place.readers -= 1;
            if place.readers == 0 {
                place.made.clear();
            }
        }
        (inputs, stock)
    }

    /// Leaves what a task made.
    pub(crate) fn put(&self, index: u32, made: Vec<Shares>, clock: &Context) {
        let task = &self.schedule.tasks[index as usize];
        let mut state = self.lock();
        let place = &mut state.tasks[index as usize];
        place.clock = Some(clock.clone());
        if place.readers > 0 {
            place.made = made.into_iter().map(Arc::new).collect();
        }
        for &reader in &self.readers[index as usize] {
            state.arrived(reader);
        }
        let (region, block) = (task.of.0 as usize, task.of.1 as usize);
        state.blocks[region][block] -= 1;
        if state.blocks[region][block] == 0 {
            for next in std::mem::take(&mut state.gated[region][block]) {
                state.arrived(next);
            }
        }
        let part = &mut state.parts[task.part as usize];
        *part -= 1;
        if *part == 0
            && let Some(waker) = state.maker.take()
        {
            waker.wake();
        }
    }

    /// Waits for what the preparation of a task needs.
    pub(crate) async fn start_ahead(&self, index: u32, context: &Context) -> Result<StartAhead> {
        poll_fn(|waiting| {
            let mut state = self.lock();
            if let Some(error) = &state.failed {
                return Poll::Ready(Err(error.clone()));
            }
            let ahead = &mut state.tasks[index as usize].ahead;
            if ahead.missing > 0 {
                ahead.waker = Some(waiting.waker().clone());
                return Poll::Pending;
            }
            Poll::Ready(Ok(()))
        })
        .await?;
        let (graph, schedule) = (&self.graph, &self.schedule);
        let task = &schedule.tasks[index as usize];
        let mut inputs = Vec::new();
        let mut state = self.lock();
        if let Some(supplied) = &state.supplied[task.part as usize] {
            context.join(supplied);
        }
        let mut read = Vec::new();
        let together = self.together(&mut state, task, When::Ahead);
        for &input in &graph.node(task.node).inputs {
            let range = schedule.reads(graph, task, input);
            let maker = graph.node(input.node).operation.as_ref();
            if let Some(value) = maker.and_then(|operation| operation.constant()) {
                inputs.push(vec![(Arc::new(value.slice(range.clone())), 0..range.len())]);
                continue;
            }
            let sort = graph.sort(input).of_len(range.len());
            let sources = match graph.node(input.node).operation {
                Some(_) => pieces_of(schedule, &self.places, input, &range),
                None => &[],
            };
            let prepared = |&&source: &&u32| schedule.prepares(graph, source);
            if !sources.iter().all(|source| prepared(&source)) || sources.is_empty() {
                inputs.push(vec![(Arc::new(Shares::unknown(sort)), 0..range.len())]);
                read.extend(sources.iter().filter(prepared));
                continue;
            }
            let mut pieces = Vec::new();
            for &source in sources {
                let ahead = &state.tasks[source as usize].ahead;
                if let Some(clock) = &ahead.clock {
                    context.join(clock);
                }
                read.push(source);
                if !together.contains_key(&input) {
                    let value = &ahead.made[input.output as usize];
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
            let ahead = &mut state.tasks[source as usize].ahead;
            ahead.unread -= 1;
            if ahead.unread == 0 {
                ahead.made.clear();
            }
        }
        let stock = state.tasks[index as usize].stock.take();
        let stock = stock.expect("correlations come before a task is prepared");
        drop(state);
        let inputs: Vec<_> = inputs.into_iter().map(assemble).collect();
        self.share(task, &inputs, When::Ahead);
        Ok(StartAhead { inputs, stock })
    }

    /// Leaves what is known of a task's results, while it is still prepared, after the rounds of `clock`.
    pub(crate) fn tell_ahead(&self, index: u32, results: Vec<Shares>, clock: &Context) {
        let mut state = self.lock();
        let told = &mut state.tasks[index as usize].ahead.told;
        *told += 1;
        if *told == 1 {
            state.made_ahead(index, results, clock.beside());
        }
    }

    /// Leaves what was prepared for a task.
    ///
    /// # Errors
    /// If its results were told otherwise than its bill says.
    pub(crate) fn put_ahead(
        &self,
        index: u32,
        prepared: Prepared,
        stock: Stock,
        clock: &Context,
    ) -> std::result::Result<(), Mismatch> {
        let mut state = self.lock();
        let place = &mut state.tasks[index as usize];
        // What is used up keeps the memory of its whole part.
        let later = &self.schedule.tasks[index as usize].price.later;
        place.stock = Some(if later.is_empty() {
            stock.emptied()
        } else {
            stock
        });
        place.ahead.kept = Some(prepared.kept);
        let known = self.schedule.tasks[index as usize].price.known;
        let (told, wanted) = (place.ahead.told, usize::from(known));
        if told != wanted {
            return Err(Mismatch::new(format!(
                "it told of its results {told} times while it was prepared, and its bill says {wanted}"
            )));
        }
        if told == 0 {
            state.made_ahead(index, prepared.results, clock.clone());
        }
        state.ahead_left -= 1;
        let part = self.schedule.tasks[index as usize].part as usize;
        state.unprepared[part] -= 1;
        if state.unprepared[part] == 0
            && let Some(waker) = state.maker.take()
        {
            waker.wake();
        }
        if state.ahead_left == 0 {
            state.prepared = Some(Instant::now());
            let waiting = std::mem::take(&mut state.waiting_for_ahead);
            waiting.into_iter().for_each(Waker::wake);
        }
        Ok(())
    }

    /// Waits until all is prepared that is to be.
    pub(crate) async fn all_prepared(&self) -> Result<()> {
        poll_fn(|waiting| {
            let mut state = self.lock();
            if let Some(error) = &state.failed {
                return Poll::Ready(Err(error.clone()));
            }
            if state.ahead_left > 0 {
                state.waiting_for_ahead.push(waiting.waker().clone());
                return Poll::Pending;
            }
            Poll::Ready(Ok(()))
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
        state.supplied[part as usize] = Some(made.beside());
        let tasks = &self.schedule.tasks;
        for index in self.schedule.tasks_of(part) {
            let needs = &tasks[index].price.needs;
            let own = match self.schedule.stream {
                None => stock.take(needs, me),
                Some(_) => stock.take(&needs.without_bit_triples(), me),
            };
            state.tasks[index].stock = Some(own);
            state.arrived(index as u32);
            if state.tasks[index].ahead.missing > 0 {
                state.arrived_ahead(index as u32);
            }
        }
    }

    /// Takes Boolean triples as they are made, and gives the next steps theirs. What the parts before bring is
    /// there by then.
    pub(crate) fn hand(&self, triples: BitTriples) {
        let schedule = &self.schedule;
        let mut state = self.lock();
        let state = &mut *state;
        state.triples.push(triples);
        let order = schedule.stream.as_deref().unwrap_or_default();
        for of in &order[state.served..] {
            let Some(own) = state.triples.take(schedule.triples_of(of)) else {
                break;
            };
            state.served += 1;
            let place = &mut state.tasks[of.task as usize];
            if of.step == 0 {
                let stock = place.stock.as_mut();
                stock.expect(OTHERS_FIRST).set_bit_triples(own);
                state.arrived(of.task);
            } else {
                place.steps.push_back(own);
                if let Some(waker) = place.step_waker.take() {
                    waker.wake();
                }
            }
        }
    }

    /// Waits until all tasks of a part have ended, or, where tasks are prepared ahead, until those of the part
    /// are prepared.
    pub(crate) async fn part_ended(&self, part: u32) -> Result<()> {
        poll_fn(|waiting| {
            let mut state = self.lock();
            if let Some(error) = &state.failed {
                return Poll::Ready(Err(error.clone()));
            }
            let left = match self.schedule.ahead {
                true => state.unprepared[part as usize],
                false => state.parts[part as usize],
            };
            if left > 0 {
                state.maker = Some(waiting.waker().clone());
                return Poll::Pending;
            }
            Poll::Ready(Ok(()))
        })
        .await
    }

    /// Nobody waits any longer.
    pub(crate) fn fail(&self, error: &Error) {
        let mut state = self.lock();
        state.failed.get_or_insert_with(|| error.clone());
        let wakers: Vec<Waker> = state
            .tasks
            .iter_mut()
            .flat_map(|place| {
                let wakers = [
                    &mut place.waker,
                    &mut place.step_waker,
                    &mut place.ahead.waker,
                ];
                wakers.map(Option::take)
            })
            .flatten()
            .collect();
        let waiting = std::mem::take(&mut state.waiting_for_ahead);
        wakers
            .into_iter()
            .chain(waiting)
            .chain(state.maker.take())
            .for_each(Waker::wake);
    }

    /// The program's outputs, when all tasks have ended.
    pub(crate) fn outputs(&self) -> Vec<Shares> {
        let mut state = self.lock();
        let mut outputs = Vec::new();
        for &value in self.graph.outputs() {
            if graph_input(&self.graph, value) {
                let input = state.inputs[value.node as usize].0.clone();
                outputs.extend(input.map(Arc::unwrap_or_clone));
                continue;
            }
            let pieces: Vec<Arc<Shares>> = self.places[value.node as usize]
                .iter()
                .map(|&source| {
                    let place = &mut state.tasks[source as usize];
                    Arc::clone(&place.made[value.output as usize])
                })
                .collect();
            outputs.push(match &pieces[..] {
                [one] => Shares::clone(one),
                many => Shares::concat(&many.iter().map(Arc::as_ref).collect::<Vec<_>>()),
            });
        }
        outputs
    }
}

/// What a task that gets its Boolean triples step by step waits for.
struct LaterSteps {
    board: Arc<Board>,
    task: u32,
    /// Which is at work.
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
        let place = &mut state.tasks[self.task as usize];
        let triples = match count {
            0 => BitTriples::none(),
            _ => match place.steps.pop_front() {
                Some(triples) => triples,
                None => {
                    place.step_waker = Some(waiting.waker().clone());
                    return Poll::Pending;
                }
            },
        };
        self.step = next;
        Poll::Ready(Ok(triples))
    }
}

impl State {
    /// What readers that are prepared ahead find of a task.
    fn made_ahead(&mut self, index: u32, results: Vec<Shares>, clock: Context) {
        let ahead = &mut self.tasks[index as usize].ahead;
        ahead.clock = Some(clock);
        if ahead.unread > 0 {
            ahead.made = results.into_iter().map(Arc::new).collect();
        }
        for reader in std::mem::take(&mut ahead.readers) {
            self.arrived_ahead(reader);
        }
    }

    /// One thing less that the preparation of a task waits for.
    fn arrived_ahead(&mut self, task: u32) {
        let ahead = &mut self.tasks[task as usize].ahead;
        ahead.missing -= 1;
        if ahead.missing == 0
            && let Some(waker) = ahead.waker.take()
        {
            waker.wake();
        }
    }

    /// One thing less that a task waits for.
    fn arrived(&mut self, task: u32) {
        let place = &mut self.tasks[task as usize];
        place.missing -= 1;
        if place.missing == 0
            && let Some(waker) = place.waker.take()
        {
            waker.wake();
        }
    }
}

/// Parts of values, with the elements that are read of each.
type Pieces = Vec<(Arc<Shares>, Range<usize>)>;

/// What a task that reads these elements gets of what one that makes them, perhaps alone, has made.
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
    if let [(piece, range)] = &pieces[..] {
        if range.len() == piece.len() {
            return Arc::clone(piece);
        }
        return Arc::new(piece.slice(range.clone()));
    }
    let slices: Vec<_> = pieces
        .into_iter()
        .map(|(piece, range)| {
            if range.len() == piece.len() {
                piece
            } else {
                Arc::new(piece.slice(range))
            }
        })
        .collect();
    Arc::new(Shares::concat(
        &slices.iter().map(Arc::as_ref).collect::<Vec<_>>(),
    ))
}

fn graph_input(graph: &Graph, value: Value) -> bool {
    graph.node(value.node).operation.is_none()
}

/// The tasks that make these elements of a value.
fn pieces_of<'a>(
    schedule: &Schedule,
    places: &'a [Vec<u32>],
    value: Value,
    range: &Range<usize>,
) -> &'a [u32] {
    &places[value.node as usize][schedule.pieces(value.node, range)]
}
