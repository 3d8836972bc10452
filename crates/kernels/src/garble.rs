//! AND gates garbled and evaluated: half-gates (Zahur, Rosulek and Evans, "Two Halves Make a Whole",
//! Eurocrypt 2015) and three halves (Rosulek and Roy, "Three Halves Make a Whole?", Crypto 2021), with
//! free XOR (Kolesnikov and Schneider, ICALP 2008): the labels of a wire are `x` and `x ^ R`, and the
//! lowest bit of `R` is one. A label's colour is the complement of its lowest bit, as a shift by that bit leaves
//! what it should: the evaluator adds a part of the table where the label is even.
//!
//! # The hash
//! `H(x, t) = pi(y) ^ y` with `y = sigma(x) ^ t`, where `pi` is AES-128 under a public key without the addition of
//! its first and its last round key, and `sigma` maps the halves of each 64-bit word `(lo, hi) -> (lo ^ hi, lo)`. Each **key
//! serves one piece of at most [`ANDS_PER_KEY`] ANDs**, lanes of a gate or gates of a layer; within a piece `t` is
//! the AND's number, counted from 1: in the upper half of the lower word for the first operand, in that of the
//! upper word for the second, in both for their sum (three halves). The part that BMR adds lies above that (`bmr.rs`). So no
//! pair of key and tweak comes twice, as in Guo, Katz, Wang, Weng and Yu ("Better Concrete Security for Half-Gates Garbling",
//! Crypto 2020, ePrint 2019/1168), who have a key for each half gate; a hash costs one AES block. A key, expanded with fifteen
//! others in vectors, takes some 2 ns (Zen 5), where the piece's hashes take 70 at least. With one key and no other, TMMO would
//! take two blocks for each hash, and all gates ever garbled would be targets of one search (`hash.rs` shows it).
//!
//! Everything but AES is there to be cheap beside it. The round keys at AES' ends are public: without them it is an
//! ideal cipher under k where AES is one. `sigma` and the tweak take two
//! instructions: a read that duplicates lower halves, plus one that duplicates upper halves and then has every
//! second one replaced by the tweak's. A value that is added to a hash is added as the last round key. The part of an AND of
//! half-gates that does not depend on its hashes is computed while AES works on those of other gates.
//!
//! # Security
//! Property needed: *circular correlation robustness for naturally derived keys* (Zahur et al., section
//! 5): for labels that are uniform, or sums of such labels and outputs, all `H(x_i ^ R, t_i) ^ b_i R` look
//! random; for three halves, cut to a half and a bit, `.. ^ L_i(R)` where `L_i` adds up halves of `R`
//! (Rosulek and Roy, section 6).
//!
//! Argument, with AES as an ideal cipher. Let `B` be the unknown hashes under one key: two for each AND,
//! three for three halves, hence at most 128 or 192. A query to the cipher under it, in either direction,
//! tells something only if it meets one of their inputs, or their outputs. An input is
//! `sigma(x_i ^ R) ^ t_i` for one value of `R` each. An output is
//! `h_i ^ b_i R ^ sigma(x_i ^ R) ^ t_i`, and since `sigma(R)` and `sigma(R) ^ R` are both
//! permutations, again for one value of `R`. An output of three halves has 65 bits that are known, up to
//! `R`, one half and a bit of the other: that half of `sigma(R)` plus `L_i(R)` takes all values evenly whatever
//! `L_i` is (that is why `sigma` works within each half), but for the bit of `R`
//! that is one; the other 63 bits are random and known to nobody. `R` has 127
//! random bits: `p` evaluations of AES have advantage at most `2 p B / 2^127`, **which no number of gates,
//! lanes or sessions increases**: an attacker needs 2^119 evaluations, 2^118 for three halves. Where no
//! query hits, the hashes are values of a fresh permutation at different points: different from random by
//! at most `(2 B)^2 / 2^129`, and two inputs meet, over the choice of labels and `R`, with as much once
//! more. For 2^40 ANDs that is 2^-78 (2^-77 for three halves), for 2^30 ANDs 2^-88 (2^-87).
//!
//! # Three halves
//! The halves of a label are `x = (x_L, x_R)`, the lower one first, and so are those of hashes. Labels named by colour
//! are `A_i`, `B_j`; the evaluator, who has colours i and j, computes
//!
//! `C_L = H(A_i)_L ^ H(A_i ^ B_j)_L ^ i G_0 ^ (i^j^1) G_2 ^ (p^q) A_L ^ p A_R ^ (p^i) B_L ^ q B_R`,
//! `C_R = H(B_j)_R ^ H(A_i ^ B_j)_L ^ j G_1 ^ (i^j^1) G_2 ^ p A_L ^ (q^j) A_R ^ q B_L ^ (p^q) B_R`
//!
//! with three halves `G` from the table, and control bits p and q, which
//! depend on i, j: they are the complements of sums of hash bits and of five table bits `z`, by the same scheme:
//! `p = 1 ^ h(A_i)_R ^ h(A_i ^ B_j)_R ^ z_L ^ i z_0 ^ (i^j^1) z_2` and
//! `q = 1 ^ h(B_j)_L ^ h(A_i ^ B_j)_R ^ z_R ^ j z_1 ^ (i^j^1) z_2`, where `h` is the hash's bit of the AND's number in
//! the piece: with `H(A_i)` one way and `H(B_j)` the other, hashes are added whole and then divided. (p, q) is
//! `(P, Q) ^ f(i, j, a, b)` where a and b are the colours of the labels of 0, and P and Q are coins of the
//! garbler: the evaluator sees one of the four values, which is uniform. It is the scheme of section 5 of
//! the paper with other bases: those for which `G` and `z` mask by one unknown hash each, and `C` is what the
//! evaluator has for colours (0, 1) and (1, 0), where their product is 0.

