//! Joins.

use super::{Copies, Extent, Frame, Node, Result, Window, Windows, count_rows, least};
use crate::column::{Column, Right};
use crate::error::Fault;
use crate::expression::{self, Expression, Literal, Operator, col, lit};
use crate::frame::greatest;
use crate::kind::Kind;

/// Rows that a join gives.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Join {
    /// Pairs of rows with equal keys.
    Inner,
    /// These, and rows of the first table without a partner.
    Left,
    /// These, and rows of either table without a partner.
    Full,
    /// Rows of the first table that have a partner.
    Semi,
    /// Rows of the first table that have none.
    Anti,
}

/// How rows find the row of another table.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Lookup {
    /// Pairs of columns that are to be equal.
    pub(crate) on: Vec<(String, String)>,
    /// `Inner`, `Left`, `Semi` or `Anti`.
    pub(crate) join: Join,
}

/// The most rows of a join of many with many that can be declared ([`Frame::join_within`]).
pub const MOST_PAIRS: usize = 1 << 27;

impl Frame {
    /// Rows of this table with rows of another one that are equal in pairs of columns. Missing values are equal to nothing.
    ///
    /// The other table's columns come along, but for keys of the name that their partner has; where a name is taken,
    /// `_right` follows it. One of the tables must be known to have each key once, by a declared key or by grouping; semi- and anti-joins
    /// need no such thing.
    ///
    /// # Errors
    /// Columns that there are not or that cannot be compared, and [`Fault::ManyToMany`].
    pub fn join(&self, other: &Self, on: &[(&str, &str)], join: Join) -> Result<Self> {
        self.join_within(other, on, join, None)
    }

    /// A join of many rows with many: its rows are declared to be `most` at most, of a left or full join with those that have no partner in the
    /// other table. Where there are more the query ends with an error that tells that alone. Where one of the tables has each key once the
    /// declared number is not needed, and not used.
    ///
    /// # Errors
    /// In the same cases as [`join`](Self::join), but for [`Fault::ManyToMany`]; and rows of which nothing is told but of groups.
    pub fn join_within(
        &self,
        other: &Self,
        on: &[(&str, &str)],
        join: Join,
        most: Option<usize>,
    ) -> Result<Self> {
        let on: Vec<(String, String)> = on
            .iter()
            .map(|&(own, others)| (own.to_owned(), others.to_owned()))
            .collect();
        if on.is_empty() {
            return Err(Fault::Other(
                "a join needs a pair of columns at least".into(),
            ));
        }
        for (own, others) in &on {
            self.comparable(other, own, others)?;
        }
        if let Join::Semi | Join::Anti = join {
            let names: Vec<(String, Expression)> = other
                .columns
                .iter()
                .filter(|column| on.iter().any(|pair| pair.1 == column.name))
                .enumerate()
                .map(|(at, column)| (format!("{at}\u{0}"), col(&column.name)))
                .collect();
            let place = |name: &str| {
                let found = names.iter().find(|one| one.1 == col(name));
                found.map(|one| one.0.clone()).unwrap_or_default()
            };
            let on = on
                .iter()
                .map(|(own, others)| (own.clone(), place(others)))
                .collect();
            return self.lookup(&other.select(names.clone())?, on, join);
        }
        // The other table's columns get names that are free; keys of the same name as their partner's go afterwards.
        let mut renamed: Vec<(String, String)> = Vec::new();
        let mut dropped = Vec::new();
        for column in other.columns.iter() {
            let partner = on
                .iter()
                .any(|pair| pair.0 == pair.1 && pair.1 == column.name);
            let taken = |name: &str| {
                self.columns.iter().any(|own| own.name == name)
                    || renamed.iter().any(|other| other.1 == name)
            };
            let mut name = column.name.clone();
            while taken(&name) {
                name.push_str(if partner { "\u{0}" } else { "_right" });
            }
            if partner {
                dropped.push((name.clone(), column.name.clone()));
            }
            renamed.push((column.name.clone(), name));
        }
        let other = other.select(renamed.iter().map(|(from, to)| (to.clone(), col(from))))?;
        let name = |from: &str| {
            let found = renamed.iter().find(|one| one.0 == from);
            found.map(|one| one.1.clone()).unwrap_or_default()
        };
        let on: Vec<(String, String)> = on
            .iter()
            .map(|(own, others)| (own.clone(), name(others)))
            .collect();
        let joined = self.joined(&other, &on, join, most)?;
        if dropped.is_empty() {
            return Ok(joined);
        }
        // The other table's value of a key remains where that table alone has the row.
        let kept = joined.columns.iter().filter_map(|column| {
            if dropped.iter().any(|one| one.0 == column.name) {
                return None;
            }
            let partner = dropped.iter().find(|one| one.1 == column.name);
            let value = match partner {
                Some((hidden, _)) if join == Join::Full => {
                    Expression::Coalesce(vec![col(&column.name), col(hidden)])
                }
                _ => col(&column.name),
            };
            Some((column.name.clone(), value))
        });
        joined.selected(kept.collect())
    }

