//! Pins the wire format: with fixed seeds, every message and key is always the same. A change here
//! is a change of the protocol's version.
#![allow(
    clippy::unwrap_used,
    reason = "a failed unwrap is a failed test with a location"
)]

use crate::common::{IKNP, INSTANCE, bit, iknp_receiver};
use madrigal_kernels::{Block, blocks_as_bytes};
use madrigal_ot::{
    Delta, ExtensionReceiver, ExtensionSender, Instance, KAPPA, SeededRng,
    base::{BaseReceiver, BaseSender},
    flavour,
    softspoken::SoftSpokenSender,
};
use sha2::{Digest, Sha256};

fn short_digest(bytes: &[u8]) -> String {
    let digest = Sha256::digest(bytes);
    digest[..8].iter().map(|b| format!("{b:02x}")).collect()
}

#[test]
fn messages_and_keys() {
    let context = Instance {
        session: [0x11; 32],
        ..INSTANCE
    };
    let mut sender_rng = SeededRng::from_seed(Block::new(1, 0));
    let mut receiver_rng = SeededRng::from_seed(Block::new(2, 0));
    let delta = Delta::from_block(Block::new(0x0123_4567_89ab_cdef, 0xfedc_ba98_7654_3210));
    let (sender, s) = BaseSender::new(&mut sender_rng, context);
    let choices = delta.choice_bits();
    let response = BaseReceiver::new(context)
        .respond(&mut receiver_rng, &s, &choices, KAPPA)
        .unwrap();
    let pairs = sender.finish(&response.message, KAPPA).unwrap();

    let m = 1000;
    let mut receiver = iknp_receiver(INSTANCE, &pairs);
    let mut sender = SoftSpokenSender::new(INSTANCE, IKNP, delta, &response.keys, &[]).unwrap();
    let choices: Vec<u8> = (0..m / 8).map(|i| (i * 37) as u8).collect();
    let (mut u, mut t) = (vec![0; IKNP.message_len(m)], vec![Block::ZERO; m]);
    let mut k = t.clone();
    let tweaks = receiver.extend(&choices, m, &mut u, &mut t).unwrap();
    flavour::receiver_random_blocks(tweaks, &t, &mut k).unwrap();
    let (mut k0, mut k1) = (vec![0; m / 8], vec![0; m / 8]);
    let mut bits = [0u8; 125];
    let mut q = t.clone();
    let tweaks = sender.extend(&u, m, &mut q).unwrap();
    flavour::sender_random_bits(sender.delta(), tweaks, &q, &mut k0, &mut k1).unwrap();
    for (i, block) in k.iter().enumerate() {
        bits[i / 8] |= u8::from(block.bit(0)) << (i % 8);
        let chosen = if bit(&choices, i) { &k1 } else { &k0 };
        assert_eq!(bit(&bits, i), bit(chosen, i), "OT {i}");
    }

    let found = [
        ("S", short_digest(&s)),
        ("R", short_digest(&response.message)),
        ("base keys", short_digest(blocks_as_bytes(&response.keys))),
        ("u", short_digest(&u)),
        ("random blocks", short_digest(blocks_as_bytes(&k))),
    ];
    let expected = [
        ("S", "95aa8a0a5cda55a6"),
        ("R", "68b5bd0a0caff693"),
        ("base keys", "0389be742015e536"),
        ("u", "f83ec882de1935dd"),
        ("random blocks", "55f77c19133fe31c"),
    ];
    assert_eq!(
        found,
        expected.map(|(name, digest)| (name, digest.to_string()))
    );
}
