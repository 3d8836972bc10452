//! Queries in SQL on tables that several parties hold.
//!
//! [`files`] reads tables from CSV and Parquet files, and writes results as such. [`tpch`] has the tables and queries of TPC-H.

pub mod files;
pub mod tpch;
