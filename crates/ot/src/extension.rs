//! Interface that all OT extensions have in common.
//!
//! An extension turns a few base OTs into any number of *rows*: the sender's q_i and the receiver's
//! t_i with q_i = t_i ^ r_i Delta for the receiver's choice bits r_i. The use of the rows is
//! the business of the [flavours](crate::flavour); [`extend_masks`](ExtensionSender::extend_masks) makes
//! the two commonest, bits and blocks, while the rows are in the cache.
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
//! Other messages depend on the extension and belong to its own methods: a message of the
//! receiver's at the start (SoftSpoken), or a message of the sender's whenever
//! [`available`](ExtensionSender::available) runs out ([silent](crate::silent::QueuedSender)).
//!
//! # Random choices
//! Some extensions (silent ones) give choices rather than take them. With them
//! [`extend_random`](ExtensionReceiver::extend_random) is the natural call, and
//! [`extend`](ExtensionReceiver::extend) sends a bit per OT to switch to the choices wanted. For the
//! others it is the other way round: `extend_random` draws choices and extends.

use core::ops::Range;

use madrigal_core::Zeroizing;
use madrigal_kernels::Block;
use rand_core::CryptoRng;

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
    /// rows, [`OtError::Exhausted`] if fewer are [`available`](Self::available). The state is then unchanged.
    fn extend(&mut self, message: &[u8], m: usize, rows: &mut [Block]) -> Result<Tweaks, OtError>;

    /// Counterpart of [`ExtensionReceiver::extend_random`].
    ///
    /// # Errors
    /// [`OtError`] in the same cases as [`extend`](Self::extend).
    fn extend_random(
        &mut self,
        message: &[u8],
        m: usize,
        rows: &mut [Block],
    ) -> Result<Tweaks, OtError> {
        self.extend(message, m, rows)
    }

    /// Reads the receiver's message for `m` OTs and writes the masks of each: rows and their hashes,
    /// piece by piece.
    ///
    /// # Errors
    /// [`OtError`] in the same cases as [`extend`](Self::extend); `out` has room for `m` OTs.
    fn extend_masks(
        &mut self,
        choices: Choices,
        message: &[u8],
        m: usize,
        mut out: Pairs<'_>,
    ) -> Result<(), OtError> {
        out.check(m)?;
        let lens = match choices {
            Choices::Given => Self::message_len,
            Choices::Random => Self::random_message_len,
        };
        check_message(Message::Extension, message, lens(self, m))?;
        check_available(self.available(), m)?;
        let mut rows = Zeroizing::new(vec![Block::ZERO; m.min(PIECE)]);
        for ots in pieces(m) {
            let message = &message[lens(self, ots.start)..][..lens(self, ots.len())];
            let rows = &mut rows[..ots.len()];
            let tweaks = match choices {
                Choices::Given => self.extend(message, ots.len(), rows)?,
                Choices::Random => self.extend_random(message, ots.len(), rows)?,
            };
            out.write(ots, self.delta(), tweaks, rows)?;
        }
        Ok(())
    }

    /// [`extend_masks`](Self::extend_masks) for given choices and bits.
    ///
    /// # Errors
    /// [`OtError`] in the same cases as [`extend_masks`](Self::extend_masks).
    fn extend_bits(
        &mut self,
        message: &[u8],
        m: usize,
        k0: &mut [u8],
        k1: &mut [u8],
    ) -> Result<(), OtError> {
        self.extend_masks(Choices::Given, message, m, Pairs::Bits([k0, k1]))
    }

    /// [`extend_masks`](Self::extend_masks) for given choices and blocks.
    ///
    /// # Errors
    /// [`OtError`] in the same cases as [`extend_masks`](Self::extend_masks).
    fn extend_blocks(
        &mut self,
        message: &[u8],
        m: usize,
        k0: &mut [Block],
        k1: &mut [Block],
    ) -> Result<(), OtError> {
        self.extend_masks(Choices::Given, message, m, Pairs::Blocks([k0, k1]))
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

    /// Extends to `m` OTs with the given packed choices (`ceil(m / 8)` bytes): writes the message to send
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

    /// Extends to `m` OTs with random choices: writes the choices, the message to send
    /// ([`random_message_len`](Self::random_message_len) bytes) and the rows t_i. `rng` is where the
    /// choices come from unless the extension has its own.
    ///
    /// # Errors
    /// [`OtError`] in the same cases as [`extend`](Self::extend).
    fn extend_random(
        &mut self,
        rng: &mut dyn CryptoRng,
        m: usize,
        choices: &mut [u8],
        message: &mut [u8],
        rows: &mut [Block],
    ) -> Result<Tweaks, OtError> {
        check_argument("choices", m.div_ceil(8), choices.len())?;
        let choices = Chosen::Random(rng, choices).draw(m);
        self.extend(choices, m, message, rows)
    }

    /// Extends to `m` OTs: writes the message to send and the mask that each choice selects: the counterpart
    /// of [`ExtensionSender::extend_masks`].
    ///
    /// # Errors
    /// [`OtError`] in the same cases as [`extend`](Self::extend); `out` has room for `m` OTs.
    fn extend_masks(
        &mut self,
        mut choices: Chosen<'_>,
        m: usize,
        message: &mut [u8],
        mut out: Selected<'_>,
    ) -> Result<(), OtError> {
        choices.check(m)?;
        out.check(m)?;
        let lens = match choices {
            Chosen::Given(_) => Self::message_len,
            Chosen::Random(..) => Self::random_message_len,
        };
        check_argument("message", lens(self, m), message.len())?;
        check_available(self.available(), m)?;
        let mut rows = Zeroizing::new(vec![Block::ZERO; m.min(PIECE)]);
        for ots in pieces(m) {
            let message = &mut message[lens(self, ots.start)..][..lens(self, ots.len())];
            let (rows, bits) = (&mut rows[..ots.len()], packed(&ots));
            let tweaks = match &mut choices {
                Chosen::Given(choices) => self.extend(&choices[bits], ots.len(), message, rows)?,
                Chosen::Random(rng, choices) => {
                    self.extend_random(*rng, ots.len(), &mut choices[bits], message, rows)?
                }
            };
            out.write(ots, tweaks, rows)?;
        }
        Ok(())
    }

    /// [`extend_masks`](Self::extend_masks) for given choices and bits.
    ///
    /// # Errors
    /// [`OtError`] in the same cases as [`extend_masks`](Self::extend_masks).
    fn extend_bits(
        &mut self,
        choices: &[u8],
        m: usize,
        message: &mut [u8],
        out: &mut [u8],
    ) -> Result<(), OtError> {
        self.extend_masks(Chosen::Given(choices), m, message, Selected::Bits(out))
    }

    /// [`extend_masks`](Self::extend_masks) for given choices and blocks.
    ///
    /// # Errors
    /// [`OtError`] in the same cases as [`extend_masks`](Self::extend_masks).
    fn extend_blocks(
        &mut self,
        choices: &[u8],
        m: usize,
        message: &mut [u8],
        out: &mut [Block],
    ) -> Result<(), OtError> {
        self.extend_masks(Chosen::Given(choices), m, message, Selected::Blocks(out))
    }
}

