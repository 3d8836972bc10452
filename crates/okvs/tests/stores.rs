//! Stores give back what was put into them, and look random.

use madrigal_kernels::{Block, Level, level, meter};
use madrigal_okvs::{Element, Shape, decode, decode_each, encode};
use proptest::prelude::*;

use crate::{blocks, rng, values};

/// Encodes `n` random keys and decodes them, in another order and among others.
fn back<V: Element + std::fmt::Debug>(seed: u64, n: usize) {
    let shape = Shape::for_keys(n as u64).expect("a shape");
    let (keys, values) = (blocks(seed, n), values::<V>(seed, n));
    let hash = Block::new(seed, 3);
    let store = encode(&shape, hash, &keys, &values, &mut rng(seed)).expect("what fits");
    assert_eq!(store.len(), shape.columns());
    let mut found = vec![V::default(); n];
    decode(&shape, hash, &keys, &store, &mut found).expect("what fits");
    assert!(found == values, "{n} keys, seed {seed}");
    // Others stand between them, and some come twice.
    let asked: Vec<Block> = blocks(seed + 1, n)
        .into_iter()
        .zip(keys.iter().rev())
        .flat_map(|(other, &key)| [other, key, key])
        .collect();
    let mut seen = vec![0_u8; asked.len()];
    decode_each(&shape, hash, &asked, &store, |some| {
        let (places, found) = (some.places, some.values);
        assert!(some.starts.is_sorted() && some.starts.iter().all(|start| start % 8 == 0));
        assert!(
            places
                .iter()
                .zip(some.keys)
                .all(|(&place, &key)| asked[place as usize] == key)
        );
        for (&place, &found) in places.iter().zip(found) {
            seen[place as usize] += 1;
            let (i, other) = (place as usize / 3, place % 3 == 0);
            assert!(
                other != (found == values[n - 1 - i]),
                "place {place}, seed {seed}"
            );
        }
    })
    .expect("what fits");
    assert!(seen.iter().all(|&times| times == 1));
}

#[test]
fn stores_give_back_what_was_encoded() {
    for n in [
        0, 1, 2, 3, 7, 8, 63, 64, 65, 255, 256, 257, 1000, 8191, 8193, 60_000,
    ] {
        back::<u64>(n as u64, n);
        back::<Block>(n as u64, n);
    }
}

/// Several buckets, and a million keys where AES is an instruction.
#[test]
fn large_stores() {
    let portable = level() == Level::Portable;
    back::<u64>(5, if portable { 100_000 } else { 1_000_000 });
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(40))]
    #[test]
    fn any_number_of_keys(seed in any::<u64>(), n in 0_usize..3000) {
        back::<u64>(seed, n);
        back::<Block>(seed, n);
    }
}

/// Neighbours, all of whose bits but few are the same, are keys like any others.
#[test]
fn keys_may_be_alike() {
    let n = 5000;
    let shape = Shape::for_keys(n).unwrap();
    let keys: Vec<Block> = (0..n).map(|i| Block::new(i << 40, 0)).collect();
    let values: Vec<u64> = (0..n).collect();
    let store = encode(&shape, Block::ZERO, &keys, &values, &mut rng(1)).unwrap();
    let mut found = vec![0; n as usize];
    decode(&shape, Block::ZERO, &keys, &store, &mut found).unwrap();
    assert!(found == values);
}

/// Decoding commutes with maps that are linear over the field of two elements.
#[test]
fn decoding_is_linear() {
    let n = 3000;
    let shape = Shape::for_keys(n).unwrap();
    let (a, b) = (
        values::<u64>(1, shape.columns()),
        values::<u64>(2, shape.columns()),
    );
    let map = |a: u64, b: u64| Block::new(a ^ b << 3, a.rotate_left(7) & 0xffff_0000);
    let both: Vec<Block> = a.iter().zip(&b).map(|(&a, &b)| map(a, b)).collect();
    let keys = blocks(3, n as usize);
    let mut found = [vec![0; n as usize], vec![0; n as usize]];
    for (store, found) in [a, b].iter().zip(&mut found) {
        decode(&shape, Block::ONES, &keys, store, found).unwrap();
    }
    let mut mapped = vec![Block::ZERO; n as usize];
    decode(&shape, Block::ONES, &keys, &both, &mut mapped).unwrap();
    for (i, &mapped) in mapped.iter().enumerate() {
        assert!(mapped == map(found[0][i], found[1][i]));
    }
}

