//! Groups of rows, and numbers that are told of them.

use madrigal_program::{Plain, Tensor, Type};

use super::find::starts;
use super::needs::Needs;
use super::relation::{Relation, full};
use super::{Lowering, Result, hidden};
use crate::column::Column;
use crate::error::Fault;
use crate::expression::{Cell, Expression, constant, fit};
use crate::frame::{Aggregate, Frame, Groups};
use crate::kind::Kind;
use crate::rows::{Combine, filled, scan};

/// Groups up to which each row is compared with the keys of each, if these are few and public.
const FEW: usize = 64;

/// A column of which something is told.
struct Measure {
    value: Expression,
    cell: Cell,
}

/// A number that is told of each group, on its way.
enum Part {
    /// Number of rows.
    Rows,
    /// Number of values of a measure.
    Values(usize),
    /// Sum of a measure, of its squares if so said, in elements of this type.
    Sum(usize, bool, Type),
    /// Least or greatest value of a measure.
    Extreme(usize, bool),
    /// Number of different values of the measure that rows are sorted by, too.
    Distinct(usize),
}

/// Elements of each [`Part`], in their order, one for each group.
type Parts = Vec<Vec<Tensor>>;

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
        for (_, aggregate) in &told {
            let Some(value) = aggregate.value() else {
                continue;
            };
            if measures.iter().any(|measure| measure.value == *value) {
                continue;
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
        }
        let place = |aggregate: &Aggregate| {
            let value = aggregate.value().expect("a value that is told of");
            measures
                .iter()
                .position(|measure| measure.value == *value)
                .expect("a measure")
        };
        // Parts that several numbers are made of are there once.
        let mut parts: Vec<Part> = Vec::new();
        let at_least = groups.at_least.max(1);
        if at_least > 1 {
            parts.push(Part::Rows);
        }
        for (column, aggregate) in &told {
            match aggregate {
                Aggregate::CountRows => parts.push(Part::Rows),
                Aggregate::Count(_) => parts.push(Part::Values(place(aggregate))),
                Aggregate::CountDistinct(_) => {
                    parts.push(Part::Values(place(aggregate)));
                    parts.push(Part::Distinct(place(aggregate)));
                }
                Aggregate::Least(_) | Aggregate::Greatest(_) => {
                    let greatest = matches!(aggregate, Aggregate::Greatest(_));
                    parts.push(Part::Values(place(aggregate)));
                    parts.push(Part::Extreme(place(aggregate), greatest));
                }
                Aggregate::Sum(_) | Aggregate::Mean(_) => {
                    parts.push(Part::Values(place(aggregate)));
                    let sum = match &column.kind {
                        Kind::Number(sum) | Kind::Ratio(sum, _) => sum.element(),
                        _ => i64::TYPE,
                    };
                    parts.push(Part::Sum(place(aggregate), false, sum));
                }
                Aggregate::Variance(_) => {
                    let Kind::Ratio(above, _) = &column.kind else {
                        return Err(Fault::Other("a variance is a ratio".into()));
                    };
                    parts.push(Part::Values(place(aggregate)));
                    parts.push(Part::Sum(place(aggregate), false, above.element()));
                    parts.push(Part::Sum(place(aggregate), true, above.element()));
                }
            }
        }
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
        // The order of groups tells of keys that go.
        made.is_canonical &= groups.keys.iter().all(|key| needs.of(key).is_some());
        let mut ordered = made.clone();
        ordered.columns.clear();
        ordered.cells.clear();
        for column in frame
            .columns
            .iter()
            .filter(|column| needs.of(&column.name).is_some())
        {
            if let Some(at) = made.columns.iter().position(|own| own.name == column.name) {
                ordered.columns.push(column.clone());
                ordered.cells.push(made.cells[at].clone());
            }
        }
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

    /// A number of each group, of its parts in their order. Numbers of fewer values than `at_least` are not told: they are missing, or 0 where
    /// they count.
    fn told_cell(
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
            Aggregate::Least(_) | Aggregate::Greatest(_) => {
                let count = next().remove(0);
                let present = column.nullable.then(|| enough(self, &count));
                let mut parts = next();
                if kind == Kind::Bool {
                    let zero = constant(self.program, parts[0].element(), 0);
                    parts = vec![zero.less(&parts[0])];
                }
                Cell::new(kind, parts, present)
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
        })
    }

    /// A measure's elements where a row counts and the value is there, else others.
    fn masked(
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

    /// Numbers of all rows together.
    fn of_all(
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

    /// Number of different values of all rows that count.
    fn distinct_of_all(&mut self, relation: &Relation, cell: &Cell) -> Result<Tensor> {
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
        let (sorted, keys) = alone.ordered(by, true);
        let starts = starts(self.program, &keys, relation.rows);
        let first = match &sorted.valid {
            Some(valid) => starts.and(valid),
            None => starts,
        };
        Ok(self.number_of(Some(&first), relation.rows))
    }

    /// Number of flags that are true; all are without any.
    fn number_of(&mut self, flags: Option<&Tensor>, rows: usize) -> Tensor {
        match flags {
            Some(flags) => flags.cast(u32::TYPE).sum(0),
            None => constant(self.program, u32::TYPE, rows as u128),
        }
    }

    /// The keys of all groups that there can be, if they are public and few: for each key column its values' codes, and whether they may be missing.
    fn few_keys(
        &mut self,
        relation: &Relation,
        groups: &Groups,
        parts: &[Part],
        measures: &[Measure],
    ) -> Result<Option<Vec<Vec<Option<u128>>>>> {
        let simple = parts.iter().all(|part| match part {
            Part::Distinct(_) => false,
            Part::Extreme(measure, _) => measures[*measure].cell.parts.len() == 1,
            _ => true,
        });
        if !simple {
            return Ok(None);
        }
        let mut all: Vec<Vec<Option<u128>>> = Vec::new();
        let mut count = 1_usize;
        for key in &groups.keys {
            let column = relation.columns.iter().zip(&relation.cells);
            let Some((column, cell)) = column.into_iter().find(|one| one.0.name == *key) else {
                return Ok(None);
            };
            let Some(values) = column.kind.values().filter(|values| *values <= FEW) else {
                return Ok(None);
            };
            let least = column.kind.number().map_or(0, |number| number.least);
            let codes = (0..values).map(|value| Some((least + value as i128) as u128));
            let missing = cell.present.is_some().then_some(None);
            let codes: Vec<Option<u128>> = codes.chain(missing).collect();
            count = count.saturating_mul(codes.len());
            if count > FEW || count == 0 {
                return Ok(None);
            }
            all.push(codes);
        }
        // A bound that is declared is told of, whatever the way.
        Ok((groups.bound.is_none_or(|bound| bound >= count)).then_some(all))
    }

    /// Numbers of groups that have public keys: each row is compared with each.
    fn of_few(
        &mut self,
        relation: &Relation,
        keys: Vec<Vec<Option<u128>>>,
        groups: &Groups,
        measures: &[Measure],
        parts: &[Part],
    ) -> Result<(Relation, Parts)> {
        let rows = relation.rows;
        let mut names: Vec<Vec<Option<u128>>> = vec![Vec::new()];
        let mut flags: Vec<Option<Tensor>> = vec![relation.valid.clone()];
        let mut cells = Vec::new();
        for (key, codes) in groups.keys.iter().zip(&keys) {
            let at = relation
                .columns
                .iter()
                .position(|column| column.name == *key);
            let cell = relation.cells[at.expect("a column that groups are named by")].clone();
            let element = cell.kind.elements()[0];
            let narrow = fit(&cell.parts[0], element);
            let is: Vec<Tensor> = codes
                .iter()
                .map(|code| match (code, &cell.present) {
                    (None, Some(present)) => present.not(),
                    (code, present) => {
                        let code =
                            constant(self.program, element, code.unwrap_or(0) & mask(element));
                        let is = narrow.equals(&code);
                        match present {
                            Some(present) => is.and(present),
                            None => is,
                        }
                    }
                })
                .collect();
            let mut more_names = Vec::new();
            let mut more_flags = Vec::new();
            for (name, flag) in names.iter().zip(&flags) {
                for (code, is) in codes.iter().zip(&is) {
                    more_names.push([name.clone(), vec![*code]].concat());
                    more_flags.push(Some(match flag {
                        Some(flag) => flag.and(is),
                        None => is.clone(),
                    }));
                }
            }
            (names, flags) = (more_names, more_flags);
            cells.push(cell);
        }
        let flags: Vec<Tensor> = flags
            .into_iter()
            .flatten()
            .map(|flag| full(&flag, rows))
            .collect();
        let count = names.len();
        let stacked: Vec<Tensor> = flags.iter().map(|flag| flag.expand(0)).collect();
        let stacked = Tensor::concat(&stacked.iter().collect::<Vec<_>>(), 0).expect("a group");
        let mut made: Parts = Vec::new();
        let mut counts: Option<Tensor> = None;
        let rows_of = |counts: &mut Option<Tensor>| {
            counts
                .get_or_insert_with(|| stacked.cast(u32::TYPE).sum(1))
                .clone()
        };
        for part in parts {
            made.push(match part {
                Part::Rows => vec![rows_of(&mut counts)],
                Part::Values(measure) => match &measures[*measure].cell.present {
                    None => vec![rows_of(&mut counts)],
                    Some(present) => {
                        let there = stacked.and(&present.expand(0).broadcast_to([count, rows]));
                        vec![there.cast(u32::TYPE).sum(1)]
                    }
                },
                Part::Sum(measure, squared, element) => {
                    let value = fit(
                        &self.masked(&measures[*measure].cell, None, |_| 0)[0],
                        *element,
                    );
                    let value = if *squared { value.square() } else { value };
                    // Products of the groups' flags, as numbers, and the column.
                    let ones = stacked.cast(*element);
                    vec![ones.matmul(&value.expand(1)).reshape([count])]
                }
                Part::Extreme(measure, greatest) => {
                    let greatest = *greatest;
                    let all = self.masked(&measures[*measure].cell, None, |element| {
                        end(element, greatest)
                    });
                    let other = constant(
                        self.program,
                        all[0].element(),
                        end(all[0].element(), greatest),
                    );
                    if rows == 0 {
                        made.push(vec![full(&other, count)]);
                        continue;
                    }
                    let all = stacked.select(&all[0].expand(0).broadcast_to([count, rows]), &other);
                    vec![if greatest {
                        all.greatest(1)
                    } else {
                        all.least(1)
                    }]
                }
                Part::Distinct(_) => return Err(Fault::Other("groups that are sorted".into())),
            });
        }
        let zero = constant(self.program, u32::TYPE, 0);
        let valid = zero.less(&rows_of(&mut counts));
        let mut columns = Vec::new();
        let mut key_cells = Vec::new();
        for (at, (key, cell)) in groups.keys.iter().zip(cells).enumerate() {
            let column = relation.columns.iter().find(|column| column.name == *key);
            let element = cell.kind.elements()[0];
            let codes = names
                .iter()
                .map(|name| name[at].unwrap_or(0) & mask(element));
            let part = codes_of(self.program, element, codes.collect());
            let present = cell.present.is_some().then(|| {
                let there = names.iter().map(|name| u128::from(name[at].is_some()));
                codes_of(self.program, bool::TYPE, there.collect())
            });
            columns.push(column.expect("a key").clone());
            key_cells.push(Cell::new(cell.kind.clone(), vec![part], present));
        }
        let mut relation = Relation::new(columns, key_cells, Some(valid), count);
        // Places are those of public keys, whatever rows there are.
        relation.is_canonical = true;
        Ok((relation, made))
    }

    /// Numbers of groups, by sorting rows by their keys.
    fn of_many(
        &mut self,
        frame: &Frame,
        input: &Frame,
        relation: Relation,
        groups: &Groups,
        measures: &[Measure],
        parts: &[Part],
    ) -> Result<(Relation, Parts)> {
        let mut reduced = input.facts.reduced(&groups.keys);
        let distinct: Vec<usize> = parts
            .iter()
            .filter_map(|part| match part {
                Part::Distinct(measure) => Some(*measure),
                _ => None,
            })
            .collect();
        if distinct.iter().any(|measure| *measure != distinct[0]) {
            return Err(Fault::Other(
                "different values of one expression are counted in a group: count those of others in groups of their own".into(),
            ));
        }
        // Rows that are in the order of the keys, from a join, need not be sorted again.
        let is_sorted = distinct.is_empty() && relation.sorted.len() == reduced.len() && {
            let placed =
                |key: &String| relation.sorted.iter().position(|names| names.contains(key));
            let places: Vec<Option<usize>> = reduced.iter().map(placed).collect();
            (0..reduced.len()).all(|place| places.contains(&Some(place)))
        };
        let steady = |key: &String| relation.steady.contains(key);
        let is_sorted = is_sorted && groups.keys.iter().all(steady);
        if is_sorted {
            // The order of the join.
            reduced.sort_by_key(|key| relation.sorted.iter().position(|names| names.contains(key)));
        }
        // Keys first, then columns that they decide, then what is told of.
        let mut columns: Vec<Column> = Vec::new();
        let mut cells: Vec<Cell> = Vec::new();
        let mut key_parts: Vec<Tensor> = Vec::new();
        let others = groups.keys.iter().filter(|key| !reduced.contains(key));
        for (place, key) in reduced.iter().chain(others).enumerate() {
            let mut scope = relation.scope(self.program);
            let cell = scope.value(&Expression::Column(key.clone()))?;
            let cell = scope.divided(cell)?;
            let mut cell = cell.full(relation.rows);
            if place < reduced.len() {
                cell.parts = cell.zeroed(self.program);
                key_parts.extend(cell.present.iter().cloned());
                key_parts.extend(cell.parts.iter().cloned());
            }
            columns.push(hidden(key, cell.kind.clone()));
            cells.push(cell);
        }
        let keys_end = columns.len();
        let mut groups_by = key_parts.len();
        for (number, measure) in measures.iter().enumerate() {
            let mut cell = measure.cell.clone();
            if distinct.first() == Some(&number) {
                cell.parts = cell.zeroed(self.program);
                key_parts.extend(cell.present.iter().cloned());
                key_parts.extend(cell.parts.iter().cloned());
            }
            columns.push(hidden("value", cell.kind.clone()));
            cells.push(cell);
        }
        let rows = relation.rows;
        let table = Relation {
            sorted: Vec::new(),
            ..relation.with_cells(columns, cells)
        };
        let (table, keys) = match is_sorted {
            true => (table, key_parts),
            false => {
                let by = key_parts.into_iter().map(|part| (part, false)).collect();
                table.ordered(by, true)
            }
        };
        groups_by = groups_by.min(keys.len());
        let mut own: Vec<Tensor> = keys[..groups_by].to_vec();
        let mut all = keys.clone();
        if !is_sorted {
            own.extend(table.valid.clone());
            all.extend(table.valid.clone());
        }
        let group_starts = starts(self.program, &own, rows);
        let value_starts = match distinct.is_empty() {
            true => group_starts.clone(),
            false => starts(self.program, &all, rows),
        };
        let end_flag = filled(self.program, true, [rows.min(1)]);
        let last = match rows {
            0 => group_starts.clone(),
            _ => group_starts.slice(0, 1..).join(&end_flag, 0),
        };
        // Rows that do not count are groups of their own at the end, unless they lie between others.
        let mask = if is_sorted { table.valid.clone() } else { None };
        let group_counts = match &table.valid {
            None => last.clone(),
            Some(valid) if is_sorted => {
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
        let mut prefix: Vec<bool> = Vec::new();
        let mut columns: Vec<Column> = table.columns[..keys_end].to_vec();
        let mut cells: Vec<Cell> = table.cells[..keys_end].to_vec();
        let value_cells = &table.cells[keys_end..];
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
                    let cell = &value_cells[*measure];
                    let flag = match (&cell.present, &mask) {
                        (Some(present), Some(mask)) => Some(present.and(mask)),
                        (one, other) => one.clone().or_else(|| other.clone()),
                    };
                    let made = match (&cell.present, &rows_before) {
                        (None, Some(made)) => made.clone(),
                        _ => counted(self, flag.as_ref()),
                    };
                    if cell.present.is_none() {
                        rows_before = Some(made.clone());
                    }
                    (vec![made], true)
                }
                Part::Sum(measure, squared, element) => {
                    let value = self.masked(&value_cells[*measure], mask.as_ref(), |_| 0);
                    let value = fit(&value[0], *element);
                    let value = if *squared { value.square() } else { value };
                    (vec![value.prefix_sums(0)], true)
                }
                Part::Extreme(measure, greatest) => {
                    let greatest = *greatest;
                    let all = self.masked(&value_cells[*measure], mask.as_ref(), |element| {
                        end(element, greatest)
                    });
                    let scanned = scan(&group_starts, &all, &|one, other| {
                        extreme(one, other, greatest)
                    });
                    (scanned, false)
                }
                Part::Distinct(measure) => {
                    let mut flag = value_starts.clone();
                    let there = &value_cells[*measure].present;
                    for counts in there.iter().chain(&mask) {
                        flag = flag.and(counts);
                    }
                    (vec![counted(self, Some(&flag))], true)
                }
            };
            prefix.push(is_sum);
            let kind = Kind::Bool;
            columns.push(hidden("part", kind.clone()));
            cells.push(Cell::new(kind, tensors, None));
        }
        let ends = Relation::new(columns, cells, Some(group_counts), rows).compacted();
        let bound = frame.facts.most.min(rows);
        let name = format!("at most {bound} groups by {}", groups.keys.join(", "));
        let mut ends = ends.bounded(self.program, bound, &name);
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
        ends.sorted = reduced.iter().map(|key| vec![key.clone()]).collect();
        ends.is_front = true;
        ends.is_canonical = true;
        Ok((ends, sums))
    }

    /// The public numbers 1, 2, 3, ...
    fn positions(&mut self, rows: usize) -> Tensor {
        let codes = (1..=rows as u128).collect();
        codes_of(self.program, u32::TYPE, codes)
    }
}

