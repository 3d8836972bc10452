//! One operation at random, on operands from ranges at random.

use madrigal_core::Convolution;

use crate::array::{Array, Words};
use crate::element::Type;
use crate::error::Source;
use crate::generator::random::Random;
use crate::ir::{Binary, Extreme, Graph, Node, Op, Reduction, Rounding, TensorType, Unary, Value};
use crate::lower::{Range, all, of_outputs};
use crate::shape::{Shape, View};
use crate::simulate::evaluate;

/// Operands are drawn so often for one operation.
const DRAWS: usize = 6;

/// An operation being made.
pub(super) struct Trial {
    random: Random,
    graph: Graph,
    /// The codes that each leaf lies between.
    between: Vec<[u128; 2]>,
}

impl Trial {
    pub(super) fn new(seed: u64) -> Self {
        Self {
            random: Random(seed),
            graph: Graph::default(),
            between: Vec::new(),
        }
    }

    /// Makes an operation and computes it on operands from its ranges.
    pub(super) fn run(&mut self) -> Result<(), String> {
        let (op, operands) = self.operation();
        let made = self.graph.add(op, operands, Source::here());
        self.holds(made.expect("operands that fit"))
    }

    /// A leaf whose numbers lie between two of its type's, at the ends, around 0, or anywhere.
    fn leaf(&mut self, element: Type, axes: &[usize]) -> Value {
        let least = element.least();
        let mut end = || {
            let power = 1_u128 << self.random.below(element.bits() as usize);
            let codes = [
                least,
                least.wrapping_sub(1),
                0,
                1,
                u128::MAX,
                power,
                power - 1,
                power.wrapping_neg(),
                self.random.word(),
                self.random.word() >> self.random.below(128),
            ];
            self.random.one_of(&codes) & element.mask()
        };
        let mut ends = [end(), end()];
        ends.sort_by_key(|code| code ^ least);
        self.between.push(ends);
        let typed = TensorType::new(element, Shape::of(axes.to_vec()));
        let number = self.between.len() - 1;
        self.graph.leaf(Op::Input(number), typed, Source::here())
    }

    /// Numbers of a leaf: one end, the other, some of both, or any between them.
    fn draw(&mut self, typed: &TensorType, [low, high]: [u128; 2], turn: usize) -> Array {
        let (element, least) = (typed.element, typed.element.least());
        let from = low ^ least;
        let span = (high ^ least) - from;
        let codes = (0..typed.shape.elements()).map(|_| match turn {
            0 => low,
            1 => high,
            2 => self.random.one_of(&[low, high]),
            _ => {
                let more = match span.checked_add(1) {
                    Some(count) => self.random.word() % count,
                    None => self.random.word(),
                };
                (from + more) ^ least
            }
        });
        let codes: Vec<u128> = codes.collect();
        Array::new(
            element,
            typed.shape.clone(),
            Words::collect(element, codes.into_iter()),
        )
    }

    /// Whether a node's results, and those of all nodes before it, lie in their ranges.
    fn holds(&mut self, made: Value) -> Result<(), String> {
        let nodes: Vec<Node> = self.graph.nodes()[..=made.node as usize].to_vec();
        let mut ranges: Vec<Vec<Range>> = Vec::new();
        for node in &nodes {
            ranges.push(match node.op {
                Op::Input(number) => {
                    let element = node.outputs[0].element;
                    let ends = self.between[number].map(|code| element.extend(code));
                    vec![all(element).map(|_| (ends[0], ends[1]))]
                }
                _ => {
                    let of = |value: &Value| ranges[value.node as usize][value.output as usize];
                    let inputs: Vec<Range> = node.inputs.iter().map(of).collect();
                    of_outputs(&self.graph, node, &inputs)
                }
            });
        }
        for turn in 0..DRAWS {
            let mut values: Vec<Vec<Array>> = Vec::new();
            for (node, ranges) in nodes.iter().zip(&ranges) {
                let found = match &node.op {
                    Op::Input(number) => {
                        vec![self.draw(&node.outputs[0], self.between[*number], turn)]
                    }
                    Op::Constant(array) => vec![array.as_ref().clone()],
                    op => {
                        let of =
                            |value: &Value| &values[value.node as usize][value.output as usize];
                        let inputs: Vec<&Array> = node.inputs.iter().map(of).collect();
                        evaluate(op, &inputs, &node.outputs)
                    }
                };
                for (found, range) in found.iter().zip(ranges) {
                    inside(found, *range).map_err(|what| {
                        format!("{}: {what}\n{}", node.op, self.graph.describe().join("\n"))
                    })?;
                }
                values.push(found);
            }
        }
        Ok(())
    }

