//! Chosen numbers: right for every number of parties, width and owner, by OT at the declared cost, and from a dealer.

use madrigal_core::{Party, PhaseCost, Ring};
use madrigal_correlations::{ChosenNumbers, Kind, Means, Needs, Source, Width};
use madrigal_correlations_make::{Extension, Origin, OtCosts, OtSource, Supply, deal};
use madrigal_net::Context;
use madrigal_net::transport::{Profile, Shaped, mesh};
use madrigal_ot::softspoken::CHUNK;
use madrigal_testkit::{World, seed};

/// A party's shares: flags, numbers, products.
type Strings<T> = (Vec<u8>, Vec<T>, Vec<T>);

/// Takes all in two pieces.
fn taken<T: Ring>(mut chosen: ChosenNumbers<T>) -> Strings<T> {
    let mut all = Strings::default();
    for count in [chosen.len() / 3, chosen.len() - chosen.len() / 3] {
        let shares = chosen.take(count);
        all.0.extend_from_slice(shares.flags);
        all.1.extend_from_slice(shares.numbers);
        all.2.extend_from_slice(shares.products);
    }
    all
}

/// The flags add up to r and the products to r and r u; only `owner` has numbers, only others have flags.
fn check<T: Ring>(owner: Party, shares: &[Strings<T>], what: &str) {
    let count = shares[0].0.len();
    let sum = |place: usize| {
        let shares = shares.iter().map(|party| party.2[place]);
        shares.fold(T::ZERO, Ring::add)
    };
    let mut ones = 0;
    for item in 0..count {
        let flag = shares.iter().fold(0, |sum, party| sum ^ party.0[item]);
        let r = T::from_u128(flag.into());
        assert!(flag <= 1, "{what}: flag {item}");
        assert_eq!(sum(2 * item), r, "{what}: bit {item}");
        let u = shares[owner.index()].1[item];
        assert_eq!(sum(2 * item + 1), r.mul(u), "{what}: product {item}");
        ones += usize::from(flag);
    }
    assert!(
        count < 100 || (count / 4..3 * count / 4).contains(&ones),
        "{what}: {ones}"
    );
    for (party, (flags, numbers, products)) in Party::all(shares.len()).zip(shares) {
        let own = party == owner;
        let none = flags.iter().all(|&flag| flag == 0);
        assert!(
            none == own || !own && count < 20,
            "{what}: flags of {party}"
        );
        assert!(
            own || numbers.iter().all(|&u| u == T::ZERO),
            "{what}: {party}"
        );
        let mut seen: Vec<_> = products
            .iter()
            .skip(1)
            .step_by(2)
            .map(|x| x.to_u128())
            .collect();
        seen.sort_unstable();
        seen.dedup();
        assert!(
            count < 100 || seen.len() > 50,
            "{what}: shares of {party} are random"
        );
    }
}

fn extensions() -> impl Iterator<Item = Extension> {
    let names = ["iknp", "softspoken3", "silent"].into_iter();
    names.filter_map(|name| name.parse().ok())
}

fn by_ot<T: Ring>(parties: usize, counts: &[usize], threads: usize) {
    let seed = seed();
    for (extension, owner) in
        extensions().flat_map(|way| Party::all(parties).map(move |owner| (way, owner)))
    {
        let kind = Kind::ChosenNumbers(Width::of::<T>(), owner);
        let results = World::light(parties, seed).run(|context: Context| async move {
            let mut source = OtSource::with_threads(&context, extension, threads).await?;
            let mut all = Vec::new();
            for &count in counts {
                all.push(taken(
                    source
                        .typed::<ChosenNumbers<T>>(kind, count, &|_| {})
                        .await?,
                ));
            }
            Ok(all)
        });
        let what = format!("{kind}, {parties} parties, {extension}");
        for (me, (_, cost)) in Party::all(parties).zip(&results) {
            let mut costs = OtCosts::with_threads(extension, threads, me, parties);
            let mut expected = costs.base();
            for &count in counts {
                expected += costs.call(kind, count);
            }
            assert_eq!(cost.setup, expected, "{me}: {what}");
        }
        for (call, _) in counts.iter().enumerate() {
            let shares: Vec<Strings<T>> = results
                .iter()
                .map(|(calls, _)| calls[call].clone())
                .collect();
            check(owner, &shares, &what);
        }
    }
}

