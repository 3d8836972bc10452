//! Products of shared bits with vectors of shared bits, on their way through an opening.

use madrigal_core::{Zeroizing, bits};
use madrigal_correlations::VectorTriples;
use madrigal_kernels as kernels;

/// A string of bits of ours.
type Bits = Zeroizing<Vec<u8>>;

/// Bits x and vectors Y, one for each, as columns: the first bits of all vectors, then the second ones, and so on. Vectors are as
/// long or shorter from one to the next, so that a column is of the first vectors.
///
/// Secret; wiped when dropped; `Debug` shows counts alone.
pub struct BitVectors {
    triples: VectorTriples,
    items: usize,
    x: Bits,
    /// Columns with their bits: operands before [`BooleanGmw::and_vectors`](super::BooleanGmw::and_vectors), results after it.
    columns: Vec<(Bits, usize)>,
}

impl std::fmt::Debug for BitVectors {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let (items, columns) = (self.items, self.columns.len());
        write!(f, "BitVectors({items} of up to {columns} bits)")
    }
}

/// Shares of triples, turned: a as bits, B and C as columns.
pub(super) struct Turned {
    a: Bits,
    b: Bits,
    c: Bits,
}

impl BitVectors {
    /// Takes `items` packed bits, with a triple for each.
    ///
    /// # Panics
    /// If there are fewer bits or triples.
    pub fn new(triples: VectorTriples, x: Zeroizing<Vec<u8>>, items: usize) -> Self {
        assert!(
            triples.len() >= items && x.len() == bits::bytes_for(items),
            "a triple for each of {items} bits"
        );
        let columns = Vec::new();
        Self {
            triples,
            items,
            x,
            columns,
        }
    }

    /// Adds the next bits of the first `count` vectors, packed.
    ///
    /// # Panics
    /// If there are more than in the column before, or more columns than a triple has bits.
    pub fn push(&mut self, column: Zeroizing<Vec<u8>>, count: usize) {
        let most = self.columns.last().map_or(self.items, |(_, count)| *count);
        assert!(
            count <= most && column.len() == bits::bytes_for(count),
            "a column of {count} bits after one of {most}"
        );
        assert!(
            self.columns.len() < self.triples.length(),
            "as many columns as bits of a triple"
        );
        self.columns.push((column, count));
    }

    /// The columns of the vectors, packed; after the product, of its result.
    pub fn columns(&self) -> impl ExactSizeIterator<Item = &[u8]> {
        self.columns.iter().map(|(column, _)| &column[..])
    }

    /// Bytes that are opened.
    pub(super) fn opened_bytes(&self) -> usize {
        let columns: usize = self.columns.iter().map(|(_, count)| count).sum();
        bits::bytes_for(self.items + columns)
    }

    /// Writes x ^ a and Y ^ B, column after column without padding.
    pub(super) fn mask(&mut self, out: &mut [u8]) -> Turned {
        let (items, length) = (self.items, self.triples.length());
        let (each, row) = (bits::bytes_for(length), bits::bytes_for(items));
        let taken = self.triples.take(items);
        let mut a = Zeroizing::new(vec![0; row]);
        for (item, bit) in taken.a.iter().enumerate() {
            a[item / 8] |= (bit & 1) << (item % 8);
        }
        let turn = |string: &[u8]| {
            let mut turned = Zeroizing::new(vec![0; length * row]);
            kernels::transpose_bits(string, items, length, each, &mut turned, row);
            turned
        };
        let turned = Turned {
            b: turn(taken.b),
            c: turn(taken.c),
            a,
        };
        let mut masked = Zeroizing::new(vec![0; row]);
        kernels::xor(&mut masked, &self.x, &turned.a);
        bits::put(out, 0, &masked, items);
        let mut at = items;
        let masks = turned.b.chunks_exact(row.max(1));
        for ((column, count), b) in self.columns.iter().zip(masks) {
            let bytes = column.len();
            kernels::xor(&mut masked[..bytes], column, &b[..bytes]);
            bits::put(out, at, &masked, *count);
            at += count;
        }
        turned
    }

    /// Makes results of the operands, from what [`mask`](Self::mask) wrote, opened.
    pub(super) fn multiply(&mut self, turned: &Turned, opened: &[u8], leader: bool) {
        let row = bits::bytes_for(self.items);
        let mut d = vec![0; row];
        bits::take(opened, 0, &mut d, self.items);
        let mut at = self.items;
        let (b, c) = (
            turned.b.chunks_exact(row.max(1)),
            turned.c.chunks_exact(row.max(1)),
        );
        for ((column, count), (b, c)) in self.columns.iter_mut().zip(b.zip(c)) {
            let bytes = column.len();
            let mut e = vec![0; bytes];
            bits::take(opened, at, &mut e, *count);
            at += *count;
            let [a, b, c] = [&turned.a[..bytes], &b[..bytes], &c[..bytes]];
            kernels::beaver_bits(column, a, b, c, &d[..bytes], &e, leader);
        }
    }
}
