//! Groups of products whose triples are made together: parties that encrypt and those that answer then work at the same
//! time, on different products.

use madrigal_correlations::{Kind, Tripled, Width, with_ring};

use crate::ot::matrices::serves;

/// Bytes of factors and results of the products of a group, beyond which no more join it.
const MANY: u128 = 64 << 20;

/// Triples that one call of a source makes.
pub(crate) enum ProductCall {
    /// Items of a kind by themselves.
    One(Kind, usize),
    /// Triples of several products of one width, by encryption.
    Together(Width, Vec<(Tripled, usize)>),
}

/// Puts the kinds of products that are wanted, each with a number of triples, in groups that follow each other.
pub(crate) fn groups(wanted: &[(Kind, usize)], encrypts: bool) -> Vec<ProductCall> {
    let mut groups: Vec<ProductCall> = Vec::new();
    let mut bytes = 0;
    for &(kind, count) in wanted {
        let encrypted = kind.product().filter(|&(width, one)| {
            encrypts
                && count > 0
                && one.product.multiplications() > 0
                && with_ring!(width, T => serves::<T>())
        });
        let Some((width, one)) = encrypted else {
            groups.push(ProductCall::One(kind, count));
            continue;
        };
        let more = one.product.lengths().iter().sum::<usize>() as u128;
        let more = more * count as u128 * (width.bits() / 8) as u128;
        match groups.last_mut() {
            Some(ProductCall::Together(known, products))
                if *known == width && bytes + more <= MANY =>
            {
                products.push((one, count));
                bytes += more;
            }
            _ => {
                groups.push(ProductCall::Together(width, vec![(one, count)]));
                bytes = more;
            }
        }
    }
    groups
}

#[cfg(test)]
mod tests {
    use madrigal_core::{MatrixShape, Product, Ring};

    use super::*;

    fn kind<T: Ring>(batch: usize, rows: usize) -> Kind {
        let shape = MatrixShape {
            rows,
            inner: 1000,
            columns: 10,
        };
        Kind::of_product(Width::of::<T>(), Product::Matrices(batch, shape)).0
    }

    #[test]
    fn groups_are_of_one_width_and_not_too_large() {
        let said = |wanted: &[(Kind, usize)], encrypts| -> Vec<usize> {
            let size = |group: &ProductCall| match group {
                ProductCall::One(..) => 0,
                ProductCall::Together(_, products) => products.len(),
            };
            groups(wanted, encrypts).iter().map(size).collect()
        };
        let small = (kind::<u64>(1, 10), 1);
        let large = (kind::<u64>(1, 5000), 1);
        let wanted = [small, small, large, large, small, small];
        assert_eq!(said(&wanted, true), [3, 3]);
        assert_eq!(said(&wanted, false), [0; 6]);
        let widths = [
            small,
            (kind::<u32>(1, 10), 2),
            (kind::<u128>(1, 10), 1),
            small,
        ];
        assert_eq!(said(&widths, true), [1, 1, 0, 1]);
        assert_eq!(
            said(&[(kind::<u64>(1, 0), 1), (small.0, 0), small], true),
            [0, 0, 1]
        );
    }
}
