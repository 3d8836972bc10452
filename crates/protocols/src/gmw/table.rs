//! Shares of tables between two parties, row by row: so a row moves as one string, whatever its columns.

use std::fmt;
use std::ops::Range;

use madrigal_core::{Ring, Zeroizing, bits};
use madrigal_correlations::{Width, with_ring};
use madrigal_kernels::{self as kernels, opaque};

/// Layout of a row: bits, the lowest first, whose shares add up by XOR, and from the next byte on numbers, whose shares
/// add up in their rings.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct RowFormat {
    bits: usize,
    numbers: Vec<Width>,
}

impl RowFormat {
    /// Lays out rows of this many bits and numbers of these widths.
    pub fn new(bits: usize, numbers: impl Into<Vec<Width>>) -> Self {
        let numbers = numbers.into();
        Self { bits, numbers }
    }

    /// Number of bits.
    pub fn bits(&self) -> usize {
        self.bits
    }

    /// Bytes of a row.
    pub fn bytes(&self) -> usize {
        self.start(self.numbers.len())
    }

    /// Bytes before a number.
    fn start(&self, number: usize) -> usize {
        let before = self.numbers[..number].iter().map(|width| width.bits() / 8);
        bits::bytes_for(self.bits) + before.sum::<usize>()
    }

    /// The numbers, with the bytes of each.
    fn cells(&self) -> impl Iterator<Item = (Width, Range<usize>)> {
        let mut start = bits::bytes_for(self.bits);
        self.numbers.iter().map(move |&width| {
            let cell = start..start + width.bits() / 8;
            start = cell.end;
            (width, cell)
        })
    }

    /// Adds rows to rows.
    pub(super) fn add(&self, to: &mut [u8], other: &[u8]) {
        self.combine(to, other, false);
    }

    /// Subtracts rows from rows.
    pub(super) fn sub(&self, from: &mut [u8], other: &[u8]) {
        self.combine(from, other, true);
    }

    fn combine(&self, to: &mut [u8], other: &[u8], subtracts: bool) {
        if self.numbers.is_empty() {
            return kernels::xor_into(to, other);
        }
        let (width, bits) = (self.bytes(), bits::bytes_for(self.bits));
        let rows = to.chunks_exact_mut(width).zip(other.chunks_exact(width));
        for (to, other) in rows {
            xor_row(&mut to[..bits], &other[..bits]);
            for (width, cell) in self.cells() {
                let (to, other) = (&mut to[cell.clone()], &other[cell]);
                with_ring!(width, T => {
                    let (x, y) = (T::read(to), T::read(other));
                    let sum = if subtracts { x.sub(y) } else { x.add(y) };
                    sum.write(to);
                });
            }
        }
    }

    /// Does a switch on masks as the party that does not know whether it is crossed, and gives the correction for the other one.
    /// `keys` are what that one knows if it is straight and if it is crossed.
    pub(super) fn mask_switch(
        &self,
        keys: [&[u8]; 2],
        from: [&[u8]; 2],
        to: [&mut [u8]; 2],
        correction: &mut [u8],
    ) {
        let ([straight, crossed], [upper, lower]) = (keys, from);
        let [to_upper, to_lower] = to;
        let bits = bits::bytes_for(self.bits);
        mask_bits(
            [straight, crossed, upper, lower].map(|row| &row[..bits]),
            [
                &mut to_upper[..bits],
                &mut to_lower[..bits],
                &mut correction[..bits],
            ],
        );
        for (width, cell) in self.cells() {
            with_ring!(width, T => {
                let read = |row: &[u8]| T::read(&row[cell.clone()]);
                let [straight, crossed, upper, lower] = [straight, crossed, upper, lower].map(read);
                upper.sub(straight).write(&mut to_upper[cell.clone()]);
                lower.add(straight).write(&mut to_lower[cell.clone()]);
                let more = lower.sub(upper).sub(crossed);
                straight.add(more).write(&mut correction[cell]);
            });
        }
    }

