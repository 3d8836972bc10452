//! The builder of programs, and what it builds.

mod kept;

use std::cell::{Cell, RefCell};
use std::collections::HashMap;
use std::rc::Rc;
use std::sync::Arc;

use madrigal_core::{MAX_PARTIES, Party, PartyError};

use crate::array::{Array, IntoArray};
use crate::computation::{Between, Computation, InputPort, OutputPort};
use crate::element::{Plain, Type};
use crate::error::{Fault, ProgramError, Source, check_parties};
use crate::ir::{Graph, Op, Rounding, TensorType, Value};
use crate::lower::Mix;
use crate::opening::{Open, Receivers};
use crate::secret::{Secret, Tensor};
use crate::shape::{IntoShape, Shape};

/// Where operators record themselves: the graph of a program, or of a loop's body.
pub(crate) struct Recorder {
    graph: RefCell<Graph>,
    /// Of a body: the graph around it, and the values of that graph that it uses.
    outer: Option<Outer>,
    depth: usize,
    /// Of a body: whether it is done, so that nothing can be added.
    closed: Cell<bool>,
    /// The first error of the whole program.
    error: Rc<RefCell<Option<ProgramError>>>,
    /// Of the whole program: the secret branches that are being recorded, the inner ones last. What is done
    /// then to values from around them is a part of the branch, too.
    branches: Rc<RefCell<Vec<Rc<Recorder>>>>,
    /// Of the whole program: how products are cut off where they do not say it themselves.
    rounding: Rc<Cell<Rounding>>,
    /// Of the whole program: the part that is being recorded.
    part: Rc<Cell<Option<u32>>>,
}

struct Outer {
    recorder: Rc<Recorder>,
    /// Inputs that the loop has by itself: its state, its rows; that a conditional has: its index.
    carried: usize,
    captured: RefCell<Vec<Value>>,
    /// How many of these were there before.
    common: usize,
    arguments: RefCell<HashMap<Value, Value>>,
}

impl Recorder {
    fn new() -> Rc<Self> {
        Rc::new(Self {
            graph: RefCell::default(),
            outer: None,
            depth: 0,
            closed: Cell::new(false),
            error: Rc::default(),
            branches: Rc::default(),
            rounding: Rc::new(Cell::new(Rounding::Exact)),
            part: Rc::default(),
        })
    }

    /// As asked for by the part that is being recorded.
    fn placed(&self, at: Source) -> Source {
        at.of_part(self.part.get())
    }

    /// How products are cut off where they do not say it themselves.
    pub(crate) fn rounding(&self) -> Rounding {
        self.rounding.get()
    }

    /// Keeps an error of an input or an opening that stands in a body.
    fn fail_in_body(&self, what: &'static str, at: Source) {
        if self.outer.is_none() {
            return;
        }
        let in_branch = !self.branches.borrow().is_empty();
        self.fail(
            at,
            match in_branch {
                true => Fault::InBranch { what },
                false => Fault::InLoop { what },
            },
        );
    }

    /// Keeps an error, unless there is one already.
    pub(crate) fn fail(&self, at: Source, fault: Fault) {
        let mut error = self.error.borrow_mut();
        error.get_or_insert(ProgramError { at, fault });
    }

    pub(crate) fn type_of(&self, value: Value) -> TensorType {
        self.graph.borrow().type_of(value).clone()
    }

    /// Adds an operation; `None` where there was an error, which is kept.
    pub(crate) fn add(&self, op: Op, inputs: Vec<Value>, at: Source) -> Option<Value> {
        let at = self.placed(at);
        match self.graph.borrow_mut().add(op, inputs, at) {
            Ok(value) => Some(value),
            Err(error) => {
                self.fail(error.at, error.fault);
                None
            }
        }
    }

    pub(crate) fn add_constant(&self, array: Array, at: Source) -> Value {
        let at = self.placed(at);
        self.graph.borrow_mut().add_constant(array, at)
    }

    /// The value as this graph knows it: one of a graph around this one becomes an argument of the loops
    /// between. `None` where that cannot be, which is an error of `operator`.
    pub(crate) fn import(
        self: &Rc<Self>,
        from: &Rc<Recorder>,
        value: Value,
        operator: &str,
        at: Source,
    ) -> Option<Value> {
        let operator = || operator.to_owned();
        if self.closed.get() || from.closed.get() {
            let operator = operator();
            self.fail(at, Fault::Escaped { operator });
            return None;
        }
        let imported = self.argument(from, value, at);
        if imported.is_none() {
            let operator = operator();
            self.fail(at, Fault::Foreign { operator });
        }
        imported
    }