    /// A join of tables whose columns all have different names.
    fn joined(
        &self,
        other: &Self,
        on: &[(String, String)],
        join: Join,
        most: Option<usize>,
    ) -> Result<Self> {
        let keys = |side: fn(&(String, String)) -> &String| on.iter().map(side).cloned().collect();
        let (own, others): (Vec<String>, Vec<String>) =
            (keys(|pair| &pair.0), keys(|pair| &pair.1));
        let names: Vec<String> = self
            .columns
            .iter()
            .chain(other.columns.iter())
            .map(|column| column.name.clone())
            .collect();
        let flipped: Vec<(String, String)> = on
            .iter()
            .map(|(own, others)| (others.clone(), own.clone()))
            .collect();
        let in_order =
            |frame: &Self| frame.select(names.iter().map(|name| (name.clone(), col(name))));
        let one_of_others = other.facts.is_unique(&others);
        let one_of_own = self.facts.is_unique(&own);
        // Rows of a table that found no partner, with nothing in the other table's columns.
        let alone = |frame: &Self, partner: &Self, on: &[(String, String)]| -> Result<Self> {
            let alone = frame.lookup(partner, on.to_vec(), Join::Anti)?;
            alone
                .with_nulls(&partner.columns)?
                .select(names.iter().map(|name| (name.clone(), col(name))))
        };
        if !one_of_others && !one_of_own {
            let Some(most) = most else {
                return Err(Fault::ManyToMany { keys: own });
            };
            return match join {
                Join::Full => {
                    let left = in_order(&self.pairs(other, on, Join::Left, most)?)?;
                    left.union(&[alone(other, self, &flipped)?])?.bound(most)
                }
                join => in_order(&self.pairs(other, on, join, most)?),
            };
        }
        match join {
            Join::Inner if one_of_others => self.lookup(other, on.to_vec(), Join::Inner),
            Join::Inner => in_order(&other.lookup(self, flipped, Join::Inner)?),
            Join::Left if one_of_others => self.lookup(other, on.to_vec(), Join::Left),
            Join::Left => {
                let pairs = in_order(&other.lookup(self, flipped, Join::Inner)?)?;
                pairs.union(&[alone(self, other, on)?])
            }
            Join::Full if one_of_others => {
                let left = self.lookup(other, on.to_vec(), Join::Left)?;
                left.union(&[alone(other, self, &flipped)?])
            }
            Join::Full => {
                let right = in_order(&other.lookup(self, flipped, Join::Left)?)?;
                right.union(&[alone(self, other, on)?])
            }
            Join::Semi | Join::Anti => self.lookup(other, on.to_vec(), join),
        }
    }

