//! Protocols alpha and beta by themselves: right against the plain values, at the declared cost, for lengths
//! that fill no byte, and with nothing of the inputs in what travels.
#![allow(clippy::unwrap_used)] // tests

use madrigal_circuit::{Take, Takes};
use madrigal_core::{Cost, Party, Phase, PhaseCost, Product, Ring, bits};
use madrigal_correlations::BitTriples;
use madrigal_kernels::{Block, rings};
use madrigal_net::transport::mesh;
use madrigal_net::{Context, Error, Result};
use madrigal_protocols::Rounds;
use madrigal_protocols::aby2::{
    Aby2, Masks, TwoLayers, bit_pairs_aes, bit_pairs_bytes, bit_pairs_ots, draw_aes, exchange_cost,
    reveal_cost, tell_cost, unmasked, unmasked_bits,
};
use madrigal_testkit::{World, seed};

use crate::common::additive::Dealer;
use crate::common::products::{plain, products};
use crate::common::values;

const COUNTS: [usize; 6] = [1, 7, 8, 64, 100, 1000];

/// Both halves of a party.
struct Halves {
    setup: Aby2,
    online: Aby2,
    dealer: Dealer,
}

impl Halves {
    fn new(context: &Context, seed: u64) -> Result<Self> {
        let [setup, online] = [(Phase::Setup, "setup"), (Phase::Online, "online")]
            .map(|(phase, name)| Aby2::new(context.enter(phase, name)));
        let dealer = Dealer {
            seed,
            parties: 2,
            me: context.me(),
        };
        Ok(Self {
            setup: setup?,
            online: online?,
            dealer,
        })
    }

    fn me(&self) -> Party {
        self.online.me()
    }

    /// A party's bits under masks: public part and our share.
    async fn bits(&mut self, owner: Party, plain: &[u8], count: usize) -> Result<[Vec<u8>; 2]> {
        let mut masks = vec![0; bits::bytes_for(count)];
        self.setup.draw_input(owner, &mut masks);
        let values = (owner == self.me()).then_some(plain);
        let public = self.online.share_bits(owner, values, &masks, count).await?;
        Ok([public.to_vec(), masks])
    }

    async fn elements<T: Ring>(&mut self, owner: Party, plain: &[T]) -> Result<[Vec<T>; 2]> {
        let mut masks = vec![T::ZERO; plain.len()];
        self.setup
            .draw_input(owner, rings::as_bytes_mut(&mut masks));
        let values = (owner == self.me()).then_some(plain);
        let public = self.online.share_elements(owner, values, &masks).await?;
        Ok([public.to_vec(), masks])
    }

    /// The bits themselves, at those of `to`.
    async fn open_bits(
        &mut self,
        public: &[u8],
        masks: &[u8],
        count: usize,
        to: &[Party],
    ) -> Result<Option<Vec<u8>>> {
        let masks = self.setup.open_bit_masks(masks, count, to).await?;
        Ok(masks.map(|masks| {
            let both = masks.iter().zip(public);
            let mut bits: Vec<u8> = both.map(|(a, b)| a ^ b).collect();
            bits::clear_tail(&mut bits, count);
            bits
        }))
    }

    async fn open<T: Ring>(&mut self, public: &[T], masks: &[T]) -> Result<Vec<T>> {
        let all: Vec<Party> = Party::all(2).collect();
        let mut opened = self.setup.open_masks(masks, &all).await?.unwrap().to_vec();
        rings::add_into(&mut opened, public);
        Ok(opened)
    }

    /// Our shares of the masks of results.
    fn fresh<T: Ring>(&mut self, count: usize) -> Vec<T> {
        let mut masks = vec![T::ZERO; count];
        self.setup.draw(rings::as_bytes_mut(&mut masks));
        masks
    }
}

/// Bit triples of a dealer's.
fn bit_triples(dealer: Dealer, label: u64, count: usize) -> BitTriples {
    let bytes = bits::bytes_for(count);
    let [a, b] = [0, 1].map(|i| values::<u8>(dealer.seed, 50 + 8 * label + i, bytes));
    let c: Vec<u8> = a.iter().zip(&b).map(|(a, b)| a & b).collect();
    let [a, b, c] =
        [(2, a), (3, b), (4, c)].map(|(i, bits)| dealer.share_bits(8 * label + i, &bits).into());
    BitTriples::new(a, b, c, count)
}

/// Plain bits of a test, all ones in some places.
fn plain_bits(seed: u64, label: u64, count: usize) -> Vec<u8> {
    let mut plain = values::<u8>(seed, label, bits::bytes_for(count));
    bits::clear_tail(&mut plain, count);
    plain
}

