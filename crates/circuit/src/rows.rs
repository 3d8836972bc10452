//! Bit-sliced values: one row of lanes per wire.

use std::fmt;

use madrigal_core::Wipe;

/// A matrix of bits: a row per wire, a column per lane.
///
/// Lane `l` of a row is bit `l % 8` of its byte `l / 8`. Each row is padded to whole 64-bit words;
/// the padding is zero in rows that this crate hands out. The rows may be secrets: they are wiped
/// on drop and `Debug` shows the shape only.
#[derive(Clone, Default)]
pub struct Rows {
    rows: usize,
    lanes: usize,
    bytes: Vec<u8>,
}

impl Rows {
    /// `rows` rows of `lanes` zero bits.
    pub fn new(rows: usize, lanes: usize) -> Self {
        Self {
            rows,
            lanes,
            bytes: vec![0; rows * Self::stride_for(lanes)],
        }
    }

    /// Bytes from one row to the next for `lanes` lanes: a multiple of 8.
    pub const fn stride_for(lanes: usize) -> usize {
        lanes.div_ceil(64) * 8
    }

    /// Number of rows.
    pub fn rows(&self) -> usize {
        self.rows
    }

    /// Number of lanes.
    pub fn lanes(&self) -> usize {
        self.lanes
    }

    /// Bytes from one row to the next: a multiple of 8.
    pub fn stride(&self) -> usize {
        Self::stride_for(self.lanes)
    }

    /// One row with its padding, [`Rows::stride`] bytes.
    ///
    /// # Panics
    /// If there is no such row; so do the other accessors.
    pub fn row(&self, row: usize) -> &[u8] {
        &self.bytes[row * self.stride()..][..self.stride()]
    }

    /// One row with its padding, to be written.
    pub fn row_mut(&mut self, row: usize) -> &mut [u8] {
        let stride = self.stride();
        &mut self.bytes[row * stride..][..stride]
    }

    /// All rows, one after the other.
    pub fn as_bytes(&self) -> &[u8] {
        &self.bytes
    }

    /// All rows, one after the other, to be written.
    pub fn as_bytes_mut(&mut self) -> &mut [u8] {
        &mut self.bytes
    }

    /// The bit of one wire in one lane.
    pub fn get(&self, row: usize, lane: usize) -> bool {
        assert!(lane < self.lanes, "lane {lane} of {}", self.lanes);
        self.row(row)[lane / 8] >> (lane % 8) & 1 == 1
    }

    /// Sets the bit of one wire in one lane.
    pub fn set(&mut self, row: usize, lane: usize, bit: bool) {
        assert!(lane < self.lanes, "lane {lane} of {}", self.lanes);
        let byte = &mut self.row_mut(row)[lane / 8];
        *byte = *byte & !(1 << (lane % 8)) | u8::from(bit) << (lane % 8);
    }

    /// Makes the padding of every row zero.
    pub fn clear_padding(&mut self) {
        let (lanes, stride) = (self.lanes, self.stride());
        if stride == 0 {
            return;
        }
        for row in self.bytes.chunks_exact_mut(stride) {
            let full = lanes / 8;
            if let Some((first, rest)) = row[full..].split_first_mut() {
                *first &= (1u8 << (lanes % 8)) - 1;
                rest.fill(0);
            }
        }
    }
}

impl Drop for Rows {
    fn drop(&mut self) {
        self.bytes.wipe();
    }
}

impl fmt::Debug for Rows {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Rows")
            .field("rows", &self.rows)
            .field("lanes", &self.lanes)
            .finish_non_exhaustive()
    }
}

/// Compares without regard to timing, for tests.
impl PartialEq for Rows {
    fn eq(&self, other: &Self) -> bool {
        self.rows == other.rows && self.lanes == other.lanes && self.bytes == other.bytes
    }
}

impl Eq for Rows {}
