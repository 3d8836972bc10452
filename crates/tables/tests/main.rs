//! Tables of secret rows.
#![allow(clippy::unwrap_used)] // helpers of tests

mod costs;
mod frames;
mod rows;
