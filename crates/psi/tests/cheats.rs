//! Parties that cheat, against which [`Security::Malicious`] protects. The sender is made by hand, after the documentation alone, so it is a second opinion of what
//! the protocol is, too.
#![allow(clippy::print_stdout, reason = "tells what was tried")]

use std::collections::BTreeSet;
use std::sync::Arc;

use madrigal_core::{Party, Phase, domains};
use madrigal_correlations_make::{VoleBase, VoleKeys};
use madrigal_kernels::{Block, Element as _, Kernels, meter};
use madrigal_net::transport::mesh;
use madrigal_net::{Context, Result};
use madrigal_okvs::{Shape, decode};
use madrigal_psi::{PsiPlan, Role, Security, Sizes, intersect, partition_of};
use madrigal_testkit::{Change, Deviating, Deviation, Transcript, World, seed};
use sha2::{Digest as _, Sha256};

use crate::common::{How, Plain, Trial, trial};
use crate::faults::deviates;

/// Ways in which a sender deviates.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Cheat {
    /// The sender follows the protocol.
    None,
    /// The sender's answer to the challenge has a bit flipped.
    Answer,
    /// The sender uses another Delta than in VOLE.
    Delta,
    /// Tags are hashes of elements alone, as if digests were all the same.
    NoDigest,
    /// Some tags, [`SAME`] of them, are that of one key.
    OneTag,
    /// All tags are that of one key.
    OnePlace,
    /// Tags differ in their last bit, which is far beyond those that honest parties need.
    LastBit,
}

/// What the receiver finds, or its error.
type Found = std::result::Result<BTreeSet<u128>, String>;

/// Keys of the sender. With 64 of them, the place of a tag has 6 of its bits.
const KEYS: usize = 64;
const PLACE_BITS: u32 = 6;

/// Tags that are alike, fewer than the receiver refuses.
const SAME: usize = 16;

/// Bits of a tag that are sent after its first 72, in whole bytes.
const REST_BITS: u32 = 128 - 72 - PLACE_BITS;

/// The sender of lists in one partition; gives the receiver's marks if its proof is right.
async fn by_hand(context: &Context, digests: &[Block], receiver: u64, cheat: Cheat) -> Result<u64> {
    let peer = Party::new(0);
    let (mine, theirs) = (KEYS, receiver as usize);
    context.tally("lists matched", &[theirs, mine, 1, 1, 1, 1, 0, 1, 1]);
    let setup = context.enter(Phase::Setup, "matching, setup");
    let online = context.enter(Phase::Online, "matching");
    let base = VoleBase::new(&setup).await?;
    let (setup, online) = (setup.fork("thread 0"), online.fork("thread 0"));
    let shape = Shape::for_keys(receiver).unwrap();
    let (columns, line) = (shape.columns(), (peer, 0));
    let security = Security::Malicious;
    let mut vole = VoleKeys::<Block>::new(&setup, &base, line, columns as u64, security).await?;
    let mut keys = vec![Block::ZERO; columns];
    vole.extend(&mut keys).await?;
    let mut delta = *vole.delta();

    let (tags, stores) = (online.fork("tags"), online.fork("stores"));
    let mut from = stores.channel(peer)?;
    let head = from.recv(16 + 32).await?;
    let block = |bytes: &[u8]| Block::from_bytes(*bytes.first_chunk().unwrap());
    let rows = block(&head);
    let mut answer = vole.answer(&head[16..], &keys)?;
    if cheat == Cheat::Answer {
        answer[17] ^= 4;
    }
    if cheat == Cheat::Delta {
        delta ^= Block::new(1 << 50, 0);
    }
    let store = from.recv(16 * columns).await?;
    let mut masked = vec![Block::ZERO; columns];
    Block::bytes_mut(&mut masked).copy_from_slice(&store);
    Kernels::detect().field_multiply_add(delta, &masked, &mut keys);

    let mut elements = vec![Block::ZERO; KEYS];
    let decoded = || decode(&shape, rows, digests, &keys, &mut elements);
    meter::unmetered(decoded).unwrap();
    Kernels::detect().field_multiply_add(delta, digests, &mut elements);
    let step = stores.step("partition 0").public_id();
    let mut hashes: Vec<(u128, u64)> = Vec::new();
    for (&digest, element) in digests.iter().zip(elements) {
        let digest = match cheat {
            Cheat::NoDigest => digests[0],
            _ => digest,
        };
        let hash = Sha256::new()
            .chain_update(domains::PSI_ORACLE)
            .chain_update(step)
            .chain_update([0; 8])
            .chain_update(element.to_bytes())
            .chain_update(digest.to_bytes())
            .finalize();
        let number = |at: usize| u128::from_be_bytes(*hash[at..].first_chunk().unwrap());
        hashes.push((number(0), (number(16) >> 64) as u64));
    }
    let same = match cheat {
        Cheat::OneTag => SAME,
        Cheat::OnePlace => KEYS,
        _ => 0,
    };
    let first = hashes[0];
    hashes[..same].fill(first);
    let place = |tag: u128| tag >> (128 - PLACE_BITS);
    let low = |tag: u128| (tag & u128::from(u64::MAX)) | (tag >> 64 & 0xff) << 64;
    let rest = |tag: u128| (tag >> 72) as u64 & ((1 << REST_BITS) - 1);
    hashes.sort_by_key(|&(tag, _)| (place(tag), low(tag)));
    if cheat == Cheat::LastBit {
        // The highest bit that is not of the place.
        let last = 1 << (127 - PLACE_BITS);
        hashes.iter_mut().for_each(|(tag, _)| *tag ^= last);
    }
    let mut message = answer.to_vec();
    for &(tag, _) in &hashes {
        message.extend_from_slice(&low(tag).to_le_bytes()[..9]);
    }
    let mut marks = [0_u8; (KEYS + (1 << PLACE_BITS)) / 8];
    for (i, &(tag, _)) in hashes.iter().enumerate() {
        let bit = i + place(tag) as usize;
        marks[bit / 8] |= 1 << (bit % 8);
    }
    message.extend_from_slice(&marks);
    for &(tag, _) in &hashes {
        message.extend_from_slice(&rest(tag).to_le_bytes()[..REST_BITS.div_ceil(8) as usize]);
    }
    let mut to = tags.channel(peer)?;
    to.send(message).await?;
    tags.flush();

    let reply = to.recv(KEYS / 8 + 32).await?;
    let marks = u64::from_le_bytes(*reply.first_chunk().unwrap());
    let mut proof = Sha256::new()
        .chain_update(domains::PSI_PROOF)
        .chain_update(step);
    for (i, (_, pad)) in hashes.iter().enumerate() {
        if marks >> i & 1 == 1 {
            proof.update(pad.to_le_bytes());
        }
    }
    assert_eq!(proof.finalize()[..], reply[KEYS / 8..], "{cheat:?}");
    Ok(marks)
}

