//! Reasons why nothing was submitted or fetched.

use std::path::PathBuf;

use madrigal_app::failure::{Fault, Status};
use madrigal_service_client::{ClientError, ConfigError};

/// Reasons why a client of a service gets nothing.
#[derive(Debug, thiserror::Error)]
pub enum Unsubmitted {
    #[error("{}: {source}", path.display())]
    Config { path: PathBuf, source: ConfigError },
    #[error("{0}")]
    Client(#[from] ClientError),
    #[error(
        "--token-lines needs a token: name a file with 16 random bytes or more as `token-file` in service-client.toml, as `openssl rand -hex 32` makes them"
    )]
    NoToken,
    #[error("--input {name}: kind `{kind}` has no such input; it has {there}")]
    Input {
        name: String,
        kind: String,
        there: String,
    },
    #[error("--output {name}: the job has no such output for us; it has {there}")]
    Output { name: String, there: String },
    #[error("kind `{kind}`: its type `{found}` is none that this program knows: use the version that the servers use", found = found.escape_debug())]
    Type { kind: String, found: String },
    #[error("--each: {failed} of {all} submissions were not accepted; the first: {first}")]
    Each {
        failed: u64,
        all: usize,
        first: String,
    },
    #[error(
        "--each: the inputs have {lengths:?} places along their first axes: give as many to all"
    )]
    Lengths { lengths: Vec<usize> },
}

impl Fault for Unsubmitted {
    fn status(&self) -> Status {
        match self {
            Self::Config { .. } | Self::NoToken => Status::File,
            Self::Client(error) => of_client(error),
            Self::Type { .. } => Status::Peer,
            Self::Each { .. } => Status::Network,
            Self::Input { .. } | Self::Output { .. } | Self::Lengths { .. } => Status::Usage,
        }
    }
}

/// The exit status that a failure of a service's client ends with.
pub fn of_client(error: &ClientError) -> Status {
    match error {
        ClientError::Dial { .. } | ClientError::Lost { .. } => Status::Network,
        ClientError::NoKind { .. }
        | ClientError::Sort { .. }
        | ClientError::Inputs { .. }
        | ClientError::Value { .. }
        | ClientError::Requests { .. } => Status::Usage,
        ClientError::File { .. } | ClientError::Io { .. } | ClientError::Bytes { .. } => {
            Status::File
        }
        _ => Status::Peer,
    }
}
