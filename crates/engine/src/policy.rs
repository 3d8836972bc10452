//! Policies: which of the operations that could begin does so first.

use std::fmt;

/// An operation on a block of elements, all that it reads being there.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub struct Ready {
    /// When what it reads is there, in nanoseconds from the beginning, by what operations before it declare.
    pub at: u64,
    /// Nanoseconds from its beginning to the end of the longest chain of operations that follow it.
    pub way: u64,
    /// Number of operations that send something before it, on the chain with most of them.
    pub layer: u32,
    /// Place among all operations, each of which comes after those that it needs: as the program was written.
    pub place: u32,
}

/// A scheduling policy: the order in which operations that do not wait for each other are put on strands, and in
/// which correlations are made for them. All parties must have the same one; its name is a fact that they
/// agree on.
///
/// Whatever the order, results and bytes are the same; rounds and seconds may differ, and what is kept in memory.
///
/// ```
/// use madrigal_engine::{Policy, Ready};
///
/// /// What has the least behind it goes first.
/// #[derive(Debug)]
/// struct ShortestFirst;
///
/// impl Policy for ShortestFirst {
///     fn name(&self) -> String {
///         "shortest first/1".into()
///     }
///
///     fn rank(&self, ready: &Ready) -> [u64; 2] {
///         [ready.way, ready.at]
///     }
/// }
/// ```
pub trait Policy: fmt::Debug + Send + Sync {
    /// A stable name with a version.
    fn name(&self) -> String;

    /// Ranks an operation that could begin: the lowest rank is next, and of equal ones the first as the program was
    /// written. Asked once for each operation and block, when all that it reads has its place.
    fn rank(&self, ready: &Ready) -> [u64; 2];
}

/// Policy by which what could begin soonest goes first; of what could begin together, what has the longest way to the
/// end. The usual one.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Soonest;

impl Policy for Soonest {
    fn name(&self) -> String {
        "soonest/1".into()
    }

    fn rank(&self, ready: &Ready) -> [u64; 2] {
        [ready.at, u64::MAX - ready.way]
    }
}

/// Policy by which what could begin soonest goes first; of what could begin together, what was written first.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct FirstCome;

impl Policy for FirstCome {
    fn name(&self) -> String {
        "first come/1".into()
    }

    fn rank(&self, ready: &Ready) -> [u64; 2] {
        [ready.at, 0]
    }
}

/// Policy by which what has the longest way to the end goes first, even before what could begin sooner: correlations of a
/// narrow and deep part are made before those of a wide one.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct DeepestFirst;

impl Policy for DeepestFirst {
    fn name(&self) -> String {
        "deepest first/1".into()
    }

    fn rank(&self, ready: &Ready) -> [u64; 2] {
        [u64::MAX - ready.way, ready.at]
    }
}

/// Layer by layer of what sends something, as if all parts went at the same pace.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct LayerByLayer;

impl Policy for LayerByLayer {
    fn name(&self) -> String {
        "layer by layer/1".into()
    }

    fn rank(&self, ready: &Ready) -> [u64; 2] {
        [ready.layer.into(), u64::MAX - ready.way]
    }
}

#[cfg(test)]
mod tests {
    use madrigal_core::Party;
    use madrigal_core::time::Link;
    use madrigal_protocols::Opening;

    use super::*;
    use crate::declared::Declared;
    use crate::price::{Ahead, Limits};
    use crate::schedule::Schedule;
    use crate::{Element, Graph, Sharing, Sort};

    /// In which order operations begin: five that open something, each of what the one before made, and ten
    /// of their own.
    fn order(policy: &dyn Policy) -> Vec<&'static str> {
        let owner = Party::new(0);
        let declared = |layers| Declared { layers, triples: 0 };
        let mut graph = Graph::new(2);
        let input = |graph: &mut Graph| {
            let sort = Sort::new(Sharing::clear(&[owner]), Element::Bits(1), 4);
            let value = graph.input(sort);
            graph.add_one(declared(0), &[value])
        };
        let mut names = std::collections::HashMap::new();
        let mut layer = |graph: &mut Graph, value, name| {
            let made = graph.add_one(declared(1), &[value]);
            names.insert(graph.len() as u32 - 1, name);
            made.expect("a value for a value")
        };
        let mut deep = input(&mut graph).expect("a value for a value");
        for name in ["first", "second", "third", "fourth", "fifth"] {
            deep = layer(&mut graph, deep, name);
        }
        graph.output(deep);
        for _ in 0..10 {
            let x = input(&mut graph).expect("a value for a value");
            let x = layer(&mut graph, x, "wide");
            graph.output(x);
        }
        let limits = Limits {
            opening: Opening::Direct,
            threads: 1,
            line: Link {
                latency: 0.01,
                bytes_per_second: None,
            },
            block_needs: 1 << 20,
            block_memory: 1 << 20,
            ahead: Ahead::Nothing,
        };
        let schedule = Schedule::new(&graph, &limits, policy).expect("few tasks");
        let tasks = schedule.tasks.iter();
        tasks
            .filter_map(|task| names.get(&task.node).copied())
            .collect()
    }

    fn places(order: &[&str], name: &str) -> Vec<usize> {
        let all = order.iter().enumerate();
        all.filter(|(_, one)| **one == name)
            .map(|(place, _)| place)
            .collect()
    }

    #[test]
    fn policies_decide_what_goes_first() {
        let deepest = order(&DeepestFirst);
        assert_eq!(deepest[..4], ["first", "second", "third", "fourth"]);
        let layers = order(&LayerByLayer);
        assert_eq!(layers[0], "first");
        assert_eq!(layers[11..], ["second", "third", "fourth", "fifth"]);
        let soonest = order(&Soonest);
        assert_eq!(soonest[0], "first");
        assert!(places(&soonest, "second") > places(&soonest, "wide"));
        let first_come = order(&FirstCome);
        assert_eq!(first_come.len(), 15);
        assert!(places(&first_come, "second") > places(&first_come, "wide"));
    }
}
