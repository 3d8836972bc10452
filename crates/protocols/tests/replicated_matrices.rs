//! Matrix products and convolutions of protocol R against plain loops, at their declared cost.

use crate::common::{dealt, plain, run, values};
use madrigal_core::Ring;
use madrigal_protocols::replicated::{Convolution, MatrixShape};
use madrigal_testkit::seed;

#[test]
fn matrix_products() {
    let seed = seed();
    for (rows, inner, columns) in [
        (1, 1, 1),
        (3, 5, 7),
        (130, 9, 33),
        (300, 2, 65),
        (2, 0, 3),
        (7, 2, 1),
        (8, 3, 8),
        (20, 5, 50),
        (400, 3, 250),
    ] {
        let shape = MatrixShape {
            rows,
            inner,
            columns,
        };
        matrices::<u8>(seed, shape);
        matrices::<u16>(seed, shape);
        matrices::<u32>(seed, shape);
        matrices::<u64>(seed, shape);
        matrices::<u128>(seed, shape);
    }
}

fn matrices<T: Ring>(seed: u64, shape: MatrixShape) {
    let about = format!("{shape:?}, {} bits", T::BITS);
    let MatrixShape {
        rows,
        inner,
        columns,
    } = shape;
    let (x, y) = (
        values::<T>(seed, 0, rows * inner),
        values::<T>(seed, 1, inner * columns),
    );
    let (xs, ys) = (dealt(seed, 0, &x), dealt(seed, 1, &y));
    let results = run(
        seed,
        &about,
        async |rings| {
            let me = rings.me().index();
            rings.matrix_product(&xs[me], &ys[me], shape).await
        },
        |tally| tally.matrix_product::<T>(shape),
    );
    let element = |i: usize| {
        let (row, column) = (i / columns, i % columns);
        (0..inner).fold(T::ZERO, |sum, k| {
            sum.add(x[row * inner + k].mul(y[k * columns + column]))
        })
    };
    let expected: Vec<T> = (0..rows * columns).map(element).collect();
    assert!(plain(&results) == expected, "{about}");
}

#[test]
fn convolutions() {
    let seed = seed();
    for (image, filter, stride, padding) in [
        ([1, 1], [1, 1], [1, 1], [0, 0]),
        ([5, 7], [3, 2], [1, 1], [0, 0]),
        ([6, 6], [3, 3], [2, 1], [1, 1]),
        ([4, 9], [5, 3], [1, 3], [2, 0]),
        ([64, 60], [3, 3], [1, 1], [1, 1]),
        ([200, 125], [2, 3], [1, 1], [1, 1]),
    ] {
        let shape = Convolution {
            channels: 3,
            image,
            filters: 4,
            filter,
            stride,
            padding,
        };
        convolve::<u8>(seed, shape);
        convolve::<u16>(seed, shape);
        convolve::<u32>(seed, shape);
        convolve::<u64>(seed, shape);
        convolve::<u128>(seed, shape);
    }
}

fn convolve<T: Ring>(seed: u64, shape: Convolution) {
    let about = format!("{shape:?}, {} bits", T::BITS);
    let [image_len, filters_len, output_len] = shape.lengths();
    let (image, filters) = (
        values::<T>(seed, 0, image_len),
        values::<T>(seed, 1, filters_len),
    );
    let (xs, ys) = (dealt(seed, 0, &image), dealt(seed, 1, &filters));
    let results = run(
        seed,
        &about,
        async |rings| {
            let me = rings.me().index();
            rings.convolve(&xs[me], &ys[me], &shape).await
        },
        |tally| tally.convolve::<T>(&shape),
    );
    let [rows, columns] = shape.output();
    let mut expected = Vec::with_capacity(output_len);
    for o in 0..shape.filters {
        for r in 0..rows {
            for c in 0..columns {
                let mut sum = T::ZERO;
                for i in 0..shape.channels {
                    for y in 0..shape.filter[0] {
                        for x in 0..shape.filter[1] {
                            let at = [r * shape.stride[0] + y, c * shape.stride[1] + x];
                            let inside = |axis: usize| {
                                let at = at[axis].checked_sub(shape.padding[axis])?;
                                (at < shape.image[axis]).then_some(at)
                            };
                            let (Some(row), Some(column)) = (inside(0), inside(1)) else {
                                continue;
                            };
                            let place = (i * shape.image[0] + row) * shape.image[1] + column;
                            let [height, width] = shape.filter;
                            let weight = ((o * shape.channels + i) * height + y) * width + x;
                            sum = sum.add(image[place].mul(filters[weight]));
                        }
                    }
                }
                expected.push(sum);
            }
        }
    }
    assert!(plain(&results) == expected, "{about}");
}
