//! Messages of the benchmark and its processes to each other: one JSON object per line.

use std::io::{self, BufRead, Write};

use madrigal_app::failure::Status;
use serde::de::DeserializeOwned;
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

/// Second line to a process: where the parties listen, and with TLS, their keys. It begins then.
#[derive(Debug, Serialize, Deserialize)]
pub(crate) struct Meeting {
    pub addresses: Vec<String>,
    pub keys: Vec<String>,
}

/// A line from a process.
#[derive(Debug, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub(crate) enum Event {
    /// The inputs and the plan are there, and the party listens; over memory, none does.
    Ready {
        address: Option<String>,
        key: Option<String>,
    },
    Done(Done),
    Failed {
        status: Status,
        message: String,
        echo: bool,
    },
}

/// Figures of a process whose parties have finished.
#[derive(Debug, Serialize, Deserialize)]
pub(crate) struct Done {
    /// Operations of the run.
    pub ops: u64,
    pub parties: Vec<Figures>,
    pub used: Used,
}

/// Figures of a party's run.
#[derive(Debug, Clone, Copy, Serialize, Deserialize)]
pub(crate) struct Figures {
    /// Seconds from the opening of the job to its finish at all parties.
    pub seconds: f64,
    pub setup_seconds: f64,
    pub online_seconds: f64,
    /// Payload of both phases.
    pub bytes_sent: u64,
    pub aes_blocks: u64,
    pub rounds: u64,
}

/// Resources that a process used; `None` where the system does not tell.
#[derive(Debug, Clone, Copy, Serialize, Deserialize)]
pub(crate) struct Used {
    /// Processor seconds of all threads during the run.
    pub processor_seconds: Option<f64>,
    /// Processor seconds of the thread that had most, where threads that take turns count as one; `None` also of a process with
    /// several parties.
    pub busiest_thread_seconds: Option<f64>,
    pub peak_rss_bytes: Option<u64>,
    /// Ends of TCP connections that the process had when the run ended.
    pub connections: Option<usize>,
}

pub(crate) fn send(to: &mut impl Write, message: &impl Serialize) -> io::Result<()> {
    let mut line = serde_json::to_vec(message)?;
    line.push(b'\n');
    to.write_all(&line)?;
    to.flush()
}

/// Reads the next line; `None` at the end.
pub(crate) fn receive<T: DeserializeOwned>(from: &mut impl BufRead) -> io::Result<Option<T>> {
    let mut line = Vec::new();
    if from.read_until(b'\n', &mut line)? == 0 {
        return Ok(None);
    }
    Ok(Some(serde_json::from_slice(&line)?))
}
