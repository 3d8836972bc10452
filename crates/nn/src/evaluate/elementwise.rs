//! Operators that work element by element.

use super::strided::{broadcast_strides, walk};
use crate::error::Fault;
use crate::graph::{Binary, Type, Unary};
use crate::tensor::{Data, Element, Tensor, map_data};

/// The error function, to the precision of `f64`.
fn erf(x: f64) -> f64 {
    let size = x.abs();
    let value = if size < 3.0 {
        // erf(x) = 2/sqrt(pi) exp(-x^2) sum_n 2^n x^(2n+1) / (2n+1)!!, all terms positive
        // (Abramowitz and Stegun 7.1.6).
        let (mut term, mut sum, mut odd) = (size, size, 1.0);
        while term > sum * 1e-17 {
            odd += 2.0;
            term *= 2.0 * size * size / odd;
            sum += term;
        }
        std::f64::consts::FRAC_2_SQRT_PI * (-size * size).exp() * sum
    } else if size < 6.0 {
        // 1 - erf(x) as a continued fraction (7.1.14), from its end.
        let fraction = (1..60)
            .rev()
            .fold(size, |below, n| size + f64::from(n) / 2.0 / below);
        1.0 - (-size * size).exp() / (fraction * std::f64::consts::PI.sqrt())
    } else if size.is_nan() {
        size
    } else {
        1.0
    };
    value.copysign(x)
}

/// Computes a unary operator on floats.
fn of_float(unary: Unary) -> Box<dyn Fn(f64) -> f64> {
    use std::f64::consts::{FRAC_1_SQRT_2, FRAC_2_PI};
    match unary {
        Unary::Neg => Box::new(|x| -x),
        Unary::Abs => Box::new(f64::abs),
        Unary::Sign => Box::new(|x| {
            if x == 0.0 || x.is_nan() {
                x
            } else {
                x.signum()
            }
        }),
        Unary::Floor => Box::new(f64::floor),
        Unary::Ceil => Box::new(f64::ceil),
        Unary::Round => Box::new(f64::round_ties_even),
        Unary::Sqrt => Box::new(f64::sqrt),
        Unary::Exp => Box::new(f64::exp),
        Unary::Log => Box::new(f64::ln),
        Unary::Reciprocal => Box::new(f64::recip),
        Unary::Sin => Box::new(f64::sin),
        Unary::Cos => Box::new(f64::cos),
        Unary::Erf => Box::new(erf),
        // NaN stays.
        Unary::Relu => Box::new(|x| if x < 0.0 { 0.0 } else { x }),
        Unary::LeakyRelu { slope } => Box::new(move |x| if x < 0.0 { slope * x } else { x }),
        Unary::Sigmoid => Box::new(|x| {
            // Neither exponential overflows.
            let small = (-x.abs()).exp();
            if x < 0.0 {
                small / (1.0 + small)
            } else {
                1.0 / (1.0 + small)
            }
        }),
        Unary::Tanh => Box::new(f64::tanh),
        Unary::Softplus => Box::new(|x| x.max(0.0) + (-x.abs()).exp().ln_1p()),
        Unary::Gelu { tanh: false } => Box::new(|x| 0.5 * x * (1.0 + erf(x * FRAC_1_SQRT_2))),
        Unary::Gelu { tanh: true } => Box::new(|x| {
            let inner = FRAC_2_PI.sqrt() * (x + 0.044715 * x * x * x);
            0.5 * x * (1.0 + inner.tanh())
        }),
        Unary::Not | Unary::IsNan => unreachable!("these give Booleans"),
    }
}

/// Applies a unary operator.
pub(super) fn unary(unary: Unary, input: &Tensor, output: &Type) -> Tensor {
    let data = match (unary, input.data()) {
        (Unary::IsNan, _) => Data::Bool(input.to_f64().iter().map(|v| v.is_nan()).collect()),
        (Unary::Relu, Data::F32(values)) => Data::F32(
            values
                .iter()
                .map(|&v| if v < 0.0 { 0.0 } else { v })
                .collect(),
        ),
        (_, Data::F32(values)) => {
            let f = of_float(unary);
            Data::F32(values.iter().map(|&v| f(f64::from(v)) as f32).collect())
        }
        (_, Data::F64(values)) => {
            let f = of_float(unary);
            Data::F64(values.iter().map(|&v| f(v)).collect())
        }
        (_, Data::Int(values)) => {
            let signed = input.element().is_signed();
            let f = |v: i64| match unary {
                Unary::Neg => v.wrapping_neg(),
                Unary::Abs if signed => v.wrapping_abs(),
                Unary::Sign if signed => v.signum(),
                Unary::Sign => i64::from(v != 0),
                Unary::Relu if signed => v.max(0),
                _ => v,
            };
            Data::Int(values.iter().map(|&v| f(v)).collect())
        }
        (_, Data::Bool(values)) => Data::Bool(values.iter().map(|v| !v).collect()),
    };
    Tensor::made(output.element, output.shape.clone(), data)
}

