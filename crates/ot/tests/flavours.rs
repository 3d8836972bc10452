//! OTs of strings, of ring elements, and 1-out-of-n, against their ideal functionalities.

#![allow(
    clippy::unwrap_used,
    reason = "a failed unwrap is a failed test with a location"
)]

use crate::common::{INSTANCE, TestRng, bit, extend, ideal_softspoken, row_hash};
use madrigal_core::{Ring, Zeroizing};
use madrigal_kernels::{Block, blocks_as_bytes};
use madrigal_ot::{
    ExtensionReceiver, ExtensionSender, Fault, Message, OtError, cost,
    flavour::{self, OneOf},
    softspoken::FieldBits,
};
use proptest::prelude::*;

const FIELD: FieldBits = FieldBits::MAX;
const LENGTHS: [usize; 9] = [0, 1, 8, 15, 16, 17, 32, 100, 9000];

struct Strings {
    choices: Vec<u8>,
    k0: Zeroizing<Vec<u8>>,
    k1: Zeroizing<Vec<u8>>,
    k: Zeroizing<Vec<u8>>,
}

/// Random strings of `len` bytes of `m` OTs.
fn random_strings(rng: &mut TestRng, m: usize, len: usize) -> Strings {
    let (mut sender, mut receiver) = ideal_softspoken(rng, FIELD);
    let r = extend(rng, &mut sender, &mut receiver, m);
    let [mut k0, mut k1, mut k] = [(); 3].map(|()| Zeroizing::new(vec![0; m * len]));
    let delta = sender.delta();
    flavour::sender_random_strings(delta, r.sender_tweaks, &r.q, len, &mut k0, &mut k1).unwrap();
    flavour::receiver_random_strings(r.receiver_tweaks, &r.t, len, &mut k).unwrap();
    Strings {
        choices: r.choices,
        k0,
        k1,
        k,
    }
}

#[test]
fn strings() {
    let mut rng = TestRng::new(71);
    for len in LENGTHS {
        for m in [0, 1, 7, 130, 600] {
            let s = random_strings(&mut rng, m, len);
            let chosen = |i: usize| if bit(&s.choices, i) { &s.k1 } else { &s.k0 };
            for i in 0..m {
                let place = i * len..(i + 1) * len;
                assert!(
                    s.k[place.clone()] == chosen(i)[place],
                    "{i} of {m}, {len} bytes"
                );
            }
            if len >= 8 && m > 0 {
                assert!(s.k0 != s.k1);
            }

            let a = rng.bytes(m * len);
            let (mut out, x) = (s.k.clone(), s.k0.clone());
            let message = flavour::sender_correlated_strings(&a, &s.k0, s.k1.clone()).unwrap();
            let cost = cost::correlated_strings(m as u64, len as u64);
            assert_eq!(message.len() as u64, cost.sender_bytes);
            flavour::receiver_correlated_strings(&s.choices, len, &message, &mut out).unwrap();
            for (i, out) in out.iter().enumerate() {
                let expected = x[i] ^ (a[i] * u8::from(bit(&s.choices, i / len)));
                assert_eq!(*out, expected, "byte {i}");
            }

            let (x0, x1) = (rng.bytes(m * len), rng.bytes(m * len));
            let mut out = s.k.clone();
            let message =
                flavour::sender_chosen_strings(&x0, &x1, s.k0.clone(), s.k1.clone()).unwrap();
            let cost = cost::chosen_strings(m as u64, len as u64);
            assert_eq!(message.len() as u64, cost.sender_bytes);
            flavour::receiver_chosen_strings(&s.choices, len, &message, &mut out).unwrap();
            for (i, out) in out.iter().enumerate() {
                let expected = if bit(&s.choices, i / len) {
                    x1[i]
                } else {
                    x0[i]
                };
                assert_eq!(*out, expected, "byte {i}");
            }
        }
    }
}

