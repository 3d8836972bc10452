//! OTs of every flavour between all parties of a session, over any network: of each two parties the one with the lower number
//! sends, all pairs at the same time, each party on one thread. Base OTs are made before; what sender and receiver hold of the
//! last call is compared.

use std::sync::Mutex;
use std::time::Instant;

use futures_channel::mpsc;
use futures_util::StreamExt as _;
use futures_util::future::{poll_fn, try_join, try_join_all};
use madrigal_core::{Party, Phase, Zeroizing};
use madrigal_kernels::Block;
use madrigal_net::{Channel, Session, breathe};
use madrigal_ot::softspoken::{SoftSpokenReceiver, SoftSpokenSender};
use madrigal_ot::{ExtensionReceiver as _, ExtensionSender as _};
use rand_core::Rng as _;

use super::bench::{CALL, calls, last_call, rng};
use super::extensions::start;
use super::kinds::Bytes;
use super::outputs::{agree, bit, bits_agree};
use crate::args::Patience;
use crate::everyone::everyone;
use crate::exit::{Failure, Result};
use crate::graphs::Setting;

pub use super::kinds::Flavour;

/// Calls that a receiver is ahead: over a long line their messages are under way together.
const AHEAD: usize = 64;

/// Strings of the last call at the sender, both of each OT.
struct Sent {
    to: Party,
    strings: [Bytes; 2],
}

/// Choices and strings of the last call at the receiver.
struct Received {
    from: Party,
    choices: Bytes,
    strings: Bytes,
}

/// One party's seconds of each run, and its outputs.
struct Ran {
    seconds: Vec<f64>,
    last: Vec<Last>,
}

/// A side of a started instance.
enum Side {
    Sender(SoftSpokenSender),
    Receiver(SoftSpokenReceiver),
}

/// Outcome of the last call with a peer.
enum Last {
    Sent(Sent),
    Received(Received),
}

/// Measures runs of `ots` OTs between each two parties, with SoftSpoken of this field; gives the seconds of the slowest party
/// in each.
pub fn seconds(
    flavour: Flavour,
    parties: usize,
    field: u8,
    ots: usize,
    setting: &Setting,
) -> Result<Vec<f64>> {
    let sides = sides(parties, field)?;
    let ran = everyone(
        setting.transport,
        setting.network,
        parties,
        1,
        &Patience::default(),
        async |session: &Session| {
            let own = sides[session.me().index()].lock();
            let mut sides = std::mem::take(&mut *own.map_err(Failure::bug)?);
            let mut ran = Ran {
                seconds: Vec::new(),
                last: Vec::new(),
            };
            for id in 1..=setting.repeat {
                let job = session.job(id, &[], None).await?;
                let context = job.context().enter(Phase::Setup, "OTs");
                let begin = Instant::now();
                let pairs = sides.iter_mut().map(|(peer, side)| {
                    let channel = context.channel(*peer);
                    async move {
                        Ok::<_, Failure>(match side {
                            Side::Sender(sender) => {
                                Last::Sent(send(channel?, sender, flavour, ots).await?)
                            }
                            Side::Receiver(receiver) => {
                                Last::Received(receive(channel?, receiver, flavour, ots).await?)
                            }
                        })
                    }
                });
                ran.last = try_join_all(pairs).await?;
                ran.seconds.push(begin.elapsed().as_secs_f64());
                job.finish().await?;
            }
            Ok(ran)
        },
    )?;
    check(flavour, last_call(ots, CALL), &ran)?;
    let slowest = |run: usize| {
        ran.iter()
            .map(|party| party.seconds[run])
            .fold(0.0, f64::max)
    };
    Ok((0..setting.repeat as usize).map(slowest).collect())
}

/// The sides of each party, with the peer of each.
type Sides = Vec<Mutex<Vec<(Party, Side)>>>;

/// Starts an instance for every two parties.
fn sides(parties: usize, field: u8) -> Result<Sides> {
    let mut all: Vec<Vec<(Party, Side)>> = (0..parties).map(|_| Vec::new()).collect();
    for a in Party::all(parties) {
        for b in Party::all(parties).filter(|b| a < *b) {
            let (sender, receiver, _) = start(field)?;
            all[a.index()].push((b, Side::Sender(sender)));
            all[b.index()].push((a, Side::Receiver(receiver)));
        }
    }
    Ok(all.into_iter().map(Mutex::new).collect())
}

