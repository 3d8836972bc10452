//! Sizes of ciphertexts for each width of the ring, and the numbers that encoding takes.

use madrigal_core::Zeroizing;

use crate::modulus::{BITS, Modulus, N, moduli};

/// Parameters that are fixed for products mod 2^bits.
///
/// A message m mod t = 2^bits is scaled to round(q m / t), so that sums and products wrap around as
/// they do mod t. With D = q / t, decryption is right while the noise stays below D / 2. The answer's
/// flood is uniform in \[-D/8, D/8\), up to rounding to a power of two; everything else stays far below.
pub(crate) struct Params {
    pub(crate) bits: usize,
    /// q is their product: what is asked and computed in.
    pub(crate) moduli: &'static [Modulus],
    /// Number of primes, the first ones, in whose product answers are given.
    kept: usize,
    /// The flood is uniform in \[-2^flood, 2^flood\).
    pub(crate) flood: usize,
    /// q mod 2^64.
    q: u64,
    /// 1 / t and t / 2 by prime.
    scale: Vec<[u64; 2]>,
    decode: Vec<Decode>,
}

/// Factors of decoding for one of the kept primes.
struct Decode {
    /// (q / p)^-1 mod p.
    inverse: u64,
    /// floor(2^113 / p) and floor(2^177 / p) mod 2^64.
    reciprocal: [u64; 2],
}

/// Bits of the fixed-point numbers in which phases are decoded: 2^113 is the whole of them.
const WHOLE: usize = 113;

impl Params {
    /// Makes the parameters for products mod 2^bits: 8, 16, 32 or 64.
    pub(crate) fn new(bits: usize) -> Option<Self> {
        let (primes, kept) = match bits {
            8 => (2, 1),
            16 | 32 => (3, 1),
            64 => (4, 2),
            _ => return None,
        };
        let moduli = &moduli()[..primes];
        let scale = |modulus: &Modulus| {
            let t = modulus.power(2, bits as u64);
            [modulus.inverse(t), modulus.power(2, bits as u64 - 1)]
        };
        let decode = (0..kept).map(|index| {
            let modulus = &moduli[index];
            let p = modulus.prime();
            let others = moduli[..kept].iter().filter(|other| other.prime() != p);
            let others = others.fold(1, |all, other| {
                modulus.mul(all, modulus.reduce_word(other.prime()))
            });
            let whole = 1_u128 << WHOLE;
            let [p128, rest] = [p.into(), whole % u128::from(p)];
            Decode {
                inverse: modulus.inverse(others),
                reciprocal: [(whole / p128) as u64, ((rest << 64) / p128) as u64],
            }
        });
        Some(Self {
            bits,
            moduli,
            kept,
            flood: primes * BITS - bits - 3,
            q: moduli
                .iter()
                .fold(1, |q, modulus| q.wrapping_mul(modulus.prime())),
            scale: moduli.iter().map(scale).collect(),
            decode: decode.collect(),
        })
    }

