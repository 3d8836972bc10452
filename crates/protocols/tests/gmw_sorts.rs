//! Shuffles and sorts of tables that two parties share: rows stay together, every order is as likely as any other, sorts are stable and
//! right for keys of any width, also where many are equal; each at its declared cost, in setup and online.
#![allow(clippy::unwrap_used)] // tests

use std::collections::HashMap;
use std::sync::Arc;

use madrigal_core::{Cost, Party, Phase, PhaseCost, Ring, bits};
use madrigal_correlations::{BitTriples, ChosenNumbers, Kind, Means, Needs, Source, Width};
use madrigal_correlations_make::{Extension, Origin, Supply, deal};
use madrigal_kernels::{Block, Prg, meter::unmetered};
use madrigal_net::transport::{Fault, mesh};
use madrigal_net::{Context, Error, MIN_WINDOW, Result};
use madrigal_protocols::gmw::{
    BooleanGmw, RowFormat, RowPlace, Shuffle, ShuffleOts, SortPlan, Table,
};
use madrigal_protocols::replicated::Depth;
use madrigal_protocols::sorting::index_bits;
use madrigal_protocols::{Opening, Rounds};
use madrigal_testkit::transcripts::{must_agree, ones_of};
use madrigal_testkit::{World, impatient, must_end_well, run_with_fault, seed};

/// A table in the clear.
#[derive(Clone, PartialEq, Eq, Debug)]
struct Plain {
    /// Bits of each row.
    rows: Vec<Vec<u8>>,
    small: Vec<u8>,
    large: Vec<u128>,
}

/// Layout of a table: its rows have this many bits, and two numbers or none.
struct Layout {
    rows: usize,
    bits: usize,
    numbers: bool,
}

impl Layout {
    fn format(&self) -> RowFormat {
        let widths: &[Width] = match self.numbers {
            true => &[Width::W8, Width::W128],
            false => &[],
        };
        RowFormat::new(self.bits, widths)
    }

    /// A party's share of a table, which all can compute.
    fn share(&self, seed: u64, me: Party, plain: &Plain) -> Table {
        let mut random = Prg::new(Block::new(seed, 77));
        let stride = bits::bytes_for(self.rows);
        let mut planes = vec![0; self.bits * stride];
        let (mut small, mut large) = (vec![0_u8; self.rows], vec![0_u128; self.rows]);
        unmetered(|| {
            random.fill(&mut planes);
            random.fill(&mut small);
            random.fill(madrigal_kernels::rings::as_bytes_mut(&mut large));
        });
        for row in planes.chunks_exact_mut(stride.max(1)) {
            bits::clear_tail(row, self.rows);
        }
        if me == Party::new(1) {
            let clear = self.planes(plain);
            let bits = planes.iter_mut().zip(&clear);
            bits.for_each(|(share, clear)| *share ^= clear);
            small = minus(&plain.small, &small);
            large = minus(&plain.large, &large);
        }
        self.table(&planes, &small, &large)
    }

    fn planes(&self, plain: &Plain) -> Vec<u8> {
        let stride = bits::bytes_for(self.rows);
        let mut planes = vec![0; self.bits * stride];
        for (row, bits) in plain.rows.iter().enumerate() {
            for (plane, bit) in bits.iter().enumerate() {
                planes[plane * stride + row / 8] |= bit << (row % 8);
            }
        }
        planes
    }

    fn table(&self, planes: &[u8], small: &[u8], large: &[u128]) -> Table {
        let mut table = Table::zeros(self.format(), self.rows);
        table.set_planes(planes);
        if self.numbers {
            table.set_number(0, small);
            table.set_number(1, large);
        }
        table
    }

