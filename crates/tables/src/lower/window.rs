//! Numbers of the rows around each: rows are sorted once, and what a window tells comes from scans over them.

use madrigal_program::{Plain, Tensor};

use super::find::starts;
use super::group::{Measure, Part, end, extreme, parts_of};
use super::needs::Needs;
use super::relation::{Relation, full};
use super::{Lowering, Result, hidden};
use crate::column::Column;
use crate::error::Fault;
use crate::expression::{Cell, Expression, constant, fit};
use crate::frame::{Extent, Frame, Window, Windows};
use crate::kind::Kind;
use crate::rows::{filled, first_of_group, last_of_group, scan, zeros};

/// Rows in the order of windows.
struct Sorted {
    rows: usize,
    /// Whether each row is the first of its partition.
    starts: Tensor,
    /// Whether each row is the first of those that are equal in the order.
    peers: Tensor,
    /// The row's place in its partition, from 1.
    number: Tensor,
}

impl Sorted {
    /// The values of rows this many places before, and zeros for the first ones.
    fn before(&self, lowering: &mut Lowering<'_>, value: &Tensor, places: usize) -> Tensor {
        let places = places.min(self.rows);
        let none = zeros(lowering.program, value.element(), places);
        none.join(&value.slice(0, ..self.rows - places), 0)
    }

    /// The values of rows this many places after, and zeros for the last ones.
    fn after(&self, lowering: &mut Lowering<'_>, value: &Tensor, places: usize) -> Tensor {
        let places = places.min(self.rows);
        let none = zeros(lowering.program, value.element(), places);
        value.slice(0, places..).join(&none, 0)
    }

    /// Whether the row this many places before is in the partition.
    fn has_before(&self, lowering: &mut Lowering<'_>, places: usize) -> Tensor {
        match places {
            0 => filled(lowering.program, true, [self.rows]),
            places if places >= self.rows => filled(lowering.program, false, [self.rows]),
            places => {
                let element = self.number.element();
                constant(lowering.program, element, places as u128).less(&self.number)
            }
        }
    }

    /// Whether the row this many places after is in the partition: whether this one is before it there.
    fn has_after(&self, lowering: &mut Lowering<'_>, places: usize) -> Tensor {
        let has = self.has_before(lowering, places);
        self.after(lowering, &has, places)
    }

    /// The values of the first row of each row's extent.
    fn first(&self, lowering: &mut Lowering<'_>, values: &[Tensor], extent: Extent) -> Vec<Tensor> {
        let whole = || first_of_group(&self.starts, values);
        let Extent::Rows {
            before: Some(places),
            ..
        } = extent
        else {
            return whole();
        };
        if places == 0 {
            return values.to_vec();
        }
        let has = self.has_before(lowering, places);
        let whole = whole();
        let near = values.iter().zip(&whole);
        near.map(|(value, whole)| has.select(&self.before(lowering, value, places), whole))
            .collect()
    }

    /// The values of the last row of each row's extent.
    fn last(&self, lowering: &mut Lowering<'_>, values: &[Tensor], extent: Extent) -> Vec<Tensor> {
        let places = match extent {
            Extent::Peers => return last_of_group(&self.peers, values),
            Extent::Partition | Extent::Rows { after: None, .. } => {
                return last_of_group(&self.starts, values);
            }
            Extent::Rows {
                after: Some(places),
                ..
            } => places,
        };
        if places == 0 {
            return values.to_vec();
        }
        let has = self.has_after(lowering, places);
        let whole = last_of_group(&self.starts, values);
        let near = values.iter().zip(&whole);
        near.map(|(value, whole)| has.select(&self.after(lowering, value, places), whole))
            .collect()
    }

    /// The sum over each row's extent.
    fn sum(&self, lowering: &mut Lowering<'_>, value: &Tensor, extent: Extent) -> Tensor {
        let up_to = value.prefix_sums(0);
        let before = up_to.minus(value);
        let first = self.first(lowering, &[before], extent).remove(0);
        self.last(lowering, &[up_to], extent)
            .remove(0)
            .minus(&first)
    }