use crate::dispatch::dispatch;
use crate::{Block, Kernels, meter};

pub(crate) mod piece;

pub use piece::{ANDS_PER_KEY, Operands};
#[cfg(any(target_arch = "x86_64", target_arch = "aarch64"))]
pub(crate) use piece::{BITS, TWEAKS, split_range};
pub(crate) use piece::{
    Controls, Evaluated, Garbled, KEYS, KeyWindow, pack, three_bytes, tweaks, unpack,
};

/// Schemes by which an AND is garbled.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Scheme {
    /// 32 bytes for an AND; four hashes to garble it, two to evaluate it.
    HalfGates,
    /// 24 bytes and 5 bits for an AND; six hashes to garble it, three to evaluate it.
    ThreeHalves,
}

impl Scheme {
    /// Bytes of the table of a piece of `ands` ANDs. Three halves have 5 bytes of control bits for
    /// each 8 ANDs begun.
    #[must_use]
    pub const fn table_bytes(self, ands: usize) -> usize {
        match self {
            Self::HalfGates => 32 * ands,
            Self::ThreeHalves => three_bytes(ands),
        }
    }

    /// AES blocks that garbling an AND takes.
    #[must_use]
    pub const fn garble_aes(self) -> u64 {
        match self {
            Self::HalfGates => 4,
            Self::ThreeHalves => 6,
        }
    }

    /// AES blocks that evaluating an AND takes.
    #[must_use]
    pub const fn evaluate_aes(self) -> u64 {
        match self {
            Self::HalfGates => 2,
            Self::ThreeHalves => 3,
        }
    }
}

/// The hash of one instance of garbling, by which pieces of ANDs are garbled and evaluated.
///
/// Piece `n` is hashed under the public key `key ^ n`. Both parties number their pieces alike, and
/// each number is used once with one `R`. Numbers that follow each other are the fastest.
#[derive(Clone)]
pub struct GateHash {
    key: Block,
    kernels: Kernels,
    /// Window of [`KEYS`] keys that `keys` holds.
    ready: Option<u64>,
    keys: Box<KeyWindow>,
}

impl Kernels {
    /// [`GateHash::new`], run at this handle's level.
    #[must_use]
    pub fn gate_hash(self, key: Block) -> GateHash {
        GateHash {
            key,
            kernels: self,
            ready: None,
            keys: Box::new([[Block::ZERO; KEYS]; 11]),
        }
    }
}

impl GateHash {
    /// The hash of the instance with the public `key`, which nothing else has.
    #[must_use]
    pub fn new(key: Block) -> Self {
        Kernels::detect().gate_hash(key)
    }

    /// The level that it runs at.
    #[must_use]
    pub const fn kernels(&self) -> Kernels {
        self.kernels
    }

