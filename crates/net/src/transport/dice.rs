//! Repeatable choices for shaping and faults. Nothing secret comes from here.

use std::time::Duration;

use madrigal_kernels::{Block, Prg, meter::unmetered};

/// A stream of choices that its seed fixes. Its AES blocks are no protocol's.
#[derive(Debug)]
pub(super) struct Dice(Prg);

impl Dice {
    /// The stream `stream` of `seed`: streams of one seed are independent of each other.
    pub(super) fn new(seed: u64, stream: u64) -> Self {
        // Number 0: the seed is a test's.
        Self(Prg::new(Block::new(seed, stream)))
    }

    pub(super) fn next(&mut self) -> u64 {
        unmetered(|| self.0.next_block().lo())
    }

    /// A number below `end`, which must not be 0. The bias of the remainder does not matter here.
    pub(super) fn below(&mut self, end: usize) -> usize {
        (self.next() % end as u64) as usize
    }

    /// A time from nothing to `most`.
    pub(super) fn within(&mut self, most: Duration) -> Duration {
        most.mul_f64((self.next() >> 11) as f64 / (1u64 << 53) as f64)
    }

    pub(super) fn fill(&mut self, bytes: &mut [u8]) {
        unmetered(|| self.0.fill(bytes));
    }
}
