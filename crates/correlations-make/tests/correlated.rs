//! Correlated OTs: rows that differ by the sender's offset where the receiver chose 1, in every
//! direction, on any number of threads, at the declared cost.

use std::collections::BTreeMap;

use madrigal_core::{Party, PhaseCost, Zeroizing};
use madrigal_correlations::{CorrelatedOts, Direction, Needs, Source, Stock};
use madrigal_correlations_make::{Extension, OtCosts, OtSource};
use madrigal_kernels::Block;
use madrigal_net::{Context, Result};
use madrigal_testkit::{World, seed};

/// Calls for OTs of any directions, counts that are no round numbers, one call without any.
fn calls(parties: usize) -> Vec<Vec<(Direction, usize)>> {
    let [p, q] = [0, parties - 1].map(Party::new);
    let pairs = |from: Party| from.others(parties).map(move |to| (from, to));
    let all = Party::all(parties).flat_map(pairs);
    let uneven = all.clone().zip(1..).map(|(way, i)| (way, 20_011 * i));
    let mut uneven: Vec<_> = uneven.collect();
    uneven.sort_unstable();
    vec![
        vec![((p, q), 1)],
        uneven,
        Vec::new(),
        vec![((q, p), 70_000)],
        all.map(|way| (way, 129)).collect(),
    ]
}

struct Had {
    offset: Block,
    rows: BTreeMap<Direction, Vec<Block>>,
}

async fn have(context: Context, extension: Extension, threads: usize) -> Result<Had> {
    let mut source = OtSource::with_threads(&context, extension, threads).await?;
    let mut rows: BTreeMap<Direction, Vec<Block>> = BTreeMap::new();
    for counts in calls(context.parties()) {
        let mut ots = source.correlated_ots(&counts, &|_| {}).await?;
        for (way, count) in counts {
            if way.0 == context.me() || way.1 == context.me() {
                assert_eq!(ots.left(way), count);
                rows.entry(way).or_default().extend(ots.take(way, count)?);
            }
            assert_eq!(ots.left(way), 0);
        }
    }
    let offset = source.offset().unwrap_or(Block::ZERO);
    Ok(Had { offset, rows })
}

fn declared(costs: &mut OtCosts, parties: usize) -> PhaseCost {
    let mut total = costs.base();
    for counts in calls(parties) {
        total += costs.correlated_ots(&counts);
    }
    total
}

fn check(extension: Extension, parties: usize, threads: usize) {
    let about = format!("{extension}, {parties} parties, {threads} threads");
    let results = World::light(parties, seed()).run(|context| have(context, extension, threads));
    let mut chosen = [0, 0];
    for (me, (had, cost)) in Party::all(parties).zip(&results) {
        let mut costs = OtCosts::with_threads(extension, threads, me, parties);
        assert_eq!(cost.setup, declared(&mut costs, parties), "{about}, {me}");
        assert!(had.offset.bit(0), "{about}: an odd offset");
        for (&(from, to), t) in had.rows.iter().filter(|((_, to), _)| *to == me) {
            let (theirs, _) = &results[from.index()];
            let q = &theirs.rows[&(from, to)];
            assert_eq!(q.len(), t.len());
            for (i, (&q, &t)) in q.iter().zip(t).enumerate() {
                let choice = t.bit(0);
                assert!(!q.bit(0), "{about}: a sender's row says nothing");
                let want = q ^ (Block::mask(choice) & theirs.offset);
                assert_eq!(t, want, "{about}: OT {i} from {from} to {to}");
                chosen[usize::from(choice)] += 1;
            }
        }
    }
    // At the same place a receiver has the same choice with all: here in the last call, of 129 each way.
    for (me, (had, _)) in Party::all(parties).zip(&results) {
        let received = had.rows.iter().filter(|((_, to), _)| *to == me);
        let last = received.map(|(_, rows)| &rows[rows.len() - 129..]);
        let choices = last.map(|rows| rows.iter().map(|row| row.bit(0)).collect::<Vec<_>>());
        let choices: Vec<_> = choices.collect();
        assert!(choices.iter().all(|other| *other == choices[0]), "{about}");
    }
    let [zeros, ones] = chosen;
    let all: i64 = zeros + ones;
    // Six standard deviations of a fair coin's, each of which counts for all senders.
    let bound = 3 * ((parties as i64 - 1) as f64 * all as f64).sqrt() as i64;
    assert!((ones - all / 2).abs() < bound, "{about}: {ones} of {all}");
}

#[test]
fn rows_differ_by_the_offset_at_the_declared_cost() {
    for name in ["iknp", "softspoken4", "softspoken8", "silent"] {
        let extension = name.parse().unwrap_or_else(|error| panic!("{error}"));
        for parties in [2, 3] {
            check(extension, parties, 1);
        }
    }
    check(Extension::default(), 5, 1);
}

#[test]
fn threads_repeat_nothing_of_each_other() {
    check(Extension::default(), 2, 3);
    check(Extension::default(), 3, 2);
}

/// A stock hands out what was registered, beside other kinds, and what it cost is what was said.
#[test]
fn a_stock_holds_those_that_are_ours() {
    let [p, q, r] = [0, 1, 2].map(Party::new);
    let mut needs = Needs::new();
    needs.bit_triples(100);
    needs.correlated_ots(p, q, 300);
    needs.correlated_ots(r, p, 50);
    // 300 rows of 16 bytes, and 50: party 0 has both.
    assert_eq!(needs.share_bytes(), 3 * 13 + 350 * 16);
    let extension = Extension::default();
    let results = World::light(3, seed()).run(|context| {
        let needs = &needs;
        async move {
            let me = context.me();
            let mut source = OtSource::new(&context, extension).await?;
            let mut stock = Stock::fill(&mut source, needs, &|_| {}).await?;
            let mut part = Needs::new();
            part.correlated_ots(p, q, 120);
            let mut part = stock.take(&part, me);
            let left = |stock: &mut Stock| {
                [(p, q), (r, p), (q, r)].map(|way| stock.correlated_ots().left(way))
            };
            assert_eq!(part.offset(), stock.offset());
            Ok([left(&mut part), left(&mut stock)])
        }
    });
    let had: Vec<_> = results.iter().map(|(had, _)| *had).collect();
    let want = [
        [[120, 0, 0], [180, 50, 0]],
        [[120, 0, 0], [180, 0, 0]],
        [[0, 0, 0], [0, 50, 0]],
    ];
    assert_eq!(had, want);
    for (me, (_, cost)) in Party::all(3).zip(&results) {
        assert_eq!(
            cost.setup,
            OtCosts::new(extension, me, 3).filling(&needs, |_| usize::MAX),
            "{me}"
        );
    }
}

#[test]
fn what_was_not_registered_is_not_there() {
    let mut ots = CorrelatedOts::new([]);
    let [p, q] = [0, 1].map(Party::new);
    let short = ots.take((p, q), 1).expect_err("there are none");
    assert!(
        short.to_string().starts_with("1 correlated OTs wanted"),
        "{short}"
    );
}

#[test]
fn debug_shows_counts_alone() {
    let [p, q] = [0, 1].map(Party::new);
    let rows = Zeroizing::new(vec![Block::new(77, 77); 3]);
    let ots = CorrelatedOts::new([((p, q), rows)]);
    assert_eq!(format!("{ots:?}"), "CorrelatedOts(3 from 0 to 1)");
}
