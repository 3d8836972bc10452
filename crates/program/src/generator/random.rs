//! Numbers at random, from a seed.

/// A generator (Steele, Lea and Flood, "Fast splittable pseudorandom number generators", 2014).
pub(super) struct Random(pub(super) u64);

impl Random {
    pub(super) fn half(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let z = (self.0 ^ self.0 >> 30).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        let z = (z ^ z >> 27).wrapping_mul(0x94d0_49bb_1331_11eb);
        z ^ z >> 31
    }

    pub(super) fn word(&mut self) -> u128 {
        u128::from(self.half()) << 64 | u128::from(self.half())
    }

    pub(super) fn below(&mut self, bound: usize) -> usize {
        (self.half() % bound as u64) as usize
    }

    pub(super) fn yes(&mut self) -> bool {
        self.below(2) == 0
    }

    pub(super) fn one_of<T: Copy>(&mut self, all: &[T]) -> T {
        all[self.below(all.len())]
    }
}
