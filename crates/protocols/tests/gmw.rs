//! Boolean GMW by itself, operation by operation: right against the plain bits, at the declared cost,
//! for 2, 3 and 5 parties, both openings, counts that fill no byte, and triples of every origin.
#![allow(clippy::unwrap_used)] // tests

use std::path::Path;

use madrigal_core::{Cost, Party, Phase, PhaseCost, bits};
use madrigal_correlations::{BitTriples, Direction, Means, Needs, Source};
use madrigal_correlations_make::{Extension, Origin, OtCosts, OtSource, Supply, deal};
use madrigal_correlations_store::{NewStore, Store, StoreKey};
use madrigal_garbling::colours;
use madrigal_kernels::{Block, Prg, meter::unmetered};
use madrigal_net::transport::{Fault, mesh};
use madrigal_net::{Context, Error, MIN_WINDOW, Result};
use madrigal_protocols::bmr::PeerRows;
use madrigal_protocols::gmw::{BitOts, BooleanGmw, InputSharing, share_aes_blocks};
use madrigal_protocols::{Opening, Rounds};
use madrigal_testkit::{World, impatient, must_end_well, run_with_fault, seed};

const COUNTS: [usize; 6] = [1, 7, 8, 9, 64, 1001];

/// The plain bits of an input of `owner`, which every party of the test can compute.
fn plain(seed: u64, owner: Party, count: usize) -> Vec<u8> {
    let mut plain = vec![0; bits::bytes_for(count)];
    let mut prg = Prg::new(Block::new(seed, owner.index() as u64 + 100));
    unmetered(|| prg.fill(&mut plain));
    bits::clear_tail(&mut plain, count);
    plain
}

/// Origins of triples.
fn origins() -> [Origin; 4] {
    let ot = [Extension::default(), Extension::IKNP].map(Origin::ot);
    let [one, other] = ot;
    [one, other, Origin::Dealer, Origin::Store]
}

/// Needs of `count` triples.
fn needs(count: usize) -> Needs {
    let mut needs = Needs::new();
    needs.bit_triples(count);
    needs
}

/// A store of `count` triples, filled for this job alone.
async fn store(setup: &Context, directory: &Path, count: usize) -> Result<Store> {
    let key = StoreKey::generate().unwrap();
    let new = NewStore::create(directory, &key, &needs(count)).unwrap();
    let setup = setup.step("filling");
    let mut source = OtSource::new(&setup, Extension::default()).await?;
    let filled = new.fill(&setup, &mut source, &|_| {}).await?;
    filled.complete().unwrap();
    Ok(Store::open(directory, &key).unwrap())
}

/// `count` triples from `origin`, of which the job then wants no more.
async fn triples(
    setup: &Context,
    origin: &Origin,
    directory: &Path,
    count: usize,
) -> Result<BitTriples> {
    let mut store = match origin {
        Origin::Store => Some(store(setup, directory, count).await?),
        _ => None,
    };
    let means = store.as_mut().map(Means::from).unwrap_or_default();
    let mut supply = Supply::open(origin, setup, &needs(count), means).await?;
    let triples = supply.bit_triples(count, &|_| {}).await?;
    supply.end().await?;
    Ok(triples)
}

/// The declared cost of the same.
fn triples_cost(origin: &Origin, me: Party, parties: usize, count: usize) -> PhaseCost {
    let mut costs = origin.costs(me, parties);
    let mut cost = costs.start(&needs(count)) + costs.fill(&needs(count));
    if *origin == Origin::Store {
        let costs = OtCosts::new(Extension::default(), me, parties);
        cost += NewStore::cost(costs.filling(&needs(count), NewStore::batch), parties);
    }
    cost
}

/// Correlations of ANDs.
enum By {
    Triples(BitTriples),
    Ots(BitOts),
}

/// All directions, with OTs for `count` ANDs.
fn all_ways(parties: usize, count: usize) -> Vec<(Direction, usize)> {
    let from = |from: Party| from.others(parties).map(move |to| ((from, to), count));
    Party::all(parties).flat_map(from).collect()
}

/// Random OTs for `count` ANDs, by an extension.
async fn bit_ots(setup: &Context, extension: Extension, count: usize) -> Result<BitOts> {
    let (me, parties) = (setup.me(), setup.parties());
    let mut source = OtSource::new(&setup.step("ots"), extension).await?;
    let ways = all_ways(parties, count);
    let mut ots = source.correlated_ots(&ways, &|_| {}).await?;
    let rows = ots.take_each(|_| count)?;
    let of = |way| rows.iter().find(|(other, _)| *other == way).unwrap().1;
    let with = |peer| PeerRows {
        sent: of((me, peer)),
        received: of((peer, me)),
    };
    let with: Vec<_> = setup.peers().map(with).collect();
    let mut choices = vec![0; bits::bytes_for(count)];
    colours(with[0].received, &mut choices);
    let mut gmw = BooleanGmw::new(setup.step("ands"), Opening::Direct)?;
    Ok(gmw.bit_ots(&source.offset().unwrap(), &choices, count, &with))
}