    /// The table of both shares.
    fn plain(&self, [x, y]: [&Table; 2]) -> Plain {
        let stride = bits::bytes_for(self.rows);
        let [p, q] = [x, y].map(Table::planes);
        let bit = |row: usize, plane: usize| {
            let byte = plane * stride + row / 8;
            (p[byte] ^ q[byte]) >> (row % 8) & 1
        };
        let row = |row: usize| (0..self.bits).map(|plane| bit(row, plane)).collect();
        let rows = (0..self.rows).map(row).collect();
        let (small, large) = match self.numbers {
            true => (
                plus(&x.number(0), &y.number(0)),
                plus(&x.number(1), &y.number(1)),
            ),
            false => (vec![0; self.rows], vec![0; self.rows]),
        };
        Plain { rows, small, large }
    }

    /// Random rows; with numbers of their own.
    fn random(&self, seed: u64, blank: usize) -> Plain {
        let mut random = Prg::new(Block::new(seed, 78));
        let mut all = vec![0; self.rows * (self.bits + 17)];
        unmetered(|| random.fill(&mut all));
        let (random, rest) = all.split_at(self.rows * self.bits);
        let rows = (0..self.rows).map(|row| {
            let bits = &random[row * self.bits..][..self.bits];
            (0..self.bits)
                .map(|bit| if bit < blank { 0 } else { bits[bit] & 1 })
                .collect()
        });
        Plain {
            rows: rows.collect(),
            small: rest[..self.rows]
                .iter()
                .map(|x| x * u8::from(self.numbers))
                .collect(),
            large: (0..self.rows)
                .map(|row| {
                    if self.numbers {
                        row as u128 + (1 << 100)
                    } else {
                        0
                    }
                })
                .collect(),
        }
    }
}

fn minus<T: Ring>(x: &[T], y: &[T]) -> Vec<T> {
    x.iter().zip(y).map(|(x, y)| x.sub(*y)).collect()
}

fn plus<T: Ring>(x: &[T], y: &[T]) -> Vec<T> {
    x.iter().zip(y).map(|(x, y)| x.add(*y)).collect()
}

/// Needs of shuffles with this many switches in all, and triples.
fn needs(switches: usize, triples: usize) -> Needs {
    let mut needs = Needs::new();
    for owner in Party::all(2) {
        needs.add(Kind::ChosenNumbers(Width::W128, owner), switches);
    }
    needs.bit_triples(triples);
    needs
}

/// Correlations of these needs.
async fn correlations(
    setup: &Context,
    origin: &Origin,
    needs: &Needs,
) -> Result<(ShuffleOts, BitTriples)> {
    let mut numbers = Vec::new();
    let peer = Party::new(1 - setup.me().index());
    let mut triples = BitTriples::none();
    if !needs.is_empty() {
        let mut supply = Supply::open(origin, setup, needs, Means::default()).await?;
        for (kind, count) in needs.kinds() {
            if kind == Kind::BitTriples {
                triples = supply.bit_triples(count, &|_| {}).await?;
                continue;
            }
            let made = supply.typed::<ChosenNumbers<u128>>(kind, count, &|_| {});
            numbers.push((kind, made.await?));
        }
        supply.end().await?;
    }
    let mut of = |owner| {
        let is = |(kind, _): &(Kind, _)| *kind == Kind::ChosenNumbers(Width::W128, owner);
        match numbers.iter().position(is) {
            Some(at) => numbers.swap_remove(at).1,
            None => ChosenNumbers::new(Default::default(), Default::default(), Default::default()),
        }
    };
    let [sent, received] = [setup.me(), peer].map(&mut of);
    Ok((ShuffleOts { sent, received }, triples))
}

