//! Queries in SQL on tables that several parties hold.
//!
//! [`files`] reads tables from CSV and Parquet files, and writes results as such.

pub mod files;
