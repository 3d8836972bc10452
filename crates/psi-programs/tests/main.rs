//! The tests of this crate, in one executable.
#![allow(clippy::unwrap_used)] // helpers of tests

mod keyed;
mod noisy;
mod programs;
mod whole;

use madrigal_program::Party;

const RECEIVER: Party = Party::new(0);
const SENDER: Party = Party::new(1);
