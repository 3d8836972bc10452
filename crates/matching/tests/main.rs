//! The tests of this crate, in one executable: linking many takes longer than running them.
#![allow(
    clippy::unwrap_used,
    reason = "a failed unwrap is a failed test with a location"
)]

mod earlier;
mod ledger;
mod locks;
mod many;
mod noisy;
mod numbers;
mod partitions;
mod random;
mod report;
mod resumed;
mod several;
