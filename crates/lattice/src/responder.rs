//! The party that multiplies by its own factor what the other one encrypted.

use std::ops::Range;

use madrigal_core::{Ring, Zeroizing};
use madrigal_kernels::Block;
use madrigal_kernels::Sums;

use crate::cipher::{Ciphertexts, Poly, by_prime, values, zero};
use crate::error::LatticeError;
use crate::layout::{Layout, POLY_BYTES, Request, SEED_BYTES};
use crate::modulus::{Modulus, N};
use crate::params::Params;
use crate::sample::{Small, UNIFORM_BLOCKS};
use crate::wire;

/// Holds Y, and the public key of the [`Owner`](crate::Owner).
pub struct Responder {
    params: Params,
    key: Ciphertexts,
    pub(crate) noise: Small,
}

impl std::fmt::Debug for Responder {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "Responder({} bits)", self.params.bits)
    }
}

/// A request that was read: 131 KB for each of its ciphertexts and prime.
pub struct Asked {
    layout: Layout,
    stripe: usize,
    /// Ranges by ciphertext.
    inner: Vec<Range<usize>>,
    ciphertexts: Ciphertexts,
}

impl std::fmt::Debug for Asked {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "Asked({:?}, stripe {})", self.layout, self.stripe)
    }
}

impl Responder {
    /// Bytes of a public key for products mod 2^bits, and AES blocks to make it and to take it.
    pub fn key_cost(bits: usize) -> Option<[u64; 3]> {
        let primes = Params::new(bits)?.moduli.len();
        let uniform = primes as u64 * UNIFORM_BLOCKS;
        let bytes = (SEED_BYTES + primes * POLY_BYTES) as u64;
        Some([bytes, 1 + uniform + crate::sample::SMALL_BLOCKS, uniform])
    }

    /// Makes the responder with the owner's public key, and a secret uniform seed that is used for nothing else, with its
    /// public number: see [`Owner::new`](crate::Owner::new).
    ///
    /// # Errors
    /// [`LatticeError`] if `key` is no key.
    ///
    /// # Panics
    /// Unless `bits` is 8, 16, 32 or 64.
    pub fn new(bits: usize, key: &[u8], seed: Block, number: u64) -> Result<Self, LatticeError> {
        let Some(params) = Params::new(bits) else {
            panic!("there are no products mod 2^{bits} by encryption");
        };
        wire::expect(key, SEED_BYTES + params.moduli.len() * POLY_BYTES)?;
        Ok(Self {
            key: Ciphertexts::read(&params, 1, key)?,
            params,
            noise: Small::new(seed, number),
        })
    }

    /// Reads a request.
    ///
    /// # Errors
    /// [`LatticeError`] if it is no request.
    ///
    /// # Panics
    /// If the layout is of another width.
    pub fn read(
        &self,
        layout: &Layout,
        request: &Request,
        message: &[u8],
    ) -> Result<Asked, LatticeError> {
        assert_eq!(layout.bits(), self.params.bits, "the width of the layout");
        wire::expect(message, layout.request_len(request))?;
        let inner: Vec<_> = layout.requested(request).collect();
        Ok(Asked {
            layout: *layout,
            stripe: request.stripe(),
            ciphertexts: Ciphertexts::read(&self.params, inner.len(), message)?,
            inner,
        })
    }

    /// Answers with the product by some columns of Y and a mask; this party's share,
    /// what takes the mask off, is added to Z.
    ///
    /// # Panics
    /// If Y or Z is of another size or width than the layout says.
    pub fn answer<T: Ring>(
        &mut self,
        asked: &Asked,
        columns: &Range<usize>,
        y: &[T],
        z: &mut [T],
    ) -> Vec<u8> {
        let layout = &asked.layout;
        let of = [T::BITS, layout.bits()];
        assert_eq!(
            of, [self.params.bits; 2],
            "the widths of elements and request"
        );
        let blocks: Vec<_> = layout.answered(columns).collect();
        let mut answer = Vec::new();
        let mut work = Scratch::new(self.params.moduli);
        for tile in blocks.chunks(TILE) {
            work.multiply(asked, tile, y);
            for (place, columns) in tile.iter().enumerate() {
                let results = layout.places(asked.stripe, columns.clone());
                self.finish(&mut work, place, &results, z, &mut answer);
            }
        }
        answer
    }