    /// A type, with bits after the point where it may have any: as many as two factors have together.
    fn element(&mut self) -> Type {
        let bits = self.random.one_of(&[8, 16, 32, 64, 128]);
        let fixed = Type::fixed(bits, 1 + self.random.below(bits as usize - 2) as u32);
        match (self.random.below(3), fixed) {
            (0, _) => Type::unsigned(bits),
            (1, Some(fixed)) => match self.random.yes() {
                true => fixed.moved(fixed.fraction().into()).unwrap_or(fixed),
                false => fixed,
            },
            _ => Type::signed(bits),
        }
    }

    fn integer(&mut self) -> Type {
        self.element().integer()
    }

    /// A type with bits after the point.
    fn fixed(&mut self) -> Type {
        loop {
            let element = self.element();
            if element.fraction() > 0 {
                return element;
            }
        }
    }

    fn bit(&mut self, axes: &[usize]) -> Value {
        self.leaf(Type::BOOL, axes)
    }

    /// An operation with operands.
    fn operation(&mut self) -> (Op, Vec<Value>) {
        let element = self.element();
        let length = 1 + self.random.below(4);
        let axes = [2, length, 3];
        let axis = self.random.below(3);
        match self.random.below(19) {
            0 => {
                let from = Shape::of(vec![length]);
                let view = match self.random.yes() {
                    true => View::broadcast(&from, &Shape::of(vec![3, length])),
                    false => View {
                        strides: vec![-1],
                        offset: length - 1,
                        ..View::whole(&from)
                    },
                };
                (Op::View(view), vec![self.leaf(element, &[length])])
            }
            1 => {
                let x = self.leaf(element, &axes);
                let places = (0..3).map(|_| self.random.below(axes[axis])).collect();
                let reshaped = Op::Reshape(Shape::of(vec![6, length]));
                let op = match self.random.yes() {
                    true => Op::Pick { axis, places },
                    false => reshaped,
                };
                (op, vec![x])
            }
            2 => {
                let parts = (0..2 + self.random.below(2)).map(|_| self.leaf(element, &axes));
                (Op::Join(axis), parts.collect())
            }
            3 => {
                let x = self.leaf(element, &axes);
                let place = self.leaf(Type::PLACE, &[]);
                self.between[1] = [0, 0];
                (Op::Row(axis), vec![x, place])
            }
            4 => self.unary(&axes),
            5..8 => self.binary(&axes),
            8 => {
                let operands = [
                    self.bit(&axes),
                    self.leaf(element, &axes),
                    self.leaf(element, &axes),
                ];
                (Op::Select, operands.into())
            }
            9 => self.positive_part(&axes),
            10 => {
                let to = self.element();
                let to = self.random.one_of(&[to, to, to, Type::BOOL]);
                let from = self.random.one_of(&[element, element, element, Type::BOOL]);
                (Op::Cast(to), vec![self.leaf(from, &axes)])
            }
            11 => {
                let element = self.fixed();
                let by = self.random.below(element.fraction() as usize + 1) as u32;
                let rounding = self
                    .random
                    .one_of(&[Rounding::Exact, Rounding::Probabilistic]);
                (
                    Op::Truncate { by, rounding },
                    vec![self.leaf(element, &axes)],
                )
            }
            12 => {
                use Reduction::{And, Greatest, Least, Or, Product, Sum, Xor};
                let reduction = self
                    .random
                    .one_of(&[Sum, Sum, Product, Least, Greatest, And, Or, Xor]);
                let element = match reduction {
                    Sum | Least | Greatest => element,
                    _ => element.integer(),
                };
                let mut axes = axes;
                if matches!(reduction, Sum | Product) && self.random.below(6) == 0 {
                    axes[axis] = 0;
                }
                (Op::Reduce(reduction, axis), vec![self.leaf(element, &axes)])
            }
            13 => {
                let extreme = self.random.one_of(&[Extreme::Least, Extreme::Greatest]);
                (Op::Find(extreme, axis), vec![self.leaf(element, &axes)])
            }
            14 => (Op::PrefixSums(axis), vec![self.leaf(element, &axes)]),
            15 if self.random.yes() => {
                let rows = self.random.one_of(&[1, 2]);
                let along = self.element();
                let key = self.random.one_of(&[element, Type::BOOL]);
                let operands = [key, element, along].map(|typed| self.leaf(typed, &[rows, length]));
                let keys = [self.random.yes(), self.random.yes()];
                let number = self.random.one_of(&[1, 2]);
                (Op::SortBy(keys[..number].into()), operands.into())
            }
            15 => {
                let axes = [2, length];
                let along = self.element();
                let operands = vec![self.leaf(element, &axes), self.leaf(along, &axes)];
                let op = Op::Sort {
                    descending: self.random.yes(),
                    keep: self.random.below(length + 1),
                };
                (op, operands)
            }
            16 => {
                let inner = self.random.below(5);
                let [a, b] = [[2, 3, inner], [2, inner, 2]];
                (
                    Op::MatMul,
                    vec![self.leaf(element, &a), self.leaf(element, &b)],
                )
            }
            17 => self.convolution(element),
            _ => {
                let places = self.random.one_of(&[8, 16, 32, 64, 128]);
                let table = self.leaf(element, &[2, length, 3]);
                let places = self.leaf(Type::unsigned(places), &[2, 4]);
                self.between[1] = [0, self.random.below(6) as u128];
                (Op::LookUp, vec![table, places])
            }
        }
    }

