//! The tests of this crate, in one executable.
#![allow(clippy::unwrap_used, clippy::print_stdout)] // helpers of tests; what they counted

mod accounts;
mod awaited;
mod batches;
mod codec;
mod contradictions;
mod flat;
mod group;
mod nonsense;
mod power;
mod random;
mod seals;
mod servers;
mod simulation;
mod submissions;