#[test]
fn of_every_width_between_two_parties() {
    by_ot::<u8>(2, &[300, 0, 1], 1);
    by_ot::<u16>(2, &[1001], 1);
    by_ot::<u32>(2, &[CHUNK + 9], 1);
    by_ot::<u64>(2, &[700], 1);
    by_ot::<u128>(2, &[301, 5], 1);
}

#[test]
fn of_more_parties() {
    by_ot::<u8>(3, &[130, 1], 1);
    by_ot::<u64>(3, &[CHUNK + 3], 1);
    by_ot::<u128>(3, &[200], 1);
    by_ot::<u32>(5, &[150], 1);
}

/// The second party answers the third only once it has what the owner's OTs make of its share, however late those come.
#[test]
fn of_an_owner_on_a_slow_line() {
    let slow = Profile::parse("60ms").expect("a line");
    let owner = Party::new(0);
    let kind = Kind::ChosenNumbers(Width::W64, owner);
    for extension in extensions() {
        let late = |(from, inner)| {
            Shaped::with_links(inner, move |to| match [from, to.index()] {
                [0, 1] => slow,
                _ => Profile::default(),
            })
        };
        let transports = mesh(3).into_iter().enumerate().map(late).collect();
        let results = World::light(3, seed()).run_over(transports, |context: Context| async move {
            let mut source = OtSource::new(&context, extension).await?;
            // In a first call the second party's OTs wait for the owner's first message too.
            let mut calls = Vec::new();
            for count in [1, 300] {
                let made = source.typed::<ChosenNumbers<u64>>(kind, count, &|_| {});
                calls.push(taken(made.await?));
            }
            Ok(calls)
        });
        let mut calls: Vec<Vec<Strings<u64>>> = results
            .into_iter()
            .map(|result| result.unwrap_or_else(|error| panic!("{error}")).0)
            .collect();
        for call in 0..2 {
            let shares: Vec<_> = calls
                .iter_mut()
                .map(|calls| std::mem::take(&mut calls[call]))
                .collect();
            check(owner, &shares, &format!("{kind}, {extension}, call {call}"));
        }
    }
}

#[test]
fn on_several_threads() {
    by_ot::<u64>(2, &[200_003, 7], 3);
    by_ot::<u16>(3, &[140_000], 2);
}

/// Between two parties an item is a random OT: nothing but the extension's message goes over the line, and only one way.
#[test]
fn an_item_of_two_parties_costs_one_ot() -> std::result::Result<(), Box<dyn std::error::Error>> {
    let (owner, count) = (Party::new(0), 100 * CHUNK);
    let cost = |me: usize| -> std::result::Result<PhaseCost, Box<dyn std::error::Error>> {
        let mut costs = OtCosts::new("iknp".parse()?, Party::new(me), 2);
        Ok(costs.call(Kind::ChosenNumbers(Width::W64, owner), count))
    };
    let (first, second) = (cost(0)?, cost(1)?);
    assert_eq!(
        [first.bytes_sent, second.bytes_sent],
        [0, 16 * count as u64]
    );
    assert_eq!([first.rounds, second.rounds], [1, 1]);
    Ok(())
}

fn dealt<T: Ring>(parties: usize, count: usize) {
    for owner in Party::all(parties) {
        let kind = Kind::ChosenNumbers(Width::of::<T>(), owner);
        let results = World::light(parties + 1, seed()).run(|context: Context| async move {
            if context.me().index() == parties {
                deal(&context).await?;
                return Ok(None);
            }
            let (needs, means) = (Needs::new(), Means::default());
            let mut supply = Supply::open(&Origin::Dealer, &context, &needs, means).await?;
            let made = taken(
                supply
                    .typed::<ChosenNumbers<T>>(kind, count, &|_| {})
                    .await?,
            );
            supply.end().await?;
            Ok(Some(made))
        });
        let shares: Vec<_> = results.into_iter().filter_map(|(made, _)| made).collect();
        check::<T>(owner, &shares, &format!("{kind} from a dealer"));
    }
}

#[test]
fn from_a_dealer() {
    dealt::<u8>(2, 130);
    dealt::<u64>(2, 1000);
    dealt::<u128>(3, 200);
}
