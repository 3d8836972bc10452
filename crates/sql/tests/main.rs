//! Queries in SQL, and files of tables.

mod files;
mod schema;
mod tpch;
mod guide;
