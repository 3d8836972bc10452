//! Sums and differences: carries one after the other, or by a prefix network.

use super::same_width;
use crate::builder::{Builder, Goal, Wire};

impl Builder {
    /// `a + b` modulo 2^width. For size width - 1 ANDs in a chain; for depth about
    /// width * log2(width) ANDs, log2(width) of them in a row.
    pub fn add(&mut self, a: &[Wire], b: &[Wire]) -> Vec<Wire> {
        let zero = self.constant(false);
        self.sum(a, b, zero, a.len())
    }

    /// `a + b`, with a bit more than they have: the carry.
    pub fn add_wide(&mut self, a: &[Wire], b: &[Wire]) -> Vec<Wire> {
        let zero = self.constant(false);
        self.sum(a, b, zero, a.len() + 1)
    }

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

    /// `a + b + carry` modulo 2^width.
    pub fn add_with_carry(&mut self, a: &[Wire], b: &[Wire], carry: Wire) -> Vec<Wire> {
        self.sum(a, b, carry, a.len())
    }

    /// `a - b` modulo 2^width; as many ANDs as a sum.
    pub fn sub(&mut self, a: &[Wire], b: &[Wire]) -> Vec<Wire> {
        let (one, b) = (self.constant(true), self.not_all(b));
        self.sum(a, &b, one, a.len())
    }

    /// `a - b` modulo 2^width, and whether `a < b`, both unsigned; an AND more.
    pub fn sub_with_borrow(&mut self, a: &[Wire], b: &[Wire]) -> (Vec<Wire>, Wire) {
        let (one, b) = (self.constant(true), self.not_all(b));
        let mut difference = self.sum(a, &b, one, a.len() + 1);
        let carry = difference.pop().unwrap_or(one);
        (difference, self.not(carry))
    }

    /// `a + b` if `minus` is 0, else `a - b`, modulo 2^width; as many ANDs as a sum, and one.
    pub fn add_or_sub(&mut self, a: &[Wire], b: &[Wire], minus: Wire) -> Vec<Wire> {
        let b: Vec<_> = b.iter().map(|&bit| self.xor(bit, minus)).collect();
        self.sum(a, &b, minus, a.len())
    }

    /// `-a` modulo 2^width.
    pub fn negate(&mut self, a: &[Wire]) -> Vec<Wire> {
        let zero = self.number(0, a.len());
        self.sub(&zero, a)
    }

    /// `-a` if `condition` is 1, else `a`; width - 1 ANDs.
    pub fn negate_if(&mut self, a: &[Wire], condition: Wire) -> Vec<Wire> {
        let flipped: Vec<_> = a.iter().map(|&bit| self.xor(bit, condition)).collect();
        self.increment_if(&flipped, condition)
    }

    /// `a + 1` if `condition` is 1, else `a`, modulo 2^width; width - 1 ANDs.
    pub fn increment_if(&mut self, a: &[Wire], condition: Wire) -> Vec<Wire> {
        let zero = self.number(0, a.len());
        self.sum(a, &zero, condition, a.len())
    }

    /// The absolute value of a signed number, as an unsigned one of the same width.
    pub fn abs(&mut self, a: &[Wire]) -> Vec<Wire> {
        match a.last() {
            Some(&sign) => self.negate_if(a, sign),
            None => Vec::new(),
        }
    }

    /// The lowest `width` bits of `a + b + carry`; `width` is at most one more than theirs.
    fn sum(&mut self, a: &[Wire], b: &[Wire], carry: Wire, width: usize) -> Vec<Wire> {
        same_width(a, b);
        let carries = match self.goal() {
            Goal::Size => self.ripple(a, b, carry, width),
            Goal::Depth => self.prefix(a, b, carry, width),
        };
        let mut sum = Vec::with_capacity(width);
        for (i, carry) in carries.into_iter().enumerate() {
            sum.push(match (a.get(i), b.get(i)) {
                (Some(&a), Some(&b)) => {
                    let half = self.xor(a, b);
                    self.xor(half, carry)
                }
                _ => carry,
            });
        }
        sum
    }

    /// The carries into the first `count` bits, one after the other.
    fn ripple(&mut self, a: &[Wire], b: &[Wire], carry: Wire, count: usize) -> Vec<Wire> {
        let mut carries = vec![carry; count.min(1)];
        let mut carry = carry;
        for (&a, &b) in a.iter().zip(b).take(count.saturating_sub(1)) {
            carry = self.majority(b, carry, a);
            carries.push(carry);
        }
        carries
    }

    /// The carries into the first `count` bits by Sklansky's prefix network (IRE Transactions 1960).
    ///
    /// Place 0 of the network is the carry that comes in, so bit i is place i + 1. This saves a layer:
    /// the first block of 2^k places spans only 2^k - 1 bits, and its carry, of degree 2^k in the
    /// inputs, is there after k ANDs. Blocks further up also need whether they pass a carry on.
    ///
    /// Where nothing but the last carry is needed, as for a sign, it is the one of [`Self::carry_out`].
    fn prefix(&mut self, a: &[Wire], b: &[Wire], carry: Wire, count: usize) -> Vec<Wire> {
        let bits = count.saturating_sub(1);
        let mut generate = vec![carry; count.min(1)];
        let mut pass = generate.clone();
        for (&a, &b) in a.iter().zip(b).take(bits) {
            generate.push(self.and(a, b));
            pass.push(self.xor(a, b));
        }
        let mut half = 1;
        while half < count {
            for place in (half..count).filter(|place| place & half != 0) {
                let below = place / half * half - 1;
                // A block cannot both make a carry and pass one on.
                let passed = self.and(pass[place], generate[below]);
                generate[place] = self.xor(generate[place], passed);
                if place >= 2 * half {
                    pass[place] = self.and(pass[place], pass[below]);
                }
            }
            half *= 2;
        }
        let last = self.carry_out(&a[..bits], &b[..bits], carry);
        self.results(&generate, last)
    }
}