    fn argument(self: &Rc<Self>, from: &Rc<Recorder>, value: Value, at: Source) -> Option<Value> {
        if Rc::ptr_eq(self, from) {
            return Some(value);
        }
        let outer = self.outer.as_ref()?;
        let value = outer.recorder.argument(from, value, at)?;
        if let Some(&argument) = outer.arguments.borrow().get(&value) {
            return Some(argument);
        }
        let mut captured = outer.captured.borrow_mut();
        // Branches of one conditional have their arguments in common.
        let known = captured
            .iter()
            .take(outer.common)
            .position(|&at| at == value);
        let place = known.unwrap_or_else(|| {
            captured.push(value);
            captured.len() - 1
        });
        let op = Op::Argument(outer.carried + place);
        let typed = outer.recorder.type_of(value);
        let at = self.placed(at);
        let argument = self.graph.borrow_mut().leaf(op, typed, at);
        outer.arguments.borrow_mut().insert(value, argument);
        Some(argument)
    }

    /// The inner one of two graphs.
    pub(crate) fn inner<'a>(a: &'a Rc<Self>, b: &'a Rc<Self>) -> &'a Rc<Self> {
        if b.depth > a.depth { b } else { a }
    }

    /// Where an operator on values of this graph and of those around it is recorded: here, or in the secret
    /// branch that is being recorded.
    pub(crate) fn here(self: &Rc<Self>) -> Rc<Self> {
        let branches = self.branches.borrow();
        match branches.last() {
            Some(branch) if branch.depth > self.depth => Rc::clone(branch),
            _ => Rc::clone(self),
        }
    }
}

/// Builds a program: it is passed around, and everything that is done to the secrets it hands out is
/// recorded in it. Nothing is computed before the program is [finished](Program::finish) and run.
///
/// An operator that cannot be makes no panic: the first such is kept, with its place in the source, and
/// is what [`Program::finish`] gives. What depends on it is not looked at.
pub struct Program {
    recorder: Rc<Recorder>,
    parties: usize,
    inputs: Vec<InputPort>,
    outputs: Vec<OutputPort>,
    mix: Option<Mix>,
    between: Between,
    /// What is kept, as the graph knows it.
    kept: Vec<Value>,
}

impl Program {
    /// An empty program for so many parties, at most [`MAX_PARTIES`].
    #[track_caller]
    pub fn new(parties: usize) -> Self {
        let recorder = Recorder::new();
        if parties == 0 || parties > MAX_PARTIES {
            let error = PartyError { index: 0, parties };
            recorder.fail(Source::here(), error.into());
        }
        Self {
            recorder,
            parties,
            inputs: Vec::new(),
            outputs: Vec::new(),
            mix: None,
            between: Between::default(),
            kept: Vec::new(),
        }
    }

    /// How many parties compute.
    pub fn parties(&self) -> usize {
        self.parties
    }

    /// The same with a default of its own for which sharing does what, which whoever runs the program may
    /// replace.
    #[must_use]
    pub fn with_default(self, mix: Mix) -> Self {
        Self {
            mix: Some(mix),
            ..self
        }
    }

    /// The same, in which products with a fixed point are cut off as `rounding` says from now on: those by `*`,
    /// [`Secret::matmul`], [`Secret::divided_by`] and all others that do not say it themselves.
    ///
    /// [`Rounding::Probabilistic`] saves, in `A` between two parties, a circuit and two conversions for each
    /// number: results are one step higher at times, and, for products that are not far below the type's
    /// range, wrong with a chance that [`Secret::mul_probabilistic`] tells. [`Computation::check`] finds numbers for
    /// which it is more than one in a million.
    #[must_use]
    pub fn with_rounding(self, rounding: Rounding) -> Self {
        self.recorder.rounding.set(rounding);
        self
    }

    /// A secret that a party brings along when the program is run: a tensor of this shape.
    #[track_caller]
    pub fn input<T: Plain>(&mut self, owner: Party, shape: impl IntoShape) -> Secret<T> {
        let input = self.any_input(None, owner, T::TYPE, &shape.axes());
        Secret::of(input)
    }

