//! Operations of protocol R on rings against plain arithmetic, for all widths and for batches of 1, 7,
//! 64, 1,000 and, for some, 100,000 elements; each at its declared cost, and with both copies of each
//! component alike.
#![allow(clippy::unwrap_used)] // tests

mod common;

use common::{dealt, dealt_bits, join, plain, run, signed, values};
use madrigal_core::{Party, Ring};
use madrigal_protocols::replicated::{Convolution, Depth, MatrixShape, RingShares};
use madrigal_testkit::seed;

const COUNTS: [usize; 4] = [1, 7, 64, 1000];
const MANY: usize = 100_000;

macro_rules! for_all_widths {
    ($($test:ident => $check:ident($counts:expr);)*) => {$(
        #[test]
        fn $test() {
            let seed = seed();
            for count in $counts {
                $check::<u8>(seed, count);
                $check::<u16>(seed, count);
                $check::<u32>(seed, count);
                $check::<u64>(seed, count);
                $check::<u128>(seed, count);
            }
        }
    )*};
}

for_all_widths! {
    inputs_linear_operations_and_openings => linear(COUNTS.into_iter().chain([MANY]));
    products => multiply(COUNTS.into_iter().chain([MANY]));
    dot_products => dots(COUNTS);
    truncations => truncate(COUNTS);
    comparisons => compare(COUNTS);
    equality => equal(COUNTS);
    bits_there_and_back => decompose(COUNTS);
    bits_as_elements => inject(COUNTS);
    random_values => random(COUNTS);
}

/// Batches of many blocks and pieces.
#[test]
fn long_batches() {
    let seed = seed();
    compare::<u64>(seed, MANY);
    compare::<u8>(seed, 2 * MANY);
    equal::<u64>(seed, MANY);
    decompose::<u32>(seed, MANY);
    inject::<u64>(seed, MANY);
    truncate::<u64>(seed, MANY);
    dots::<u64>(seed, MANY);
}