/// `f` of all pairs, broadcast.
fn zip<A: Copy, B: Copy, C>(
    (first, first_shape): (&[A], &[usize]),
    (second, second_shape): (&[B], &[usize]),
    shape: &[usize],
    mut f: impl FnMut(A, B) -> C,
) -> Vec<C> {
    if first_shape == second_shape {
        let pairs = first.iter().zip(second);
        return pairs.map(|(&a, &b)| f(a, b)).collect();
    }
    let first_strides = broadcast_strides(first_shape, shape);
    let second_strides = broadcast_strides(second_shape, shape);
    let mut found = Vec::with_capacity(shape.iter().product());
    walk(
        shape,
        [&first_strides, &second_strides],
        [0, 0],
        |[a, b]| found.push(f(first[a], second[b])),
    );
    found
}

fn least(a: f64, b: f64) -> f64 {
    if a.is_nan() || a < b { a } else { b }
}

fn greatest(a: f64, b: f64) -> f64 {
    if a.is_nan() || a > b { a } else { b }
}

/// Computes a binary operator on floats.
fn of_floats(binary: Binary) -> fn(f64, f64) -> f64 {
    match binary {
        // Each of these operators on f32 is exact enough in f64 that rounding once more gives the f32 result.
        Binary::Add => |a, b| a + b,
        Binary::Sub => |a, b| a - b,
        Binary::Mul => |a, b| a * b,
        Binary::Div => |a, b| a / b,
        Binary::Mod { dividend: true } => |a, b| a % b,
        Binary::Mod { dividend: false } => |a, b| {
            let rest = a % b;
            if rest != 0.0 && (rest < 0.0) != (b < 0.0) {
                rest + b
            } else {
                rest
            }
        },
        Binary::Pow => f64::powf,
        Binary::Min => least,
        Binary::Max => greatest,
        _ => unreachable!("these give Booleans, or take them"),
    }
}

fn comparison<T: PartialOrd>(binary: Binary) -> fn(T, T) -> bool {
    match binary {
        Binary::Equal => |a, b| a == b,
        Binary::Less => |a, b| a < b,
        _ => |a, b| a <= b,
    }
}

/// Computes a binary operator on integers; on those of `uint64` by their bits.
fn of_integers(binary: Binary, element: Element, a: i64, b: i64) -> Result<i64, Fault> {
    let unsigned = element == Element::U64;
    if b == 0 && matches!(binary, Binary::Div | Binary::Mod { .. }) {
        return Err(Fault::DivisionByZero);
    }
    let (first, second) = (a as u64, b as u64);
    Ok(match binary {
        Binary::Add => a.wrapping_add(b),
        Binary::Sub => a.wrapping_sub(b),
        Binary::Mul => a.wrapping_mul(b),
        Binary::Div if unsigned => (first / second) as i64,
        Binary::Div => a.wrapping_div(b),
        Binary::Mod { .. } if unsigned => (first % second) as i64,
        Binary::Mod { dividend: true } => a.wrapping_rem(b),
        Binary::Mod { dividend: false } => {
            let rest = a.wrapping_rem(b);
            if rest != 0 && (rest < 0) != (b < 0) {
                rest + b
            } else {
                rest
            }
        }
        Binary::Min if unsigned => first.min(second) as i64,
        Binary::Min => a.min(b),
        Binary::Max if unsigned => first.max(second) as i64,
        Binary::Max => a.max(b),
        // A number other than 1 and -1 to a power below 0 is less than 1.
        Binary::Pow if b < 0 && !unsigned => match a {
            1 => 1,
            -1 if b & 1 == 0 => 1,
            -1 => -1,
            _ => 0,
        },
        Binary::Pow => power(a, second),
        _ => unreachable!("these give Booleans, or take them"),
    })
}

/// A power modulo 2^64.
fn power(mut base: i64, mut exponent: u64) -> i64 {
    let mut power = 1_i64;
    while exponent > 0 {
        if exponent & 1 == 1 {
            power = power.wrapping_mul(base);
        }
        base = base.wrapping_mul(base);
        exponent >>= 1;
    }
    power
}

