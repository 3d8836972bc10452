//! Operations on elements, each by itself.

use super::tensors::{self, NarrowTo};
use crate::array::{Array, Words, each, pair};
use crate::element::Type;
use crate::ir::{Binary, Op, TensorType, Unary};

/// The results of an operation on tensors of sorts that fit it; not of leaves and loops, which depend on
/// more.
pub(crate) fn evaluate(op: &Op, inputs: &[&Array], outputs: &[TensorType]) -> Vec<Array> {
    let words = match (op, inputs) {
        (Op::View(view), [x]) => vec![x.words().view(view)],
        (Op::Reshape(_) | Op::To(_), [x]) => vec![x.words().clone()],
        (Op::Pick { axis, places }, [x]) => vec![tensors::pick(x, *axis, places)],
        (Op::Join(axis), _) => vec![tensors::join(inputs, *axis)],
        (Op::Row(axis), [x, index]) => {
            let place = index.words().get(0) as usize;
            vec![tensors::pick(x, *axis, &[place])]
        }
        (Op::Unary(unary), [x]) => vec![unary.evaluate(x)],
        (Op::Binary(binary), [a, b]) => vec![binary.evaluate(a, b)],
        (Op::Select, [condition, a, b]) => vec![select(condition, a, b)],
        (Op::Cast(element), [x]) => {
            let codes = x.words().codes();
            let wide = codes.map(|code| x.element().extend(code) as u128 & element.mask());
            vec![Words::collect(*element, wide)]
        }
        (Op::Truncate { by, .. }, [x]) => vec![shift_right(x.words(), x.element(), |_| *by)],
        (Op::Reduce(reduction, axis), [x]) => vec![tensors::reduce(*reduction, x, *axis)],
        (Op::Find(extreme, axis), [x]) => tensors::find(*extreme, x, *axis).into(),
        (Op::PrefixSums(axis), [x]) => vec![tensors::prefix_sums(x, *axis)],
        (Op::Sort { descending, keep }, [keys, along @ ..]) => {
            tensors::sort(keys, along, *descending, *keep)
        }
        // No test could tell one order from another.
        (Op::Shuffle, _) => inputs.iter().map(|input| input.words().clone()).collect(),
        (Op::Random(element, shape), []) => {
            vec![Words::collect(
                *element,
                std::iter::repeat_n(0, shape.elements()),
            )]
        }
        (Op::SortBy(descending), _) => tensors::sort_by(descending, inputs),
        (Op::Numbered(count), []) => vec![Words::collect(Type::PLACE, 0..*count as u128)],
        (Op::MoveRows, [places, columns @ ..]) => tensors::move_rows(places, columns),
        (Op::Each(each), _) => {
            let codes: Vec<Vec<u128>> =
                inputs.iter().map(|input| input.codes().collect()).collect();
            let made = each.operation().evaluate(&codes).into_iter().zip(outputs);
            made.map(|(codes, typed)| Words::collect(typed.element, codes.into_iter()))
                .collect()
        }
        (Op::MatMul, [a, b]) => vec![tensors::matrix_product(a, b)],
        (Op::Convolve(shape), [filters, images]) => vec![tensors::convolve(shape, filters, images)],
        (Op::LookUp, [table, places]) => vec![tensors::look_up(table, places)],
        _ => unreachable!(
            "{op} of {} operands is no operation on tensors",
            inputs.len()
        ),
    };
    let types = outputs.iter();
    types
        .zip(words)
        .map(|(typed, words)| Array::new(typed.element, typed.shape.clone(), words))
        .collect()
}

impl Unary {
    fn evaluate(self, x: &Array) -> Words {
        let (words, element) = (x.words(), x.element());
        let bits = element.bits();
        let to_places = |count: &dyn Fn(u128) -> u32| {
            Words::collect(Type::PLACE, words.codes().map(|code| count(code).into()))
        };
        match self {
            Self::Negate => each!(words, v => map(v, |x| x.wrapping_neg())),
            Self::Not if element.is_bool() => each!(words, v => map(v, |x| x ^ 1)),
            Self::Not => each!(words, v => map(v, |x| !x)),
            Self::Abs => each!(words, v => map(v, |x| {
                if x >> (bits - 1) & 1 == 1 { x.wrapping_neg() } else { x }
            })),
            Self::Square => each!(words, v => map(v, |x| x.wrapping_mul(x))),
            Self::Root => each!(words, v => map(v, |x| x.isqrt())),
            Self::CountOnes => to_places(&u128::count_ones),
            Self::LeadingZeros => to_places(&|code| code.leading_zeros() - (128 - bits)),
            Self::ShiftLeft(by) => shift_left(words, element, |_| by),
            Self::ShiftRight(by) => shift_right(words, element, |_| by),
            Self::RotateLeft(by) => each!(words, v => map(v, |x| x.rotate_left(by % bits))),
        }
    }
}

