//! Sums of many bits. Bits of equal weight stand in columns, and full adders take three out of a column and
//! put one back and one into the next, for one AND. Every order takes as many; we take the bits that
//! are there first.

use std::cmp::Reverse;
use std::collections::BinaryHeap;

use super::same_width;
use crate::builder::{Builder, Goal, Wire};

/// Bits of a column, those of least depth first.
type Column = BinaryHeap<Reverse<(u32, Wire)>>;

impl Builder {
    /// The sum of any numbers of one width, modulo 2^width, 0 of none: added up in columns first, so that
    /// one carry chain serves them all. It has at most as many ANDs as one sum less than there are numbers.
    pub fn add_all(&mut self, numbers: &[Vec<Wire>]) -> Vec<Wire> {
        let width = numbers.first().map_or(0, Vec::len);
        for number in numbers {
            same_width(&numbers[0], number);
        }
        let column = |bit: usize| numbers.iter().map(|number| number[bit]).collect();
        self.add_columns((0..width).map(column).collect())
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
}