/// Each bit of a store is one as often as zero, and so is its sum with its neighbours' at small distances, in columns that
/// keys determine and in those that they leave free; nor do two stores of the same keys and values share their columns.
#[test]
fn stores_of_random_values_look_random() {
    let n = 100_000;
    let shape = Shape::for_keys(n).unwrap();
    let keys = blocks(7, n as usize);
    let fresh = |i| {
        encode(
            &shape,
            Block::new(9, 9),
            &keys,
            &values::<u64>(i, n as usize),
            &mut rng(i),
        )
    };
    let store = fresh(8).unwrap();
    let m = store.len();
    let check = |what: &str, ones: u64, all: usize| {
        let sigmas = (ones as f64 - all as f64 / 2.0) / ((all as f64).sqrt() / 2.0);
        assert!(sigmas.abs() < 5.5, "{what}: {sigmas} standard deviations");
    };
    for bit in 0..64 {
        let ones = store.iter().map(|word| word >> bit & 1).sum();
        check("bits of a place", ones, m);
    }
    for distance in [1, 2, 3, 8, 63, 64, 65, 255, 256, 257] {
        let ones = (distance..m)
            .map(|i| u64::from((store[i] ^ store[i - distance]).count_ones()))
            .sum();
        check("neighbours", ones, 64 * (m - distance));
    }
    for eighth in 0..8 {
        let part = store.iter().skip(eighth).step_by(8);
        check(
            "places of a step",
            part.clone().map(|w| u64::from(w.count_ones())).sum(),
            64 * part.len(),
        );
    }
    let other = fresh(9).unwrap();
    let apart = store
        .iter()
        .zip(other.iter())
        .map(|(a, b)| u64::from((a ^ b).count_ones()))
        .sum();
    check("two stores", apart, 64 * m);
}

/// A store shows nothing of its keys: with one key alone, whose columns a test may look at one by one, each is zero as
/// often as any other one, the free ones and the one that is solved for.
#[test]
fn free_columns_are_drawn() {
    let shape = Shape::for_keys(1).unwrap();
    let (mut same, runs) = (0, 50);
    for seed in 0..runs {
        let encoded = |coins| {
            encode(
                &shape,
                Block::ZERO,
                &blocks(1, 1),
                &values::<u64>(2, 1),
                &mut rng(coins),
            )
            .unwrap()
        };
        let (a, b) = (encoded(2 * seed), encoded(2 * seed + 1));
        same += a.iter().zip(b.iter()).filter(|(a, b)| a == b).count();
        let mut sorted = a.to_vec();
        sorted.sort_unstable();
        assert!(sorted.windows(2).all(|pair| pair[0] != pair[1]));
    }
    assert_eq!(same, 0);
}

#[test]
fn costs_are_what_is_computed() {
    let n = 5000;
    let shape = Shape::for_keys(n).unwrap();
    let (keys, values) = (blocks(1, n as usize), values::<u64>(1, n as usize));
    let mut coins = Fixed(1);
    let (store, blocks) =
        meter::metered(|| encode(&shape, Block::ZERO, &keys, &values, &mut coins));
    assert_eq!(blocks, shape.encode_aes());
    let store = store.unwrap();
    let mut found = vec![0; 77];
    let read = || decode(&shape, Block::ZERO, &keys[..77], &store, &mut found);
    assert_eq!(meter::metered(read), (Ok(()), Shape::decode_aes(77)));
}

/// A generator that computes no AES.
struct Fixed(u64);

impl rand_core::TryRng for Fixed {
    type Error = core::convert::Infallible;

    fn try_next_u32(&mut self) -> Result<u32, Self::Error> {
        Ok(self.try_next_u64()? as u32)
    }

    fn try_next_u64(&mut self) -> Result<u64, Self::Error> {
        self.0 = self.0.wrapping_mul(0x5851_f42d_4c95_7f2d).wrapping_add(1);
        Ok(self.0)
    }

    fn try_fill_bytes(&mut self, bytes: &mut [u8]) -> Result<(), Self::Error> {
        for byte in bytes {
            *byte = (self.try_next_u64()? >> 56) as u8;
        }
        Ok(())
    }
}

impl rand_core::TryCryptoRng for Fixed {}

/// Pins rows and stores: a change here is a change of what both parties must do alike.
#[test]
fn known_answers() {
    let shape = Shape::for_keys(1000).unwrap();
    let store = encode(
        &shape,
        Block::new(1, 2),
        &blocks(3, 1000),
        &values::<u64>(4, 1000),
        &mut Fixed(5),
    )
    .unwrap();
    let sum = store
        .iter()
        .fold(0_u64, |sum, &word| sum.rotate_left(5) ^ word);
    assert_eq!(
        (store.len(), format!("{sum:016x}").as_str()),
        (1344, "833bd88e0659f73b")
    );
}