/// Work in setup, then online, by both parties, which give results.
fn run<T: Send>(
    seed: u64,
    origin: &Origin,
    needs: &Needs,
    ahead: impl AsyncFn(&mut BooleanGmw, &mut ShuffleOts) -> Result<Vec<Shuffle>> + Sync,
    online: impl AsyncFn(&mut BooleanGmw, Party, Vec<Shuffle>, &mut BitTriples) -> Result<T> + Sync,
) -> [(T, Cost); 2] {
    let (ahead, online) = (&ahead, &online);
    // Messages are longer than a window.
    let world = World::light(2 + origin.helpers(), seed);
    let world = world.with_limits(|limits| limits.window = MIN_WINDOW);
    let results = world.run(|context| async move {
        let setup = context.enter(Phase::Setup, "setup");
        if context.me().index() == 2 {
            deal(&setup).await?;
            return Ok(None);
        }
        let (mut ots, mut triples) = correlations(&setup, origin, needs).await?;
        let mut gmw = BooleanGmw::new(setup.step("shuffles").among(2), Opening::Direct)?;
        let shuffles = ahead(&mut gmw, &mut ots).await?;
        assert!(ots.sent.is_empty() && ots.received.is_empty());
        let context = context.enter(Phase::Online, "online").among(2);
        let mut gmw = BooleanGmw::new(context.clone(), Opening::Direct)?;
        let result = online(&mut gmw, context.me(), shuffles, &mut triples).await?;
        assert!(triples.is_empty());
        Ok::<_, Error>(Some(result))
    });
    let both: Vec<_> = results
        .into_iter()
        .filter_map(|(result, cost)| Some((result?, cost)))
        .collect();
    both.try_into().ok().expect("two parties")
}

/// Declared cost of correlations, then of a shuffle ahead.
fn setup_cost(
    origin: &Origin,
    me: Party,
    needs: &Needs,
    (format, rows): (&RowFormat, usize),
) -> PhaseCost {
    let ahead = BooleanGmw::draw_shuffle_cost(format, rows);
    if needs.is_empty() {
        return ahead;
    }
    let costs = |party| {
        let mut costs = origin.costs(party, 2);
        [costs.start(needs), costs.fill(needs)]
    };
    // Messages to a dealer beside requests are heard by nobody else.
    let before = |party| match (origin, costs(party)) {
        (Origin::Dealer, [_, made]) => made.rounds,
        (_, [start, made]) => start.rounds + made.rounds,
    };
    let mut rounds = Rounds::at(&[0, 1].map(Party::new).map(before));
    BooleanGmw::draw_shuffle_rounds(rows, &mut rounds);
    let [start, made] = costs(me);
    let all = start + made + ahead;
    PhaseCost {
        rounds: all.rounds.max(rounds.of(me)),
        ..all
    }
}

fn messages_cost(me: Party, messages: &[(Party, Party, u64)], rounds: &mut Rounds) -> PhaseCost {
    let mut cost = PhaseCost::default();
    for &(from, to, bytes) in messages {
        rounds.exchange(&[(from, to)]);
        if from == me {
            cost.bytes_sent += bytes;
            cost.messages += 1;
        } else {
            cost.bytes_received += bytes;
        }
    }
    cost
}

fn origins() -> [Origin; 3] {
    let [silent, iknp] = ["silent", "iknp"].map(|name| Origin::ot(name.parse().unwrap()));
    [silent, iknp, Origin::Dealer]
}

