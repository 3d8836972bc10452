//! Numbers of all rows together.

use madrigal_program::{Plain, Tensor, Type};

use super::super::find::starts;
use super::super::relation::{Relation, full};
use super::super::{Lowering, Result, hidden};
use super::elements::{end, extreme, reduce};
use super::{Measure, Part, Parts};
use crate::expression::{Cell, constant, fit};
use crate::frame::Quantile;

impl Lowering<'_> {
    /// Numbers of all rows together.
    pub(super) fn of_all(
        &mut self,
        relation: &Relation,
        measures: &[Measure],
        parts: &[Part],
    ) -> Result<(Relation, Parts)> {
        let rows = relation.rows;
        let valid = relation.valid.as_ref();
        let mut made = Vec::new();
        for part in parts {
            made.push(match part {
                Part::Rows => vec![self.number_of(valid, rows)],
                Part::Values(measure) => {
                    let cell = &measures[*measure].cell;
                    let flag = cell.present.as_ref().map(|present| match valid {
                        Some(valid) => present.and(valid),
                        None => present.clone(),
                    });
                    vec![self.number_of(flag.as_ref().or(valid), rows)]
                }
                Part::Sum(measure, squared, element) => {
                    let cell = &measures[*measure].cell;
                    let value = fit(&self.masked(cell, valid, |_| 0)[0], *element);
                    let value = if *squared { value.square() } else { value };
                    vec![value.sum(0)]
                }
                Part::Extreme(measure, greatest) => {
                    let cell = &measures[*measure].cell;
                    let greatest = *greatest;
                    if rows == 0 {
                        let none = cell.parts.iter();
                        let none = none.map(|part| constant(self.program, part.element(), 0));
                        made.push(none.collect());
                        continue;
                    }
                    let all = self.masked(cell, valid, |element| end(element, greatest));
                    let one = reduce(all, &|one, other| extreme(one, other, greatest));
                    one.iter().map(|part| part.at(0, 0)).collect()
                }
                Part::Distinct(measure) => {
                    let cell = measures[*measure].cell.clone();
                    vec![self.distinct_of_all(relation, &cell)?]
                }
                Part::Quantile(measure, quantile, element) => {
                    let cell = measures[*measure].cell.clone();
                    self.quantile_of_all(relation, &cell, *quantile, *element)?
                }
            });
        }
        for tensor in made.iter_mut().flatten() {
            *tensor = full(tensor, 1);
        }
        let mut of_all = Relation::new(Vec::new(), Vec::new(), None, 1);
        of_all.is_front = true;
        of_all.is_canonical = true;
        Ok((of_all, made))
    }

    /// The values of all rows that count, in order before all others, with a flag for each row that says which these are.
    fn in_order_of_values(&mut self, relation: &Relation, cell: &Cell) -> (Relation, Vec<Tensor>) {
        let counts = match (&cell.present, &relation.valid) {
            (Some(present), Some(valid)) => Some(present.and(valid)),
            (one, other) => one.clone().or_else(|| other.clone()),
        };
        let column = hidden("value", cell.kind.clone());
        let value = Cell::new(cell.kind.clone(), cell.parts.clone(), None);
        let alone = Relation::new(vec![column], vec![value], counts, relation.rows);
        let by = cell
            .parts
            .iter()
            .map(|part| (part.clone(), false))
            .collect();
        alone.ordered(by, true)
    }

    /// Number of different values of all rows that count.
    fn distinct_of_all(&mut self, relation: &Relation, cell: &Cell) -> Result<Tensor> {
        let (sorted, keys) = self.in_order_of_values(relation, cell);
        let starts = starts(self.program, &keys, relation.rows);
        let first = match &sorted.valid {
            Some(valid) => starts.and(valid),
            None => starts,
        };
        Ok(self.number_of(Some(&first), relation.rows))
    }

    /// The value at a place of all rows that count: ranks are public once these are in order.
    fn quantile_of_all(
        &mut self,
        relation: &Relation,
        cell: &Cell,
        quantile: Quantile,
        element: Type,
    ) -> Result<Vec<Tensor>> {
        let rows = relation.rows;
        let (sorted, keys) = self.in_order_of_values(relation, cell);
        let count = self.number_of(sorted.valid.as_ref(), rows);
        let ranks = self.places(rows);
        let value = Cell::new(cell.kind.clone(), keys, None);
        let parts = self.masked(&value, sorted.valid.as_ref(), |_| 0);
        let weighed = self.weighed(&parts, &full(&count, rows), &ranks, quantile, element)?;
        Ok(weighed.iter().map(|part| part.sum(0)).collect())
    }

    /// Number of flags that are true; all are without any.
    pub(super) fn number_of(&mut self, flags: Option<&Tensor>, rows: usize) -> Tensor {
        match flags {
            Some(flags) => flags.cast(u32::TYPE).sum(0),
            None => constant(self.program, u32::TYPE, rows as u128),
        }
    }
}
