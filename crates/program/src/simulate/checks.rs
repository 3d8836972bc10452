//! Numbers that leave their type's range.

use std::fmt;

use crate::array::Array;
use crate::element::Type;
use crate::error::Source;
use crate::ir::{Binary, Node, Op, Reduction, Rounding, Unary};
use crate::simulate::Outputs;
use crate::simulate::elements::fixed_quotient;

/// Outputs of a program, and the places where a number was not what it should be.
#[derive(Debug, Clone)]
pub struct Checked {
    /// The outputs, wrapped around where that happened.
    pub outputs: Outputs,
    /// The first element of each operation that went wrong, each time it was done.
    pub overflows: Vec<Overflow>,
}

/// An operation whose result is not the number that its operands have.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Overflow {
    /// Line where the operation stands.
    pub at: Source,
    /// Name of the operation.
    pub operation: String,
    /// Type of the operands.
    pub element: Type,
    /// Number of the result's element, counted row by row.
    pub place: usize,
    /// The mistake.
    pub mistake: Mistake,
}

/// A mistake in a number.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub enum Mistake {
    /// It left its type's range and was wrapped around.
    Range,
    /// It was divided by 0.
    Zero,
    /// A place beyond the end of a table.
    Place,
    /// Bits of a number that is so large that [probabilistic truncation](crate::Rounding::Probabilistic) gives
    /// something else altogether with a chance of more than one in a million (2^-20).
    Chance,
}

impl fmt::Display for Overflow {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self {
            at,
            operation,
            element,
            place,
            mistake,
        } = self;
        let what = match mistake {
            Mistake::Range => "leaves the range",
            Mistake::Zero => "divides by 0",
            Mistake::Place => "looks beyond the end of the table",
            Mistake::Chance => "is wrong with a chance of more than one in a million",
        };
        write!(
            f,
            "{at}: {operation} of {element} {what} at element {place}"
        )
    }
}

/// The first element of an operation's result that is not the number it should be.
pub(super) fn overflow(node: &Node, inputs: &[&Array]) -> Option<Overflow> {
    let element = inputs.first()?.element();
    let (mistake, place) = match (&node.op, inputs) {
        (Op::Binary(Binary::Div | Binary::Rem), [_, b]) => {
            match b.codes().position(|code| code == 0) {
                Some(place) => (Mistake::Zero, place),
                None => (Mistake::Range, first_wrong(node, inputs)?),
            }
        }
        (Op::LookUp, [table, places]) => {
            let (entries, width) = (table.shape().axes()[1], table.shape().axes()[2]);
            let beyond = |code: u128| code >= entries as u128;
            (Mistake::Place, places.codes().position(beyond)? * width)
        }
        (
            Op::Truncate {
                rounding: Rounding::Probabilistic,
                ..
            },
            [x],
        ) => {
            // Any number but 0 is too large for a type of 16 bits.
            let shift = element.bits().saturating_sub(20);
            let large = |code| element.extend(code).unsigned_abs() >> shift > 0;
            (Mistake::Chance, x.codes().position(large)?)
        }
        _ => (Mistake::Range, first_wrong(node, inputs)?),
    };
    Some(Overflow {
        at: node.at,
        operation: node.op.to_string(),
        element,
        place,
        mistake,
    })
}

/// A number as wide as can be, or nothing once it was wider.
type Wide = Option<Exact>;

/// Numbers of `u128` that no `i128` holds need a type of their own.
#[derive(Clone, Copy)]
enum Exact {
    Signed(i128),
    Unsigned(u128),
}

impl Exact {
    fn of(element: Type, code: u128) -> Self {
        match element.is_signed() || element.bits() < 128 {
            true => Self::Signed(element.extend(code)),
            false => Self::Unsigned(code),
        }
    }

    /// The result of an operation on numbers of one kind.
    fn with(
        self,
        other: Self,
        signed: fn(i128, i128) -> Option<i128>,
        unsigned: fn(u128, u128) -> Option<u128>,
    ) -> Wide {
        match (self, other) {
            (Self::Signed(a), Self::Signed(b)) => signed(a, b).map(Self::Signed),
            (Self::Unsigned(a), Self::Unsigned(b)) => unsigned(a, b).map(Self::Unsigned),
            _ => None,
        }
    }

    fn add(self, other: Self) -> Wide {
        self.with(other, i128::checked_add, u128::checked_add)
    }

    fn sub(self, other: Self) -> Wide {
        self.with(other, i128::checked_sub, u128::checked_sub)
    }

    fn mul(self, other: Self) -> Wide {
        self.with(other, i128::checked_mul, u128::checked_mul)
    }

    /// Whether a type has the number.
    fn fits(self, element: Type) -> bool {
        match self {
            Self::Signed(number) => {
                element.extend(number as u128 & element.mask()) == number && {
                    element.is_signed() || number >= 0
                }
            }
            Self::Unsigned(number) => number & element.mask() == number && !element.is_signed(),
        }
    }
}

