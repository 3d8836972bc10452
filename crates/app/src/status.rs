//! Exit statuses, which scripts rely on.

use std::process::ExitCode;

use serde::{Deserialize, Serialize};

/// The exit statuses; `--help` lists them.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Status {
    /// A fault of this program or machine.
    Internal = 1,
    /// A flag or an argument.
    Usage = 2,
    /// A file.
    File = 3,
    /// A party lost, silent, slow, or out of reach.
    Network = 4,
    /// Another party's program, version, key or behaviour.
    Peer = 5,
    /// The terminal has gone: SIGHUP.
    Hangup = 129,
    /// Ctrl-C: SIGINT.
    Interrupted = 130,
    /// SIGTERM.
    Terminated = 143,
}

impl From<Status> for ExitCode {
    fn from(status: Status) -> Self {
        Self::from(status as u8)
    }
}
