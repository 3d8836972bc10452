//! Queries: what is done with tables, written down before anything is done.

mod facts;
mod group;
mod join;
mod late;
mod optimise;
mod show;
mod window;

use std::collections::{BTreeSet, HashSet};
use std::sync::Arc;

use crate::column::{Column, Right};
use crate::error::Fault;
use crate::expression::{self, Expression, Typed, col};
use crate::kind::Kind;
use crate::table::Table;

pub(crate) use facts::Facts;
pub use group::{
    Aggregate, Quantile, count, count_distinct, count_rows, deviation, greatest, least, mean,
    median, quantile, sum, variance,
};
pub(crate) use join::Lookup;
pub use join::{Join, MOST_PAIRS};
pub(crate) use window::Windows;
pub use window::{Extent, Window};

/// A table that a query makes of others: written down step by step, and computed when it is made into a
/// [`Query`](crate::Query).
///
/// Each step is checked when it is written: names, kinds of values and their ranges, and what the columns' owners let it tell. Clones
/// share all.
#[derive(Debug, Clone)]
pub struct Frame {
    pub(crate) node: Arc<Node>,
    pub(crate) columns: Arc<[Column]>,
    pub(crate) facts: Arc<Facts>,
}

impl PartialEq for Frame {
    fn eq(&self, other: &Self) -> bool {
        Arc::ptr_eq(&self.node, &other.node)
            || self.columns == other.columns && self.facts == other.facts && self.node == other.node
    }
}

/// A step.
#[derive(Debug, PartialEq)]
pub(crate) enum Node {
    /// A table, some columns of it.
    Table(Arc<Table>),
    /// Rows for which a condition is true.
    Filter(Frame, Expression),
    /// Columns computed of the row's columns.
    Select(Frame, Vec<(String, Expression)>),
    /// Rows with the row of another table that has the same keys.
    Lookup(Frame, Frame, Lookup),
    /// Rows with the only row of another table, which may have none: then rows go, or stay with missing values if that is said.
    Beside(Frame, Frame, bool),
    /// A row for each group.
    Group(Frame, Groups),
    /// Rows in an order.
    Sort(Frame, Vec<SortKey>),
    /// Rows with numbers that are told of those around them.
    Window(Frame, Windows),
    /// Each row as many times as a column says, in a table of this many rows; a column says the which of its copies a row is.
    Copies(Frame, Copies),
    /// The rows in order from a place on, as many, or any where there is no order.
    Slice(Frame, usize, usize),
    /// The rows of several tables.
    Union(Vec<Frame>),
    /// Rows of which a greatest number is declared.
    Bound(Frame, usize),
}

/// How rows are copied.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Copies {
    /// The column that says how many copies there are of a row; it is not missing.
    pub(crate) count: String,
    /// The column that counts the copies of a row from 1.
    pub(crate) number: String,
    /// The most copies of all rows that are declared.
    pub(crate) most: usize,
}

/// How rows are grouped.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Groups {
    pub(crate) keys: Vec<String>,
    pub(crate) aggregates: Vec<(String, Aggregate)>,
    /// The most groups that are declared.
    pub(crate) bound: Option<usize>,
    /// Groups of fewer rows are left out.
    pub(crate) at_least: usize,
}

/// A column that rows are sorted by.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SortKey {
    /// The column's name.
    pub column: String,
    /// Whether the greatest values come first.
    pub descending: bool,
    /// Whether rows without a value come first.
    pub nulls_first: bool,
}

impl SortKey {
    /// The least values first, rows without a value last.
    pub fn up(column: impl Into<String>) -> Self {
        Self {
            column: column.into(),
            descending: false,
            nulls_first: false,
        }
    }

    /// The greatest values first, rows without a value last.
    pub fn down(column: impl Into<String>) -> Self {
        Self {
            descending: true,
            ..Self::up(column)
        }
    }
}

type Result<T> = std::result::Result<T, Fault>;

/// Levels of an expression within another one: each takes some of the stack.
const DEEPEST: usize = 250;

impl Frame {
    /// A table.
    ///
    /// # Errors
    /// Two columns of one name, and unique keys of columns that there are not.
    pub fn table(table: Table) -> Result<Self> {
        table.checked()?;
        if table.columns.is_empty() {
            return Err(Fault::Other(format!(
                "table {:?} has no columns",
                table.name
            )));
        }
        let columns = table.columns.clone();
        Self::new(Node::Table(Arc::new(table)), columns)
    }

    /// A step with the columns that it gives.
    pub(crate) fn new(node: Node, columns: Vec<Column>) -> Result<Self> {
        let mut seen = BTreeSet::new();
        if let Some(twice) = columns.iter().find(|column| !seen.insert(&column.name)) {
            return Err(Fault::TwoColumns {
                name: twice.name.clone(),
            });
        }
        let facts = Facts::of(&node, &columns);
        Ok(Self {
            node: Arc::new(node),
            columns: columns.into(),
            facts: Arc::new(facts),
        })
    }

