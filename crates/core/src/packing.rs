//! Values of any number of bits, one after the other without padding between them.

use std::fmt;

/// Writes values into bytes, lowest bit first; bits past the last value are zero.
pub struct BitWriter<'a> {
    out: &'a mut [u8],
    at: usize,
    /// The lowest `fill < 64` bits are waiting.
    waiting: u64,
    fill: usize,
}

impl<'a> BitWriter<'a> {
    /// Writes from the start of `out`.
    pub fn new(out: &'a mut [u8]) -> Self {
        Self {
            out,
            at: 0,
            waiting: 0,
            fill: 0,
        }
    }

    /// Writes the lowest `bits <= 64` bits of `value`, whose other bits are zero.
    ///
    /// # Panics
    /// Past the end.
    #[inline(always)]
    pub fn push(&mut self, value: u64, bits: usize) {
        self.waiting |= value << self.fill;
        let end = self.fill + bits;
        if end >= 64 {
            self.out[self.at..self.at + 8].copy_from_slice(&self.waiting.to_le_bytes());
            self.at += 8;
            // In two steps, because a shift by 64 is none.
            self.waiting = (value >> 1) >> (63 - self.fill);
        }
        self.fill = end % 64;
    }

    /// Writes what waits.
    ///
    /// # Panics
    /// Past the end.
    pub fn finish(self) {
        let bytes = self.fill.div_ceil(8);
        self.out[self.at..self.at + bytes].copy_from_slice(&self.waiting.to_le_bytes()[..bytes]);
    }
}

/// Reads what a [`BitWriter`] wrote.
pub struct BitReader<'a> {
    bytes: &'a [u8],
    at: usize,
    /// The lowest `fill < 64` bits are still to be read; those above are zero.
    waiting: u64,
    fill: usize,
}

impl<'a> BitReader<'a> {
    /// Reads from the start of `bytes`.
    pub fn new(bytes: &'a [u8]) -> Self {
        Self {
            bytes,
            at: 0,
            waiting: 0,
            fill: 0,
        }
    }

    /// Reads `1 <= bits <= 64` bits; zeros past the end.
    #[inline(always)]
    pub fn pull(&mut self, bits: usize) -> u64 {
        let mask = u64::MAX >> (64 - bits);
        if bits <= self.fill {
            let value = self.waiting & mask;
            self.waiting >>= bits % 64;
            self.fill -= bits;
            return value;
        }
        let next = self.next_word();
        let value = (self.waiting | next << self.fill) & mask;
        let taken = bits - self.fill;
        self.waiting = (next >> 1) >> (taken - 1);
        self.fill = 64 - taken;
        value
    }

    #[inline(always)]
    fn next_word(&mut self) -> u64 {
        let rest = &self.bytes[self.at.min(self.bytes.len())..];
        self.at += 8;
        if let Some(word) = rest.first_chunk() {
            return u64::from_le_bytes(*word);
        }
        let mut word = [0; 8];
        word[..rest.len()].copy_from_slice(rest);
        u64::from_le_bytes(word)
    }
}

impl fmt::Debug for BitWriter<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "BitWriter(at byte {}, ..)", self.at)
    }
}

impl fmt::Debug for BitReader<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "BitReader(at byte {}, ..)", self.at)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    proptest! {
        #[test]
        fn what_goes_in_comes_out(values in prop::collection::vec((any::<u64>(), 1usize..=64), 0..100)) {
            let bits: usize = values.iter().map(|value| value.1).sum();
            let mut bytes = vec![0xaa; bits.div_ceil(8)];
            let mut writer = BitWriter::new(&mut bytes);
            for &(value, bits) in &values {
                writer.push(value & (u64::MAX >> (64 - bits)), bits);
            }
            writer.finish();
            let mut reader = BitReader::new(&bytes);
            for &(value, bits) in &values {
                prop_assert_eq!(reader.pull(bits), value & (u64::MAX >> (64 - bits)));
            }
            if !bits.is_multiple_of(8) {
                prop_assert_eq!(bytes[bits / 8] >> (bits % 8), 0);
            }
        }
    }
}
