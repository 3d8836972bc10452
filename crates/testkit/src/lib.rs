//! N parties in one process, for the project's own tests: `World` runs one closure as every party.
//!
//! It is never published and, with its feature `parties`, turns on deterministic randomness in `madrigal-net`;
//! nothing but tests and benchmarks may depend on it.

#![allow(clippy::print_stdout)] // seeds, for whoever repeats a failed test

pub mod command;
#[cfg(feature = "parties")]
mod counting;
#[cfg(feature = "parties")]
mod deviating;
mod forward;
pub mod hycc;
#[cfg(feature = "parties")]
pub mod places;
#[cfg(feature = "parties")]
mod recording;
mod seed;
mod shared;
#[cfg(feature = "parties")]
pub mod transcripts;
#[cfg(feature = "parties")]
mod trial;
#[cfg(feature = "parties")]
mod world;

#[cfg(feature = "parties")]
pub use counting::Counting;
#[cfg(feature = "parties")]
pub use deviating::{Change, Deviating, Deviation};
pub use forward::forward;
#[cfg(feature = "parties")]
pub use recording::{Recording, Transcript};
pub use seed::seed;
pub use shared::shared_data;
#[cfg(feature = "parties")]
pub use trial::{
    Ending, Outcome, Trial, impatient, must_end_well, run_session_with_fault, run_with_fault,
    run_with_fault_over,
};
#[cfg(feature = "parties")]
pub use world::{PartyResult, World, uncounted};
