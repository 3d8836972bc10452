//! Receivers that cheat, made by hand after the documentation, against which [`Security::Malicious`] protects the sender.
#![allow(clippy::print_stdout, reason = "tells what was tried")]

use std::collections::BTreeSet;
use std::sync::Arc;

use madrigal_core::{Party, Phase, domains};
use madrigal_correlations_make::{VoleBase, VoleValues};
use madrigal_kernels::{Block, Element as _, meter};
use madrigal_net::transport::mesh;
use madrigal_net::{Context, Result};
use madrigal_okvs::{Shape, decode, encode};
use madrigal_ot::SeededRng;
use madrigal_psi::{PsiPlan, Role, Security, Sizes, intersect};
use madrigal_testkit::{Change, Deviating, Deviation, Transcript, World, seed};
use sha2::{Digest as _, Sha256};

use crate::common::{How, Plain, Trial, party, trial};

/// Ways in which a receiver deviates.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Cheat {
    /// The receiver follows the protocol.
    None,
    /// The sum of its challenge has a bit flipped, so that the answer tells something of Delta.
    Sum,
    /// The receiver's store has more keys than it says.
    Keys,
    /// It marks one more tag, of whose key it has not the pad.
    Mark,
}

/// Keys of the sender. With this many, the place of a tag has 8 of its bits.
const KEYS: usize = 256;
/// Keys that the receiver says it has.
const TOLD: usize = 24;
/// Bytes of a tag beyond its place and the first 72 bits.
const REST_BYTES: usize = (128 - 72 - 8) / 8;

/// The receiver of lists in one partition; gives the number of its keys that match, and whether the sender's answer is right.
async fn by_hand(context: &Context, digests: &[Block], cheat: Cheat) -> Result<(usize, bool)> {
    let peer = Party::new(1);
    context.tally("lists matched", &[TOLD, KEYS, 1, 1, 1, 1, 0, 1, 1]);
    let setup = context.enter(Phase::Setup, "matching, setup");
    let online = context.enter(Phase::Online, "matching");
    let base = VoleBase::new(&setup).await?;
    let (setup, online) = (setup.fork("thread 0"), online.fork("thread 0"));
    let (tags, stores) = (online.fork("tags"), online.fork("stores"));
    let step = stores.step("partition 0").public_id();
    let columns = Shape::for_keys(TOLD as u64).unwrap().columns();
    let shape = Shape::with_columns(digests.len() as u64, columns as u64).unwrap();
    let security = Security::Malicious;
    let mut vole =
        VoleValues::<Block>::new(&setup, &base, (peer, 0), columns as u64, security).await?;

    let mut rng = SeededRng::from_seed(Block::new(7, 7));
    let mut seeds = (0..100).map(|number| Block::new(3, number));
    let found = seeds.find_map(|rows| {
        let store = meter::unmetered(|| encode(&shape, rows, digests, digests, &mut rng));
        Some((rows, store.ok()?))
    });
    let (rows, mut store) = found.expect("a store with this many keys");
    let mut values = vec![Block::ZERO; columns];
    let mut elements = vec![Block::ZERO; columns];
    vole.extend(&mut values, &mut elements).await?;
    let (mut challenge, expected) = vole.challenge(&values, &elements)?;
    if cheat == Cheat::Sum {
        challenge[20] ^= 1;
    }
    for (store, &value) in store.iter_mut().zip(&values) {
        *store ^= value;
    }
    let mut to = stores.channel(peer)?;
    to.send([&rows.to_bytes()[..], &challenge].concat()).await?;
    to.send(Block::bytes_mut(&mut store).to_vec()).await?;
    stores.flush();

    let mut channel = tags.channel(peer)?;
    let lows = 32..32 + 9 * KEYS;
    let marks = 2 * KEYS / 8;
    let message = channel.recv(lows.end + marks + REST_BYTES * KEYS).await?;
    let right = expected.check(&message[..32]);
    let lows: Vec<&[u8]> = message[lows].chunks(9).collect();
    let mut own = vec![Block::ZERO; digests.len()];
    meter::unmetered(|| decode(&shape, rows, digests, &elements, &mut own)).unwrap();
    let mut met = Vec::new();
    for (digest, element) in digests.iter().zip(own) {
        let hash = Sha256::new()
            .chain_update(domains::PSI_ORACLE)
            .chain_update(step)
            .chain_update([0; 8])
            .chain_update(element.to_bytes())
            .chain_update(digest.to_bytes())
            .finalize();
        let number = |at: usize| u128::from_be_bytes(*hash[at..].first_chunk().unwrap());
        let low = (number(0) & u128::from(u64::MAX)) | (number(0) >> 64 & 0xff) << 64;
        if let Some(place) = lows.iter().position(|it| **it == low.to_le_bytes()[..9]) {
            met.push((place, (number(16) >> 64) as u64));
        }
    }
    let matched = met.len();
    if cheat == Cheat::Mark {
        let other = (0..KEYS).find(|place| met.iter().all(|(met, _)| met != place));
        met.push((other.unwrap(), 0x1234_5678_9abc_def0));
    }
    met.sort_unstable();
    let mut reply = vec![0; KEYS / 8];
    let mut proof = Sha256::new()
        .chain_update(domains::PSI_PROOF)
        .chain_update(step);
    for (place, pad) in met {
        reply[place / 8] |= 1 << (place % 8);
        proof.update(pad.to_le_bytes());
    }
    reply.extend_from_slice(&proof.finalize());
    channel.send(reply).await?;
    tags.flush();
    Ok((matched, right))
}

