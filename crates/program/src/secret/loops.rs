//! Loops that stay loops.

use std::sync::Arc;

use super::{Secret, Tensor};
use crate::element::Plain;
use crate::error::{Fault, Source};
use crate::ir::{Op, TensorType, Value};
use crate::program::{Place, Program};
use crate::recorder::Recorder;

/// Number of times that a loop's body was run before: public, and another number each time.
#[derive(Clone)]
pub struct Index {
    tensor: Tensor,
    count: usize,
}

impl Index {
    /// The number as a value that mixes with secrets.
    pub fn number(&self) -> Secret<u32> {
        Secret::of(self.tensor.clone())
    }

    pub(super) fn tensor(&self) -> &Tensor {
        &self.tensor
    }

    /// One more than the greatest number it can be.
    pub(super) fn count(&self) -> usize {
        self.count
    }
}

/// One secret or several: what a loop carries from one time to the next, and what it makes of rows.
pub trait State: Sized {
    /// The values and their graphs.
    #[doc(hidden)]
    fn parts(&self) -> Vec<Part>;

    /// Makes a state of other values.
    #[doc(hidden)]
    fn made_of(&self, parts: &mut dyn Iterator<Item = Part>) -> Self;
}

/// One value of a [`State`].
#[derive(Clone)]
pub struct Part {
    pub(super) recorder: Arc<Recorder>,
    pub(super) value: Option<Value>,
}

impl<T: Plain> State for Secret<T> {
    fn parts(&self) -> Vec<Part> {
        vec![Part {
            recorder: Arc::clone(&self.tensor.recorder),
            value: self.tensor.value,
        }]
    }

    fn made_of(&self, parts: &mut dyn Iterator<Item = Part>) -> Self {
        match parts.next() {
            Some(Part {
                recorder,
                value: Some(value),
            }) => Secret::new(&recorder, Some(value)),
            _ => Self::of(self.tensor.nothing()),
        }
    }
}

impl<S: State> State for Vec<S> {
    fn parts(&self) -> Vec<Part> {
        self.iter().flat_map(State::parts).collect()
    }

    fn made_of(&self, parts: &mut dyn Iterator<Item = Part>) -> Self {
        self.iter().map(|state| state.made_of(parts)).collect()
    }
}

macro_rules! tuples {
    ($($($part:ident)*;)*) => {$(
        impl<$($part: State),*> State for ($($part,)*) {
            #[allow(non_snake_case)] // a part is named as its type is
            fn parts(&self) -> Vec<Part> {
                let ($($part,)*) = self;
                [$($part.parts()),*].concat()
            }

            #[allow(non_snake_case)]
            fn made_of(&self, parts: &mut dyn Iterator<Item = Part>) -> Self {
                let ($($part,)*) = self;
                ($($part.made_of(parts),)*)
            }
        }
    )*};
}
tuples! { A B; A B C; A B C D; }

impl Program {
    /// Runs `body` on the state `count` times, one after the other, and gives the state at the end. It is
    /// recorded once and stays one node, however often it runs. The body may use any values from around
    /// it; what it computes of those alone is computed once.
    ///
    /// ```
    /// use madrigal_program::{Everyone, Inputs, Party, Program};
    /// let mut p = Program::new(2);
    /// let x = p.input::<u64>(Party::new(0), ());
    /// let one = p.constant(1u64);
    /// let power = p.repeat(10, one, |_, _, state| state * &x);
    /// let opened = p.open(power, Everyone);
    /// let outputs = p.finish()?.simulate(&Inputs::new().with(3u64))?;
    /// assert_eq!(outputs.get(opened), [59049]);
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    #[track_caller]
    pub fn repeat<S: State>(
        &mut self,
        count: usize,
        state: S,
        body: impl FnOnce(&mut Program, &Index, S) -> S,
    ) -> S {
        let at = Source::here();
        let parts = state.parts();
        let Some(inputs) = self.taken(&parts, at) else {
            return state.made_of(&mut std::iter::empty());
        };
        let types: Vec<TensorType> = inputs
            .iter()
            .map(|&value| self.recorder().type_of(value))
            .collect();
        let recorded = self.body(
            Place::Loop,
            inputs.len(),
            Vec::new(),
            |p| {
                let value = Some(p.counter(at));
                let index = Index {
                    tensor: Tensor::new(p.recorder(), value),
                    count,
                };
                let arguments = p.arguments(&types, at);
                body(p, &index, state.made_of(&mut arguments.into_iter()))
            },
            values,
            at,
        );
        let (Some((body, captured)), after) = recorded else {
            return state.made_of(&mut std::iter::empty());
        };
        if body.results().len() != inputs.len() {
            let operator = format!("repeat {count} times");
            let (now, then) = (after.parts().len(), inputs.len());
            let what = format!("the state has {then} parts, the body gives {now}");
            self.recorder().fail(at, Fault::Lengths { operator, what });
            return state.made_of(&mut std::iter::empty());
        }
        let carried = inputs.len();
        let op = Op::Repeat {
            count,
            carried,
            body,
        };
        self.loop_results(op, [inputs, captured].concat(), carried, &state, at)
    }

