//! Base OTs in a single round: endemic OT of Masny and Rindal (CCS 2019, ePrint 2019/706), with
//! Diffie-Hellman on Ristretto255. The alternative to [Hauck-Loss](super), whose two messages have
//! to wait for each other.
//!
//! With generator G, hash to the group T(.) and key hash H:
//!
//! - The sender draws y and sends B = yG (32 bytes), once for all OTs.
//! - The receiver with choices c_i draws x_i and a random element M_{i,1-c_i}, and sends it with
//!   M_{i,c_i} = x_i G - T(i, c_i, M_{i,1-c_i}), in the order M_{i,0}, M_{i,1} (64 n bytes).
//! - The sender's keys are H(i, b, y A_{i,b}) with A_{i,b} = M_{i,b} + T(i, b, M_{i,1-b}), the
//!   receiver's are H(i, c_i, x_i B).
//!
//! Neither message depends on the other: they cross.
//!
//! # Security
//! Semi-honest, static, as all of this crate; the protocol itself is proved against malicious
//! parties in the paper, where a party may choose its own keys, under CDH with both hashes as
//! random oracles. The choices are hidden perfectly: M_{i,0} and M_{i,1} are uniform and
//! independent whatever c_i is. The other key is hidden under CDH: A_{i,1-c_i} is a uniform element
//! that the receiver did not make from an exponent. H is SHA-256 cut to 128 bits and binds the
//! session, the parties, the stream, B, i, b, M_{i,0} and M_{i,1}; T is SHA-512 and the Ristretto
//! map and binds the same but B. Neither time nor memory access depends on a secret.

use curve25519_dalek::{RistrettoPoint, Scalar, ristretto::RistrettoBasepointTable};
use madrigal_core::Zeroizing;
use madrigal_core::domains::{ENDEMIC_GROUP, ENDEMIC_KEY};
use madrigal_kernels::{Block, marks};
use rand_core::CryptoRng;
use sha2::{Digest, Sha256, Sha512};
use subtle::{Choice, ConditionallySelectable};
use zeroize::Zeroize;
use zeroize::Zeroizing as Wiping;

use super::{ELEMENT_BYTES, parse_element, random_scalar};
use crate::{
    Instance, OtError,
    error::{Message, check_argument, check_message},
    select::bit,
};

/// Length in bytes of the receiver's message for `n` base OTs.
pub const fn message_len(n: usize) -> usize {
    n.saturating_mul(2 * ELEMENT_BYTES)
}

/// The sender between its own message and the receiver's. Holds the secret y.
pub struct EndemicSender {
    instance: Instance,
    y: Wiping<Scalar>,
    b: [u8; ELEMENT_BYTES],
}

impl EndemicSender {
    /// Draws y and returns the state with the message B.
    pub fn new(rng: &mut impl CryptoRng, instance: Instance) -> (Self, [u8; ELEMENT_BYTES]) {
        let y = random_scalar(rng);
        let mut b = RistrettoPoint::mul_base(&y).compress().to_bytes();
        // It is sent, and y is its logarithm.
        marks::public(&mut b);
        (EndemicSender { instance, y, b }, b)
    }

    /// Reads the receiver's message for `n` OTs (`64 n` bytes) and returns both keys of each.
    ///
    /// # Errors
    /// [`OtError::MessageLength`], or [`OtError::GroupElement`] for the first bad element.
    pub fn finish(self, message: &[u8], n: usize) -> Result<Zeroizing<Vec<[Block; 2]>>, OtError> {
        check_message(Message::BaseReceiver, message, message_len(n))?;
        let hash = KeyHash::new(&self.instance, &self.b);
        let mut keys = Zeroizing::new(Vec::with_capacity(n));
        let (elements, _) = message.as_chunks::<ELEMENT_BYTES>();
        for (i, m) in elements.as_chunks::<2>().0.iter().enumerate() {
            let mut pair = [Block::ZERO; 2];
            for (side, key) in pair.iter_mut().enumerate() {
                let own = parse_element(Message::BaseReceiver, 2 * i + side, &m[side])?;
                let a = own + hash_to_group(&self.instance, i, side as u8, &m[1 - side]);
                let mut shared = (a * *self.y).compress();
                *key = hash.key(i, side as u8, m, shared.as_bytes());
                shared.zeroize();
            }
            keys.push(pair);
        }
        Ok(keys)
    }
}

madrigal_core::opaque!(EndemicSender);

