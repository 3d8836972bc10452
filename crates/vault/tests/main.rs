//! The tests of this crate, in one executable.
#![allow(clippy::unwrap_used)] // helpers of tests

mod codec;
mod flat;
mod group;
mod power;
mod random;
mod seals;
mod servers;
mod simulation;
mod submissions;
