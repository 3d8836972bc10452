//! Matrix products and convolutions of protocol R against their definitions, at their declared cost.

use crate::common::products::{plain as product_of, products, shape};
use crate::common::{dealt, plain, run, values};
use madrigal_core::{Convolution, Product, Ring};
use madrigal_testkit::seed;

#[test]
fn products_of_matrices_and_convolutions() {
    let seed = seed();
    let large = [
        Product::Matrices(1, shape([300, 2, 65])),
        Product::Matrices(1, shape([400, 3, 250])),
        Product::Matrices(2, shape([20, 5, 50])),
        // More columns than are unfolded at once.
        Product::Convolution(Convolution {
            padding: [[1, 1], [1, 1]],
            ..Convolution::new(3, [200, 125], 4, [2, 3])
        }),
    ];
    for product in products().into_iter().chain(large) {
        multiply::<u8>(seed, product);
        multiply::<u16>(seed, product);
        multiply::<u32>(seed, product);
        multiply::<u64>(seed, product);
        multiply::<u128>(seed, product);
    }
}

fn multiply<T: Ring>(seed: u64, product: Product) {
    let about = format!("{product:?}, {} bits", T::BITS);
    let [left, right, _] = product.lengths();
    let (x, y) = (values::<T>(seed, 0, left), values::<T>(seed, 1, right));
    let (xs, ys) = (dealt(seed, 0, &x), dealt(seed, 1, &y));
    let results = run(
        seed,
        &about,
        async |rings| {
            let me = rings.me().index();
            rings.products(&xs[me], &ys[me], &product).await
        },
        |tally| tally.products::<T>(&product),
    );
    assert!(plain(&results) == product_of(&product, &x, &y), "{about}");
}
