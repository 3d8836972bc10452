//! The party that multiplies by its own factor what the other one encrypted.

use std::ops::Range;
use std::sync::{Mutex, MutexGuard, PoisonError};

use madrigal_core::{Ring, Zeroizing, bits};
use madrigal_kernels::{Block, Sums, crew};

use crate::cipher::{Ciphertexts, values, zero};
use crate::error::LatticeError;
use crate::layout::{Layout, POLY_BYTES, Request, SEED_BYTES};
use crate::modulus::{BITS, Modulus, N};
use crate::params::Params;
use crate::sample::{MASK_BLOCKS, SMALL_BLOCKS, Small, UNIFORM_BLOCKS};
use crate::wire;

/// Holds Y, and the public key of the [`Owner`](crate::Owner).
pub struct Responder {
    params: Params,
    key: Ciphertexts,
    pub(crate) noise: Small,
    /// Memory that answers were computed in.
    spare: Mutex<Vec<Scratch>>,
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
            spare: Mutex::default(),
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
        let moduli = self.params.moduli;
        let blocks: Vec<_> = layout.answered(columns).collect();
        let places: Vec<_> = blocks
            .iter()
            .map(|columns| layout.places(asked.stripe, columns.clone()))
            .collect();
        let hiding = places.iter().map(|places| {
            let count = places.len();
            let noise = self
                .noise
                .part(2 * SMALL_BLOCKS + MASK_BLOCKS * count as u64);
            (count, noise)
        });
        let hiding: Vec<_> = hiding.collect();
        let hiding = crew::map(hiding, |(count, noise)| {
            Hiding::new(&self.params, count, noise)
        });
        // By prime and tile, the halves of each block of the tile.
        let width = if crew::threads() > TILE { 1 } else { TILE };
        let tiles = (0..moduli.len()).flat_map(|index| {
            let firsts = (0..blocks.len()).step_by(width);
            firsts.map(move |first| (index, first))
        });
        let key = &self.key;
        let products = crew::map(tiles, |(index, first)| {
            let tile = first..(first + width).min(blocks.len());
            let left = lock(&self.spare).pop();
            let mut work = left.unwrap_or_else(Scratch::new);
            let halves = work.multiply(
                asked,
                (moduli, index),
                &blocks[tile.clone()],
                y,
                |sums, plain, place| {
                    let u = &hiding[tile.start + place].u;
                    values(&moduli[index..=index], u, plain);
                    let at = index * N..(index + 1) * N;
                    sums[0].add(plain, &key.bodies[0][at.clone()]);
                    sums[1].add(plain, &key.publics[0][at]);
                },
            );
            lock(&self.spare).push(work);
            halves
        });
        let mut by_block: Vec<_> = hiding
            .into_iter()
            .zip(&places)
            .map(|(hiding, places)| (hiding, places, Vec::with_capacity(moduli.len())))
            .collect();
        let tiles = blocks.len().div_ceil(width);
        for (number, halves) in products.into_iter().enumerate() {
            let first = number % tiles * width;
            for (block, halves) in by_block[first..].iter_mut().zip(halves) {
                block.2.push(halves);
            }
        }
        let hidden = crew::map(by_block, |(hiding, places, halves)| {
            hiding.hide(&self.params, places, halves)
        });
        let mut answer = Vec::with_capacity(hidden.iter().map(|(bytes, _)| bytes.len()).sum());
        for ((bytes, masks), places) in hidden.iter().zip(&places) {
            answer.extend_from_slice(bytes);
            for ((entry, _), &mask) in places.iter().zip(masks.iter()) {
                z[*entry] = z[*entry].sub(T::from_u128(mask.into()));
            }
        }
        answer
    }
}

fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

/// Randomness that hides how the product of one block came about.
///
/// An encryption of zero under the owner's key makes the public half uniform to all who do not know
/// its ternary u, the owner too; the flood drowns what of Y and u is in the noise. (The noise of the
/// public half is what the proof rests on; the rounding leaves nothing of it to see.)
struct Hiding {
    u: Zeroizing<Vec<i64>>,
    masks: Zeroizing<Vec<u64>>,
    /// Residues of what masks are scaled to, with the flood, by prime.
    bodies: Zeroizing<Vec<u64>>,
    noise: Zeroizing<Vec<i64>>,
}

