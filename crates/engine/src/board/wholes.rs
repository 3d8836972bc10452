//! Values that are made in blocks and read whole by several tasks: they are put together once.

use std::collections::HashMap;
use std::sync::Arc;

use super::{Board, Place, State};
use crate::graph::{Graph, Value};
use crate::schedule::{Schedule, Task};
use crate::shares::Shares;
use crate::sort::Sort;

/// What tasks read of each other: what is made before inputs are there, or what is made of them.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum When {
    Ahead,
    Online,
}

/// Values in pieces, each put together once for all tasks that read it whole.
#[derive(Default)]
pub(super) struct Wholes(HashMap<Value, Whole>);

#[derive(Default)]
struct Whole {
    /// Tasks that will read it.
    readers: usize,
    shares: Option<Arc<Shares>>,
}

impl Wholes {
    /// One more task reads these.
    pub(super) fn read(&mut self, values: Vec<Value>) {
        for value in values {
            self.0.entry(value).or_default().readers += 1;
        }
    }

    /// What one task alone reads is no matter.
    pub(super) fn keep_shared(&mut self) {
        self.0.retain(|_, whole| whole.readers > 1);
    }

    /// One task less reads these: those that another one has put together before.
    fn take(&mut self, values: Vec<Value>) -> HashMap<Value, Arc<Shares>> {
        let mut together = HashMap::new();
        for value in values {
            if let Some(whole) = self.0.get_mut(&value) {
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

    /// Keeps what was put together, if others will read it and it is new: how many will.
    fn put(&mut self, value: Value, shares: &Arc<Shares>) -> Option<usize> {
        let whole = self.0.get_mut(&value)?;
        if whole.readers == 0 || whole.shares.is_some() {
            return None;
        }
        whole.shares = Some(Arc::clone(shares));
        Some(whole.readers)
    }
}

impl State {
    fn wholes(&mut self, when: When) -> &mut Wholes {
        match when {
            When::Ahead => &mut self.wholes_ahead,
            When::Online => &mut self.wholes,
        }
    }
}

impl Place {
    /// What a task made, and how many will read it.
    fn made(&mut self, when: When) -> (&mut [Arc<Shares>], usize) {
        match when {
            When::Ahead => (&mut self.ahead.made, self.ahead.unread),
            When::Online => (&mut self.made, self.readers),
        }
    }
}

impl Board {
    /// What a task reads whole that another one has put together before; it reads that no more.
    pub(super) fn together(
        &self,
        state: &mut State,
        task: &Task,
        when: When,
    ) -> HashMap<Value, Arc<Shares>> {
        let values = read_whole(&self.graph, &self.schedule, &self.places, task, when);
        state.wholes(when).take(values)
    }

    /// Keeps values that a task has put together for others that read them whole. The pieces go, unless somebody
    /// reads one of them alone.
    pub(super) fn share(&self, task: &Task, inputs: &[Arc<Shares>], when: When) {
        let mut state = self.lock();
        if state.wholes(when).0.is_empty() {
            return;
        }
        for (&value, shares) in self.graph.node(task.node).inputs.iter().zip(inputs) {
            if shares.len() < self.graph.sort(value).len {
                continue;
            }
            let Some(readers) = state.wholes(when).put(value, shares) else {
                continue;
            };
            let sources = &self.places[value.node as usize];
            let mut alone = sources.iter().map(|&source| {
                let (_, all) = state.tasks[source as usize].made(when);
                all > readers
            });
            if alone.any(|alone| alone) {
                continue;
            }
            for &source in sources {
                let (made, _) = state.tasks[source as usize].made(when);
                let piece = &mut made[value.output as usize];
                *piece = Arc::new(Shares::zeros(Sort {
                    len: 0,
                    ..*piece.sort()
                }));
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
    when: When,
) -> Vec<Value> {
    let inputs = graph.node(task.node).inputs.iter().copied();
    let mut whole: Vec<Value> = inputs
        .filter(|input| {
            let sources = &places[input.node as usize];
            let made = match when {
                When::Ahead => sources
                    .iter()
                    .all(|&source| schedule.prepares(graph, source)),
                When::Online => true,
            };
            made && sources.len() > 1
                && schedule.reads(graph, task, *input).len() == graph.sort(*input).len
        })
        .collect();
    whole.sort_unstable();
    whole.dedup();
    whole
}