/// Shares a bit string of party 0 and one of party 1, ANDs them, opens the product to `to`.
async fn product(
    online: Context,
    mut by: By,
    opening: Opening,
    seed: u64,
    count: usize,
    to: &[Party],
) -> Result<Option<Vec<u8>>> {
    let mut shares = Vec::new();
    for owner in [0, 1].map(Party::new) {
        let mut sharing = InputSharing::new(online.step(&format!("input of {owner}")), owner)?;
        let mut share = plain(seed, owner, count);
        if online.me() != owner {
            share.fill(0xff); // what stands there does not matter
        }
        sharing.share(&mut share);
        shares.push(share);
    }
    let mut gmw = BooleanGmw::new(online, opening)?;
    let mut z = vec![0; bits::bytes_for(count)];
    let [x, y] = [&shares[0][..], &shares[1]];
    match &mut by {
        By::Triples(triples) => {
            gmw.and(triples, x, y, count, &mut z).await?;
            assert!(triples.is_empty());
        }
        By::Ots(ots) => {
            // In two steps, of which the second one begins within a byte.
            let first = count / 3;
            let cut = |x: &[u8], from: usize, len: usize| {
                let mut part = vec![0; bits::bytes_for(len)];
                bits::take(x, from, &mut part, len);
                part
            };
            for (from, len) in [(0, first), (first, count - first)] {
                let [x, y] = [x, y].map(|x| cut(x, from, len));
                let mut part = vec![0; x.len()];
                gmw.and_by_ots(ots, [&x, &y], len, &mut part).await?;
                bits::put(&mut z, from, &part, len);
            }
            assert_eq!(ots.left(), 0);
        }
    }
    Ok(gmw.open(&z, count, to).await?.map(|opened| opened.to_vec()))
}

fn check(parties: usize, opening: Opening, count: usize, to: &[Party]) {
    for origin in origins() {
        check_with(&origin, parties, opening, count, to);
    }
}

fn check_with(origin: &Origin, parties: usize, opening: Opening, count: usize, to: &[Party]) {
    let seed = seed();
    let stores = tempfile::tempdir().unwrap();
    let results = World::light(parties + origin.helpers(), seed).run(|context| {
        let me = context.me().index();
        let directory = stores.path().join(me.to_string());
        async move {
            let setup = context.enter(Phase::Setup, "setup");
            if me >= parties {
                deal(&setup).await?;
                return Ok(None);
            }
            let triples = triples(&setup, origin, &directory, count).await?;
            let online = context.enter(Phase::Online, "online").among(parties);
            product(online, By::Triples(triples), opening, seed, count, to).await
        }
    });
    let (x, y) = (
        plain(seed, Party::new(0), count),
        plain(seed, Party::new(1), count),
    );
    let expected: Vec<u8> = x.iter().zip(&y).map(|(x, y)| x & y).collect();
    let mut rounds = Rounds::new(parties);
    let all: Vec<Party> = Party::all(parties).collect();
    rounds.open(opening, &all);
    rounds.open(opening, to);
    for (me, (opened, spent)) in all.iter().zip(results) {
        let about = format!("{me} of {parties}, {origin}, {opening}, {count} bits to {to:?}");
        match opened {
            Some(mut opened) => {
                bits::clear_tail(&mut opened, count);
                assert!(opened == expected && to.contains(me), "{about}");
            }
            None => assert!(!to.contains(me), "{about}"),
        }
        let bytes = bits::bytes_for(count) as u64;
        let inputs = [0, 1].map(Party::new);
        let online = BooleanGmw::and_cost(opening, *me, parties, count)
            + BooleanGmw::open_cost(opening, *me, parties, count, to)
            + PhaseCost {
                rounds: rounds.of(*me),
                aes_blocks: inputs
                    .iter()
                    .map(|&owner| share_aes_blocks(*me, owner, parties, bytes))
                    .sum(),
                ..PhaseCost::default()
            };
        let setup = triples_cost(origin, *me, parties, count);
        assert_eq!(spent, Cost { setup, online }, "{about}");
    }
}

#[test]
fn and_and_open_for_every_count() {
    for count in COUNTS {
        check(2, Opening::Direct, count, &[Party::new(1)]);
    }
}

#[test]
fn and_and_open_for_every_number_of_parties_and_opening() {
    for parties in [2, 3, 5] {
        let all: Vec<Party> = Party::all(parties).collect();
        for opening in [Opening::Direct, Opening::Relay] {
            for to in [&all[..], &all[..1], &all[1..], &all[parties - 1..]] {
                check(parties, opening, 13, to);
            }
        }
    }
}

