//! Messages of the starter of a local run and its party processes to each other, over the process's
//! standard input and output: one JSON object per line, then raw bytes where one says so.

use std::io::{self, BufRead, Read};

use serde::{Deserialize, Serialize};

use crate::failure::Status;
use crate::flags::{Patience, TransportArg};
use crate::jobs::task::Task;
pub(super) use crate::processes::messages::{Meeting, Ready, receive, send};
use crate::progress::Step;
use crate::runs::PartyRuns;
use crate::stores::StoreFiles;

/// The first line to a party process.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub(super) struct Assignment {
    pub me: usize,
    pub task: Task,
    pub transport: TransportArg,
    pub network: String,
    pub patience: Patience,
    /// Length of the circuit's text, if it was read from a file; it follows this line. So a file is
    /// read once, and may be a pipe.
    pub circuit: Option<usize>,
    /// Name and length of the party's values, which follow then and never touch a disk.
    pub input: Option<(String, usize)>,
    pub store: Option<StoreFiles>,
    /// Whether the result itself is wanted, or just its digest.
    pub deliver: bool,
}

/// A line from a party process, whose second one is a [`Meeting`].
#[derive(Debug, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub(super) enum Event {
    /// The party has read its circuit and inputs, and listens.
    Ready(Ready),
    Progress(Step),
    /// The party has finished; `bytes` of the result follow, if it has one and it is wanted.
    Done {
        figures: PartyRuns,
        digest: Option<String>,
        bytes: Option<usize>,
    },
    Failed {
        status: Status,
        message: String,
        echo: bool,
    },
}

pub(super) fn receive_bytes(from: &mut impl BufRead, length: usize) -> io::Result<Vec<u8>> {
    // Grows with what comes: the length is only announced.
    let mut bytes = Vec::new();
    from.take(length as u64).read_to_end(&mut bytes)?;
    if bytes.len() < length {
        return Err(io::ErrorKind::UnexpectedEof.into());
    }
    Ok(bytes)
}
