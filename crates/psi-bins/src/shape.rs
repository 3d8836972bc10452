//! Numbers of bins.

use crate::{BinsError, CHOICES};

/// Bins beyond five for each four items: with fewer, small sets of items that have their bins in common are too
/// frequent where there are few items. A test computes the chance for all sizes.
const MORE: u64 = 112;

/// Numbers of items of the receiver and of bins. Both parties know them.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Shape {
    items: usize,
    bins: usize,
}

impl Shape {
    /// The most bins. Tags of 64 bits agree by chance in any of them once in 2^40 times.
    pub const MOST_BINS: u64 = 1 << 24;

    /// The most items of the receiver: thirteen million.
    pub const MOST_ITEMS: u64 = (Self::MOST_BINS - MORE) / 5 * 4;

    /// The most items of the sender: three stores, of which each has a key of every item, have 2^28 keys together.
    pub const MOST_OF_SENDER: u64 = madrigal_okvs::Shape::MOST_KEYS / CHOICES as u64;

    /// The shape for `items` items of the receiver: 112 bins and 1.25 for each, so that the items fit into no bins once in 2^40 times at
    /// most ([`failure_bits`](crate::failure_bits)).
    ///
    /// # Errors
    /// [`BinsError::TooManyItems`] beyond [`MOST_ITEMS`](Self::MOST_ITEMS).
    pub fn for_items(items: u64) -> Result<Self, BinsError> {
        if items > Self::MOST_ITEMS {
            return Err(BinsError::TooManyItems {
                whose: "receiver",
                items,
                most: Self::MOST_ITEMS,
            });
        }
        Ok(Self {
            items: items as usize,
            bins: (items + items.div_ceil(4) + MORE) as usize,
        })
    }

    /// A shape of a caller's own choice, of which nothing says how often items fit into no bins but
    /// [`failure_bits`](crate::failure_bits). Failures depend on the items, so where they are not rare they tell of them.
    ///
    /// # Errors
    /// [`BinsError::TooManyItems`] beyond [`MOST_ITEMS`](Self::MOST_ITEMS); [`BinsError::Bins`] unless there are from 3 to
    /// [`MOST_BINS`](Self::MOST_BINS).
    pub fn with_bins(items: u64, bins: u64) -> Result<Self, BinsError> {
        let Self { items, .. } = Self::for_items(items)?;
        if !(CHOICES as u64..=Self::MOST_BINS).contains(&bins) {
            return Err(BinsError::Bins {
                bins,
                most: Self::MOST_BINS,
            });
        }
        Ok(Self {
            items,
            bins: bins as usize,
        })
    }

    /// Items of the receiver.
    #[must_use]
    pub const fn items(&self) -> usize {
        self.items
    }

    /// Bins: the length of what both parties bring to a program on secrets.
    #[must_use]
    pub const fn bins(&self) -> usize {
        self.bins
    }
}
