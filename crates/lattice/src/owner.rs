//! The party that encrypts its matrix.

use std::ops::Range;

use madrigal_core::Ring;
use madrigal_kernels::Block;
use zeroize::Zeroizing;

use crate::cipher::{Encryption, Poly, by_prime, values, zero};
use crate::error::LatticeError;
use crate::layout::{Layout, POLY_BYTES, Request};
use crate::modulus::{BITS, N};
use crate::params::Params;
use crate::sample::{SMALL_BLOCKS, Small};
use crate::wire;

/// Holds X and the key. One key serves many requests, to one peer or several. Wiped when dropped.
pub struct Owner {
    params: Params,
    /// The values of s.
    secret: Poly,
    noise: Small,
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
    /// nothing else. None unless `bits` is 8, 16, 32 or 64.
    pub fn new(bits: usize, seed: Block) -> Option<Self> {
        let params = Params::new(bits)?;
        let mut noise = Small::new(seed);
        let ternary: Zeroizing<Vec<i64>> = Zeroizing::new(noise.ternary().collect());
        let mut secret = zero(params.moduli);
        values(params.moduli, &ternary, &mut secret);
        Some(Self {
            params,
            secret,
            noise,
        })
    }

    /// What a [`Responder`](crate::Responder) starts from: an encryption of zero.
    pub fn public_key(&mut self) -> Vec<u8> {
        let mut message = Vec::new();
        let Self {
            params,
            secret,
            noise,
        } = self;
        let mut encryption = Encryption::new(params, secret, noise, &mut message);
        encryption.push(&vec![0; N], &mut message);
        message
    }

    /// Encrypts what a request takes of X, which is row by row.
    ///
    /// # Panics
    /// If the layout is of another width, or X of another size than it says.
    pub fn request<T: Ring>(&mut self, layout: &Layout, request: &Request, x: &[T]) -> Vec<u8> {
        assert_eq!(T::BITS, self.params.bits, "the width of the layout");
        let mut message = Vec::with_capacity(layout.request_len(request));
        let Self {
            params,
            secret,
            noise,
        } = self;
        let mut encryption = Encryption::new(params, secret, noise, &mut message);
        let mut plain = Zeroizing::new(vec![0; N]);
        for inner in layout.requested(request) {
            plain.fill(0);
            for (entry, exponent) in layout.left([request.rows.clone(), inner]) {
                plain[exponent] = x[entry].to_u128() as u64;
            }
            encryption.push(&plain, &mut message);
        }
        message
    }

    /// Adds this party's share to Z, from the answer about some columns.
    ///
    /// # Errors
    /// An answer that is none.
    ///
    /// # Panics
    /// If the layout is of another width, or Z of another size than it says.
    pub fn open<T: Ring>(
        &self,
        layout: &Layout,
        request: &Request,
        columns: &Range<usize>,
        answer: &[u8],
        z: &mut [T],
    ) -> Result<(), LatticeError> {
        assert_eq!(T::BITS, self.params.bits, "the width of the layout");
        wire::expect(answer, layout.answer_len(request, columns))?;
        let moduli = self.params.kept();
        let mut phase = zero(moduli);
        let mut product = Zeroizing::new(vec![0; N]);
        let mut rest = answer;
        for columns in layout.answered(columns) {
            let (block, next) = rest.split_at(layout.block_len(request, &columns));
            let (public, body) = block.split_at(moduli.len() * POLY_BYTES);
            rest = next;
            wire::read(moduli.iter(), public, &mut phase)?;
            let secret = self.secret.chunks_exact(N);
            for ((modulus, phase), secret) in by_prime(moduli, &mut phase).zip(secret) {
                modulus.ntt.forward(phase);
                modulus.ntt.multiply(phase, secret, &mut product);
                modulus.ntt.inverse(&mut product);
                phase.copy_from_slice(&product);
            }
            let count = request.rows.len() * columns.len();
            let mut bodies = vec![0; moduli.len() * count];
            debug_assert_eq!(body.len(), (bodies.len() * BITS).div_ceil(8));
            wire::read(moduli.iter(), body, &mut bodies)?;
            let results = layout.results([request.rows.clone(), columns]).enumerate();
            for (place, (entry, exponent)) in results {
                let residues = moduli.iter().enumerate().map(|(index, modulus)| {
                    modulus.add(phase[index * N + exponent], bodies[index * count + place])
                });
                let share = self.params.decode(residues);
                z[entry] = z[entry].add(T::from_u128(share.into()));
            }
        }
        Ok(())
    }
}
