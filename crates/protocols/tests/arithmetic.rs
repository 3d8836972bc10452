//! Arithmetic GMW by itself, operation by operation: right against plain arithmetic for all widths, 2, 3
//! and 5 parties and both openings, at the declared cost, with exactly the declared correlations.
#![allow(clippy::unwrap_used)] // tests

use crate::common::additive::{Dealer, everywhere, run, sum, worker};
use crate::common::values;
use madrigal_core::{Cost, Party, Phase, PhaseCost, Ring};
use madrigal_correlations::{Needs, Stock};
use madrigal_correlations_make::{Extension, OtSource};
use madrigal_kernels::rings;
use madrigal_net::MIN_WINDOW;
use madrigal_protocols::arithmetic::{
    ArithmeticGmw, InputSharing, MatrixShape, Product, add_constant, add_constants, scale,
    share_aes_blocks,
};
use madrigal_protocols::{Opening, Rounds};
use madrigal_testkit::{World, seed};

const COUNTS: [usize; 4] = [0, 1, 7, 1000];

for_all_widths! {
    inputs_linear_operations_and_openings => linear(COUNTS);
    products => multiply(COUNTS);
    squares => square(COUNTS);
    dot_products => dots(COUNTS);
    everything_from_made_correlations => made([1, 9]);
}

/// The inputs of two parties, in pieces; then what needs no message; then openings to all, some, one.
fn linear<T: Ring>(seed: u64, count: usize) {
    let factor = T::from_u128(0x1234_5678_9abc_def1_0123_4567_89ab_cdef);
    let [x, y, public] = [0, 1, 2].map(|label| values::<T>(seed, label, count));
    let expected: Vec<T> = (0..count)
        .map(|i| {
            let sum = x[i].add(y[i]).mul(factor).sub(x[i]).add(public[i]);
            sum.mul(public[i]).add(factor)
        })
        .collect();
    everywhere(seed, |(seed, parties, opening)| {
        let all: Vec<Party> = Party::all(parties).collect();
        let receivers = [&all[..], &all[1..], &all[parties - 1..], &all[..1]];
        let (x, y, public) = (&x, &y, &public);
        let results = World::light(parties, seed).run(|context| async move {
            let me = context.me();
            let online = context.enter(Phase::Online, "online");
            let mut inputs = InputSharing::of_everyone(&online.step("inputs"))?;
            let mut shares = Vec::new();
            for (owner, input) in [x, y].into_iter().enumerate() {
                let mut share = if me.index() == owner {
                    input.clone()
                } else {
                    vec![factor; count] // what stands there does not matter
                };
                assert_eq!(inputs[owner].owner().index(), owner);
                let (first, second) = share.split_at_mut(count / 3);
                inputs[owner].share_elements(first);
                inputs[owner].share_elements(second);
                shares.push(share);
            }
            let mut z = shares[0].clone();
            rings::add_into(&mut z, &shares[1]);
            scale(&mut z, factor);
            rings::sub_into(&mut z, &shares[0]);
            add_constants(me, &mut z, public);
            rings::mul_into(&mut z, public);
            add_constant(me, &mut z, factor);
            let mut gmw = ArithmeticGmw::new(online, opening)?;
            let mut opened = Vec::new();
            for to in receivers {
                let values = gmw.open(&z, to).await?;
                opened.push(values.map(|values| values.to_vec()));
            }
            Ok((z, opened))
        });
        let mut rounds = Rounds::new(parties);
        receivers.iter().for_each(|to| rounds.open(opening, to));
        let shares: Vec<_> = results
            .iter()
            .map(|((share, _), _)| share.clone())
            .collect();
        assert!(sum(&shares) == expected);
        for (me, ((_, opened), spent)) in all.iter().zip(results) {
            let about = format!("{me} of {parties}, {opening}, {count} of {} bits", T::BITS);
            for (to, opened) in receivers.iter().zip(opened) {
                assert_eq!(opened.is_some(), to.contains(me), "{about}");
                assert!(opened.is_none_or(|opened| opened == expected), "{about}");
            }
            let cost =
                |to: &&[Party]| ArithmeticGmw::open_cost::<T>(opening, *me, parties, count, to);
            let opening = receivers.iter().map(cost);
            let mut declared = opening.fold(PhaseCost::default(), |sum, cost| sum + cost);
            declared.rounds = rounds.of(*me);
            for owner in [0, 1].map(Party::new) {
                for piece in [count / 3, count - count / 3] {
                    let bytes = (piece * T::BYTES) as u64;
                    declared.aes_blocks += share_aes_blocks(*me, owner, parties, bytes);
                }
            }
            assert_eq!(spent.online, declared, "{about}");
        }
    });
}

