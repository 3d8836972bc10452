//! Values that are made in blocks and read whole by several tasks: they are put together once.

use std::collections::HashMap;
use std::sync::Arc;

use super::{Board, State};
use crate::graph::{Graph, Value};
use crate::schedule::{Schedule, Task};
use crate::shares::Shares;
use crate::sort::Sort;

/// A value in pieces, put together once for all tasks that read it whole.
#[derive(Default)]
pub(super) struct Whole {
    /// Tasks that will.
    pub(super) readers: usize,
    shares: Option<Arc<Shares>>,
}

impl Board {
    /// What a task reads whole that another one has put together before; it reads that no more.
    pub(super) fn together(&self, state: &mut State, task: &Task) -> HashMap<Value, Arc<Shares>> {
        let mut together = HashMap::new();
        for value in read_whole(&self.graph, &self.schedule, &self.places, task) {
            if let Some(whole) = state.wholes.get_mut(&value) {
                whole.readers -= 1;
                let shares = match whole.readers {
                    0 => whole.shares.take(),
                    _ => whole.shares.clone(),
                };
                together.extend(shares.map(|shares| (value, shares)));
            }
        }
        together
    }

    /// Keeps values that a task has put together for others that read them whole. The pieces go, unless somebody
    /// reads one of them alone.
    pub(super) fn share(&self, task: &Task, inputs: &[Arc<Shares>]) {
        let mut state = self.lock();
        if state.wholes.is_empty() {
            return;
        }
        let state = &mut *state;
        for (&value, shares) in self.graph.node(task.node).inputs.iter().zip(inputs) {
            let Some(whole) = state.wholes.get_mut(&value) else {
                continue;
            };
            if whole.readers == 0
                || whole.shares.is_some()
                || shares.len() < self.graph.sort(value).len
            {
                continue;
            }
            whole.shares = Some(Arc::clone(shares));
            let sources = &self.places[value.node as usize];
            let tasks = &mut state.tasks;
            let all_read_whole = |&source: &u32| tasks[source as usize].readers == whole.readers;
            if sources.iter().all(all_read_whole) {
                for &source in sources {
                    let piece = &mut tasks[source as usize].made[value.output as usize];
                    *piece = Arc::new(Shares::zeros(Sort {
                        len: 0,
                        ..*piece.sort()
                    }));
                }
            }
        }
    }
}

/// The values in pieces that a task reads whole, once each.
pub(super) fn read_whole(
    graph: &Graph,
    schedule: &Schedule,
    places: &[Vec<u32>],
    task: &Task,
) -> Vec<Value> {
    let inputs = graph.node(task.node).inputs.iter().copied();
    let mut whole: Vec<Value> = inputs
        .filter(|input| {
            places[input.node as usize].len() > 1
                && schedule.reads(graph, task, *input).len() == graph.sort(*input).len
        })
        .collect();
    whole.sort_unstable();
    whole.dedup();
    whole
}
