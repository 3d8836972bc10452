//! Base OTs: OT* of Hauck and Loss (ePrint 2017/1011) as MOTION 5.1.1 uses it, random OTs on
//! Ristretto255.
//!
//! With generator G, hash to the group T(.) and key hash H:
//!
//! 1. The sender draws y and sends S = yG (32 bytes).
//! 2. The receiver with choices c_i draws x_i and sends R_i = x_i G + c_i T, T = T(S) (32 n bytes).
//!    The receiver's keys are H(i, S, R_i, x_i S).
//! 3. The sender's keys are H(i, S, R_i, y R_i) and H(i, S, R_i, y (R_i - T)).
//!
//! It is Chou and Orlandi's "simplest OT" with T(S) in the place of S.
//!
//! # Security
//! Semi-honest, static; Hauck and Loss prove it against malicious parties, in the random oracle model. The choices are hidden perfectly: R_i is uniform whatever c_i is. The
//! other key is hidden under CDH in Ristretto255, both hashes being modelled as random oracles:
//! whoever asks H for x_i S and for x_i S -+ yT knows yT, the Diffie-Hellman value of S and T(S).
//! H is SHA-256 cut to 128 bits, T is SHA-512 followed by the Ristretto map; both bind the
//! session, the two parties, the stream and S, and H binds i and R_i besides. The session
//! identifier must be fresh for every run.
//!
//! Neither time nor memory access depends on a secret: fixed-base and variable-base products are
//! those of curve25519-dalek in constant time (its AVX2 backend where the processor has it), the
//! choice is applied by a constant-time selection.
//!
//! # The default, and the others
//! This one is the default: the fewest bytes (32 per OT), the least work, and hidden choices
//! whatever computers come. [`endemic`] saves a round where latency counts more than 4 KiB;
//! `kem` (feature `ml-kem`) withstands quantum computers for half a megabyte. Each gives what an
//! extension starts from: pairs of keys to the sender, the chosen ones to the receiver.
//!
//! # Deviations
//! Scalars are drawn as halves: with x = 2x', y = 2y' and T = 2T' all hashed or sent elements are
//! doubles of what is computed, and doubles can be encoded in batches with one inversion. The
//! group's order is odd, hence the distributions are the same.

pub mod endemic;
#[cfg(feature = "ml-kem")]
pub mod kem;

use curve25519_dalek::{
    RistrettoPoint, Scalar,
    ristretto::{CompressedRistretto, RistrettoBasepointTable},
    traits::IsIdentity,
};
use madrigal_core::Zeroizing;
// For elements of the curve and its field, which are not plain.
use madrigal_core::domains::{BASE_GROUP, BASE_KEY};
use madrigal_kernels::{Block, marks};
use rand_core::CryptoRng;
use sha2::{Digest, Sha256, Sha512};
use subtle::{Choice, ConditionallySelectable};
use zeroize::Zeroize;
use zeroize::Zeroizing as Wiping;

use crate::{
    Instance,
    error::{Message, OtError, check_argument, check_message},
    select::bit,
};

/// Length of an encoded group element in bytes.
pub const ELEMENT_BYTES: usize = 32;

/// Length in bytes of the receiver's message for `n` base OTs.
pub const fn response_len(n: usize) -> usize {
    n.saturating_mul(ELEMENT_BYTES)
}

/// The sender between its message and the receiver's. Holds the secret y.
pub struct BaseSender {
    instance: Instance,
    s: CompressedRistretto,
    /// y / 2.
    half_y: Wiping<Scalar>,
}

impl BaseSender {
    /// Draws y and returns the state with the message S = yG.
    pub fn new(rng: &mut impl CryptoRng, instance: Instance) -> (Self, [u8; ELEMENT_BYTES]) {
        let half_y = random_scalar(rng);
        let half_s = Wiping::new(RistrettoPoint::mul_base(&half_y));
        let mut s = (*half_s + *half_s).compress();
        // It is sent, and y is its logarithm.
        marks::public(&mut s);
        let sender = BaseSender {
            instance,
            s,
            half_y,
        };
        (sender, s.to_bytes())
    }

    /// Reads the receiver's message for `n` OTs (`32 n` bytes) and returns the two keys of each.
    ///
    /// # Errors
    /// [`OtError::MessageLength`], or [`OtError::GroupElement`] for the first bad element.
    pub fn finish(self, message: &[u8], n: usize) -> Result<Zeroizing<Vec<[Block; 2]>>, OtError> {
        check_message(Message::BaseReceiver, message, response_len(n))?;
        let half_t = hash_to_group(&self.instance, &self.s);
        let half_yt = Wiping::new((half_t + half_t) * *self.half_y);

        // Halves of y R_i and y (R_i - T), side by side.
        let mut halves = Wiping::new(Vec::with_capacity(2 * n));
        for (index, r) in message.chunks_exact(ELEMENT_BYTES).enumerate() {
            let half_yr = parse_element(Message::BaseReceiver, index, r)? * *self.half_y;
            halves.push(half_yr);
            halves.push(half_yr - *half_yt);
        }
        let shared = Wiping::new(double_and_encode(&halves));

        let hash = KeyHash::new(&self.instance, &self.s);
        Ok(Zeroizing::new(
            message
                .chunks_exact(ELEMENT_BYTES)
                .zip(shared.chunks_exact(2))
                .enumerate()
                .map(|(i, (r, k))| [hash.key(i, r, &k[0]), hash.key(i, r, &k[1])])
                .collect(),
        ))
    }
}

