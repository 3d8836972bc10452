//! Rows sorted by keys: by an operation of the protocol, or by a sorting network.

use std::sync::Arc;

use madrigal_circuit::blocks::sorting_network;
use madrigal_engine::{Sharing, Sort};
use madrigal_operations::{KeyOrder, RowSort};

use super::circuits::BitOp;
use super::domain::Domain;
use super::draft::Operand;
use super::state::{Lowering, Native, Result};
use super::steps::Slot;
use crate::array::{Array, Words};
use crate::element::Type;
use crate::ir::Node;
use crate::shape::Shape;

impl Lowering<'_> {
    /// The protocol's way to sort rows, if it has one for as many parties.
    pub(super) fn row_sort(&self) -> Option<&'static RowSort> {
        let sort = self.backend(Domain::Bits).bits.as_ref()?.sort.as_ref();
        sort.filter(|sort| sort.parties.contains(&self.parties))
    }

    /// Lowers a sort by keys, which say whether their greatest elements come first.
    pub(super) fn sort_by(&mut self, number: usize, node: &Node, keys: &[bool]) -> Result<()> {
        let shape = self.shape(node.inputs[0]);
        let [rows, length, _] = shape.around(shape.rank() - 1);
        let Some(sort) = self.row_sort().filter(|_| rows == 1) else {
            let slots = self.sorted_by(node, keys, [rows, length])?;
            for (form, slot) in self.forms[number].iter_mut().zip(slots) {
                form.set(Domain::Bits, slot);
            }
            return Ok(());
        };
        let mut operands = Vec::new();
        let mut domains = Vec::new();
        for (place, &input) in node.inputs.iter().enumerate() {
            let bool = self.element(input).is_bool();
            let domain = match self.native(input) {
                Native::Ring
                    if place >= keys.len()
                        && !bool
                        && sort.numbers.contains(&self.sharing(Domain::Ring)) =>
                {
                    Domain::Ring
                }
                _ => Domain::Bits,
            };
            operands.push(self.slot(input, domain)?);
            domains.push(domain);
        }
        let orders = keys.iter().zip(&node.inputs);
        let orders = orders.map(|(&descending, &key)| KeyOrder {
            signed: self.element(key).is_signed(),
            descending,
        });
        let sort = (sort.operation)(orders.collect());
        self.note_bits();
        let made = self.chain(vec![sort], &operands)?;
        for ((form, slot), domain) in self.forms[number].iter_mut().zip(made).zip(domains) {
            form.set(domain, slot);
        }
        Ok(())
    }

    /// Sorts along the last axis by a network, each layer of which is one circuit on all its pairs. The places decide what keys do not.
    fn sorted_by(
        &mut self,
        node: &Node,
        keys: &[bool],
        [rows, length]: [usize; 2],
    ) -> Result<Vec<Slot>> {
        let places = (0..rows).flat_map(|_| 0..length as u128);
        let words = Words::collect(Type::PLACE, places);
        let places = Array::new(Type::PLACE, Shape::of(vec![rows * length]), words);
        let bits = Domain::Bits.element(Type::PLACE.bits());
        let places = self.public(&places, Sort::new(Sharing::PUBLIC, bits, rows * length))?;
        let places = self.share(places, Domain::Bits);
        let mut lists = Vec::new();
        for &input in &node.inputs {
            lists.push(self.bits_slot(input)?);
        }
        lists.insert(keys.len(), places);
        let orders: Arc<[(Type, bool)]> = keys
            .iter()
            .zip(&node.inputs)
            .map(|(&descending, &key)| (self.element(key), descending))
            .collect();
        for layer in sorting_network(length) {
            let low: Vec<usize> = layer.iter().map(|&(low, _)| low).collect();
            let high: Vec<usize> = layer.iter().map(|&(_, high)| high).collect();
            let mut operands = Vec::new();
            for &list in &lists {
                for side in [&low, &high] {
                    operands.push(Operand::Slot(self.rows(list, [rows, length, 1], side)));
                }
            }
            let op = BitOp::ExchangeBy(Arc::clone(&orders));
            let made = self.bit_op(op, operands, rows * layer.len());
            self.place_pairs(&mut lists, &made, &layer, [rows, length]);
        }
        lists.remove(keys.len());
        Ok(lists)
    }

    /// Puts the results of a layer of a sorting network, the pairs' lower places and their higher ones for each list, where they belong.
    pub(super) fn place_pairs(
        &mut self,
        lists: &mut [Slot],
        made: &[Slot],
        layer: &[(usize, usize)],
        [rows, length]: [usize; 2],
    ) {
        // The list, then the pairs' lower places, then their higher ones.
        let mut places: Vec<usize> = (0..length).collect();
        for (at, &(low, high)) in layer.iter().enumerate() {
            places[low] = length + at;
            places[high] = length + layer.len() + at;
        }
        for (list, pair) in lists.iter_mut().zip(made.chunks(2)) {
            let joined = self.join(&[*list, pair[0], pair[1]], rows);
            *list = self.rows(joined, [rows, length + 2 * layer.len(), 1], &places);
        }
    }
}
