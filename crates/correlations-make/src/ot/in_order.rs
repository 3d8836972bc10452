//! Triples that are handed out as they are made: in one order at all parties, whichever of a source's lines
//! is ahead.

use std::collections::VecDeque;
use std::sync::{Mutex, PoisonError};

use madrigal_correlations::{BitTriples, Hand};

use crate::ot::bits::PART;

/// Puts the parts that several lines make in order: their parts in turn, each line's last one at the end, since
/// it alone may be of another length.
pub(crate) struct InOrder {
    state: Mutex<State>,
    hand: Hand,
}

struct State {
    /// The line of each part that has not been handed out.
    order: std::vec::IntoIter<usize>,
    /// By line, what has come too early.
    early: Vec<VecDeque<BitTriples>>,
}

impl InOrder {
    /// Puts the parts of lines that make `portions` triples each in order.
    pub(crate) fn new(portions: &[usize], hand: Hand) -> Self {
        let whole = portions
            .iter()
            .map(|count| count.div_ceil(PART).saturating_sub(1));
        let whole: Vec<usize> = whole.collect();
        let most = whole.iter().copied().max().unwrap_or(0);
        let lines = 0..portions.len();
        let in_turn = (0..most).flat_map(|part| lines.clone().map(move |line| (part, line)));
        let mut order: Vec<usize> = in_turn
            .filter(|&(part, line)| part < whole[line])
            .map(|(_, line)| line)
            .collect();
        order.extend(lines.filter(|&line| portions[line] > 0));
        Self {
            state: Mutex::new(State {
                order: order.into_iter(),
                early: portions.iter().map(|_| VecDeque::new()).collect(),
            }),
            hand,
        }
    }

    /// Takes the next part of a line. Handed out while no other thread can: the order is what counts.
    pub(crate) fn put(&self, line: usize, part: BitTriples) {
        let mut state = self.state.lock().unwrap_or_else(PoisonError::into_inner);
        let State { order, early } = &mut *state;
        early[line].push_back(part);
        while let Some(part) = order
            .as_slice()
            .first()
            .and_then(|&next| early[next].pop_front())
        {
            order.next();
            (self.hand)(part);
        }
    }
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use madrigal_core::{Zeroizing, bits};
    use madrigal_correlations::Scratch;

    use super::*;

    /// Triples whose first byte tells them apart.
    fn part(count: usize, mark: u8) -> BitTriples {
        let string = || Zeroizing::new(vec![mark; bits::bytes_for(count)]);
        BitTriples::new(string(), string(), string(), count)
    }

    #[test]
    fn whichever_line_is_ahead_the_order_is_the_same() {
        // Three parts, two and one; those of line 0 are marked 1, 2, 3, those of line 1 11, 12.
        let portions = [2 * PART + 8, PART + 16, 3];
        let parts = |line: usize| match line {
            0 => vec![part(PART, 1), part(PART, 2), part(8, 3)],
            1 => vec![part(PART, 11), part(16, 12)],
            _ => vec![part(3, 21)],
        };
        let turns: [&[usize]; 4] = [
            &[0, 0, 0, 1, 1, 2],
            &[2, 1, 1, 0, 0, 0],
            &[1, 0, 2, 0, 1, 0],
            &[0, 1, 0, 1, 0, 2],
        ];
        for turns in turns {
            let got = Arc::new(Mutex::new(Vec::new()));
            let keep = Arc::clone(&got);
            let hand = Arc::new(move |mut part: BitTriples| {
                let count = part.len();
                let mut scratch = Scratch::default();
                let mark = part.take(count, &mut scratch).expect("it is there").a[0];
                keep.lock().expect("no test panics").push((mark, count));
            });
            let order = InOrder::new(&portions, hand);
            let mut lines: Vec<_> = (0..3).map(|line| parts(line).into_iter()).collect();
            for &line in turns {
                order.put(line, lines[line].next().expect("a line has so many parts"));
            }
            let got = got.lock().expect("no test panics");
            let wanted = [(1, PART), (11, PART), (2, PART), (3, 8), (12, 16), (21, 3)];
            assert_eq!(got[..], wanted, "{turns:?}");
        }
    }
}
