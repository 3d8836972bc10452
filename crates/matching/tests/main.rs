//! The tests of this crate, in one executable: linking many takes longer than running them.

mod ledger;
mod numbers;
mod random;
mod report;
