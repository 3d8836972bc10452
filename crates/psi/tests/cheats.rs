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
use madrigal_psi::{PsiPlan, Role, Security, Sizes, intersect};
use madrigal_testkit::{Change, Deviation, World, seed};
use sha2::{Digest as _, Sha256};

use crate::common::{How, Plain, Trial, trial};
use crate::faults::deviates;

/// Ways in which a sender deviates.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Cheat {
    /// It does not.
    None,
    /// Its answer to the challenge has a bit flipped.
    Answer,
    /// It uses another Delta than in VOLE.
    Delta,
    /// Its tags are hashes of elements alone, as if digests were all the same.
    NoDigest,
    /// All of its tags are that of one key.
    OneTag,
    /// Tags differ in their last bit, which is far beyond those that honest parties need.
    LastBit,
}

/// What the receiver finds, or its error.
type Found = std::result::Result<BTreeSet<u128>, String>;

/// Keys of the sender: so many that tags have 6 bits in their places.
const KEYS: usize = 64;
const PLACE_BITS: u32 = 6;

/// Bits of a tag that are sent after its first 72, in whole bytes.
const REST_BITS: u32 = 128 - 72 - PLACE_BITS;

/// The sender of lists in one partition; gives the receiver's marks if its proof is right.
async fn by_hand(context: &Context, digests: &[Block], receiver: u64, cheat: Cheat) -> Result<u64> {
    let peer = Party::new(0);
    let (mine, theirs) = (KEYS, receiver as usize);
    context.tally("lists matched", &[theirs, mine, 1, 1, 1, 0, 1, 1]);
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
    if cheat == Cheat::OneTag {
        let first = hashes[0];
        hashes.fill(first);
    }
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

    let error = against(&lists, Cheat::Answer).0.unwrap_err();
    println!("{error}");
    assert!(
        error.contains("party 1") && error.contains("VOLE"),
        "{error}"
    );

    // Every key but the first has another tag.
    let first = BTreeSet::from([u128::from(lists.lists[1][0])]);
    for (cheat, expected) in [
        (Cheat::Delta, BTreeSet::new()),
        (Cheat::LastBit, BTreeSet::new()),
        (Cheat::NoDigest, first.clone()),
        (Cheat::OneTag, first),
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
