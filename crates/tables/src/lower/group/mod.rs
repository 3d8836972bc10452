//! Groups of rows, and numbers that are told of them.

mod all;
mod elements;
mod few;
mod many;
mod ranks;

use madrigal_program::{Plain, Tensor, Type};

use super::needs::Needs;
use super::relation::{Relation, full};
use super::{Lowering, Result, hidden};
use crate::column::Column;
use crate::error::Fault;
use crate::expression::{Cell, Expression, constant, fit};
use crate::frame::{Aggregate, Frame, Groups, Quantile};
use crate::kind::Kind;

pub(super) use elements::{codes_of, end, extreme};

/// A column of which something is told.
pub(super) struct Measure {
    pub(super) value: Expression,
    pub(super) cell: Cell,
}

/// A number that is told of rows, on its way.
#[derive(Clone, Copy)]
pub(super) enum Part {
    /// Number of rows.
    Rows,
    /// Number of values of a measure.
    Values(usize),
    /// Sum of a measure, of its squares if so said, in elements of this type.
    Sum(usize, bool, Type),
    /// Least or greatest value of a measure.
    Extreme(usize, bool),
    /// Number of different values of a measure.
    Distinct(usize),
    /// A value of a measure by its place, or the sum of the two around it by their weights, in elements of this type.
    Quantile(usize, Quantile, Type),
}

impl Part {
    /// The measure that it is made of.
    const fn measure(&self) -> Option<usize> {
        match self {
            Self::Rows => None,
            Self::Values(measure)
            | Self::Sum(measure, ..)
            | Self::Extreme(measure, _)
            | Self::Distinct(measure)
            | Self::Quantile(measure, ..) => Some(*measure),
        }
    }

    /// The measure that rows must be sorted by for it.
    const fn sorted_by(&self) -> Option<usize> {
        match self {
            Self::Distinct(measure) | Self::Quantile(measure, ..) => Some(*measure),
            _ => None,
        }
    }
}

/// Elements of each [`Part`], in their order, one for each group or row.
pub(super) type Parts = Vec<Vec<Tensor>>;

/// Numbers that another one is made of: [`told_cell`](Lowering::told_cell) takes them in this order.
pub(super) fn parts_of(column: &Column, aggregate: &Aggregate, measure: usize) -> Vec<Part> {
    let element = |kind: &Kind| match kind {
        Kind::Number(sum) | Kind::Ratio(sum, _) => sum.element(),
        _ => i64::TYPE,
    };
    let values = Part::Values(measure);
    match aggregate {
        Aggregate::CountRows => vec![Part::Rows],
        Aggregate::Count(_) => vec![values],
        Aggregate::CountDistinct(_) => vec![values, Part::Distinct(measure)],
        Aggregate::Least(_) => vec![values, Part::Extreme(measure, false)],
        Aggregate::Greatest(_) => vec![values, Part::Extreme(measure, true)],
        Aggregate::Sum(_) | Aggregate::Mean(_) => {
            vec![values, Part::Sum(measure, false, element(&column.kind))]
        }
        Aggregate::Variance(_) | Aggregate::Deviation(_) => {
            let element = element(&column.kind);
            let sum = |squared: bool| Part::Sum(measure, squared, element);
            vec![values, sum(false), sum(true)]
        }
        Aggregate::Quantile(_, quantile) => {
            let place = Part::Quantile(measure, *quantile, element(&column.kind));
            vec![values, place]
        }
    }
}

fn unknown(aggregate: &Aggregate) -> Fault {
    Fault::Other(format!("{aggregate} is made of other numbers"))
}

