//! N parties in one process, for the project's own tests: [`World`] runs one closure as every party.
//!
//! It is never published and turns on deterministic randomness in `madrigal-net`; nothing but tests
//! and benchmarks may depend on it.

#![allow(clippy::print_stdout)] // seeds, for whoever repeats a failed test

mod counting;
pub mod hycc;
mod recording;
mod shared;
mod trial;
mod world;

pub use counting::Counting;
pub use recording::{Recording, Transcript};
pub use shared::shared_data;
pub use trial::{
    Ending, Outcome, Trial, impatient, must_end_well, run_session_with_fault, run_with_fault,
    run_with_fault_over,
};
pub use world::{PartyResult, World, seed, uncounted};
