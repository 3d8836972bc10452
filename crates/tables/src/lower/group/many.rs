//! Numbers of groups, by sorting rows by their keys.

use madrigal_program::{Plain, Tensor};

use super::super::find::starts;
use super::super::relation::Relation;
use super::super::{Lowering, Result, hidden};
use super::elements::{end, extreme};
use super::{Measure, Part, Parts};
use crate::column::Column;
use crate::expression::{Cell, Expression, fit};
use crate::frame::{Frame, Groups};
use crate::kind::Kind;
use crate::rows::{filled, first_of_group, last_of_group, scan};

/// Rows sorted once for some of the numbers that are told of groups.
struct Pass<'a> {
    relation: &'a Relation,
    /// The columns that rows are sorted by.
    keys: &'a [String],
    /// Columns that these decide, which move along.
    others: &'a [&'a String],
    /// The measure that rows of a group are sorted by.
    measure: Option<usize>,
    /// Whether rows are in the order of the keys already.
    is_sorted: bool,
    /// The most groups.
    bound: usize,
    /// Name of the requirement that there are no more, unless another pass has it.
    required: Option<&'a str>,
}

impl Lowering<'_> {
    /// Numbers of groups: rows are sorted once, and once more for each further measure that they must be sorted by. Groups come in the order of
    /// their keys every time.
    pub(super) fn of_many(
        &mut self,
        frame: &Frame,
        input: &Frame,
        relation: Relation,
        groups: &Groups,
        measures: &[Measure],
        parts: &[Part],
    ) -> Result<(Relation, Parts)> {
        let mut reduced = input.facts.reduced(&groups.keys);
        let mut sorted_by: Vec<usize> = Vec::new();
        for measure in parts.iter().filter_map(Part::sorted_by) {
            if !sorted_by.contains(&measure) {
                sorted_by.push(measure);
            }
        }
        // Rows that are in the order of the keys, from a join, need not be sorted again.
        let is_sorted = sorted_by.is_empty() && relation.sorted.len() == reduced.len() && {
            let placed =
                |key: &String| relation.sorted.iter().position(|names| names.contains(key));
            let places: Vec<Option<usize>> = reduced.iter().map(placed).collect();
            (0..reduced.len()).all(|place| places.contains(&Some(place)))
        };
        let steady = |key: &String| relation.steady.contains(key);
        let is_sorted = is_sorted && relation.given(&groups.keys).all(steady);
        if is_sorted {
            // The order of the join.
            reduced.sort_by_key(|key| relation.sorted.iter().position(|names| names.contains(key)));
        }
        let others = relation
            .given(&groups.keys)
            .filter(|key| !reduced.contains(*key));
        let others: Vec<&String> = others.collect();
        let bound = frame.facts.most.min(relation.rows);
        let name = format!("at most {bound} groups by {}", groups.keys.join(", "));
        let first = Pass {
            relation: &relation,
            keys: &reduced,
            others: &others,
            measure: sorted_by.first().copied(),
            is_sorted,
            bound,
            required: Some(&name),
        };
        let of_first = |part: &Part| part.sorted_by().is_none_or(|one| one == sorted_by[0]);
        let own: Vec<Part> = parts.iter().copied().filter(of_first).collect();
        let (ends, sums) = self.pass(&first, measures, &own)?;
        let mut sums = sums.into_iter();
        let mut made: Vec<Option<Vec<Tensor>>> = parts
            .iter()
            .map(|part| of_first(part).then(|| sums.next().expect("a part of the first pass")))
            .collect();
        for &measure in sorted_by.iter().skip(1) {
            let pass = Pass {
                measure: Some(measure),
                others: &[],
                required: None,
                ..first
            };
            let is_own = |part: &Part| part.sorted_by() == Some(measure);
            let own: Vec<Part> = parts.iter().copied().filter(is_own).collect();
            let (_, sums) = self.pass(&pass, measures, &own)?;
            let places = (0..parts.len()).filter(|&place| is_own(&parts[place]));
            for (place, sum) in places.zip(sums) {
                made[place] = Some(sum);
            }
        }
        let made = made.into_iter().flatten().collect();
        Ok((ends, made))
    }

    fn pass(
        &mut self,
        pass: &Pass<'_>,
        measures: &[Measure],
        parts: &[Part],
    ) -> Result<(Relation, Parts)> {
        let relation = pass.relation;
        let rows = relation.rows;
        // Keys first, then columns that they decide, then what is told of.
        let mut columns: Vec<Column> = Vec::new();
        let mut cells: Vec<Cell> = Vec::new();
        let mut key_parts: Vec<Tensor> = Vec::new();
        let others = pass.others.iter().copied();
        for (place, key) in pass.keys.iter().chain(others).enumerate() {
            let mut scope = relation.scope(self.program);
            let cell = scope.value(&Expression::Column(key.clone()))?;
            let cell = scope.divided(cell)?;
            let mut cell = cell.full(rows);
            if place < pass.keys.len() {
                cell.parts = cell.zeroed(self.program);
                key_parts.extend(cell.present.iter().cloned());
                key_parts.extend(cell.parts.iter().cloned());
            }
            columns.push(hidden(key, cell.kind.clone()));
            cells.push(cell);
        }
        let keys_end = columns.len();
        let mut groups_by = key_parts.len();
        let mut value_places: Vec<Option<usize>> = vec![None; measures.len()];
        for measure in parts.iter().filter_map(Part::measure).chain(pass.measure) {
            if value_places[measure].is_some() {
                continue;
            }
            value_places[measure] = Some(columns.len());
            let mut cell = measures[measure].cell.clone();
            if pass.measure == Some(measure) {
                cell.parts = cell.zeroed(self.program);
                key_parts.extend(cell.present.iter().cloned());
                key_parts.extend(cell.parts.iter().cloned());
            }
            columns.push(hidden("value", cell.kind.clone()));
            cells.push(cell);
        }
        let table = Relation {
            sorted: Vec::new(),
            ..relation.with_cells(columns, cells)
        };
        let (table, keys) = match pass.is_sorted {
            true => (table, key_parts),
            false => {
                let by = key_parts.into_iter().map(|part| (part, false)).collect();
                table.ordered(by, true)
            }
        };
        groups_by = groups_by.min(keys.len());
        let mut own: Vec<Tensor> = keys[..groups_by].to_vec();
        let mut all = keys.clone();
        if !pass.is_sorted {
            own.extend(table.valid.clone());
            all.extend(table.valid.clone());
        }
        let group_starts = starts(self.program, &own, rows);
        let end_flag = filled(self.program, true, [rows.min(1)]);
        let last = match rows {
            0 => group_starts.clone(),
            _ => group_starts.slice(0, 1..).join(&end_flag, 0),
        };
        // Rows that do not count are groups of their own at the end, unless they lie between others.
        let mask = if pass.is_sorted {
            table.valid.clone()
        } else {
            None
        };
        let group_counts = match &table.valid {
            None => last.clone(),
            Some(valid) if pass.is_sorted => {
                let any = scan(&group_starts, std::slice::from_ref(valid), &|one, other| {
                    vec![one[0].or(&other[0])]
                });
                last.and(&any[0])
            }
            Some(valid) => last.and(valid),
        };
        let counted = |scope: &mut Self, flags: Option<&Tensor>| match flags {
            None => scope.positions(rows),
            Some(flags) => flags.cast(u32::TYPE).prefix_sums(0),
        };
        let value_of = |measure: usize| -> &Cell {
            &table.cells[value_places[measure].expect("a measure that moved along")]
        };
        let flag_of = |measure: usize| match (&value_of(measure).present, &mask) {
            (Some(present), Some(mask)) => Some(present.and(mask)),
            (one, other) => one.clone().or_else(|| other.clone()),
        };
        let mut prefix: Vec<bool> = Vec::new();
        let mut columns: Vec<Column> = table.columns[..keys_end].to_vec();
        let mut cells: Vec<Cell> = table.cells[..keys_end].to_vec();
        let mut rows_before: Option<Tensor> = None;
        for part in parts {
            let (tensors, is_sum) = match part {
                Part::Rows => {
                    let made = match &rows_before {
                        Some(made) => made.clone(),
                        None => counted(self, mask.as_ref()),
                    };
                    rows_before = Some(made.clone());
                    (vec![made], true)
                }
                Part::Values(measure) => {
                    let is_always_there = value_of(*measure).present.is_none();
                    let made = match &rows_before {
                        Some(made) if is_always_there => made.clone(),
                        _ => counted(self, flag_of(*measure).as_ref()),
                    };
                    if is_always_there {
                        rows_before = Some(made.clone());
                    }
                    (vec![made], true)
                }
                Part::Sum(measure, squared, element) => {
                    let value = self.masked(value_of(*measure), mask.as_ref(), |_| 0);
                    let value = fit(&value[0], *element);
                    let value = if *squared { value.square() } else { value };
                    (vec![value.prefix_sums(0)], true)
                }
                Part::Extreme(measure, greatest) => {
                    let greatest = *greatest;
                    let all = self.masked(value_of(*measure), mask.as_ref(), |element| {
                        end(element, greatest)
                    });
                    let scanned = scan(&group_starts, &all, &|one, other| {
                        extreme(one, other, greatest)
                    });
                    (scanned, false)
                }
                Part::Distinct(measure) => {
                    let mut flag = starts(self.program, &all, rows);
                    let there = &value_of(*measure).present;
                    for counts in there.iter().chain(&mask) {
                        flag = flag.and(counts);
                    }
                    (vec![counted(self, Some(&flag))], true)
                }
                Part::Quantile(measure, quantile, element) => {
                    let flag = flag_of(*measure);
                    // Values are in order behind those that are missing.
                    let up_to = counted(self, flag.as_ref());
                    let before = match &flag {
                        Some(flag) => up_to.minus(&flag.cast(u32::TYPE)),
                        None => self.places(rows),
                    };
                    let before_group = first_of_group(&group_starts, std::slice::from_ref(&before));
                    let in_all = last_of_group(&group_starts, &[up_to]);
                    let counts = in_all[0].minus(&before_group[0]);
                    let ranks = before.minus(&before_group[0]);
                    let parts = self.masked(value_of(*measure), mask.as_ref(), |_| 0);
                    let weighed = self.weighed(&parts, &counts, &ranks, *quantile, *element)?;
                    let sums = weighed.iter().map(|part| part.prefix_sums(0));
                    (sums.collect(), true)
                }
            };
            prefix.push(is_sum);
            let kind = Kind::Bool;
            columns.push(hidden("part", kind.clone()));
            cells.push(Cell::new(kind, tensors, None));
        }
        let ends = Relation::new(columns, cells, Some(group_counts), rows).compacted();
        let mut ends = match pass.required {
            Some(name) => ends.bounded(self.program, pass.bound, name),
            None => ends.first(pass.bound),
        };
        let mut sums: Parts = Vec::new();
        for (cell, is_sum) in ends.cells.split_off(keys_end).into_iter().zip(prefix) {
            let parts = cell
                .parts
                .into_iter()
                .map(|part| match is_sum && ends.rows > 1 {
                    true => {
                        let rest = part.slice(0, 1..).minus(&part.slice(0, ..ends.rows - 1));
                        part.slice(0, ..1).join(&rest, 0)
                    }
                    false => part,
                });
            sums.push(parts.collect());
        }
        ends.columns.truncate(keys_end);
        for column in &mut ends.columns {
            column.name.pop();
            column.nullable = true;
        }
        ends.sorted = pass.keys.iter().map(|key| vec![key.clone()]).collect();
        ends.is_front = true;
        ends.is_canonical = true;
        Ok((ends, sums))
    }
}
