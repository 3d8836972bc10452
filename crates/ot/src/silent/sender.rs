//! The sender of silent OTs.

use core::fmt;

use madrigal_core::Zeroizing;
use madrigal_kernels::{Block, Prg};
use rand_core::CryptoRng;

use super::{iteration::Iterations, params::SilentParams, public::PublicCoins, trees::grow_sender};
use crate::{
    Delta, Instance, Tweaks,
    error::{OtError, check_argument},
};

/// The sender of silent OTs: holds Delta and makes the rows q_i. Speaks only.
pub struct SilentSender {
    delta: Delta,
    roots: Prg,
    iterations: Iterations<Block>,
}

impl SilentSender {
    /// Starts an instance from the sender's rows of another extension with the same Delta, as many
    /// as [`SilentParams::base_rows`], which serve for nothing else: their
    /// [`Tweaks`](crate::Tweaks) are to be dropped.
    ///
    /// # Errors
    /// [`OtError::EvenDelta`] unless the lowest bit of `delta` is one ([`Delta::random_odd`]);
    /// [`OtError::ArgumentLength`] if there is another number of rows.
    pub fn new(
        rng: &mut impl CryptoRng,
        instance: Instance,
        params: SilentParams,
        delta: Delta,
        base: &[Block],
    ) -> Result<Self, OtError> {
        check_argument("base", params.base_rows(), base.len())?;
        if !delta.expose().bit(0) {
            return Err(OtError::EvenDelta);
        }
        // The lowest bit becomes the receiver's choice: q and q ^ Delta then tell it by theirs.
        let even = Block::new(!1, u64::MAX);
        let base = base.iter().map(|&row| row & even).collect();
        let mut root_seed = Zeroizing::new([0; 16]);
        rng.fill_bytes(&mut *root_seed);
        Ok(SilentSender {
            delta,
            roots: Prg::numbered(Block::from_bytes(*root_seed), instance.roots_number()),
            iterations: Iterations::new(
                instance,
                PublicCoins::silent(instance),
                params,
                Zeroizing::new(base),
            ),
        })
    }

    /// Blocks drawn for the roots of trees.
    #[cfg(test)]
    pub(super) fn root_position(&self) -> u64 {
        self.roots.position()
    }

    /// Public blocks drawn for codes and trees.
    #[cfg(test)]
    pub(super) fn coins_drawn(&self) -> u64 {
        self.iterations.coins_drawn()
    }

    /// Rows made so far.
    pub(crate) fn made(&self) -> u64 {
        self.iterations.made()
    }

    pub(crate) fn instance(&self) -> Instance {
        self.iterations.instance()
    }

    /// The offset between a row's two meanings.
    pub fn delta(&self) -> &Delta {
        &self.delta
    }

    /// Length in bytes of the message for the next `m` OTs.
    pub fn message_len(&self, m: usize) -> usize {
        let iterations = &self.iterations;
        iterations.params().message_len(iterations.made(), m)
    }

    /// Makes `m` OTs: writes the message to send ([`Self::message_len`] bytes) and the rows q_i,
    /// whose lowest bit is zero.
    ///
    /// # Errors
    /// [`OtError::ArgumentLength`] for the argument of the wrong length; nothing has moved then.
    pub fn extend(
        &mut self,
        m: usize,
        message: &mut [u8],
        rows: &mut [Block],
    ) -> Result<Tweaks, OtError> {
        check_argument("rows", m, rows.len())?;
        check_argument("message", self.message_len(m), message.len())?;
        let (delta, roots) = (self.delta.expose(), &mut self.roots);
        Ok(self.iterations.fill(rows, |coins, used, place, nodes| {
            let trees = coins.next_trees();
            grow_sender(&trees, delta, roots, used, &mut message[place], nodes);
        }))
    }
}

impl fmt::Debug for SilentSender {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("SilentSender")
            .field("instance", &self.iterations.instance())
            .finish_non_exhaustive()
    }
}
