//! The declared AES blocks of every step are those that it computes, at either side.
#![allow(
    clippy::unwrap_used,
    reason = "a failed unwrap is a failed test with a location"
)]

use madrigal_kernels::{Block, meter::metered};
use madrigal_ot::base::endemic::{EndemicReceiver, EndemicSender};
#[cfg(feature = "ml-kem")]
use madrigal_ot::base::kem::{self, KemReceiver};
use madrigal_ot::base::{BaseReceiver, BaseSender};
use madrigal_ot::cost::{self, Cost};
use madrigal_ot::flavour::{self, OneOf};
use madrigal_ot::silent::{SilentParams, SilentReceiver, SilentSender};
use madrigal_ot::softspoken::{CHUNK, FieldBits, SoftSpokenReceiver, SoftSpokenSender};
use madrigal_ot::threads::{ThreadedReceiver, ThreadedSender};
use madrigal_ot::{Delta, ExtensionReceiver, ExtensionSender, Instance, KAPPA};

use crate::common::{INSTANCE, Rows, SIZES, TestRng, extend, ideal_base, ideal_softspoken};

/// Adds up what one side computes.
#[derive(Default)]
struct Side(u64);

impl Side {
    fn does<R>(&mut self, work: impl FnOnce() -> R) -> R {
        let (result, blocks) = metered(work);
        self.0 += blocks;
        result
    }
}

#[track_caller]
fn check(sender: &Side, receiver: &Side, declared: Cost, about: &str) {
    assert_eq!(
        (sender.0, receiver.0),
        (declared.sender_aes, declared.receiver_aes),
        "{about}"
    );
}

#[test]
fn base_ots() {
    let mut rng = TestRng::new(101);
    for n in [0, 1, 7, KAPPA] {
        let choices = rng.bytes(n.div_ceil(8));
        let (mut sends, mut receives) = (Side::default(), Side::default());
        let (sender, s) = sends.does(|| BaseSender::new(rng.rng(), INSTANCE));
        let response = receives.does(|| {
            let receiver = BaseReceiver::new(INSTANCE);
            receiver.respond(rng.rng(), &s, &choices, n).unwrap()
        });
        sends.does(|| sender.finish(&response.message, n).unwrap());
        check(&sends, &receives, cost::base(n as u64), &format!("{n}"));

        let (mut sends, mut receives) = (Side::default(), Side::default());
        let (sender, b) = sends.does(|| EndemicSender::new(rng.rng(), INSTANCE));
        let (receiver, m) =
            receives.does(|| EndemicReceiver::new(rng.rng(), INSTANCE, &choices, n).unwrap());
        sends.does(|| sender.finish(&m, n).unwrap());
        receives.does(|| receiver.finish(&b).unwrap());
        let declared = cost::base_endemic(n as u64);
        check(&sends, &receives, declared, &format!("{n}, endemic"));
    }
}

#[test]
#[cfg(feature = "ml-kem")]
fn base_ots_from_ml_kem() {
    let mut rng = TestRng::new(106);
    for n in [0_usize, 1, 9] {
        let choices = rng.bytes(n.div_ceil(8));
        let (mut sends, mut receives) = (Side::default(), Side::default());
        let (receiver, message) =
            receives.does(|| KemReceiver::new(rng.rng(), INSTANCE, &choices, n).unwrap());
        let response = sends.does(|| kem::respond(INSTANCE, &message, n).unwrap());
        receives.does(|| receiver.finish(&response.message).unwrap());
        check(&sends, &receives, cost::base_kem(n as u64), &format!("{n}"));
    }
}

