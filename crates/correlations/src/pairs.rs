//! Base OTs between all pairs of parties, in both directions: what every OT extension starts from.

use futures_util::future::try_join_all;
use madrigal_core::{Party, PhaseCost};
use madrigal_net::{Channel, Context, Error, Result};
use madrigal_ot::base::{BaseContext, BaseReceiver, BaseSender, response_len};
use madrigal_ot::iknp::{IknpReceiver, IknpSender};
use madrigal_ot::{Delta, Fault, Instance, KAPPA, OtError, SeededRng, cost};

/// Both directions of extended OTs with one peer.
pub(crate) struct Pair {
    pub(crate) peer: Party,
    /// We send OTs to the peer.
    pub(crate) sender: IknpSender,
    /// We receive OTs from the peer.
    pub(crate) receiver: IknpReceiver,
}

/// Makes the pairs of this party, in the order of the peers. Two rounds: all elements S, then all
/// answers R.
pub(crate) async fn make(context: &Context) -> Result<Vec<Pair>> {
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
    try_join_all(pairs).await
}

async fn pair(context: &Context, mut channel: Channel) -> Result<Pair> {
    let (me, peer) = (context.me(), channel.peer());
    let session = context.public_id();
    // A direction is named by its OT sender; the base OTs for it run the other way.
    let direction = |from: Party, to: Party| {
        let [sender, receiver] = [from, to].map(|party| party.index() as u16);
        Instance {
            sender,
            receiver,
            stream: 0,
        }
    };
    let base = |from, to| BaseContext {
        session,
        instance: direction(from, to),
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

    let sender = IknpSender::new(direction(me, peer), delta, &answer.keys);
    let receiver = IknpReceiver::new(direction(peer, me), &keys);
    Ok(Pair {
        peer,
        sender: sender.map_err(|error| fail(&channel, error))?,
        receiver: receiver.map_err(|error| fail(&channel, error))?,
    })
}

/// An OT error as the failure of a job.
pub(crate) fn fail(channel: &Channel, error: OtError) -> Error {
    match error.fault() {
        Fault::Peer => channel.refuse(error),
        Fault::Caller => Error::Ended {
            reason: format!("a bug in madrigal: {error}"),
        },
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
