//! AND gates garbled and evaluated: half-gates (Zahur, Rosulek and Evans, "Two Halves Make a Whole",
//! Eurocrypt 2015) and three halves (Rosulek and Roy, "Three Halves Make a Whole?", Crypto 2021), with
//! free XOR (Kolesnikov and Schneider, ICALP 2008): the labels of a wire are `x` and `x ^ R`, and the
//! lowest bit of a label is its colour, so that of `R` is one. Half-gates take the complement of that bit, as a
//! shift by it leaves what it should: the evaluator adds a half of the table where the label is even.
//!
//! # The hash
//! `H(x, t) = pi(y) ^ y` with `y = sigma(x) ^ t`, where `pi` is AES-128 under a public key without the addition of
//! its first round key, and `sigma` maps the halves of each 64-bit word `(lo, hi) -> (lo ^ hi, lo)`. Each **key
//! serves one piece of at most [`ANDS_PER_KEY`] ANDs**, lanes of a gate or gates of a layer; within a piece `t` is
//! the AND's number, counted from 1: in the upper half of the lower word for the first operand, in that of the
//! upper word for the second, in both for their sum (three halves). What BMR adds lies above that (`bmr.rs`). So no pair of key and tweak comes twice, as in
//! Guo, Katz, Wang, Weng and Yu ("Better Concrete Security for Half-Gates Garbling", Crypto 2020, ePrint
//! 2019/1168), who have a key for each half gate; a hash costs one AES block. A key, expanded with fifteen others in
//! vectors, takes some 2 ns (Zen 5), where the piece's hashes take 70 at least. With one key and no other, TMMO
//! would take two blocks for each hash, and all gates ever garbled would be targets of one search (`hash.rs` shows
//! it).
//!
//! Everything but AES is there to be cheap beside it. The first round key is public, and what it is added to is
//! known up to `R`: `x -> AES(x ^ k)` under k is an ideal cipher where AES is one. `sigma` and the tweak take two
//! instructions: a read that duplicates lower halves, plus one that duplicates upper halves and then has every
//! second one replaced by the tweak's. Only sums of an even number of hashes are used, so the last round key cancels,
//! and what is added to such a sum is added as the last round key. What of a gate does not depend on its hashes is computed
//! while AES works on those of other gates.
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
//! permutations, again for one value of `R`. Of an output of three halves 65 bits are known, up to
//! `R`: the low half of `sigma(R)` plus `L_i(R)` takes all values evenly whatever `L_i` is (that is why
//! `sigma` works within each half), and the other 63 bits are random and known to nobody. `R` has 127
//! random bits: `p` evaluations of AES have advantage at most `2 p B / 2^127`, **which no number of gates,
//! lanes or sessions increases**: an attacker needs 2^119 evaluations, 2^118 for three halves. Where no
//! query hits, the hashes are values of a fresh permutation at different points: different from random by
//! at most `(2 B)^2 / 2^129`, and two inputs meet, over the choice of labels and `R`, with as much once
//! more. For 2^40 ANDs that is 2^-78 (2^-77 for three halves), for 2^30 ANDs 2^-88 (2^-87).
//!
//! # Three halves
//! The halves of a label are `x = (x_L, x_R)`, the lower one first. Labels named by colour are `A_i`,
//! `B_j`; the evaluator, who has colours i and j, computes
//!
//! `C_L = H(A_i) ^ H(A_i ^ B_j) ^ i G_0 ^ (i ^ j) G_2 ^ (p^q) A_L ^ p A_R ^ (p^i) B_L ^ q B_R`,
//! `C_R = H(B_j) ^ H(A_i ^ B_j) ^ j G_1 ^ (i ^ j) G_2 ^ p A_L ^ (q^j) A_R ^ q B_L ^ (p^q) B_R`
//!
//! with the lower halves of hashes, three halves `G` from the table, and control bits p and q, which
//! depend on i, j: they are the sums of hash bits and of five table bits `z`, by the same scheme:
//! `p = h(A_i) ^ h(A_i ^ B_j) ^ z_L ^ i z_0 ^ (i ^ j) z_2`, and `q` accordingly. (p, q) is
//! `(P, Q) ^ f(i, j, a, b)` where a and b are the colours of the labels of 0, and P and Q are coins of the
//! garbler: the evaluator sees one of the four values, which is uniform. It is the scheme of section 5 of
//! the paper with other bases: those for which `G` and `z` mask by one unknown hash each.

use core::fmt;
use core::ops::Range;

use crate::dispatch::dispatch;
use crate::{Block, Kernels, meter};

/// The labels of both operands of a piece's ANDs, at most [`ANDS_PER_KEY`] of each.
pub type Operands<'a> = [&'a [Block]; 2];

/// The most ANDs that share a key.
pub const ANDS_PER_KEY: usize = 64;

/// Keys that are expanded together.
pub(crate) const KEYS: usize = 16;

