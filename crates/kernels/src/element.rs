//! Elements of 64 or 128 bits, for kernels that take either.

use core::ops::{BitXor, BitXorAssign};

use crate::Block;
use crate::block::{blocks_as_bytes_mut, words_as_bytes_mut};

/// A word or a block: an element of [GF(2^64) or GF(2^128)](crate::field), which are added by XOR.
pub trait Element:
    Copy
    + Default
    + Eq
    + BitXor<Output = Self>
    + BitXorAssign
    + madrigal_core::Plain
    + Send
    + Sync
    + sealed::Sealed
    + 'static
{
    /// Bits of an element.
    const BITS: usize;

    /// The bytes of `elements`, writable, least significant first.
    fn bytes_mut(elements: &mut [Self]) -> &mut [u8];
}

impl Element for u64 {
    const BITS: usize = 64;

    fn bytes_mut(elements: &mut [Self]) -> &mut [u8] {
        words_as_bytes_mut(elements)
    }
}

impl Element for Block {
    const BITS: usize = 128;

    fn bytes_mut(elements: &mut [Self]) -> &mut [u8] {
        blocks_as_bytes_mut(elements)
    }
}

pub(crate) mod sealed {
    use crate::columns::{Band, Slot};
    use crate::dispatch::dispatch;
    use crate::sizes::{LOCALITY, TREES};
    use crate::{Block, Kernels};

    /// The kernels for one type of elements.
    #[doc(hidden)]
    #[allow(missing_docs, reason = "each is the kernel of its name")]
    pub trait Sealed: Sized {
        fn sums(kernels: Kernels, store: &[Self], bands: &[Band], out: &mut [Self]);
        fn solve(kernels: Kernels, store: &mut [Self], slots: &[Slot<Self>]);
        fn gather(
            kernels: Kernels,
            words: &mut [[u32; LOCALITY]],
            table: &[Self],
            rows: &mut [Self],
        );
        fn add_at(
            kernels: Kernels,
            nodes: &mut [Self],
            places: &[u64; TREES],
            values: &[Self; TREES],
        );
        fn multiply_add(kernels: Kernels, factor: Block, x: &[Self], out: &mut [Block]);
        fn inner_product(kernels: Kernels, factors: &[Block], x: &[Self]) -> Block;
        fn masked(self, bit: u64) -> Self;
    }

    macro_rules! kernels {
        ($type:ident, $mask:expr, $sums:ident $solve:ident $gather:ident $add_at:ident $multiply_add:ident $inner:ident) => {
            impl Sealed for $type {
                fn sums(kernels: Kernels, store: &[Self], bands: &[Band], out: &mut [Self]) {
                    dispatch!(kernels, $sums(store, bands, out));
                }

                fn solve(kernels: Kernels, store: &mut [Self], slots: &[Slot<Self>]) {
                    dispatch!(kernels, $solve(store, slots));
                }

                fn gather(
                    kernels: Kernels,
                    words: &mut [[u32; LOCALITY]],
                    table: &[Self],
                    rows: &mut [Self],
                ) {
                    dispatch!(kernels, $gather(words, table, rows));
                }

                fn add_at(
                    kernels: Kernels,
                    nodes: &mut [Self],
                    places: &[u64; TREES],
                    values: &[Self; TREES],
                ) {
                    dispatch!(kernels, $add_at(nodes, places, values));
                }

                fn multiply_add(kernels: Kernels, factor: Block, x: &[Self], out: &mut [Block]) {
                    dispatch!(kernels, $multiply_add(factor, x, out));
                }

                fn inner_product(kernels: Kernels, factors: &[Block], x: &[Self]) -> Block {
                    dispatch!(kernels, $inner(factors, x))
                }

                #[inline(always)]
                fn masked(self, bit: u64) -> Self {
                    let word = bit.wrapping_neg();
                    self & $mask(word)
                }
            }
        };
    }
    kernels!(u64, core::convert::identity, band_sums_words band_solve_words lpn_gather_words ggm_add_words field_add_words field_inner_words);
    kernels!(Block, |word| Block::new(word, word), band_sums_blocks band_solve_blocks lpn_gather_blocks ggm_add_blocks field_add_blocks field_inner_blocks);
}
