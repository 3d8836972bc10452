//! The rows of one block of lanes: local operations, and rows to and from packed strings.

use madrigal_circuit::{And, LocalOp, Rows};
use madrigal_core::{Aligned, Zeroizing, bits};
use madrigal_kernels::{self as kernels, RowShape};

/// One party's shares of all live wires of a block: a row for each, of as many components as a share
/// has.
pub struct Arena {
    words: Aligned<u64>,
    shape: RowShape,
    lanes: usize,
}

impl Default for Arena {
    fn default() -> Self {
        Self {
            words: Aligned::default(),
            shape: RowShape {
                components: 1,
                stride: 0,
            },
            lanes: 0,
        }
    }
}

impl Arena {
    /// Makes room for rows of these components and lanes, with whatever is there. It wipes what it leaves
    /// when it grows.
    pub fn reshape(&mut self, rows: usize, components: usize, lanes: usize) {
        let stride = Rows::stride_for(lanes) / 8;
        self.shape = RowShape { components, stride };
        self.lanes = lanes;
        self.words.resize(rows * self.shape.width());
    }

    /// All rows.
    pub fn words(&self) -> &[u64] {
        &self.words
    }

    /// How rows lie.
    pub fn shape(&self) -> RowShape {
        self.shape
    }

    /// Lanes of a row.
    pub fn lanes(&self) -> usize {
        self.lanes
    }

    /// One component of a row, to be written.
    pub fn row_mut(&mut self, row: u32, component: usize) -> &mut [u8] {
        kernels::words_as_bytes_mut(&mut self.words[self.shape.place(row, component)])
    }

    /// One component of a row.
    pub fn row(&self, row: u32, component: usize) -> &[u8] {
        kernels::words_as_bytes(&self.words[self.shape.place(row, component)])
    }

    /// Does local operations in order. `leads`: see [`kernels::local_rows`].
    pub fn local(&mut self, ops: &[LocalOp], leads: [bool; 2]) {
        kernels::local_rows(&mut self.words, self.shape, ops, leads);
    }

    /// Copies rows, for [`restore`](Self::restore).
    pub fn save(&self, rows: &[u32], saved: &mut Zeroizing<Vec<u64>>) {
        let width = self.shape.width();
        if saved.capacity() < rows.len() * width {
            *saved = Zeroizing::new(Vec::with_capacity(rows.len() * width));
        }
        saved.resize(rows.len() * width, 0);
        for (&row, saved) in rows.iter().zip(saved.chunks_exact_mut(width.max(1))) {
            saved.copy_from_slice(&self.words[row as usize * width..][..width]);
        }
    }

    /// Puts rows back that were saved.
    pub fn restore(&mut self, rows: &[u32], saved: &[u64]) {
        let width = self.shape.width();
        for (&row, saved) in rows.iter().zip(saved.chunks_exact(width.max(1))) {
            self.words[row as usize * width..][..width].copy_from_slice(saved);
        }
    }

    /// Bytes of all rows, to be written.
    pub fn bytes_mut(&mut self) -> &mut [u8] {
        kernels::words_as_bytes_mut(&mut self.words)
    }

    /// Makes the results of a layer zeros, in all components.
    pub fn clear(&mut self, ands: &[And]) {
        let width = self.shape.width();
        for and in ands {
            self.words[and.dst as usize * width..][..width].fill(0);
        }
    }

    /// Packs one component of the operands of a layer: `lanes` bits for each AND, in order.
    pub fn gather(&self, ands: &[And], component: usize, x: &mut [u8], y: &mut [u8]) {
        self.pack(ands.iter().map(|and| and.a), component, x);
        self.pack(ands.iter().map(|and| and.b), component, y);
    }

    /// Unpacks one component of the results of a layer into their rows.
    pub fn scatter(&mut self, ands: &[And], component: usize, z: &[u8]) {
        self.unpack(ands.iter().map(|and| and.dst), component, z);
    }

    /// Packs one component of rows: `lanes` bits for each, in order.
    pub fn pack(&self, rows: impl Iterator<Item = u32>, component: usize, to: &mut [u8]) {
        let lanes = self.lanes;
        if lanes == 0 {
            return;
        }
        if lanes >= 8 {
            for (index, row) in rows.enumerate() {
                bits::put(to, index * lanes, self.row(row, component), lanes);
            }
            return;
        }
        // With few lanes a row is a few bits: eight rows are put together in a word, of `lanes` whole bytes.
        let mut rows = rows;
        for to in to.chunks_mut(lanes) {
            let mut word = 0;
            for (index, row) in rows.by_ref().take(8).enumerate() {
                let bits = self.words[self.shape.place(row, component).start];
                word |= (bits & ((1 << lanes) - 1)) << (index * lanes);
            }
            to.copy_from_slice(&word.to_le_bytes()[..to.len()]);
        }
    }

    /// Unpacks one component of rows: the inverse of [`pack`](Self::pack).
    pub fn unpack(&mut self, rows: impl Iterator<Item = u32>, component: usize, from: &[u8]) {
        self.unpack_some((0..).zip(rows), component, from);
    }

    /// Unpacks one component of some of the rows that were packed: each row with its place among all.
    pub fn unpack_some(
        &mut self,
        rows: impl Iterator<Item = (u32, u32)>,
        component: usize,
        from: &[u8],
    ) {
        let lanes = self.lanes;
        if lanes == 0 {
            return;
        }
        if lanes >= 8 {
            let bytes = bits::bytes_for(lanes);
            for (index, row) in rows {
                let row = &mut self.row_mut(row, component)[..bytes];
                bits::take(from, index as usize * lanes, row, lanes);
            }
            return;
        }
        for (index, row) in rows {
            // Eight rows have `lanes` whole bytes.
            let from = &from[index as usize / 8 * lanes..];
            let word = from.first_chunk().copied().unwrap_or_else(|| {
                let mut word = [0; 8];
                word[..from.len()].copy_from_slice(from);
                word
            });
            let word = u64::from_le_bytes(word) >> (index as usize % 8 * lanes);
            let place = self.shape.place(row, component).start;
            self.words[place] = word & ((1 << lanes) - 1);
        }
    }
}
