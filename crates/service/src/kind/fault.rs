//! Reasons why a kind cannot be done.

use std::path::PathBuf;

use madrigal_program::lower::ExecuteError;
use madrigal_program_file::{BindError, ReadError};

/// Reason why a kind cannot be done.
#[derive(Debug, thiserror::Error)]
#[error("kind `{kind}`, {}: {fault}", program.display())]
pub struct KindError {
    /// The kind.
    pub kind: String,
    /// The program's file.
    pub program: PathBuf,
    /// Fault of the kind.
    pub fault: Box<KindFault>,
}

/// Fault of a kind.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum KindFault {
    /// The program's file cannot be read.
    #[error(transparent)]
    Read(#[from] ReadError),
    /// The program does not take these lengths.
    #[error(transparent)]
    Bind(#[from] BindError),
    /// There is no plan for the program.
    #[error("no plan for {submissions} submissions: {source}")]
    Plan {
        /// Size of the batch.
        submissions: usize,
        /// Reason.
        source: ExecuteError,
    },
    /// The program is for another number of servers.
    #[error("it is for {got} parties, and there are {servers} servers")]
    Servers {
        /// Parties of the program.
        got: usize,
        /// Number of servers.
        servers: usize,
    },
    /// The program does not fit what a service does.
    #[error("{0}")]
    Unfit(String),
    /// A job of the largest batch takes more memory than it may.
    #[error(
        "a job of {submissions} submissions takes {needs} bytes of memory ({plan} by its plan, {shares} for the shares that clients bring, which are there before it), and may take {allowed}: allow more (`memory`), or make batches smaller (`most`)"
    )]
    Memory {
        /// Size of the largest batch.
        submissions: usize,
        /// Memory that it takes.
        needs: u64,
        /// Memory that the plan says.
        plan: u64,
        /// Memory of the shares that are read, and put together for the plan.
        shares: u64,
        /// Memory that is allowed.
        allowed: u64,
    },
}