    /// The same with a name, by which programs for the terminal ask for it.
    #[track_caller]
    pub fn input_named<T: Plain>(
        &mut self,
        name: &str,
        owner: Party,
        shape: impl IntoShape,
    ) -> Secret<T> {
        let input = self.any_input(Some(name), owner, T::TYPE, &shape.axes());
        Secret::of(input)
    }

    #[track_caller]
    pub(crate) fn any_input(
        &mut self,
        name: Option<&str>,
        owner: Party,
        element: Type,
        axes: &[usize],
    ) -> Tensor {
        let at = self.recorder.placed(Source::here());
        let shape = self.shape(axes, at);
        self.recorder.fail_in_body("an input", at);
        if let Err(fault) = check_parties(&[owner], self.parties) {
            self.recorder.fail(at, fault);
        }
        let taken = |port: &InputPort| name.is_some() && port.name.as_deref() == name;
        if let (Some(name), true) = (name, self.inputs.iter().any(taken)) {
            let (name, side) = (name.into(), "input");
            self.recorder.fail(at, Fault::Name { name, side });
        }
        let typed = TensorType::new(element, shape);
        let op = Op::Input(self.inputs.len());
        self.inputs.push(InputPort {
            owner,
            name: name.map(Into::into),
            tensor_type: typed.clone(),
            at,
        });
        let value = self.recorder.graph.borrow_mut().leaf(op, typed, at);
        Tensor::new(&self.recorder, Some(value))
    }

    /// A public tensor, which mixes with secrets. Elements meet operators without it too: `x + 3`.
    #[track_caller]
    pub fn constant<T: Plain>(&mut self, elements: impl IntoArray<T>) -> Secret<T> {
        Secret::constant(&self.recorder, elements.parts(), Source::here())
    }

    /// Opens values, of any types in a tuple, to a party, to several, or to all
    /// ([`Everyone`](crate::Everyone)). Gives what the results are fetched with.
    #[track_caller]
    pub fn open<O: Open>(&mut self, values: O, to: impl Receivers) -> O::Handles {
        self.open_any(None, to, Source::here(), |opener| values.open(opener))
    }

    /// The same with a name, by which programs for the terminal show the result; the values of a tuple
    /// share it.
    #[track_caller]
    pub fn open_named<O: Open>(&mut self, name: &str, values: O, to: impl Receivers) -> O::Handles {
        self.open_any(Some(name), to, Source::here(), |opener| values.open(opener))
    }

