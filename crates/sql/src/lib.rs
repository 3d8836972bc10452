//! Queries in SQL on tables that several parties hold.
//!
//! [`files`] reads tables from CSV and Parquet files, [`plan()`] makes steps on them of a query's text, and [`files::bytes`] a file of the
//! result. [`tpch`] has the tables and queries of TPC-H.

pub mod files;
pub mod plan;
pub mod tpch;

pub use plan::{SqlError, plan, plan_with_pairs};
