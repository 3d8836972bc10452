//! Base OTs from ML-KEM-768 (FIPS 203), for security against quantum computers: the endemic OT of
//! Masny and Rindal (CCS 2019, section 5) with their lattice key agreement replaced by the KEM it
//! became. Feature `ml-kem`.
//!
//! An encapsulation key of ML-KEM is a vector t over Z_q (768 coefficients, q = 3329, encoded in 12
//! bits each) and a seed rho of the public matrix. Vectors are a group, so keys can be masked by
//! a hash T to it:
//!
//! 1. The receiver with choices c_i makes a key pair (t_i, rho_i), draws a uniform vector
//!    M_{i,1-c_i}, and sends rho_i, M_{i,0}, M_{i,1} with M_{i,c_i} = t_i - T(i, c_i, M_{i,1-c_i}).
//! 2. The sender encapsulates to both keys (M_{i,b} + T(i, b, M_{i,1-b}), rho_i) and sends both
//!    ciphertexts; its keys are H(i, b, ..., shared secret b).
//! 3. The receiver decapsulates that of its choice.
//!
//! Per OT 2336 bytes one way and 2176 the other: 564 KiB for 128.
//!
//! # Security
//! Semi-honest, static. The choice is hidden if module LWE is hard: given rho, t_i is then
//! pseudorandom, so both vectors are. The other key is hidden: its vector is uniform, as M_{i,1-c_i}
//! is, hence by module LWE with the same matrix as good as an honest key of which nobody holds the
//! secret, and then by the secrecy of ML-KEM its shared secret is pseudorandom. T makes the
//! construction that of the paper, where a receiver that cheats cannot choose both keys either
//! (T and H random oracles); nothing here relies on that. T is SHA-512 in counter mode,
//! reduced mod q from 96 bits for each coefficient (what is read is as long whatever it is), H is SHA-256 cut to 128 bits; both bind the session, the parties, the stream and i,
//! H all that was sent for OT i besides. Masks, swaps and sums are without branches on the choice;
//! ML-KEM is that of aws-lc. Its key pairs and ciphertexts draw from the library's own generator,
//! which the operating system seeds.

use aws_lc_rs::kem::{Ciphertext, DecapsulationKey, EncapsulationKey, ML_KEM_768};
use madrigal_core::Zeroizing;
use madrigal_core::domains::{KEM_KEY, KEM_VECTOR};
use madrigal_kernels::{Block, marks};
use rand_core::CryptoRng;
use sha2::{Digest, Sha256, Sha512};
use subtle::{Choice, ConditionallySelectable};

use super::first_block;
use crate::{
    Instance, OtError,
    error::{Message, check_argument, check_message},
    select::bit,
};

/// The modulus q.
const MODULUS: u16 = 3329;
/// Coefficients of a vector: 3 polynomials of degree below 256.
const COEFFICIENTS: usize = 768;
/// Bytes of an encoded vector, 12 bits per coefficient.
const VECTOR_BYTES: usize = COEFFICIENTS / 2 * 3;
/// Bytes of rho.
const SEED_BYTES: usize = 32;
/// Bytes of a ciphertext of ML-KEM-768.
const CIPHERTEXT_BYTES: usize = 1088;
/// Bytes that the receiver sends per OT.
const KEYS_BYTES: usize = SEED_BYTES + 2 * VECTOR_BYTES;

/// Length in bytes of the receiver's message for `n` base OTs.
pub const fn keys_len(n: usize) -> usize {
    n.saturating_mul(KEYS_BYTES)
}

/// Length in bytes of the sender's message for `n` base OTs.
pub const fn ciphertexts_len(n: usize) -> usize {
    n.saturating_mul(2 * CIPHERTEXT_BYTES)
}

/// The sender's message and its keys.
pub struct KemResponse {
    /// Both ciphertexts of every OT, to send.
    pub message: Vec<u8>,
    /// Both keys of every OT; secret.
    pub keys: Zeroizing<Vec<[Block; 2]>>,
}

madrigal_core::opaque!(KemResponse);

