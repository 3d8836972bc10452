//! Transposition of bit matrices.
//!
//! All levels share one kernel, the *strip*: 128 input rows of `bytes` bytes (a multiple of 16)
//! become `8 * bytes` output rows of 16 bytes. Both public functions cut their matrix into strips;
//! what is left at the edges goes through a zero-padded strip on the stack.

use madrigal_core::Wipe;

use crate::block::blocks_as_bytes_mut;
use crate::dispatch::dispatch;
use crate::{Block, Kernels};

mod fit;

use fit::assert_fits;
pub(crate) use fit::assert_within;

/// Rows of the input, hence bits of an output row, of a strip.
const STRIP: usize = 128;

/// Bytes of an input row that pass through the padded strip at once.
const EDGE_BYTES: usize = 64;

impl Kernels {
    /// [`transpose_128`] at this handle's level.
    pub fn transpose_128(self, columns: &[u8], stride: usize, rows: &mut [Block]) {
        let n = rows.len();
        assert!(
            n.is_multiple_of(128),
            "transpose_128: {n} rows are no multiple of 128"
        );
        assert_fits(
            "transpose_128: columns",
            columns.len(),
            STRIP,
            n / 8,
            stride,
        );
        if n > 0 {
            let rows = blocks_as_bytes_mut(rows);
            dispatch!(self, transpose_strip(columns, stride, n / 8, rows, 16));
        }
    }

    /// [`transpose_bits`] at this handle's level.
    pub fn transpose_bits(
        self,
        src: &[u8],
        rows: usize,
        cols: usize,
        src_stride: usize,
        dst: &mut [u8],
        dst_stride: usize,
    ) {
        assert_fits(
            "transpose_bits: src",
            src.len(),
            rows,
            cols.div_ceil(8),
            src_stride,
        );
        assert_fits(
            "transpose_bits: dst",
            dst.len(),
            cols,
            rows.div_ceil(8),
            dst_stride,
        );
        if rows == 0 || cols == 0 {
            return;
        }
        // Whole 16-byte columns of whole strips need no copy.
        let bulk_bytes = cols / 128 * 16;
        let mut edge = None;
        let mut narrow = 0;
        if rows >= STRIP && src_stride * 8 == cols {
            let edge = edge.get_or_insert_with(Edge::new);
            narrow = rows / STRIP * STRIP;
            match cols {
                8 => self.transpose_narrow::<1>(edge, src, narrow, dst, dst_stride),
                16 => self.transpose_narrow::<2>(edge, src, narrow, dst, dst_stride),
                32 => self.transpose_narrow::<4>(edge, src, narrow, dst, dst_stride),
                64 => self.transpose_narrow::<8>(edge, src, narrow, dst, dst_stride),
                _ => narrow = 0,
            }
        }
        for top in (narrow..rows).step_by(STRIP) {
            let height = STRIP.min(rows - top);
            let src = &src[top * src_stride..];
            let dst = &mut dst[top / 8..];
            let done = if height == STRIP { bulk_bytes } else { 0 };
            if done > 0 {
                dispatch!(
                    self,
                    transpose_strip(src, src_stride, done, dst, dst_stride)
                );
            }
            for left in (done..cols.div_ceil(8)).step_by(EDGE_BYTES) {
                let part = Part {
                    bytes: &src[left..],
                    stride: src_stride,
                    height,
                    width: (cols - 8 * left).min(8 * EDGE_BYTES),
                };
                let dst = &mut dst[8 * left * dst_stride..];
                self.transpose_edge(edge.get_or_insert_with(Edge::new), part, dst, dst_stride);
            }
        }
    }

    /// Transposes whole strips of rows of `N` bytes that lie one after the other: several strips side
    /// by side, so that they make one of full width.
    fn transpose_narrow<const N: usize>(
        self,
        edge: &mut Edge,
        src: &[u8],
        rows: usize,
        dst: &mut [u8],
        dst_stride: usize,
    ) {
        let groups = EDGE_BYTES / N;
        let each = groups * STRIP * N;
        for (batch, src) in src[..rows * N].chunks(each).enumerate() {
            let strip = blocks_as_bytes_mut(&mut edge.strip);
            for (group, src) in src.chunks_exact(STRIP * N).enumerate() {
                let places = strip.chunks_exact_mut(EDGE_BYTES);
                for (row, place) in src.as_chunks::<N>().0.iter().zip(places) {
                    place[group * N..][..N].copy_from_slice(row);
                }
            }
            let out = blocks_as_bytes_mut(&mut edge.out);
            let width = (src.len() / STRIP).next_multiple_of(16);
            dispatch!(self, transpose_strip(strip, EDGE_BYTES, width, out, 16));
            let out = out.as_chunks::<16>().0;
            for group in 0..src.len() / (STRIP * N) {
                let left = (batch * groups + group) * 16;
                for bit in 0..8 * N {
                    dst[bit * dst_stride + left..][..16].copy_from_slice(&out[group * 8 * N + bit]);
                }
            }
        }
    }

