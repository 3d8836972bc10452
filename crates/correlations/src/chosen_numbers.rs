//! Chosen numbers: shares of a random bit r, both as XOR and mod 2^l, a random number u that one party knows, and shares
//! of r u. A bit times a number that the same party knows masks the bit with r and the number with u.

use madrigal_core::{Ring, Zeroizing};

use crate::columns::Columns;
use crate::shares::{Shares, Strings};

/// One party's shares of chosen numbers over Z_2^l, to be used from the front, each once.
///
/// Not `Clone`, and taking moves the front: none can be had twice. The shares are wiped when the last part is dropped;
/// `Debug` shows counts alone.
pub struct ChosenNumbers<T: Ring> {
    flags: Columns<u8, 1>,
    numbers: Columns<T, 1>,
    products: Columns<T, 1>,
}

/// Shares of some chosen numbers.
#[derive(Clone, Copy)]
pub struct ChosenShares<'a, T> {
    /// Shares of the bits r as XOR, 0 or 1 each; zeros at the party that knows the numbers.
    pub flags: &'a [u8],
    /// The numbers u at the party that knows them, zeros at the others.
    pub numbers: &'a [T],
    /// Shares of r and of r u, one after the other, mod 2^l.
    pub products: &'a [T],
}

impl<T: Ring> std::fmt::Debug for ChosenNumbers<T> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "ChosenNumbers({} left of {} bits)", self.len(), T::BITS)
    }
}

impl<T: Ring> ChosenNumbers<T> {
    /// Takes this party's shares: bits of value 0 or 1, as many numbers, twice as many products.
    ///
    /// # Panics
    /// If their counts do not fit each other.
    pub fn new(
        flags: Zeroizing<Vec<u8>>,
        numbers: Zeroizing<Vec<T>>,
        products: Zeroizing<Vec<T>>,
    ) -> Self {
        let count = flags.len();
        assert_eq!(
            [numbers.len(), products.len()],
            [count, 2 * count],
            "a number and two products for each bit"
        );
        Self {
            flags: Columns::new([flags]),
            numbers: Columns::new([numbers]),
            products: Columns::new([products]),
        }
    }

    /// Reads shares from their strings.
    pub(crate) fn from_strings(strings: Strings) -> Self {
        let mut strings = strings.into_iter();
        let mut next = || vec![strings.next().unwrap_or_default()];
        let (flags, numbers, products) = (next(), next(), next());
        Self {
            flags: Columns::from_strings(flags),
            numbers: Columns::from_strings(numbers),
            products: Columns::from_strings(products),
        }
    }

    /// Counts the items that are left.
    pub fn len(&self) -> usize {
        self.flags.len()
    }

    /// Whether all are used.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// Uses the first `count`.
    ///
    /// # Panics
    /// If there are fewer: then a plan was wrong.
    pub fn take(&mut self, count: usize) -> ChosenShares<'_, T> {
        let [flags] = self.flags.take(count);
        let [numbers] = self.numbers.take(count);
        let [products] = self.products.take(2 * count);
        ChosenShares {
            flags,
            numbers,
            products,
        }
    }
}

impl<T: Ring> Shares for ChosenNumbers<T> {
    fn left(&self) -> usize {
        self.len()
    }

    fn split_front(&mut self, count: usize) -> Self {
        Self {
            flags: self.flags.split_front(count),
            numbers: self.numbers.split_front(count),
            products: self.products.split_front(2 * count),
        }
    }

    fn concat(parts: Vec<Self>) -> Self {
        let parts = parts.into_iter();
        let columns = parts.map(|part| (part.flags, (part.numbers, part.products)));
        let (flags, (numbers, products)): (Vec<_>, (Vec<_>, Vec<_>)) = columns.unzip();
        Self {
            flags: Columns::concat(flags),
            numbers: Columns::concat(numbers),
            products: Columns::concat(products),
        }
    }

    fn strings(self) -> Strings {
        let mut strings = self.flags.strings();
        strings.extend(self.numbers.strings());
        strings.extend(self.products.strings());
        strings
    }
}
