//! Assigns each AND to a layer where two layers make a round.

use std::cmp::Ordering;

use super::graph::{Lit, LogicGraph, Node};
use crate::rounds::Part;

/// Time when a node is there, in rounds of two layers.
#[derive(Debug, Clone, Copy)]
struct There {
    /// Number of rounds after which it is there.
    round: u32,
    /// ANDs of the first layer of the last of these rounds whose sum it is, if it is nothing else but what was there
    /// before.
    of: Part,
}

impl LogicGraph {
    /// The layer in which each AND runs, two layers to a round, for as few rounds as can be, and the number of layers.
    /// Meaningless for other and for dead nodes.
    ///
    /// Each runs as early as it can, which is never worse for what reads it: what is there after a round can be read
    /// in both layers of the next one. Where nobody reads it so soon, it runs in the first layer of the next round
    /// rather than in the second one, for fewer products of masks.
    pub(super) fn halves_of_rounds(&self, uses: &[u32]) -> (Vec<u32>, u32) {
        const START: There = There {
            round: 0,
            of: Part::Many,
        };
        let mut there = vec![START; self.nodes.len()];
        let mut second = vec![false; self.nodes.len()];
        for (node, &kind) in self.nodes.iter().enumerate() {
            there[node] = match kind {
                Node::Leaf | Node::Product(..) | Node::Sum => START,
                Node::Xor(a, b) => {
                    let [a, b] = [a, b].map(|lit| there[lit.node()]);
                    match a.round.cmp(&b.round) {
                        Ordering::Less => b,
                        Ordering::Greater => a,
                        Ordering::Equal => There {
                            of: a.of.xor(b.of),
                            ..a
                        },
                    }
                }
                Node::And(a, b) => {
                    let operands = [a, b].map(|lit| there[lit.node()]);
                    let round = operands[0].round.max(operands[1].round);
                    let few = |of: &There| of.round < round || of.of != Part::Many;
                    second[node] = round > 0 && operands.iter().all(few);
                    match second[node] {
                        true => There {
                            round,
                            of: Part::Many,
                        },
                        false => There {
                            round: round + 1,
                            of: Part::One(node as u32),
                        },
                    }
                }
            };
        }
        let last = |lit: &Lit| there[lit.node()].round;
        let rounds = self.outputs.iter().map(last).max().unwrap_or(0);
        // From here on: after how many rounds each must be there.
        let mut needed = vec![rounds; self.nodes.len()];
        let mut layer = vec![0; self.nodes.len()];
        for (node, &kind) in self.nodes.iter().enumerate().rev() {
            if uses[Lit::of(node).index()] == 0 {
                continue;
            }
            let (a, b, before) = match kind {
                Node::Leaf | Node::Product(..) | Node::Sum => continue,
                Node::Xor(a, b) => (a, b, needed[node]),
                Node::And(a, b) => {
                    let mut round = there[node].round;
                    if second[node] && needed[node] > round {
                        (round, second[node]) = (round + 1, false);
                    }
                    layer[node] = 2 * (round - 1) + u32::from(second[node]);
                    (a, b, round - 1)
                }
            };
            for operand in [a.node(), b.node()] {
                needed[operand] = needed[operand].min(before);
            }
        }
        (layer, 2 * rounds)
    }
}
