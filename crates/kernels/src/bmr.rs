//! AND gates garbled by N parties together: BMR (Beaver, Micali and Rogaway, STOC 1990) with free XOR, as
//! Ben-Efraim, Lindell and Omri have it (CCS 2016) and MOTION, section 6.3.
//!
//! Each party P_i has an offset `R_i`, whose lowest bit is one, and for each wire a key of 0, whose lowest
//! bit is zero; the key of 1 is `k ^ R_i`. A wire with value x has a secret mask lambda, of which each
//! party has a share, and the public colour `alpha = x ^ lambda`: what is computed on are the keys of the
//! colour, and their lowest bit is the colour itself.
//!
//! # The table
//! Of an AND with operands a, b and result w there is a *column* for each party j, four blocks `T_1`,
//! `T_a`, `T_b`, `T_ab`, such that for colours alpha, beta
//!
//! `k^j_w = T_1 ^ alpha T_a ^ beta T_b ^ alpha beta T_ab ^ F(i = 1) ^ .. ^ F(i = N)`
//!
//! with `F(i)` the hash of P_i's two active keys for column j. The paper sends the four values of this
//! polynomial, we its coefficients: they are sums of each other, and what is multiplied by the secret bits
//! is simpler. The result's colour is `(lambda_a ^ alpha)(lambda_b ^ beta) ^ lambda_w`, a polynomial whose
//! coefficients are `lambda_a lambda_b ^ lambda_w`, `lambda_b`, `lambda_a` and one. The shares of their
//! products with `R_j`, the last one left out, come from correlated OTs with Delta `R_j`: the argument
//! `rows` of [`GateHash::garble_column`].
//!
//! # The hash
//! `F(a, b; t) = pi(K ^ t) ^ K ^ t` with `K = 2 a ^ 4 b`, where 2 and 4 multiply each 64-bit word as an
//! element of GF(2^64), reduced by `x^64 + x^4 + x^3 + x + 1`, and `pi` is AES-128 under a public key that
//! serves one piece of at most [`ANDS_PER_KEY`] ANDs, as in `garble.rs`. `t` holds the AND's number in the
//! piece, the column, and the party whose keys these are: no pair of key and tweak comes twice.
//!
//! # Security
//! What is needed: everything that an honest party P_i masks with a hash of a pair of keys other than the
//! active one must look random to all others together. They know, of each wire, the active key; the four
//! pairs of an AND are `(k_a ^ x R, k_b ^ y R)`, hence the inputs `K ^ t ^ m R` with m = 0 (known to
//! them), 2, 4 and 6 (unknown). What is masked depends on R in turn (circularity), but only so far: in
//! P_i's own column the product of R with its bits, and the key of 0, which is the active one or that plus
//! R; in other columns nothing.
//!
//! Argument, with AES as an ideal cipher, for one honest party. Let `B = 3 * 64 * N` be its unknown hashes
//! under one key. A query to the cipher under it, in either direction, tells something only if it meets one
//! of their inputs or outputs. An input is `K ^ t ^ m R`: it is met for one value of R each, since m is
//! invertible. An output is `h ^ c R ^ K ^ t ^ m R` where c is a bit: a multiple of R by one of 2, 4, 6, 3,
//! 5, 7, none of which is zero, so again for one value of R. (That is why operands are doubled before they
//! are added: with `k_a ^ k_b`, or with doubling once, one of the multiples would be 0 or 1, and a pair's
//! hash known or its output free of R.) R has 127 random bits. So `p` evaluations of AES have advantage at
//! most `2 p B / 2^127` against each honest party, **which no number of gates, lanes or sessions increases**:
//! 2^117 evaluations for N = 2, 2^114 for N = 5 with four honest ones. Where no query hits, the hashes are
//! values of a fresh permutation at different points, different from random by at most `(2 B)^2 / 2^129` for
//! each key, and two inputs meet with as much once more: 2^-74 for 2^40 ANDs and N = 2, 2^-68
//! for N = 5, the hashes of all honest parties together.
//!
//! **Rows of the OT extension are used unhashed**, with the same Delta in all gates, and Delta is the
//! free-XOR offset too. P_j, the sender, has q, P_i the row `t = q ^ c R_j`. What P_j and its friends learn
//! of t: for the three inactive pairs nothing, as P_i sends t under a hash that looks random. For the
//! active pair they know the hash, so they learn the polynomial's value of t, hence (from q) P_i's share of
//! the polynomial's value. That one is masked by its share of `lambda_a lambda_b`, which is fresh for each
//! AND, up to the sum of all shares, which is the result's colour and public. What P_i and its friends learn
//! of q: P_j adds q in its own column alone. There the active pair shows P_j's key, which is public. The rows
//! themselves are the receiver's own choice (correlated OT), and say nothing about Delta to it.

use core::ops::Range;

use crate::dispatch::dispatch;
use crate::garble::{ANDS_PER_KEY, GateHash};
use crate::{Block, Kernels, meter};

/// Blocks of a column for each AND.
pub const BLOCKS_PER_COLUMN: usize = 4;

