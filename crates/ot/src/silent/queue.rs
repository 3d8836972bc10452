//! Silent OTs behind the interface that all extensions have.
//!
//! The sender *offers*: each offer is a message that makes a number of rows
//! [`available`](ExtensionSender::available) at both parties. The calls of the interface use them up,
//! in order and in pieces of any size: those with random choices send nothing, those with given
//! choices one bit per OT (the flips of [`choice_flips`](crate::flavour::choice_flips)).
//!
//! A flip moves Delta from one side of a row to the other: with the receiver's random choice r and
//! p = r ^ c, the rows q' = q ^ p Delta and t = q ^ r Delta belong to the choice c. p is a one-time pad
//! of c.

use core::fmt;
use std::collections::VecDeque;

use madrigal_core::Zeroizing;
use madrigal_kernels::Block;
use rand_core::CryptoRng;

use super::{SilentReceiver, SilentSender};
use crate::{
    Delta, Instance, OtError, Tweaks,
    cost::{self, Cost},
    error::{Message, check_argument, check_bit_message, check_message},
    extension::{ExtensionReceiver, ExtensionSender, check_available},
    instance::TweakCounter,
    select::bit_mask,
    select::pack_choices,
};

/// Rows that wait, the oldest first.
struct Queue {
    /// Tweaks of the rows handed out.
    tweaks: TweakCounter,
    /// Secret.
    offers: VecDeque<Zeroizing<Vec<Block>>>,
    /// Rows of the first offer that are used up.
    used: usize,
    left: usize,
    /// The room of an offer that is used up: the next one needs no other, which would have to be cleared
    /// before and wiped after. Secret.
    spare: Zeroizing<Vec<Block>>,
}

impl Queue {
    fn new(instance: Instance) -> Self {
        Queue {
            tweaks: TweakCounter::new(instance),
            offers: VecDeque::new(),
            used: 0,
            left: 0,
            spare: Zeroizing::default(),
        }
    }

    /// Room for the rows of an offer.
    fn room(&mut self, m: usize) -> Zeroizing<Vec<Block>> {
        let mut rows = core::mem::take(&mut self.spare);
        if rows.capacity() < m {
            // It would be copied as it grows, and the old one not wiped.
            rows = Zeroizing::new(vec![Block::ZERO; m]);
        }
        rows.resize(m, Block::ZERO);
        rows
    }

    fn push(&mut self, rows: Zeroizing<Vec<Block>>) {
        self.left += rows.len();
        self.offers.push_back(rows);
    }

    /// The next rows, which are there.
    fn take(&mut self, mut rows: &mut [Block]) -> Tweaks {
        let tweaks = self.tweaks.take(rows.len());
        self.left -= rows.len();
        while let Some(first) = self.offers.front() {
            let waiting = &first[self.used..];
            let count = waiting.len().min(rows.len());
            rows[..count].copy_from_slice(&waiting[..count]);
            rows = &mut rows[count..];
            self.used += count;
            if self.used < first.len() {
                break;
            }
            self.used = 0;
            self.spare = self.offers.pop_front().unwrap_or_default();
        }
        tweaks
    }
}

/// The sender: [`offer`](Self::offer), then extend.
pub struct QueuedSender {
    silent: SilentSender,
    queue: Queue,
}

impl QueuedSender {
    /// Takes a sender that has made no rows yet.
    ///
    /// # Panics
    /// If it has made some: their tweaks would come again.
    pub fn new(silent: SilentSender) -> Self {
        assert_eq!(silent.made(), 0, "a queue begins with the first row");
        let queue = Queue::new(silent.instance());
        QueuedSender { silent, queue }
    }

    /// Length in bytes of the message that offers the next `m` OTs; it may be 0.
    pub fn offer_len(&self, m: usize) -> usize {
        self.silent.message_len(m)
    }

    /// Makes `m` more OTs available, and the message that does so at the receiver, who accepts offers
    /// of the same numbers: a message of the right length does not prove that.
    ///
    /// # Errors
    /// [`OtError`]: none that a correct build gives.
    pub fn offer(&mut self, m: usize) -> Result<Vec<u8>, OtError> {
        let mut message = vec![0; self.silent.message_len(m)];
        let mut rows = self.queue.room(m);
        // The rows get their tweaks when they are used.
        let _ = self.silent.extend(m, &mut message, &mut rows)?;
        self.queue.push(rows);
        Ok(message)
    }
}

impl ExtensionSender for QueuedSender {
    fn delta(&self) -> &Delta {
        self.silent.delta()
    }

