//! Functions of networks at random, and products whose factors are small for a reason.

use super::cook::{Cook, MOST as MOST_ELEMENTS, Pooled};
use crate::element::{Fixed, FixedWord, Plain, Type};
use crate::ir::Rounding;
use crate::{Secret, Tensor};

/// The most elements that a function of a row is computed of: each takes a circuit of its own.
const MOST: usize = 16;

impl Cook {
    pub(super) fn on_functions<W: FixedWord + Pooled, const F: u32>(&mut self)
    where
        Fixed<W, F>: Pooled,
    {
        match self.below(8) {
            0 => {
                let made = self.function::<W, F>();
                self.keep(made);
            }
            1 => self.on_rows::<W, F>(),
            2 => {
                let value: Secret<Fixed<W, F>> = self.any();
                let other: Secret<Fixed<W, F>> = self.fitting(value.shape());
                let made = match self.below(5) {
                    0 => value.relu(),
                    1 => value.leaky_relu(0.1),
                    2 => value.clip(-1.25, 2.5),
                    3 if value.elements() <= MOST => value.divided_by_secret(&other),
                    _ => value.sign(),
                };
                self.keep(made);
            }
            3 => {
                let value: Secret<Fixed<W, F>> = self.any();
                let divisor = self.random.one_of(&[3.0, -0.7, 16.0, 2.0, 100.0]);
                self.keep(value.divided_by(divisor));
            }
            4 | 5 => {
                // A product of something small with something that was cut off, and of that again.
                let small = self.function::<W, F>();
                let value: Secret<Fixed<W, F>> = self.any();
                let other: Secret<Fixed<W, F>> = self.any();
                let large = match self.below(3) {
                    0 => value.square(),
                    _ if self.fits(&value, &other) => value * other,
                    _ => other.square(),
                };
                if self.fits(&small, &large) {
                    let product = small * large;
                    self.keep(product.clone());
                    self.keep(product * Fixed::from_raw(W::decode(41)));
                }
            }
            _ => self.on_tensors::<W, F>(),
        }
    }

    fn fits<T: Plain>(&self, a: &Secret<T>, b: &Secret<T>) -> bool {
        let both = a.shape().broadcast(b.shape());
        both.is_some_and(|both| both.elements() <= MOST_ELEMENTS)
    }

    fn function<W: FixedWord + Pooled, const F: u32>(&mut self) -> Secret<Fixed<W, F>>
    where
        Fixed<W, F>: Pooled,
    {
        let mut value: Secret<Fixed<W, F>> = self.any();
        if value.elements() > MOST {
            value = value.flatten().slice(0, ..MOST);
        }
        match self.below(12) {
            0 | 1 => value.tanh(),
            2 => value.erf(),
            3 | 4 => value.ln(),
            5 => value.sigmoid(),
            6 => value.gelu(),
            7 => value.softplus(),
            8 => value.exp(),
            9 => value.reciprocal(),
            10 => value.sqrt(),
            _ => value.inverse_sqrt(),
        }
    }

    fn on_rows<W: FixedWord + Pooled, const F: u32>(&mut self)
    where
        Fixed<W, F>: Pooled,
    {
        let (row, axis) = self.with_axis::<Fixed<W, F>>();
        if row.elements() > MOST || row.shape().axes().contains(&0) {
            return;
        }
        let made = match self.below(4) {
            0 => row.softmax(axis),
            1 => row.log_softmax(axis),
            2 => row.layer_norm(axis, 0.25),
            _ => row.mean(axis),
        };
        self.keep(made);
    }

    /// Tensors of a type that is told when the program runs: wide products, cut off anywhere.
    fn on_tensors<W: FixedWord + Pooled, const F: u32>(&mut self)
    where
        Fixed<W, F>: Pooled,
    {
        let element = Fixed::<W, F>::TYPE;
        let value: Secret<Fixed<W, F>> = self.any();
        let other: Secret<Fixed<W, F>> = self.fitting(value.shape());
        let wide = match Type::fixed(2 * element.bits(), F) {
            Some(wide) if self.yes() => wide,
            _ => element,
        };
        let prepared = |cook: &mut Self, value: &Secret<Fixed<W, F>>| -> Tensor {
            let value = value.untyped().cast(wide);
            match cook.below(5) {
                0 => value.relu(),
                1 => value.abs(),
                2 => value.tanh(),
                _ => value,
            }
        };
        let (value, other) = (prepared(self, &value), prepared(self, &other));
        let product = match self.below(4) {
            0 => value.square(),
            1 => value.times(&other).relu(),
            _ => value.times(&other),
        };
        let by = 1 + self.below(2 * F as usize) as u32;
        let cut = product.truncate(by, Rounding::Exact);
        // The point is put where the type has it; what lies between is as it comes.
        let made = match self.yes() {
            true => cut.cast(element),
            false => cut.times(&other).cast(element),
        };
        self.keep(made.typed::<Fixed<W, F>>());
    }
}