madrigal_core::opaque!(BaseSender);

/// The receiver, waiting for the sender's message.
#[derive(Debug)]
pub struct BaseReceiver {
    instance: Instance,
}

/// The receiver's message and its keys.
pub struct BaseResponse {
    /// R_0, R_1, ...: `32 n` bytes to send.
    pub message: Vec<u8>,
    /// The key that each choice selects; secret.
    pub keys: Zeroizing<Vec<Block>>,
}

madrigal_core::opaque!(BaseResponse);

impl BaseReceiver {
    /// Starts a run.
    pub fn new(instance: Instance) -> Self {
        BaseReceiver { instance }
    }

    /// Reads the sender's message (32 bytes) and answers for `n` OTs with the given packed
    /// choices (`ceil(n / 8)` bytes).
    ///
    /// # Errors
    /// [`OtError::MessageLength`] or [`OtError::GroupElement`] for the sender's message,
    /// [`OtError::ArgumentLength`] for the choices.
    pub fn respond(
        self,
        rng: &mut impl CryptoRng,
        message: &[u8],
        choices: &[u8],
        n: usize,
    ) -> Result<BaseResponse, OtError> {
        check_argument("choices", n.div_ceil(8), choices.len())?;
        check_message(Message::BaseSender, message, ELEMENT_BYTES)?;
        let s_point = parse_element(Message::BaseSender, 0, message)?;
        let s = s_point.compress();
        let half_t = hash_to_group(&self.instance, &s);
        // S is multiplied n times: a table pays from a handful of OTs on.
        let s_table = RistrettoBasepointTable::create(&s_point);

        let mut half_r = Wiping::new(Vec::with_capacity(n));
        let mut half_k = Wiping::new(Vec::with_capacity(n));
        for i in 0..n {
            let half_x = random_scalar(rng);
            let r0 = Wiping::new(RistrettoPoint::mul_base(&half_x));
            let r1 = Wiping::new(*r0 + half_t);
            let choice = Choice::from(bit(choices, i));
            half_r.push(RistrettoPoint::conditional_select(&r0, &r1, choice));
            half_k.push(&*half_x * &s_table);
        }
        let r = double_and_encode(&half_r);
        let shared = Wiping::new(double_and_encode(&half_k));

        let hash = KeyHash::new(&self.instance, &s);
        let keys = r.iter().zip(shared.iter()).enumerate();
        let keys = keys.map(|(i, (r, k))| hash.key(i, r, k)).collect();
        // They are sent, and uniform whatever the choices are.
        let mut message = r.concat();
        marks::public(&mut *message);
        Ok(BaseResponse {
            message,
            keys: Zeroizing::new(keys),
        })
    }
}

/// A uniform scalar, from 64 bytes so that the reduction's bias is negligible.
fn random_scalar(rng: &mut impl CryptoRng) -> Wiping<Scalar> {
    let mut wide = Zeroizing::new([0u8; 64]);
    rng.fill_bytes(&mut *wide);
    Wiping::new(Scalar::from_bytes_mod_order_wide(&wide))
}

fn parse_element(message: Message, index: usize, bytes: &[u8]) -> Result<RistrettoPoint, OtError> {
    CompressedRistretto::from_slice(bytes)
        .ok()
        .and_then(|encoded| encoded.decompress())
        .filter(|point| !point.is_identity())
        .ok_or(OtError::GroupElement { message, index })
}

fn double_and_encode(halves: &[RistrettoPoint]) -> Vec<[u8; ELEMENT_BYTES]> {
    let mut encoded = RistrettoPoint::double_and_compress_batch(halves);
    let bytes = encoded.iter().map(|e| e.to_bytes()).collect();
    encoded.iter_mut().for_each(Zeroize::zeroize);
    bytes
}

/// T' with T(S) = 2T'.
fn hash_to_group(instance: &Instance, s: &CompressedRistretto) -> RistrettoPoint {
    let hash = instance
        .hash::<Sha512>(BASE_GROUP)
        .chain_update(s.as_bytes());
    RistrettoPoint::from_uniform_bytes(&hash.finalize().into())
}

/// H: all fields have fixed lengths, so the input determines them.
struct KeyHash(Sha256);

impl KeyHash {
    fn new(instance: &Instance, s: &CompressedRistretto) -> Self {
        KeyHash(instance.hash::<Sha256>(BASE_KEY).chain_update(s.as_bytes()))
    }

    fn key(&self, index: usize, r: &[u8], shared: &[u8; ELEMENT_BYTES]) -> Block {
        let hash = self.0.clone();
        let hash = hash.chain_update((index as u64).to_le_bytes());
        first_block(hash.chain_update(r).chain_update(shared).finalize().into())
    }
}

/// The first 128 bits of a digest, which is wiped.
fn first_block(mut digest: [u8; 32]) -> Block {
    let block = digest
        .first_chunk()
        .map_or(Block::ZERO, |key| Block::from_bytes(*key));
    digest.zeroize();
    block
}
