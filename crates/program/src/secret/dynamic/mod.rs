//! Operators on tensors whose types are known when a program runs: those of
//! [`Secret`](super::Secret), on values and names of types.

mod arithmetic;
mod shapes;

pub use arithmetic::Window;

use std::sync::Arc;

use madrigal_circuit::Netlist;
use madrigal_engine::{Operation, Sharing};

use super::{Secret, Tensor};
use crate::array::Array;
use crate::element::{Plain, Type};
use crate::error::{Fault, Source};
use crate::holder::Holder;
use crate::ir::{Each, Elementwise, Op, OwnCircuit, OwnOperation, TensorType};
use crate::opening::Receivers;
use crate::program::Program;
use crate::shape::Shape;

impl Tensor {
    /// The lengths of the axes.
    pub fn shape(&self) -> &Shape {
        &self.shape
    }

    /// The value with its type as one of Rust, which is an error of the program if it is another.
    #[track_caller]
    pub fn typed<T: Plain>(&self) -> Secret<T> {
        if self.element() == T::TYPE {
            return Secret::of(self.clone());
        }
        let fault = Fault::OtherType {
            expected: T::TYPE,
            found: self.element(),
        };
        Secret::of(self.failed(fault, Source::here()))
    }
}

impl<T: Plain> Secret<T> {
    /// The value with its type as a value.
    pub fn untyped(&self) -> Tensor {
        self.tensor.clone()
    }
}

impl Program {
    /// A secret that a party brings along: [`Program::input`], or [`Program::input_named`], of a type that is
    /// a value.
    #[track_caller]
    pub fn tensor_input(
        &mut self,
        name: Option<&str>,
        owner: impl Into<Holder>,
        element: Type,
        axes: &[usize],
    ) -> Tensor {
        self.any_input(name, owner.into(), element, axes)
    }

    /// A public tensor: [`Program::constant`].
    #[track_caller]
    pub fn tensor_constant(&mut self, array: Array) -> Tensor {
        Tensor::constant(self.recorder(), Ok(array), Source::here())
    }

    /// Evaluates a user's own circuit on the elements of values of one shape: one input for each value, in order, of as
    /// many bits as its elements; gives a value of each of these types for the outputs. It is done in whichever sharing the
    /// mix has for bits, and neighbouring operators on bits become one circuit with it.
    ///
    /// Values that do not fit the circuit are an error of the program.
    ///
    /// ```
    /// use madrigal_program::{Everyone, Inputs, Party, Plain, Program};
    /// use madrigal_circuit::Builder;
    /// let mut b = Builder::new("nand");
    /// let (x, y) = (b.input(8), b.input(8));
    /// let both = b.and_all(&x, &y);
    /// let nand = b.not_all(&both);
    /// b.output(&nand);
    /// let mut p = Program::new(2);
    /// let [x, y] = [0, 1].map(|party| p.input::<u8>(Party::new(party), ()));
    /// let nand = p.circuit(&b.finish(), &[&x.untyped(), &y.untyped()], &[u8::TYPE]);
    /// let nand = p.open(nand[0].typed::<u8>(), Everyone);
    /// let outputs = p.finish()?.simulate(&Inputs::new().with(12u8).with(10u8))?;
    /// assert_eq!(outputs.get(nand), [!8]);
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    ///
    /// # Panics
    /// If there is no value: a circuit without inputs is a constant.
    #[track_caller]
    pub fn circuit(
        &mut self,
        circuit: &Netlist,
        values: &[&Tensor],
        types: &[Type],
    ) -> Vec<Tensor> {
        let own = OwnCircuit::new(Arc::new(circuit.clone()), types.to_vec());
        self.each(Arc::new(own), values, types.len())
    }

    /// Puts a user's own operation on elements into the program, on values of one shape; gives its `count` results.
    ///
    /// Values that do not fit the operation are an error of the program.
    ///
    /// # Panics
    /// If there is no value.
    #[track_caller]
    pub fn each(
        &mut self,
        operation: Arc<dyn Elementwise>,
        values: &[&Tensor],
        count: usize,
    ) -> Vec<Tensor> {
        let op = Op::Each(Each::new(operation));
        let (first, others) = values.split_first().expect("an operation has an operand");
        first.results(op, others, count as u32, Source::here())
    }

    /// Carries out a user's own operation, or one of the crate `madrigal-operations`, on whole values, each in the sharing
    /// that is named with it; gives a value of each of these types and shapes. Parties compare the operation's name. The
    /// mix must have these sharings for ring elements or bits, also those of the results.
    ///
    /// Values that the operation does not take are an error of the program.
    ///
    /// # Panics
    /// If there is no value.
    #[track_caller]
    pub fn operation(
        &mut self,
        operation: Arc<dyn Operation>,
        values: &[(&Tensor, Sharing)],
        results: &[(Type, &[usize])],
    ) -> Vec<Tensor> {
        let at = Source::here();
        let (&(first, _), rest) = values.split_first().expect("an operation has an operand");
        let others: Vec<&Tensor> = rest.iter().map(|&(value, _)| value).collect();
        let types: Vec<TensorType> = values
            .iter()
            .map(|(value, _)| value.tensor_type())
            .collect();
        let inputs: Vec<_> = (types.iter().zip(values))
            .map(|(typed, &(_, sharing))| (typed, sharing))
            .collect();
        let outputs: Result<Vec<TensorType>, Fault> = results
            .iter()
            .map(|&(element, axes)| Ok(TensorType::new(element, crate::ir::sized(axes)?)))
            .collect();
        let parties = self.parties();
        let own = outputs.and_then(|types| OwnOperation::new(operation, parties, &inputs, types));
        match own {
            Ok(own) => {
                let op = Op::Operation(Arc::new(own));
                first.results(op, &others, results.len() as u32, at)
            }
            Err(fault) => vec![first.failed(fault, at); results.len()],
        }
    }

    /// Opens a value: [`Program::open`], or [`Program::open_named`]. It is fetched from
    /// [`Outputs::arrays`](crate::Outputs::arrays) by the number that this gives.
    #[track_caller]
    pub fn open_tensor(&mut self, name: Option<&str>, value: &Tensor, to: impl Receivers) -> usize {
        self.open_any(name, to, Source::here(), |opener| (opener.open)(value))
    }
}
