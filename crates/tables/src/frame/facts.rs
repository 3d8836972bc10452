//! Facts about a step's rows that everybody knows.

use std::collections::BTreeSet;

use super::{Extent, Frame, Join, Lookup, Node, Window, Windows};
use crate::column::Column;
use crate::expression::{Expression, Operator};

/// Columns by name.
type Names = BTreeSet<String>;

/// Facts that everybody knows about rows that count.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub(crate) struct Facts {
    /// The most rows.
    pub(crate) most: usize,
    /// Whether there is exactly one row.
    pub(crate) is_one_row: bool,
    /// Sets of columns in which no two rows are equal.
    pub(crate) unique: Vec<Names>,
    /// Columns that say what others are: rows that are equal in the first ones are equal in the second ones.
    pub(crate) decided: Vec<(Names, Names)>,
    /// The most different values of columns.
    pub(crate) values: Vec<(String, usize)>,
    /// The fewest rows that may be told of.
    pub(crate) least_group: usize,
}

fn names<'a>(columns: impl IntoIterator<Item = &'a String>) -> Names {
    columns.into_iter().cloned().collect()
}

impl Facts {
    pub(crate) fn of(node: &Node, columns: &[Column]) -> Self {
        match node {
            Node::Table(table) => Self {
                most: table.rows,
                is_one_row: false,
                unique: table.unique.iter().map(names).collect(),
                decided: Vec::new(),
                values: columns
                    .iter()
                    .map(|column| {
                        let kind = column.kind.values().unwrap_or(usize::MAX);
                        let missing = usize::from(column.nullable);
                        let values = kind.saturating_add(missing).min(table.rows);
                        (column.name.clone(), values)
                    })
                    .collect(),
                least_group: table.least_group,
            },
            Node::Filter(input, condition) => {
                let mut facts = Self {
                    is_one_row: false,
                    ..(*input.facts).clone()
                };
                // A column that equals a public value is the same in all rows.
                for condition in condition.conditions() {
                    if let Expression::Binary(Operator::Equal, one, other) = condition
                        && let (Expression::Column(name), Expression::Literal(_))
                        | (Expression::Literal(_), Expression::Column(name)) = (&**one, &**other)
                    {
                        facts.decided.push((Names::new(), names([name])));
                    }
                }
                facts
            }
            Node::Sort(input, _) => (*input.facts).clone(),
            Node::Window(input, windows) => input.facts.with_windows(windows),
            Node::Copies(input, copies) => {
                let facts = (*input.facts).clone();
                let numbered = |key: &Names| key.iter().chain([&copies.number]).cloned().collect();
                Self {
                    most: copies.most,
                    is_one_row: false,
                    unique: facts.unique.iter().map(numbered).collect(),
                    ..facts
                }
            }
            Node::Slice(input, skip, rows) => {
                let facts = (*input.facts).clone();
                Self {
                    most: facts.most.saturating_sub(*skip).min(*rows),
                    is_one_row: facts.is_one_row && *skip == 0 && *rows > 0,
                    ..facts
                }
            }
            Node::Bound(input, rows) => {
                let facts = (*input.facts).clone();
                Self {
                    most: facts.most.min(*rows),
                    is_one_row: facts.is_one_row && *rows > 0,
                    ..facts
                }
            }
            Node::Select(input, columns) => input.facts.selected(columns),
            Node::Lookup(one, other, lookup) => Self::of_lookup(one, other, lookup),
            Node::Beside(one, other, outer) => {
                let mut facts = (*one.facts).clone();
                facts.is_one_row &= *outer || other.facts.is_one_row;
                facts.least_group = facts.least_group.max(other.facts.least_group);
                // All rows have equal values there.
                facts.decided.push((
                    Names::new(),
                    names(other.columns.iter().map(|column| &column.name)),
                ));
                facts
            }
            Node::Group(input, groups) => {
                let key = names(&groups.keys);
                let reduced = input.facts.reduced(&groups.keys);
                let most = reduced
                    .iter()
                    .try_fold(1_usize, |all, name| {
                        all.checked_mul(input.facts.values_of(name).max(1))
                    })
                    .unwrap_or(usize::MAX);
                let most = most
                    .min(input.facts.most)
                    .min(groups.bound.unwrap_or(usize::MAX));
                let most = if groups.keys.is_empty() { 1 } else { most };
                let values = groups
                    .keys
                    .iter()
                    .map(|name| (name.clone(), input.facts.values_of(name)));
                Self {
                    most,
                    is_one_row: groups.keys.is_empty() && groups.at_least <= 1,
                    unique: vec![key],
                    decided: input
                        .facts
                        .decided
                        .iter()
                        .filter(|(from, _)| from.iter().all(|name| groups.keys.contains(name)))
                        .map(|(from, to)| {
                            let kept = to.iter().filter(|name| groups.keys.contains(name));
                            (from.clone(), kept.cloned().collect())
                        })
                        .collect(),
                    values: values.collect(),
                    // Numbers of groups may be told.
                    least_group: 1,
                }
            }
            Node::Union(all) => Self {
                most: all
                    .iter()
                    .fold(0_usize, |sum, frame| sum.saturating_add(frame.facts.most)),
                least_group: all
                    .iter()
                    .map(|frame| frame.facts.least_group)
                    .max()
                    .unwrap_or(1),
                ..Self::default()
            },
        }
    }

