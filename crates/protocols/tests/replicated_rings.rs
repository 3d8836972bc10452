//! Arithmetic and comparisons of protocol R on rings against plain arithmetic, for all widths and for
//! batches of 1, 7, 64, 1,000 and 100,000 elements; each at its declared cost, and with both copies of each
//! component alike.
#![allow(clippy::unwrap_used)] // tests

use crate::common::{dealt, depths, join, plain, run, signed, values, worker};
use madrigal_core::{Party, Phase, Ring};
use madrigal_kernels::{Block, Prg, meter::unmetered, rings};
use madrigal_protocols::replicated::{Depth, RingShares, RingView, Tally};
use madrigal_testkit::{World, seed};

const COUNTS: [usize; 5] = [1, 7, 64, 1000, 100_000];

for_all_widths! {
    inputs_linear_operations_and_openings => linear(COUNTS);
    products => multiply(COUNTS);
    dot_products => dots(COUNTS);
    truncations => truncate(COUNTS);
    comparisons => compare(COUNTS);
    equality => equal(COUNTS);
}

#[test]
fn empty_batches_take_no_message() {
    let seed = seed();
    multiply::<u64>(seed, 0);
    truncate::<u64>(seed, 0);
    compare::<u64>(seed, 0);
    equal::<u64>(seed, 0);
}

fn map2<T: Ring, R>(x: &[T], y: &[T], f: impl Fn(T, T) -> R) -> Vec<R> {
    x.iter().zip(y).map(|(&x, &y)| f(x, y)).collect()
}

fn linear<T: Ring>(seed: u64, count: usize) {
    let about = format!("{count} of {} bits", T::BITS);
    // Party p puts in `counts[p]` elements; linear operations use the first ones.
    let counts = [count, count + 3, count];
    let inputs: [Vec<T>; 3] =
        std::array::from_fn(|owner| values(seed, owner as u64, counts[owner]));
    let public: Vec<T> = values(seed, 7, count);
    let factor = T::from_u128(0x1234_5678_9abc_def1_0123_4567_89ab_cdef);
    let to = [Party::new(0), Party::new(2)];
    let all: Vec<Party> = Party::all(3).collect();
    let results = run(
        seed,
        &about,
        async |rings| {
            let me = rings.me();
            let [x, y, z] = rings.share(&inputs[me.index()], counts).await?;
            let y = y.slice(0..count);
            let mut sum = x.clone();
            sum.add_assign(&y);
            sum.scale(factor);
            sum.sub_assign(&z);
            sum.add_constants(me, &public);
            sum.scale_each(&public);
            sum.add_constant(me, factor);
            let mut minus = RingShares::constants(me, &public);
            minus.negate();
            sum.add_assign(&minus);
            let both = RingShares::concat(&[(&sum).into(), (&z).into()]);
            let to_all = rings.open(&both, &all).await?;
            let to_two = rings.open(&x, &to).await?;
            let to_one = rings.open(&y, &to[1..]).await?;
            Ok((to_all, to_two, to_one))
        },
        |tally| {
            tally.share::<T>(counts);
            tally.open::<T>(2 * count, &all);
            tally.open::<T>(count, &to);
            tally.open::<T>(count, &to[1..]);
        },
    );
    let [x, y, z] = &inputs;
    let mut expected: Vec<T> = (0..count)
        .map(|i| {
            let sum = x[i].add(y[i]).mul(factor).sub(z[i]).add(public[i]);
            sum.mul(public[i]).add(factor).sub(public[i])
        })
        .collect();
    expected.extend(z);
    for (me, (to_all, to_two, to_one)) in results.into_iter().enumerate() {
        assert!(to_all.unwrap() == expected, "{about}");
        assert_eq!(to_two.is_some(), me != 1);
        assert_eq!(to_one.is_some(), me == 2);
        assert!(to_two.is_none_or(|opened| opened == *x), "{about}");
        assert!(to_one.is_none_or(|opened| opened == y[..count]), "{about}");
    }
}

