//! Numbers at random, from a seed that a failed test shows.

/// A generator whose seed is printed.
pub(crate) struct Random(u64);

impl Random {
    pub(crate) fn fresh() -> Self {
        Self::new(madrigal_testkit::seed())
    }

    pub(crate) fn new(seed: u64) -> Self {
        Self(seed)
    }

    /// 64 bits (Steele, Lea and Flood, "Fast splittable pseudorandom number generators", 2014).
    pub(crate) fn half(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let z = (self.0 ^ self.0 >> 30).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        let z = (z ^ z >> 27).wrapping_mul(0x94d0_49bb_1331_11eb);
        z ^ z >> 31
    }

    pub(crate) fn word(&mut self) -> u128 {
        u128::from(self.half()) << 64 | u128::from(self.half())
    }
}
