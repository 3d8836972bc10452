//! Random programs, for tests that compare two ways to run them. Any seed gives a program that can be, with
//! inputs for it.

pub mod bounds;
mod choices;
mod cook;
mod functions;
mod random;

use crate::element::{Bits, Fixed, FixedWord, Integer, Number, Signed, Unsigned};
use crate::lower::Sharing;
use crate::{Computation, InputError, Inputs, ProgramError, Secret, Tensor, Window};
pub use cook::Recipe;
use cook::{Cook, Pooled};

impl Recipe {
    /// The program and inputs for it.
    ///
    /// # Errors
    /// None, unless this crate is wrong.
    pub fn cook(&self) -> Result<(Computation, Inputs), ProgramError> {
        let (program, inputs) = self.cooked(true)?;
        match program.simulate(&inputs) {
            // A bit is as it is required, or the other way round.
            Err(InputError::Unmet { .. }) => self.cooked(false),
            _ => Ok((program, inputs)),
        }
    }

    fn cooked(&self, required: bool) -> Result<(Computation, Inputs), ProgramError> {
        let mut cook = Cook::new(*self);
        for _ in 0..self.operations {
            cook.operation();
        }
        cook.require(required);
        cook.open_all();
        Ok((cook.program.finish()?, cook.inputs))
    }
}

impl Cook {
    /// At times, something is required: that a bit is `required`.
    fn require(&mut self, required: bool) {
        if self.below(4) > 0 {
            return;
        }
        let value: Secret<bool> = self.any();
        let bit = value.flatten().all(0).eq(required);
        self.program.require(&bit);
    }

    fn operation(&mut self) {
        if self.recipe.functions && self.yes() {
            return match self.below(8) {
                0 | 1 => self.on_functions::<i16, 6>(),
                2..5 => self.on_functions::<i32, 12>(),
                5 | 6 => self.on_functions::<i64, 20>(),
                _ => self.on_functions::<i128, 40>(),
            };
        }
        match self.below(17) {
            0 => self.on_bools(),
            1 => self.on_unsigned::<u8>(),
            2 => self.on_unsigned::<u16>(),
            3 => self.on_unsigned::<u32>(),
            4 => self.on_unsigned::<u64>(),
            5 => self.on_unsigned::<u128>(),
            6 => self.on_signed_integer::<i8>(),
            7 => self.on_signed_integer::<i16>(),
            8 => self.on_signed_integer::<i32>(),
            9 => self.on_signed_integer::<i64>(),
            10 => self.on_signed_integer::<i128>(),
            11 => self.on_fixed::<i16, 6>(),
            12 => self.on_fixed::<i32, 12>(),
            13 => self.on_fixed::<i64, 20>(),
            14 => self.on_fixed::<i128, 40>(),
            15 => self.on_loops(),
            _ => self.on_choices(),
        }
    }

    fn on_unsigned<T: Unsigned + Pooled>(&mut self) {
        match self.below(6) {
            0 => {
                let value: Secret<T> = self.any();
                self.keep(value.sqrt());
            }
            1 => {
                let (table, _) = self.with_axis::<i32>();
                let places: Secret<T> = self.any();
                let places = if self.yes() {
                    places % T::decode(8)
                } else {
                    places
                };
                self.keep(places.look_up(&table));
            }
            2 => {
                let value: Secret<i64> = self.any();
                let by: Secret<T> = self.fitting(value.shape());
                let by = by % T::decode(70);
                let shifted = match self.below(3) {
                    0 => value << &by,
                    1 => value >> &by,
                    _ => value.rotate_left_by(&by),
                };
                self.keep(shifted);
            }
            _ => self.on_integer::<T>(),
        }
    }

    fn on_signed_integer<T: Signed + Integer + Pooled>(&mut self) {
        match self.below(4) {
            0 => self.on_signed::<T>(),
            _ => self.on_integer::<T>(),
        }
    }

    fn on_signed<T: Signed + Pooled>(&mut self) {
        let value: Secret<T> = self.any();
        let made = if self.yes() { -value } else { value.abs() };
        self.keep(made);
    }