fn multiply<T: Ring>(seed: u64, count: usize) {
    let about = format!("{count} of {} bits", T::BITS);
    let (x, y) = (values::<T>(seed, 0, count), values::<T>(seed, 1, count));
    let (xs, ys) = (dealt(seed, 0, &x), dealt(seed, 1, &y));
    let results = run(
        seed,
        &about,
        async |rings| {
            let me = rings.me().index();
            let z = rings.mul(&xs[me], &ys[me]).await?;
            rings.square(&z).await
        },
        |tally| {
            tally.mul::<T>(count);
            tally.mul::<T>(count);
        },
    );
    let expected = map2(&x, &y, |x, y| x.mul(y).mul(x.mul(y)));
    assert!(plain(&results) == expected, "{about}");
}

fn dots<T: Ring>(seed: u64, count: usize) {
    for length in [1, 3, 17] {
        let about = format!("{count} of length {length}, {} bits", T::BITS);
        let (x, y) = (
            values::<T>(seed, 0, count * length),
            values::<T>(seed, 1, count * length),
        );
        let (xs, ys) = (dealt(seed, 0, &x), dealt(seed, 1, &y));
        let results = run(
            seed,
            &about,
            async |rings| {
                let me = rings.me().index();
                rings.dot(&xs[me], &ys[me], length).await
            },
            |tally| tally.mul::<T>(count),
        );
        let sum = |(x, y): (&[T], &[T])| {
            let products = x.iter().zip(y).map(|(&x, &y)| x.mul(y));
            products.fold(T::ZERO, T::add)
        };
        let expected: Vec<T> = x.chunks(length).zip(y.chunks(length)).map(sum).collect();
        assert!(plain(&results) == expected, "{about}");
    }
}

fn truncate<T: Ring>(seed: u64, count: usize) {
    let x = values::<T>(seed, 0, count);
    let xs = dealt(seed, 0, &x);
    let halves: Vec<T> = x
        .iter()
        .map(|&x| T::from_u128((signed(x) >> 1) as u128))
        .collect();
    let half_shares = dealt(seed, 1, &halves);
    for by in [0, 1, 5, T::BITS / 2, T::BITS - 2, T::BITS - 1] {
        for depth in depths(count) {
            let about = format!("{count} of {} bits by {by}, {depth:?}", T::BITS);
            if by + 1 < T::BITS {
                let results = run(
                    seed,
                    &about,
                    async |rings| {
                        rings.set_depth(depth);
                        let x = &half_shares[rings.me().index()];
                        rings.truncate_near(x, by).await
                    },
                    |tally| {
                        tally.set_depth(depth);
                        tally.truncate_near::<T>(count, by);
                    },
                );
                assert!(plain(&results) == floors(&halves, by), "near, {about}");
            }
            let results = run(
                seed,
                &about,
                async |rings| {
                    rings.set_depth(depth);
                    let x = &xs[rings.me().index()];
                    rings.truncate(x, by).await
                },
                |tally| {
                    tally.set_depth(depth);
                    tally.truncate::<T>(count, by);
                },
            );
            assert!(plain(&results) == floors(&x, by), "{about}");
        }
        let about = format!("{count} of {} bits by {by}, probabilistic", T::BITS);
        // Numbers of half the width: wrong ones are rare enough for wide rings not to be seen.
        let small: Vec<T> = x
            .iter()
            .map(|&x| T::from_u128((signed(x) >> (T::BITS / 2)) as u128))
            .collect();
        let xs = dealt(seed, 2, &small);
        let results = run(
            seed,
            &about,
            async |rings| {
                let x = &xs[rings.me().index()];
                rings.truncate_probabilistic(x, by).await
            },
            |tally| tally.truncate_probabilistic::<T>(count),
        );
        let got = plain(&results);
        for (&x, &z) in small.iter().zip(&got) {
            let floor = T::from_u128((signed(x) >> by) as u128);
            let error = z.sub(floor);
            // In narrow rings wrong ones are seen too: a wrap of the mask, at its known distance.
            let wrap = if by == 0 || T::BITS > 64 {
                T::ZERO
            } else if signed(x) < 0 {
                T::ONE.shl(T::BITS - by)
            } else {
                T::ZERO.sub(T::ONE.shl(T::BITS - by))
            };
            let right = [T::ZERO, T::ONE, wrap, wrap.add(T::ONE)];
            assert!(right.contains(&error), "{about}: {x:?} gives {z:?}");
        }
    }
}

