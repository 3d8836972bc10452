//! Sums over bands and products of fields: every level against the definition written out in plain words.

use madrigal_kernels::band::{BAND, Band, SPAN, STEP, Slot};
use madrigal_kernels::{Block, Element, Kernels, Level, Prg, field};

fn kernels() -> impl Iterator<Item = Kernels> {
    Level::available().filter_map(Kernels::at)
}

fn random<V: Element>(seed: u64, n: usize) -> Vec<V> {
    let mut out = vec![V::default(); n];
    Prg::new(Block::new(seed, V::BITS as u64)).fill(V::bytes_mut(&mut out));
    out
}

fn sums_of<V: Element>() {
    for (seed, columns) in [(1, BAND), (2, BAND + STEP), (3, 1000), (4, 4096)] {
        let store = random::<V>(seed, columns);
        let mut prg = Prg::new(Block::new(seed, 5));
        let bands: Vec<Band> = (0..67)
            .map(|i| {
                let mut bits = [0; BAND / 64];
                prg.fill_words(&mut bits);
                // None, all, and one.
                match i {
                    0 => bits = [0; BAND / 64],
                    1 => bits = [u64::MAX; BAND / 64],
                    2 => bits = [0, 0, 0, 1 << 63],
                    _ => {}
                }
                let start = prg.next_block().lo() as usize % ((columns - BAND) / STEP + 1) * STEP;
                Band {
                    start: start as u32,
                    bits,
                }
            })
            .collect();
        let expected: Vec<V> = bands
            .iter()
            .map(|band| {
                let ones = (0..BAND).filter(|j| band.bits[j / 64] >> (j % 64) & 1 == 1);
                ones.fold(V::default(), |sum, j| sum ^ store[band.start as usize + j])
            })
            .collect();
        for kernels in kernels() {
            for n in [0, 1, 2, 67] {
                let mut out = random::<V>(9, n);
                kernels.band_sums(&store, &bands[..n], &mut out);
                assert!(
                    out == expected[..n],
                    "{}, {columns} columns",
                    kernels.level()
                );
            }
        }
    }
}

#[test]
fn sums_are_of_the_columns_that_are_one() {
    sums_of::<u64>();
    sums_of::<Block>();
}

fn solved<V: Element>() {
    for words in [0, 1, 2, 5] {
        let n = 64 * words;
        let values = random::<V>(1, n);
        let mut prg = Prg::new(Block::new(words as u64, 6));
        let mut slots: Vec<Slot<V>> = Vec::new();
        for (p, &value) in values.iter().enumerate() {
            let mut bits = [0; SPAN];
            prg.fill_words(&mut bits);
            // The first one stands at the column itself; every fifth column is free.
            bits[0] = (bits[0] | 1 << (p % 64)) & u64::MAX << (p % 64);
            let bits = if p % 5 == 0 { [0; SPAN] } else { bits };
            slots.push(Slot { bits, value });
        }
        for kernels in kernels() {
            let mut store = random::<V>(2, n + BAND);
            kernels.band_solve(&mut store, &slots);
            for (p, slot) in slots.iter().enumerate() {
                let ones = (0..64 * SPAN).filter(|j| slot.bits[j / 64] >> (j % 64) & 1 == 1);
                let sum = ones.fold(V::default(), |sum, j| sum ^ store[p / 64 * 64 + j]);
                let right = if p % 5 == 0 {
                    store[p] == slot.value
                } else {
                    sum == slot.value
                };
                assert!(right, "{}, column {p} of {n}", kernels.level());
            }
            assert!(store[n..] == random::<V>(2, n + BAND)[n..]);
        }
    }
}

#[test]
fn systems_are_solved_from_the_last_column_on() {
    solved::<u64>();
    solved::<Block>();
}

#[test]
#[should_panic(expected = "multiples of 8")]
fn rows_that_begin_elsewhere_are_refused() {
    let bands = [Band {
        start: 4,
        bits: [1; BAND / 64],
    }];
    Kernels::detect().band_sums(&[0_u64; 512], &bands, &mut [0]);
}