#[test]
fn empty_batches_take_no_message() {
    let seed = seed();
    multiply::<u64>(seed, 0);
    truncate::<u64>(seed, 0);
    compare::<u64>(seed, 0);
    equal::<u64>(seed, 0);
    decompose::<u64>(seed, 0);
    inject::<u64>(seed, 0);
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
            let both = RingShares::concat(&[&sum, &z]);
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

#[test]
fn matrix_products() {
    let seed = seed();
    for (rows, inner, columns) in [(1, 1, 1), (3, 5, 7), (130, 9, 33), (300, 2, 65), (2, 0, 3)] {
        let shape = MatrixShape {
            rows,
            inner,
            columns,
        };
        matrices::<u8>(seed, shape);
        matrices::<u16>(seed, shape);
        matrices::<u32>(seed, shape);
        matrices::<u64>(seed, shape);
        matrices::<u128>(seed, shape);
    }
}

fn matrices<T: Ring>(seed: u64, shape: MatrixShape) {
    let about = format!("{shape:?}, {} bits", T::BITS);
    let MatrixShape {
        rows,
        inner,
        columns,
    } = shape;
    let (x, y) = (
        values::<T>(seed, 0, rows * inner),
        values::<T>(seed, 1, inner * columns),
    );
    let (xs, ys) = (dealt(seed, 0, &x), dealt(seed, 1, &y));
    let results = run(
        seed,
        &about,
        async |rings| {
            let me = rings.me().index();
            rings.matrix_product(&xs[me], &ys[me], shape).await
        },
        |tally| tally.matrix_product::<T>(shape),
    );
    let element = |i: usize| {
        let (row, column) = (i / columns, i % columns);
        (0..inner).fold(T::ZERO, |sum, k| {
            sum.add(x[row * inner + k].mul(y[k * columns + column]))
        })
    };
    let expected: Vec<T> = (0..rows * columns).map(element).collect();
    assert!(plain(&results) == expected, "{about}");
}

#[test]
fn convolutions() {
    let seed = seed();
    for (image, filter, stride, padding) in [
        ([1, 1], [1, 1], [1, 1], [0, 0]),
        ([5, 7], [3, 2], [1, 1], [0, 0]),
        ([6, 6], [3, 3], [2, 1], [1, 1]),
        ([4, 9], [5, 3], [1, 3], [2, 0]),
        ([64, 60], [3, 3], [1, 1], [1, 1]),
    ] {
        let shape = Convolution {
            channels: 3,
            image,
            filters: 4,
            filter,
            stride,
            padding,
        };
        convolve::<u8>(seed, shape);
        convolve::<u32>(seed, shape);
        convolve::<u64>(seed, shape);
        convolve::<u128>(seed, shape);
    }
}

fn convolve<T: Ring>(seed: u64, shape: Convolution) {
    let about = format!("{shape:?}, {} bits", T::BITS);
    let [image_len, filters_len, output_len] = shape.lengths();
    let (image, filters) = (
        values::<T>(seed, 0, image_len),
        values::<T>(seed, 1, filters_len),
    );
    let (xs, ys) = (dealt(seed, 0, &image), dealt(seed, 1, &filters));
    let results = run(
        seed,
        &about,
        async |rings| {
            let me = rings.me().index();
            rings.convolve(&xs[me], &ys[me], &shape).await
        },
        |tally| tally.convolve::<T>(&shape),
    );
    let [rows, columns] = shape.output();
    let mut expected = Vec::with_capacity(output_len);
    for o in 0..shape.filters {
        for r in 0..rows {
            for c in 0..columns {
                let mut sum = T::ZERO;
                for i in 0..shape.channels {
                    for y in 0..shape.filter[0] {
                        for x in 0..shape.filter[1] {
                            let at = [r * shape.stride[0] + y, c * shape.stride[1] + x];
                            let inside = |axis: usize| {
                                let at = at[axis].checked_sub(shape.padding[axis])?;
                                (at < shape.image[axis]).then_some(at)
                            };
                            let (Some(row), Some(column)) = (inside(0), inside(1)) else {
                                continue;
                            };
                            let place = (i * shape.image[0] + row) * shape.image[1] + column;
                            let [height, width] = shape.filter;
                            let weight = ((o * shape.channels + i) * height + y) * width + x;
                            sum = sum.add(image[place].mul(filters[weight]));
                        }
                    }
                }
                expected.push(sum);
            }
        }
    }
    assert!(plain(&results) == expected, "{about}");
}

fn depths(count: usize) -> Vec<Option<Depth>> {
    if count > 1000 {
        return vec![None];
    }
    vec![Some(Depth::Ripple), Some(Depth::Tree), None]
}

fn truncate<T: Ring>(seed: u64, count: usize) {
    let x = values::<T>(seed, 0, count);
    let xs = dealt(seed, 0, &x);
    for by in [0, 1, T::BITS / 2, T::BITS - 1] {
        for depth in depths(count) {
            let about = format!("{count} of {} bits by {by}, {depth:?}", T::BITS);
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
            let expected: Vec<T> = x
                .iter()
                .map(|&x| T::from_u128((signed(x) >> by) as u128))
                .collect();
            assert!(plain(&results) == expected, "{about}");
        }
        let about = format!("{count} of {} bits by {by}, probably", T::BITS);
        // Numbers of half the width: wrong ones are rare enough for wide rings not to be seen.
        let small: Vec<T> = x
            .iter()
            .map(|&x| T::from_u128((signed(x) >> (T::BITS / 2)) as u128))
            .collect();
        let xs = dealt(seed, 1, &small);
        let results = run(
            seed,
            &about,
            async |rings| {
                let x = &xs[rings.me().index()];
                rings.truncate_probably(x, by).await
            },
            |tally| tally.truncate_probably::<T>(count),
        );
        let got = plain(&results);
        if T::BITS < 64 {
            continue;
        }
        for (&x, &z) in small.iter().zip(&got) {
            let error = signed(z) - (signed(x) >> by);
            assert!((0..=1).contains(&error), "{about}: {x:?} gives {z:?}");
        }
    }
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

fn decompose<T: Ring>(seed: u64, count: usize) {
    let x = values::<T>(seed, 0, count);
    let xs = dealt(seed, 0, &x);
    let bits: Vec<Vec<u8>> = (0..T::BITS)
        .map(|i| x.iter().map(|x| x.bit(i)).collect())
        .collect();
    let few = T::BITS / 2 - 1;
    let few_shares = dealt_bits(seed, 0, &bits[..few]);
    let all: Vec<Party> = Party::all(3).collect();
    for depth in depths(count) {
        let about = format!("{count} of {} bits, {depth:?}", T::BITS);
        let results = run(
            seed,
            &about,
            async |rings| {
                rings.set_depth(depth);
                let me = rings.me().index();
                let bits = rings.decompose(&xs[me]).await?;
                let back = rings.compose::<T>(&bits).await?;
                let few = rings.compose::<T>(&few_shares[me]).await?;
                let opened = rings.open_bits(&bits, &all).await?;
                Ok((bits, back, few, opened))
            },
            |tally| {
                tally.set_depth(depth);
                tally.decompose::<T>(count);
                tally.compose::<T>(count);
                tally.compose::<T>(count);
                tally.open_bits(T::BITS, count, &all);
            },
        );
        let got = join(&results.each_ref().map(|results| results.0.clone()));
        assert!(got == bits, "{about}");
        let back = plain(&results.each_ref().map(|results| results.1.clone()));
        assert!(back == x, "{about}");
        let few_back = plain(&results.each_ref().map(|results| results.2.clone()));
        let low = T::ONE.shl(few).sub(T::ONE);
        let expected: Vec<T> = x.iter().map(|x| x.and(low)).collect();
        assert!(few_back == expected, "{about}");
        for (_, _, _, opened) in &results {
            let opened = opened.as_ref().unwrap();
            let stride = count.div_ceil(8);
            for (i, row) in bits.iter().enumerate() {
                for (j, bit) in row.iter().enumerate() {
                    assert_eq!(opened[i * stride + j / 8] >> (j % 8) & 1, *bit, "{about}");
                }
            }
        }
    }
}

fn inject<T: Ring>(seed: u64, count: usize) {
    let about = format!("{count} of {} bits", T::BITS);
    let x = values::<T>(seed, 0, count);
    let y = values::<T>(seed, 1, count);
    let rows: Vec<Vec<u8>> = (0..3)
        .map(|i| values::<u16>(seed, 10 + i, count))
        .map(|row| row.iter().map(|x| x.bit(5)).collect())
        .collect();
    let (xs, ys) = (dealt(seed, 0, &x), dealt(seed, 1, &y));
    let bits = dealt_bits(seed, 0, &rows);
    let results = run(
        seed,
        &about,
        async |rings| {
            let me = rings.me().index();
            let injected = rings.inject::<T>(&bits[me]).await?;
            let times = rings.bit_times(&bits[me].take_row(1), &xs[me]).await?;
            let chosen = rings
                .select(&bits[me].take_row(2), &xs[me], &ys[me])
                .await?;
            Ok([injected, times, chosen])
        },
        |tally| {
            tally.inject::<T>(3 * count);
            tally.bit_times::<T>(count);
            tally.bit_times::<T>(count);
        },
    );
    let [injected, times, chosen] =
        [0, 1, 2].map(|i| plain(&results.each_ref().map(|results| results[i].clone())));
    let element = |bit: &u8| T::from_u128(u128::from(*bit));
    let expected: Vec<T> = rows.iter().flatten().map(element).collect();
    assert!(injected == expected, "{about}");
    for i in 0..count {
        assert_eq!(times[i], x[i].mul(element(&rows[1][i])), "{about}");
        let expected = if rows[2][i] == 1 { x[i] } else { y[i] };
        assert_eq!(chosen[i], expected, "{about}");
    }
}

fn random<T: Ring>(seed: u64, count: usize) {
    let about = format!("{count} of {} bits", T::BITS);
    let results = run(
        seed,
        &about,
        async |rings| {
            let values = rings.random::<T>(count);
            let rows = rings.random_bit_rows(2, count);
            Ok((values, rows, rings.random_bits::<T>(count).await?))
        },
        |tally| {
            tally.random::<T>(count);
            tally.random_bit_rows(2, count);
            tally.random_bits::<T>(count);
        },
    );
    let values = plain(&results.each_ref().map(|results| results.0.clone()));
    let rows = join(&results.each_ref().map(|results| results.1.clone()));
    let bits = plain(&results.each_ref().map(|results| results.2.clone()));
    assert!(bits.iter().all(|bit| bit.to_u128() < 2), "{about}");
    if count >= 1000 {
        // Six standard deviations of a fair coin thrown so often.
        let fair =
            |ones: usize| (2.0 * ones as f64 - count as f64).abs() < 6.0 * (count as f64).sqrt();
        assert!(
            fair(bits.iter().filter(|bit| bit.to_u128() == 1).count()),
            "{about}"
        );
        assert!(
            fair(rows[1].iter().filter(|bit| **bit == 1).count()),
            "{about}"
        );
        let top = T::BITS - 1;
        assert!(
            fair(values.iter().filter(|x| x.bit(top) == 1).count()),
            "{about}"
        );
    }
}

/// How often a probabilistic truncation rounds up, and how often it is wrong, in a ring so narrow that
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
                rings.truncate_probably(x, BY).await
            },
            |tally| tally.truncate_probably::<u8>(RUNS),
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
