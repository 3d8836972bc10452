//! Cuts [`KAPPA`] columns into blocks of k.

use core::ops::Range;

use super::pprf;
use crate::{KAPPA, OtError};

/// The number k of bits of the small field F_{2^k}, 1 to 8: columns per block.
///
/// Where k does not divide 128, there are as many blocks as is nearest to 128 / k, and they are as even
/// as they can be: that is within 2 % of 128 / k bits per OT, and has the fewest leaves.
///
/// | k | blocks = bits per OT | 128 / k | leaves = AES blocks per 128 OTs |
/// |---|---|---|---|
/// | 1 | 128 | 128 | 256 |
/// | 2 | 64 | 64 | 256 |
/// | 3 | 43 | 42.7 | 340 |
/// | 4 | 32 | 32 | 512 |
/// | 5 | 26 | 25.6 | 800 |
/// | 6 | 21 | 21.3 | 1472 |
/// | 7 | 18 | 18.3 | 2560 |
/// | 8 | 16 | 16 | 4096 |
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct FieldBits(u8);

impl FieldBits {
    /// The smallest, which is IKNP.
    pub const MIN: Self = FieldBits(1);
    /// The largest that is of use: 16 bits per OT.
    pub const MAX: Self = FieldBits(8);

    /// The given k.
    ///
    /// # Errors
    /// [`OtError::FieldBits`] unless k is 1 to 8.
    pub const fn new(k: u8) -> Result<Self, OtError> {
        if Self::MIN.0 <= k && k <= Self::MAX.0 {
            Ok(FieldBits(k))
        } else {
            Err(OtError::FieldBits { got: k })
        }
    }

    /// All of them, the smallest first.
    pub fn all() -> impl Iterator<Item = Self> {
        (Self::MIN.0..=Self::MAX.0).map(FieldBits)
    }

    /// The k of this field.
    #[must_use]
    pub const fn get(self) -> u8 {
        self.0
    }

    /// Number of blocks, hence bits that the receiver sends per OT: 128 / k to the nearest.
    #[must_use]
    pub const fn blocks(self) -> usize {
        (KAPPA + self.0 as usize / 2) / self.0 as usize
    }

    /// Number of leaves over all blocks: AES blocks that the receiver spends on 128 OTs. The sender
    /// spends one less for each block.
    #[must_use]
    pub const fn leaves(self) -> usize {
        let (blocks, width) = (self.blocks(), KAPPA / self.blocks());
        (blocks + KAPPA % blocks) << width
    }

    /// Length in bytes of the receiver's message for `m` OTs.
    #[must_use]
    pub const fn message_len(self, m: usize) -> usize {
        m.div_ceil(KAPPA).saturating_mul(16 * self.blocks())
    }

    /// Length in bytes of the receiver's one message at the start.
    #[must_use]
    pub fn setup_len(self) -> usize {
        self.columns().map(|c| pprf::message_len(c.len())).sum()
    }

    /// The columns of each block.
    pub(crate) fn columns(self) -> impl Iterator<Item = Range<usize>> {
        let blocks = self.blocks();
        let (width, wider) = (KAPPA / blocks, KAPPA % blocks);
        let start = move |block: usize| block * width + block.min(wider);
        (0..blocks).map(move |block| start(block)..start(block + 1))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn blocks_cover_the_columns() {
        for k in FieldBits::all() {
            let mut next = 0;
            let mut leaves = 0;
            for columns in k.columns() {
                assert_eq!(columns.start, next);
                let width = columns.len();
                assert!(width.abs_diff(usize::from(k.get())) <= 1 && width <= 8);
                next = columns.end;
                leaves += 1 << width;
            }
            assert_eq!(next, KAPPA);
            assert_eq!(k.columns().count(), k.blocks());
            assert_eq!(leaves, k.leaves());
            let best = KAPPA as f64 / f64::from(k.get());
            assert!((k.blocks() as f64 / best - 1.0).abs() < 0.02, "{k:?}");
        }
        let leaves: Vec<usize> = FieldBits::all().map(FieldBits::leaves).collect();
        assert_eq!(leaves, [256, 256, 340, 512, 800, 1472, 2560, 4096]);
        assert!(FieldBits::new(0).is_err() && FieldBits::new(9).is_err());
    }
}
