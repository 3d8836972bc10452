//! Whether threads have the cores of this machine to themselves. Two threads may run on one core though
//! the system calls it two, a virtual machine's host runs others' threads there as well, and neither is
//! seen but in what a thread gets done.

use std::hint::{black_box, spin_loop};
use std::sync::atomic::{AtomicUsize, Ordering};
use std::thread;
use std::time::Instant;

use super::{SLICE, rate, slice};

/// Rounds of additions in a call: some microseconds.
const ROUNDS: usize = 1 << 11;

/// Work that one thread gets done alone, for others to be held against.
#[derive(Clone, Copy, Debug)]
pub struct Cores {
    threads: usize,
    alone: f64,
}

impl Cores {
    /// Measures one thread for 50 ms: the best millisecond of them. Later, [`Cores::free`] is about so
    /// many `threads` at once, one at least.
    #[must_use]
    pub fn new(threads: usize) -> Self {
        Self {
            threads: threads.max(1),
            alone: rate(ROUNDS, &mut additions),
        }
    }

    /// Measures the work of the slowest of all threads while all are at work, as a share of the work that one did alone:
    /// about 1 where each has a core to itself, a half where two share one. Takes about a millisecond.
    ///
    /// The work is additions, of which a core does several in a cycle, and which share nothing but the
    /// core; so this tells nothing of caches and memory.
    #[must_use]
    pub fn free(&self) -> f64 {
        let waiting = AtomicUsize::new(self.threads);
        let one = || {
            waiting.fetch_sub(1, Ordering::AcqRel);
            let start = Instant::now();
            // A thread that never comes must not keep the others.
            while waiting.load(Ordering::Acquire) > 0 && start.elapsed() < SLICE {
                spin_loop();
            }
            slice(ROUNDS, &mut additions)
        };
        let slowest = thread::scope(|scope| {
            let others: Vec<_> = (1..self.threads).map(|_| scope.spawn(one)).collect();
            let rates = others.into_iter().map(|other| other.join().unwrap_or(0.0));
            rates.fold(one(), f64::min)
        });
        slowest / self.alone
    }
}

/// Additions and rotations in eight chains, more than a core has units for.
fn additions() {
    let mut chains = black_box([1_u64, 2, 3, 4, 5, 6, 7, 8]);
    for _ in 0..ROUNDS {
        for chain in &mut chains {
            *chain = chain.wrapping_add(chain.rotate_left(9));
        }
    }
    black_box(chains);
}
