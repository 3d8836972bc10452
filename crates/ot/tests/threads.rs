//! One call on several threads gives the same kind of OTs as on one.
#![allow(clippy::unwrap_used)] // a failed unwrap is a failed test with a location

use madrigal_kernels::Block;
use madrigal_ot::softspoken::{CHUNK, FieldBits, SoftSpokenReceiver, SoftSpokenSender};
use madrigal_ot::threads::{ThreadedReceiver, ThreadedSender};
use madrigal_ot::{Delta, Instance, KAPPA, OtError, SeededRng};
use rand_core::Rng;

type Sides = (
    ThreadedSender<SoftSpokenSender>,
    ThreadedReceiver<SoftSpokenReceiver>,
);

/// Instances with ideal base OTs, one Delta and streams of their own.
fn sides(rng: &mut SeededRng, threads: u32, k: u8) -> Sides {
    let k = FieldBits::new(k).unwrap();
    let delta = Delta::random(rng).expose();
    let mut senders = Vec::new();
    let mut receivers = Vec::new();
    for stream in 0..threads {
        let instance = Instance {
            session: [9; 32],
            sender: 0,
            receiver: 1,
            stream,
        };
        let mut block = || Block::new(rng.next_u64(), rng.next_u64());
        let pairs: Vec<[Block; 2]> = (0..KAPPA).map(|_| [block(), block()]).collect();
        let bit = |i: usize| delta.bit(i);
        let keys: Vec<Block> = (0..KAPPA).map(|i| pairs[i][usize::from(bit(i))]).collect();
        let (receiver, setup) = SoftSpokenReceiver::new(instance, k, &pairs).unwrap();
        let delta = Delta::from_block(delta);
        senders.push(SoftSpokenSender::new(instance, k, delta, &keys, &setup).unwrap());
        receivers.push(receiver);
    }
    (
        ThreadedSender::new(senders),
        ThreadedReceiver::new(receivers),
    )
}

#[test]
fn blocks_agree_for_every_number_of_threads() {
    let mut rng = SeededRng::from_seed(Block::new(17, 4));
    for threads in [1, 2, 3, 5] {
        let (mut sender, mut receiver) = sides(&mut rng, threads, 4);
        for m in [0, 1, 129, CHUNK, 2 * CHUNK + 77, 7 * CHUNK - 1] {
            let mut choices = vec![0; m.div_ceil(8)];
            rng.fill_bytes(&mut choices);
            let mut message = vec![0; receiver.message_len(m)];
            assert_eq!(message.len(), sender.message_len(m));
            let mut chosen = vec![Block::ZERO; m];
            let (mut k0, mut k1) = (chosen.clone(), chosen.clone());
            receiver
                .extend_blocks(&choices, m, &mut message, &mut chosen)
                .unwrap();
            sender.extend_blocks(&message, m, &mut k0, &mut k1).unwrap();
            for i in 0..m {
                let one = choices[i / 8] >> (i % 8) & 1 == 1;
                assert!(
                    chosen[i] == if one { k1[i] } else { k0[i] },
                    "OT {i} of {m}"
                );
                assert!(k0[i] != k1[i]);
            }
            // No part repeats another one's outputs.
            let mut all: Vec<u128> = k0.iter().map(|&block| u128::from(block)).collect();
            all.sort_unstable();
            all.dedup();
            assert_eq!(all.len(), m, "{threads} threads");
        }
    }
}

#[test]
fn wrong_lengths_are_told_before_anything_is_done() {
    let mut rng = SeededRng::from_seed(Block::new(17, 5));
    let (mut sender, mut receiver) = sides(&mut rng, 2, 2);
    let m = 3 * CHUNK;
    let mut message = vec![0; receiver.message_len(m)];
    let mut chosen = vec![Block::ZERO; m];
    let choices = vec![0; m / 8];
    let short = receiver.extend_blocks(&choices[1..], m, &mut message, &mut chosen);
    assert!(short.is_err());
    receiver
        .extend_blocks(&choices, m, &mut message, &mut chosen)
        .unwrap();
    let (mut k0, mut k1) = (chosen.clone(), chosen.clone());
    assert!(
        sender
            .extend_blocks(&message[1..], m, &mut k0, &mut k1)
            .is_err()
    );
    sender.extend_blocks(&message, m, &mut k0, &mut k1).unwrap();
    assert!(k0 == chosen);
}

#[test]
fn nothing_is_made_without_instances() {
    let mut sender = ThreadedSender::<SoftSpokenSender>::new(Vec::new());
    let mut receiver = ThreadedReceiver::<SoftSpokenReceiver>::new(Vec::new());
    let [mut k0, mut k1] = [[Block::ZERO; 8]; 2];
    let made = receiver.extend_blocks(&[0], 8, &mut [], &mut k0);
    assert!(matches!(made, Err(OtError::ArgumentLength { .. })));
    let made = sender.extend_blocks(&[], 8, &mut k0, &mut k1);
    assert!(matches!(made, Err(OtError::ArgumentLength { .. })));
}
