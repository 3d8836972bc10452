//! Messages of the benchmark and its processes to each other.

pub(crate) use madrigal_app::processes::{Figures, Used};
use serde::{Deserialize, Serialize};

use crate::args::TransportArg;

/// First line to a process: what it computes, and as whom.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub(crate) struct Assignment {
    /// Name of the workload.
    pub workload: String,
    /// Factor of its size.
    pub scale: f64,
    /// Threads of each party.
    pub threads: usize,
    pub transport: TransportArg,
    /// The party that the process is; `None` where it is all of them, over memory.
    pub me: Option<usize>,
    /// Whether the result is compared with the oracle's, after the run.
    pub is_checked: bool,
}

/// Figures of a process whose parties have finished.
#[derive(Debug, Serialize, Deserialize)]
pub(crate) struct Done {
    /// Operations of the run.
    pub ops: u64,
    pub parties: Vec<Figures>,
    pub used: Used,
}
