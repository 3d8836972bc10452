//! Wide columns that nothing is computed of: looked up at the end, and not moved along by every sort before.

use std::sync::Arc;

use super::{Frame, Join, Node, Result};
use crate::expression::{Expression, col};
use crate::table::Table;

/// Bytes of columns that are worth another lookup.
const WIDE: usize = 32;
/// Rows that columns would move with, for each row of the lookup at the end.
const GAIN: usize = 2;

/// A column as its table has it.
struct Origin<'a> {
    /// The inputs that lead to the table, from the step on: a table that is named twice is there twice.
    path: Vec<usize>,
    table: &'a Arc<Table>,
    column: String,
    /// Rows that sorts on the way move.
    moved: usize,
}

impl Frame {
    /// The query with wide columns looked up at the end, where that moves less.
    pub(super) fn with_late_columns(&self) -> Result<Self> {
        match &*self.node {
            Node::Select(input, columns) => {
                let input = input.with_late_columns()?;
                Self::new(Node::Select(input, columns.clone()), self.columns.to_vec())
            }
            Node::Sort(input, keys) => {
                let input = input.with_late_columns()?;
                Self::new(Node::Sort(input, keys.clone()), self.columns.to_vec())
            }
            Node::Slice(input, ..) => match (&*input.node, self.looked_up_late()?) {
                // A lookup puts rows in another order.
                (Node::Sort(_, keys), Some(made)) => {
                    Self::new(Node::Sort(made, keys.clone()), self.columns.to_vec())
                }
                // An order from further below would be lost.
                _ if input.is_in_order() => Ok(self.clone()),
                (_, made) => Ok(made.unwrap_or_else(|| self.clone())),
            },
            _ if self.is_in_order() => Ok(self.clone()),
            _ => Ok(self.looked_up_late()?.unwrap_or_else(|| self.clone())),
        }
    }

    /// Whether rows come in an order that the query asks for.
    fn is_in_order(&self) -> bool {
        match &*self.node {
            Node::Sort(..) => true,
            Node::Select(input, _)
            | Node::Filter(input, _)
            | Node::Slice(input, ..)
            | Node::Bound(input, _)
            | Node::Beside(input, ..) => input.is_in_order(),
            Node::Lookup(one, ..) => one.is_in_order(),
            Node::Table(_)
            | Node::Group(..)
            | Node::Window(..)
            | Node::Copies(..)
            | Node::Union(_) => false,
        }
    }

