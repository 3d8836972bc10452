//! Products of matrices and convolutions, which threads share.

use madrigal_core::{Convolution, MatrixShape, Product};
use madrigal_kernels::crew::Crew;
use madrigal_kernels::inside::bands_of;
use madrigal_kernels::products::{add_band, add_products};
use madrigal_kernels::{Block, Prg};

fn random(len: usize, number: u64) -> Vec<u64> {
    let mut words = vec![0; len];
    Prg::numbered(Block::new(7, 7), number).fill_words(&mut words);
    words
}

/// Every output of a convolution or pair of matrices, term by term.
fn plain(product: &Product, x: &[u64], y: &[u64]) -> Vec<u64> {
    let len = product.lengths()[2];
    match product {
        Product::Convolution(convolution) => (0..len)
            .map(|output| {
                let terms = convolution.terms(output).filter_map(|(f, i)| Some((f, i?)));
                terms.fold(0_u64, |sum, (f, i)| {
                    sum.wrapping_add(x[f].wrapping_mul(y[i]))
                })
            })
            .collect(),
        Product::Matrices(
            _,
            MatrixShape {
                rows,
                inner,
                columns,
            },
        ) => (0..len)
            .map(|at| {
                let (piece, row, column) =
                    (at / (rows * columns), at / columns % rows, at % columns);
                (0..*inner).fold(0_u64, |sum, k| {
                    let x = x[(piece * rows + row) * inner + k];
                    let y = y[(piece * inner + k) * columns + column];
                    sum.wrapping_add(x.wrapping_mul(y))
                })
            })
            .collect(),
    }
}

fn products() -> Vec<Product> {
    let shape = |rows, inner, columns| MatrixShape {
        rows,
        inner,
        columns,
    };
    let mut padded = Convolution::new(4, [9, 7], 6, [3, 2]);
    (padded.images, padded.groups) = (3, 2);
    (padded.stride, padded.padding) = ([2, 1], [[1, 0], [0, 1]]);
    let mut deep = Convolution::new(64, [20, 20], 5, [3, 3]);
    deep.images = 2;
    let mut wide = Convolution::new(6, [50, 60], 40, [2, 2]);
    (wide.images, wide.groups) = (3, 2);
    let mut channelwise = Convolution::new(40, [12, 12], 40, [3, 3]);
    channelwise.groups = 40;
    vec![
        Product::Matrices(1, shape(70, 60, 80)),
        Product::Matrices(1, shape(1, 4000, 300)),
        Product::Matrices(1, shape(2, 700, 900)),
        Product::Matrices(50, shape(3, 9, 2)),
        Product::Matrices(3, shape(1, 1, 1)),
        Product::Convolution(padded),
        Product::Convolution(deep),
        Product::Convolution(wide),
        Product::Convolution(channelwise),
    ]
}

#[test]
fn bands_make_up_the_product_for_any_number_of_threads() {
    for product in products() {
        let [left, right, len] = product.lengths();
        let [x, y, a, b, start] = [left, right, left, right, len].map(|len| (len, len as u64));
        let [x, y] = [x, y].map(|(len, number)| random(len, number));
        let [a, b] = [a, b].map(|(len, number)| random(len, number + 1));
        let start = random(start.0, 99);
        let sum = plain(&product, &x, &y)
            .into_iter()
            .zip(plain(&product, &a, &b));
        let expected: Vec<u64> = sum
            .zip(&start)
            .map(|((one, other), start)| one.wrapping_add(other).wrapping_add(*start))
            .collect();
        for threads in [1, 2, 5] {
            Crew::new(threads).expect("threads").at_work(|| {
                let factors = [(&x[..], &y[..]), (&a[..], &b[..])];
                let mut z = start.clone();
                add_products(&product, factors, &mut z);
                assert!(z == expected, "{product:?} on {threads} threads");
                for most in [1, 100, 5000, 1 << 40] {
                    let mut z = start.clone();
                    for band in bands_of(&product, most) {
                        add_band(&product, factors, &mut z, &band);
                    }
                    assert!(z == expected, "{product:?} by {most} on {threads} threads");
                }
            });
        }
    }
}
