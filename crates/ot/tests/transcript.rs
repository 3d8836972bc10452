//! Messages that a party sees do not depend on the other's secret: statistical checks with fixed seeds.

#![allow(
    clippy::unwrap_used,
    reason = "a failed unwrap is a failed test with a location"
)]

use crate::common::{IKNP, INSTANCE, TestRng, ideal_base, iknp_receiver};
use madrigal_kernels::{Block, Prg};
use madrigal_ot::{
    ExtensionReceiver,
    base::{BaseReceiver, BaseSender},
};

/// Chi-square over `counts` against the uniform distribution, as standard deviations from its mean.
fn uniform_score(counts: &[u64]) -> f64 {
    let total: u64 = counts.iter().sum();
    let expected = total as f64 / counts.len() as f64;
    let chi: f64 = counts
        .iter()
        .map(|&c| (c as f64 - expected).powi(2) / expected)
        .sum();
    let freedom = counts.len() as f64 - 1.0;
    (chi - freedom) / (2.0 * freedom).sqrt()
}

/// Chi-square of homogeneity of two samples of equal size, as standard deviations from its mean.
fn homogeneity_score(a: &[u64], b: &[u64]) -> f64 {
    let used = a.iter().zip(b).filter(|&(a, b)| a + b > 0);
    let chi: f64 = used
        .clone()
        .map(|(&a, &b)| (a as f64 - b as f64).powi(2) / (a + b) as f64)
        .sum();
    let freedom = used.count() as f64 - 1.0;
    (chi - freedom) / (2.0 * freedom).sqrt()
}

/// The extension sender knows Delta, its streams and u. Whatever the choices are, u with the known
/// streams taken off is uniform.
#[test]
fn extension_message_is_uniform_for_any_choices() {
    let mut rng = TestRng::new(31);
    let m = 1024;
    for choices in [vec![0u8; m / 8], vec![0xff; m / 8], vec![0x01; m / 8]] {
        let mut sent = vec![0u64; 256];
        let mut unmasked = vec![0u64; 256];
        let mut per_bit = [0u64; 8];
        for _ in 0..40 {
            let delta = rng.block();
            let (keys, pairs) = ideal_base(&mut rng, delta);
            let mut receiver = iknp_receiver(INSTANCE, &pairs);
            let (mut u, mut t) = (vec![0; IKNP.message_len(m)], vec![Block::ZERO; m]);
            let _ = receiver.extend(&choices, m, &mut u, &mut t).unwrap();
            for (j, (column, &key)) in u.chunks_exact_mut(m / 8).zip(&keys).enumerate() {
                column.iter().for_each(|&byte| sent[usize::from(byte)] += 1);
                Prg::numbered(key, INSTANCE.tree_number(j)).xor_into(column);
                for &byte in &*column {
                    unmasked[usize::from(byte)] += 1;
                    (0..8).for_each(|b| per_bit[b] += u64::from(byte >> b & 1));
                }
            }
        }
        for (name, counts) in [("sent", sent), ("unmasked", unmasked)] {
            let score = uniform_score(&counts);
            assert!(
                score.abs() < 5.0,
                "{name} bytes for {:#x}: {score}",
                choices[0]
            );
        }
        let n = 40.0 * IKNP.message_len(m) as f64;
        for (b, &ones) in per_bit.iter().enumerate() {
            let score = (ones as f64 - n / 2.0) / (n.sqrt() / 2.0);
            assert!(score.abs() < 5.0, "bit {b} for {:#x}: {score}", choices[0]);
        }
    }
}

/// The base receiver's elements are distributed alike for choices 0 and 1.
#[test]
fn base_message_is_the_same_for_any_choices() {
    let mut rng = TestRng::new(32);
    let n = 4000;
    let context = INSTANCE;
    let (_, s) = BaseSender::new(rng.rng(), context);
    let mut counts = [vec![0u64; 32 * 16], vec![0u64; 32 * 16]];
    for (choice, counts) in counts.iter_mut().enumerate() {
        let choices = vec![0xff * choice as u8; n / 8];
        let receiver = BaseReceiver::new(context);
        let response = receiver.respond(rng.rng(), &s, &choices, n).unwrap();
        for element in response.message.chunks_exact(32) {
            for (place, byte) in element.iter().enumerate() {
                counts[16 * place + usize::from(byte >> 4)] += 1;
            }
        }
    }
    let score = homogeneity_score(&counts[0], &counts[1]);
    assert!(score.abs() < 5.0, "choices 0 against 1: {score}");
}
