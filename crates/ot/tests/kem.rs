//! Base OTs from ML-KEM.
#![cfg(feature = "ml-kem")]
#![allow(
    clippy::unwrap_used,
    reason = "a failed unwrap is a failed test with a location"
)]

use crate::common::{INSTANCE, TestRng, bit};
use madrigal_ot::{
    Fault, Instance, Message, OtError,
    base::kem::{KemReceiver, ciphertexts_len, keys_len, respond},
    cost,
};

const CONTEXT: Instance = Instance {
    session: [0x5a; 32],
    ..INSTANCE
};

#[test]
fn keys_agree_and_only_the_chosen_ones() {
    let mut rng = TestRng::new(91);
    for n in [0usize, 1, 9, 128] {
        let choices = rng.bytes(n.div_ceil(8));
        let (receiver, message) = KemReceiver::new(rng.rng(), CONTEXT, &choices, n).unwrap();
        let response = respond(CONTEXT, &message, n).unwrap();
        let keys = receiver.finish(&response.message).unwrap();
        let cost = cost::base_kem(n as u64);
        assert_eq!(
            (message.len() as u64, response.message.len() as u64),
            (cost.receiver_bytes, cost.sender_bytes)
        );
        assert_eq!(
            (message.len(), response.message.len()),
            (keys_len(n), ciphertexts_len(n))
        );
        let mut all: Vec<u128> = Vec::new();
        for i in 0..n {
            let (pair, c) = (response.keys[i], usize::from(bit(&choices, i)));
            assert!(
                pair[c] == keys[i] && pair[1 - c] != keys[i],
                "OT {i} of {n}"
            );
            all.extend(pair.map(u128::from));
        }
        all.sort_unstable();
        all.dedup();
        assert_eq!(all.len(), 2 * n, "keys repeat");
    }
}

#[test]
fn malformed_messages_are_refused() {
    let mut rng = TestRng::new(92);
    let n = 3;
    let (receiver, message) = KemReceiver::new(rng.rng(), CONTEXT, &[5], n).unwrap();
    for index in 0..2 * n {
        let mut bad = message.clone();
        let place = index / 2 * (keys_len(1)) + 32 + index % 2 * 1152;
        bad[place..place + 2].fill(0xff);
        let expected = OtError::Coefficient {
            message: Message::BaseKeys,
            index,
        };
        let error = respond(CONTEXT, &bad, n).unwrap_err();
        assert_eq!(error, expected);
        assert_eq!(error.fault(), Fault::Peer);
    }
    for got in [0, keys_len(n) - 1, keys_len(n) + 1] {
        let expected = OtError::MessageLength {
            message: Message::BaseKeys,
            expected: keys_len(n),
            got,
        };
        assert_eq!(respond(CONTEXT, &vec![0; got], n).unwrap_err(), expected);
    }
    // A tampered ciphertext spoils its key only.
    let mut response = respond(CONTEXT, &message, n).unwrap();
    response.message[1088] ^= 1;
    let keys = receiver.finish(&response.message).unwrap();
    assert!(keys[0] != response.keys[0][1] && keys[1] == response.keys[1][0]);
    let (receiver, _) = KemReceiver::new(rng.rng(), CONTEXT, &[5], n).unwrap();
    assert!(receiver.finish(&response.message[1..]).is_err());
    assert!(KemReceiver::new(rng.rng(), CONTEXT, &[5, 5], n).is_err());
}

#[test]
fn keys_depend_on_the_context() {
    let mut rng = TestRng::new(93);
    let mut other = CONTEXT;
    other.session[0] ^= 1;
    let (receiver, message) = KemReceiver::new(rng.rng(), CONTEXT, &[5], 4).unwrap();
    let response = respond(other, &message, 4).unwrap();
    let keys = receiver.finish(&response.message).unwrap();
    assert!(
        keys.iter()
            .zip(response.keys.iter())
            .all(|(key, pair)| !pair.contains(key))
    );
}

/// Both vectors are uniform for either choice: coefficients' high halves are distributed alike.
#[test]
fn the_message_is_the_same_for_any_choices() {
    let mut rng = TestRng::new(94);
    let n = 64;
    let mut counts = [[0u64; 2 * 256]; 2];
    for (choice, counts) in counts.iter_mut().enumerate() {
        let choices = vec![0xff * choice as u8; n / 8];
        let (_, message) = KemReceiver::new(rng.rng(), CONTEXT, &choices, n).unwrap();
        for keys in message.chunks_exact(keys_len(1)) {
            for (side, vector) in keys[32..].chunks_exact(1152).enumerate() {
                for bytes in vector.chunks_exact(3) {
                    counts[256 * side + usize::from(bytes[2])] += 1;
                }
            }
        }
    }
    let pairs = counts[0].iter().zip(&counts[1]).filter(|&(a, b)| a + b > 0);
    let chi: f64 = pairs
        .clone()
        .map(|(&a, &b)| (a as f64 - b as f64).powi(2) / (a + b) as f64)
        .sum();
    let freedom = pairs.count() as f64 - 1.0;
    let score = (chi - freedom) / (2.0 * freedom).sqrt();
    assert!(score.abs() < 5.0, "choices 0 against 1: {score}");
}
