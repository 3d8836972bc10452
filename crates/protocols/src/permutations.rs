//! Random permutations of rows, drawn from generators.

use madrigal_core::Zeroizing;
use madrigal_kernels::rings;
use madrigal_net::Generator;

/// Rows that are drawn for at once.
const DRAWN: usize = 4096;

/// Draws a permutation: the old place of each row.
pub(crate) fn permutation(generator: &mut Generator, rows: usize) -> Zeroizing<Vec<u32>> {
    let mut places: Zeroizing<Vec<u32>> = Zeroizing::from((0..rows as u32).collect::<Vec<_>>());
    let mut drawn = Zeroizing::zeros(DRAWN.min(rows));
    let mut last = rows;
    while last > 1 {
        let drawn: &mut [u128] = &mut drawn[..DRAWN.min(last - 1)];
        generator.fill(rings::as_bytes_mut(drawn));
        for &uniform in &*drawn {
            places.swap(last - 1, below(uniform, last as u32) as usize);
            last -= 1;
        }
    }
    places
}

/// AES blocks of [`permutation`]: one for each row but one.
pub(crate) const fn permutation_blocks(rows: usize) -> u64 {
    rows.saturating_sub(1) as u64
}

/// A number below `bound` of 128 uniform bits: the distance from uniform is below bound / 2^128, so that a permutation of 2^32 rows
/// is closer than 2^-64 to a uniform one.
const fn below(uniform: u128, bound: u32) -> u32 {
    let bound = bound as u128;
    let (high, low) = (uniform >> 64, uniform & u64::MAX as u128);
    ((high * bound + ((low * bound) >> 64)) >> 64) as u32
}

#[cfg(test)]
mod tests {
    use super::below;

    #[test]
    fn numbers_below_a_bound_are_the_high_part_of_a_product() {
        for bound in [1, 2, 3, 1000, u32::MAX] {
            assert_eq!(below(0, bound), 0);
            assert_eq!(below(u128::MAX, bound), bound - 1);
            for at in [1, bound / 2, bound - 1] {
                // The least number whose product with the bound reaches `at` * 2^128.
                let least = (u128::MAX / u128::from(bound)).saturating_mul(u128::from(at));
                let found = below(least, bound);
                assert!(
                    found == at || found + 1 == at,
                    "{at} below {bound}: {found}"
                );
            }
        }
    }
}
