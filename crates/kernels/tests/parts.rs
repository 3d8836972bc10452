//! Small parts of the kernels, each by itself: those that have no other caller than their crate are found in `inside`.

use core::array::from_fn;

use madrigal_kernels::ceilings::Cores;
use madrigal_kernels::inside::{
    LIMB, again_and_written, interleave, is_prime, keys_of, pack, packed_bytes, quotient, reduce,
    sub_word, through_planes, unpack,
};
use madrigal_kernels::{
    ANDS_PER_KEY, Block, Kernels, Level, Stretch, blocks_as_bytes, level, marks, opaque,
    words_as_bytes,
};

#[test]
fn bytes_and_words_agree() {
    let value = 0x0f0e_0d0c_0b0a_0908_0706_0504_0302_0100_u128;
    let block = Block::from(value);
    assert_eq!(u128::from(block), value);
    assert_eq!(
        block.to_bytes(),
        core::array::from_fn::<u8, 16, _>(|i| i as u8)
    );
    assert_eq!(Block::from_bytes(block.to_bytes()), block);
    assert_eq!(blocks_as_bytes(&[block]), block.to_bytes());
    assert_eq!(words_as_bytes(&[block.lo(), block.hi()]), block.to_bytes());
    for i in 0..128 {
        assert_eq!(block.bit(i), value >> i & 1 == 1);
    }
}

#[test]
fn a_block_is_redacted() {
    assert_eq!(format!("{:?}", Block::ONES), "Block(..)");
}

#[test]
fn masks_of_bits() {
    assert_eq!(Block::mask(true), Block::ONES);
    assert_eq!(Block::mask(false), Block::ZERO);
}

#[test]
fn names_of_levels_round_trip() {
    for level in Level::ALL {
        assert_eq!(level.name().parse(), Ok(level));
    }
    let error = "sse9".parse::<Level>().unwrap_err().to_string();
    assert!(
        error.contains("sse9") && error.contains("vaes512"),
        "{error}"
    );
}

#[test]
fn the_portable_level_is_always_there() {
    assert!(Kernels::at(Level::Portable).is_some());
    assert!(level().is_available());
    #[cfg(target_arch = "x86_64")]
    assert_eq!(Kernels::at(Level::Neon), None);
}

#[test]
fn marks_change_nothing() {
    let mut value = [1_u64, 2, 3];
    marks::secret(&mut value);
    marks::public(&mut value);
    assert_eq!(value, [1, 2, 3]);
    assert_eq!(marks::secret_bits(&value).unwrap_or(0), 0);
}

#[test]
fn a_share_is_told_of_any_number_of_threads() {
    for threads in [0, 1, 2, 5] {
        let free = Cores::new(threads).free();
        assert!(free > 0.0 && free.is_finite(), "{threads}: {free}");
    }
}

#[test]
fn opaque_values_are_the_same() {
    for value in 0..=u8::MAX {
        assert_eq!(opaque(value), value);
        assert_eq!(again_and_written(value), [value; 2]);
    }
}

#[test]
fn control_bits_are_packed() {
    let word = |seed: u64| seed.wrapping_mul(0x9e37_79b9_7f4a_7c15).rotate_left(29);
    for n in 0..=ANDS_PER_KEY {
        let of_ands = u64::MAX.checked_shr(64 - n as u32).unwrap_or_default();
        let random = |seed| Block::new(word(seed) & of_ands, word(seed + 1) & of_ands);
        let controls = [random(n as u64), random(n as u64 + 2), {
            let two = random(n as u64 + 4).hi();
            Block::new(two, two)
        }];
        let mut bytes = vec![0xff; packed_bytes(n)];
        pack(Block::ZERO, controls, n, &mut bytes);
        assert_eq!(unpack(&bytes), controls, "{n} ANDs");
        // Coins of ANDs that there are not do not show.
        let coins = Block::ONES;
        let wiped = pack(coins, controls, n, &mut bytes);
        assert_eq!(wiped, [Block::ZERO; 3]);
        let [ends, turns, both] = unpack(&bytes);
        let flipped = controls[0] ^ Block::new(of_ands, of_ands);
        assert_eq!([ends, turns, both], [flipped, controls[1], controls[2]]);
    }
}

#[test]
fn bits_are_interleaved() {
    let words = [0x0123_4567_89ab_cdef, 0xfedc_ba98_0000_ffff, 1 << 63 | 1];
    for (i, byte) in interleave(words).into_iter().enumerate() {
        for (k, word) in words.iter().enumerate() {
            assert_eq!(byte >> k & 1, (word >> i & 1) as u8, "bit {i} of word {k}");
        }
        assert_eq!(byte >> 3, 0);
    }
}

