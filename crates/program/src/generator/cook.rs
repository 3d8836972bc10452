//! Values that random programs are made of.

use super::random::Random;
use crate::element::{Fixed, Plain};
use crate::lower::Mix;
use crate::{Client, Everyone, Holder, Inputs, Party, Program, Receivers, Secret, Shape};

/// Parameters of a random program.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Recipe {
    /// Everything else follows from this.
    pub seed: u64,
    /// Number of parties that compute.
    pub parties: usize,
    /// Operations, about.
    pub operations: usize,
    /// The mix, whose sharings conversions are written to.
    pub mix: Mix,
    /// Whether there are functions of networks too, and products that are cut off by other than their point.
    pub functions: bool,
}

/// The most elements of a value.
pub(super) const MOST: usize = 64;

type Small = Fixed<i16, 6>;
type Price = Fixed<i32, 12>;
type Fine = Fixed<i64, 20>;
type Vast = Fixed<i128, 40>;

/// A type of which a program has values.
pub(super) trait Pooled: Plain {
    fn pool(pools: &mut Pools) -> &mut Vec<Secret<Self>>;
}

macro_rules! pools {
    ($($name:ident: $element:ty,)*) => {
        #[derive(Default)]
        pub(super) struct Pools {
            $($name: Vec<Secret<$element>>,)*
        }

        $(impl Pooled for $element {
            fn pool(pools: &mut Pools) -> &mut Vec<Secret<Self>> {
                &mut pools.$name
            }
        })*

        impl Cook {
            /// Opens some values of each type, the last ones surely.
            pub(super) fn open_all(&mut self) {
                $(for value in std::mem::take(&mut self.pools.$name).into_iter().rev().take(3) {
                    let to = self.receivers();
                    self.program.open(value, to);
                })*
            }
        }
    };
}
pools! {
    bools: bool, u8s: u8, u16s: u16, u32s: u32, u64s: u64, u128s: u128,
    i8s: i8, i16s: i16, i32s: i32, i64s: i64, i128s: i128,
    smalls: Small, prices: Price, fines: Fine, vasts: Vast,
}

pub(super) struct Cook {
    pub(super) recipe: Recipe,
    pub(super) program: Program,
    pub(super) inputs: Inputs,
    pub(super) random: Random,
    pools: Pools,
}

impl Cook {
    pub(super) fn new(recipe: Recipe) -> Self {
        Self {
            recipe,
            program: Program::new(recipe.parties),
            inputs: Inputs::new(),
            random: Random(recipe.seed),
            pools: Pools::default(),
        }
    }

    pub(super) fn half(&mut self) -> u64 {
        self.random.half()
    }

    pub(super) fn below(&mut self, bound: usize) -> usize {
        self.random.below(bound)
    }

    pub(super) fn yes(&mut self) -> bool {
        self.random.yes()
    }

    /// An element: small, extreme, or any.
    pub(super) fn element<T: Plain>(&mut self) -> T {
        let word = self.random.word();
        let bits = T::TYPE.bits();
        let shift = self.below(bits as usize) as u32 + 128 - bits;
        T::decode(match self.below(5) {
            0 => word % 4,
            1 => (word % 3).wrapping_sub(1),
            2 => (1 << (bits - 1)) + word % 3 - 1,
            3 => word >> shift,
            _ => word,
        })
    }

    pub(super) fn shape(&mut self) -> Vec<usize> {
        let shapes: [&[usize]; 9] = [
            &[],
            &[1],
            &[3],
            &[5],
            &[2, 3],
            &[2, 1],
            &[4, 5],
            &[2, 2, 3],
            &[7],
        ];
        shapes[self.below(shapes.len())].to_vec()
    }

    /// A party, or at times a client.
    fn holder(&mut self) -> Holder {
        match self.below(4) {
            0 => Client::new(["clinic", "registry"][self.below(2)]).into(),
            _ => Party::new(self.below(self.recipe.parties)).into(),
        }
    }

    /// All parties, or some, with clients or without.
    fn receivers(&mut self) -> Vec<Holder> {
        match self.below(4) {
            0 => vec![self.holder()],
            1 => vec![self.holder(), self.holder()],
            _ => Everyone.receivers(self.recipe.parties),
        }
    }

    /// An input or a public tensor.
    pub(super) fn fresh<T: Pooled>(&mut self) -> Secret<T> {
        let axes = self.shape();
        let shape = Shape::of(axes.clone());
        let elements: Vec<T> = (0..shape.elements()).map(|_| self.element()).collect();
        let value = match self.below(4) {
            0 => self.program.constant((shape, elements)),
            _ => {
                let owner = self.holder();
                let inputs = std::mem::take(&mut self.inputs);
                self.inputs = inputs.with((shape, elements));
                self.program.input(owner, axes)
            }
        };
        self.keep(value.clone());
        value
    }

    pub(super) fn keep<T: Pooled>(&mut self, value: Secret<T>) {
        if value.elements() <= MOST {
            T::pool(&mut self.pools).push(value);
        }
    }

    /// A value, an old one most often.
    pub(super) fn any<T: Pooled>(&mut self) -> Secret<T> {
        let known = T::pool(&mut self.pools).len();
        if known == 0 || self.below(6) == 0 {
            return self.fresh();
        }
        let at = self.below(known);
        T::pool(&mut self.pools)[at].clone()
    }

    /// One that meets another value in an operator.
    pub(super) fn fitting<T: Pooled>(&mut self, shape: &Shape) -> Secret<T> {
        for _ in 0..4 {
            let value: Secret<T> = self.any();
            let both = value.shape().broadcast(shape);
            if both.is_some_and(|both| both.elements() <= MOST) {
                return value;
            }
        }
        let element: T = self.element();
        self.program.constant(element)
    }

    /// A value with an axis.
    pub(super) fn with_axis<T: Pooled>(&mut self) -> (Secret<T>, usize) {
        let value: Secret<T> = self.any();
        let value = match value.rank() {
            0 => value.reshape([1]),
            _ => value,
        };
        let axis = self.below(value.rank());
        (value, axis)
    }
}
