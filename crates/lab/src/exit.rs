//! Failures of this program alone; the others are in `madrigal_app::failure`.

use std::path::PathBuf;

use madrigal_app::failure::Fault;

pub use madrigal_app::failure::{Failure, Result, Status};

/// Errors in the flags.
#[derive(Debug, thiserror::Error)]
pub enum Usage {
    #[error("--only matches nothing; give a part of one of these names: {names}")]
    NothingToMeasure { names: String },
    #[error("there is no {kind} {number} {of}; there are {there}")]
    NoSuchSheet {
        kind: &'static str,
        number: u8,
        of: String,
        there: String,
    },
    #[error("--ceiling compares with one thread, which is not measured; add 1 to --threads")]
    NothingToCompareWith,
    #[error("{flag}: {what} has no use for it; leave it out")]
    NotObeyed { flag: &'static str, what: String },
    #[error(
        "no row is for these parties and networks; name others with -N and --network, or leave them out"
    )]
    NoRowThere,
}

/// A model that cannot be measured.
#[derive(Debug, thiserror::Error)]
#[error("{}: {problem}", path.display())]
pub struct UnfitModel {
    pub path: PathBuf,
    pub problem: Box<dyn std::error::Error + Send + Sync>,
}

impl Fault for Usage {
    fn status(&self) -> Status {
        Status::Usage
    }
}

impl Fault for UnfitModel {
    fn status(&self) -> Status {
        Status::File
    }
}