    /// Hides how a product came about, and writes it.
    ///
    /// An encryption of zero under the owner's key makes the public half uniform to all who do not know
    /// its ternary u, the owner too; the flood drowns what of Y and u is in the noise. (The noise of the
    /// public half is what the proof rests on; the rounding leaves nothing of it to see.)
    fn finish<T: Ring>(
        &mut self,
        work: &mut Scratch,
        place: usize,
        results: &[(usize, usize)],
        z: &mut [T],
        answer: &mut Vec<u8>,
    ) {
        let params = &self.params;
        let moduli = params.moduli;
        for (small, u) in work.plain.iter_mut().zip(self.noise.ternary()) {
            *small = u;
        }
        values(moduli, &work.plain, &mut work.values);
        for index in 0..moduli.len() {
            let at = index * N..(index + 1) * N;
            let u = &work.values[at.clone()];
            let [body, public] = &mut work.sums[place];
            body[index].add(u, &self.key.bodies[0][at.clone()]);
            public[index].add(u, &self.key.publics[0][at]);
        }
        work.take(place, 0);
        let count = results.len();
        let mut masks = Zeroizing::new(vec![0; count]);
        let mut bodies = Zeroizing::new(vec![0; moduli.len() * count]);
        self.noise.masks(params, &mut masks, &mut bodies);
        for (index, modulus) in moduli.iter().enumerate() {
            let bodies = &mut bodies[index * count..][..count];
            for (body, (_, exponent)) in bodies.iter_mut().zip(results) {
                *body = modulus.add(*body, work.values[index * N + exponent]);
            }
        }
        work.take(place, 1);
        for (small, noise) in work.plain.iter_mut().zip(self.noise.binomial()) {
            *small = noise;
        }
        let mut noise = Zeroizing::new(vec![0; N]);
        for (modulus, public) in by_prime(moduli, &mut work.values) {
            modulus.ntt.residues(&work.plain, &mut noise);
            modulus.ntt.add_assign(public, &noise);
        }
        work.plain.fill(0);
        for ((entry, _), &mask) in results.iter().zip(masks.iter()) {
            z[*entry] = z[*entry].sub(T::from_u128(mask.into()));
        }
        let kept = params.kept().len();
        params.shrink_poly(&mut work.values);
        params.shrink(&mut bodies, count);
        for residues in [&work.values[..kept * N], &bodies[..kept * count]] {
            let start = answer.len();
            let bytes = madrigal_core::bits::bytes_for(residues.len() * crate::modulus::BITS);
            answer.resize(start + bytes, 0);
            wire::write(residues, &mut answer[start..]);
        }
    }
}

/// The element between -2^(l-1) and 2^(l-1): smaller factors make less noise.
fn signed<T: Ring>(x: T) -> i64 {
    let up = 64 - T::BITS;
    ((x.to_u128() as u64) << up) as i64 >> up
}

/// Blocks that are answered together: for one prime, what they are summed up in stays in the second-level
/// cache, and each ciphertext comes there once for all of them.
const TILE: usize = 2;

/// Memory in which products are computed.
struct Scratch {
    moduli: &'static [Modulus],
    /// Zero between uses.
    plain: Zeroizing<Vec<i64>>,
    values: Poly,
    /// Sums by block of the tile, by half of the ciphertext, by prime.
    sums: [[Vec<Sums>; 2]; TILE],
}

impl Scratch {
    fn new(moduli: &'static [Modulus]) -> Self {
        let sums = || moduli.iter().map(|_| Sums::new(N)).collect();
        Self {
            moduli,
            plain: Zeroizing::new(vec![0; N]),
            values: zero(moduli),
            sums: [(); TILE].map(|()| [sums(), sums()]),
        }
    }

    /// The products of what was asked and the blocks of Y with these columns.
    fn multiply<T: Ring>(&mut self, asked: &Asked, tile: &[Range<usize>], y: &[T]) {
        let Asked {
            layout,
            stripe,
            inner,
            ciphertexts: Ciphertexts { bodies, publics },
        } = asked;
        for (index, modulus) in self.moduli.iter().enumerate() {
            let at = index * N..(index + 1) * N;
            let values = &mut self.values[at.clone()];
            for ((inner, body), public) in inner.iter().zip(bodies).zip(publics) {
                for (columns, sums) in tile.iter().zip(&mut self.sums) {
                    let plain = &mut self.plain;
                    layout.right(
                        *stripe,
                        inner.clone(),
                        columns.clone(),
                        |entry, exponent| {
                            plain[exponent] = signed(y[entry]);
                        },
                    );
                    modulus.ntt.residues(&self.plain, values);
                    modulus.ntt.forward(values);
                    let plain = &mut self.plain;
                    layout.right(*stripe, inner.clone(), columns.clone(), |_, exponent| {
                        plain[exponent] = 0;
                    });
                    let [body_sums, public_sums] = sums;
                    body_sums[index].add(values, &body[at.clone()]);
                    public_sums[index].add(values, &public[at.clone()]);
                }
            }
        }
    }

    /// The coefficients of one half of a block's sum into `values`.
    fn take(&mut self, place: usize, half: usize) {
        let primes = by_prime(self.moduli, &mut self.values);
        for ((modulus, values), sums) in primes.zip(&mut self.sums[place][half]) {
            sums.take(&modulus.ntt, values);
            modulus.ntt.inverse(values);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn elements_are_as_near_to_zero_as_can_be() {
        assert_eq!([0_u8, 1, 127, 128, 255].map(signed), [0, 1, 127, -128, -1]);
        assert_eq!([1_u32 << 31, u32::MAX].map(signed), [-1 << 31, -1]);
        assert_eq!(
            [1_u64 << 63, u64::MAX >> 1].map(signed),
            [i64::MIN, i64::MAX]
        );
    }
}
