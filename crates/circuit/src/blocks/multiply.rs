//! Products: sums of the bits' products, in columns.
//!
//! For size, halves are multiplied after Karatsuba and Ofman (1962) where that is less:
//! `(a1 + a0)(b1 + b0) - a1 b1 - a0 b0` saves one product of four.

use super::same_width;
use crate::builder::{Builder, Goal, Wire};

impl Builder {
    /// `a * b` modulo 2^width, for two numbers of one width. By school width^2 - width + 1 ANDs.
    pub fn mul(&mut self, a: &[Wire], b: &[Wire]) -> Vec<Wire> {
        same_width(a, b);
        let width = a.len();
        if self.goal() == Goal::Depth || low_cost(width) == school_low(width) {
            return self.school(a, b, width);
        }
        // The halves' upper product is of no weight here.
        let half = width / 2;
        let mut product = self.mul_wide(&a[..half], &b[..half]);
        let upper = width - half;
        product.resize(width, self.number(0, 1)[0]);
        let cross = [(&a[half..], &b[..upper]), (&a[..upper], &b[half..])];
        for (a, b) in cross {
            let cross = self.mul(a, b);
            let sum = self.add(&product[half..], &cross);
            product.splice(half.., sum);
        }
        product
    }

    /// `a * b`, both unsigned, of any widths: as wide as both together. By school, for two of one
    /// width, 2 width^2 - width ANDs.
    pub fn mul_wide(&mut self, a: &[Wire], b: &[Wire]) -> Vec<Wire> {
        let width = a.len();
        let karatsuba = width == b.len() && wide_cost(width) < school_wide(width);
        if self.goal() == Goal::Depth || !karatsuba {
            return self.school(a, b, a.len() + b.len());
        }
        let half = width.div_ceil(2);
        let (a0, a1) = a.split_at(half);
        let (b0, b1) = b.split_at(half);
        let low = self.mul_wide(a0, b0);
        let high = self.mul_wide(a1, b1);
        let [a_sum, b_sum] = [(a0, a1), (b0, b1)].map(|(low, high)| {
            let high = self.zero_extend(high, half);
            self.add_wide(low, &high)
        });
        let middle = self.mul_wide(&a_sum, &b_sum);
        let mut middle = middle;
        for part in [&low, &high] {
            let part = self.zero_extend(part, middle.len());
            middle = self.sub(&middle, &part);
        }
        // The rest of the middle fits one bit more than a product of halves.
        let mut product = low;
        product.extend(high);
        let above = product.len() - half;
        let middle = self.zero_extend(&middle[..2 * half + 1], above);
        let sum = self.add(&product[half..], &middle);
        product.splice(half.., sum);
        product
    }

    /// `a * b`, both signed, as wide as both together.
    pub fn mul_wide_signed(&mut self, a: &[Wire], b: &[Wire]) -> Vec<Wire> {
        // Negative numbers, taken as unsigned ones, are greater by 2^width.
        let mut product = self.mul_wide(a, b);
        for (sign, offset, other) in [(a.last(), a.len(), b), (b.last(), b.len(), a)] {
            let Some(&sign) = sign else { continue };
            let correction = self.mask(other, sign);
            let upper = self.sub(&product[offset..], &correction);
            product.splice(offset.., upper);
        }
        product
    }

    /// `a * a` of an unsigned number, twice as wide; about half a product.
    pub fn square_wide(&mut self, a: &[Wire]) -> Vec<Wire> {
        self.square_columns(a, 2 * a.len())
    }

    /// `a * a` modulo 2^width; about half a product.
    pub fn square(&mut self, a: &[Wire]) -> Vec<Wire> {
        self.square_columns(a, a.len())
    }

    fn school(&mut self, a: &[Wire], b: &[Wire], width: usize) -> Vec<Wire> {
        let mut columns = vec![Vec::new(); width];
        for (i, &a) in a.iter().enumerate() {
            for (j, &b) in b.iter().enumerate().take(width.saturating_sub(i)) {
                let product = self.and(a, b);
                columns[i + j].push(product);
            }
        }
        self.add_columns(columns)
    }

    /// `a_i a_j` counts twice, `a_i a_i` is `a_i`.
    fn square_columns(&mut self, a: &[Wire], width: usize) -> Vec<Wire> {
        let mut columns = vec![Vec::new(); width];
        for (i, &low) in a.iter().enumerate() {
            if 2 * i < width {
                columns[2 * i].push(low);
            }
            for (j, &high) in a.iter().enumerate().skip(i + 1) {
                if i + j + 1 < width {
                    let product = self.and(low, high);
                    columns[i + j + 1].push(product);
                }
            }
        }
        self.add_columns(columns)
    }
}

fn school_wide(width: usize) -> usize {
    (2 * width * width).saturating_sub(width)
}

fn school_low(width: usize) -> usize {
    width * width + 1 - width.min(1) * width
}

/// ANDs of [`Builder::mul_wide`] for size, as it computes.
fn wide_cost(width: usize) -> usize {
    if width < 4 {
        return school_wide(width);
    }
    let half = width.div_ceil(2);
    let karatsuba = wide_cost(half) + wide_cost(width - half) + wide_cost(half + 1)
        // Two sums, two differences of the middle product, and the sum at the end.
        + 2 * half + 2 * (2 * half + 1) + (2 * width - half - 1);
    karatsuba.min(school_wide(width))
}

/// ANDs of [`Builder::mul`] for size, as it computes.
fn low_cost(width: usize) -> usize {
    if width < 4 || !width.is_multiple_of(2) {
        return school_low(width);
    }
    let half = width / 2;
    let halves = wide_cost(half) + 2 * low_cost(half) + 2 * (half - 1);
    halves.min(school_low(width))
}
