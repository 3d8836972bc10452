//! Sorting, and looking things up.

use super::{Operand, Secret};
use crate::element::{Bits, Number, Plain, Unsigned};
use crate::error::{Fault, Source};
use crate::ir::{Binary, Op, Reduction};

impl<T: Number> Secret<T> {
    /// The numbers along the last axis, the smallest first, by a sorting network.
    #[track_caller]
    pub fn sort(&self) -> Self {
        let keep = self.shape().axes().last().copied().unwrap_or(0);
        self.sorted(false, keep, Source::here())
    }

    /// The `count` greatest numbers along the last axis, the greatest first. Comparisons that cannot
    /// matter to them are left out.
    #[track_caller]
    pub fn top(&self, count: usize) -> Self {
        self.sorted(true, count, Source::here())
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

    fn sorted(&self, descending: bool, keep: usize, at: Source) -> Self {
        self.apply(Op::Sort { descending, keep }, at)
    }

    fn sorted_with<U: Plain>(
        &self,
        along: &Secret<U>,
        descending: bool,
        keep: usize,
        at: Source,
    ) -> (Self, Secret<U>) {
        let op = Op::Sort { descending, keep };
        let mut lists = self.tensor.results(op, &[&along.tensor], 2, at);
        let along = lists.swap_remove(1);
        (Self::of(lists.swap_remove(0)), Secret::of(along))
    }
}

impl<U: Unsigned> Secret<U> {
    /// Entries of a table, public or secret, at these secret places of its first axis: of shape `[places..,
    /// rest of the table's axes..]`. Zeros where there is no such entry.
    #[track_caller]
    pub fn look_up<T: Plain>(&self, table: impl Operand<T>) -> Secret<T> {
        let at = Source::here();
        let table = self.beside(table, at);
        Secret::of(self.tensor.look_up(&table.tensor, at))
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
            let failed = self.tensor.failed(fault, at);
            return (Secret::of(failed.clone()), Secret::of(failed));
        }
        let column = self.tensor.reshaped(&[self.elements(), 1], at);
        let same = Secret::<bool>::of(column.binary(Binary::Equal, &keys.tensor, at));
        let zero: Secret<T> = values.beside(T::decode(0), at);
        let matching = same.choose(values, &zero, at);
        (
            same.apply(Op::Reduce(Reduction::Or, 1), at),
            matching.apply(Op::Reduce(Reduction::Xor, 1), at),
        )
    }
}
