//! Maxima and averages of windows.

use madrigal_program::Tensor as Secret;

use super::forms::Form;
use super::lowering::Lowering;
use super::planar::{Planar, along_two, fits, with_rows, without_rows};
use super::stop::{Lowered, cannot};
use crate::graph::{ValueId, Window};

impl Planar {
    /// All windows of a padded image, `[size, images, channels, rows, columns]`.
    fn over(&self, x: &Secret, fill: &Secret) -> Lowered<Secret> {
        let &[images, channels, rows, columns] = x.shape().axes() else {
            return cannot("its data has no rows and columns");
        };
        let lengths = self.padded([rows, columns])?;
        fits(&[images, channels, lengths[0], lengths[1]])?;
        // Windows are as many as the strides allow.
        let places = [0, 1].map(|axis| lengths[axis] / self.strides[axis].max(1) + 1);
        fits(&[
            images,
            channels,
            self.size[0],
            self.size[1],
            places[0],
            places[1],
        ])?;
        let mut padded = x.clone();
        for axis in 0..2 {
            padded = padded.pad(2 + axis, self.before[axis], self.after[axis], fill);
        }
        let windows = padded.windows(self.size, self.strides, self.dilations);
        Ok(match *windows.shape().axes() {
            [y, x, n, c, rows, columns] => windows.reshape([y * x, n, c, rows, columns]),
            _ => windows,
        })
    }

    /// Counts, at each output, the places of the window that count: those from `-before` up to `length + after`.
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
        let window = Planar::new(window)?;
        let form = self.cut(x)?;
        let element = form.secret().element();
        let least = match element.is_signed() {
            true => -(2f64.powi((element.bits() - 1 - element.fraction()) as i32)),
            false => 0.0,
        };
        let least = self.forms.public(element, least)?;
        let one_axis = form.secret().shape().rank() == 3;
        let greatest = window.over(&with_rows(form.secret()), &least)?.greatest(0);
        Ok(form.map(|_| without_rows(greatest, one_axis)))
    }

    pub(super) fn average_pool(
        &mut self,
        window: &Window,
        counted: Option<&[usize]>,
        x: ValueId,
    ) -> Lowered<Form> {
        let window = Planar::new(window)?;
        let number = self.format.number;
        let zero = self.forms.public(number, 0.0)?;
        let x = self.forms.number(x)?;
        let one_axis = x.shape().rank() == 3;
        let x = with_rows(&x);
        let sums = window.over(&x, &zero)?.sum(0);
        let counted = match counted {
            None => [[0; 2]; 2],
            Some(after) => {
                let after = along_two(after, 0)?;
                [0, 1].map(|axis| [window.before[axis], after[axis]])
            }
        };
        let &[_, _, height, width] = x.shape().axes() else {
            return cannot("its data has no rows and columns");
        };
        let (counts, lengths) = window.counts([height, width], counted);
        let first = counts.first().copied().unwrap_or(1);
        if counts.iter().all(|&count| count == first) {
            let average = sums.divided_by(first.max(1) as f64);
            return Ok(Form::Number(without_rows(average, one_axis), 0));
        }
        let shares: Vec<f64> = counts.iter().map(|&n| 1.0 / n.max(1) as f64).collect();
        let shares = self.forms.publics(number, &lengths, &shares)?;
        let product = without_rows(sums.times(&shares), one_axis);
        Ok(self.product(product))
    }
}
