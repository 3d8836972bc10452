//! Products of matrices and convolutions by their definitions, and shapes to try.

use madrigal_core::{Convolution, MatrixShape, Product, Ring};

pub fn shape([rows, inner, columns]: [usize; 3]) -> MatrixShape {
    MatrixShape {
        rows,
        inner,
        columns,
    }
}

/// Pairs of matrices, and convolutions with strides, dilations, uneven padding, groups and several images.
pub fn products() -> Vec<Product> {
    let matrices = [
        (1, [1, 1, 1]),
        (1, [1, 4, 30]),
        (3, [3, 5, 7]),
        (2, [9, 1, 2]),
        (1, [2, 0, 3]),
        (2, [0, 3, 2]),
        (0, [2, 2, 2]),
        (1, [40, 33, 65]),
        (1, [130, 9, 33]),
    ];
    let convolutions = [
        Convolution::new(1, [1, 1], 1, [1, 1]),
        Convolution::new(2, [5, 7], 3, [3, 2]),
        Convolution {
            stride: [2, 1],
            padding: [[1, 0], [0, 2]],
            ..Convolution::new(2, [7, 6], 3, [3, 2])
        },
        Convolution {
            images: 3,
            groups: 2,
            dilation: [2, 3],
            padding: [[1, 1], [2, 2]],
            ..Convolution::new(4, [6, 7], 6, [3, 2])
        },
        Convolution {
            images: 2,
            groups: 5,
            stride: [1, 3],
            ..Convolution::new(5, [4, 9], 5, [2, 3])
        },
        Convolution {
            padding: [[1, 1], [1, 1]],
            ..Convolution::new(3, [40, 60], 4, [3, 3])
        },
    ];
    let matrices = matrices.map(|(count, sizes)| Product::Matrices(count, shape(sizes)));
    let convolutions = convolutions.map(Product::Convolution);
    matrices.into_iter().chain(convolutions).collect()
}

/// The product by its definition.
pub fn plain<T: Ring>(product: &Product, x: &[T], y: &[T]) -> Vec<T> {
    match product {
        Product::Matrices(count, shape) => (0..*count)
            .flat_map(|pair| {
                let x = &x[pair * shape.rows * shape.inner..];
                let y = &y[pair * shape.inner * shape.columns..];
                pair_product(x, y, *shape)
            })
            .collect(),
        Product::Convolution(convolution) => convolved(convolution, x, y),
    }
}

/// x y for row by row matrices.
pub fn pair_product<T: Ring>(x: &[T], y: &[T], shape: MatrixShape) -> Vec<T> {
    let at = |row: usize, column: usize| {
        let terms =
            (0..shape.inner).map(|k| x[row * shape.inner + k].mul(y[k * shape.columns + column]));
        terms.fold(T::ZERO, T::add)
    };
    let places = (0..shape.rows).flat_map(|row| (0..shape.columns).map(move |c| (row, c)));
    places.map(|(row, column)| at(row, column)).collect()
}

fn convolved<T: Ring>(of: &Convolution, filters: &[T], images: &[T]) -> Vec<T> {
    let [height, width] = of.image;
    let [window_height, window_width] = of.filter;
    let channels = of.channels / of.groups;
    let each = of.filters / of.groups;
    let size = |axis: usize| {
        let [before, after] = of.padding[axis];
        let reach = of.dilation[axis] * (of.filter[axis] - 1) + 1;
        (of.image[axis] + before + after - reach) / of.stride[axis] + 1
    };
    let [rows, columns] = [size(0), size(1)];
    let mut out = Vec::new();
    for image in 0..of.images {
        for filter in 0..of.filters {
            for row in 0..rows {
                for column in 0..columns {
                    let mut sum = T::ZERO;
                    for channel in 0..channels {
                        for y in 0..window_height {
                            for x in 0..window_width {
                                let down = (row * of.stride[0] + y * of.dilation[0]) as isize;
                                let right = (column * of.stride[1] + x * of.dilation[1]) as isize;
                                let down = down - of.padding[0][0] as isize;
                                let right = right - of.padding[1][0] as isize;
                                let inside = (0..height as isize).contains(&down)
                                    && (0..width as isize).contains(&right);
                                if !inside {
                                    continue;
                                }
                                let of_group = filter / each * channels + channel;
                                let plane = (image * of.channels + of_group) * height;
                                let pixel = (plane + down as usize) * width + right as usize;
                                let plane = (filter * channels + channel) * window_height;
                                let weight = (plane + y) * window_width + x;
                                sum = sum.add(images[pixel].mul(filters[weight]));
                            }
                        }
                    }
                    out.push(sum);
                }
            }
        }
    }
    out
}
