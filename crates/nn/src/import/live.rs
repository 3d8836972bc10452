//! Finds the parts of a model that serve its outputs: nothing else is looked at, whatever is wrong with it.
//!
//! Exporters leave much behind: outputs that training reads, masks of Dropout, names of classes, weights that a
//! simplification has made needless.

use std::collections::{HashMap, HashSet};

use crate::proto;

/// Parts that serve an output, by name and by place.
pub(crate) struct Live<'a> {
    /// Values that an output is, or that a node reads which serves one.
    pub(crate) values: HashSet<&'a str>,
    /// Says for each node whether it makes one of them.
    pub(crate) nodes: Vec<bool>,
}

impl<'a> Live<'a> {
    pub(crate) fn of(graph: &'a proto::Graph) -> Self {
        let mut live = Self {
            values: HashSet::new(),
            nodes: vec![false; graph.node.len()],
        };
        let mut makers = HashMap::new();
        let mut next = Vec::new();
        for (place, node) in graph.node.iter().enumerate() {
            for name in node.output.iter().filter(|name| !name.is_empty()) {
                // A node that makes a value twice is told of it, whichever of the two is read.
                if let Some(other) = makers.insert(&name[..], place) {
                    next.extend([other, place]);
                }
            }
        }
        let read = |live: &mut Self, name: &'a str, next: &mut Vec<usize>| {
            if !name.is_empty() && live.values.insert(name) {
                next.extend(makers.get(name));
            }
        };
        for output in &graph.output {
            read(&mut live, &output.name, &mut next);
        }
        while let Some(place) = next.pop() {
            if !std::mem::replace(&mut live.nodes[place], true) {
                for name in &graph.node[place].input {
                    read(&mut live, name, &mut next);
                }
            }
        }
        live
    }

    /// Whether a value serves an output.
    pub(crate) fn reads(&self, name: &str) -> bool {
        self.values.contains(name)
    }

    /// Whether the node at a place does.
    pub(crate) fn runs(&self, place: usize) -> bool {
        self.nodes[place]
    }
}
