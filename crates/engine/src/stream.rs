//! Boolean triples that are handed out while they are made: which step of which task gets the next ones.
//!
//! An operation of many layers says in its bill where each layer begins ([`Bill::next_step`](crate::Bill::next_step)),
//! and waits there for the triples of that layer alone. They are made in the order in which layers begin: when the
//! last triples come, all layers but the last have had theirs, and on a line with a long round trip most are behind.

use std::collections::HashMap;

/// A step of a task that gets Boolean triples, and when it begins: in nanoseconds, by what is declared.
#[derive(Debug, Clone, Copy)]
pub(crate) struct StepOf {
    pub(crate) task: u32,
    pub(crate) step: u32,
    /// Boolean triples that it takes.
    pub(crate) triples: usize,
    begin: u64,
}

/// When correlations are there, in seconds: Boolean triples come last, at an even pace.
#[derive(Debug, Clone, Copy, Default)]
pub(crate) struct StreamTime {
    pub(crate) others: f64,
    pub(crate) triples: f64,
}

/// Puts the steps of tasks in the order in which they begin. Of each task there are its beginning, how long it takes, and
/// the Boolean triples of each step.
pub(crate) fn in_order<'a>(tasks: impl Iterator<Item = (u64, u64, &'a [usize])>) -> Vec<StepOf> {
    let mut order = Vec::new();
    for (task, (begin, nanoseconds, steps)) in (0..).zip(tasks) {
        let each = nanoseconds / steps.len() as u64;
        let steps = (0..).zip(steps).filter(|&(_, &triples)| triples > 0);
        order.extend(steps.map(|(step, &triples)| StepOf {
            task,
            step,
            triples,
            begin: begin + each * u64::from(step),
        }));
    }
    order.sort_by_key(|of| (of.begin, of.task, of.step));
    order
}

/// When the Boolean triples of each step, by task and step, come that gets them as they are made.
pub(crate) fn supplied(order: &[StepOf], time: &StreamTime) -> HashMap<(u32, u32), f64> {
    let all: usize = order.iter().map(|of| of.triples).sum();
    let each = (time.triples - time.others) / all.max(1) as f64;
    let mut made = 0;
    let of = |of: &StepOf| {
        made += of.triples;
        ((of.task, of.step), time.others + each * made as f64)
    };
    order.iter().map(of).collect()
}

#[cfg(test)]
mod tests {
    use madrigal_core::Party;
    use madrigal_core::time::Link;
    use madrigal_correlations::Kind;

    use super::*;
    use crate::declared::Declared;
    use crate::policy::Soonest;
    use crate::price::{Ahead, Limits};
    use crate::schedule::Schedule;
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
        let all: usize = order.iter().map(|of| of.triples).sum();
        assert_eq!(all, 2 * lanes);
        // The last triples come when all are made, the first ones long before.
        let time = StreamTime {
            others: 1.0,
            triples: 2.0,
        };
        let supplied = supplied(order, &time);
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
