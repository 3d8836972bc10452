//! Rows that find the row of another table with the same keys.

use std::collections::BTreeSet;

use madrigal_program::{Plain, Tensor, Type};

use super::needs::Needs;
use super::relation::{Relation, full};
use super::{Lowering, Result, takes};
use crate::column::Column;
use crate::expression::{self, Cell, Expression, constant, fit};
use crate::frame::{Frame, Join, Lookup};
use crate::kind::Kind;
use crate::rows::{filled, first_of_group, zeros};

/// Rows of the other table up to which each row is compared with each: a sort of both tables takes as much from here on.
const FEW: usize = 32;
/// Rows of the other table are left where they are, and do not count, if they are at most this part of the rows.
const SPREAD: usize = 4;

/// Keys of both tables in the same form.
struct Keys {
    /// The elements of each pair of keys, of this table and of the other.
    pairs: Vec<[Vec<Tensor>; 2]>,
    kinds: Vec<Kind>,
    /// Whether all keys of a row are there.
    present: [Option<Tensor>; 2],
}

fn and(one: Option<Tensor>, other: Option<Tensor>) -> Option<Tensor> {
    match (one, other) {
        (Some(one), Some(other)) => Some(one.and(&other)),
        (one, other) => one.or(other),
    }
}

impl Lowering<'_> {
    /// The rows of a lookup. Where `may_spread`, rows of the other table may stay between them and do not count.
    pub(super) fn find(
        &mut self,
        frame: &Frame,
        left: Relation,
        right: Relation,
        lookup: &Lookup,
        needs: &Needs,
        may_spread: bool,
    ) -> Result<Relation> {
        let keys = self.keys(&left, &right, lookup)?;
        let wanted: Vec<usize> = (0..right.columns.len())
            .filter(|&column| takes(lookup.join) && needs.of(&right.columns[column].name).is_some())
            .collect();
        let found = match right.rows <= FEW && left.rows > 0 {
            true => self.compare_all(left, &right, keys, lookup, &wanted, needs),
            false => self.find_sorted(left, &right, keys, lookup, &wanted, may_spread),
        };
        Ok(found.in_order_of(&frame.columns, needs))
    }

    fn keys(&mut self, left: &Relation, right: &Relation, lookup: &Lookup) -> Result<Keys> {
        let mut keys = Keys {
            pairs: Vec::new(),
            kinds: Vec::new(),
            present: [None, None],
        };
        for (own, others) in &lookup.on {
            let mut cells = Vec::new();
            for (relation, name) in [(left, own), (right, others)] {
                let mut scope = relation.scope(self.program);
                let cell = scope.value(&Expression::Column(name.clone()))?;
                cells.push(scope.divided(cell)?);
            }
            let kind = expression::both(Some(cells[0].kind.clone()), Some(cells[1].kind.clone()))?;
            let kind = kind.expect("two kinds");
            let mut parts = Vec::new();
            for (side, (relation, cell)) in [left, right].into_iter().zip(cells).enumerate() {
                let present = cell.present.clone().map(|flag| full(&flag, relation.rows));
                keys.present[side] = and(keys.present[side].take(), present);
                let cell = relation.scope(self.program).converted(cell, &kind)?;
                let elements = kind.elements();
                let own = cell.parts.iter().zip(elements);
                let own = own.map(|(part, element)| full(&fit(part, element), relation.rows));
                parts.push(own.collect::<Vec<Tensor>>());
            }
            let second = parts.pop().expect("two sides");
            let first = parts.pop().expect("two sides");
            keys.pairs.push([first, second]);
            keys.kinds.push(kind);
        }
        Ok(keys)
    }

    /// Compares each row with each row of a short table.
    fn compare_all(
        &mut self,
        mut left: Relation,
        right: &Relation,
        keys: Keys,
        lookup: &Lookup,
        wanted: &[usize],
        needs: &Needs,
    ) -> Relation {
        let [own_present, others_present] = keys.present;
        let counts = and(right.valid.clone(), others_present);
        // `[rows of the other table, rows]`
        let mut equal: Option<Tensor> = None;
        for [own, others] in &keys.pairs {
            for (own, others) in own.iter().zip(others) {
                let same = own.expand(0).equals(&others.expand(1));
                equal = Some(match equal {
                    Some(equal) => equal.and(&same),
                    None => same,
                });
            }
        }
        let equal = equal.expect("a pair of keys");
        let equal = match &counts {
            Some(counts) => equal.and(&counts.expand(1).broadcast_to([right.rows, left.rows])),
            None => equal,
        };
        // A row without a key finds nobody.
        let equal = match &own_present {
            Some(present) => equal.and(&present.expand(0).broadcast_to([right.rows, left.rows])),
            None => equal,
        };
        let matched = match right.rows {
            0 => filled(self.program, false, [left.rows]),
            _ if takes(lookup.join) => equal.parity(0),
            _ => equal.any(0),
        };
        let rows = left.rows;
        let pick = |tensor: &Tensor, is_wide: bool, program: &mut madrigal_program::Program| {
            let none = zeros(program, tensor.element(), rows);
            if right.rows == 0 {
                return none;
            }
            let zero = constant(program, tensor.element(), 0);
            let masked = equal.select(&tensor.expand(1).broadcast_to([right.rows, rows]), &zero);
            // One at most is not 0.
            match is_wide && !tensor.element().is_bool() {
                true => masked.sum(0),
                false => (0..right.rows)
                    .map(|row| masked.at(0, row))
                    .reduce(|one, other| one.xor(&other))
                    .unwrap_or(none),
            }
        };
        for &column in wanted {
            let cell = &right.cells[column];
            let wide = needs.of(&right.columns[column].name) == Some(true);
            let parts = cell
                .parts
                .iter()
                .map(|part| pick(part, wide, self.program))
                .collect();
            let mut present = cell
                .present
                .as_ref()
                .map(|flag| pick(flag, false, self.program));
            if lookup.join == Join::Left {
                present = Some(present.unwrap_or_else(|| matched.clone()));
            }
            left.columns.push(right.columns[column].clone());
            left.cells
                .push(Cell::new(cell.kind.clone(), parts, present));
        }
        match lookup.join {
            Join::Left => left,
            Join::Anti => left.filtered(&matched.not()),
            _ => left.filtered(&matched),
        }
    }

    /// Sorts the rows of both tables by their keys, so that a row of the other table comes before those that are equal to it.
    fn find_sorted(
        &mut self,
        left: Relation,
        right: &Relation,
        keys: Keys,
        lookup: &Lookup,
        wanted: &[usize],
        may_spread: bool,
    ) -> Relation {
        let p = &mut *self.program;
        let rows = left.rows + right.rows;
        let [own_present, others_present] = keys.present;
        let counts = and(right.valid.clone(), others_present);
        let flag =
            |p: &mut madrigal_program::Program, yes: bool, rows: usize| filled(p, yes, [rows]);
        let ours = flag(p, false, right.rows).join(&flag(p, true, left.rows), 0);
        // A row of the other table that does not count comes before one that does, as the last one is found.
        let theirs = match &counts {
            Some(counts) => counts.join(&flag(p, false, left.rows), 0),
            None => ours.not(),
        };
        let mut by: Vec<(Tensor, bool)> = Vec::new();
        for [own, others] in &keys.pairs {
            let both = own.iter().zip(others);
            by.extend(both.map(|(own, others)| (others.join(own, 0), false)));
        }
        let key_parts = by.len();
        by.push((ours, false));
        if counts.is_some() {
            by.push((theirs, false));
        }
        // Keys that come back as they were need not move along.
        let kept = |kind: &Kind, common: &Kind| match (kind, common) {
            (Kind::Number(own), Kind::Number(common)) => own.unit == common.unit,
            (own, common) => own == common,
        };
        let mut place = 0;
        let mut places: Vec<(String, String, std::ops::Range<usize>)> = Vec::new();
        for ((own, others), kind) in lookup.on.iter().zip(&keys.kinds) {
            let parts = kind.elements().len();
            places.push((own.clone(), others.clone(), place..place + parts));
            place += parts;
        }
        let key_of = |name: &String, kind: &Kind, side: usize| {
            places.iter().zip(&keys.kinds).find_map(|(place, common)| {
                let key = if side == 0 { &place.0 } else { &place.1 };
                (key == name && kept(kind, common)).then(|| place.2.clone())
            })
        };
        let mut slots = Slots::new(left.rows, right.rows);
        let mut left_places = Vec::new();
        for (column, cell) in left.columns.iter().zip(&left.cells) {
            let key = key_of(&column.name, &cell.kind, 0);
            let parts: Vec<usize> = match &key {
                Some(_) => Vec::new(),
                None => cell.parts.iter().map(|part| slots.own(part)).collect(),
            };
            let present = cell.present.as_ref().map(|flag| slots.own(flag));
            left_places.push((key, parts, present));
        }
        let valid_place = left.valid.as_ref().map(|valid| slots.own(valid));
        let own_place = own_present.as_ref().map(|flag| slots.own(flag));
        let mut right_places = Vec::new();
        for &column in wanted {
            let cell = &right.cells[column];
            let key = key_of(&right.columns[column].name, &cell.kind, 1);
            let parts: Vec<usize> = match &key {
                Some(_) => Vec::new(),
                None => cell.parts.iter().map(|part| slots.others(part)).collect(),
            };
            let present = cell.present.as_ref().map(|flag| slots.others(flag));
            right_places.push((column, key, parts, present));
        }
        let columns = slots.columns(p);
        let by: Vec<(&Tensor, bool)> = by.iter().map(|(key, down)| (key, *down)).collect();
        let sorted = match rows {
            0 => by
                .iter()
                .map(|key| key.0.clone())
                .chain(columns.iter().cloned())
                .collect(),
            _ => Tensor::sort_by(&by, &columns.iter().collect::<Vec<_>>()),
        };
        let (keys_sorted, moved) = sorted.split_at(by.len());
        let key_tensors = &keys_sorted[..key_parts];
        let ours = &keys_sorted[key_parts];
        let theirs = match counts.is_some() {
            true => keys_sorted[key_parts + 1].clone(),
            false => ours.not(),
        };
        let starts = starts(p, key_tensors, rows);
        // Each row gets what the last row of the other table before it has, back to the start of the group.
        let mut values = vec![theirs];
        let mut taken: BTreeSet<usize> = BTreeSet::new();
        for (_, _, parts, present) in &right_places {
            taken.extend(parts.iter().chain(present));
        }
        values.extend(taken.iter().map(|&slot| moved[slot].clone()));
        let found = first_of_group(&starts.or(&ours.not()), &values);
        let found_slot = |slot: usize| {
            let at = taken
                .iter()
                .position(|one| *one == slot)
                .expect("a slot that is taken");
            found[at + 1].clone()
        };
        let mut counted = ours.clone();
        for place in [valid_place, own_place].into_iter().flatten() {
            counted = counted.and(&moved[place]);
        }
        let matched = match own_place {
            Some(place) => found[0].and(&moved[place]),
            None => found[0].clone(),
        };
        let valid = match lookup.join {
            Join::Left => match valid_place {
                Some(place) => ours.and(&moved[place]),
                None => ours.clone(),
            },
            // A row without a key finds nobody.
            Join::Anti => {
                let base = match valid_place {
                    Some(place) => ours.and(&moved[place]),
                    None => ours.clone(),
                };
                base.and(&matched.not())
            }
            _ => counted.and(&found[0]),
        };
        let mut made_columns: Vec<Column> = Vec::new();
        let mut cells = Vec::new();
        for ((column, cell), (key, parts, present)) in
            left.columns.iter().zip(&left.cells).zip(left_places)
        {
            let parts = match key {
                Some(key) => key_tensors[key].to_vec(),
                None => parts.into_iter().map(|slot| moved[slot].clone()).collect(),
            };
            let present = present.map(|slot| moved[slot].clone());
            made_columns.push(column.clone());
            cells.push(Cell::new(cell.kind.clone(), parts, present));
        }
        let mut steady: BTreeSet<String> = BTreeSet::new();
        for (column, key, parts, present) in right_places {
            let cell = &right.cells[column];
            let parts = match key {
                Some(key) => key_tensors[key].to_vec(),
                None => parts.into_iter().map(found_slot).collect(),
            };
            let mut present = present.map(found_slot);
            if lookup.join == Join::Left {
                present = Some(match present {
                    Some(present) => present.and(&matched),
                    None => matched.clone(),
                });
            }
            steady.insert(right.columns[column].name.clone());
            made_columns.push(right.columns[column].clone());
            cells.push(Cell::new(cell.kind.clone(), parts, present));
        }
        let mut relation = Relation::new(made_columns, cells, Some(valid), rows);
        for (own, others, _) in &places {
            steady.insert(own.clone());
            let mut names = vec![own.clone()];
            if lookup.join == Join::Inner {
                names.push(others.clone());
            }
            relation.sorted.push(names);
        }
        relation.steady = steady;
        // A key that is compared in another form moves along with its rows, and rows of the other table have none; keys that are missing lie
        // among others.
        let moved_key = |(column, cell): (&Column, &Cell)| {
            let is_key = lookup.on.iter().any(|pair| pair.0 == column.name);
            is_key && key_of(&column.name, &cell.kind, 0).is_none()
        };
        if own_present.is_some() || left.columns.iter().zip(&left.cells).any(moved_key) {
            relation.sorted.clear();
            relation.steady.clear();
        }
        if may_spread && right.rows * SPREAD <= left.rows {
            return relation;
        }
        self.without_others(relation, &ours.not(), left.rows)
    }

    /// The rows without those of the other table, in their order.
    fn without_others(&mut self, relation: Relation, others: &Tensor, rows: usize) -> Relation {
        let (sorted, steady) = (relation.sorted.clone(), relation.steady.clone());
        let (made, _) = relation.ordered(vec![(others.clone(), false)], false);
        let mut made = made.first(rows);
        made.sorted = sorted;
        made.steady = steady;
        made
    }
}

