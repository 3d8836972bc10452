//! The tests of this crate, in one executable: linking many takes longer than running them.

mod common;
mod files;
mod refusals;
mod streams;
mod submissions;
