//! Symmetric ciphertexts: (-a s + e + scaled message, a), of which a is a seed.

use madrigal_core::Zeroizing;
use madrigal_kernels::Block;

use crate::layout::{POLY_BYTES, SEED_BYTES};
use crate::modulus::{Modulus, N};
use crate::params::Params;
use crate::sample::{Small, Uniform};
use crate::wire;

/// A polynomial modulo each prime, one after the other. Secret unless said otherwise.
pub(crate) type Poly = Zeroizing<Vec<u64>>;

pub(crate) fn zero(moduli: &[Modulus]) -> Poly {
    Zeroizing::new(vec![0; moduli.len() * N])
}

/// Goes through a polynomial by prime: the modulus and its part of the polynomial.
pub(crate) fn by_prime<'a>(
    moduli: &'static [Modulus],
    poly: &'a mut [u64],
) -> impl Iterator<Item = (&'static Modulus, &'a mut [u64])> {
    moduli.iter().zip(poly.chunks_exact_mut(N))
}

/// The values of a small polynomial.
pub(crate) fn values(moduli: &'static [Modulus], small: &[i64], out: &mut [u64]) {
    for (modulus, out) in by_prime(moduli, out) {
        modulus.ntt.residues(small, out);
        modulus.ntt.forward(out);
    }
}

/// Encrypts messages under one key, one after the other, with public halves from one seed.
pub(crate) struct Encryption<'a> {
    params: &'a Params,
    /// The values of s.
    secret: &'a Poly,
    noise: &'a mut Small,
    uniform: Uniform,
    body: Poly,
    public: Vec<u64>,
}

impl<'a> Encryption<'a> {
    /// Begins a message of ciphertexts: the seed.
    pub(crate) fn new(
        params: &'a Params,
        secret: &'a Poly,
        noise: &'a mut Small,
        message: &mut Vec<u8>,
    ) -> Self {
        let seed = noise.seed();
        message.extend_from_slice(&seed.to_bytes());
        Self {
            params,
            secret,
            noise,
            uniform: Uniform::new(seed),
            body: zero(params.moduli),
            public: vec![0; N],
        }
    }

    /// Adds one ciphertext to the message.
    pub(crate) fn push(&mut self, plain: &[u64], message: &mut Vec<u8>) {
        let Self { params, body, .. } = self;
        let noise: Zeroizing<Vec<i64>> = Zeroizing::new(self.noise.binomial().collect());
        let secret = self.secret.chunks_exact(N);
        let mut product = Zeroizing::new(vec![0; N]);
        let mut scratch = Zeroizing::new(vec![0; N]);
        for (index, ((modulus, body), secret)) in
            by_prime(params.moduli, body).zip(secret).enumerate()
        {
            params.encode_all(plain, index, &mut scratch, body);
            modulus.ntt.residues(&noise, &mut product);
            modulus.ntt.add_assign(body, &product);
            modulus.ntt.forward(body);
            self.uniform.fill(modulus, &mut self.public);
            modulus.ntt.multiply(&self.public, secret, &mut product);
            modulus.ntt.sub_assign(body, &product);
        }
        let start = message.len();
        message.resize(start + params.moduli.len() * POLY_BYTES, 0);
        wire::write(body, &mut message[start..]);
    }
}

/// Ciphertexts of a peer, by their values: public to whoever has them.
pub(crate) struct Ciphertexts {
    /// Body of each ciphertext.
    pub(crate) bodies: Vec<Vec<u64>>,
    pub(crate) publics: Vec<Vec<u64>>,
}

impl Ciphertexts {
    /// Reads a message of `count` ciphertexts, whose length was looked at.
    pub(crate) fn read(
        params: &Params,
        count: usize,
        message: &[u8],
    ) -> Result<Self, crate::LatticeError> {
        let mut seed = [0; SEED_BYTES];
        seed.copy_from_slice(&message[..SEED_BYTES]);
        let mut uniform = Uniform::new(Block::from_bytes(seed));
        let (mut bodies, mut publics) = (Vec::with_capacity(count), Vec::with_capacity(count));
        let each = params.moduli.len() * POLY_BYTES;
        for message in message[SEED_BYTES..].chunks_exact(each) {
            let mut body = vec![0; params.moduli.len() * N];
            wire::read(params.moduli.iter(), message, &mut body)?;
            let mut public = vec![0; params.moduli.len() * N];
            for (modulus, public) in by_prime(params.moduli, &mut public) {
                uniform.fill(modulus, public);
            }
            bodies.push(body);
            publics.push(public);
        }
        Ok(Self { bodies, publics })
    }
}
