//! Boolean triples that are handed out while they are made: which step of which task gets the next ones.
//!
//! An operation of many layers says in its bill where each layer begins ([`Bill::next_step`](crate::Bill::next_step)),
//! and waits there for the triples of that layer alone. They are made in the order in which layers begin: when the
//! last triples come, all layers but the last have had theirs, and on a line with a long round trip most are behind.

use std::collections::HashMap;

use madrigal_correlations::{Kind, Needs};

use crate::schedule::{Schedule, Task};

/// A step of a task, and when it begins: in nanoseconds, by what is declared.
#[derive(Debug, Clone, Copy)]
pub(crate) struct StepOf {
    pub(crate) task: u32,
    pub(crate) step: u32,
    begin: u64,
}

/// When correlations are there, in seconds: Boolean triples come last, at an even pace.
#[derive(Debug, Clone, Copy, Default)]
pub(crate) struct StreamTime {
    pub(crate) others: f64,
    pub(crate) triples: f64,
}

impl Schedule {
    /// Has Boolean triples handed out step by step, in the order in which steps begin, behind all other
    /// correlations: so a circuit's first layers are computed while triples of the last ones are made. All of
    /// them are kept at once. `false`, and nothing is changed, where there is nothing to gain.
    pub(crate) fn stream(&mut self) -> bool {
        let stepped = |task: &Task| task.price.steps.len() > 1;
        if self.ahead || !self.tasks.iter().any(stepped) {
            return false;
        }
        let mut order = Vec::new();
        for (index, task) in (0..).zip(&self.tasks) {
            let steps = &task.price.steps;
            let each = task.price.nanoseconds / steps.len() as u64;
            for (step, _) in (0..).zip(steps).filter(|&(_, &count)| count > 0) {
                let begin = task.begin + each * u64::from(step);
                order.push(StepOf {
                    task: index,
                    step,
                    begin,
                });
            }
        }
        order.sort_by_key(|of| (of.begin, of.task, of.step));
        self.stream = Some(order);
        let (all, mut triples) = (self.needs(), Needs::new());
        triples.bit_triples(all.of(Kind::BitTriples));
        self.parts = vec![all.without_bit_triples(), triples];
        self.tasks.iter_mut().for_each(|task| task.part = 0);
        true
    }

    /// How many Boolean triples a step takes.
    pub(crate) fn triples_of(&self, of: &StepOf) -> usize {
        self.tasks[of.task as usize].price.steps[of.step as usize]
    }

    /// When the Boolean triples of each step come that gets them as they are made.
    pub(crate) fn supplied(&self, time: &StreamTime) -> HashMap<(u32, u32), f64> {
        let order = self.stream.as_deref().unwrap_or_default();
        let all: usize = order.iter().map(|of| self.triples_of(of)).sum();
        let each = (time.triples - time.others) / all.max(1) as f64;
        let mut made = 0;
        let of = |of: &StepOf| {
            made += self.triples_of(of);
            ((of.task, of.step), time.others + each * made as f64)
        };
        order.iter().map(of).collect()
    }
}

#[cfg(test)]
mod tests {
    use madrigal_core::Party;
    use madrigal_core::time::Link;

    use super::*;
    use crate::declared::Declared;
    use crate::policy::Soonest;
    use crate::schedule::{Ahead, Limits};
    use crate::{Element, Graph, Opening, Sharing, Sort};

    /// Two layers on a value of many lanes, which are in blocks.
    fn schedule(lanes: usize, latency: f64) -> Schedule {
        let mut graph = Graph::new(2);
        let sort = Sort::new(Sharing::clear(&[Party::new(0)]), Element::Bits(1), lanes);
        let value = graph.input(sort);
        let layers = Declared {
            layers: 2,
            triples: 1,
        };
        let made = graph.add_one(layers, &[value]);
        graph.output(made.expect("a value for a value"));
        let limits = Limits {
            opening: Opening::Direct,
            threads: 1,
            line: Link {
                latency,
                bytes_per_second: None,
            },
            block_needs: 1 << 20,
            block_memory: 1 << 20,
            ahead: Ahead::Nothing,
        };
        Schedule::new(&graph, &limits, &Soonest).expect("few tasks")
    }

    #[test]
    fn first_layers_of_all_blocks_come_before_second_ones() {
        let lanes = 150_000;
        let mut schedule = schedule(lanes, 0.05);
        assert!(schedule.stream());
        let [others, triples] = &schedule.parts[..] else {
            panic!("two parts: {:?}", schedule.parts);
        };
        assert!(others.is_empty());
        assert_eq!(triples.of(Kind::BitTriples), 2 * lanes);
        let order = schedule.stream.as_deref().expect("it streams");
        assert!(order.len() > 4, "several blocks");
        let steps: Vec<u32> = order.iter().map(|of| of.step).collect();
        // Step 0 is what comes before the first layer: nothing.
        let half = steps.len() / 2;
        assert!(steps[..half].iter().all(|&step| step == 1), "{steps:?}");
        assert!(steps[half..].iter().all(|&step| step == 2), "{steps:?}");
        let all: usize = order.iter().map(|of| schedule.triples_of(of)).sum();
        assert_eq!(all, 2 * lanes);
        // The last triples come when all are made, the first ones long before.
        let time = StreamTime {
            others: 1.0,
            triples: 2.0,
        };
        let supplied = schedule.supplied(&time);
        let of = |of: &StepOf| supplied[&(of.task, of.step)];
        assert!((of(&order[order.len() - 1]) - 2.0).abs() < 1e-9);
        assert!(of(&order[0]) < 1.0 + 1.0 / (order.len() - 1) as f64);
    }

    #[test]
    fn what_is_done_at_once_gets_its_triples_at_once() {
        let mut graph = Graph::new(2);
        let sort = Sort::new(Sharing::clear(&[Party::new(0)]), Element::Bits(1), 10);
        let value = graph.input(sort);
        let made = graph.add_one(
            Declared {
                layers: 0,
                triples: 0,
            },
            &[value],
        );
        graph.output(made.expect("a value for a value"));
        let limits = Limits {
            opening: Opening::Direct,
            threads: 1,
            line: Link::default(),
            block_needs: 1 << 20,
            block_memory: 1 << 20,
            ahead: Ahead::Nothing,
        };
        let mut schedule = Schedule::new(&graph, &limits, &Soonest).expect("few tasks");
        assert!(!schedule.stream());
        assert!(schedule.stream.is_none());
    }
}