/// Whether the largest numbers alone tell that no sum of products leaves the type's range, nor any part of one: of a
/// row of `row` numbers of the first operand with any of the second. Each number is looked at once, where the sums
/// themselves take a multiplication for each product.
fn sums_fit(element: Type, inputs: &[&Array], row: usize) -> bool {
    let numbers = |input: usize| {
        let of: Type = inputs[input].element();
        let known = of.is_signed() || of.bits() < 128;
        let codes = inputs[input].codes();
        codes.map(move |code| known.then(|| of.extend(code).unsigned_abs()))
    };
    let mut greatest = 0;
    let mut sum: Option<u128> = Some(0);
    for (at, number) in numbers(0).enumerate() {
        let before = if at % row == 0 { Some(0) } else { sum };
        sum = before
            .zip(number)
            .and_then(|(sum, number)| sum.checked_add(number));
        match sum {
            Some(sum) => greatest = greatest.max(sum),
            None => return false,
        }
    }
    let range = element.mask() >> u32::from(element.is_signed());
    numbers(1).all(|number| {
        let product = number.and_then(|number| number.checked_mul(greatest));
        product.is_some_and(|product| product <= range)
    })
}

/// The first element that does not fit.
fn first_wrong(node: &Node, inputs: &[&Array]) -> Option<usize> {
    let typed = &node.outputs[0];
    let fits = |number: Wide| number.is_some_and(|number| number.fits(typed.element));
    let number = |input: usize, at: usize| {
        let array = inputs[input];
        Exact::of(array.element(), array.words().get(at))
    };
    let elements = typed.shape.elements();
    let each = |f: &dyn Fn(usize) -> Wide| (0..elements).find(|&at| !fits(f(at)));
    let zero = Exact::of(inputs[0].element(), 0);
    let power = |by: u128| match (by, typed.element.is_signed() || typed.element.bits() < 128) {
        (128.., _) => None,
        (127, true) => None,
        (by, true) => Some(Exact::Signed(1 << by)),
        (by, false) => Some(Exact::Unsigned(1 << by)),
    };
    let is_zero = |at: usize| inputs[0].words().get(at) == 0;
    match &node.op {
        Op::Unary(Unary::Negate) => each(&|at| zero.sub(number(0, at))),
        Op::Unary(Unary::Abs) => {
            let least = inputs[0].element().least();
            inputs[0].codes().position(|code| code == least)
        }
        Op::Unary(Unary::Square) => each(&|at| number(0, at).mul(number(0, at))),
        Op::Unary(Unary::ShiftLeft(by)) => (0..elements).find(|&at| {
            !is_zero(at) && !fits(power((*by).into()).and_then(|p| number(0, at).mul(p)))
        }),
        Op::Binary(Binary::ShiftLeft) => (0..elements).find(|&at| {
            let power = power(inputs[1].words().get(at));
            !is_zero(at) && !fits(power.and_then(|power| number(0, at).mul(power)))
        }),
        Op::Binary(Binary::Add) => each(&|at| number(0, at).add(number(1, at))),
        Op::Binary(Binary::Sub) => each(&|at| number(0, at).sub(number(1, at))),
        Op::Binary(Binary::Mul) => each(&|at| number(0, at).mul(number(1, at))),
        Op::Binary(Binary::Div) if typed.element.fraction() > 0 => {
            let mut pairs = inputs[0].codes().zip(inputs[1].codes());
            pairs.position(|(a, b)| !fixed_quotient(typed.element, a, b).1)
        }
        Op::Binary(Binary::Div) if typed.element.is_signed() => {
            let (least, minus_one) = (typed.element.least(), typed.element.mask());
            let mut pairs = inputs[0].codes().zip(inputs[1].codes());
            pairs.position(|pair| pair == (least, minus_one))
        }
        Op::Cast(element) => {
            let fits = |at: usize| number(0, at).fits(*element);
            (0..elements).find(|&at| !fits(at))
        }
        Op::Reduce(reduction @ (Reduction::Sum | Reduction::Product), axis) => {
            let [_, length, after] = inputs[0].shape().around(*axis);
            let sum = *reduction == Reduction::Sum;
            let one = Exact::of(typed.element, 1);
            each(&|at| {
                let first = at / after * length * after + at % after;
                let mut numbers = (0..length).map(|step| number(0, first + step * after));
                match sum {
                    true => numbers.try_fold(zero, Exact::add),
                    false => numbers.try_fold(one, Exact::mul),
                }
            })
        }
        Op::PrefixSums(axis) => {
            let [_, length, after] = inputs[0].shape().around(*axis);
            let mut running = vec![Some(zero); elements];
            (0..elements).find(|&at| {
                let first = at / after % length == 0;
                let before = if first {
                    Some(zero)
                } else {
                    running[at - after]
                };
                running[at] = before.and_then(|sum| sum.add(number(0, at)));
                !fits(running[at])
            })
        }
        Op::MatMul => {
            let (&[_, m, k], &[_, _, n]) = (inputs[0].shape().axes(), inputs[1].shape().axes())
            else {
                return None;
            };
            if sums_fit(typed.element, inputs, k) {
                return None;
            }
            each(&|at| {
                let (row, column) = (at / n, at % n);
                let batch = row / m.max(1);
                (0..k).try_fold(zero, |sum, inner| {
                    let a = number(0, row * k + inner);
                    let b = number(1, (batch * k + inner) * n + column);
                    sum.add(a.mul(b)?)
                })
            })
        }
        Op::Convolve(convolution) if sums_fit(typed.element, inputs, convolution.window()) => None,
        Op::Convolve(convolution) => each(&|at| {
            convolution
                .terms(at)
                .try_fold(zero, |sum, (filter, place)| match place {
                    Some(place) => sum.add(number(0, filter).mul(number(1, place))?),
                    None => Some(sum),
                })
        }),
        _ => None,
    }
}
