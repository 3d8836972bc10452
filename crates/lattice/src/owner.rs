//! The party that encrypts its factor.

use std::ops::Range;

use madrigal_core::{Plain, Ring, Zeroizing};
use madrigal_kernels::{Block, crew};

use crate::cipher::{Poly, by_prime, encrypt, values, zero};
use crate::error::LatticeError;
use crate::layout::{Layout, POLY_BYTES, Request};
use crate::modulus::N;
use crate::params::Params;
use crate::sample::{SMALL_BLOCKS, Small};
use crate::wire;

/// Holds X and the key. One key serves many requests, to one peer or several. Wiped when dropped.
pub struct Owner {
    params: Params,
    /// The values of s.
    pub(crate) secret: Poly,
    pub(crate) noise: Small,
}

impl std::fmt::Debug for Owner {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "Owner({} bits)", self.params.bits)
    }
}

impl Owner {
    /// AES blocks of [`new`](Self::new).
    pub const AES_BLOCKS: u64 = SMALL_BLOCKS;

    /// A key for products mod 2^bits, and the noise, from a secret uniform seed that is used for
    /// nothing else. `number` is public and no other seed's of the session, so that of many owners and
    /// responders each has to be attacked by itself. None unless `bits` is 8, 16, 32 or 64.
    pub fn new(bits: usize, seed: Block, number: u64) -> Option<Self> {
        let params = Params::new(bits)?;
        let mut noise = Small::new(seed, number);
        let ternary: Zeroizing<Vec<i64>> = Zeroizing::new(noise.ternary().collect());
        let mut secret = zero(params.moduli);
        values(params.moduli, &ternary, &mut secret);
        Some(Self {
            params,
            secret,
            noise,
        })
    }

    /// Makes the key that a [`Responder`](crate::Responder) starts from: an encryption of zero.
    pub fn public_key(&mut self) -> Vec<u8> {
        encrypt(&self.params, &self.secret, &mut self.noise, 1, |_, _| {})
    }

    /// Encrypts what a request takes of X.
    ///
    /// # Panics
    /// If X or the layout is of another width than the key, or X of another size than the layout says.
    pub fn request<T: Ring>(&mut self, layout: &Layout, request: &Request, x: &[T]) -> Vec<u8> {
        self.check::<T>(layout);
        let inner: Vec<_> = layout.requested(request).collect();
        let plain = |number: usize, plain: &mut [u64]| {
            layout.left(
                request.stripe(),
                inner[number].clone(),
                |entry, exponent| {
                    plain[exponent] = x[entry].to_u128() as u64;
                },
            );
        };
        encrypt(
            &self.params,
            &self.secret,
            &mut self.noise,
            inner.len(),
            plain,
        )
    }

    /// Adds this party's share to Z, from the answer about some columns.
    ///
    /// # Errors
    /// [`LatticeError`] if it is no answer.
    ///
    /// # Panics
    /// If Z or the layout is of another width than the key, or Z of another size than the layout says.
    pub fn open<T: Ring>(
        &self,
        layout: &Layout,
        request: &Request,
        columns: &Range<usize>,
        answer: &[u8],
        z: &mut [T],
    ) -> Result<(), LatticeError> {
        self.check::<T>(layout);
        let shares = self.decrypt(layout, request, columns, answer, |residues| {
            T::from_u128(self.params.decode(residues.iter().copied()).into())
        })?;
        for (places, shares) in &shares {
            for ((entry, _), &share) in places.iter().zip(&**shares) {
                z[*entry] = z[*entry].add(share);
            }
        }
        Ok(())
    }

    fn check<T: Ring>(&self, layout: &Layout) {
        let of = [T::BITS, layout.bits()];
        assert_eq!(
            of, [self.params.bits; 2],
            "the widths of elements and layout"
        );
    }

    /// Makes something of each result's scaled share with its noise, modulo the answer's primes; gives it with the results'
    /// places, by ciphertext.
    fn decrypt<R: Plain + Send>(
        &self,
        layout: &Layout,
        request: &Request,
        columns: &Range<usize>,
        answer: &[u8],
        make: impl Fn(&[u64]) -> R + Sync,
    ) -> Result<Vec<Results<R>>, LatticeError> {
        wire::expect(answer, layout.answer_len(request, columns))?;
        let mut rest = answer;
        let blocks = layout.answered(columns).map(|columns| {
            let (block, next) = rest.split_at(layout.block_len(request, &columns));
            rest = next;
            (columns, block)
        });
        let blocks = crew::map(blocks, |(columns, block)| {
            let places = layout.places(request.stripe(), columns);
            let made = self.decrypt_block(block, &places, &make)?;
            Ok((places, made))
        });
        blocks.into_iter().collect()
    }

