//! Base OTs between all pairs of parties, in both directions: what every OT extension starts from.

mod given;

use std::future::{Future as _, poll_fn};
use std::pin::pin;
use std::sync::atomic::{AtomicBool, Ordering::Relaxed};
use std::task::Poll;

use futures_util::future::{BoxFuture, try_join_all};
use madrigal_core::{Party, PhaseCost, Zeroizing};
use madrigal_kernels::{Block, Prg};
use madrigal_net::{Channel, Context, Error, Receiver, Result};
use madrigal_ot::base::{BaseReceiver, BaseSender, response_len};
use madrigal_ot::{Delta, Fault, Instance, KAPPA, OtError, SeededRng, cost};

use self::given::Given;

/// Use that the OTs of one extension have.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
#[repr(usize)]
pub(crate) enum Group {
    Bits = 0,
    Rings = 1,
    Matrices = 2,
    Vectors = 3,
    Rows = 4,
    Vole = 5,
}

impl Group {
    pub(crate) const COUNT: usize = 6;

    /// The step in which it runs.
    pub(crate) fn name(self) -> &'static str {
        match self {
            Self::Bits => "bit triples",
            Self::Rings => "ring products",
            Self::Matrices => "matrix triples",
            Self::Vectors => "vector triples",
            Self::Rows => "correlated OTs",
            Self::Vole => "VOLE",
        }
    }
}

/// One extension in each direction between two parties. Streams share the base OTs, but neither keys
/// nor tweaks.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) struct Stream {
    pub(crate) group: Group,
    /// The source's line that it belongs to.
    pub(crate) line: u32,
}

impl Stream {
    /// No two of a pair of parties have the same. Far below 2^31, which is added for the extension that
    /// a silent one starts from.
    pub(crate) fn number(self) -> u32 {
        self.line * Group::COUNT as u32 + self.group as u32
    }
}

/// The outcome of the base OTs of one job with all peers, from which every kind of correlation starts
/// extensions of its own.
///
/// The key of stream s is AES under the base OT's key, of s and a number of the OT's own in the stream: keys of distinct streams are independent
/// for anyone without the base key (PRF: AES-128), and a base key is used for nothing else. All streams
/// of a direction have one Delta, which is odd and our own with all peers, as the OTs of one long extension would; the stream's number is in their
/// names, so that no tweak comes twice under one Delta ([`madrigal_ot::Tweaks`]).
pub(crate) struct Base {
    peers: Vec<BasePair>,
    delta: Delta,
}

pub(crate) struct BasePair {
    pub(crate) peer: Party,
    /// Name of the base OTs, and of all that starts from them.
    session: [u8; 32],
    delta: Delta,
    /// Keys of the base OTs in which we chose: one key each.
    chosen: Zeroizing<Vec<Block>>,
    /// Keys of the base OTs in which the peer chose: both keys each.
    both: Zeroizing<Vec<[Block; 2]>>,
}

impl Base {
    /// Runs the base OTs with all peers. Two rounds (all elements S, then all answers R);
    /// [`base_cost`].
    ///
    /// # Errors
    /// [`Error`] of the network; of a peer's malformed message.
    pub(crate) fn new(context: &Context) -> BoxFuture<'_, Result<Self>> {
        Box::pin(Self::with_all(context.step("base OTs")))
    }

    async fn with_all(context: Context) -> Result<Self> {
        let numbers = context.own_key_numbers();
        let seed = context.private_prg().next_block();
        let delta = Delta::random_odd(&mut SeededRng::numbered(seed, numbers.of(0)));
        let channels = context.channels()?;
        let turn = Turn::default();
        let pairs = channels.into_iter().map(|mut channel| {
            // The pairs do not wait for each other, whatever order their messages come in.
            let beside = context.beside();
            channel.count_in(&beside);
            let (context, turn, delta) = (&context, &turn, &delta);
            async move {
                let pair = pair(&beside, channel, delta, turn).await?;
                context.join(&beside);
                Ok(pair)
            }
        });
        let mut pairs = pin!(try_join_all(pairs));
        let peers = poll_fn(|task| {
            turn.begin();
            pairs.as_mut().poll(task)
        });
        let peers = peers.await?;
        let delta = Delta::from_block(delta.expose());
        Ok(Self { peers, delta })
    }

    /// Our offset, with all peers.
    pub(crate) fn delta(&self) -> Block {
        self.delta.expose()
    }

    pub(crate) fn peers(&self) -> impl ExactSizeIterator<Item = &BasePair> {
        self.peers.iter()
    }
}

