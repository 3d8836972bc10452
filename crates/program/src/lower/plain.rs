//! Steps in the clear: each does on whole values what its protocol does on shares.

use madrigal_core::Product;
use std::sync::Arc;

use madrigal_circuit::{Netlist, Rows};
use madrigal_operations::Predicate;

use super::steps::{Action, Body, Element, Held, Lowered, Places, Step};
use crate::array::{Array, Words};
use crate::element::Type;
use crate::ir::{Binary, Op, Reduction, Sort, Unary};
use crate::shape::Shape;
use crate::simulate::{InputError, Inputs, Outputs, evaluate};

impl Lowered {
    /// Computes the outputs by the steps, here and in the clear: what [`Computation::simulate`] gives, if
    /// they do what the program says. What adds up to a value is drawn from `seed`.
    ///
    /// [`Computation::simulate`]: crate::Computation::simulate
    ///
    /// # Errors
    /// If the inputs are not those that the program asks for.
    pub fn evaluate(
        &self,
        program: &crate::Computation,
        inputs: &Inputs,
        seed: u64,
    ) -> Result<Outputs, InputError> {
        let (inputs, before) = (inputs.arrays(program.inputs())?, program.kept_arrays()?);
        let mut run = Run {
            inputs: &inputs,
            before: &before,
            seed,
        };
        let results = run.body(&self.body, &[], 0);
        let outputs = results.iter().zip(&self.outputs).map(|(array, port)| {
            let sort = &port.sort;
            let words = array.words().clone();
            Arc::new(Array::new(sort.element, sort.shape.clone(), words))
        });
        Ok(Outputs::new(&self.outputs, outputs.collect()))
    }
}

struct Run<'a> {
    inputs: &'a [Arc<Array>],
    before: &'a [Arc<Array>],
    seed: u64,
}

/// Vectors are arrays of one axis, of unsigned numbers of as many bits as an element has.
type Vector = Arc<Array>;

