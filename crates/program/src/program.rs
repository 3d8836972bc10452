//! The builder of programs, and what it builds.

mod require;
mod stage;

use std::sync::Arc;

use madrigal_core::{MAX_PARTIES, Party, PartyError};

use crate::array::IntoArray;
use crate::computation::{Between, Computation};
use crate::element::{Plain, Type};
use crate::error::{Fault, ProgramError, Source};
use crate::holder::Holder;
use crate::ir::{Graph, Op, Rounding, Value};
use crate::lower::Mix;
use crate::opening::{Open, Opener, Receivers};
use crate::ports::{InputPort, OutputPort};
use crate::recorder::{Body, Recorder};
use crate::requirement::Requirement;
use crate::secret::{Secret, Tensor};
use crate::shape::{IntoShape, Shape};
use crate::tensor_type::TensorType;

/// Builds a program: it is passed around, and everything that is done to the secrets it hands out is
/// recorded in it. Nothing is computed before the program is [finished](Program::finish) and run.
///
/// An operator that cannot be makes no panic: the first such is kept, with its place in the source, and
/// is what [`Program::finish`] gives. What depends on it is not looked at.
pub struct Program {
    recorder: Arc<Recorder>,
    parties: usize,
    inputs: Vec<InputPort>,
    outputs: Vec<OutputPort>,
    mix: Option<Mix>,
    between: Between,
    /// Kept values, as the graph knows them.
    kept: Vec<Value>,
    /// Requirements, each with its bit.
    required: Vec<(Value, Requirement)>,
}

impl Program {
    /// An empty program for `parties` parties, at most [`MAX_PARTIES`].
    #[track_caller]
    pub fn new(parties: usize) -> Self {
        let recorder = Arc::<Recorder>::default();
        if parties == 0 || parties > MAX_PARTIES {
            let error = PartyError { index: 0, parties };
            recorder.fail(Source::here(), error.into());
        }
        Self::recorded(parties, recorder)
    }

    /// A program for what a body records.
    pub(crate) fn within(&self, body: Arc<Recorder>) -> Self {
        Self::recorded(self.parties, body)
    }

    fn recorded(parties: usize, recorder: Arc<Recorder>) -> Self {
        Self {
            recorder,
            parties,
            inputs: Vec::new(),
            outputs: Vec::new(),
            mix: None,
            between: Between::default(),
            kept: Vec::new(),
            required: Vec::new(),
        }
    }

    /// Number of parties that compute.
    pub fn parties(&self) -> usize {
        self.parties
    }

    /// Gives the program a default mix of its own, which whoever runs the program may
    /// replace.
    #[must_use]
    pub fn with_default(self, mix: Mix) -> Self {
        Self {
            mix: Some(mix),
            ..self
        }
    }

    /// Has products with a fixed point cut off as `rounding` says from now on: those by `*`,
    /// [`Secret::matmul`], [`Secret::divided_by`] and all others that do not say it themselves.
    ///
    /// [`Rounding::Probabilistic`] saves, in `A` between two parties, a circuit and two conversions for each
    /// number: results are one step higher at times, and, for products that are not far below the type's
    /// range, wrong with a chance that [`Secret::mul_probabilistic`] tells. [`Computation::check`] finds numbers for
    /// which it is more than one in a million.
    #[must_use]
    pub fn with_rounding(self, rounding: Rounding) -> Self {
        self.recorder.set_rounding(rounding);
        self
    }

    /// A secret that a party or a [client](crate::Client) brings along when the program is run: a tensor of this shape.
    #[track_caller]
    pub fn input<T: Plain>(
        &mut self,
        owner: impl Into<Holder>,
        shape: impl IntoShape,
    ) -> Secret<T> {
        let input = self.any_input(None, owner.into(), T::TYPE, &shape.axes());
        Secret::of(input)
    }

    /// A secret that a party or a client brings along, with a name by which programs for the terminal ask for it.
    #[track_caller]
    pub fn input_named<T: Plain>(
        &mut self,
        name: &str,
        owner: impl Into<Holder>,
        shape: impl IntoShape,
    ) -> Secret<T> {
        let input = self.any_input(Some(name), owner.into(), T::TYPE, &shape.axes());
        Secret::of(input)
    }