    fn of_lookup(one: &Frame, other: &Frame, lookup: &Lookup) -> Self {
        let mut facts = (*one.facts).clone();
        facts.is_one_row &= lookup.join == Join::Left;
        facts.least_group = facts.least_group.max(other.facts.least_group);
        let own = names(lookup.on.iter().map(|pair| &pair.0));
        if lookup.join == Join::Inner || lookup.join == Join::Left {
            let missing = usize::from(lookup.join == Join::Left);
            let values = other.facts.values.iter();
            facts
                .values
                .extend(values.map(|(name, count)| (name.clone(), count.saturating_add(missing))));
            facts.decided.push((
                own.clone(),
                names(other.columns.iter().map(|column| &column.name)),
            ));
            // Where there is no partner all is missing, which the other table's facts say nothing of.
            if lookup.join == Join::Inner {
                facts.decided.extend(other.facts.decided.iter().cloned());
            }
            for key in &other.facts.unique {
                let all = names(other.columns.iter().map(|column| &column.name));
                if lookup.join == Join::Inner {
                    facts.decided.push((key.clone(), all));
                }
            }
        }
        if lookup.join == Join::Inner {
            // Keys are equal, so each says what the other is.
            for (own, others) in &lookup.on {
                facts.decided.push((names([own]), names([others])));
                facts.decided.push((names([others]), names([own])));
            }
        }
        if let Join::Inner | Join::Semi = lookup.join {
            // Keys of rows that found a partner are among those of the other table.
            for (own, others) in &lookup.on {
                let values = other.facts.values_of(others);
                match facts.values.iter_mut().find(|one| one.0 == *own) {
                    Some(one) => one.1 = one.1.min(values),
                    None => facts.values.push((own.clone(), values)),
                }
            }
        }
        facts
    }

    fn with_windows(&self, windows: &Windows) -> Self {
        let mut facts = self.clone();
        let partition = names(&windows.partition);
        for (name, function) in &windows.functions {
            match function {
                Window::RowNumber => {
                    let mut key = partition.clone();
                    key.insert(name.clone());
                    facts.unique.push(key);
                }
                // Rows of a partition have one value.
                Window::Told(_, Extent::Partition) => {
                    facts.decided.push((partition.clone(), names([name])));
                }
                _ => {}
            }
        }
        facts
    }

    fn selected(&self, columns: &[(String, Expression)]) -> Self {
        // The first new name of each column that is taken over as it is.
        let moved = |name: &String| -> Option<String> {
            columns
                .iter()
                .find(|(_, value)| *value == Expression::Column(name.clone()))
                .map(|(new, _)| new.clone())
        };
        let moved_all = |set: &Names| set.iter().map(moved).collect::<Option<Names>>();
        let mut decided: Vec<(Names, Names)> = self
            .decided
            .iter()
            .filter_map(|(from, to)| {
                Some((moved_all(from)?, to.iter().filter_map(moved).collect()))
            })
            .collect();
        // Columns decide the values that are computed of them.
        for (new, value) in columns {
            let read: Option<Names> = value
                .columns()
                .into_iter()
                .map(|name| moved(&name.into()))
                .collect();
            if let Some(read) = read
                && !read.contains(new)
            {
                decided.push((read, names([new])));
            }
        }
        Self {
            unique: self
                .unique
                .iter()
                .filter_map(|key| moved_all(&self.least(key)))
                .collect(),
            values: columns
                .iter()
                .map(|(new, value)| {
                    let values = value
                        .columns()
                        .into_iter()
                        .try_fold(1_usize, |all, name| all.checked_mul(self.values_of(name)))
                        .unwrap_or(usize::MAX);
                    (new.clone(), values.min(self.most))
                })
                .collect(),
            decided,
            ..self.clone()
        }
    }

    /// The most different values of a column.
    pub(crate) fn values_of(&self, name: &str) -> usize {
        let found = self.values.iter().find(|one| one.0 == name);
        found.map_or(self.most, |one| one.1.min(self.most))
    }

    /// All columns that some decide, with these.
    fn closure(&self, of: &Names) -> Names {
        let mut all = of.clone();
        loop {
            let before = all.len();
            for (from, to) in &self.decided {
                if from.is_subset(&all) {
                    all.extend(to.iter().cloned());
                }
            }
            if all.len() == before {
                return all;
            }
        }
    }

    /// Some of a key's columns that decide the others.
    fn least(&self, key: &Names) -> Names {
        let mut kept = key.clone();
        for name in key {
            let rest: Names = kept.iter().filter(|one| *one != name).cloned().collect();
            if self.closure(&rest).contains(name) {
                kept = rest;
            }
        }
        kept
    }

    /// Whether no two rows are equal in these columns.
    pub(crate) fn is_unique(&self, columns: &[String]) -> bool {
        let all = self.closure(&names(columns));
        self.most <= 1 || self.unique.iter().any(|key| key.is_subset(&all))
    }

    /// Some of these columns that decide the others: one at least. Those of fewest values are kept where there is a choice.
    pub(crate) fn reduced(&self, columns: &[String]) -> Vec<String> {
        let mut kept: Vec<String> = columns.to_vec();
        let mut candidates = columns.to_vec();
        candidates.sort_by_key(|name| std::cmp::Reverse(self.values_of(name)));
        for name in &candidates {
            let rest: Names = kept.iter().filter(|one| *one != name).cloned().collect();
            if rest.is_empty() {
                continue;
            }
            let unique = self
                .unique
                .iter()
                .any(|key| key.is_subset(&self.closure(&rest)));
            if unique || self.closure(&rest).contains(name) {
                kept.retain(|one| one != name);
            }
        }
        kept
    }
}
