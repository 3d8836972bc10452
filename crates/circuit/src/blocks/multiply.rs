//! Products. Bits of equal weight stand in columns, and full adders take three out of a column and
//! put one back and one into the next, for one AND. Every order takes as many; we take the bits that
//! are there first.
//!
//! For size, halves are multiplied after Karatsuba and Ofman (1962) where that is less:
//! `(a1 + a0)(b1 + b0) - a1 b1 - a0 b0` saves one product of four.

use std::cmp::Reverse;
use std::collections::BinaryHeap;

use super::same_width;
use crate::builder::{Builder, Goal, Wire};

/// Bits of a column, those of least depth first.
type Column = BinaryHeap<Reverse<(u32, Wire)>>;

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

    /// The sum of bits by their weights, modulo 2^(number of columns): an AND for each full or half adder.
    pub fn add_columns(&mut self, columns: Vec<Vec<Wire>>) -> Vec<Wire> {
        // Constants are added up here. A 1 that is left in a column is taken last, so that it meets one
        // other bit if the column has an even number of them: then it costs nothing.
        let mut ones = 0;
        let mut weighed: Vec<Column> = Vec::with_capacity(columns.len());
        for bits in columns {
            let mut column = Column::new();
            for bit in bits {
                match self.known(bit) {
                    Some(known) => ones += usize::from(known),
                    None => column.push(Reverse((self.depth(bit), bit))),
                }
            }
            if ones % 2 == 1 {
                let last = match self.goal() {
                    Goal::Size => u32::MAX,
                    Goal::Depth => 0,
                };
                column.push(Reverse((last, self.constant(true))));
            }
            ones /= 2;
            weighed.push(column);
        }
        let mut columns = weighed;
        match self.goal() {
            Goal::Size => self.add_up(&mut columns),
            Goal::Depth => self.add_down(&mut columns),
        }
    }

    /// Column after column, so that each has all its carries before it is added up.
    fn add_up(&mut self, columns: &mut [Column]) -> Vec<Wire> {
        let mut sum = Vec::with_capacity(columns.len());
        for at in 0..columns.len() {
            while columns[at].len() > 1 {
                let bits = columns[at].len().min(3);
                self.adder(columns, at, bits);
            }
            sum.push(self.take(&mut columns[at]));
        }
        sum
    }

    /// All columns side by side, to two bits at most in each, then a sum by prefixes.
    ///
    /// Layer by layer: sums of three bits are there at the depth of the bits, only carries come an AND
    /// later. So a column of h bits becomes one or two at once, and with the carries of the column below
    /// h / 2 + 1 at most in the next layer. Where two are left and carries come on top of that, a half
    /// adder sees to it, or they would travel up one column a layer.
    fn add_down(&mut self, columns: &mut [Column]) -> Vec<Wire> {
        for depth in 0.. {
            let there = |column: &Column| {
                column
                    .iter()
                    .filter(|Reverse((at, _))| *at <= depth)
                    .count()
            };
            let heights: Vec<usize> = columns.iter().map(there).collect();
            let most = heights.iter().max().map_or(0, |most| most / 2 + 1);
            if most <= 2 && columns.iter().all(|column| column.len() <= 2) {
                break;
            }
            let mut carries = 0;
            for (at, mut height) in heights.into_iter().enumerate() {
                let came = std::mem::take(&mut carries);
                while height > 2 || (height == 2 && came > 0 && height + came > most) {
                    let adds = height.min(3);
                    self.adder(columns, at, adds);
                    height -= adds - 1;
                    carries += 1;
                }
            }
        }
        // Where a column has one bit and nothing comes from below, that is the sum.
        let done = columns.iter().take_while(|column| column.len() < 2).count();
        let mut low: Vec<Wire> = columns[..done].iter_mut().map(|c| self.take(c)).collect();
        let (mut a, mut b) = (Vec::new(), Vec::new());
        for column in &mut columns[done..] {
            a.push(self.take(column));
            b.push(self.take(column));
        }
        low.extend(self.add(&a, &b));
        low
    }

    /// Two or three bits of a column to one there and one in the next; the last column needs no carry.
    fn adder(&mut self, columns: &mut [Column], at: usize, bits: usize) {
        let (a, b) = (self.take(&mut columns[at]), self.take(&mut columns[at]));
        let c = match bits {
            3 => self.take(&mut columns[at]),
            _ => self.constant(false),
        };
        let half = self.xor(a, b);
        let sum = self.xor(half, c);
        columns[at].push(Reverse((self.depth(sum), sum)));
        if at + 1 < columns.len() {
            let carry = self.majority(a, b, c);
            columns[at + 1].push(Reverse((self.depth(carry), carry)));
        }
    }

    fn take(&mut self, column: &mut Column) -> Wire {
        match column.pop() {
            Some(Reverse((_, wire))) => wire,
            None => self.constant(false),
        }
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
