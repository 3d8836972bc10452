//! Rows sorted by keys: by an operation of the protocol, or by a sorting network. Rows shuffled, by an operation alone.

use std::sync::Arc;

use madrigal_circuit::blocks::sorting_network;
use madrigal_engine::{Sharing, Sort};
use madrigal_operations::{DynOperation, KeyOrder, RowSort, SortRounds};

use super::choose::Wants;
use super::circuits::BitOp;
use super::domain::Domain;
use super::draft::Operand;
use super::mix::Mix;
use super::state::{Lowering, Native, Result};
use super::steps::{Action, Slot};
use crate::array::{Array, Words};
use crate::element::Type;
use crate::error::{Fault, Words as Listed};
use crate::ir::Node;
use crate::shape::Shape;

/// The most lists that one shuffle puts into orders of their own.
const MOST_LISTS: usize = 1 << 12;

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
        let wants = self.wants[number].clone();
        let (operands, domains) = self.columns(node, keys.len(), sort, &wants)?;
        let orders = keys.iter().zip(&node.inputs);
        let orders = orders.map(|(&descending, &key)| KeyOrder {
            signed: self.element(key).is_signed(),
            descending,
        });
        let orders: Vec<KeyOrder> = orders.collect();
        self.note_bits();
        let counts = keys.len() == 1
            && self.width(operands[0]) == 1
            && length > 1
            && self.mix.arithmetic_is_in_a_ring()
            && sort.counts
            && sort.numbers.contains(&self.mix.ring());
        let made = match counts {
            true => {
                let places = self.counted(operands[0], keys[0], length)?;
                let columns = [&[places], &operands[..]].concat();
                self.chain(vec![(sort.place)()], &columns)?
            }
            false => self.sort_rows(sort, orders, &operands)?,
        };
        for ((form, slot), domain) in self.forms[number].iter_mut().zip(made).zip(domains) {
            form.set(domain, slot);
        }
        Ok(())
    }

    /// A step that sorts rows by keys in these orders, which come first.
    pub(super) fn sort_rows(
        &mut self,
        sort: &RowSort,
        orders: Vec<KeyOrder>,
        operands: &[Slot],
    ) -> Result<Vec<Slot>> {
        let operation = (sort.operation)(orders.clone(), SortRounds::default());
        let sorts = operands.iter().map(|&slot| self.draft.sort(slot));
        let outputs = operation.sorts(&sorts.collect::<Vec<_>>(), self.parties);
        let outputs = outputs.map_err(|problem| {
            let operator = self.operator.clone();
            self.fault(Fault::Operation { operator, problem })
        })?;
        Ok(self.actions(Action::Sort(orders), operands, outputs))
    }

    /// The place of each row in the order of a bit, where rows with equal bits stay in their order: with p for the ones before row i of n, z
    /// zeros in all and the bit b, it is i - p + b (z - i + 2 p).
    fn counted(&mut self, bit: Slot, descending: bool, length: usize) -> Result<Slot> {
        let minus = |number: u128| number.wrapping_neg() & Type::PLACE.mask();
        let mut one = self.number_of(bit, Type::PLACE)?;
        if descending {
            one = self.linear(&[(one, minus(1))], 1);
        }
        let words = Words::collect(Type::PLACE, 0..length as u128);
        let rows = Array::new(Type::PLACE, Shape::of(vec![length]), words);
        let ring = Domain::Ring.element(Type::PLACE.bits());
        let rows = self.public(&rows, Sort::new(Sharing::PUBLIC, ring, length))?;
        let rows = self.share(rows, Domain::Ring);
        // With the row itself.
        let through = self.sums(one, [1, length, 1], true)?;
        let all = self.strided(through, [length], [0], length - 1);
        let terms = [
            (all, minus(1)),
            (rows, minus(1)),
            (through, 2),
            (one, minus(2)),
        ];
        let up = self.linear(&terms, length as u128);
        let mut product = self.bit_times(bit, up)?;
        if descending {
            product = self.linear(&[(up, 1), (product, minus(1))], 0);
        }
        let terms = [(rows, 1), (through, minus(1)), (one, 1), (product, 1)];
        Ok(self.linear(&terms, 0))
    }

    /// The values of a node as columns that the protocol moves, the first ones as bits, others as they are wanted where they are nowhere yet.
    fn columns(
        &mut self,
        node: &Node,
        keys: usize,
        sort: &RowSort,
        wants: &[Wants],
    ) -> Result<(Vec<Slot>, Vec<Domain>)> {
        let mut operands = Vec::new();
        let mut domains = Vec::new();
        for (place, &input) in node.inputs.iter().enumerate() {
            let numbers = place >= keys
                && !self.element(input).is_bool()
                && sort.numbers.contains(&self.sharing(Domain::Ring));
            let wants = wants[place];
            let domain = match self.native(input) {
                Native::Ring if numbers => Domain::Ring,
                // A value that is nowhere yet goes where its users want it.
                Native::Free if numbers && wants.ring && !wants.bits => Domain::Ring,
                _ => Domain::Bits,
            };
            operands.push(self.slot(input, domain)?);
            domains.push(domain);
        }
        Ok((operands, domains))
    }

    /// Lowers a shuffle: one operation for each list, as no two may have the same order.
    pub(super) fn shuffle(&mut self, number: usize, node: &Node) -> Result<()> {
        let sort = self.that_shuffles()?;
        let wants = self.wants[number].clone();
        self.by_list(number, node, sort, sort.shuffle, &wants)
    }

    /// Lowers rows that move to their places, the first input: one operation for each list, which has its own.
    pub(super) fn move_rows(&mut self, number: usize, node: &Node) -> Result<()> {
        let sort = self.that_shuffles()?;
        let places = Wants {
            ring: true,
            bits: false,
        };
        let wants = [&[places], &self.wants[number][..]].concat();
        self.by_list(number, node, sort, sort.place, &wants)
    }

    /// The protocol's way to shuffle rows.
    fn that_shuffles(&self) -> Result<&'static RowSort> {
        self.row_sort().ok_or_else(|| {
            self.fault(Fault::NoShuffle {
                mix: self.mix.to_string(),
                parties: self.parties,
                have: Listed(Mix::that_shuffle()),
            })
        })
    }

    /// Carries out an operation on each list of columns, which gives the last ones of them.
    fn by_list(
        &mut self,
        number: usize,
        node: &Node,
        sort: &RowSort,
        operation: fn() -> DynOperation,
        wants: &[Wants],
    ) -> Result<()> {
        let shape = self.shape(node.inputs[0]);
        let [lists, length, _] = shape.around(shape.rank() - 1);
        if lists > MOST_LISTS && length > 1 {
            let what = format!("{lists} lists, each in an order of its own; at most {MOST_LISTS}");
            let operator = self.operator.clone();
            return Err(self.fault(Fault::Lengths { operator, what }));
        }
        let (columns, domains) = self.columns(node, 0, sort, wants)?;
        let first = columns.len() - node.outputs.len();
        let mut made = columns[first..].to_vec();
        self.note_bits();
        if length > 1 {
            let mut parts = vec![Vec::new(); made.len()];
            for list in 0..lists {
                let own = columns.iter().map(|&column| match lists {
                    1 => column,
                    _ => self.strided(column, [length], [1], list * length),
                });
                let own: Vec<Slot> = own.collect();
                let made = self.chain(vec![operation()], &own)?;
                for (part, slot) in parts.iter_mut().zip(made) {
                    part.push(slot);
                }
            }
            if lists > 0 {
                made = parts.iter().map(|parts| self.join(parts, 1)).collect();
            }
        }
        let made = made.into_iter().zip(&domains[first..]);
        for (form, (slot, &domain)) in self.forms[number].iter_mut().zip(made) {
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
        // Without lists there is nothing to exchange.
        let layers = if rows == 0 {
            Vec::new()
        } else {
            sorting_network(length)
        };
        for layer in layers {
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
