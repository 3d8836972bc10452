//! How shared bits become known: everyone to everyone, or through one party (MOTION 5.6).

use bytes::Bytes;
use madrigal_core::{Party, PhaseCost};
use madrigal_kernels as kernels;
use madrigal_net::{Channel, Context, Result, exchange, exchange_each};
use zeroize::Zeroizing;

/// The party that adds up in [`Opening::Relay`] what all may know.
const RELAY: Party = Party::new(0);

/// How the parties add up their shares.
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
    /// Who adds up for the parties `to`, if it is not each of them for itself. Always one of them.
    pub(crate) fn relay(self, to: &[Party]) -> Option<Party> {
        match self {
            Self::Relay if to.len() > 1 && to.contains(&RELAY) => Some(RELAY),
            Self::Relay if to.len() > 1 => to.iter().min().copied(),
            _ => None,
        }
    }

    /// The XOR of everyone's `share`, which becomes known to all parties.
    pub(crate) async fn to_all(
        self,
        context: &Context,
        channels: &mut [Channel],
        share: &[u8],
    ) -> Result<Zeroizing<Vec<u8>>> {
        let mut sum = Zeroizing::new(share.to_vec());
        match self {
            Self::Direct => {
                for theirs in exchange(channels, Bytes::copy_from_slice(share), share.len()).await?
                {
                    kernels::xor_into(&mut sum, &theirs);
                }
            }
            Self::Relay if context.me() == RELAY => {
                add_all(channels, &mut sum).await?;
                let message = Bytes::copy_from_slice(&sum);
                for channel in channels {
                    channel.send(message.clone()).await?;
                }
            }
            Self::Relay => {
                let relay = channel_to(channels, RELAY);
                relay.send(share.to_vec()).await?;
                sum.copy_from_slice(&relay.recv(share.len()).await?);
            }
        }
        Ok(sum)
    }

    /// The XOR of everyone's `share`, which becomes known to the parties in `to` alone.
    pub(crate) async fn to_some(
        self,
        context: &Context,
        channels: &mut [Channel],
        share: &[u8],
        to: &[Party],
    ) -> Result<Option<Zeroizing<Vec<u8>>>> {
        let me = context.me();
        if let Some(relay) = self.relay(to) {
            if me == relay {
                let mut sum = Zeroizing::new(share.to_vec());
                add_all(channels, &mut sum).await?;
                let message = Bytes::copy_from_slice(&sum);
                for channel in channels
                    .iter_mut()
                    .filter(|channel| to.contains(&channel.peer()))
                {
                    channel.send(message.clone()).await?;
                }
                return Ok(Some(sum));
            }
            let relay = channel_to(channels, relay);
            relay.send(share.to_vec()).await?;
            if !to.contains(&me) {
                return Ok(None);
            }
            return Ok(Some(Zeroizing::new(
                relay.recv(share.len()).await?.to_vec(),
            )));
        }
        let message = Bytes::copy_from_slice(share);
        let (mut sends, mut receives) = (Vec::new(), Vec::new());
        for channel in channels {
            let peer = channel.peer();
            let Channel { tx, rx } = channel;
            sends.extend(to.contains(&peer).then(|| (tx, message.clone())));
            receives.extend(to.contains(&me).then_some((rx, share.len())));
        }
        let received = exchange_each(sends, receives).await?;
        if !to.contains(&me) {
            return Ok(None);
        }
        let mut sum = Zeroizing::new(share.to_vec());
        for theirs in received {
            kernels::xor_into(&mut sum, &theirs);
        }
        Ok(Some(sum))
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

async fn add_all(channels: &mut [Channel], sum: &mut [u8]) -> Result<()> {
    for channel in channels {
        let theirs = channel.recv(sum.len()).await?;
        kernels::xor_into(sum, &theirs);
    }
    Ok(())
}

fn channel_to(channels: &mut [Channel], peer: Party) -> &mut Channel {
    let found = channels.iter_mut().find(|channel| channel.peer() == peer);
    found.expect("there is a channel to every peer")
}