#[test]
#[should_panic(expected = "has no band of 256")]
fn rows_that_end_elsewhere_are_refused() {
    let bands = [Band {
        start: 264,
        bits: [1; BAND / 64],
    }];
    Kernels::detect().band_sums(&[0_u64; 512], &bands, &mut [0]);
}

/// Products by the definition: sums of shifted polynomials, reduced bit by bit.
fn word_product(a: u64, b: u64) -> u64 {
    let mut product = 0;
    for i in (0..64).rev() {
        // Times x, then plus a.
        let carry = product >> 63;
        product = (product << 1) ^ (carry * 0b11011) ^ (a * (b >> i & 1));
    }
    product
}

fn product(a: Block, b: Block) -> Block {
    // (a0 + a1 y) (b0 + b1 y) with y^2 = x y + 1.
    let [low, high] = [word_product(a.lo(), b.lo()), word_product(a.hi(), b.hi())];
    let cross = word_product(a.lo(), b.hi()) ^ word_product(a.hi(), b.lo());
    Block::new(low ^ high, cross ^ word_product(high, 2))
}

#[test]
fn products_are_those_of_the_field() {
    let ends = [0, 1, 2, 1 << 63, u64::MAX];
    let mut blocks: Vec<Block> = ends
        .iter()
        .flat_map(|&a| ends.map(|b| Block::new(a, b)))
        .collect();
    blocks.extend(random::<Block>(3, 40));
    let words: Vec<u64> = blocks.iter().map(|block| block.lo()).collect();
    for kernels in kernels() {
        for &factor in &blocks {
            let before = random::<Block>(4, blocks.len());
            let mut out = before.clone();
            kernels.field_multiply_add(factor, &blocks, &mut out);
            let mut scaled = before.clone();
            kernels.field_multiply_add(factor, &words, &mut scaled);
            for (i, &before) in before.iter().enumerate() {
                assert!(
                    out[i] == before ^ product(factor, blocks[i]),
                    "{}",
                    kernels.level()
                );
                let word = Block::new(words[i], 0);
                assert!(
                    scaled[i] == before ^ product(factor, word),
                    "{}",
                    kernels.level()
                );
            }
        }
    }
    for kernels in kernels() {
        for n in [0, 1, 2, 3, 7, 8, 9, blocks.len()] {
            let factors = random::<Block>(6, n);
            let by = |x: &dyn Fn(usize) -> Block| {
                (0..n).fold(Block::ZERO, |sum, i| sum ^ product(factors[i], x(i)))
            };
            let of_blocks = kernels.field_inner_product(&factors, &blocks[..n]);
            let of_words = kernels.field_inner_product(&factors, &words[..n]);
            assert!(of_blocks == by(&|i| blocks[i]), "{n} {}", kernels.level());
            let word = |i: usize| Block::new(words[i], 0);
            assert!(of_words == by(&word), "{n} {}", kernels.level());
        }
    }
    for &a in &blocks {
        assert!(field::times_x(a) == product(a, Block::new(2, 0)));
        assert!(field::times_y(a) == product(a, Block::new(0, 1)));
    }
}

/// A field: a to the power 2^128 is a and, but for 0 and 1, no smaller power of the form 2^2^i is unless a is in a smaller field;
/// a times a to the power 2^128 - 2 is 1.
#[test]
fn every_element_but_zero_has_an_inverse() {
    let kernels = Kernels::detect();
    for a in random::<Block>(5, 20) {
        let (mut power, mut inverse) = (a, Block::new(1, 0));
        for i in 1..=128 {
            power = kernels.field_product(power, power);
            if i < 128 {
                inverse = kernels.field_product(inverse, power);
            }
            // A random element lies in no smaller field.
            assert_eq!(power == a, i == 128, "2^{i}");
        }
        assert!(kernels.field_product(inverse, a) == Block::new(1, 0));
    }
    // Words are a field by themselves.
    for a in random::<u64>(6, 20) {
        let mut power = Block::new(a, 0);
        for i in 1..=64 {
            power = kernels.field_product(power, power);
            assert_eq!((power == Block::new(a, 0), power.hi()), (i == 64, 0));
        }
    }
}
