//! SoftSpokenOT for every k over ideal base OTs, against the ideal functionality, IKNP, and the
//! definition.

#![allow(
    clippy::unwrap_used,
    reason = "a failed unwrap is a failed test with a location"
)]

use crate::common::{
    INSTANCE, SIZES, TestRng, bit, extend, ideal_base, ideal_extension, ideal_softspoken,
};
use madrigal_kernels::{Block, Prg, blocks_as_bytes};
use madrigal_ot::{
    Delta, ExtensionReceiver, ExtensionSender, Fault, Instance, KAPPA, Message, OtError, cost,
    flavour,
    softspoken::{CHUNK, FieldBits, SoftSpokenReceiver, SoftSpokenSender, check},
};
use proptest::prelude::*;
use sha2::{Digest, Sha256};

#[test]
fn rows_differ_by_choice_times_delta() {
    let mut rng = TestRng::new(51);
    for k in FieldBits::all() {
        let (mut sender, mut receiver) = ideal_softspoken(&mut rng, k);
        for m in SIZES {
            let rows = extend(&mut rng, &mut sender, &mut receiver, m);
            assert_eq!(rows.sender_tweaks, rows.receiver_tweaks);
            assert_eq!(rows.sender_tweaks.len(), m);
            for i in 0..m {
                let offset = Block::mask(bit(&rows.choices, i)) & sender.delta().expose();
                assert!(rows.q[i] == rows.t[i] ^ offset, "row {i} of {m}, {k:?}");
            }
        }
    }
}

#[test]
fn messages_stay_within_the_bound() {
    for k in FieldBits::all() {
        let m = 1 << 20;
        let bits = 8.0 * k.message_len(m) as f64 / m as f64;
        assert_eq!(bits, k.blocks() as f64);
        assert_eq!(
            cost::softspoken(k, m as u64).receiver_bytes,
            k.message_len(m) as u64
        );
        assert!(bits <= 1.02 * 128.0 / f64::from(k.get()), "{k:?}");
    }
}

/// A tree with one column per block is a pair of seeds: messages and rows are IKNP's.
#[test]
fn the_smallest_field_is_iknp() {
    let k = FieldBits::MIN;
    let m = 1000;
    let mut first = TestRng::new(52);
    let (mut sender, mut receiver) = ideal_softspoken(&mut first, k);
    let a = extend(&mut first, &mut sender, &mut receiver, m);
    let mut second = TestRng::new(52);
    let (mut sender, mut receiver) = ideal_extension(&mut second);
    let b = extend(&mut second, &mut sender, &mut receiver, m);
    assert!(a.t == b.t && a.q == b.q && a.u == b.u);

    // And IKNP's message is what its paper says, from plain streams.
    let mut rng = TestRng::new(52);
    let delta = rng.block();
    let (_, pairs) = ideal_base(&mut rng, delta);
    let mut choices = b.choices.clone();
    choices.resize(128, 0);
    for (j, u) in b.u.chunks_exact(128).enumerate() {
        let mut expected = choices.clone();
        for key in pairs[j] {
            Prg::numbered(key, INSTANCE.tree_number(j)).xor_into(&mut expected);
        }
        assert!(u == expected, "column {j}");
    }
}

