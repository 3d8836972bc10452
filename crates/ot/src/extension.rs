//! What all OT extensions have in common.
//!
//! An extension turns a few base OTs into any number of *rows*: the sender's q_i and the receiver's
//! t_i with q_i = t_i ^ r_i Delta for the receiver's choice bits r_i. What becomes of the rows is
//! the business of the [flavours](crate::flavour); [`extend_bits`](ExtensionSender::extend_bits) and
//! [`extend_blocks`](ExtensionSender::extend_blocks) are the two commonest, made while the rows are
//! in the cache.
//!
//! # Messages
//! A call for `m` OTs takes one message from the receiver to the sender, of `message_len(m)` bytes.
//! Calls for `n` multiples of [`PIECE`] OTs, one after the other, send the same bytes as one call
//! for their sum, so that long runs can be streamed.
//!
//! Both parties make the same calls, with the same numbers, in the same order. A length that does not
//! fit is an error, but lengths are rounded up: a party that made a few OTs more than the other, within
//! the same last block, is out of step, and what comes after is wrong without a word. Let the parties
//! agree on the numbers beforehand.
//!
//! What else is exchanged depends on the extension and is done by its own methods: a message of the
//! receiver's at the start (SoftSpoken), or a message of the sender's whenever
//! [`available`](ExtensionSender::available) runs out ([silent](crate::silent::QueuedSender)).
//!
//! # Random choices
//! Some extensions (silent ones) give choices rather than take them. With them
//! [`extend_random`](ExtensionReceiver::extend_random) is the natural call, and
//! [`extend`](ExtensionReceiver::extend) sends a bit per OT to switch to the choices wanted. For the
//! others it is the other way round: `extend_random` draws choices and extends.

use madrigal_kernels::Block;
use rand_core::CryptoRng;
use zeroize::Zeroizing;

use crate::{
    Delta, OtError, Tweaks,
    cost::Cost,
    error::{Message, check_argument, check_message},
    flavour,
    select::clear_padding,
};

/// OTs per piece of a long call: see the [module](self).
pub const PIECE: usize = crate::matrix::CHUNK;

/// The sender's side of an extension: ends with rows q_i and the offset Delta.
pub trait ExtensionSender {
    /// The offset between a row's two meanings.
    fn delta(&self) -> &Delta;

    /// Length in bytes of the receiver's message for `m` OTs with choices of the receiver's.
    fn message_len(&self, m: usize) -> usize;

    /// Length in bytes of the receiver's message for `m` OTs with random choices.
    fn random_message_len(&self, m: usize) -> usize {
        self.message_len(m)
    }

    /// OTs that can be made before the parties have to exchange other messages.
    fn available(&self) -> usize {
        usize::MAX
    }

    /// Cost of rows for `m` OTs with choices of the receiver's.
    fn cost(&self, m: usize) -> Cost;

    /// Reads the receiver's message for `m` OTs and writes the rows q_i.
    ///
    /// # Errors
    /// [`OtError::MessageLength`] for the message, [`OtError::ArgumentLength`] unless there are `m`
    /// rows, [`OtError::Exhausted`] if fewer are [`available`](Self::available). The state has not
    /// moved then.
    fn extend(&mut self, message: &[u8], m: usize, rows: &mut [Block]) -> Result<Tweaks, OtError>;

    /// Counterpart of [`ExtensionReceiver::extend_random`].
    ///
    /// # Errors
    /// As [`extend`](Self::extend).
    fn extend_random(
        &mut self,
        message: &[u8],
        m: usize,
        rows: &mut [Block],
    ) -> Result<Tweaks, OtError> {
        self.extend(message, m, rows)
    }