    /// The moduli of answers.
    pub(crate) fn kept(&self) -> &'static [Modulus] {
        &self.moduli[..self.kept]
    }

    fn low(&self, x: u64) -> u64 {
        x & (u64::MAX >> (64 - self.bits))
    }

    /// round(q m / t) modulo the prime of this index.
    ///
    /// With s = q m + t / 2 and r = s mod t it is (s - r) / t; the prime divides q.
    #[inline(always)]
    pub(crate) fn encode(&self, m: u64, index: usize) -> u64 {
        let modulus = &self.moduli[index];
        let [inverse, half] = self.scale[index];
        let r = self.low(self.q.wrapping_mul(m).wrapping_add(1 << (self.bits - 1)));
        modulus.mul(modulus.sub(half, modulus.reduce_word(r)), inverse)
    }

    /// Encodes a polynomial: -(r - t / 2) / t, where the difference is an integer between -t / 2 and
    /// t / 2.
    pub(crate) fn encode_all(
        &self,
        messages: &[u64],
        index: usize,
        differences: &mut [i64],
        out: &mut [u64],
    ) {
        let modulus = &self.moduli[index];
        let up = 64 - self.bits;
        for (difference, &m) in differences.iter_mut().zip(messages) {
            // q m + t / 2 mod t, less t / 2: the remainder of q m, as a signed number.
            *difference = (self.q.wrapping_mul(m) << up) as i64 >> up;
        }
        modulus.ntt.residues(differences, out);
        let [inverse, _] = self.scale[index];
        modulus.ntt.scale(out, modulus.sub(0, inverse));
    }

    /// round(t x / q) mod t, for x by its residues and q the product of the kept primes.
    ///
    /// x / q = sum_i (x_i (q / p_i)^-1 mod p_i) / p_i up to an integer; the fractions are summed with
    /// 113 bits, of which the lowest two are uncertain.
    #[inline(always)]
    pub(crate) fn decode(&self, residues: impl Iterator<Item = u64>) -> u64 {
        let terms = residues.zip(&self.decode).zip(self.moduli);
        let sum = terms.fold(0_u128, |sum, ((x, decode), modulus)| {
            let y = u128::from(modulus.mul(x, decode.inverse));
            let [high, low] = decode.reciprocal.map(u128::from);
            sum.wrapping_add(y * high).wrapping_add((y * low) >> 64)
        });
        let rounded = sum.wrapping_add(1 << (WHOLE - self.bits - 1));
        self.low((rounded >> (WHOLE - self.bits)) as u64)
    }

    /// Turns residues modulo all primes into those of round(x / r) modulo the kept ones, r the product of the
    /// others: `residues` has `len` of each prime, and what was of the others is meaningless after.
    pub(crate) fn shrink(&self, residues: &mut [u64], len: usize) {
        self.drop_primes(residues, len, |modulus, rest, top, inverse| {
            for (x, &top) in rest.iter_mut().zip(top) {
                *x = modulus.mul(modulus.sub(*x, modulus.signed(top)), inverse);
            }
        });
    }

    /// Shrinks each coefficient of a polynomial.
    pub(crate) fn shrink_poly(&self, poly: &mut [u64]) {
        let mut residues = Zeroizing::new(vec![0; N]);
        self.drop_primes(poly, N, |modulus, rest, top, inverse| {
            modulus.ntt.residues(top, &mut residues);
            modulus.ntt.sub_assign(rest, &residues);
            modulus.ntt.scale(rest, inverse);
        });
    }

    /// Prime by prime, the last one first: takes x mod p off, between -p / 2 and p / 2, and has `divide` do
    /// the rest with 1 / p.
    fn drop_primes(
        &self,
        residues: &mut [u64],
        len: usize,
        mut divide: impl FnMut(&Modulus, &mut [u64], &[i64], u64),
    ) {
        let mut signed = Zeroizing::new(vec![0; len]);
        for last in (self.kept..self.moduli.len()).rev() {
            let dropped = &self.moduli[last];
            let half = dropped.prime() / 2;
            let (rest, top) = residues[..(last + 1) * len].split_at_mut(last * len);
            for (signed, &top) in signed.iter_mut().zip(&*top) {
                *signed = dropped.add(top, half) as i64 - half as i64;
            }
            for (modulus, rest) in self.moduli.iter().zip(rest.chunks_exact_mut(len)) {
                let inverse = modulus.inverse(modulus.reduce_word(dropped.prime()));
                divide(modulus, rest, &signed, inverse);
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    const WIDTHS: [usize; 4] = [8, 16, 32, 64];

    proptest! {
        /// Scaled, moved to the smaller modulus with noise of any size that is allowed, and back.
        #[test]
        fn messages_come_back(message in any::<u64>(), noise in any::<i64>(), width in 0..WIDTHS.len()) {
            let params = Params::new(WIDTHS[width]).expect("a width");
            // Noise of a flood and a half.
            let noise = i128::from(noise) * 3 / 2;
            let mut residues: Vec<u64> = (0..params.moduli.len())
                .map(|index| {
                    let modulus = &params.moduli[index];
                    let two = modulus.power(2, params.flood as u64);
                    let unit = modulus.mul(two, modulus.inverse(modulus.power(2, 63)));
                    let noise = modulus.mul(unit, noise.rem_euclid(modulus.prime().into()) as u64);
                    modulus.add(params.encode(params.low(message), index), noise)
                })
                .collect();
            params.shrink(&mut residues, 1);
            let kept = residues[..params.kept].iter().copied();
            prop_assert_eq!(params.decode(kept), params.low(message), "{} bits", params.bits);
        }
    }

    /// Polynomials are treated as their coefficients are.
    #[test]
    fn all_at_once_is_one_by_one() {
        for bits in WIDTHS {
            let params = Params::new(bits).expect("a width");
            let word = |i: u64| i.wrapping_mul(0x9e37_79b9_7f4a_7c15);
            let mut messages: Vec<u64> = (0..N as u64).map(|i| params.low(word(i))).collect();
            let half = 1 << (bits - 1);
            messages[..4].copy_from_slice(&[0, half, half - 1, params.low(u64::MAX)]);
            let mut poly = vec![0; params.moduli.len() * N];
            for (index, out) in poly.chunks_exact_mut(N).enumerate() {
                params.encode_all(&messages, index, &mut vec![0; N], out);
                let one = messages.iter().map(|&m| params.encode(m, index));
                assert!(out.iter().copied().eq(one), "{bits} bits");
            }
            let mut one = poly.clone();
            params.shrink_poly(&mut poly);
            params.shrink(&mut one, N);
            assert!(
                poly[..params.kept * N] == one[..params.kept * N],
                "{bits} bits"
            );
        }
    }

    /// The flood leaves room for all other noise, in both moduli.
    #[test]
    fn there_is_room() {
        for bits in WIDTHS {
            let params = Params::new(bits).expect("a width");
            let unit = params.moduli.len() * BITS - bits;
            assert!(params.flood + 3 <= unit);
            // Rounding to the smaller modulus adds (1 + N) / 2 at most.
            assert!(params.kept * BITS - bits >= 13 + 3, "{bits} bits");
        }
        assert!(Params::new(128).is_none());
        assert!(Params::new(7).is_none());
    }
}
