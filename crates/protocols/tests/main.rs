//! The tests of this crate, in one executable: linking many takes longer than running them.

#[macro_use]
mod common;
mod aby2;
mod arithmetic;
mod arithmetic_conversions;
mod arithmetic_faults;
mod arithmetic_matrices;
mod bmr;
mod bmr_faults;
mod branches;
mod gmw;
mod gmw_sorts;
mod replicated_bits;
mod replicated_conversions;
mod replicated_faults;
mod replicated_matrices;
mod replicated_rings;
mod replicated_sorts;
mod replicated_transcripts;

// The examples are tested too.
#[allow(dead_code, reason = "a program, of which the tests use a part")]
#[path = "../examples/shared_numbers.rs"]
mod shared_numbers;