    /// The columns of each row.
    pub fn columns(&self) -> &[Column] {
        &self.columns
    }

    /// The most rows that can count, as everybody knows it.
    pub fn most_rows(&self) -> usize {
        self.facts.most
    }

    /// Kind of an expression on the columns, and the right that those it reads leave.
    pub(crate) fn typed(&self, expression: &Expression) -> Result<(Typed, Right)> {
        if expression.depth() > DEEPEST {
            return Err(Fault::Other(format!(
                "an expression is nested {} levels deep, and {DEEPEST} are the most: compute it in several steps",
                expression.depth()
            )));
        }
        let typed = expression::typed(expression, &self.columns)?;
        let mut right = Right::Shown;
        for name in expression.columns() {
            let column = expression::find(&self.columns, name)?;
            right = right.min(column.right);
        }
        Ok((typed, right))
    }

    /// Checks that a column's right lets a query use it so.
    fn allowed(&self, expression: &Expression, needs: Right, does: &str) -> Result<()> {
        for name in expression.columns() {
            let column = expression::find(&self.columns, name)?;
            if column.right < needs {
                return Err(self.refused(column, does));
            }
        }
        Ok(())
    }

    pub(crate) fn refused(&self, column: &Column, does: &str) -> Fault {
        let may = match column.right {
            Right::Never => "may not be used",
            Right::JoinKey => "may decide which rows are joined, and nothing else",
            Right::Aggregate => {
                "may go into totals, conditions and joins, and may neither name groups nor be shown"
            }
            Right::Group => "may name groups, and may not be shown row by row",
            Right::Shown => "may be shown",
        };
        Fault::Right {
            table: self.sources().join(", "),
            column: column.name.clone(),
            may,
            does: does.into(),
        }
    }

    /// Names of the tables that the rows come from.
    pub fn sources(&self) -> Vec<String> {
        let mut names = Vec::new();
        self.visit(&mut |frame| {
            if let Node::Table(table) = &*frame.node
                && !names.contains(&table.name)
            {
                names.push(table.name.clone());
            }
        });
        names
    }

    /// Calls a function with each step, those that others are made of first; with one that several are made of once.
    pub(crate) fn visit<'a>(&'a self, see: &mut dyn FnMut(&'a Self)) {
        self.visit_new(&mut HashSet::new(), see);
    }

    fn visit_new<'a>(&'a self, seen: &mut HashSet<*const Node>, see: &mut dyn FnMut(&'a Self)) {
        if seen.insert(Arc::as_ptr(&self.node)) {
            for input in self.inputs() {
                input.visit_new(seen, see);
            }
            see(self);
        }
    }

    /// The steps that this one is directly made of.
    pub(crate) fn inputs(&self) -> Vec<&Self> {
        match &*self.node {
            Node::Table(_) => Vec::new(),
            Node::Filter(one, _)
            | Node::Select(one, _)
            | Node::Group(one, _)
            | Node::Sort(one, _)
            | Node::Window(one, _)
            | Node::Copies(one, _)
            | Node::Slice(one, ..)
            | Node::Bound(one, _) => vec![one],
            Node::Lookup(one, other, _) | Node::Beside(one, other, _) => vec![one, other],
            Node::Union(all) => all.iter().collect(),
        }
    }

    /// Rows for which a condition is true.
    ///
    /// # Errors
    /// An expression that is no condition on the columns, and columns that conditions may not read.
    pub fn filter(&self, condition: impl Into<Expression>) -> Result<Self> {
        let condition = condition.into();
        let (typed, _) = self.typed(&condition)?;
        if !matches!(typed.kind, None | Some(Kind::Bool)) {
            return Err(Fault::Kind {
                what: "a filter".into(),
                wanted: "a truth value",
                found: typed.kind.map_or("null".into(), |kind| kind.to_string()),
            });
        }
        self.allowed(&condition, Right::Aggregate, "has it in a condition")?;
        Self::new(Node::Filter(self.clone(), condition), self.columns.to_vec())
    }

    /// These columns alone, computed of the row's, under these names.
    ///
    /// # Errors
    /// Expressions that do not fit the columns, and two columns of one name.
    pub fn select<S: Into<String>, E: Into<Expression>>(
        &self,
        columns: impl IntoIterator<Item = (S, E)>,
    ) -> Result<Self> {
        let columns: Vec<(String, Expression)> = columns
            .into_iter()
            .map(|(name, value)| (name.into(), value.into()))
            .collect();
        if columns.is_empty() {
            return Err(Fault::Other("a table has a column at least".into()));
        }
        for (_, value) in &columns {
            if !matches!(value, Expression::Column(_)) {
                self.allowed(value, Right::Aggregate, "computes with it")?;
            }
        }
        self.selected(columns)
    }

