//! Endemic base OTs: against a plain transcription, and against malformed messages.

#![allow(
    clippy::unwrap_used,
    reason = "a failed unwrap is a failed test with a location"
)]

use crate::common::{INSTANCE, TestRng, bit};
use curve25519_dalek::{RistrettoPoint, Scalar, ristretto::CompressedRistretto};
use madrigal_kernels::Block;
use madrigal_ot::{
    Fault, Instance, Message, OtError,
    base::endemic::{EndemicReceiver, EndemicSender, message_len},
    cost,
};
use sha2::{Digest, Sha256, Sha512};

const CONTEXT: Instance = Instance {
    session: [0x5a; 32],
    ..INSTANCE
};

#[test]
fn keys_agree_and_only_the_chosen_ones() {
    let mut rng = TestRng::new(81);
    for n in [0usize, 1, 7, 8, 9, 128] {
        let choices = rng.bytes(n.div_ceil(8));
        // Neither side waits for the other.
        let (sender, b) = EndemicSender::new(rng.rng(), CONTEXT);
        let (receiver, m) = EndemicReceiver::new(rng.rng(), CONTEXT, &choices, n).unwrap();
        let pairs = sender.finish(&m, n).unwrap();
        let keys = receiver.finish(&b).unwrap();
        let cost = cost::base_endemic(n as u64);
        assert_eq!(
            (m.len() as u64, b.len() as u64),
            (cost.receiver_bytes, cost.sender_bytes)
        );
        assert_eq!((pairs.len(), keys.len(), m.len()), (n, n, message_len(n)));
        for i in 0..n {
            let c = usize::from(bit(&choices, i));
            assert!(
                pairs[i][c] == keys[i] && pairs[i][1 - c] != keys[i],
                "OT {i} of {n}"
            );
        }
        let mut all: Vec<u128> = pairs.iter().flatten().map(|&b| b.into()).collect();
        all.sort_unstable();
        all.dedup();
        assert_eq!(all.len(), 2 * n, "keys repeat");
    }
}

fn bound(tag: &[u8; 24]) -> Vec<u8> {
    let mut bytes = tag.to_vec();
    bytes.extend(CONTEXT.session);
    bytes.extend(INSTANCE.stream.to_le_bytes());
    bytes.extend(INSTANCE.receiver.to_le_bytes());
    bytes.extend(INSTANCE.sender.to_le_bytes());
    bytes
}

fn t(i: usize, side: u8, other: &[u8]) -> RistrettoPoint {
    let mut input = bound(b"madrigal endemic T(M) v1");
    input.extend((i as u64).to_le_bytes());
    input.push(side);
    input.extend(other);
    RistrettoPoint::from_uniform_bytes(&Sha512::digest(&input).into())
}

fn h(b: &[u8], i: usize, side: u8, m: &[u8], k: &RistrettoPoint) -> Block {
    let mut input = bound(b"madrigal endemic key  v1");
    input.extend(b);
    input.extend((i as u64).to_le_bytes());
    input.push(side);
    input.extend(m);
    input.extend(k.compress().as_bytes());
    Block::from_bytes(Sha256::digest(&input)[..16].try_into().unwrap())
}

fn point(bytes: &[u8]) -> RistrettoPoint {
    let encoded = CompressedRistretto::from_slice(bytes).unwrap();
    encoded.decompress().unwrap()
}

#[test]
fn receiver_meets_a_plain_sender() {
    let mut rng = TestRng::new(82);
    let n = 12;
    let y = Scalar::from_bytes_mod_order_wide(&rng.bytes(64).try_into().unwrap());
    let b = RistrettoPoint::mul_base(&y).compress().to_bytes();
    let choices = rng.bytes(2);
    let (receiver, message) = EndemicReceiver::new(rng.rng(), CONTEXT, &choices, n).unwrap();
    let keys = receiver.finish(&b).unwrap();
    for (i, m) in message.chunks_exact(64).enumerate() {
        let pair = [0usize, 1].map(|side| {
            let (own, other) = (&m[32 * side..][..32], &m[32 * (1 - side)..][..32]);
            let a = point(own) + t(i, side as u8, other);
            h(&b, i, side as u8, m, &(a * y))
        });
        assert!(pair[usize::from(bit(&choices, i))] == keys[i]);
    }
}

#[test]
fn malformed_messages_are_refused() {
    let mut rng = TestRng::new(83);
    let n = 4;
    let make = |rng: &mut TestRng| {
        let (sender, b) = EndemicSender::new(rng.rng(), CONTEXT);
        let (receiver, m) = EndemicReceiver::new(rng.rng(), CONTEXT, &[5], n).unwrap();
        (sender, b, receiver, m)
    };
    for bad in [[0; 32], [0xff; 32]] {
        for index in 0..2 * n {
            let (sender, _, _, mut m) = make(&mut rng);
            m[32 * index..][..32].copy_from_slice(&bad);
            let expected = OtError::GroupElement {
                message: Message::BaseReceiver,
                index,
            };
            let error = sender.finish(&m, n).unwrap_err();
            assert_eq!(error, expected);
            assert_eq!(error.fault(), Fault::Peer);
        }
        let (_, _, receiver, _) = make(&mut rng);
        assert!(receiver.finish(&bad).is_err());
    }
    for got in [0, 255, 257] {
        let (sender, b, receiver, _) = make(&mut rng);
        let expected = OtError::MessageLength {
            message: Message::BaseReceiver,
            expected: 256,
            got,
        };
        assert_eq!(sender.finish(&vec![0; got], n).unwrap_err(), expected);
        assert!(receiver.finish(&b[1..]).is_err());
    }
    assert!(EndemicReceiver::new(rng.rng(), CONTEXT, &[5, 5], n).is_err());
    let (sender, _, receiver, _) = make(&mut rng);
    assert_eq!(
        format!("{sender:?} {receiver:?}"),
        "EndemicSender(..) EndemicReceiver(..)"
    );
}

/// The receiver's elements are distributed alike for choices 0 and 1.
#[test]
fn the_message_is_the_same_for_any_choices() {
    let mut rng = TestRng::new(84);
    let n = 2000;
    let mut counts = [vec![0u64; 64 * 16], vec![0u64; 64 * 16]];
    for (choice, counts) in counts.iter_mut().enumerate() {
        let choices = vec![0xff * choice as u8; n / 8];
        let (_, message) = EndemicReceiver::new(rng.rng(), CONTEXT, &choices, n).unwrap();
        for pair in message.chunks_exact(64) {
            for (place, byte) in pair.iter().enumerate() {
                counts[16 * place + usize::from(byte >> 4)] += 1;
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
