//! Maxima and averages of windows.

use madrigal_program::Tensor as Secret;

use super::forms::Form;
use super::{Lowered, Lowering, cannot};
use crate::graph::{ValueId, Window};

const SPACES: &str = "windows move along one or two axes";

/// One end or size of a window along rows and columns.
fn planar(values: &[usize], one: usize) -> Option<[usize; 2]> {
    match *values {
        [columns] => Some([one, columns]),
        [rows, columns] => Some([rows, columns]),
        _ => None,
    }
}

/// A window along two axes.
struct Planar {
    size: [usize; 2],
    strides: [usize; 2],
    dilations: [usize; 2],
    before: [usize; 2],
    after: [usize; 2],
}

impl Planar {
    fn new(window: &Window) -> Option<Self> {
        Some(Self {
            size: planar(&window.kernel, 1)?,
            strides: planar(&window.strides, 1)?,
            dilations: planar(&window.dilations, 1)?,
            before: planar(&window.before, 0)?,
            after: planar(&window.after, 0)?,
        })
    }

    /// All windows of a padded image, `[size, images, channels, rows, columns]`.
    fn over(&self, x: &Secret, fill: &Secret) -> Secret {
        let mut padded = x.clone();
        for axis in 0..2 {
            padded = padded.pad(2 + axis, self.before[axis], self.after[axis], fill);
        }
        let windows = padded.windows(self.size, self.strides, self.dilations);
        match *windows.shape().axes() {
            [y, x, n, c, rows, columns] => windows.reshape([y * x, n, c, rows, columns]),
            _ => windows,
        }
    }

    /// How many places of the window at each output count: those from `-before` up to `length + after`.
    fn counts(&self, lengths: [usize; 2], counted: [[usize; 2]; 2]) -> (Vec<usize>, [usize; 2]) {
        let along = |axis: usize| -> Vec<usize> {
            let [before, after] = counted[axis];
            let padded = lengths[axis] + self.before[axis] + self.after[axis];
            let reach = self.dilations[axis] * (self.size[axis] - 1) + 1;
            let outputs = padded.saturating_sub(reach) / self.strides[axis] + 1;
            let counts = |place: usize| {
                let at = place + before;
                at >= self.before[axis] && place < self.before[axis] + lengths[axis] + after
            };
            let of = |output: usize| {
                let first = output * self.strides[axis];
                let places = (0..self.size[axis]).map(|at| first + at * self.dilations[axis]);
                places.filter(|&place| counts(place)).count()
            };
            (0..outputs).map(of).collect()
        };
        let (rows, columns) = (along(0), along(1));
        let lengths = [rows.len(), columns.len()];
        let product = |row: &usize| {
            columns
                .iter()
                .map(|column| row * column)
                .collect::<Vec<_>>()
        };
        (rows.iter().flat_map(product).collect(), lengths)
    }
}

impl Lowering<'_> {
    pub(super) fn max_pool(&mut self, window: &Window, x: ValueId) -> Lowered<Form> {
        let Some(window) = Planar::new(window) else {
            return cannot(SPACES);
        };
        let number = self.format.number;
        let limit = 2f64.powi((number.bits() - 1 - number.fraction()) as i32);
        let least = self.forms.public(number, -limit)?;
        let x = self.forms.number(x)?;
        let one_axis = x.shape().rank() == 3;
        let x = if one_axis { x.expand(2) } else { x };
        let greatest = window.over(&x, &least).greatest(0);
        Ok(Form::Number(flat(greatest, one_axis), 0))
    }

    pub(super) fn average_pool(
        &mut self,
        window: &Window,
        counted: Option<&[usize]>,
        x: ValueId,
    ) -> Lowered<Form> {
        let Some(window) = Planar::new(window) else {
            return cannot(SPACES);
        };
        let number = self.format.number;
        let zero = self.forms.public(number, 0.0)?;
        let x = self.forms.number(x)?;
        let one_axis = x.shape().rank() == 3;
        let x = if one_axis { x.expand(2) } else { x };
        let &[_, _, height, width] = x.shape().axes() else {
            return cannot(SPACES);
        };
        let counts = match counted {
            None => [[0; 2]; 2],
            Some(after) => match planar(after, 0) {
                None => return cannot(SPACES),
                Some(after) => [0, 1].map(|axis| [window.before[axis], after[axis]]),
            },
        };
        let sums = window.over(&x, &zero).sum(0);
        let (counts, lengths) = window.counts([height, width], counts);
        let first = counts.first().copied().unwrap_or(1);
        if counts.iter().all(|&count| count == first) {
            let average = sums.divided_by(first.max(1) as f64);
            return Ok(Form::Number(flat(average, one_axis), 0));
        }
        let shares: Vec<f64> = counts.iter().map(|&n| 1.0 / n.max(1) as f64).collect();
        let shares = self.forms.publics(number, &lengths, &shares)?;
        let product = flat(sums.times(&shares), one_axis);
        Ok(self.product(product))
    }
}

/// Without the axis for rows, if it was added.
fn flat(x: Secret, one_axis: bool) -> Secret {
    match (one_axis, x.shape().axes()) {
        (true, &[n, c, rows, columns]) => x.reshape([n, c, rows * columns]),
        _ => x,
    }
}
