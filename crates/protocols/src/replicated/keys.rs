//! Keys of rows, and rows in their order.

use std::fmt;
use std::ops::Range;

use madrigal_core::{Party, Zeroizing, bits};

use super::compare::rows_of;
use super::{BitShares, Column, RingShares};
use crate::sorting::index_bits;

/// Bits of a limb of a key.
pub(super) const LIMB: usize = u64::BITS as usize;

/// One party's shares of keys: unsigned numbers of `bits` bits in limbs of 64, the lowest first. Each limb's components give it by
/// XOR, and bits beyond the highest one are zero. Wiped when dropped.
#[derive(Clone)]
pub struct Keys {
    pub(super) limbs: Vec<RingShares<u64>>,
    pub(super) bits: usize,
}

impl fmt::Debug for Keys {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Keys({} of {} bits)", self.rows(), self.bits)
    }
}

/// Rows in the order of their keys.
#[derive(Debug)]
pub struct Sorted {
    /// Keys in order.
    pub keys: Keys,
    /// Columns in the order of the keys.
    pub columns: Vec<Column>,
}

impl Keys {
    /// Keys of `rows` rows without any bit.
    pub fn none(rows: usize) -> Self {
        Self {
            limbs: vec![RingShares::zeros(rows)],
            bits: 0,
        }
    }

    /// Number of rows.
    pub fn rows(&self) -> usize {
        self.limbs[0].len()
    }

    /// Bits of a key.
    pub fn bits(&self) -> usize {
        self.bits
    }

    /// Puts rows of bits on top, the lowest first.
    ///
    /// # Panics
    /// If they are not for as many rows.
    pub fn push(&mut self, planes: &BitShares) {
        assert_eq!(planes.count(), self.rows(), "bits for each row");
        let mut words = Zeroizing::zeros(self.rows());
        let mut done = 0;
        while done < planes.rows() {
            // Bits of one limb.
            let at = self.bits % LIMB;
            let now = (LIMB - at).min(planes.rows() - done);
            if self.bits / LIMB == self.limbs.len() {
                self.limbs.push(RingShares::zeros(self.rows()));
            }
            let limb = &mut self.limbs[self.bits / LIMB];
            for (part, from) in limb.components.iter_mut().zip(planes.components()) {
                let stride = bits::bytes_for(planes.count());
                crate::planes::join::<u64>(
                    &from[done * stride..][..now * stride],
                    stride,
                    &mut words,
                );
                for (to, word) in part.iter_mut().zip(&*words) {
                    *to |= word << at;
                }
            }
            self.bits += now;
            done += now;
        }
    }

    /// Rows of the bits `range`, the lowest first.
    ///
    /// # Panics
    /// If there are fewer.
    pub fn planes(&self, range: Range<usize>) -> BitShares {
        assert!(range.end <= self.bits, "bits of a key");
        let mut planes = BitShares::zeros(range.len(), self.rows());
        let stride = bits::bytes_for(self.rows());
        for part in 0..2 {
            let mut done = 0;
            while done < range.len() {
                let (limb, at) = ((range.start + done) / LIMB, (range.start + done) % LIMB);
                let now = (LIMB - at).min(range.len() - done);
                let words = self.limbs[limb].components[part].iter();
                let words: Zeroizing<Vec<u64>> =
                    words.map(|word| word >> at).collect::<Vec<_>>().into();
                let to = &mut planes.components[part][done * stride..][..now * stride];
                crate::planes::split::<u64>(&words, to, stride);
                done += now;
            }
        }
        planes
    }

    /// Has each key end with the number of its row, and gives the new keys.
    pub(super) fn numbered(&self, me: Party) -> Self {
        let rows = self.rows();
        let mut numbers = BitShares::zeros(index_bits(rows), rows);
        let all: Vec<u32> = (0..rows as u32).collect();
        for (part, leads) in numbers.components.iter_mut().zip(super::leads(me)) {
            if leads {
                *part = rows_of(&all, index_bits(rows));
            }
        }
        let mut keys = Self::none(rows);
        keys.push(&numbers);
        let mut done = 0;
        // A few bits at a time, so that not all of them lie in memory once more.
        while done < self.bits {
            let now = (self.bits - done).min(LIMB);
            keys.push(&self.planes(done..done + now));
            done += now;
        }
        keys
    }

    /// Writes the rows of bits of some rows' keys, one component of which `words` reads limb by limb.
    pub(super) fn rows_into<'a>(
        &'a self,
        component: usize,
        words: impl Fn(&'a [u64], &mut [u64]),
        here: &mut [u64],
        planes: &mut [u8],
    ) {
        let stride = bits::bytes_for(here.len());
        let limbs = planes.chunks_mut((LIMB * stride).max(1));
        for (limb, planes) in self.limbs.iter().zip(limbs) {
            words(&limb.components[component], here);
            crate::planes::split::<u64>(here, planes, stride);
        }
    }
}