#[test]
fn rows_stay_together_in_a_shuffle() {
    let seed = seed();
    let mut origins = origins().into_iter().cycle();
    for (rows, bits, numbers) in [
        (0, 5, true),
        (1, 5, true),
        (2, 0, true),
        (5, 0, false),
        (3, 130, false),
        (64, 9, true),
        (65, 128, false),
        (300, 1, true),
        (1000, 64, true),
        (5000, 200, true),
    ] {
        let origin = &origins.next().unwrap();
        let layout = Layout {
            rows,
            bits,
            numbers,
        };
        let format = &layout.format();
        let plain = layout.random(seed, 0);
        let needs = &needs(BooleanGmw::shuffle_ots(rows), 0);
        let results = run(
            seed,
            origin,
            needs,
            async |gmw, ots| Ok(vec![gmw.draw_shuffle(format, rows, ots).await?]),
            async |gmw, me, mut shuffles, _| {
                let shuffle = shuffles.pop().unwrap();
                assert_eq!(
                    format!("{shuffle:?}"),
                    format!("Shuffle({rows} rows, {format:?})")
                );
                gmw.shuffle(shuffle, layout.share(seed, me, &plain)).await
            },
        );
        let about = format!("{rows} rows, {format:?}, {origin}");
        let shuffled = layout.plain([&results[0].0, &results[1].0]);
        let lines = |plain: &Plain| {
            let all = plain.rows.iter().zip(plain.small.iter().zip(&plain.large));
            all.map(|(row, (small, large))| (*large, *small, row.clone()))
                .collect::<Vec<_>>()
        };
        let [mut before, mut after] = [&plain, &shuffled].map(lines);
        assert!(rows < 64 || !numbers || before != after, "{about}");
        before.sort();
        after.sort();
        assert_eq!(before, after, "{about}");
        for (me, (_, spent)) in Party::all(2).zip(&results) {
            let setup = setup_cost(origin, me, needs, (format, rows));
            let mut rounds = Rounds::new(2);
            let messages = BooleanGmw::shuffle_messages(format, rows);
            let online = messages_cost(me, &messages, &mut rounds);
            let online = PhaseCost {
                rounds: rounds.of(me),
                ..online
            };
            assert_eq!(*spent, Cost { setup, online }, "{me}: {about}");
        }
    }
}

/// Each order of three rows comes about as often: with 3,000 shuffles the sum of squares has 5 degrees of freedom, and is above 35 once
/// in 600,000 tests.
#[test]
fn all_orders_are_equally_likely() {
    const TIMES: usize = 3000;
    let seed = seed();
    let format = &RowFormat::new(0, [Width::W8]);
    let results = run(
        seed,
        &Origin::ot(Extension::default()),
        &needs(TIMES * BooleanGmw::shuffle_ots(3), 0),
        async |gmw, ots| {
            let mut shuffles = Vec::new();
            for _ in 0..TIMES {
                shuffles.push(gmw.draw_shuffle(format, 3, ots).await?);
            }
            Ok(shuffles)
        },
        async |gmw, me, shuffles, _| {
            let mut orders = Vec::new();
            for shuffle in shuffles {
                let mut table = Table::zeros(format.clone(), 3);
                if me == Party::new(0) {
                    table.set_number::<u8>(0, &[0, 1, 2]);
                }
                orders.push(gmw.shuffle(shuffle, table).await?.number::<u8>(0));
            }
            Ok(orders)
        },
    );
    let [(x, _), (y, _)] = results;
    let mut counts: HashMap<Vec<u8>, usize> = HashMap::new();
    for (x, y) in x.iter().zip(&y) {
        *counts.entry(plus(x, y)).or_default() += 1;
    }
    assert_eq!(counts.len(), 6, "{counts:?}");
    let expected = TIMES as f64 / 6.0;
    let squares = counts
        .values()
        .map(|&count| (count as f64 - expected).powi(2) / expected);
    assert!(squares.sum::<f64>() < 35.0, "{counts:?}");
}

/// Keys: few different ones, or random ones with the ends of the range.
fn set_keys(plain: &mut Plain, keys: std::ops::Range<usize>, few: bool) {
    for row in 0..plain.rows.len() {
        let key = match (row % 5, few) {
            (0, _) => Some(vec![0; keys.len()]),
            (1, _) => Some(vec![1; keys.len()]),
            (_, true) => Some(plain.rows[row % 3][keys.clone()].to_vec()),
            _ => None,
        };
        if let Some(key) = key {
            plain.rows[row][keys.clone()].copy_from_slice(&key);
        }
    }
}

