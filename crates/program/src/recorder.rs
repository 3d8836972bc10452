//! Recording of operators.

use std::collections::HashMap;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use crate::array::Array;
use crate::error::{Fault, ProgramError, Source};
use crate::ir::{Graph, Op, Rounding, Value};
use crate::tensor_type::TensorType;

/// A place at which threads take turns: what is recorded on one may be dropped on another.
#[derive(Default)]
struct Slot<T>(Mutex<T>);

impl<T> Slot<T> {
    fn new(content: T) -> Self {
        Self(Mutex::new(content))
    }

    fn lock(&self) -> MutexGuard<'_, T> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn set(&self, content: T) {
        *self.lock() = content;
    }
}

impl<T: Copy> Slot<T> {
    fn get(&self) -> T {
        *self.lock()
    }
}

impl<T: Default> Slot<T> {
    fn take(&self) -> T {
        std::mem::take(&mut *self.lock())
    }
}

/// Records operators in the graph of a program, or of the body of a loop or a branch.
#[derive(Default)]
pub(crate) struct Recorder {
    graph: Slot<Graph>,
    /// Surroundings of a body.
    outer: Option<Outer>,
    depth: usize,
    /// Whether the graph is done, so that nothing can be added.
    closed: Slot<bool>,
    whole: Arc<Whole>,
}

/// State that all graphs of a program have in common.
#[derive(Default)]
struct Whole {
    /// The first error of the program.
    error: Slot<Option<ProgramError>>,
    /// Secret branches that are being recorded, the inner ones last. What is done then to values from around them is a
    /// part of the branch, too.
    branches: Slot<Vec<Arc<Recorder>>>,
    /// How products are cut off where they do not say it themselves.
    rounding: Slot<Rounding>,
    /// The part that is being recorded.
    part: Slot<Option<u32>>,
    /// The place that all that is recorded is said to stand at, in place of the caller's.
    place: Slot<Option<Source>>,
}

/// The graph around a body, and the values of that graph that the body uses.
struct Outer {
    recorder: Arc<Recorder>,
    /// Inputs that the body has by itself: state or rows of a loop, the index of a conditional.
    carried: usize,
    captured: Slot<Vec<Value>>,
    /// Number of values that were captured before the body was recorded.
    common: usize,
    arguments: Slot<HashMap<Value, Value>>,
}

/// A body, and the values around it that it uses.
pub(crate) type Body = (Arc<Graph>, Vec<Value>);

impl Recorder {
    /// Begins a body in this graph. It has `carried` inputs by itself, and then those of `common`, whether it uses them
    /// or not.
    pub(crate) fn body(self: &Arc<Self>, carried: usize, common: Vec<Value>) -> Arc<Self> {
        Arc::new(Self {
            outer: Some(Outer {
                recorder: Arc::clone(self),
                carried,
                common: common.len(),
                captured: Slot::new(common),
                arguments: Slot::default(),
            }),
            depth: self.depth + 1,
            whole: Arc::clone(&self.whole),
            ..Self::default()
        })
    }

    /// Ends a body.
    pub(crate) fn end_body(&self) -> Option<Body> {
        self.closed.set(true);
        let captured = self.outer.as_ref()?.captured.take();
        Some((Arc::new(self.graph.take()), captured))
    }

    /// Ends a program: gives its graph.
    ///
    /// # Errors
    /// [`ProgramError`] of the first operator that could not be.
    pub(crate) fn end(&self) -> Result<Graph, ProgramError> {
        self.closed.set(true);
        match self.whole.error.lock().take() {
            Some(error) => Err(error),
            None => Ok(self.graph.take()),
        }
    }

    /// Records all that follows as parts of a secret branch, until [`leave`](Self::leave).
    pub(crate) fn enter(branch: &Arc<Self>) {
        let branches = &branch.whole.branches;
        branches.lock().push(Arc::clone(branch));
    }

    /// Leaves the innermost secret branch.
    pub(crate) fn leave(&self) {
        self.whole.branches.lock().pop();
    }

    /// Notes which part of the program is recorded from now on.
    pub(crate) fn set_part(&self, part: Option<u32>) {
        self.whole.part.set(part);
    }

    /// Says where all stands that is recorded from now on.
    pub(crate) fn set_place(&self, place: Option<Source>) {
        self.whole.place.set(place);
    }

    /// A place in the source, as one of the part that is being recorded.
    pub(crate) fn placed(&self, at: Source) -> Source {
        let at = self.whole.place.get().unwrap_or(at);
        at.of_part(self.whole.part.get())
    }

