//! Columns that a step must give.

use std::collections::{BTreeMap, HashMap};
use std::sync::Arc;

use super::takes;
use crate::column::Column;
use crate::expression::{Expression, Operator};
use crate::frame::{Aggregate, Frame, Groups, Lookup, Node, Windows};

/// Columns that are needed.
#[derive(Debug, Clone, Default, PartialEq)]
pub(crate) struct Needs(BTreeMap<String, Need>);

/// Use of a column.
#[derive(Debug, Clone, Copy, Default, PartialEq)]
struct Need {
    /// Whether numbers are computed with, so that they had better be wide.
    is_wide: bool,
    /// Whether the values are in the result, as they are.
    is_shown: bool,
}

/// Uses of a step by those that are made of it.
pub(super) struct Uses {
    pub(super) needs: Needs,
    /// Whether rows of other tables may lie between the step's, which do not count.
    pub(super) may_spread: bool,
}

/// A step's identity: one that several others are made of is there once.
pub(super) fn identity(frame: &Frame) -> *const Node {
    Arc::as_ptr(&frame.node)
}

/// The uses of all steps of a query, of which all columns are shown.
pub(super) fn uses(query: &Frame) -> HashMap<*const Node, Uses> {
    let mut steps = Vec::new();
    query.visit(&mut |step| steps.push(step));
    let all = Uses {
        needs: Needs::all(&query.columns),
        may_spread: true,
    };
    let mut uses = HashMap::from([(identity(query), all)]);
    // Inputs of a step come before it, so in this order all uses of a step do.
    for step in steps.into_iter().rev() {
        let own = &uses[&identity(step)];
        let inputs = inputs(step, &own.needs, own.may_spread);
        for (input, more) in step.inputs().into_iter().zip(inputs) {
            match uses.get_mut(&identity(input)) {
                None => {
                    uses.insert(identity(input), more);
                }
                Some(known) => {
                    known.needs = known.needs.with(&more.needs);
                    known.may_spread &= more.may_spread;
                }
            }
        }
    }
    uses
}

/// Uses that a step makes of its inputs, in their order.
pub(super) fn inputs(frame: &Frame, needs: &Needs, may_spread: bool) -> Vec<Uses> {
    let uses = |needs: Needs, may_spread: bool| Uses { needs, may_spread };
    let with = |names: &mut dyn Iterator<Item = &String>| {
        let mut more = needs.clone();
        names.for_each(|name| more.add(name, false));
        more
    };
    match &*frame.node {
        Node::Table(_) => Vec::new(),
        Node::Filter(_, condition) => {
            let mut more = needs.clone();
            more.read(condition, false);
            vec![uses(more, may_spread)]
        }
        Node::Select(_, columns) => {
            let mut more = Needs::default();
            for (name, value) in columns {
                match (value, needs.0.get(name)) {
                    (_, None) => {}
                    (Expression::Column(own), Some(need)) => more.put(own, *need),
                    (value, Some(need)) => more.read(value, need.is_wide),
                }
            }
            vec![uses(more, may_spread)]
        }
        Node::Lookup(one, other, lookup) => {
            let (own, others) = of_lookup(needs, one, other, lookup);
            // Rows of the other table that do not count find nobody, wherever they lie.
            vec![uses(own, true), uses(others, true)]
        }
        Node::Beside(one, other, _) => vec![
            uses(needs.among(&one.columns), may_spread),
            uses(needs.among(&other.columns), false),
        ],
        Node::Group(input, groups) => vec![uses(of_group(needs, input, groups), true)],
        Node::Window(input, windows) => vec![uses(of_window(needs, input, windows), true)],
        Node::Copies(input, copies) => {
            let mut more = needs.among(&input.columns);
            more.add(&copies.count, false);
            vec![uses(more, true)]
        }
        Node::Sort(_, keys) => {
            let more = with(&mut keys.iter().map(|key| &key.column));
            vec![uses(more, true)]
        }
        Node::Slice(..) | Node::Bound(..) => vec![uses(needs.clone(), true)],
        Node::Union(all) => {
            let of = |input: &Frame| {
                let mut own = Needs::default();
                for (column, others) in frame.columns.iter().zip(input.columns.iter()) {
                    if let Some(need) = needs.0.get(&column.name) {
                        own.put(&others.name, *need);
                    }
                }
                uses(own, may_spread)
            };
            all.iter().map(of).collect()
        }
    }
}

impl Needs {
    /// All columns, shown.
    fn all(columns: &[Column]) -> Self {
        let shown = Need {
            is_shown: true,
            ..Need::default()
        };
        let all = columns.iter().map(|column| (column.name.clone(), shown));
        Self(all.collect())
    }

    /// The needs of two uses: only what both show is shown whatever becomes of the rows.
    fn with(&self, other: &Self) -> Self {
        let mut both = self.clone();
        for (name, need) in &mut both.0 {
            let theirs = other.0.get(name).copied().unwrap_or_default();
            need.is_wide |= theirs.is_wide;
            need.is_shown &= theirs.is_shown;
        }
        for (name, need) in &other.0 {
            let hidden = Need {
                is_shown: false,
                ..*need
            };
            both.0.entry(name.clone()).or_insert(hidden);
        }
        both
    }

    /// Whether a needed column is computed with.
    pub(crate) fn of(&self, name: &str) -> Option<bool> {
        self.0.get(name).map(|need| need.is_wide)
    }

    /// Whether the result has a column's values as they are.
    pub(super) fn is_shown(&self, name: &str) -> bool {
        self.0.get(name).is_some_and(|need| need.is_shown)
    }

    pub(crate) fn add(&mut self, name: &str, wide: bool) {
        self.0.entry(name.to_owned()).or_default().is_wide |= wide;
    }

    fn put(&mut self, name: &str, need: Need) {
        let own = self.0.entry(name.to_owned()).or_default();
        own.is_wide |= need.is_wide;
        own.is_shown |= need.is_shown;
    }

    /// Needed columns of a table.
    pub(crate) fn among(&self, columns: &[Column]) -> Self {
        let has = |name: &String| columns.iter().any(|column| column.name == *name);
        let own = self.0.iter().filter(|one| has(one.0));
        Self(own.map(|(name, need)| (name.clone(), *need)).collect())
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
fn of_lookup(needs: &Needs, one: &Frame, other: &Frame, lookup: &Lookup) -> (Needs, Needs) {
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
fn of_group(needs: &Needs, input: &Frame, groups: &Groups) -> Needs {
    let mut more = Needs::default();
    let reduced = input.facts.reduced(&groups.keys);
    for key in &groups.keys {
        match needs.0.get(key) {
            Some(need) => more.put(key, *need),
            None if reduced.contains(key) => more.add(key, false),
            None => {}
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
fn of_window(needs: &Needs, input: &Frame, windows: &Windows) -> Needs {
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