/// The sender's only step: reads the receiver's message for `n` OTs ([`keys_len`] bytes) and answers.
///
/// # Errors
/// [`OtError::MessageLength`] or [`OtError::Coefficient`] for the message, [`OtError::Kem`] if the
/// library fails.
pub fn respond(instance: Instance, message: &[u8], n: usize) -> Result<KemResponse, OtError> {
    check_message(Message::BaseKeys, message, keys_len(n))?;
    let mut ciphertexts = Vec::with_capacity(ciphertexts_len(n));
    let mut keys = Zeroizing::new(Vec::with_capacity(n));
    for (i, keys_of_one) in message.chunks_exact(KEYS_BYTES).enumerate() {
        let (rho, vectors) = keys_of_one.split_at(SEED_BYTES);
        let (m0, m1) = vectors.split_at(VECTOR_BYTES);
        let bad = |side: usize| OtError::Coefficient {
            message: Message::BaseKeys,
            index: 2 * i + side,
        };
        let parsed = [
            Vector::decode(m0).ok_or(bad(0))?,
            Vector::decode(m1).ok_or(bad(1))?,
        ];
        let mut pair = [Block::ZERO; 2];
        for (side, key) in pair.iter_mut().enumerate() {
            let other = if side == 0 { m1 } else { m0 };
            let t = parsed[side].add(&hash_to_vector(&instance, i, side as u8, other));
            let mut encoded = t.encode().to_vec();
            encoded.extend_from_slice(rho);
            let failed = OtError::Kem {
                operation: "encapsulation",
            };
            let Ok(key_of_side) = EncapsulationKey::new(&ML_KEM_768, &encoded) else {
                return Err(failed);
            };
            let (ciphertext, shared) = key_of_side.encapsulate().map_err(|_| failed)?;
            let ciphertext = ciphertext.as_ref();
            *key = derive(
                &instance,
                i,
                side as u8,
                keys_of_one,
                ciphertext,
                shared.as_ref(),
            );
            ciphertexts.extend_from_slice(ciphertext);
        }
        keys.push(pair);
    }
    Ok(KemResponse {
        message: ciphertexts,
        keys,
    })
}

/// The receiver between its message and the sender's. Holds the choices and the secret keys.
pub struct KemReceiver {
    instance: Instance,
    choices: Zeroizing<Vec<u8>>,
    secrets: Vec<DecapsulationKey>,
    message: Vec<u8>,
}

impl KemReceiver {
    /// Makes the keys for `n` OTs with the given packed choices (`ceil(n / 8)` bytes) and returns
    /// the state with the message, [`keys_len`] bytes.
    ///
    /// # Errors
    /// [`OtError::ArgumentLength`] for the choices, [`OtError::Kem`] if the library fails.
    pub fn new(
        rng: &mut impl CryptoRng,
        instance: Instance,
        choices: &[u8],
        n: usize,
    ) -> Result<(Self, Vec<u8>), OtError> {
        check_argument("choices", n.div_ceil(8), choices.len())?;
        let failed = |_| OtError::Kem {
            operation: "key generation",
        };
        let mut secrets = Vec::with_capacity(n);
        let mut message = Vec::with_capacity(keys_len(n));
        for i in 0..n {
            let choice = bit(choices, i);
            let secret = DecapsulationKey::generate(&ML_KEM_768).map_err(failed)?;
            let public = secret.encapsulation_key().map_err(failed)?;
            let public = public.key_bytes().map_err(failed)?;
            let (t, rho) = public.as_ref().split_at(VECTOR_BYTES);
            let t = Vector::decode(t).ok_or(OtError::Kem {
                operation: "key generation",
            })?;
            let other = random_vector(rng).encode();
            let mask = hash_to_vector(&instance, i, choice, &other);
            let (mut m0, mut m1) = (t.sub(&mask).encode(), other);
            for (m0, m1) in m0.iter_mut().zip(&mut m1) {
                u8::conditional_swap(m0, m1, Choice::from(choice));
            }
            message.extend_from_slice(rho);
            message.extend_from_slice(&m0);
            message.extend_from_slice(&m1);
            secrets.push(secret);
        }
        // It is sent, and as good as uniform whatever the choices are.
        marks::public(&mut *message);
        let receiver = KemReceiver {
            instance,
            choices: Zeroizing::new(choices.to_vec()),
            secrets,
            message: message.clone(),
        };
        Ok((receiver, message))
    }

    /// Reads the sender's message ([`ciphertexts_len`] bytes) and returns the key that each choice
    /// selects. A ciphertext that was tampered with gives another key, not an error.
    ///
    /// # Errors
    /// [`OtError::MessageLength`] for the message, [`OtError::Kem`] if the library fails.
    pub fn finish(self, ciphertexts: &[u8]) -> Result<Zeroizing<Vec<Block>>, OtError> {
        let n = self.secrets.len();
        check_message(Message::BaseCiphertexts, ciphertexts, ciphertexts_len(n))?;
        let pairs = ciphertexts.chunks_exact(2 * CIPHERTEXT_BYTES);
        let sent = self.message.chunks_exact(KEYS_BYTES);
        let mut keys = Zeroizing::new(Vec::with_capacity(n));
        for (i, ((secret, pair), sent)) in self.secrets.iter().zip(pairs).zip(sent).enumerate() {
            let choice = bit(&self.choices, i);
            let (zero, one) = pair.split_at(CIPHERTEXT_BYTES);
            // The place of the chosen one among the two tells the choice.
            let mut chosen = Zeroizing::new([0u8; CIPHERTEXT_BYTES]);
            for (chosen, (zero, one)) in chosen.iter_mut().zip(zero.iter().zip(one)) {
                *chosen = u8::conditional_select(zero, one, Choice::from(choice));
            }
            let shared = secret
                .decapsulate(Ciphertext::from(&chosen[..]))
                .map_err(|_| OtError::Kem {
                    operation: "decapsulation",
                })?;
            keys.push(derive(
                &self.instance,
                i,
                choice,
                sent,
                &*chosen,
                shared.as_ref(),
            ));
        }
        Ok(keys)
    }
}

