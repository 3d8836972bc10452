//! Convolutions as matrix products: shapes, and the right matrix part by part.

use std::ops::Range;

use madrigal_core::Ring;
use madrigal_correlations::MatrixShape;

/// Sizes of a two-dimensional convolution of one image: `out[o, r, c]` sums up `image[i, r stride + y -
/// padding, c stride + x - padding] filter[o, i, y, x]`, with zeros beyond the image's edge.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Convolution {
    /// Channels of the image and of each filter.
    pub channels: usize,
    /// Rows and columns of the image.
    pub image: [usize; 2],
    /// How many filters, hence channels of the output.
    pub filters: usize,
    /// Rows and columns of each filter.
    pub filter: [usize; 2],
    /// By how many rows and columns the filter moves.
    pub stride: [usize; 2],
    /// Rows of zeros above and below, columns of zeros left and right.
    pub padding: [usize; 2],
}

impl Convolution {
    /// Rows and columns of an output channel.
    ///
    /// # Panics
    /// If a stride is zero or the filter is larger than the padded image.
    pub fn output(&self) -> [usize; 2] {
        [0, 1].map(|axis| {
            let padded = self.image[axis] + 2 * self.padding[axis];
            assert!(
                self.filter[axis] > 0 && self.filter[axis] <= padded && self.stride[axis] > 0,
                "a filter of {:?} does not move by {:?} over {:?} with padding {:?}",
                self.filter,
                self.stride,
                self.image,
                self.padding
            );
            (padded - self.filter[axis]) / self.stride[axis] + 1
        })
    }

    /// Elements of the image, of all filters, and of the output.
    pub fn lengths(&self) -> [usize; 3] {
        let area = |[rows, columns]: [usize; 2]| rows * columns;
        [
            self.channels * area(self.image),
            self.filters * self.window(),
            self.filters * area(self.output()),
        ]
    }

    /// The same as a matrix product: filters, row by row, times what each output sums over, a column for
    /// each.
    pub fn matrices(&self) -> MatrixShape {
        let [rows, columns] = self.output();
        MatrixShape {
            rows: self.filters,
            inner: self.window(),
            columns: rows * columns,
        }
    }

    /// Elements of a filter, and products per output.
    pub(crate) fn window(&self) -> usize {
        self.channels * self.filter[0] * self.filter[1]
    }

    /// Writes what each of the outputs `positions` of a channel sums over, a column for each.
    pub(crate) fn unfold<T: Ring>(&self, image: &[T], positions: Range<usize>, out: &mut [T]) {
        let [_, columns] = self.output();
        let [image_rows, image_columns] = self.image;
        let width = positions.len();
        let mut rows = out.chunks_exact_mut(width.max(1));
        for channel in 0..self.channels {
            let image =
                &image[channel * image_rows * image_columns..][..image_rows * image_columns];
            for y in 0..self.filter[0] {
                for x in 0..self.filter[1] {
                    let Some(row) = rows.next() else { return };
                    for (to, position) in row.iter_mut().zip(positions.clone()) {
                        let r =
                            (position / columns * self.stride[0] + y).wrapping_sub(self.padding[0]);
                        let c =
                            (position % columns * self.stride[1] + x).wrapping_sub(self.padding[1]);
                        // Left of and above the image these wrap, so that one test is enough.
                        *to = if r < image_rows && c < image_columns {
                            image[r * image_columns + c]
                        } else {
                            T::ZERO
                        };
                    }
                }
            }
        }
    }
}