/// Divided by 2^`by` as signed numbers, rounded down.
fn floors<T: Ring>(x: &[T], by: usize) -> Vec<T> {
    let floor = |&x: &T| T::from_u128((signed(x) >> by) as u128);
    x.iter().map(floor).collect()
}

fn compare<T: Ring>(seed: u64, count: usize) {
    let (x, y) = (values::<T>(seed, 0, count), values::<T>(seed, 1, count));
    let (xs, ys) = (dealt(seed, 0, &x), dealt(seed, 1, &y));
    let near = |values: &[T]| -> Vec<T> {
        let half = |&x: &T| T::from_u128((signed(x) >> 1) as u128);
        values.iter().map(half).collect()
    };
    let (near_x, near_y) = (near(&x), near(&y));
    let (near_xs, near_ys) = (dealt(seed, 2, &near_x), dealt(seed, 3, &near_y));
    for depth in depths(count) {
        let about = format!("{count} of {} bits, {depth:?}", T::BITS);
        let results = run(
            seed,
            &about,
            async |rings| {
                rings.set_depth(depth);
                let me = rings.me().index();
                let negative = rings.negative(&xs[me]).await?;
                let near = rings.less_than_near(&near_xs[me], &near_ys[me]).await?;
                let less = rings.less_than(&xs[me], &ys[me]).await?;
                let unsigned = rings.less_than_unsigned(&xs[me], &ys[me]).await?;
                Ok([negative, near, less, unsigned])
            },
            |tally| {
                tally.set_depth(depth);
                tally.negative::<T>(count);
                tally.negative::<T>(count);
                tally.less_than::<T>(count);
                tally.less_than::<T>(count);
            },
        );
        let zero = vec![T::ZERO; count];
        let less = |x: T, y: T| u8::from(signed(x) < signed(y));
        let expected = [
            map2(&x, &zero, less),
            map2(&near_x, &near_y, less),
            map2(&x, &y, less),
            map2(&x, &y, |x, y| u8::from(x.to_u128() < y.to_u128())),
        ];
        for (i, expected) in expected.into_iter().enumerate() {
            let got = join(&results.each_ref().map(|results| results[i].clone()));
            assert!(got == [expected], "{about}, comparison {i}");
        }
    }
}

fn equal<T: Ring>(seed: u64, count: usize) {
    let about = format!("{count} of {} bits", T::BITS);
    let x = values::<T>(seed, 0, count);
    let mut y = values::<T>(seed, 1, count);
    y.iter_mut().zip(&x).step_by(2).for_each(|(y, x)| *y = *x);
    let (xs, ys) = (dealt(seed, 0, &x), dealt(seed, 1, &y));
    let results = run(
        seed,
        &about,
        async |rings| {
            let me = rings.me().index();
            let zero = rings.is_zero(&xs[me]).await?;
            Ok([zero, rings.equal(&xs[me], &ys[me]).await?])
        },
        |tally| {
            tally.is_zero::<T>(count);
            tally.is_zero::<T>(count);
        },
    );
    let zero = vec![T::ZERO; count];
    for (i, y) in [zero, y].into_iter().enumerate() {
        let got = join(&results.each_ref().map(|results| results[i].clone()));
        let expected = map2(&x, &y, |x, y| u8::from(x == y));
        assert!(got == [expected], "{about}, {i}");
    }
}

/// All numbers of 8 bits by all shifts, under many sharings of each.
#[test]
fn exact_truncations_of_all_bytes() {
    let seed = seed();
    let all: Vec<u8> = (0..=u8::MAX).cycle().take(16 * 256).collect();
    let near: Vec<u8> = (-64_i8..64)
        .map(i8::cast_unsigned)
        .cycle()
        .take(16 * 256)
        .collect();
    let (xs, ys) = (dealt(seed, 0, &all), dealt(seed, 1, &near));
    for by in 0..8 {
        for depth in [Depth::Ripple, Depth::Tree] {
            let results = World::light(3, seed).run(|context| {
                let (xs, ys) = (&xs, &ys);
                async move {
                    let mut rings = worker(&context)?;
                    rings.set_depth(Some(depth));
                    let me = rings.me().index();
                    let x = rings.truncate(&xs[me], by).await?;
                    let y = match by {
                        7 => ys[me].clone(),
                        _ => rings.truncate_near(&ys[me], by).await?,
                    };
                    Ok([x, y])
                }
            });
            let [x, y] =
                [0, 1].map(|i| plain(&[0, 1, 2].map(|party: usize| results[party].0[i].clone())));
            assert!(x == floors(&all, by), "by {by}, {depth:?}");
            assert!(y == floors(&near, by % 7), "near, by {by}, {depth:?}");
        }
    }
}

