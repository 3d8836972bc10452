//! Hashes from one fixed-key AES, after Guo, Katz, Wang and Yu, "Efficient and Secure Multiparty
//! Computation from Fixed-Key Block Ciphers" (IEEE S&P 2020, ePrint 2019/074), section 7.

use core::fmt;
use std::sync::OnceLock;

use zeroize::Zeroize;

use crate::dispatch::dispatch;
use crate::{Aes128, Block, Kernels};

/// The public key of the fixed permutation: the first 128 bits after the point of pi, in the byte
/// order of their hexadecimal digits (243f6a88 85a308d3 13198a2e 03707344), so that nobody chose it.
const FIXED_KEY: [u8; 16] = [
    0x24, 0x3f, 0x6a, 0x88, 0x85, 0xa3, 0x08, 0xd3, 0x13, 0x19, 0x8a, 0x2e, 0x03, 0x70, 0x73, 0x44,
];

/// The public key of the permutation that stretches: the next 128 bits of pi (a4093822 299f31d0
/// 082efa98 ec4e6c89).
const STRETCH_KEY: [u8; 16] = [
    0xa4, 0x09, 0x38, 0x22, 0x29, 0x9f, 0x31, 0xd0, 0x08, 0x2e, 0xfa, 0x98, 0xec, 0x4e, 0x6c, 0x89,
];

/// Blocks that [`stretch_blocks`] makes at a time: fits the first-level cache.
const STRETCH_PIECE: usize = 256;

