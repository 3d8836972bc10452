//! OT extension and flavours over ideal base OTs, against the ideal functionalities.

#![allow(
    clippy::unwrap_used,
    reason = "a failed unwrap is a failed test with a location"
)]

use crate::common::{
    IKNP, INSTANCE, SIZES, TestRng, bit, extend, ideal_base, ideal_extension, iknp_receiver,
    iknp_sender,
};
use madrigal_core::Zeroizing;
use madrigal_kernels::Block;
use madrigal_ot::{
    Delta, ExtensionReceiver, ExtensionSender, Fault, Message, OtError, cost, flavour,
    softspoken::{CHUNK, SoftSpokenReceiver, SoftSpokenSender},
};
use proptest::prelude::*;

#[test]
fn rows_differ_by_choice_times_delta() {
    let mut rng = TestRng::new(11);
    let (mut sender, mut receiver) = ideal_extension(&mut rng);
    for m in SIZES {
        let rows = extend(&mut rng, &mut sender, &mut receiver, m);
        assert_eq!(
            IKNP.message_len(m) as u64,
            cost::softspoken(IKNP, m as u64).receiver_bytes
        );
        assert_eq!(rows.sender_tweaks, rows.receiver_tweaks);
        assert_eq!(rows.sender_tweaks.len(), m);
        for i in 0..m {
            let offset = Block::mask(bit(&rows.choices, i)) & sender.delta().expose();
            assert!(rows.q[i] == rows.t[i] ^ offset, "row {i} of {m}");
        }
    }
}

#[test]
fn random_bits_and_blocks() {
    let mut rng = TestRng::new(12);
    let (mut sender, mut receiver) = ideal_extension(&mut rng);
    for m in SIZES {
        let bytes = m.div_ceil(8);
        let r = extend(&mut rng, &mut sender, &mut receiver, m);
        let (mut k0, mut k1, mut k) = (vec![0; bytes], vec![0; bytes], vec![0; bytes]);
        let delta = sender.delta();
        flavour::sender_random_bits(delta, r.sender_tweaks, &r.q, &mut k0, &mut k1).unwrap();
        flavour::receiver_random_bits(r.receiver_tweaks, &r.t, &mut k).unwrap();
        for i in 0..m {
            let expected = if bit(&r.choices, i) { &k1 } else { &k0 };
            assert_eq!(bit(&k, i), bit(expected, i), "bit {i} of {m}");
        }

        let s = extend(&mut rng, &mut sender, &mut receiver, m);
        let delta = sender.delta();
        let (mut b0, mut b1) = (vec![Block::ZERO; m], vec![Block::ZERO; m]);
        let mut b = vec![Block::ZERO; m];
        flavour::sender_random_blocks(delta, s.sender_tweaks, &s.q, &mut b0, &mut b1).unwrap();
        flavour::receiver_random_blocks(s.receiver_tweaks, &s.t, &mut b).unwrap();
        for i in 0..m {
            let (chosen, other) = if bit(&s.choices, i) {
                (b1[i], b0[i])
            } else {
                (b0[i], b1[i])
            };
            assert!(b[i] == chosen && b[i] != other, "block {i} of {m}");
        }
        if m >= 1000 {
            for (name, bits) in [("k0", &k0), ("k1", &k1), ("k", &k), ("choices", &r.choices)] {
                assert_balanced(name, bits, m);
            }
            let both: Vec<u8> = k0.iter().zip(&k1).map(|(a, b)| a ^ b).collect();
            assert_balanced("k0 ^ k1", &both, m);
        }
    }
}

/// Ones among `m` fair coins stay within five standard deviations of m / 2.
fn assert_balanced(name: &str, bits: &[u8], m: usize) {
    let ones = (0..m).filter(|&i| bit(bits, i)).count() as f64;
    let limit = 2.5 * (m as f64).sqrt();
    assert!(
        (ones - m as f64 / 2.0).abs() < limit,
        "{name}: {ones} ones of {m}"
    );
}

