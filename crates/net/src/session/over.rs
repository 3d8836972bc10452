//! The numbers of jobs that are over, as ranges: a session that stays has jobs without end, and most of their numbers follow
//! each other.

use std::collections::BTreeMap;

/// A set of numbers.
#[derive(Debug, Default)]
pub(super) struct Over {
    /// Ranges by their first numbers, with their last ones. No two touch.
    ranges: BTreeMap<u32, u32>,
}

impl Over {
    pub(super) fn contains(&self, number: u32) -> bool {
        let before = self.ranges.range(..=number).next_back();
        before.is_some_and(|(_, &last)| number <= last)
    }

    pub(super) fn insert(&mut self, number: u32) {
        if self.contains(number) {
            return;
        }
        let (mut first, mut last) = (number, number);
        let before = self.ranges.range(..number).next_back();
        if let Some((&start, _)) = before.filter(|&(_, &end)| end + 1 == number) {
            first = start;
        }
        if let Some(after) = number.checked_add(1)
            && let Some(end) = self.ranges.remove(&after)
        {
            last = end;
        }
        self.ranges.insert(first, last);
    }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use super::*;

    #[test]
    fn holds_what_a_set_holds_in_few_ranges() {
        let mut over = Over::default();
        let mut plain = BTreeSet::new();
        let ends = [0, u32::MAX, u32::MAX - 1, 1];
        // Odd multiples visit all numbers of a power of two, each once.
        let all = ends
            .into_iter()
            .chain((0..1024).map(|i| i * 387 % 1024 + 2));
        for number in all {
            over.insert(number);
            over.insert(number);
            plain.insert(number);
            let near = (0..1030).chain(u32::MAX - 3..=u32::MAX);
            for number in near {
                assert_eq!(over.contains(number), plain.contains(&number), "{number}");
            }
        }
        assert_eq!(over.ranges.len(), 2);
    }
}
