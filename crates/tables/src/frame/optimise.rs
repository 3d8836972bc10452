//! Queries written in another way that takes less work and gives the same rows.

use super::{Frame, Groups, Join, Lookup, Node, Result};
use crate::column::Column;
use crate::expression::{Expression, Operator, col};
use crate::kind::Kind;

impl Frame {
    /// The query with filters as early as they can be, with each lookup at the smallest table that has its keys, and with wide columns looked up at
    /// the end.
    pub(crate) fn optimised(&self) -> Result<Self> {
        let filtered = self.with_filters(Vec::new())?;
        let early = filtered.with_early_lookups()?;
        let made = early.with_late_columns()?.with_fewer_selections()?;
        made.shared(&mut Vec::new())
    }

    /// The query with steps that are equal being one: where rows are any, all that is made of them sees the same.
    fn shared(&self, known: &mut Vec<Self>) -> Result<Self> {
        let inputs = self.inputs().into_iter().map(|input| input.shared(known));
        let made = self.with_inputs(inputs.collect::<Result<_>>()?)?;
        match known.iter().find(|one| **one == made) {
            Some(one) => Ok(one.clone()),
            None => {
                known.push(made.clone());
                Ok(made)
            }
        }
    }

    /// Selections of selected columns are one, and those that change nothing are none.
    fn with_fewer_selections(&self) -> Result<Self> {
        let inputs = self.inputs().into_iter().map(Self::with_fewer_selections);
        let frame = self.with_inputs(inputs.collect::<Result<_>>()?)?;
        let Node::Select(input, columns) = &*frame.node else {
            return Ok(frame);
        };
        let is_same = |((name, value), own): (&(String, Expression), &Column)| {
            *name == own.name && *value == col(name)
        };
        if columns.len() == input.columns.len() && columns.iter().zip(&*input.columns).all(is_same)
        {
            return Ok(input.clone());
        }
        let Node::Select(below, inner) = &*input.node else {
            return Ok(frame);
        };
        // A value that is computed is computed once.
        let is_plain = |name: &str| {
            let found = inner.iter().find(|column| column.0 == name);
            let computed = found.is_some_and(|one| {
                !matches!(one.1, Expression::Column(_) | Expression::Literal(_))
            });
            let read = columns.iter().map(|(_, value)| value.times_read(name));
            !computed || read.sum::<usize>() <= 1
        };
        if !inner.iter().all(|column| is_plain(&column.0)) {
            return Ok(frame);
        }
        let find = |name: &str| {
            let found = inner.iter().find(|column| column.0 == name);
            found.map(|column| column.1.clone())
        };
        let merged = columns
            .iter()
            .map(|(name, value)| (name.clone(), value.replaced(&find)));
        below
            .select(merged.collect::<Vec<_>>())?
            .with_fewer_selections()
    }

    /// The step with other inputs, in the order of [`inputs`](Self::inputs).
    fn with_inputs(&self, mut inputs: Vec<Self>) -> Result<Self> {
        let mut next = || inputs.remove(0);
        let columns = || self.columns.to_vec();
        match &*self.node {
            Node::Table(_) => Ok(self.clone()),
            Node::Filter(_, condition) => {
                Self::new(Node::Filter(next(), condition.clone()), columns())
            }
            Node::Select(_, made) => Self::new(Node::Select(next(), made.clone()), columns()),
            Node::Lookup(_, _, lookup) => {
                Self::new(Node::Lookup(next(), next(), lookup.clone()), columns())
            }
            Node::Beside(_, _, outer) => Self::new(Node::Beside(next(), next(), *outer), columns()),
            Node::Group(_, groups) => Self::new(Node::Group(next(), groups.clone()), columns()),
            Node::Sort(_, keys) => Self::new(Node::Sort(next(), keys.clone()), columns()),
            Node::Window(_, windows) => Self::new(Node::Window(next(), windows.clone()), columns()),
            Node::Copies(_, copies) => Self::new(Node::Copies(next(), copies.clone()), columns()),
            Node::Slice(_, skip, rows) => Self::new(Node::Slice(next(), *skip, *rows), columns()),
            Node::Bound(_, rows) => Self::new(Node::Bound(next(), *rows), columns()),
            Node::Union(_) => Self::new(Node::Union(inputs), columns()),
        }
    }

