//! ANDs of three and four bits at once, in one round online (ABY2.0 3.1.4).
//!
//! x_1 ... x_k = (Delta_1 ^ delta_1) ... (Delta_k ^ delta_k) is the XOR, over all subsets S of the factors, of
//! the Deltas outside S times the product of the masks in S. Shares of the latter come from setup, so that
//! online each party adds up, under the result's mask, what it has, and one bit is opened.

use madrigal_core::{Zeroizing, bits};
use madrigal_correlations::BitTriples;
use madrigal_kernels as kernels;
use madrigal_net::Result;

use super::Aby2;

/// The most factors of an AND.
pub const WIDEST: usize = 4;

/// The subsets of two or more of k factors, each as a number with a bit for each factor, in the order in which
/// their products lie in a string: pairs first, and larger ones after what they are made of.
pub fn subsets(k: usize) -> Vec<usize> {
    let mut all: Vec<usize> = (0..1_usize << k)
        .filter(|set| set.count_ones() > 1)
        .collect();
    all.sort_by_key(|set| (set.count_ones(), *set));
    all
}

/// A larger subset as two smaller ones: a pair, and the rest.
fn halves(set: usize) -> [usize; 2] {
    let first = set & set.wrapping_neg();
    let rest = set & !first;
    let second = rest & rest.wrapping_neg();
    [first | second, rest & !second]
}

impl Aby2 {
    /// Setup of ANDs of k = 3 or 4 bits: our shares of the products of all subsets of two or more of `masks`,
    /// in the order of [`subsets`], a string each, with as many triples for each bit. Two rounds: pairs, and
    /// then their products with others.
    ///
    /// # Panics
    /// If there are not 3 or 4 strings of `ceil(count / 8)` bytes.
    pub async fn subset_products(
        &mut self,
        triples: &mut BitTriples,
        masks: &[&[u8]],
        count: usize,
    ) -> Result<Vec<Zeroizing<Vec<u8>>>> {
        assert!((3..=WIDEST).contains(&masks.len()), "3 or 4 factors");
        let sets = subsets(masks.len());
        let mut made: Vec<Zeroizing<Vec<u8>>> = Vec::with_capacity(sets.len());
        let pairs = sets.iter().filter(|set| set.count_ones() == 2).count();
        for round in [&sets[..pairs], &sets[pairs..]] {
            let total = round.len() * count;
            let empty = || Zeroizing::new(vec![0; bits::bytes_for(total)]);
            let (mut x, mut y, mut z) = (empty(), empty(), empty());
            for (place, &set) in round.iter().enumerate() {
                let factors = match set.count_ones() {
                    2 => [set & set.wrapping_neg(), set & (set - 1)],
                    _ => halves(set),
                };
                for (string, factor) in [&mut x, &mut y].into_iter().zip(factors) {
                    let row = match factor.count_ones() {
                        1 => masks[factor.trailing_zeros() as usize],
                        _ => {
                            let found = sets.iter().position(|&other| other == factor);
                            &made[found.expect("pairs come first")]
                        }
                    };
                    bits::put(string, place * count, row, count);
                }
            }
            self.bit_products(triples, &x, &y, total, &mut z).await?;
            for place in 0..round.len() {
                let mut row = Zeroizing::new(vec![0; bits::bytes_for(count)]);
                bits::take(&z, place * count, &mut row, count);
                made.push(row);
            }
        }
        Ok(made)
    }

    /// The public part of the AND of k bits: `public` and `masks` are the factors', `products` those of
    /// [`subset_products`](Self::subset_products), `fresh` is our share of the result's mask. ceil(count / 8)
    /// bytes each way.
    pub async fn and_many(
        &mut self,
        public: &[&[u8]],
        masks: &[&[u8]],
        products: &[Zeroizing<Vec<u8>>],
        fresh: &[u8],
        count: usize,
        z: &mut [u8],
    ) -> Result<()> {
        let k = public.len();
        let bytes = bits::bytes_for(count);
        let larger = subsets(k);
        assert!(
            masks.len() == k && products.len() == larger.len(),
            "a mask for each factor"
        );
        z.copy_from_slice(&fresh[..bytes]);
        let mut term = Zeroizing::new(vec![0; bytes]);
        let mut factor = Zeroizing::new(vec![0; bytes]);
        for set in 0..1_usize << k {
            match set.count_ones() {
                0 if !self.leads() => continue,
                0 => term.fill(u8::MAX),
                1 => term.copy_from_slice(&masks[set.trailing_zeros() as usize][..bytes]),
                _ => {
                    let found = larger.iter().position(|&other| other == set);
                    term.copy_from_slice(&products[found.expect("all are there")][..bytes]);
                }
            }
            for outside in (0..k).filter(|place| set >> place & 1 == 0) {
                factor.copy_from_slice(&term);
                kernels::and(&mut term, &factor, &public[outside][..bytes]);
            }
            kernels::xor_into(z, &term);
        }
        self.add_up_bits(z, count).await
    }
}
