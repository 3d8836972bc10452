//! Quotients of two numbers, right in proportion to themselves however large the divisor is.
//!
//! The divisor, y = m 2^e with m from 1 to 2, becomes 1/m by pieces and the number of its leading zeros, side by side as
//! the bits of an integer ([`Packing`]): one circuit, however many numbers are divided by it. The dividend is
//! normalised as well, so that what is multiplied has as many bits as the result is right to, and not as many
//! as numbers have; the product is shifted once, by a secret amount, and rounded down once ([`Quotient`]).
//!
//! # How exact
//!
//! With l bits, F of them after the point, and S = F + 7, the divisor is 2^e m and the spline gives m' = 2^S / m + d
//! with d from 8 to 24: [`Packing::MORE`] is added to what is within 8 units. The dividend is 2^f n with n from 1/2 to 1, of
//! which the highest T = min(S, l) bits, n', are less by less than 2^-T. The product is P = n' m' less what its rows
//! lose, less than 1 + T / 16 units ([`Product`]); T is 31 at most. Against the exact n 2^S / m it is
//! - too small by n' - n, times 2^S / m: less than a unit, and by the rows: less than 3 units;
//! - too large by n' d, from 4 to 24 units, as n' is 1/2 at least.
//!
//! So P is never too small, and by less than 24 n of its units too large, while it is n 2^(S - 1) units at least: by
//! less than a 24 / 2^(F + 6)th of itself, which is less than a 2^-(F + 1)th. What is shifted is rounded down, towards 0. So
//! of the quotient q, in steps of 2^-F and without its sign,
//!
//! `q - 1 < result <= q (1 + 2^-(F + 1))`.
//!
//! Beyond the type's range the result is the greatest number, or its negative. A divisor of 0 has nothing but zeros in
//! front, one more than the least number has, and m = 1: so it counts as 2^-(F + 1), as for reciprocals. For F above 24 read
//! 24 for F in S and in the bound's 2^-(F + 1).
//!
//! # What was rejected
//!
//! - *The reciprocal in F bits and a product*: it says nothing of divisors beyond 2^F.
//! - *The reciprocal in l bits after the point, and a product in the ring of twice the width*: the same number of bytes
//!   in A+B (a product of 128 bits is 4 kB, and widening and cutting it off takes sums of shares), three times as many
//!   where there are bits alone, and nothing for numbers of 128 bits.
//! - *All bits of the dividend*: for 64 bits three times the product.

use madrigal_circuit::{Builder, Wire};

use super::kind::PRECISION;
use super::spline::Product;
use crate::element::Type;

/// How an inverse lies in the bits of an integer: the mantissa lowest, then the number of leading zeros, then the sign.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub(super) struct Packing {
    /// The mantissa is in units of 2^-scale; it is 1 at most and a few units.
    pub(super) scale: u32,
    /// Bits of the number of zeros.
    zeros: u32,
}

impl Packing {
    /// Amount that is added to mantissas, in units of 2^-scale: more than all that is lost afterwards.
    pub(super) const MORE: f64 = 16.0;

    pub(super) fn new(element: Type) -> Self {
        Self {
            scale: element.fraction().min(PRECISION) + 7,
            zeros: (element.bits() + 1).next_power_of_two().ilog2(),
        }
    }

    fn mantissa(self) -> u32 {
        self.scale + 1
    }

    /// The integers that have room.
    pub(super) fn to(self) -> Type {
        let bits = self.mantissa() + self.zeros + 1;
        Type::unsigned(bits.next_power_of_two())
    }

    pub(super) fn pack(self, mantissa: u128, zeros: u32, negative: bool) -> u128 {
        let above = u128::from(zeros) | u128::from(negative) << self.zeros;
        mantissa | above << self.mantissa()
    }

    pub(super) fn join(
        self,
        b: &mut Builder,
        mantissa: &[Wire],
        zeros: &[Wire],
        sign: Wire,
    ) -> Vec<Wire> {
        let mut bits = b.zero_extend(mantissa, self.mantissa() as usize);
        bits.extend(b.zero_extend(zeros, self.zeros as usize));
        bits.push(sign);
        bits
    }
}

/// Multiplies a dividend and a packed inverse.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub(super) struct Quotient {
    packing: Packing,
    product: Product,
}

impl Quotient {
    pub(super) fn new(element: Type) -> Self {
        let packing = Packing::new(element);
        let most = (2 << packing.scale) - 1;
        Self {
            packing,
            product: Product {
                range: [0, most],
                used: packing.scale.min(element.bits()),
            },
        }
    }