    /// The rows for which these conditions are true, too, each as early as it can be.
    fn with_filters(&self, conditions: Vec<Expression>) -> Result<Self> {
        let below = |condition: &Expression, frame: &Self| {
            let has = |name: &str| frame.columns.iter().any(|column| column.name == name);
            condition.columns().into_iter().all(has)
        };
        match &*self.node {
            Node::Filter(input, condition) => {
                let mut all: Vec<Expression> =
                    condition.conditions().into_iter().cloned().collect();
                all.extend(conditions);
                input.with_filters(all)
            }
            Node::Select(input, columns) => {
                let find = |name: &str| {
                    let found = columns.iter().find(|column| column.0 == name);
                    found.map(|column| column.1.clone())
                };
                // A condition on computed values stays above them, so that these are not computed twice.
                let (early, late): (Vec<_>, Vec<_>) = conditions.into_iter().partition(|one| {
                    one.columns().into_iter().all(|name| {
                        matches!(
                            find(name),
                            Some(Expression::Column(_) | Expression::Literal(_))
                        )
                    })
                });
                let early = early.iter().map(|one| one.replaced(&find)).collect();
                let made = self.with_inputs(vec![input.with_filters(early)?])?;
                made.filtered(late)
            }
            Node::Lookup(one, other, lookup) => {
                let (mut left, mut right, mut rest) = (Vec::new(), Vec::new(), Vec::new());
                for condition in conditions {
                    if below(&condition, one) {
                        left.push(condition);
                    } else if lookup.join == Join::Inner && below(&condition, other) {
                        right.push(condition);
                    } else {
                        rest.push(condition);
                    }
                }
                let inputs = vec![one.with_filters(left)?, other.with_filters(right)?];
                self.with_inputs(inputs)?.filtered(rest)
            }
            Node::Beside(one, other, _) => {
                let (left, rest) = conditions.into_iter().partition(|one_| below(one_, one));
                let inputs = vec![one.with_filters(left)?, other.with_filters(Vec::new())?];
                self.with_inputs(inputs)?.filtered(rest)
            }
            Node::Group(input, Groups { keys, .. }) => {
                // A quotient is exact before groups are named by it, and has six digits afterwards.
                let is_kept = |name: &str| {
                    let found = input.columns.iter().find(|column| column.name == name);
                    found.is_some_and(|column| !matches!(column.kind, Kind::Ratio(..)))
                };
                let on_keys = |condition: &Expression| {
                    let names = condition.columns();
                    !names.is_empty()
                        && names
                            .into_iter()
                            .all(|name| is_kept(name) && keys.iter().any(|key| key == name))
                };
                let (early, late) = conditions.into_iter().partition(on_keys);
                self.with_inputs(vec![input.with_filters(early)?])?
                    .filtered(late)
            }
            Node::Sort(input, _) => self.with_inputs(vec![input.with_filters(conditions)?]),
            Node::Union(all) => {
                let inputs = all.iter().map(|frame| {
                    let find = |name: &str| {
                        let place = self.columns.iter().position(|column| column.name == name);
                        place.map(|place| col(&frame.columns[place].name))
                    };
                    frame.with_filters(conditions.iter().map(|one| one.replaced(&find)).collect())
                });
                self.with_inputs(inputs.collect::<Result<_>>()?)
            }
            // Numbers of rows that are equal in a window's order are drawn once for all that is made of them, so windows of the same rows stay the same.
            Node::Table(_)
            | Node::Window(..)
            | Node::Copies(..)
            | Node::Slice(..)
            | Node::Bound(..) => {
                let inputs = self.inputs().into_iter();
                let inputs = inputs.map(|input| input.with_filters(Vec::new()));
                self.with_inputs(inputs.collect::<Result<_>>()?)?
                    .filtered(conditions)
            }
        }
    }

