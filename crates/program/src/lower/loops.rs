//! Loops: the body is lowered once.

use std::sync::Arc;

use super::Domain;
use super::choose;
use super::draft::Circuits;
use super::lowering::{Lowering, Result};
use madrigal_engine::Sort;

use super::steps::{Action, Slot};
use crate::ir::{Graph, Node, Op};

/// How an operand goes into a body.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Way {
    Public,
    Shared(Domain),
}

impl Lowering<'_> {
    /// A loop. Its state is where the body's results are likely to be; what else it takes goes in in each
    /// form that the body wants.
    pub(super) fn repeat(
        &mut self,
        number: usize,
        node: &Node,
        count: usize,
        carried: usize,
        body: &Graph,
        circuits: &mut Circuits,
    ) -> Result<()> {
        let results = body.results();
        let state = |part: usize| choose::guess(body, results[part], self.mix, self.rings);
        let states: Vec<Domain> = (0..carried).map(state).collect();
        let wants = choose::wants(body, self.mix, self.rings);
        let mut inner = Lowering::new(
            body,
            self.mix,
            self.parties,
            self.ports,
            (self.goal, self.rings),
        );
        let mut operands: Vec<Slot> = Vec::new();
        // The state comes first, each part once.
        let mut ways: Vec<(usize, Way)> = states
            .iter()
            .map(|&domain| Way::Shared(domain))
            .enumerate()
            .collect();
        for (at, leaf) in body.nodes().iter().enumerate() {
            let Op::Argument(argument) = leaf.op else {
                continue;
            };
            if argument < carried {
                continue;
            }
            let outer = node.inputs[argument];
            if self.is_public(outer) {
                ways.push((argument, Way::Public));
                if self.graph.uniform(outer).is_none() && !wants[at][0].ring && !wants[at][0].bits {
                    continue;
                }
            }
            let wants = wants[at][0];
            let bool = self.element(outer).is_bool();
            if bool || wants.bits || !wants.ring {
                ways.push((argument, Way::Shared(Domain::Bits)));
            }
            if !bool && wants.ring {
                ways.push((argument, Way::Shared(Domain::Ring)));
            }
        }
        for (number, &(argument, way)) in ways.iter().enumerate() {
            let outer = node.inputs[argument];
            let slot = match way {
                Way::Public => self.public_slot(outer)?,
                Way::Shared(Domain::Ring) => self.ring_slot(outer)?,
                Way::Shared(Domain::Bits) => self.bits_slot(outer)?,
            };
            operands.push(slot);
            inner.set_argument(argument, number, way, self.draft.sort(slot));
        }
        let mut outputs = Vec::new();
        inner.nodes(circuits)?;
        let mut after = Vec::new();
        for (&result, &domain) in results.iter().zip(&states) {
            inner.at = self.at;
            inner.operator = self.operator.clone();
            after.push(match domain {
                Domain::Ring => inner.ring_slot(result)?,
                Domain::Bits => inner.bits_slot(result)?,
            });
        }
        for &slot in &after {
            outputs.push(inner.draft.sort(slot));
        }
        let body = Arc::new(inner.draft.finish(&after, self.goal, circuits));
        let slots = self.actions(Action::Repeat { count, body }, &operands, outputs);
        for ((output, slot), domain) in slots.into_iter().enumerate().zip(states) {
            let form = &mut self.forms[number][output];
            match domain {
                Domain::Ring => form.ring = Some(slot),
                Domain::Bits => form.bits = Some(slot),
            }
        }
        Ok(())
    }

    /// Gives each use of an argument its form.
    fn set_argument(&mut self, argument: usize, number: usize, way: Way, sort: Sort) {
        let at = self.at;
        let label = Op::Argument(argument).to_string();
        let slot = self
            .draft
            .action(Action::Argument(number), &[], vec![sort], &label, at);
        for (node, leaf) in (0..).zip(self.graph.nodes()) {
            if leaf.op != Op::Argument(argument) {
                continue;
            }
            let form = &mut self.forms[node as usize][0];
            match way {
                Way::Public => form.public = Some(slot),
                Way::Shared(Domain::Ring) => form.ring = Some(slot),
                Way::Shared(Domain::Bits) => form.bits = Some(slot),
            }
        }
    }
}
