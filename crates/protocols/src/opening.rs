//! Openings make shared values known: everyone to everyone, or through one party (MOTION 5.6).

use bytes::Bytes;
use futures_util::future::BoxFuture;
use madrigal_core::{Party, PhaseCost};
use madrigal_net::{Channel, Context, Result, exchange_each};

/// Rule by which shares are combined: adds the second one to the first one, XORed bits or elements of a ring. It
/// is no type parameter, because what sends and receives is the same for all rings.
pub(crate) type Rule<'a> = &'a (dyn Fn(&mut [u8], &[u8]) + Sync);

/// The party that adds up in [`Opening::Relay`] what all may know.
const RELAY: Party = Party::new(0);

/// Ways in which the parties add up their shares; and, in BMR, the columns of garbled tables, each of which one party
/// adds up for the others with [`Opening::Relay`], and without it where that saves much.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Opening {
    /// Each sends its share to each: one round, N(N-1) messages in all.
    Direct,
    /// Each sends its share to one party, which sends back the sum: two rounds, 2(N-1) messages in
    /// all. Worth it where bandwidth is short and latency is not. It is party 0, but where that one
    /// may not know the result, the first that may: whoever adds up learns the sum.
    Relay,
}

impl std::fmt::Display for Opening {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(match self {
            Self::Direct => "direct",
            Self::Relay => "relay",
        })
    }
}

impl Opening {
    /// Gives the party that adds up for the parties `to`, if it is not each of them for itself. Always one of them.
    pub(crate) fn relay(self, to: &[Party]) -> Option<Party> {
        match self {
            Self::Relay if to.len() > 1 && to.contains(&RELAY) => Some(RELAY),
            Self::Relay if to.len() > 1 => to.iter().min().copied(),
            _ => None,
        }
    }

    /// Adds to `sum`, our share, everyone else's by `rule`, so that it becomes what they share, known to
    /// the parties in `to` alone; whether we are one. For the others, `sum` stays what it is.
    ///
    /// Boxed, so that it is compiled here and not in every crate that awaits it.
    pub(crate) fn add_up<'a>(
        self,
        rule: Rule<'a>,
        context: &'a Context,
        channels: &'a mut [Channel],
        sum: &'a mut [u8],
        to: &'a [Party],
    ) -> BoxFuture<'a, Result<bool>> {
        match self.relay(to) {
            Some(relay) => Box::pin(through(relay, rule, context, channels, sum, to)),
            None => Box::pin(directly(rule, context, channels, sum, to)),
        }
    }

    /// Cost for party `me` of opening `bytes` bytes to the parties `to`; rounds are in
    /// [`Rounds`](crate::Rounds).
    pub fn cost(self, me: Party, parties: usize, bytes: u64, to: &[Party]) -> PhaseCost {
        let peers = parties as u64 - 1;
        let receivers = to.iter().filter(|&&party| party != me).count() as u64;
        let gets = u64::from(to.contains(&me));
        let (sent, received) = match self.relay(to) {
            None => (receivers, gets * peers),
            Some(relay) if relay == me => (receivers, peers),
            Some(_) => (1, gets),
        };
        PhaseCost {
            rounds: 0,
            bytes_sent: sent * bytes,
            bytes_received: received * bytes,
            messages: sent,
            aes_blocks: 0,
        }
    }
}

async fn directly(
    rule: Rule<'_>,
    context: &Context,
    channels: &mut [Channel],
    sum: &mut [u8],
    to: &[Party],
) -> Result<bool> {
    let gets = to.contains(&context.me());
    let message = Bytes::copy_from_slice(sum);
    let (mut sends, mut receives) = (Vec::new(), Vec::new());
    for channel in channels {
        let peer = channel.peer();
        let Channel { tx, rx } = channel;
        sends.extend(to.contains(&peer).then(|| (tx, message.clone())));
        receives.extend(gets.then_some((rx, sum.len())));
    }
    for theirs in exchange_each(sends, receives).await? {
        rule(sum, &theirs);
    }
    Ok(gets)
}

async fn through(
    relay: Party,
    rule: Rule<'_>,
    context: &Context,
    channels: &mut [Channel],
    sum: &mut [u8],
    to: &[Party],
) -> Result<bool> {
    let me = context.me();
    if me == relay {
        for channel in &mut *channels {
            let theirs = channel.recv(sum.len()).await?;
            rule(sum, &theirs);
        }
        let message = Bytes::copy_from_slice(sum);
        for channel in channels {
            if to.contains(&channel.peer()) {
                channel.send(message.clone()).await?;
            }
        }
        return Ok(true);
    }
    let found = channels.iter_mut().find(|channel| channel.peer() == relay);
    let channel = found.expect("there is a channel to every peer");
    channel.send(Bytes::copy_from_slice(sum)).await?;
    let gets = to.contains(&me);
    if gets {
        sum.copy_from_slice(&channel.recv(sum.len()).await?);
    }
    Ok(gets)
}
