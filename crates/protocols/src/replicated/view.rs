//! Shares of ring elements that somebody else keeps.

use std::fmt;
use std::ops::Range;

use madrigal_core::Ring;

use super::error::SharesError;

/// One party's shares of a batch of ring elements where they lie: what operations read, so that nothing
/// is copied for them. A `&RingShares` becomes one.
#[derive(Clone, Copy)]
pub struct RingView<'a, T: Ring> {
    pub(super) components: [&'a [T]; 2],
}

impl<T: Ring> fmt::Debug for RingView<'_, T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "RingView({} of {} bits)", self.len(), T::BITS)
    }
}

impl<'a, T: Ring> RingView<'a, T> {
    /// Makes a view of a party's first and second component of each element.
    ///
    /// # Errors
    /// [`SharesError::Lengths`] if there is not one of each.
    pub const fn new(first: &'a [T], second: &'a [T]) -> Result<Self, SharesError> {
        if first.len() != second.len() {
            return Err(SharesError::Lengths {
                first: first.len(),
                second: second.len(),
            });
        }
        Ok(Self {
            components: [first, second],
        })
    }

    /// Number of elements.
    pub const fn len(&self) -> usize {
        self.components[0].len()
    }

    /// Whether there are none.
    pub const fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// The first and the second components: secrets.
    pub const fn components(&self) -> [&'a [T]; 2] {
        self.components
    }

    /// Some of the elements.
    ///
    /// # Panics
    /// If there are fewer elements.
    #[must_use]
    pub fn slice(&self, range: Range<usize>) -> Self {
        Self {
            components: self.components.map(|part| &part[range.clone()]),
        }
    }
}