    /// Pairs of rows of two tables that may each have many rows of a key. Rows of the other table are numbered key by key; each row of this one is
    /// there as often as its key is in the other, and finds the row of its copy's number.
    fn pairs(
        &self,
        other: &Self,
        on: &[(String, String)],
        join: Join,
        most: usize,
    ) -> Result<Self> {
        self.may_be_bound()?;
        other.may_be_bound()?;
        // More than all pairs there are not.
        let pairs = self.facts.most.saturating_mul(other.facts.most);
        let most = most.min(pairs.saturating_add(self.facts.most));
        if most > MOST_PAIRS {
            return Err(Fault::Other(format!(
                "a join is declared to have {most} rows at most, and {MOST_PAIRS} are the most that can be declared"
            )));
        }
        let (number, count, copy) = ("\u{0}number", "\u{0}count", "\u{0}copy");
        let mut partition: Vec<String> = Vec::new();
        for (_, others) in on {
            if !partition.contains(others) {
                partition.push(others.clone());
            }
        }
        let numbered = other.windowed(Windows {
            partition: partition.clone(),
            order: Vec::new(),
            functions: vec![
                (number.into(), Window::RowNumber),
                (count.into(), Window::Told(count_rows(), Extent::Partition)),
            ],
        })?;
        // Every key once, with its number of rows.
        let is_first = Node::Filter(numbered.clone(), col(number).equals(lit(1)));
        let first = Self::new(is_first, numbered.columns.to_vec())?;
        let head = |name: &String| format!("\u{0}key {name}");
        let heads = partition.iter().map(|name| (head(name), col(name)));
        let heads = heads.chain([(count.to_owned(), col(count))]);
        let heads = first.selected(heads.collect())?;
        let on_heads = on.iter().map(|(own, others)| (own.clone(), head(others)));
        let counted = self.lookup(&heads, on_heads.collect(), join)?;
        // A row without a partner stays once in a left join.
        let times = Expression::Coalesce(vec![col(count), lit(1)]);
        let own = self.columns.iter();
        let own = own.map(|column| (column.name.clone(), col(&column.name)));
        let counted = counted.selected(own.chain([(count.to_owned(), times)]).collect())?;
        let mut columns = counted.columns.to_vec();
        columns.push(Column::new(copy, Kind::integer(1, most.max(1) as i128)));
        let copies = Copies {
            count: count.into(),
            number: copy.into(),
            most,
        };
        let copied = Self::new(Node::Copies(counted, copies), columns)?;
        let own = self.columns.iter().map(|column| &column.name);
        let own = own.map(|name| (name.clone(), col(name)));
        let copied = copied.selected(own.chain([(copy.to_owned(), col(copy))]).collect())?;
        let others = other.columns.iter().map(|column| &column.name);
        let others = others.map(|name| (name.clone(), col(name)));
        let numbered =
            numbered.selected(others.chain([(number.to_owned(), col(number))]).collect())?;
        let mut on = on.to_vec();
        on.push((copy.into(), number.into()));
        copied.lookup(&numbered, on, join)
    }

    /// The rows with missing values in more columns.
    fn with_nulls(&self, columns: &[Column]) -> Result<Self> {
        let more = columns.iter().map(|column| {
            let null = Expression::Literal(Literal::NULL);
            let value = match &column.kind {
                crate::Kind::Bool => null,
                kind => Expression::Cast(Box::new(null), kind.clone()),
            };
            (column.name.clone(), value)
        });
        self.with_columns(more.collect::<Vec<_>>())
    }

