//! Garbled bits that become shares of numbers.

use madrigal_core::Ring;
use madrigal_garbling::{Block, GarblingError, Instance, Offset, Planes};
use madrigal_kernels::Prg;

use crate::support::random;

fn instance(stream: u32) -> Instance {
    Instance {
        session: [9; 32],
        garbler: 0,
        evaluator: 1,
        stream,
    }
}

/// Labels of 0, and those of random bits.
fn labels(count: usize, offset: &Offset, random: &mut Prg) -> (Vec<Block>, Vec<Block>, Vec<u8>) {
    let zero: Vec<Block> = (0..count).map(|_| random.next_block()).collect();
    let mut bits = vec![0; count.div_ceil(8)];
    random.fill(&mut bits);
    let mut active = zero.clone();
    offset.encode(&zero, &bits, &mut active);
    (zero, active, bits)
}

fn check<T: Ring>(planes: usize, count: usize, signed: bool, first: u64, random: &mut Prg) {
    let work = Planes {
        planes,
        count,
        signed,
    };
    let offset = Offset::random(random);
    let (zero, active, bits) = labels(work.labels(), &offset, random);
    let (mut ours, mut theirs) = (vec![T::ONE; count], vec![T::ONE; count]);
    let mut table = vec![0; work.table_bytes::<T>()];
    let place = (instance(1), first);
    work.garble(place, &offset, &zero, &mut ours, &mut table)
        .unwrap();
    work.evaluate(place, &active, &table, &mut theirs).unwrap();
    for i in 0..count {
        let mut due = T::ZERO;
        for plane in 0..planes {
            let at = plane * count + i;
            let bit = T::from_u128((bits[at / 8] >> (at % 8) & 1).into()).shl(plane);
            due = match signed && plane + 1 == planes {
                true => due.sub(bit),
                false => due.add(bit),
            };
        }
        assert_eq!(
            ours[i].add(theirs[i]),
            due,
            "{work:?}, {} bits, number {i}",
            T::BITS
        );
    }
}

#[test]
fn shares_add_up_to_the_number() {
    let mut random = random();
    for signed in [false, true] {
        for (planes, count) in [(0, 3), (1, 1), (3, 0), (5, 7), (8, 1030)] {
            check::<u8>(planes, count, signed, 0, &mut random);
            check::<u16>(planes, count, signed, 1 << 40, &mut random);
            check::<u32>(planes, count, signed, 5, &mut random);
            check::<u64>(planes, count, signed, 1023, &mut random);
            check::<u128>(planes, count, signed, 77, &mut random);
        }
        check::<u16>(16, 20, signed, 3, &mut random);
        check::<u32>(32, 40, signed, 4, &mut random);
        check::<u64>(64, 9, signed, 5, &mut random);
        check::<u128>(128, 9, signed, 6, &mut random);
    }
}

/// 80 bytes for a number of 32 bits, where 31 ANDs take 992.
#[test]
fn tables_have_a_row_for_each_bit() {
    let bytes = |planes, signed| {
        let count = 10;
        let work = Planes {
            planes,
            count,
            signed,
        };
        work.table_bytes::<u32>()
    };
    assert_eq!(bytes(32, false), 800);
    assert_eq!(bytes(1, true), 40);
    assert_eq!(bytes(0, false), 0);
}

/// Whatever the bits are, tables are even; and rows of one label, or of a label and its complement, have nothing
/// in common.
#[test]
fn tables_are_even() {
    let mut random = random();
    let offset = Offset::random(&mut random);
    let count = 4000;
    let work = Planes {
        planes: 2,
        count,
        signed: false,
    };
    let one = random.next_block();
    // The second plane is the first, or what it is not.
    let zero = vec![one; 2 * count];
    let mut negated = zero.clone();
    for label in &mut negated[count..] {
        *label ^= offset.expose();
    }
    for zero in [zero, negated] {
        let mut shares = vec![0_u64; count];
        let mut table = vec![0; work.table_bytes::<u64>()];
        work.garble((instance(2), 0), &offset, &zero, &mut shares, &mut table)
            .unwrap();
        let (first, second) = table.split_at(8 * count);
        let sums = first.as_chunks::<8>().0.iter().zip(second.as_chunks().0);
        let sums = sums.map(|(a, b)| u64::from_le_bytes(*a).wrapping_add(u64::from_le_bytes(*b)));
        let shared = shares.iter().copied();
        let words = first
            .as_chunks()
            .0
            .iter()
            .map(|word| u64::from_le_bytes(*word));
        for words in [
            sums.collect::<Vec<_>>(),
            shared.collect(),
            words.collect::<Vec<_>>(),
        ] {
            let ones: u32 = words.iter().map(|word| word.count_ones()).sum();
            let coins = 64.0 * count as f64;
            let off = (2.0 * f64::from(ones) - coins).abs();
            assert!(off <= 8.0 * coins.sqrt(), "{ones} of {coins}");
            let mut sorted = words;
            sorted.sort_unstable();
            sorted.dedup();
            assert_eq!(sorted.len(), count, "a row comes twice");
        }
    }
}

#[test]
fn lengths_must_fit() {
    let mut random = random();
    let offset = Offset::random(&mut random);
    let work = Planes {
        planes: 3,
        count: 2,
        signed: false,
    };
    let place = (instance(3), 0);
    let labels = [Block::ZERO; 6];
    let mut table = vec![0; work.table_bytes::<u16>()];
    let short = work.garble::<u16>(place, &offset, &labels[1..], &mut [0; 2], &mut table);
    let few = work.garble::<u16>(place, &offset, &labels, &mut [0; 1], &mut table);
    let long = work.evaluate::<u16>(place, &labels, &[0; 99], &mut [0; 2]);
    for wrong in [short, few, long] {
        assert!(
            matches!(wrong, Err(GarblingError::Length { .. })),
            "{wrong:?}"
        );
    }
}
