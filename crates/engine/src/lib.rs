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
mod bill;
mod board;
mod carry_out;
mod circuit;
mod dealer;
mod error;
mod explain;
mod graph;
mod groups;
mod operation;
pub mod operations;
mod plan;
mod policy;
mod program;
mod protocol;
mod regions;
mod report;
mod run;
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

pub use bill::Bill;
pub use carry_out::{Given, Outcome, TaskReport, evaluate_program, run_program};
pub use circuit::Circuit;
pub use dealer::serve;
pub use error::RunError;
pub use explain::OperationEstimate;
pub use graph::{Graph, GraphError, Value};
pub use groups::GroupEstimate;
pub use operation::{Early, Mismatch, Operation, Prepared, Tool, Turn};
pub use plan::{JobSpec, Phases, Plan, PlanError, TRIPLE_MEMORY};
pub use policy::{DeepestFirst, FirstCome, LayerByLayer, Policy, Ready, Soonest};
pub use program::{OperationCost, ProgramError, ProgramPlan, ProgramSpec};
pub use protocol::Protocol;
pub use report::{PhaseReport, Progress, Report};
pub use run::{Brought, evaluate, run};
pub use shares::{Held, NotNumbers, Shares};
pub use sort::{Element, Sharing, Sort};
pub use stages::{KeptShares, StageOutcome, Stages};
#[cfg(feature = "store")]
pub use stores::{Precomputation, StoreReport, StoreSpec};
pub use time::PlanTime;
pub use trial::{Trial, TrialTimes};

pub use madrigal_correlations::{Choice, Extension, MAX_THREADS, Matrices, Means, Origin, Width};
pub use madrigal_garbling::Scheme;
pub use madrigal_protocols::Opening;