impl Run<'_> {
    fn body(&mut self, body: &Body, arguments: &[Vector], turn: usize) -> Vec<Vector> {
        let mut values: Vec<Vec<Vector>> = Vec::with_capacity(body.steps.len());
        for step in &body.steps {
            let inputs: Vec<Vector> = step
                .inputs
                .iter()
                .map(|slot| Arc::clone(&values[slot.step as usize][slot.output as usize]))
                .collect();
            let made = self.step(step, &inputs, arguments, turn);
            for (made, held) in made.iter().zip(&step.outputs) {
                let (found, wanted) = (
                    (made.element(), made.shape().elements()),
                    (number(held), held.len),
                );
                assert_eq!(found, wanted, "step {} of {}", step.action, step.label);
            }
            values.push(made);
        }
        let results = body.results.iter();
        results
            .map(|slot| Arc::clone(&values[slot.step as usize][slot.output as usize]))
            .collect()
    }

    fn step(
        &mut self,
        step: &Step,
        inputs: &[Vector],
        arguments: &[Vector],
        turn: usize,
    ) -> Vec<Vector> {
        let vector =
            |codes: &mut dyn Iterator<Item = u128>| vec![from_codes(&step.outputs[0], codes)];
        let by = |op: Op| vec![by_operation(&op, inputs, &step.outputs[0], None)];
        let first = || inputs[0].codes();
        match &step.action {
            Action::Input(number) => vector(&mut self.inputs[*number].codes()),
            Action::Taken(number) => vector(&mut self.before[*number].codes()),
            Action::Public(array) => vector(&mut array.codes()),
            Action::Argument(number) => vec![Arc::clone(&arguments[*number])],
            Action::Counter => vector(&mut std::iter::once(turn as u128)),
            Action::Share | Action::Open(_) | Action::Keep => vec![Arc::clone(&inputs[0])],
            Action::Gather(Places::View(view)) => by(Op::View(view.clone())),
            Action::Gather(places) => {
                let codes: Vec<u128> = first().collect();
                vector(&mut places.indices().into_iter().map(|at| codes[at]))
            }
            Action::Join { rows } => {
                let chunk = |part: &Vector| part.shape().elements() / rows.max(&1);
                let element = number(&step.outputs[0]);
                let mut joined = Words::collect(element, std::iter::empty());
                for row in 0..*rows {
                    for part in inputs {
                        let chunk = chunk(part);
                        joined.extend(part.words(), row * chunk..(row + 1) * chunk);
                    }
                }
                vec![from_words(element, joined)]
            }
            Action::Row([before, length, after]) => {
                let shapes = [vec![*before, *length, *after], vec![]];
                vec![by_operation(
                    &Op::Row(1),
                    inputs,
                    &step.outputs[0],
                    Some(&shapes),
                )]
            }
            Action::Linear { factors, constant } => {
                let all = |at: usize| {
                    let terms = inputs.iter().zip(factors);
                    terms.fold(*constant, |sum, (input, factor)| {
                        sum.wrapping_add(input.words().get(at).wrapping_mul(*factor))
                    })
                };
                let mask = number(&step.outputs[0]).mask();
                vector(&mut (0..step.outputs[0].len).map(|at| all(at) & mask))
            }
            Action::Mul => by(Op::Binary(Binary::Mul)),
            Action::Square => by(Op::Unary(Unary::Square)),
            Action::Dot { length } => {
                let product = Held {
                    len: inputs[0].shape().elements(),
                    ..step.outputs[0].clone()
                };
                let op = Op::Binary(Binary::Mul);
                let products = by_operation(&op, inputs, &product, None);
                let shapes = [vec![step.outputs[0].len, *length]];
                let sum = Op::Reduce(Reduction::Sum, 1);
                vec![by_operation(
                    &sum,
                    &[products],
                    &step.outputs[0],
                    Some(&shapes),
                )]
            }
            Action::Product(Product::Convolution(convolution)) => by(Op::Convolve(*convolution)),
            Action::Product(Product::Matrices(batch, shape)) => {
                let shapes = [
                    vec![*batch, shape.rows, shape.inner],
                    vec![*batch, shape.inner, shape.columns],
                ];
                let shapes = Some(&shapes[..]);
                let product = by_operation(&Op::MatMul, inputs, &step.outputs[0], shapes);
                vec![product]
            }
            Action::Sum(sizes) => {
                let reduction = match step.outputs[0].element {
                    Element::Ring(_) => Reduction::Sum,
                    Element::Bits(_) => Reduction::Xor,
                };
                let (op, shapes) = (Op::Reduce(reduction, 1), [sizes.to_vec()]);
                vec![by_operation(&op, inputs, &step.outputs[0], Some(&shapes))]
            }
            Action::PrefixSums(sizes) => {
                let shapes = [sizes.to_vec()];
                vec![by_operation(
                    &Op::PrefixSums(1),
                    inputs,
                    &step.outputs[0],
                    Some(&shapes),
                )]
            }
            Action::Narrow => {
                let mask = number(&step.outputs[0]).mask();
                vector(&mut first().map(|code| code & mask))
            }
            Action::Truncate { by, .. } | Action::Quotient { by } => {
                let signed = Type::signed(step.outputs[0].element.bits());
                let by = (*by).min(127);
                let cut = |code: u128| (signed.extend(code) >> by) as u128 & signed.mask();
                vector(&mut first().map(cut))
            }
            Action::Split { negated } => {
                let mask = number(&step.outputs[0]).mask();
                let mut first: Vec<u128> = first().collect();
                let mut addends = Vec::new();
                for held in &step.outputs[1..] {
                    let drawn: Vec<u128> = first.iter().map(|_| self.draw() & mask).collect();
                    for (first, drawn) in first.iter_mut().zip(&drawn) {
                        let rest = match negated {
                            true => first.wrapping_add(*drawn),
                            false => first.wrapping_sub(*drawn),
                        };
                        *first = rest & mask;
                    }
                    addends.push(from_codes(held, &mut drawn.into_iter()));
                }
                let first = from_codes(&step.outputs[0], &mut first.into_iter());
                addends.insert(0, first);
                addends
            }
            Action::Test(predicate, _) => {
                let highest = inputs[0].element().bits() - 1;
                vector(&mut first().map(|code| match predicate {
                    Predicate::Negative => code >> highest & 1,
                    Predicate::Zero => u128::from(code == 0),
                }))
            }
            Action::Netlist(netlist) => circuit(netlist, inputs, &step.outputs),
            Action::Branches(branching, _) => {
                let (rows, lanes) = rows_of(inputs, &step.outputs);
                from_rows(&branching.evaluate(&rows), lanes, &step.outputs)
            }
            Action::Formulas(formulas, _) => {
                let mask = number(&step.outputs[0]).mask();
                let mut made = vec![Vec::new(); step.outputs.len()];
                let inputs: Vec<Vec<u128>> =
                    inputs.iter().map(|input| input.codes().collect()).collect();
                for (lane, &code) in inputs[0].iter().enumerate() {
                    let branch = usize::try_from(code).ok();
                    let branch = branch.and_then(|code| formulas.branches().get(code));
                    let own: Vec<u128> = inputs[1..].iter().map(|input| input[lane]).collect();
                    let outputs = match branch {
                        Some(branch) => branch.evaluate::<u128>(&own),
                        None => vec![0; made.len()],
                    };
                    for (all, output) in made.iter_mut().zip(outputs) {
                        all.push(output & mask);
                    }
                }
                let outputs = step.outputs.iter().zip(made);
                outputs
                    .map(|(held, codes)| from_codes(held, &mut codes.into_iter()))
                    .collect()
            }
            Action::Compose { signed } => {
                let bits = inputs[0].element().bits();
                let from = if *signed {
                    Type::signed(bits)
                } else {
                    Type::unsigned(bits)
                };
                let mask = number(&step.outputs[0]).mask();
                vector(&mut first().map(|code| from.extend(code) as u128 & mask))
            }
            Action::BitTimes => {
                let pairs = first().zip(inputs[1].codes());
                vector(&mut pairs.map(|(bit, x)| if bit == 1 { x } else { 0 }))
            }
            Action::Repeat { count, body } => {
                let mut arguments = inputs.to_vec();
                for turn in 0..*count {
                    let state = self.body(body, &arguments, turn);
                    arguments.splice(..step.outputs.len(), state);
                }
                arguments.truncate(step.outputs.len());
                arguments
            }
        }
    }

    /// 128 bits (Steele, Lea and Flood, "Fast splittable pseudorandom number generators", 2014).
    fn draw(&mut self) -> u128 {
        let mut half = || {
            self.seed = self.seed.wrapping_add(0x9e37_79b9_7f4a_7c15);
            let z = (self.seed ^ self.seed >> 30).wrapping_mul(0xbf58_476d_1ce4_e5b9);
            let z = (z ^ z >> 27).wrapping_mul(0x94d0_49bb_1331_11eb);
            u128::from(z ^ z >> 31)
        };
        half() << 64 | half()
    }
}

