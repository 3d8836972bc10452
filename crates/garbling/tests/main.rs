//! The tests of this crate, in one executable: linking many takes longer than running them.

#![allow(
    clippy::unwrap_used,
    clippy::print_stdout,
    reason = "a test may fail, and prints how to repeat it"
)]

mod bmr;
mod circuits;
mod labels;
mod numbers;
mod parties;
mod refusals;
mod support;