fn sorts(seed: u64, rows: usize, key: usize, few: bool, depth: Option<Depth>, origin: &Origin) {
    let about = format!("{rows} rows, keys of {key} bits, few {few}, {depth:?}, {origin}");
    let blank = index_bits(rows);
    let layout = Layout {
        rows,
        bits: blank + key + 3,
        numbers: true,
    };
    let format = &layout.format();
    let mut plain = layout.random(seed, blank);
    set_keys(&mut plain, blank..blank + key, few);
    let plan = SortPlan::new(rows, blank + key, depth);
    let needs = &needs(BooleanGmw::shuffle_ots(rows), plan.triples());
    let results = run(
        seed,
        origin,
        needs,
        async |gmw, ots| Ok(vec![gmw.draw_shuffle(format, rows, ots).await?]),
        async |gmw, me, mut shuffles, triples| {
            let table = layout.share(seed, me, &plain);
            let shuffle = shuffles.pop().unwrap();
            let sorted = gmw
                .sort(shuffle, table, blank + key, depth, triples)
                .await?;
            Ok(sorted.expect("luck"))
        },
    );
    let mut order: Vec<usize> = (0..rows).collect();
    // From the highest bit on; equal keys in their order.
    order.sort_by_key(|&row| {
        let key = plain.rows[row][blank..blank + key].iter();
        key.rev().copied().collect::<Vec<u8>>()
    });
    let mut found = layout.plain([&results[0].0, &results[1].0]);
    found.rows.iter_mut().for_each(|row| row[..blank].fill(0));
    let expected = Plain {
        rows: order.iter().map(|&row| plain.rows[row].clone()).collect(),
        small: order.iter().map(|&row| plain.small[row]).collect(),
        large: order.iter().map(|&row| plain.large[row]).collect(),
    };
    assert!(found == expected, "{about}");
    for (me, (_, spent)) in Party::all(2).zip(&results) {
        let setup = setup_cost(origin, me, needs, (format, rows));
        let mut rounds = Rounds::new(2);
        let messages = BooleanGmw::shuffle_messages(format, rows);
        let mut online = messages_cost(me, &messages, &mut rounds);
        for (times, openings) in plan.openings() {
            for bytes in (0..times).flat_map(|_| &openings) {
                let both: Vec<Party> = Party::all(2).collect();
                online += Opening::Direct.cost(me, 2, *bytes, &both);
                rounds.open(Opening::Direct, &both);
            }
        }
        online.rounds = rounds.of(me);
        assert_eq!(*spent, Cost { setup, online }, "{me}: {about}");
    }
}

#[test]
fn rows_are_sorted_by_keys_of_any_width() {
    let seed = seed();
    let mut origins = origins().into_iter().cycle();
    for key in [0, 1, 7, 8, 64, 130] {
        for rows in [0, 1, 2, 3, 65] {
            let by_ot = Origin::ot(Extension::default());
            let origin = origins.next().filter(|_| rows > 1).unwrap_or(by_ot);
            sorts(seed, rows, key, rows == 65 && key == 64, None, &origin);
        }
    }
}

#[test]
fn many_rows_are_sorted() {
    let seed = seed();
    let dealer = &Origin::Dealer;
    sorts(seed, 256, 20, false, Some(Depth::Ripple), dealer);
    sorts(seed, 300, 0, false, None, dealer);
    sorts(seed, 300, 130, true, None, dealer);
    sorts(seed, 1000, 20, true, Some(Depth::Tree), dealer);
    sorts(
        seed,
        3000,
        33,
        false,
        Some(Depth::Ripple),
        &Origin::ot(Extension::default()),
    );
}

