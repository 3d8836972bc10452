//! A check of elements that have been made, for a receiver that does not trust the sender.
//!
//! The receiver draws a seed after it has the sender's messages for all of a batch, which gives a random factor chi_i of
//! GF(2^128) for each element. It sends the seed and u = sum of chi_i U_i + U_mask; the sender answers with a hash of
//! k = sum of chi_i K_i + K_mask + u Delta, and the receiver compares it with that of m = sum of chi_i M_i + M_mask. The mask is an
//! element more, of 128 bits, that was made with the batch and serves for nothing else.
//!
//! # Security
//! - *Against the sender.* U, and the places of errors, are the receiver's own choices and no message of the sender's changes them. So
//!   whatever it did shows as errors E_i = M_i - K_i - U_i Delta, which were there before the seed was drawn. If one is not zero,
//!   m is what the sender must name, and it is off by the sum of chi_i E_i, uniform in GF(2^128): nobody names it but with a chance of
//!   2^-128 who does not know the errors. Who guesses them passes: see [the module](crate::vole#malicious-parties).
//! - *Of the receiver's values* the sender sees u, which the mask makes uniform.
//! - *Against the receiver.* Whoever sends u + d in the place of u gets the hash of m + d Delta, where it knows m and d. The hash is SHA-256 as a random
//!   oracle, so that it can test guesses of Delta, one with each evaluation: the instance and the number of the check are
//!   hashed with it. Without the hash, one check would give Delta.

use core::fmt;

use madrigal_core::{Zeroizing, domains::VOLE_CHECK};
use madrigal_kernels::{Block, Element, Kernels, Prg, marks};
use sha2::{Digest as _, Sha256};
use subtle::ConstantTimeEq as _;

use crate::error::{Message, check_argument, check_message};
use crate::{Instance, OtError};

/// Bytes of a challenge: the seed of factors, and the sum of values.
pub const CHALLENGE_BYTES: usize = 32;

/// Bytes of an answer.
pub const ANSWER_BYTES: usize = 32;

/// Elements that are combined at a time.
const PIECE: usize = 1024;

/// Elements that mask one check, whose values have 128 bits together.
#[must_use]
pub const fn mask_elements<V: Element>() -> usize {
    128 / V::BITS
}

/// Factors of the elements of a mask: 1 and y.
const OF_MASK: [Block; 2] = [Block::new(1, 0), Block::new(0, 1)];

/// The answer that a sender gives if it has the keys of the receiver's values and tags.
pub struct Expected(Zeroizing<[u8; ANSWER_BYTES]>);

madrigal_core::opaque!(Expected);

impl Expected {
    /// Whether `answer` is that answer, in time that tells nothing but its length.
    #[must_use]
    pub fn check(&self, answer: &[u8]) -> bool {
        let mut same = self.0.as_slice().ct_eq(answer).unwrap_u8();
        // The sender hears whether the session goes on.
        marks::public(&mut same);
        same == 1
    }
}

/// The instance's checks, counted at both sides.
pub(super) struct Checks {
    instance: Instance,
    made: u64,
}

impl Checks {
    pub(super) fn new(instance: Instance) -> Self {
        Self { instance, made: 0 }
    }

    /// The message to send, and the answer to it.
    pub(super) fn challenge<V: Element>(
        &mut self,
        seed: Block,
        (values, tags): (&[V], &[Block]),
        mask: (&[V], &[Block]),
    ) -> Result<([u8; CHALLENGE_BYTES], Expected), OtError> {
        check_argument("tags", values.len(), tags.len())?;
        check_argument("mask", mask_elements::<V>(), mask.0.len())?;
        check_argument("mask", mask_elements::<V>(), mask.1.len())?;
        let mut sums = Zeroizing::new([masked(mask.0), masked(mask.1)]);
        each_piece(seed, values.len(), |factors, range| {
            let kernels = Kernels::detect();
            sums[0] ^= kernels.field_inner_product(factors, &values[range.clone()]);
            sums[1] ^= kernels.field_inner_product(factors, &tags[range]);
        });
        let mut message = [0; CHALLENGE_BYTES];
        message[..16].copy_from_slice(&seed.to_bytes());
        message[16..].copy_from_slice(&sums[0].to_bytes());
        let expected = self.hash().chain_update(sums[1].to_bytes()).finalize();
        let expected = Expected(Zeroizing::new(expected.into()));
        Ok((message, expected))
    }

    /// Means to answer one challenge.
    pub(super) fn answerer<V: Element>(
        &mut self,
        delta: Block,
        mask: &[Block],
    ) -> Result<Answerer, OtError> {
        check_argument("mask", mask_elements::<V>(), mask.len())?;
        Ok(Answerer {
            delta: Zeroizing::new(delta),
            mask: Zeroizing::new(masked(mask)),
            hash: self.hash(),
        })
    }

    /// The hash of the next check, as far as it is known before.
    fn hash(&mut self) -> Sha256 {
        let hash = self.instance.hash::<Sha256>(VOLE_CHECK);
        let hash = hash.chain_update(self.made.to_le_bytes());
        self.made += 1;
        hash
    }
}

/// Share of a sender in one challenge, kept while it makes elements for the next one.
pub struct Answerer {
    delta: Zeroizing<Block>,
    mask: Zeroizing<Block>,
    hash: Sha256,
}

madrigal_core::opaque!(Answerer);

impl Answerer {
    /// The answer to a challenge of the elements with these keys.
    ///
    /// # Errors
    /// [`OtError::MessageLength`] for the challenge.
    pub fn answer(self, challenge: &[u8], keys: &[Block]) -> Result<[u8; ANSWER_BYTES], OtError> {
        check_message(Message::VoleChallenge, challenge, CHALLENGE_BYTES)?;
        let [seed, sum] = [0, 16].map(|at| {
            let bytes = challenge[at..].first_chunk().unwrap_or(&[0; 16]);
            Block::from_bytes(*bytes)
        });
        let kernels = Kernels::detect();
        let mut key = Zeroizing::new(*self.mask ^ kernels.field_product(*self.delta, sum));
        each_piece(seed, keys.len(), |factors, range| {
            *key ^= kernels.field_inner_product(factors, &keys[range]);
        });
        Ok(self.hash.chain_update(key.to_bytes()).finalize().into())
    }
}

impl fmt::Debug for Checks {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Checks").finish_non_exhaustive()
    }
}

/// The elements of a mask as one of 128 bits.
fn masked<E: Element>(mask: &[E]) -> Block {
    Kernels::detect().field_inner_product(&OF_MASK[..mask.len()], mask)
}

/// Hands out the factors of `m` elements, piece by piece, with the places of each.
fn each_piece(seed: Block, m: usize, mut combine: impl FnMut(&[Block], core::ops::Range<usize>)) {
    // Number 0: the seed is public.
    let mut prg = Prg::new(seed);
    let mut factors = [Block::ZERO; PIECE];
    for first in (0..m).step_by(PIECE) {
        let len = PIECE.min(m - first);
        prg.fill_blocks(&mut factors[..len]);
        combine(&factors[..len], first..first + len);
    }
}