#[test]
fn softspoken() {
    let mut rng = TestRng::new(102);
    for k in FieldBits::all() {
        let (mut sends, mut receives) = (Side::default(), Side::default());
        let delta = rng.block();
        let (keys, pairs) = ideal_base(&mut rng, delta);
        let (mut receiver, setup) =
            receives.does(|| SoftSpokenReceiver::new(INSTANCE, k, &pairs).unwrap());
        let delta = Delta::from_block(delta);
        let mut sender =
            sends.does(|| SoftSpokenSender::new(INSTANCE, k, delta, &keys, &setup).unwrap());
        let about = format!("the start, {k:?}");
        check(&sends, &receives, cost::softspoken_setup(k), &about);

        for m in SIZES {
            let (mut sends, mut receives) = (Side::default(), Side::default());
            let choices = rng.bytes(m.div_ceil(8));
            let (mut u, mut rows) = (vec![0; k.message_len(m)], vec![Block::ZERO; m]);
            let _ = receives.does(|| receiver.extend(&choices, m, &mut u, &mut rows).unwrap());
            let _ = sends.does(|| sender.extend(&u, m, &mut rows).unwrap());
            let declared = sender.cost(m);
            check(&sends, &receives, declared, &format!("{m} rows, {k:?}"));

            let (mut sends, mut receives) = (Side::default(), Side::default());
            let mut bits = [(); 3].map(|()| vec![0; m.div_ceil(8)]);
            let [out, k0, k1] = &mut bits;
            receives.does(|| receiver.extend_bits(&choices, m, &mut u, out).unwrap());
            sends.does(|| sender.extend_bits(&u, m, k0, k1).unwrap());
            let declared = sender.cost(m) + cost::random(m as u64);
            check(&sends, &receives, declared, &format!("{m} bits, {k:?}"));

            let (mut sends, mut receives) = (Side::default(), Side::default());
            let (mut k0, mut k1) = (rows.clone(), rows.clone());
            receives.does(|| {
                receiver
                    .extend_blocks(&choices, m, &mut u, &mut rows)
                    .unwrap();
            });
            sends.does(|| sender.extend_blocks(&u, m, &mut k0, &mut k1).unwrap());
            check(&sends, &receives, declared, &format!("{m} blocks, {k:?}"));
        }
    }
}

/// The helpers' blocks count as the caller's.
#[test]
fn threads() {
    let mut rng = TestRng::new(103);
    let k = FieldBits::new(4).unwrap();
    let (mut senders, mut receivers) = (Vec::new(), Vec::new());
    for stream in 0..3 {
        let instance = Instance { stream, ..INSTANCE };
        let delta = rng.block();
        let (keys, pairs) = ideal_base(&mut rng, delta);
        let (receiver, setup) = SoftSpokenReceiver::new(instance, k, &pairs).unwrap();
        let delta = Delta::from_block(delta);
        senders.push(SoftSpokenSender::new(instance, k, delta, &keys, &setup).unwrap());
        receivers.push(receiver);
    }
    let mut sender = ThreadedSender::new(senders);
    let mut receiver = ThreadedReceiver::new(receivers);
    let m = 3 * CHUNK;
    let (mut sends, mut receives) = (Side::default(), Side::default());
    let (choices, mut u) = (rng.bytes(m / 8), vec![0; receiver.message_len(m)]);
    let [mut out, mut k0, mut k1] = [(); 3].map(|()| vec![Block::ZERO; m]);
    receives.does(|| {
        receiver
            .extend_blocks(&choices, m, &mut u, &mut out)
            .unwrap();
    });
    sends.does(|| sender.extend_blocks(&u, m, &mut k0, &mut k1).unwrap());
    let declared = cost::softspoken(k, m as u64) + cost::random(m as u64);
    check(&sends, &receives, declared, "three threads");
}

