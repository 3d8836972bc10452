//! OT extension of Ishai et al. with the optimisations of Asharov et al. (MOTION 5.1.2),
//! streamed in chunks.
//!
//! The base OTs run with the roles swapped: the extension *receiver* holds the two seeds of each
//! of [`KAPPA`] columns, the extension *sender* the one that Delta's bit selects. For `m` OTs with
//! choices r and generator streams G:
//!
//! 1. The receiver computes t_j = G(s_{j,0}), sends u_j = t_j ^ G(s_{j,1}) ^ r for every column j,
//!    and transposes t into rows t_i.
//! 2. The sender computes q_j = G(s_{j,Delta_j}) ^ Delta_j u_j and transposes: q_i = t_i ^ r_i Delta.
//!
//! This is [SoftSpoken](crate::softspoken) with k = 1, where a tree of seeds is a pair, and the
//! code is the same. What becomes of the rows is the business of the [flavours](crate::flavour).
//!
//! # Message
//! The OTs of one call are cut into chunks of [`CHUNK`], the last one shorter. A chunk of c OTs is
//! sent as 128 columns one after the other, each of `ceil(c / 128) * 16` bytes; so `m` OTs take
//! `16 * ceil(m / 128) * 128` bytes ([`message_len`]). A call for `CHUNK` OTs, k times over, sends
//! the same bytes as one call for `k * CHUNK`.
//!
//! # Both sides in step
//! Every chunk moves each column's generator on by `ceil(c / 128)` blocks, so the two parties must
//! make their calls with the same sequence of `m`. A call that returns an error has moved nothing.
//!
//! # Security
//! Semi-honest, static. Column j of u is masked by the one stream the sender does not know, so u is
//! pseudorandom whatever r is (PRG: AES-128 in counter mode). Delta never leaves the sender; no
//! branch or index depends on it.

use core::fmt;

use madrigal_kernels::Block;

use crate::{
    Delta, Instance, KAPPA, OtError, Tweaks,
    cost::Cost,
    extension::{ExtensionReceiver, ExtensionSender},
    softspoken::{FieldBits, SoftSpokenReceiver, SoftSpokenSender},
};

pub use crate::softspoken::CHUNK;

/// Length in bytes of the receiver's message for `m` OTs.
pub const fn message_len(m: usize) -> usize {
    m.div_ceil(KAPPA).saturating_mul(KAPPA * 16)
}

/// The sender of extended OTs: holds Delta and one stream per column.
pub struct IknpSender(SoftSpokenSender);

impl IknpSender {
    /// Starts an instance from the keys of [`KAPPA`] base OTs in which this party was the
    /// receiver with the choices [`Delta::choice_bits`]. The keys serve this instance alone, see
    /// [`SoftSpokenSender::new`].
    ///
    /// # Errors
    /// [`OtError::ArgumentLength`] if there are not [`KAPPA`] keys.
    pub fn new(instance: Instance, delta: Delta, keys: &[Block]) -> Result<Self, OtError> {
        SoftSpokenSender::new(instance, FieldBits::MIN, delta, keys, &[]).map(IknpSender)
    }
}

impl ExtensionSender for IknpSender {
    fn delta(&self) -> &Delta {
        self.0.delta()
    }

    fn message_len(&self, m: usize) -> usize {
        message_len(m)
    }

    fn cost(&self, m: usize) -> Cost {
        self.0.cost(m)
    }

    fn extend(&mut self, u: &[u8], m: usize, rows: &mut [Block]) -> Result<Tweaks, OtError> {
        self.0.extend(u, m, rows)
    }

    fn extend_bits(
        &mut self,
        u: &[u8],
        m: usize,
        k0: &mut [u8],
        k1: &mut [u8],
    ) -> Result<(), OtError> {
        self.0.extend_bits(u, m, k0, k1)
    }

    fn extend_blocks(
        &mut self,
        u: &[u8],
        m: usize,
        k0: &mut [Block],
        k1: &mut [Block],
    ) -> Result<(), OtError> {
        self.0.extend_blocks(u, m, k0, k1)
    }
}

impl fmt::Debug for IknpSender {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("IknpSender").field(&self.0).finish()
    }
}

/// The receiver of extended OTs: holds both streams of every column.
pub struct IknpReceiver(SoftSpokenReceiver);

impl IknpReceiver {
    /// Starts an instance from the keys of [`KAPPA`] base OTs in which this party was the sender. The
    /// keys serve this instance alone, see [`SoftSpokenSender::new`].
    ///
    /// # Errors
    /// [`OtError::ArgumentLength`] if there are not [`KAPPA`] pairs of keys.
    pub fn new(instance: Instance, keys: &[[Block; 2]]) -> Result<Self, OtError> {
        let (receiver, _) = SoftSpokenReceiver::new(instance, FieldBits::MIN, keys)?;
        Ok(IknpReceiver(receiver))
    }
}

impl ExtensionReceiver for IknpReceiver {
    fn message_len(&self, m: usize) -> usize {
        message_len(m)
    }

    fn cost(&self, m: usize) -> Cost {
        self.0.cost(m)
    }

    fn extend(
        &mut self,
        choices: &[u8],
        m: usize,
        u: &mut [u8],
        rows: &mut [Block],
    ) -> Result<Tweaks, OtError> {
        self.0.extend(choices, m, u, rows)
    }

    fn extend_bits(
        &mut self,
        choices: &[u8],
        m: usize,
        u: &mut [u8],
        out: &mut [u8],
    ) -> Result<(), OtError> {
        self.0.extend_bits(choices, m, u, out)
    }

    fn extend_blocks(
        &mut self,
        choices: &[u8],
        m: usize,
        u: &mut [u8],
        out: &mut [Block],
    ) -> Result<(), OtError> {
        self.0.extend_blocks(choices, m, u, out)
    }
}

impl fmt::Debug for IknpReceiver {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("IknpReceiver").field(&self.0).finish()
    }
}