fn multiply<T: Ring>(seed: u64, count: usize) {
    let [x, y] = [0, 1].map(|label| values::<T>(seed, label, count));
    let mut expected = x.clone();
    rings::mul_into(&mut expected, &y);
    everywhere(seed, |world @ (_, parties, opening)| {
        let about = format!("{count} of {} bits", T::BITS);
        let results = run(
            world,
            &about,
            async |gmw, dealer| {
                let [x, y] = [(0, &x), (1, &y)].map(|(label, v)| dealer.share(label, v));
                let mut triples = dealer.triples(2, count);
                let mut z = vec![T::ONE; count];
                // In two calls, which go on in the same triples.
                let half = count / 2;
                for part in [0..half, half..count] {
                    let z = &mut z[part.clone()];
                    gmw.mul(&mut triples, &x[part.clone()], &y[part], z).await?;
                }
                assert!(triples.is_empty());
                Ok(z)
            },
            2,
            |me| {
                let cost = |count| ArithmeticGmw::mul_cost::<T>(opening, me, parties, count);
                cost(count / 2) + cost(count - count / 2)
            },
        );
        assert!(sum(&results) == expected, "{about}");
    });
}

fn square<T: Ring>(seed: u64, count: usize) {
    let x = values::<T>(seed, 0, count);
    let expected: Vec<T> = x.iter().map(|&x| x.mul(x)).collect();
    everywhere(seed, |world @ (_, parties, opening)| {
        let about = format!("{count} of {} bits", T::BITS);
        let results = run(
            world,
            &about,
            async |gmw, dealer| {
                let mut pairs = dealer.pairs(1, count);
                let mut z = vec![T::ONE; count];
                gmw.square(&mut pairs, &dealer.share(0, &x), &mut z).await?;
                assert!(pairs.is_empty());
                Ok(z)
            },
            1,
            |me| ArithmeticGmw::square_cost::<T>(opening, me, parties, count),
        );
        assert!(sum(&results) == expected, "{about}");
    });
}

/// Computes dot products from triples, and from matrix triples: the same result for the same bytes.
fn dots<T: Ring>(seed: u64, count: usize) {
    for length in [1, 3, 17] {
        let about = format!("{count} of length {length}, {} bits", T::BITS);
        let [x, y] = [0, 1].map(|label| values::<T>(seed, label, count * length));
        let dot = |(x, y): (&[T], &[T])| {
            let products = x.iter().zip(y).map(|(&x, &y)| x.mul(y));
            products.fold(T::ZERO, T::add)
        };
        let expected: Vec<T> = x.chunks(length).zip(y.chunks(length)).map(dot).collect();
        let shape = MatrixShape {
            rows: 1,
            inner: length,
            columns: 1,
        };
        let product = Product::Matrices(count, shape);
        everywhere(seed, |world @ (_, parties, opening)| {
            let results = run(
                world,
                &about,
                async |gmw, dealer| {
                    let [x, y] = [(0, &x), (1, &y)].map(|(label, v)| dealer.share(label, v));
                    let mut triples = dealer.triples(2, count * length);
                    let mut z = vec![T::ONE; count];
                    gmw.dot(&mut triples, &x, &y, length, &mut z).await?;
                    assert!(triples.is_empty());
                    let triple = dealer.product(3, &product);
                    let mut same = vec![T::ONE; count];
                    gmw.products(triple, &x, &y, &mut same).await?;
                    Ok((z, same))
                },
                2,
                |me| {
                    ArithmeticGmw::dot_cost::<T>(opening, me, parties, count, length)
                        + ArithmeticGmw::products_cost::<T>(opening, me, parties, &product)
                },
            );
            let (z, same): (Vec<_>, Vec<_>) = results.into_iter().unzip();
            assert!(sum(&z) == expected, "{about}");
            assert!(sum(&same) == expected, "as matrices, {about}");
        });
    }
}

