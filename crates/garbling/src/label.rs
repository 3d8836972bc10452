//! Labels: the offset between those of 0 and of 1, encoding, colours.

use madrigal_kernels::{Block, Prg};
use zeroize::{Zeroize, ZeroizeOnDrop};

use crate::error::GarblingError;

/// The garbler's global offset `R`: the labels of a wire are `x` and `x ^ R`. Its lowest bit is one, so
/// that they differ in colour. Secret, and wiped on drop.
pub struct Offset(Block);

impl Offset {
    /// Draws an offset from the caller's private generator.
    pub fn random(random: &mut Prg) -> Self {
        let mut offset = random.next_block();
        offset.0[0] |= 1;
        Self(offset)
    }

    /// Takes an offset that the caller has drawn, uniformly but for the lowest bit; the Delta of an OT
    /// extension, for one.
    ///
    /// # Errors
    /// [`GarblingError::EvenOffset`] if its lowest bit is zero.
    pub fn from_block(offset: Block) -> Result<Self, GarblingError> {
        if offset.bit(0) {
            Ok(Self(offset))
        } else {
            Err(GarblingError::EvenOffset)
        }
    }

    /// A copy that is wiped on its own. There is no `Clone`: copies of secrets should show.
    #[must_use]
    pub fn again(&self) -> Self {
        Self(self.0)
    }

    /// The offset itself.
    pub fn expose(&self) -> Block {
        self.0
    }

    /// The labels of bits, packed as [`colours`] are, given those of 0: what the garbler sends for its own
    /// inputs.
    ///
    /// # Panics
    /// If `out` has another length than `zero`, or `bits` have fewer bits.
    pub fn encode(&self, zero: &[Block], bits: &[u8], out: &mut [Block]) {
        assert_eq!(zero.len(), out.len(), "a label for each of 0");
        for (lane, (out, &zero)) in out.iter_mut().zip(zero).enumerate() {
            let bit = bits[lane / 8] >> (lane % 8) & 1 == 1;
            *out = zero ^ (Block::mask(bit) & self.0);
        }
    }
}

impl Drop for Offset {
    fn drop(&mut self) {
        self.0.zeroize();
    }
}

impl ZeroizeOnDrop for Offset {}

madrigal_core::opaque!(Offset);

/// The colours of labels, packed: that of label `i` is bit `i % 8` of byte `i / 8`. The colours of the garbler's
/// labels of 0 and of the evaluator's add up to the bits of the wire; each alone says nothing. Bits past
/// the end become zero.
///
/// # Panics
/// If `out` has not `labels.len() / 8` bytes, rounded up.
pub fn colours(labels: &[Block], out: &mut [u8]) {
    assert_eq!(out.len(), labels.len().div_ceil(8), "a bit for each label");
    for (labels, out) in labels.chunks(8).zip(out) {
        let bits = labels.iter().enumerate();
        *out = bits.fold(0, |byte, (i, label)| byte | (label.lo() as u8 & 1) << i);
    }
}