/// The receiver between its own message and the sender's. Holds the choices and the x_i.
pub struct EndemicReceiver {
    instance: Instance,
    choices: Zeroizing<Vec<u8>>,
    x: Wiping<Vec<Scalar>>,
    message: Vec<u8>,
}

impl EndemicReceiver {
    /// Draws the elements for `n` OTs with the given packed choices (`ceil(n / 8)` bytes) and
    /// returns the state with the message, `64 n` bytes.
    ///
    /// # Errors
    /// [`OtError::ArgumentLength`] for the choices.
    pub fn new(
        rng: &mut impl CryptoRng,
        instance: Instance,
        choices: &[u8],
        n: usize,
    ) -> Result<(Self, Vec<u8>), OtError> {
        check_argument("choices", n.div_ceil(8), choices.len())?;
        let mut x = Wiping::new(Vec::with_capacity(n));
        let mut message = Vec::with_capacity(message_len(n));
        for i in 0..n {
            let choice = bit(choices, i);
            let own = random_scalar(rng);
            let other = random_element(rng).compress().to_bytes();
            let mask = hash_to_group(&instance, i, choice, &other);
            let chosen = (RistrettoPoint::mul_base(&own) - mask)
                .compress()
                .to_bytes();
            let (mut m0, mut m1) = (chosen, other);
            for (m0, m1) in m0.iter_mut().zip(&mut m1) {
                u8::conditional_swap(m0, m1, Choice::from(choice));
            }
            message.extend_from_slice(&m0);
            message.extend_from_slice(&m1);
            x.push(*own);
        }
        // It is sent, and uniform whatever the choices are.
        marks::public(&mut *message);
        let receiver = EndemicReceiver {
            instance,
            choices: Zeroizing::new(choices.to_vec()),
            x,
            message: message.clone(),
        };
        Ok((receiver, message))
    }

    /// Reads the sender's message (32 bytes) and returns the key that each choice selects.
    ///
    /// # Errors
    /// [`OtError::MessageLength`] or [`OtError::GroupElement`] for the message.
    pub fn finish(self, b: &[u8]) -> Result<Zeroizing<Vec<Block>>, OtError> {
        check_message(Message::BaseSender, b, ELEMENT_BYTES)?;
        let point = parse_element(Message::BaseSender, 0, b)?;
        // B is multiplied n times: a table pays from a handful of OTs on.
        let table = RistrettoBasepointTable::create(&point);
        let hash = KeyHash::new(&self.instance, &point.compress().to_bytes());
        let (elements, _) = self.message.as_chunks::<ELEMENT_BYTES>();
        let mut keys = Zeroizing::new(Vec::with_capacity(self.x.len()));
        for (i, (m, x)) in elements
            .as_chunks::<2>()
            .0
            .iter()
            .zip(self.x.iter())
            .enumerate()
        {
            let mut shared = (x * &table).compress();
            keys.push(hash.key(i, bit(&self.choices, i), m, shared.as_bytes()));
            shared.zeroize();
        }
        Ok(keys)
    }
}

madrigal_core::opaque!(EndemicReceiver);

/// A uniform element with an unknown logarithm.
fn random_element(rng: &mut impl CryptoRng) -> RistrettoPoint {
    let mut wide = [0u8; 64];
    rng.fill_bytes(&mut wide);
    RistrettoPoint::from_uniform_bytes(&wide)
}

/// T.
fn hash_to_group(instance: &Instance, i: usize, side: u8, other: &[u8]) -> RistrettoPoint {
    let hash = instance
        .hash::<Sha512>(ENDEMIC_GROUP)
        .chain_update((i as u64).to_le_bytes())
        .chain_update([side])
        .chain_update(other);
    RistrettoPoint::from_uniform_bytes(&hash.finalize().into())
}

/// H: all fields have fixed lengths, so the input determines them.
struct KeyHash(Sha256);

impl KeyHash {
    fn new(instance: &Instance, b: &[u8; ELEMENT_BYTES]) -> Self {
        KeyHash(instance.hash::<Sha256>(ENDEMIC_KEY).chain_update(b))
    }

    fn key(&self, i: usize, side: u8, m: &[[u8; ELEMENT_BYTES]; 2], shared: &[u8]) -> Block {
        let hash = self.0.clone();
        let hash = hash
            .chain_update((i as u64).to_le_bytes())
            .chain_update([side]);
        let hash = hash.chain_update(m.as_flattened()).chain_update(shared);
        super::first_block(hash.finalize().into())
    }
}