madrigal_core::opaque!(KemReceiver);

/// A vector over Z_q; every coefficient is below q.
struct Vector([u16; COEFFICIENTS]);

impl Vector {
    /// FIPS 203, ByteDecode_12 of each polynomial; nothing if a coefficient is not below q or if
    /// the length is wrong. The bytes are public or about to be.
    fn decode(bytes: &[u8]) -> Option<Self> {
        if bytes.len() != VECTOR_BYTES {
            return None;
        }
        let mut out = [0; COEFFICIENTS];
        for (pair, bytes) in out
            .as_chunks_mut::<2>()
            .0
            .iter_mut()
            .zip(bytes.as_chunks::<3>().0)
        {
            *pair = twelve_bits(*bytes);
        }
        out.iter().all(|&c| c < MODULUS).then_some(Vector(out))
    }

    /// FIPS 203, ByteEncode_12 of each polynomial.
    fn encode(&self) -> [u8; VECTOR_BYTES] {
        let mut out = [0; VECTOR_BYTES];
        for (bytes, [a, b]) in out
            .as_chunks_mut::<3>()
            .0
            .iter_mut()
            .zip(self.0.as_chunks().0)
        {
            *bytes = [*a as u8, (a >> 8 | b << 4) as u8, (b >> 4) as u8];
        }
        out
    }

    fn add(&self, other: &Self) -> Self {
        Vector(core::array::from_fn(|i| reduce(self.0[i] + other.0[i])))
    }

    fn sub(&self, other: &Self) -> Self {
        Vector(core::array::from_fn(|i| {
            reduce(self.0[i] + MODULUS - other.0[i])
        }))
    }
}

/// Reduces a number below 2 q to one below q, without a branch.
fn reduce(x: u16) -> u16 {
    let difference = x.wrapping_sub(MODULUS);
    difference.wrapping_add(MODULUS & (difference >> 15).wrapping_neg())
}

/// The two numbers in three bytes.
fn twelve_bits([a, b, c]: [u8; 3]) -> [u16; 2] {
    let (a, b, c) = (u16::from(a), u16::from(b), u16::from(c));
    [a | (b & 0xf) << 8, b >> 4 | c << 4]
}

/// Bytes that a coefficient is made of: 96 bits reduced mod q are 2^-86 from uniform, so that the 384
/// vectors of 128 OTs are 2^-68 from uniform together.
const WIDE_BYTES: usize = 12;
/// Bytes that a vector is made of, whatever they are: rejection would take a time that depends on
/// them, and whether they were hashed for one choice or for the other is secret.
pub(crate) const SAMPLE_BYTES: usize = COEFFICIENTS * WIDE_BYTES;
/// Bytes of SHA-512.
const DIGEST_BYTES: usize = 64;

/// A vector of as many wide numbers mod q, without a branch.
fn sample(bytes: &[u8; SAMPLE_BYTES]) -> Vector {
    let wide = bytes.as_chunks::<WIDE_BYTES>().0;
    Vector(core::array::from_fn(|i| {
        let words = wide[i].as_chunks::<4>().0.iter().rev();
        words.fold(0, |high, word| {
            reduce_wide(u64::from(high) << 32 | u64::from(u32::from_le_bytes(*word)))
        })
    }))
}

/// Reduces a number below 2^32 q to one below q, by Barrett's reduction rather than by a division, whose time may
/// depend on the number.
fn reduce_wide(x: u64) -> u16 {
    const INVERSE: u128 = (1 << 64) / MODULUS as u128;
    // At most one too small.
    let quotient = ((u128::from(x) * INVERSE) >> 64) as u64;
    reduce((x - quotient * u64::from(MODULUS)) as u16)
}

fn random_vector(rng: &mut impl CryptoRng) -> Vector {
    let mut bytes = [0; SAMPLE_BYTES];
    rng.fill_bytes(&mut bytes);
    sample(&bytes)
}

