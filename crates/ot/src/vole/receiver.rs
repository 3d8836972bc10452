//! The receiver of VOLE.

use core::fmt;

use madrigal_core::Zeroizing;
use madrigal_kernels::ggm::TREES;
use madrigal_kernels::{Block, Element, Kernels, blocks_as_bytes_mut};

use super::check::{CHALLENGE_BYTES, Checks, Expected};
use super::{SHIFT_BYTES, pack::pack, params::VoleParams, shifts::Shifts};
use crate::OtError;
use crate::error::{Message, check_argument, check_message};
use crate::silent::iteration::Iterations;
use crate::silent::public::PublicCoins;
use crate::silent::trees::grow_receiver;
use crate::silent::{SilentParams, SilentReceiver};

/// The receiver: makes random values U and their tags M = K + U Delta. Listens only.
pub struct VoleReceiver<V: Element> {
    silent: SilentReceiver,
    tags: Iterations<Block>,
    values: Iterations<V>,
    /// The shift of a group is added to the values of its trees' elements.
    shifts: Shifts,
    /// Leaves of one group. Secret.
    leaves: Zeroizing<Vec<Block>>,
    course: SilentParams,
    checks: Checks,
}

impl<V: Element> VoleReceiver<V> {
    /// Starts an instance from silent OTs, which serve for nothing else from then on, and the sender's message.
    ///
    /// # Errors
    /// [`OtError::MessageLength`] for the message.
    pub fn new(
        params: VoleParams<V>,
        silent: SilentReceiver,
        message: &[u8],
    ) -> Result<Self, OtError> {
        Self::shifted(params, silent, message, 0)
    }

    /// Does as [`new`](Self::new), with a sender that is [`checked`](super::VoleSender::checked): the message has [`SHIFT_BYTES`] more.
    ///
    /// # Errors
    /// [`OtError::MessageLength`] for the message.
    pub fn checked(
        params: VoleParams<V>,
        silent: SilentReceiver,
        message: &[u8],
    ) -> Result<Self, OtError> {
        Self::shifted(params, silent, message, SHIFT_BYTES)
    }

    fn shifted(
        params: VoleParams<V>,
        mut silent: SilentReceiver,
        message: &[u8],
        seed: usize,
    ) -> Result<Self, OtError> {
        let expected = seed + silent.message_len(params.setup_ots());
        check_message(Message::VoleSetup, message, expected)?;
        let (seed, mut left) = message.split_at(seed);
        let mut tags = Zeroizing::<Vec<Block>>::zeros(params.base_elements());
        let mut values = Zeroizing::<Vec<V>>::zeros(params.base_elements());
        let mut rows = Zeroizing::<Vec<Block>>::zeros(super::PIECE * V::BITS);
        let pieces = tags.chunks_mut(super::PIECE);
        for (tags, values) in pieces.zip(values.chunks_mut(super::PIECE)) {
            let m = tags.len() * V::BITS;
            let part = left.split_off(..silent.message_len(m));
            // An element's bits are the choices of its OTs, in order.
            let choices = V::bytes_mut(values);
            let _ = silent.extend(part.unwrap_or_default(), m, choices, &mut rows[..m])?;
            for (tag, rows) in tags.iter_mut().zip(rows.chunks_exact(V::BITS)) {
                *tag = pack::<V>(rows);
            }
        }
        let instance = silent.instance();
        let (coins, course) = (|| PublicCoins::vole(instance), params.course());
        Ok(VoleReceiver {
            silent,
            tags: Iterations::new(instance, coins(), course, tags),
            values: Iterations::new(instance, coins(), course, values),
            shifts: Shifts::new(seed),
            leaves: Zeroizing::default(),
            course,
            checks: Checks::new(instance),
        })
    }

    /// The parameters of the instance.
    #[must_use]
    pub fn params(&self) -> VoleParams<V> {
        VoleParams::new(self.course.stages())
    }

