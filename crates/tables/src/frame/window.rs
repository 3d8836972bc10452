//! Numbers that are told of each row with the rows around it.

use std::fmt;

use super::group::{Aggregate, count_range, is_root, without_root};
use super::{Frame, Node, Result, SortKey};
use crate::column::{Column, Right};
use crate::error::Fault;
use crate::expression::{self, Expression, col};
use crate::kind::Kind;

/// A value that is computed for each row of the rows in its partition.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum Window {
    /// The row's place in its partition, from 1. Rows that are equal in the order come in an order that nobody knows.
    RowNumber,
    /// Number of rows that come before in the order, and 1.
    Rank,
    /// Number of different places before in the order, and 1.
    DenseRank,
    /// The value of the row this many places before; missing if there is none.
    Lag(Expression, usize),
    /// The value of the row this many places after; missing if there is none.
    Lead(Expression, usize),
    /// The value of the first row.
    First(Expression, Extent),
    /// The value of the last row.
    Last(Expression, Extent),
    /// A number that is told of rows.
    Told(Aggregate, Extent),
}

/// Rows around a row that something is told of.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Extent {
    /// All rows of its partition.
    Partition,
    /// Those from the first one to the last one that is equal to it in the order. In SQL this is meant where there is an order and nothing else is
    /// said.
    Peers,
    /// Those from this many places before it to this many after it; `None` goes to the end of its partition.
    Rows {
        /// Places before.
        before: Option<usize>,
        /// Places after.
        after: Option<usize>,
    },
}

impl Extent {
    /// Rows from the first one to this one.
    pub const UP_TO_HERE: Self = Self::Rows {
        before: None,
        after: Some(0),
    };
}

/// How values are computed of the rows around each.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Windows {
    pub(crate) partition: Vec<String>,
    pub(crate) order: Vec<SortKey>,
    pub(crate) functions: Vec<(String, Window)>,
}

impl Window {
    /// The expression that it is made of.
    pub(crate) const fn value(&self) -> Option<&Expression> {
        match self {
            Self::RowNumber | Self::Rank | Self::DenseRank => None,
            Self::Lag(value, _)
            | Self::Lead(value, _)
            | Self::First(value, _)
            | Self::Last(value, _) => Some(value),
            Self::Told(aggregate, _) => aggregate.value(),
        }
    }
}

impl fmt::Display for Extent {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let places = |count: &Option<usize>, way: &str| match count {
            None => format!("unbounded {way}"),
            Some(0) => "current row".into(),
            Some(count) => format!("{count} {way}"),
        };
        match self {
            Self::Partition => Ok(()),
            Self::Peers => f.write_str(" range to current row"),
            Self::Rows { before, after } => write!(
                f,
                " rows between {} and {}",
                places(before, "preceding"),
                places(after, "following")
            ),
        }
    }
}

impl fmt::Display for Window {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::RowNumber => f.write_str("row_number()"),
            Self::Rank => f.write_str("rank()"),
            Self::DenseRank => f.write_str("dense_rank()"),
            Self::Lag(value, places) => write!(f, "lag({value}, {places})"),
            Self::Lead(value, places) => write!(f, "lead({value}, {places})"),
            Self::First(value, extent) => write!(f, "first_value({value}){extent}"),
            Self::Last(value, extent) => write!(f, "last_value({value}){extent}"),
            Self::Told(aggregate, extent) => write!(f, "{aggregate}{extent}"),
        }
    }
}

/// The most places of a window that moves with its row, where the least or greatest value of it is told.
const WIDEST: usize = 64;

impl Frame {
    /// The rows with more columns, each computed for every row of those in its partition: the rows that are equal in some columns, in an
    /// order. How many rows a partition has stays a secret.
    ///
    /// # Errors
    /// Columns that there are not, values that cannot be computed of them, and columns that may be joined by alone.
    pub fn window<S: Into<String>>(
        &self,
        partition: impl IntoIterator<Item = S>,
        order: impl IntoIterator<Item = SortKey>,
        functions: Vec<(String, Window)>,
    ) -> Result<Self> {
        let windows = Windows {
            partition: partition.into_iter().map(Into::into).collect(),
            order: order.into_iter().collect(),
            functions,
        };
        let places = windows.order.iter().map(|key| &key.column);
        for name in windows.partition.iter().chain(places) {
            let column = expression::find(&self.columns, name)?;
            if column.right < Right::Aggregate {
                return Err(self.refused(column, "computes with the rows around each by it"));
            }
        }
        for (_, function) in &windows.functions {
            if let Some(value) = function.value() {
                self.allowed(value, Right::Aggregate, "computes with it")?;
            }
        }
        self.windowed(windows)
    }

