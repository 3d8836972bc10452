//! Hashes from one fixed-key AES, after Guo, Katz, Wang and Yu, "Efficient and Secure Multiparty
//! Computation from Fixed-Key Block Ciphers" (IEEE S&P 2020, ePrint 2019/074), section 7.

use core::fmt;
use std::sync::OnceLock;

use crate::dispatch::dispatch;
use crate::{Aes128, Block, Kernels};

/// The public key of the fixed permutation: the first 128 bits after the point of pi, in the byte
/// order of their hexadecimal digits (243f6a88 85a308d3 13198a2e 03707344), so that nobody chose it.
const FIXED_KEY: [u8; 16] = [
    0x24, 0x3f, 0x6a, 0x88, 0x85, 0xa3, 0x08, 0xd3, 0x13, 0x19, 0x8a, 0x2e, 0x03, 0x70, 0x73, 0x44,
];

/// The hash `H(x, t) = pi(pi(x) ^ t) ^ pi(x)`, where `pi` is AES-128 under a fixed public key.
///
/// Property: tweakable circular correlation robustness (which implies tweakable correlation
/// robustness), with `pi` modelled as a random permutation. Construction: TMMO of the paper's
/// section 7.4. Each pair of key-like offset and tweak should be used once; the tweak separates uses.
pub struct TweakableHash {
    pi: Aes128,
}

impl Kernels {
    /// The hash under the project's fixed key, run at this handle's level.
    #[must_use]
    pub fn tweakable_hash(self) -> TweakableHash {
        TweakableHash {
            pi: self.aes128(Block::from_bytes(FIXED_KEY)),
        }
    }

    /// [`stretch`] at this handle's level.
    pub fn stretch(self, seed: Block, out: &mut [u8]) {
        let pi = self.aes128(Block::from_bytes(FIXED_KEY));
        dispatch!(self, stretch(pi.keys(), seed, out));
    }

    /// [`mmo_blocks`] at this handle's level.
    pub fn mmo_blocks(self, x: &[Block], out: &mut [Block]) {
        assert_same_length(x, out);
        let pi = self.aes128(Block::from_bytes(FIXED_KEY));
        dispatch!(self, mmo(pi.keys(), x, out));
    }
}

impl TweakableHash {
    /// The hash under the project's fixed key at the default level, expanded once.
    #[must_use]
    pub fn fixed() -> &'static Self {
        static FIXED: OnceLock<TweakableHash> = OnceLock::new();
        FIXED.get_or_init(|| Kernels::detect().tweakable_hash())
    }

    /// `H(x, tweak)`. Many at once are far faster: [`Self::hash_blocks`].
    #[must_use]
    pub fn hash(&self, x: Block, tweak: u128) -> Block {
        let mut out = [Block::ZERO];
        self.hash_blocks(tweak, &[x], &mut out);
        out[0]
    }

    /// `out[i] = H(x[i], tweak + i)`, the sum modulo `2^128`.
    ///
    /// # Panics
    /// If `x` and `out` differ in length.
    pub fn hash_blocks(&self, tweak: u128, x: &[Block], out: &mut [Block]) {
        assert_same_length(x, out);
        if low_word_wraps(tweak, x.len()) {
            crate::portable::hash_blocks(self.pi.keys(), tweak, x, out);
        } else {
            dispatch!(
                self.pi.kernels(),
                hash_blocks(self.pi.keys(), tweak, x, out)
            );
        }
    }

    /// The lowest bit of each hash, packed: bit `i` of `out` is the lowest bit of
    /// `H(x[i] ^ offset, tweak + i)`. `out` has `x.len() / 8` bytes, rounded up; its padding bits
    /// become zero. No hash is stored on the way.
    ///
    /// # Panics
    /// If `out` has another length.
    pub fn hash_bits(&self, tweak: u128, offset: Block, x: &[Block], out: &mut [u8]) {
        assert_eq!(
            out.len(),
            x.len().div_ceil(8),
            "hash_bits: {} blocks need {} bytes of output, not {}",
            x.len(),
            x.len().div_ceil(8),
            out.len()
        );
        if low_word_wraps(tweak, x.len()) {
            crate::portable::hash_bits(self.pi.keys(), tweak, offset, x, out);
        } else {
            dispatch!(
                self.pi.kernels(),
                hash_bits(self.pi.keys(), tweak, offset, x, out)
            );
        }
    }
}

impl fmt::Debug for TweakableHash {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("TweakableHash(..)")
    }
}

/// `out[i] = pi(x[i]) ^ x[i]` with the fixed permutation of [`TweakableHash`].
///
/// Property: correlation robustness (not circular, not tweakable), with `pi` modelled as a random
/// permutation. Construction: MMO of the paper's section 7.2.
///
/// # Panics
/// If `x` and `out` differ in length.
pub fn mmo_blocks(x: &[Block], out: &mut [Block]) {
    assert_same_length(x, out);
    let pi = &TweakableHash::fixed().pi;
    dispatch!(pi.kernels(), mmo(pi.keys(), x, out));
}

/// Fills `out` with the stream of `seed`: block j is `pi(seed ^ j) ^ seed ^ j` with the fixed
/// permutation of [`TweakableHash`], cut off at the end.
///
/// Property: pseudorandom generator for a uniformly random secret seed. Construction: MMO of the
/// paper's section 7.2, whose correlation robustness says just this for an offset `seed` and distinct
/// public points j, with `pi` modelled as a random permutation; q blocks of all streams together cost
/// about `q^2 / 2^128`. It needs no key schedule, so short streams of many seeds are fast.
pub fn stretch(seed: Block, out: &mut [u8]) {
    let pi = &TweakableHash::fixed().pi;
    dispatch!(pi.kernels(), stretch(pi.keys(), seed, out));
}

fn assert_same_length(x: &[Block], out: &[Block]) {
    assert_eq!(
        x.len(),
        out.len(),
        "a hash of {} blocks needs as many blocks of output, not {}",
        x.len(),
        out.len()
    );
}

/// The vector kernels count tweaks in their low 64 bits. A range that crosses a multiple of 2^64 is
/// all but impossible, right all the same, and portable.
fn low_word_wraps(tweak: u128, len: usize) -> bool {
    (tweak as u64).checked_add(len as u64).is_none()
}
