//! Symmetric ciphertexts: (-a s + e + scaled message, a), of which a is a seed.

use madrigal_core::Zeroizing;
use madrigal_kernels::{Block, crew};

use crate::layout::{POLY_BYTES, SEED_BYTES};
use crate::modulus::{Modulus, N};
use crate::params::Params;
use crate::sample::{SMALL_BLOCKS, Small, Uniform};
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

/// Encrypts messages under one key into one message, with public halves from one seed. `plain` writes the message with a
/// number; the [crew] at work shares them.
pub(crate) fn encrypt(
    params: &Params,
    secret: &Poly,
    noise: &mut Small,
    count: usize,
    plain: impl Fn(usize, &mut [u64]) + Sync,
) -> Vec<u8> {
    let seed = noise.seed();
    let each = params.moduli.len() * POLY_BYTES;
    let mut message = vec![0; SEED_BYTES + count * each];
    let (head, bodies) = message.split_at_mut(SEED_BYTES);
    head.copy_from_slice(&seed.to_bytes());
    let ranges = crew::ranges(count, 1, 1).map(|range| {
        let noise = noise.part(range.len() as u64 * SMALL_BLOCKS);
        (range, noise)
    });
    let mut rest = bodies;
    let mut pieces = Vec::with_capacity(ranges.len());
    for (range, noise) in ranges {
        let (bodies, after) = rest.split_at_mut(range.len() * each);
        rest = after;
        pieces.push((range, noise, bodies));
    }
    crew::each(pieces, |(range, noise, bodies)| {
        let uniform = Uniform::at(seed, range.start * params.moduli.len());
        let mut encryption = Encryption::new(params, secret, noise, uniform);
        let mut message = Zeroizing::new(vec![0; N]);
        for (number, body) in range.zip(bodies.chunks_exact_mut(each)) {
            message.fill(0);
            plain(number, &mut message);
            encryption.push(&message, body);
        }
    });
    message
}

/// Encryption of some messages that follow each other.
struct Encryption<'a> {
    params: &'a Params,
    /// The values of s.
    secret: &'a Poly,
    noise: Small,
    uniform: Uniform,
    body: Poly,
    public: Vec<u64>,
    small: Zeroizing<Vec<i64>>,
    product: Zeroizing<Vec<u64>>,
    scratch: Zeroizing<Vec<i64>>,
}

impl<'a> Encryption<'a> {
    fn new(params: &'a Params, secret: &'a Poly, noise: Small, uniform: Uniform) -> Self {
        Self {
            params,
            secret,
            noise,
            uniform,
            body: zero(params.moduli),
            public: vec![0; N],
            small: Zeroizing::new(vec![0; N]),
            product: Zeroizing::new(vec![0; N]),
            scratch: Zeroizing::new(vec![0; N]),
        }
    }

    /// Writes the body of one ciphertext.
    fn push(&mut self, plain: &[u64], out: &mut [u8]) {
        let Self {
            params,
            body,
            product,
            scratch,
            ..
        } = self;
        for (small, noise) in self.small.iter_mut().zip(self.noise.binomial()) {
            *small = noise;
        }
        let secret = self.secret.chunks_exact(N);
        for (index, ((modulus, body), secret)) in
            by_prime(params.moduli, body).zip(secret).enumerate()
        {
            params.encode_all(plain, index, scratch, body);
            modulus.ntt.residues(&self.small, product);
            modulus.ntt.add_assign(body, product);
            modulus.ntt.forward(body);
            self.uniform.fill(modulus, &mut self.public);
            modulus.ntt.multiply(&self.public, secret, product);
            modulus.ntt.sub_assign(body, product);
        }
        wire::write(body, out);
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
        let seed = Block::from_bytes(seed);
        let primes = params.moduli.len();
        let each = primes * POLY_BYTES;
        let message = &message[SEED_BYTES..];
        let pieces = crew::map(crew::ranges(count, 1, 1), |range| {
            let mut uniform = Uniform::at(seed, range.start * primes);
            let read = |number: usize| {
                let mut body = vec![0; primes * N];
                wire::read(
                    params.moduli.iter(),
                    &message[number * each..][..each],
                    &mut body,
                )?;
                let mut public = vec![0; primes * N];
                for (modulus, public) in by_prime(params.moduli, &mut public) {
                    uniform.fill(modulus, public);
                }
                Ok((body, public))
            };
            range.map(read).collect::<Result<Vec<_>, _>>()
        });
        let all = pieces.into_iter().collect::<Result<Vec<_>, _>>()?;
        let (bodies, publics) = all.into_iter().flatten().unzip();
        Ok(Self { bodies, publics })
    }
}
