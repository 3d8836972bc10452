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

use madrigal_circuit::{Builder, Wire};

use super::real::power_of_two;
use crate::lower::one_hot;

/// Pieces at most.
const PIECES: usize = 2048;
const DEGREES: std::ops::RangeInclusive<usize> = 1..=4;
/// What a product is too small by on average, in units: half, and a 32nd for each of some ten rows.
const LOST: f64 = 0.75;
/// Bits of products below the last one of the result that are computed.
const KEPT: u32 = 4;
/// Points of a piece, between those of interpolation, where the error is measured.
const POINTS: u32 = 16;

/// Polynomials on pieces of 2^step each from 0 on; 0 behind the last.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub(super) struct Spline {
    /// Bits of a place in a piece.
    step: u32,
    /// Of each piece, the coefficient of 1 first.
    pieces: Vec<Vec<i64>>,
    /// Horner's products, the innermost first.
    products: Vec<Product>,
    /// What the values lie between, 0 too.
    range: [i64; 2],
}

/// A product of what Horner's rule has so far with the place.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
struct Product {
    /// Between which numbers the first factor lies.
    range: [i64; 2],
    /// Of the place so many of the highest bits.
    used: u32,
}

/// What a spline is to be.
pub(super) struct Wanted<'a> {
    /// The function, of the argument as a number.
    pub(super) function: &'a dyn Fn(f64) -> f64,
    /// Where the argument's integers stand: this for 0, and so much more for each.
    pub(super) start: f64,
    pub(super) unit: f64,
    /// The integers are below this.
    pub(super) end: u128,
    /// Values are in units of 2^-scale.
    pub(super) scale: u32,
    /// How far the polynomials may be from the function, in these units, before anything is rounded.
    pub(super) error: f64,
    /// What is added to all values, in these units.
    pub(super) more: f64,
    /// A piece is 2^these at most.
    pub(super) longest: u32,
}

impl Spline {
    /// The cheapest spline.
    pub(super) fn new(wanted: &Wanted<'_>) -> Self {
        let mut best: Option<(usize, Self)> = None;
        for degree in DEGREES {
            let ends = |step: u32| wanted.end.div_ceil(1 << step) <= PIECES as u128;
            // Shorter and shorter pieces: the first that will do is the longest.
            let steps = (0..=wanted.longest.min(126)).rev();
            let mut steps = steps.take_while(|&step| ends(step));
            let Some(step) = steps.find(|&step| wanted.is_near(degree, step)) else {
                continue;
            };
            let spline = wanted.spline(degree, step);
            let ands = spline.ands();
            if best.as_ref().is_none_or(|(least, _)| ands < *least) {
                best = Some((ands, spline));
            }
        }
        match best {
            Some((_, spline)) => spline,
            None => unreachable!("2,048 pieces of degree 4 are near enough to every function here"),
        }
    }

    /// Makes the values of the first piece, which are the greatest, less by what the first one is above
    /// `most`.
    pub(super) fn capped(mut self, most: i64) -> Self {
        let first = self.pieces.first_mut().and_then(|piece| piece.first_mut());
        if let Some(first) = first {
            *first = (*first).min(most);
        }
        self
    }

    /// How many pieces there are, and of which degree.
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

    /// The same as a circuit: the value's bits, with a sign if it may be negative.
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

impl Product {
    /// Bits of a row's number that are of no weight in the product, for a row of weight 2^row: all that is
    /// [`KEPT`] bits below the result's last one.
    fn dropped(self, row: u32) -> u32 {
        self.used.saturating_sub(KEPT + row)
    }

    /// What rows are shifted by, and the sum of them less.
    fn kept(self) -> u32 {
        self.used.min(KEPT)
    }