    /// The step with columns of wide tables looked up behind it, if there are any.
    fn looked_up_late(&self) -> Result<Option<Self>> {
        let mut made: Option<Self> = None;
        let origins: Vec<Option<Origin<'_>>> = self
            .columns
            .iter()
            .map(|column| self.origin(&column.name, true))
            .collect();
        let mut done: Vec<&[usize]> = Vec::new();
        for first in origins.iter().flatten() {
            if done.contains(&&*first.path) {
                continue;
            }
            done.push(&first.path);
            let late: Vec<(&String, &Origin<'_>)> = self
                .columns
                .iter()
                .zip(&origins)
                .filter_map(|(column, origin)| Some((&column.name, origin.as_ref()?)))
                .filter(|(_, origin)| origin.path == first.path)
                .collect();
            if let Some(found) = self.looked_up_again(made.as_ref().unwrap_or(self), &late)? {
                made = Some(found);
            }
        }
        Ok(made)
    }

    /// A step's rows with columns of one table, which are looked up by its key.
    fn looked_up_again(
        &self,
        rows: &Self,
        late: &[(&String, &Origin<'_>)],
    ) -> Result<Option<Self>> {
        let Some((_, first)) = late.first() else {
            return Ok(None);
        };
        // Columns that are a key of the table, which may have been read on the way.
        let known: Vec<(&String, Origin<'_>)> = self
            .columns
            .iter()
            .filter_map(|column| Some((&column.name, self.origin(&column.name, false)?)))
            .filter(|(_, origin)| origin.path == first.path)
            .collect();
        let place = |name: &String| known.iter().find(|one| one.1.column == *name);
        let keys = first.table.unique.iter().find_map(|key| {
            let own = key
                .iter()
                .map(|name| Some((place(name)?.0.clone(), name.clone())));
            own.collect::<Option<Vec<(String, String)>>>()
        });
        let Some(keys) = keys else {
            return Ok(None);
        };
        let late = late.iter();
        let late = late.filter(|(name, _)| !keys.iter().any(|key| key.0 == **name));
        let late: Vec<_> = late.collect();
        let moved = late.iter().map(|one| one.1.moved).max().unwrap_or(0);
        let again = self.facts.most.saturating_add(first.table.rows);
        let elements = late.iter().flat_map(|(name, _)| {
            let column = self.columns.iter().find(|column| column.name == **name);
            column.map_or_else(Vec::new, |column| column.kind.elements())
        });
        let bits: u32 = elements.map(|element| element.bits()).sum();
        if (bits as usize) < 8 * WIDE || moved <= GAIN.saturating_mul(again) {
            return Ok(None);
        }
        let hidden = |name: &str| format!("late {:?} {name}\u{0}", first.path);
        let table = Self::new(
            Node::Table(first.table.clone()),
            first.table.columns.clone(),
        )?;
        let key_columns = keys.iter().map(|key| &key.1);
        let values = late.iter().map(|(_, origin)| &origin.column);
        let mut taken: Vec<(String, Expression)> = Vec::new();
        for name in key_columns.chain(values) {
            if !taken.iter().any(|one| one.0 == hidden(name)) {
                taken.push((hidden(name), col(name)));
            }
        }
        let table = table.selected(taken)?;
        let is_nullable = |name: &String| {
            let found = rows.columns.iter().find(|column| column.name == *name);
            found.is_none_or(|column| column.nullable)
        };
        let join = match keys.iter().any(|key| is_nullable(&key.0)) {
            true => Join::Left,
            false => Join::Inner,
        };
        let on = keys.iter().map(|(own, name)| (own.clone(), hidden(name)));
        let found = rows.lookup(&table, on.collect(), join)?;
        let columns = self.columns.iter().map(|column| {
            let late = late.iter().find(|one| *one.0 == column.name);
            let value = late.map_or_else(|| column.name.clone(), |one| hidden(&one.1.column));
            (column.name.clone(), col(value))
        });
        found.selected(columns.collect()).map(Some)
    }

    /// The table that a column comes from as it is; `unread` asks that nothing on the way reads it but what it is shown by.
    fn origin(&self, name: &str, unread: bool) -> Option<Origin<'_>> {
        let (input, name, at, rows, is_read): (&Self, String, usize, usize, bool) = match &*self
            .node
        {
            Node::Table(table) => {
                return Some(Origin {
                    path: Vec::new(),
                    table,
                    column: name.to_owned(),
                    moved: 0,
                });
            }
            Node::Select(input, columns) => {
                let found = columns.iter().find(|column| column.0 == name)?;
                let Expression::Column(own) = &found.1 else {
                    return None;
                };
                (input, own.clone(), 0, 0, false)
            }
            Node::Filter(input, condition) => {
                let is_read = condition.columns().contains(&name);
                (input, name.to_owned(), 0, 0, is_read)
            }
            Node::Sort(input, keys) => {
                let is_read = keys.iter().any(|key| key.column == name);
                (input, name.to_owned(), 0, input.facts.most, is_read)
            }
            Node::Slice(input, ..) | Node::Bound(input, _) => (input, name.to_owned(), 0, 0, false),
            Node::Lookup(one, other, lookup) => {
                let is_key = lookup.on.iter().any(|(a, b)| a == name || b == name);
                let rows = one.facts.most.saturating_add(other.facts.most);
                let own = one.columns.iter().any(|column| column.name == name);
                let (input, at) = if own { (one, 0) } else { (other, 1) };
                (input, name.to_owned(), at, rows, is_key)
            }
            Node::Group(input, groups) => {
                if !groups.keys.iter().any(|key| key == name) {
                    return None;
                }
                let is_read = input
                    .facts
                    .reduced(&groups.keys)
                    .iter()
                    .any(|key| key == name)
                    || groups.aggregates.iter().any(|(_, told)| {
                        told.value()
                            .is_some_and(|value| value.columns().contains(&name))
                    });
                (input, name.to_owned(), 0, input.facts.most, is_read)
            }
            Node::Window(..) | Node::Copies(..) | Node::Beside(..) | Node::Union(_) => {
                return None;
            }
        };
        if unread && is_read {
            return None;
        }
        let mut origin = input.origin(&name, unread)?;
        origin.path.insert(0, at);
        origin.moved = origin.moved.saturating_add(rows);
        Some(origin)
    }
}
