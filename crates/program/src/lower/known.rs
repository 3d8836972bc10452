//! Values that stay clear to the party that brought them, because a product gains by it: a model's weights, or numbers of
//! which secret bits choose some.
//!
//! Between two parties in `A`, a product of matrices or a convolution with an operand that one of them knows takes half
//! of what it takes with two shared ones. So an input of one party's that goes to such a product, as it is or with its
//! elements moved, is not shared on its way there. Whoever else takes it, takes a sharing of it, which costs no
//! message in `A`.
//!
//! A bit times a number that one party knows takes an OT with each pair of parties where it takes a triple with a shared one, for any
//! number of parties.
//!
//! Costs of a product of W, which one party knows, and x = x_0 + x_1, with |W| and |x| elements (both parties together;
//! ciphertexts are those of one operand, and as many answers):
//!
//! | way | rounds online | elements online | setup | products of elements online |
//! |---|---|---|---|---|
//! | a triple, both operands shared | 1 | 2 W + 2 x | ciphertexts each way | 2 at each party |
//! | a split triple, W masked by its owner | 1 | W + x | ciphertexts one way | 1 at each party |
//! | W itself multiplied under encryption in setup | 1, one way | x | ciphertexts one way, and only x's mask encrypted | 1 at W's owner |
//!
//! The third way (Cheetah's) sends no W at all, but its setup needs W. Here setup depends on the program alone: it is done
//! before inputs are asked for, its transcripts are the same whatever they are, and what it makes can lie in a store for
//! whichever model of this architecture comes. So the second way is taken.

use madrigal_core::Party;
use madrigal_operations::Side;

use madrigal_engine::{Element, Sharing, Sort};

use super::steps::{Action, Body, Slot};

/// Clear values of a body.
pub(super) struct Marks {
    /// Whether the result of each step is left clear.
    clear: Vec<bool>,
    /// The operand of each product that is taken clear, and who knows it.
    operands: Vec<Option<(Side, Party)>>,
}

impl Marks {
    pub(super) fn of(body: &Body, parties: usize) -> Self {
        let mut known: Vec<Option<Party>> = Vec::with_capacity(body.steps.len());
        let mut marks = Self {
            clear: vec![false; body.steps.len()],
            operands: vec![None; body.steps.len()],
        };
        for step in &body.steps {
            let of = |slot: &Slot| known[slot.step as usize];
            let in_a = step.outputs.first().is_some_and(is_in_a);
            known.push(match step.action {
                Action::Share if in_a => owner(body.sort(step.inputs[0]), parties),
                Action::Move(_) if in_a => {
                    let first = step.inputs.first().and_then(of);
                    first.filter(|_| step.inputs.iter().all(|slot| of(slot) == first))
                }
                _ => None,
            });
        }
        for (number, step) in body.steps.iter().enumerate() {
            // Operands that may be clear, the others being shared.
            let sides: &[Side] = match step.action {
                Action::Product(_) if parties == 2 => &[Side::Left, Side::Right],
                Action::BitTimes => &[Side::Right],
                _ => continue,
            };
            if !step.outputs.first().is_some_and(is_in_a) {
                continue;
            }
            let operands = [Side::Left, Side::Right].into_iter().zip(&step.inputs);
            let operands = operands.filter(|(side, _)| sides.contains(side));
            let mut shared = operands.clone().map(|(_, &slot)| body.sort(slot));
            let all_shared = shared.all(is_in_a);
            let mut found = operands.filter_map(|(side, &slot)| {
                let owner = known[slot.step as usize]?;
                Some((side, owner, slot))
            });
            if let Some((side, owner, slot)) = found.next().filter(|_| all_shared) {
                marks.operands[number] = Some((side, owner));
                marks.leave(body, slot);
            }
        }
        marks
    }

    /// Leaves a value clear, and what it is made of.
    fn leave(&mut self, body: &Body, slot: Slot) {
        let mut left = vec![slot];
        while let Some(slot) = left.pop() {
            let number = slot.step as usize;
            if std::mem::replace(&mut self.clear[number], true) {
                continue;
            }
            let step = &body.steps[number];
            if !matches!(step.action, Action::Share) {
                left.extend(&step.inputs);
            }
        }
    }

    /// Whether the result of a step is left clear.
    pub(super) fn is_clear(&self, step: usize) -> bool {
        self.clear[step]
    }

    /// The operand of a product that is clear, and who knows it.
    pub(super) fn operand(&self, step: usize) -> Option<(Side, Party)> {
        self.operands[step]
    }

    /// Whether a step takes this operand clear where it is.
    pub(super) fn takes_clear(&self, step: usize, place: usize) -> bool {
        let side = match place {
            0 => Side::Left,
            _ => Side::Right,
        };
        self.clear[step] || self.operands[step].is_some_and(|(known, _)| known == side)
    }
}

/// The only party that knows a clear value.
fn owner(sort: &Sort, parties: usize) -> Option<Party> {
    let mut holders = Party::all(parties).filter(|&party| sort.sharing.is_known_to(party));
    let owner = holders.next()?;
    holders.next().is_none().then_some(owner)
}

fn is_in_a(sort: &Sort) -> bool {
    sort.sharing == Sharing::A && matches!(sort.element, Element::Ring(_))
}
