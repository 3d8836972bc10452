//! The tests of this crate, in one executable.
#![allow(clippy::unwrap_used)] // helpers of tests

mod power;
mod random;
mod servers;
mod simulation;
mod submissions;