/// A string is the beginning of any longer one of the same row only below one block; from there on
/// it is stretched, so that no mask is part of another.
#[test]
fn short_strings_begin_the_block() {
    let mut rng = TestRng::new(72);
    let (mut sender, mut receiver) = ideal_softspoken(&mut rng, FIELD);
    let r = extend(&mut rng, &mut sender, &mut receiver, 100);
    let mut block = vec![Block::ZERO; 100];
    row_hash(INSTANCE).hash_blocks(0, &r.t, &mut block);
    let mut whole = vec![0; 1600];
    flavour::receiver_random_strings(r.receiver_tweaks, &r.t, 16, &mut whole).unwrap();
    assert!(whole == blocks_as_bytes(&block));
    let mut rng = TestRng::new(72);
    let (mut sender, mut receiver) = ideal_softspoken(&mut rng, FIELD);
    let r = extend(&mut rng, &mut sender, &mut receiver, 100);
    let mut short = vec![0; 500];
    flavour::receiver_random_strings(r.receiver_tweaks, &r.t, 5, &mut short).unwrap();
    for (whole, short) in whole.chunks(16).zip(short.chunks(5)) {
        assert!(whole.starts_with(short));
    }
}

fn additive<T: Ring>(rng: &mut TestRng, m: usize, each: usize) {
    let s = random_strings(rng, m, each * T::BYTES);
    let words = |bytes: Vec<u8>| -> Vec<T> { bytes.chunks(T::BYTES).map(T::read).collect() };
    let a = words(rng.bytes(m * each * T::BYTES));
    let (mut x, mut out) = (vec![T::default(); m * each], vec![T::default(); m * each]);
    let message = flavour::sender_additive(&a, s.k0, s.k1, &mut x).unwrap();
    let cost = cost::additive(m as u64, each as u64, T::BITS as u64);
    assert_eq!(message.len() as u64, cost.sender_bytes);
    let choices = if each > 0 { &s.choices[..] } else { &[] };
    flavour::receiver_additive(choices, each, &message, s.k, &mut out).unwrap();
    for i in 0..m * each {
        let ra = if bit(&s.choices, i / each) {
            a[i]
        } else {
            T::default()
        };
        assert_eq!(out[i], x[i].add(ra), "element {i}, {} bits", T::BITS);
        assert_eq!(out[i].sub(x[i]), ra);
    }
}

#[test]
fn ring_elements() {
    let mut rng = TestRng::new(73);
    for (m, each) in [(0, 3), (5, 0), (1, 1), (129, 1), (200, 5), (64, 128)] {
        additive::<u8>(&mut rng, m, each);
        additive::<u16>(&mut rng, m, each);
        additive::<u32>(&mut rng, m, each);
        additive::<u64>(&mut rng, m, each);
        additive::<u128>(&mut rng, m, each);
    }
}

/// Multiplication in GF(2^128) bit by bit, the plain way.
fn times(a: u128, b: u128) -> u128 {
    let (mut product, mut a) = (0, a);
    for i in 0..128 {
        if b >> i & 1 == 1 {
            product ^= a;
        }
        a = a << 1 ^ if a >> 127 == 1 { 0x87 } else { 0 };
    }
    product
}