async fn send(
    mut channel: Channel,
    sender: &mut SoftSpokenSender,
    flavour: Flavour,
    ots: usize,
) -> Result<Sent> {
    let mut rows = Zeroizing::new(vec![Block::ZERO; CALL]);
    let mut inputs = flavour.inputs()?;
    let mut strings = [Bytes::default(), Bytes::default()];
    for m in calls(ots, CALL) {
        let u = channel.recv(sender.message_len(m)).await?;
        let rows = &mut rows[..m];
        let tweaks = sender.extend(&u, m, rows).map_err(Failure::bug)?;
        let masks = flavour
            .both_masks(sender.delta(), tweaks, rows)
            .map_err(Failure::bug)?;
        let (message, made) = flavour.made(m, &mut inputs, masks).map_err(Failure::bug)?;
        if let Some(message) = message {
            channel.send(message).await?;
        }
        strings = made;
        breathe().await;
    }
    Ok(Sent {
        to: channel.peer(),
        strings,
    })
}

/// Choices of a call and their masks, until the sender's message is there.
struct Waiting {
    m: usize,
    choices: Bytes,
    mask: Bytes,
}

async fn receive(
    channel: Channel,
    receiver: &mut SoftSpokenReceiver,
    flavour: Flavour,
    ots: usize,
) -> Result<Received> {
    let from = channel.peer();
    let Channel { mut tx, mut rx } = channel;
    let (mut queue, mut waiting) = mpsc::channel::<Waiting>(AHEAD);
    let ahead = async move {
        let mut rng = rng()?;
        let mut rows = Zeroizing::new(vec![Block::ZERO; CALL]);
        for m in calls(ots, CALL) {
            let mut choices = Zeroizing::new(vec![0; m.div_ceil(8)]);
            rng.fill_bytes(&mut choices);
            let mut u = vec![0; receiver.message_len(m)];
            let rows = &mut rows[..m];
            let tweaks = receiver
                .extend(&choices, m, &mut u, rows)
                .map_err(Failure::bug)?;
            let mask = flavour.one_mask(tweaks, rows).map_err(Failure::bug)?;
            tx.send(u).await?;
            poll_fn(|task| queue.poll_ready(task))
                .await
                .map_err(Failure::bug)?;
            queue
                .start_send(Waiting { m, choices, mask })
                .map_err(Failure::bug)?;
            breathe().await;
        }
        Ok::<(), Failure>(())
    };
    let finish = async move {
        let (mut choices, mut strings) = (Bytes::default(), Bytes::default());
        while let Some(next) = waiting.next().await {
            let message = match flavour.message_len(next.m) {
                0 => None,
                bytes => Some(rx.recv(bytes).await?),
            };
            strings = flavour
                .chosen(next.m, &next.choices, message.as_deref(), next.mask)
                .map_err(Failure::bug)?;
            choices = next.choices;
        }
        Ok((choices, strings))
    };
    let ((), (choices, strings)) = try_join(ahead, finish).await?;
    Ok(Received {
        from,
        choices,
        strings,
    })
}

/// Compares what both sides of each two parties hold of the last call, of `m` OTs.
fn check(flavour: Flavour, m: usize, ran: &[Ran]) -> Result<()> {
    for (receiver, ran_by_it) in ran.iter().enumerate() {
        for last in &ran_by_it.last {
            let Last::Received(received) = last else {
                continue;
            };
            let mut sent = ran[received.from.index()]
                .last
                .iter()
                .filter_map(|last| match last {
                    Last::Sent(sent) if sent.to.index() == receiver => Some(sent),
                    _ => None,
                });
            let Some(Sent {
                strings: [x0, x1], ..
            }) = sent.next()
            else {
                return Err(Failure::bug("OTs without a sender"));
            };
            match flavour.bits() {
                1 => bits_agree([x0, x1], &received.choices, &received.strings, m)?,
                // Numbers of 8 bits with a correlation of 0 are the same both.
                bits if bits < 128 => {
                    let len = bits as usize / 8;
                    let wrong = (0..m).any(|i| {
                        let place = i * len..(i + 1) * len;
                        let option = if bit(&received.choices, i) == 1 {
                            x1
                        } else {
                            x0
                        };
                        option[place.clone()] != received.strings[place]
                    });
                    if wrong {
                        return Err(Failure::bug("a receiver does not hold what it chose"));
                    }
                }
                bits => {
                    let choice = |i| bit(&received.choices, i);
                    agree(bits as usize / 8, &[x0, x1], choice, &received.strings)?;
                }
            }
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::args::TransportArg;
    use crate::reach::Network;

    #[test]
    fn every_flavour_is_right_among_two_and_three() {
        let setting = Setting {
            transport: TransportArg::Memory,
            network: Network::default(),
            threads: 1,
            repeat: 2,
        };
        let bits = [8, 16, 32, 64].map(Flavour::Additive);
        let strings = [1, 128].map(|bits| {
            [
                Flavour::Chosen(bits),
                Flavour::Random(bits),
                Flavour::Xor(bits),
            ]
        });
        for flavour in strings.into_iter().flatten().chain(bits) {
            for parties in [2, 3] {
                let seconds = seconds(flavour, parties, 2, CALL + 1000, &setting);
                assert_eq!(seconds.unwrap().len(), 2, "{flavour:?}");
            }
        }
    }
}