/// The numbers that a vector's elements are.
fn number(held: &Held) -> Type {
    Type::unsigned(held.element.bits())
}

fn from_codes(held: &Held, codes: &mut dyn Iterator<Item = u128>) -> Vector {
    let element = number(held);
    from_words(element, Words::collect(element, codes))
}

fn from_words(element: Type, words: Words) -> Vector {
    let shape = Shape::of(vec![words.len()]);
    Arc::new(Array::new(element, shape, words))
}

/// What an operation of the intermediate representation makes of vectors seen in some shapes.
fn by_operation(
    op: &Op,
    inputs: &[Vector],
    output: &Held,
    shapes: Option<&[Vec<usize>]>,
) -> Vector {
    let shaped: Vec<Array> = match shapes {
        None => inputs.iter().map(|input| input.as_ref().clone()).collect(),
        Some(shapes) => {
            let pairs = inputs.iter().zip(shapes);
            pairs
                .map(|(input, axes)| input.reshaped(Shape::of(axes.clone())))
                .collect()
        }
    };
    let operands: Vec<&Array> = shaped.iter().collect();
    let sort = Sort::new(number(output), Shape::of(vec![output.len]));
    let mut made = evaluate(op, &operands, &[sort]);
    Arc::new(made.swap_remove(0))
}

fn circuit(netlist: &Netlist, inputs: &[Vector], outputs: &[Held]) -> Vec<Vector> {
    let (rows, lanes) = rows_of(inputs, outputs);
    let made = netlist
        .evaluate(&rows)
        .expect("a circuit takes the bits of a step's operands");
    from_rows(&made, lanes, outputs)
}

/// A row for each bit of all inputs, and the number of elements.
fn rows_of(inputs: &[Vector], outputs: &[Held]) -> (Rows, usize) {
    let lanes = outputs.first().map_or(0, |held| held.len);
    let bits = inputs.iter().map(|input| input.element().bits() as usize);
    let mut rows = Rows::new(bits.sum(), lanes);
    let mut row = 0;
    for input in inputs {
        let codes: Vec<u128> = input.codes().collect();
        for bit in 0..input.element().bits() {
            let bytes = rows.row_mut(row);
            for (lane, code) in codes.iter().enumerate() {
                bytes[lane / 8] |= ((code >> bit & 1) as u8) << (lane % 8);
            }
            row += 1;
        }
    }
    (rows, lanes)
}

fn from_rows(made: &Rows, lanes: usize, outputs: &[Held]) -> Vec<Vector> {
    let mut row = 0;
    let mut vectors = Vec::new();
    for held in outputs {
        let mut codes = vec![0_u128; lanes];
        for bit in 0..held.element.bits() {
            let bytes = made.row(row);
            for (lane, code) in codes.iter_mut().enumerate() {
                *code |= u128::from(bytes[lane / 8] >> (lane % 8) & 1) << bit;
            }
            row += 1;
        }
        vectors.push(from_codes(held, &mut codes.into_iter()));
    }
    vectors
}
