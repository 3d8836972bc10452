//! 1-out-of-n OT of blocks, for n up to 2^16, from `b = ceil(log2 n)` rows of any extension.
//!
//! # Derivation
//! Take the b rows q_0 .. q_{b-1} of an OT, made with the bits of the receiver's index r as
//! choices: q_l = t_l ^ r_l Delta. Read blocks as elements of F = GF(2^128) and indices as
//! polynomials of degree below b, hence as elements of F too: j = sum of j_l X^l. Then
//!
//!   Q = sum of X^l q_l = T ^ r * Delta  with  T = sum of X^l t_l,
//!
//! and the sender's key for index j is H(Q ^ j * Delta, i), which for j = r is H(T, i), the
//! receiver's key. For any other j its input is T ^ (r ^ j) * Delta, and as r ^ j is not zero in a
//! *field*, (r ^ j) * Delta is as uniform as Delta.
//!
//! # Security
//! The argument is that of the other [flavours](super), with correlation robustness for offsets c * Delta with public
//! non-zero c of F: with several c per row, where KK13 (Kolesnikov, Kumaresan, Crypto 2013) has
//! code words. MMO has it in the ideal-cipher model for the same reason as for the one offset Delta:
//! the cipher's inputs are t ^ c * Delta, each of them uniform given all that the receiver knows; two
//! of one OT never meet, two of different OTs with probability 2^-128. But n of them stand under a
//! key where one stood, for `b` rows: an attacker's chance is n / b times that of the other flavours,
//! which leaves 2^105 for n = 2^16 and 2^115 for n = 16.
//!
//! # Why so
//! KK13 sends one bit per column of a code with n words at distance 128: 256 bits for n = 256. Here
//! the bits are b times those of one OT: 8 * 16 = 128 with SoftSpoken k = 8, 8 with a silent
//! extension; and no second kind of extension is needed. Naor and Pinkas' combination of b OTs has
//! the same messages, but b hashes per key; here one.

use madrigal_core::Zeroizing;
use madrigal_kernels::{Block, blocks_as_bytes, blocks_as_bytes_mut, marks};

use crate::{
    Delta, OtError, Tweaks,
    error::{Message, check_argument, check_message},
};

/// The number n of messages of an OT, 2 to 2^16.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct OneOf(u32);

impl OneOf {
    /// 1-out-of-n OT.
    ///
    /// # Errors
    /// [`OtError::OneOf`] unless n is 2 to 2^16.
    pub const fn new(n: usize) -> Result<Self, OtError> {
        if 2 <= n && n <= 1 << 16 {
            Ok(OneOf(n as u32))
        } else {
            Err(OtError::OneOf { got: n })
        }
    }

    /// The number n.
    #[must_use]
    pub const fn get(self) -> usize {
        self.0 as usize
    }

    /// Rows of the extension that each OT takes: `ceil(log2 n)`.
    #[must_use]
    pub const fn rows(self) -> usize {
        (self.0 - 1).ilog2() as usize + 1
    }

    /// The packed choices for the extension's rows: the bits of each index, lowest first.
    ///
    /// # Errors
    /// [`OtError::Index`] for the first index that is not below n.
    pub fn choice_bits(self, indices: &[u16]) -> Result<Zeroizing<Vec<u8>>, OtError> {
        // Whether all are in range is no secret, and is seen without a branch on any of them. An index that is
        // out of range is its caller's mistake, and told.
        let beyond = |index: u16| (self.0 - 1).wrapping_sub(index.into()) >> 31;
        let mut wrong = indices
            .iter()
            .fold(0, |wrong, &index| wrong | beyond(index));
        marks::public(&mut wrong);
        if wrong != 0
            && let Some(place) = indices.iter().position(|&index| beyond(index) == 1)
        {
            return Err(OtError::Index {
                place,
                n: self.get(),
            });
        }
        let each = self.rows();
        let mut bits = Zeroizing::new(vec![0; (indices.len() * each).div_ceil(8)]);
        for (i, &index) in indices.iter().enumerate() {
            for l in 0..each {
                let place = i * each + l;
                bits[place / 8] |= ((index >> l & 1) as u8) << (place % 8);
            }
        }
        Ok(bits)
    }
}

