//! Base OTs between all pairs of parties, in both directions: what every OT extension starts from.

use futures_util::future::try_join_all;
use madrigal_core::{Party, PhaseCost};
use madrigal_kernels::{Block, Prg};
use madrigal_net::{Channel, Context, Error, Result};
use madrigal_ot::base::{BaseContext, BaseReceiver, BaseSender, response_len};
use madrigal_ot::iknp::{IknpReceiver, IknpSender};
use madrigal_ot::softspoken::{FieldBits, SoftSpokenReceiver, SoftSpokenSender};
use madrigal_ot::{Delta, Fault, Instance, KAPPA, OtError, SeededRng, cost};
use zeroize::Zeroizing;

/// Both directions of extended OTs with one peer.
pub(crate) struct Pair {
    pub(crate) peer: Party,
    /// We send OTs to the peer.
    pub(crate) sender: IknpSender,
    /// We receive OTs from the peer.
    pub(crate) receiver: IknpReceiver,
}

/// Both directions of SoftSpoken OTs with one peer, before the one message that each direction
/// begins with.
pub(crate) struct Beginning {
    pub(crate) peer: Party,
    pub(crate) sender: WaitingSender,
    /// We receive OTs from the peer.
    pub(crate) receiver: SoftSpokenReceiver,
    /// What the peer's sender waits for.
    pub(crate) setup: Vec<u8>,
}

/// Our side of the OTs that we send, until the peer's message has come.
pub(crate) struct WaitingSender {
    instance: Instance,
    k: FieldBits,
    delta: Delta,
    keys: Zeroizing<Vec<Block>>,
}

impl WaitingSender {
    pub(crate) fn begin(self, setup: &[u8]) -> Result<SoftSpokenSender, OtError> {
        SoftSpokenSender::new(self.instance, self.k, self.delta, &self.keys, setup)
    }
}

/// What the OTs of one extension are for. Kinds share the base OTs, but neither streams nor tweaks.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Stream {
    Bits = 0,
    Rings = 1,
    Matrices = 2,
    Vectors = 3,
}

/// The outcome of the base OTs of one job with all peers, from which every kind of correlation starts
/// extensions of its own.
///
/// The key of stream s is AES under the base OT's key, of s: keys of distinct streams are independent
/// for who has no base key (PRF: AES-128), and a base key is used for nothing else. All streams of a
/// direction have one Delta, as the OTs of one long extension would; the stream's number is in their
/// tweaks, so that no tweak comes twice under one Delta ([`madrigal_ot::Tweaks`]).
pub struct Base {
    peers: Vec<BasePair>,
}

struct BasePair {
    peer: Party,
    delta: Delta,
    /// Of the base OTs in which we chose: one key each.
    chosen: Zeroizing<Vec<Block>>,
    /// Of those in which the peer chose: both keys.
    both: Zeroizing<Vec<[Block; 2]>>,
}

impl std::fmt::Debug for Base {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "Base({} peers)", self.peers.len())
    }
}

impl Base {
    /// Runs the base OTs with all peers. Two rounds (all elements S, then all answers R);
    /// [`base_cost`].
    ///
    /// # Errors
    /// Those of the network; a peer's malformed message.
    pub async fn new(context: &Context) -> Result<Self> {
        let context = context.step("base OTs");
        let channels = context.channels()?;
        let pairs = channels.into_iter().map(|mut channel| {
            // The pairs do not wait for each other, whatever order their messages come in.
            let beside = context.beside();
            channel.count_in(&beside);
            let context = &context;
            async move {
                let pair = pair(&beside, channel).await?;
                context.join(&beside);
                Ok(pair)
            }
        });
        let peers = try_join_all(pairs).await?;
        Ok(Self { peers })
    }

    /// Starts the extensions of `stream` with all peers, in the order of the peers. Open each stream
    /// once. [`stream_cost`].
    pub(crate) fn open(&self, context: &Context, stream: Stream) -> Result<Vec<Pair>> {
        let me = context.me();
        context.count_aes(stream_cost(context.parties()).aes_blocks);
        let open = |base: &BasePair| {
            let (chosen, both) = base.keys(stream);
            let delta = Delta::from_block(base.delta.expose());
            Ok(Pair {
                peer: base.peer,
                sender: IknpSender::new(direction(me, base.peer, stream as u32), delta, &chosen)
                    .map_err(bug)?,
                receiver: IknpReceiver::new(direction(base.peer, me, stream as u32), &both)
                    .map_err(bug)?,
            })
        };
        self.peers.iter().map(open).collect()
    }

