//! Tells the cost of a phase, to people and to scripts.

use std::fs;
use std::io::Write as _;

use madrigal_core::PhaseCost;
use madrigal_engine::PhaseReport;
use serde::{Deserialize, Serialize};

use crate::failure::{Failure, Result};
use crate::terminal::Plain;

/// One phase of one party in one run.
#[derive(Debug, Clone, Copy, Serialize, Deserialize)]
pub struct PhaseFigures {
    /// Wall time while the phase was at work; interleaved phases overlap.
    pub seconds: f64,
    /// Payload sent, without headers.
    pub bytes_sent: u64,
    /// Payload received, without headers.
    pub bytes_received: u64,
    /// Messages sent.
    pub messages: u64,
    /// Length of the longest chain of messages, each of which waited for the one before.
    pub rounds: u64,
    /// AES-128 blocks that generators and hashes computed, counted by the kernels; key expansions, TLS and the
    /// encryption of stores are not among them.
    pub aes_blocks: u64,
}

impl PhaseFigures {
    /// Makes the figures of a phase from what the counters say.
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

impl PhaseFigures {
    /// Adds up what is done first and what is done after that.
    #[must_use]
    pub fn then(self, next: Self) -> Self {
        Self {
            seconds: self.seconds + next.seconds,
            bytes_sent: self.bytes_sent + next.bytes_sent,
            bytes_received: self.bytes_received + next.bytes_received,
            messages: self.messages + next.messages,
            rounds: self.rounds + next.rounds,
            aes_blocks: self.aes_blocks + next.aes_blocks,
        }
    }
}

impl From<&PhaseReport> for PhaseFigures {
    fn from(report: &PhaseReport) -> Self {
        Self::new(report.time.as_secs_f64(), &report.spent)
    }
}

/// Writes an object as JSON on several lines.
///
/// # Errors
/// [`Failure`]: a value that JSON cannot hold.
pub fn json_text(value: &impl Serialize) -> Result<String> {
    let text = serde_json::to_string_pretty(value).map_err(Failure::bug)?;
    Ok(text + "\n")
}

/// Prints an object on several lines.
///
/// # Errors
/// [`Failure`]: standard output that cannot be written to.
pub fn print_json(value: &impl Serialize) -> Result<()> {
    print_text_as_json(&json_text(value)?)
}

/// Prints a value as JSON on one line.
///
/// # Errors
/// [`Failure`]: standard output that cannot be written to.
pub fn print_json_line(value: &impl Serialize) -> Result<()> {
    let mut text = serde_json::to_string(value).map_err(Failure::bug)?;
    text.push('\n');
    print_text_as_json(&text)
}

/// Prints JSON that is text already.
///
/// # Errors
/// [`Failure`]: standard output that cannot be written to.
pub fn print_text_as_json(text: &str) -> Result<()> {
    printed(|out| {
        let mut out = Plain::json(out);
        out.write_all(text.as_bytes()).and_then(|()| out.flush())
    })
}

/// Writes to standard output. A reader that has gone wants no more: that is no error.
///
/// # Errors
/// [`Failure`]: standard output that cannot be written to.
pub fn print(text: &[u8]) -> Result<()> {
    print_with(&|out| out.write_all(text))
}

/// Writes to standard output what `write` makes, as [`print()`] does.
///
/// # Errors
/// [`Failure`]: standard output that cannot be written to.
pub fn print_with(write: &dyn Fn(&mut dyn std::io::Write) -> std::io::Result<()>) -> Result<()> {
    printed(|out| {
        let mut out = Plain::new(out);
        write(&mut out).and_then(|()| out.flush())
    })
}

/// Writes bytes to standard output as they are: what this program has made for others, as a script for a shell.
///
/// # Errors
/// [`Failure`]: standard output that cannot be written to.
pub fn print_bytes(bytes: &[u8]) -> Result<()> {
    printed(|out| out.write_all(bytes).and_then(|()| out.flush()))
}

fn printed(
    write: impl FnOnce(&mut std::io::StdoutLock<'static>) -> std::io::Result<()>,
) -> Result<()> {
    match write(&mut std::io::stdout().lock()) {
        Err(error) if error.kind() != std::io::ErrorKind::BrokenPipe => Err(Failure::System {
            what: "cannot write to standard output",
            source: error,
        }),
        _ => Ok(()),
    }
}

/// Has the most memory that this process has taken counted from now on, where the system lets it (Linux).
pub fn forget_peak_rss() {
    /// Number that stands for this among what `clear_refs` forgets.
    const PEAK: &str = "5";
    let _ = fs::write("/proc/self/clear_refs", PEAK);
}

/// Gives the most memory that this process has taken, where the system tells it (Linux).
pub fn peak_rss_bytes() -> Option<u64> {
    let status = fs::read_to_string("/proc/self/status").ok()?;
    let line = status
        .lines()
        .find_map(|line| line.strip_prefix("VmHWM:"))?;
    let kib: u64 = line.trim().strip_suffix("kB")?.trim().parse().ok()?;
    Some(kib * 1024)
}
