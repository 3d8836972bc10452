//! Tests that the masks that hide the factors are there, and as large as they should be: the product comes out right without.

use madrigal_kernels::Block;
use madrigal_kernels::meter::metered;

use crate::cipher::{Ciphertexts, by_prime, zero};
use crate::layout::{Layout, POLY_BYTES, SEED_BYTES};
use crate::modulus::{Modulus, N, moduli};
use crate::owner::Owner;
use crate::params::Params;
use crate::responder::Responder;
use crate::sample::Small;
use crate::wire;

const WIDTHS: [usize; 4] = [8, 16, 32, 64];

/// The integer of small size that is `x` mod p.
fn centred(modulus: &Modulus, x: u64) -> i64 {
    let (x, p) = (x as i64, modulus.prime() as i64);
    if x > p / 2 { x - p } else { x }
}

fn moments(values: &[i64]) -> [f64; 2] {
    let mean = values.iter().sum::<i64>() as f64 / values.len() as f64;
    let square = values.iter().map(|&x| (x as f64).powi(2)).sum::<f64>() / values.len() as f64;
    [mean, square - mean * mean]
}

/// The noise of each ciphertext of a message that encrypts zeros.
fn noises(owner: &Owner, params: &Params, message: &[u8]) -> Vec<Vec<i64>> {
    let count = (message.len() - SEED_BYTES) / (params.moduli.len() * POLY_BYTES);
    let read = Ciphertexts::read(params, count, message).expect("a message");
    let noise = |(body, public): (&Vec<u64>, &Vec<u64>)| {
        let modulus = &params.moduli[0];
        let mut phase = vec![0; N];
        modulus
            .ntt
            .multiply(&public[..N], &owner.secret[..N], &mut phase);
        modulus.ntt.add_assign(&mut phase, &body[..N]);
        modulus.ntt.inverse(&mut phase);
        phase.iter().map(|&x| centred(modulus, x)).collect()
    };
    read.bodies.iter().zip(&read.publics).map(noise).collect()
}

#[test]
fn keys_and_requests_have_secrets_and_fresh_noise() {
    let params = Params::new(64).expect("a width");
    let mut owner = Owner::new(64, Block::new(1, 1), 1).expect("a width");
    let mut secret = owner.secret[..N].to_vec();
    params.moduli[0].ntt.inverse(&mut secret);
    let secret: Vec<i64> = secret
        .iter()
        .map(|&x| centred(&params.moduli[0], x))
        .collect();
    assert!(secret.iter().all(|x| (-1..=1).contains(x)));
    let [_, variance] = moments(&secret);
    assert!((0.6..0.73).contains(&variance), "{variance}");

    let layout = Layout::new(64, 64, 64, 64).expect("a width");
    let about = layout.requests().next().expect("one");
    let x = vec![0_u64; 64 * 64];
    let messages = [
        owner.public_key(),
        owner.request(&layout, &about, &x),
        owner.request(&layout, &about, &x),
    ];
    let seeds: Vec<&[u8]> = messages
        .iter()
        .map(|message| &message[..SEED_BYTES])
        .collect();
    assert!(seeds[0] != seeds[1] && seeds[1] != seeds[2] && seeds[0] != seeds[2]);
    let mut all: Vec<Vec<i64>> = messages
        .iter()
        .flat_map(|m| noises(&owner, &params, m))
        .collect();
    for noise in &all {
        assert!(noise.iter().all(|x| x.abs() <= 21));
        let [mean, variance] = moments(noise);
        assert!(
            mean.abs() < 0.25 && (10.1..11.0).contains(&variance),
            "{mean}, {variance}"
        );
    }
    let count = all.len();
    all.sort();
    all.dedup();
    assert_eq!(all.len(), count, "noise was used twice");
}

