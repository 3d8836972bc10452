//! AND gates garbled by N parties together: BMR (Beaver, Micali and Rogaway, STOC 1990) with free XOR, as
//! Ben-Efraim, Lindell and Omri have it (CCS 2016) and MOTION, section 6.3.
//!
//! Each party P_i has an offset `R_i`, whose lowest bit is one, and for each wire a key of 0, whose lowest
//! bit is zero; the key of 1 is `k ^ R_i`. A wire with value x has a secret mask lambda, of which each
//! party has a share, and the public colour `alpha = x ^ lambda`: what is computed on are the keys of the
//! colour, and their lowest bit is the colour itself.
//!
//! # The table
//! An AND with operands a, b and result w has a *column* for each party j, three blocks `T_1`,
//! `T_a`, `T_b`, such that for colours alpha, beta and the active keys of all parties i
//!
//! `k^j_w = T_1 ^ alpha T_a ^ beta (T_b ^ k^j_a) ^ F(k^1_a) ^ F'(k^1_b) ^ .. ^ F(k^N_a) ^ F'(k^N_b)`.
//!
//! F and F' are hashes for the column and the operand. The paper sends four values, one for each pair of
//! colours, under hashes of pairs of keys. Here it is the other way around: what is sent are the
//! coefficients of the polynomial in alpha and beta whose values these are, and keys are hashed one by one, as
//! half-gates do (Zahur, Rosulek and Evans, Eurocrypt 2015, where one garbler has all keys). The result's
//! colour is `(lambda_a ^ alpha)(lambda_b ^ beta) ^ lambda_w`, with the coefficients
//! `c_1 = lambda_a lambda_b ^ lambda_w`, `lambda_b`, `lambda_a` and one. The last is that of `alpha beta`:
//! `beta k^j_a` holds it, since the active key is `k^j_a0 ^ alpha R_j`, and the column's owner sends `k^j_a0`
//! in `T_b`. So a fourth block is not there. With sums over all parties i,
//!
//! - `T_1 = sum F(k^i_a0) ^ F'(k^i_b0)` `^ c_1 R_j ^ k^j_w0`,
//! - `T_a = sum F(k^i_a0) ^ F(k^i_a0 ^ R_i)` `^ lambda_b R_j`,
//! - `T_b = sum F'(k^i_b0) ^ F'(k^i_b0 ^ R_i)` `^ lambda_a R_j ^ k^j_a0`.
//!
//! The shares of the three products with `R_j` come from correlated OTs with Delta `R_j`: the argument
//! `rows` of [`GateHash::garble_column`].
//!
//! # The hash
//! `F(k) = pi(y) ^ y` with `y = sigma(k) ^ t`, as in `garble.rs`: pi is AES-128 without the addition of its first
//! and its last round key, under a public key that serves one piece of at most [`ANDS_PER_KEY`] ANDs. `t` holds the AND's number in
//! the piece, the operand, the column, and the party whose key it is: no pair of key and tweak comes twice.
//!
//! # Security
//! The argument needs the following: everything that an honest party P_i masks with a hash of a key other than the active one
//! must look random to all others together (circular correlation robustness for naturally derived keys). They
//! know, of each wire, the active key k; the other is `k ^ R`, and the hash's input `sigma(k) ^ t ^ sigma(R)`.
//! The masked value depends on R in turn (circularity), but only so far: in P_i's own column the products of R
//! with its bits, and keys of 0, which are the active ones or those plus R; in other columns nothing.
//!
//! Each of its shares of `T_a` and `T_b` has a hash of its own of an inactive key: it is random. Its share
//! of `T_1` follows from these two by what can be computed of them, the share of the polynomial's value at
//! the active colours: hashes of active keys, the rows' share, which is spoken of below, and in the own column
//! the active key of the result.
//!
//! Argument, with AES as an ideal cipher, for one honest party. Let `B = 2 * 64 * N` be its unknown hashes
//! under one key. A query to the cipher under it, in either direction, tells something only if it meets one
//! of their inputs or outputs. An input is `sigma(k) ^ t ^ sigma(R)`: it is met for one value of R each. An
//! output is `h ^ c R ^ sigma(k) ^ t ^ sigma(R)` where c is a bit; `sigma(R)` and `sigma(R) ^ R` are
//! permutations, so again for one value of R. R has 127 random bits. So `p` evaluations of AES have advantage at
//! most `2 p B / 2^127` against each honest party, **which no number of gates, lanes or sessions increases**:
//! 2^118 evaluations for N = 2, 2^114 for N = 5 with four honest ones. Where no query hits, the hashes are
//! values of a fresh permutation at different points, different from random by at most `(2 B)^2 / 2^129` for
//! each key, and two inputs meet with as much once more: 2^-76 for 2^40 ANDs and N = 2, 2^-71
//! for N = 5, the hashes of all honest parties together.
//!
//! **Rows of the OT extension are used unhashed**, with the same Delta in all gates, and Delta is the
//! free-XOR offset too. P_j, the sender, has q, P_i the row `t = q ^ c R_j`. P_j and its friends learn this
//! of t: from `T_a` and `T_b` nothing, as P_i sends them under hashes that look random. The value that follows with
//! `T_1` is the polynomial's value of t at the active colours, hence (from q) P_i's share of
//! the polynomial's value. That one is masked by its share of `lambda_a lambda_b`, which is fresh for each
//! AND, up to the sum of all shares, which is the result's colour and public. P_i and its friends learn this
//! of q: P_j adds q in its own column alone. There the active colours show P_j's key, which is public. The rows
//! themselves are the receiver's own choice (correlated OT), and say nothing about Delta to it.

