//! Columns by name, and values in the clear.

use serde::{Deserialize, Serialize};

use crate::kind::Kind;

/// A column as everybody knows it.
#[derive(Debug, Clone, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub struct Column {
    /// The name, which no other column of the table has.
    pub name: String,
    /// Kind of its values.
    pub kind: Kind,
    /// Whether values may be missing; which are, is a secret.
    #[serde(default)]
    pub nullable: bool,
    /// Right of queries to tell of its values.
    #[serde(default)]
    pub right: Right,
}

impl Column {
    /// A column without missing values, of which everything may be told that a query asks for.
    pub fn new(name: impl Into<String>, kind: Kind) -> Self {
        Self {
            name: name.into(),
            kind,
            nullable: false,
            right: Right::default(),
        }
    }

    /// The column with missing values.
    #[must_use]
    pub fn nullable(self) -> Self {
        Self {
            nullable: true,
            ..self
        }
    }

    /// The column with another right.
    #[must_use]
    pub fn with_right(self, right: Right) -> Self {
        Self { right, ..self }
    }
}

/// Right of queries to tell of a column's values. It is checked when a query is made into a program, before anything is sent.
#[derive(
    Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Default, Serialize, Deserialize,
)]
#[serde(rename_all = "snake_case")]
pub enum Right {
    /// Nothing is told of them; a query that uses the column is refused.
    Never,
    /// They decide which rows are joined, and nothing else.
    JoinKey,
    /// They go into numbers that are told of groups, into conditions and joins; they name no group and are not shown.
    Aggregate,
    /// They name groups, too.
    Group,
    /// They are shown.
    #[default]
    Shown,
}

/// A value in the clear.
#[derive(Debug, Clone, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Value {
    /// A missing one.
    Null,
    /// True or false.
    Bool(bool),
    /// A number, in units of its column, or of the literal's kind.
    Number(i128),
    /// A text.
    Text(String),
}
