//! Shares that are used from the front, each once.

use std::sync::Arc;

use madrigal_core::{Plain, Ring, Zeroizing};

use crate::shares::{Strings, elements, written};

/// `K` columns of equal length. Not `Clone`, and taking moves the front, so nothing is had twice; the
/// shares are wiped when the last part is dropped.
pub(crate) struct Columns<T: Plain, const K: usize> {
    shares: Arc<[Zeroizing<Vec<T>>; K]>,
    next: usize,
    end: usize,
}

impl<T: Plain, const K: usize> Columns<T, K> {
    pub(crate) fn new(columns: [Zeroizing<Vec<T>>; K]) -> Self {
        let end = columns[0].len();
        assert!(
            columns.iter().all(|column| column.len() == end),
            "columns have one length"
        );
        Self {
            shares: Arc::new(columns),
            next: 0,
            end,
        }
    }

    /// All of some, in their order.
    pub(crate) fn concat(mut parts: Vec<Self>) -> Self
    where
        T: Copy,
    {
        if parts.len() == 1 {
            return parts.remove(0);
        }
        let len = parts.iter().map(Self::len).sum();
        Self::new(std::array::from_fn(|column| {
            // As long as it will be from the beginning: growing would leave shares in freed memory.
            let mut all = Zeroizing::new(Vec::with_capacity(len));
            for part in &parts {
                all.extend_from_slice(&part.shares[column][part.next..part.end]);
            }
            all
        }))
    }

    pub(crate) fn len(&self) -> usize {
        self.end - self.next
    }

    pub(crate) fn split_front(&mut self, count: usize) -> Self {
        let start = self.advance(count);
        Self {
            shares: Arc::clone(&self.shares),
            next: start,
            end: start + count,
        }
    }

    pub(crate) fn take(&mut self, count: usize) -> [&[T]; K] {
        let start = self.advance(count);
        self.shares
            .each_ref()
            .map(|column| &column[start..start + count])
    }

    /// Reads the columns from their strings.
    ///
    /// # Panics
    /// If the strings have different lengths.
    pub(crate) fn from_strings(strings: Strings) -> Self
    where
        T: Ring,
    {
        let mut strings = strings.into_iter();
        Self::new(std::array::from_fn(|_| {
            elements(&strings.next().unwrap_or_default())
        }))
    }

    /// Writes what is left.
    pub(crate) fn strings(mut self) -> Strings
    where
        T: Ring,
    {
        let columns = self.take(self.len());
        columns.iter().map(|column| written(&[column])).collect()
    }

    fn advance(&mut self, count: usize) -> usize {
        let (start, left) = (self.next, self.len());
        assert!(count <= left, "{count} items wanted, {left} left");
        self.next += count;
        start
    }
}

/// Defines a public use-once container over [`Columns`] and the borrowed shares that it gives.
macro_rules! container {
    ($(#[$doc:meta])* $name:ident, $(#[$view_doc:meta])* $view:ident { $($(#[$field_doc:meta])* $field:ident),* }, $k:literal) => {
        $(#[$doc])*
        ///
        /// Not `Clone`, and taking moves the front: no item can be had twice. The shares are wiped
        /// when the last part is dropped; `Debug` shows counts alone.
        pub struct $name<T: madrigal_core::Ring>(crate::columns::Columns<T, $k>);

        $(#[$view_doc])*
        #[derive(Clone, Copy)]
        pub struct $view<'a, T> {
            $($(#[$field_doc])* pub $field: &'a [T],)*
        }

        impl<T: madrigal_core::Ring> std::fmt::Debug for $name<T> {
            fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
                write!(f, concat!(stringify!($name), "({} left of {} bits)"), self.len(), T::BITS)
            }
        }

        impl<T: madrigal_core::Ring> $name<T> {
            /// From this party's shares, strings of equal length.
            ///
            /// # Panics
            /// If they differ in length.
            pub fn new($($field: madrigal_core::Zeroizing<Vec<T>>),*) -> Self {
                Self(crate::columns::Columns::new([$($field),*]))
            }

            /// Reads shares from their strings.
            pub(crate) fn from_strings(strings: crate::shares::Strings) -> Self {
                Self(crate::columns::Columns::from_strings(strings))
            }

            /// Counts the items that are left.
            pub fn len(&self) -> usize {
                self.0.len()
            }

            /// Whether all are used.
            pub fn is_empty(&self) -> bool {
                self.len() == 0
            }

            /// Splits the first `count` off, for a part of the work that runs on its own.
            ///
            /// # Panics
            /// If there are fewer: then a plan was wrong.
            #[must_use]
            pub fn split_front(&mut self, count: usize) -> Self {
                Self(self.0.split_front(count))
            }

            /// Uses the first `count`.
            ///
            /// # Panics
            /// If there are fewer: then a plan was wrong.
            pub fn take(&mut self, count: usize) -> $view<'_, T> {
                let [$($field),*] = self.0.take(count);
                $view { $($field),* }
            }
        }

        impl<T: madrigal_core::Ring> crate::shares::Shares for $name<T> {
            fn left(&self) -> usize {
                self.len()
            }

            fn split_front(&mut self, count: usize) -> Self {
                Self(self.0.split_front(count))
            }

            fn concat(parts: Vec<Self>) -> Self {
                Self(crate::columns::Columns::concat(
                    parts.into_iter().map(|part| part.0).collect(),
                ))
            }

            fn strings(self) -> crate::shares::Strings {
                self.0.strings()
            }
        }
    };
}
pub(crate) use container;