    /// Runs `body` for each row of `rows`, whose values all have a first axis of one length, and gives the
    /// results' rows. It is recorded once and stays one node; all rows are computed side by side.
    #[track_caller]
    pub fn map<S: State, R: State>(
        &mut self,
        rows: S,
        body: impl FnOnce(&mut Program, S) -> R,
    ) -> R {
        let at = Source::here();
        let parts = rows.parts();
        let taken = self.taken(&parts, at);
        let mut inputs = taken.clone().unwrap_or_default();
        let shapes: Vec<_> = inputs
            .iter()
            .map(|&value| self.recorder().type_of(value).shape)
            .collect();
        let lengths: Vec<_> = shapes.iter().map(|shape| shape.axes().first()).collect();
        let count = lengths.first().copied().flatten().copied();
        let alike = lengths.iter().all(|length| length.copied() == count);
        if taken.is_some() && (count.is_none() || !alike) {
            self.recorder().fail(at, Fault::Mapped { shapes });
            inputs.clear();
        }
        let carried = inputs.len();
        let types: Vec<TensorType> = inputs
            .iter()
            .map(|&value| {
                let typed = self.recorder().type_of(value);
                TensorType::new(typed.element, typed.shape.without(0))
            })
            .collect();
        let (recorded, made) = self.body(
            Place::Loop,
            carried,
            Vec::new(),
            |p| {
                let arguments = p.arguments(&types, at);
                body(p, rows.made_of(&mut arguments.into_iter()))
            },
            values,
            at,
        );
        let (Some((body, captured)), Some(count), true) = (recorded, count, alike) else {
            return made.made_of(&mut std::iter::empty());
        };
        let results = body.results().len();
        let op = Op::Map {
            count,
            carried,
            body,
        };
        self.loop_results(op, [inputs, captured].concat(), results, &made, at)
    }

    /// The values of a state as this program knows them.
    fn taken(&self, parts: &[Part], at: Source) -> Option<Vec<Value>> {
        let take = |part: &Part| {
            self.recorder()
                .import(&part.recorder, part.value?, "a loop", at)
        };
        parts.iter().map(take).collect()
    }

    /// The first arguments of a body.
    fn arguments(&mut self, types: &[TensorType], at: Source) -> Vec<Part> {
        let mut arguments = Vec::new();
        for (number, typed) in types.iter().enumerate() {
            let value = Some(self.leaf(Op::Argument(number), typed.clone(), at));
            let recorder = Arc::clone(self.recorder());
            arguments.push(Part { recorder, value });
        }
        arguments
    }

    fn loop_results<S: State>(
        &mut self,
        op: Op,
        inputs: Vec<Value>,
        count: usize,
        like: &S,
        at: Source,
    ) -> S {
        let first = self.recorder().add(op, inputs, at);
        let mut parts = (0..count as u32).map(|output| Part {
            recorder: Arc::clone(self.recorder()),
            value: first.map(|value| Value { output, ..value }),
        });
        like.made_of(&mut parts)
    }
}

pub(super) fn values<S: State>(state: &S) -> Vec<(Arc<Recorder>, Option<Value>)> {
    let parts = state.parts().into_iter();
    parts.map(|part| (part.recorder, part.value)).collect()
}
