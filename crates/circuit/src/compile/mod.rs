//! From a netlist to a layered program, and from that to one of sums of products.
//!
//! 1. [`LogicGraph`]: wires become literals (a node, perhaps inverted), which makes copies, double
//!    inversions and constants disappear; OR becomes an inverted AND of inverses.
//! 2. Uses are counted from the outputs, so that dead nodes are never emitted.
//! 3. [`Emitter`]: each AND runs no later than its depth from the outputs allows, so there are as many
//!    layers as the AND depth; it runs earlier if that frees a row. A local operation runs as soon
//!    as it frees a row, or else when something needs it. Rows are handed out as values come alive and
//!    come back with their last use.
//! 4. For sums: which of them are made instead of products is chosen in [`parts`], by smallest cuts ([`cut`]); in which
//!    order, in [`steps`]. The [`Emitter`] lays out the rest as before.
//!
//! The order saves rows: SHA-256 has 1184 (2191 with every AND as early as possible), a 64-bit
//! product 375 (2080; 436 with local operations only when something needs them), AES-128 912 in any
//! order.

mod cut;
mod emitter;
mod graph;
mod hash;
mod pairs;
mod parts;
mod steps;

use std::sync::Arc;

use crate::layered::{And, Layered};
use crate::netlist::Netlist;
use crate::sums::{SumStep, Sums};
use emitter::Emitter;
use graph::LogicGraph;
pub(crate) use hash::Folding;
use parts::Summed;

impl Layered {
    /// Compiles a netlist. Time and memory are linear in its gates and wires.
    pub fn compile(netlist: &Netlist) -> Self {
        let graph = LogicGraph::of(netlist);
        let emitter = Emitter::new(&graph);
        let (deadline, layers) = graph.deadlines(&emitter.uses);
        let due = emitter.by_layer(&deadline, layers);
        emitter.run(due)
    }

    /// Makes the same computation for [rounds of two layers](crate::Rounds::of_two): each AND runs as early as it can, in the
    /// first layer of a round or in the second one, so that few layers have operands of several results of the layer
    /// before. There are more rows, and more layers than the AND depth where that saves rounds.
    pub fn in_pairs(&self) -> Self {
        let graph = LogicGraph::again(self);
        let mut emitter = Emitter::new(&graph);
        emitter.ahead = false;
        let (layer, layers) = graph.halves_of_rounds(&emitter.uses);
        let due = emitter.by_layer(&layer, layers);
        emitter.run(due.into_iter().filter(|ands| !ands.is_empty()).collect())
    }
}

impl Sums {
    /// Sums of products where they are fewer than products, in at most as many layers. Takes time linear in the program
    /// but for the search of cuts, whose time grows with the square root of a component's size at most; in a component of
    /// more than 131,072 products and sums nothing smaller is looked for than the sums that are read.
    pub fn of(program: &Layered) -> Self {
        let Some(Summed { graph, due }) = Summed::of(&LogicGraph::distinct_of(program)) else {
            return Self::of_products(program);
        };
        let mut emitter = Emitter::new(&graph);
        emitter.load();
        let (mut steps, mut sums, mut ends) = (Vec::new(), Vec::new(), Vec::new());
        let mut kept = 0;
        for due in due {
            let first = sums.len();
            let done = emitter.layer(due.ands, &due.products, &due.sums);
            for (to, and) in (0..).zip(done.ands) {
                let (a, b) = (and.a, and.b);
                steps.push(SumStep::Multiply { to, a, b });
                sums.push(and.dst);
            }
            let made = (sums.len() - first) as u32;
            kept = kept.max(steps::make(&due.cones, &done.products, made, &mut steps));
            sums.extend(done.sums);
            if sums.len() > first {
                ends.push([done.local, steps.len() as u32, sums.len() as u32]);
            }
        }
        let program = emitter.finish();
        Self {
            rows: program.rows,
            kept,
            input_bits: program.input_bits,
            inputs: program.inputs,
            outputs: program.outputs,
            local: program.local,
            steps,
            sums,
            ends,
        }
    }

    /// The sums are the products.
    fn of_products(program: &Layered) -> Self {
        let multiply = |(to, and): (u32, &And)| SumStep::Multiply {
            to,
            a: and.a,
            b: and.b,
        };
        let steps = program.layers();
        let steps = steps.flat_map(|layer| (0..).zip(layer.ands).map(multiply));
        let end = |&(local, ands): &(u32, u32)| [local, ands, ands];
        Self {
            rows: program.rows,
            kept: 0,
            input_bits: program.input_bits,
            inputs: program.inputs.clone(),
            outputs: program.outputs.clone(),
            local: Arc::clone(&program.local),
            steps: steps.collect(),
            sums: program.ands.iter().map(|and| and.dst).collect(),
            ends: program.ends.iter().map(end).collect(),
        }
    }
}
