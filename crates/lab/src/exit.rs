//! Failures of this program alone; the others are in `madrigal_app::failure`.

use std::path::PathBuf;

use madrigal_app::failure::Fault;

pub use madrigal_app::failure::{Failure, Result, Status};

/// Errors in the flags.
#[derive(Debug, thiserror::Error)]
pub enum Usage {
    #[error("--only matches nothing; give a part of one of these names: {names}")]
    NothingToMeasure { names: String },
    #[error(
        "--table {number}: of this paper there are {there}; choose one, or another paper with --of"
    )]
    NoSuchTable { number: u8, there: String },
    #[error("{}", if *networks {
        "the tables of MOTION2NX are of networks: name one with --model FILE.onnx"
    } else {
        "--model is for the tables of MOTION2NX: add --of motion2nx, or leave it out"
    })]
    ModelOfTable { networks: bool },
    #[error("the tables of MOTION2NX are of two parties: leave out --parties")]
    TwoOfTable,
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
