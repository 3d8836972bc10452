//! Roy's consistency check of the receiver (ePrint 2022/192, section 4.1 with q = 2 and the repetition code, that is k = 1): whether all of its columns
//! have the same choices.
//!
//! The receiver extends by [`rows`] rows in one call, with random choices. When the sender has that message it draws a seed, which gives
//! a matrix R = \[R' | I\] of 128 rows: R' multiplies each 128 bits of a column by a random element of GF(2^128) and adds these products
//! up, and I takes the last 128 bits as they are. The receiver [answers](answer) R u, with u its choices, and R v for each of its
//! 128 columns v. The sender [holds](verify) against it that R w = R v + Delta_j R u for its own column w number j.
//!
//! # Security
//! - *Against the receiver.* Its message fixes the choices u_j of each column j. If two of them differ, R maps them to the same element with a chance of
//!   2^-128, as R' is linear and its factors are drawn afterwards: below 2^-115 for any of all pairs. Column j passes if R u_j is what the receiver said, or if it guessed
//!   Delta_j. So but for that chance it has the same choices in all columns whose bits of Delta it did not guess, and who cheats in c of them passes
//!   with a chance of 2^-c, and then knows c bits of Delta. (The lowest bit is known anyway where it is always one.)
//! - *Of the choices* the sender learns nothing: the last 128, which serve for nothing else, mask R u whatever R' is, and R v follows from it.
//! - It is Roy's check and not the one of Keller, Orsini and Scholl (Crypto 2015), whose factors go with rows and whose proof Roy refuted: columns are
//!   never multiplied with each other here.
//!
//! The base OTs have to withstand malicious parties themselves. With k > 1 the receiver's trees would have to be checked besides.

use madrigal_core::Zeroizing;
use madrigal_kernels::{
    Block, Kernels, Prg, blocks_as_bytes, blocks_as_bytes_mut, marks, opaque_word, transpose_128,
};

use crate::error::{Message, check_argument, check_message};
use crate::{Delta, KAPPA, OtError};

/// Bytes of the sender's seed.
pub const CHALLENGE_BYTES: usize = 16;

/// Bytes of the receiver's answer: R u, and R v for each column v.
pub const ANSWER_BYTES: usize = 16 * (1 + KAPPA);

/// Number of rows to extend by, so that the first `m` can be used: whole blocks of 128, and 128 more.
#[must_use]
pub const fn rows(m: usize) -> usize {
    m.next_multiple_of(KAPPA) + KAPPA
}

/// The receiver's answer to a seed. `choices` and `rows` are those of the one call for [`rows`] rows.
///
/// # Errors
/// [`OtError::ArgumentLength`] for the argument of the wrong length.
pub fn answer(seed: Block, choices: &[u8], rows: &[Block]) -> Result<Vec<u8>, OtError> {
    check_argument("choices", rows.len() / 8, choices.len())?;
    let sums = columns(seed, rows)?;
    // Number 0: the seed is public.
    let mut prg = Prg::new(seed);
    let mut sum = [Block::ZERO];
    let choices = choices.as_chunks::<16>().0;
    for (i, &choices) in choices.iter().enumerate() {
        let choices = Block::from_bytes(choices);
        sum[0] ^= if i + 1 < rows.len() / KAPPA {
            Kernels::detect().field_product(prg.next_block(), choices)
        } else {
            choices
        };
    }
    Ok([blocks_as_bytes(&sum), blocks_as_bytes(&*sums)].concat())
}

/// Whether the receiver's answer fits the sender's rows, in time that tells nothing else.
///
/// # Errors
/// [`OtError::Inconsistent`] if it does not; [`OtError::MessageLength`] for the answer, [`OtError::ArgumentLength`] for rows that no call of the receiver's gives.
pub fn verify(seed: Block, delta: &Delta, rows: &[Block], answer: &[u8]) -> Result<(), OtError> {
    check_message(Message::ExtensionCheck, answer, ANSWER_BYTES)?;
    let own = columns(seed, rows)?;
    let mut theirs = [Block::ZERO; 1 + KAPPA];
    blocks_as_bytes_mut(&mut theirs).copy_from_slice(answer);
    let [sum, theirs @ ..] = theirs;
    let delta = delta.expose();
    let mut off = 0;
    for (j, (&own, theirs)) in own.iter().zip(theirs).enumerate() {
        let difference = own ^ theirs ^ (sum & Block::mask(delta.bit(j)));
        off |= difference.lo() | difference.hi();
    }
    let mut off = opaque_word(off);
    // The receiver hears whether the session ends; that is what it pays for its guesses.
    marks::public(&mut off);
    if off == 0 {
        Ok(())
    } else {
        Err(OtError::Inconsistent {
            message: Message::ExtensionCheck,
        })
    }
}

/// R times each column of the rows.
fn columns(seed: Block, rows: &[Block]) -> Result<Zeroizing<[Block; KAPPA]>, OtError> {
    let body = rows.len().saturating_sub(KAPPA);
    check_argument("rows", self::rows(body), rows.len())?;
    let (body, mask) = rows.split_at(body);
    // Number 0: the seed is public.
    let mut prg = Prg::new(seed);
    let mut sums = Zeroizing::new([Block::ZERO; KAPPA]);
    transpose_128(blocks_as_bytes(mask), 16, &mut *sums);
    let mut columns = Zeroizing::new([Block::ZERO; KAPPA]);
    for rows in body.chunks_exact(KAPPA) {
        transpose_128(blocks_as_bytes(rows), 16, &mut *columns);
        Kernels::detect().field_multiply_add(prg.next_block(), &*columns, &mut *sums);
    }
    Ok(sums)
}