    /// The same by SoftSpoken with the given k, whose directions each begin with a message.
    pub(crate) fn begin(
        &self,
        context: &Context,
        stream: Stream,
        k: FieldBits,
    ) -> Result<Vec<Beginning>> {
        let me = context.me();
        context.count_aes(stream_cost(context.parties()).aes_blocks);
        let begin = |base: &BasePair| {
            let (keys, both) = base.keys(stream);
            let instance = direction(base.peer, me, stream as u32);
            let (receiver, setup) = SoftSpokenReceiver::new(instance, k, &both).map_err(bug)?;
            Ok(Beginning {
                peer: base.peer,
                sender: WaitingSender {
                    instance: direction(me, base.peer, stream as u32),
                    k,
                    delta: Delta::from_block(base.delta.expose()),
                    keys,
                },
                receiver,
                setup,
            })
        };
        self.peers.iter().map(begin).collect()
    }
}

/// One key of each base OT in which we chose, both of each in which the peer chose.
type Keys = (Zeroizing<Vec<Block>>, Zeroizing<Vec<[Block; 2]>>);

impl BasePair {
    /// The keys of one stream.
    fn keys(&self, stream: Stream) -> Keys {
        let derive = |key: Block| {
            let mut prf = Prg::new(key);
            prf.seek(stream as u64);
            prf.next_block()
        };
        let chosen = self.chosen.iter().map(|&key| derive(key)).collect();
        let both = self.both.iter().map(|keys| keys.map(derive)).collect();
        (Zeroizing::new(chosen), Zeroizing::new(both))
    }
}

/// A direction is named by its OT sender; the base OTs for it run the other way.
fn direction(from: Party, to: Party, stream: u32) -> Instance {
    let [sender, receiver] = [from, to].map(|party| party.index() as u16);
    Instance {
        sender,
        receiver,
        stream,
    }
}

async fn pair(context: &Context, mut channel: Channel) -> Result<BasePair> {
    let (me, peer) = (context.me(), channel.peer());
    let session = context.public_id();
    let base = |from, to| BaseContext {
        session,
        instance: direction(from, to, 0),
    };
    let mut rng = SeededRng::from_seed(context.private_prg().next_block());

    let (base_sender, s) = BaseSender::new(&mut rng, base(me, peer));
    channel.send(s.to_vec()).await?;
    let their_s = channel.recv(s.len()).await?;

    let delta = Delta::random(&mut rng);
    let answer = BaseReceiver::new(base(peer, me))
        .respond(&mut rng, &their_s, &delta.choice_bits(), KAPPA)
        .map_err(|error| fail(&channel, error))?;
    channel.send(answer.message).await?;
    // The peer computes on our answer while we compute on its.
    context.flush();
    let their_answer = channel.recv(response_len(KAPPA)).await?;
    let keys = base_sender
        .finish(&their_answer, KAPPA)
        .map_err(|error| fail(&channel, error))?;

    Ok(BasePair {
        peer,
        delta,
        chosen: answer.keys,
        both: keys,
    })
}

/// An OT error as the failure of a job.
pub(crate) fn fail(channel: &Channel, error: OtError) -> Error {
    match error.fault() {
        Fault::Peer => channel.refuse(error),
        Fault::Caller => bug(error),
    }
}

fn bug(error: OtError) -> Error {
    Error::Ended {
        reason: format!("a bug in madrigal: {error}"),
    }
}

/// Cost for one of `parties` parties of starting the extensions of one kind of correlation: local work
/// alone.
pub fn stream_cost(parties: usize) -> PhaseCost {
    PhaseCost {
        aes_blocks: (parties as u64 - 1) * 3 * KAPPA as u64,
        ..PhaseCost::default()
    }
}

/// Cost for one of `parties` parties of the base OTs with all others, both directions.
pub fn base_cost(parties: usize) -> PhaseCost {
    let one = cost::base(KAPPA as u64);
    let peers = parties as u64 - 1;
    let bytes = peers * (one.sender_bytes + one.receiver_bytes);
    PhaseCost {
        rounds: one.rounds,
        bytes_sent: bytes,
        bytes_received: bytes,
        messages: 2 * peers,
        aes_blocks: peers * (one.sender_aes + one.receiver_aes),
    }
}
