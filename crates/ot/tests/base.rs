//! Base OTs: against a plain transcription of the protocol, and against malformed messages.

#![allow(
    clippy::unwrap_used,
    reason = "a failed unwrap is a failed test with a location"
)]

use crate::common::{TestRng, bit};
use curve25519_dalek::{RistrettoPoint, Scalar, ristretto::CompressedRistretto};
use madrigal_kernels::Block;
use madrigal_ot::{
    Fault, Instance, Message, OtError,
    base::{BaseReceiver, BaseSender},
    cost,
};
use sha2::{Digest, Sha256, Sha512};

const CONTEXT: Instance = Instance {
    session: [0x5a; 32],
    sender: 3,
    receiver: 1,
    stream: 2,
};

fn run(rng: &mut TestRng, choices: &[u8], n: usize) -> (Vec<[Block; 2]>, Vec<Block>, Vec<u8>) {
    let (sender, s) = BaseSender::new(rng.rng(), CONTEXT);
    let receiver = BaseReceiver::new(CONTEXT);
    let response = receiver.respond(rng.rng(), &s, choices, n).unwrap();
    let pairs = sender.finish(&response.message, n).unwrap();
    (pairs.to_vec(), response.keys.to_vec(), response.message)
}

#[test]
fn keys_agree_and_only_the_chosen_ones() {
    let mut rng = TestRng::new(1);
    for n in [0usize, 1, 7, 8, 9, 128, 200] {
        let choices = rng.bytes(n.div_ceil(8));
        let (pairs, keys, message) = run(&mut rng, &choices, n);
        assert_eq!((pairs.len(), keys.len()), (n, n));
        let cost = cost::base(n as u64);
        assert_eq!(message.len() as u64, cost.receiver_bytes);
        assert_eq!(cost.sender_bytes, 32);
        for i in 0..n {
            let c = usize::from(bit(&choices, i));
            assert!(pairs[i][c] == keys[i], "OT {i} of {n}");
            assert!(pairs[i][1 - c] != keys[i], "OT {i} of {n}");
        }
        let mut all: Vec<u128> = pairs.iter().flatten().map(|&b| b.into()).collect();
        all.sort_unstable();
        all.dedup();
        assert_eq!(all.len(), 2 * n, "keys repeat");
    }
}

/// The protocol as the paper has it: no halves, no batches, no tables.
mod plain {
    use super::*;

    fn bound(tag: &[u8; 24]) -> Vec<u8> {
        let instance = CONTEXT;
        let mut bytes = tag.to_vec();
        bytes.extend(CONTEXT.session);
        bytes.extend(instance.stream.to_le_bytes());
        bytes.extend(instance.receiver.to_le_bytes());
        bytes.extend(instance.sender.to_le_bytes());
        bytes
    }

    pub(super) fn t(s: &RistrettoPoint) -> RistrettoPoint {
        let mut input = bound(b"madrigal base OT T(S) v1");
        input.extend(s.compress().as_bytes());
        let half = RistrettoPoint::from_uniform_bytes(&Sha512::digest(&input).into());
        half + half
    }

    pub(super) fn h(i: usize, s: &RistrettoPoint, r: &RistrettoPoint, k: &RistrettoPoint) -> Block {
        let mut input = bound(b"madrigal base OT key  v1");
        input.extend(s.compress().as_bytes());
        input.extend((i as u64).to_le_bytes());
        input.extend(r.compress().as_bytes());
        input.extend(k.compress().as_bytes());
        Block::from_bytes(Sha256::digest(&input)[..16].try_into().unwrap())
    }

    pub(super) fn scalar(rng: &mut TestRng) -> Scalar {
        Scalar::from_bytes_mod_order_wide(&rng.bytes(64).try_into().unwrap())
    }

    pub(super) fn point(bytes: &[u8]) -> RistrettoPoint {
        let encoded = CompressedRistretto::from_slice(bytes).unwrap();
        encoded.decompress().unwrap()
    }
}

#[test]
fn receiver_meets_a_plain_sender() {
    let mut rng = TestRng::new(2);
    let n = 20usize;
    let y = plain::scalar(&mut rng);
    let s = RistrettoPoint::mul_base(&y);
    let t = plain::t(&s);
    let choices = rng.bytes(n.div_ceil(8));
    let receiver = BaseReceiver::new(CONTEXT);
    let response = receiver
        .respond(rng.rng(), s.compress().as_bytes(), &choices, n)
        .unwrap();
    for (i, r) in response.message.chunks_exact(32).enumerate() {
        let r = plain::point(r);
        let keys = [
            plain::h(i, &s, &r, &(r * y)),
            plain::h(i, &s, &r, &((r - t) * y)),
        ];
        assert!(keys[usize::from(bit(&choices, i))] == response.keys[i]);
    }
}

