//! Suppression of small groups: decided on secrets, so that nothing of what is withheld is ever opened.

use madrigal_program::{Program, Secret};

/// Whether numbers of members may be told, place by place: `total` must be `least` or more.
///
/// Where parties hold rows, each can take its own from what is opened. So what is left for it must be `least` or more too, or
/// nothing: `own` has what each party holds of the total, and is empty where parties hold columns.
pub(crate) fn shown(
    p: &mut Program,
    total: &Secret<i64>,
    own: &[Secret<i64>],
    least: u32,
) -> Secret<bool> {
    // One below the total of others is beyond all bounds without a sign if there are none.
    let others = own.iter().map(|own| (total - own - 1).cast::<u64>());
    let all = [total.cast::<u64>()].into_iter().chain(others);
    let all: Vec<Secret<u64>> = match least {
        0 | 1 => all.take(1).collect(),
        _ => all.collect(),
    };
    let mut bounds = vec![u64::from(least) - 1; all.len()];
    bounds[0] += 1;
    let all = p.stack(&all, 0);
    let mut axes = vec![1; all.rank()];
    axes[0] = bounds.len();
    let bounds = p.constant(bounds).reshape(&axes[..]);
    !all.lt(bounds).any(0)
}

/// Bins of a histogram, along the last axis, that may be told: where just one is withheld, so is the smallest of
/// the others, since one number that is missing is the rest of a total that is known.
pub(crate) fn complemented(
    p: &mut Program,
    counts: &Secret<i64>,
    shown: &Secret<bool>,
) -> Secret<bool> {
    let (groups, bins) = (counts.shape().axes()[0], counts.shape().axes()[1]);
    let withheld = !shown;
    let alone = withheld.cast::<i64>().sum(1).eq(1);
    let (_, place) = shown.select(counts, i64::MAX).min_with_place();
    let places = p.constant((0..bins as u32).collect::<Vec<u32>>());
    let smallest = place.reshape([groups, 1]).eq(places);
    shown & !(smallest & alone.reshape([groups, 1]))
}
