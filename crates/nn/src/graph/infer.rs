//! Infers the shapes and elements that primitive operators make of others: the one place where this is checked.

use super::Type;
use super::fit::{broadcast, same, too_many};
use super::linear::{conv, product, transposed};
use super::op::{Binary, Op, Unary};
use crate::error::Fault;
use crate::tensor::{Element, MAX_RANK, elements};

/// The types of what an operator makes of operands of these types.
pub(crate) fn infer(op: &Op, inputs: &[&Type]) -> Result<Vec<Type>, Fault> {
    let (least, most) = arity(op);
    if inputs.len() < least || inputs.len() > most {
        let index = inputs.len().min(least);
        return Err(Fault::InputMissing { index });
    }
    if let Op::TopK { count, axis, .. } = op {
        number(inputs[0])?;
        let mut shape = inputs[0].shape.clone();
        let size = axis_of(&shape, *axis)?;
        if *count > size {
            return Err(Fault::number(
                "number of elements to choose",
                *count as i64,
                "at most the size of its axis",
            ));
        }
        shape[*axis] = *count;
        let places = Type {
            element: Element::I64,
            shape: shape.clone(),
        };
        let element = inputs[0].element;
        return Ok(vec![Type { element, shape }, places]);
    }
    let (element, shape) = one(op, inputs)?;
    if shape.len() > MAX_RANK {
        let found = shape.len();
        return Err(Fault::Rank { found });
    }
    if elements(&shape).is_none() {
        let limit = usize::MAX;
        return Err(Fault::TooLarge { shape, limit });
    }
    Ok(vec![Type { element, shape }])
}

/// The least and greatest number of operands.
fn arity(op: &Op) -> (usize, usize) {
    match op {
        Op::Binary(_) | Op::Gather { .. } => (2, 2),
        Op::Select => (3, 3),
        Op::MatMul | Op::Conv { .. } | Op::ConvTranspose { .. } => (2, 3),
        Op::Concat { .. } => (1, usize::MAX),
        _ => (1, 1),
    }
}

fn one(op: &Op, inputs: &[&Type]) -> Result<(Element, Vec<usize>), Fault> {
    let Type { element, shape } = inputs[0];
    let (element, rank) = (*element, shape.len());
    let mut shape = shape.clone();
    Ok(match op {
        Op::Unary(unary) => (of_unary(*unary, inputs[0])?, shape),
        Op::Binary(binary) => {
            let shape = broadcast(&shape, &inputs[1].shape)?;
            (of_binary(*binary, element, inputs[1].element)?, shape)
        }
        Op::Clip { .. } => (float(inputs[0])?, shape),
        Op::Cast { to } => (*to, shape),
        Op::Select => {
            if element != Element::Bool {
                return Err(wrong(element, "bool as its condition"));
            }
            same(inputs[1], inputs[2])?;
            let chosen = broadcast(&inputs[1].shape, &inputs[2].shape)?;
            (inputs[1].element, broadcast(&shape, &chosen)?)
        }
        Op::MatMul => {
            number(inputs[0])?;
            same(inputs[0], inputs[1])?;
            let product = product(&shape, &inputs[1].shape)?;
            if let Some(bias) = inputs.get(2) {
                same(inputs[0], bias)?;
                if broadcast(&product, &bias.shape)? != product {
                    return Err(Fault::shape(
                        "bias",
                        &bias.shape,
                        format!("at most {product:?}"),
                    ));
                }
            }
            (element, product)
        }
        Op::Conv { window, groups } => (number(inputs[0])?, conv(window, *groups, inputs)?),
        Op::ConvTranspose {
            window,
            extra,
            groups,
        } => {
            let shape = transposed(window, extra, *groups, inputs)?;
            (number(inputs[0])?, shape)
        }
        Op::MaxPool(window) | Op::AveragePool { window, .. } => {
            number(inputs[0])?;
            let places = window.places(&shape)?;
            shape.splice(2.., places);
            (element, shape)
        }
        Op::Reduce { axes, .. } => {
            for &axis in axes {
                axis_of(&shape, axis)?;
                shape[axis] = 1;
            }
            (number(inputs[0])?, shape)
        }
        Op::Arg { axis, .. } => {
            number(inputs[0])?;
            if axis_of(&shape, *axis)? == 0 {
                return Err(Fault::shape("operand", &shape, "elements along its axis"));
            }
            shape[*axis] = 1;
            (Element::I64, shape)
        }
        Op::CumSum { axis, .. } => {
            axis_of(&shape, *axis)?;
            (number(inputs[0])?, shape)
        }
        Op::Softmax { axis } | Op::LogSoftmax { axis } | Op::Normalize { axis, .. } => {
            axis_of(&shape, *axis)?;
            (float(inputs[0])?, shape)
        }
        Op::Reshape { shape: new } => {
            if elements(new) != elements(&shape) {
                return Err(Fault::shape(
                    "operand",
                    &shape,
                    format!("as many elements as {new:?}"),
                ));
            }
            (element, new.clone())
        }
        Op::Transpose { axes } => {
            let mut sorted = axes.clone();
            sorted.sort_unstable();
            if sorted.iter().copied().ne(0..rank) {
                return Err(Fault::shape(
                    "operand",
                    &shape,
                    format!("the axes {axes:?}"),
                ));
            }
            (element, axes.iter().map(|&axis| shape[axis]).collect())
        }
        Op::Concat { axis } => (element, joined(inputs, *axis)?),
        Op::Slice {
            starts,
            steps,
            lengths,
        } => {
            for axis in 0..rank {
                let last = lengths[axis].saturating_sub(1) as i128 * i128::from(steps[axis]);
                let last = starts[axis] as i128 + last;
                let inside = starts[axis] < shape[axis] && (0..shape[axis] as i128).contains(&last);
                if lengths[axis] > 0 && !inside {
                    return Err(Fault::Index {
                        index: i64::try_from(last).unwrap_or(i64::MAX),
                        size: shape[axis],
                    });
                }
            }
            (element, lengths.clone())
        }
        Op::Gather { axis } => {
            if !inputs[1].element.is_integer() {
                return Err(wrong(inputs[1].element, "integers as indices"));
            }
            axis_of(&shape, *axis)?;
            shape.splice(*axis..=*axis, inputs[1].shape.iter().copied());
            (element, shape)
        }
        Op::Expand { shape: new } => {
            if broadcast(&shape, new)? != *new {
                return Err(Fault::shape("operand", &shape, format!("at most {new:?}")));
            }
            (element, new.clone())
        }
        Op::Pad { before, after, .. } => {
            for axis in 0..rank {
                let sum = shape[axis].checked_add(before[axis]);
                let sum = sum.and_then(|sum| sum.checked_add(after[axis]));
                shape[axis] = sum.ok_or_else(|| too_many(&inputs[0].shape))?;
            }
            (element, shape)
        }
        Op::TopK { .. } => unreachable!("it has two outputs"),
    })
}