/// The round keys of [`KEYS`] keys: `[round][key]`, as vectors of keys make them.
pub(crate) type KeyWindow = [[Block; KEYS]; 11];

/// The tweaks of an AND's operands, by its number in the piece; that of their sum is the sum of both. They differ
/// from each other and from those of other ANDs, and lie in the upper halves of the words, where
/// `sigma` leaves room for them: one instruction makes the half that has the tweak.
pub(crate) const fn tweaks(number: u64) -> [Block; 2] {
    let tweak = (number + 1) << 32;
    [Block::new(tweak, 0), Block::new(0, tweak)]
}

/// [`tweaks`] of all ANDs of a piece, those of first operands and those of second ones.
#[cfg(any(target_arch = "x86_64", target_arch = "aarch64"))]
pub(crate) static TWEAKS: [[Block; ANDS_PER_KEY]; 2] = {
    let mut all = [[Block::ZERO; ANDS_PER_KEY]; 2];
    let mut i = 0;
    while i < ANDS_PER_KEY {
        [all[0][i], all[1][i]] = tweaks(i as u64);
        i += 1;
    }
    all
};

/// A piece to be garbled, with `W` bytes of the table beside 16 for each AND. The levels are given it by reference: moved,
/// it would be read back from the stack in other units than it was written, which takes as long as several ANDs.
pub(crate) struct Garbled<'a, const W: usize> {
    pub a: &'a [Block],
    pub b: &'a [Block],
    pub c: &'a mut [Block],
    /// The table's blocks of 16 bytes.
    pub sides: &'a mut [u8],
    /// Its blocks of `W` bytes.
    pub rest: &'a mut [u8],
    /// Of three halves: the coins, which become the control bits.
    pub controls: &'a mut [u8],
}

/// A piece to be evaluated; as [`Garbled`].
pub(crate) struct Evaluated<'a, const W: usize> {
    pub a: &'a [Block],
    pub b: &'a [Block],
    pub c: &'a mut [Block],
    pub sides: &'a [u8],
    pub rest: &'a [u8],
    pub controls: &'a [u8],
}

/// As many of the first ANDs of a range as are a multiple of `unit`, and the others.
#[inline]
pub(crate) fn split_range(range: Range<usize>, unit: usize) -> [Range<usize>; 2] {
    let middle = range.start + range.len() / unit * unit;
    [range.start..middle, middle..range.end]
}

/// How an AND is garbled.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Scheme {
    /// 32 bytes for an AND; four hashes to garble it, two to evaluate it.
    HalfGates,
    /// 24 bytes and 5 bits for an AND; six hashes to garble it, three to evaluate it.
    ThreeHalves,
}