/// What the receiver and the sender by hand find.
fn against(lists: &Trial, cheat: Cheat) -> (Found, Option<u64>) {
    let sizes = Sizes {
        receiver: lists.lists[0].len() as u64,
        sender: KEYS as u64,
    };
    let plan = PsiPlan::new(sizes, 1, true).unwrap();
    let plan = plan.with_security(Security::Malicious);
    let run = async |context: Context| {
        let me = context.me();
        if me == Party::new(1) {
            let marks = by_hand(&context, &lists.lists[1], sizes.receiver, cheat).await?;
            return Ok((None, Some(marks)));
        }
        let list = Arc::new(Plain::new(&lists.lists[0], 1));
        let done = intersect(&context, &plan, Role::Receiver, list.clone(), 1, |_| ()).await;
        done?;
        Ok((list.all(), None))
    };
    let mut ended = World::light(2, seed()).run_over(mesh(2), run).into_iter();
    let mut next = || ended.next().unwrap().map(|(found, _)| found);
    let (first, second) = (next(), next());
    let found = first.map(|(all, _)| all.unwrap());
    (
        found.map_err(|error| error.to_string()),
        second.ok().and_then(|(_, marks)| marks),
    )
}

#[test]
fn a_sender_by_hand_finds_the_same_and_gains_nothing_by_cheating() {
    let lists = trial(seed(), 24, 30, KEYS - 24);
    let (found, marks) = against(&lists, Cheat::None);
    assert_eq!(found.as_ref(), Ok(&lists.common));
    assert_eq!(marks.unwrap().count_ones(), 24);

    // The receiver takes nothing from a sender that is found, and tells it nothing.
    for (cheat, words) in [
        (Cheat::Answer, "VOLE"),
        (Cheat::OnePlace, "more tags begin alike"),
    ] {
        let (found, marks) = against(&lists, cheat);
        let error = found.unwrap_err();
        println!("{error}");
        let named = error.contains("party 1") && error.contains(words);
        assert!(named, "{cheat:?}: {error}");
        assert_eq!(marks, None, "{cheat:?}");
    }

    // Keys whose tags are not their own are not found.
    let of = |keys: &[Block]| keys.iter().map(|&key| u128::from(key)).collect();
    let (first, common): (BTreeSet<_>, usize) = (of(&lists.lists[1][..1]), lists.common.len());
    let mut others: BTreeSet<u128> = of(&lists.lists[1][SAME..common]);
    others.extend(&first);
    for (cheat, expected) in [
        (Cheat::Delta, BTreeSet::new()),
        (Cheat::LastBit, BTreeSet::new()),
        (Cheat::NoDigest, first),
        (Cheat::OneTag, others),
    ] {
        let (found, marks) = against(&lists, cheat);
        assert_eq!(found.as_ref(), Ok(&expected), "{cheat:?}");
        assert_eq!(marks.unwrap().count_ones() as usize, expected.len());
    }
}