    /// The step itself, whatever the rights of columns are.
    pub(super) fn windowed(&self, windows: Windows) -> Result<Self> {
        let has_root =
            |one: &(String, Window)| matches!(&one.1, Window::Told(told, _) if is_root(told));
        if windows.functions.iter().any(has_root) {
            return self.windows_of_roots(windows);
        }
        let mut columns = self.columns.to_vec();
        let places = windows.order.iter().map(|key| &key.column);
        let mut shared = Right::Shown;
        for name in windows.partition.iter().chain(places) {
            shared = shared.min(expression::find(&self.columns, name)?.right);
        }
        for (name, function) in &windows.functions {
            let (kind, nullable) = self.kind_of_window(function)?;
            let right = match function.value() {
                Some(value) => self.typed(value)?.1.min(shared),
                None => shared,
            };
            columns.push(Column {
                name: name.clone(),
                kind,
                nullable,
                right,
            });
        }
        Self::new(Node::Window(self.clone(), windows), columns)
    }

    /// Windows of which roots are told: these are computed of what they are roots of.
    fn windows_of_roots(&self, windows: Windows) -> Result<Self> {
        let own = self.columns.iter();
        let own = own.map(|column| (column.name.clone(), col(&column.name)));
        let mut columns: Vec<(String, Expression)> = own.collect();
        let functions = windows.functions.into_iter().map(|(name, function)| {
            let (made, shown) = match function {
                Window::Told(aggregate, extent) => {
                    let ((name, told), shown) = without_root(&name, aggregate);
                    ((name, Window::Told(told, extent)), shown)
                }
                other => ((name.clone(), other), col(&name)),
            };
            columns.push((name, shown));
            made
        });
        let functions = functions.collect();
        self.windowed(Windows {
            functions,
            ..windows
        })?
        .select(columns)
    }

    fn kind_of_window(&self, function: &Window) -> Result<(Kind, bool)> {
        let places = |places: usize| match u32::try_from(places) {
            Ok(_) => Ok(()),
            Err(_) => Err(Fault::Other(format!(
                "{function}: a row is at most {} places away",
                u32::MAX
            ))),
        };
        if let Window::First(_, extent) | Window::Last(_, extent) | Window::Told(_, extent) =
            function
            && let Extent::Rows { before, after } = extent
        {
            places(before.unwrap_or(0))?;
            places(after.unwrap_or(0))?;
        }
        if let (2.., Window::Lag(..) | Window::Lead(..) | Window::First(..) | Window::Last(..)) =
            (self.facts.least_group, function)
        {
            return Err(Fault::Other(format!(
                "{function}: nothing is told of single rows of {}, but of groups of {} rows or more",
                self.sources().join(", "),
                self.facts.least_group
            )));
        }
        match function {
            Window::RowNumber | Window::Rank | Window::DenseRank => {
                let mut place = count_range(self.facts.most.max(1));
                place.least = 1;
                Ok((Kind::Number(place), false))
            }
            Window::Lag(value, count) | Window::Lead(value, count) => {
                places(*count)?;
                let kind = self.typed(value)?.0.kind;
                Ok((kind.unwrap_or(Kind::Bool), true))
            }
            Window::First(value, _) | Window::Last(value, _) => {
                let typed = self.typed(value)?.0;
                Ok((typed.kind.unwrap_or(Kind::Bool), typed.nullable))
            }
            Window::Told(aggregate, extent) => {
                if let Aggregate::CountDistinct(_) | Aggregate::Quantile(..) = aggregate {
                    return Err(Fault::Other(format!(
                        "{aggregate} is told of groups, and not of the rows around each"
                    )));
                }
                if let (
                    Aggregate::Least(_) | Aggregate::Greatest(_),
                    Extent::Rows {
                        before: Some(before),
                        after: Some(after),
                    },
                ) = (aggregate, extent)
                    && before.saturating_add(*after) >= WIDEST
                {
                    return Err(Fault::Other(format!(
                        "{function}: a least or greatest value is told of {WIDEST} rows around each at most, or of all up to it"
                    )));
                }
                let (kind, told) = self.told(aggregate, false)?;
                // A row's own window has that row, which may be without a value.
                let nullable = match aggregate.value() {
                    None => false,
                    Some(value) => match aggregate {
                        Aggregate::Count(_) => false,
                        Aggregate::Variance(_) | Aggregate::Deviation(_) => told,
                        // Numbers of fewer values than may be told of are missing.
                        _ => self.typed(value)?.0.nullable || self.facts.least_group > 1,
                    },
                };
                Ok((kind, nullable))
            }
        }
    }
}