    fn on_fixed<W: FixedWord + Pooled, const F: u32>(&mut self)
    where
        Fixed<W, F>: Pooled,
    {
        match self.below(7) {
            6 => {
                let value: Secret<Fixed<W, F>> = self.any();
                let other: Secret<Fixed<W, F>> = self.fitting(value.shape());
                self.keep(value / other);
            }
            0 => self.on_signed::<Fixed<W, F>>(),
            1 => {
                let value: Secret<Fixed<W, F>> = self.any();
                let floor = self.yes();
                self.keep(if floor { value.floor() } else { value.raw() });
            }
            2 => {
                let value: Secret<i16> = self.any();
                self.keep(value.to_fixed::<W, F>());
            }
            _ => self.on_number::<Fixed<W, F>>(),
        }
    }

    fn on_integer<T: Integer + Pooled>(&mut self) {
        let value: Secret<T> = self.any();
        let by = self.below(T::TYPE.bits() as usize + 2) as u32;
        match self.below(15) {
            0 => {
                let other: Secret<T> = self.fitting(value.shape());
                let quotient = self.yes();
                self.keep(if quotient {
                    value / other
                } else {
                    value % other
                });
            }
            1 => self.keep(value << by),
            2 => self.keep(value >> by),
            3 => self.keep(value.rotate_left(by)),
            4 => self.keep(value.count_ones()),
            5 => self.keep(value.leading_zeros()),
            6 => {
                let (value, axis) = self.with_axis::<T>();
                self.keep(value.product(axis));
            }
            7 => self.casts(&value),
            8 => self.on_bits::<T>(),
            _ => self.on_number::<T>(),
        }
    }

    fn casts<T: Integer>(&mut self, value: &Secret<T>) {
        match self.below(8) {
            0 => self.keep(value.cast::<u8>()),
            1 => self.keep(value.cast::<i16>()),
            2 => self.keep(value.cast::<u32>()),
            3 => self.keep(value.cast::<i32>()),
            4 => self.keep(value.cast::<u64>()),
            5 => self.keep(value.cast::<i64>()),
            6 => self.keep(value.cast::<u128>()),
            _ => self.keep(value.cast::<i128>()),
        }
    }

    fn on_bits<T: Bits + Pooled>(&mut self) {
        let value: Secret<T> = self.any();
        let other: Secret<T> = self.fitting(value.shape());
        let (row, axis) = self.with_axis::<T>();
        let made = match self.below(7) {
            0 => value & other,
            1 => value | other,
            2 => value ^ other,
            3 => !value,
            4 => row.all(axis),
            5 => row.any(axis),
            _ => row.parity(axis),
        };
        self.keep(made);
    }

    fn on_number<T: Number + Pooled>(&mut self) {
        let value: Secret<T> = self.any();
        let other: Secret<T> = self.fitting(value.shape());
        let (row, axis) = self.with_axis::<T>();
        let filled = !row.shape().axes().contains(&0);
        let last = row.shape().axes()[row.rank() - 1];
        match self.below(22) {
            0..3 => self.keep(value + other),
            3..5 => self.keep(value - other),
            5..8 => self.keep(value * other),
            8 => self.keep(value.square()),
            9 => self.keep(value.times(3)),
            10 => self.keep(value.lt(other)),
            11 => self.keep(value.ge(other)),
            12 => self.keep(value.min(other)),
            13 => self.keep(value.max(other)),
            14 => self.keep(row.sum(axis)),
            15 if filled => {
                let least = self.yes();
                self.keep(if least {
                    row.least(axis)
                } else {
                    row.greatest(axis)
                });
            }
            16 if filled => {
                let (number, place) = match self.yes() {
                    true => row.min_with_place(),
                    false => row.max_with_place(),
                };
                self.keep(number);
                self.keep(place);
            }
            17 => self.keep(row.prefix_sums(axis)),
            18 => {
                let keep = 1 + self.below(last.max(1));
                let along = row.lt(self.element::<T>());
                let made = match last {
                    0 => (row.sort(), along),
                    _ if self.yes() => row.top_with(keep, &along),
                    _ => row.sort_with(&along),
                };
                self.keep(made.0);
                self.keep(made.1);
                if last > 0 && self.yes() {
                    let few = row.lt(self.element::<T>()).untyped();
                    let keys = [(&few, self.yes()), (&row.untyped(), self.yes())];
                    let sorted = Tensor::sort_by(&keys, &[&few]);
                    self.keep(sorted[1].typed::<T>());
                    self.keep(sorted[2].typed::<bool>());
                }
            }
            19 => {
                let other: Secret<T> = self.fitting(row.shape());
                self.keep(row.dot(other));
            }
            20 if self.yes() => {
                // Images of one row, which are the filters too, or a part of them.
                let [outer, inner] = [row.elements() / last.max(1), last];
                let image = row.reshape([1, 1, outer, inner]);
                let size = [outer, inner].map(|length| length.min(2));
                let filter = image.slice(2, ..size[0]).slice(3, ..size[1]);
                let window = Window {
                    stride: [1 + self.below(2), 1],
                    padding: [[self.below(2), 0], [0, self.below(3)]],
                    ..Window::default()
                };
                if outer > 0 && inner > 0 {
                    self.keep(image.convolve(filter, window).flatten());
                }
            }
            20 => {
                let left = row.reshape([row.elements() / last.max(1), last]);
                self.keep(left.matmul(left.transpose()));
            }
            _ => self.on_any::<T>(),
        }
    }