/// All that correlations serve, with those that the parties make: what is made is what is used.
fn made<T: Ring>(seed: u64, count: usize) {
    let shape = MatrixShape {
        rows: 2,
        inner: count,
        columns: 3,
    };
    let mut needs = Needs::new();
    needs.ring_triples::<T>(2 * count);
    needs.square_pairs::<T>(count);
    needs.shared_bits::<T>(2 * count);
    needs.matrix_triples::<T>(shape, 1);
    let needs = &needs;
    let [x, y] = [0, 1].map(|label| values::<T>(seed, label, 3 * count));
    let (x, y) = (&x, &y);
    let bits: Vec<u8> = values::<u8>(seed, 2, count.div_ceil(8));
    let bits = &bits;
    for parties in [2, 3] {
        let results = World::light(parties, seed).run(|context| async move {
            let me = context.me();
            let setup = context.enter(Phase::Setup, "setup");
            let mut source = OtSource::new(&setup, Extension::default()).await?;
            let mut stock = Stock::fill(&mut source, needs, &|_| {}).await?;
            let mut gmw = worker(&context, Opening::Direct)?;
            let dealer = Dealer { seed, parties, me };
            let [x, y] = [(0, x), (1, y)].map(|(label, v)| dealer.share(label, v));
            let b = dealer.share_bits(2, bits);
            let mut triples = stock.ring_triples::<T>(2 * count)?;
            let mut shared = stock.shared_bits::<T>(2 * count)?;
            let mut z: [Vec<T>; 4] = std::array::from_fn(|_| vec![T::ZERO; count]);
            gmw.mul(&mut triples, &x[..count], &y[..count], &mut z[0])
                .await?;
            let mut pairs = stock.square_pairs::<T>(count)?;
            gmw.square(&mut pairs, &x[..count], &mut z[1]).await?;
            gmw.inject(&mut shared, &b, &mut z[2]).await?;
            let x = &x[..2 * count];
            gmw.bit_times(&mut shared, &mut triples, &b, &x[..count], &mut z[3])
                .await?;
            assert!(triples.is_empty() && shared.is_empty());
            let mut product = vec![T::ZERO; 6];
            let matrix = stock.matrix_triple::<T>(shape)?;
            gmw.products(matrix, x, &y, &mut product).await?;
            let mut z = z.concat();
            z.extend(product);
            Ok(z)
        });
        let mut expected = x[..count].to_vec();
        rings::mul_into(&mut expected, &y[..count]);
        expected.extend(x[..count].iter().map(|&x| x.mul(x)));
        let bit = |i: usize| T::from_u128(u128::from(bits[i / 8] >> (i % 8) & 1));
        expected.extend((0..count).map(bit));
        expected.extend((0..count).map(|i| x[i].mul(bit(i))));
        let mut product = vec![T::ZERO; 6];
        rings::multiply_add(&x[..2 * count], y, &mut product, count, 3);
        expected.extend(product);
        let shares: Vec<_> = results.iter().map(|(share, _)| share.clone()).collect();
        assert!(sum(&shares) == expected, "{count} of {} bits", T::BITS);
    }
}

/// Vectors of several windows, opened to parties that then send each other more than these take.
#[test]
fn openings_longer_than_a_window() {
    let seed = seed();
    let count = 3 * MIN_WINDOW as usize / 8;
    let x = values::<u64>(seed, 0, count);
    let all: Vec<Party> = Party::all(3).collect();
    for opening in [Opening::Direct, Opening::Relay] {
        for to in [&all[..], &all[1..]] {
            let world = World::light(3, seed).with_limits(|limits| limits.window = MIN_WINDOW);
            let results = world.run(|context| {
                let x = &x;
                async move {
                    let dealer = Dealer {
                        seed,
                        parties: 3,
                        me: context.me(),
                    };
                    let share = dealer.share(0, x);
                    worker(&context, opening)?.open(&share, to).await
                }
            });
            for (me, (opened, spent)) in all.iter().zip(results) {
                assert_eq!(opened.is_some(), to.contains(me));
                assert!(opened.is_none_or(|opened| *opened == x));
                let mut rounds = Rounds::new(3);
                rounds.open(opening, to);
                let online = PhaseCost {
                    rounds: rounds.of(*me),
                    ..ArithmeticGmw::open_cost::<u64>(opening, *me, 3, count, to)
                };
                let setup = PhaseCost::default();
                assert_eq!(spent, Cost { setup, online }, "{me}, {opening} to {to:?}");
            }
        }
    }
}

#[test]
fn debug_shows_no_shares() {
    World::light(2, seed()).run(|context| async move {
        let me = context.me();
        let dealer = Dealer {
            seed: 1,
            parties: 2,
            me,
        };
        let shape = MatrixShape {
            rows: 1,
            inner: 1,
            columns: 2,
        };
        let mut gmw = worker(&context, Opening::Direct)?;
        let x = dealer.share(0, &[0x1234_5678_9abc_def0_u64]);
        let masked = gmw.mask(dealer.matrices(1, shape), &x).await?;
        let shown = format!("{masked:?}");
        assert!(shown.ends_with("2 columns left)"), "{shown}");
        assert!(format!("{gmw:?}").ends_with("job/arithmetic), direct)"));
        Ok(())
    });
}
