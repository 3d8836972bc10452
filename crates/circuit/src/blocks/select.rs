//! Choices by secret bits.

use super::same_width;
use crate::builder::{Builder, Wire};

impl Builder {
    /// `a` where `condition` is 1, else `b`; width ANDs, all at once.
    pub fn select(&mut self, condition: Wire, a: &[Wire], b: &[Wire]) -> Vec<Wire> {
        same_width(a, b);
        let mut bit = |(&a, &b): (&Wire, &Wire)| {
            let differ = self.xor(a, b);
            let change = self.and(condition, differ);
            self.xor(change, b)
        };
        a.iter().zip(b).map(&mut bit).collect()
    }

    /// `(b, a)` where `condition` is 1, else `(a, b)`; width ANDs, all at once.
    pub fn swap_if(&mut self, condition: Wire, a: &[Wire], b: &[Wire]) -> (Vec<Wire>, Vec<Wire>) {
        let differ = self.xor_all(a, b);
        let change = self.mask(&differ, condition);
        (self.xor_all(a, &change), self.xor_all(b, &change))
    }

    /// Entry `index` of a table of numbers of one width, secret or public; one of the last ones where
    /// there is none. One AND for each bit and entry, less one, in as many layers as the index has bits;
    /// where entries are public, equal ones cost less.
    ///
    /// # Panics
    /// If the table is empty or has more entries than the index can name.
    pub fn look_up(&mut self, table: &[Vec<Wire>], index: &[Wire]) -> Vec<Wire> {
        assert!(
            !table.is_empty() && (index.len() >= 63 || table.len() <= 1 << index.len()),
            "an index of {} bits cannot name {} entries",
            index.len(),
            table.len()
        );
        let mut table = table.to_vec();
        for &bit in index {
            let halved = table.chunks(2).map(|pair| match pair {
                [even, odd] => self.select(bit, odd, even),
                pair => pair.concat(),
            });
            table = halved.collect();
        }
        table.swap_remove(0)
    }

    /// The code with a 1 at place `index` alone, of `count` places; all 0 where there is no such
    /// place. About one AND for each place.
    pub fn one_hot(&mut self, index: &[Wire], count: usize) -> Vec<Wire> {
        let Some((&high, low)) = index.split_last() else {
            return (0..count).map(|place| self.constant(place == 0)).collect();
        };
        let half = 1_usize.checked_shl(low.len() as u32).unwrap_or(usize::MAX);
        let low = self.one_hot(low, count.min(half));
        // The upper half is the AND; the lower one what is left, for nothing, where both are there.
        let upper: Vec<_> = low
            .iter()
            .take(count.saturating_sub(half))
            .map(|&place| self.and(place, high))
            .collect();
        let not_high = self.not(high);
        let mut code = Vec::with_capacity(count);
        for (at, &place) in low.iter().enumerate() {
            code.push(match upper.get(at) {
                Some(&upper) => self.xor(place, upper),
                None => self.and(place, not_high),
            });
        }
        code.extend(upper);
        let zero = self.constant(false);
        code.resize(count, zero);
        code
    }
}
