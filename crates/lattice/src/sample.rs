//! Random polynomials. Secret ones are sampled without branches on them.

use madrigal_core::Zeroizing;
use madrigal_kernels::{Block, Prg};

use crate::modulus::{BITS, Modulus, N};
use crate::params::Params;

/// AES blocks of a uniform polynomial modulo one prime.
pub(crate) const UNIFORM_BLOCKS: u64 = N as u64;
/// AES blocks of a small polynomial.
pub(crate) const SMALL_BLOCKS: u64 = N as u64 / 2;
/// AES blocks of a flooded mask.
pub(crate) const MASK_BLOCKS: u64 = 2;

/// Signs of a centred binomial number that add up, and as many that are taken off: variance 10.5.
const SIGNS: u32 = 21;

/// Uniform residues modulo each prime, from a public seed, one polynomial after the other.
///
/// A residue is two words of 50 bits reduced mod p, which is 2^-50 from uniform.
pub(crate) struct Uniform {
    prg: Prg,
    words: Vec<u64>,
}

impl Uniform {
    pub(crate) fn new(seed: Block) -> Self {
        Self {
            // Number 0: the seed is public.
            prg: Prg::new(seed),
            words: vec![0; 2 * N],
        }
    }

    /// The sampler from polynomial number `polynomial` on.
    pub(crate) fn at(seed: Block, polynomial: usize) -> Self {
        let mut uniform = Self::new(seed);
        uniform.prg.seek(polynomial as u64 * UNIFORM_BLOCKS);
        uniform
    }

    pub(crate) fn fill(&mut self, modulus: &Modulus, out: &mut [u64]) {
        const MASK: u64 = (1 << BITS) - 1;
        self.prg.fill_words(&mut self.words);
        for (out, words) in out.iter_mut().zip(self.words.chunks_exact(2)) {
            let [high, low] = [words[0] & MASK, words[1] & MASK].map(u128::from);
            *out = modulus.reduce(high << BITS | low);
        }
    }
}

/// Small secret polynomials.
pub(crate) struct Small {
    prg: Prg,
    words: Zeroizing<Vec<u64>>,
}

impl Small {
    /// Makes a sampler from a secret seed, whose public number is `number`.
    pub(crate) fn new(seed: Block, number: u64) -> Self {
        Self {
            prg: Prg::numbered(seed, number),
            words: Zeroizing::new(vec![0; N]),
        }
    }

    /// Takes the next `blocks` AES blocks off, as a sampler of its own.
    pub(crate) fn part(&mut self, blocks: u64) -> Self {
        let part = Self {
            prg: self.prg.clone(),
            words: Zeroizing::new(vec![0; N]),
        };
        self.prg.seek(self.prg.position() + blocks);
        part
    }

    /// A block that is given away, as a seed for [`Uniform`].
    pub(crate) fn seed(&mut self) -> Block {
        self.prg.next_block()
    }

    /// Coefficients -1, 0 and 1, each as likely (to within 2^-62).
    pub(crate) fn ternary(&mut self) -> impl Iterator<Item = i64> {
        self.prg.fill_words(&mut self.words);
        let third = |&word: &u64| ((u128::from(word) * 3) >> 64) as i64 - 1;
        self.words.iter().map(third)
    }

    /// Centred binomial coefficients of variance 10.5, in [-21, 21]: the noise of samples.
    pub(crate) fn binomial(&mut self) -> impl Iterator<Item = i64> {
        self.prg.fill_words(&mut self.words);
        let ones = |word: u64| i64::from((word & ((1 << SIGNS) - 1)).count_ones());
        self.words
            .iter()
            .map(move |&word| ones(word) - ones(word >> SIGNS))
    }

    /// Draws for each of `masks` a uniform number mod t, and for each prime, one after the other, the residues
    /// of what it is scaled to, with a flood on top.
    pub(crate) fn masks(&mut self, params: &Params, masks: &mut [u64], flooded: &mut [u64]) {
        let count = masks.len();
        let width = params.flood + 1;
        let cut = |word: u64, at: usize| match width.saturating_sub(at) {
            0 => 0,
            bits => word & (u64::MAX >> (64 - bits.min(64))),
        };
        let mut words = Zeroizing::new(vec![0; 4 * count]);
        self.prg.fill_words(&mut words);
        for (mask, words) in masks.iter_mut().zip(words.chunks_exact(4)) {
            *mask = words[3] & (u64::MAX >> (64 - params.bits));
        }
        for (index, out) in flooded.chunks_exact_mut(count.max(1)).enumerate() {
            let modulus = &params.moduli[index];
            let top = modulus.power(2, 128);
            let start = modulus.power(2, params.flood as u64);
            for ((out, words), &mask) in out.iter_mut().zip(words.chunks_exact(4)).zip(&*masks) {
                let low = u128::from(cut(words[0], 0)) | u128::from(cut(words[1], 64)) << 64;
                let flood = modulus.add(modulus.reduce(low), modulus.mul(cut(words[2], 128), top));
                *out = modulus.add(modulus.sub(flood, start), params.encode(mask, index));
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::modulus::moduli;

    const SEED: Block = Block::new(1, 2);

    #[test]
    fn small_polynomials_have_their_distributions() {
        let mut small = Small::new(SEED, 3);
        let ternary: Vec<i64> = small.ternary().collect();
        for value in -1..=1 {
            let share = ternary.iter().filter(|&&x| x == value).count() as f64 / N as f64;
            assert!((share - 1.0 / 3.0).abs() < 0.03, "{share} of {value}");
        }
        let binomial: Vec<f64> = small.binomial().map(|x| x as f64).collect();
        assert!(binomial.iter().all(|x| x.abs() <= 21.0));
        let mean = binomial.iter().sum::<f64>() / N as f64;
        let variance = binomial.iter().map(|x| x * x).sum::<f64>() / N as f64;
        assert!(
            mean.abs() < 0.2 && (10.1..11.0).contains(&variance),
            "{mean}, {variance}"
        );
        assert_eq!(small.prg.position(), 2 * SMALL_BLOCKS);
    }

    #[test]
    fn uniform_residues_fill_their_range() {
        let mut uniform = Uniform::new(SEED);
        let mut out = vec![0; N];
        for modulus in moduli() {
            uniform.fill(modulus, &mut out);
            let p = modulus.prime();
            assert!(out.iter().all(|&x| x < p));
            let mean = out.iter().map(|&x| x as f64 / p as f64).sum::<f64>() / N as f64;
            assert!((mean - 0.5).abs() < 0.02, "{mean}");
        }
        assert_eq!(uniform.prg.position(), 4 * UNIFORM_BLOCKS);
    }

    /// The flood decodes to nothing.
    #[test]
    fn floods_are_harmless() {
        for bits in [8, 16, 32, 64] {
            let params = Params::new(bits).expect("a width");
            let (count, primes) = (500, params.moduli.len());
            let mut masks = vec![0; count];
            let mut flooded = vec![0; primes * count];
            let mut small = Small::new(SEED, 3);
            small.masks(&params, &mut masks, &mut flooded);
            assert_eq!(small.prg.position(), MASK_BLOCKS * count as u64);
            params.shrink(&mut flooded, count);
            for (i, &mask) in masks.iter().enumerate() {
                let residues = (0..params.kept().len()).map(|index| flooded[index * count + i]);
                assert_eq!(params.decode(residues), mask, "{bits} bits");
            }
        }
    }
}
