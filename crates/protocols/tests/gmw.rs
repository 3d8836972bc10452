//! Boolean GMW by itself, operation by operation: right against the plain bits, at the declared cost,
//! for 2, 3 and 5 parties, both openings, counts that fill no byte, and triples of every origin.
#![allow(clippy::unwrap_used)] // tests

use std::path::Path;

use madrigal_core::{Cost, Party, Phase, PhaseCost, bits};
use madrigal_correlations::{BitTriples, Means, Needs, Source};
use madrigal_correlations_make::{Extension, Origin, OtCosts, OtSource, Supply, deal};
use madrigal_correlations_store::{NewStore, Store, StoreKey};
use madrigal_kernels::{Block, Prg, meter::unmetered};
use madrigal_net::{Context, Error, MIN_WINDOW, Result};
use madrigal_protocols::gmw::{BooleanGmw, InputSharing, share_aes_blocks};
use madrigal_protocols::{Opening, Rounds};
use madrigal_testkit::{World, seed};

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

/// Shares a bit string of party 0 and one of party 1, ANDs them, opens the product to `to`.
async fn product(
    online: Context,
    mut triples: BitTriples,
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
    gmw.and(&mut triples, &shares[0], &shares[1], count, &mut z)
        .await?;
    assert!(triples.is_empty());
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
            product(online, triples, opening, seed, count, to).await
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
