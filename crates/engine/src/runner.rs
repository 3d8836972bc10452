//! Strands at work: each does its tasks one after the other, each task once all is there that it reads.

use std::future::poll_fn;
use std::pin::pin;
use std::sync::Arc;
use std::time::{Duration, Instant};

use futures_util::future::try_join_all;
use madrigal_core::Phase;
use madrigal_net::{Context, Error, breathe};

use crate::board::Board;
use crate::graph::Node;
use crate::operation::{Early, Prepared, Strand, Turn};
use crate::report::TaskReport;
use crate::strands::PREPARERS;

/// One strand at work.
pub(crate) struct Runner {
    pub(crate) strand: Strand,
    /// Those that prepare, beside the strand itself.
    pub(crate) preparers: Vec<Strand>,
    pub(crate) index: usize,
    /// The strand's tasks, in order.
    pub(crate) list: Vec<u32>,
    pub(crate) begin: Instant,
}

/// Does all tasks of strands that share a thread. Gives what each took, and the contexts in which rounds were counted.
pub(crate) async fn work(
    runners: &mut [Runner],
    board: &Arc<Board>,
    tell: &dyn Fn(u32),
) -> Result<(Vec<TaskReport>, Vec<Context>), Error> {
    let all = runners.iter_mut().map(|runner| runner.work(board, tell));
    let reports = try_join_all(all).await?.concat();
    let contexts = runners.iter();
    let contexts = contexts.map(|runner| runner.strand.context(Phase::Online).clone());
    Ok((reports, contexts.collect()))
}

impl Runner {
    /// Does all tasks of the strand. Its failure ends the others at once: those that wait for each other hear
    /// of it from the board alone, and `try_join_all` tells of the failure of one of many futures only
    /// when those before it have ended.
    async fn work(
        &mut self,
        board: &Arc<Board>,
        tell: &dyn Fn(u32),
    ) -> Result<Vec<TaskReport>, Error> {
        let reports = self.tasks(board, tell).await;
        if let Err(error) = &reports {
            board.fail(error);
        }
        reports
    }

    async fn tasks(
        &mut self,
        board: &Arc<Board>,
        tell: &dyn Fn(u32),
    ) -> Result<Vec<TaskReport>, Error> {
        let mut reports = Vec::with_capacity(self.list.len());
        if board.schedule().ahead {
            self.prepare(board).await?;
        }
        for &index in &self.list {
            let task = &board.schedule().tasks[index as usize];
            let node = board.node(index);
            let context = self.strand.context(Phase::Online).beside();
            let start = board.start(index, Phase::Online, &context).await?;
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
            tell(index);
            breathe().await;
        }
        Ok(reports)
    }

    /// Does what does not depend on inputs, for all tasks of this strand and then of all others.
    async fn prepare(&mut self, board: &Arc<Board>) -> Result<(), Error> {
        let mut lists: Vec<Vec<u32>> = vec![Vec::new(); 1 + self.preparers.len()];
        for &index in self.list.iter().filter(|&&index| board.prepares(index)) {
            let task = &board.schedule().tasks[index as usize];
            lists[task.preparer as usize].push(index);
        }
        let strands = std::iter::once(&mut self.strand).chain(&mut self.preparers);
        let work = strands
            .zip(&lists)
            .map(|(strand, list)| prepare(strand, list, board));
        try_join_all(work).await?;
        // With what they worked in: all that is needed online is on the board.
        self.preparers.clear();
        board.all_prepared().await
    }
}

/// Up to this many futures are told of the first failure of any of them; more are told in order.
const _: () = assert!(PREPARERS <= 30);

/// Prepares tasks one after the other.
async fn prepare(strand: &mut Strand, list: &[u32], board: &Arc<Board>) -> Result<(), Error> {
    for &index in list {
        let node = board.node(index);
        let context = strand.context(Phase::Setup).beside();
        let start = board.start(index, Phase::Setup, &context).await?;
        let operation = node.operation.as_ref().expect("inputs are no tasks");
        let hear = |results| board.tell_ahead(index, results, &context);
        let turn = Turn::new(strand, context.clone(), start.stock, None);
        let mut turn = turn.telling(Early::new(&hear));
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

/// Ends the job for all where the fault is this operation's, and names it.
fn told(error: Error, node: &Node, context: &Context) -> Error {
    let Error::Short { .. } = &error else {
        return error;
    };
    let reason = format!("{} cannot go on: {error}", named(node));
    context.fail(Error::Ended { reason })
}

/// Name of an operation, and where the program asked for it.
fn named(node: &Node) -> String {
    let name = node.operation.as_ref().map(|operation| operation.name());
    let name = name.unwrap_or_else(|| "input".to_owned());
    match node.label.as_str() {
        "" => format!("operation `{name}`"),
        label => format!("operation `{name}` ({label})"),
    }
}

/// Sends off what has gathered when all of `work` waits: for messages, or for each other.
pub(crate) async fn flushed<F: Future>(context: &Context, work: F) -> F::Output {
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

/// Awaits a future, and measures how long it was at work: that it waits takes no time of it.
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
