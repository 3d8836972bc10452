//! The receiver of silent OTs.

use core::fmt;

use madrigal_core::Zeroizing;
use madrigal_kernels::Block;

use super::{
    iteration::Iterations, params::SilentParams, public::PublicCoins, trees::grow_receiver,
};
use crate::{
    Instance, Tweaks,
    error::{Message, OtError, check_argument, check_message},
    select::{bit, pack_choices},
};

/// The receiver of silent OTs: makes random choices r_i and the rows t_i = q_i ^ r_i Delta. Listens
/// only.
pub struct SilentReceiver {
    iterations: Iterations<Block>,
}

impl SilentReceiver {
    /// Starts an instance from the receiver's rows of another extension, as many as
    /// [`SilentParams::base_rows`], and the packed choices they were made with. The choices must be
    /// **uniformly random** and serve for nothing else: they are LPN secret and noise.
    ///
    /// # Errors
    /// [`OtError::ArgumentLength`] for the argument of the wrong length.
    pub fn new(
        instance: Instance,
        params: SilentParams,
        choices: &[u8],
        base: &[Block],
    ) -> Result<Self, OtError> {
        check_argument("base", params.base_rows(), base.len())?;
        check_argument("choices", base.len().div_ceil(8), choices.len())?;
        let marked = base
            .iter()
            .enumerate()
            .map(|(i, row)| Block::new(row.lo() & !1 | u64::from(bit(choices, i)), row.hi()));
        let base = Zeroizing::new(marked.collect());
        Ok(SilentReceiver {
            iterations: Iterations::new(instance, PublicCoins::silent(instance), params, base),
        })
    }

    /// Rows made so far.
    pub(crate) fn made(&self) -> u64 {
        self.iterations.made()
    }

    pub(crate) fn instance(&self) -> Instance {
        self.iterations.instance()
    }

    /// Length in bytes of the sender's message for the next `m` OTs.
    pub fn message_len(&self, m: usize) -> usize {
        let iterations = &self.iterations;
        iterations.params().message_len(iterations.made(), m)
    }

    /// Reads the sender's message for `m` OTs and writes the packed random choices (`ceil(m / 8)`
    /// bytes) and the rows t_i, whose lowest bit is the choice.
    ///
    /// # Errors
    /// [`OtError::MessageLength`] for the message, [`OtError::ArgumentLength`] for the argument of
    /// the wrong length; nothing has moved then.
    pub fn extend(
        &mut self,
        message: &[u8],
        m: usize,
        choices: &mut [u8],
        rows: &mut [Block],
    ) -> Result<Tweaks, OtError> {
        check_argument("choices", m.div_ceil(8), choices.len())?;
        check_argument("rows", m, rows.len())?;
        check_message(Message::Silent, message, self.message_len(m))?;
        let tweaks = self.iterations.fill(rows, |coins, used, place, nodes| {
            let _ = grow_receiver(&coins.next_trees(), used, &message[place], nodes);
        });
        pack_choices(rows, choices);
        Ok(tweaks)
    }
}

impl fmt::Debug for SilentReceiver {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("SilentReceiver")
            .field("instance", &self.iterations.instance())
            .finish_non_exhaustive()
    }
}