fn joined(inputs: &[&Type], axis: usize) -> Result<Vec<usize>, Fault> {
    let mut shape = inputs[0].shape.clone();
    axis_of(&shape, axis)?;
    for input in &inputs[1..] {
        same(inputs[0], input)?;
        let mut other = input.shape.clone();
        if other.len() == shape.len() {
            other[axis] = shape[axis];
        }
        if other != shape {
            let expected = format!("{:?} but for axis {axis}", inputs[0].shape);
            return Err(Fault::shape("operand", &input.shape, expected));
        }
        let sum = shape[axis].checked_add(input.shape[axis]);
        shape[axis] = sum.ok_or_else(|| too_many(&input.shape))?;
    }
    Ok(shape)
}

fn of_unary(unary: Unary, ty: &Type) -> Result<Element, Fault> {
    match unary {
        Unary::Not if ty.element == Element::Bool => Ok(Element::Bool),
        Unary::Not => Err(wrong(ty.element, "bool")),
        Unary::IsNan => float(ty).map(|_| Element::Bool),
        Unary::Neg | Unary::Abs | Unary::Sign | Unary::Relu => number(ty),
        _ => float(ty),
    }
}

fn of_binary(binary: Binary, first: Element, second: Element) -> Result<Element, Fault> {
    let of_numbers = binary != Binary::Equal;
    match binary {
        Binary::And | Binary::Or | Binary::Xor => {
            for element in [first, second] {
                if element != Element::Bool {
                    return Err(wrong(element, "bool"));
                }
            }
            return Ok(Element::Bool);
        }
        Binary::Pow if second != Element::Bool => {}
        _ if first != second => return Err(Fault::Elements { first, second }),
        _ => {}
    }
    if first == Element::Bool && of_numbers {
        return Err(wrong(first, "numbers"));
    }
    Ok(match binary {
        Binary::Equal | Binary::Less | Binary::LessOrEqual => Element::Bool,
        _ => first,
    })
}

fn number(ty: &Type) -> Result<Element, Fault> {
    match ty.element {
        Element::Bool => Err(wrong(Element::Bool, "numbers")),
        element => Ok(element),
    }
}

fn float(ty: &Type) -> Result<Element, Fault> {
    match ty.element.is_float() {
        true => Ok(ty.element),
        false => Err(wrong(ty.element, "floats")),
    }
}

fn axis_of(shape: &[usize], axis: usize) -> Result<usize, Fault> {
    shape.get(axis).copied().ok_or(Fault::Axis {
        axis: axis as i64,
        rank: shape.len(),
    })
}

fn wrong(found: Element, supported: &'static str) -> Fault {
    Fault::Element { found, supported }
}