impl Hiding {
    /// Draws it for `count` results.
    fn new(params: &Params, count: usize, mut noise: Small) -> Self {
        let u = Zeroizing::new(noise.ternary().collect());
        let mut masks = Zeroizing::new(vec![0; count]);
        let mut bodies = Zeroizing::new(vec![0; params.moduli.len() * count]);
        noise.masks(params, &mut masks, &mut bodies);
        let noise = Zeroizing::new(noise.binomial().collect());
        Self {
            u,
            masks,
            bodies,
            noise,
        }
    }

    /// Writes a block, from the halves of its product by prime. Gives the masks, too.
    fn hide(
        mut self,
        params: &Params,
        places: &[(usize, usize)],
        halves: Vec<[Zeroizing<Vec<u64>>; 2]>,
    ) -> (Vec<u8>, Zeroizing<Vec<u64>>) {
        let moduli = params.moduli;
        let count = places.len();
        let mut publics = zero(moduli);
        let mut noise = Zeroizing::new(vec![0; N]);
        for (index, (modulus, [body, public])) in moduli.iter().zip(halves).enumerate() {
            let bodies = &mut self.bodies[index * count..][..count];
            for (to, (_, exponent)) in bodies.iter_mut().zip(places) {
                *to = modulus.add(*to, body[*exponent]);
            }
            modulus.ntt.residues(&self.noise, &mut noise);
            let to = &mut publics[index * N..(index + 1) * N];
            to.copy_from_slice(&public);
            modulus.ntt.add_assign(to, &noise);
        }
        let kept = params.kept().len();
        params.shrink_poly(&mut publics);
        params.shrink(&mut self.bodies, count);
        let parts = [&publics[..kept * N], &self.bodies[..kept * count]];
        let bytes = parts.map(|part| bits::bytes_for(part.len() * BITS));
        let mut block = vec![0; bytes[0] + bytes[1]];
        let (first, second) = block.split_at_mut(bytes[0]);
        wire::write(parts[0], first);
        wire::write(parts[1], second);
        (block, self.masks)
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

/// Memory in which products modulo one prime are computed.
struct Scratch {
    /// Zero between uses.
    plain: Zeroizing<Vec<i64>>,
    values: Zeroizing<Vec<u64>>,
    /// Sums by block of the tile, by half of the ciphertext.
    sums: [[Sums; 2]; TILE],
}

impl Scratch {
    fn new() -> Self {
        Self {
            plain: Zeroizing::new(vec![0; N]),
            values: Zeroizing::new(vec![0; N]),
            sums: [(); TILE].map(|()| [Sums::new(N), Sums::new(N)]),
        }
    }

    /// Both halves of the products of what was asked and the blocks of Y with these columns, modulo one prime. `more` adds
    /// to the sums of the block with a place in the tile, in the memory it is given.
    fn multiply<T: Ring>(
        &mut self,
        asked: &Asked,
        (moduli, index): (&[Modulus], usize),
        tile: &[Range<usize>],
        y: &[T],
        more: impl Fn(&mut [Sums; 2], &mut [u64], usize),
    ) -> Vec<[Zeroizing<Vec<u64>>; 2]> {
        let Asked {
            layout,
            stripe,
            inner,
            ciphertexts: Ciphertexts { bodies, publics },
        } = asked;
        let Self {
            plain,
            values,
            sums,
        } = self;
        let modulus = &moduli[index];
        let at = index * N..(index + 1) * N;
        for ((inner, body), public) in inner.iter().zip(bodies).zip(publics) {
            for (columns, sums) in tile.iter().zip(&mut *sums) {
                let right = || (inner.clone(), columns.clone());
                let (of, by) = right();
                layout.right(*stripe, of, by, |entry, exponent| {
                    plain[exponent] = signed(y[entry])
                });
                modulus.ntt.residues(plain, values);
                modulus.ntt.forward(values);
                // Only what was set is cleared.
                let (of, by) = right();
                layout.right(*stripe, of, by, |_, exponent| plain[exponent] = 0);
                sums[0].add(values, &body[at.clone()]);
                sums[1].add(values, &public[at.clone()]);
            }
        }
        let blocks = sums.iter_mut().take(tile.len()).enumerate();
        let halves = blocks.map(|(place, sums)| {
            more(sums, values, place);
            sums.each_mut().map(|sums| {
                let mut half = Zeroizing::new(vec![0; N]);
                sums.take(&modulus.ntt, &mut half);
                modulus.ntt.inverse(&mut half);
                half
            })
        });
        halves.collect()
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