    /// Transposes `height <= 128` rows of `width <= 8 * EDGE_BYTES` bits through a padded strip.
    fn transpose_edge(self, edge: &mut Edge, part: Part<'_>, dst: &mut [u8], dst_stride: usize) {
        let bytes = part.width.div_ceil(8);
        let padded = bytes.next_multiple_of(16);
        let out = &mut blocks_as_bytes_mut(&mut edge.out)[..8 * padded * 16];
        // Columns right of the part become rows that nobody takes, so they may be read if they are
        // there; below the part there must be zeros.
        if part.height == STRIP && part.bytes.len() >= (STRIP - 1) * part.stride + padded {
            dispatch!(
                self,
                transpose_strip(part.bytes, part.stride, padded, out, 16)
            );
        } else {
            let strip = &mut blocks_as_bytes_mut(&mut edge.strip)[..STRIP * padded];
            let (filled, below) = strip.split_at_mut(part.height * padded);
            // The widths of ring elements are the common ones here, as below.
            match (bytes, padded) {
                (1, 16) => pad_rows::<1>(part, filled),
                (2, 16) => pad_rows::<2>(part, filled),
                (4, 16) => pad_rows::<4>(part, filled),
                (8, 16) => pad_rows::<8>(part, filled),
                (16, 16) => pad_rows::<16>(part, filled),
                _ => {
                    for (row, strip_row) in filled.chunks_exact_mut(padded).enumerate() {
                        strip_row[..bytes]
                            .copy_from_slice(&part.bytes[row * part.stride..][..bytes]);
                    }
                }
            }
            below.fill(0);
            dispatch!(self, transpose_strip(strip, padded, padded, out, 16));
        }
        let rows = &out[..16 * part.width];
        // Copies of a length known to the compiler are much faster, and these are the common ones.
        match part.height.div_ceil(8) {
            1 => copy_rows::<1>(rows, dst, dst_stride),
            2 => copy_rows::<2>(rows, dst, dst_stride),
            4 => copy_rows::<4>(rows, dst, dst_stride),
            8 => copy_rows::<8>(rows, dst, dst_stride),
            16 => copy_rows::<16>(rows, dst, dst_stride),
            height_bytes => {
                for (row, out_row) in rows.chunks_exact(16).enumerate() {
                    dst[row * dst_stride..][..height_bytes]
                        .copy_from_slice(&out_row[..height_bytes]);
                }
            }
        }
    }
}

/// Copies the first `N` bytes of each 16-byte row.
fn copy_rows<const N: usize>(rows: &[u8], dst: &mut [u8], dst_stride: usize) {
    for (row, out_row) in rows.as_chunks::<16>().0.iter().enumerate() {
        dst[row * dst_stride..][..N].copy_from_slice(&out_row[..N]);
    }
}

/// Copies the first `N` bytes of each row of `part` into rows of 16 bytes.
fn pad_rows<const N: usize>(part: Part<'_>, strip: &mut [u8]) {
    for (row, strip_row) in strip.as_chunks_mut::<16>().0.iter_mut().enumerate() {
        strip_row[..N].copy_from_slice(&part.bytes[row * part.stride..][..N]);
    }
}

/// Rest of a matrix beside or below the whole strips.
#[derive(Clone, Copy)]
struct Part<'a> {
    bytes: &'a [u8],
    /// Bytes between row starts.
    stride: usize,
    /// Rows, at most 128.
    height: usize,
    /// Bits per row, at most `8 * EDGE_BYTES`.
    width: usize,
}

/// The padded strip that edges pass through; wiped when done.
struct Edge {
    strip: [Block; STRIP * EDGE_BYTES / 16],
    out: [Block; 8 * EDGE_BYTES],
}

impl Edge {
    const fn new() -> Self {
        Self {
            strip: [Block::ZERO; STRIP * EDGE_BYTES / 16],
            out: [Block::ZERO; 8 * EDGE_BYTES],
        }
    }
}

impl Drop for Edge {
    fn drop(&mut self) {
        self.strip.wipe();
        self.out.wipe();
    }
}

/// Bit transposition of 128 columns into rows of one block each, as IKNP-style OT extension needs.
///
/// Column `j` has `n = rows.len()` bits at `columns[j * stride..][..n / 8]`; bit `j` of `rows[i]`
/// becomes bit `i` of column `j`. `stride` is in bytes.
///
/// Fast while the columns fit the second-level cache (say `n` up to 2^15) and `stride` is no multiple
/// of 4096, which would put all columns into the same few cache lines; from main memory it is several
/// times slower. So make and transpose long columns in pieces.
///
/// # Panics
/// If `rows.len()` is no multiple of 128, if `stride < n / 8`, or if `columns` ends too early.
pub fn transpose_128(columns: &[u8], stride: usize, rows: &mut [Block]) {
    Kernels::detect().transpose_128(columns, stride, rows);
}

/// Bit transposition of a matrix of any size: bit `i` of row `j` of `dst` becomes bit `j` of row `i`
/// of `src`.
///
/// `src` has `rows` rows of `cols` bits, row `i` at byte `i * src_stride`; `dst` has `cols` rows of
/// `rows` bits, row `j` at byte `j * dst_stride`. Padding bits of `src` are ignored, those in the
/// last byte of each row of `dst` become zero, bytes between the rows of `dst` stay as they are.
///
/// # Panics
/// If a stride is shorter than its rows, or if `src` or `dst` ends too early.
pub fn transpose_bits(
    src: &[u8],
    rows: usize,
    cols: usize,
    src_stride: usize,
    dst: &mut [u8],
    dst_stride: usize,
) {
    Kernels::detect().transpose_bits(src, rows, cols, src_stride, dst, dst_stride);
}