    /// Reads the receiver's message for `m` OTs and writes the two random bits of each, packed:
    /// [`extend`](Self::extend) and [`flavour::sender_random_bits`], piece by piece.
    ///
    /// # Errors
    /// As [`extend`](Self::extend); `k0` and `k1` have `ceil(m / 8)` bytes.
    fn extend_bits(
        &mut self,
        message: &[u8],
        m: usize,
        k0: &mut [u8],
        k1: &mut [u8],
    ) -> Result<(), OtError> {
        check_argument("k0", m.div_ceil(8), k0.len())?;
        check_argument("k1", m.div_ceil(8), k1.len())?;
        check_message(Message::Extension, message, self.message_len(m))?;
        let mut rows = Zeroizing::new(vec![Block::ZERO; m.min(PIECE)]);
        check_available(self.available(), m)?;
        for first in (0..m).step_by(PIECE) {
            let len = PIECE.min(m - first);
            let start = self.message_len(first);
            let message = &message[start..start + self.message_len(len)];
            let rows = &mut rows[..len];
            let tweaks = self.extend(message, len, rows)?;
            let out = first / 8..(first + len).div_ceil(8);
            let (k0, k1) = (&mut k0[out.clone()], &mut k1[out]);
            flavour::sender_random_bits(self.delta(), tweaks, rows, k0, k1)?;
        }
        Ok(())
    }

    /// As [`extend_bits`](Self::extend_bits), with random choices.
    ///
    /// # Errors
    /// As [`extend_bits`](Self::extend_bits).
    fn extend_random_bits(
        &mut self,
        message: &[u8],
        m: usize,
        k0: &mut [u8],
        k1: &mut [u8],
    ) -> Result<(), OtError> {
        check_argument("k0", m.div_ceil(8), k0.len())?;
        check_argument("k1", m.div_ceil(8), k1.len())?;
        check_message(Message::Extension, message, self.random_message_len(m))?;
        let mut rows = Zeroizing::new(vec![Block::ZERO; m.min(PIECE)]);
        check_available(self.available(), m)?;
        for first in (0..m).step_by(PIECE) {
            let len = PIECE.min(m - first);
            let start = self.random_message_len(first);
            let message = &message[start..start + self.random_message_len(len)];
            let rows = &mut rows[..len];
            let tweaks = self.extend_random(message, len, rows)?;
            let out = first / 8..(first + len).div_ceil(8);
            let (k0, k1) = (&mut k0[out.clone()], &mut k1[out]);
            flavour::sender_random_bits(self.delta(), tweaks, rows, k0, k1)?;
        }
        Ok(())
    }

    /// Reads the receiver's message for `m` OTs and writes the two random blocks of each:
    /// [`extend`](Self::extend) and [`flavour::sender_random_blocks`], piece by piece.
    ///
    /// # Errors
    /// As [`extend`](Self::extend); `k0` and `k1` have `m` blocks.
    fn extend_blocks(
        &mut self,
        message: &[u8],
        m: usize,
        k0: &mut [Block],
        k1: &mut [Block],
    ) -> Result<(), OtError> {
        check_argument("k0", m, k0.len())?;
        check_argument("k1", m, k1.len())?;
        check_message(Message::Extension, message, self.message_len(m))?;
        let mut rows = Zeroizing::new(vec![Block::ZERO; m.min(PIECE)]);
        check_available(self.available(), m)?;
        for first in (0..m).step_by(PIECE) {
            let len = PIECE.min(m - first);
            let start = self.message_len(first);
            let message = &message[start..start + self.message_len(len)];
            let rows = &mut rows[..len];
            let tweaks = self.extend(message, len, rows)?;
            let out = first..first + len;
            let (k0, k1) = (&mut k0[out.clone()], &mut k1[out]);
            flavour::sender_random_blocks(self.delta(), tweaks, rows, k0, k1)?;
        }
        Ok(())
    }

