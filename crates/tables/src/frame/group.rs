//! Groups of rows, and what is told of them.

use std::fmt;

use super::{Frame, Groups, Node, Result};
use crate::column::{Column, Right};
use crate::error::Fault;
use crate::expression::{self, Expression, Operator, col};
use crate::kind::{Kind, Number, Unit};

/// A number that is told of each group. Missing values are left out.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum Aggregate {
    /// Number of rows.
    CountRows,
    /// Number of rows with a value.
    Count(Expression),
    /// Number of different values.
    CountDistinct(Expression),
    /// The sum; missing if there is no value.
    Sum(Expression),
    /// The mean; missing if there is no value.
    Mean(Expression),
    /// The variance of a sample: the sum of squared distances from the mean, by the number of values less one; missing if there are fewer than two
    /// values.
    Variance(Expression),
    /// The least value; missing if there is none.
    Least(Expression),
    /// The greatest value; missing if there is none.
    Greatest(Expression),
}

macro_rules! aggregates {
    ($($(#[$doc:meta])* $name:ident: $aggregate:ident;)*) => {$(
        $(#[$doc])*
        pub fn $name(value: impl Into<Expression>) -> Aggregate {
            Aggregate::$aggregate(value.into())
        }
    )*};
}
aggregates! {
    /// Number of rows with a value.
    count: Count;
    /// Number of different values.
    count_distinct: CountDistinct;
    /// The sum.
    sum: Sum;
    /// The mean.
    mean: Mean;
    /// The variance of a sample.
    variance: Variance;
    /// The least value.
    least: Least;
    /// The greatest value.
    greatest: Greatest;
}

/// Number of rows.
pub const fn count_rows() -> Aggregate {
    Aggregate::CountRows
}

impl Aggregate {
    /// The expression that it is made of.
    pub(crate) const fn value(&self) -> Option<&Expression> {
        match self {
            Self::CountRows => None,
            Self::Count(value)
            | Self::CountDistinct(value)
            | Self::Sum(value)
            | Self::Mean(value)
            | Self::Variance(value)
            | Self::Least(value)
            | Self::Greatest(value) => Some(value),
        }
    }
}

impl fmt::Display for Aggregate {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let name = match self {
            Self::CountRows => return f.write_str("count(*)"),
            Self::Count(_) => "count",
            Self::CountDistinct(value) => return write!(f, "count(distinct {value})"),
            Self::Sum(_) => "sum",
            Self::Mean(_) => "avg",
            Self::Variance(_) => "var_samp",
            Self::Least(_) => "min",
            Self::Greatest(_) => "max",
        };
        match self.value() {
            Some(value) => write!(f, "{name}({value})"),
            None => f.write_str(name),
        }
    }
}

/// The range of the sum of `rows` numbers at most.
pub(crate) fn sum_range(number: &Number, rows: usize) -> Option<Number> {
    let rows = rows as i128;
    let least = number.least.min(0).checked_mul(rows)?;
    let greatest = number.greatest.max(0).checked_mul(rows)?;
    Some(Number::new(number.unit, least, greatest))
}

/// Range of the number of rows among `rows` at most.
pub(crate) const fn count_range(rows: usize) -> Number {
    Number::new(Unit::One, 0, rows as i128)
}

impl Frame {
    /// A row for each group of rows that are equal in these columns, with these numbers of it; without keys one row for all.
    ///
    /// # Errors
    /// Columns that there are not, numbers that cannot be told of them, and columns that may not name groups.
    pub fn group<S: Into<String>>(
        &self,
        keys: impl IntoIterator<Item = S>,
        aggregates: Vec<(String, Aggregate)>,
    ) -> Result<Self> {
        self.group_within(keys, aggregates, None)
    }

    /// Groups, which are declared to be `bound` at most. Where there are more the query ends with an error that tells that alone.
    ///
    /// # Errors
    /// In the same cases as [`group`](Self::group).
    pub fn group_within<S: Into<String>>(
        &self,
        keys: impl IntoIterator<Item = S>,
        aggregates: Vec<(String, Aggregate)>,
        bound: Option<usize>,
    ) -> Result<Self> {
        let keys: Vec<String> = keys.into_iter().map(Into::into).collect();
        if bound.is_some() {
            self.may_be_bound()?;
        }
        let mut columns = Vec::new();
        for key in &keys {
            let column = expression::find(&self.columns, key)?;
            if column.right < Right::Group {
                return Err(self.refused(column, "groups by it"));
            }
            // A quotient that names groups is divided.
            let kind = match &column.kind {
                Kind::Ratio(above, below) => Kind::Number(expression::divided(above, below)?),
                kind => kind.clone(),
            };
            columns.push(Column {
                right: Right::Shown,
                kind,
                ..column.clone()
            });
        }
        for (name, aggregate) in &aggregates {
            let (kind, nullable) = self.told(aggregate, keys.is_empty())?;
            columns.push(Column {
                name: name.clone(),
                kind,
                nullable,
                right: Right::Shown,
            });
        }
        if columns.is_empty() {
            return Err(Fault::Other(
                "a group has a key or a number that is told of it".into(),
            ));
        }
        let groups = Groups {
            keys,
            aggregates,
            bound,
            at_least: self.facts.least_group,
        };
        Self::new(Node::Group(self.clone(), groups), columns)
    }

    /// The kind of a number that is told of groups, and whether it may be missing.
    pub(crate) fn told(&self, aggregate: &Aggregate, of_all: bool) -> Result<(Kind, bool)> {
        let rows = self.facts.most;
        let Some(value) = aggregate.value() else {
            return Ok((Kind::Number(count_range(rows)), false));
        };
        let (typed, _) = self.typed(value)?;
        self.allowed(value, Right::Aggregate, "tells a total of it")?;
        let kind = typed.kind.unwrap_or(Kind::integer(0, 0));
        // Numbers of fewer rows than may be told of are missing.
        let nullable = typed.nullable || of_all || self.facts.least_group > 1;
        let wrong = |wanted: &'static str| Fault::Kind {
            what: aggregate.to_string(),
            wanted,
            found: kind.to_string(),
        };
        let beyond = || Fault::Range {
            what: aggregate.to_string(),
        };
        let number = || match &kind {
            Kind::Number(number) if number.unit.digits().is_some() => Ok(*number),
            Kind::Bool => Ok(Number::new(Unit::One, 0, 1)),
            Kind::Ratio(above, below) => expression::divided(above, below),
            _ => Err(wrong("a number")),
        };
        Ok(match aggregate {
            Aggregate::CountRows | Aggregate::Count(_) | Aggregate::CountDistinct(_) => {
                (Kind::Number(count_range(rows)), false)
            }
            Aggregate::Sum(_) => {
                let sum = sum_range(&number()?, rows).ok_or_else(beyond)?;
                (Kind::Number(sum), nullable)
            }
            Aggregate::Mean(_) => {
                let sum = sum_range(&number()?, rows).ok_or_else(beyond)?;
                let count = Number::new(Unit::One, 1, rows.max(1) as i128);
                (Kind::Ratio(sum, count), nullable)
            }
            Aggregate::Variance(_) => {
                let number = number()?;
                let square = expression::product(&number, &number)?;
                let squares = sum_range(&square, rows).ok_or_else(beyond)?;
                let rows = rows.max(2) as i128;
                // n times the sum of squares, less the square of the sum, which is never less than 0.
                let above = squares.greatest.checked_mul(rows).ok_or_else(beyond)?;
                let above = Number::new(squares.unit, 0, above);
                let below = rows.checked_mul(rows - 1).ok_or_else(beyond)?;
                (Kind::Ratio(above, Number::new(Unit::One, 1, below)), true)
            }
            Aggregate::Least(_) | Aggregate::Greatest(_) => match kind {
                Kind::Ratio(above, below) => {
                    (Kind::Number(expression::divided(&above, &below)?), nullable)
                }
                Kind::Text { .. } | Kind::Bool | Kind::Number(_) | Kind::Choice(_) => {
                    (kind, nullable)
                }
            },
        })
    }

    /// Groups of fewer rows are left out.
    ///
    /// # Errors
    /// A frame that is no group.
    pub fn with_least_group(&self, rows: usize) -> Result<Self> {
        let Node::Group(input, groups) = &*self.node else {
            return Err(Fault::Other(
                "only groups have a least number of rows".into(),
            ));
        };
        let groups = Groups {
            at_least: groups.at_least.max(rows),
            ..groups.clone()
        };
        Self::new(Node::Group(input.clone(), groups), self.columns.to_vec())
    }

    /// Rows that are greater or less than each other in a way that conditions say: [`filter`](Self::filter) by a comparison.
    ///
    /// # Errors
    /// In the same cases as [`filter`](Self::filter).
    pub fn compare(
        &self,
        column: &str,
        operator: Operator,
        value: impl Into<Expression>,
    ) -> Result<Self> {
        self.filter(col(column).binary(operator, value))
    }
}
