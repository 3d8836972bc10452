//! The tests of this crate, in one executable.

#![allow(
    clippy::unwrap_used,
    clippy::print_stdout,
    reason = "a test may fail, and tells what it did"
)]

mod common;
mod files;
mod known_answers;
mod made;
mod random;
mod values;
