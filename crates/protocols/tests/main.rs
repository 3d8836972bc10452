//! The tests of this crate, in one executable: linking many takes longer than running them.

#[macro_use]
mod common;
mod gmw;
mod replicated_bits;
mod replicated_conversions;
mod replicated_faults;
mod replicated_matrices;
mod replicated_rings;
mod replicated_transcripts;