    /// The least or greatest value over each row's extent: elements of what has no value are such that they never are it.
    fn extreme(
        &self,
        lowering: &mut Lowering<'_>,
        values: &[Tensor],
        greatest: bool,
        extent: Extent,
    ) -> Vec<Tensor> {
        let combine = |one: &[Tensor], other: &[Tensor]| extreme(one, other, greatest);
        match extent {
            Extent::Rows {
                before: Some(before),
                after: Some(after),
            } => {
                let none: Vec<Tensor> = values
                    .iter()
                    .map(|value| {
                        let element = value.element();
                        constant(lowering.program, element, end(element, greatest))
                    })
                    .collect();
                let mut found = values.to_vec();
                for places in 1..=before.max(after).min(self.rows.saturating_sub(1)) {
                    for (is_before, reach) in [(true, before), (false, after)] {
                        if places > reach {
                            continue;
                        }
                        let has = match is_before {
                            true => self.has_before(lowering, places),
                            false => self.has_after(lowering, places),
                        };
                        let near: Vec<Tensor> = values
                            .iter()
                            .zip(&none)
                            .map(|(value, none)| {
                                let near = match is_before {
                                    true => self.before(lowering, value, places),
                                    false => self.after(lowering, value, places),
                                };
                                has.select(&near, none)
                            })
                            .collect();
                        found = combine(&found, &near);
                    }
                }
                found
            }
            Extent::Rows {
                before: Some(_),
                after: None,
            } => {
                // From the last row of the partition back to this one, which then is the first one of the extent.
                let ends = match self.rows {
                    0 => self.starts.clone(),
                    _ => {
                        let first = self.starts.slice(0, ..1);
                        self.starts.slice(0, 1..).join(&first, 0)
                    }
                };
                let back: Vec<Tensor> = values.iter().map(|value| value.reverse(0)).collect();
                let scanned = scan(&ends.reverse(0), &back, &combine);
                let down_to: Vec<Tensor> = scanned.iter().map(|value| value.reverse(0)).collect();
                self.first(lowering, &down_to, extent)
            }
            _ => {
                let up_to = scan(&self.starts, values, &combine);
                self.last(lowering, &up_to, extent)
            }
        }
    }
}

