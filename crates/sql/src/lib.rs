//! Queries in SQL on tables that several parties hold.

pub mod plan;

pub use plan::{SqlError, plan};
