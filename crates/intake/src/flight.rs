//! Requests in flight: runs of numbers, each with the size of its answers.

use std::collections::VecDeque;

/// Numbers side by side.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
struct Run {
    first: u64,
    count: u64,
    answer_bytes: u32,
}

/// Runs in the order of their numbers. A client has few: servers answer in the order that they were asked in, as a rule.
#[derive(Debug, Default)]
pub(crate) struct Flight {
    runs: VecDeque<Run>,
    count: u64,
}

impl Flight {
    /// Number of requests in flight.
    pub(crate) const fn count(&self) -> u64 {
        self.count
    }

    /// Adds requests whose numbers are larger than all others.
    pub(crate) fn add(&mut self, first: u64, count: u64, answer_bytes: u32) {
        self.count += count;
        match self.runs.back_mut() {
            Some(run) if run.first + run.count == first && run.answer_bytes == answer_bytes => {
                run.count += count;
            }
            _ => self.runs.push_back(Run {
                first,
                count,
                answer_bytes,
            }),
        }
    }

    /// Removes requests that were answered or, without a size, refused; `false` if one of them is not in flight, or has answers of
    /// another size. Then nothing is removed.
    pub(crate) fn remove(&mut self, first: u64, count: u64, answer_bytes: Option<u32>) -> bool {
        let Some(end) = first.checked_add(count) else {
            return false;
        };
        let at = self
            .runs
            .partition_point(|run| run.first + run.count <= first);
        let mut reached = first;
        let mut to = at;
        while reached < end {
            let fits = |run: &&Run| {
                run.first <= reached && answer_bytes.is_none_or(|bytes| bytes == run.answer_bytes)
            };
            let Some(run) = self.runs.get(to).filter(fits) else {
                return false;
            };
            reached = run.first + run.count;
            to += 1;
        }
        if at == to {
            return count == 0;
        }
        let (head, tail) = (self.runs[at], self.runs[to - 1]);
        let before = Run {
            count: first - head.first,
            ..head
        };
        let after = Run {
            first: end,
            count: reached - end,
            ..tail
        };
        let left = [before, after].into_iter().filter(|run| run.count > 0);
        // Nearly always the front: it is changed in place.
        match (at, to, before.count, after.count) {
            (0, 1, 0, 0) => drop(self.runs.pop_front()),
            (_, _, 0, 1..) if to == at + 1 => self.runs[at] = after,
            _ => {
                let rest = self.runs.split_off(to);
                self.runs.truncate(at);
                self.runs.extend(left);
                self.runs.extend(rest);
            }
        }
        self.count -= count;
        true
    }
}
