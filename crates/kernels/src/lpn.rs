//! Encoding by a random sparse linear code, the expensive half of silent OT: Yang, Weng, Lan, Zhang
//! and Wang, "Ferret" (CCS 2020, ePrint 2020/924), section 5, after Boyle et al. (CCS 2018).

use crate::block::blocks_as_bytes_mut;
use crate::dispatch::dispatch;
use crate::{Aes128, Block, Element, Kernels};

pub use crate::sizes::LOCALITY;

/// Rows whose indices are made at a time: few, so that the processor makes indices while reads are
/// under way, and five batches of AES for the widest vectors. Measured: 128 takes 2% longer.
const TILE: usize = 64;

/// A linear code of `k` inputs whose rows each name [`LOCALITY`] of them, uniformly and
/// independently.
///
/// Row `i` takes words `10 i` to `10 i + 9` of the stream of AES-128 in counter mode under a public
/// seed, each `w` of 32 bits as the index `floor(w k / 2^32)`. The code is public, hence so are all
/// memory accesses; AES is there because it is fast, and nobody can steer it.
#[derive(Debug)]
pub struct LocalCode {
    stream: Aes128,
    dimension: usize,
}

impl Kernels {
    /// [`LocalCode::new`], run at this handle's level.
    ///
    /// # Panics
    /// If `dimension` is not in 1..2^28.
    #[must_use]
    pub fn local_code(self, seed: Block, dimension: usize) -> LocalCode {
        assert!(
            (1..1 << 28).contains(&dimension),
            "a local code of {dimension} inputs: from 1 to 2^28 - 1 are possible"
        );
        LocalCode {
            stream: self.aes128(seed),
            dimension,
        }
    }
}

impl LocalCode {
    /// The code of `dimension` inputs for a public `seed`.
    ///
    /// # Panics
    /// If `dimension` is not in 1..2^28.
    #[must_use]
    pub fn new(seed: Block, dimension: usize) -> Self {
        Kernels::detect().local_code(seed, dimension)
    }

    /// Adds to `rows[i]` what row `first + i` of the code makes of `table`.
    ///
    /// # Panics
    /// If `table` has another length than the code's dimension, if `first` is odd, or if the stream
    /// ends (at more than 2^62 rows).
    pub fn encode<V: Element>(&self, first: u64, table: &[V], rows: &mut [V]) {
        assert_eq!(
            table.len(),
            self.dimension,
            "a local code of {} inputs was given {}",
            self.dimension,
            table.len()
        );
        assert!(
            first.is_multiple_of(2) && first < 1 << 62,
            "a local code cannot start at row {first}"
        );
        // Two rows take five blocks of the stream.
        let mut position = first / 2 * 5;
        let mut stream = [Block::ZERO; TILE * LOCALITY / 4];
        let kernels = self.stream.kernels();
        for rows in rows.chunks_mut(TILE) {
            let blocks = (rows.len() * LOCALITY).div_ceil(4);
            let bytes = blocks_as_bytes_mut(&mut stream[..blocks]);
            let keys = self.stream.keys_for(blocks);
            dispatch!(kernels, ctr_fill(keys, position, bytes));
            position += blocks as u64;
            let words = blocks_as_words_mut(&mut stream).as_chunks_mut().0;
            let words = &mut words[..rows.len()];
            V::gather(kernels, words, table, rows);
        }
    }
}

/// The 32-bit words of `blocks`, writable, least significant first.
fn blocks_as_words_mut(blocks: &mut [Block]) -> &mut [u32] {
    // SAFETY: `Block` is 16 initialised bytes without padding, more strictly aligned than `u32`;
    // every byte pattern is valid for both, and the exclusive borrow passes from `blocks` to the
    // result.
    unsafe { core::slice::from_raw_parts_mut(blocks.as_mut_ptr().cast(), 4 * blocks.len()) }
}