/// Blocks that pass through a buffer at a time where an operand has to be formed first.
const SHIFT_PIECE: usize = 64;

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

    /// [`stretch_blocks`] at this handle's level.
    pub fn stretch_blocks(self, seeds: &[Block], each: usize, out: &mut [Block]) {
        self.stretcher().stretch_blocks(seeds, each, out);
    }

    /// [`stretch`] at this handle's level.
    pub fn stretch(self, seed: Block, out: &mut [u8]) {
        self.stretcher().stretch(seed, out);
    }

    fn stretcher(self) -> Stretcher {
        Stretcher(self.aes128(Block::from_bytes(STRETCH_KEY)))
    }

    /// [`mmo_blocks`] at this handle's level.
    pub fn mmo_blocks(self, x: &[Block], out: &mut [Block]) {
        assert_same_length(x, out);
        let pi = self.aes128(Block::from_bytes(FIXED_KEY));
        dispatch!(self, mmo(pi.keys_for(x.len()), x, out));
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
        let keys = self.pi.keys_for(2 * x.len());
        if low_word_wraps(tweak, x.len()) {
            crate::portable::hash_blocks(keys, tweak, x, out);
        } else {
            dispatch!(self.pi.kernels(), hash_blocks(keys, tweak, x, out));
        }
    }

    /// `out[i] = H(x[i] ^ offset, tweak + i)`.
    ///
    /// # Panics
    /// If `x` and `out` differ in length.
    pub fn hash_shifted(&self, tweak: u128, offset: Block, x: &[Block], out: &mut [Block]) {
        assert_same_length(x, out);
        for (out, &x) in out.iter_mut().zip(x) {
            *out = x ^ offset;
        }
        let mut inputs = [Block::ZERO; SHIFT_PIECE];
        let mut tweak = tweak;
        for out in out.chunks_mut(SHIFT_PIECE) {
            let inputs = &mut inputs[..out.len()];
            inputs.copy_from_slice(out);
            self.hash_blocks(tweak, inputs, out);
            tweak = tweak.wrapping_add(out.len() as u128);
        }
        inputs[..x.len().min(SHIFT_PIECE)]
            .iter_mut()
            .for_each(Zeroize::zeroize);
    }

    /// `out[i] = H(x[i], tweak)`: one tweak for all.
    ///
    /// # Panics
    /// If `x` and `out` differ in length.
    pub fn hash_same_tweak(&self, tweak: u128, x: &[Block], out: &mut [Block]) {
        assert_same_length(x, out);
        out.copy_from_slice(x);
        self.pi.encrypt_blocks(out);
        let mut inner = [Block::ZERO; SHIFT_PIECE];
        for out in out.chunks_mut(SHIFT_PIECE) {
            let inner = &mut inner[..out.len()];
            inner.copy_from_slice(out);
            for out in &mut *out {
                *out ^= Block::from(tweak);
            }
            self.pi.encrypt_blocks(out);
            for (out, &inner) in out.iter_mut().zip(&*inner) {
                *out ^= inner;
            }
        }
        inner[..x.len().min(SHIFT_PIECE)]
            .iter_mut()
            .for_each(Zeroize::zeroize);
    }

    /// Both hashes of each block: `k0[i] = H(x[i], tweak + i)` and
    /// `k1[i] = H(x[i] ^ offset, tweak + i)`.
    ///
    /// # Panics
    /// If `x`, `k0` and `k1` differ in length.
    pub fn hash_pairs(
        &self,
        tweak: u128,
        offset: Block,
        x: &[Block],
        k0: &mut [Block],
        k1: &mut [Block],
    ) {
        assert_same_length(x, k0);
        assert_same_length(x, k1);
        let keys = self.pi.keys_for(4 * x.len());
        if low_word_wraps(tweak, x.len()) {
            crate::portable::hash_pairs(keys, tweak, offset, x, k0, k1);
        } else {
            dispatch!(
                self.pi.kernels(),
                hash_pairs(keys, tweak, offset, x, k0, k1)
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
        let keys = self.pi.keys_for(2 * x.len());
        if low_word_wraps(tweak, x.len()) {
            crate::portable::hash_bits(keys, tweak, offset, x, out);
        } else {
            dispatch!(self.pi.kernels(), hash_bits(keys, tweak, offset, x, out));
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
    dispatch!(pi.kernels(), mmo(pi.keys_for(x.len()), x, out));
}

/// The permutation that stretches.
struct Stretcher(Aes128);

impl Stretcher {
    /// At the default level, expanded once.
    fn fixed() -> &'static Self {
        static FIXED: OnceLock<Stretcher> = OnceLock::new();
        FIXED.get_or_init(|| Kernels::detect().stretcher())
    }

    fn stretch(&self, seed: Block, out: &mut [u8]) {
        let Self(pi) = self;
        let keys = pi.keys_for(out.len().div_ceil(16));
        dispatch!(pi.kernels(), stretch(keys, seed, out));
    }

    /// Points of several seeds side by side, so that short strings fill the registers too.
    fn stretch_blocks(&self, seeds: &[Block], each: usize, out: &mut [Block]) {
        let Self(pi) = self;
        assert!(
            seeds.len().checked_mul(each) == Some(out.len()),
            "stretch_blocks: {} seeds to {each} blocks each do not make {} blocks",
            seeds.len(),
            out.len()
        );
        if each == 0 {
            return;
        }
        let mut inputs = [Block::ZERO; STRETCH_PIECE];
        let (mut seed, mut count) = (0, 0);
        for out in out.chunks_mut(STRETCH_PIECE) {
            let inputs = &mut inputs[..out.len()];
            for input in &mut *inputs {
                *input = seeds[seed] ^ Block::new(count as u64, 0);
                count += 1;
                if count == each {
                    (seed, count) = (seed + 1, 0);
                }
            }
            dispatch!(pi.kernels(), mmo(pi.keys_for(out.len()), inputs, out));
        }
        inputs.zeroize();
    }
}

/// Fills `out` with the stream of `seed`: block j is `pi(seed ^ j) ^ seed ^ j` with `pi` AES-128 under
/// a fixed public key, another than that of [`TweakableHash`], cut off at the end. Much faster than a
/// [`Prg`](crate::Prg) per seed where the seeds are many and the strings short, because no key is
/// expanded.
///
/// Property: for uniform secret seeds, a pseudorandom function of `j`, with `pi` modelled as a random
/// permutation: it is the single-key cipher of Even and Mansour, to which the public `j` is added.
/// With `p` evaluations of `pi` by the adversary and `q` blocks of all seeds together, the advantage
/// is about `(2 p q + q^2) / 2^128` (Mouha and Luykx, Asiacrypt 2015, for many users).
pub fn stretch(seed: Block, out: &mut [u8]) {
    Stretcher::fixed().stretch(seed, out);
}

/// The first `each` blocks of the [`stretch`] of every seed, one after the other.
///
/// # Panics
/// If `out` has not `seeds.len() * each` blocks.
pub fn stretch_blocks(seeds: &[Block], each: usize, out: &mut [Block]) {
    Stretcher::fixed().stretch_blocks(seeds, each, out);
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
