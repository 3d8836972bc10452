//! Elements of types, and values of several elements compared.

use madrigal_program::{Array, Program, Shape, Tensor, Type};

use crate::rows::Combine;

/// Public elements.
pub(in crate::lower) fn codes_of(p: &mut Program, element: Type, codes: Vec<u128>) -> Tensor {
    let shape = Shape::checked(&[codes.len()]).expect("a length in memory");
    let array = Array::from_codes(element, &shape, codes.into_iter());
    p.tensor_constant(array.expect("as many elements"))
}

pub(in crate::lower) const fn mask(element: Type) -> u128 {
    u128::MAX >> (128 - element.bits())
}

/// The least element of a type, or the greatest.
pub(in crate::lower) fn end(element: Type, least: bool) -> u128 {
    let sign = if element.is_signed() {
        1 << (element.bits() - 1)
    } else {
        0
    };
    if least { sign } else { mask(element) ^ sign }
}

/// The lesser of two values of several elements, or the greater.
pub(in crate::lower) fn extreme(one: &[Tensor], other: &[Tensor], greatest: bool) -> Vec<Tensor> {
    if let ([one], [other]) = (one, other) {
        return vec![if greatest {
            one.max(other)
        } else {
            one.min(other)
        }];
    }
    let mut less: Option<Tensor> = None;
    for (a, b) in one.iter().zip(other).rev() {
        let here = a.less(b);
        less = Some(match less {
            Some(less) => here.or(&a.equals(b).and(&less)),
            None => here,
        });
    }
    let less = less.expect("an element");
    let take_one = if greatest { less.not() } else { less };
    one.iter()
        .zip(other)
        .map(|(a, b)| take_one.select(a, b))
        .collect()
}

/// All rows combined in pairs, down to one.
pub(in crate::lower) fn reduce(mut all: Vec<Tensor>, combine: Combine<'_>) -> Vec<Tensor> {
    loop {
        let rows = all[0].shape().elements();
        if rows == 1 {
            return all;
        }
        let half = rows / 2;
        let part = |from: usize, to: usize| -> Vec<Tensor> {
            all.iter().map(|tensor| tensor.slice(0, from..to)).collect()
        };
        let mut made = combine(&part(0, half), &part(half, 2 * half));
        if rows % 2 == 1 {
            let rest = part(rows - 1, rows);
            made = made
                .iter()
                .zip(&rest)
                .map(|(one, rest)| one.join(rest, 0))
                .collect();
        }
        all = made;
    }
}
