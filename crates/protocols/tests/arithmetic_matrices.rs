//! Matrix products and convolutions of arithmetic GMW against plain sums, for all widths.

use crate::common::additive::{everywhere, run, sum};
use crate::common::values;
use madrigal_core::Ring;
use madrigal_kernels::rings;
use madrigal_protocols::Opening;
use madrigal_protocols::arithmetic::{ArithmeticGmw, Convolution, MatrixShape};
use madrigal_testkit::seed;

const SHAPES: [[usize; 3]; 7] = [
    [1, 1, 1],
    [1, 4, 30],
    [3, 5, 7],
    [9, 1, 2],
    [2, 0, 3],
    [0, 3, 2],
    [40, 33, 65],
];

fn shape([rows, inner, columns]: [usize; 3]) -> MatrixShape {
    MatrixShape {
        rows,
        inner,
        columns,
    }
}

for_all_widths! {
    matrix_products => multiply(SHAPES);
    products_of_one_masked_matrix => masked([[1, 1, 3], [3, 5, 8], [2, 0, 4]]);
    convolutions => convolve([1, 2]);
}

/// x y for row by row matrices.
fn product<T: Ring>(x: &[T], y: &[T], shape: MatrixShape) -> Vec<T> {
    let at = |row: usize, column: usize| {
        let terms =
            (0..shape.inner).map(|k| x[row * shape.inner + k].mul(y[k * shape.columns + column]));
        terms.fold(T::ZERO, T::add)
    };
    let places = (0..shape.rows).flat_map(|row| (0..shape.columns).map(move |c| (row, c)));
    places.map(|(row, column)| at(row, column)).collect()
}

/// One of the shape, and another one beside it in the same opening.
fn multiply<T: Ring>(seed: u64, sizes: [usize; 3]) {
    let shapes = [shape(sizes), shape([2, 3, 4])];
    let about = format!("{sizes:?} of {} bits", T::BITS);
    let [x, y]: [Vec<Vec<T>>; 2] = [
        shapes.map(|s| values(seed, 0, s.rows * s.inner)).to_vec(),
        shapes
            .map(|s| values(seed, 1, s.inner * s.columns))
            .to_vec(),
    ];
    let expected = [0, 1].map(|i| product(&x[i], &y[i], shapes[i])).concat();
    let (x, y) = (x.concat(), y.concat());
    everywhere(seed, |world @ (_, parties, opening)| {
        let results = run(
            world,
            &about,
            async |gmw, dealer| {
                let [x, y] = [(0, &x), (1, &y)].map(|(label, v)| dealer.share(label, v));
                let triples = [(2, shapes[0]), (3, shapes[1])];
                let triples = triples.map(|(label, shape)| dealer.matrices(label, shape));
                let mut z = vec![T::ONE; expected.len()];
                gmw.matrix_products(triples.into(), &x, &y, &mut z).await?;
                Ok(z)
            },
            1,
            |me| ArithmeticGmw::matrix_products_cost::<T>(opening, me, parties, &shapes),
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
        product(&x, &ys[i], MatrixShape { columns, ..whole })
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

fn convolve<T: Ring>(seed: u64, stride: usize) {
    let shape = Convolution {
        channels: 2,
        image: [7, 6],
        filters: 3,
        filter: [3, 2],
        stride: [stride, 1],
        padding: [1, stride - 1],
    };
    let about = format!("{shape:?} of {} bits", T::BITS);
    let [image_len, filters_len, output_len] = shape.lengths();
    let image: Vec<T> = values(seed, 0, image_len);
    let filters: Vec<T> = values(seed, 1, filters_len);
    let [rows, columns] = shape.output();
    let mut expected = vec![T::ZERO; output_len];
    for (at, sum) in expected.iter_mut().enumerate() {
        let [o, r, c] = [at / (rows * columns), at / columns % rows, at % columns];
        for i in 0..2 {
            for (y, x) in (0..3).flat_map(|y| (0..2).map(move |x| (y, x))) {
                let row = (r * shape.stride[0] + y).wrapping_sub(shape.padding[0]);
                let column = (c * shape.stride[1] + x).wrapping_sub(shape.padding[1]);
                if row < 7 && column < 6 {
                    let pixel = image[(i * 7 + row) * 6 + column];
                    *sum = sum.add(pixel.mul(filters[((o * 2 + i) * 3 + y) * 2 + x]));
                }
            }
        }
    }
    everywhere(seed, |world @ (_, parties, opening)| {
        let results = run(
            world,
            &about,
            async |gmw, dealer| {
                let [image, filters] =
                    [(0, &image), (1, &filters)].map(|(label, v)| dealer.share(label, v));
                let triple = dealer.matrices(2, shape.matrices());
                let mut z = vec![T::ONE; output_len];
                gmw.convolve(triple, &image, &filters, &shape, &mut z)
                    .await?;
                Ok(z)
            },
            1,
            |me| ArithmeticGmw::convolve_cost::<T>(opening, me, parties, &shape),
        );
        assert!(sum(&results) == expected, "{about}");
    });
}

/// Rows enough for several bands.
#[test]
fn large_products_come_in_bands() {
    let seed = seed();
    let shape = shape([200, 512, 512]);
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
            gmw.matrix_products(vec![dealer.matrices(2, shape)], &x, &y, &mut z)
                .await?;
            Ok(z)
        },
        1,
        |me| ArithmeticGmw::matrix_products_cost::<u32>(Opening::Direct, me, 2, &[shape]),
    );
    assert!(sum(&results) == expected);
}