#[test]
fn lowest_bit_of_random_blocks_is_the_random_bit() {
    let m = 1000;
    let run = |blocks: bool| {
        let mut rng = TestRng::new(13);
        let (mut sender, mut receiver) = ideal_extension(&mut rng);
        let r = extend(&mut rng, &mut sender, &mut receiver, m);
        let (mut k0, mut k1) = (vec![0; m.div_ceil(8)], vec![0; m.div_ceil(8)]);
        let delta = sender.delta();
        if blocks {
            let (mut b0, mut b1) = (vec![Block::ZERO; m], vec![Block::ZERO; m]);
            flavour::sender_random_blocks(delta, r.sender_tweaks, &r.q, &mut b0, &mut b1).unwrap();
            for i in 0..m {
                k0[i / 8] |= u8::from(b0[i].bit(0)) << (i % 8);
                k1[i / 8] |= u8::from(b1[i].bit(0)) << (i % 8);
            }
        } else {
            flavour::sender_random_bits(delta, r.sender_tweaks, &r.q, &mut k0, &mut k1).unwrap();
        }
        (k0, k1)
    };
    assert_eq!(run(true), run(false));
}

#[test]
fn fused_bits_equal_rows_then_bits() {
    let m = 2 * CHUNK + 777;
    let bytes = m.div_ceil(8);
    let mut rng = TestRng::new(14);
    let delta = rng.block();
    let (keys, pairs) = ideal_base(&mut rng, delta);
    let sender = || iknp_sender(INSTANCE, delta, &keys);
    let receiver = || iknp_receiver(INSTANCE, &pairs);
    let choices = rng.bytes(bytes);

    let (mut t, mut u, mut k) = (
        vec![Block::ZERO; m],
        vec![0; IKNP.message_len(m)],
        vec![0; bytes],
    );
    let tweaks = receiver().extend(&choices, m, &mut u, &mut t).unwrap();
    flavour::receiver_random_bits(tweaks, &t, &mut k).unwrap();
    let (mut fused_u, mut fused_k) = (vec![0; IKNP.message_len(m)], vec![0; bytes]);
    receiver()
        .extend_bits(&choices, m, &mut fused_u, &mut fused_k)
        .unwrap();
    assert!(u == fused_u && k == fused_k);

    let (mut q, mut k0, mut k1) = (vec![Block::ZERO; m], vec![0; bytes], vec![0; bytes]);
    let mut whole = sender();
    let tweaks = whole.extend(&u, m, &mut q).unwrap();
    flavour::sender_random_bits(whole.delta(), tweaks, &q, &mut k0, &mut k1).unwrap();
    let (mut fused_k0, mut fused_k1) = (vec![0; bytes], vec![0; bytes]);
    sender()
        .extend_bits(&u, m, &mut fused_k0, &mut fused_k1)
        .unwrap();
    assert!(k0 == fused_k0 && k1 == fused_k1);
}

#[test]
fn chunks_sent_one_by_one_are_the_same_message() {
    let m = 3 * CHUNK;
    let mut rng = TestRng::new(15);
    let delta = rng.block();
    let (_, pairs) = ideal_base(&mut rng, delta);
    let choices = rng.bytes(m / 8);
    let (mut t, mut u) = (vec![Block::ZERO; m], vec![0; IKNP.message_len(m)]);
    let mut whole = iknp_receiver(INSTANCE, &pairs);
    let mut tweaks = whole.extend(&choices, m, &mut u, &mut t).unwrap();

    let mut pieces = iknp_receiver(INSTANCE, &pairs);
    for c in 0..3 {
        let (mut tc, mut uc) = (vec![Block::ZERO; CHUNK], vec![0; IKNP.message_len(CHUNK)]);
        let choices = &choices[c * CHUNK / 8..][..CHUNK / 8];
        let got = pieces.extend(choices, CHUNK, &mut uc, &mut tc).unwrap();
        assert_eq!(tweaks.take(CHUNK).unwrap(), got);
        assert!(tc == t[c * CHUNK..][..CHUNK]);
        assert!(uc == u[c * IKNP.message_len(CHUNK)..][..IKNP.message_len(CHUNK)]);
    }
    assert!(tweaks.is_empty());
    let error = tweaks.take(1).unwrap_err();
    assert_eq!(error, OtError::Exhausted { wanted: 1, left: 0 });
}

