//! Conversions of protocol R between rings and bits, and random values, for all widths and for batches
//! of 1, 7, 64, 1,000 and 100,000 elements; each at its declared cost, and with both copies
//! of each component alike.
#![allow(clippy::unwrap_used)] // tests

use crate::common::{dealt, dealt_bits, depths, join, plain, run, values};
use madrigal_core::{Party, Ring};
use madrigal_testkit::seed;

const COUNTS: [usize; 5] = [1, 7, 64, 1000, 100_000];

for_all_widths! {
    bits_there_and_back => decompose(COUNTS);
    bits_as_elements => inject(COUNTS);
    random_values => random(COUNTS);
}

#[test]
fn empty_batches() {
    let seed = seed();
    decompose::<u64>(seed, 0);
    inject::<u64>(seed, 0);
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
            tally.inject::<T>(3, count);
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