/// Random 1-out-of-n OT, sender: n random blocks per OT, side by side, n AES blocks each OT. `rows`
/// has [`OneOf::rows`] rows for each OT, `out` n blocks.
///
/// # Errors
/// [`OtError::ArgumentLength`] for the argument that does not fit the number of tweaks.
pub fn sender_random_one_of(
    n: OneOf,
    delta: &Delta,
    tweaks: Tweaks,
    rows: &[Block],
    out: &mut [Block],
) -> Result<(), OtError> {
    let ots = check_rows(n, &tweaks, rows)?;
    check_argument("out", ots.saturating_mul(n.get()), out.len())?;
    // j * Delta for all j: the multiple of X^l fills places 2^l to 2^(l+1).
    let mut multiples = Zeroizing::new(vec![Block::ZERO; 1 << n.rows()]);
    let mut power = delta.expose();
    for l in 0..n.rows() {
        for j in 0..1 << l {
            multiples[j + (1 << l)] = multiples[j] ^ power;
        }
        power = times_x(power);
    }
    let mut inputs = Zeroizing::new(vec![Block::ZERO; n.get()]);
    let mut row = tweaks.first();
    for (rows, out) in rows
        .chunks_exact(n.rows())
        .zip(out.chunks_exact_mut(n.get()))
    {
        let q = combine(rows);
        for (input, &multiple) in inputs.iter_mut().zip(multiples.iter()) {
            *input = q ^ multiple;
        }
        tweaks.hash().hash_same_row(row, &inputs, out);
        row += n.rows() as u64;
    }
    Ok(())
}

/// Random 1-out-of-n OT, receiver: the block that its index selected, an AES block each OT.
///
/// # Errors
/// [`OtError::ArgumentLength`] for the argument that does not fit the number of tweaks.
pub fn receiver_random_one_of(
    n: OneOf,
    tweaks: Tweaks,
    rows: &[Block],
    out: &mut [Block],
) -> Result<(), OtError> {
    let ots = check_rows(n, &tweaks, rows)?;
    check_argument("out", ots, out.len())?;
    let mut row = tweaks.first();
    for (rows, out) in rows.chunks_exact(n.rows()).zip(out) {
        *out = tweaks.hash().hash(row, combine(rows));
        row += n.rows() as u64;
    }
    Ok(())
}

/// Chosen-message 1-out-of-n OT, sender: masks n messages of each OT, side by side. Returns the
/// message, 16 n bytes per OT.
///
/// Takes the outcome of [`sender_random_one_of`], good for one use.
///
/// # Errors
/// [`OtError::ArgumentLength`] if the lengths differ.
pub fn sender_chosen_one_of(
    messages: &[Block],
    masks: Zeroizing<Vec<Block>>,
) -> Result<Vec<u8>, OtError> {
    check_argument("masks", messages.len(), masks.len())?;
    let mut masked = vec![0; 16 * messages.len()];
    madrigal_kernels::xor(
        &mut masked,
        blocks_as_bytes(messages),
        blocks_as_bytes(&masks),
    );
    Ok(masked)
}

/// Chosen-message 1-out-of-n OT, receiver: turns its random blocks into the chosen messages.
/// `masked` is the sender's message. All n masked messages of an OT are read, whatever the index.
///
/// # Errors
/// [`OtError::MessageLength`] for the message, [`OtError::ArgumentLength`] unless there are as many
/// indices as blocks.
pub fn receiver_chosen_one_of(
    n: OneOf,
    indices: &[u16],
    masked: &[u8],
    out: &mut [Block],
) -> Result<(), OtError> {
    check_argument("indices", out.len(), indices.len())?;
    let each = 16 * n.get();
    check_message(Message::MaskedPairs, masked, out.len().saturating_mul(each))?;
    for ((out, &index), masked) in out.iter_mut().zip(indices).zip(masked.chunks_exact(each)) {
        for (j, y) in masked.chunks_exact(16).enumerate() {
            let mut block = [Block::ZERO];
            blocks_as_bytes_mut(&mut block).copy_from_slice(y);
            *out ^= block[0] & equal(index, j as u16);
        }
    }
    Ok(())
}

fn check_rows(n: OneOf, tweaks: &Tweaks, rows: &[Block]) -> Result<usize, OtError> {
    check_argument("rows", tweaks.len(), rows.len())?;
    let ots = rows.len() / n.rows();
    check_argument("rows", ots * n.rows(), rows.len())?;
    Ok(ots)
}

/// The sum of X^l times row l.
fn combine(rows: &[Block]) -> Block {
    let mut rows = rows.iter().rev();
    let highest = rows.next().copied().unwrap_or_default();
    rows.fold(highest, |sum, &row| times_x(sum) ^ row)
}

/// The product with X in GF(2^128) = F_2[X] / (X^128 + X^7 + X^2 + X + 1), without a branch.
fn times_x(x: Block) -> Block {
    let value = u128::from(x);
    Block::from((value << 1) ^ ((value >> 127) * 0x87))
}

/// All ones if the two are equal, else all zeros, without a branch.
fn equal(a: u16, b: u16) -> Block {
    let difference = u32::from(a ^ b);
    Block::mask(difference.wrapping_sub(1) >> 31 == 1)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn multiplication_by_x() {
        assert!(times_x(Block::new(1, 0)) == Block::new(2, 0));
        assert!(times_x(Block::new(1 << 63, 0)) == Block::new(0, 1));
        assert!(times_x(Block::new(0, 1 << 63)) == Block::new(0x87, 0));
    }

    #[test]
    fn equality() {
        for (a, b) in [(0, 0), (1, 0), (65535, 65535), (65535, 0), (256, 1)] {
            assert!(equal(a, b) == Block::mask(a == b));
        }
    }
}