    /// Garbles pieces, numbered from `number` on: of the labels of 0 of each piece's operands makes those of the
    /// products, `c`, and the tables, each piece's behind that of the one before. `offset` is `R`; `coins`, used by
    /// three halves alone, are random blocks, one for each piece: two bits for each AND.
    ///
    /// Several pieces at once are faster: AES works on one while the next is made ready.
    ///
    /// # Panics
    /// If a piece has more than [`ANDS_PER_KEY`] ANDs, if its operands differ in length, if there are not as many
    /// products as ANDs and, where they are used, `coins` as pieces, or if `table` has not [`Scheme::table_bytes`] for each
    /// piece, or the numbers end at 2^64.
    #[allow(clippy::too_many_arguments, reason = "what a gate has, none optional")]
    pub fn garble(
        &mut self,
        scheme: Scheme,
        number: u64,
        offset: Block,
        coins: &[Block],
        pieces: &[Operands<'_>],
        c: &mut [Block],
        table: &mut [u8],
    ) {
        let ands = assert_pieces(scheme, number, pieces, c.len(), table.len());
        assert!(
            scheme == Scheme::HalfGates || coins.len() == pieces.len(),
            "a block of coins for each of {} pieces, not {}",
            pieces.len(),
            coins.len()
        );
        meter::add(scheme.garble_aes() * ands as u64);
        let (mut coins, mut c, mut table) = (coins, c, table);
        for (number, pieces) in windows(number, pieces) {
            let key = self.expand(number);
            let (kernels, keys) = (self.kernels, &*self.keys);
            let (ands, bytes) = size(scheme, pieces);
            let (c_now, c_rest) = c.split_at_mut(ands);
            let (table_now, table_rest) = table.split_at_mut(bytes);
            (c, table) = (c_rest, table_rest);
            match scheme {
                Scheme::HalfGates => {
                    dispatch!(
                        kernels,
                        garble_half(keys, key, offset, pieces, c_now, table_now)
                    );
                }
                Scheme::ThreeHalves => {
                    let (coins_now, coins_rest) = coins.split_at(pieces.len());
                    coins = coins_rest;
                    dispatch!(
                        kernels,
                        garble_three(keys, key, offset, coins_now, pieces, c_now, table_now)
                    );
                }
            }
        }
    }

    /// Evaluates pieces, numbered from `number` on: the labels of each piece's operands, those that are, and the
    /// tables make the labels of the products, `c`.
    ///
    /// # Panics
    /// In the same cases as [`Self::garble`].
    pub fn evaluate(
        &mut self,
        scheme: Scheme,
        number: u64,
        pieces: &[Operands<'_>],
        table: &[u8],
        c: &mut [Block],
    ) {
        let ands = assert_pieces(scheme, number, pieces, c.len(), table.len());
        meter::add(scheme.evaluate_aes() * ands as u64);
        let (mut c, mut table) = (c, table);
        for (number, pieces) in windows(number, pieces) {
            let key = self.expand(number);
            let (kernels, keys) = (self.kernels, &*self.keys);
            let (ands, bytes) = size(scheme, pieces);
            let (c_now, c_rest) = c.split_at_mut(ands);
            let (table_now, table_rest) = table.split_at(bytes);
            (c, table) = (c_rest, table_rest);
            match scheme {
                Scheme::HalfGates => {
                    dispatch!(kernels, evaluate_half(keys, key, pieces, table_now, c_now));
                }
                Scheme::ThreeHalves => {
                    dispatch!(kernels, evaluate_three(keys, key, pieces, table_now, c_now));
                }
            }
        }
    }

    /// The keys that [`Self::expand`] has made.
    pub(crate) fn keys(&self) -> &KeyWindow {
        &self.keys
    }

    /// Sees to it that the key of a piece is expanded, and gives its place.
    pub(crate) fn expand(&mut self, number: u64) -> usize {
        let window = number / KEYS as u64;
        if self.ready != Some(window) {
            let (first, keys) = (window * KEYS as u64, &mut *self.keys);
            dispatch!(self.kernels, expand_keys(self.key, first, keys));
            self.ready = Some(window);
        }
        (number % KEYS as u64) as usize
    }
}

// The key is public, but says which instance it is.
madrigal_core::opaque!(GateHash);

/// Counts of pieces: ANDs, and bytes of the tables.
fn size(scheme: Scheme, pieces: &[Operands<'_>]) -> (usize, usize) {
    pieces.iter().fold((0, 0), |(ands, bytes), [a, _]| {
        (ands + a.len(), bytes + scheme.table_bytes(a.len()))
    })
}

/// Counts the ANDs of pieces, which fit each other and the rest.
fn assert_pieces(
    scheme: Scheme,
    number: u64,
    pieces: &[Operands<'_>],
    c: usize,
    table: usize,
) -> usize {
    for [a, b] in pieces {
        assert!(
            a.len() == b.len() && a.len() <= ANDS_PER_KEY,
            "a piece has at most {ANDS_PER_KEY} labels of each operand, not {} and {}",
            a.len(),
            b.len()
        );
    }
    let (ands, bytes) = size(scheme, pieces);
    assert!(
        c == ands && table == bytes,
        "{ands} ANDs make so many labels, not {c}, and a table of {bytes} bytes, not {table}"
    );
    assert!(
        number
            .checked_add((pieces.len() as u64).saturating_sub(1))
            .is_some(),
        "{} pieces have no numbers from {number} on",
        pieces.len()
    );
    ands
}

/// Pieces by the windows of keys that their numbers are in.
fn windows<'a, 'b>(
    mut number: u64,
    mut pieces: &'a [Operands<'b>],
) -> impl Iterator<Item = (u64, &'a [Operands<'b>])> {
    core::iter::from_fn(move || {
        let most = KEYS - (number % KEYS as u64) as usize;
        let (now, rest) = pieces.split_at(most.min(pieces.len()));
        let first = number;
        (number, pieces) = (number.wrapping_add(now.len() as u64), rest);
        (!now.is_empty()).then_some((first, now))
    })
}