#[test]
fn fused_outputs_equal_rows_then_hashes() {
    let m = 2 * CHUNK + 777;
    let bytes = m.div_ceil(8);
    for k in FieldBits::all() {
        let mut rng = TestRng::new(53);
        let delta = rng.block();
        let (keys, pairs) = ideal_base(&mut rng, delta);
        let pair = || {
            let (receiver, setup) = SoftSpokenReceiver::new(INSTANCE, k, &pairs).unwrap();
            let delta = Delta::from_block(delta);
            let sender = SoftSpokenSender::new(INSTANCE, k, delta, &keys, &setup).unwrap();
            (sender, receiver)
        };
        let choices = rng.bytes(bytes);
        let (mut sender, mut receiver) = pair();
        let (mut t, mut q) = (vec![Block::ZERO; m], vec![Block::ZERO; m]);
        let mut u = vec![0; k.message_len(m)];
        let t_tweaks = receiver.extend(&choices, m, &mut u, &mut t).unwrap();
        let q_tweaks = sender.extend(&u, m, &mut q).unwrap();
        let mut blocks = [(); 3].map(|()| vec![Block::ZERO; m]);
        let [b, b0, b1] = &mut blocks;
        flavour::receiver_random_blocks(t_tweaks, &t, b).unwrap();
        flavour::sender_random_blocks(sender.delta(), q_tweaks, &q, b0, b1).unwrap();

        let (mut sender, mut receiver) = pair();
        let mut fused = [(); 3].map(|()| vec![Block::ZERO; m]);
        let mut fused_u = vec![0; u.len()];
        let [f, f0, f1] = &mut fused;
        receiver
            .extend_blocks(&choices, m, &mut fused_u, f)
            .unwrap();
        sender.extend_blocks(&u, m, f0, f1).unwrap();
        assert!(fused == blocks && fused_u == u, "{k:?}");

        let (mut sender, mut receiver) = pair();
        let [mut c, mut c0, mut c1] = [(); 3].map(|()| vec![0; bytes]);
        receiver
            .extend_bits(&choices, m, &mut fused_u, &mut c)
            .unwrap();
        sender.extend_bits(&u, m, &mut c0, &mut c1).unwrap();
        assert!(fused_u == u);
        for (bits, blocks) in [c, c0, c1].iter().zip(&blocks) {
            for (i, block) in blocks.iter().enumerate() {
                assert_eq!(bit(bits, i), block.bit(0), "bit {i}, {k:?}");
            }
        }
    }
}

#[test]
fn pieces_send_the_same_message() {
    let m = 3 * CHUNK;
    for k in FieldBits::all() {
        let mut rng = TestRng::new(54);
        let (_, pairs) = ideal_base(&mut rng, Block::ZERO);
        let choices = rng.bytes(m / 8);
        let (mut t, mut u) = (vec![Block::ZERO; m], vec![0; k.message_len(m)]);
        let (mut whole, _) = SoftSpokenReceiver::new(INSTANCE, k, &pairs).unwrap();
        let mut tweaks = whole.extend(&choices, m, &mut u, &mut t).unwrap();
        let (mut pieces, _) = SoftSpokenReceiver::new(INSTANCE, k, &pairs).unwrap();
        let piece = k.message_len(CHUNK);
        for c in 0..3 {
            let (mut tc, mut uc) = (vec![Block::ZERO; CHUNK], vec![0; piece]);
            let choices = &choices[c * CHUNK / 8..][..CHUNK / 8];
            let got = pieces.extend(choices, CHUNK, &mut uc, &mut tc).unwrap();
            assert_eq!(tweaks.take(CHUNK).unwrap(), got);
            assert!(tc == t[c * CHUNK..][..CHUNK] && uc == u[c * piece..][..piece]);
        }
    }
}

#[test]
fn random_choices_are_returned() {
    let mut rng = TestRng::new(55);
    let (mut sender, mut receiver) = ideal_softspoken(&mut rng, FieldBits::MAX);
    let m = 1001usize;
    let mut choices = vec![0; m.div_ceil(8)];
    let mut u = vec![0; receiver.random_message_len(m)];
    let (mut t, mut q) = (vec![Block::ZERO; m], vec![Block::ZERO; m]);
    let _ = receiver
        .extend_random(rng.rng(), m, &mut choices, &mut u, &mut t)
        .unwrap();
    let _ = sender.extend_random(&u, m, &mut q).unwrap();
    assert!(choices.last().unwrap() >> 1 == 0);
    let ones: u32 = choices.iter().map(|byte| byte.count_ones()).sum();
    assert!((420..580).contains(&ones));
    for i in 0..m {
        let offset = Block::mask(bit(&choices, i)) & sender.delta().expose();
        assert!(q[i] == t[i] ^ offset);
    }
}

