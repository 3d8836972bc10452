//! Steps that make vectors: inputs, public ones, and elements that move.

use std::sync::Arc;

use madrigal_engine::{Sharing, Sort};
use madrigal_operations::{
    Backend, Chain, Concat, DynOperation, Layout, Public, Rearrange, RingOperations, SumAxis,
};

use super::circuits::BitOp;
use super::domain::Domain;
use super::draft::Operand;
use super::state::{Lowering, Result};
use super::steps::{Action, Places, Slot};
use crate::array::Array;
use crate::element::Type;
use crate::error::Fault;
use crate::ir::Value;
use crate::shape::{Shape, View};

impl Lowering<'_> {
    /// An array that is part of the program.
    pub(super) fn public(&mut self, array: &Array, sort: Sort) -> Result<Slot> {
        let value = Public::new(crate::clear::shares(array, sort));
        self.operation(Arc::new(value), &[])
    }

    pub(super) fn input(&mut self, number: usize, domain: Domain) -> Slot {
        let port = &self.ports.inputs[number];
        let bits = port.tensor_type.element.bits();
        let owner = port.owner.party();
        let clear = Sharing::clear(&[owner.expect("what clients bring is there in its only form")]);
        let len = port.tensor_type.shape.elements();
        let sort = Sort::new(clear, domain.element(bits), len);
        let at = std::mem::replace(&mut self.at, port.at);
        let clear = self.action(Action::Input(number), &[], sort);
        let shared = self.share(clear, domain);
        self.at = at;
        shared
    }

    /// A clear or public vector as a shared one.
    pub(super) fn share(&mut self, clear: Slot, domain: Domain) -> Slot {
        let sort = self.draft.sort(clear).shared(self.sharing(domain));
        self.action(Action::Share, &[clear], sort)
    }

    /// A vector of one number, in the shape and type of a value.
    pub(super) fn filled(&mut self, code: u128, like: Value, domain: Domain) -> Result<Slot> {
        let (element, len) = (self.element(like), self.len(like));
        self.filled_with(code, element, len, domain)
    }

    pub(super) fn filled_with(
        &mut self,
        code: u128,
        element: Type,
        len: usize,
        domain: Domain,
    ) -> Result<Slot> {
        let sort = Sort::new(Sharing::PUBLIC, domain.element(element.bits()), 1);
        let one = self.public(&Array::one(element, code), sort)?;
        let many = Shape::of(vec![len]);
        let view = View::broadcast(&Shape::of(vec![1]), &many);
        let shared = self.share(one, domain);
        Ok(self.gather(shared, Places::View(view)))
    }

    /// The sharing that holds ring elements or bits.
    pub(super) fn sharing(&self, domain: Domain) -> Sharing {
        match domain {
            Domain::Ring => self.mix.ring(),
            Domain::Bits => self.here,
        }
    }

    /// The record of the protocol that computes on ring elements or bits.
    pub(super) fn backend(&self, domain: Domain) -> &'static Backend {
        Backend::of(self.sharing(domain))
    }

    /// The sort of shared ring elements or bits.
    pub(super) fn shared(&self, domain: Domain, bits: u32, len: usize) -> Sort {
        Sort::new(self.sharing(domain), domain.element(bits), len)
    }

    /// An operation with one result, in the words of the operation at hand.
    pub(super) fn operation(&mut self, operation: DynOperation, inputs: &[Slot]) -> Result<Slot> {
        Ok(self.chain(vec![operation], inputs)?[0])
    }

    /// Operations that follow each other; gives the results of the last one, or the inputs where there is none.
    pub(super) fn chain(&mut self, chain: Chain, inputs: &[Slot]) -> Result<Vec<Slot>> {
        let mut slots = inputs.to_vec();
        for operation in chain {
            let sorts: Vec<Sort> = slots.iter().map(|&slot| self.draft.sort(slot)).collect();
            let outputs = operation.sorts(&sorts, self.parties);
            let outputs = outputs.map_err(|problem| {
                let operator = self.operator.clone();
                self.fault(Fault::Operation { operator, problem })
            })?;
            slots = self.actions(Action::Operation(operation), &slots, outputs);
        }
        Ok(slots)
    }

    /// Bits in another sharing, brought to that of the operation at hand.
    pub(super) fn brought(&mut self, bits: Slot) -> Result<Slot> {
        let found = self.draft.sort(bits).sharing;
        if self.mix.is_manual() && !self.converts {
            return Err(self.fault(Fault::Sharing {
                operator: self.operator.as_str().into(),
                found,
                wanted: self.here,
            }));
        }
        let chain = self.backend(Domain::Bits).bits_from(Backend::of(found));
        let to = format!("bring to {}", self.here);
        let operator = std::mem::replace(&mut self.operator, to);
        let brought = self.chain(chain, &[bits]);
        self.operator = operator;
        Ok(brought?[0])
    }

    /// A step with several results, in the words of the operation at hand.
    pub(super) fn actions(
        &mut self,
        action: Action,
        inputs: &[Slot],
        outputs: Vec<Sort>,
    ) -> Vec<Slot> {
        let count = outputs.len() as u32;
        let operator = self.operator.clone();
        let first = self
            .draft
            .action(action, inputs, outputs, &operator, self.at);
        (0..count).map(|output| Slot { output, ..first }).collect()
    }

    /// A step with one result, in the words of the operation at hand.
    pub(super) fn action(&mut self, action: Action, inputs: &[Slot], output: Sort) -> Slot {
        self.actions(action, inputs, vec![output])[0]
    }

    pub(super) fn bit_op(&mut self, op: BitOp, inputs: Vec<Operand>, len: usize) -> Vec<Slot> {
        let sharing = self.sharing(Domain::Bits);
        self.note_bits();
        self.draft.bits(op, inputs, sharing, len, self.at)
    }

    /// Elements of a vector, itself where they are all in order.
    pub(super) fn gather(&mut self, x: Slot, places: Places) -> Slot {
        let sort = self.draft.sort(x);
        let len = places.len();
        match &places {
            Places::View(view) if len == sort.len && view.is_prefix() => x,
            _ => {
                let moved = Rearrange::new(layout(&places));
                self.action(Action::Move(Arc::new(moved)), &[x], sort.of_len(len))
            }
        }
    }

    /// Vectors of `rows` rows, joined row by row.
    pub(super) fn join(&mut self, parts: &[Slot], rows: usize) -> Slot {
        if let [part] = parts {
            return *part;
        }
        let lens = parts.iter().map(|&part| self.draft.sort(part).len);
        let sort = self.draft.sort(parts[0]).of_len(lens.sum());
        self.action(Action::Move(Arc::new(Concat { rows })), parts, sort)
    }

    /// The sum of vectors, each times a factor, and of a number.
    pub(super) fn linear(&mut self, terms: &[(Slot, u128)], constant: u128) -> Slot {
        let inputs: Vec<_> = terms.iter().map(|&(slot, _)| slot).collect();
        let factors = terms.iter().map(|&(_, factor)| factor).collect();
        let sort = self.draft.sort(inputs[0]);
        self.action(Action::Linear { factors, constant }, &inputs, sort)
    }

    /// The operations of the protocol that computes on ring elements.
    pub(super) fn rings(&self) -> &'static dyn RingOperations {
        self.backend(Domain::Ring).numbers().rings
    }

    /// The sums along the middle one of three axes, or of the first 1, 2, 3, ... elements there.
    pub(super) fn sums(
        &mut self,
        x: Slot,
        [_, count, inner]: [usize; 3],
        prefixes: bool,
    ) -> Result<Slot> {
        let sums = SumAxis {
            count,
            inner,
            prefixes,
        };
        self.operation(Arc::new(sums), &[x])
    }

    /// Combines all elements along the middle one of three axes, `arity` at most at once, by what `combine`
    /// makes of vectors of a length.
    pub(super) fn tree(
        &mut self,
        mut x: Slot,
        [before, mut length, after]: [usize; 3],
        arity: usize,
        combine: impl Fn(&mut Self, &[Slot], usize) -> Result<Slot>,
    ) -> Result<Slot> {
        while length > 1 {
            let group = arity.min(length);
            let groups = length / group;
            let sizes = [before, length, after];
            let parts: Vec<_> = (0..group)
                .map(|first| self.stretch(x, sizes, first, group, groups))
                .collect();
            let made = combine(self, &parts, before * groups * after)?;
            let rest = length % group;
            x = match rest {
                0 => made,
                _ => {
                    let rest = self.stretch(x, sizes, groups * group, 1, rest);
                    self.join(&[made, rest], before)
                }
            };
            length = groups + rest;
        }
        Ok(x)
    }

    /// Every `step`-th place of the middle one of three axes, from `first` on, `count` of them.
    pub(super) fn stretch(
        &mut self,
        x: Slot,
        [before, length, after]: [usize; 3],
        first: usize,
        step: usize,
        count: usize,
    ) -> Slot {
        let strides = [length * after, step * after, 1];
        self.strided(x, [before, count, after], strides, first * after)
    }

    /// Bits of an element of a vector.
    pub(super) fn width(&self, slot: Slot) -> u32 {
        self.draft.sort(slot).element.bits() as u32
    }

    /// Some places of the middle one of three axes.
    pub(super) fn rows(
        &mut self,
        x: Slot,
        [before, length, after]: [usize; 3],
        places: &[usize],
    ) -> Slot {
        let places = places.iter();
        let places = places.flat_map(|place| place * after..(place + 1) * after);
        let places = Places::Rows {
            rows: before,
            from: length * after,
            places: places.collect(),
        };
        self.gather(x, places)
    }

    /// The elements of a vector that these axes, each with a length and a stride, show from `offset` on.
    pub(super) fn strided<const N: usize>(
        &mut self,
        x: Slot,
        shape: [usize; N],
        strides: [usize; N],
        offset: usize,
    ) -> Slot {
        let view = View {
            shape: Shape::of(shape.into()),
            strides: strides.map(|stride| stride as isize).into(),
            offset,
        };
        self.gather(x, Places::View(view))
    }
}

/// Places as the engine has them.
fn layout(places: &Places) -> Layout {
    match places {
        Places::View(view) => Layout::Grid {
            start: view.offset,
            axes: (view.shape.axes().iter().copied())
                .zip(view.strides.iter().copied())
                .collect(),
        },
        Places::Rows { .. } => {
            let index =
                |at: usize| u32::try_from(at).expect("a shape has fewer than 2^32 elements");
            Layout::Picked(places.indices().into_iter().map(index).collect())
        }
    }
}
