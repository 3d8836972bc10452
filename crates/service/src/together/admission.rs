//! Memory for jobs: the leader lets a batch begin if its plan's memory is free at all servers, and else has it wait its turn.

use std::cell::{Cell, RefCell};
use std::collections::VecDeque;

/// Memory that jobs of all kinds may take together, as the leader sees it.
#[derive(Debug, Default)]
pub(crate) struct Admission {
    /// The least that any server allows.
    cap: Cell<u64>,
    used: Cell<u64>,
    /// Kinds that were turned away, in order.
    queue: RefCell<VecDeque<String>>,
}

impl Admission {
    /// Sets the memory that the servers allow.
    pub(crate) fn allow(&self, cap: u64) {
        self.cap.set(cap);
    }

    /// Takes memory for a kind, if it is the kind's turn and there is as much. A kind that takes more than all may take together
    /// goes alone: its own server has accepted it.
    pub(crate) fn admit(&self, kind: &str, memory: u64) -> bool {
        let mut queue = self.queue.borrow_mut();
        let free = self.cap.get().saturating_sub(self.used.get());
        let fits = memory <= free || self.used.get() == 0;
        let turn = queue.front().is_none_or(|first| first == kind);
        if turn && fits {
            if !queue.is_empty() {
                queue.pop_front();
            }
            self.used.set(self.used.get() + memory);
            return true;
        }
        if queue.iter().all(|waiting| waiting != kind) {
            queue.push_back(kind.to_owned());
        }
        false
    }

    /// Takes memory for a batch that was begun already.
    pub(crate) fn admit_again(&self, memory: u64) {
        self.used.set(self.used.get() + memory);
    }

    /// Takes a kind out of the queue that no longer wants a batch.
    pub(crate) fn withdraw(&self, kind: &str) {
        self.queue.borrow_mut().retain(|waiting| waiting != kind);
    }

    /// Gives memory back.
    pub(crate) fn release(&self, memory: u64) {
        self.used.set(self.used.get().saturating_sub(memory));
    }

    /// Memory that is taken.
    pub(crate) fn used(&self) -> u64 {
        self.used.get()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn whoever_was_turned_away_is_next() {
        let all = Admission::default();
        all.allow(100);
        assert!(all.admit("a", 60));
        assert!(!all.admit("large", 80));
        // There is room, and another kind is before it.
        assert!(!all.admit("small", 10));
        all.release(60);
        assert!(!all.admit("small", 10));
        assert!(all.admit("large", 80));
        assert!(all.admit("small", 10));
        assert_eq!(all.used(), 90);
    }

    #[test]
    fn a_job_above_the_limit_goes_alone() {
        let all = Admission::default();
        all.allow(100);
        assert!(all.admit("huge", 200));
        assert!(!all.admit("a", 1));
        all.release(200);
        assert!(all.admit("a", 1));
        assert!(!all.admit("huge", 200));
        all.withdraw("huge");
        assert!(all.admit("b", 1));
    }
}
