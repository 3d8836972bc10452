//! The pseudorandom generator: AES-128 in counter mode.

use crate::block::{blocks_as_bytes_mut, words_as_bytes_mut};
use crate::dispatch::dispatch;
use crate::{Aes128, Block, Kernels};

/// Expands a 128-bit seed into a stream of blocks: block `i` is `AES_seed(i + 2^64 number)`, where the
/// sum is a 128-bit little-endian counter block and `number` is the key's.
///
/// Property: pseudorandom generator, if AES-128 is a pseudorandom permutation; by the PRP/PRF
/// switching lemma, `q` blocks of one stream differ from random with advantage about `q^2 / 2^129`.
/// Construction: NIST SP 800-38A, counter mode with a nonce: the initial counter block is the key's number in
/// the upper half and zero in the lower one, which is incremented little-endian.
///
/// # Why keys have numbers
/// Whoever sees block `i` of T streams that all count from the same block holds one evaluation of AES under a
/// guessed key against all of them: one of T keys falls with `2^128 / T` work. Keys with different numbers
/// never encrypt the same block, so a guess, in either direction of the cipher, tests one of them: one of T keys
/// falls with `2^128` work, whatever T is. So each secret key has a number that no other key of its session has, and
/// that differs between sessions ([`KeyNumbers`](madrigal_core::KeyNumbers) says how). It may be public. Where two
/// keys come to have one number, a guess tests both.
///
/// The position is kept in whole blocks: a request that is no multiple of 16 bytes drops the rest of
/// its last block, so both parties of a protocol must make the same requests. A stream has `2^64`
/// blocks; the methods panic rather than go past its end.
#[derive(Clone)]
pub struct Prg {
    aes: Aes128,
    position: u64,
}

impl Kernels {
    /// The generator for `seed`, with number 0, run at this handle's level.
    #[must_use]
    pub fn prg(self, seed: Block) -> Prg {
        self.numbered_prg(seed, 0)
    }

    /// The generator for `seed`, whose number is `number`, run at this handle's level.
    #[must_use]
    pub fn numbered_prg(self, seed: Block, number: u64) -> Prg {
        Prg {
            // Positions stay below 2^64, so nothing carries into the number.
            aes: self.aes128(seed).shifted(Block::new(0, number)),
            position: 0,
        }
    }
}

impl Prg {
    /// The generator for `seed`, at block 0 of its stream, with number 0: for seeds that are public or alone of
    /// their kind, and for tests. Secret ones of which there are many are [`numbered`](Self::numbered).
    #[must_use]
    pub fn new(seed: Block) -> Self {
        Kernels::detect().prg(seed)
    }

    /// The generator for `seed`, at block 0 of its stream, whose counter blocks have `number` in their upper half.
    #[must_use]
    pub fn numbered(seed: Block, number: u64) -> Self {
        Kernels::detect().numbered_prg(seed, number)
    }

    /// Overwrites `out` with the next bytes of the stream.
    pub fn fill(&mut self, out: &mut [u8]) {
        let first = self.advance(out.len());
        let keys = self.aes.keys_for(out.len().div_ceil(16));
        dispatch!(self.aes.kernels(), ctr_fill(keys, first, out));
    }

    /// Overwrites `out` with the next words of the stream, little-endian.
    pub fn fill_words(&mut self, out: &mut [u64]) {
        self.fill(words_as_bytes_mut(out));
    }

    /// Overwrites `out` with the next blocks of the stream.
    pub fn fill_blocks(&mut self, out: &mut [Block]) {
        self.fill(blocks_as_bytes_mut(out));
    }

    /// Adds (XOR) the next bytes of the stream to `data`.
    pub fn xor_into(&mut self, data: &mut [u8]) {
        let first = self.advance(data.len());
        let keys = self.aes.keys_for(data.len().div_ceil(16));
        dispatch!(self.aes.kernels(), ctr_xor(keys, first, data));
    }

    /// The next block of the stream.
    pub fn next_block(&mut self) -> Block {
        let mut out = [Block::ZERO];
        self.fill_blocks(&mut out);
        out[0]
    }

    /// The index of the next block of the stream.
    #[must_use]
    pub const fn position(&self) -> u64 {
        self.position
    }

    /// Continues at block `block` of the stream.
    pub const fn seek(&mut self, block: u64) {
        self.position = block;
    }

    /// Takes the blocks that cover `bytes` and gives the index of the first one.
    fn advance(&mut self, bytes: usize) -> u64 {
        let first = self.position;
        let next = first.checked_add(bytes.div_ceil(16) as u64);
        assert!(
            next.is_some(),
            "a PRG stream ends after 2^64 blocks: {bytes} bytes were asked for at block {first}"
        );
        self.position = next.unwrap_or(first);
        first
    }
}

madrigal_core::opaque!(Prg);
