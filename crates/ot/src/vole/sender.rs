//! The sender of VOLE.

use core::fmt;
use core::marker::PhantomData;

use madrigal_core::Zeroizing;
use madrigal_kernels::{Block, Element, Kernels, Prg};
use rand_core::CryptoRng;

use super::check::{ANSWER_BYTES, Answerer, Checks};
use super::{SHIFT_BYTES, pack::pack, params::VoleParams, shifts::Shifts};
use crate::error::check_argument;
use crate::silent::iteration::Iterations;
use crate::silent::public::PublicCoins;
use crate::silent::trees::grow_sender;
use crate::silent::{SilentParams, SilentSender};
use crate::{Delta, OtError};

/// The sender: has Delta and makes keys K. Speaks only.
pub struct VoleSender<V> {
    silent: SilentSender,
    roots: Prg,
    iterations: Iterations<Block>,
    /// Delta times the shift of a group is added to the keys of its trees' elements.
    shifts: Shifts,
    /// Leaves of one group. Secret.
    leaves: Zeroizing<Vec<Block>>,
    course: SilentParams,
    checks: Checks,
    marker: PhantomData<fn() -> V>,
}

impl<V: Element> VoleSender<V> {
    /// Starts an instance from silent OTs, which serve for nothing else from then on, and whose Delta and name it has; gives
    /// the message to send, too.
    ///
    /// # Errors
    /// [`OtError`]: none that a correct build gives.
    pub fn new(
        rng: &mut impl CryptoRng,
        params: VoleParams<V>,
        silent: SilentSender,
    ) -> Result<(Self, Vec<u8>), OtError> {
        Self::shifted(rng, params, silent, &[])
    }

    /// Does as [`new`](Self::new), for a receiver that may be malicious: the silent OTs are from base rows that are
    /// [checked](crate::softspoken::check) by now. The message has [`SHIFT_BYTES`](super::SHIFT_BYTES) more.
    ///
    /// # Errors
    /// [`OtError`]: none that a correct build gives.
    pub fn checked(
        rng: &mut impl CryptoRng,
        params: VoleParams<V>,
        silent: SilentSender,
    ) -> Result<(Self, Vec<u8>), OtError> {
        let mut seed = [0; SHIFT_BYTES];
        rng.fill_bytes(&mut seed);
        Self::shifted(rng, params, silent, &seed)
    }

    fn shifted(
        rng: &mut impl CryptoRng,
        params: VoleParams<V>,
        mut silent: SilentSender,
        seed: &[u8],
    ) -> Result<(Self, Vec<u8>), OtError> {
        let mut message = seed.to_vec();
        message.resize(seed.len() + silent.message_len(params.setup_ots()), 0);
        let mut left = &mut message[seed.len()..];
        let mut base = Zeroizing::<Vec<Block>>::zeros(params.base_elements());
        let mut rows = Zeroizing::<Vec<Block>>::zeros(super::PIECE * V::BITS);
        for base in base.chunks_mut(super::PIECE) {
            let m = base.len() * V::BITS;
            let part = left.split_off_mut(..silent.message_len(m));
            // Rows that are packed are never hashed, so that their tweaks are dropped; so are those of trees.
            let _ = silent.extend(m, part.unwrap_or_default(), &mut rows[..m])?;
            for (base, rows) in base.iter_mut().zip(rows.chunks_exact(V::BITS)) {
                *base = pack::<V>(rows);
            }
        }
        let instance = silent.instance();
        let mut root_seed = Zeroizing::new([0; 16]);
        rng.fill_bytes(&mut *root_seed);
        let sender = VoleSender {
            silent,
            roots: Prg::numbered(Block::from_bytes(*root_seed), instance.vole_roots_number()),
            iterations: Iterations::new(
                instance,
                PublicCoins::vole(instance),
                params.course(),
                base,
            ),
            shifts: Shifts::new(seed),
            leaves: Zeroizing::default(),
            course: params.course(),
            checks: Checks::new(instance),
            marker: PhantomData,
        };
        Ok((sender, message))
    }