    /// Does the same switch as the party that knows whether it is crossed, 0 or 1, on differences of masks; of the two keys it has
    /// that one.
    pub(super) fn differ_switch(
        &self,
        is_crossed: u8,
        key: &[u8],
        correction: &[u8],
        from: [&[u8]; 2],
        to: [&mut [u8]; 2],
    ) {
        let ([upper, lower], [to_upper, to_lower]) = (from, to);
        let mask = opaque(is_crossed).wrapping_neg();
        let bits = bits::bytes_for(self.bits);
        differ_bits(
            mask,
            [key, correction, upper, lower].map(|row| &row[..bits]),
            [&mut to_upper[..bits], &mut to_lower[..bits]],
        );
        for (width, cell) in self.cells() {
            with_ring!(width, T => {
                let read = |row: &[u8]| T::read(&row[cell.clone()]);
                let mask = T::from_u128(u128::from(mask & 1)).spread(0);
                let [key, correction, upper, lower] = [key, correction, upper, lower].map(read);
                let swap = lower.sub(upper).and(mask);
                let more = key.add(correction.and(mask));
                upper.add(swap).add(more).write(&mut to_upper[cell.clone()]);
                lower.sub(swap).sub(more).write(&mut to_lower[cell]);
            });
        }
    }
}

/// [`RowFormat::mask_switch`] on bits, in strings of one length.
fn mask_bits(from: [&[u8]; 4], to: [&mut [u8]; 3]) {
    let ([straight, crossed, upper, lower], [to_upper, to_lower, correction]) = (from, to);
    for (to, (x, key)) in to_upper.iter_mut().zip(upper.iter().zip(straight)) {
        *to = x ^ key;
    }
    for (to, (x, key)) in to_lower.iter_mut().zip(lower.iter().zip(straight)) {
        *to = x ^ key;
    }
    // As both masks behind hold the same key, the XOR of one of them with the other's in front is that of key and difference.
    let crossing = crossed.iter().zip(&*to_upper).zip(lower);
    for (to, ((key, x), y)) in correction.iter_mut().zip(crossing) {
        *to = key ^ x ^ y;
    }
}

/// [`RowFormat::differ_switch`] on bits, in strings of one length, with a mask of ones if the switch is crossed.
fn differ_bits(mask: u8, from: [&[u8]; 4], to: [&mut [u8]; 2]) {
    let ([key, correction, upper, lower], [to_upper, to_lower]) = (from, to);
    let keys = key.iter().zip(correction);
    let rows = upper.iter().zip(lower);
    let both = to_upper.iter_mut().zip(to_lower);
    for ((to_upper, to_lower), ((key, correction), (upper, lower))) in both.zip(keys.zip(rows)) {
        let swap = (upper ^ lower) & mask;
        let more = key ^ (correction & mask);
        *to_upper = upper ^ swap ^ more;
        *to_lower = lower ^ swap ^ more;
    }
}

fn xor_row(to: &mut [u8], other: &[u8]) {
    to.iter_mut()
        .zip(other)
        .for_each(|(to, other)| *to ^= other);
}

/// One party's shares of the rows of a table. Wiped when dropped.
#[derive(Clone)]
pub struct Table {
    pub(super) format: RowFormat,
    pub(super) rows: usize,
    /// The rows, one after the other.
    pub(super) bytes: Zeroizing<Vec<u8>>,
}

impl fmt::Debug for Table {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Table({} rows, {:?})", self.rows, self.format)
    }
}

impl Table {
    /// Shares of zeros.
    ///
    /// # Panics
    /// If there are 2^32 rows or more.
    pub fn zeros(format: RowFormat, rows: usize) -> Self {
        assert!(u32::try_from(rows).is_ok(), "{rows} rows are too many");
        let bytes = Zeroizing::zeros(rows * format.bytes());
        Self {
            format,
            rows,
            bytes,
        }
    }

