//! Failures of this program alone; the others are in `madrigal_app::failure`.

use madrigal_app::failure::{Fault, Status};
use madrigal_sql::SqlError;
use madrigal_sql::files::{FileError, Noise};
use madrigal_tables::QueryError;

/// A query or a table that cannot be computed.
#[derive(Debug, thiserror::Error)]
pub enum Unfit {
    #[error(transparent)]
    File(#[from] FileError),
    #[error("the query: {0}{remedy}", remedy = remedy(.0))]
    Sql(#[from] SqlError),
    #[error("the query: {0}")]
    Query(#[from] QueryError),
    #[error("--table {name}=...: {problem}")]
    Table { name: String, problem: String },
    #[error("--schema {name}=...: no --table has this name; correct it")]
    Schema { name: String },
    #[error(
        "--client {client}: no --table names this client as its owner: name one as NAME=FILE:{client}"
    )]
    NoTable { client: String },
    #[error("the system gives no random numbers: {0}")]
    Randomness(String),
    #[error("--hide-rows {noise}: {problem}")]
    Hidden { noise: Noise, problem: String },
    #[error("--out {0}: write a name that ends in .csv or .parquet")]
    Format(String),
    #[error("--only {0}: queries are named q1 to q22")]
    NoQuery(String),
    #[error("DuckDB gives no results ({0}); give another --python, or --skip-check")]
    Duckdb(String),
    #[error("results that are not those of DuckDB: {0}")]
    Wrong(String),
    #[error("the result has {0}, which Parquet does not hold: write it as .csv")]
    Result(String),
}

/// The flag that helps, where there is one.
const fn remedy(error: &SqlError) -> &'static str {
    match error {
        SqlError::Fault(madrigal_tables::Fault::ManyToMany { .. }) => {
            " (unique in a schema, or --pairs ROWS)"
        }
        _ => "",
    }
}

impl Fault for Unfit {
    fn status(&self) -> Status {
        match self {
            Self::File(_) => Status::File,
            Self::Wrong(_) | Self::Randomness(_) => Status::Internal,
            _ => Status::Usage,
        }
    }
}
