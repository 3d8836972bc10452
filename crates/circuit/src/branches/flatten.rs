//! All branches computed, and their outputs multiplexed: an ordinary netlist.

use super::{Branching, Step};
use crate::builder::{Builder, Wire};
use crate::netlist::Netlist;

impl Branching {
    /// A netlist that computes every branch and takes the active one's outputs: what protocols without
    /// anything better do, and what all others are compared with. A conditional of b branches with w
    /// output bits adds (b - 1) w ANDs. Gates that branches have in common are computed once.
    pub fn flatten(&self) -> Netlist {
        self.flattened(true)
    }

    /// Flattens with each branch computed as it stands, as the papers on branches count.
    pub fn flatten_apart(&self) -> Netlist {
        self.flattened(false)
    }

    fn flattened(&self, share: bool) -> Netlist {
        let mut builder = Builder::new(&self.name);
        let mut inputs = Vec::new();
        for &width in &self.inputs {
            inputs.extend(builder.input(width));
        }
        let results = self.add_to(&mut builder, inputs, share);
        let mut at = 0;
        for &width in &self.outputs {
            builder.output(&results[at..at + width as usize]);
            at += width as usize;
        }
        builder.finish()
    }

    fn add_to(&self, builder: &mut Builder, inputs: Vec<Wire>, share: bool) -> Vec<Wire> {
        let mut wires = inputs;
        for step in &self.steps {
            let of = |list: &[u32]| -> Vec<Wire> {
                list.iter().map(|&wire| wires[wire as usize]).collect()
            };
            let made = match step {
                Step::Circuit { netlist, inputs } => {
                    let given = of(inputs);
                    builder.replay(netlist, given)
                }
                Step::Choice {
                    index,
                    inputs,
                    branches,
                } => {
                    let (index, given) = (of(index), of(inputs));
                    let made: Vec<Vec<Wire>> = branches
                        .iter()
                        .map(|branch| {
                            if !share {
                                builder.forget();
                            }
                            branch.add_to(builder, given.clone(), share)
                        })
                        .collect();
                    choose(builder, &index, &made)
                }
            };
            wires.extend(made);
        }
        let of = |&wire: &u32| wires[wire as usize];
        self.results.iter().map(of).collect()
    }
}

/// The outputs at the number that stands in `index`, bit by bit from the lowest on; 0 beyond the last.
fn choose(builder: &mut Builder, index: &[Wire], made: &[Vec<Wire>]) -> Vec<Wire> {
    let mut level = made.to_vec();
    let zero = builder.constant(false);
    for &bit in index {
        let pairs = level.chunks(2).map(|pair| {
            let none = vec![zero; pair[0].len()];
            let (low, high) = (&pair[0], pair.get(1).unwrap_or(&none));
            let each = low.iter().zip(high).map(|(&low, &high)| {
                let differ = builder.xor(low, high);
                let moved = builder.and(differ, bit);
                builder.xor(low, moved)
            });
            each.collect()
        });
        level = pairs.collect();
    }
    level.swap_remove(0)
}
