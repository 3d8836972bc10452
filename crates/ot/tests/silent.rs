//! Silent OT from base OTs to the flavours, as its users run it.

#![allow(
    clippy::unwrap_used,
    reason = "a failed unwrap is a failed test with a location"
)]

mod common;

use common::{INSTANCE, TestRng, bit, ideal_base};
use madrigal_kernels::Block;
use madrigal_ot::{
    Delta, ExtensionReceiver as _, ExtensionSender as _, Instance, flavour,
    iknp::{IknpReceiver, IknpSender, message_len},
    silent::{SilentParams, SilentReceiver, SilentSender},
};

/// Silent parties over IKNP.
fn parties(rng: &mut TestRng, params: SilentParams) -> (SilentSender, SilentReceiver) {
    let delta = Delta::random_odd(rng.rng());
    let (keys, pairs) = ideal_base(rng, delta.expose());
    let base = Instance {
        stream: 8,
        ..INSTANCE
    };
    let n = params.base_rows();
    let (mut q, mut t) = (vec![Block::ZERO; n], vec![Block::ZERO; n]);
    let choices = rng.bytes(n.div_ceil(8));
    let mut u = vec![0; message_len(n)];
    let mut receiver = IknpReceiver::new(base, &pairs).unwrap();
    drop(receiver.extend(&choices, n, &mut u, &mut t).unwrap());
    let mut sender = IknpSender::new(base, Delta::from_block(delta.expose()), &keys).unwrap();
    drop(sender.extend(&u, n, &mut q).unwrap());
    (
        SilentSender::new(rng.rng(), INSTANCE, params, delta, &q).unwrap(),
        SilentReceiver::new(INSTANCE, params, &choices, &t).unwrap(),
    )
}

#[test]
fn random_and_chosen_ots() {
    let mut rng = TestRng::new(51);
    let (mut sender, mut receiver) = parties(&mut rng, SilentParams::SMALL);
    for m in [1, 1000, 2048, 70_001] {
        let mut message = vec![0; sender.message_len(m)];
        assert_eq!(message.len(), receiver.message_len(m));
        let (mut q, mut t) = (vec![Block::ZERO; m], vec![Block::ZERO; m]);
        let mut random = vec![0; m.div_ceil(8)];
        let tweaks = sender.extend(m, &mut message, &mut q).unwrap();
        let (mut k0, mut k1, mut k) = (q.clone(), q.clone(), q.clone());
        let delta = sender.delta();
        flavour::sender_random_blocks(delta, tweaks, &q, &mut k0, &mut k1).unwrap();
        let tweaks = receiver.extend(&message, m, &mut random, &mut t).unwrap();
        flavour::receiver_random_blocks(tweaks, &t, &mut k).unwrap();
        for i in 0..m {
            let (chosen, other) = if bit(&random, i) {
                (k1[i], k0[i])
            } else {
                (k0[i], k1[i])
            };
            assert!(k[i] == chosen && k[i] != other, "random OT {i} of {m}");
        }

        let wanted = rng.bytes(m.div_ceil(8));
        let flips = flavour::choice_flips(m, &random, &wanted).unwrap();
        flavour::swap_blocks(&flips, &mut k0, &mut k1).unwrap();
        for i in 0..m {
            let chosen = if bit(&wanted, i) { k1[i] } else { k0[i] };
            assert!(k[i] == chosen, "chosen OT {i} of {m}");
        }
    }
}

/// Masks of different calls come from different tweaks: the same row would be hashed otherwise.
#[test]
fn tweaks_go_on_from_call_to_call() {
    let mut rng = TestRng::new(52);
    let (mut sender, _) = parties(&mut rng, SilentParams::SMALL);
    let row = [rng.block()];
    let mut seen = Vec::new();
    for m in [1, 3, 2048, 1] {
        let mut message = vec![0; sender.message_len(m)];
        let mut q = vec![Block::ZERO; m];
        let mut tweaks = sender.extend(m, &mut message, &mut q).unwrap();
        while !tweaks.is_empty() {
            let mut mask = [Block::ZERO];
            let one = tweaks.take(1).unwrap();
            flavour::receiver_random_blocks(one, &row, &mut mask).unwrap();
            seen.push(u128::from(mask[0]));
        }
    }
    seen.sort_unstable();
    assert!(seen.windows(2).all(|pair| pair[0] != pair[1]));
}