/// Choices of the OTs, as the sender knows them.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Choices {
    /// The receiver.
    Given,
    /// Nobody: they are random.
    Random,
}

/// Choices of the OTs, as the receiver knows them: packed choices (`ceil(m / 8)` bytes).
pub enum Chosen<'a> {
    /// We do.
    Given(&'a [u8]),
    /// Nobody: they are random, and written here. The generator is where they come from unless the
    /// extension has its own.
    Random(&'a mut dyn CryptoRng, &'a mut [u8]),
}

impl<'a> Chosen<'a> {
    /// The choices; random ones are drawn.
    pub(crate) fn draw(self, m: usize) -> &'a [u8] {
        match self {
            Chosen::Given(choices) => choices,
            Chosen::Random(rng, choices) => {
                rng.fill_bytes(choices);
                clear_padding(choices, m);
                choices
            }
        }
    }

    pub(crate) fn check(&self, m: usize) -> Result<(), OtError> {
        let len = match self {
            Chosen::Given(choices) => choices.len(),
            Chosen::Random(_, choices) => choices.len(),
        };
        check_argument("choices", m.div_ceil(8), len)
    }
}

/// Places of the sender's two masks of each OT.
pub enum Pairs<'a> {
    /// A bit each, packed (`ceil(m / 8)` bytes).
    Bits([&'a mut [u8]; 2]),
    /// A block each.
    Blocks([&'a mut [Block]; 2]),
}

impl Pairs<'_> {
    pub(crate) fn check(&self, m: usize) -> Result<(), OtError> {
        let (expected, got) = match self {
            Pairs::Bits(out) => (m.div_ceil(8), out.each_ref().map(|out| out.len())),
            Pairs::Blocks(out) => (m, out.each_ref().map(|out| out.len())),
        };
        check_argument("k0", expected, got[0])?;
        check_argument("k1", expected, got[1])
    }

    /// Makes the masks of some of the OTs. The first is a multiple of 8.
    pub(crate) fn write(
        &mut self,
        ots: Range<usize>,
        delta: &Delta,
        tweaks: Tweaks,
        rows: &[Block],
    ) -> Result<(), OtError> {
        match self {
            Pairs::Bits(out) => {
                let [k0, k1] = out.each_mut().map(|out| &mut out[packed(&ots)]);
                flavour::sender_random_bits(delta, tweaks, rows, k0, k1)
            }
            Pairs::Blocks(out) => {
                let [k0, k1] = out.each_mut().map(|out| &mut out[ots.clone()]);
                flavour::sender_random_blocks(delta, tweaks, rows, k0, k1)
            }
        }
    }
}

/// Places of the receiver's mask of each OT.
pub enum Selected<'a> {
    /// A bit, packed (`ceil(m / 8)` bytes).
    Bits(&'a mut [u8]),
    /// A block.
    Blocks(&'a mut [Block]),
}

impl Selected<'_> {
    pub(crate) fn check(&self, m: usize) -> Result<(), OtError> {
        let (expected, got) = match self {
            Selected::Bits(out) => (m.div_ceil(8), out.len()),
            Selected::Blocks(out) => (m, out.len()),
        };
        check_argument("out", expected, got)
    }

    /// Makes the masks of some of the OTs. The first is a multiple of 8.
    pub(crate) fn write(
        &mut self,
        ots: Range<usize>,
        tweaks: Tweaks,
        rows: &[Block],
    ) -> Result<(), OtError> {
        match self {
            Selected::Bits(out) => {
                flavour::receiver_random_bits(tweaks, rows, &mut out[packed(&ots)])
            }
            Selected::Blocks(out) => flavour::receiver_random_blocks(tweaks, rows, &mut out[ots]),
        }
    }
}

/// The OTs of a call, some at a time.
fn pieces(m: usize) -> impl Iterator<Item = Range<usize>> {
    (0..m)
        .step_by(PIECE)
        .map(move |first| first..m.min(first + PIECE))
}

/// The bytes of some OTs' bits. The first is a multiple of 8.
fn packed(ots: &Range<usize>) -> Range<usize> {
    ots.start / 8..ots.end.div_ceil(8)
}

/// Keeps a call of several pieces from failing halfway.
pub(crate) fn check_available(left: usize, wanted: usize) -> Result<(), OtError> {
    if wanted > left {
        Err(OtError::Exhausted { wanted, left })
    } else {
        Ok(())
    }
}