use crate::dispatch::dispatch;
use crate::garble::{ANDS_PER_KEY, GateHash};
use crate::{Block, Kernels, meter};

mod column;

pub use column::prefetch;
pub(crate) use column::{Column, Summed, tweak};

/// Blocks of a column for each AND.
pub const BLOCKS_PER_COLUMN: usize = 3;

/// Bytes of one column for `ands` ANDs of one piece.
#[must_use]
pub const fn column_bytes(ands: usize) -> usize {
    16 * BLOCKS_PER_COLUMN * ands
}

/// Values that a party adds to its own column: the keys of 0 of the results, and R times its bits.
#[derive(Clone, Copy)]
pub struct OwnColumn<'a> {
    /// Keys of 0 of the results.
    pub zero: &'a [Block],
    /// Coefficients of each AND, `T_1`, `T_a`, `T_b`, that have R: bit i of each word is AND i's.
    pub bits: [u64; 3],
}

/// A piece's column to be evaluated, or a part of its ANDs.
#[derive(Debug, Clone, Copy)]
pub struct SummedColumn<'a> {
    /// Column of the whole piece.
    pub table: &'a [u8],
    /// The first of the ANDs.
    pub first: usize,
    /// Memory that is read soon after, and asked for along the way: each piece of a long table is a page of its own,
    /// which the processor does not foresee.
    pub ahead: &'a [u8],
}

madrigal_core::opaque!(OwnColumn<'_>);

impl Kernels {
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
    /// A party's share of column `column` of piece `number`: `a` and `b` are its keys of 0 of the operands;
    /// `rows` its shares of the products of the column's offset with the coefficients of `T_1`, `T_a`, `T_b`,
    /// but for what `own` adds, which is there where `party` is `column`. `table` becomes three strings of 16
    /// bytes for each AND.
    ///
    /// # Panics
    /// If there are more than [`ANDS_PER_KEY`] ANDs or the lengths differ, or there is something of one's
    /// own in another's column, or the reverse, or a party's number is 2^16 or more.
    #[allow(clippy::too_many_arguments, reason = "what a gate has, none optional")]
    pub fn garble_column(
        &mut self,
        number: u64,
        (party, column): (usize, usize),
        offset: Block,
        [a, b]: [&[Block]; 2],
        rows: [&[Block]; 3],
        own: Option<OwnColumn<'_>>,
        table: &mut [u8],
    ) {
        let ands = a.len();
        assert!(
            ands <= ANDS_PER_KEY
                && b.len() == ands
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
            a,
            b,
            tweak: tweak(party, column),
            rows,
            zero: &[],
            bits: &[],
            table: thirds_mut(table, 16 * ands),
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

    /// The active keys `c` of party `column` for some results of piece `number`, from the AND on that the column
    /// says. `a` and `b` are the active keys of these ANDs' operands of all `parties`, those of party i from `i *
    /// stride`.
    ///
    /// # Panics
    /// If the piece has more than [`ANDS_PER_KEY`] ANDs, or fewer than are asked for, or the lengths do not fit, or there
    /// are more than 2^16 parties.
    #[allow(clippy::too_many_arguments, reason = "what a gate has, none optional")]
    pub fn evaluate_column(
        &mut self,
        number: u64,
        (parties, column): (usize, usize),
        [a, b]: [&[Block]; 2],
        stride: usize,
        SummedColumn {
            table,
            first,
            ahead,
        }: SummedColumn<'_>,
        c: &mut [Block],
    ) {
        let ands = c.len();
        let keys = parties.saturating_sub(1) * stride + ands;
        let all = table.len() / column_bytes(1);
        assert!(
            all <= ANDS_PER_KEY
                && table.len() == column_bytes(all)
                && first + ands <= all
                && column < parties
                && a.len() >= keys
                && b.len() >= keys,
            "ANDs {first} to {} of a column of {} bytes, with keys of {parties} parties",
            first + ands,
            table.len()
        );
        let key = self.expand(number);
        meter::add((2 * parties * ands) as u64);
        let (kernels, keys) = (self.kernels(), self.keys());
        let work = &mut Summed {
            a,
            b,
            stride,
            parties,
            column,
            first,
            table: thirds(table, 16 * all).map(|third| &third[16 * first..][..16 * ands]),
            ahead,
            c,
        };
        dispatch!(kernels, evaluate_column(keys, key, work, 0..ands));
    }
}

fn thirds(table: &[u8], each: usize) -> [&[u8]; 3] {
    core::array::from_fn(|i| &table[i * each..][..each])
}

fn thirds_mut(table: &mut [u8], each: usize) -> [&mut [u8]; 3] {
    let (a, bc) = table.split_at_mut(each);
    let (b, c) = bc.split_at_mut(each);
    [a, b, c]
}

/// Bit i of each word, in byte i.
pub(crate) fn interleave(words: [u64; 3]) -> [u8; ANDS_PER_KEY] {
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
