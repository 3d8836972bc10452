//! Choice of pieces, and of polynomials on them.

use super::products::Product;
use super::{Spline, bits};
use crate::function::real::power_of_two;

/// Pieces at most.
const PIECES: usize = 2048;
const DEGREES: std::ops::RangeInclusive<usize> = 1..=4;
/// Amount by which a product is too small on average, in units: half, and a 32nd for each of some ten rows.
const LOST: f64 = 0.75;
/// Points of a piece, between those of interpolation, where the error is measured.
const POINTS: u32 = 16;

/// Demands on a spline.
pub(in crate::function) struct Wanted<'a> {
    /// The function, of the argument as a number.
    pub(in crate::function) function: &'a dyn Fn(f64) -> f64,
    /// The argument at 0, and how much further on it is at each next integer.
    pub(in crate::function) start: f64,
    pub(in crate::function) unit: f64,
    /// The integers are below this.
    pub(in crate::function) end: u128,
    /// Values are in units of 2^-scale.
    pub(in crate::function) scale: u32,
    /// How far the polynomials may be from the function, in these units, before anything is rounded.
    pub(in crate::function) error: f64,
    /// Amount that is added to all values, in these units.
    pub(in crate::function) more: f64,
    /// A piece is 2^these at most.
    pub(in crate::function) longest: u32,
}

impl Spline {
    /// The cheapest spline.
    pub(in crate::function) fn new(wanted: &Wanted<'_>) -> Self {
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

    /// The range of the spline's values: the function's, wider by all that they may be wrong.
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
