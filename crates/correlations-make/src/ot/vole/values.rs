//! The side that makes values.

use std::fmt;

use madrigal_core::{Party, Zeroizing};
use madrigal_kernels::{Block, Element};
use madrigal_net::{Channel, Context, Error, Result};
use madrigal_ot::softspoken::check;
use madrigal_ot::vole::{Expected, VoleReceiver, mask_elements};

use super::start::{Plan, Start};
use super::{Security, VoleBase, name, pieces};
use crate::ot::base::{bug, fail};

/// The side that makes random values U and their tags M = K + U Delta.
pub struct VoleValues<V: Element> {
    context: Context,
    channel: Channel,
    receiver: VoleReceiver<V>,
    security: Security,
    mask: Option<Mask<V>>,
}

/// The mask of one challenge, and the number of elements that it is for.
struct Mask<V: Element> {
    elements: usize,
    values: Zeroizing<Vec<V>>,
    tags: Zeroizing<Vec<Block>>,
}

impl<V: Element> VoleValues<V> {
    /// Starts an instance for about `elements` elements with `peer`, as thread number `line` below [`MAX_THREADS`](crate::MAX_THREADS). Two rounds, with
    /// [`Security::Malicious`] four; the first message is ours.
    ///
    /// # Errors
    /// [`Error`] of the network; of a peer's malformed message; a bug if the base OTs serve instances of other security.
    pub async fn new(
        context: &Context,
        base: &VoleBase,
        (peer, line): (Party, u32),
        elements: u64,
        security: Security,
    ) -> Result<Self> {
        let context = context.step(&name(peer, line));
        let mut channel = context.channel(peer)?;
        let mut start = Start::new(
            &context,
            base.with(peer, security)?,
            line,
            (peer, context.me()),
        );
        let plan = Plan::<V>::new(elements, security);
        let rows = context.metered_now(|| start.receiver_rows(plan));
        let (chosen, message) = rows.map_err(bug)?;
        channel.send(message).await?;
        if security == Security::Malicious {
            context.flush();
            let seed = channel.recv(check::CHALLENGE_BYTES).await?;
            let answer = context.metered_now(|| chosen.answer(&seed)).map_err(bug)?;
            channel.send(answer).await?;
        }
        let silent = context.metered_now(|| start.receiver(plan, &chosen));
        let silent = silent.map_err(bug)?;
        drop(chosen);
        let setup = plan.shift_len() + silent.message_len(plan.vole.setup_ots());
        let setup = channel.recv(setup).await?;
        let receiver = context.metered_now(|| match security {
            Security::SemiHonest => VoleReceiver::new(plan.vole, silent, &setup),
            Security::Malicious => VoleReceiver::checked(plan.vole, silent, &setup),
        });
        let receiver = receiver.map_err(|error| fail(&channel.rx, error))?;
        Ok(Self {
            context,
            channel,
            receiver,
            security,
            mask: None,
        })
    }

    /// Makes the next elements: random values and their tags. It sends nothing. With [`Security::Malicious`] a [challenge](Self::challenge) of these has to follow: until
    /// its answer has been checked, nothing that depends on the tags may be told to the peer.
    ///
    /// # Errors
    /// [`Error`] of the network; of a peer's malformed message; a bug if the elements of the call before were not challenged.
    ///
    /// # Panics
    /// If there are not as many tags as values.
    pub async fn extend(&mut self, values: &mut [V], tags: &mut [Block]) -> Result<()> {
        assert_eq!(values.len(), tags.len(), "a tag for each value");
        if self.mask.is_some() {
            return Err(Error::bug("elements that were not challenged"));
        }
        let elements = values.len();
        for (range, masked) in pieces(elements, self.security) {
            let mut mask = Mask {
                elements,
                values: Zeroizing::zeros(mask_elements::<V>()),
                tags: Zeroizing::zeros(mask_elements::<V>()),
            };
            let (values, tags) = (&mut values[range.clone()], &mut tags[range]);
            let m = values.len();
            let more = if masked { mask.values.len() } else { 0 };
            let receiver = &mut self.receiver;
            let message = self.channel.recv(receiver.message_len(m + more)).await?;
            let made = self.context.metered_now(|| {
                let (first, second) = message.split_at(receiver.message_len(m));
                receiver.extend(first, m, values, tags)?;
                if masked {
                    receiver.extend(second, more, &mut mask.values, &mut mask.tags)?;
                }
                Ok(())
            });
            made.map_err(|error| fail(&self.channel.rx, error))?;
            if masked {
                self.mask = Some(mask);
            }
        }
        Ok(())
    }

    /// Makes the challenge of the elements of the last call of [`extend`](Self::extend): whether the peer has their keys. Gives the
    /// [`VOLE_CHALLENGE_BYTES`](crate::VOLE_CHALLENGE_BYTES) that the peer has to [answer](super::VoleKeys::answer), and what the answer must be. It sends nothing;
    /// the challenge travels with what the caller sends. It tells the peer nothing about the values.
    ///
    /// # Errors
    /// A bug if there is no such call that was not challenged, or it made another number of elements, or security is semi-honest.
    pub fn challenge(&mut self, values: &[V], tags: &[Block]) -> Result<(Vec<u8>, Expected)> {
        let Some(mask) = self.mask.take() else {
            return Err(Error::bug("a challenge without elements that have a mask"));
        };
        if mask.elements != values.len() {
            let (m, got) = (mask.elements, values.len());
            return Err(Error::bug(format!("a challenge of {got} elements of {m}")));
        }
        // It is drawn here: all messages about these elements have come.
        let seed = self.context.private_prg().next_block();
        let made = || {
            self.receiver
                .challenge(seed, (values, tags), (&mask.values, &mask.tags))
        };
        let (challenge, expected) = self.context.metered_now(made).map_err(bug)?;
        Ok((challenge.to_vec(), expected))
    }
}

impl<V: Element> fmt::Debug for VoleValues<V> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("VoleValues").finish_non_exhaustive()
    }
}