    /// The parameters of the instance.
    #[must_use]
    pub fn params(&self) -> VoleParams<V> {
        VoleParams::new(self.course.stages())
    }

    /// The factor of all values.
    #[must_use]
    pub fn delta(&self) -> &Delta {
        self.silent.delta()
    }

    /// Length in bytes of the message for the next `m` elements.
    #[must_use]
    pub fn message_len(&self, m: usize) -> usize {
        let (params, made) = (self.params(), self.iterations.made());
        self.silent.message_len(params.ots(made, m)) + params.tree_bytes(made, m)
    }

    /// Makes `m` elements: writes the message to send ([`Self::message_len`] bytes) and the keys K.
    ///
    /// # Errors
    /// [`OtError::ArgumentLength`] for the argument of the wrong length; nothing has moved then.
    pub fn extend(
        &mut self,
        m: usize,
        message: &mut [u8],
        keys: &mut [Block],
    ) -> Result<(), OtError> {
        check_argument("keys", m, keys.len())?;
        check_argument("message", self.message_len(m), message.len())?;
        let ots = self.params().ots(self.iterations.made(), m);
        let (silent_message, message) = message.split_at_mut(self.silent.message_len(ots));
        let mut rows = Zeroizing::<Vec<Block>>::zeros(ots);
        let _ = self.silent.extend(ots, silent_message, &mut rows)?;
        let (delta, roots, leaves) = (
            self.silent.delta().expose(),
            &mut self.roots,
            &mut self.leaves,
        );
        let (mut rows, shifts) = (rows.as_slice(), &mut self.shifts);
        let _ = self.iterations.fill(keys, |coins, used, place, nodes| {
            let (sums, errors) = message[place].split_at_mut(super::level_bytes(nodes));
            let (now, later) = rows.split_at(sums.len() / 16);
            rows = later;
            if leaves.len() != nodes.len() {
                *leaves = Zeroizing::zeros(nodes.len());
            }
            grow_sender(&coins.next_trees(), delta, roots, now, sums, leaves);
            super::hashed(&coins.next_hash(), leaves, nodes);
            let shift = [shifts.next::<V>()];
            let shift = Kernels::detect().field_inner_product(&[delta], &shift);
            write_sums(nodes, used, shift, errors);
        });
        Ok(())
    }

    /// Means to answer the receiver's next [challenge](super::VoleReceiver::challenge), which is of elements with a mask of these keys.
    ///
    /// # Errors
    /// [`OtError::ArgumentLength`] for the mask.
    pub fn answerer(&mut self, mask: &[Block]) -> Result<Answerer, OtError> {
        let delta = self.silent.delta().expose();
        self.checks.answerer::<V>(delta, mask)
    }

    /// Answers the receiver's [challenge](super::VoleReceiver::challenge) of the elements with these keys and a mask's.
    ///
    /// # Errors
    /// [`OtError::MessageLength`] for the challenge, [`OtError::ArgumentLength`] for the mask.
    pub fn answer(
        &mut self,
        challenge: &[u8],
        keys: &[Block],
        mask: &[Block],
    ) -> Result<[u8; ANSWER_BYTES], OtError> {
        self.answerer(mask)?.answer(challenge, keys)
    }
}

/// Writes the sum of each tree's leaves, masked by the key that is used up and the shift's.
fn write_sums(leaves: &[Block], used: &[Block], shift: Block, message: &mut [u8]) {
    let sums = super::sums(leaves);
    for ((message, &sum), &key) in message.chunks_exact_mut(16).zip(sums.iter()).zip(used) {
        message.copy_from_slice(&(sum ^ key ^ shift).to_bytes());
    }
}

impl<V> fmt::Debug for VoleSender<V> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("VoleSender")
            .field("instance", &self.iterations.instance())
            .finish_non_exhaustive()
    }
}