/// Random bits of `m` OTs: choices, k0, k1, k.
fn random_bits(rng: &mut TestRng, m: usize) -> [Vec<u8>; 4] {
    let (mut sender, mut receiver) = ideal_extension(rng);
    let bytes = m.div_ceil(8);
    let mut choices = rng.bytes(bytes);
    if !m.is_multiple_of(8) {
        // Garbage past the end must not matter.
        choices[bytes - 1] |= 0x80;
    }
    let (mut k0, mut k1, mut k) = (vec![0; bytes], vec![0; bytes], vec![0; bytes]);
    let mut u = vec![0; IKNP.message_len(m)];
    receiver.extend_bits(&choices, m, &mut u, &mut k).unwrap();
    sender.extend_bits(&u, m, &mut k0, &mut k1).unwrap();
    [choices, k0, k1, k]
}

#[test]
fn correlated_bits() {
    let mut rng = TestRng::new(16);
    for m in SIZES {
        let [choices, k0, k1, mut out] = random_bits(&mut rng, m);
        let a = rng.bytes(m.div_ceil(8));
        let mut message = vec![0; m.div_ceil(8)];
        flavour::sender_correlated_bits(m, &a, &k0, &k1, &mut message).unwrap();
        assert_eq!(
            message.len() as u64,
            cost::correlated_bits(m as u64).sender_bytes
        );
        flavour::receiver_correlated_bits(m, &choices, &message, &mut out).unwrap();
        for i in 0..m {
            let expected = bit(&k0, i) ^ (bit(&choices, i) & bit(&a, i));
            assert_eq!(bit(&out, i), expected, "OT {i} of {m}");
        }
    }
}

#[test]
fn precomputed_bits_in_one_round() {
    let mut rng = TestRng::new(17);
    for m in SIZES {
        let bytes = m.div_ceil(8);
        let [random, k0, k1, mut out] = random_bits(&mut rng, m);
        let (a, wanted) = (rng.bytes(bytes), rng.bytes(bytes));
        let mut corrections = vec![0; bytes];
        flavour::sender_correlated_bits(m, &a, &k0, &k1, &mut corrections).unwrap();
        let flips = flavour::choice_flips(m, &random, &wanted).unwrap();
        assert_eq!(
            flips.len() as u64,
            cost::choice_flips(m as u64).receiver_bytes
        );

        let mut x = k0.clone();
        flavour::sender_precomputed_correlated_bits(m, &flips, &mut x, &k1).unwrap();
        let (mut swapped0, mut swapped1) = (k0, k1);
        flavour::swap_bits(m, &flips, &mut swapped0, &mut swapped1).unwrap();
        for i in 0..m {
            let chosen = if bit(&wanted, i) {
                &swapped1
            } else {
                &swapped0
            };
            assert_eq!(bit(&out, i), bit(chosen, i), "swapped OT {i} of {m}");
        }
        flavour::receiver_correlated_bits(m, &wanted, &corrections, &mut out).unwrap();
        for i in 0..m {
            let expected = bit(&x, i) ^ (bit(&wanted, i) & bit(&a, i));
            assert_eq!(bit(&out, i), expected, "OT {i} of {m}");
        }
    }
}

type Masks = (
    Vec<u8>,
    Zeroizing<Vec<Block>>,
    Zeroizing<Vec<Block>>,
    Vec<Block>,
);

/// Random blocks of `m` OTs: choices, k0, k1, k.
fn random_blocks(rng: &mut TestRng, m: usize) -> Masks {
    let (mut sender, mut receiver) = ideal_extension(rng);
    let r = extend(rng, &mut sender, &mut receiver, m);
    let (mut k0, mut k1) = (vec![Block::ZERO; m], vec![Block::ZERO; m]);
    let mut k = vec![Block::ZERO; m];
    let delta = sender.delta();
    flavour::sender_random_blocks(delta, r.sender_tweaks, &r.q, &mut k0, &mut k1).unwrap();
    flavour::receiver_random_blocks(r.receiver_tweaks, &r.t, &mut k).unwrap();
    (r.choices, Zeroizing::new(k0), Zeroizing::new(k1), k)
}