/// Lets one pair compute at a time, after which the thread serves its sockets: the base OTs of many
/// pairs together take so long that signs of life would wait for them.
#[derive(Default)]
struct Turn {
    free: AtomicBool,
}

impl Turn {
    /// The thread has looked after everything else.
    fn begin(&self) {
        self.free.store(true, Relaxed);
    }

    async fn take(&self) {
        poll_fn(|task| {
            if self.free.swap(false, Relaxed) {
                return Poll::Ready(());
            }
            task.waker().wake_by_ref();
            Poll::Pending
        })
        .await;
    }
}

/// One key of each base OT in which we chose, both of each in which the peer chose.
pub(crate) type Keys = (Zeroizing<Vec<Block>>, Zeroizing<Vec<[Block; 2]>>);

impl BasePair {
    pub(crate) fn delta(&self) -> Delta {
        Delta::from_block(self.delta.expose())
    }

    /// The name of one stream's OTs from one of the two to the other.
    pub(crate) fn instance(&self, from: Party, to: Party, stream: Stream) -> Instance {
        direction(self.session, from, to, stream.number())
    }

    /// The keys of one stream, as party `me`. Each base OT's keys encrypt under numbers of their own, one of which
    /// the party that chose lacks: what it sees of the others is no target for a guess of that one.
    pub(crate) fn keys(&self, me: Party, stream: Stream) -> Keys {
        let derive = |key: Block, number: u64| {
            let mut prf = Prg::numbered(key, number);
            prf.seek(stream.number().into());
            prf.next_block()
        };
        let sends = self.instance(me, self.peer, stream);
        let receives = self.instance(self.peer, me, stream);
        let chosen = (0..).zip(self.chosen.iter());
        let chosen = chosen.map(|(i, &key)| derive(key, sends.base_key_number(i)));
        let both = (0..).zip(self.both.iter());
        let both = both.map(|(i, keys)| keys.map(|key| derive(key, receives.base_key_number(i))));
        let (chosen, both) = (chosen.collect(), both.collect());
        (Zeroizing::new(chosen), Zeroizing::new(both))
    }
}

/// A direction is named by its OT sender; the base OTs for it run the other way.
fn direction(session: [u8; 32], from: Party, to: Party, stream: u32) -> Instance {
    let [sender, receiver] = [from, to].map(|party| party.index() as u16);
    Instance {
        session,
        sender,
        receiver,
        stream,
    }
}

async fn pair(
    context: &Context,
    mut channel: Channel,
    delta: &Delta,
    turn: &Turn,
) -> Result<BasePair> {
    let (me, peer) = (context.me(), channel.peer());
    let session = context.public_id();
    let base = |from, to| direction(session, from, to, 0);
    let number = context.own_key_numbers().of(1 + peer.index() as u64);
    let mut rng = SeededRng::numbered(context.private_prg().next_block(), number);
    let given = context.test_base_ots().map(|seed| Given { seed });

    let (base_sender, s) = BaseSender::new(&mut rng, base(me, peer));
    channel.send(s.to_vec()).await?;
    let their_s = channel.recv(s.len()).await?;

    turn.take().await;
    let choices = delta.choice_bits();
    let answer = match &given {
        None => BaseReceiver::new(base(peer, me)).respond(&mut rng, &their_s, &choices, KAPPA),
        Some(given) => Ok(given.answer(&mut rng, base(peer, me), &choices)),
    };
    let answer = answer.map_err(|error| fail(&channel.rx, error))?;
    channel.send(answer.message).await?;
    // The peer computes on our answer while we compute on its.
    context.flush();
    let their_answer = channel.recv(response_len(KAPPA)).await?;
    turn.take().await;
    let keys = match &given {
        None => base_sender.finish(&their_answer, KAPPA),
        Some(given) => Ok(given.keys(base(me, peer))),
    };
    let keys = keys.map_err(|error| fail(&channel.rx, error))?;

    Ok(BasePair {
        peer,
        session,
        delta: Delta::from_block(delta.expose()),
        chosen: answer.keys,
        both: keys,
    })
}

