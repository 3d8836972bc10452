//! The row of a key.

use madrigal_kernels::band::{BAND, Band, STEP};
use madrigal_kernels::{Aes128, Block};

/// Keys hashed at a time.
pub(crate) const BATCH: usize = 64;

/// Blocks that make the three keys of AES.
pub(crate) const KEY_BLOCKS: u64 = 3;

/// Rows as AES-128 makes them of keys: one block gives the start, two the bits.
///
/// Property: pseudorandom function, if AES-128 is one; the seed is uniform, and drawn when the keys are settled.
/// Whether rows are dependent can be tested, so rows of this function are dependent as often as uniform ones,
/// or the test would tell the function from a random one. That the seed becomes public afterwards changes nothing, and
/// nothing else rests on this function: what a store hides does not depend on how rows come about.
pub(crate) struct Rows {
    starts: u64,
    ciphers: [Aes128; 3],
}

impl Rows {
    /// Rows that begin at one of `starts` places.
    pub(crate) fn new(seed: Block, starts: u64) -> Self {
        let mut keys = [0, 1, 2].map(|i| Block::new(i, 0));
        Aes128::new(seed).encrypt_blocks(&mut keys);
        Rows {
            starts,
            ciphers: keys.map(Aes128::new),
        }
    }

    fn step(&self, block: Block) -> u32 {
        ((u128::from(block.lo()) * u128::from(self.starts)) >> 64) as u32
    }

    /// Tells the place of each key's start among all starts, in order.
    pub(crate) fn each_step(&self, keys: &[Block], mut tell: impl FnMut(usize, u32)) {
        let mut blocks = [Block::ZERO; BATCH];
        for (batch, keys) in keys.chunks(BATCH).enumerate() {
            let blocks = &mut blocks[..keys.len()];
            blocks.copy_from_slice(keys);
            self.ciphers[0].encrypt_blocks(blocks);
            for (i, &block) in blocks.iter().enumerate() {
                tell(batch * BATCH + i, self.step(block));
            }
        }
    }

    /// The rows of `keys`, as many as `bands`.
    pub(crate) fn bands(&self, keys: &[Block], bands: &mut [Band]) {
        const { assert!(BAND == 256) }
        let mut blocks = [[Block::ZERO; BATCH]; 3];
        for (keys, bands) in keys.chunks(BATCH).zip(bands.chunks_mut(BATCH)) {
            for (blocks, cipher) in blocks.iter_mut().zip(&self.ciphers) {
                blocks[..keys.len()].copy_from_slice(keys);
                cipher.encrypt_blocks(&mut blocks[..keys.len()]);
            }
            for (i, band) in bands.iter_mut().enumerate() {
                let [start, a, b] = [blocks[0][i], blocks[1][i], blocks[2][i]];
                *band = Band {
                    start: self.step(start) * STEP as u32,
                    bits: [a.lo(), a.hi(), b.lo(), b.hi()],
                };
            }
        }
    }
}
