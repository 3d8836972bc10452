//! Faults of clients' inputs and outputs.

use std::path::PathBuf;

use madrigal_clients::{ShareFault, ShareFileError};
use madrigal_program::Holder;

use crate::failure::{Fault, Status};
use crate::remedies::with;

/// Inputs and outputs of clients that are not as the program has them.
#[derive(Debug, thiserror::Error)]
pub(crate) enum Problem {
    #[error("--shared-input {name}=...: there is no such input, but {known}")]
    Unknown { name: String, known: String },
    #[error(
        "--shared-input {name}=... is for {owner}, which brings it in the clear; use --input there"
    )]
    OfParty { name: String, owner: Holder },
    #[error(
        "--shared-input {name}=FILE is missing: {sort} of {owner}, of which this party needs its share"
    )]
    Missing {
        name: String,
        sort: String,
        owner: Holder,
    },
    #[error(
        "--shares DIR is missing: {name} is of {owner}, and this party needs its share files of it"
    )]
    NoShares { name: String, owner: Holder },
    #[error(
        "{flag} is not for queries: clients' shares are for one query alone, and come from --shares DIR; leave it out"
    )]
    OfQuery { flag: &'static str },
    #[error(
        "{}: there is no such file, which is to have {name} of {owner} for job `{job}`: copy all of its files for this party there. Where its files are for another job, its client shared for another query (text, schema, --to, --pairs, an owner or the number of parties differs): ask for shares for this one", file.display()
    )]
    NotThere {
        file: PathBuf,
        name: String,
        owner: Holder,
        job: String,
    },
    #[error(
        "{} ({value}): its job is {got}, and this query's is {expected}. Its client shared for another query (text, schema, --to, --pairs, an owner or the number of parties differs): ask for shares for this one", file.display()
    )]
    OtherQuery {
        file: PathBuf,
        value: String,
        got: String,
        expected: String,
    },
    #[error(
        "{} ({value}): client {client} did not make it together with {}: give the files of one call of `madrigal sql share`, at all parties those of the same", file.display(), other.display()
    )]
    Apart {
        file: PathBuf,
        value: String,
        client: String,
        other: PathBuf,
    },
    #[error(
        "--shared-input and --keep-shares are for one party of several machines (--party); with --local all parties are here, so give clients' values with --input, and their outputs are shown"
    )]
    Local,
    #[error("--shared-input and --keep-shares are not for {0}")]
    NotFor(&'static str),
    #[error(
        "output {name} is for {client}: say with --keep-shares DIR where this party leaves its share"
    )]
    NotKept { name: String, client: String },
    #[error("--client-key {client}=...: there is no output for a client {client}")]
    NoSuchClient { client: String },
    #[error("no sealing key: say with --sealing-key FILE which key opens share files")]
    NoKey,
    #[error("{}", with(error, *remedy))]
    File {
        error: ShareFileError,
        remedy: Option<&'static str>,
    },
    #[error("the share of output {name}: {fault}")]
    Output {
        name: String,
        fault: Box<ShareFault>,
    },
    #[error(
        "--shared-input {name}=...: the files' rows are {found} together, and the input is {sort}: give the files of all clients, each once"
    )]
    Rows {
        name: String,
        found: usize,
        sort: String,
    },
}

impl From<ShareFileError> for Problem {
    fn from(error: ShareFileError) -> Self {
        let remedy = None;
        Self::File { error, remedy }
    }
}

impl Fault for Problem {
    fn status(&self) -> Status {
        match self {
            Self::File { .. }
            | Self::Rows { .. }
            | Self::NotThere { .. }
            | Self::OtherQuery { .. }
            | Self::Apart { .. } => Status::File,
            _ => Status::Usage,
        }
    }
}