impl Lowering<'_> {
    /// A row for each group.
    pub(super) fn group(
        &mut self,
        frame: &Frame,
        input: &Frame,
        relation: Relation,
        groups: &Groups,
        needs: &Needs,
    ) -> Result<Relation> {
        let told: Vec<(&Column, &Aggregate)> = frame.columns[groups.keys.len()..]
            .iter()
            .zip(groups.aggregates.iter().map(|one| &one.1))
            .filter(|(column, _)| needs.of(&column.name).is_some())
            .collect();
        let mut measures: Vec<Measure> = Vec::new();
        // Parts that several numbers are made of are there once.
        let mut parts: Vec<Part> = Vec::new();
        let at_least = groups.at_least.max(1);
        if at_least > 1 {
            parts.push(Part::Rows);
        }
        for (column, aggregate) in &told {
            let measure = match aggregate.value() {
                Some(value) => self.measure(&relation, &mut measures, value)?,
                None => 0,
            };
            parts.extend(parts_of(column, aggregate, measure));
        }
        let relation_keys: Vec<String> = relation.given(&groups.keys).cloned().collect();
        let (mut made, sums) = if groups.keys.is_empty() {
            self.of_all(&relation, &measures, &parts)?
        } else if let Some(keys) = self.few_keys(&relation, groups, &parts, &measures)? {
            self.of_few(&relation, keys, groups, &measures, &parts)?
        } else {
            self.of_many(frame, input, relation, groups, &measures, &parts)?
        };
        let mut sums = sums.into_iter();
        let mut next = || sums.next().expect("a part that was asked for");
        if at_least > 1 {
            let count = next().remove(0);
            let least = constant(self.program, count.element(), at_least as u128);
            let enough = count.less(&least).not();
            let (sorted, canonical) = (made.sorted.clone(), false);
            made = made.filtered(&enough);
            made.sorted = sorted;
            made.is_canonical = canonical;
        }
        for (column, aggregate) in told {
            let cell = self.told_cell(column, aggregate, at_least, &mut next)?;
            made.columns.push(column.clone());
            made.cells.push(cell.full(made.rows));
        }
        // The order of groups tells of keys that the result does not have.
        made.is_canonical &= relation_keys.iter().all(|key| needs.is_shown(key));
        let mut ordered = made.in_order_of(&frame.columns, needs);
        // A table has a column at least.
        if ordered.columns.is_empty() {
            let one = constant(self.program, bool::TYPE, 1);
            ordered.columns.push(hidden("row", Kind::Bool));
            ordered
                .cells
                .push(Cell::new(Kind::Bool, vec![full(&one, made.rows)], None));
        }
        Ok(ordered)
    }

    /// The place of an expression among those of which something is told: each is computed once.
    pub(super) fn measure(
        &mut self,
        relation: &Relation,
        measures: &mut Vec<Measure>,
        value: &Expression,
    ) -> Result<usize> {
        if let Some(at) = measures.iter().position(|one| one.value == *value) {
            return Ok(at);
        }
        let mut scope = relation.scope(self.program);
        let cell = scope.value(value)?;
        let cell = scope.divided(cell)?;
        // Truth values are counted, added up and compared as numbers.
        let cell = match cell.kind {
            Kind::Bool => scope.converted(cell, &Kind::integer(0, 1))?,
            _ => cell,
        };
        measures.push(Measure {
            value: value.clone(),
            cell: cell.full(relation.rows),
        });
        Ok(measures.len() - 1)
    }

    /// A number of each group, of its parts in their order. Numbers of fewer values than `at_least` are not told: they are missing, or 0 where
    /// they count.
    pub(super) fn told_cell(
        &mut self,
        column: &Column,
        aggregate: &Aggregate,
        at_least: usize,
        next: &mut dyn FnMut() -> Vec<Tensor>,
    ) -> Result<Cell> {
        let enough = |scope: &mut Self, count: &Tensor| {
            let least = constant(scope.program, count.element(), at_least as u128);
            count.less(&least).not()
        };
        let kind = column.kind.clone();
        let at = |kind: &Kind, part: usize, tensor: &Tensor| fit(tensor, kind.elements()[part]);
        Ok(match aggregate {
            Aggregate::CountRows => {
                let count = at(&kind, 0, &next()[0]);
                Cell::new(kind, vec![count], None)
            }
            Aggregate::Count(_) | Aggregate::CountDistinct(_) => {
                let values = next().remove(0);
                let counted = match aggregate {
                    Aggregate::Count(_) => values.clone(),
                    _ => next().remove(0),
                };
                let shown = match at_least {
                    0 | 1 => counted,
                    _ => {
                        let zero = constant(self.program, counted.element(), 0);
                        enough(self, &values).select(&counted, &zero)
                    }
                };
                Cell::new(kind.clone(), vec![at(&kind, 0, &shown)], None)
            }
            Aggregate::Sum(_) => {
                let count = next().remove(0);
                let present = column.nullable.then(|| enough(self, &count));
                let sum = at(&kind, 0, &next()[0]);
                Cell::new(kind, vec![sum], present)
            }
            Aggregate::Mean(_) => {
                let count = next().remove(0);
                let sum = at(&kind, 0, &next()[0]);
                let count = at(&kind, 1, &count);
                let present = column.nullable.then(|| enough(self, &count));
                let count = match &present {
                    // No quotient is by 0.
                    Some(present) => {
                        let one = constant(self.program, count.element(), 1);
                        present.select(&count, &one)
                    }
                    None => count,
                };
                Cell::new(kind, vec![sum, count], present)
            }
            Aggregate::Least(_) | Aggregate::Greatest(_) | Aggregate::Quantile(..) => {
                let count = next().remove(0);
                let present = column.nullable.then(|| enough(self, &count));
                let mut parts = next();
                if kind == Kind::Bool {
                    let zero = constant(self.program, parts[0].element(), 0);
                    parts = vec![zero.less(&parts[0])];
                }
                if let Aggregate::Quantile(_, place) = aggregate
                    && place.interpolated
                {
                    let element = kind.elements()[1];
                    parts.push(constant(self.program, element, place.denominator.into()));
                }
                Cell::new(kind, parts, present)
            }
            Aggregate::Variance(_) => {
                let Kind::Ratio(above, below) = &kind else {
                    return Err(Fault::Other("a variance is a ratio".into()));
                };
                let count = next().remove(0);
                let (sum, squares) = (next().remove(0), next().remove(0));
                let wide = above.element();
                let n = fit(&count, wide);
                let scattered = n
                    .times(&fit(&squares, wide))
                    .minus(&fit(&sum, wide).square());
                let n = fit(&count, below.element());
                let one = constant(self.program, n.element(), 1);
                let several = one.less(&n);
                let pairs = n.times(&n.minus(&one));
                let pairs = several.select(&pairs, &one);
                let present = several.and(&enough(self, &count));
                Cell::new(kind, vec![scattered, pairs], Some(present))
            }
            Aggregate::Deviation(_) => return Err(unknown(aggregate)),
        })
    }

    /// A measure's elements where a row counts and the value is there, else others.
    pub(super) fn masked(
        &mut self,
        cell: &Cell,
        valid: Option<&Tensor>,
        other: impl Fn(Type) -> u128,
    ) -> Vec<Tensor> {
        let counts = match (&cell.present, valid) {
            (Some(present), Some(valid)) => Some(present.and(valid)),
            (Some(one), None) => Some(one.clone()),
            (None, one) => one.cloned(),
        };
        let Some(counts) = counts else {
            return cell.parts.clone();
        };
        cell.parts
            .iter()
            .map(|part| {
                let other = constant(self.program, part.element(), other(part.element()));
                counts.select(part, &other)
            })
            .collect()
    }

    /// The public numbers 1, 2, 3, ...
    pub(super) fn positions(&mut self, rows: usize) -> Tensor {
        let codes = (1..=rows as u128).collect();
        codes_of(self.program, u32::TYPE, codes)
    }

    /// The public numbers 0, 1, 2, ...
    pub(super) fn places(&mut self, rows: usize) -> Tensor {
        let codes = (0..rows as u128).collect();
        codes_of(self.program, u32::TYPE, codes)
    }
}
