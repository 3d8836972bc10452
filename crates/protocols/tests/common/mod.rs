//! Three parties with dealt shares, and the plain values that they share.
#![allow(dead_code, unreachable_pub, clippy::unwrap_used)] // each test uses a part of this; helpers

pub mod additive;
pub mod bmr;
pub mod products;

use madrigal_core::{Party, Phase, PhaseCost, Ring};
use madrigal_kernels::{Block, Prg, meter::unmetered, rings};
use madrigal_net::{Context, Result};
use madrigal_protocols::replicated::{
    BitShares, Depth, PARTIES, ReplicatedRings, RingShares, Tally, combine, deal,
};
use madrigal_testkit::World;

/// Random values, among them the ends of the range.
pub fn values<T: Ring>(seed: u64, label: u64, count: usize) -> Vec<T> {
    let mut values = vec![T::ZERO; count];
    let mut prg = Prg::new(Block::new(seed, 1000 + label));
    unmetered(|| prg.fill(rings::as_bytes_mut(&mut values)));
    let top = T::ONE.shl(T::BITS - 1);
    let special = [T::ZERO, T::ZERO.sub(T::ONE), top, top.sub(T::ONE), T::ONE];
    for (i, value) in values.iter_mut().enumerate().skip(5).step_by(3) {
        *value = special[i / 3 % 5];
    }
    values
}

/// Shares of `values`, of which each party of a test takes its own.
pub fn dealt<T: Ring>(seed: u64, label: u64, values: &[T]) -> [RingShares<T>; PARTIES] {
    unmetered(|| deal(values, &mut Prg::new(Block::new(seed, 2000 + label))))
}

/// A worker in a phase of its own.
pub fn worker(context: &Context) -> Result<ReplicatedRings> {
    ReplicatedRings::new(context.enter(Phase::Online, "rings"))
}

/// Runs one operation as all parties; its cost must be the declared one.
pub fn run<R: Send>(
    seed: u64,
    about: &str,
    operation: impl AsyncFn(&mut ReplicatedRings) -> Result<R> + Sync,
    declare: impl Fn(&mut Tally),
) -> [R; PARTIES] {
    let results = World::light(PARTIES, seed).run(|context| {
        let operation = &operation;
        async move { operation(&mut worker(&context)?).await }
    });
    let results: Vec<R> = Party::all(PARTIES)
        .zip(results)
        .map(|(me, (result, spent))| {
            let mut tally = Tally::new(me);
            declare(&mut tally);
            assert_eq!(spent.online, tally.total(), "{me}: {about}");
            assert_eq!(spent.setup, PhaseCost::default(), "{me}: {about}");
            result
        })
        .collect();
    let Ok(results) = results.try_into() else {
        panic!("three results");
    };
    results
}

/// The bits that three parties share, row by row, one per byte; both copies of each must agree.
pub fn join(shares: &[BitShares; PARTIES]) -> Vec<Vec<u8>> {
    let (rows, count) = (shares[0].rows(), shares[0].count());
    let bit = |string: &[u8], i: usize| string[i / 8] >> (i % 8) & 1;
    (0..rows)
        .map(|row| {
            let [x, y, z] = shares.each_ref().map(|shares| shares.row(row));
            (0..count)
                .map(|i| {
                    assert_eq!(bit(x[1], i), bit(y[0], i));
                    assert_eq!(bit(y[1], i), bit(z[0], i));
                    assert_eq!(bit(z[1], i), bit(x[0], i));
                    bit(x[0], i) ^ bit(y[0], i) ^ bit(z[0], i)
                })
                .collect()
        })
        .collect()
}

/// Shares of rows of bits, of which each party takes its own.
pub fn dealt_bits(seed: u64, label: u64, rows: &[Vec<u8>]) -> [BitShares; PARTIES] {
    let count = rows[0].len();
    let stride = count.div_ceil(8);
    let mut plain = vec![0; rows.len() * stride];
    for (row, packed) in rows.iter().zip(plain.chunks_mut(stride.max(1))) {
        for (i, bit) in row.iter().enumerate() {
            packed[i / 8] |= bit << (i % 8);
        }
    }
    let mut prg = Prg::new(Block::new(seed, 3000 + label));
    let mut parts = [plain.clone(), plain.clone(), plain];
    let [v0, v1, v2] = &mut parts;
    unmetered(|| prg.fill(v0));
    unmetered(|| prg.fill(v1));
    for (v2, (v0, v1)) in v2.iter_mut().zip(v0.iter().zip(v1.iter())) {
        *v2 ^= v0 ^ v1;
    }
    std::array::from_fn(|i| {
        BitShares::from_components([&parts[i], &parts[(i + 1) % PARTIES]], rows.len(), count)
            .unwrap()
    })
}

/// The values that three parties share.
pub fn plain<T: Ring>(shares: &[RingShares<T>; PARTIES]) -> Vec<T> {
    combine(shares).unwrap()
}

/// Gives a signed number.
pub fn signed<T: Ring>(x: T) -> i128 {
    (x.to_u128() << (128 - T::BITS)) as i128 >> (128 - T::BITS)
}

/// The depths of adders to try.
pub fn depths(count: usize) -> Vec<Option<Depth>> {
    if count > 1000 {
        return vec![None];
    }
    vec![Some(Depth::Ripple), Some(Depth::Tree), None]
}

/// A test for each operation, with all widths and some counts.
#[macro_export]
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