#[test]
fn wrong_lengths_are_errors_and_move_nothing() {
    let mut rng = TestRng::new(56);
    for k in FieldBits::all() {
        let (mut sender, mut receiver) = ideal_softspoken(&mut rng, k);
        let expected = k.message_len(129);
        let mut q = vec![Block::ZERO; 129];
        for got in [0, 1, expected - 1, expected + 1, 2 * expected] {
            let error = sender.extend(&vec![0; got], 129, &mut q).unwrap_err();
            let due = OtError::MessageLength {
                message: Message::Extension,
                expected,
                got,
            };
            assert_eq!(error, due);
            let (mut k0, mut k1) = ([0; 17], [0; 17]);
            let bits = sender.extend_bits(&vec![0; got], 129, &mut k0, &mut k1);
            assert_eq!(bits, Err(error.clone()));
            let mut other = q.clone();
            let blocks = sender.extend_blocks(&vec![0; got], 129, &mut q, &mut other);
            assert_eq!(blocks, Err(error));
        }
        for (choices, u, rows) in [
            (16, expected, 129),
            (17, expected - 1, 129),
            (17, expected, 128),
        ] {
            let (mut u, mut rows) = (vec![0; u], vec![Block::ZERO; rows]);
            let error = receiver.extend(&vec![0; choices], 129, &mut u, &mut rows);
            assert_eq!(error.unwrap_err().fault(), Fault::Caller);
            let error = receiver.extend_blocks(&vec![0; choices], 129, &mut u, &mut rows);
            assert_eq!(error.unwrap_err().fault(), Fault::Caller);
        }
        // Both are still in step.
        let rows = extend(&mut rng, &mut sender, &mut receiver, 129);
        let offset = Block::mask(bit(&rows.choices, 128)) & sender.delta().expose();
        assert!(rows.q[128] == rows.t[128] ^ offset);

        let delta = || Delta::from_block(Block::ONES);
        let (keys, due) = ([Block::ZERO; KAPPA], k.setup_len());
        for got in [due + 1, due + 32, due.wrapping_sub(1)] {
            if got != usize::MAX {
                let error = SoftSpokenSender::new(INSTANCE, k, delta(), &keys, &vec![0; got]);
                let expected = OtError::MessageLength {
                    message: Message::ExtensionSetup,
                    expected: due,
                    got,
                };
                assert_eq!(error.unwrap_err(), expected);
            }
        }
        let setup = vec![0; due];
        assert!(SoftSpokenSender::new(INSTANCE, k, delta(), &keys[1..], &setup).is_err());
        assert!(SoftSpokenReceiver::new(INSTANCE, k, &[[Block::ZERO; 2]; 129]).is_err());
    }
    assert_eq!(FieldBits::new(9), Err(OtError::FieldBits { got: 9 }));
}

/// A flipped bit of the message spoils its row, in the columns of its block where Delta is 1.
#[test]
fn a_tampered_message_spoils_its_row_only() {
    let mut rng = TestRng::new(57);
    for k in FieldBits::all() {
        let (mut sender, mut receiver) = ideal_softspoken(&mut rng, k);
        let m = 300usize;
        let choices = rng.bytes(m.div_ceil(8));
        let (mut u, mut t) = (vec![0; k.message_len(m)], vec![Block::ZERO; m]);
        let mut q = t.clone();
        let _ = receiver.extend(&choices, m, &mut u, &mut t).unwrap();
        let (block, row) = (k.blocks() / 2, 259);
        u[block * 48 + row / 8] ^= 1 << (row % 8);
        let _ = sender.extend(&u, m, &mut q).unwrap();
        let delta = sender.delta().expose();
        for i in 0..m {
            let difference = q[i] ^ t[i] ^ (Block::mask(bit(&choices, i)) & delta);
            let spoilt = u128::from(difference);
            if i == row {
                assert_eq!(spoilt & !u128::from(delta), 0);
                let span = u128::BITS - spoilt.leading_zeros() - spoilt.trailing_zeros() % 128;
                assert!(spoilt == 0 || span as usize <= widest(k), "{k:?}");
            } else {
                assert_eq!(spoilt, 0, "row {i}");
            }
        }
    }
}

/// Columns of the first, widest block.
fn widest(k: FieldBits) -> usize {
    KAPPA.div_ceil(k.blocks())
}

