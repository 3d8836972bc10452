//! Memory for secrets that begins at a cache line.
//!
//! Large allocations of glibc begin 16 bytes past the start of one. Then every second register of 32 bytes that is read,
//! and every one of 64, lies across two lines, which takes as long as two reads: XORs of labels took 1.4
//! times as long.

use std::fmt;
use std::ops::{Deref, DerefMut};

use crate::wipe::{Plain, Zeroizing};

/// Bytes of a cache line.
const LINE: usize = 64;

/// Values of a type, the first at the start of a cache line. They are wiped on drop, and `Debug` does not show them.
pub struct Aligned<T: Plain> {
    memory: Zeroizing<Vec<T>>,
    start: usize,
    len: usize,
}

impl<T: Plain> Aligned<T> {
    /// Makes `len` zeros.
    pub fn zeros(len: usize) -> Self {
        if len == 0 {
            return Self::default();
        }
        let spare = LINE.div_ceil(size_of::<T>().max(1));
        let memory = Zeroizing::<Vec<T>>::zeros(len + spare);
        // Where there is no such place within reach, any will do.
        let start = memory.as_ptr().align_offset(LINE);
        let start = if start <= spare { start } else { 0 };
        Self { memory, start, len }
    }

    /// Another length. The content may be anything that was there before, or zeros; if there is no room for it,
    /// what was there is wiped.
    pub fn resize(&mut self, len: usize) {
        if len > self.memory.len() - self.start {
            *self = Self::zeros(len);
        }
        self.len = len;
    }
}

impl<T: Plain> Default for Aligned<T> {
    fn default() -> Self {
        Self {
            memory: Zeroizing::new(Vec::new()),
            start: 0,
            len: 0,
        }
    }
}

impl<T: Plain> From<&[T]> for Aligned<T> {
    fn from(values: &[T]) -> Self {
        let mut copy = Self::zeros(values.len());
        copy.copy_from_slice(values);
        copy
    }
}

impl<T: Plain> Clone for Aligned<T> {
    fn clone(&self) -> Self {
        Self::from(&**self)
    }
}

impl<T: Plain> Deref for Aligned<T> {
    type Target = [T];

    #[inline(always)]
    fn deref(&self) -> &[T] {
        &self.memory[self.start..][..self.len]
    }
}

impl<T: Plain> DerefMut for Aligned<T> {
    #[inline(always)]
    fn deref_mut(&mut self) -> &mut [T] {
        &mut self.memory[self.start..][..self.len]
    }
}

/// Shows how many there are.
impl<T: Plain> fmt::Debug for Aligned<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Aligned({})", self.len)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn values_begin_at_a_line() {
        for len in [1, 3, 64, 1000, 100_000] {
            let words = Aligned::<u64>::zeros(len);
            assert_eq!(words.as_ptr() as usize % LINE, 0, "{len} words");
            assert_eq!(*words, vec![0; len]);
            let bytes = Aligned::from(&vec![7u8; len][..]);
            assert_eq!(bytes.as_ptr() as usize % LINE, 0, "{len} bytes");
            let copy = bytes.clone();
            assert_eq!(copy.as_ptr() as usize % LINE, 0, "a copy of {len} bytes");
            assert_eq!(*copy, vec![7; len]);
        }
    }

    #[test]
    fn lengths_change_without_moving_where_there_is_room() {
        let mut words = Aligned::from(&[1u64, 2, 3, 4][..]);
        let before = words.as_ptr();
        words.resize(2);
        assert_eq!(*words, [1, 2]);
        words.resize(4);
        assert_eq!((words.as_ptr(), words.len()), (before, 4));
        words.resize(1000);
        assert_eq!(*words, [0; 1000]);
        words.resize(0);
        assert!(words.is_empty() && Aligned::<u8>::default().is_empty());
        let held = Aligned::from(&[77u8][..]);
        assert_eq!(format!("{held:?}"), "Aligned(1)");
    }
}
