//! Rows of a step, as they are computed.

use std::collections::BTreeSet;

use madrigal_program::{Plain, Program, Tensor};

use super::needs::Needs;
use crate::column::Column;
use crate::expression::{Cell, constant};

/// Secret columns by name, and which rows count.
#[derive(Clone)]
pub(crate) struct Relation {
    pub(crate) columns: Vec<Column>,
    pub(crate) cells: Vec<Cell>,
    /// Whether each row counts; all do without it.
    pub(crate) valid: Option<Tensor>,
    pub(crate) rows: usize,
    /// Columns by which rows are in order, with the names that each has; rows that do not count may lie between others.
    pub(crate) sorted: Vec<Vec<String>>,
    /// Columns that are equal in all rows, but for those of no meaning, that are equal in the columns of `sorted`; whether they count or not.
    pub(crate) steady: BTreeSet<String>,
    /// Whether rows that count come first.
    pub(crate) is_front: bool,
    /// Whether the order of rows, and which places count, follow from what the result shows of the rows that count.
    pub(crate) is_canonical: bool,
    /// Whether the query asks for the order.
    pub(crate) is_asked: bool,
}

impl Cell {
    /// The value with an element for each row.
    pub(crate) fn full(mut self, rows: usize) -> Self {
        for part in self.parts.iter_mut().chain(&mut self.present) {
            *part = full(part, rows);
        }
        self
    }

    /// The elements, with zeros where the value is missing.
    pub(crate) fn zeroed(&self, program: &mut Program) -> Vec<Tensor> {
        match &self.present {
            None => self.parts.clone(),
            Some(present) => self
                .parts
                .iter()
                .map(|part| {
                    let zero = constant(program, part.element(), 0);
                    present.select(part, &zero)
                })
                .collect(),
        }
    }
}

/// An element for each row.
pub(crate) fn full(tensor: &Tensor, rows: usize) -> Tensor {
    match tensor.shape().rank() {
        0 => tensor.broadcast_to([rows]),
        _ => tensor.clone(),
    }
}

impl Relation {
    pub(crate) fn new(
        columns: Vec<Column>,
        cells: Vec<Cell>,
        valid: Option<Tensor>,
        rows: usize,
    ) -> Self {
        Self {
            columns,
            cells: cells.into_iter().map(|cell| cell.full(rows)).collect(),
            valid,
            rows,
            sorted: Vec::new(),
            steady: BTreeSet::new(),
            is_front: false,
            is_canonical: false,
            is_asked: false,
        }
    }

    /// Other columns of the same rows.
    pub(crate) fn with_cells(&self, columns: Vec<Column>, cells: Vec<Cell>) -> Self {
        Self {
            columns,
            cells: cells.into_iter().map(|cell| cell.full(self.rows)).collect(),
            ..self.clone()
        }
    }

    /// Names of columns that say how rows are sorted, as they are called now.
    pub(super) fn rename(&mut self, names: impl Fn(&String) -> Vec<String>) {
        for place in &mut self.sorted {
            *place = place.iter().flat_map(&names).collect();
        }
        let known = self.sorted.iter().position(Vec::is_empty);
        self.sorted.truncate(known.unwrap_or(self.sorted.len()));
        self.steady = match known {
            Some(_) => BTreeSet::new(),
            None => self.steady.iter().flat_map(names).collect(),
        };
    }

    pub(super) fn filtered(mut self, keep: &Tensor) -> Self {
        let keep = full(keep, self.rows);
        self.valid = Some(match &self.valid {
            Some(valid) => valid.and(&keep),
            None => keep,
        });
        self.is_front = false;
        self.is_canonical = false;
        self
    }

    /// The columns that are needed.
    pub(super) fn only(mut self, needs: &Needs) -> Self {
        let kept: Vec<bool> = self
            .columns
            .iter()
            .map(|column| needs.of(&column.name).is_some())
            .collect();
        let mut keep = kept.iter();
        self.columns.retain(|_| *keep.next().unwrap_or(&true));
        let mut keep = kept.iter();
        self.cells.retain(|_| *keep.next().unwrap_or(&true));
        self
    }

