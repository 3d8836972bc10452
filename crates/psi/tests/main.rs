//! The tests of this crate, in one executable: linking many takes longer than running them.
#![allow(
    clippy::unwrap_used,
    reason = "a failed unwrap is a failed test with a location"
)]

mod cheats;
mod common;
mod faults;
mod matching;
mod receivers;
mod shares;
mod views;
