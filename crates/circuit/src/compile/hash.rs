//! Hashes of pairs of node numbers, in less time than the standard library's of any bytes.

use std::hash::{BuildHasher, Hasher, RandomState};

/// Multiplies and folds, from a random start: who makes a netlist does not know which of its gates collide.
#[derive(Debug, Clone)]
pub(crate) struct Folding {
    start: u64,
}

impl Default for Folding {
    fn default() -> Self {
        Self {
            start: RandomState::new().hash_one(0),
        }
    }
}

impl BuildHasher for Folding {
    type Hasher = Folded;

    fn build_hasher(&self) -> Folded {
        Folded(self.start)
    }
}

#[derive(Debug)]
pub(crate) struct Folded(u64);

impl Folded {
    fn fold(&mut self, word: u64) {
        // An odd number without a pattern: the fraction of the golden ratio.
        let product = u128::from(self.0 ^ word) * 0x9e37_79b9_7f4a_7c15;
        self.0 = product as u64 ^ (product >> 64) as u64;
    }
}

impl Hasher for Folded {
    fn write(&mut self, bytes: &[u8]) {
        for chunk in bytes.chunks(8) {
            let mut word = [0; 8];
            word[..chunk.len()].copy_from_slice(chunk);
            self.fold(u64::from_le_bytes(word));
        }
    }

    fn write_u32(&mut self, word: u32) {
        self.fold(word.into());
    }

    fn write_u64(&mut self, word: u64) {
        self.fold(word);
    }

    fn write_usize(&mut self, word: usize) {
        self.fold(word as u64);
    }

    fn finish(&self) -> u64 {
        self.0
    }
}