/// Runs one job as both; gives its results, and checks what it cost.
fn run<R: Send>(
    seed: u64,
    about: &str,
    job: impl AsyncFn(&mut Halves) -> Result<R> + Sync,
    declared: impl Fn(Party) -> Cost,
) -> Vec<R> {
    let results = World::light(2, seed).run(|context| {
        let job = &job;
        async move { job(&mut Halves::new(&context, seed)?).await }
    });
    let check = |(me, (result, spent)): (Party, (R, Cost))| {
        assert_eq!(spent, declared(me), "{me}: {about}");
        result
    };
    Party::all(2).zip(results).map(check).collect()
}

/// The sum of messages, and the rounds that they take one after the other.
fn cost(me: Party, blocks: u64, steps: &[Step<'_>]) -> PhaseCost {
    let mut clock = Rounds::new(2);
    let mut sum = PhaseCost {
        aes_blocks: blocks,
        ..PhaseCost::default()
    };
    for step in steps {
        let (spent, messages) = match *step {
            Step::Both(bytes) => (exchange_cost(bytes), vec![(FIRST, SECOND), (SECOND, FIRST)]),
            Step::Tell(from, bytes) => (tell_cost(me, from, bytes), vec![(from, other(from))]),
            Step::Reveal(to, bytes) => (
                reveal_cost(me, to, bytes),
                to.iter().map(|&to| (other(to), to)).collect(),
            ),
        };
        sum += spent;
        clock.exchange(&messages);
    }
    PhaseCost {
        rounds: clock.of(me),
        ..sum
    }
}

fn other(party: Party) -> Party {
    Party::new(1 - party.index())
}

/// Messages that are sent before any of them is awaited, with their lengths in bytes.
#[derive(Clone, Copy)]
enum Step<'a> {
    Both(usize),
    Tell(Party, usize),
    Reveal(&'a [Party], usize),
}
use Step::{Both, Reveal, Tell};

const FIRST: Party = Party::new(0);
const SECOND: Party = Party::new(1);

#[test]
fn ands_of_bits() {
    let seed = seed();
    for count in COUNTS {
        for to in [&[FIRST, SECOND][..], &[FIRST], &[SECOND]] {
            let [a, b] = [1, 2].map(|label| plain_bits(seed, label, count));
            let (a, b) = (&a, &b);
            let bytes = bits::bytes_for(count);
            let results = run(
                seed,
                &format!("{count} bits to {to:?}"),
                async |halves| {
                    let [x, x_mask] = halves.bits(FIRST, a, count).await?;
                    let [y, y_mask] = halves.bits(SECOND, b, count).await?;
                    let fresh = halves.fresh::<u8>(bytes);
                    let mut triples = bit_triples(halves.dealer, 0, count);
                    let mut kept = vec![0; bytes];
                    let setup = &mut halves.setup;
                    setup
                        .bit_products(&mut triples, &x_mask, &y_mask, count, &mut kept)
                        .await?;
                    assert!(triples.is_empty());
                    kept.iter_mut().zip(&fresh).for_each(|(a, b)| *a ^= b);
                    let mut z = vec![0; bytes];
                    let online = &mut halves.online;
                    online
                        .and([&x, &y], [&x_mask, &y_mask], &kept, count, &mut z)
                        .await?;
                    halves.open_bits(&z, &fresh, count, to).await
                },
                |me| Cost {
                    // Masks of an input of each, and of the result.
                    setup: cost(
                        me,
                        2 * draw_aes(bytes),
                        &[Both(2 * bytes), Reveal(to, bytes)],
                    ),
                    online: cost(
                        me,
                        0,
                        &[Tell(FIRST, bytes), Tell(SECOND, bytes), Both(bytes)],
                    ),
                },
            );
            let product: Vec<u8> = a.iter().zip(b).map(|(a, b)| a & b).collect();
            for (me, opened) in Party::all(2).zip(results) {
                assert_eq!(opened, to.contains(&me).then(|| product.clone()), "{count}");
            }
        }
    }
}

/// The bits of some ANDs of a layer.
fn picked(string: &[u8], ands: &[u32], lanes: usize) -> Vec<u8> {
    let mut all = vec![0; bits::bytes_for(ands.len() * lanes)];
    let mut row = vec![0; bits::bytes_for(lanes)];
    for (place, &and) in ands.iter().enumerate() {
        bits::take(string, and as usize * lanes, &mut row, lanes);
        bits::put(&mut all, place * lanes, &row, lanes);
    }
    all
}

/// Results of the first layer that the second one takes, in tests: none, one or two results for each operand, perhaps the same
/// ones for both.
fn takes(seed: u64, ands: [usize; 2]) -> Takes {
    let draw = values::<u8>(seed, 90, 6 * ands[1]);
    let mut operands = [Vec::new(), Vec::new()];
    for (and, draw) in (0..).zip(draw.chunks(6)) {
        for (takes, draw) in operands.iter_mut().zip(draw.chunks(3)) {
            let mut from = draw[1..]
                .iter()
                .map(|&draw| u32::from(draw) % ands[0] as u32);
            let count = usize::from(draw[0] % 3);
            takes.extend(from.by_ref().take(count).map(|from| Take { and, from }));
        }
    }
    Takes::new(operands, Vec::new())
}

#[test]
fn two_layers_in_one_round() {
    let seed = seed();
    // The last two are the ANDs of three and of four bits.
    let both = |x: &[u32], y: &[u32]| {
        let take = |from: &u32| Take {
            and: 0,
            from: *from,
        };
        let operands = [x.iter().map(take).collect(), y.iter().map(take).collect()];
        Takes::new(operands, Vec::new())
    };
    let shapes = [[3, 4], [1, 1], [5, 9], [8, 2], [1, 7]];
    let shapes = (0..)
        .zip(shapes)
        .map(|(i, ands)| (takes(seed + i, ands), ands, false));
    let wide = [
        (both(&[0], &[]), [1, 1], true),
        (both(&[0], &[1]), [2, 1], true),
    ];
    for (takes, ands, wide) in shapes.chain(wide) {
        for lanes in [1, 3, 8, 64, 100] {
            two_layers(seed, &takes, ands, lanes, wide);
        }
    }
}

/// Checks two layers. Without `alone`, what is taken is XORed with something that was there before.
fn two_layers(seed: u64, takes: &Takes, ands: [usize; 2], lanes: usize, alone: bool) {
    let counts = ands.map(|ands| ands * lanes);
    let [first_bytes, second_bytes] = counts.map(bits::bytes_for);
    let bytes = first_bytes + second_bytes;
    let layers = TwoLayers {
        takes,
        lanes,
        ands,
        at: [0, 8 * first_bytes],
    };
    let both: Vec<u32> = takes.both().iter().map(|&(and, _)| and).collect();
    let single: usize = takes.operands().iter().map(Vec::len).sum();
    // Two products for each operand that takes a result, four for each AND of two.
    let beside = 2 * takes
        .operands()
        .iter()
        .map(|takes| bits::bytes_for(takes.len() * lanes))
        .sum::<usize>()
        + 4 * bits::bytes_for(both.len() * lanes);
    assert_eq!(layers.beside_bytes(), beside);
    let products = second_bytes + beside;
    if alone {
        // The triples are as many as ABY2.0 says: 4 of three bits, 11 of four.
        let per_lane = ands[0] + ands[1] + 2 * single + 4 * both.len();
        assert_eq!(per_lane, if both.is_empty() { 4 } else { 11 });
    }
    let operand = |label| plain_bits(seed, label, counts[0]);
    let [a, b] = &[1, 2].map(operand);
    let [mut l, mut m] = [3, 4].map(|label| plain_bits(seed, label, counts[1]));
    if alone {
        for (l, takes) in [&mut l, &mut m].into_iter().zip(takes.operands()) {
            if !takes.is_empty() {
                l.fill(0);
            }
        }
    }
    let (l, m) = (&l, &m);
    let results = run(
        seed,
        &format!("{ands:?} ANDs in {lanes} lanes, {takes:?}"),
        async |halves| {
            let [a, mask_a] = halves.bits(FIRST, a, counts[0]).await?;
            let [b, mask_b] = halves.bits(SECOND, b, counts[0]).await?;
            let [mut l, mask_l] = halves.bits(FIRST, l, counts[1]).await?;
            let [mut m, mask_m] = halves.bits(SECOND, m, counts[1]).await?;
            let [mut x, mut y] = [[mask_a, mask_l], [mask_b, mask_m]].map(|masks| masks.concat());
            let fresh = halves.fresh::<u8>(bytes);
            let setup = &mut halves.setup;
            let mut made = vec![0; bytes];
            let mut triples = bit_triples(halves.dealer, 0, counts[0]);
            let (of_first, of_second) = made.split_at_mut(first_bytes);
            let factors = [&x, &y].map(|masks| &masks[..first_bytes]);
            setup
                .bit_products(&mut triples, factors[0], factors[1], counts[0], of_first)
                .await?;
            layers.complete(of_first, [&mut x, &mut y]);
            let [mut of_x, mut of_y] = [&x, &y].map(|masks| masks[first_bytes..].to_vec());
            of_x.resize(products, 0);
            of_y.resize(products, 0);
            layers.factors(
                [&x, &y],
                &mut of_x[second_bytes..],
                &mut of_y[second_bytes..],
            );
            let mut rest = vec![0; products];
            let mut triples = bit_triples(halves.dealer, 1, 8 * products);
            setup
                .bit_products(&mut triples, &of_x, &of_y, 8 * products, &mut rest)
                .await?;
            of_second.copy_from_slice(&rest[..second_bytes]);
            made.iter_mut().zip(&fresh).for_each(|(a, b)| *a ^= b);
            let mut string = vec![0; bits::bytes_for(counts[0] + counts[1])];
            let [mut z, mut w] = [first_bytes, second_bytes].map(|bytes| vec![0; bytes]);
            let online = &mut halves.online;
            let [own_x, own_y] = [&x, &y].map(|masks| &masks[..first_bytes]);
            online.and_shares([&a, &b], [own_x, own_y], &made[..first_bytes], &mut z);
            let masks = Masks {
                operands: [&x, &y],
                products: &made,
            };
            let beside = &rest[second_bytes..];
            layers.shares(online, [&a, &b], [&mut l, &mut m], masks, beside, &mut w);
            bits::put(&mut string, 0, &z, counts[0]);
            bits::put(&mut string, counts[0], &w, counts[1]);
            let count = counts[0] + counts[1];
            online.add_up_bits(&mut string, count).await?;
            bits::take(&string, 0, &mut z, counts[0]);
            bits::take(&string, counts[0], &mut w, counts[1]);
            let to = [FIRST, SECOND];
            let (fresh_z, fresh_w) = fresh.split_at(first_bytes);
            Ok([
                halves.open_bits(&z, fresh_z, counts[0], &to).await?,
                halves.open_bits(&w, fresh_w, counts[1], &to).await?,
            ])
        },
        |me| {
            let to = &[FIRST, SECOND];
            let own = counts[0].div_ceil(128) as u64 + counts[1].div_ceil(128) as u64;
            let setup = [
                Both(2 * first_bytes),
                Both(2 * products),
                Reveal(to, first_bytes),
                Reveal(to, second_bytes),
            ];
            let tell = |from, bytes| Tell(from, bytes);
            let online = [
                tell(FIRST, first_bytes),
                tell(SECOND, first_bytes),
                tell(FIRST, second_bytes),
                tell(SECOND, second_bytes),
                Both(bits::bytes_for(counts[0] + counts[1])),
            ];
            Cost {
                setup: cost(me, own + draw_aes(bytes), &setup),
                online: cost(me, 0, &online),
            }
        },
    );
    let and = |x: &[u8], y: &[u8]| -> Vec<u8> { x.iter().zip(y).map(|(x, y)| x & y).collect() };
    let first = and(a, b);
    let completed = |l: &[u8], takes: &[Take]| {
        let mut all = l.to_vec();
        for take in takes {
            let mut result = picked(&first, &[take.from], lanes);
            let own = picked(&all, &[take.and], lanes);
            result.iter_mut().zip(own).for_each(|(a, b)| *a ^= b);
            bits::put(&mut all, take.and as usize * lanes, &result, lanes);
        }
        all
    };
    let [x, y] = [(l, 0), (m, 1)].map(|(l, operand)| completed(l, &takes.operands()[operand]));
    let expected = [Some(first.clone()), Some(and(&x, &y))];
    assert_eq!(
        results,
        [expected.clone(), expected],
        "{lanes} lanes, {takes:?}"
    );
}

/// Cost of a job where each party has one input of the given bytes, and results of `fresh` bytes are opened to
/// both.
fn job_cost(me: Party, [first, second]: [usize; 2], setup: usize, fresh: usize) -> Cost {
    let both = [FIRST, SECOND];
    let own = [first, second][me.index()];
    let setup: Vec<Step<'_>> = [setup]
        .into_iter()
        .filter(|&bytes| bytes > 0)
        .map(Both)
        .chain([Reveal(&both, fresh)])
        .collect();
    let inputs = [Tell(FIRST, first), Tell(SECOND, second), Both(fresh)];
    Cost {
        setup: cost(me, draw_aes(own) + draw_aes(fresh), &setup),
        online: cost(me, 0, &inputs),
    }
}

fn products_of<T: Ring>(seed: u64, count: usize) {
    let [a, b] = [1, 2].map(|label| values::<T>(seed, label, count));
    let (a, b) = (&a, &b);
    let bytes = count * T::BYTES;
    let results = run(
        seed,
        &format!("{count} x u{}", T::BITS),
        async |halves| {
            let [x, x_mask] = halves.elements(FIRST, a).await?;
            let [y, y_mask] = halves.elements(SECOND, b).await?;
            let fresh = halves.fresh::<T>(count);
            let mut kept = vec![T::ZERO; count];
            let mut triples = halves.dealer.triples(1, count);
            let setup = &mut halves.setup;
            setup
                .products(&mut triples, &x_mask, &y_mask, &mut kept)
                .await?;
            rings::sub_into(&mut kept, &fresh);
            let mut z = vec![T::ZERO; count];
            let online = &mut halves.online;
            online
                .mul([&x, &y], [&x_mask, &y_mask], &kept, &mut z)
                .await?;
            halves.open(&z, &fresh).await
        },
        |me| job_cost(me, [bytes; 2], 2 * bytes, bytes),
    );
    let mut product = a.clone();
    rings::mul_into(&mut product, b);
    assert!(results.iter().all(|opened| *opened == product));
}

fn squares_of<T: Ring>(seed: u64, count: usize) {
    let a = &values::<T>(seed, 1, count);
    let bytes = count * T::BYTES;
    let results = run(
        seed,
        &format!("{count} x u{}", T::BITS),
        async |halves| {
            let [x, mask] = halves.elements(SECOND, a).await?;
            let fresh = halves.fresh::<T>(count);
            let mut kept = vec![T::ZERO; count];
            let mut pairs = halves.dealer.pairs(1, count);
            halves.setup.squares(&mut pairs, &mask, &mut kept).await?;
            rings::sub_into(&mut kept, &fresh);
            let mut z = vec![T::ZERO; count];
            halves.online.square(&x, &mask, &kept, &mut z).await?;
            halves.open(&z, &fresh).await
        },
        |me| {
            let both = [FIRST, SECOND];
            let own = if me == SECOND { draw_aes(bytes) } else { 0 };
            Cost {
                setup: cost(
                    me,
                    own + draw_aes(bytes),
                    &[Both(bytes), Reveal(&both, bytes)],
                ),
                online: cost(me, 0, &[Tell(SECOND, bytes), Both(bytes)]),
            }
        },
    );
    let mut product = a.clone();
    rings::mul_into(&mut product, a);
    assert!(results.iter().all(|opened| *opened == product));
}

fn dots_of<T: Ring>(seed: u64, count: usize) {
    for length in [1, 3, 10] {
        let [a, b] = [1, 2].map(|label| values::<T>(seed, label, count * length));
        let (a, b) = (&a, &b);
        let (wide, bytes) = (count * length * T::BYTES, count * T::BYTES);
        let results = run(
            seed,
            &format!("{count} x {length} x u{}", T::BITS),
            async |halves| {
                let [x, x_mask] = halves.elements(FIRST, a).await?;
                let [y, y_mask] = halves.elements(SECOND, b).await?;
                let fresh = halves.fresh::<T>(count);
                let mut kept = vec![T::ZERO; count];
                let mut triples = halves.dealer.triples(1, count * length);
                let setup = &mut halves.setup;
                setup
                    .dots(&mut triples, &x_mask, &y_mask, length, &mut kept)
                    .await?;
                rings::sub_into(&mut kept, &fresh);
                let mut z = vec![T::ZERO; count];
                let online = &mut halves.online;
                online
                    .dot([&x, &y], [&x_mask, &y_mask], &kept, length, &mut z)
                    .await?;
                halves.open(&z, &fresh).await
            },
            |me| job_cost(me, [wide; 2], 2 * wide, bytes),
        );
        let mut products = a.clone();
        rings::mul_into(&mut products, b);
        let sums = products.chunks(length);
        let sums: Vec<T> = sums
            .map(|part| part.iter().fold(T::ZERO, |sum, x| sum.add(*x)))
            .collect();
        assert!(results.iter().all(|opened| *opened == sums));
    }
}

/// Products whose operands both take a message to share.
fn filled() -> impl Iterator<Item = Product> {
    let products = products().into_iter();
    products.filter(|product| product.lengths().iter().all(|&len| len > 0))
}

fn sums_of<T: Ring>(seed: u64, product: Product) {
    let [left, right, made] = product.lengths();
    let (a, b) = (&values::<T>(seed, 1, left), &values::<T>(seed, 2, right));
    let results = run(
        seed,
        &format!("{product:?} of u{}", T::BITS),
        async |halves| {
            let [x, x_mask] = halves.elements(FIRST, a).await?;
            let [y, y_mask] = halves.elements(SECOND, b).await?;
            let fresh = halves.fresh::<T>(made);
            let mut kept = vec![T::ZERO; made];
            let triple = halves.dealer.product(1, &product);
            let setup = &mut halves.setup;
            setup
                .product_masks(triple, &x_mask, &y_mask, &mut kept)
                .await?;
            rings::sub_into(&mut kept, &fresh);
            let mut z = vec![T::ZERO; made];
            let online = &mut halves.online;
            online
                .product_publics(&product, [&x, &y], [&x_mask, &y_mask], &kept, &mut z)
                .await?;
            halves.open(&z, &fresh).await
        },
        |me| {
            let opened = left + right;
            let [left, right, opened, made] =
                [left, right, opened, made].map(|count| count * T::BYTES);
            job_cost(me, [left, right], opened, made)
        },
    );
    let products = plain(&product, a, b);
    assert!(results.iter().all(|opened| *opened == products));
}

/// Numbers in beta become numbers in alpha.
fn composed<T: Ring>(seed: u64, count: usize) {
    for width in [1, 5, T::BITS] {
        // Bit i of all numbers lies before bit i + 1 of any.
        let total = width * count;
        let a = &plain_bits(seed, 1, total);
        let (input, bytes) = (bits::bytes_for(total), count * T::BYTES);
        let results = run(
            seed,
            &format!("{count} numbers of {width} bits, u{}", T::BITS),
            async |halves| {
                let [x, x_mask] = halves.bits(FIRST, a, total).await?;
                let fresh = halves.fresh::<T>(count);
                let mut shared = halves.dealer.bits::<T>(1, total);
                let flips = halves.setup.flips(&mut shared, &x_mask, total).await?;
                let mut z = vec![T::ZERO; count];
                halves
                    .online
                    .compose(&x, &flips, width, &fresh, &mut z)
                    .await?;
                halves.open(&z, &fresh).await
            },
            |me| {
                let both = [FIRST, SECOND];
                let own = if me == FIRST { draw_aes(input) } else { 0 };
                let setup = [Both(input), Reveal(&both, bytes)];
                Cost {
                    setup: cost(me, own + draw_aes(bytes), &setup),
                    online: cost(me, 0, &[Tell(FIRST, input), Both(bytes)]),
                }
            },
        );
        let bit = |at: usize| T::from_u128(u128::from(a[at / 8] >> (at % 8) & 1));
        let number =
            |j: usize| (0..width).fold(T::ZERO, |sum, i| sum.add(bit(i * count + j).shl(i)));
        let numbers: Vec<T> = (0..count).map(number).collect();
        assert!(
            results.iter().all(|opened| *opened == numbers),
            "{count} of {width}"
        );
    }
}

fn bits_times<T: Ring>(seed: u64, count: usize) {
    let (b, a) = (&plain_bits(seed, 1, count), &values::<T>(seed, 2, count));
    let (input, bytes) = (bits::bytes_for(count), count * T::BYTES);
    let results = run(
        seed,
        &format!("{count} bits times u{}", T::BITS),
        async |halves| {
            let [bits, bit_masks] = halves.bits(FIRST, b, count).await?;
            let [x, x_mask] = halves.elements(SECOND, a).await?;
            let fresh = halves.fresh::<T>(count);
            let mut shared = halves.dealer.bits::<T>(1, count);
            let mut triples = halves.dealer.triples::<T>(2, count);
            let setup = &mut halves.setup;
            let made = setup.bit_masks_times(&mut shared, &mut triples, &bit_masks, &x_mask);
            let (flips, kept) = made.await?;
            let mut z = vec![T::ZERO; count];
            let online = &mut halves.online;
            online
                .bit_times(&bits, (&flips, &kept), [&x, &x_mask], &fresh, &mut z)
                .await?;
            halves.open(&z, &fresh).await
        },
        |me| job_cost(me, [input, bytes], 2 * bytes + input, bytes),
    );
    let bit = |i: usize| T::from_u128(u128::from(b[i / 8] >> (i % 8) & 1));
    let products: Vec<T> = (0..count).map(|i| bit(i).mul(a[i])).collect();
    assert!(results.iter().all(|opened| *opened == products), "{count}");
}

/// Rows of dealt correlated OTs from a sender, as it and as the receiver has them, and its offset.
fn correlated(seed: u64, sender: Party, count: usize) -> (Block, [Vec<Block>; 2]) {
    let label = 90 + 2 * sender.index() as u64;
    let lowest = |block: u128, bit: u128| Block::from(block & !1 | bit);
    let offset = lowest(values::<u128>(seed, label, 1)[0], 1);
    let rows = values::<u128>(seed, label + 1, 2 * count);
    let (zero, choices) = rows.split_at(count);
    let sent: Vec<_> = zero.iter().map(|&row| lowest(row, 0)).collect();
    let received = sent.iter().zip(choices);
    let received = received.map(|(&row, &c)| row ^ (Block::mask(c & 1 == 1) & offset));
    (offset, [sent.clone(), received.collect()])
}

/// Twice, so that the second rows are hashed by numbers of their own.
fn bits_times_bits<T: Ring>(seed: u64, count: usize) {
    let [a, b] = &[1, 2].map(|label| plain_bits(seed, label, count));
    let (input, bytes) = (bits::bytes_for(count), count * T::BYTES);
    let results = run(
        seed,
        &format!("{count} products of bits in u{}", T::BITS),
        async |halves| {
            let me = halves.me();
            let [x, x_mask] = halves.bits(FIRST, a, count).await?;
            let [y, y_mask] = halves.bits(SECOND, b, count).await?;
            let total = |from| bit_pairs_ots(from, count);
            let (offset, [ours, _]) = correlated(seed, me, 2 * total(me));
            let (_, [_, theirs]) = correlated(seed, other(me), 2 * total(other(me)));
            let mut opened = Vec::new();
            for turn in 0..2 {
                let ours = &ours[turn * total(me)..][..total(me)];
                let theirs = &theirs[turn * total(other(me))..][..total(other(me))];
                let rows = (&offset, ours, theirs);
                // Both masks have both parties' bits in the second turn.
                let (x_mask, y_mask) = match turn {
                    0 => (x_mask.clone(), y_mask.clone()),
                    _ => {
                        let mut sum = x_mask.clone();
                        sum.iter_mut().zip(&y_mask).for_each(|(a, b)| *a ^= b);
                        (sum.clone(), sum)
                    }
                };
                let masks = [&x_mask[..], &y_mask[..]];
                let pairs = halves.setup.bit_pairs::<T>(rows, masks, count).await?;
                let fresh = halves.fresh::<T>(count);
                let mut z = vec![T::ZERO; count];
                let sum: Vec<u8> = x.iter().zip(&y).map(|(a, b)| a ^ b).collect();
                let public = match turn {
                    0 => [&x[..], &y[..]],
                    _ => [&sum[..], &sum[..]],
                };
                halves
                    .online
                    .mul_bits(public, &pairs, &fresh, &mut z)
                    .await?;
                opened.push(halves.open(&z, &fresh).await?);
            }
            Ok(opened)
        },
        |me| {
            let all = [FIRST, SECOND];
            let own = draw_aes(input) + 2 * (bit_pairs_aes(me, count) + draw_aes(bytes));
            let sent = [me, other(me)].map(|party| bit_pairs_bytes::<T>(party, count));
            let pairs = PhaseCost {
                bytes_sent: sent[0] as u64,
                bytes_received: sent[1] as u64,
                messages: 1,
                rounds: 1,
                ..PhaseCost::default()
            };
            let opening = cost(me, 0, &[Reveal(&all, bytes)]);
            let mut setup = cost(me, own, &[]);
            for part in [pairs, opening, pairs, opening] {
                setup += part;
            }
            let input = [Tell(FIRST, input), Tell(SECOND, input)];
            let online = cost(me, 0, &[input[0], input[1], Both(bytes), Both(bytes)]);
            Cost { setup, online }
        },
    );
    let bit = |string: &[u8], i: usize| string[i / 8] >> (i % 8) & 1;
    let element = |bit: u8| T::from_u128(bit.into());
    let products: Vec<T> = (0..count).map(|i| element(bit(a, i) & bit(b, i))).collect();
    let sums: Vec<T> = (0..count).map(|i| element(bit(a, i) ^ bit(b, i))).collect();
    for opened in results {
        assert_eq!(opened[0], products, "{count} of {} bits", T::BITS);
        assert_eq!(opened[1], sums, "{count} of {} bits, squared", T::BITS);
    }
}

for_all_widths! {
    products_of_elements => products_of(COUNTS);
    squares_of_elements => squares_of(COUNTS);
    dot_products => dots_of([1, 7, 100]);
    products_of_matrices_and_convolutions => sums_of(filled());
    numbers_from_bits => composed([1, 7, 100]);
    bits_times_elements => bits_times(COUNTS);
    bits_times_bits_as_elements => bits_times_bits([1, 2, 7, 8, 17, 100, 1000]);
}

/// Conversions from A and B take one message of what is masked, and back none.
#[test]
fn between_masked_and_plain_shares() {
    let seed = seed();
    for count in COUNTS {
        let bytes = bits::bytes_for(count);
        let (a, b) = (&values::<u32>(seed, 1, count), &plain_bits(seed, 2, count));
        let results = run(
            seed,
            &format!("{count}"),
            async |halves| {
                let me = halves.me();
                let share = halves.dealer.share(1, a);
                let mut masks = halves.fresh::<u32>(count);
                let public = halves.online.mask(&share, &masks).await?;
                unmasked(me, &public, &mut masks);
                let share = halves.dealer.share_bits(2, b);
                let mut bit_masks = halves.fresh::<u8>(bytes);
                let online = &mut halves.online;
                let public = online.mask_bits(&share, &bit_masks, count).await?;
                unmasked_bits(me, &public, &mut bit_masks);
                bits::clear_tail(&mut bit_masks, count);
                Ok((masks, bit_masks))
            },
            |me| Cost {
                setup: cost(me, draw_aes(4 * count) + draw_aes(bytes), &[]),
                online: cost(me, 0, &[Both(4 * count), Both(bytes)]),
            },
        );
        let [(mut sum, mut bits), (theirs, their_bits)] = results.try_into().unwrap();
        rings::add_into(&mut sum, &theirs);
        bits.iter_mut().zip(&their_bits).for_each(|(a, b)| *a ^= b);
        assert!(sum == *a && bits == *b, "{count}");
    }
}

/// Three parties are told that there are too many, before anything is sent.
#[test]
fn two_parties_only() {
    let failed = World::light(3, seed()).run(|context| async move {
        match Aby2::new(context.enter(Phase::Setup, "setup")) {
            Ok(_) => Ok(String::new()),
            Err(Error::Ended { reason }) => Ok(reason),
            Err(other) => Err(other),
        }
    });
    for (reason, _) in failed {
        assert!(reason.contains("for two parties, not 3"), "{reason}");
    }
}

/// Bits past the end of a peer's string are refused, by name.
#[test]
fn padding_that_is_not_zero_is_refused() {
    let world = World::light(2, seed());
    let results = world.run_over(mesh(2), |context| async move {
        let online = context.enter(Phase::Online, "online");
        if context.me() == SECOND {
            let mut channel = online.channel(FIRST)?;
            channel.send(vec![0xff]).await?;
            return Ok(());
        }
        let mut aby2 = Aby2::new(online)?;
        aby2.mask_bits(&[0], &[0], 7).await.map(drop)
    });
    let error = results[0].as_ref().map(drop).unwrap_err().to_string();
    assert!(
        error.contains("party 1") && error.contains("the padding of its masked bits is not zero"),
        "{error}"
    );
}

/// Flips of pairs of bits past the end are refused, and a message of another length.
#[test]
fn flips_past_the_end_are_refused() {
    let whole = bit_pairs_bytes::<u8>(SECOND, 3);
    for (bytes, problem) in [
        (whole, "the padding of its masked bits is not zero"),
        (whole + 1, "bytes"),
    ] {
        let results = World::light(2, seed()).run_over(mesh(2), |context| async move {
            let setup = context.enter(Phase::Setup, "setup");
            if context.me() == SECOND {
                let mut channel = setup.channel(FIRST)?;
                channel.send(vec![0xff; bytes]).await?;
                return Ok(());
            }
            let rows = |from| vec![Block::ZERO; bit_pairs_ots(from, 3)];
            let (offset, ours, theirs) = (Block::ONES, rows(FIRST), rows(SECOND));
            let mut aby2 = Aby2::new(setup)?;
            let made = aby2.bit_pairs::<u8>((&offset, &ours, &theirs), [&[0], &[0]], 3);
            made.await.map(drop)
        });
        let error = results[0].as_ref().map(drop).unwrap_err().to_string();
        assert!(
            error.contains("party 1") && error.contains(problem),
            "{error}"
        );
    }
}
