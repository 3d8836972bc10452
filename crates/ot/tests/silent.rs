//! Silent OT from base OTs to the flavours, as its users run it.

#![allow(
    clippy::unwrap_used,
    reason = "a failed unwrap is a failed test with a location"
)]

use crate::common::{
    IKNP, INSTANCE, TestRng, bit, ideal_base, iknp_receiver, iknp_sender, row_hash,
};
use madrigal_kernels::Block;
use madrigal_ot::{
    Delta, ExtensionReceiver as _, ExtensionSender as _, Instance, OtError,
    extension::{Choices, Chosen, Pairs, Selected},
    flavour,
    silent::{QueuedReceiver, QueuedSender, SilentParams, SilentReceiver, SilentSender},
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
    let mut u = vec![0; IKNP.message_len(n)];
    let mut receiver = iknp_receiver(base, &pairs);
    drop(receiver.extend(&choices, n, &mut u, &mut t).unwrap());
    let mut sender = iknp_sender(base, delta.expose(), &keys);
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

/// Masks of different calls come from different tweaks: the rows are counted on.
#[test]
fn tweaks_go_on_from_call_to_call() {
    let mut rng = TestRng::new(52);
    let (mut sender, _) = parties(&mut rng, SilentParams::SMALL);
    let row = [rng.block()];
    let mut number = 0;
    for m in [1, 3, 2048, 1] {
        let mut message = vec![0; sender.message_len(m)];
        let mut q = vec![Block::ZERO; m];
        let mut tweaks = sender.extend(m, &mut message, &mut q).unwrap();
        while !tweaks.is_empty() {
            let mut mask = [Block::ZERO];
            let one = tweaks.take(1).unwrap();
            flavour::receiver_random_blocks(one, &row, &mut mask).unwrap();
            assert!(
                mask[0] == row_hash(INSTANCE).hash(number, row[0]),
                "row {number}"
            );
            number += 1;
        }
    }
}

/// Offers and calls of any sizes: the interface's OTs have the choices that were given or drawn.
#[test]
fn rows_made_ahead_are_used_in_order() {
    let mut rng = TestRng::new(53);
    let (sender, receiver) = parties(&mut rng, SilentParams::SMALL);
    let (mut sender, mut receiver) = (QueuedSender::new(sender), QueuedReceiver::new(receiver));
    for m in [3000, 1, 20_000] {
        let offer = sender.offer(m).unwrap();
        assert_eq!(offer.len(), receiver.offer_len(m));
        receiver.accept(&offer, m).unwrap();
    }
    assert_eq!((sender.available(), receiver.available()), (23_001, 23_001));
    for (m, given) in [
        (2999_usize, true),
        (3, false),
        (10_001, true),
        (9_990, false),
        (8, true),
    ] {
        let bytes = m.div_ceil(8);
        let (mut choices, mut out) = (rng.bytes(bytes), vec![0; bytes]);
        let (mut k0, mut k1) = (vec![0; bytes], vec![0; bytes]);
        if given {
            let mut flips = vec![0; receiver.message_len(m)];
            receiver
                .extend_bits(&choices, m, &mut flips, &mut out)
                .unwrap();
            sender.extend_bits(&flips, m, &mut k0, &mut k1).unwrap();
        } else {
            assert_eq!(sender.random_message_len(m), 0);
            let chooser = &mut *rng.rng();
            receiver
                .extend_masks(
                    Chosen::Random(chooser, &mut choices),
                    m,
                    &mut [],
                    Selected::Bits(&mut out),
                )
                .unwrap();
            sender
                .extend_masks(Choices::Random, &[], m, Pairs::Bits([&mut k0, &mut k1]))
                .unwrap();
        }
        for i in 0..m {
            let wanted = if bit(&choices, i) {
                bit(&k1, i)
            } else {
                bit(&k0, i)
            };
            assert_eq!(bit(&out, i), wanted, "OT {i} of {m}");
        }
        let ones = (0..m).filter(|&i| bit(&choices, i)).count() as f64;
        assert!((ones - m as f64 / 2.0).abs() <= 3.0 * (m as f64).sqrt());
    }
    assert_eq!(sender.available(), 0);
    let none = Err(OtError::Exhausted { wanted: 1, left: 0 });
    assert_eq!(receiver.extend_bits(&[0], 1, &mut [0], &mut [0]), none);
    assert_eq!(sender.extend_bits(&[0], 1, &mut [0], &mut [0]), none);
}

/// A bad message is refused and nothing is used up.
#[test]
fn bad_flips_and_offers_are_refused() {
    let mut rng = TestRng::new(54);
    let (sender, receiver) = parties(&mut rng, SilentParams::SMALL);
    let (mut sender, mut receiver) = (QueuedSender::new(sender), QueuedReceiver::new(receiver));
    let offer = sender.offer(12).unwrap();
    for bad in [&offer[1..], &[]] {
        assert!(matches!(
            receiver.accept(bad, 12),
            Err(OtError::MessageLength { .. })
        ));
    }
    receiver.accept(&offer, 12).unwrap();
    let (mut k0, mut k1) = ([0; 2], [0; 2]);
    let mut extend = |flips: &[u8]| sender.extend_bits(flips, 12, &mut k0, &mut k1);
    assert!(matches!(extend(&[0]), Err(OtError::MessageLength { .. })));
    assert!(matches!(
        extend(&[0; 3]),
        Err(OtError::MessageLength { .. })
    ));
    assert!(matches!(extend(&[0, 0x10]), Err(OtError::Padding { .. })));
    assert_eq!(extend(&[0, 0x0f]), Ok(()));
}
