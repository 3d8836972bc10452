//! Square roots.

use madrigal_program::Tensor;

use super::check::{fraction, ten};
use super::secret::{Cell, Scope, fit};
use crate::error::Fault;
use crate::kind::{DIGITS, Kind, Number, Unit};

/// Bits of the greatest number whose root is taken: what is compared on the way has two more.
const MOST_BITS: u32 = 120;

/// How the root of a quotient is computed: the quotient in units whose root has `digits` digits after the point.
struct Plan {
    above: Number,
    below: Number,
    /// Factors of the numerator and of the denominator.
    up: i128,
    down: i128,
    digits: u8,
    /// The greatest quotient.
    greatest: i128,
}

impl Plan {
    /// The plan with most digits that 128 bits have room for.
    fn new(kind: &Kind) -> Result<Self, Fault> {
        let beyond = || Fault::Range {
            what: String::new(),
        };
        let (above, below) = fraction(kind).ok_or_else(beyond)?;
        let digits_of = |number: &Number| number.unit.digits().unwrap_or(0);
        let more = i32::from(digits_of(&below)) - i32::from(digits_of(&above));
        let plan = |digits: u8| {
            let by = 2 * i32::from(digits) + more;
            let power = |by: i32| ten(u8::try_from(by.max(0)).ok()?);
            let (up, down) = (power(by)?, power(-by)?);
            let fits = |number: i128| (number >> MOST_BITS == 0).then_some(number);
            let most = fits(above.greatest.max(0).checked_mul(up)?)?;
            fits(above.least.min(0).checked_mul(up)?.checked_neg()?)?;
            fits(below.greatest.checked_mul(down)?)?;
            Some(Self {
                above,
                below,
                up,
                down,
                digits,
                greatest: most / (below.least * down),
            })
        };
        (0..=DIGITS).rev().find_map(plan).ok_or_else(beyond)
    }

    fn number(&self) -> Number {
        Number::new(Unit::with_digits(self.digits), 0, self.greatest.isqrt())
    }
}

/// The kind of the square root of a number or a ratio.
pub(crate) fn root(kind: &Kind) -> Result<Number, Fault> {
    Ok(Plan::new(kind)?.number())
}

impl Scope<'_> {
    /// The square root of a number or a ratio; missing where it is negative.
    pub(crate) fn root(&mut self, cell: Cell) -> Result<Cell, Fault> {
        let plan = Plan::new(&cell.kind)?;
        let steps = (128 - plan.greatest.leading_zeros()).div_ceil(2);
        // Numerators, denominators, and what is compared on the way: the next power of 4 above the quotient at most.
        let most = (plan.above.greatest.max(0) * plan.up)
            .max(plan.below.greatest * plan.down)
            .max(1 << (2 * steps));
        let least = plan.above.least.min(0) * plan.up;
        let element = Number::new(Unit::One, least, most).element();
        let mut number = |value: i128| self.constant(element, value as u128);
        let scaled = |tensor: &Tensor, by: i128, factor: Tensor| {
            let tensor = fit(tensor, element);
            if by == 1 {
                tensor
            } else {
                tensor.times(&factor)
            }
        };
        let mut rest = scaled(&cell.parts[0], plan.up, number(plan.up));
        let mut present = cell.present.clone();
        if plan.above.least < 0 {
            let zero = number(0);
            let is_negative = rest.less(&zero);
            rest = is_negative.select(&zero, &rest);
            let there = is_negative.not();
            present = Some(match present {
                Some(present) => present.and(&there),
                None => there,
            });
        }
        if let Kind::Ratio(..) = cell.kind {
            rest = rest.over(&scaled(&cell.parts[1], plan.down, number(plan.down)));
        } else if plan.down > 1 {
            rest = rest.over(&number(plan.down));
        }
        // Bit by bit from the highest: `rest` is the quotient less the square of the root so far.
        let mut root = number(0);
        for bit in (0..steps).rev() {
            let step = root.times(&number(2 << bit)).plus(&number(1 << (2 * bit)));
            let fits = rest.less(&step).not();
            rest = fits.select(&rest.minus(&step), &rest);
            root = root.plus(&fits.cast(element).times(&number(1 << bit)));
        }
        let kind = plan.number();
        let root = fit(&root, kind.element());
        Ok(Cell::new(Kind::Number(kind), vec![root], present))
    }
}
