//! Elements in other shapes and orders.

use madrigal_program::{Plain, Tensor as Secret};

use super::forms::Form;
use super::lowering::Lowering;
use super::stop::{Lowered, cannot};
use crate::graph::{Op, ValueId};

impl Lowering<'_> {
    pub(super) fn moved(&mut self, op: &Op, inputs: &[ValueId], out: &[usize]) -> Lowered<Form> {
        if let Op::Concat { axis } = op {
            let forms = self.forms.alike(inputs)?;
            let parts: Vec<&Secret> = forms.iter().map(Form::secret).collect();
            let Some(joined) = Secret::concat(&parts, *axis) else {
                return cannot("it joins nothing");
            };
            return Ok(forms[0].map(|_| joined));
        }
        let form = self.forms.form(inputs[0])?;
        Ok(match op {
            Op::Reshape { .. } => form.map(|x| x.reshape(out)),
            Op::Transpose { axes } => form.map(|x| x.permute(axes)),
            Op::Expand { .. } => form.map(|x| x.broadcast_to(out)),
            Op::Slice {
                starts,
                steps,
                lengths,
            } => {
                self.strides(self.shape(inputs[0]), steps, lengths)?;
                form.map(|x| sliced(x, starts, steps, lengths))
            }
            Op::Pad {
                before,
                after,
                value,
            } => {
                let form = self.cut(inputs[0])?;
                let fill = self.forms.public(form.secret().element(), *value)?;
                form.map(|x| {
                    let ends = before.iter().zip(after).enumerate();
                    ends.fold(x.clone(), |x, (axis, (before, after))| {
                        x.pad(axis, *before, *after, &fill)
                    })
                })
            }
            _ => unreachable!("{} moves no elements", op.name()),
        })
    }

    /// Takes the memory for lists of places that slices with steps become.
    fn strides(&self, shape: &[usize], steps: &[i64], lengths: &[usize]) -> Lowered<()> {
        for axis in (0..shape.len()).filter(|&axis| steps[axis] != 1 && lengths[axis] > 0) {
            let each: usize = shape[axis + 1..].iter().product();
            self.forms
                .take_places(lengths[axis].saturating_mul(1 + each))?;
        }
        Ok(())
    }

    pub(super) fn gather(&mut self, axis: usize, x: ValueId, places: ValueId) -> Lowered<Form> {
        let (shape, around) = (self.shape(x), self.shape(places));
        if let Some(places) = self.forms.constant(places) {
            let Some(indices) = places.as_ints() else {
                return cannot("its indices are no integers");
            };
            let length = shape[axis] as i64;
            // Places of rows become places of elements.
            let each: usize = shape[axis + 1..].iter().product();
            self.forms
                .take_places(indices.len().saturating_mul(1 + each))?;
            let wrapped = |index: i64| (if index < 0 { index + length } else { index }) as usize;
            let indices: Vec<usize> = indices.iter().map(|&index| wrapped(index)).collect();
            let axes = [&shape[..axis], around, &shape[axis + 1..]].concat();
            let form = self.forms.form(x)?;
            return Ok(form.map(|x| x.pick(axis, &indices).reshape(&axes[..])));
        }
        if axis != 0 {
            return cannot("secret places are looked up along the first axis alone");
        }
        let places = self.forms.integer(places)?.cast(i64::TYPE);
        let [zero, length] = [0.0, shape[0] as f64].map(|n| self.forms.public(places.element(), n));
        // Places below 0 count from the end.
        let wrapped = places.less(&zero?).select(&places.plus(&length?), &places);
        let form = self.cut(x)?;
        Ok(form.map(|table| wrapped.cast(u32::TYPE).find_in(table)))
    }
}

/// Takes, along each axis, the given number of elements at regular distances.
fn sliced(x: &Secret, starts: &[usize], steps: &[i64], lengths: &[usize]) -> Secret {
    let mut x = x.clone();
    for (axis, ((&start, &step), &length)) in starts.iter().zip(steps).zip(lengths).enumerate() {
        let whole = x.shape().axes()[axis];
        x = match step {
            _ if length == 0 => x.slice(axis, 0..0),
            1 if length == whole => x,
            1 => x.slice(axis, start..start + length),
            _ => {
                let place = |at: usize| (start as i64 + at as i64 * step) as usize;
                let places: Vec<usize> = (0..length).map(place).collect();
                x.pick(axis, &places)
            }
        };
    }
    x
}