/// Bytes of one column for so many ANDs of one piece.
#[must_use]
pub const fn column_bytes(ands: usize) -> usize {
    16 * BLOCKS_PER_COLUMN * ands
}

/// What a party adds to its own column: the keys of 0 of the results, and R times its bits.
#[derive(Clone, Copy)]
pub struct OwnColumn<'a> {
    /// Keys of 0 of the results.
    pub zero: &'a [Block],
    /// Which coefficients of each AND, `T_1`, `T_a`, `T_b`, have R: bit i of each word is AND i's.
    pub bits: [u64; 3],
}

/// Shows nothing.
impl core::fmt::Debug for OwnColumn<'_> {
    fn fmt(&self, f: &mut core::fmt::Formatter<'_>) -> core::fmt::Result {
        f.write_str("OwnColumn(..)")
    }
}

/// One column of a piece, as the levels garble it.
pub(crate) struct Column<'a> {
    pub inputs: &'a [Block],
    /// The upper word of the tweak.
    pub tweak: u64,
    /// For `T_1`, `T_a`, `T_b`.
    pub rows: [&'a [Block]; 3],
    /// Of the own column; empty in others.
    pub zero: &'a [Block],
    /// Three bits for each AND of the own column; empty in others.
    pub bits: &'a [u8],
    pub table: [&'a mut [u8]; 4],
}

/// One column of a piece, as the levels evaluate it.
pub(crate) struct Summed<'a> {
    /// Those of all parties, `stride` apart.
    pub inputs: &'a [Block],
    pub stride: usize,
    pub parties: usize,
    pub column: usize,
    /// Keys whose lowest bits are the colours of the operands.
    pub a: &'a [Block],
    pub b: &'a [Block],
    pub table: [&'a [u8]; 4],
    pub c: &'a mut [Block],
}

/// The upper word of the tweak of a party's hash for a column.
#[inline]
pub(crate) const fn tweak(party: usize, column: usize) -> u64 {
    (party as u64) << 32 | column as u64
}

/// Twice a block, word by word, in GF(2^64).
#[inline]
#[must_use]
pub(crate) const fn twice(x: Block) -> Block {
    const fn word(x: u64) -> u64 {
        (x << 1) ^ ((x >> 63).wrapping_neg() & 0x1b)
    }
    Block::new(word(x.lo()), word(x.hi()))
}

impl Kernels {
    /// What the hashes of pairs of keys begin with: `2 a ^ 4 b`.
    ///
    /// # Panics
    /// If the slices differ in length.
    pub fn join_keys(self, a: &[Block], b: &[Block], out: &mut [Block]) {
        assert!(
            a.len() == b.len() && a.len() == out.len(),
            "{} and {} keys make {} inputs",
            a.len(),
            b.len(),
            out.len()
        );
        dispatch!(self, join_keys(a, b, out));
    }

    /// Makes of random blocks keys of 0: clears their lowest bits.
    pub fn clear_colours(self, keys: &mut [Block]) {
        dispatch!(self, clear_colours(keys));
    }

    /// Makes of random blocks a party's active keys: clears their lowest bits, and adds the party's
    /// `offset` where the key in `colours` is odd.
    ///
    /// # Panics
    /// If the slices differ in length.
    pub fn active_keys(self, offset: Block, colours: &[Block], keys: &mut [Block]) {
        assert_eq!(colours.len(), keys.len(), "a colour for each key");
        dispatch!(self, active_keys(offset, colours, keys));
    }
}

impl GateHash {
    /// A party's share of column `column` of piece `number`: `inputs` are its keys of 0, joined
    /// ([`Kernels::join_keys`]); `rows` its shares of the products of the column's offset with the
    /// coefficients of `T_1`, `T_a`, `T_b`, but for what `own` adds, which is there where `party` is
    /// `column`. `table` becomes four strings of 16 bytes for each AND.
    ///
    /// # Panics
    /// If there are more than [`ANDS_PER_KEY`] ANDs or the lengths differ, or there is something of one's
    /// own in another's column, or the reverse.
    #[allow(clippy::too_many_arguments, reason = "what a gate has, none optional")]
    pub fn garble_column(
        &mut self,
        number: u64,
        (party, column): (usize, usize),
        offset: Block,
        inputs: &[Block],
        rows: [&[Block]; 3],
        own: Option<OwnColumn<'_>>,
        table: &mut [u8],
    ) {
        let ands = inputs.len();
        assert!(
            ands <= ANDS_PER_KEY
                && rows.iter().all(|row| row.len() == ands)
                && own.is_none_or(|own| own.zero.len() == ands)
                && own.is_some() == (party == column)
                && table.len() == column_bytes(ands),
            "a column of {ands} ANDs has {} bytes, not {}, three rows and, if it is one's own, keys",
            column_bytes(ands),
            table.len()
        );
        let key = self.expand(number);
        meter::add(4 * ands as u64);
        let (kernels, keys) = (self.kernels(), self.keys());
        let mut bits;
        let mut work = Column {
            inputs,
            tweak: tweak(party, column),
            rows,
            zero: &[],
            bits: &[],
            table: quarters_mut(table, 16 * ands),
        };
        match own {
            Some(own) => {
                bits = interleave(own.bits);
                (work.zero, work.bits) = (own.zero, &bits[..ands]);
                dispatch!(
                    kernels,
                    garble_column::<true>(keys, key, offset, &mut work, 0..ands)
                );
                bits.fill(0);
                // The compiler must believe that somebody still reads the zeros.
                zeroize::optimization_barrier(&bits);
            }
            None => dispatch!(
                kernels,
                garble_column::<false>(keys, key, offset, &mut work, 0..ands)
            ),
        }
    }

    /// The active keys `c` of party `column` for the results of piece `number`. `inputs` are the active
    /// keys of all `parties`, joined, those of party i from `i * c.len()`; `a` and `b` are active keys of
    /// the operands, of any party: their lowest bits are the colours. `table` is the column.
    ///
    /// # Panics
    /// If there are more than [`ANDS_PER_KEY`] ANDs or the lengths differ.
    #[allow(clippy::too_many_arguments, reason = "what a gate has, none optional")]
    pub fn evaluate_column(
        &mut self,
        number: u64,
        (parties, column): (usize, usize),
        inputs: &[Block],
        a: &[Block],
        b: &[Block],
        table: &[u8],
        c: &mut [Block],
    ) {
        let ands = c.len();
        assert!(
            ands <= ANDS_PER_KEY
                && a.len() == ands
                && b.len() == ands
                && inputs.len() == parties * ands
                && table.len() == column_bytes(ands),
            "a column of {ands} ANDs has {} bytes, not {}, and {parties} inputs for each",
            column_bytes(ands),
            table.len()
        );
        let key = self.expand(number);
        meter::add((parties * ands) as u64);
        let (kernels, keys) = (self.kernels(), self.keys());
        let work = &mut Summed {
            inputs,
            stride: ands,
            parties,
            column,
            a,
            b,
            table: quarters(table, 16 * ands),
            c,
        };
        dispatch!(kernels, evaluate_column(keys, key, work, 0..ands));
    }
}

/// Asks for memory that is read soon: a table, of which each piece is a page of its own that the processor
/// does not foresee.
#[inline]
pub fn prefetch(bytes: &[u8]) {
    #[cfg(target_arch = "x86_64")]
    for line in bytes.chunks(64) {
        use core::arch::x86_64::{_MM_HINT_T0, _mm_prefetch};
        // SAFETY: the address is within the slice, and all processors of the target have the instruction, which
        // changes nothing that a program could see.
        unsafe { _mm_prefetch::<_MM_HINT_T0>(line.as_ptr().cast()) };
    }
    #[cfg(not(target_arch = "x86_64"))]
    let _ = bytes;
}

/// As many of the first ANDs of a range as are a multiple of `unit`, and the others.
#[inline]
pub(crate) fn split_range(range: Range<usize>, unit: usize) -> [Range<usize>; 2] {
    let middle = range.start + range.len() / unit * unit;
    [range.start..middle, middle..range.end]
}

fn quarters(table: &[u8], each: usize) -> [&[u8]; 4] {
    core::array::from_fn(|i| &table[i * each..][..each])
}

fn quarters_mut(table: &mut [u8], each: usize) -> [&mut [u8]; 4] {
    let (ab, cd) = table.split_at_mut(2 * each);
    let (a, b) = ab.split_at_mut(each);
    let (c, d) = cd.split_at_mut(each);
    [a, b, c, d]
}

/// Bit i of each word, in byte i.
fn interleave(words: [u64; 3]) -> [u8; ANDS_PER_KEY] {
    // Bit k of a byte, in byte k of a word: copied to all, of which each keeps one.
    let spread = |byte: u64| {
        let kept = byte.wrapping_mul(0x0101_0101_0101_0101) & 0x8040_2010_0804_0201;
        (((kept + 0x7f7f_7f7f_7f7f_7f7f) | kept) >> 7) & 0x0101_0101_0101_0101
    };
    let mut out = [0; ANDS_PER_KEY];
    for (i, out) in out.as_chunks_mut::<8>().0.iter_mut().enumerate() {
        let [x, y, z] = words.map(|word| spread(word >> (8 * i) & 0xff));
        *out = (x | y << 1 | z << 2).to_le_bytes();
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn bits_are_interleaved() {
        let words = [0x0123_4567_89ab_cdef, 0xfedc_ba98_0000_ffff, 1 << 63 | 1];
        for (i, byte) in interleave(words).into_iter().enumerate() {
            for (k, word) in words.iter().enumerate() {
                assert_eq!(byte >> k & 1, (word >> i & 1) as u8, "bit {i} of word {k}");
            }
            assert_eq!(byte >> 3, 0);
        }
    }

    #[test]
    fn doubling_is_that_of_the_field() {
        assert_eq!(twice(Block::new(1, 1 << 63)), Block::new(2, 0x1b));
        // x^64 by doubling 64 times.
        let power = (0..64).fold(Block::new(1, 3), |x, _| twice(x));
        assert_eq!(power, Block::new(0x1b, 0x1b ^ 0x36));
    }
}
