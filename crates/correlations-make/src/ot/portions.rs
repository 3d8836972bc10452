//! How the items of a call are shared out among the threads of a source.

use std::ops::Range;

use madrigal_core::PhaseCost;

use crate::ot::extension::Extension;

/// A call's portions are multiples of this many OTs, but for the last one: about a millisecond's work with
/// SoftSpoken, and what makes up for the start of silent OT. Beside it, starting a thread costs nothing.
fn unit(extension: Extension) -> usize {
    match extension {
        Extension::SoftSpoken(_) => 1 << 16,
        Extension::Silent => 1 << 21,
    }
}

/// How `count` items, each of several OTs, are shared out among `lines`: all portions but the last are
/// of equal length and whole bytes, and there are no more than are worth a thread. One at least.
pub(crate) fn portions(
    extension: Extension,
    count: usize,
    ots: usize,
    lines: usize,
) -> impl ExactSizeIterator<Item = usize> + Clone {
    let unit = (unit(extension) / ots.max(1)).next_multiple_of(8).max(8);
    let each = match lines {
        1 => count.max(1),
        _ => count.max(1).div_ceil(lines).next_multiple_of(unit),
    };
    (0..count.div_ceil(each).max(1)).map(move |portion| each.min(count - portion * each))
}

/// The numbers of the items of each portion.
pub(crate) fn ranges(
    extension: Extension,
    count: usize,
    ots: usize,
    lines: usize,
) -> impl Iterator<Item = Range<usize>> {
    portions(extension, count, ots, lines).scan(0, |start, len| {
        let portion = *start..*start + len;
        *start = portion.end;
        Some(portion)
    })
}

/// The cost of what runs side by side.
pub(crate) fn beside(costs: impl Iterator<Item = PhaseCost>) -> PhaseCost {
    costs.fold(PhaseCost::default(), |total, cost| PhaseCost {
        rounds: total.rounds.max(cost.rounds),
        ..total + cost
    })
}
