//! The tests of this crate, in one executable: linking many takes longer than running them.

mod ahead;
mod beside;
mod branches;
mod common;
mod convolutions;
mod dealer;
mod dealer_view;
mod faults;
mod known;
mod limits;
mod numbers;
mod own;
mod packets;
mod pairs;
mod pieces;
mod policies;
mod programs;
mod replicated;
mod ring_branches;
mod run;
mod stages;
mod stores;
mod streamed;
mod time;
mod transcripts;
mod two_layers;
