//! Statistics of tables that several parties hold, against a plaintext oracle; files and questions that are wrong.

// A test program has no outside: `pub` here says what one module offers the others.
#![allow(unreachable_pub)]
#![allow(clippy::unwrap_used)] // helpers of tests

mod files;
mod known;
mod oracle;
mod programs;
mod suppression;
