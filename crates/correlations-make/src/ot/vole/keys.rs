//! The side that has Delta.

use std::collections::VecDeque;
use std::fmt;

use bytes::Bytes;
use madrigal_core::{Party, Zeroizing};
use madrigal_kernels::{Block, Element};
use madrigal_net::{Channel, Context, Error, Result};
use madrigal_ot::softspoken::check;
use madrigal_ot::vole::{Answerer, VoleSender, mask_elements};

use super::start::{Plan, Start};
use super::{Security, VoleBase, name, pieces};
use crate::ot::base::{bug, fail};

/// The side that has Delta: makes keys K for values U in [`Element`]s of the peer, whose tags are K + U Delta.
pub struct VoleKeys<V> {
    context: Context,
    channel: Channel,
    sender: VoleSender<V>,
    security: Security,
    /// Keys of masks that wait for their challenge, the oldest first, with the number of elements that each is for.
    masks: VecDeque<(usize, Zeroizing<Vec<Block>>)>,
}

/// An instance of [`VoleKeys`] whose peer has said all that it says, and that has used nothing of Delta but for the check of it.
pub struct VoleKeysBegun<V> {
    context: Context,
    channel: Channel,
    start: Start,
    plan: Plan<V>,
    rows: Zeroizing<Vec<Block>>,
}

impl<V: Element> VoleKeysBegun<V> {
    /// Hears the peer, and checks it with [`Security::Malicious`]: all but the last message of [`VoleKeys::new`]. Where several instances have
    /// one [`VoleBase`], all of them are to be begun before one of them [starts](Self::start): else a peer could pick what it says to one by what it sees of another, which
    /// has the same Delta.
    ///
    /// # Errors
    /// [`Error`] in the cases of [`VoleKeys::new`].
    pub async fn new(
        context: &Context,
        base: &VoleBase,
        (peer, line): (Party, u32),
        elements: u64,
        security: Security,
    ) -> Result<Self> {
        let context = context.step(&name(context.me(), line));
        let mut channel = context.channel(peer)?;
        let start = Start::new(
            &context,
            base.with(peer, security)?,
            line,
            (context.me(), peer),
        );
        let plan = Plan::<V>::new(elements, security);
        let message = channel.recv(plan.first_len()).await?;
        let rows = context.metered_now(|| start.sender_rows(plan, &message));
        let rows = rows.map_err(|error| fail(&channel.rx, error))?;
        if security == Security::Malicious {
            // It is drawn here: the peer's columns are fixed.
            let seed = context.private_prg().next_block();
            channel.send(seed.to_bytes().to_vec()).await?;
            context.flush();
            let answer = channel.recv(check::ANSWER_BYTES).await?;
            let verified = context.metered_now(|| start.verify(seed, &rows, &answer));
            verified.map_err(|error| fail(&channel.rx, error))?;
        }
        Ok(Self {
            context,
            channel,
            start,
            plan,
            rows,
        })
    }

    /// Starts the instance: sends the last message.
    ///
    /// # Errors
    /// [`Error`] of the network.
    pub async fn start(self) -> Result<VoleKeys<V>> {
        let Self {
            context,
            mut channel,
            start,
            plan,
            rows,
        } = self;
        let started = context.metered_now(|| start.sender(plan, &rows));
        let (sender, setup) = started.map_err(|error| fail(&channel.rx, error))?;
        channel.send(setup).await?;
        context.flush();
        Ok(VoleKeys {
            context,
            channel,
            sender,
            security: plan.security,
            masks: VecDeque::new(),
        })
    }
}

impl<V> fmt::Debug for VoleKeysBegun<V> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("VoleKeysBegun").finish_non_exhaustive()
    }
}

impl<V: Element> VoleKeys<V> {
    /// Starts an instance for about `elements` elements with `peer`, as thread number `line` below [`MAX_THREADS`](crate::MAX_THREADS). Two rounds, with
    /// [`Security::Malicious`] four; the first message is the peer's. It is [`VoleKeysBegun`], started at once: where there are
    /// other instances on the same base OTs, and the peer may be malicious, take the two steps.
    ///
    /// # Errors
    /// [`Error`] of the network; of a peer's malformed message, or of one that fails the check; a bug if the base OTs serve instances
    /// of other security.
    pub async fn new(
        context: &Context,
        base: &VoleBase,
        of: (Party, u32),
        elements: u64,
        security: Security,
    ) -> Result<Self> {
        let begun = VoleKeysBegun::new(context, base, of, elements, security).await?;
        begun.start().await
    }

