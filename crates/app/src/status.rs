//! Exit statuses, which scripts rely on.

use std::process::ExitCode;

use serde::{Deserialize, Serialize};

/// The exit statuses with what they mean. It is shown below `--help` and in the man pages, for scripts rely on it.
pub const EXIT_STATUS: &str = "\
Exit status:
  0  the result is right
  1  a fault of this program or machine
  2  wrong usage: a flag or an argument
  3  a given file is missing, malformed, or cannot be written
  4  the network: a party lost, silent, slow, or out of reach
  5  another party: its program, its version, its key, or its behaviour
  6  the inputs do not meet what the program requires: nothing was opened
129, 130, 143  stopped by SIGHUP, SIGINT (Ctrl-C) or SIGTERM: the other parties were told";

/// The exit statuses, as [`EXIT_STATUS`] lists them.
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
    /// Inputs that do not meet what the program requires.
    Unmet = 6,
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