/// The public half for Y = 0 is u a + e, with the u and e that come from the responder's seed; and those
/// of two answers differ.
#[test]
fn the_public_half_is_a_fresh_encryption_of_zero() {
    for bits in WIDTHS {
        let params = Params::new(bits).expect("a width");
        let mut owner = Owner::new(bits, Block::new(1, 1), 1).expect("a width");
        let key = owner.public_key();
        let layout = Layout::new(bits, 2, 2, 2).expect("a width");
        let about = layout.requests().next().expect("one");
        let mut publics = Vec::new();
        let seed = Block::new(2, 2);
        let mut responder = Responder::new(bits, &key, seed, 2).expect("a key");
        macro_rules! answer {
            ($ring:ty) => {{
                let request = owner.request(&layout, &about, &[1 as $ring; 4]);
                let asked = responder
                    .read(&layout, &about, &request)
                    .expect("a request");
                (0..2)
                    .map(|_| {
                        responder.answer(&asked, &(0..2), &[0 as $ring; 4], &mut [0 as $ring; 4])
                    })
                    .collect::<Vec<_>>()
            }};
        }
        let answers = match bits {
            8 => answer!(u8),
            16 => answer!(u16),
            32 => answer!(u32),
            _ => answer!(u64),
        };
        let mut replay = Small::new(seed, 2);
        let kept = params.kept().len();
        let of_key = Ciphertexts::read(&params, 1, &key).expect("a key");
        for answer in &answers {
            let u: Vec<i64> = replay.ternary().collect();
            let (mut masks, mut flooded) = (vec![0; 4], vec![0; 4 * params.moduli.len()]);
            replay.masks(&params, &mut masks, &mut flooded);
            let e: Vec<i64> = replay.binomial().collect();
            let mut expected = zero(params.moduli);
            crate::cipher::values(params.moduli, &u, &mut expected);
            for (index, (modulus, out)) in by_prime(params.moduli, &mut expected).enumerate() {
                let u = out.to_vec();
                modulus
                    .ntt
                    .multiply(&u, &of_key.publics[0][index * N..][..N], out);
                modulus.ntt.inverse(out);
                for (x, &e) in out.iter_mut().zip(&e) {
                    *x = modulus.add(*x, modulus.signed(e));
                }
            }
            assert!(e.iter().any(|&e| e != 0) && u.iter().any(|&u| u != 0));
            params.shrink(&mut expected, N);
            let mut public = vec![0; kept * N];
            wire::read(
                params.kept().iter(),
                &answer[..kept * POLY_BYTES],
                &mut public,
            )
            .expect("an answer");
            assert!(public == expected[..kept * N], "{bits} bits");
            publics.push(public);
        }
        assert!(publics[0] != publics[1]);
    }
}

/// The lowest 64 bits of an integer, from its digits to the bases of the primes.
fn lowest_word(digits: &[u64]) -> u64 {
    let primes = moduli().iter().map(Modulus::prime);
    let digits = digits.iter().zip(primes).rev();
    digits.fold(0, |word: u64, (&digit, prime)| {
        word.wrapping_mul(prime).wrapping_add(digit)
    })
}

