//! Sorting, and looking things up.

use super::{Operand, Secret};
use crate::element::{Bits, Number, Plain, Unsigned};
use crate::error::{Fault, Source};
use crate::ir::{Op, Reduction, Value};
use crate::program::Recorder;

impl<T: Number> Secret<T> {
    /// The numbers along the last axis, the smallest first, by a sorting network.
    #[track_caller]
    pub fn sort(&self) -> Self {
        let keep = self.shape().axes().last().copied().unwrap_or(0);
        self.sorted(&[], false, keep, Source::here()).0
    }

    /// The `count` greatest numbers along the last axis, the greatest first. Comparisons that cannot
    /// matter to them are left out.
    #[track_caller]
    pub fn top(&self, count: usize) -> Self {
        self.sorted(&[], true, count, Source::here()).0
    }

    /// The numbers along the last axis, the smallest first, and another tensor of the same shape whose
    /// elements go where the numbers go. Which of equal numbers comes first is fixed, but not by their
    /// order.
    #[track_caller]
    pub fn sort_with<U: Plain>(&self, along: &Secret<U>) -> (Self, Secret<U>) {
        let keep = self.shape().axes().last().copied().unwrap_or(0);
        self.sorted_with(along, false, keep, Source::here())
    }

    /// As [`Secret::top`], with the elements of another tensor that go where the numbers go.
    #[track_caller]
    pub fn top_with<U: Plain>(&self, count: usize, along: &Secret<U>) -> (Self, Secret<U>) {
        self.sorted_with(along, true, count, Source::here())
    }

    fn sorted_with<U: Plain>(
        &self,
        along: &Secret<U>,
        descending: bool,
        keep: usize,
        at: Source,
    ) -> (Self, Secret<U>) {
        let recorder = Recorder::inner(self.recorder(), along.recorder()).clone();
        let keys = self.import(&recorder, "sort", at);
        let along_value = along.import(&recorder, "sort", at);
        let keys = keys.map(|value| Self::new(&recorder, Some(value)));
        match (keys, along_value) {
            (Some(keys), Some(along_value)) => {
                let (keys, carried) = keys.sorted(&[along_value], descending, keep, at);
                let carried = carried[0].map(|value| Secret::new(&recorder, Some(value)));
                (keys, carried.unwrap_or_else(|| along.nothing()))
            }
            _ => (self.nothing(), along.nothing()),
        }
    }

    /// The keys and what goes along, of the same graph.
    fn sorted(
        &self,
        along: &[Value],
        descending: bool,
        keep: usize,
        at: Source,
    ) -> (Self, Vec<Option<Value>>) {
        let inputs = self.value().map(|value| [&[value], along].concat());
        let op = Op::Sort { descending, keep };
        let mut results = self.results(op, inputs, 1 + along.len() as u32, at);
        let keys = match results.remove(0) {
            Some(value) => Self::new(self.recorder(), Some(value)),
            None => self.nothing(),
        };
        (keys, results)
    }
}

impl<U: Unsigned> Secret<U> {
    /// Entries of a table, public or secret, at these secret places of its first axis: of shape `[places..,
    /// rest of the table's axes..]`. Zeros where there is no such entry.
    #[track_caller]
    pub fn look_up<T: Plain>(&self, table: impl Operand<T>) -> Secret<T> {
        let at = Source::here();
        let table = self.beside(table, at);
        if self.value().is_none() || table.value().is_none() {
            return table.nothing();
        }
        let Some((&entries, width)) = table.shape().axes().split_first() else {
            let fault = Fault::Axis {
                operator: Op::LookUp.to_string(),
                axis: 0,
                shape: table.shape().clone(),
            };
            return table.failed(fault, at);
        };
        let axes = [self.shape().axes(), width].concat();
        let width = width.iter().product();
        let places = self.reshaped(&[1, self.elements()], at);
        let flat = table.reshaped(&[1, entries, width], at);
        let recorder = Recorder::inner(flat.recorder(), places.recorder());
        let operands = flat
            .import(recorder, "look-up", at)
            .zip(places.import(recorder, "look-up", at));
        let found = operands.and_then(|(a, b)| recorder.add(Op::LookUp, vec![a, b], at));
        match found {
            Some(value) => Secret::<T>::new(recorder, Some(value)).reshaped(&axes, at),
            None => table.nothing(),
        }
    }
}

impl<K: Plain> Secret<K> {
    /// For each key of this list, whether it is among `keys`, and which of `values` stands beside it
    /// there, as an equality join does; 0 where it is not among them. All are lists of one axis. Each of
    /// `keys` should be there once: where several match, their values come together by `^`.
    ///
    /// Compares all pairs, so lists should be short.
    #[track_caller]
    pub fn join_on<T: Bits>(&self, keys: &Self, values: &Secret<T>) -> (Secret<bool>, Secret<T>) {
        let at = Source::here();
        if keys.shape() != values.shape() || keys.rank() != 1 || self.rank() != 1 {
            let fault = Fault::Join {
                shapes: vec![
                    self.shape().clone(),
                    keys.shape().clone(),
                    values.shape().clone(),
                ],
                axis: 0,
            };
            let ok = self.value().and(keys.value()).and(values.value());
            return match ok {
                Some(_) => (self.failed(fault.clone(), at), values.failed(fault, at)),
                None => (self.nothing(), values.nothing()),
            };
        }
        let column = self.reshaped(&[self.elements(), 1], at);
        let same: Secret<bool> = column.binary(crate::ir::Binary::Equal, keys, at);
        let zero: Secret<T> = values.beside(T::decode(0), at);
        let matching = same.choose(values, &zero, at);
        (
            same.apply(Op::Reduce(Reduction::Or, 1), at),
            matching.apply(Op::Reduce(Reduction::Xor, 1), at),
        )
    }
}
