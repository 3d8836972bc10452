//! The rows of one block of lanes: local operations, and rows to and from packed strings.

use madrigal_circuit::{And, LocalOp, Rows};
use madrigal_core::bits;
use madrigal_kernels as kernels;

/// Rows of so many words are worked on here; longer ones by the kernels, which pay for a call.
const SHORT_WORDS: usize = 8;

/// One party's shares of all live wires of a block.
pub(crate) struct Arena {
    words: Vec<u64>,
    stride: usize,
    lanes: usize,
}

impl Arena {
    pub(crate) fn new(rows: usize, lanes: usize) -> Self {
        let stride = Rows::stride_for(lanes) / 8;
        Self {
            words: vec![0; rows * stride],
            stride,
            lanes,
        }
    }

    /// The rows of a smaller last block lie closer together.
    pub(crate) fn resize(&mut self, rows: usize, lanes: usize) {
        if lanes != self.lanes {
            self.stride = Rows::stride_for(lanes) / 8;
            self.lanes = lanes;
            self.words.resize(rows * self.stride, 0);
        }
    }

    pub(crate) fn row_mut(&mut self, row: u32) -> &mut [u8] {
        let start = row as usize * self.stride;
        kernels::words_as_bytes_mut(&mut self.words[start..start + self.stride])
    }

    fn row(&self, row: u32) -> &[u8] {
        let start = row as usize * self.stride;
        kernels::words_as_bytes(&self.words[start..start + self.stride])
    }

    /// Does local operations in order. Constants and inversions are the leader's.
    pub(crate) fn local(&mut self, ops: &[LocalOp], leader: bool) {
        let flip = if leader { u64::MAX } else { 0 };
        match self.stride {
            1 => self.local_words::<1>(ops, flip),
            2..=SHORT_WORDS => self.local_short(ops, flip),
            _ => self.local_long(ops, flip),
        }
    }

    /// Rows of one word: the interpretation of an operation is all there is.
    fn local_words<const ONE: usize>(&mut self, ops: &[LocalOp], flip: u64) {
        let words = &mut self.words[..];
        for op in ops {
            match *op {
                LocalOp::Xor { dst, a, b } => {
                    words[dst as usize] = words[a as usize] ^ words[b as usize];
                }
                LocalOp::Not { dst, a } => words[dst as usize] = words[a as usize] ^ flip,
                LocalOp::Const { dst, bit } => words[dst as usize] = if bit { flip } else { 0 },
            }
        }
    }

    fn local_short(&mut self, ops: &[LocalOp], flip: u64) {
        let (words, stride) = (&mut self.words[..], self.stride);
        let at = |row: u32| row as usize * stride;
        for op in ops {
            match *op {
                LocalOp::Xor { dst, a, b } => {
                    let (dst, a, b) = (at(dst), at(a), at(b));
                    for i in 0..stride {
                        words[dst + i] = words[a + i] ^ words[b + i];
                    }
                }
                LocalOp::Not { dst, a } => {
                    let (dst, a) = (at(dst), at(a));
                    for i in 0..stride {
                        words[dst + i] = words[a + i] ^ flip;
                    }
                }
                LocalOp::Const { dst, bit } => {
                    let dst = at(dst);
                    words[dst..dst + stride].fill(if bit { flip } else { 0 });
                }
            }
        }
    }

    fn local_long(&mut self, ops: &[LocalOp], flip: u64) {
        let stride = self.stride;
        let at = |row: u32| row as usize * stride..(row as usize + 1) * stride;
        for op in ops {
            match *op {
                LocalOp::Xor { dst, a, b } if dst == a => {
                    if let Ok([dst, b]) = self.words.get_disjoint_mut([at(dst), at(b)]) {
                        kernels::xor_into(
                            kernels::words_as_bytes_mut(dst),
                            kernels::words_as_bytes(b),
                        );
                    }
                }
                LocalOp::Xor { dst, a, b } => {
                    if let Ok([dst, a, b]) = self.words.get_disjoint_mut([at(dst), at(a), at(b)]) {
                        let [a, b] = [a, b].map(|row| kernels::words_as_bytes(row));
                        kernels::xor(kernels::words_as_bytes_mut(dst), a, b);
                    }
                }
                LocalOp::Not { dst, a } => {
                    self.words.copy_within(at(a), at(dst).start);
                    self.words[at(dst)]
                        .iter_mut()
                        .for_each(|word| *word ^= flip);
                }
                LocalOp::Const { dst, bit } => {
                    self.words[at(dst)].fill(if bit { flip } else { 0 });
                }
            }
        }
    }

    /// Packs the operands of a layer: `lanes` bits for each AND, in order.
    pub(crate) fn gather(&self, ands: &[And], x: &mut [u8], y: &mut [u8]) {
        if self.lanes < 8 {
            return self.gather_few(ands, x, y);
        }
        for (index, and) in ands.iter().enumerate() {
            bits::put(x, index * self.lanes, self.row(and.a), self.lanes);
            bits::put(y, index * self.lanes, self.row(and.b), self.lanes);
        }
    }

    /// With few lanes a row is a few bits: they are put together in a word, not one by one.
    fn gather_few(&self, ands: &[And], x: &mut [u8], y: &mut [u8]) {
        let per_chunk = 8; // eight ANDs of `lanes` bits are `lanes` whole bytes
        let lanes = self.lanes;
        for (chunk, (x, y)) in ands
            .chunks(per_chunk)
            .zip(x.chunks_mut(lanes).zip(y.chunks_mut(lanes)))
        {
            let (mut words_x, mut words_y) = (0u64, 0u64);
            for (index, and) in chunk.iter().enumerate() {
                let mask = (1 << lanes) - 1;
                words_x |= (self.words[and.a as usize] & mask) << (index * lanes);
                words_y |= (self.words[and.b as usize] & mask) << (index * lanes);
            }
            x.copy_from_slice(&words_x.to_le_bytes()[..x.len()]);
            y.copy_from_slice(&words_y.to_le_bytes()[..y.len()]);
        }
    }

    /// Unpacks the results of a layer into their rows.
    pub(crate) fn scatter(&mut self, ands: &[And], z: &[u8]) {
        let lanes = self.lanes;
        if lanes < 8 {
            for (chunk, z) in ands.chunks(8).zip(z.chunks(lanes)) {
                let mut bytes = [0; 8];
                bytes[..z.len()].copy_from_slice(z);
                let word = u64::from_le_bytes(bytes);
                for (index, and) in chunk.iter().enumerate() {
                    self.words[and.dst as usize] = word >> (index * lanes) & ((1 << lanes) - 1);
                }
            }
            return;
        }
        let bytes = bits::bytes_for(lanes);
        for (index, and) in ands.iter().enumerate() {
            bits::take(z, index * lanes, &mut self.row_mut(and.dst)[..bytes], lanes);
        }
    }

    /// Packs rows: `lanes` bits for each, in order.
    pub(crate) fn pack(&self, rows: &[u32]) -> Vec<u8> {
        let mut string = vec![0; bits::bytes_for(rows.len() * self.lanes)];
        for (index, &row) in rows.iter().enumerate() {
            bits::put(&mut string, index * self.lanes, self.row(row), self.lanes);
        }
        string
    }
}

impl Drop for Arena {
    fn drop(&mut self) {
        zeroize::Zeroize::zeroize(&mut self.words);
    }
}
