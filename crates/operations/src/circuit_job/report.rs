//! What came of a circuit's job.

use std::time::Duration;

use madrigal_circuit::Rows;
use madrigal_engine::PhaseReport;

/// A job that has ended well.
#[derive(Debug)]
pub struct Report {
    /// The output values, a row for each bit; `None` at parties that do not get them.
    pub outputs: Option<Rows>,
    /// Before the inputs.
    pub setup: PhaseReport,
    /// From the inputs on.
    pub online: PhaseReport,
    /// From the opening of the job to its finish at all parties.
    pub total: Duration,
    /// Bytes sent with headers and control messages.
    pub wire_bytes_sent: u64,
}
