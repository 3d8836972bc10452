//! Operators that combine all elements along axes.

use madrigal_program::{Array, Plain, Tensor as Secret, Type};

use super::forms::Form;
use super::lowering::Lowering;
use super::stop::{Lowered, cannot};
use crate::graph::{Reduction, ValueId};

impl Lowering<'_> {
    /// Reduced axes stay, with length 1.
    pub(super) fn reduce(&mut self, by: Reduction, axes: &[usize], x: ValueId) -> Lowered<Form> {
        let mut kept = self.shape(x).to_vec();
        let count: usize = axes.iter().map(|&axis| kept[axis]).product();
        axes.iter().for_each(|&axis| kept[axis] = 1);
        let along = |x: &Secret, f: &dyn Fn(&Secret, usize) -> Secret| {
            let folded = axes.iter().rev().fold(x.clone(), |x, &axis| f(&x, axis));
            folded.reshape(&kept[..])
        };
        let form = self.forms.form(x)?;
        Ok(match (by, form) {
            (_, Form::Truth(_)) => return cannot("truth values are reduced in no way"),
            (Reduction::Sum, form) => form.map(|x| along(x, &|x, axis| x.sum(axis))),
            (Reduction::Mean, Form::Number(..)) => {
                let sum = along(&self.forms.number(x)?, &|x, axis| x.sum(axis));
                Form::Number(sum.divided_by(count.max(1) as f64), 0)
            }
            // In twice the bits, so that the sum has room.
            (Reduction::Mean, Form::Integer(x)) => {
                let (element, wide) = (x.element(), wider(x.element()));
                let count = self.forms.public(wide, count.max(1) as f64)?;
                let sum = along(&x.cast(wide), &|x, axis| x.sum(axis));
                Form::Integer(sum.over(&count).cast(element))
            }
            (Reduction::Prod, Form::Number(..)) => {
                let mut x = self.forms.number(x)?;
                for &axis in axes.iter().rev() {
                    x = self.factors(x, axis, self.format.number.fraction())?;
                }
                Form::Number(x.reshape(&kept[..]), 0)
            }
            (Reduction::Prod, Form::Integer(mut x)) => {
                for &axis in axes.iter().rev() {
                    x = self.factors(x, axis, 0)?;
                }
                Form::Integer(x.reshape(&kept[..]))
            }
            (Reduction::Max | Reduction::Min, _) if count == 0 => {
                return cannot("no element has neither a maximum nor a minimum");
            }
            (Reduction::Max, _) => self.cut(x)?.map(|x| along(x, &|x, axis| x.greatest(axis))),
            (Reduction::Min, _) => self.cut(x)?.map(|x| along(x, &|x, axis| x.least(axis))),
        })
    }

    /// Multiplies along an axis, which goes, two by two; `fraction` bits of each product are cut off.
    fn factors(&mut self, mut x: Secret, axis: usize, fraction: u32) -> Lowered<Secret> {
        loop {
            let length = x.shape().axes()[axis];
            match length {
                0 => return cannot("a product of no elements"),
                1 => return Ok(x.at(axis, 0)),
                _ => {}
            }
            let half = length / 2;
            let product = x.slice(axis, ..half).times(&x.slice(axis, half..2 * half));
            let product = product.truncate(fraction, self.format.rounding);
            x = match length % 2 {
                0 => product,
                _ => {
                    let rest = x.slice(axis, 2 * half..);
                    Secret::concat(&[&product, &rest], axis).unwrap_or(product)
                }
            };
        }
    }

    pub(super) fn softmax(&mut self, axis: usize, log: bool, x: ValueId) -> Lowered<Form> {
        let x = self.forms.number(x)?;
        let made = match log {
            true => x.log_softmax(axis),
            false => x.softmax(axis),
        };
        Ok(Form::Number(made, 0))
    }

    /// Over all axes from `axis` on.
    pub(super) fn normalised(
        &mut self,
        axis: usize,
        epsilon: f64,
        center: bool,
        x: ValueId,
    ) -> Lowered<Form> {
        let shape = self.shape(x);
        let count: usize = shape[axis..].iter().product();
        let x = self.forms.number(x)?;
        let flat = x.reshape([&shape[..axis], &[count]].concat());
        let made = match center {
            true => flat.layer_norm(axis, epsilon),
            false => flat.rms_norm(axis, epsilon),
        };
        Ok(Form::Number(made.reshape(shape), 0))
    }

    pub(super) fn running_sums(
        &mut self,
        axis: usize,
        exclusive: bool,
        reverse: bool,
        x: ValueId,
    ) -> Lowered<Form> {
        let form = self.cut(x)?;
        let zero = self.forms.public(form.secret().element(), 0.0)?;
        Ok(form.map(|x| {
            let x = if reverse { x.reverse(axis) } else { x.clone() };
            let length = x.shape().axes()[axis];
            let x = match exclusive && length > 0 {
                true => x.slice(axis, ..length - 1).pad(axis, 1, 0, &zero),
                false => x,
            };
            let sums = x.prefix_sums(axis);
            if reverse { sums.reverse(axis) } else { sums }
        }))
    }

    /// The axis goes to the end and back: where elements along it are looked through.
    fn last(x: &Secret, axis: usize) -> (Secret, Vec<usize>) {
        let rank = x.shape().rank();
        let mut order: Vec<usize> = (0..rank).filter(|&one| one != axis).collect();
        order.push(axis);
        let mut back = vec![0; rank];
        for (place, &axis) in order.iter().enumerate() {
            back[axis] = place;
        }
        (x.permute(&order), back)
    }

    pub(super) fn extreme_place(
        &mut self,
        greatest: bool,
        axis: usize,
        last: bool,
        x: ValueId,
    ) -> Lowered<Form> {
        let mut kept = self.shape(x).to_vec();
        let length = std::mem::replace(&mut kept[axis], 1);
        let form = self.cut(x)?;
        let (moved, _) = Self::last(form.secret(), axis);
        let rank = kept.len();
        let moved = if last { moved.reverse(rank - 1) } else { moved };
        let [_, place] = match greatest {
            true => moved.max_with_place(),
            false => moved.min_with_place(),
        };
        let place = match last {
            true => {
                let end = self
                    .forms
                    .public(u32::TYPE, length.saturating_sub(1) as f64)?;
                end.minus(&place)
            }
            false => place,
        };
        Ok(Form::Integer(place.cast(i64::TYPE).reshape(&kept[..])))
    }

    pub(super) fn top(
        &mut self,
        count: usize,
        axis: usize,
        greatest: bool,
        x: ValueId,
    ) -> Lowered<[Form; 2]> {
        let length = self.shape(x)[axis];
        // A sorting network has about log2(n)^2 / 2 layers, each of which puts values and places in a new order, in two
        // lists of up to two places for each.
        let layers = (length.max(2).ilog2() as usize + 1).pow(2) / 2 + 1;
        self.forms.take_places(length.saturating_mul(4 * layers))?;
        let form = self.cut(x)?;
        let (moved, back) = Self::last(form.secret(), axis);
        let all: Vec<u32> = (0..length as u32).collect();
        let shape = madrigal_program::Shape::checked(&[length]);
        let Some(places) = shape.and_then(|shape| Array::of(&shape, &all)) else {
            return cannot("too many elements to put in order");
        };
        let places = self.forms.program.tensor_constant(places);
        let places = places.broadcast_to(moved.shape());
        let mut sorted = moved.sorted(&[&places], greatest, count);
        let (Some(places), Some(values)) = (sorted.pop(), sorted.pop()) else {
            return cannot("elements that cannot be put in order");
        };
        let places = places.cast(i64::TYPE).permute(&back);
        Ok([form.map(|_| values.permute(&back)), Form::Integer(places)])
    }
}

/// Integers of the same sign that sums of these have room in.
fn wider(element: Type) -> Type {
    match (element.is_signed(), element.bits()) {
        (true, ..=32) => i64::TYPE,
        (true, _) => i128::TYPE,
        (false, ..=32) => u64::TYPE,
        (false, _) => u128::TYPE,
    }
}