    /// Rows of this table that have a partner in another one, or have none, where a partner has equal keys and a column of this table compares with one of
    /// the other's as the operator says.
    ///
    /// # Errors
    /// Columns that there are not or that cannot be compared, an operator that compares nothing, and joins that are neither
    /// semi nor anti.
    pub fn join_where(
        &self,
        other: &Self,
        on: &[(&str, &str)],
        (own, operator, others): (&str, Operator, &str),
        join: Join,
    ) -> Result<Self> {
        let wanted = match join {
            Join::Semi => true,
            Join::Anti => false,
            _ => {
                return Err(Fault::Other(
                    "a join with a comparison is semi or anti".into(),
                ));
            }
        };
        if operator == Operator::Equal {
            let more: Vec<(&str, &str)> = on.iter().copied().chain([(own, others)]).collect();
            return self.join(other, &more, join);
        }
        self.comparable(other, own, others)?;
        if other.facts.least_group > 1 {
            return Err(Fault::Other(format!(
                "rows of {} are compared one by one, and nothing is told of them but of groups",
                other.sources().join(", ")
            )));
        }
        // A partner that differs, or is less or greater, is there if the least or greatest of the group is such a one.
        let (least_name, greatest_name) = ("least\u{0}", "greatest\u{0}");
        let keys: Vec<String> = on.iter().map(|pair| pair.1.to_owned()).collect();
        let keys: Vec<String> = keys.into_iter().fold(Vec::new(), |mut all, key| {
            if !all.contains(&key) {
                all.push(key);
            }
            all
        });
        let extremes = other.filter(!col(others).is_null())?.group(
            keys.clone(),
            vec![
                (least_name.to_owned(), least(col(others))),
                (greatest_name.to_owned(), greatest(col(others))),
            ],
        )?;
        let hidden = |key: &str| format!("{key}\u{0}");
        let extremes = extremes.select(extremes.columns.iter().map(|column| {
            let name = match keys.contains(&column.name) {
                true => hidden(&column.name),
                false => column.name.clone(),
            };
            (name, col(&column.name))
        }))?;
        let own = col(own);
        let holds = match operator {
            Operator::Differ => own
                .clone()
                .differs(col(least_name))
                .or(own.differs(col(greatest_name))),
            Operator::Less | Operator::AtMost => own.binary(operator, col(greatest_name)),
            Operator::Greater | Operator::AtLeast => own.binary(operator, col(least_name)),
            _ => {
                return Err(Fault::Other(format!(
                    "{} compares nothing",
                    operator.sign()
                )));
            }
        };
        let on = on
            .iter()
            .map(|&(own, others)| (own.to_owned(), hidden(others)))
            .collect();
        let found = self.lookup(&extremes, on, Join::Left)?;
        let holds = Expression::Coalesce(vec![holds, lit(false)]);
        let found = found.filter(if wanted { holds } else { !holds })?;
        found.select(
            self.columns
                .iter()
                .map(|column| (column.name.clone(), col(&column.name))),
        )
    }

    /// Every row with the only row of another table, as a number that was told of a whole table is. Where that has no row, there is none, or
    /// with [`Join::Left`] all rows with missing values.
    ///
    /// # Errors
    /// A table that may have several rows, columns of one name, and other joins than inner and left ones.
    pub fn beside(&self, other: &Self, join: Join) -> Result<Self> {
        if other.facts.most > 1 {
            return Err(Fault::Other(
                "rows are put beside a table of one row alone, as totals are".into(),
            ));
        }
        let outer = match join {
            Join::Inner => false,
            Join::Left => true,
            _ => {
                return Err(Fault::Other(
                    "rows are put beside others by an inner or a left join".into(),
                ));
            }
        };
        let nullable = outer && !other.facts.is_one_row;
        let others = other.columns.iter().cloned();
        let others = others.map(|column| if nullable { column.nullable() } else { column });
        let columns = self.columns.iter().cloned().chain(others).collect();
        Self::new(Node::Beside(self.clone(), other.clone(), outer), columns)
    }

    /// Checks that columns of two tables may be joined by.
    fn comparable(&self, other: &Self, own: &str, others: &str) -> Result<()> {
        let a = expression::find(&self.columns, own)?;
        let b = expression::find(&other.columns, others)?;
        for (frame, column) in [(self, a), (other, b)] {
            if column.right < Right::JoinKey {
                return Err(frame.refused(column, "joins by it"));
            }
        }
        if let (Kind::Ratio(..), _) | (_, Kind::Ratio(..)) = (&a.kind, &b.kind) {
            return Err(Fault::Kind {
                what: format!("a join by {own} and {others}"),
                wanted: "numbers, texts and truth values, and no quotients",
                found: if matches!(a.kind, Kind::Ratio(..)) {
                    a.kind.to_string()
                } else {
                    b.kind.to_string()
                },
            });
        }
        expression::comparable(&a.kind, &b.kind)
            .map_err(|fault| fault.within(&col(own).equals(col(others))))
    }

    /// The step itself: names differ, and the other table has each key once where its columns are taken over.
    pub(crate) fn lookup(
        &self,
        other: &Self,
        on: Vec<(String, String)>,
        join: Join,
    ) -> Result<Self> {
        let mut columns = self.columns.to_vec();
        match join {
            Join::Inner => columns.extend(other.columns.iter().cloned()),
            Join::Left => columns.extend(other.columns.iter().cloned().map(Column::nullable)),
            Join::Semi | Join::Anti => {}
            Join::Full => return Err(Fault::Other("a lookup goes one way".into())),
        }
        let lookup = Lookup { on, join };
        Self::new(Node::Lookup(self.clone(), other.clone(), lookup), columns)
    }
}
