//! Errors of queries, told before anything is sent.

use thiserror::Error;

use crate::expression::Expression;

/// Something that a query cannot do, told when it is written or made into a program: before anything is sent.
#[derive(Debug, Clone, PartialEq, Eq, Error)]
#[non_exhaustive]
pub enum Fault {
    /// No column has this name.
    #[error("there is no column {name:?}; there are {}", list(known))]
    NoColumn {
        /// The name.
        name: String,
        /// Names that there are.
        known: Vec<String>,
    },
    /// Two columns of a result have the same name.
    #[error("two columns are named {name:?}: give one of them another name")]
    TwoColumns {
        /// The name.
        name: String,
    },
    /// A value is of another kind than what is done with it needs.
    #[error("{what} takes {wanted}, and what it is given is {found}")]
    Kind {
        /// The expression.
        what: String,
        /// Kind that it takes.
        wanted: &'static str,
        /// The kind that was found.
        found: String,
    },
    /// Two values do not go together.
    #[error("{}{one} and {other} do not go together", within(what))]
    Mixed {
        /// The expression; empty if it is not known.
        what: String,
        /// The first value's kind.
        one: String,
        /// The second value's kind.
        other: String,
    },
    /// A value could leave 128 bits.
    #[error(
        "{}a value could be beyond 128 bits: declare narrower ranges of the columns that it is made of",
        within(what)
    )]
    Range {
        /// The expression; empty if it is not known.
        what: String,
    },
    /// Characters of a text are asked for, and the text is not declared to have one byte for each.
    #[error("{what} takes texts of one byte for each character: declare the column as ascii")]
    NotAscii {
        /// The expression.
        what: String,
    },
    /// Rows are joined by keys that neither table has once only.
    #[error(
        "neither table is known to have each of the keys {} once: declare a unique key, or a bound of the joined rows",
        list(keys)
    )]
    ManyToMany {
        /// The keys.
        keys: Vec<String>,
    },
    /// A column's right does not let the query show what it asks for.
    #[error("column {column:?} of table {table:?} {may}, and this query {does}")]
    Right {
        /// The table.
        table: String,
        /// The column.
        column: String,
        /// Use that the right allows.
        may: &'static str,
        /// Use that the query would make of it.
        does: String,
    },
    /// Something else that is wrong with a query or a table.
    #[error("{0}")]
    Other(String),
}

fn list(names: &[String]) -> String {
    let quoted: Vec<String> = names.iter().map(|name| format!("{name:?}")).collect();
    match quoted.is_empty() {
        true => "none".into(),
        false => quoted.join(", "),
    }
}

fn within(what: &str) -> String {
    match what {
        "" => String::new(),
        _ => format!("in {what}, "),
    }
}

impl Fault {
    pub(crate) fn mixed(one: &impl ToString, other: &impl ToString) -> Self {
        Self::Mixed {
            what: String::new(),
            one: one.to_string(),
            other: other.to_string(),
        }
    }

    /// The fault, with the expression that it is in where that is not known yet.
    pub(crate) fn within(mut self, expression: &Expression) -> Self {
        if let Self::Mixed { what, .. } | Self::Range { what } = &mut self
            && what.is_empty()
        {
            *what = expression.to_string();
        }
        self
    }
}
