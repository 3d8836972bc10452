//! Shifts by secret amounts, and counts of bits.

use crate::builder::{Builder, Wire};

/// Directions in which bits move, and the bits that move in.
#[derive(Clone, Copy)]
enum Move {
    /// Towards the highest bit; zeros come in.
    Left,
    /// Towards the lowest bit; this comes in.
    Right(Wire),
}

impl Builder {
    /// `a << amount`, with zeros coming in, all zeros from `amount` = width on. One layer of at most
    /// width ANDs for each bit of the amount that can leave anything.
    pub fn shift_left(&mut self, a: &[Wire], amount: &[Wire]) -> Vec<Wire> {
        self.shift(a, amount, Move::Left)
    }

    /// `a >> amount` of an unsigned number; as [`Builder::shift_left`].
    pub fn shift_right(&mut self, a: &[Wire], amount: &[Wire]) -> Vec<Wire> {
        let zero = self.constant(false);
        self.shift(a, amount, Move::Right(zero))
    }

    /// `a >> amount` of a signed number: copies of the sign come in.
    pub fn shift_right_signed(&mut self, a: &[Wire], amount: &[Wire]) -> Vec<Wire> {
        let zero = self.constant(false);
        let sign = a.last().copied().unwrap_or(zero);
        self.shift(a, amount, Move::Right(sign))
    }

    /// `a` rotated towards its highest bit by `amount` modulo its width. Where the width is no power of
    /// two all bits of the amount count all the same.
    pub fn rotate_left(&mut self, a: &[Wire], amount: &[Wire]) -> Vec<Wire> {
        let mut a = a.to_vec();
        let width = a.len().max(1);
        let mut step = 1 % width;
        for &bit in amount {
            if step == 0 {
                break; // and so are all further ones
            }
            let mut moved = a.clone();
            moved.rotate_right(step);
            a = self.select(bit, &moved, &a);
            step = 2 * step % width;
        }
        a
    }

    /// `a >> amount` of an unsigned number, and whether any 1 was shifted out.
    pub(super) fn shift_right_sticky(&mut self, a: &[Wire], amount: &[Wire]) -> (Vec<Wire>, Wire) {
        let zero = self.constant(false);
        let mut a = a.to_vec();
        let (low, high) = amount.split_at(shift_bits(a.len()).min(amount.len()));
        let mut lost = Vec::new();
        let gone = self.any(high);
        let steps = low.iter().enumerate().map(|(at, &bit)| (1 << at, bit));
        for (step, bit) in steps.chain([(a.len(), gone)]) {
            let out = self.any(&a[..step.min(a.len())]);
            lost.push(self.and(out, bit));
            a = self.shifted(&a, step, bit, Move::Right(zero));
        }
        (a, self.any(&lost))
    }

    /// Counts the bits that are 1, as a number of as few bits as can say it: one AND for each full or half
    /// adder, about as many as there are bits.
    pub fn count_ones(&mut self, a: &[Wire]) -> Vec<Wire> {
        let width = (usize::BITS - a.len().leading_zeros()) as usize;
        let mut columns = vec![Vec::new(); width];
        if let Some(first) = columns.first_mut() {
            first.extend_from_slice(a);
        }
        self.add_columns(columns)
    }

    /// Counts the highest bits that are 0, as a number of as few bits as can say it: by halves, for
    /// about two ANDs a bit at depth log2(width).
    pub fn leading_zeros(&mut self, a: &[Wire]) -> Vec<Wire> {
        // Ones below make it a power of two, and stop the count.
        let one = self.constant(true);
        let full = (a.len() + 1).next_power_of_two();
        let mut bits = vec![one; full - a.len()];
        bits.extend(a);
        let mut count = self.count_leading(&bits);
        count.pop();
        count
    }

    /// The count for a power of two of bits, whose highest bit says that all are 0.
    fn count_leading(&mut self, a: &[Wire]) -> Vec<Wire> {
        let [low, high] = match a {
            [bit] => return vec![self.not(*bit)],
            _ => <[&[Wire]; 2]>::from(a.split_at(a.len() / 2)),
        };
        let (mut low, mut high) = (self.count_leading(low), self.count_leading(high));
        let (Some(low_all), Some(high_all)) = (low.pop(), high.pop()) else {
            unreachable!("a count has a bit at least")
        };
        let mut count = self.select(high_all, &low, &high);
        let all = self.and(high_all, low_all);
        count.push(self.xor(high_all, all));
        count.push(all);
        count
    }

    fn shift(&mut self, a: &[Wire], amount: &[Wire], to: Move) -> Vec<Wire> {
        let mut a = a.to_vec();
        let (low, high) = amount.split_at(shift_bits(a.len()).min(amount.len()));
        for (at, &bit) in low.iter().enumerate() {
            a = self.shifted(&a, 1 << at, bit, to);
        }
        let gone = self.any(high);
        self.shifted(&a, usize::MAX, gone, to)
    }

    /// `a` moved by `step` places where `bit` is 1.
    fn shifted(&mut self, a: &[Wire], step: usize, bit: Wire, to: Move) -> Vec<Wire> {
        let (fill, step) = match to {
            Move::Left => (self.constant(false), step.min(a.len())),
            Move::Right(fill) => (fill, step.min(a.len())),
        };
        let fill = std::iter::repeat_n(fill, step);
        let moved: Vec<Wire> = match to {
            Move::Left => fill.chain(a[..a.len() - step].iter().copied()).collect(),
            Move::Right(_) => a[step..].iter().copied().chain(fill).collect(),
        };
        self.select(bit, &moved, a)
    }
}

/// Bits of an amount that leave anything of a number of this many bits.
fn shift_bits(width: usize) -> usize {
    (usize::BITS - width.saturating_sub(1).leading_zeros()) as usize
}