/// A flipped bit of the tree sums spoils at most its block's columns.
#[test]
fn a_tampered_tree_spoils_its_block_only() {
    let mut rng = TestRng::new(58);
    for k in FieldBits::all().skip(1) {
        let delta = rng.block();
        let (keys, pairs) = ideal_base(&mut rng, delta);
        let (mut receiver, mut setup) = SoftSpokenReceiver::new(INSTANCE, k, &pairs).unwrap();
        setup[5] ^= 1;
        setup[21] ^= 1;
        let delta = Delta::from_block(delta);
        let mut sender = SoftSpokenSender::new(INSTANCE, k, delta, &keys, &setup).unwrap();
        let rows = extend(&mut rng, &mut sender, &mut receiver, 500);
        let mut spoilt = 0;
        for i in 0..500 {
            let offset = Block::mask(bit(&rows.choices, i)) & sender.delta().expose();
            spoilt |= u128::from(rows.q[i] ^ rows.t[i] ^ offset);
        }
        assert!(spoilt != 0 && spoilt >> widest(k) == 0, "{k:?}");
    }
}

/// The sender knows Delta, its leaves and u. With what the leaves predict taken off, u is uniform
/// whatever the choices are: here the choices themselves are taken off, and the gap's stream is
/// left.
#[test]
fn messages_are_the_stream_of_the_gap() {
    let m = 1024;
    for k in FieldBits::all() {
        let mut rng = TestRng::new(59);
        let mut counts = [0u64; 256];
        for choices in [vec![0u8; m / 8], vec![0xff; m / 8], vec![0x01; m / 8]] {
            for _ in 0..4 {
                let (mut sender, mut receiver) = ideal_softspoken(&mut rng, k);
                let (mut u, mut t) = (vec![0; k.message_len(m)], vec![Block::ZERO; m]);
                let _ = receiver.extend(&choices, m, &mut u, &mut t).unwrap();
                u.iter().for_each(|&byte| counts[usize::from(byte)] += 1);
                let mut q = t.clone();
                let _ = sender.extend(&u, m, &mut q).unwrap();
            }
        }
        let total: u64 = counts.iter().sum();
        let expected = total as f64 / 256.0;
        let chi: f64 = counts
            .iter()
            .map(|&c| (c as f64 - expected).powi(2) / expected)
            .sum();
        let score = (chi - 255.0) / 510_f64.sqrt();
        assert!(score.abs() < 5.0, "{k:?}: {score}");
    }
}

#[test]
fn outputs_are_balanced() {
    let mut rng = TestRng::new(60);
    let m = 70_000;
    for k in FieldBits::all() {
        let (mut sender, mut receiver) = ideal_softspoken(&mut rng, k);
        let rows = extend(&mut rng, &mut sender, &mut receiver, m);
        // Every column of t, and of t between neighbours.
        for j in 0..KAPPA {
            let ones = rows.t.iter().filter(|row| row.bit(j)).count() as f64;
            let pairs = rows.t.windows(2).filter(|w| w[0].bit(j) != w[1].bit(j));
            for count in [ones, pairs.count() as f64] {
                let score = (count - m as f64 / 2.0) / ((m as f64).sqrt() / 2.0);
                assert!(score.abs() < 5.5, "column {j}, {k:?}: {score}");
            }
        }
    }
}

/// Pins the wire format: a change here is a change of the protocol's version.
#[test]
fn known_answers() {
    let digest = |bytes: &[u8]| -> String {
        let digest = Sha256::digest(bytes);
        digest[..6].iter().map(|b| format!("{b:02x}")).collect()
    };
    let found: Vec<[String; 3]> = FieldBits::all()
        .map(|k| {
            let pairs: Vec<[Block; 2]> = (0..KAPPA as u64)
                .map(|j| [Block::new(j, 1), Block::new(j, 2)])
                .collect();
            let (mut receiver, setup) = SoftSpokenReceiver::new(INSTANCE, k, &pairs).unwrap();
            let m = 1000;
            let choices: Vec<u8> = (0..m / 8).map(|i| (i * 37) as u8).collect();
            let (mut u, mut out) = (vec![0; k.message_len(m)], vec![Block::ZERO; m]);
            receiver
                .extend_blocks(&choices, m, &mut u, &mut out)
                .unwrap();
            [digest(&setup), digest(&u), digest(blocks_as_bytes(&out))]
        })
        .collect();
    assert_eq!(found, KNOWN.map(|row| row.map(str::to_string)));
}