/// Applies a binary operator.
pub(super) fn binary(
    binary: Binary,
    first: &Tensor,
    second: &Tensor,
    output: &Type,
) -> Result<Tensor, Fault> {
    use Binary::{Equal, Less, LessOrEqual};
    let (a, b, shape) = (first.shape(), second.shape(), &output.shape[..]);
    let compares = matches!(binary, Equal | Less | LessOrEqual);
    let data = match (first.data(), second.data()) {
        (Data::F32(x), Data::F32(y)) if compares => {
            Data::Bool(zip((x, a), (y, b), shape, comparison(binary)))
        }
        (Data::F32(x), Data::F32(y)) => {
            let f = of_floats(binary);
            Data::F32(zip((x, a), (y, b), shape, |x, y| {
                f(f64::from(x), f64::from(y)) as f32
            }))
        }
        (Data::F64(x), Data::F64(y)) if compares => {
            Data::Bool(zip((x, a), (y, b), shape, comparison(binary)))
        }
        (Data::F64(x), Data::F64(y)) => Data::F64(zip((x, a), (y, b), shape, of_floats(binary))),
        (Data::Int(x), Data::Int(y)) if compares && first.element() == Element::U64 => {
            let f = comparison(binary);
            Data::Bool(zip((x, a), (y, b), shape, |x, y| f(x as u64, y as u64)))
        }
        (Data::Int(x), Data::Int(y)) if compares => {
            Data::Bool(zip((x, a), (y, b), shape, comparison(binary)))
        }
        (Data::Int(x), Data::Int(y)) => {
            let mut fault = None;
            let element = first.element();
            let values = zip((x, a), (y, b), shape, |x, y| {
                of_integers(binary, element, x, y).unwrap_or_else(|e| {
                    fault = Some(e);
                    0
                })
            });
            match fault {
                Some(fault) => return Err(fault),
                None => Data::Int(values),
            }
        }
        (Data::Bool(x), Data::Bool(y)) => {
            let f: fn(bool, bool) -> bool = match binary {
                Binary::And => |a, b| a & b,
                Binary::Or => |a, b| a | b,
                Binary::Xor => |a, b| a ^ b,
                _ => |a, b| a == b,
            };
            Data::Bool(zip((x, a), (y, b), shape, f))
        }
        // Powers alone have operands that are kept differently.
        _ => {
            let (x, y) = (first.to_f64(), second.to_f64());
            let powers = zip((&x, a), (&y, b), shape, f64::powf);
            let powers = Tensor::made(Element::F64, output.shape.clone(), Data::F64(powers));
            return Ok(cast(&powers, output));
        }
    };
    Ok(Tensor::made(output.element, output.shape.clone(), data))
}

/// Brings floats into a range.
pub(super) fn clip(low: f64, high: f64, input: &Tensor, output: &Type) -> Tensor {
    // Not `clamp`, which panics where the range is empty; the upper bound wins then.
    let f = |x: f64| least(greatest(x, low), high);
    let data = match input.data() {
        Data::F32(values) => Data::F32(values.iter().map(|&v| f(f64::from(v)) as f32).collect()),
        _ => Data::F64(input.to_f64().into_iter().map(f).collect()),
    };
    Tensor::made(output.element, output.shape.clone(), data)
}

/// Converts elements: integers modulo two to the new width, floats without their fraction.
pub(super) fn cast(input: &Tensor, output: &Type) -> Tensor {
    let to = output.element;
    let whole = |v: &f64| match *v {
        // A number below 0 as its two's complement, as for signed ones.
        v if to == Element::U64 && v >= 0.0 => v as u64 as i64,
        v => v as i64,
    };
    let data = match (input.data(), to) {
        (Data::Int(values), to) if to.is_integer() => Data::Int(values.clone()),
        (Data::F32(values), Element::F16 | Element::BF16 | Element::F32) => {
            Data::F32(values.clone())
        }
        (_, Element::Bool) => Data::Bool(input.to_f64().iter().map(|&v| v != 0.0).collect()),
        (Data::Bool(values), to) if to.is_integer() => {
            Data::Int(values.iter().map(|&v| i64::from(v)).collect())
        }
        (_, to) if to.is_integer() => Data::Int(input.to_f64().iter().map(whole).collect()),
        (_, Element::F64) => Data::F64(input.to_f64()),
        // Rounded once.
        (Data::Int(_), _) => {
            let values = input.to_integers().unwrap_or_default();
            Data::F32(values.into_iter().map(|v| v as f32).collect())
        }
        _ => Data::F32(input.to_f64().iter().map(|&v| v as f32).collect()),
    };
    Tensor::made(output.element, output.shape.clone(), data)
}

/// Chooses by a condition.
pub(super) fn select(condition: &Tensor, yes: &Tensor, no: &Tensor, output: &Type) -> Tensor {
    let shape = &output.shape[..];
    let chosen = condition.as_bools().unwrap_or_default();
    let strides = [condition, yes, no].map(|tensor| broadcast_strides(tensor.shape(), shape));
    let strides = [&strides[0][..], &strides[1], &strides[2]];
    fn pick<T: Copy>(
        chosen: &[bool],
        (yes, no): (&[T], &[T]),
        shape: &[usize],
        strides: [&[isize]; 3],
    ) -> Vec<T> {
        let mut found = Vec::with_capacity(shape.iter().product());
        walk(shape, strides, [0; 3], |[c, y, n]| {
            found.push(if chosen[c] { yes[y] } else { no[n] });
        });
        found
    }
    let data = map_data!(yes.data(), no.data(), |y, n| pick(
        chosen,
        (y, n),
        shape,
        strides
    ));
    Tensor::made(output.element, output.shape.clone(), data)
}