/// Floods as integers, by digits to the bases of the primes: they fill their range to the last bit, from
/// the first one on.
#[test]
fn floods_fill_their_range() {
    for bits in WIDTHS {
        let params = Params::new(bits).expect("a width");
        let (count, primes) = (2000, params.moduli.len());
        let (mut masks, mut flooded) = (vec![0; count], vec![0; primes * count]);
        Small::new(Block::new(1, 2), 2).masks(&params, &mut masks, &mut flooded);
        let mut tops = Vec::new();
        let mut lowest: Vec<Vec<u64>> = vec![Vec::new(); 2];
        for i in 0..count {
            // The flood from 0 on, below 2^(flood + 1).
            let mut residues: Vec<u64> = (0..primes)
                .map(|index| {
                    let modulus = &moduli()[index];
                    let flood =
                        modulus.sub(flooded[index * count + i], params.encode(masks[i], index));
                    modulus.add(flood, modulus.power(2, params.flood as u64))
                })
                .collect();
            let mut digits = Vec::new();
            for at in 0..primes {
                let digit = residues[at];
                digits.push(digit);
                for (modulus, residue) in moduli().iter().zip(&mut residues).skip(at + 1) {
                    let rest = modulus.sub(*residue, modulus.reduce_word(digit));
                    *residue = modulus.mul(rest, modulus.inverse(moduli()[at].prime()));
                }
            }
            // A digit is worth 50 bits and a little less.
            let at = params.flood / 50;
            assert!(
                digits[at + 1..].iter().all(|&digit| digit == 0),
                "{bits} bits"
            );
            let range = (1_u64 << (params.flood + 1 - 50 * at)) as f64;
            tops.push(digits[at] as f64 / range);
            lowest[0].push(digits[0]);
            lowest[1].push(lowest_word(&digits));
        }
        let highest = tops.iter().copied().fold(0.0, f64::max);
        let mean = tops.iter().sum::<f64>() / count as f64;
        assert!(
            (0.99..1.001).contains(&highest) && (mean - 0.5).abs() < 0.03,
            "{bits} bits: {highest}, {mean}"
        );
        for digits in &mut lowest {
            digits.sort_unstable();
            digits.dedup();
            assert_eq!(digits.len(), count, "{bits} bits: a digit came twice");
        }
    }
}

/// An answered element is, with Y uniform and 2^20 terms, the most there are, within 2^-60 of one that
/// shows the product alone.
#[test]
fn floods_drown_the_noise() {
    for bits in WIDTHS {
        let params = Params::new(bits).expect("a width");
        // Noise of samples and of rounding their messages, by uniform elements.
        let variance = (10.5 + 1.0 / 12.0) / 12.0 * 2_f64.powi(20);
        let mean = (variance * 2.0 / std::f64::consts::PI).sqrt().log2() + bits as f64;
        let distance = mean - (params.flood + 1) as f64;
        assert!(distance <= -60.0, "{bits} bits: 2^{distance:.1}");
    }
}

/// Each step computes the AES blocks that are declared, public halves included.
#[test]
fn declared_blocks_are_computed() {
    for bits in WIDTHS {
        let layout = Layout::new(bits, 70, 90, 50).expect("a width");
        let about = layout.requests().next().expect("one");
        let declared = layout.aes_blocks(&about);
        let [_, make, take] = Responder::key_cost(bits).expect("a width");
        let seed = Block::new(1, 1);
        let (owner, spent) = metered(|| Owner::new(bits, seed, 1));
        assert_eq!(spent, Owner::AES_BLOCKS);
        let mut owner = owner.expect("a width");
        let (key, spent) = metered(|| owner.public_key());
        assert_eq!(spent, make);
        let (responder, spent) = metered(|| Responder::new(bits, &key, seed, 2));
        assert_eq!(spent, take);
        let mut responder = responder.expect("a key");
        macro_rules! product {
            ($ring:ty) => {{
                let (mut owners, mut responders) = (0, 0);
                let (request, spent) =
                    metered(|| owner.request(&layout, &about, &[1 as $ring; 70 * 90]));
                owners += spent;
                let (asked, spent) = metered(|| responder.read(&layout, &about, &request));
                responders += spent;
                let asked = asked.expect("a request");
                let (y, z) = ([1 as $ring; 90 * 50], &mut [0 as $ring; 70 * 50]);
                for columns in layout.answers() {
                    let (answer, spent) = metered(|| responder.answer(&asked, &columns, &y, z));
                    responders += spent;
                    let (opened, spent) =
                        metered(|| owner.open(&layout, &about, &columns, &answer, z));
                    owners += spent;
                    opened.expect("an answer");
                }
                [owners, responders]
            }};
        }
        let spent = match bits {
            8 => product!(u8),
            16 => product!(u16),
            32 => product!(u32),
            _ => product!(u64),
        };
        assert_eq!(spent, [declared.owner, declared.responder], "{bits} bits");
    }
}
