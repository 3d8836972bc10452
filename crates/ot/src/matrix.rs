//! Parts that the two sides of an extension from columns share: the matrix of columns, its transposition
//! into rows, and the count of the rows.

use madrigal_core::Aligned;
use madrigal_kernels::{Block, transpose_128};

use crate::{Instance, KAPPA, Tweaks, instance::TweakCounter};

/// OTs per chunk. The columns take 16 bytes per OT: 264 KiB, within the second-level cache of most
/// processors, and 128 blocks per column keep AES busy. Measured on a Zen 3 core with 512 KiB: 8192 is 2%
/// slower, 4096 is 5% slower, 32768 no faster.
pub(crate) const CHUNK: usize = 16384;

/// Bytes of one column of a full chunk.
pub(crate) const COLUMN_BYTES: usize = CHUNK / 8;

/// Distance of columns in the matrix: one cache line more than a column, because with a power of
/// two all columns of a tile would compete for the same few cache sets (8% at this chunk size, 3%
/// at half of it).
pub(crate) const STRIDE: usize = COLUMN_BYTES + 64;

/// Rows that are transposed and used up at a time: 16 KiB, so that they stay in the first-level
/// cache, and two cache lines of each column.
pub(crate) const TILE: usize = 1024;

/// Bytes of one column of a chunk of `m` OTs.
pub(crate) const fn column_len(m: usize) -> usize {
    m.div_ceil(KAPPA) * (KAPPA / 8)
}

/// KAPPA columns of up to [`CHUNK`] bits.
pub(crate) struct Matrix {
    tweaks: TweakCounter,
    /// [`STRIDE`] apart. Secret.
    columns: Aligned<u8>,
    /// Rows that nobody outside asks for. Secret.
    tile: Aligned<Block>,
}

impl Matrix {
    pub(crate) fn new(instance: Instance) -> Self {
        Matrix {
            tweaks: TweakCounter::new(instance),
            columns: Aligned::zeros(KAPPA * STRIDE),
            tile: Aligned::zeros(TILE),
        }
    }

    pub(crate) fn instance(&self) -> Instance {
        self.tweaks.instance()
    }

    /// The columns from number `first` on.
    pub(crate) fn columns_from(&mut self, first: usize) -> &mut [u8] {
        &mut self.columns[first * STRIDE..]
    }

    /// Names the next `m` rows.
    pub(crate) fn tweaks(&mut self, m: usize) -> Tweaks {
        self.tweaks.take(m)
    }

    /// Writes the first rows of the chunk.
    pub(crate) fn rows(&mut self, rows: &mut [Block]) {
        let whole = rows.len() / KAPPA * KAPPA;
        let (body, tail) = rows.split_at_mut(whole);
        if !body.is_empty() {
            transpose_128(&self.columns, STRIDE, body);
        }
        if !tail.is_empty() {
            let tile = &mut self.tile[..KAPPA];
            transpose_128(&self.columns[whole / 8..], STRIDE, tile);
            tail.copy_from_slice(&tile[..tail.len()]);
        }
    }

    /// Hands the first `m` rows of the chunk out, tile by tile, with the place of each tile.
    pub(crate) fn for_tiles<E>(
        &mut self,
        m: usize,
        mut use_up: impl FnMut(core::ops::Range<usize>, Tweaks, &[Block]) -> Result<(), E>,
    ) -> Result<(), E> {
        for first in (0..m).step_by(TILE) {
            let len = TILE.min(m - first);
            let tweaks = self.tweaks(len);
            let tile = &mut self.tile[..len.next_multiple_of(KAPPA)];
            transpose_128(&self.columns[first / 8..], STRIDE, tile);
            use_up(first..first + len, tweaks, &tile[..len])?;
        }
        Ok(())
    }
}