impl Lowering<'_> {
    /// The rows with what windows tell of each.
    pub(super) fn window(
        &mut self,
        frame: &Frame,
        input: &Frame,
        relation: Relation,
        windows: &Windows,
        needs: &Needs,
    ) -> Result<Relation> {
        let functions: Vec<(&Column, &Window)> = frame.columns[input.columns.len()..]
            .iter()
            .zip(windows.functions.iter().map(|one| &one.1))
            .filter(|(column, _)| needs.of(&column.name).is_some())
            .collect();
        if functions.is_empty() {
            return Ok(relation.only(needs));
        }
        // Rows that are equal in the order would keep the one of the table.
        let order = windows.order.iter().map(|key| key.column.clone());
        let by: Vec<String> = windows.partition.iter().cloned().chain(order).collect();
        let relation = match input.facts.is_unique(&by) {
            true => relation,
            false => relation.mixed(),
        };
        let mut measures: Vec<Measure> = Vec::new();
        let mut values: Vec<Cell> = Vec::new();
        for (_, function) in &functions {
            match function {
                Window::Told(aggregate, _) => {
                    if let Some(value) = aggregate.value() {
                        self.measure(&relation, &mut measures, value)?;
                    }
                }
                function => {
                    if let Some(value) = function.value() {
                        let cell = relation.scope(self.program).value(value)?;
                        values.push(cell.full(relation.rows));
                    }
                }
            }
        }
        let mut by: Vec<(Tensor, bool)> = Vec::new();
        let mut keeps_order = true;
        for key in &windows.partition {
            let mut scope = relation.scope(self.program);
            let cell = scope.value(&Expression::Column(key.clone()))?;
            keeps_order &= cell.present.is_none() && !matches!(cell.kind, Kind::Ratio(..));
            let cell = scope.divided(cell)?.full(relation.rows);
            by.extend(cell.present.iter().map(|there| (there.clone(), false)));
            let zeroed = cell.zeroed(self.program);
            by.extend(zeroed.into_iter().map(|part| (part, false)));
        }
        let partition_parts = by.len();
        by.extend(self.places_in_order(&relation, &windows.order)?);
        // Values that are told of move along with the rows, behind their columns.
        let own = relation.clone().only(&needs.among(&input.columns));
        let own_columns = own.columns.len();
        let mut table = own.clone();
        let moving = measures.iter().map(|measure| &measure.cell).chain(&values);
        for cell in moving {
            table.columns.push(hidden("value", cell.kind.clone()));
            table.cells.push(cell.clone());
        }
        let (mut table, keys) = table.ordered(by, true);
        let rows = table.rows;
        let told = table.cells.split_off(own_columns);
        table.columns.truncate(own_columns);
        let (told, values) = told.split_at(measures.len());
        for (measure, cell) in measures.iter_mut().zip(told) {
            measure.cell = cell.clone();
        }
        let counted =
            |keys: &[Tensor]| -> Vec<Tensor> { keys.iter().chain(&table.valid).cloned().collect() };
        let partition = counted(&keys[..partition_parts.min(keys.len())]);
        let starts_of_partition = starts(self.program, &partition, rows);
        let peers = starts(self.program, &counted(&keys), rows);
        let positions = self.positions(rows);
        let first = first_of_group(&starts_of_partition, std::slice::from_ref(&positions));
        let one = constant(self.program, u32::TYPE, 1);
        let sorted = Sorted {
            rows,
            number: positions.minus(&first[0]).plus(&one),
            starts: starts_of_partition,
            peers,
        };
        let least_group = input.facts.least_group.max(1);
        let mut values = values.iter();
        let mut cells = Vec::new();
        for (column, function) in &functions {
            let cell = match function {
                Window::RowNumber | Window::Rank | Window::DenseRank => {
                    let place = match function {
                        Window::RowNumber => sorted.number.clone(),
                        Window::Rank => {
                            let number = std::slice::from_ref(&sorted.number);
                            first_of_group(&sorted.peers, number).remove(0)
                        }
                        _ => {
                            let distinct = sorted.peers.cast(u32::TYPE);
                            sorted.sum(self, &distinct, Extent::UP_TO_HERE)
                        }
                    };
                    let element = column.kind.elements()[0];
                    Cell::new(column.kind.clone(), vec![fit(&place, element)], None)
                }
                Window::Lag(_, places) | Window::Lead(_, places) => {
                    let value = values.next().expect("a value that moved along");
                    let is_before = matches!(function, Window::Lag(..));
                    let there = match is_before {
                        true => sorted.has_before(self, *places),
                        false => sorted.has_after(self, *places),
                    };
                    let mut near = |part: &Tensor| match is_before {
                        true => sorted.before(self, part, *places),
                        false => sorted.after(self, part, *places),
                    };
                    let parts: Vec<Tensor> = value.parts.iter().map(&mut near).collect();
                    let present = match &value.present {
                        Some(present) => near(present).and(&there),
                        None => there.clone(),
                    };
                    let parts = self.with_whole_ratios(&value.kind, parts, &there);
                    Cell::new(value.kind.clone(), parts, Some(present))
                }
                Window::First(_, extent) | Window::Last(_, extent) => {
                    let value = values.next().expect("a value that moved along");
                    let tensors: Vec<Tensor> =
                        value.parts.iter().chain(&value.present).cloned().collect();
                    let mut found = match function {
                        Window::First(..) => sorted.first(self, &tensors, *extent),
                        _ => sorted.last(self, &tensors, *extent),
                    };
                    let present = found.split_off(value.parts.len()).pop();
                    Cell::new(value.kind.clone(), found, present)
                }
                Window::Told(aggregate, extent) => {
                    let place = aggregate.value().and_then(|value| {
                        measures.iter().position(|measure| measure.value == *value)
                    });
                    let mut parts = Vec::new();
                    for part in parts_of(column, aggregate, place.unwrap_or(0)) {
                        parts.push(self.told_around(&sorted, &measures, part, *extent)?);
                    }
                    let mut parts = parts.into_iter();
                    let mut next = || parts.next().expect("a part that was asked for");
                    self.told_cell(column, aggregate, least_group, &mut next)?
                }
            };
            cells.push(((*column).clone(), cell));
        }
        for (column, cell) in cells {
            table.columns.push(column);
            table.cells.push(cell.full(rows));
        }
        if keeps_order {
            let partition = windows.partition.iter();
            table.sorted = partition.clone().map(|key| vec![key.clone()]).collect();
            table.steady = partition.cloned().collect();
        }
        Ok(table.in_order_of(&frame.columns, needs))
    }

    /// Denominators of quotients that are not there are 1, as none is 0.
    fn with_whole_ratios(
        &mut self,
        kind: &Kind,
        mut parts: Vec<Tensor>,
        there: &Tensor,
    ) -> Vec<Tensor> {
        if let Kind::Ratio(..) = kind {
            let one = constant(self.program, parts[1].element(), 1);
            parts[1] = there.select(&parts[1], &one);
        }
        parts
    }

    /// A number that is told of each row's extent.
    fn told_around(
        &mut self,
        sorted: &Sorted,
        measures: &[Measure],
        part: Part,
        extent: Extent,
    ) -> Result<Vec<Tensor>> {
        Ok(match part {
            Part::Rows => {
                let one = constant(self.program, u32::TYPE, 1);
                let ones = full(&one, sorted.rows);
                vec![sorted.sum(self, &ones, extent)]
            }
            Part::Values(measure) => {
                let there = match &measures[measure].cell.present {
                    Some(present) => present.cast(u32::TYPE),
                    None => full(&constant(self.program, u32::TYPE, 1), sorted.rows),
                };
                vec![sorted.sum(self, &there, extent)]
            }
            Part::Sum(measure, squared, element) => {
                let value = self.masked(&measures[measure].cell, None, |_| 0);
                let value = fit(&value[0], element);
                let value = if squared { value.square() } else { value };
                vec![sorted.sum(self, &value, extent)]
            }
            Part::Extreme(measure, greatest) => {
                let cell = measures[measure].cell.clone();
                let all = self.masked(&cell, None, |element| end(element, greatest));
                sorted.extreme(self, &all, greatest, extent)
            }
            Part::Distinct(_) | Part::Quantile(..) => {
                return Err(Fault::Other(
                    "values in order are told of groups, and not of the rows around each".into(),
                ));
            }
        })
    }
}
