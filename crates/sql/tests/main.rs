//! Queries in SQL.