/// The sender changes one of its messages; the receiver finds the right keys, too few of them, or the cheat.
#[test]
fn each_message_of_a_cheating_sender_is_found_or_does_nothing() {
    let seed = seed();
    let lists = trial(seed, 40, 20, 30);
    let mut found = 0;
    for change in [Change::Flip, Change::Random] {
        for only in 0..10 {
            let deviation = Deviation {
                change,
                only: Some(only),
                seed,
            };
            let how = How::new(1, true, 1).malicious();
            let [error, _] = deviates(&lists, how, (1, deviation));
            println!("{deviation:?}: {error:?}");
            found += u32::from(error.is_some_and(|error| error.contains("VOLE")));
        }
    }
    assert!(found > 1, "{found} of 20 were found by the check");
}

/// A receiver marks keys that it does not have, or gives a wrong proof.
#[test]
fn a_receiver_cannot_claim_keys() {
    let seed = seed();
    let lists = trial(seed, 40, 20, 30);
    let how = How::new(1, true, 1).malicious();
    let mut refused = 0;
    for only in 0..10 {
        for change in [Change::Flip, Change::Complement] {
            let deviation = Deviation {
                change,
                only: Some(only),
                seed,
            };
            let [_, error] = deviates(&lists, how, (0, deviation));
            println!("{deviation:?}: {error:?}");
            refused += u32::from(error.is_some_and(|error| error.contains("without a proof")));
        }
    }
    assert!(refused > 0);
}

/// Keys that an honest receiver hears of by partition, and its error if it has one, where the sender changes a message.
fn partly(
    lists: &Trial,
    (partitions, threads): (usize, usize),
    deviation: Deviation,
) -> (Vec<Option<BTreeSet<u128>>>, Option<String>) {
    let sizes = Sizes {
        receiver: lists.lists[0].len() as u64,
        sender: lists.lists[1].len() as u64,
    };
    let plan = PsiPlan::new(sizes, partitions, true).unwrap();
    let plan = plan.with_security(Security::Malicious);
    let own = [0, 1].map(|me| Arc::new(Plain::new(&lists.lists[me], partitions)));
    let deviator = Party::new(1);
    let (seen, transports) = Transcript::of(deviator, mesh(2));
    let transports = Deviating::all(transports, deviator, Some(deviation), &seen);
    let run = async |context: Context| {
        let role = Role::of(context.me(), Party::new(0));
        let list = Arc::clone(&own[context.me().index()]);
        intersect(&context, &plan, role, list, threads, |_| ()).await
    };
    let ended = World::light(2, deviation.seed).run_over(transports, run);
    let error = ended.into_iter().next().unwrap().err();
    (own[0].some(), error.map(|error| error.to_string()))
}

/// A wrong answer late in the run, or on one thread of two: the receiver has right keys of the partitions before, and none of that one or later ones.
#[test]
fn nothing_is_heard_of_a_partition_whose_check_fails() {
    let seed = seed();
    let lists = trial(seed, 40, 20, 30);
    for (partitions, threads) in [(3, 1), (4, 2)] {
        let (mut found, mut late) = (0, 0);
        for only in 4..20 {
            let change = Change::Random;
            let deviation = Deviation {
                change,
                only: Some(only),
                seed,
            };
            let (heard, error) = partly(&lists, (partitions, threads), deviation);
            let error = error.unwrap_or_default();
            println!("{threads} threads, message {only}: {error}");
            for (partition, heard) in heard.iter().enumerate() {
                let of = |key: &u128| partition_of((*key).into(), partitions) == partition;
                let right = |key: &u128| lists.common.contains(key) && of(key);
                assert!(heard.iter().flatten().all(right), "message {only}");
            }
            if !error.contains("VOLE") {
                continue;
            }
            found += 1;
            let heard: Vec<bool> = heard.iter().map(Option::is_some).collect();
            println!("{heard:?}");
            late += usize::from(heard.contains(&true));
            // Each thread has its partitions in order, and one of them has ended with the check.
            let of_thread = |thread| heard.iter().skip(thread).step_by(threads);
            assert!((0..threads).all(|thread| of_thread(thread).is_sorted_by(|a, b| a >= b)));
            assert!((0..threads).any(|thread| of_thread(thread).any(|&heard| !heard)));
        }
        assert!(found > 1, "{found} of 16 were found by the check");
        assert!(late > 0, "none was found late, with {threads} threads");
    }
}
