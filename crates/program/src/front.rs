//! Entrances for front ends that learn the operations of a program when they run: readers of files, other languages.

use std::sync::Arc;

use crate::error::{ProgramError, Source};
use crate::function::Function;
use crate::ir::{Each, EachForm, Elementwise, Graph, Op, OwnCircuit, TensorType};
use crate::program::Program;
use crate::secret::Tensor;

impl Program {
    /// Says where all stands that is recorded from now on, in errors and reports, in place of the lines of Rust that record it;
    /// `None` ends that.
    pub fn stand_at(&mut self, place: Option<Source>) {
        self.recorder().set_place(place);
    }

    /// Records an operation as it is, on operands whose shapes and types are those that it takes; gives its results. Operands that
    /// do not fit are an error of the program, as everywhere; the results are those of nothing then.
    ///
    /// Inputs, kept values and arguments of bodies are made by what declares them: [`Program::tensor_input`], [`Program::kept_tensor`],
    /// [`Program::argument`].
    #[track_caller]
    pub fn record(&mut self, op: Op, operands: &[&Tensor]) -> Vec<Tensor> {
        let at = Source::here();
        let recorder = self.recorder();
        if let Op::Random(..) = op {
            recorder.fail_in_body("noise", at);
        }
        let name = op.to_string();
        let inputs = operands.iter();
        let inputs = inputs.map(|tensor| tensor.import(recorder, &name, at));
        let inputs: Option<Vec<_>> = inputs.collect();
        let value = match op {
            Op::Counter => Some(self.counter(at)),
            op => inputs.and_then(|inputs| recorder.add(op, inputs, at)),
        };
        let recorder = self.recorder();
        match value {
            Some(value) => recorder
                .results_of(value)
                .map(|value| Tensor::new(recorder, Some(value)))
                .collect(),
            None => vec![Tensor::new(recorder, None)],
        }
    }

    /// Begins the body of a loop or a branch, [`Op::Repeat`], [`Op::Map`] or [`Op::Choose`], as a program of its own.
    pub fn body_of(&mut self, arguments: usize) -> Program {
        let recorder = self.recorder().body(arguments, Vec::new());
        self.within(recorder)
    }

    /// The operand of this number of the operation that a [body](Self::body_of) belongs to, as the body knows it: of mapped
    /// operands a row.
    #[track_caller]
    pub fn argument(&mut self, number: usize, typed: TensorType) -> Tensor {
        let value = self.leaf(Op::Argument(number), typed, Source::here());
        Tensor::new(self.recorder(), Some(value))
    }

    /// Ends a body with its results; `None` after an error. Gives the values from around it that it uses too: operands after the
    /// arguments that it was begun with.
    #[track_caller]
    pub fn into_body(self, results: &[&Tensor]) -> Option<(Arc<Graph>, Vec<Tensor>)> {
        let at = Source::here();
        for result in results {
            let value = result.import(self.recorder(), "a body's result", at)?;
            self.recorder().add_result(value);
        }
        let around = self.recorder().around()?;
        let (graph, captured) = self.recorder().end_body()?;
        let captured = captured.into_iter();
        let captured = captured.map(|value| Tensor::new(&around, Some(value)));
        Some((graph, captured.collect()))
    }

    /// The first operator of the program, bodies included, that could not be: what [`Program::finish`] would give.
    pub fn failure(&self) -> Option<ProgramError> {
        self.recorder().failure()
    }
}

impl EachForm {
    /// The operation; `None` for a function that there is not, and for noise that its type does not hold.
    pub fn each(self) -> Option<Each> {
        let operation: Arc<dyn Elementwise> = match self {
            Self::Function { name, from, to } => Arc::new(Function::named(&name, from, to)?),
            Self::Noise { noise, element } => return crate::draw::draw(noise, element).ok(),
            Self::Circuit { netlist, outputs } => Arc::new(OwnCircuit::new(netlist, outputs)),
        };
        Some(Each::new(operation))
    }
}
