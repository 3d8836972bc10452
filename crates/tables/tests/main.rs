//! Tables of secret rows.
#![allow(clippy::unwrap_used)] // helpers of tests

mod costs;
mod faults;
mod frames;
mod messages;
mod rows;
