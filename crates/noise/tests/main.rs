//! The tests of this crate, in one executable.
#![allow(clippy::unwrap_used)] // helpers of tests

mod draws;
mod joint;