    /// Operators on all types.
    fn on_any<T: Pooled>(&mut self) {
        let value: Secret<T> = self.any();
        let other: Secret<T> = self.fitting(value.shape());
        let (row, axis) = self.with_axis::<T>();
        let length = row.shape().axes()[axis];
        match self.below(10) {
            0 => self.keep(value.eq(other)),
            1 => self.keep(value.ne(other)),
            2..5 => {
                let both = value.shape().broadcast(other.shape()).unwrap_or_default();
                let condition: Secret<bool> = self.fitting(&both);
                self.keep(condition.select(value, other));
            }
            5 => self.keep(row.transpose()),
            6 if length > 0 => {
                let from = self.below(length);
                self.keep(row.slice(axis, from..));
            }
            7 if length > 0 => {
                let places = [self.below(length), self.below(length)];
                self.keep(row.pick(axis, &places).join(&row, axis));
            }
            8 => self.keep(row.reverse(axis).flatten()),
            _ => {
                let mix = self.recipe.mix;
                let sharing = match (self.yes(), mix.has_several()) {
                    (true, _) => mix.ring(),
                    (false, false) => mix.bits(),
                    (false, true) => {
                        let all: Vec<Sharing> = mix.all_bits().collect();
                        all[self.below(all.len())]
                    }
                };
                self.keep(value.to(sharing));
            }
        }
    }

    fn on_bools(&mut self) {
        let value: Secret<bool> = self.any();
        match self.below(5) {
            0 => self.keep(value.cast::<u16>()),
            1 => self.keep(value.cast::<i64>()),
            2 => {
                let (row, axis) = self.with_axis::<bool>();
                self.keep(row.count(axis));
            }
            3 => self.on_any::<bool>(),
            _ => self.on_bits::<bool>(),
        }
    }

    fn on_loops(&mut self) {
        let times = self.below(4);
        match self.below(3) {
            0 => {
                let start: Secret<u32> = self.any();
                let around: Secret<u32> = self.any();
                let scalar = around.flatten().slice(0, ..around.elements().min(1)).sum(0);
                let (sum, flag) = (start.clone(), start.lt(7));
                let state = self
                    .program
                    .repeat(times, (sum, flag), |_, turn, (sum, flag)| {
                        let next = &sum * &scalar + turn.number();
                        let flag = flag ^ next.gt(&sum);
                        (flag.select(&next, sum - 1), flag)
                    });
                self.keep(state.0);
                self.keep(state.1);
            }
            1 => {
                let (rows, _) = self.with_axis::<i64>();
                let around: Secret<i64> = self.any();
                let scale = around.sum_all();
                let made = self.program.map(rows, |p, row| {
                    let start = row.sum_all();
                    let power = p.repeat(times, start, |_, _, x| x.square() + &scale);
                    row.min(&scale) * power
                });
                self.keep(made);
            }
            _ => {
                let (rows, _) = self.with_axis::<u16>();
                let count = rows.shape().axes()[0];
                let start = self.program.constant(self.random.0 as u16);
                let state = self.program.repeat(count, start, |_, place, best| {
                    let row = rows.row(place).sum_all();
                    row.max(&best) ^ (best >> 1)
                });
                self.keep(state);
            }
        }
    }
}
