//! Inputs that servers hold: loaded once by their owner as shares, and computed with in the jobs of other kinds until others take their place.
//!
//! A *holding kind* computes nothing. Each of its batches is one submission, and once the servers agree that the batch counts, each keeps its share of
//! it. A *using kind* has the same program; its jobs take the inputs of the owner from what is held, and all others from its own submissions.

mod bind;
mod loads;
mod now;

pub(crate) use bind::bind;
pub(crate) use now::{Held, Loaded};
