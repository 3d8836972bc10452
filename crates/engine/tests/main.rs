//! The tests of this crate, in one executable: linking many takes longer than running them.

mod ahead;
mod branches;
mod common;
mod dealer;
mod faults;
mod limits;
mod own;
mod policies;
mod programs;
mod ring_branches;
mod run;
mod stages;
mod stores;
mod time;
mod transcripts;