    pub(crate) fn open_any<R>(
        &mut self,
        name: Option<&str>,
        to: impl Receivers,
        at: Source,
        open: impl FnOnce(&mut Opener<'_>) -> R,
    ) -> R {
        let at = self.recorder.placed(at);
        let taken = |port: &OutputPort| name.is_some() && port.name.as_deref() == name;
        if let (Some(name), true) = (name, self.outputs.iter().any(taken)) {
            let (name, side) = (name.into(), "output");
            self.recorder.fail(at, Fault::Name { name, side });
        }
        let to = to.receivers(self.parties);
        open(&mut Opener {
            program: self,
            name: name.map(Into::into),
            to,
            at,
        })
    }

    /// The program as it can be run, its graph without what no opening needs.
    ///
    /// # Errors
    /// The first operator that could not be.
    pub fn finish(self) -> Result<Computation, ProgramError> {
        if let Some(error) = self.recorder.error.borrow_mut().take() {
            return Err(error);
        }
        self.recorder.closed.set(true);
        for &value in &self.kept {
            self.recorder.graph.borrow_mut().add_result(value);
        }
        let graph = self.recorder.graph.borrow().optimised();
        Ok(Computation::new(
            self.parties,
            graph,
            self.inputs,
            self.outputs,
            self.mix.unwrap_or_default(),
            self.between,
        ))
    }

    /// What is recorded from now on belongs to this part of the program, a number of the caller's, or to none. It is of
    /// no consequence but for reports: [`Executable::part`](crate::Executable::part) tells of each operation of a plan
    /// which part asked for it. What several parts ask for belongs to the first, and a circuit that is made of several
    /// parts' operators to the last of them.
    pub fn part(&mut self, part: Option<u32>) {
        self.recorder.part.set(part);
    }

    fn shape(&self, axes: &[usize], at: Source) -> Shape {
        Shape::checked(axes).unwrap_or_else(|| {
            let axes = axes.to_vec();
            self.recorder.fail(at, Fault::TooLarge { axes });
            Shape::scalar()
        })
    }

    pub(crate) fn recorder(&self) -> &Rc<Recorder> {
        &self.recorder
    }

    /// Records the body of a loop or a branch. Gives the body, the values around it that it uses, unless
    /// there was an error, and what `body` gives. It has `carried` inputs by itself, and then those of
    /// `common`, whether it uses them or not.
    pub(crate) fn body<R>(
        &mut self,
        place: Place,
        carried: usize,
        common: Vec<Value>,
        body: impl FnOnce(&mut Program) -> R,
        results: impl FnOnce(&R) -> Vec<(Rc<Recorder>, Option<Value>)>,
        at: Source,
    ) -> (Option<Body>, R) {
        let recorder = Rc::new(Recorder {
            graph: RefCell::default(),
            outer: Some(Outer {
                recorder: Rc::clone(&self.recorder),
                carried,
                common: common.len(),
                captured: RefCell::new(common),
                arguments: RefCell::default(),
            }),
            depth: self.recorder.depth + 1,
            closed: Cell::new(false),
            error: Rc::clone(&self.recorder.error),
            branches: Rc::clone(&self.recorder.branches),
            rounding: Rc::clone(&self.recorder.rounding),
            part: Rc::clone(&self.recorder.part),
        });
        let branches = &self.recorder.branches;
        if place == Place::Branch {
            branches.borrow_mut().push(Rc::clone(&recorder));
        }
        let mut inner = Program {
            recorder: Rc::clone(&recorder),
            parties: self.parties,
            inputs: Vec::new(),
            outputs: Vec::new(),
            mix: None,
            between: Between::default(),
            kept: Vec::new(),
        };
        let result = body(&mut inner);
        if place == Place::Branch {
            branches.borrow_mut().pop();
        }
        let mut complete = true;
        for (from, value) in results(&result) {
            let operator = match place {
                Place::Loop => "the result of a loop",
                Place::Branch => "the result of a secret branch",
            };
            let value = value.and_then(|value| recorder.import(&from, value, operator, at));
            match value {
                Some(value) => recorder.graph.borrow_mut().add_result(value),
                None => complete = false,
            }
        }
        recorder.closed.set(true);
        let captured = recorder.outer.as_ref().map(|outer| outer.captured.take());
        let recorded = captured.filter(|_| complete);
        let recorded = recorded.map(|captured| (Arc::new(recorder.graph.take()), captured));
        (recorded, result)
    }

    /// A leaf of a loop's body.
    pub(crate) fn leaf(&mut self, op: Op, typed: TensorType, at: Source) -> Value {
        let at = self.recorder.placed(at);
        self.recorder.graph.borrow_mut().leaf(op, typed, at)
    }

    /// A loop's counter.
    pub(crate) fn counter(&mut self, at: Source) -> Value {
        self.leaf(
            Op::Counter,
            TensorType::new(Type::PLACE, Shape::scalar()),
            at,
        )
    }
}

/// What a body is of.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Place {
    Loop,
    Branch,
}

/// A body, and the values around it that it uses.
pub(crate) type Body = (Arc<Graph>, Vec<Value>);

/// Opens values one by one, for [`Open`].
pub struct Opener<'a> {
    program: &'a mut Program,
    name: Option<String>,
    to: Vec<Party>,
    at: Source,
}

impl Opener<'_> {
    /// Opens a value; gives the output's number.
    pub(crate) fn open(&mut self, value: &Tensor) -> usize {
        let (program, at) = (&mut *self.program, self.at);
        let number = program.outputs.len();
        let recorder = &program.recorder;
        recorder.fail_in_body("an opening", at);
        if let Err(fault) = check_parties(&self.to, program.parties) {
            recorder.fail(at, fault);
        }
        let opened = value.import(recorder, "an opening", at);
        if let Some(opened) = opened {
            recorder.graph.borrow_mut().add_result(opened);
        }
        program.outputs.push(OutputPort {
            to: self.to.clone(),
            name: self.name.clone(),
            tensor_type: TensorType::new(value.element(), value.shape().clone()),
            at,
        });
        number
    }
}