/// One run by OTs; gives what each party opened and spent.
fn by_ots(
    world: &World,
    extension: Extension,
    seed: u64,
    count: usize,
    to: &[Party],
) -> Vec<(Option<Vec<u8>>, Cost)> {
    world.run(|context| async move {
        let ots = bit_ots(&context.enter(Phase::Setup, "setup"), extension, count).await?;
        let online = context.enter(Phase::Online, "online");
        product(online, By::Ots(ots), Opening::Direct, seed, count, to).await
    })
}

/// Right, in one round online of two bits for each AND to each peer; setup has the OTs alone, as many bytes and rounds as
/// these take.
#[test]
fn ands_by_ots_made_before() {
    let seed = seed();
    let extensions = ["softspoken4", "iknp", "silent"];
    for (parties, counts) in [(2, &COUNTS[..]), (3, &[1, 13, 64]), (5, &[9, 200])] {
        for (&count, name) in counts.iter().zip(extensions.iter().cycle()) {
            let extension: Extension = name.parse().unwrap();
            let all: Vec<Party> = Party::all(parties).collect();
            let to = &all[..parties - 1];
            let world = World::light(parties, seed);
            let results = by_ots(&world, extension, seed, count, to);
            let [x, y] = [0, 1].map(|party| plain(seed, Party::new(party), count));
            let expected: Vec<u8> = x.iter().zip(&y).map(|(x, y)| x & y).collect();
            let mut needs = Needs::new();
            for ((from, to), count) in all_ways(parties, count) {
                needs.correlated_ots(from, to, count);
            }
            for (me, (opened, spent)) in all.iter().zip(results) {
                let about = format!("{me} of {parties}, {name}, {count} ANDs");
                assert_eq!(opened.is_some(), to.contains(me), "{about}");
                assert!(opened.is_none_or(|opened| opened == expected), "{about}");
                let mut costs = Origin::ot(extension).costs(*me, parties);
                let setup = costs.start(&needs) + costs.fill(&needs);
                let setup = setup + BooleanGmw::bit_ots_cost(parties, count);
                let mut rounds = Rounds::new(parties);
                let pairs = all_ways(parties, 0).into_iter().map(|(way, _)| way);
                let pairs: Vec<_> = pairs.collect();
                let mut online = BooleanGmw::open_cost(Opening::Direct, *me, parties, count, to);
                for len in [count / 3, count - count / 3] {
                    if len > 0 {
                        let peers = parties as u64 - 1;
                        let bytes = peers * BooleanGmw::and_by_ots_bytes(len);
                        online.bytes_sent += bytes;
                        online.bytes_received += bytes;
                        online.messages += peers;
                        rounds.exchange(&pairs);
                    }
                }
                rounds.open(Opening::Direct, to);
                online.rounds = rounds.of(*me);
                let bytes = bits::bytes_for(count) as u64;
                let inputs = [0, 1].map(Party::new).into_iter();
                online.aes_blocks = inputs
                    .map(|owner| share_aes_blocks(*me, owner, parties, bytes))
                    .sum();
                assert_eq!(spent, Cost { setup, online }, "{about}");
            }
        }
    }
}

/// The paper's comparison (6.2), from the bills: as many bytes online in as many rounds as with triples, and less in setup, where
/// three and more parties have a round less; between two, our triples take no bit beside the OTs either.
#[test]
fn ands_by_ots_beside_triples() {
    let (count, extension) = (1 << 20, Extension::IKNP);
    for parties in [2, 3, 5] {
        let me = Party::new(1);
        let cost = |needs: &Needs| {
            let mut costs = Origin::ot(extension).costs(me, parties);
            costs.start(needs);
            costs.fill(needs)
        };
        let mut ots = Needs::new();
        for ((from, to), count) in all_ways(parties, count) {
            ots.correlated_ots(from, to, count);
        }
        let (triples, ots) = (cost(&needs(count)), cost(&ots));
        let peers = parties as u64 - 1;
        // Kappa bits for each OT that is received, and of a triple N - 2 bits more of each party.
        assert_eq!(ots.bytes_sent, peers * 16 * count as u64);
        assert_eq!(
            triples.bytes_sent - ots.bytes_sent,
            (peers - 1) * count as u64 / 8
        );
        let by_triples = BooleanGmw::and_cost(Opening::Direct, me, parties, count);
        let by_ots = peers * BooleanGmw::and_by_ots_bytes(count);
        assert_eq!(by_triples.bytes_sent, by_ots);
    }
}

