//! What a phase has cost, for people and for scripts, and how both are told.

use std::fs;
use std::io::Write as _;

use madrigal_core::PhaseCost;
use madrigal_engine::PhaseReport;
use serde::{Deserialize, Serialize};

use crate::failure::{Failure, Result};

/// One phase of one party in one run.
#[derive(Debug, Clone, Copy, Serialize, Deserialize)]
pub struct PhaseFigures {
    /// Wall time.
    pub seconds: f64,
    /// Payload.
    pub bytes_sent: u64,
    /// Payload.
    pub bytes_received: u64,
    /// Sent.
    pub messages: u64,
    /// The longest chain of messages that wait for each other.
    pub rounds: u64,
    /// Computed.
    pub aes_blocks: u64,
}

impl PhaseFigures {
    /// From what the counters say.
    pub fn new(seconds: f64, cost: &PhaseCost) -> Self {
        Self {
            seconds,
            bytes_sent: cost.bytes_sent,
            bytes_received: cost.bytes_received,
            messages: cost.messages,
            rounds: cost.rounds,
            aes_blocks: cost.aes_blocks,
        }
    }
}

impl From<&PhaseReport> for PhaseFigures {
    fn from(report: &PhaseReport) -> Self {
        Self::new(report.time.as_secs_f64(), &report.spent)
    }
}

/// Prints an object on several lines.
///
/// # Errors
/// Standard output that cannot be written to.
pub fn print_json(value: &impl Serialize) -> Result<()> {
    let mut text = serde_json::to_string_pretty(value).map_err(Failure::bug)?;
    text.push('\n');
    print(text.as_bytes())
}

/// The same on one line.
///
/// # Errors
/// Standard output that cannot be written to.
pub fn print_json_line(value: &impl Serialize) -> Result<()> {
    let mut text = serde_json::to_string(value).map_err(Failure::bug)?;
    text.push('\n');
    print(text.as_bytes())
}

/// Writes to standard output. A reader that has gone wants no more: that is no error.
///
/// # Errors
/// Standard output that cannot be written to.
pub fn print(text: &[u8]) -> Result<()> {
    let mut out = std::io::stdout().lock();
    match out.write_all(text).and_then(|()| out.flush()) {
        Err(error) if error.kind() != std::io::ErrorKind::BrokenPipe => Err(Failure::System {
            what: "cannot write to standard output",
            source: error,
        }),
        _ => Ok(()),
    }
}

/// The most memory that this process has had, where the system tells (Linux).
pub fn peak_rss_bytes() -> Option<u64> {
    let status = fs::read_to_string("/proc/self/status").ok()?;
    let line = status
        .lines()
        .find_map(|line| line.strip_prefix("VmHWM:"))?;
    let kib: u64 = line.trim().strip_suffix("kB")?.trim().parse().ok()?;
    Some(kib * 1024)
}