#[test]
fn sender_meets_a_plain_receiver() {
    let mut rng = TestRng::new(3);
    let n = 20usize;
    let (sender, s) = BaseSender::new(rng.rng(), CONTEXT);
    let s = plain::point(&s);
    let t = plain::t(&s);
    let mut message = Vec::new();
    let mut keys = Vec::new();
    for i in 0..n {
        let x = plain::scalar(&mut rng);
        let mut r = RistrettoPoint::mul_base(&x);
        if i % 3 == 0 {
            r += t;
        }
        message.extend(r.compress().as_bytes());
        keys.push(plain::h(i, &s, &r, &(s * x)));
    }
    let pairs = sender.finish(&message, n).unwrap();
    for i in 0..n {
        assert!(pairs[i][usize::from(i % 3 == 0)] == keys[i]);
    }
}

#[test]
fn keys_depend_on_the_whole_context() {
    let mut others = [CONTEXT; 4];
    others[0].session[31] ^= 1;
    others[1].sender ^= 1;
    others[2].receiver ^= 1;
    others[3].stream ^= 1;
    let mut rng = TestRng::new(4);
    for other in others {
        let (sender, s) = BaseSender::new(rng.rng(), CONTEXT);
        let receiver = BaseReceiver::new(other);
        let response = receiver.respond(rng.rng(), &s, &[0], 8).unwrap();
        let pairs = sender.finish(&response.message, 8).unwrap();
        for (pair, key) in pairs.iter().zip(response.keys.iter()) {
            assert!(!pair.contains(key));
        }
    }
}

/// Strings of 32 bytes that are no encoding of an element other than the identity.
fn bad_elements() -> Vec<(&'static str, [u8; 32])> {
    let mut p = [0xff; 32];
    (p[0], p[31]) = (0xed, 0x7f);
    let mut p_plus_two = p;
    p_plus_two[0] += 2;
    let mut one = [0; 32];
    one[0] = 1;
    let mut high_bit = RistrettoPoint::mul_base(&Scalar::from(5u64)).compress().0;
    high_bit[31] |= 0x80;
    let mut not_square = [0; 32];
    not_square[0] = 4;
    let mut bad = vec![
        ("identity", [0; 32]),
        ("all ones", [0xff; 32]),
        ("p, not canonical", p),
        ("p + 2, not canonical", p_plus_two),
        ("one, negative", one),
        ("high bit set", high_bit),
    ];
    while CompressedRistretto(not_square).decompress().is_some() {
        not_square[0] += 2;
    }
    bad.push(("not on the curve", not_square));
    bad
}

#[test]
fn bad_elements_are_refused() {
    let mut rng = TestRng::new(5);
    for (name, bad) in bad_elements() {
        let receiver = BaseReceiver::new(CONTEXT);
        let error = receiver.respond(rng.rng(), &bad, &[0], 8).unwrap_err();
        let expected = OtError::GroupElement {
            message: Message::BaseSender,
            index: 0,
        };
        assert_eq!(error, expected, "{name}");
        assert_eq!(error.fault(), Fault::Peer);

        for index in [0, 5, 7] {
            let (sender, s) = BaseSender::new(rng.rng(), CONTEXT);
            let receiver = BaseReceiver::new(CONTEXT);
            let mut message = receiver.respond(rng.rng(), &s, &[0x35], 8).unwrap().message;
            message[32 * index..][..32].copy_from_slice(&bad);
            let expected = OtError::GroupElement {
                message: Message::BaseReceiver,
                index,
            };
            assert_eq!(sender.finish(&message, 8).unwrap_err(), expected, "{name}");
        }
    }
}

#[test]
fn wrong_lengths_are_refused() {
    let mut rng = TestRng::new(6);
    let (_, s) = BaseSender::new(rng.rng(), CONTEXT);
    for wrong in [&s[..0], &s[..31], &[s, s].concat()] {
        let receiver = BaseReceiver::new(CONTEXT);
        let error = receiver.respond(rng.rng(), wrong, &[0], 8).unwrap_err();
        let expected = OtError::MessageLength {
            message: Message::BaseSender,
            expected: 32,
            got: wrong.len(),
        };
        assert_eq!(error, expected);
    }
    for got in [0, 1, 255, 257, 288] {
        let (sender, _) = BaseSender::new(rng.rng(), CONTEXT);
        let error = sender.finish(&vec![0; got], 8).unwrap_err();
        let expected = OtError::MessageLength {
            message: Message::BaseReceiver,
            expected: 256,
            got,
        };
        assert_eq!(error, expected);
    }
    let receiver = BaseReceiver::new(CONTEXT);
    let error = receiver.respond(rng.rng(), &s, &[0; 2], 8).unwrap_err();
    assert_eq!(error.fault(), Fault::Caller);
}

#[test]
fn debug_shows_no_secret() {
    let mut rng = TestRng::new(7);
    let (sender, s) = BaseSender::new(rng.rng(), CONTEXT);
    assert_eq!(format!("{sender:?}"), "BaseSender(..)");
    let receiver = BaseReceiver::new(CONTEXT);
    let response = receiver.respond(rng.rng(), &s, &[1], 1).unwrap();
    assert_eq!(format!("{response:?}"), "BaseResponse(..)");
}