    fn message_len(&self, m: usize) -> usize {
        m.div_ceil(8)
    }

    fn random_message_len(&self, _: usize) -> usize {
        0
    }

    fn available(&self) -> usize {
        self.queue.left
    }

    /// The flips alone: the offers are counted by [`SilentParams::cost`](super::SilentParams::cost).
    fn cost(&self, m: usize) -> Cost {
        cost::choice_flips(m as u64)
    }

    fn extend(&mut self, flips: &[u8], m: usize, rows: &mut [Block]) -> Result<Tweaks, OtError> {
        check_argument("rows", m, rows.len())?;
        check_bit_message(Message::ChoiceFlips, flips, m)?;
        check_available(self.queue.left, m)?;
        let tweaks = self.queue.take(rows);
        let delta = self.silent.delta().expose();
        for (i, row) in rows.iter_mut().enumerate() {
            *row ^= delta & bit_mask(flips, i);
        }
        Ok(tweaks)
    }

    fn extend_random(
        &mut self,
        message: &[u8],
        m: usize,
        rows: &mut [Block],
    ) -> Result<Tweaks, OtError> {
        check_argument("rows", m, rows.len())?;
        check_message(Message::Extension, message, 0)?;
        check_available(self.queue.left, m)?;
        Ok(self.queue.take(rows))
    }
}

impl fmt::Debug for QueuedSender {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("QueuedSender").field(&self.silent).finish()
    }
}

/// The receiver: [`accept`](Self::accept), then extend.
pub struct QueuedReceiver {
    silent: SilentReceiver,
    queue: Queue,
}

impl QueuedReceiver {
    /// Takes a receiver that has made no rows yet.
    ///
    /// # Panics
    /// If it has made some: their tweaks would come again.
    pub fn new(silent: SilentReceiver) -> Self {
        assert_eq!(silent.made(), 0, "a queue begins with the first row");
        let queue = Queue::new(silent.instance());
        QueuedReceiver { silent, queue }
    }

    /// Length in bytes of the message that offers the next `m` OTs; it may be 0.
    pub fn offer_len(&self, m: usize) -> usize {
        self.silent.message_len(m)
    }

    /// Takes the offer of `m` OTs, which are available from then on.
    ///
    /// # Errors
    /// [`OtError::MessageLength`] for the message.
    pub fn accept(&mut self, message: &[u8], m: usize) -> Result<(), OtError> {
        let mut rows = self.queue.room(m);
        // The choices stay in the rows' lowest bits.
        let mut choices = Zeroizing::new(vec![0; m.div_ceil(8)]);
        let _ = self.silent.extend(message, m, &mut choices, &mut rows)?;
        self.queue.push(rows);
        Ok(())
    }
}

impl ExtensionReceiver for QueuedReceiver {
    fn message_len(&self, m: usize) -> usize {
        m.div_ceil(8)
    }

    fn random_message_len(&self, _: usize) -> usize {
        0
    }

    fn available(&self) -> usize {
        self.queue.left
    }

    /// The flips alone: the offers are counted by [`SilentParams::cost`](super::SilentParams::cost).
    fn cost(&self, m: usize) -> Cost {
        cost::choice_flips(m as u64)
    }

    fn extend(
        &mut self,
        choices: &[u8],
        m: usize,
        flips: &mut [u8],
        rows: &mut [Block],
    ) -> Result<Tweaks, OtError> {
        check_argument("choices", m.div_ceil(8), choices.len())?;
        check_argument("flips", m.div_ceil(8), flips.len())?;
        check_argument("rows", m, rows.len())?;
        check_available(self.queue.left, m)?;
        let tweaks = self.queue.take(rows);
        pack_choices(rows, flips);
        madrigal_kernels::xor_into(flips, choices);
        crate::select::clear_padding(flips, m);
        Ok(tweaks)
    }

    fn extend_random(
        &mut self,
        _: &mut dyn CryptoRng,
        m: usize,
        choices: &mut [u8],
        message: &mut [u8],
        rows: &mut [Block],
    ) -> Result<Tweaks, OtError> {
        check_argument("choices", m.div_ceil(8), choices.len())?;
        check_argument("message", 0, message.len())?;
        check_argument("rows", m, rows.len())?;
        check_available(self.queue.left, m)?;
        let tweaks = self.queue.take(rows);
        pack_choices(rows, choices);
        Ok(tweaks)
    }
}

impl fmt::Debug for QueuedReceiver {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("QueuedReceiver").field(&self.silent).finish()
    }
}