    #[track_caller]
    pub(crate) fn any_input(
        &mut self,
        name: Option<&str>,
        owner: Holder,
        element: Type,
        axes: &[usize],
    ) -> Tensor {
        let at = self.recorder.placed(Source::here());
        let shape = self.shape(axes, at);
        self.recorder.fail_in_body("an input", at);
        if let Err(fault) = check(&owner, self.parties) {
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
        let value = self.recorder.leaf(op, typed, at);
        Tensor::new(&self.recorder, Some(value))
    }

    /// A public tensor, which mixes with secrets. Elements meet operators without it too: `x + 3`.
    #[track_caller]
    pub fn constant<T: Plain>(&mut self, elements: impl IntoArray<T>) -> Secret<T> {
        Secret::constant(&self.recorder, elements.parts(), Source::here())
    }

    /// Opens values, of any types in a tuple, to a party, to several, to all
    /// ([`Everyone`](crate::Everyone)), or to [clients](crate::Client). Gives what the results are fetched with.
    #[track_caller]
    pub fn open<O: Open>(&mut self, values: O, to: impl Receivers) -> O::Handles {
        self.open_any(None, to, Source::here(), |opener| values.open(opener))
    }

    /// Opens values under a name, by which programs for the terminal show the result; the values of a tuple
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
            open: &mut |value| self.open_one(name, &to, value, at),
        })
    }

    /// Opens a value; gives the output's number.
    fn open_one(&mut self, name: Option<&str>, to: &[Holder], value: &Tensor, at: Source) -> usize {
        self.recorder.fail_in_body("an opening", at);
        if let Err(fault) = check_receivers(to, self.parties) {
            self.recorder.fail(at, fault);
        }
        if let Some(opened) = value.import(&self.recorder, "an opening", at) {
            self.recorder.add_result(opened);
        }
        self.outputs.push(OutputPort {
            to: to.to_vec(),
            name: name.map(Into::into),
            tensor_type: value.tensor_type(),
            at,
        });
        self.outputs.len() - 1
    }

    /// The program as it can be run, its graph without what no opening needs.
    ///
    /// # Errors
    /// The first operator that could not be.
    pub fn finish(self) -> Result<Computation, ProgramError> {
        self.finish_by(Graph::optimised)
    }

    /// The program as it was [recorded](Self::record), without what no opening needs: what was finished once is as it was then.
    ///
    /// # Errors
    /// The first operator that could not be.
    pub fn finish_as_recorded(self) -> Result<Computation, ProgramError> {
        self.finish_by(Graph::alive)
    }

    fn finish_by(self, simplify: fn(&Graph) -> Graph) -> Result<Computation, ProgramError> {
        let required = self.required.iter().map(|&(value, _)| value);
        for value in required.chain(self.kept.iter().copied()) {
            self.recorder.add_result(value);
        }
        let graph = self.recorder.end()?;
        graph.moves_by_permutations()?;
        let graph = simplify(&graph);
        let required = self.required.into_iter();
        let bits = graph.results().iter().skip(self.outputs.len());
        let requirements = required
            .zip(bits)
            .map(|((_, one), &bit)| one.of(bit, &graph, &self.inputs))
            .collect();
        Ok(Computation::new(
            self.parties,
            graph,
            self.inputs,
            self.outputs,
            requirements,
            self.mix.unwrap_or_default(),
            self.between,
        ))
    }

    /// Begins a part of the program, a number of the caller's, or ends it: all that is recorded from now on belongs to it. It is of
    /// no consequence but for reports: [`Executable::part`](crate::Executable::part) tells of each operation of a plan
    /// which part asked for it. What several parts ask for belongs to the first, and a circuit that is made of several
    /// parts' operators to the last of them.
    pub fn part(&mut self, part: Option<u32>) {
        self.recorder.set_part(part);
    }

    fn shape(&self, axes: &[usize], at: Source) -> Shape {
        Shape::checked(axes).unwrap_or_else(|| {
            let axes = axes.to_vec();
            self.recorder.fail(at, Fault::TooLarge { axes });
            Shape::scalar()
        })
    }

    pub(crate) fn recorder(&self) -> &Arc<Recorder> {
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
        results: impl FnOnce(&R) -> Vec<(Arc<Recorder>, Option<Value>)>,
        at: Source,
    ) -> (Option<Body>, R) {
        let recorder = self.recorder.body(carried, common);
        let mut inner = self.within(Arc::clone(&recorder));
        let operator = match place {
            Place::Loop => "the result of a loop",
            Place::Branch => "the result of a secret branch",
        };
        if place == Place::Branch {
            Recorder::enter(&recorder);
        }
        let result = body(&mut inner);
        if place == Place::Branch {
            recorder.leave();
        }
        let mut complete = true;
        for (from, value) in results(&result) {
            match value.and_then(|value| recorder.import(&from, value, operator, at)) {
                Some(value) => recorder.add_result(value),
                None => complete = false,
            }
        }
        let recorded = recorder.end_body().filter(|_| complete);
        (recorded, result)
    }

    /// A leaf of a loop's body.
    pub(crate) fn leaf(&mut self, op: Op, typed: TensorType, at: Source) -> Value {
        self.recorder.leaf(op, typed, at)
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

/// The construct that a body belongs to.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Place {
    Loop,
    Branch,
}

/// Checks that somebody takes part in a program of `parties` parties.
fn check(holder: &Holder, parties: usize) -> Result<(), Fault> {
    match holder {
        Holder::Party(party) => {
            Party::checked(party.index(), parties)?;
            Ok(())
        }
        Holder::Client(_) if parties == 1 => Err(Fault::OneParty),
        Holder::Client(client) if client.is_named_well() => Ok(()),
        Holder::Client(client) => {
            let name = client.name().to_owned();
            Err(Fault::ClientName { name })
        }
    }
}

/// Checks that there are receivers, and that all take part.
fn check_receivers(to: &[Holder], parties: usize) -> Result<(), Fault> {
    if to.is_empty() {
        return Err(Fault::Nobody);
    }
    to.iter().try_for_each(|holder| check(holder, parties))
}
