//! Evaluates the blocks of a part: workers side by side, on one thread or several.

use std::ops::Range;
use std::sync::Arc;

use futures_util::future::try_join_all;
use madrigal_circuit::{Layered, Rows};
use madrigal_correlations::BitTriples;
use madrigal_net::{Context, Error, block_on, breathe, on_threads};
use zeroize::Zeroizing;

use crate::arena::Arena;
use crate::evaluator::{Evaluator, leads};
use crate::plan::Plan;

/// What all workers read.
pub(crate) struct Task {
    pub(crate) plan: Plan,
    pub(crate) inputs: Arc<Rows>,
    pub(crate) online: Context,
}

impl Task {
    fn layered(&self) -> &Layered {
        self.plan.spec().circuit.layered()
    }
}

/// One block of lanes with the triples for it.
struct Block {
    lanes: Range<usize>,
    triples: BitTriples,
}

/// A block that is done: the output values, at a party that gets them.
pub(crate) struct Opened {
    pub(crate) lanes: Range<usize>,
    pub(crate) values: Option<Zeroizing<Vec<u8>>>,
}

/// All workers, by thread.
pub(crate) struct Workers {
    task: Arc<Task>,
    threads: Vec<Vec<Worker>>,
}

impl Workers {
    pub(crate) fn new(task: Task) -> Result<Self, Error> {
        let count = task.plan.spec().threads.min(task.plan.workers());
        let mut threads: Vec<Vec<Worker>> = (0..count).map(|_| Vec::new()).collect();
        for index in 0..task.plan.workers() {
            threads[index % count].push(Worker::new(&task, index)?);
        }
        Ok(Self {
            task: Arc::new(task),
            threads,
        })
    }

    /// Computes one part: its blocks go round among the workers. `hear` gets each when it is done.
    pub(crate) async fn part(
        &mut self,
        part: &Range<usize>,
        mut triples: BitTriples,
        hear: &dyn Fn(Opened),
    ) -> Result<(), Error> {
        let (task, count) = (&self.task, self.task.plan.workers());
        let mut queues: Vec<Vec<Block>> = (0..count).map(|_| Vec::new()).collect();
        for (index, lanes) in task.plan.blocks(part.clone()).enumerate() {
            let triples = triples.split_front(task.plan.part_triples(&lanes));
            queues[index % count].push(Block { lanes, triples });
        }
        // Before any of them works: their rounds are counted from here on.
        for worker in self.threads.iter_mut().flatten() {
            worker.context = task.online.beside();
            worker.evaluator.count_in(&worker.context);
        }
        if let [workers] = &mut self.threads[..] {
            side_by_side(task, workers, queues, hear).await?;
        } else {
            self.on_threads(queues, hear).await?;
        }
        for worker in self.threads.iter().flatten() {
            self.task.online.join(&worker.context);
        }
        Ok(())
    }

    async fn on_threads(
        &mut self,
        queues: Vec<Vec<Block>>,
        hear: &dyn Fn(Opened),
    ) -> Result<(), Error> {
        let threads = self.threads.len();
        let mut shares: Vec<Vec<Vec<Block>>> = (0..threads).map(|_| Vec::new()).collect();
        for (index, queue) in queues.into_iter().enumerate() {
            shares[index % threads].push(queue);
        }
        let workers = std::mem::take(&mut self.threads);
        let work = workers
            .into_iter()
            .zip(shares)
            .map(|(mut workers, queues)| {
                let task = Arc::clone(&self.task);
                move |tell: &dyn Fn(Opened)| {
                    block_on(side_by_side(&task, &mut workers, queues, tell))?;
                    Ok(workers)
                }
            });
        self.threads = on_threads(&self.task.online, work, hear).await?;
        Ok(())
    }
}

/// Some workers on this thread, each with its queue.
async fn side_by_side(
    task: &Task,
    workers: &mut [Worker],
    queues: Vec<Vec<Block>>,
    hear: &dyn Fn(Opened),
) -> Result<(), Error> {
    let work = workers.iter_mut().zip(queues);
    let work = work.map(|(worker, queue)| worker.work(task, queue, hear));
    try_join_all(work).await?;
    Ok(())
}

/// Evaluates one block after the other.
struct Worker {
    context: Context,
    evaluator: Evaluator,
    arena: Arena,
}

impl Worker {
    fn new(task: &Task, index: usize) -> Result<Self, Error> {
        let context = task.online.fork(&format!("worker {index}"));
        let (plan, spec) = (&task.plan, task.plan.spec());
        let lanes = plan.block_lanes().min(spec.lanes);
        Ok(Self {
            evaluator: Evaluator::new(plan, &context)?,
            arena: Arena::new(task.layered().rows(), spec.protocol.components(), lanes),
            context,
        })
    }

    async fn work(
        &mut self,
        task: &Task,
        queue: Vec<Block>,
        hear: &dyn Fn(Opened),
    ) -> Result<(), Error> {
        for block in queue {
            let lanes = block.lanes.clone();
            let values = self.block(task, block).await?;
            hear(Opened { lanes, values });
            breathe().await;
        }
        Ok(())
    }

    async fn block(
        &mut self,
        task: &Task,
        mut block: Block,
    ) -> Result<Option<Zeroizing<Vec<u8>>>, Error> {
        let (plan, layered) = (&task.plan, task.layered());
        let (arena, evaluator) = (&mut self.arena, &mut self.evaluator);
        let leads = leads(plan.spec().protocol, self.context.me());
        arena.resize(layered.rows(), block.lanes.len());
        evaluator
            .inputs(plan, &task.inputs, block.lanes, arena)
            .await?;
        for layer in layered.layers() {
            arena.local(layer.local, leads);
            evaluator
                .ands(layer.ands, arena, &mut block.triples)
                .await?;
        }
        arena.local(layered.tail(), leads);
        evaluator
            .open(layered.outputs(), arena, &plan.spec().to)
            .await
    }
}
