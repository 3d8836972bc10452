//! Windows along rows and columns; what moves along one axis is of a single row.

use madrigal_program::{Tensor as Secret, Window as Moves};

use super::stop::{Lowered, cannot};
use crate::graph::Window;

/// The most elements of what is put together for one node. Memory follows the data and the weights, but for padding,
/// windows and spaces, which a model only has to name.
const MOST: usize = 1 << 29;

/// A window along two axes.
pub(super) struct Planar {
    pub(super) size: [usize; 2],
    pub(super) strides: [usize; 2],
    pub(super) dilations: [usize; 2],
    pub(super) before: [usize; 2],
    pub(super) after: [usize; 2],
}

/// Values along one axis or two, with those of the axis that is missing.
pub(super) fn along_two(values: &[usize], missing: usize) -> Lowered<[usize; 2]> {
    match *values {
        [columns] => Ok([missing, columns]),
        [rows, columns] => Ok([rows, columns]),
        _ => cannot("windows and kernels move along one or two axes"),
    }
}

/// Checks that as many elements as the product of these numbers can be put together.
pub(super) fn fits(sizes: &[usize]) -> Lowered<()> {
    let product = sizes
        .iter()
        .try_fold(1_usize, |all, &size| all.checked_mul(size));
    match product.is_some_and(|product| product <= MOST) {
        true => Ok(()),
        false => cannot(format!(
            "its padding, windows or strides make {sizes:?} elements, and {MOST} are allowed; use a smaller batch"
        )),
    }
}

impl Planar {
    pub(super) fn new(window: &Window) -> Lowered<Self> {
        Ok(Self {
            size: along_two(&window.kernel, 1)?,
            strides: along_two(&window.strides, 1)?,
            dilations: along_two(&window.dilations, 1)?,
            before: along_two(&window.before, 0)?,
            after: along_two(&window.after, 0)?,
        })
    }

    /// Gives the moves as a convolution has them.
    pub(super) fn moves(&self, groups: usize) -> Moves {
        Moves {
            groups,
            stride: self.strides,
            dilation: self.dilations,
            padding: [0, 1].map(|axis| [self.before[axis], self.after[axis]]),
        }
    }

    /// Rows and columns of a padded image.
    pub(super) fn padded(&self, lengths: [usize; 2]) -> Lowered<[usize; 2]> {
        let mut padded = lengths;
        for (axis, length) in padded.iter_mut().enumerate() {
            *length = length
                .saturating_add(self.before[axis])
                .saturating_add(self.after[axis]);
        }
        fits(&padded)?;
        Ok(padded)
    }
}

/// Adds an axis for a single row, if there is none for rows.
pub(super) fn with_rows(x: &Secret) -> Secret {
    match x.shape().axes() {
        [_, _, _] => x.expand(2),
        _ => x.clone(),
    }
}

/// Takes the axis for rows off, if it was added.
pub(super) fn without_rows(x: Secret, added: bool) -> Secret {
    match (added, x.shape().axes()) {
        (true, &[images, channels, rows, columns]) => x.reshape([images, channels, rows * columns]),
        _ => x,
    }
}