const KNOWN: [[&str; 3]; 8] = [
    ["e3b0c44298fc", "91f54c9f1dc4", "791600232a1e"],
    ["4e5f21f3362e", "a6c08db80843", "b3110fb89075"],
    ["5dadf68cc735", "0f490bd054f3", "48464ac57f33"],
    ["a5a51848e8ff", "8ca662ff3dd3", "10560ff9cdda"],
    ["0c9568bf1cfd", "8810fb9ecd57", "8e845830ab60"],
    ["3dc03c4e6b23", "6b732912229e", "522ef660cfee"],
    ["cef57df075da", "1ee91e06a05c", "c73b7d9aad9b"],
    ["a1a038acacb2", "7eabe733d5e3", "e4fcfc752ec9"],
];

proptest! {
    #![proptest_config(ProptestConfig::with_cases(40))]

    #[test]
    fn any_sequence_of_calls(
        seed: u64,
        k in 1u8..=8,
        sizes in proptest::collection::vec(0usize..700, 1..5),
    ) {
        let mut rng = TestRng::new(seed);
        let (mut sender, mut receiver) = ideal_softspoken(&mut rng, FieldBits::new(k).unwrap());
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
    fn any_bytes_are_an_error_or_rows(message: Vec<u8>, k in 1u8..=8, m in 0usize..300) {
        let mut rng = TestRng::new(61);
        let k = FieldBits::new(k).unwrap();
        let (mut sender, _) = ideal_softspoken(&mut rng, k);
        let fits = message.len() == k.message_len(m);
        let result = sender.extend(&message, m, &mut vec![Block::ZERO; m]);
        prop_assert_eq!(result.is_ok(), fits);
    }
}

/// All trees and columns counted from 0: each guess of a key was held against all 128 of a thread. With one pair of
/// base keys for all of them, what two of them encrypt alike would show.
#[test]
fn a_guess_of_a_key_tests_one_tree() {
    let mut rng = TestRng::new(54);
    let pairs = vec![[rng.block(), rng.block()]; KAPPA];
    let m = 1024;
    let mut seen = std::collections::HashSet::new();
    for stream in [0, 1] {
        for k in FieldBits::all() {
            // No tree has the numbers of another k's: one instance has one k.
            let instance = Instance {
                session: [k.get(); 32],
                stream,
                ..INSTANCE
            };
            let (mut receiver, setup) = SoftSpokenReceiver::new(instance, k, &pairs).unwrap();
            let (mut u, mut t) = (vec![0; k.message_len(m)], vec![Block::ZERO; m]);
            let _ = receiver.extend(&vec![0; m / 8], m, &mut u, &mut t).unwrap();
            for block in setup.as_chunks::<16>().0.iter().chain(u.as_chunks().0) {
                assert!(seen.insert(*block), "k = {}, stream {stream}", k.get());
            }
        }
    }
}

/// Rows of both sides for the check, the choices and the receiver's message, which `tamper` changes before the sender reads it.
fn checked_rows(
    rng: &mut TestRng,
    m: usize,
    tamper: impl FnOnce(&mut [u8]),
) -> (Delta, Vec<Block>, Vec<u8>, Vec<Block>) {
    let n = check::rows(m);
    let (mut sender, mut receiver) = ideal_softspoken(rng, FieldBits::MIN);
    let choices = rng.bytes(n / 8);
    let (mut u, mut t) = (vec![0; sender.message_len(n)], vec![Block::ZERO; n]);
    let mut q = t.clone();
    let _ = receiver.extend(&choices, n, &mut u, &mut t).unwrap();
    tamper(&mut u);
    // The extension itself notices nothing.
    let _ = sender.extend(&u, n, &mut q).unwrap();
    (Delta::from_block(sender.delta().expose()), q, choices, t)
}

#[test]
fn honest_receivers_pass_the_check() {
    let mut rng = TestRng::new(61);
    for m in [0, 1, 128, 129, 1000, 18_400] {
        let (delta, q, choices, t) = checked_rows(&mut rng, m, |_| ());
        let seed = rng.block();
        let answer = check::answer(seed, &choices, &t).unwrap();
        assert_eq!(answer.len(), check::ANSWER_BYTES);
        assert_eq!(check::verify(seed, &delta, &q, &answer), Ok(()), "{m} rows");
        let other = rng.block();
        let verified = check::verify(other, &delta, &q, &answer);
        assert_eq!(verified.is_ok(), m == 0, "{m} rows, another seed");
    }
}

/// The attack on IKNP: a choice that is turned in one column shows a bit of Delta in a row. Unchecked it is not noticed. Checked, it
/// passes if Delta's bit is zero, or if the answer is made for one, if it is one.
#[test]
fn a_column_with_other_choices_costs_a_guess() {
    let (m, row) = (500, 77);
    for column in 0..KAPPA {
        let mut rng = TestRng::new(62 + column as u64);
        let n = check::rows(m);
        let (delta, q, choices, t) = checked_rows(&mut rng, m, |u| {
            u[column * n / 8 + row / 8] ^= 1 << (row % 8);
        });
        let bit_of_delta = delta.expose().bit(column);
        let told = q[row] ^ t[row] ^ Block::mask(bit(&choices, row)) & delta.expose();
        assert_eq!(told != Block::ZERO, bit_of_delta, "what the attack tells");

        let seed = rng.block();
        let inconsistent = OtError::Inconsistent {
            message: Message::ExtensionCheck,
        };
        assert_eq!(inconsistent.fault(), Fault::Peer);
        let expected = |passes: bool| {
            if passes {
                Ok(())
            } else {
                Err(inconsistent.clone())
            }
        };
        let mut answer = check::answer(seed, &choices, &t).unwrap();
        let verified = check::verify(seed, &delta, &q, &answer);
        assert_eq!(verified, expected(!bit_of_delta), "column {column}");
        let mut turned = choices.clone();
        turned[row / 8] ^= 1 << (row % 8);
        let other = check::answer(seed, &turned, &t).unwrap();
        for i in 0..16 {
            answer[16 * (1 + column) + i] ^= answer[i] ^ other[i];
        }
        let verified = check::verify(seed, &delta, &q, &answer);
        assert_eq!(verified, expected(bit_of_delta), "column {column}");
    }
}

#[test]
fn wrong_answers_to_the_check_are_errors() {
    let mut rng = TestRng::new(63);
    let (delta, q, choices, t) = checked_rows(&mut rng, 300, |_| ());
    let seed = rng.block();
    let answer = check::answer(seed, &choices, &t).unwrap();
    for at in [0, 15, 16, 17, 1000, check::ANSWER_BYTES - 1] {
        let mut answer = answer.clone();
        answer[at] ^= 0x10;
        let verified = check::verify(seed, &delta, &q, &answer);
        let inconsistent = OtError::Inconsistent {
            message: Message::ExtensionCheck,
        };
        assert_eq!(verified, Err(inconsistent), "byte {at}");
    }
    for got in [0, 16, check::ANSWER_BYTES - 1, check::ANSWER_BYTES + 1] {
        let mut answer = answer.clone();
        answer.resize(got, 0);
        let length = OtError::MessageLength {
            message: Message::ExtensionCheck,
            expected: check::ANSWER_BYTES,
            got,
        };
        assert_eq!(check::verify(seed, &delta, &q, &answer), Err(length));
    }
    for short in [0, 1, 127, 300] {
        assert!(check::verify(seed, &delta, &q[..short], &answer).is_err());
        assert!(check::answer(seed, &choices[..short / 8], &t[..short]).is_err());
    }
    assert!(check::answer(seed, &choices[1..], &t).is_err());
}
