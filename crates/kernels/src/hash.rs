//! Hashes from AES-128 under public keys that change: the rows of an OT extension hashed, and short
//! seeds stretched. After Guo, Katz, Wang and Yu, "Efficient and Secure Multiparty Computation from
//! Fixed-Key Block Ciphers" (IEEE S&P 2020, ePrint 2019/074), section 7, and Guo, Katz, Wang, Weng
//! and Yu, "Better Concrete Security for Half-Gates Garbling (in the Multi-Instance Setting)"
//! (Crypto 2020, ePrint 2019/1168).
//!
//! # Why no key is fixed
//! Both hashes here are MMO, `pi(x) ^ x`. Whoever sees `q` outputs under one permutation computes
//! `pi(z) ^ z` for values `z` of his own and looks each up among the outputs: after `2^128 / q` of
//! them he meets one, and has its input. A tweak added inside, as in TMMO
//! (`H(x, t) = pi(pi(x) ^ t) ^ pi(x)`), does not help: with `z = pi(x) ^ t` it is
//! `H ^ t = pi(z) ^ z`, so the table of all `H ^ t` serves as well. One fixed key in all sessions
//! makes all their outputs targets of one computation. With a key for each few outputs a guess under
//! one key says nothing of the others, and one application of AES is enough.

use core::ops::Range;

use zeroize::Zeroize;

use crate::dispatch::dispatch;
use crate::{Aes128, Block, Kernels};

/// Rows that share a key of [`RowHash`]. A change of keys costs some 50 ns; this many rows take a
/// microsecond.
pub const ROWS_PER_KEY: u64 = 1024;

/// Blocks that share a key of [`Stretch`]: 4096 take about a microsecond.
pub const STRETCHED_PER_KEY: u64 = 4096;

/// Blocks that [`Stretch::stretch_blocks`] makes at a time: fits the first-level cache.
const STRETCH_PIECE: usize = 256;

/// Hashes that wait to be cut to a bit each where bytes and keys do not change together.
const BITS_PIECE: usize = 64;

/// The hash of an instance's rows, `H(x, i) = pi(x) ^ x` for row `i`, where `pi` is AES-128 under the
/// public key `key ^ (i / ROWS_PER_KEY)`.
///
/// Property: correlation robustness, in the ideal-cipher model, for rows that differ from each other:
/// for a secret uniform offset D and known `x_i`, one for each row, all `H(x_i ^ D, i)` look random.
/// Construction: MMO of ePrint 2019/074, section 7.2, under keys that change.
///
/// An attacker who computes AES `p` times and sees `q` rows hashed has advantage at most
/// `2 p ROWS_PER_KEY / 2^128 + q ROWS_PER_KEY / 2^129`, whatever other instances with other keys
/// there are. For let `B` be the rows under one key. A query to the cipher under it, in either
/// direction, gives an input and an output of `pi`; the input is some `x_i ^ D` for at most `B` values
/// of D, the output is some `H(x_i ^ D, i) ^ x_i ^ D` for at most `B` others. Where no query hits, the
/// hashes are values of a fresh permutation at `B` points, added to these, and differ from random by
/// `B^2 / 2^129`; there are `q / B` keys. Equal rows under one key would have equal hashes: those of
/// honest parties are pseudorandom, which adds as much once more.
#[derive(Clone, Copy)]
pub struct RowHash {
    key: Block,
    kernels: Kernels,
}

impl Kernels {
    /// The hash of the instance with the public `key`, run at this handle's level.
    #[must_use]
    pub fn row_hash(self, key: Block) -> RowHash {
        RowHash { key, kernels: self }
    }

    /// [`Stretch::new`], run at this handle's level.
    #[must_use]
    pub fn stretch(self, key: Block, first: u64) -> Stretch {
        Stretch {
            key,
            first,
            kernels: self,
            ready: [None, None],
        }
    }
}

impl RowHash {
    /// The hash of the instance with the public `key`, which no other instance has.
    #[must_use]
    pub fn new(key: Block) -> Self {
        Kernels::detect().row_hash(key)
    }

    fn cipher(&self, group: u64) -> Aes128 {
        self.kernels.aes128(self.key ^ Block::new(group, 0))
    }

    /// `H(x, row)`. Many at once are far faster: [`Self::hash_blocks`].
    #[must_use]
    pub fn hash(&self, row: u64, x: Block) -> Block {
        let mut out = [Block::ZERO];
        self.hash_blocks(row, &[x], &mut out);
        out[0]
    }

    /// `out[i] = H(x[i], first + i)`.
    ///
    /// # Panics
    /// If `x` and `out` differ in length.
    pub fn hash_blocks(&self, first: u64, x: &[Block], out: &mut [Block]) {
        self.hash_shifted(first, Block::ZERO, x, out);
    }