    fn unary(&mut self, axes: &[usize]) -> (Op, Vec<Value>) {
        use Unary::{
            Abs, CountOnes, LeadingZeros, Negate, Not, Root, RotateLeft, ShiftLeft, ShiftRight,
            Square,
        };
        let by = self.random.below(140) as u32;
        let unary = self.random.one_of(&[
            Negate,
            Not,
            Abs,
            Square,
            Root,
            CountOnes,
            LeadingZeros,
            ShiftLeft(by % 7),
            ShiftLeft(by),
            ShiftRight(by % 7),
            ShiftRight(by),
            RotateLeft(by),
        ]);
        let element = match unary {
            Not | CountOnes | LeadingZeros | RotateLeft(_) => self.integer(),
            Root => Type::unsigned(self.element().bits()),
            Abs => {
                let bits = self.element().bits();
                let fixed = Type::fixed(bits, 3);
                self.random
                    .one_of(&[Type::signed(bits), fixed.unwrap_or(Type::signed(bits))])
            }
            _ => self.element(),
        };
        (Op::Unary(unary), vec![self.leaf(element, axes)])
    }

    fn binary(&mut self, axes: &[usize]) -> (Op, Vec<Value>) {
        use Binary::{
            Add, And, Div, Equal, Less, Max, Min, Mul, Or, Rem, RotateLeft, ShiftLeft, ShiftRight,
            Sub, Xor,
        };
        let binary = self.random.one_of(&[
            Add, Add, Sub, Sub, Mul, Mul, Mul, Div, Rem, And, Or, Xor, Equal, Less, Min, Max,
            ShiftLeft, ShiftRight, RotateLeft,
        ]);
        let [first, second] = match binary {
            ShiftLeft | ShiftRight | RotateLeft => {
                let bits = self.element().bits();
                [self.integer(), Type::unsigned(bits)]
            }
            Rem | And | Or | Xor => [self.integer(); 2],
            // A divisor has its point where its type has it.
            Div => [self.element(); 2].map(|element| match element.fraction() < element.bits() {
                true => element,
                false => element.integer(),
            }),
            _ => [self.element(); 2],
        };
        let operands = vec![self.leaf(first, axes), self.leaf(second, axes)];
        if let ShiftLeft | ShiftRight | RotateLeft = binary {
            self.between[1] = [0, self.random.below(140) as u128 & second.mask()];
        }
        (Op::Binary(binary), operands)
    }

    /// `max(x, 0)` as a comparison and a choice, and what looks like it and is not.
    fn positive_part(&mut self, axes: &[usize]) -> (Op, Vec<Value>) {
        let at = Source::here();
        let element = self.element();
        let [x, other] = [self.leaf(element, axes), self.leaf(element, axes)];
        let zero = self.graph.filled(element, &Shape::of(axes.to_vec()), 0, at);
        let mut compared = vec![x, zero];
        if self.random.below(4) == 0 {
            compared.reverse();
        }
        let less = self.graph.add(Op::Binary(Binary::Less), compared, at);
        let less = less.expect("operands that fit");
        let operands = match self.random.below(6) {
            0 => [less, x, zero],
            1 => [less, zero, other],
            2 => [less, other, x],
            _ => [less, zero, x],
        };
        (Op::Select, operands.into())
    }

    fn convolution(&mut self, element: Type) -> (Op, Vec<Value>) {
        let groups = 1 + self.random.below(2);
        let channels = groups * (1 + self.random.below(2));
        let filters = groups * (1 + self.random.below(2));
        let mut two = |most: usize| [self.random.below(most), self.random.below(most)];
        let padding = [two(3), two(3)];
        let convolution = Convolution {
            images: 2,
            groups,
            stride: two(2).map(|step| step + 1),
            dilation: two(2).map(|step| step + 1),
            padding,
            ..Convolution::new(channels, [4, 5], filters, two(2).map(|size| size + 1))
        };
        let [rows, columns] = convolution.filter;
        let operands = vec![
            self.leaf(element, &[filters, channels / groups, rows, columns]),
            self.leaf(element, &[2, channels, 4, 5]),
        ];
        (Op::Convolve(convolution), operands)
    }
}

/// Whether all numbers of a tensor lie in a range.
pub(super) fn inside(array: &Array, range: Range) -> Result<(), String> {
    let element = array.element();
    let Some((low, high)) = range else {
        return match all(element) {
            None => Ok(()),
            Some(_) => Err(format!("nothing is known of {element}")),
        };
    };
    let mut numbers = array.codes().map(|code| element.extend(code));
    match numbers.find(|number| !(low..=high).contains(number)) {
        Some(number) => Err(format!("{number} of {element} is not in {low}..={high}")),
        None => Ok(()),
    }
}
