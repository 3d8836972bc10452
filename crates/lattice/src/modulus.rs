//! Arithmetic modulo the primes that ciphertexts are kept by. Everything here is free of branches on
//! values.

use std::sync::OnceLock;

use madrigal_kernels::{Ntt, opaque_word};

/// Coefficients of a polynomial: the ring is Z_q\[X\] / (X^N + 1).
pub(crate) const N: usize = 8192;
/// Bits of a residue.
pub(crate) const BITS: usize = 50;

/// The largest primes below 2^50 that are 1 mod 2N, in falling order.
const PRIMES: [u64; 4] = [
    (1 << BITS) - 16_383,
    (1 << BITS) - 212_991,
    (1 << BITS) - 1_097_727,
    (1 << BITS) - 1_490_943,
];

/// One of the primes, p = 2^50 - gap.
pub(crate) struct Modulus {
    p: u64,
    gap: u64,
    pub(crate) ntt: Ntt,
}

/// All of them; their tables are made once.
pub(crate) fn moduli() -> &'static [Modulus; PRIMES.len()] {
    static MODULI: OnceLock<[Modulus; PRIMES.len()]> = OnceLock::new();
    MODULI.get_or_init(|| {
        PRIMES.map(|p| Modulus {
            p,
            gap: (1 << BITS) - p,
            ntt: Ntt::new(p, N),
        })
    })
}

impl Modulus {
    pub(crate) fn prime(&self) -> u64 {
        self.p
    }

    /// `x` mod p for x < 2p.
    #[inline(always)]
    fn once(&self, x: u64) -> u64 {
        // The compiler makes no branch of the minimum, since it knows nothing of the difference.
        x.min(opaque_word(x.wrapping_sub(self.p)))
    }

    /// `x` mod p: 2^50 is the gap, of 21 bits, so a fold takes 29 bits off, down to a bit above 50.
    #[inline(always)]
    pub(crate) fn reduce(&self, x: u128) -> u64 {
        let fold = |x: u128| (x >> BITS) * u128::from(self.gap) + (x & ((1 << BITS) - 1));
        self.once(fold(fold(fold(x))) as u64)
    }

    #[inline(always)]
    pub(crate) fn reduce_word(&self, x: u64) -> u64 {
        self.once((x >> BITS) * self.gap + (x & ((1 << BITS) - 1)))
    }

    /// `x` mod p, for x of any size.
    #[inline(always)]
    pub(crate) fn signed(&self, x: i64) -> u64 {
        const SIGN: u64 = 1 << 63;
        self.sub(self.reduce_word(x as u64 ^ SIGN), self.reduce_word(SIGN))
    }

    #[inline(always)]
    pub(crate) fn add(&self, x: u64, y: u64) -> u64 {
        self.once(x + y)
    }

    #[inline(always)]
    pub(crate) fn sub(&self, x: u64, y: u64) -> u64 {
        self.once(x + self.p - y)
    }

    #[inline(always)]
    pub(crate) fn mul(&self, x: u64, y: u64) -> u64 {
        self.reduce(u128::from(x) * u128::from(y))
    }

    /// `x` to the power `e`, which is public.
    pub(crate) fn power(&self, x: u64, e: u64) -> u64 {
        let bits = (0..64).rev().map(|i| e >> i & 1);
        bits.fold(1, |y, bit| {
            let y = self.mul(y, y);
            if bit == 1 { self.mul(y, x) } else { y }
        })
    }

    /// 1 / `x`.
    pub(crate) fn inverse(&self, x: u64) -> u64 {
        self.power(x, self.p - 2)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    proptest! {
        #[test]
        fn residues_are_those_of_integers(x in any::<u128>(), y in any::<i64>(), which in 0..PRIMES.len()) {
            let modulus = &moduli()[which];
            let p = modulus.prime();
            prop_assert_eq!(u128::from(modulus.reduce(x)), x % u128::from(p));
            prop_assert_eq!(modulus.reduce_word(x as u64), x as u64 % p);
            prop_assert_eq!(i128::from(modulus.signed(y)), i128::from(y).rem_euclid(p.into()));
            let (x, y) = (x as u64 % p, y as u64 % p);
            prop_assert_eq!(modulus.add(x, y), (x + y) % p);
            prop_assert_eq!(modulus.sub(x, y), (x + p - y) % p);
            if x > 0 {
                prop_assert_eq!(modulus.mul(x, modulus.inverse(x)), 1);
            }
        }
    }

    #[test]
    fn the_ends_of_the_range() {
        for modulus in moduli() {
            let p = modulus.prime();
            assert_eq!(p % (2 * N as u64), 1);
            for x in [0, 1, p - 1, p, p + 1, u64::MAX] {
                assert_eq!(modulus.reduce_word(x), x % p);
                assert_eq!(modulus.reduce(x.into()), x % p);
            }
            assert_eq!(
                u128::from(modulus.reduce(u128::MAX)),
                u128::MAX % u128::from(p)
            );
            for x in [i64::MIN, -1, 0, 1, i64::MAX] {
                assert_eq!(
                    i128::from(modulus.signed(x)),
                    i128::from(x).rem_euclid(p.into())
                );
            }
        }
    }
}
