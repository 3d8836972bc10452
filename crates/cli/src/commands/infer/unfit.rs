//! What can be wrong with a model, its data, and what is asked of them.

use std::path::PathBuf;

use madrigal_nn::ImportError;
use madrigal_nn::secret::{EncodeError, UnfitError};
use madrigal_program::ExecuteError;

use crate::exit::{Failure, Status};
use crate::remedies;

#[derive(Debug, thiserror::Error)]
pub enum Unfit {
    #[error("{}: {error}{}", path.display(), remedies::of_model(error))]
    Import { path: PathBuf, error: ImportError },
    #[error("{}: {problem}", path.display())]
    File { path: PathBuf, problem: String },
    #[error("{}: {error}", path.display())]
    Secret { path: PathBuf, error: UnfitError },
    #[error("{}: {error}{}", path.display(), remedy(error))]
    Weights { path: PathBuf, error: EncodeError },
    #[error("--input: {error}{}", remedy(error))]
    Data { error: EncodeError },
    #[error("the owner of the data is party 1: two parties at least; correct --local or --parties")]
    Alone,
    #[error("--input: this is party {me}, and the data is party 1's; leave the flag out")]
    Foreign { me: usize },
    #[error(
        "how many inputs are computed at once is not known here; give --batch, the same as the data's first dimension"
    )]
    Batch,
    #[error("--batch {given}: {} has {found} in its first dimension", path.display())]
    OtherBatch {
        path: PathBuf,
        given: usize,
        found: usize,
    },
    #[error("{0}; give another --protocol or number of parties")]
    Plan(ExecuteError),
}

/// The flag that mends it.
fn remedy(error: &EncodeError) -> &'static str {
    match error {
        EncodeError::Weight { .. } | EncodeError::Input { .. } => "; see --numbers",
        _ => "",
    }
}

impl madrigal_app::failure::Fault for Unfit {
    fn status(&self) -> Status {
        match self {
            Self::Import { .. } | Self::File { .. } | Self::Secret { .. } => Status::File,
            Self::Weights { .. } | Self::Data { .. } | Self::OtherBatch { .. } => Status::File,
            _ => Status::Usage,
        }
    }
}

impl From<Unfit> for Failure {
    fn from(unfit: Unfit) -> Self {
        Self::other(unfit)
    }
}