#[test]
fn correlated_chosen_and_precomputed_blocks() {
    let mut rng = TestRng::new(18);
    for m in [0, 1, 127, 128, 129, 1000] {
        let (choices, k0, k1, mut out) = random_blocks(&mut rng, m);
        let a = rng.blocks(m);
        let message = flavour::sender_correlated_blocks(&a, &k0, k1).unwrap();
        assert_eq!(
            message.len() as u64,
            cost::correlated_blocks(m as u64).sender_bytes
        );
        flavour::receiver_correlated_blocks(&choices, &message, &mut out).unwrap();
        for i in 0..m {
            let expected = k0[i] ^ (a[i] & Block::mask(bit(&choices, i)));
            assert!(out[i] == expected, "correlated OT {i} of {m}");
        }

        let (choices, k0, k1, mut out) = random_blocks(&mut rng, m);
        let x: Vec<[Block; 2]> = (0..m).map(|_| [rng.block(), rng.block()]).collect();
        let message = flavour::sender_chosen_blocks(&x, k0, k1).unwrap();
        assert_eq!(
            message.len() as u64,
            cost::chosen_blocks(m as u64).sender_bytes
        );
        flavour::receiver_chosen_blocks(&choices, &message, &mut out).unwrap();
        for i in 0..m {
            assert!(
                out[i] == x[i][usize::from(bit(&choices, i))],
                "chosen OT {i} of {m}"
            );
        }

        let (random, mut k0, mut k1, mut out) = random_blocks(&mut rng, m);
        let wanted = rng.bytes(m.div_ceil(8));
        let flips = flavour::choice_flips(m, &random, &wanted).unwrap();
        flavour::swap_blocks(&flips, &mut k0, &mut k1).unwrap();
        let message = flavour::sender_chosen_blocks(&x, k0, k1).unwrap();
        flavour::receiver_chosen_blocks(&wanted, &message, &mut out).unwrap();
        for i in 0..m {
            assert!(
                out[i] == x[i][usize::from(bit(&wanted, i))],
                "precomputed OT {i} of {m}"
            );
        }
    }
}

#[test]
fn wrong_lengths_are_errors_and_move_nothing() {
    let mut rng = TestRng::new(19);
    let (mut sender, mut receiver) = ideal_extension(&mut rng);
    let mut q = vec![Block::ZERO; 129];
    for got in [0, 1, 2048, 4095, 4097, 8192] {
        let error = sender.extend(&vec![0; got], 129, &mut q).unwrap_err();
        let expected = OtError::MessageLength {
            message: Message::Extension,
            expected: 4096,
            got,
        };
        assert_eq!(error, expected);
        let (mut k0, mut k1) = ([0; 17], [0; 17]);
        assert!(
            sender
                .extend_bits(&vec![0; got], 129, &mut k0, &mut k1)
                .is_err()
        );
    }
    let mut u = vec![0; 4096];
    for (choices, u, rows) in [(16, 4096, 129), (17, 4095, 129), (17, 4096, 128)] {
        let (mut u, mut rows) = (vec![0; u], vec![Block::ZERO; rows]);
        let error = receiver
            .extend(&vec![0; choices], 129, &mut u, &mut rows)
            .unwrap_err();
        assert_eq!(error.fault(), Fault::Caller);
    }
    assert!(
        receiver
            .extend_bits(&[0; 17], 129, &mut u, &mut [0; 16])
            .is_err()
    );
    assert!(sender.extend(&u, 129, &mut [Block::ZERO]).is_err());
    // Both are still in step.
    let rows = extend(&mut rng, &mut sender, &mut receiver, 129);
    let offset = Block::mask(bit(&rows.choices, 128)) & sender.delta().expose();
    assert!(rows.q[128] == rows.t[128] ^ offset);

    assert!(SoftSpokenReceiver::new(INSTANCE, IKNP, &[[Block::ZERO; 2]; 127]).is_err());
    assert!(
        SoftSpokenSender::new(
            INSTANCE,
            IKNP,
            Delta::from_block(Block::ONES),
            &[Block::ZERO; 129],
            &[],
        )
        .is_err()
    );
}