#[test]
fn one_of_n() {
    let mut rng = TestRng::new(74);
    for n in [2usize, 3, 4, 5, 16, 100, 256, 1000] {
        let of = OneOf::new(n).unwrap();
        assert_eq!(of.rows(), (n as f64).log2().ceil() as usize);
        let m = 37usize;
        let (mut sender, mut receiver) = ideal_softspoken(&mut rng, FIELD);
        let indices: Vec<u16> = (0..m)
            .map(|i| if i == 0 { n - 1 } else { rng.block().lo() as usize % n } as u16)
            .collect();
        let rows = m * of.rows();
        let bits = of.choice_bits(&indices).unwrap();
        let (mut t, mut q) = (vec![Block::ZERO; rows], vec![Block::ZERO; rows]);
        let mut u = vec![0; receiver.message_len(rows)];
        let t_tweaks = receiver.extend(&bits, rows, &mut u, &mut t).unwrap();
        let q_tweaks = sender.extend(&u, rows, &mut q).unwrap();
        let mut masks = Zeroizing::new(vec![Block::ZERO; m * n]);
        let mut out = vec![Block::ZERO; m];
        flavour::sender_random_one_of(of, sender.delta(), q_tweaks, &q, &mut masks).unwrap();
        flavour::receiver_random_one_of(of, t_tweaks, &t, &mut out).unwrap();
        let delta = u128::from(sender.delta().expose());
        for i in 0..m {
            // By the definition.
            let own = &q[i * of.rows()..][..of.rows()];
            let sum = (0..of.rows()).fold(0, |sum, l| sum ^ times(own[l].into(), 1 << l));
            let row = (i * of.rows()) as u64;
            for j in 0..n {
                let input = Block::from(sum ^ times(delta, j as u128));
                let expected = row_hash(INSTANCE).hash(row, input);
                assert!(masks[i * n + j] == expected, "mask {j} of OT {i}, n = {n}");
                assert_eq!(masks[i * n + j] == out[i], j == usize::from(indices[i]));
            }
        }

        let messages = rng.blocks(m * n);
        let masked = flavour::sender_chosen_one_of(&messages, masks).unwrap();
        let cost = cost::chosen_one_of(m as u64, of);
        assert_eq!(masked.len() as u64, cost.sender_bytes);
        flavour::receiver_chosen_one_of(of, &indices, &masked, &mut out).unwrap();
        for i in 0..m {
            assert!(
                out[i] == messages[i * n + usize::from(indices[i])],
                "OT {i}, n = {n}"
            );
        }
        let error = flavour::receiver_chosen_one_of(of, &indices, &masked[1..], &mut out);
        let expected = OtError::MessageLength {
            message: Message::MaskedPairs,
            expected: 16 * m * n,
            got: 16 * m * n - 1,
        };
        assert_eq!(error, Err(expected));
        assert_eq!(
            of.choice_bits(&[0, n as u16]),
            Err(OtError::Index { place: 1, n })
        );
    }
    for n in [0, 1, 65537] {
        assert_eq!(OneOf::new(n), Err(OtError::OneOf { got: n }));
    }
    assert_eq!(OneOf::new(65536).unwrap().rows(), 16);
}

#[test]
fn wrong_lengths_are_refused() {
    let keys = || Zeroizing::new(vec![0u8; 24]);
    let length = |expected, got| {
        Err(OtError::MessageLength {
            message: Message::Corrections,
            expected,
            got,
        })
    };
    let mut out = [0u8; 24];
    let correlated = |choices: &[u8], len, message: &[u8], out: &mut [u8]| {
        flavour::receiver_correlated_strings(choices, len, message, out)
    };
    assert_eq!(correlated(&[0], 3, &[0; 25], &mut out), length(24, 25));
    for (choices, len) in [(1, 5), (2, 3), (0, 3), (0, 0)] {
        let error = correlated(&vec![0; choices], len, &[0; 24], &mut out).unwrap_err();
        assert_eq!(error.fault(), Fault::Caller);
    }
    let mut words = [0u64; 3];
    let error = flavour::receiver_additive(&[0], 1, &[0; 23], keys(), &mut words);
    assert_eq!(error, length(24, 23));
    for (choices, each) in [(1, 2), (2, 1), (1, 0)] {
        let error =
            flavour::receiver_additive(&vec![0; choices], each, &[0; 24], keys(), &mut words);
        assert_eq!(error.unwrap_err().fault(), Fault::Caller);
    }
    assert!(flavour::sender_additive(&[0u64; 2], keys(), keys(), &mut words).is_err());
    assert!(flavour::sender_correlated_strings(&[0; 23], &[0; 24], keys()).is_err());
    assert!(flavour::sender_chosen_strings(&[0; 23], &[0; 24], keys(), keys()).is_err());
    assert!(flavour::receiver_chosen_strings(&[0], 3, &[0; 47], &mut out).is_err());
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(60))]

    #[test]
    fn any_bytes_are_an_error_or_strings(
        message: Vec<u8>, len in 0usize..9, ots in 0usize..30, choices in 0usize..5,
    ) {
        let mut out = vec![0; len * ots];
        let fits = message.len() == out.len() && (len == 0 || choices == ots.div_ceil(8));
        let result =
            flavour::receiver_correlated_strings(&vec![0; choices], len, &message, &mut out);
        prop_assert_eq!(result.is_ok(), fits);
        let _ = flavour::receiver_chosen_strings(&vec![0; choices], len, &message, &mut out);
        let mut words = vec![0u16; len * ots];
        let masks = Zeroizing::new(vec![0; 2 * words.len()]);
        let _ = flavour::receiver_additive(&vec![0; choices], len, &message, masks, &mut words);
    }
}