/// Public elements.
fn codes_of(p: &mut madrigal_program::Program, element: Type, codes: Vec<u128>) -> Tensor {
    let shape = madrigal_program::Shape::checked(&[codes.len()]).expect("a length in memory");
    let array = madrigal_program::Array::from_codes(element, &shape, codes.into_iter());
    p.tensor_constant(array.expect("as many elements"))
}

const fn mask(element: Type) -> u128 {
    u128::MAX >> (128 - element.bits())
}

/// The least element of a type, or the greatest.
fn end(element: Type, least: bool) -> u128 {
    let sign = if element.is_signed() {
        1 << (element.bits() - 1)
    } else {
        0
    };
    if least { sign } else { mask(element) ^ sign }
}

/// The lesser of two values of several elements, or the greater.
fn extreme(one: &[Tensor], other: &[Tensor], greatest: bool) -> Vec<Tensor> {
    if let ([one], [other]) = (one, other) {
        return vec![if greatest {
            one.max(other)
        } else {
            one.min(other)
        }];
    }
    let mut less: Option<Tensor> = None;
    for (a, b) in one.iter().zip(other).rev() {
        let here = a.less(b);
        less = Some(match less {
            Some(less) => here.or(&a.equals(b).and(&less)),
            None => here,
        });
    }
    let less = less.expect("an element");
    let take_one = if greatest { less.not() } else { less };
    one.iter()
        .zip(other)
        .map(|(a, b)| take_one.select(a, b))
        .collect()
}

/// All rows combined in pairs, down to one.
fn reduce(mut all: Vec<Tensor>, combine: Combine<'_>) -> Vec<Tensor> {
    loop {
        let rows = all[0].shape().elements();
        if rows == 1 {
            return all;
        }
        let half = rows / 2;
        let part = |from: usize, to: usize| -> Vec<Tensor> {
            all.iter().map(|tensor| tensor.slice(0, from..to)).collect()
        };
        let mut made = combine(&part(0, half), &part(half, 2 * half));
        if rows % 2 == 1 {
            let rest = part(rows - 1, rows);
            made = made
                .iter()
                .zip(&rest)
                .map(|(one, rest)| one.join(rest, 0))
                .collect();
        }
        all = made;
    }
}