/// Outcome of a receiver by hand, and the keys that the sender hears of or its error.
type Outcome = ((usize, bool), std::result::Result<BTreeSet<u128>, String>);

fn against(lists: &Trial, cheat: Cheat) -> Outcome {
    let sizes = Sizes {
        receiver: TOLD as u64,
        sender: KEYS as u64,
    };
    let plan = PsiPlan::new(sizes, 1, true).unwrap();
    let plan = plan.with_security(Security::Malicious);
    let list = Arc::new(Plain::new(&lists.lists[1], 1));
    let run = async |context: Context| {
        if context.me() == Party::new(0) {
            return by_hand(&context, &lists.lists[0], cheat).await.map(Some);
        }
        intersect(&context, &plan, Role::Sender, list.clone(), 1, |_| ()).await?;
        Ok(None)
    };
    let ended = World::light(2, seed()).run_over(mesh(2), run);
    let mut ended = ended.into_iter().map(|ended| ended.map(|(found, _)| found));
    let first = ended.next().unwrap();
    let second = ended.next().unwrap();
    if second.is_err() {
        assert_eq!(list.all(), None, "{cheat:?}");
    }
    let heard = second.map(|_| list.all().unwrap());
    // The sender may refuse a reply while the receiver is still there.
    let first = first.ok().flatten().unwrap_or((0, true));
    (first, heard.map_err(|error| error.to_string()))
}

#[test]
fn a_receiver_by_hand_finds_the_same_and_claims_nothing_by_cheating() {
    let lists = trial(seed(), TOLD - 4, 4, KEYS + 4 - TOLD);
    let common = lists.common.clone();
    let found = (lists.common.len(), true);
    assert_eq!(against(&lists, Cheat::None), (found, Ok(common.clone())));
    // The sender's answer is a hash of something that the receiver does not know; all else is as it was.
    let (cheated, heard) = against(&lists, Cheat::Sum);
    assert_eq!((cheated, heard), ((found.0, false), Ok(common)));
    let error = against(&lists, Cheat::Mark).1.unwrap_err();
    println!("{error}");
    let named = error.contains("party 0") && error.contains("without a proof");
    assert!(named, "{error}");
}

/// A store has room for more keys than were told, as [`PsiPlan::most_of_store`] says.
#[test]
fn a_receiver_has_as_many_keys_as_its_store_has_room_for() {
    let sizes = Sizes {
        receiver: TOLD as u64,
        sender: KEYS as u64,
    };
    let plan = PsiPlan::new(sizes, 1, true).unwrap();
    let (most, many) = (plan.most_of_store(0).unwrap(), KEYS - 6);
    assert!(many as u64 <= most, "{many} of {most}");
    let lists = trial(seed(), many, 0, KEYS - many);
    let (found, heard) = against(&lists, Cheat::Keys);
    assert_eq!(found, (many, true));
    assert_eq!(heard, Ok(lists.common));
}

/// Threads have one Delta. A receiver that cheats on one of them sees no message for which Delta was used, on any.
#[test]
fn no_thread_uses_delta_before_all_are_checked() {
    let seed = seed();
    let lists = trial(seed, 40, 20, 30);
    let (me, threads) = (Party::new(0), 4);
    let how = How::new(threads, true, threads).malicious();
    let mut found = 0;
    for only in 2..12 {
        let deviation = Deviation {
            change: Change::Random,
            only: Some(only),
            seed,
        };
        let (seen, transports) = Transcript::of(me, mesh(2));
        let transports = Deviating::all(transports, me, Some(deviation), &seen);
        let run = |context: Context| party(context, &lists, how);
        let ended = World::light(2, seed).run_over(transports, run);
        let error = ended.into_iter().nth(1).unwrap().err();
        let error = error.map(|error| error.to_string()).unwrap_or_default();
        let bytes = seen.bytes().len();
        println!("message {only}: {bytes} bytes, {error}");
        if error.contains("does not fit what it sent") {
            found += 1;
            // A size, base OTs and seeds; what follows takes 60,000 for each thread.
            assert!(bytes < 30_000, "message {only}: {bytes} bytes");
        }
    }
    assert!(found >= threads, "{found} of 10 were found by the check");
}