    /// As [`extend_blocks`](Self::extend_blocks), with random choices.
    ///
    /// # Errors
    /// As [`extend_blocks`](Self::extend_blocks).
    fn extend_random_blocks(
        &mut self,
        message: &[u8],
        m: usize,
        k0: &mut [Block],
        k1: &mut [Block],
    ) -> Result<(), OtError> {
        check_argument("k0", m, k0.len())?;
        check_argument("k1", m, k1.len())?;
        check_message(Message::Extension, message, self.random_message_len(m))?;
        let mut rows = Zeroizing::new(vec![Block::ZERO; m.min(PIECE)]);
        check_available(self.available(), m)?;
        for first in (0..m).step_by(PIECE) {
            let len = PIECE.min(m - first);
            let start = self.random_message_len(first);
            let message = &message[start..start + self.random_message_len(len)];
            let rows = &mut rows[..len];
            let tweaks = self.extend_random(message, len, rows)?;
            let out = first..first + len;
            let (k0, k1) = (&mut k0[out.clone()], &mut k1[out]);
            flavour::sender_random_blocks(self.delta(), tweaks, rows, k0, k1)?;
        }
        Ok(())
    }
}

/// The receiver's side of an extension: has choice bits r_i and ends with rows t_i.
pub trait ExtensionReceiver {
    /// Length in bytes of the message for `m` OTs with given choices.
    fn message_len(&self, m: usize) -> usize;

    /// Length in bytes of the message for `m` OTs with random choices.
    fn random_message_len(&self, m: usize) -> usize {
        self.message_len(m)
    }

    /// OTs that can be made before the parties have to exchange other messages.
    fn available(&self) -> usize {
        usize::MAX
    }

    /// Cost of rows for `m` OTs with given choices.
    fn cost(&self, m: usize) -> Cost;

    /// For `m` OTs with the given packed choices (`ceil(m / 8)` bytes), writes the message to send
    /// ([`message_len`](Self::message_len) bytes) and the rows t_i.
    ///
    /// # Errors
    /// [`OtError::ArgumentLength`] for the argument of the wrong length, [`OtError::Exhausted`] if
    /// fewer than `m` are [`available`](Self::available). The state has not moved then.
    fn extend(
        &mut self,
        choices: &[u8],
        m: usize,
        message: &mut [u8],
        rows: &mut [Block],
    ) -> Result<Tweaks, OtError>;

    /// For `m` OTs with random choices, writes the choices, the message to send
    /// ([`random_message_len`](Self::random_message_len) bytes) and the rows t_i. `rng` is where the
    /// choices come from unless the extension has its own.
    ///
    /// # Errors
    /// As [`extend`](Self::extend).
    fn extend_random(
        &mut self,
        rng: &mut dyn CryptoRng,
        m: usize,
        choices: &mut [u8],
        message: &mut [u8],
        rows: &mut [Block],
    ) -> Result<Tweaks, OtError> {
        check_argument("choices", m.div_ceil(8), choices.len())?;
        rng.fill_bytes(choices);
        clear_padding(choices, m);
        self.extend(choices, m, message, rows)
    }

    /// For `m` OTs with the given packed choices, writes the message to send and the chosen random
    /// bit of each OT, packed: the counterpart of [`ExtensionSender::extend_bits`].
    ///
    /// # Errors
    /// As [`extend`](Self::extend); `out` has `ceil(m / 8)` bytes.
    fn extend_bits(
        &mut self,
        choices: &[u8],
        m: usize,
        message: &mut [u8],
        out: &mut [u8],
    ) -> Result<(), OtError> {
        check_argument("choices", m.div_ceil(8), choices.len())?;
        check_argument("out", m.div_ceil(8), out.len())?;
        check_argument("message", self.message_len(m), message.len())?;
        check_available(self.available(), m)?;
        let mut rows = Zeroizing::new(vec![Block::ZERO; m.min(PIECE)]);
        for first in (0..m).step_by(PIECE) {
            let len = PIECE.min(m - first);
            let start = self.message_len(first);
            let message = &mut message[start..start + self.message_len(len)];
            let rows = &mut rows[..len];
            let place = first / 8..(first + len).div_ceil(8);
            let tweaks = self.extend(&choices[place.clone()], len, message, rows)?;
            flavour::receiver_random_bits(tweaks, rows, &mut out[place])?;
        }
        Ok(())
    }

