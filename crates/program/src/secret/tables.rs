//! Sorting, and looking things up.

use super::{Operand, Secret};
use crate::element::{Bits, Number, Plain, Unsigned};
use crate::error::{Fault, Source};
use crate::ir::Op;

impl<T: Number> Secret<T> {
    /// The numbers along the last axis, the smallest first: by a sorting network, or in R, where there is one list, as
    /// [`Tensor::sort_by`](crate::Tensor::sort_by) does.
    #[track_caller]
    pub fn sort(&self) -> Self {
        self.apply(self.sorting(false, None))
    }

    /// The `count` greatest numbers along the last axis, the greatest first. Comparisons that cannot
    /// matter to them are left out.
    #[track_caller]
    pub fn top(&self, count: usize) -> Self {
        self.apply(self.sorting(true, Some(count)))
    }

    /// The numbers along the last axis, the smallest first, and another tensor of the same shape whose
    /// elements go where the numbers go. Which of equal numbers comes first is fixed, but not by their
    /// order.
    #[track_caller]
    pub fn sort_with<U: Plain>(&self, along: &Secret<U>) -> (Self, Secret<U>) {
        self.sorted_with(along, self.sorting(false, None), Source::here())
    }

    /// Gives what [`Secret::top`] does, with the elements of another tensor that go where the numbers go.
    #[track_caller]
    pub fn top_with<U: Plain>(&self, count: usize, along: &Secret<U>) -> (Self, Secret<U>) {
        self.sorted_with(along, self.sorting(true, Some(count)), Source::here())
    }

    /// The operation that keeps `keep` numbers, or all.
    fn sorting(&self, descending: bool, keep: Option<usize>) -> Op {
        let all = self.shape().axes().last().copied().unwrap_or(0);
        let keep = keep.unwrap_or(all);
        Op::Sort { descending, keep }
    }

    fn sorted_with<U: Plain>(&self, along: &Secret<U>, op: Op, at: Source) -> (Self, Secret<U>) {
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
        let same = self.reshape([self.elements(), 1]).eq(keys);
        let zero: Secret<T> = values.beside(T::decode(0), at);
        let matching = same.choose(values, &zero, at);
        (same.any(1), matching.parity(1))
    }
}