    /// Length in bytes of the sender's message for the next `m` elements.
    #[must_use]
    pub fn message_len(&self, m: usize) -> usize {
        let (params, made) = (self.params(), self.tags.made());
        self.silent.message_len(params.ots(made, m)) + params.tree_bytes(made, m)
    }

    /// Reads the sender's message for `m` elements and writes the values U and the tags M.
    ///
    /// # Errors
    /// [`OtError::MessageLength`] for the message, [`OtError::ArgumentLength`] for the argument of
    /// the wrong length; nothing has moved then.
    pub fn extend(
        &mut self,
        message: &[u8],
        m: usize,
        values: &mut [V],
        tags: &mut [Block],
    ) -> Result<(), OtError> {
        check_argument("values", m, values.len())?;
        check_argument("tags", m, tags.len())?;
        check_message(Message::Vole, message, self.message_len(m))?;
        let (params, made) = (self.params(), self.tags.made());
        let ots = params.ots(made, m);
        let (silent_message, message) = message.split_at(self.silent.message_len(ots));
        let mut rows = Zeroizing::<Vec<Block>>::zeros(ots);
        let mut choices = Zeroizing::<Vec<u8>>::zeros(ots.div_ceil(8));
        let _ = self
            .silent
            .extend(silent_message, ots, &mut choices, &mut rows)?;
        let mut rows = rows.as_slice();
        let leaves = &mut self.leaves;
        // Where the errors of each group are.
        let mut places = Zeroizing::<Vec<[u64; TREES]>>::zeros(params.groups(made, m));
        let mut left = places.iter_mut();
        let _ = self.tags.fill(tags, |coins, used, place, nodes| {
            let (sums, errors) = message[place].split_at(super::level_bytes(nodes));
            let (now, later) = rows.split_at(sums.len() / 16);
            rows = later;
            if leaves.len() != nodes.len() {
                *leaves = Zeroizing::zeros(nodes.len());
            }
            let here = grow_receiver(&coins.next_trees(), now, sums, leaves);
            super::hashed(&coins.next_hash(), leaves, nodes);
            let mut corrections = super::sums(nodes);
            let mut message = Zeroizing::new([Block::ZERO; TREES]);
            blocks_as_bytes_mut(&mut *message).copy_from_slice(errors);
            for ((correction, &sum), &tag) in corrections.iter_mut().zip(&*message).zip(used) {
                *correction ^= sum ^ tag;
            }
            Kernels::detect().ggm_add(nodes, &here, &corrections);
            if let Some(left) = left.next() {
                *left = *here;
            }
        });
        let (mut left, shifts) = (places.iter(), &mut self.shifts);
        let _ = self.values.fill(values, |_, used, _, nodes| {
            nodes.fill(V::default());
            let shift = shifts.next::<V>();
            if let (Some(places), Some(errors)) = (left.next(), used.first_chunk()) {
                let mut errors = Zeroizing::<[V; TREES]>::new(*errors);
                errors.iter_mut().for_each(|error| *error ^= shift);
                Kernels::detect().ggm_add(nodes, places, &errors);
            }
        });
        Ok(())
    }

    /// Makes a challenge to the sender of elements with their tags, and of a mask of [`mask_elements`](super::mask_elements) others that serve for nothing
    /// else: whether it has the keys of all of them. `seed` is drawn at random when the sender's messages for all of them have come.
    /// Gives the message to send and what the answer must be.
    ///
    /// # Errors
    /// [`OtError::ArgumentLength`] for the argument of the wrong length.
    pub fn challenge(
        &mut self,
        seed: Block,
        elements: (&[V], &[Block]),
        mask: (&[V], &[Block]),
    ) -> Result<([u8; CHALLENGE_BYTES], Expected), OtError> {
        self.checks.challenge(seed, elements, mask)
    }
}

impl<V: Element> fmt::Debug for VoleReceiver<V> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("VoleReceiver")
            .field("instance", &self.tags.instance())
            .finish_non_exhaustive()
    }
}