/// T.
fn hash_to_vector(instance: &Instance, i: usize, side: u8, other: &[u8]) -> Vector {
    let seed = instance
        .hash::<Sha512>(KEM_VECTOR)
        .chain_update((i as u64).to_le_bytes())
        .chain_update([side])
        .chain_update(other)
        .finalize();
    let mut bytes = [0; SAMPLE_BYTES];
    let blocks = bytes.as_chunks_mut::<DIGEST_BYTES>().0;
    for (counter, block) in (0u32..).zip(blocks) {
        let hash = Sha512::new()
            .chain_update(seed)
            .chain_update(counter.to_le_bytes());
        *block = hash.finalize().into();
    }
    sample(&bytes)
}

/// H: all fields have fixed lengths, so the input determines them.
fn derive(
    instance: &Instance,
    i: usize,
    side: u8,
    keys: &[u8],
    ciphertext: &[u8],
    shared: &[u8],
) -> Block {
    let hash = instance
        .hash::<Sha256>(KEM_KEY)
        .chain_update((i as u64).to_le_bytes())
        .chain_update([side])
        .chain_update(keys)
        .chain_update(ciphertext)
        .chain_update(shared);
    first_block(hash.finalize().into())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::SeededRng;
    use rand_core::Rng;

    /// Bytes drawn from a generator, which gives no others.
    struct Counting(SeededRng, usize);

    impl rand_core::TryRng for Counting {
        type Error = core::convert::Infallible;

        fn try_next_u32(&mut self) -> Result<u32, Self::Error> {
            self.1 += 4;
            self.0.try_next_u32()
        }

        fn try_next_u64(&mut self) -> Result<u64, Self::Error> {
            self.1 += 8;
            self.0.try_next_u64()
        }

        fn try_fill_bytes(&mut self, out: &mut [u8]) -> Result<(), Self::Error> {
            self.1 += out.len();
            self.0.try_fill_bytes(out)
        }
    }

    impl rand_core::TryCryptoRng for Counting {}

    /// A vector takes an amount of the stream that does not depend on the stream. By rejection it did.
    #[test]
    fn vectors_take_as_much_whatever_they_are() {
        for seed in 0..100 {
            let mut rng = Counting(SeededRng::from_seed(Block::new(seed, 4)), 0);
            let vector = random_vector(&mut rng);
            assert_eq!(rng.1, SAMPLE_BYTES, "seed {seed}");
            assert!(vector.0.iter().all(|&c| c < MODULUS));
        }
    }

    /// The reduction is that of the number; over many numbers each residue comes as often.
    #[test]
    fn wide_numbers_are_reduced() {
        let q = u64::from(MODULUS);
        for x in (0..=q).chain((q << 32) - 3 * q..q << 32) {
            assert_eq!(u64::from(reduce_wide(x)), x % q);
        }
        let mut rng = SeededRng::from_seed(Block::new(3, 4));
        let mut counts = vec![0u32; usize::from(MODULUS)];
        let rounds = 200;
        for _ in 0..rounds {
            let mut bytes = [0; SAMPLE_BYTES];
            rng.fill_bytes(&mut bytes);
            let vector = sample(&bytes);
            for (c, bytes) in vector.0.iter().zip(bytes.chunks(WIDE_BYTES)) {
                let mut wide = [0; 16];
                wide[..WIDE_BYTES].copy_from_slice(bytes);
                let x = u128::from_le_bytes(wide) % u128::from(MODULUS);
                assert_eq!(u128::from(*c), x);
                counts[usize::from(*c)] += 1;
            }
        }
        let mean = f64::from(rounds) * COEFFICIENTS as f64 / f64::from(MODULUS);
        let chi: f64 = counts
            .iter()
            .map(|&n| (f64::from(n) - mean).powi(2) / mean)
            .sum();
        let freedom = f64::from(MODULUS) - 1.0;
        let score = (chi - freedom) / (2.0 * freedom).sqrt();
        assert!(score.abs() < 5.0, "{score}");
    }

    #[test]
    fn vectors_are_a_group() {
        let mut rng = SeededRng::from_seed(Block::new(9, 9));
        let (a, b) = (random_vector(&mut rng), random_vector(&mut rng));
        assert!(Vector::decode(&a.encode()).unwrap().0 == a.0);
        assert!(a.add(&b).sub(&b).0 == a.0);
        assert!(a.add(&b).0.iter().all(|&c| c < MODULUS));
        assert!(a.sub(&a).0 == [0; COEFFICIENTS]);
        let mut bytes = a.encode();
        (bytes[1], bytes[0]) = (bytes[1] | 0x0f, 0xff);
        assert!(Vector::decode(&bytes).is_none());
        for x in 0..2 * MODULUS {
            assert_eq!(reduce(x), x % MODULUS);
        }
    }
}
