//! Plans and runs jobs: what a circuit needs and costs, the setup and online phases in sequence or
//! interleaved, lane blocks that overlap, statistics.
//!
//! A [`Plan`] is made from a [`JobSpec`] without any network, is the same at all parties, and knows
//! the exact number of triples, rounds, messages and bytes. [`run`] carries it out in a session.
#![cfg_attr(
    feature = "store",
    doc = "\nA [`Precomputation`] fills stores of correlations, which later jobs use."
)]

mod arena;
mod circuit;
mod cost;
mod dealer;
mod evaluator;
mod plan;
mod protocol;
mod report;
mod run;
#[cfg(feature = "store")]
mod stores;
mod time;
mod workers;

pub use circuit::Circuit;
pub use dealer::serve;
pub use plan::{JobSpec, Phases, Plan, PlanError, TRIPLE_MEMORY};
pub use protocol::Protocol;
pub use report::{PhaseReport, Progress, Report};
pub use run::{Brought, RunError, evaluate, run};
#[cfg(feature = "store")]
pub use stores::{Matrices, Precomputation, StoreReport, StoreSpec};
pub use time::PlanTime;

pub use madrigal_correlations::{Choice, Extension, MAX_THREADS, Means, Origin};
pub use madrigal_protocols::Opening;
