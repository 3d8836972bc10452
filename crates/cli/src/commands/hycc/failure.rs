//! Errors in a HyCC program, its parties and its inputs.

use std::path::PathBuf;

use madrigal_app::failure::{Fault, Status};
use madrigal_circuit::hycc::LinkError;
use madrigal_core::Party;
use madrigal_core::budget::FileError;
use madrigal_engine::PlanError;
use madrigal_hycc::{HybridError, LoadError, TextError, ValuesError};

/// Files that are no program.
#[derive(Debug, thiserror::Error)]
#[error("{error}{remedy}", error = .0, remedy = remedy(.0))]
pub struct Program(pub LoadError);

fn remedy(error: &LoadError) -> &'static str {
    match error {
        LoadError::Several { .. } => ": --bundle NAME",
        LoadError::Memory { .. }
        | LoadError::Link {
            error: LinkError::Memory { .. },
            ..
        }
        | LoadError::Read {
            source: FileError::TooLong { .. },
            ..
        } => "; give it more with --file-memory, if you trust who wrote it",
        _ => "",
    }
}

/// Parties that a program is not for.
#[derive(Debug, thiserror::Error)]
#[error("{0}; {remedy}", remedy = match .0 {
    HybridError::Memory(_) => "give it more with --file-memory, if you trust who wrote it",
    HybridError::Options(_) => "correct --words, --layered, --garbled or --bits",
    _ => "correct --local, --parties, --to or --lanes",
})]
pub struct Parties(pub HybridError);

/// A plan that cannot be.
#[derive(Debug, thiserror::Error)]
#[error("{0}; correct --threads, --memory, --phases or --lanes")]
pub struct Plan(pub PlanError);

/// Inputs that are not those of the program.
#[derive(Debug, thiserror::Error)]
pub enum Inputs {
    #[error(
        "--input {given}: neither a file nor NAME=VALUE with one of the inputs {known}; a party's file is P=FILE"
    )]
    Unknown { given: String, known: String },
    #[error("--input {name}=... is given twice; give each input once")]
    Twice { name: String },
    #[error("--input {name}=... is of {owner}; this is {me}, which reads only its own inputs")]
    Foreign {
        name: String,
        owner: Party,
        me: Party,
    },
    #[error("--input {party}=...: party {party} has no input of this program; leave the flag out")]
    Needless { party: usize },
    #[error("--input {name}=...: {error}")]
    Text { name: String, error: TextError },
    #[error("{}: {error}", path.display())]
    File { path: PathBuf, error: TextError },
    #[error("{}: {error}", path.display())]
    Content { path: PathBuf, error: ValuesError },
    #[error("{0}; give --input NAME=VALUE, or a party's file with --input P=FILE")]
    Missing(ValuesError),
}

impl Fault for Program {
    fn status(&self) -> Status {
        match self.0 {
            LoadError::Several { .. } => Status::Usage,
            _ => Status::File,
        }
    }
}

impl Fault for Parties {
    fn status(&self) -> Status {
        Status::Usage
    }
}

impl Fault for Plan {
    fn status(&self) -> Status {
        Status::Usage
    }
}

impl Fault for Inputs {
    fn status(&self) -> Status {
        match self {
            Self::File { .. } | Self::Content { .. } => Status::File,
            _ => Status::Usage,
        }
    }
}
