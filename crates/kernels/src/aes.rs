//! AES-128, encryption only (FIPS 197).

use zeroize::{Zeroize, ZeroizeOnDrop};

use crate::block::RoundKeys;
use crate::dispatch::dispatch;
use crate::{Block, Kernels, meter};

/// AES-128 under one key. The key schedule is wiped on drop and never shown.
///
/// A [`Block`] is the cipher's 16-byte string in little-endian order: byte 0 of the string is the
/// block's least significant byte.
#[derive(Clone)]
pub struct Aes128 {
    keys: RoundKeys,
    kernels: Kernels,
}

impl Kernels {
    /// AES-128 under `key`, run at this handle's level.
    #[must_use]
    pub fn aes128(self, key: Block) -> Aes128 {
        Aes128 {
            keys: dispatch!(self, expand_key(key)),
            kernels: self,
        }
    }
}

impl Aes128 {
    /// Expands `key`, for use at the default level.
    #[must_use]
    pub fn new(key: Block) -> Self {
        Kernels::detect().aes128(key)
    }

    /// The encryption of one block. Many blocks at once are far faster: [`Self::encrypt_blocks`].
    #[inline]
    #[must_use]
    pub fn encrypt(&self, block: Block) -> Block {
        let mut blocks = [block];
        self.encrypt_blocks(&mut blocks);
        blocks[0]
    }

    /// Encrypts each block in place.
    #[inline]
    pub fn encrypt_blocks(&self, blocks: &mut [Block]) {
        let keys = self.keys_for(blocks.len());
        dispatch!(self.kernels, encrypt(keys, blocks));
    }

    /// The round keys, for this many blocks, which are counted: there is no other way to the keys.
    #[inline]
    pub(crate) fn keys_for(&self, blocks: usize) -> &RoundKeys {
        meter::add(blocks as u64);
        &self.keys
    }

    pub(crate) fn kernels(&self) -> Kernels {
        self.kernels
    }

    /// Gives the same permutation of `block ^ shift`: the shift joins the key that is added before the first round,
    /// so it costs nothing for a block.
    #[must_use]
    pub(crate) fn shifted(mut self, shift: Block) -> Self {
        self.keys[0] ^= shift;
        self
    }
}

impl Drop for Aes128 {
    fn drop(&mut self) {
        self.keys.zeroize();
    }
}

impl ZeroizeOnDrop for Aes128 {}

madrigal_core::opaque!(Aes128);
