//! Matrix products and convolutions of arithmetic GMW against plain sums, for all widths.

use crate::common::additive::{everywhere, run, sum};
use crate::common::products::{pair_product, plain, products, shape};
use crate::common::values;
use madrigal_core::{MatrixShape, Product, Ring};
use madrigal_kernels::rings;
use madrigal_protocols::Opening;
use madrigal_protocols::arithmetic::ArithmeticGmw;
use madrigal_testkit::seed;

for_all_widths! {
    products_of_matrices_and_convolutions => multiply(products());
    products_of_one_masked_matrix => masked([[1, 1, 3], [3, 5, 8], [2, 0, 4]]);
}

fn multiply<T: Ring>(seed: u64, of: Product) {
    let about = format!("{of:?} of {} bits", T::BITS);
    let [left, right, _] = of.lengths();
    let (x, y): (Vec<T>, Vec<T>) = (values(seed, 0, left), values(seed, 1, right));
    let expected = plain(&of, &x, &y);
    everywhere(seed, |world @ (_, parties, opening)| {
        let results = run(
            world,
            &about,
            async |gmw, dealer| {
                let [x, y] = [(0, &x), (1, &y)].map(|(label, v)| dealer.share(label, v));
                let mut z = vec![T::ONE; expected.len()];
                gmw.products(dealer.product(2, &of), &x, &y, &mut z).await?;
                Ok(z)
            },
            1,
            |me| ArithmeticGmw::products_cost::<T>(opening, me, parties, &of),
        );
        assert!(sum(&results) == expected, "{about}");
    });
}

/// The columns of a triple used in three parts, one of them empty.
fn masked<T: Ring>(seed: u64, sizes: [usize; 3]) {
    let whole = shape(sizes);
    let about = format!("{sizes:?} of {} bits", T::BITS);
    let parts = [1, 0, whole.columns - 1];
    let x: Vec<T> = values(seed, 0, whole.rows * whole.inner);
    let ys = parts.map(|columns| values::<T>(seed, 5, whole.inner * columns));
    let expected = [0, 1, 2].map(|i| {
        let columns = parts[i];
        pair_product(&x, &ys[i], MatrixShape { columns, ..whole })
    });
    everywhere(seed, |world @ (_, parties, opening)| {
        let results = run(
            world,
            &about,
            async |gmw, dealer| {
                let x = dealer.share(0, &x);
                let mut masked = gmw.mask(dealer.matrices(1, whole), &x).await?;
                let mut products = Vec::new();
                for (y, &columns) in ys.iter().zip(&parts) {
                    let y = dealer.share(2, y);
                    let mut z = vec![T::ONE; whole.rows * columns];
                    gmw.masked_product(&mut masked, &y, columns, &mut z).await?;
                    products.extend(z);
                }
                assert_eq!(masked.columns(), 0);
                Ok(products)
            },
            4,
            |me| {
                let mask = ArithmeticGmw::mask_cost::<T>(opening, me, parties, whole);
                parts.iter().fold(mask, |cost, &columns| {
                    let inner = whole.inner;
                    cost + ArithmeticGmw::masked_product_cost::<T>(
                        opening, me, parties, inner, columns,
                    )
                })
            },
        );
        assert!(sum(&results) == expected.concat(), "{about}");
    });
}

/// Rows enough for several bands.
#[test]
fn large_products_come_in_bands() {
    let seed = seed();
    let shape = shape([200, 512, 512]);
    let of = Product::Matrices(1, shape);
    let x: Vec<u32> = values(seed, 0, shape.rows * shape.inner);
    let y: Vec<u32> = values(seed, 1, shape.inner * shape.columns);
    let mut expected = vec![0; shape.rows * shape.columns];
    rings::multiply_add(&x, &y, &mut expected, shape.inner, shape.columns);
    let results = run(
        (seed, 2, Opening::Direct),
        "bands",
        async |gmw, dealer| {
            let [x, y] = [(0, &x), (1, &y)].map(|(label, v)| dealer.share(label, v));
            let mut z = vec![0; expected.len()];
            gmw.products(dealer.product(2, &of), &x, &y, &mut z).await?;
            Ok(z)
        },
        1,
        |me| ArithmeticGmw::products_cost::<u32>(Opening::Direct, me, 2, &of),
    );
    assert!(sum(&results) == expected);
}