    fn decrypt_block<R: Plain>(
        &self,
        block: &[u8],
        places: &[(usize, usize)],
        make: impl Fn(&[u64]) -> R,
    ) -> Result<Zeroizing<Vec<R>>, LatticeError> {
        let moduli = self.params.kept();
        let mut phase = zero(moduli);
        let mut product = Zeroizing::new(vec![0; N]);
        let mut residues = Zeroizing::new(vec![0; moduli.len()]);
        let (public, body) = block.split_at(moduli.len() * POLY_BYTES);
        wire::read(moduli.iter(), public, &mut phase)?;
        let secret = self.secret.chunks_exact(N);
        for ((modulus, phase), secret) in by_prime(moduli, &mut phase).zip(secret) {
            modulus.ntt.forward(phase);
            modulus.ntt.multiply(phase, secret, &mut product);
            modulus.ntt.inverse(&mut product);
            phase.copy_from_slice(&product);
        }
        let count = places.len();
        let mut bodies = vec![0; moduli.len() * count];
        wire::read(moduli.iter(), body, &mut bodies)?;
        let mut results = Zeroizing::new(Vec::with_capacity(count));
        for (place, (_, exponent)) in places.iter().enumerate() {
            for (index, modulus) in moduli.iter().enumerate() {
                let body = bodies[index * count + place];
                residues[index] = modulus.add(phase[index * N + exponent], body);
            }
            results.push(make(&residues));
        }
        Ok(results)
    }
}

/// Entries of Z and their exponents, and what was made of them.
type Results<R> = (Vec<(usize, usize)>, Zeroizing<Vec<R>>);

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Responder;

    /// The noise of an answer about a matrix of such elements, in units of the flood's half width, and
    /// its public half.
    fn answer(y: u32, seed: u64) -> (Vec<f64>, Vec<u8>) {
        let (p, k, q) = (32, 8, 32);
        let layout = Layout::new(32, p, k, q).expect("a width");
        let mut owner = Owner::new(32, Block::new(1, 0), 1).expect("a width");
        let key = owner.public_key();
        let mut responder = Responder::new(32, &key, Block::new(seed, 0), 2).expect("a key");
        let request = layout.requests().next().expect("one");
        let message = owner.request(&layout, &request, &vec![3_u32; p * k]);
        let asked = responder.read(&layout, &request, &message).expect("one");
        let (y, mut z) = (vec![y; k * q], vec![0; p * q]);
        let answer = responder.answer(&asked, &(0..q), &y, &mut z);
        let params = &owner.params;
        let noise = |residues: &[u64]| {
            let message = params.decode(residues.iter().copied());
            let [prime] = params.kept() else {
                panic!("answers of 32 bits have one prime");
            };
            // p m / 2^32, rounded, is what the message was scaled to.
            let scaled = (u128::from(prime.prime()) * u128::from(message) + (1 << 31)) >> 32;
            residues[0] as i64 - scaled as i64
        };
        let blocks = owner
            .decrypt(&layout, &request, &(0..q), &answer, noise)
            .expect("an answer");
        let noise = blocks.iter().flat_map(|(_, noise)| noise.iter());
        let noise = noise.map(|&noise| noise as f64 / f64::from(1 << 15));
        (noise.collect(), answer[..POLY_BYTES].to_vec())
    }

    /// Answers about the smallest and the largest factors have the same noise: a flood of the width that
    /// it should have.
    #[test]
    fn noise_tells_nothing_of_the_factors() {
        for y in [0, 1, 1 << 31, u32::MAX >> 1] {
            let (mut noise, _) = answer(y, 2);
            let count = noise.len() as f64;
            noise.sort_by(f64::total_cmp);
            // Kolmogorov-Smirnov, against the uniform distribution.
            let far = |(i, &x): (usize, &f64)| ((x + 1.0) / 2.0 - i as f64 / count).abs();
            let distance = noise.iter().enumerate().map(far).fold(0.0, f64::max);
            assert!(distance < 3.0 / count.sqrt(), "{distance} for {y}");
        }
    }

    /// A product of public halves would be the same again; it is hidden by an encryption of zero.
    #[test]
    fn public_halves_are_fresh() {
        let [(_, one), (_, other)] = [2, 3].map(|seed| answer(5, seed));
        let same = one.iter().zip(&other).filter(|(x, y)| x == y).count();
        assert!(same < one.len() / 50, "{same} of {} bytes", one.len());
    }
}