impl Scheme {
    /// Bytes of the table of a piece of so many ANDs. Three halves have 5 bytes of control bits for
    /// each 8 ANDs begun.
    #[must_use]
    pub const fn table_bytes(self, ands: usize) -> usize {
        match self {
            Self::HalfGates => 32 * ands,
            Self::ThreeHalves => 24 * ands + packed_bytes(ands),
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
    /// Which of the windows of [`KEYS`] keys `keys` holds.
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
    /// three halves alone, are random bytes, one for each AND, of which the two lowest bits count.
    ///
    /// Several pieces at once are faster: AES works on one while the next is made ready.
    ///
    /// # Panics
    /// If a piece has more than [`ANDS_PER_KEY`] ANDs, if its operands differ in length, if there are not as many
    /// products and, where they are used, `coins` as ANDs, or if `table` has not [`Scheme::table_bytes`] for each
    /// piece, or the numbers end at 2^64.
    #[allow(clippy::too_many_arguments, reason = "what a gate has, none optional")]
    pub fn garble(
        &mut self,
        scheme: Scheme,
        number: u64,
        offset: Block,
        coins: &[u8],
        pieces: &[Operands<'_>],
        c: &mut [Block],
        table: &mut [u8],
    ) {
        let ands = assert_pieces(scheme, number, pieces, c.len(), table.len());
        assert!(
            scheme == Scheme::HalfGates || coins.len() == ands,
            "a byte of coins for each of {ands} ANDs, not {}",
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
                    let (coins_now, coins_rest) = coins.split_at(ands);
                    coins = coins_rest;
                    self.garble_three(key, offset, coins_now, pieces, c_now, table_now);
                }
            }
        }
    }

    fn garble_three(
        &self,
        key: usize,
        offset: Block,
        mut coins: &[u8],
        pieces: &[Operands<'_>],
        mut c: &mut [Block],
        mut table: &mut [u8],
    ) {
        let (kernels, keys) = (self.kernels, &*self.keys);
        for (key, &[a, b]) in (key..).zip(pieces) {
            let ands = a.len();
            let (c_now, c_rest) = c.split_at_mut(ands);
            let (coins_now, coins_rest) = coins.split_at(ands);
            let (sides, table_rest) = table.split_at_mut(16 * ands);
            let (rest, table_rest) = table_rest.split_at_mut(8 * ands);
            let (packed, table_rest) = table_rest.split_at_mut(packed_bytes(ands));
            (c, coins, table) = (c_rest, coins_rest, table_rest);
            let mut controls = [0; ANDS_PER_KEY];
            controls[..ands].copy_from_slice(coins_now);
            let piece = &mut Garbled {
                a,
                b,
                c: c_now,
                sides,
                rest,
                controls: &mut controls[..ands],
            };
            dispatch!(kernels, garble_three(keys, key, offset, piece, 0..ands));
            pack(&controls, packed);
        }
    }

    /// Evaluates pieces, numbered from `number` on: the labels of each piece's operands, those that are, and the
    /// tables make the labels of the products, `c`.
    ///
    /// # Panics
    /// As [`Self::garble`].
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
                Scheme::ThreeHalves => self.evaluate_three(key, pieces, table_now, c_now),
            }
        }
    }

    fn evaluate_three(
        &self,
        key: usize,
        pieces: &[Operands<'_>],
        mut table: &[u8],
        mut c: &mut [Block],
    ) {
        let (kernels, keys) = (self.kernels, &*self.keys);
        for (key, &[a, b]) in (key..).zip(pieces) {
            let ands = a.len();
            let (c_now, c_rest) = c.split_at_mut(ands);
            let (sides, table_rest) = table.split_at(16 * ands);
            let (rest, table_rest) = table_rest.split_at(8 * ands);
            let (packed, table_rest) = table_rest.split_at(packed_bytes(ands));
            (c, table) = (c_rest, table_rest);
            let mut controls = [0; ANDS_PER_KEY];
            unpack(packed, &mut controls);
            let piece = &mut Evaluated {
                a,
                b,
                c: c_now,
                sides,
                rest,
                controls: &controls[..ands],
            };
            dispatch!(kernels, evaluate_three(keys, key, piece, 0..ands));
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

/// Shows nothing: the key is public, but says which instance it is.
impl fmt::Debug for GateHash {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("GateHash(..)")
    }
}

/// What pieces have: ANDs, and bytes of the tables.
fn size(scheme: Scheme, pieces: &[Operands<'_>]) -> (usize, usize) {
    pieces.iter().fold((0, 0), |(ands, bytes), [a, _]| {
        (ands + a.len(), bytes + scheme.table_bytes(a.len()))
    })
}

/// How many ANDs pieces have, which fit each other and the rest.
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

/// Bytes of the control bits of so many ANDs.
const fn packed_bytes(ands: usize) -> usize {
    5 * ands.div_ceil(8)
}

/// Numbers of 5 bits, eight to 5 bytes of `bits`.
fn pack(controls: &[u8; ANDS_PER_KEY], bits: &mut [u8]) {
    let controls = controls.as_chunks().0;
    for (controls, bits) in controls.iter().zip(bits.as_chunks_mut::<5>().0) {
        let x = u64::from_le_bytes(*controls);
        let x = x & 0x001f_001f_001f_001f | x >> 3 & 0x03e0_03e0_03e0_03e0;
        let x = x & 0x0000_03ff_0000_03ff | x >> 6 & 0x000f_fc00_000f_fc00;
        let x = x & 0x0000_0000_000f_ffff | x >> 12 & 0x0000_00ff_fff0_0000;
        let [a, b, c, d, e, ..] = x.to_le_bytes();
        *bits = [a, b, c, d, e];
    }
}

/// The inverse of [`pack`].
fn unpack(bits: &[u8], controls: &mut [u8; ANDS_PER_KEY]) {
    let controls = controls.as_chunks_mut().0;
    for (controls, &[a, b, c, d, e]) in controls.iter_mut().zip(bits.as_chunks().0) {
        let x = u64::from_le_bytes([a, b, c, d, e, 0, 0, 0]);
        let x = x & 0x0000_0000_000f_ffff | (x & 0x0000_00ff_fff0_0000) << 12;
        let x = x & 0x0000_03ff_0000_03ff | (x & 0x000f_fc00_000f_fc00) << 6;
        let x = x & 0x001f_001f_001f_001f | (x & 0x03e0_03e0_03e0_03e0) << 3;
        *controls = x.to_le_bytes();
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn five_bits_are_packed() {
        for n in 0..=ANDS_PER_KEY {
            let mut numbers = [0; ANDS_PER_KEY];
            for (i, number) in numbers[..n].iter_mut().enumerate() {
                *number = (i * 23 + n) as u8 & 31;
            }
            let mut bits = vec![0xff; 5 * n.div_ceil(8)];
            pack(&numbers, &mut bits);
            for (i, number) in numbers[..n].iter().enumerate() {
                for k in 0..5 {
                    let at = 5 * i + k;
                    assert_eq!(bits[at / 8] >> (at % 8) & 1, number >> k & 1, "bit {at}");
                }
            }
            let mut again = [0; ANDS_PER_KEY];
            unpack(&bits, &mut again);
            assert_eq!(again, numbers);
        }
    }
}
