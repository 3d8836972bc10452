//! Plans and runs programs: graphs of [operations](Operation) on values, what they need and cost, the setup and online
//! phases in sequence or interleaved, blocks of elements that overlap, statistics.
//!
//! A [`Plan`] is made from a [`PlanSpec`] without any network, is the same at all parties, and knows
//! the exact number of triples, rounds, messages and bytes. [`run_program`] carries it out in a session. What the
//! operations do is in the crate `madrigal-operations`, or in a user's own.
#![cfg_attr(
    feature = "store",
    doc = "\nA [`Precomputation`] fills stores of correlations, which later jobs use."
)]

mod bill;
mod board;
mod carry_out;
mod dealer;
#[cfg(test)]
mod declared;
mod error;
mod explain;
mod graph;
mod groups;
mod local;
mod operation;
mod phases;
mod plan;
mod policy;
mod price;
mod regions;
mod repeat;
mod report;
mod runner;
mod schedule;
mod shares;
mod sort;
mod stages;
#[cfg(feature = "store")]
mod stores;
mod strands;
mod stream;
mod time;
mod trace;
mod trial;
mod versions;

pub use bill::Bill;
pub use carry_out::{Given, evaluate_program, run_program};
pub use dealer::serve;
pub use error::RunError;
pub use explain::OperationEstimate;
pub use graph::{Graph, GraphError, Value};
pub use groups::GroupEstimate;
pub use local::Local;
pub use operation::{
    Early, Mismatch, Online, Operation, Prepared, PreparedState, Preparing, Tool, Turn,
};
pub use phases::Phases;
pub use plan::{CORRELATIONS, OperationCost, Plan, PlanError, PlanSpec, TRIPLE_MEMORY};
pub use policy::{DeepestFirst, FirstCome, LayerByLayer, Policy, Ready, Soonest};
pub use repeat::Repeat;
pub use report::{Outcome, PhaseReport, Progress, TaskReport};
pub use shares::{Held, NotNumbers, Shares, give_up};
pub use sort::{Element, Sharing, Sort};
pub use stages::{KeptShares, StageOutcome, Stages};
#[cfg(feature = "store")]
pub use stores::{Precomputation, StoreReport, StoreSpec};
pub use time::PlanTime;
pub use trial::{Trial, TrialTimes};
pub use versions::PROTOCOLS;

#[doc(hidden)]
pub use madrigal_correlations::with_ring;
pub use madrigal_correlations::{Means, Width};
pub use madrigal_correlations_make::{
    Choice, Extension, MAX_THREADS, Made, Matrices, Origin, Primitive,
};
pub use madrigal_protocols::Opening;