/// Whether each row is the first of those with its keys; rows are sorted by these.
pub(super) fn starts(p: &mut madrigal_program::Program, keys: &[Tensor], rows: usize) -> Tensor {
    let first = filled(p, true, [rows.min(1)]);
    if rows <= 1 {
        return first;
    }
    let differ = keys.iter().map(|key| {
        let before = key.slice(0, ..rows - 1);
        key.slice(0, 1..).equals(&before).not()
    });
    let starts = differ.reduce(|one, other| one.or(&other));
    let starts = starts.unwrap_or_else(|| filled(p, false, [rows - 1]));
    first.join(&starts, 0)
}

/// Columns of two tables one after the other: a column of each shares one where both have elements of one type.
struct Slots {
    rows: [usize; 2],
    columns: Vec<[Option<Tensor>; 2]>,
}

impl Slots {
    const fn new(own: usize, others: usize) -> Self {
        Self {
            rows: [own, others],
            columns: Vec::new(),
        }
    }

    fn own(&mut self, tensor: &Tensor) -> usize {
        self.put(0, tensor)
    }

    fn others(&mut self, tensor: &Tensor) -> usize {
        self.put(1, tensor)
    }

    fn put(&mut self, side: usize, tensor: &Tensor) -> usize {
        let element = |slot: &[Option<Tensor>; 2]| -> Option<Type> {
            slot[1 - side].as_ref().map(Tensor::element)
        };
        let free = self
            .columns
            .iter()
            .position(|slot| slot[side].is_none() && element(slot) == Some(tensor.element()));
        let at = free.unwrap_or_else(|| {
            self.columns.push([None, None]);
            self.columns.len() - 1
        });
        self.columns[at][side] = Some(tensor.clone());
        at
    }

    fn columns(&self, p: &mut madrigal_program::Program) -> Vec<Tensor> {
        let [own, others] = self.rows;
        let column = |slot: &[Option<Tensor>; 2]| match slot {
            [Some(first), Some(second)] => second.join(first, 0),
            [Some(first), None] => zeros(p, first.element(), others).join(first, 0),
            [None, Some(second)] => second.join(&zeros(p, second.element(), own), 0),
            [None, None] => zeros(p, bool::TYPE, own + others),
        };
        self.columns.iter().map(column).collect()
    }
}
