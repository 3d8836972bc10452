//! Vector triples: shares of a random bit a, of a random vector b of n bits, and of c = a b, the bit
//! times every bit of the vector. A vector-scalar gate (VS, MOTIF 5.1) masks its bit with a and
//! its vector with b, as an AND gate does with a Boolean triple.

use madrigal_core::{Zeroizing, bits};

use crate::columns::Columns;
use crate::shares::{Shares, Strings};

/// One party's shares of vector triples of one length, to be used from the front, each once.
///
/// Not `Clone`, and taking moves the front: none can be had twice. The shares are wiped when the last
/// part is dropped; `Debug` shows counts alone.
pub struct VectorTriples {
    length: usize,
    a: Columns<u8, 1>,
    vectors: Columns<u8, 2>,
}

/// Shares of some vector triples.
#[derive(Clone, Copy)]
pub struct VectorShares<'a> {
    /// Shares of the bits a, 0 or 1 each.
    pub a: &'a [u8],
    /// Shares of the vectors b, packed, each from a new byte on; bits past its end are zero.
    pub b: &'a [u8],
    /// Shares of the vectors c = a b, likewise.
    pub c: &'a [u8],
}

impl std::fmt::Debug for VectorTriples {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let length = self.length;
        write!(f, "VectorTriples({} left of {length} bits)", self.len())
    }
}

impl VectorTriples {
    /// From this party's shares: bits of value 0 or 1, and vectors of `length` bits in
    /// `ceil(length / 8)` bytes each.
    ///
    /// # Panics
    /// If the numbers of bits and vectors differ.
    pub fn new(
        length: usize,
        a: Zeroizing<Vec<u8>>,
        b: Zeroizing<Vec<u8>>,
        c: Zeroizing<Vec<u8>>,
    ) -> Self {
        assert_eq!(
            b.len(),
            a.len() * bits::bytes_for(length),
            "as many vectors as bits"
        );
        Self {
            length,
            a: Columns::new([a]),
            vectors: Columns::new([b, c]),
        }
    }

    /// Reads triples from their strings.
    pub(crate) fn from_strings(length: usize, strings: Strings) -> Self {
        let mut strings = strings.into_iter();
        let [a, b, c] = std::array::from_fn(|_| strings.next().unwrap_or_default());
        Self::new(length, a, b, c)
    }

    /// Bits of a vector.
    pub fn length(&self) -> usize {
        self.length
    }

    /// Counts the items that are left.
    pub fn len(&self) -> usize {
        self.a.len()
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
        Self {
            length: self.length,
            a: self.a.split_front(count),
            vectors: self
                .vectors
                .split_front(count * bits::bytes_for(self.length)),
        }
    }

    /// Uses the first `count`.
    ///
    /// # Panics
    /// If there are fewer: then a plan was wrong.
    pub fn take(&mut self, count: usize) -> VectorShares<'_> {
        let [a] = self.a.take(count);
        let [b, c] = self.vectors.take(count * bits::bytes_for(self.length));
        VectorShares { a, b, c }
    }
}

impl Shares for VectorTriples {
    fn left(&self) -> usize {
        self.len()
    }

    fn split_front(&mut self, count: usize) -> Self {
        self.split_front(count)
    }

    fn concat(parts: Vec<Self>) -> Self {
        let length = parts.first().map_or(0, Self::length);
        let (a, vectors) = parts.into_iter().map(|part| (part.a, part.vectors)).unzip();
        Self {
            length,
            a: Columns::concat(a),
            vectors: Columns::concat(vectors),
        }
    }

    fn strings(self) -> Strings {
        let mut strings = self.a.strings();
        strings.extend(self.vectors.strings());
        strings
    }
}
