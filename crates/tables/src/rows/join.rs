//! Joins of many rows with at most one row of another table.

use madrigal_program::{Program, Tensor};

use super::scan::first_of_group;
use super::{Rows, filled, zeros};

/// Rows that a join gives.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Join {
    /// Rows that have a matching one, with its columns.
    Inner,
    /// All rows, with the columns of the matching one, zeros where there is none, and a last column that says whether there is one.
    Left,
    /// Rows that have a matching one.
    Semi,
    /// Rows that have no matching one.
    Anti,
}

impl Rows {
    /// Each row with the row of `other` that is equal to it in pairs of columns, `on`: in the order of these. Rows of `other` that count
    /// differ in these columns; if two do not, the program opens nothing, and all parties learn that. Gives as many rows as this table has.
    ///
    /// # Panics
    /// If no columns are named.
    #[must_use]
    pub fn join(&self, p: &mut Program, other: &Self, on: &[(usize, usize)], join: Join) -> Self {
        assert!(!on.is_empty(), "columns to join on");
        let is_key = |column: &usize| !on.iter().any(|pair| pair.0 == *column);
        let own: Vec<usize> = (0..self.columns.len()).filter(is_key).collect();
        let taken: Vec<usize> = match join {
            Join::Inner | Join::Left => (0..other.columns.len())
                .filter(|column| !on.iter().any(|pair| pair.1 == *column))
                .collect(),
            Join::Semi | Join::Anti => Vec::new(),
        };
        // Rows of the other table come first, so that a stable sort has them before those that they match.
        let keys: Vec<(Tensor, bool)> = on
            .iter()
            .map(|&(own, others)| (other.columns[others].join(&self.columns[own], 0), false))
            .collect();
        let (ours, theirs) = (
            filled(p, false, [self.count]),
            filled(p, true, [other.count]),
        );
        let side = theirs.join(&ours, 0);
        let columns = Slots::new(p, [self, other], [&own, &taken]);
        let mut all = vec![side];
        all.extend(columns.columns.iter().cloned());
        let both = Self {
            columns: all,
            valid: self.valid_with(p, other),
            count: self.count + other.count,
        };
        let sorted = both.moved(&keys, both.columns.clone());
        let (keys, rest) = sorted.columns.split_at(keys.len());
        let (side, slots) = (&rest[0], &rest[1..]);
        let starts = sorted.starts(p, keys);
        let counts = |flag: &Tensor| match &sorted.valid {
            Some(valid) => flag.and(valid),
            None => flag.clone(),
        };
        let theirs = counts(side);
        // The other table has one row at most that matches others, and it comes first of these.
        let again = theirs.and(&starts.not());
        p.require_named(
            "no two rows to join with",
            &again.any(0).not().typed::<bool>(),
        );
        let mut values = vec![theirs.clone()];
        values.extend(columns.taken.iter().map(|&slot| slots[slot].clone()));
        let mut found = first_of_group(&starts.or(side), &values);
        let found_columns = found.split_off(1);
        let ours = counts(&side.not());
        let matched = ours.and(&found[0]);
        let valid = match join {
            Join::Inner | Join::Semi => matched.clone(),
            Join::Left => ours,
            Join::Anti => ours.and(&matched.not()),
        };
        let mut made: Vec<Option<Tensor>> = vec![None; self.columns.len()];
        for (&(own, _), key) in on.iter().zip(keys) {
            made[own] = Some(key.clone());
        }
        for (&column, &slot) in own.iter().zip(&columns.own) {
            made[column] = Some(slots[slot].clone());
        }
        let mut made: Vec<Tensor> = made.into_iter().flatten().collect();
        made.extend(found_columns.into_iter().map(|column| match join {
            Join::Left => matched.select(&column, &zeros(p, column.element(), sorted.count)),
            _ => column,
        }));
        if join == Join::Left {
            made.push(matched);
        }
        // Rows of the other table go.
        let by = [(side.clone(), false)];
        made.push(valid);
        let all = Self {
            columns: made.clone(),
            valid: None,
            count: sorted.count,
        };
        let mut joined = all.moved(&by, made).first(self.count);
        joined.columns = joined.columns.split_off(1);
        joined.valid = joined.columns.pop();
        joined
    }

    /// Whether each of the other table's rows counts, and each of this one's.
    fn valid_with(&self, p: &mut Program, other: &Self) -> Option<Tensor> {
        if self.valid.is_none() && other.valid.is_none() {
            return None;
        }
        let mut of = |rows: &Self| match &rows.valid {
            Some(valid) => valid.clone(),
            None => filled(p, true, [rows.count]),
        };
        let others = of(other);
        Some(others.join(&of(self), 0))
    }
}

/// Columns of two tables one after the other: a column of each shares one, where both have the same type.
struct Slots {
    columns: Vec<Tensor>,
    own: Vec<usize>,
    taken: Vec<usize>,
}

impl Slots {
    fn new(p: &mut Program, [rows, other]: [&Rows; 2], [own, taken]: [&[usize]; 2]) -> Self {
        let mut slots = Self {
            columns: Vec::new(),
            own: Vec::new(),
            taken: Vec::new(),
        };
        let mut free: Vec<usize> = taken.to_vec();
        let mut places: Vec<(usize, usize)> = Vec::new();
        for &column in own {
            let column = &rows.columns[column];
            let same = free
                .iter()
                .position(|&taken| other.columns[taken].element() == column.element());
            let before = match same {
                Some(same) => {
                    let taken = free.remove(same);
                    places.push((taken, slots.columns.len()));
                    other.columns[taken].clone()
                }
                None => zeros(p, column.element(), other.count),
            };
            slots.own.push(slots.columns.len());
            slots.columns.push(before.join(column, 0));
        }
        for taken in free {
            let column = &other.columns[taken];
            places.push((taken, slots.columns.len()));
            let after = zeros(p, column.element(), rows.count);
            slots.columns.push(column.join(&after, 0));
        }
        places.sort_unstable();
        slots.taken = places.into_iter().map(|(_, slot)| slot).collect();
        slots
    }
}