    /// The step itself, whatever the rights of columns are.
    fn selected(&self, columns: Vec<(String, Expression)>) -> Result<Self> {
        let mut made = Vec::new();
        for (name, value) in &columns {
            let (typed, right) = self.typed(value)?;
            made.push(Column {
                name: name.clone(),
                kind: typed.kind.unwrap_or(Kind::Bool),
                nullable: typed.nullable,
                right,
            });
        }
        Self::new(Node::Select(self.clone(), columns), made)
    }

    /// The row's columns and others computed of them, which take the place of those of their names.
    ///
    /// # Errors
    /// Expressions that do not fit the columns.
    pub fn with_columns<S: Into<String>, E: Into<Expression>>(
        &self,
        columns: impl IntoIterator<Item = (S, E)>,
    ) -> Result<Self> {
        let mut all: Vec<(String, Expression)> = self
            .columns
            .iter()
            .map(|column| (column.name.clone(), col(&column.name)))
            .collect();
        for (name, value) in columns {
            let (name, value) = (name.into(), value.into());
            match all.iter_mut().find(|one| one.0 == name) {
                Some(one) => one.1 = value,
                None => all.push((name, value)),
            }
        }
        self.select(all)
    }

    /// The columns of these names alone.
    ///
    /// # Errors
    /// A name that no column has.
    pub fn only(&self, names: &[&str]) -> Result<Self> {
        self.select(names.iter().map(|&name| (name, col(name))))
    }

    /// The rows in an order. Rows that are equal in all keys come in an order that nobody knows.
    ///
    /// # Errors
    /// Columns that there are not.
    pub fn sort(&self, keys: impl IntoIterator<Item = SortKey>) -> Result<Self> {
        let keys: Vec<SortKey> = keys.into_iter().collect();
        for key in &keys {
            let column = expression::find(&self.columns, &key.column)?;
            if column.right < Right::Shown {
                return Err(self.refused(column, "sorts what it shows by it"));
            }
        }
        Self::new(Node::Sort(self.clone(), keys), self.columns.to_vec())
    }

    /// The first rows of those that are sorted, or any of others.
    ///
    /// # Errors
    /// None today.
    pub fn first(&self, rows: usize) -> Result<Self> {
        self.slice(0, rows)
    }

    /// Rows of those that are sorted, from a place on that is counted from 0, or any of others.
    ///
    /// # Errors
    /// None today.
    pub fn slice(&self, skip: usize, rows: usize) -> Result<Self> {
        Self::new(Node::Slice(self.clone(), skip, rows), self.columns.to_vec())
    }

    /// Checks that all parties may learn whether there are more rows than a number.
    pub(crate) fn may_be_bound(&self) -> Result<()> {
        match self.facts.least_group {
            0 | 1 => Ok(()),
            least => Err(Fault::Other(format!(
                "whether a bound holds would be told of rows of {}, of which nothing is told but of groups of {least} rows or more",
                self.sources().join(", ")
            ))),
        }
    }

    /// The fewest rows of a group that something may be told of.
    pub fn least_group(&self) -> usize {
        self.facts.least_group
    }

    /// The rows, which are declared to be `rows` at most. Where there are more the query ends with an error that tells that alone; what
    /// follows works on that number of rows.
    ///
    /// # Errors
    /// Rows of which nothing is told but of groups.
    pub fn bound(&self, rows: usize) -> Result<Self> {
        self.may_be_bound()?;
        Self::new(Node::Bound(self.clone(), rows), self.columns.to_vec())
    }

    /// The rows of this table and of others, whose columns go together one by one; names are this one's.
    ///
    /// # Errors
    /// Tables with other numbers of columns, and columns that do not go together.
    pub fn union(&self, others: &[Self]) -> Result<Self> {
        let mut columns = self.columns.to_vec();
        for other in others {
            if other.columns.len() != columns.len() {
                return Err(Fault::Other(format!(
                    "tables of {} and {} columns are put together: they need as many",
                    columns.len(),
                    other.columns.len()
                )));
            }
            for (column, more) in columns.iter_mut().zip(other.columns.iter()) {
                let kind = expression::both(Some(column.kind.clone()), Some(more.kind.clone()))
                    .map_err(|fault| fault.within(&col(&column.name)))?;
                column.kind = kind.unwrap_or(Kind::Bool);
                column.nullable |= more.nullable;
                column.right = column.right.min(more.right);
            }
        }
        let all = std::iter::once(self).chain(others).cloned().collect();
        Self::new(Node::Union(all), columns)
    }

    /// Rows that differ: of those that are equal in all columns one.
    ///
    /// # Errors
    /// Columns that may not name groups.
    pub fn distinct(&self) -> Result<Self> {
        let names: Vec<String> = self
            .columns
            .iter()
            .map(|column| column.name.clone())
            .collect();
        self.group(names, Vec::new())
    }
}