/// Whoever deals a number chooses its component x_2 and knows all that is public. Were the number n that
/// decides about rounding C - x_2 for a public C, it could have n at the ring's end, where every number
/// above zero is cut wrongly.
#[test]
fn nobody_outside_chooses_how_a_number_is_rounded() {
    const COUNT: usize = 100;
    let results = World::light(3, seed()).run(|context| async move {
        let mut rings = worker(&context)?;
        let id = context
            .enter(Phase::Online, "rings")
            .step("coins")
            .public_id();
        let mut seed = [0; 16];
        seed.copy_from_slice(&id[..16]);
        let mut coins = vec![0_u64; COUNT];
        let fill = || Prg::new(Block::from_bytes(seed)).fill(rings::as_bytes_mut(&mut coins));
        unmetered(fill);
        // x = 1 from x_0 = 0, x_1 and x_2 = C + 1, so that C - x_2 = -1.
        let x2: Vec<u64> = coins.iter().map(|coin| coin.wrapping_add(1)).collect();
        let x1 = x2.iter().map(|x| 1_u64.wrapping_sub(*x)).collect();
        let parts = [vec![0; COUNT], x1, x2];
        let [first, second] = [0, 1].map(|i| parts[(rings.me().index() + i) % 3].clone());
        let x = RingShares::from_components(first, second).unwrap();
        rings.truncate_probabilistic(&x, 8).await
    });
    let [a, b, c] = results.try_into().unwrap();
    let z = plain(&[a.0, b.0, c.0]);
    // Wrong with probability 2^-64; one with 2^-8.
    assert!(z.iter().all(|z| *z < 2), "{z:?}");
    assert!(z.iter().sum::<u64>() < 20, "{z:?}");
}

/// Probabilistic truncations do what `docs/FUNCTIONALITIES.md` says: each result is the function of x, its
/// shares and the coin C; what P_0 and P_1 learn from a result that is opened; and what from many of the
/// same number.
#[test]
fn probabilistic_truncation_computes_and_tells_what_is_written() {
    const COUNT: usize = 200;
    const TIMES: usize = 63;
    const BY: usize = 8;
    let seed = seed();
    let random = values::<u64>(seed, 0, COUNT);
    let x: Vec<u64> = random.iter().map(|x| (signed(*x) >> 44) as u64).collect();
    let xs = dealt(seed, 1, &x);
    let results = run(
        seed,
        "opened again and again",
        async |rings| {
            let x = &xs[rings.me().index()];
            let mut all = Vec::new();
            for _ in 0..TIMES {
                all.push(rings.truncate_probabilistic(x, BY).await?);
            }
            Ok(RingShares::concat(
                &all.iter().map(RingView::from).collect::<Vec<_>>(),
            ))
        },
        |tally| (0..TIMES).for_each(|_| tally.truncate_probabilistic::<u64>(COUNT)),
    );
    // Draws from the same generator once more, in a session of the same seed.
    let coins = World::light(3, seed).run(|context| async move {
        let mut coins = vec![0_u64; TIMES * COUNT];
        if context.me().index() == 1 {
            let context = context.enter(Phase::Online, "rings");
            let mut pair = context.shared_prg(Party::new(0))?;
            pair.fill(rings::as_bytes_mut(&mut coins));
        }
        Ok(coins)
    });
    let coins = &coins[1].0;
    let [[x0, x1], [_, x2], _] = xs.each_ref().map(RingShares::components);
    let cut = 1_i128 << BY;
    let mut rest = vec![[i128::MIN, i128::MAX]; COUNT];
    for (i, z) in plain(&results).into_iter().enumerate() {
        let (coin, i) = (coins[i], i % COUNT);
        let a = coin.wrapping_add(x0[i]).wrapping_add(x1[i]);
        let n = coin.wrapping_sub(x2[i]);
        assert_eq!(z, (a >> BY).wrapping_sub(n >> BY));
        let (x, z) = (signed(x[i]), signed(z));
        // P_1 knows where the interval begins, P_0 where it ends.
        let begin = z * cut - i128::from(n % (1 << BY));
        let end = z * cut + i128::from(a % (1 << BY));
        assert!((begin..begin + cut).contains(&x), "{x} to P_1");
        assert!((end - cut + 1..=end).contains(&x), "{x} to P_0");
        let [low, high] = &mut rest[i];
        (*low, *high) = ((*low).max(begin), (*high).min(begin + cut));
    }
    // Numbers that are left of 2^s are 2^{s+1} / m: 8 here.
    let left: i128 = rest.iter().map(|[low, high]| high - low).sum();
    let mean = left as f64 / COUNT as f64;
    assert!((6.0..11.0).contains(&mean), "{mean} numbers are left");
}

