//! Statistics of tables that several parties hold, against a plaintext oracle; files and questions that are wrong.

#![allow(clippy::unwrap_used)] // helpers of tests

mod files;
mod oracle;
mod programs;
mod suppression;