    /// How products are cut off where they do not say it themselves.
    pub(crate) fn rounding(&self) -> Rounding {
        self.whole.rounding.get()
    }

    /// Changes how products are cut off where they do not say it themselves.
    pub(crate) fn set_rounding(&self, rounding: Rounding) {
        self.whole.rounding.set(rounding);
    }

    /// Keeps an error of an input or an opening that stands in a body.
    pub(crate) fn fail_in_body(&self, what: &'static str, at: Source) {
        if self.outer.is_none() {
            return;
        }
        let in_branch = !self.whole.branches.lock().is_empty();
        self.fail(
            at,
            match in_branch {
                true => Fault::InBranch { what },
                false => Fault::InLoop { what },
            },
        );
    }

    /// The recorder of the graph around a body.
    pub(crate) fn around(&self) -> Option<Arc<Self>> {
        Some(Arc::clone(&self.outer.as_ref()?.recorder))
    }

    /// The error that is kept, if there is one.
    pub(crate) fn failure(&self) -> Option<ProgramError> {
        self.whole.error.lock().clone()
    }

    /// Keeps an error, unless there is one already.
    pub(crate) fn fail(&self, at: Source, fault: Fault) {
        let at = self.placed(at);
        let mut error = self.whole.error.lock();
        error.get_or_insert(ProgramError { at, fault });
    }

    pub(crate) fn type_of(&self, value: Value) -> TensorType {
        self.graph.lock().type_of(value).clone()
    }

    /// Adds an operation; `None` where there was an error, which is kept.
    pub(crate) fn add(&self, op: Op, inputs: Vec<Value>, at: Source) -> Option<Value> {
        let at = self.placed(at);
        match self.graph.lock().add(op, inputs, at) {
            Ok(value) => Some(value),
            Err(error) => {
                self.fail(error.at, error.fault);
                None
            }
        }
    }

    /// All results of the operation that has this one.
    pub(crate) fn results_of(&self, value: Value) -> impl Iterator<Item = Value> {
        let count = self.graph.lock().maker(value).outputs.len();
        value.outputs(count)
    }

    /// Adds an operation without operands.
    pub(crate) fn leaf(&self, op: Op, typed: TensorType, at: Source) -> Value {
        let at = self.placed(at);
        self.graph.lock().leaf(op, typed, at)
    }

    pub(crate) fn add_constant(&self, array: Array, at: Source) -> Value {
        let at = self.placed(at);
        self.graph.lock().add_constant(array, at)
    }

    /// Adds a value that leaves the graph.
    pub(crate) fn add_result(&self, value: Value) {
        self.graph.lock().add_result(value);
    }

    /// The value as this graph knows it: one of a graph around this one becomes an argument of the loops
    /// between. `None` where that cannot be, which is an error of `operator`.
    pub(crate) fn import(
        self: &Arc<Self>,
        from: &Arc<Recorder>,
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

    fn argument(self: &Arc<Self>, from: &Arc<Recorder>, value: Value, at: Source) -> Option<Value> {
        if Arc::ptr_eq(self, from) {
            return Some(value);
        }
        let outer = self.outer.as_ref()?;
        let value = outer.recorder.argument(from, value, at)?;
        if let Some(&argument) = outer.arguments.lock().get(&value) {
            return Some(argument);
        }
        let mut captured = outer.captured.lock();
        // Branches of one conditional have their arguments in common.
        let mut common = captured.iter().take(outer.common);
        let place = common.position(|&at| at == value).unwrap_or_else(|| {
            captured.push(value);
            captured.len() - 1
        });
        let typed = outer.recorder.type_of(value);
        let argument = self.leaf(Op::Argument(outer.carried + place), typed, at);
        outer.arguments.lock().insert(value, argument);
        Some(argument)
    }

    /// The inner one of two graphs.
    pub(crate) fn inner<'a>(a: &'a Arc<Self>, b: &'a Arc<Self>) -> &'a Arc<Self> {
        if b.depth > a.depth { b } else { a }
    }

    /// The graph where an operator on values of this graph and of those around it is recorded: this one, or the secret
    /// branch that is being recorded.
    pub(crate) fn here(self: &Arc<Self>) -> Arc<Self> {
        match self.whole.branches.lock().last() {
            Some(branch) if branch.depth > self.depth => Arc::clone(branch),
            _ => Arc::clone(self),
        }
    }
}