    /// The factor of all values.
    pub fn delta(&self) -> Zeroizing<Block> {
        Zeroizing::new(self.sender.delta().expose())
    }

    /// Makes the keys of the next elements. It waits for nothing from the peer. With [`Security::Malicious`] each call makes the mask of
    /// one challenge besides; calls may be ahead of the peer's challenges.
    ///
    /// # Errors
    /// [`Error`] of the network.
    pub async fn extend(&mut self, keys: &mut [Block]) -> Result<()> {
        let m = keys.len();
        for (range, masked) in pieces(m, self.security) {
            let mut mask = Zeroizing::<Vec<Block>>::zeros(mask_elements::<V>());
            let (keys, sender) = (&mut keys[range], &mut self.sender);
            let made = self.context.metered_now(|| {
                let mut message = vec![0; sender.message_len(keys.len())];
                sender.extend(keys.len(), &mut message, keys)?;
                if masked {
                    let mut more = vec![0; sender.message_len(mask.len())];
                    sender.extend(mask.len(), &mut more, &mut mask)?;
                    message.append(&mut more);
                }
                Ok(message)
            });
            if masked {
                self.masks.push_back((m, mask));
            }
            self.channel.send(Bytes::from(made.map_err(bug)?)).await?;
            self.context.flush();
        }
        Ok(())
    }

    /// Answers the peer's [challenge](super::VoleValues::challenge) of [`VOLE_CHALLENGE_BYTES`](crate::VOLE_CHALLENGE_BYTES) about the elements of one call of
    /// [`extend`](Self::extend), which have these keys: the calls come in order, each with one challenge. It sends nothing; the answer travels with what the caller sends.
    ///
    /// # Errors
    /// [`Error`] of a challenge of the wrong length; a bug if there is no call left to be answered for, or one for other elements.
    pub fn answer(
        &mut self,
        challenge: &[u8],
        keys: &[Block],
    ) -> Result<[u8; crate::VOLE_ANSWER_BYTES]> {
        let Some((m, mask)) = self.masks.pop_front() else {
            return Err(Error::bug("an answer without elements that have a mask"));
        };
        if m != keys.len() {
            let got = keys.len();
            return Err(Error::bug(format!("an answer for {got} elements of {m}")));
        }
        let answer = || self.sender.answer(challenge, keys, &mask);
        let answer = self.context.metered_now(answer);
        answer.map_err(|error| fail(&self.channel.rx, error))
    }

    /// Takes the answerer of the challenge about the oldest call of [`extend`](Self::extend) that has none yet, in place of [`answer`](Self::answer); `None` if none is left.
    ///
    /// # Errors
    /// A bug alone.
    pub fn answerer(&mut self) -> Result<Option<VoleAnswerer>> {
        let Some((elements, mask)) = self.masks.pop_front() else {
            return Ok(None);
        };
        let answerer = self.sender.answerer(&mask).map_err(bug)?;
        Ok(Some(VoleAnswerer {
            context: self.context.clone(),
            elements,
            answerer,
        }))
    }
}

/// Answerer of one challenge, while its [`VoleKeys`] makes elements for the next one.
pub struct VoleAnswerer {
    context: Context,
    elements: usize,
    answerer: Answerer,
}

impl VoleAnswerer {
    /// Does what [`VoleKeys::answer`] does.
    ///
    /// # Errors
    /// A bug if the challenge has another length, or if there are keys of other elements.
    pub fn answer(
        self,
        challenge: &[u8],
        keys: &[Block],
    ) -> Result<[u8; crate::VOLE_ANSWER_BYTES]> {
        if self.elements != keys.len() {
            let (m, got) = (self.elements, keys.len());
            return Err(Error::bug(format!("an answer for {got} elements of {m}")));
        }
        let answer = || self.answerer.answer(challenge, keys);
        self.context.metered_now(answer).map_err(bug)
    }
}

impl fmt::Debug for VoleAnswerer {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("VoleAnswerer").finish_non_exhaustive()
    }
}

impl<V> fmt::Debug for VoleKeys<V> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("VoleKeys").finish_non_exhaustive()
    }
}
