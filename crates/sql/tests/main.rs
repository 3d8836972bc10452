//! Queries in SQL, and files of tables.

// A failed unwrap is a failed test with a location.
#![allow(clippy::unwrap_used)]

mod costs;
mod files;
mod guide;
mod noise;
mod program;
mod schema;
mod tpch;
