//! Tables of secret rows.
#![allow(clippy::unwrap_used)] // helpers of tests

mod frames;
mod rows;