#[test]
fn malformed_corrections_are_refused() {
    let mut out = [0u8; 2];
    let mut blocks = [Block::ZERO; 9];
    let length = |message, expected, got| OtError::MessageLength {
        message,
        expected,
        got,
    };
    let padding = |message| OtError::Padding {
        message,
        used: 1,
        got: 2,
    };
    assert_eq!(
        flavour::receiver_correlated_bits(9, &[0; 2], &[0; 3], &mut out),
        Err(length(Message::Corrections, 2, 3))
    );
    assert_eq!(
        flavour::receiver_correlated_bits(9, &[0; 2], &[0, 2], &mut out),
        Err(padding(Message::Corrections))
    );
    assert_eq!(
        flavour::swap_bits(9, &[0, 2], &mut out, &mut [0; 2]),
        Err(padding(Message::ChoiceFlips))
    );
    assert_eq!(
        flavour::sender_precomputed_correlated_bits(9, &[0, 2], &mut out, &[0; 2]),
        Err(padding(Message::ChoiceFlips))
    );
    assert_eq!(
        flavour::swap_blocks(&[0; 1], &mut blocks, &mut [Block::ZERO; 9]),
        Err(length(Message::ChoiceFlips, 2, 1))
    );
    assert_eq!(
        flavour::receiver_correlated_blocks(&[0; 2], &[0; 143], &mut blocks),
        Err(length(Message::Corrections, 144, 143))
    );
    assert_eq!(
        flavour::receiver_chosen_blocks(&[0; 2], &[0; 289], &mut blocks),
        Err(length(Message::MaskedPairs, 288, 289))
    );
}

/// Semi-honest OT does not notice a flipped bit; it must only do no more than spoil the row it is in.
#[test]
fn a_tampered_message_spoils_its_row_only() {
    let mut rng = TestRng::new(20);
    let (mut sender, mut receiver) = ideal_extension(&mut rng);
    let m = 300usize;
    let choices = rng.bytes(m.div_ceil(8));
    let (mut u, mut t) = (vec![0; IKNP.message_len(m)], vec![Block::ZERO; m]);
    let mut q = t.clone();
    let _ = receiver.extend(&choices, m, &mut u, &mut t).unwrap();
    let (column, row) = (77, 259);
    u[column * 48 + row / 8] ^= 1 << (row % 8);
    let _ = sender.extend(&u, m, &mut q).unwrap();
    let delta = sender.delta().expose();
    for i in 0..m {
        let spoilt = i == row && delta.bit(column);
        let expected = t[i] ^ (Block::mask(bit(&choices, i)) & delta);
        assert_eq!(q[i] != expected, spoilt, "row {i}");
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(40))]

    #[test]
    fn any_sequence_of_calls(seed: u64, sizes in proptest::collection::vec(0usize..700, 1..6)) {
        let mut rng = TestRng::new(seed);
        let (mut sender, mut receiver) = ideal_extension(&mut rng);
        for m in sizes {
            let rows = extend(&mut rng, &mut sender, &mut receiver, m);
            prop_assert_eq!(&rows.sender_tweaks, &rows.receiver_tweaks);
            for i in 0..m {
                let offset = Block::mask(bit(&rows.choices, i)) & sender.delta().expose();
                prop_assert!(rows.q[i] == rows.t[i] ^ offset);
            }
        }
    }

    #[test]
    fn any_bytes_are_an_error_or_rows(message: Vec<u8>, m in 0usize..300) {
        let mut rng = TestRng::new(21);
        let (mut sender, _) = ideal_extension(&mut rng);
        let fits = message.len() == IKNP.message_len(m);
        let result = sender.extend(&message, m, &mut vec![Block::ZERO; m]);
        prop_assert_eq!(result.is_ok(), fits);
    }
}