/// A party sees the same whether all keys are alike or all are different.
#[test]
fn transcripts_say_nothing_of_keys() {
    let (seed, rows, key) = (seed(), 5, 3);
    let blank = index_bits(rows);
    let layout = &Layout {
        rows,
        bits: blank + key,
        numbers: true,
    };
    let plan = SortPlan::new(rows, blank + key, None);
    let needs = &needs(BooleanGmw::shuffle_ots(rows), plan.triples());
    for to in Party::all(2) {
        let seen = |seed: u64, keys: [u8; 5]| {
            let mut plain = layout.random(seed, blank);
            for (row, key) in plain.rows.iter_mut().zip(keys) {
                row.truncate(blank);
                row.extend((0..3).map(|bit| key >> bit & 1));
            }
            ones_of(2, to, seed, async |context, _| {
                let setup = context.enter(Phase::Setup, "setup");
                let me = context.me();
                let origin = Origin::ot(Extension::IKNP);
                let (mut ots, mut triples) = correlations(&setup, &origin, needs).await?;
                let mut gmw = BooleanGmw::new(setup.step("shuffles"), Opening::Direct)?;
                let shuffle = gmw.draw_shuffle(&layout.format(), rows, &mut ots).await?;
                let online = context.enter(Phase::Online, "online");
                let mut gmw = BooleanGmw::new(online, Opening::Direct)?;
                // The other party's shares are the values: nothing but the protocol hides them.
                let share = match me == to {
                    true => Table::zeros(layout.format(), rows),
                    false => layout.table(&layout.planes(&plain), &plain.small, &plain.large),
                };
                let sorted = gmw.sort(shuffle, share, blank + key, None, &mut triples);
                Ok(sorted.await?.expect("luck").planes().to_vec())
            })
        };
        let alike = seen(seed, [5; 5]);
        let different = seen(seed ^ 0x5555_0000_0000_0000, [6, 1, 3, 0, 7]);
        must_agree(&alike, &different, &format!("a sort in B, to {to}"));
    }
}

/// Lost, damaged and delayed messages end in an error at both parties, or in the right result.
#[test]
fn faults_end_sorts() {
    let seed = seed();
    let mut fired = 0;
    for trial in 0..16_u64 {
        let seed = seed.wrapping_add(u64::wrapping_mul(trial, 0x9e37_79b9_7f4a_7c15));
        let (rows, key) = (20, 9);
        let (blank, bits) = (index_bits(rows), index_bits(rows) + key);
        let layout = Layout {
            rows,
            bits,
            numbers: false,
        };
        let plain = layout.random(seed, blank);
        let mut keys: Vec<&[u8]> = plain.rows.iter().map(|row| &row[blank..]).collect();
        keys.sort_by_key(|key| key.iter().rev().collect::<Vec<_>>());
        let right: Vec<Vec<u8>> = keys
            .iter()
            .map(|key| [&vec![0; blank], *key].concat())
            .collect();
        let fault = Fault {
            at: (seed >> 8) as u32 % 20,
            ..Fault::random(seed, 2)
        };
        let about = format!("{fault:?}, seed {seed}");
        let shared = Arc::new((layout, plain, right));
        let trial = must_end_well(&about, |patience| {
            let (world, limit) = impatient(2, seed, patience);
            let (of_program, of_check) = (Arc::clone(&shared), Arc::clone(&shared));
            let program = move |context: Context| {
                let shared = Arc::clone(&of_program);
                async move {
                    let (layout, plain, _) = &*shared;
                    let plan = SortPlan::new(rows, bits, None);
                    let needs = needs(BooleanGmw::shuffle_ots(rows), plan.triples());
                    let setup = context.enter(Phase::Setup, "setup");
                    let origin = Origin::ot(Extension::default());
                    let (mut ots, mut triples) = correlations(&setup, &origin, &needs).await?;
                    let mut gmw = BooleanGmw::new(setup.step("shuffles"), Opening::Direct)?;
                    let format = layout.format();
                    let shuffle = gmw.draw_shuffle(&format, rows, &mut ots).await?;
                    let online = context.enter(Phase::Online, "online");
                    let share = layout.share(seed, context.me(), plain);
                    let mut gmw = BooleanGmw::new(online, Opening::Direct)?;
                    let sorted = gmw.sort(shuffle, share, bits, None, &mut triples);
                    let share = sorted.await?.expect("luck").planes();
                    let both: Vec<Party> = Party::all(2).collect();
                    let opened = gmw.open(&share, 8 * share.len(), &both).await?.unwrap();
                    let mut table = Table::zeros(format.clone(), rows);
                    table.set_planes(&opened);
                    let zeros = Table::zeros(format, rows);
                    let mut found = layout.plain([&table, &zeros]);
                    found.rows.iter_mut().for_each(|row| row[..blank].fill(0));
                    Ok(found.rows)
                }
            };
            let is_right = move |_, found: &Vec<Vec<u8>>| *found == of_check.2;
            run_with_fault(&world, fault, limit, program, is_right)
        });
        fired += u32::from(trial.fired);
    }
    assert!(fired > 2, "{fired} of 16 faults happened");
}