    /// `out[i] = H(x[i] ^ offset, first + i)`.
    ///
    /// # Panics
    /// If `x` and `out` differ in length.
    pub fn hash_shifted(&self, first: u64, offset: Block, x: &[Block], out: &mut [Block]) {
        assert_same_length(x, out);
        for (group, rows) in groups(first, x.len()) {
            let (x, out) = (&x[rows.clone()], &mut out[rows]);
            let pi = self.cipher(group);
            dispatch!(
                self.kernels,
                hash_blocks(pi.keys_for(x.len()), offset, x, out)
            );
        }
    }

    /// `out[i] = H(x[i], row)`: one row for all. To an attacker each of them is a row.
    ///
    /// # Panics
    /// If `x` and `out` differ in length.
    pub fn hash_same_row(&self, row: u64, x: &[Block], out: &mut [Block]) {
        assert_same_length(x, out);
        let pi = self.cipher(row / ROWS_PER_KEY);
        dispatch!(
            self.kernels,
            hash_blocks(pi.keys_for(x.len()), Block::ZERO, x, out)
        );
    }

    /// Both hashes of each row: `k0[i] = H(x[i], first + i)` and
    /// `k1[i] = H(x[i] ^ offset, first + i)`.
    ///
    /// # Panics
    /// If `x`, `k0` and `k1` differ in length.
    pub fn hash_pairs(
        &self,
        first: u64,
        offset: Block,
        x: &[Block],
        k0: &mut [Block],
        k1: &mut [Block],
    ) {
        assert_same_length(x, k0);
        assert_same_length(x, k1);
        for (group, rows) in groups(first, x.len()) {
            let (x, k0, k1) = (&x[rows.clone()], &mut k0[rows.clone()], &mut k1[rows]);
            let pi = self.cipher(group);
            dispatch!(
                self.kernels,
                hash_pairs(pi.keys_for(2 * x.len()), offset, x, k0, k1)
            );
        }
    }

    /// The lowest bit of each hash, packed: bit `i` of `out` is the lowest bit of
    /// `H(x[i] ^ offset, first + i)`. `out` has `x.len() / 8` bytes, rounded up; its padding bits
    /// become zero. No hash is stored on the way if `first` is a multiple of 8.
    ///
    /// # Panics
    /// If `out` has another length.
    pub fn hash_bits(&self, first: u64, offset: Block, x: &[Block], out: &mut [u8]) {
        assert_eq!(
            out.len(),
            x.len().div_ceil(8),
            "hash_bits: {} blocks need {} bytes of output, not {}",
            x.len(),
            x.len().div_ceil(8),
            out.len()
        );
        if !first.is_multiple_of(8) {
            return self.hash_bits_slowly(first, offset, x, out);
        }
        for (group, rows) in groups(first, x.len()) {
            let out = &mut out[rows.start / 8..rows.end.div_ceil(8)];
            let (pi, x) = (self.cipher(group), &x[rows]);
            dispatch!(
                self.kernels,
                hash_bits(pi.keys_for(x.len()), offset, x, out)
            );
        }
    }

    /// Hashes where keys may change within a byte.
    fn hash_bits_slowly(&self, first: u64, offset: Block, x: &[Block], out: &mut [u8]) {
        let mut hashes = [Block::ZERO; BITS_PIECE];
        let mut first = first;
        for (x, out) in x.chunks(BITS_PIECE).zip(out.chunks_mut(BITS_PIECE / 8)) {
            let hashes = &mut hashes[..x.len()];
            self.hash_shifted(first, offset, x, hashes);
            for (out, hashes) in out.iter_mut().zip(hashes.chunks(8)) {
                let bits = hashes.iter().enumerate();
                *out = bits.fold(0, |byte, (i, hash)| byte | (hash.lo() as u8 & 1) << i);
            }
            first += x.len() as u64;
        }
        hashes.zeroize();
    }
}

/// The runs of `len` rows from number `first` on that have one key each, with its number.
fn groups(first: u64, len: usize) -> impl Iterator<Item = (u64, Range<usize>)> {
    let mut start = 0_usize;
    core::iter::from_fn(move || {
        let row = first + start as u64;
        let left = ROWS_PER_KEY - row % ROWS_PER_KEY;
        let run = start..len.min(start.saturating_add(left as usize));
        start = run.end;
        (!run.is_empty()).then_some((row / ROWS_PER_KEY, run))
    })
}

impl PartialEq for RowHash {
    fn eq(&self, other: &Self) -> bool {
        self.key == other.key
    }
}

impl Eq for RowHash {}

// The key is public, but says which instance it is.
madrigal_core::opaque!(RowHash);

