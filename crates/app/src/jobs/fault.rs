//! Faults of a circuit's job: of its flags, and of a party.

use std::path::PathBuf;

use madrigal_core::Party;
use madrigal_core::budget::Size;
use madrigal_engine::PlanError;
use madrigal_operations::JobError;

use crate::failure::{Fault, Status};
use crate::numbers::counted;
use crate::remedies::{of_job, of_plan, with};

/// A fault of the flags of a job.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum Misuse {
    /// Correlations are asked for that the protocol does not take.
    #[error("{flag}: {why}; leave the flag out")]
    NoCorrelations {
        /// The flag.
        flag: &'static str,
        /// Why it has no meaning here.
        why: String,
    },
    /// A store is asked for by a command that takes none.
    #[error("--correlations store is for `madrigal run`, which has --store; give another origin")]
    StoreElsewhere,
    /// The widths of values do not fit the circuit.
    #[error("--widths of {}: {error}", circuit.display())]
    Widths {
        /// The circuit's file.
        circuit: PathBuf,
        /// The error.
        error: madrigal_circuit::WidthsError,
    },
    /// Inputs and outputs do not fit this machine's memory.
    #[error(
        "the inputs and outputs of {} take {} of memory, which this machine does not give; take fewer at a time: --lanes, or fewer lines of --input",
        counted(*.lanes, "lane"), Size(*.bytes)
    )]
    NoRoom {
        /// Number of lanes.
        lanes: u64,
        /// The memory that they take.
        bytes: u64,
    },
    /// The flags make no job.
    #[error("{}", with(.0, of_job(.0)))]
    Job(JobError),
    /// The flags make no plan.
    #[error("{}", with(.0, of_plan(.0)))]
    Plan(PlanError),
}

impl Fault for Misuse {
    fn status(&self) -> Status {
        match self {
            // No lanes are lines that a file does not have.
            Self::Job(JobError::NoLanes) => Status::File,
            _ => Status::Usage,
        }
    }
}

/// A party of a local run failed.
#[derive(Debug, thiserror::Error)]
#[error("{party}: {message}")]
pub struct PartyFailure {
    /// The party.
    pub party: Party,
    /// The exit status of its failure.
    pub status: Status,
    /// Message of the party.
    pub message: String,
}

impl Fault for PartyFailure {
    fn status(&self) -> Status {
        self.status
    }
}
