//! Random conditionals on secrets, in each other.

use super::cook::Cook;
use crate::{Program, Secret};

/// Material that branches are made of.
struct Material {
    values: Vec<Secret<i32>>,
    index: Secret<u8>,
    state: u64,
}

type NumberAndFlag = (Secret<i32>, Secret<bool>);

impl Cook {
    pub(super) fn on_choices(&mut self) {
        let first: Secret<i32> = self.any();
        let mut shape = first.shape().clone();
        let mut values = vec![first];
        for _ in 0..2 {
            let value: Secret<i32> = self.fitting(&shape);
            shape = shape.broadcast(value.shape()).unwrap_or(shape);
            values.push(value);
        }
        let index: Secret<u8> = self.fitting(&shape);
        let index = if self.yes() { index % 7 } else { index };
        let depth = self.below(3);
        let mut material = Material {
            values,
            index,
            state: self.half(),
        };
        let (number, flag) = material.choice(&mut self.program, depth);
        self.keep(number);
        self.keep(flag);
    }
}

impl Material {
    fn below(&mut self, bound: usize) -> usize {
        let state = self.state.wrapping_mul(0x5851_f42d_4c95_7f2d);
        self.state = state.wrapping_add(0x1405_7b7e_f767_814f);
        (self.state >> 33) as usize % bound
    }

    fn any(&mut self) -> Secret<i32> {
        let at = self.below(self.values.len());
        self.values[at].clone()
    }

    fn choice(&mut self, p: &mut Program, depth: usize) -> NumberAndFlag {
        if self.below(2) == 0 {
            let condition = self.any().lt(self.any());
            // Both branches draw from one state, one after the other.
            let state = std::cell::RefCell::new(self);
            return p.if_secret(
                condition,
                |p| state.borrow_mut().branch(p, depth),
                |p| state.borrow_mut().branch(p, depth),
            );
        }
        // Those that hold others are fewer, or programs become large.
        let count = 1 + self.below(5 - 2 * depth);
        let index = self.index.clone();
        p.match_numbered(index, count, |p, _| self.branch(p, depth))
    }

    fn branch(&mut self, p: &mut Program, depth: usize) -> NumberAndFlag {
        let known = self.values.len();
        let mut made = self.any();
        for _ in 0..self.below(4) {
            let other = self.any();
            made = match self.below(14) {
                0 | 1 => made + other,
                2 => made * other,
                3 => made.min(other),
                4 => made / other,
                5 => (made ^ 12_345) >> 3,
                6 => -(made & other),
                7 => made.lt(&other).select(&other, made),
                8 => made.cast::<i16>().cast(),
                9 => p.stack(&[made.clone(), made.clone(), -made], 0).sum(0),
                10 => made.square() - 7,
                11 => made + other.reshape([other.elements()]).sum(0),
                12 => {
                    let start = p.constant(1i32);
                    made + p.repeat(2, start, |_, turn, x| x * 3 + turn.number().cast::<i32>())
                }
                _ => made.cast::<u32>().sqrt().cast(),
            };
            self.values.push(made.clone());
        }
        let mut flag = made.gt(17);
        if depth > 0 {
            let inner = self.choice(p, depth - 1);
            made = made - inner.0;
            flag = flag ^ inner.1;
        }
        // Values that a branch made stay in it.
        self.values.truncate(known);
        (made, flag)
    }
}
