//! Quantiles without sorting: the bits of the answer are found one after the other.
//!
//! Candidates whose next bit is 0 are counted. If these, with those that are below already, are a part of the
//! group that is large enough, the answer is among them and its bit is 0; else it is among the others. For each bit of the
//! column's range that takes, of each row, group and quantile, two ANDs and a conversion of one bit, and for each group and
//! quantile a comparison; a network that sorts takes a comparison of whole values, and an exchange, for each of some
//! log^2 n / 4 places of each row, and one network for each group.

use madrigal_program::{Program, Secret};

use crate::question::Fraction;

/// The least value that `at` of the members of each group are not above, less the least of the range: `[group, at]`; 0 where
/// a group has no member.
///
/// `bits` are those of the values, the highest first: `[bit, row]`; `members` says which rows count in which group, `[group,
/// row]`, and `count` how many these are, `[group]`.
pub(crate) fn quantiles(
    p: &mut Program,
    bits: &Secret<bool>,
    members: &Secret<bool>,
    count: &Secret<i64>,
    at: &[Fraction],
) -> Secret<i64> {
    let (groups, rows) = (members.shape().axes()[0], members.shape().axes()[1]);
    let rank = [groups, at.len()];
    let parts: Vec<i64> = at.iter().map(|one| one.parts.into()).collect();
    // At least one member is to be there, also for the least value of all.
    let one: Vec<i64> = at.iter().map(|one| (one.parts == 0).into()).collect();
    let of: Vec<i64> = at.iter().map(|one| one.of.into()).collect();
    let wanted = count.expand(1) * parts + one;
    let candidates = members.expand(1).broadcast_to([groups, at.len(), rows]);
    let zeros = || vec![0_i64; groups * at.len()];
    let (below, found) = (p.constant((rank, zeros())), p.constant((rank, zeros())));
    let state = (candidates, below, found);
    let count = bits.shape().axes()[0];
    let step = |p: &mut Program, index: &madrigal_program::Index, state| {
        let (candidates, below, found): (Secret<bool>, Secret<i64>, Secret<i64>) = state;
        let zero = &candidates & !bits.row(index);
        let with = &below + zero.cast::<i64>().sum(2);
        let of = p.constant(of);
        let lower = (&with * of).ge(&wanted);
        // Those with bit 0 if the answer is among them, else those with bit 1.
        let kept = &candidates ^ &zero ^ (lower.expand(2) & &candidates);
        let found = found.times(2) + (!&lower).cast::<i64>();
        (kept, lower.select(below, with), found)
    };
    p.repeat(count, state, step).2
}
