//! Queries in SQL on tables that several parties hold.
