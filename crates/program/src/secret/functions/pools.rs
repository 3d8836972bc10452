//! Windows over the last two axes.

use crate::element::{Fixed, FixedWord, Number};
use crate::error::Source;
use crate::secret::{Secret, Tensor};

impl Tensor {
    /// `[.., rows, columns]` as `[window, .., down, across]`: each window that lies inside.
    #[track_caller]
    fn flat_windows(&self, size: [usize; 2], stride: [usize; 2]) -> Self {
        let windows = self.windows(size, stride, [1, 1]);
        match windows.shape.axes() {
            [rows, columns, outer @ ..] if windows.value.is_some() => {
                let axes = [&[rows * columns], outer].concat();
                windows.reshaped(&axes, Source::here())
            }
            _ => windows,
        }
    }

    /// [`Secret::max_pool`] of numbers.
    #[track_caller]
    pub fn max_pool(&self, size: [usize; 2], stride: [usize; 2]) -> Self {
        self.flat_windows(size, stride).greatest(0)
    }

    /// [`Secret::average_pool`] of numbers with a fixed point.
    #[track_caller]
    pub fn average_pool(&self, size: [usize; 2], stride: [usize; 2]) -> Self {
        self.flat_windows(size, stride).mean(0)
    }
}

impl<T: Number> Secret<T> {
    forward! {
        /// The greatest number of each window of `size` rows and columns, at every `stride` rows and columns:
        /// `[.., rows, columns]` becomes `[.., (rows - size) / stride + 1, ..]`. A tree of comparisons.
        max_pool(size: [usize; 2], stride: [usize; 2]);
    }
}

impl<W: FixedWord, const F: u32> Secret<Fixed<W, F>> {
    forward! {
        /// The [average](Secret::mean) of each window; else as [`max_pool`](Secret::max_pool).
        average_pool(size: [usize; 2], stride: [usize; 2]);
    }
}