/// The S-box from its definition (FIPS 197, section 5.1.1): inversion, then an affine map.
fn sbox(x: u8) -> u8 {
    let multiply = |mut a: u8, b: u8| {
        let mut product = 0;
        for i in 0..8 {
            product ^= if b >> i & 1 == 1 { a } else { 0 };
            a = a << 1 ^ if a & 0x80 == 0 { 0 } else { 0x1b };
        }
        product
    };
    let inverse = (0..=255).find(|&y| multiply(x, y) == 1).unwrap_or(0);
    let rotations = (1..5).fold(inverse, |sum, i| sum ^ inverse.rotate_left(i));
    rotations ^ 0x63
}

#[test]
fn circuit_is_the_sbox() {
    for x in 0..=255 {
        let word = u32::from_le_bytes([x, !x, 0, x ^ 0x55]);
        let expected = word.to_le_bytes().map(sbox);
        assert_eq!(sub_word(word).to_le_bytes(), expected, "x = {x:#x}");
    }
}

#[test]
fn planes_round_trip() {
    let blocks: [[Block; 4]; 2] =
        from_fn(|w| from_fn(|k| Block::from((w * 4 + k + 1) as u128 * (u128::MAX / 1_000_003))));
    assert!(through_planes(&blocks) == blocks);
}

/// Sums of products hardly come to where each of the three reductions leaves most, together above
/// 4p; almost full limbs do for some p whose multiples miss 2^52 by far. Such p need not be prime.
#[test]
fn limbs_that_reduce_least() {
    let near = (10_u64 << LIMB) / 49;
    for p in (near..near + 2000).chain([257, (1 << 50) - 27]) {
        let limbs: Vec<(u64, u64)> = (0..64)
            .map(|i| {
                let word = (64 * p + i).wrapping_mul(0x9e37_79b9_7f4a_7c15);
                let hi = (word % 511) << LIMB | (((1 << LIMB) - 1) - (word >> 24));
                (u64::MAX - (word << 20 >> 24), hi)
            })
            .collect();
        let expected = limbs.iter().map(|&(lo, hi)| {
            let sum = u128::from(lo) + (u128::from(hi) << LIMB);
            (sum % u128::from(p)) as u64
        });
        let expected: Vec<u64> = expected.collect();
        for kernels in Level::available().filter_map(Kernels::at) {
            let (mut lo, mut hi): (Vec<u64>, Vec<u64>) = limbs.iter().copied().unzip();
            let mut out = vec![0; 64];
            reduce(kernels, p, &mut lo, &mut hi, &mut out);
            assert_eq!(out, expected, "{} with p = {p}", kernels.level());
            assert!(lo.iter().chain(&hi).all(|&limb| limb == 0));
        }
    }
}

#[test]
fn quotients_are_those_of_a_division() {
    for p in [257, 65537, (1 << 50) - 27, (1 << 49) + 9] {
        for w in [0, 1, 2, p / 3, p / 2, p - 2, p - 1] {
            let expected = (u128::from(w) << LIMB) / u128::from(p);
            let quotient = quotient(w, p);
            assert_eq!(u128::from(quotient), expected, "{w} / {p}");
            assert!(quotient < 1 << LIMB);
        }
    }
}

#[test]
fn primes_are_told_from_others() {
    let small = (0..2000).filter(|&p| is_prime(p));
    let sieve = (2..2000).filter(|p| (2..*p).all(|d| p % d != 0));
    assert!(small.eq(sieve));
    // Pseudoprimes to the bases 2, 3, 5, 7; and a product of two large primes.
    for composite in [3_215_031_751, 1_000_003 * 1_000_033] {
        assert!(!is_prime(composite), "{composite}");
    }
    assert!(is_prime((1 << 50) - 27));
}

/// Else matrix triples, whose strings have two lengths, would expand a key for each string.
#[test]
fn strings_of_two_lengths_in_turn_keep_their_keys() {
    let mut stretch = Stretch::new(Block::ZERO, 256);
    for index in 0..8 {
        stretch.stretch(index, Block::ZERO, &mut [0; 1024]);
        stretch.stretch(63 - index, Block::ZERO, &mut [0; 512]);
        assert_eq!(keys_of(&stretch), [Some(2), Some(4)]);
    }
}