/// A bit past the end of a string names its sender.
#[test]
fn padding_names_its_sender() {
    let seed = seed();
    let results = World::light(2, seed).run_over(mesh(2), |context| async move {
        let setup = context.enter(Phase::Setup, "setup");
        let mut ots = bit_ots(&setup, Extension::default(), 5).await?;
        let online = context.enter(Phase::Online, "online");
        if online.me() == Party::new(1) {
            let mut channels = online.channels()?;
            channels[0].send(vec![0, 0x20]).await?;
            channels[0].recv(2).await?;
            // Stays until it is refused: the job must not end here first.
            channels[0].recv(1).await?;
        }
        let mut gmw = BooleanGmw::new(online, Opening::Direct)?;
        gmw.and_by_ots(&mut ots, [&[3], &[5]], 5, &mut [0]).await
    });
    let error = results[0].as_ref().unwrap_err();
    let from = Party::new(1);
    assert!(
        matches!(error, Error::Content { peer, .. } if *peer == from),
        "{error:?}"
    );
}

/// Jobs by OTs whose network fails at any place end right or with an error.
#[test]
fn jobs_by_ots_under_random_faults_end_right_or_with_an_error() {
    let seed = seed();
    let mut fired = 0;
    for trial in 0..24 {
        let seed = seed.wrapping_add(u64::wrapping_mul(trial, 0x9e37_79b9_7f4a_7c15));
        let (parties, count) = (2 + trial as usize % 2, 77);
        let fault = Fault {
            at: (seed >> 8) as u32 % 10,
            ..Fault::random(seed, parties)
        };
        let [x, y] = [0, 1].map(|party| plain(seed, Party::new(party), count));
        let right: Vec<u8> = x.iter().zip(&y).map(|(x, y)| x & y).collect();
        let run = |patience| {
            let (world, limit) = impatient(parties, seed, patience);
            let right = right.clone();
            let program = move |context: Context| async move {
                let all: Vec<Party> = Party::all(context.parties()).collect();
                let setup = context.enter(Phase::Setup, "setup");
                let ots = bit_ots(&setup, Extension::default(), count).await?;
                let online = context.enter(Phase::Online, "online");
                let opened = product(online, By::Ots(ots), Opening::Direct, seed, count, &all);
                Ok(opened.await?.unwrap())
            };
            let is_right = move |_, output: &Vec<u8>| *output == right;
            run_with_fault(&world, fault, limit, program, is_right)
        };
        fired += u32::from(must_end_well(&format!("{fault:?}, seed {seed}"), run).fired);
    }
    assert!(fired > 2, "{fired} of 24 faults happened");
}

/// Strings of several windows, opened to parties that then send each other more than these take.
#[test]
fn openings_longer_than_a_window() {
    let seed = seed();
    let bytes = 3 * MIN_WINDOW as usize;
    let all: Vec<Party> = Party::all(3).collect();
    for opening in [Opening::Direct, Opening::Relay] {
        for to in [&all[..], &all[1..]] {
            let world = World::new(3, seed).with_limits(|limits| limits.window = MIN_WINDOW);
            let results = world.run(|context| async move {
                let share = plain(seed, context.me(), 8 * bytes);
                let mut gmw = BooleanGmw::new(context, opening)?;
                gmw.open(&share, 8 * bytes, to).await
            });
            let [x, y, z] = [0, 1, 2].map(|party| plain(seed, Party::new(party), 8 * bytes));
            let xor = |((x, y), z): ((&u8, &u8), &u8)| x ^ y ^ z;
            let sum: Vec<u8> = x.iter().zip(&y).zip(&z).map(xor).collect();
            for (me, (opened, _)) in all.iter().zip(results) {
                assert_eq!(opened.is_some(), to.contains(me));
                assert!(opened.is_none_or(|opened| *opened == sum));
            }
        }
    }
}

/// A triple that one party has changed gives a wrong product, at the bits that it concerns and no
/// others: the protocol is for semi-honest parties, and this test knows what it would not notice.
#[test]
fn a_party_that_cheats_is_not_noticed() {
    let seed = seed();
    let results = World::new(2, seed).run(|context| async move {
        let all: Vec<Party> = Party::all(2).collect();
        let setup = context.enter(Phase::Setup, "setup");
        let mut triples = OtSource::new(&setup, Extension::default()).await?;
        let mut triples = triples.bit_triples(8, &|_| {}).await?;
        let mut gmw = BooleanGmw::new(context.enter(Phase::Online, "online"), Opening::Direct)?;
        // Shares of all ones and all ones; party 1 flips one bit of its share.
        let lie = u8::from(context.me() == Party::new(1)) << 3;
        let ones = [if context.me() == Party::new(0) {
            0xff
        } else {
            lie
        }];
        let mut z = [0];
        gmw.and(&mut triples, &ones, &ones, 8, &mut z).await?;
        Ok::<_, Error>(gmw.open(&z, 8, &all).await?.map(|opened| opened[0]))
    });
    assert!(
        results
            .iter()
            .all(|(opened, _)| *opened == Some(0xff ^ 1 << 3))
    );
}
