//! Columns that a step must give.

use std::collections::BTreeMap;

use super::takes;
use crate::column::Column;
use crate::expression::{Expression, Operator};
use crate::frame::{Aggregate, Frame, Groups, Lookup, Windows};

/// Columns that are needed, and whether numbers are computed with, so that they had better be wide.
#[derive(Debug, Clone, Default)]
pub(crate) struct Needs(BTreeMap<String, bool>);

impl Needs {
    /// All columns.
    pub(crate) fn all(columns: &[Column]) -> Self {
        Self(
            columns
                .iter()
                .map(|column| (column.name.clone(), false))
                .collect(),
        )
    }

    /// Whether a needed column is computed with.
    pub(crate) fn of(&self, name: &str) -> Option<bool> {
        self.0.get(name).copied()
    }

    pub(crate) fn add(&mut self, name: &str, wide: bool) {
        *self.0.entry(name.to_owned()).or_default() |= wide;
    }

    /// Needed columns of a table.
    pub(crate) fn among(&self, columns: &[Column]) -> Self {
        let has = |name: &String| columns.iter().any(|column| column.name == *name);
        let own = self.0.iter().filter(|one| has(one.0));
        Self(own.map(|(name, wide)| (name.clone(), *wide)).collect())
    }

    /// Adds the columns that an expression reads, of which numbers are computed if `wide` says that they are computed with.
    pub(crate) fn read(&mut self, expression: &Expression, wide: bool) {
        match expression {
            Expression::Column(name) => self.add(name, wide),
            Expression::Binary(operator, one, other) => {
                let wide = matches!(
                    operator,
                    Operator::Plus | Operator::Minus | Operator::Times | Operator::Over
                );
                self.read(one, wide);
                self.read(other, wide);
            }
            Expression::Case(branches, otherwise) => {
                for (when, then) in branches {
                    self.read(when, false);
                    self.read(then, wide);
                }
                if let Some(otherwise) = otherwise {
                    self.read(otherwise, wide);
                }
            }
            Expression::Negate(one) => self.read(one, true),
            Expression::Cast(one, _) => self.read(one, wide),
            Expression::Coalesce(all) => all.iter().for_each(|one| self.read(one, wide)),
            other => {
                for part in other.parts() {
                    self.read(part, false);
                }
            }
        }
    }
}

/// Columns that both tables of a lookup must give.
pub(super) fn of_lookup(
    needs: &Needs,
    one: &Frame,
    other: &Frame,
    lookup: &Lookup,
) -> (Needs, Needs) {
    let mut own = needs.among(&one.columns);
    let mut others = match takes(lookup.join) {
        true => needs.among(&other.columns),
        false => Needs::default(),
    };
    for (key, partner) in &lookup.on {
        own.add(key, false);
        others.add(partner, false);
    }
    (own, others)
}

/// Columns that the input of groups must give.
pub(super) fn of_group(needs: &Needs, input: &Frame, groups: &Groups) -> Needs {
    let mut more = Needs::default();
    let reduced = input.facts.reduced(&groups.keys);
    for key in &groups.keys {
        if reduced.contains(key) || needs.of(key).is_some() {
            more.add(key, false);
        }
    }
    for (name, aggregate) in &groups.aggregates {
        if needs.of(name).is_none() {
            continue;
        }
        if let Some(value) = aggregate.value() {
            let wide = matches!(
                aggregate,
                Aggregate::Sum(_) | Aggregate::Mean(_) | Aggregate::Variance(_)
            );
            more.read(value, wide);
        }
    }
    more
}

/// Columns that the input of windows must give.
pub(super) fn of_window(needs: &Needs, input: &Frame, windows: &Windows) -> Needs {
    let mut more = needs.among(&input.columns);
    let needed = windows.functions.iter();
    let needed: Vec<_> = needed.filter(|one| needs.of(&one.0).is_some()).collect();
    if needed.is_empty() {
        return more;
    }
    let order = windows.order.iter().map(|key| &key.column);
    windows
        .partition
        .iter()
        .chain(order)
        .for_each(|key| more.add(key, false));
    for (_, function) in needed {
        if let Some(value) = function.value() {
            more.read(value, false);
        }
    }
    more
}