    /// Names of columns that the rows have: one that others decide may have been left out.
    pub(super) fn given<'a>(&self, names: &'a [String]) -> impl Iterator<Item = &'a String> {
        let own: BTreeSet<String> = self.columns.iter().map(|own| own.name.clone()).collect();
        names.iter().filter(move |name| own.contains(*name))
    }

    /// The columns that are needed of these, in their order.
    pub(super) fn in_order_of(&self, columns: &[Column], needs: &Needs) -> Self {
        let mut ordered = self.clone();
        ordered.columns.clear();
        ordered.cells.clear();
        for column in columns {
            if needs.of(&column.name).is_none() {
                continue;
            }
            if let Some(at) = self.columns.iter().position(|own| own.name == column.name) {
                ordered.columns.push(column.clone());
                ordered.cells.push(self.cells[at].clone());
            }
        }
        ordered
    }

    /// All tensors of the columns, one after the other, and whether the rows count at last.
    pub(super) fn tensors(&self) -> Vec<&Tensor> {
        let cells = self
            .cells
            .iter()
            .flat_map(|cell| cell.parts.iter().chain(&cell.present));
        cells.chain(&self.valid).collect()
    }

    /// Columns of other tensors, in the order of [`tensors`](Self::tensors).
    pub(super) fn with_tensors(&self, tensors: Vec<Tensor>, rows: usize) -> Self {
        let mut tensors = tensors.into_iter();
        let mut next = || tensors.next().expect("a tensor for each column");
        let mut made = self.clone();
        for cell in &mut made.cells {
            cell.parts.iter_mut().for_each(|part| *part = next());
            cell.present
                .iter_mut()
                .for_each(|present| *present = next());
        }
        made.valid.iter_mut().for_each(|valid| *valid = next());
        made.rows = rows;
        made
    }

    /// Rows in the order of keys, which may be any tensors; those that count first if `front` says so. Rows with equal keys stay in their order.
    pub(super) fn sorted(&self, keys: Vec<(Tensor, bool)>, front: bool) -> Self {
        self.ordered(keys, front).0
    }

    /// Rows in the order of keys, and the keys in that order. Tensors that are keys do not move along once more.
    pub(super) fn ordered(&self, keys: Vec<(Tensor, bool)>, front: bool) -> (Self, Vec<Tensor>) {
        let mut by: Vec<(Tensor, bool)> = Vec::new();
        let first = self
            .valid
            .iter()
            .filter(|_| front)
            .map(|valid| (valid.clone(), true));
        by.extend(first);
        let skipped = by.len();
        by.extend(
            keys.into_iter()
                .map(|(key, descending)| (full(&key, self.rows), descending)),
        );
        let mut made = self.clone();
        made.sorted.clear();
        made.steady.clear();
        made.is_front |= front;
        made.is_canonical = false;
        made.is_asked = false;
        if by.is_empty() || self.rows == 0 {
            made.is_front |= self.valid.is_none() || self.rows == 0;
            return (
                made,
                by.into_iter().skip(skipped).map(|one| one.0).collect(),
            );
        }
        let tensors = self.tensors();
        // A tensor that is a key is taken from the sorted keys, and one that several columns have moves once.
        let mut moving: Vec<&Tensor> = by.iter().map(|key| &key.0).collect();
        let places: Vec<usize> = tensors
            .iter()
            .map(|&tensor| {
                let known = moving.iter().position(|one| one.is_same(tensor));
                known.unwrap_or_else(|| {
                    moving.push(tensor);
                    moving.len() - 1
                })
            })
            .collect();
        let others = &moving[by.len()..];
        let by: Vec<(&Tensor, bool)> = by.iter().map(|(key, down)| (key, *down)).collect();
        let moved = Tensor::sort_by(&by, others);
        let keys = &moved[..by.len()];
        let all = places.iter().map(|&place| moved[place].clone());
        let mut made = made.with_tensors(all.collect(), self.rows);
        made.is_front |= self.valid.is_none();
        (made, keys[skipped..].to_vec())
    }

    /// Rows in an order that nobody knows.
    pub(super) fn mixed(self) -> Self {
        let tensors = self.tensors();
        if self.rows < 2 || tensors.is_empty() {
            return self;
        }
        let moved = Tensor::shuffle(&tensors);
        let mut made = self.with_tensors(moved, self.rows);
        made.sorted.clear();
        made.steady.clear();
        made.is_front = false;
        made.is_canonical = false;
        made.is_asked = false;
        made
    }

    /// Rows in an order that tells of nothing but of what is shown: the one that the query asks for, one that follows from the result, or one that
    /// nobody knows.
    pub(super) fn settled(self) -> Self {
        match (self.is_canonical, self.is_asked) {
            (true, _) => self,
            (false, true) => self.compacted(),
            (false, false) => self.mixed(),
        }
    }

    /// Rows that are in an order that tells of nothing else, as they have just been sorted by what they contain.
    pub(super) fn in_order(mut self) -> Self {
        self.is_canonical = true;
        self.is_asked = true;
        self
    }

    /// Rows that count first, in their order.
    pub(super) fn compacted(self) -> Self {
        if self.is_front || self.valid.is_none() {
            return self;
        }
        let made = self.ordered(Vec::new(), true).0;
        Self {
            is_asked: self.is_asked,
            is_canonical: self.is_asked || self.is_canonical,
            sorted: self.sorted,
            steady: self.steady,
            ..made
        }
    }

    /// The first rows.
    pub(super) fn first(&self, rows: usize) -> Self {
        self.slice(0..rows)
    }

    /// Some of the rows, one after the other.
    pub(super) fn slice(&self, rows: std::ops::Range<usize>) -> Self {
        let end = rows.end.min(self.rows);
        let rows = rows.start.min(end)..end;
        if rows.len() == self.rows {
            return self.clone();
        }
        let cut = self
            .tensors()
            .into_iter()
            .map(|tensor| tensor.slice(0, rows.clone()));
        self.with_tensors(cut.collect(), rows.len())
    }

    /// Rows that count, in a table of `bound` rows; where there are more, nothing is opened.
    pub(super) fn bounded(self, program: &mut Program, bound: usize, name: &str) -> Self {
        if bound >= self.rows {
            return self;
        }
        let front = self.compacted();
        let fits = match &front.valid {
            Some(valid) => valid.at(0, bound).not(),
            None => constant(program, <bool as Plain>::TYPE, 0),
        };
        program.require_named(name, &fits.typed::<bool>());
        front.first(bound)
    }

    /// Every row with the only one of another table, if it has one.
    pub(super) fn beside(mut self, program: &mut Program, other: &Self, outer: bool) -> Self {
        let found = match (&other.valid, other.rows) {
            (None, 1) => None,
            (Some(valid), 1) => Some(valid.at(0, 0)),
            _ => Some(constant(program, <bool as Plain>::TYPE, 0)),
        };
        for (column, cell) in other.columns.iter().zip(&other.cells) {
            let mut one = cell.clone();
            for part in one.parts.iter_mut().chain(&mut one.present) {
                *part = match other.rows {
                    1 => part.at(0, 0),
                    _ => constant(program, part.element(), 0),
                };
            }
            if outer {
                one.present = match (one.present, &found) {
                    (Some(present), Some(found)) => Some(present.and(found)),
                    (one, found) => one.or_else(|| found.clone()),
                };
            }
            self.columns.push(column.clone());
            self.cells.push(one.full(self.rows));
        }
        match found {
            Some(found) if !outer => self.filtered(&found),
            _ => self,
        }
    }
}
