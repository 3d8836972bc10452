//! Messages of a starter and its processes to each other: one JSON object per line.

use std::io::{self, BufRead, Write};

use madrigal_engine::Outcome;
use serde::de::DeserializeOwned;
use serde::{Deserialize, Serialize};

use crate::failure::Status;

/// Second line to a process, after its task: where the parties listen, and with TLS, their keys. It begins then.
#[derive(Debug, Default, Serialize, Deserialize)]
pub struct Meeting {
    pub(crate) addresses: Vec<String>,
    pub(super) keys: Vec<String>,
}

impl FromIterator<Ready> for Meeting {
    /// Where the parties listen, of what each of them has told.
    fn from_iter<I: IntoIterator<Item = Ready>>(ready: I) -> Self {
        let mut meeting = Self::default();
        for Ready { address, key } in ready {
            meeting.addresses.extend(address);
            meeting.keys.extend(key);
        }
        meeting
    }
}

/// A line from a process.
#[derive(Debug, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub(super) enum Event<D> {
    Ready(Ready),
    Done(D),
    Failed {
        status: Status,
        message: String,
        echo: bool,
    },
}

/// The inputs and the plan are there, and the party listens; over memory, none does.
#[derive(Debug, Clone, Default, Serialize, Deserialize)]
pub struct Ready {
    pub(super) address: Option<String>,
    pub(super) key: Option<String>,
}

/// Figures of a party's run.
#[derive(Debug, Clone, Copy, Serialize, Deserialize)]
pub struct Figures {
    /// Seconds from the opening of the job to its finish at all parties.
    pub seconds: f64,
    /// Those before any input was needed.
    pub setup_seconds: f64,
    /// Those with inputs.
    pub online_seconds: f64,
    /// Payload of both phases.
    pub bytes_sent: u64,
    /// AES blocks of both phases.
    pub aes_blocks: u64,
    /// Rounds of both phases.
    pub rounds: u64,
}

/// Resources that a process used; `None` where the system does not tell.
#[derive(Debug, Clone, Copy, Serialize, Deserialize)]
pub struct Used {
    /// Processor seconds of all threads during the run.
    pub processor_seconds: Option<f64>,
    /// Processor seconds of the thread that had most, where threads that take turns count as one; `None` also of a process with
    /// several parties.
    pub busiest_thread_seconds: Option<f64>,
    /// Memory that the process took at most.
    pub peak_rss_bytes: Option<u64>,
    /// Ends of TCP connections that the process had when the run ended.
    pub connections: Option<usize>,
}

impl<T> From<&Outcome<T>> for Figures {
    fn from(outcome: &Outcome<T>) -> Self {
        let spent = outcome.setup.spent + outcome.online.spent;
        Self {
            seconds: outcome.total.as_secs_f64(),
            setup_seconds: outcome.setup.time.as_secs_f64(),
            online_seconds: outcome.online.time.as_secs_f64(),
            bytes_sent: spent.bytes_sent,
            aes_blocks: spent.aes_blocks,
            rounds: spent.rounds,
        }
    }
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