/// Blocks that flavours make of rows cost what is declared.
#[test]
fn flavours() {
    let mut rng = TestRng::new(104);
    let (mut sender, mut receiver) = ideal_softspoken(&mut rng, FieldBits::MIN);
    let mut rows = |m| extend(&mut rng, &mut sender, &mut receiver, m);
    let delta = Delta::from_block(Block::ONES);
    for m in SIZES {
        for len in [0, 1, 16, 17, 100] {
            let Rows {
                q,
                t,
                sender_tweaks,
                receiver_tweaks,
                choices,
                ..
            } = rows(m);
            let (mut sends, mut receives) = (Side::default(), Side::default());
            let [mut out, mut k0, mut k1] =
                [(); 3].map(|()| madrigal_core::Zeroizing::new(vec![0; m * len]));
            sends.does(|| {
                flavour::sender_random_strings(&delta, sender_tweaks, &q, len, &mut k0, &mut k1)
                    .unwrap();
            });
            receives.does(|| {
                flavour::receiver_random_strings(receiver_tweaks, &t, len, &mut out).unwrap();
            });
            let declared = cost::random_strings(m as u64, len as u64);
            check(
                &sends,
                &receives,
                declared,
                &format!("{m} strings of {len}"),
            );

            let (mut sends, mut receives) = (Side::default(), Side::default());
            let x = vec![0; m * len];
            let message =
                sends.does(|| flavour::sender_correlated_strings(&x, &k0, k1.clone()).unwrap());
            receives.does(|| {
                flavour::receiver_correlated_strings(&choices, len, &message, &mut out).unwrap();
            });
            let declared = cost::correlated_strings(m as u64, len as u64);
            check(&sends, &receives, declared, "correlated");
            let message = sends.does(|| flavour::sender_chosen_strings(&x, &x, k0, k1).unwrap());
            receives.does(|| {
                flavour::receiver_chosen_strings(&choices, len, &message, &mut out).unwrap();
            });
            let declared = cost::chosen_strings(m as u64, len as u64);
            check(&sends, &receives, declared, "chosen");
        }
    }
    for n in [2, 3, 16, 100] {
        let of = OneOf::new(n).unwrap();
        let ots = 37;
        let Rows {
            q,
            t,
            sender_tweaks,
            receiver_tweaks,
            ..
        } = rows(ots * of.rows());
        let (mut sends, mut receives) = (Side::default(), Side::default());
        sends.does(|| {
            let mut out = vec![Block::ZERO; ots * n];
            flavour::sender_random_one_of(of, &delta, sender_tweaks, &q, &mut out).unwrap();
        });
        receives.does(|| {
            let mut out = vec![Block::ZERO; ots];
            flavour::receiver_random_one_of(of, receiver_tweaks, &t, &mut out).unwrap();
        });
        let declared = cost::random_one_of(ots as u64, of);
        check(&sends, &receives, declared, &format!("one of {n}"));
    }
}

/// Through all stages, and past the first renewal of the last.
#[test]
fn silent() {
    let params = SilentParams::SMALL;
    let mut rng = TestRng::new(105);
    // The cost does not depend on whether the two sides' rows belong together.
    let (base, choices) = (
        rng.blocks(params.base_rows()),
        rng.bytes(params.base_rows().div_ceil(8)),
    );
    let delta = Delta::random_odd(rng.rng());
    let mut sender = SilentSender::new(rng.rng(), INSTANCE, params, delta, &base).unwrap();
    let mut receiver = SilentReceiver::new(INSTANCE, params, &choices, &base).unwrap();
    let mut made = 0;
    for m in [0, 1, 127, 5000, 300_000, 1] {
        let (mut sends, mut receives) = (Side::default(), Side::default());
        let mut message = vec![0; sender.message_len(m)];
        let (mut choices, mut rows) = (vec![0; m.div_ceil(8)], vec![Block::ZERO; m]);
        let _ = sends.does(|| sender.extend(m, &mut message, &mut rows).unwrap());
        let _ = receives.does(|| {
            receiver
                .extend(&message, m, &mut choices, &mut rows)
                .unwrap()
        });
        let declared = params.cost(made, m);
        check(&sends, &receives, declared, &format!("{m} after {made}"));
        made += m as u64;
    }
}