    /// Number of rows.
    pub fn rows(&self) -> usize {
        self.rows
    }

    /// Layout of a row.
    pub fn format(&self) -> &RowFormat {
        &self.format
    }

    /// Sets all bits, from planes of them: each has a bit of each row, packed, in as few bytes as it takes.
    ///
    /// # Panics
    /// If the planes are not as many, or not as long.
    pub fn set_planes(&mut self, planes: &[u8]) {
        let (bits, stride) = (self.format.bits, bits::bytes_for(self.rows));
        assert_eq!(planes.len(), bits * stride, "bits of a table");
        if !planes.is_empty() {
            let width = self.format.bytes();
            kernels::transpose_bits(planes, bits, self.rows, stride, &mut self.bytes, width);
        }
    }

    /// Gives all bits as such planes.
    pub fn planes(&self) -> Zeroizing<Vec<u8>> {
        planes(
            &self.bytes,
            self.format.bytes(),
            self.rows,
            self.format.bits,
        )
    }

    /// Sets a number of each row.
    ///
    /// # Panics
    /// If there is no such number of this width, or there are other rows.
    pub fn set_number<T: Ring>(&mut self, number: usize, elements: &[T]) {
        assert_eq!(elements.len(), self.rows, "elements of a table");
        let cell = self.cell::<T>(number);
        let rows = self.bytes.chunks_exact_mut(self.format.bytes());
        for (row, element) in rows.zip(elements) {
            element.write(&mut row[cell.clone()]);
        }
    }

    /// Gives a number of each row.
    ///
    /// # Panics
    /// If there is no such number of this width.
    pub fn number<T: Ring>(&self, number: usize) -> Zeroizing<Vec<T>> {
        let cell = self.cell::<T>(number);
        let rows = self.bytes.chunks_exact(self.format.bytes());
        let elements: Vec<T> = rows.map(|row| T::read(&row[cell.clone()])).collect();
        elements.into()
    }

    /// Gives the lowest 32 bits of each row, as a word.
    ///
    /// # Panics
    /// If rows have fewer bits.
    pub(super) fn lowest_words(&self) -> Zeroizing<Vec<u32>> {
        assert!(self.format.bits >= 32, "bits of a place");
        let rows = self.bytes.chunks_exact(self.format.bytes());
        let words: Vec<u32> = rows.map(|row| u32::read(&row[..4])).collect();
        words.into()
    }

    fn cell<T: Ring>(&self, number: usize) -> Range<usize> {
        let widths = &self.format.numbers;
        assert_eq!(widths[number], Width::of::<T>(), "width of a number");
        let start = self.format.start(number);
        start..start + T::BYTES
    }

    /// Puts the rows into an order that all know, which gives the old place of each new row. No message.
    ///
    /// # Panics
    /// If there is no such row.
    pub fn reorder(&mut self, order: &[u32]) {
        self.bytes = gather(&self.bytes, self.format.bytes(), order);
        self.rows = order.len();
    }
}

/// Planes of the lowest `bits` bits of rows of `width` bytes.
pub(super) fn planes(rows: &[u8], width: usize, count: usize, bits: usize) -> Zeroizing<Vec<u8>> {
    let stride = bits::bytes_for(count);
    let mut planes = Zeroizing::zeros(bits * stride);
    if !planes.is_empty() {
        kernels::transpose_bits(rows, count, bits, width, &mut planes, stride);
    }
    planes
}

/// The rows of `width` bytes at these places.
pub(super) fn gather(rows: &[u8], width: usize, places: &[u32]) -> Zeroizing<Vec<u8>> {
    let mut to = Zeroizing::zeros(places.len() * width);
    if width > 0 {
        for (to, &place) in to.chunks_exact_mut(width).zip(places) {
            to.copy_from_slice(&rows[place as usize * width..][..width]);
        }
    }
    to
}