    fn filtered(self, conditions: Vec<Expression>) -> Result<Self> {
        let all = conditions
            .into_iter()
            .reduce(|one, other| one.binary(Operator::And, other));
        match all {
            Some(condition) => {
                let columns = self.columns.to_vec();
                Self::new(Node::Filter(self, condition), columns)
            }
            None => Ok(self),
        }
    }

    /// Lookups whose keys come from a table that was looked up before are done there, as that table is smaller.
    fn with_early_lookups(&self) -> Result<Self> {
        let inputs = self.inputs().into_iter().map(Self::with_early_lookups);
        let frame = self.with_inputs(inputs.collect::<Result<_>>()?)?;
        let Node::Lookup(one, other, lookup) = &*frame.node else {
            return Ok(frame);
        };
        match one.looked_up_within(other, lookup)? {
            None => Ok(frame),
            Some(made) => made.reordered(&frame.columns),
        }
    }

    /// The lookup done within the table that this one has looked up, if that gives the same.
    fn looked_up_within(&self, other: &Self, lookup: &Lookup) -> Result<Option<Self>> {
        if lookup.join != Join::Inner {
            return Ok(None);
        }
        // Columns that are chosen and named again stand in the way of none.
        if let Node::Select(input, columns) = &*self.node {
            let find = |name: &String| {
                let found = columns.iter().find(|column| column.0 == *name);
                match found.map(|column| &column.1) {
                    Some(Expression::Column(name)) => Some(name.clone()),
                    _ => None,
                }
            };
            let on = lookup.on.iter();
            let on = on.map(|(own, others)| Some((find(own)?, others.clone())));
            let Some(on) = on.collect::<Option<Vec<_>>>() else {
                return Ok(None);
            };
            let inner = Lookup {
                on,
                join: lookup.join,
            };
            // The other table's columns need names that are free below, too.
            let taken = |column: &Column| input.columns.iter().any(|own| own.name == column.name);
            if other.columns.iter().any(taken) {
                return Ok(None);
            }
            let Some(made) = input.looked_up_within(other, &inner)? else {
                return Ok(None);
            };
            let others = other
                .columns
                .iter()
                .map(|column| (column.name.clone(), col(&column.name)));
            let all: Vec<(String, Expression)> = columns.iter().cloned().chain(others).collect();
            return made.select(all).map(Some);
        }
        let Node::Lookup(first, second, before) = &*self.node else {
            return Ok(None);
        };
        if before.join != Join::Inner {
            return Ok(None);
        }
        let has = |frame: &Self| {
            let own = |name: &String| frame.columns.iter().any(|column| column.name == *name);
            lookup.on.iter().all(|pair| own(&pair.0))
        };
        let inner = |frame: &Self| -> Result<Self> {
            match frame.looked_up_within(other, lookup)? {
                Some(made) => Ok(made),
                None => frame.lookup(other, lookup.on.clone(), Join::Inner),
            }
        };
        if has(second) && second.facts.most < self.facts.most {
            let made = inner(second)?;
            return first
                .lookup(&made, before.on.clone(), Join::Inner)
                .map(Some);
        }
        if has(first) {
            // The rows are as many, but a table within may be smaller.
            if let Some(made) = first.looked_up_within(other, lookup)? {
                return made
                    .lookup(second, before.on.clone(), Join::Inner)
                    .map(Some);
            }
        }
        Ok(None)
    }

    /// The columns in another order.
    fn reordered(&self, columns: &[Column]) -> Result<Self> {
        let same = self
            .columns
            .iter()
            .zip(columns)
            .all(|(a, b)| a.name == b.name);
        match same {
            true => Ok(self.clone()),
            false => self.select(
                columns
                    .iter()
                    .map(|column| (column.name.clone(), col(&column.name))),
            ),
        }
    }
}
