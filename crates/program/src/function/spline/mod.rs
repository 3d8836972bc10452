//! Functions by pieces of equal length, each a polynomial, evaluated on integers alone.
//!
//! With t the place in a piece, from 0 to 1, the polynomial is c0 + c1 t + c2 t^2 + ..., by Horner's rule
//! from the highest coefficient down. All coefficients have one unit, 2^-scale, so that those of higher powers,
//! which are as small as the pieces are short, have few bits; of t as many bits are taken into each product as
//! can matter to it.
//!
//! Coefficients come from interpolation at the zeros of Chebyshev's polynomials, whose error is hardly more
//! than the least that there can be. Which degree and which length is found by trying: the fewest ANDs for an
//! error that is small enough, measured at many points of each piece.

mod fit;
mod products;

use madrigal_circuit::{Builder, Wire};

use crate::lower::one_hot;

pub(super) use fit::Wanted;
pub(super) use products::{Columns, Product};

/// Polynomials on pieces of 2^step each from 0 on; 0 behind the last.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub(super) struct Spline {
    /// Bits of a place in a piece.
    step: u32,
    /// The coefficients of each piece, the one of 1 first.
    pieces: Vec<Vec<i64>>,
    /// Horner's products, the innermost first.
    products: Vec<Product>,
    /// The range of the values, which has 0.
    range: [i64; 2],
}

impl Spline {
    /// Makes the values of the first piece, which are the greatest, less by what the first one is above
    /// `most`.
    pub(super) fn capped(mut self, most: i64) -> Self {
        let first = self.pieces.first_mut().and_then(|piece| piece.first_mut());
        if let Some(first) = first {
            *first = (*first).min(most);
        }
        self
    }

    /// Number of pieces, and their degree.
    pub(super) fn size(&self) -> (usize, usize) {
        (self.pieces.len(), self.products.len())
    }

    /// The tables in words.
    pub(super) fn words(&self) -> impl Iterator<Item = i64> + '_ {
        let shape = [
            i64::from(self.step),
            self.pieces.len() as i64,
            self.products.len() as i64,
        ];
        shape
            .into_iter()
            .chain(self.pieces.iter().flatten().copied())
    }

    /// About how many ANDs its circuit has.
    fn ands(&self) -> usize {
        let product = |product: &Product| {
            let width = bits(product.range);
            let row = |row| (width.saturating_sub(product.dropped(row)) * 2) as usize;
            (0..product.used).map(row).sum::<usize>()
        };
        self.pieces.len() + self.products.iter().map(product).sum::<usize>()
    }

    /// The value at `place`, one unit further on where `more` is 1.
    pub(super) fn evaluate(&self, place: u128, more: bool) -> i64 {
        let piece = usize::try_from(place >> self.step).ok();
        let Some(piece) = piece.and_then(|piece| self.pieces.get(piece)) else {
            return 0;
        };
        let within = place & ((1 << self.step) - 1);
        let mut value = piece[self.products.len()];
        for (at, product) in self.products.iter().enumerate() {
            let lower = self.products.len() - 1 - at;
            let t = within >> (self.step - product.used);
            let more = more && lower == 0 && product.used == self.step;
            value = piece[lower] + product.of(value, t, more);
        }
        value
    }

    /// Builds [`evaluate`](Self::evaluate) as a circuit: the value's bits, with a sign if it may be negative.
    pub(super) fn build(&self, b: &mut Builder, place: &[Wire], more: Wire) -> Vec<Wire> {
        let step = (self.step as usize).min(place.len());
        let zero = b.constant(false);
        let mut within = place[..step].to_vec();
        within.resize(self.step as usize, zero);
        let hot = one_hot(b, &place[step..], self.pieces.len());
        let degree = self.products.len();
        let ranges = self.products.iter().map(|product| product.range);
        let ranges: Vec<_> = ranges.chain([self.range]).collect();
        let mut value = self.entries(b, &hot, degree, bits(ranges[0]) as usize);
        for (at, product) in self.products.iter().enumerate() {
            let lower = degree - 1 - at;
            let width = bits(ranges[at + 1]) as usize;
            let added = self.entries(b, &hot, lower, width);
            let t = &within[(self.step - product.used) as usize..];
            let last = lower == 0 && product.used == self.step;
            let more = last.then_some(more);
            value = product.build(b, &value, t, more, &added);
        }
        value
    }

    /// Range of the values, which has 0, whatever the place: each piece's by Horner's rule on the
    /// ends of what it has so far. A product with a place, which is less than 1, lies between 0 and its factor, and
    /// of a factor below 0 each row is cut off by a 16th more at most.
    pub(super) fn bounds(&self) -> [i64; 2] {
        let degree = self.products.len();
        let of_piece = |piece: &Vec<i64>| {
            let highest = [piece[degree], piece[degree]];
            let products = self.products.iter().enumerate();
            products.fold(highest, |[low, high], (at, product)| {
                let added = piece[degree - 1 - at];
                let cut = match low < 0 {
                    true => 1 + i64::from(product.used / 16),
                    false => 0,
                };
                [added + low.min(0) - cut, added + high.max(0)]
            })
        };
        let pieces = self.pieces.iter().map(of_piece);
        pieces.fold([0, 0], |[low, high], [least, most]| {
            [low.min(least), high.max(most)]
        })
    }

    /// The coefficient of one power in the piece at hand.
    fn entries(&self, b: &mut Builder, hot: &[Wire], power: usize, width: usize) -> Vec<Wire> {
        let bit = |b: &mut Builder, bit: usize| {
            let zero = b.constant(false);
            let pieces = hot.iter().zip(&self.pieces);
            let ones = pieces.filter(|(_, piece)| piece[power] >> bit.min(63) & 1 == 1);
            ones.fold(zero, |sum, (&hot, _)| b.xor(sum, hot))
        };
        (0..width).map(|at| bit(b, at)).collect()
    }
}

/// Bits of a number in a range, with a sign where it may be negative.
fn bits([low, high]: [i64; 2]) -> u32 {
    let of = |number: i64| i64::BITS - number.leading_zeros();
    match low < 0 {
        true => of(high).max(of(!low)) + 1,
        false => of(high),
    }
}