    /// `value` times `t` 2^-used, and once more times 2^-used where `more` is true: each row cut off by itself.
    fn of(self, value: i64, t: u128, more: bool) -> i64 {
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

    /// The same as a circuit, and `added`, of whose width the result is.
    fn build(
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
            // Of a number that is cut off altogether, the sign is left.
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
pub(super) struct Columns {
    columns: Vec<Vec<Wire>>,
    constant: u128,
}

impl Columns {
    pub(super) fn new(columns: usize) -> Self {
        Self {
            columns: vec![Vec::new(); columns],
            constant: 0,
        }
    }

    /// A bit of weight 2^at.
    pub(super) fn add(&mut self, at: usize, bit: Wire) {
        if let Some(column) = self.columns.get_mut(at) {
            column.push(bit);
        }
    }

    /// The negative of a bit of weight 2^at: 1 less the bit, and 1 less.
    pub(super) fn subtract(&mut self, b: &mut Builder, at: usize, bit: Wire) {
        if at < self.columns.len() {
            let inverse = b.not(bit);
            self.add(at, inverse);
            self.add_number(u128::MAX << at);
        }
    }

    pub(super) fn add_number(&mut self, number: u128) {
        self.constant = self.constant.wrapping_add(number);
    }

    pub(super) fn finish(mut self, b: &mut Builder) -> Vec<Wire> {
        let number = b.number(self.constant, self.columns.len());
        for (column, bit) in self.columns.iter_mut().zip(number) {
            column.push(bit);
        }
        b.add_columns(self.columns)
    }
}

impl Wanted<'_> {
    fn at(&self, place: f64) -> f64 {
        (self.function)(self.start + place * self.unit) * power_of_two(self.scale as i32)
    }

    /// The coefficients of one piece: interpolation by Newton's divided differences.
    fn polynomial(&self, nodes: &[f64], step: u32, piece: usize) -> Vec<f64> {
        let length = power_of_two(step as i32);
        let mut differences: Vec<f64> = nodes
            .iter()
            .map(|node| self.at((piece as f64 + node) * length))
            .collect();
        for order in 1..nodes.len() {
            for at in (order..nodes.len()).rev() {
                let slope = differences[at] - differences[at - 1];
                differences[at] = slope / (nodes[at] - nodes[at - order]);
            }
        }
        let mut polynomial = vec![0.0; nodes.len()];
        for (node, difference) in nodes.iter().zip(&differences).rev() {
            // Times (t - node), plus the difference.
            for power in (0..nodes.len()).rev() {
                let below = if power > 0 {
                    polynomial[power - 1]
                } else {
                    *difference
                };
                polynomial[power] = below - node * polynomial[power];
            }
        }
        polynomial
    }

    fn pieces(&self, step: u32) -> usize {
        self.end.div_ceil(1 << step) as usize
    }

    /// Whether the polynomials are near enough to the function.
    fn is_near(&self, degree: usize, step: u32) -> bool {
        let nodes = nodes(degree);
        let length = power_of_two(step as i32);
        (0..self.pieces(step)).all(|piece| {
            let polynomial = self.polynomial(&nodes, step, piece);
            (0..=POINTS).all(|point| {
                let t = place_of(point);
                let found = polynomial.iter().rev().fold(0.0, |sum, c| sum * t + c);
                (found - self.at((piece as f64 + t) * length)).abs() <= self.error
            })
        })
    }

    fn spline(&self, degree: usize, step: u32) -> Spline {
        let nodes = nodes(degree);
        let more = self.more + LOST * degree as f64;
        let piece = |piece: usize| {
            let mut polynomial = self.polynomial(&nodes, step, piece);
            polynomial[0] += more;
            polynomial.into_iter().map(|c| c.round() as i64).collect()
        };
        let pieces: Vec<Vec<i64>> = (0..self.pieces(step)).map(piece).collect();
        let of = |power: usize| {
            let zero_too = pieces.iter().map(|piece| piece[power]);
            zero_too.fold([0, 0], |[low, high], c| [low.min(c), high.max(c)])
        };
        let mut range = of(degree);
        let mut products = Vec::new();
        for lower in (0..degree).rev() {
            let used = (bits(range) + 2).min(step);
            products.push(Product { range, used });
            let [low, high] = of(lower);
            // The factor is between 0 and 1. Each row of a number below 0 may be cut off by a 16th more.
            let cut = if range[0] < 0 {
                1 + i64::from(used / 16)
            } else {
                0
            };
            range = [low + range[0].min(0) - cut, high + range[1].max(0)];
        }
        Spline {
            range: self.range(degree, step),
            step,
            pieces,
            products,
        }
    }

    /// What the spline's values lie between: the function's, further apart by all that they may be wrong.
    fn range(&self, degree: usize, step: u32) -> [i64; 2] {
        let length = power_of_two(step as i32);
        let points = (0..self.pieces(step)).flat_map(|piece| {
            let t = (0..=POINTS).map(place_of);
            t.map(move |t| (piece as f64 + t) * length)
        });
        let start = [f64::INFINITY, f64::NEG_INFINITY];
        let [low, high] = points
            .map(|place| self.at(place))
            .fold(start, |[low, high], value| {
                [low.min(value), high.max(value)]
            });
        // Coefficients are rounded by half a unit at most; a product is rounded down, by less than a unit
        // and a 16th for each row, and its factor cut off, by a quarter, of which some was added; between the
        // points where it is measured the function is hardly higher.
        let rows = f64::from(step) / 16.0;
        let wrong = self.error + 0.5 * (degree as f64 + 1.0) + (1.25 + rows - LOST) * degree as f64;
        let low = (low + self.more - wrong).floor().min(0.0) as i64;
        let high = (high + self.more + wrong + 8.0).ceil() as i64;
        [low, high]
    }
}

/// Chebyshev's points of 0 to 1: (1 - cos((2 k + 1) pi / (2 degree + 2))) / 2.
fn nodes(degree: usize) -> Vec<f64> {
    let half = |cosine: f64| cosine / 2.0;
    let (sqrt_2, sqrt_5) = (2f64.sqrt(), 5f64.sqrt());
    let cosines = match degree {
        1 => vec![half(sqrt_2)],
        2 => vec![half(3f64.sqrt())],
        3 => vec![half((2.0 + sqrt_2).sqrt()), half((2.0 - sqrt_2).sqrt())],
        _ => vec![
            half(((5.0 + sqrt_5) / 2.0).sqrt()),
            half(((5.0 - sqrt_5) / 2.0).sqrt()),
        ],
    };
    let mut nodes: Vec<f64> = cosines.iter().map(|cosine| half(1.0 - cosine)).collect();
    if degree.is_multiple_of(2) {
        nodes.push(0.5);
    }
    nodes.extend(cosines.iter().rev().map(|cosine| half(1.0 + cosine)));
    nodes
}

/// A point of a piece. The last one is hardly before the next piece, where the function may jump.
fn place_of(point: u32) -> f64 {
    (f64::from(point) / f64::from(POINTS)).min(1.0 - power_of_two(-30))
}

/// Bits of a number in a range, with a sign where it may be negative.
fn bits([low, high]: [i64; 2]) -> u32 {
    let of = |number: i64| i64::BITS - number.leading_zeros();
    match low < 0 {
        true => of(high).max(of(!low)) + 1,
        false => of(high),
    }
}