/// An OT error as the failure of a job.
pub(crate) fn fail(from: &Receiver, error: OtError) -> Error {
    match error.fault() {
        Fault::Peer => from.refuse(error),
        Fault::Caller => bug(error),
    }
}

pub(crate) fn bug(error: OtError) -> Error {
    Error::bug(error)
}

/// Cost for one of `parties` parties of starting the extensions of one kind of correlation: local work
/// alone, for each peer a key for each base key, and the seed of a generator.
pub(crate) fn stream_cost(parties: usize) -> PhaseCost {
    PhaseCost {
        aes_blocks: (parties as u64 - 1) * (3 * KAPPA as u64 + 1),
        ..PhaseCost::default()
    }
}

/// Cost for one of `parties` parties of the base OTs with all others, both directions, with the seed of
/// a generator for each, and one Delta with its own.
pub(crate) fn base_cost(parties: usize) -> PhaseCost {
    let one = cost::base(KAPPA as u64);
    let peers = parties as u64 - 1;
    let bytes = peers * (one.sender_bytes + one.receiver_bytes);
    PhaseCost {
        rounds: one.rounds,
        bytes_sent: bytes,
        bytes_received: bytes,
        messages: 2 * peers,
        aes_blocks: peers * (one.sender_aes + one.receiver_aes + 1) + 2,
    }
}

#[cfg(test)]
mod tests {
    use std::collections::HashSet;

    use super::*;

    /// The keys of all base OTs encrypted the same numbers of streams: a guess of one was held against all of them.
    #[test]
    fn a_guess_of_a_key_tests_one_base_ot() {
        let one = Block::new(1, 2);
        let pair = BasePair {
            peer: Party::new(1),
            session: [3; 32],
            delta: Delta::from_block(Block::ONES),
            chosen: Zeroizing::new(vec![one; KAPPA]),
            both: Zeroizing::new(vec![[one, Block::ZERO]; KAPPA]),
        };
        let mut seen = HashSet::new();
        for line in 0..3 {
            for group in [Group::Bits, Group::Rows] {
                let (chosen, both) = pair.keys(Party::new(0), Stream { group, line });
                let firsts = both.iter().map(|[first, _]| *first);
                for key in chosen.iter().copied().chain(firsts) {
                    assert!(seen.insert(u128::from(key)), "line {line}");
                }
            }
        }
    }

    /// Both sides of a base OT come to the same key of a stream.
    #[test]
    fn both_parties_number_their_keys_alike() {
        let pair = |peer: usize, key: Block, both: [Block; 2]| BasePair {
            peer: Party::new(peer),
            session: [3; 32],
            delta: Delta::from_block(Block::ONES),
            chosen: Zeroizing::new(vec![key; KAPPA]),
            both: Zeroizing::new(vec![both; KAPPA]),
        };
        let [a, b] = [Block::new(1, 2), Block::new(3, 4)];
        let (first, second) = (pair(1, b, [a, b]), pair(0, b, [a, b]));
        for line in [0, 5] {
            let stream = Stream {
                group: Group::Vectors,
                line,
            };
            let (first_chosen, first_both) = first.keys(Party::new(0), stream);
            let (second_chosen, second_both) = second.keys(Party::new(1), stream);
            for i in 0..KAPPA {
                assert!(
                    first_chosen[i] == second_both[i][1] && second_chosen[i] == first_both[i][1]
                );
            }
        }
    }
}