impl Binary {
    fn evaluate(self, a: &Array, b: &Array) -> Words {
        let element = a.element();
        let (x, y) = (a.words(), b.words());
        let amount = |at: usize| y.get(at).min(256) as u32;
        match self {
            Self::Add => pair!(x, y, x, y => zip(x, y, |x, y| x.wrapping_add(y))),
            Self::Sub => pair!(x, y, x, y => zip(x, y, |x, y| x.wrapping_sub(y))),
            Self::Mul => pair!(x, y, x, y => zip(x, y, |x, y| x.wrapping_mul(y))),
            Self::And => pair!(x, y, x, y => zip(x, y, |x, y| x & y)),
            Self::Or => pair!(x, y, x, y => zip(x, y, |x, y| x | y)),
            Self::Xor => pair!(x, y, x, y => zip(x, y, |x, y| x ^ y)),
            Self::Equal => bools(pair!(x, y, x, y => zip(x, y, |x, y| (x == y).into()))),
            Self::Less => {
                let least = element.least();
                bools(pair!(x, y, x, y => zip(x, y, |x, y| {
                    ((x ^ least.narrow_to(x)) < (y ^ least.narrow_to(y))).into()
                })))
            }
            Self::Min | Self::Max => {
                let least = element.least();
                let max = self == Self::Max;
                pair!(x, y, x, y => zip(x, y, |x, y| {
                    let less = (x ^ least.narrow_to(x)) < (y ^ least.narrow_to(y));
                    if less != max { x } else { y }
                }))
            }
            Self::Div if element.fraction() > 0 => {
                let codes = x.codes().zip(y.codes());
                Words::collect(element, codes.map(|(a, b)| fixed_quotient(element, a, b).0))
            }
            Self::Div | Self::Rem => {
                let codes = x.codes().zip(y.codes());
                let results = codes.map(|(a, b)| self.divide(element, a, b) & element.mask());
                Words::collect(element, results)
            }
            Self::ShiftLeft => shift_left(x, element, amount),
            Self::ShiftRight => shift_right(x, element, amount),
            Self::RotateLeft => {
                let bits = element.bits();
                let by = |at: usize| (y.get(at) % u128::from(bits)) as u32;
                each!(x, v => v.iter().enumerate().map(|(at, x)| x.rotate_left(by(at))).collect())
            }
        }
    }

    /// Quotient or remainder of two codes; bits above the type's are whatever they are.
    fn divide(self, element: Type, a: u128, b: u128) -> u128 {
        let quotient = self == Self::Div;
        match (b, element.is_signed()) {
            (0, _) if quotient => u128::MAX,
            (0, _) => a,
            (_, false) if quotient => a / b,
            (_, false) => a % b,
            (_, true) => {
                let (a, b) = (element.extend(a), element.extend(b));
                let result = if quotient {
                    a.wrapping_div(b)
                } else {
                    a.wrapping_rem(b)
                };
                result as u128
            }
        }
    }
}

/// The quotient of two numbers with a fixed point, rounded towards zero and wrapped around, and whether the
/// type has it. Of 0 there is none: it is the number before 0.
pub(super) fn fixed_quotient(element: Type, a: u128, b: u128) -> (u128, bool) {
    let [(a, a_negative), (b, b_negative)] = [a, b].map(|code| {
        let number = element.extend(code);
        (number.unsigned_abs(), number < 0)
    });
    if b == 0 {
        return (element.mask(), false);
    }
    // Digit by digit, so that the dividend may have more bits than a word. The remainder is below 2^127.
    let (mut quotient, mut remainder, mut lost) = (0_u128, 0_u128, false);
    for digit in (0..128 + element.fraction()).rev() {
        let next = digit.checked_sub(element.fraction());
        remainder = remainder << 1 | next.map_or(0, |at| a >> at & 1);
        lost |= quotient >> 127 == 1;
        quotient <<= 1;
        if remainder >= b {
            remainder -= b;
            quotient |= 1;
        }
    }
    let negative = a_negative != b_negative;
    // The least number has no counterpart above 0.
    let most = (element.mask() >> 1) + u128::from(negative);
    let code = match negative {
        true => quotient.wrapping_neg(),
        false => quotient,
    };
    (code & element.mask(), !lost && quotient <= most)
}

fn map<T: Copy>(words: &[T], f: impl Fn(T) -> T) -> Vec<T> {
    words.iter().map(|&word| f(word)).collect()
}

fn zip<T: Copy>(a: &[T], b: &[T], f: impl Fn(T, T) -> T) -> Vec<T> {
    a.iter().zip(b).map(|(&a, &b)| f(a, b)).collect()
}

/// Words that are 0 or 1 as truth values.
fn bools(words: Words) -> Words {
    match words {
        Words::W8(_) => words,
        words => Words::collect(Type::BOOL, words.codes()),
    }
}

fn select(condition: &Array, a: &Array, b: &Array) -> Words {
    let Words::W8(condition) = condition.words() else {
        unreachable!("truth values are bytes")
    };
    pair!(a.words(), b.words(), a, b => {
        let pairs = a.iter().zip(b).zip(condition);
        pairs.map(|((&a, &b), &yes)| if yes == 1 { a } else { b }).collect()
    })
}

/// Shifted by amounts of which all from the width on leave nothing.
fn shift_left(words: &Words, element: Type, by: impl Fn(usize) -> u32) -> Words {
    let codes = words.codes().enumerate();
    let shifted = codes.map(|(at, code)| code.checked_shl(by(at)).unwrap_or(0) & element.mask());
    Words::collect(element, shifted)
}

/// Shifts the other way; of signed numbers the sign is left.
fn shift_right(words: &Words, element: Type, by: impl Fn(usize) -> u32) -> Words {
    let codes = words.codes().enumerate();
    let shifted = codes.map(|(at, code)| {
        let by = by(at);
        match element.is_signed() {
            true => (element.extend(code) >> by.min(127)) as u128 & element.mask(),
            false => code.checked_shr(by).unwrap_or(0),
        }
    });
    Words::collect(element, shifted)
}
