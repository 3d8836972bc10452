//! Groups of rows, and what is told of them.

use std::fmt;

use super::{Frame, Groups, Node, Result};
use crate::column::{Column, Right, Value};
use crate::error::Fault;
use crate::expression::{self, Expression, Literal, Operator, col, lit};
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
    /// The standard deviation of a sample: the root of the variance.
    Deviation(Expression),
    /// The value at a place among those of the group in their order; missing if there is none.
    Quantile(Expression, Quantile),
    /// The least value; missing if there is none.
    Least(Expression),
    /// The greatest value; missing if there is none.
    Greatest(Expression),
}

/// A place among the values of a group in their order: `numerator / denominator` is 0 for the least and 1 for the greatest.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct Quantile {
    /// Number of parts that lie before the place.
    pub numerator: u32,
    /// Number of parts that the values are cut into: at most [`MOST_PARTS`](Self::MOST_PARTS).
    pub denominator: u32,
    /// Whether a place between two values gives a number between them, in proportion; else it gives the first value that has at least this part of
    /// all up to it.
    pub interpolated: bool,
}

impl Quantile {
    /// The most parts that values are cut into.
    pub const MOST_PARTS: u32 = 1_000_000;

    fn checked(self) -> Result<Self> {
        if self.denominator == 0
            || self.denominator > Self::MOST_PARTS
            || self.numerator > self.denominator
        {
            return Err(Fault::Other(format!(
                "{} / {} is no place among values: a quantile is a number from 0 to 1, with six digits at most",
                self.numerator, self.denominator
            )));
        }
        Ok(self)
    }
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
    /// The standard deviation of a sample.
    deviation: Deviation;
    /// The least value.
    least: Least;
    /// The greatest value.
    greatest: Greatest;
}

/// Number of rows.
pub const fn count_rows() -> Aggregate {
    Aggregate::CountRows
}

/// The value in the middle, or the number between the two in the middle.
pub fn median(value: impl Into<Expression>) -> Aggregate {
    quantile(value, 1, 2)
}

/// The number at `numerator / denominator` of the way from the least value to the greatest, in proportion between two values.
pub fn quantile(value: impl Into<Expression>, numerator: u32, denominator: u32) -> Aggregate {
    let quantile = Quantile {
        numerator,
        denominator,
        interpolated: true,
    };
    Aggregate::Quantile(value.into(), quantile)
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
            | Self::Deviation(value)
            | Self::Quantile(value, _)
            | Self::Least(value)
            | Self::Greatest(value) => Some(value),
        }
    }
}

impl Aggregate {
    /// The number that is told of rows for which a condition is true.
    fn where_true(&self, condition: &Expression) -> Self {
        let only =
            |value: &Expression| Expression::Case(vec![(condition.clone(), value.clone())], None);
        match self {
            Self::CountRows => Self::Count(only(&lit(true))),
            Self::Count(value) => Self::Count(only(value)),
            Self::CountDistinct(value) => Self::CountDistinct(only(value)),
            Self::Sum(value) => Self::Sum(only(value)),
            Self::Mean(value) => Self::Mean(only(value)),
            Self::Variance(value) => Self::Variance(only(value)),
            Self::Deviation(value) => Self::Deviation(only(value)),
            Self::Quantile(value, quantile) => Self::Quantile(only(value), *quantile),
            Self::Least(value) => Self::Least(only(value)),
            Self::Greatest(value) => Self::Greatest(only(value)),
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
            Self::Deviation(_) => "stddev_samp",
            Self::Quantile(value, quantile) => {
                let Quantile {
                    numerator,
                    denominator,
                    interpolated,
                } = quantile;
                let name = if *interpolated { "cont" } else { "disc" };
                return write!(f, "quantile_{name}({value}, {numerator}/{denominator})");
            }
            Self::Least(_) => "min",
            Self::Greatest(_) => "max",
        };
        match self.value() {
            Some(value) => write!(f, "{name}({value})"),
            None => f.write_str(name),
        }
    }
}

/// Whether a number is the root of another one.
pub(super) const fn is_root(aggregate: &Aggregate) -> bool {
    matches!(aggregate, Aggregate::Deviation(_))
}

/// A number that is no root, with a name, and how the wanted one is computed of it.
pub(super) fn without_root(name: &str, aggregate: Aggregate) -> ((String, Aggregate), Expression) {
    match aggregate {
        Aggregate::Deviation(value) => {
            let name = format!("{name}\u{0}");
            let root = col(&name).root();
            ((name, Aggregate::Variance(value)), root)
        }
        aggregate => ((name.to_owned(), aggregate), col(name)),
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
        if aggregates.iter().any(|one| is_root(&one.1)) {
            return self.group_of_roots(keys, aggregates, bound);
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

    /// A row for each group, with columns for the values of another column: each number is told of the group's rows that have the value. Columns are
    /// named by the value, a `_` and the number's name, or by the value alone where there is one number.
    ///
    /// # Errors
    /// In the same cases as [`group`](Self::group), and for values that the column does not compare with.
    pub fn pivot<S: Into<String>>(
        &self,
        keys: impl IntoIterator<Item = S>,
        column: &str,
        values: &[Literal],
        aggregates: &[(String, Aggregate)],
    ) -> Result<Self> {
        let mut all = Vec::new();
        for value in values {
            let holds = match value.value {
                Value::Null => col(column).is_null(),
                _ => col(column).equals(Expression::Literal(value.clone())),
            };
            for (name, aggregate) in aggregates {
                let title = value.title();
                let name = match aggregates.len() {
                    1 => title,
                    _ => format!("{title}_{name}"),
                };
                all.push((name, aggregate.where_true(&holds)));
            }
        }
        self.group(keys, all)
    }

    /// Groups of which roots are told: these are computed of what they are roots of.
    fn group_of_roots(
        &self,
        keys: Vec<String>,
        aggregates: Vec<(String, Aggregate)>,
        bound: Option<usize>,
    ) -> Result<Self> {
        let columns = keys.iter().map(|key| (key.clone(), col(key)));
        let mut columns: Vec<(String, Expression)> = columns.collect();
        let aggregates = aggregates.into_iter().map(|(name, aggregate)| {
            let (aggregate, shown) = without_root(&name, aggregate);
            columns.push((name, shown));
            aggregate
        });
        let aggregates = aggregates.collect();
        self.group_within(keys, aggregates, bound)?.select(columns)
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
            Aggregate::Deviation(_) => {
                return Err(Fault::Other(format!("{aggregate} is told of groups")));
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
            Aggregate::Quantile(_, quantile) => match (quantile.checked()?.interpolated, &kind) {
                (true, _) => {
                    let number = number()?;
                    let parts = i128::from(quantile.denominator);
                    let end = |end: i128| end.checked_mul(parts).ok_or_else(beyond);
                    let above = Number::new(number.unit, end(number.least)?, end(number.greatest)?);
                    (
                        Kind::Ratio(above, Number::new(Unit::One, parts, parts)),
                        nullable,
                    )
                }
                (false, Kind::Ratio(above, below)) => {
                    (Kind::Number(expression::divided(above, below)?), nullable)
                }
                (false, kind) => (kind.clone(), nullable),
            },
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
        let (input, groups) = match &*self.node {
            Node::Group(input, groups) => (input, groups),
            // Numbers that are computed of those of groups.
            Node::Select(grouped, columns) if matches!(&*grouped.node, Node::Group(..)) => {
                return grouped.with_least_group(rows)?.select(columns.clone());
            }
            _ => {
                return Err(Fault::Other(
                    "only groups have a least number of rows".into(),
                ));
            }
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
