//! Orders of rows that nobody knows.

use std::fmt;

use super::Tensor;
use crate::error::{Fault, Source};
use crate::ir::Op;
use crate::program::Program;

/// An order of rows that nobody knows, as a value: it is applied to columns, also to such as were made later, inverted, and composed
/// with others.
///
/// It is one of a sort or of a shuffle, or made of such: rows are moved by opening their places in a random order, which tells nothing
/// where no two are alike. So no tensor becomes a permutation, whatever stands in it.
///
/// Each of [`apply`](Self::apply), [`then`](Self::then) and what a permutation takes of its inverse costs a shuffle of the columns
/// beside the places, and an opening of 32 bits for each row: three rounds in R or between two parties. What nothing uses costs nothing.
/// Three parties do it in R, two in mixes with B; in others it is an error, as [`Tensor::shuffle`] is.
///
/// ```
/// use madrigal_circuit::Goal;
/// use madrigal_program::lower::Mix;
/// use madrigal_program::{Everyone, Inputs, Party, Permutation, Program};
/// let mut p = Program::new(3);
/// let ages = p.input::<u8>(Party::new(0), [4]).untyped();
/// let bills = p.input::<u32>(Party::new(1), [4]).untyped();
/// let by_age = Permutation::sorting(&[(&ages, true)]);
/// // Each bill less that of the next younger person, told to each in the old order.
/// let sorted = &by_age.apply(&[&bills])[0];
/// let next = sorted.slice(0, 1..4);
/// let more = sorted.slice(0, 0..3).minus(&next);
/// let all = madrigal_program::Tensor::concat(&[&more, &sorted.slice(0, 3..4)], 0);
/// let back = by_age.inverse().apply(&[all.as_ref().expect("parts")]);
/// let back = p.open(back[0].typed::<u32>(), Everyone);
/// let inputs = Inputs::new().with([30u8, 50, 20, 40]).with([7u32, 9, 1, 8]);
/// let program = p.finish()?;
/// assert_eq!(program.simulate(&inputs)?.get(back), [6, 1, 1, 1]);
/// let planned = program.plan(Mix::R, Some(Goal::Size), &|_| {})?;
/// assert_eq!(planned.run_locally(&program, &inputs)?[0].outputs.get(back), [6, 1, 1, 1]);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone)]
#[must_use = "a permutation moves nothing before it is applied"]
pub struct Permutation {
    /// New place of each row.
    places: Tensor,
    /// Old place of each new row: the places of the inverse.
    order: Tensor,
}

impl fmt::Debug for Permutation {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Permutation of {} rows", self.rows())
    }
}

impl Permutation {
    /// The order into which [`Tensor::sort_by`] would bring rows with these keys, of which each says whether its greatest elements come first.
    /// Keys are lists of one axis; where they are others, that is an error of the program.
    ///
    /// # Panics
    /// If there is no key.
    #[track_caller]
    pub fn sorting(keys: &[(&Tensor, bool)]) -> Self {
        let at = Source::here();
        let (first, _) = keys.first().expect("a key to sort by");
        let &[rows] = first.shape().axes() else {
            let operator = "a permutation".to_owned();
            let what = format!("keys of shape {}, and it takes lists", first.shape());
            let failed = first.failed(Fault::Lengths { operator, what }, at);
            return Self {
                places: failed.clone(),
                order: failed,
            };
        };
        let numbers = first.numbered(rows, at);
        let mut sorted = Tensor::sort_by(keys, &[&numbers]);
        let order = sorted.swap_remove(keys.len());
        Self::inverse_of(&numbers, order, at).inverse()
    }

    /// An order of `rows` rows that is drawn at random, each as likely as any other. In the clear it leaves rows as they are.
    #[track_caller]
    pub fn random(program: &mut Program, rows: usize) -> Self {
        let at = Source::here();
        let recorder = program.recorder();
        let value = recorder.add(Op::Numbered(rows), Vec::new(), at);
        let numbers = Tensor::new(recorder, value);
        let places = Tensor::shuffle(&[&numbers]).swap_remove(0);
        Self::inverse_of(&numbers, places, at)
    }

    /// The permutation with these places, whose inverse is found where something takes it.
    fn inverse_of(numbers: &Tensor, places: Tensor, at: Source) -> Self {
        let order = places.with(Op::MoveRows, &[numbers], at);
        Self { places, order }
    }

    /// Number of rows.
    pub fn rows(&self) -> usize {
        self.places.shape().elements()
    }

    /// Puts columns into this order: lists with as many rows. It is one operation, whatever the number of columns.
    #[track_caller]
    pub fn apply(&self, columns: &[&Tensor]) -> Vec<Tensor> {
        match columns {
            [] => Vec::new(),
            _ => self
                .places
                .results(Op::MoveRows, columns, columns.len() as u32, Source::here()),
        }
    }

    /// The permutation that undoes this one. Nothing is computed for it by itself.
    pub fn inverse(&self) -> Self {
        Self {
            places: self.order.clone(),
            order: self.places.clone(),
        }
    }

    /// The permutation that does this one first and then `next`, of as many rows.
    #[track_caller]
    pub fn then(&self, next: &Self) -> Self {
        let at = Source::here();
        Self {
            // Between the two, row `order[j]` stands at j.
            places: self.order.with(Op::MoveRows, &[&next.places], at),
            order: next.places.with(Op::MoveRows, &[&self.order], at),
        }
    }

    /// The place to which each row goes, from 0 on, as `u32`: a secret.
    pub fn places(&self) -> Tensor {
        self.places.clone()
    }
}

impl Tensor {
    /// The numbers of rows, where this value is known.
    fn numbered(&self, rows: usize, at: Source) -> Self {
        let recorder = self.recorder.here();
        let value = recorder.add(Op::Numbered(rows), Vec::new(), at);
        Self::new(&recorder, value)
    }
}