    /// For `m` OTs with random choices, writes these, the message to send and the chosen random bit
    /// of each OT, packed: the counterpart of [`ExtensionSender::extend_random_bits`].
    ///
    /// # Errors
    /// As [`extend_bits`](Self::extend_bits).
    fn extend_random_bits(
        &mut self,
        rng: &mut dyn CryptoRng,
        m: usize,
        choices: &mut [u8],
        message: &mut [u8],
        out: &mut [u8],
    ) -> Result<(), OtError> {
        check_argument("choices", m.div_ceil(8), choices.len())?;
        check_argument("out", m.div_ceil(8), out.len())?;
        check_argument("message", self.random_message_len(m), message.len())?;
        check_available(self.available(), m)?;
        let mut rows = Zeroizing::new(vec![Block::ZERO; m.min(PIECE)]);
        for first in (0..m).step_by(PIECE) {
            let len = PIECE.min(m - first);
            let start = self.random_message_len(first);
            let message = &mut message[start..start + self.random_message_len(len)];
            let rows = &mut rows[..len];
            let place = first / 8..(first + len).div_ceil(8);
            let choices = &mut choices[place.clone()];
            let tweaks = self.extend_random(rng, len, choices, message, rows)?;
            flavour::receiver_random_bits(tweaks, rows, &mut out[place])?;
        }
        Ok(())
    }

    /// For `m` OTs with the given packed choices, writes the message to send and the chosen random
    /// block of each OT: the counterpart of [`ExtensionSender::extend_blocks`].
    ///
    /// # Errors
    /// As [`extend`](Self::extend); `out` has `m` blocks.
    fn extend_blocks(
        &mut self,
        choices: &[u8],
        m: usize,
        message: &mut [u8],
        out: &mut [Block],
    ) -> Result<(), OtError> {
        check_argument("choices", m.div_ceil(8), choices.len())?;
        check_argument("out", m, out.len())?;
        check_argument("message", self.message_len(m), message.len())?;
        check_available(self.available(), m)?;
        let mut rows = Zeroizing::new(vec![Block::ZERO; m.min(PIECE)]);
        for first in (0..m).step_by(PIECE) {
            let len = PIECE.min(m - first);
            let start = self.message_len(first);
            let message = &mut message[start..start + self.message_len(len)];
            let rows = &mut rows[..len];
            let choices = &choices[first / 8..(first + len).div_ceil(8)];
            let tweaks = self.extend(choices, len, message, rows)?;
            flavour::receiver_random_blocks(tweaks, rows, &mut out[first..first + len])?;
        }
        Ok(())
    }

    /// For `m` OTs with random choices, writes these, the message to send and the chosen random block
    /// of each OT: the counterpart of [`ExtensionSender::extend_random_blocks`].
    ///
    /// # Errors
    /// As [`extend_blocks`](Self::extend_blocks).
    fn extend_random_blocks(
        &mut self,
        rng: &mut dyn CryptoRng,
        m: usize,
        choices: &mut [u8],
        message: &mut [u8],
        out: &mut [Block],
    ) -> Result<(), OtError> {
        check_argument("choices", m.div_ceil(8), choices.len())?;
        check_argument("out", m, out.len())?;
        check_argument("message", self.random_message_len(m), message.len())?;
        check_available(self.available(), m)?;
        let mut rows = Zeroizing::new(vec![Block::ZERO; m.min(PIECE)]);
        for first in (0..m).step_by(PIECE) {
            let len = PIECE.min(m - first);
            let start = self.random_message_len(first);
            let message = &mut message[start..start + self.random_message_len(len)];
            let rows = &mut rows[..len];
            let choices = &mut choices[first / 8..(first + len).div_ceil(8)];
            let tweaks = self.extend_random(rng, len, choices, message, rows)?;
            flavour::receiver_random_blocks(tweaks, rows, &mut out[first..first + len])?;
        }
        Ok(())
    }
}

/// Keeps a call of several pieces from failing halfway.
pub(crate) fn check_available(left: usize, wanted: usize) -> Result<(), OtError> {
    if wanted > left {
        Err(OtError::Exhausted { wanted, left })
    } else {
        Ok(())
    }
}