/// Makes long strings of short seeds, a seed for each of an instance's rows.
///
/// Block `j` of a string is `pi(seed ^ j) ^ seed ^ j`, where `pi` is AES-128 under a public key:
/// `key ^ ((i n + j) / STRETCHED_PER_KEY)` for row `i` and strings of `n` blocks. Much faster than a
/// [`Prg`](crate::Prg) per seed where the seeds are many and the strings short, because hardly a key
/// is expanded.
///
/// Property: for uniform secret seeds a pseudorandom generator, in the ideal-cipher model: under each
/// key it is the single-key cipher of Even and Mansour at the points `j`, to which these are added. An
/// attacker who computes AES `p` times and sees `q` blocks has advantage at most
/// `2 p b / 2^128 + q b / 2^129` for `b` blocks under one key (as for [`RowHash`]; Mouha and Luykx,
/// Asiacrypt 2015, have it for many users). `b` is [`STRETCHED_PER_KEY`] while all strings of an
/// instance are of one length; each further length adds as much.
pub struct Stretch {
    key: Block,
    first: u64,
    kernels: Kernels,
    /// The two keys that were used last, the latest first: strings of two lengths may be made in turn.
    ready: [Option<(u128, Aes128)>; 2],
}

impl Stretch {
    /// Makes the hash for the instance with the public `key`, which serves nothing else, from row `first` on.
    #[must_use]
    pub fn new(key: Block, first: u64) -> Self {
        Kernels::detect().stretch(key, first)
    }

    /// Numbers of the keys that are ready.
    pub(crate) fn ready_numbers(&self) -> [Option<u128>; 2] {
        let numbers = self.ready.each_ref();
        numbers.map(|ready| ready.as_ref().map(|it| it.0))
    }

    fn cipher(&mut self, number: u128) -> &Aes128 {
        let is = |ready: &Option<(u128, Aes128)>| ready.as_ref().is_some_and(|it| it.0 == number);
        if !is(&self.ready[0]) {
            self.ready.swap(0, 1);
            if !is(&self.ready[0]) {
                self.ready[0] = None;
            }
        }
        let (_, pi) = self.ready[0]
            .get_or_insert_with(|| (number, self.kernels.aes128(self.key ^ Block::from(number))));
        pi
    }

    /// Fills `out` with the string of `seed`, which belongs to row `first + index`, cut off at the
    /// end.
    pub fn stretch(&mut self, index: usize, seed: Block, out: &mut [u8]) {
        let each = out.len().div_ceil(16);
        let place = self.place(index, each);
        let (mut out, mut done) = (out, 0);
        while !out.is_empty() {
            let (number, left) = key_at(place + u128::from(done));
            let piece = out
                .split_off_mut(..out.len().min(16 * left))
                .unwrap_or_default();
            let (kernels, blocks) = (self.kernels, piece.len().div_ceil(16));
            let pi = self.cipher(number);
            dispatch!(kernels, stretch(pi.keys_for(blocks), seed, done, piece));
            done += blocks as u64;
        }
    }

    /// The strings of `each` blocks of several seeds, one after the other; those of rows
    /// `first + index` and following.
    ///
    /// # Panics
    /// If `out` has not `seeds.len() * each` blocks.
    pub fn stretch_blocks(
        &mut self,
        index: usize,
        seeds: &[Block],
        each: usize,
        out: &mut [Block],
    ) {
        assert!(
            seeds.len().checked_mul(each) == Some(out.len()),
            "stretch_blocks: {} seeds to {each} blocks each do not make {} blocks",
            seeds.len(),
            out.len()
        );
        // Points of several seeds side by side, so that short strings fill the registers too.
        let mut inputs = [Block::ZERO; STRETCH_PIECE];
        let (mut seed, mut count) = (0, 0);
        let (mut out, mut place) = (out, self.place(index, each));
        while !out.is_empty() {
            let (number, left) = key_at(place);
            let len = out.len().min(left).min(STRETCH_PIECE);
            let piece = out.split_off_mut(..len).unwrap_or_default();
            let inputs = &mut inputs[..len];
            for input in &mut *inputs {
                *input = seeds[seed] ^ Block::new(count as u64, 0);
                count += 1;
                if count == each {
                    (seed, count) = (seed + 1, 0);
                }
            }
            let kernels = self.kernels;
            let pi = self.cipher(number);
            dispatch!(
                kernels,
                hash_blocks(pi.keys_for(len), Block::ZERO, inputs, piece)
            );
            place += len as u128;
        }
        inputs.zeroize();
    }

    /// The instance's blocks before a row's.
    fn place(&self, index: usize, each: usize) -> u128 {
        (u128::from(self.first) + index as u128) * each as u128
    }
}

/// The number of the key of the block at `place`, and the blocks from there on that share it.
fn key_at(place: u128) -> (u128, usize) {
    let per_key = u128::from(STRETCHED_PER_KEY);
    (place / per_key, (per_key - place % per_key) as usize)
}

madrigal_core::opaque!(Stretch);

fn assert_same_length(x: &[Block], out: &[Block]) {
    assert_eq!(
        x.len(),
        out.len(),
        "a hash of {} blocks needs as many blocks of output, not {}",
        x.len(),
        out.len()
    );
}