    /// The type of the inverses.
    pub(super) fn second(&self) -> Type {
        self.packing.to()
    }

    /// With l bits, zx and zy zeros in front of x and of y, the quotient of P 2^(1 - S + F + zy - zx) steps is
    /// P 2^(l + 1 - S) shifted down by l - F + zx - zy: where that is below 0 the quotient is 2^(l - 1) at least.
    fn up(&self, element: Type) -> i32 {
        element.bits() as i32 + 1 - self.packing.scale as i32
    }

    pub(super) fn evaluate(&self, element: Type, number: i128, inverse: u128) -> i128 {
        let Packing { scale, zeros } = self.packing;
        let part = |from: u32, bits: u32| inverse >> from & ((1 << bits) - 1);
        let mantissa = part(0, scale + 1) as i64;
        let other_zeros = part(scale + 1, zeros) as i32;
        let negative = (number < 0) != (part(scale + 1 + zeros, 1) == 1);
        let bits = element.bits();
        let magnitude = number.unsigned_abs();
        if magnitude == 0 {
            return 0;
        }
        let own_zeros = magnitude.leading_zeros() + bits - 128;
        let highest = (magnitude << own_zeros) >> (bits - self.product.used);
        let product = self.product.of(mantissa, highest, false) as u128;
        let by = (bits - element.fraction()) as i32 + own_zeros as i32 - other_zeros;
        let most = element.mask() >> 1;
        let by = by - self.up(element);
        let result = match by {
            // Even before the public shift.
            _ if by + self.up(element) < 0 => most,
            0.. => product.checked_shr(by as u32).unwrap_or(0).min(most),
            _ if product.leading_zeros() as i32 >= -by => (product << -by).min(most),
            _ => most,
        } as i128;
        if negative { -result } else { result }
    }

    pub(super) fn build(
        &self,
        element: Type,
        b: &mut Builder,
        x: &[Wire],
        inverse: &[Wire],
    ) -> Vec<Wire> {
        let Packing { scale, zeros } = self.packing;
        let (bits, fraction) = (element.bits() as usize, element.fraction() as usize);
        let (mantissa, rest) = inverse.split_at(scale as usize + 1);
        let (other_zeros, other_sign) = (&rest[..zeros as usize], rest[zeros as usize]);

        let magnitude = b.negate_if(x, x[bits - 1]);
        let own_zeros = b.leading_zeros(&magnitude);
        let moved = moved_up(b, &magnitude, &own_zeros);
        let some = moved[bits - 1];
        let highest = &moved[bits - self.product.used as usize..];
        let room = b.number(0, scale as usize + 1);
        let product = self.product.build(b, mantissa, highest, None, &room);

        // l - F + zx - zy, with a sign.
        let wide = zeros as usize + 2;
        let public = b.number((bits - fraction) as u128, wide);
        let own_zeros = b.zero_extend(&own_zeros, wide);
        let sum = b.add(&own_zeros, &public);
        let other_zeros = b.zero_extend(other_zeros, wide);
        let by = b.sub(&sum, &other_zeros);
        let (below, by) = (by[wide - 1], &by[..wide - 1]);

        let up = self.up(element);
        let mut word = b.number(0, up.max(0) as usize);
        word.extend_from_slice(product.get((-up).max(0) as usize..).unwrap_or(&[]));
        let word = b.zero_extend(&word, word.len().max(bits));
        let word = b.shift_right(&word, by);
        let above = b.any(&word[bits - 1..]);
        let below = b.and(below, some);
        let over = b.or(above, below);
        let mut result: Vec<_> = word[..bits - 1]
            .iter()
            .map(|&bit| b.or(bit, over))
            .collect();
        result.push(b.constant(false));
        let negative = b.xor(x[bits - 1], other_sign);
        b.negate_if(&result, negative)
    }
}

/// A number shifted by its leading zeros: by many first, so that what only its highest bits are wanted of takes fewer
/// ANDs. Of 0 nothing moves.
pub(super) fn moved_up(b: &mut Builder, number: &[Wire], zeros: &[Wire]) -> Vec<Wire> {
    let nothing = b.constant(false);
    let steps = zeros.iter().enumerate().rev();
    let steps = steps.map(|(at, &bit)| (1_usize << at, bit));
    let steps = steps.filter(|&(step, _)| step < number.len());
    let mut number = number.to_vec();
    for (step, bit) in steps {
        let mut moved = vec![nothing; step];
        moved.extend_from_slice(&number[..number.len() - step]);
        number = b.select(bit, &moved, &number);
    }
    number
}