/// The table in the documentation of `replicated/truncate.rs`: bytes for each element that all parties
/// send, and rounds.
#[test]
fn truncations_cost_what_the_table_says() {
    const COUNT: usize = 64;
    let cost = |declare: &dyn Fn(&mut Tally), depth| {
        let each = Party::all(3).map(|me| {
            let mut tally = Tally::new(me);
            tally.set_depth(Some(depth));
            declare(&mut tally);
            tally.total()
        });
        let each: Vec<_> = each.collect();
        let bytes: u64 = each.iter().map(|cost| cost.bytes_sent).sum();
        let rounds = each.iter().map(|cost| cost.rounds).max();
        (bytes as f64 / COUNT as f64, rounds.unwrap())
    };
    let (ripple, tree) = (Depth::Ripple, Depth::Tree);
    let exact = |tally: &mut Tally| tally.truncate::<u64>(COUNT, 16);
    assert_eq!(cost(&exact, ripple), (72.0, 67));
    assert_eq!(cost(&exact, tree), (99.375, 10));
    let near = |tally: &mut Tally| tally.truncate_near::<u64>(COUNT, 16);
    assert_eq!(cost(&near, ripple), (48.0, 19));
    assert_eq!(cost(&near, tree), (53.625, 7));
    let random = |tally: &mut Tally| tally.truncate_probabilistic::<u64>(COUNT);
    assert_eq!(cost(&random, tree), (16.0, 1));
}

/// Counts how often a probabilistic truncation rounds up, and how often it is wrong, in a ring so narrow that
/// both are seen.
#[test]
fn probabilistic_truncation_is_as_bad_as_it_says() {
    let seed = seed();
    const RUNS: usize = 200_000;
    const BY: usize = 3;
    for x in [5_i8, 36, 100, -1, -3, -77] {
        let xs = dealt(seed, u64::from(x as u8), &vec![x as u8; RUNS]);
        let about = format!("{x} by {BY}");
        let results = run(
            seed,
            &about,
            async |rings| {
                let x = &xs[rings.me().index()];
                rings.truncate_probabilistic(x, BY).await
            },
            |tally| tally.truncate_probabilistic::<u8>(RUNS),
        );
        let floor = x >> BY;
        let wrong = if x < 0 { 32 } else { -32 };
        let (mut ups, mut wrongs) = (0, 0);
        for z in plain(&results) {
            let error = (z as i8).wrapping_sub(floor);
            match error {
                0 => {}
                1 => ups += 1,
                _ if error == wrong => wrongs += 1,
                _ if error == wrong + 1 => (ups, wrongs) = (ups + 1, wrongs + 1),
                _ => panic!("{about} gives {}", z as i8),
            }
        }
        let near = |count: usize, probability: f64| {
            let expected = RUNS as f64 * probability;
            (count as f64 - expected).abs() < 6.0 * (expected * (1.0 - probability)).sqrt() + 1.0
        };
        let up = f64::from(x.rem_euclid(1 << BY)) / f64::from(1 << BY);
        assert!(near(ups, up), "{about} is rounded up {ups} times of {RUNS}");
        let wrong = f64::from(x.unsigned_abs()) / 256.0;
        assert!(
            near(wrongs, wrong),
            "{about} is wrong {wrongs} times of {RUNS}"
        );
    }
}
