//! Products of numbers with a place, in which only the bits that matter are computed.

use madrigal_circuit::{Builder, Wire};

/// Bits of products below the last one of the result that are computed.
const KEPT: u32 = 4;

/// A product of what Horner's rule has so far with the place.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub(in crate::function) struct Product {
    /// Range of the first factor.
    pub(in crate::function) range: [i64; 2],
    /// Number of the place's highest bits that count.
    pub(in crate::function) used: u32,
}

impl Product {
    /// Bits of a row's number that are of no weight in the product, for a row of weight 2^row: all that is
    /// [`KEPT`] bits below the result's last one.
    pub(super) fn dropped(self, row: u32) -> u32 {
        self.used.saturating_sub(KEPT + row)
    }

    /// Bits by which rows are shifted up, and their sum down.
    fn kept(self) -> u32 {
        self.used.min(KEPT)
    }

    /// `value` times `t` 2^-used, and once more times 2^-used where `more` is true: each row cut off by itself.
    pub(in crate::function) fn of(self, value: i64, t: u128, more: bool) -> i64 {
        let rows = (0..self.used).filter(|row| t >> row & 1 == 1);
        let rows = rows.chain(more.then_some(0));
        let sum: i128 = rows
            .map(|row| {
                let up = (row + self.kept()).saturating_sub(self.used);
                (i128::from(value) >> self.dropped(row)) << up
            })
            .sum();
        (sum >> self.kept()) as i64
    }

    /// Builds [`of`](Self::of) as a circuit, and adds `added`, whose width the result has.
    pub(in crate::function) fn build(
        self,
        b: &mut Builder,
        value: &[Wire],
        t: &[Wire],
        more: Option<Wire>,
        added: &[Wire],
    ) -> Vec<Wire> {
        let kept = self.kept() as usize;
        let mut sum = Columns::new(kept + added.len());
        for (at, &bit) in added.iter().enumerate() {
            sum.add(kept + at, bit);
        }
        let rows = t.iter().enumerate().map(|(at, &bit)| (at, bit));
        for (row, factor) in rows.chain(more.map(|more| (0, more))) {
            let dropped = self.dropped(row as u32) as usize;
            let signed = self.range[0] < 0;
            // The sign is left of a number that is cut off altogether.
            let first = dropped.min(value.len().saturating_sub(usize::from(signed)));
            let up = (row + kept).saturating_sub(self.used as usize);
            for (at, &bit) in value[first..].iter().enumerate() {
                let product = b.and(bit, factor);
                match signed && first + at + 1 == value.len() {
                    true => sum.subtract(b, up + at, product),
                    false => sum.add(up + at, product),
                }
            }
        }
        sum.finish(b).split_off(kept)
    }
}

/// A sum of bits by their weights, modulo 2^(number of columns).
pub(in crate::function) struct Columns {
    columns: Vec<Vec<Wire>>,
    constant: u128,
}

impl Columns {
    pub(in crate::function) fn new(columns: usize) -> Self {
        Self {
            columns: vec![Vec::new(); columns],
            constant: 0,
        }
    }

    /// A bit of weight 2^at.
    pub(in crate::function) fn add(&mut self, at: usize, bit: Wire) {
        if let Some(column) = self.columns.get_mut(at) {
            column.push(bit);
        }
    }

    /// The negative of a bit of weight 2^at: 1 less the bit, and 1 less.
    pub(in crate::function) fn subtract(&mut self, b: &mut Builder, at: usize, bit: Wire) {
        if at < self.columns.len() {
            let inverse = b.not(bit);
            self.add(at, inverse);
            self.add_number(u128::MAX << at);
        }
    }

    pub(in crate::function) fn add_number(&mut self, number: u128) {
        self.constant = self.constant.wrapping_add(number);
    }

    pub(in crate::function) fn finish(mut self, b: &mut Builder) -> Vec<Wire> {
        let number = b.number(self.constant, self.columns.len());
        for (column, bit) in self.columns.iter_mut().zip(number) {
            column.push(bit);
        }
        b.add_columns(self.columns)
    }
}