/// A message of another length than is due, and bits past the end of one, are refused: the parties disagree on the number of rows.
#[test]
fn a_peer_with_other_rows_is_refused() {
    let needs = &needs(BooleanGmw::shuffle_ots(40), 0);
    for rows in [[40, 30], [40, 39], [30, 40]] {
        let results: Vec<std::result::Result<(Shuffle, Cost), Error>> = World::light(2, seed())
            .run_over(mesh(2), |context| async move {
                let setup = context.enter(Phase::Setup, "setup");
                let origin = Origin::ot(Extension::default());
                let (mut ots, _) = correlations(&setup, &origin, needs).await?;
                let mut gmw = BooleanGmw::new(setup.step("shuffles"), Opening::Direct)?;
                let format = RowFormat::new(9, [Width::W16]);
                gmw.draw_shuffle(&format, rows[context.me().index()], &mut ots)
                    .await
            });
        assert!(results.iter().all(Result::is_err), "{rows:?}");
    }
}

/// Places of which two are alike, or that are beyond the last row, are refused by both.
#[test]
fn places_that_are_no_permutation_are_refused() {
    for places in [[0, 0], [1, 2], [u32::MAX, 0], [1, 0]] {
        let results: Vec<Result<(Vec<u32>, Cost)>> =
            World::light(2, seed()).run_over(mesh(2), |context| async move {
                let me = context.me();
                let online = context.enter(Phase::Online, "online");
                let mut gmw = BooleanGmw::new(online, Opening::Direct)?;
                let mut table = Table::zeros(RowFormat::new(0, [Width::W32]), 2);
                if me == Party::new(1) {
                    table.set_number::<u32>(0, &places);
                }
                gmw.place(&mut table, RowPlace::Number(0)).await?;
                Ok(table.number::<u32>(0).to_vec())
            });
        let right = places == [1, 0];
        assert!(
            results.iter().all(|found| found.is_ok() == right),
            "{places:?}"
        );
        if right {
            assert_eq!(results[1].as_ref().unwrap().0, [0, 1]);
        }
        // As bits, of which each party has some.
        let results: Vec<Result<(Vec<u8>, Cost)>> =
            World::light(2, seed()).run_over(mesh(2), |context| async move {
                let me = context.me();
                let online = context.enter(Phase::Online, "online");
                let mut gmw = BooleanGmw::new(online, Opening::Direct)?;
                let mut table = Table::zeros(RowFormat::new(33, []), 2);
                let mask = 0x1234_5678_u32;
                let own = places.map(|place| if me.index() == 0 { mask } else { place ^ mask });
                let bit = |plane: usize, row: usize| (own[row] >> plane & 1) as u8;
                let planes = (0..32).map(|plane| bit(plane, 0) | bit(plane, 1) << 1);
                // The row that was first is marked.
                let mark = u8::from(me.index() == 0);
                table.set_planes(&planes.chain([mark]).collect::<Vec<u8>>());
                gmw.place(&mut table, RowPlace::LowestBits).await?;
                Ok(table.planes()[32..].to_vec())
            });
        assert!(
            results.iter().all(|found| found.is_ok() == right),
            "{places:?}"
        );
        if right {
            let [x, y] = [0, 1].map(|party| results[party].as_ref().unwrap().0[0]);
            assert_eq!(x ^ y, 2);
        }
    }
}
