//! Errors in a model, in its data, and in what is asked of them.

use std::path::PathBuf;

use madrigal_app::failure::Status;
use madrigal_nn::ImportError;
use madrigal_nn::secret::{EncodeError, Layer, UnfitError};
use madrigal_program::{ExecuteError, Holder};

use super::place::Place;
use crate::args::NumberArg;
use crate::remedies;

#[derive(Debug, thiserror::Error)]
pub(crate) enum Unfit {
    #[error("{}: {error}{}", path.display(), remedies::of_model(error))]
    Import { path: PathBuf, error: ImportError },
    #[error("{}: {problem}", path.display())]
    File { path: PathBuf, problem: String },
    #[error("{}: {error}{}", path.display(), remedies::of_model(error))]
    Secret { path: PathBuf, error: UnfitError },
    #[error("{}: {error}{}", path.display(), remedy(error))]
    Weights { path: PathBuf, error: EncodeError },
    #[error("--input: {error}{}", remedy(error))]
    Data { error: EncodeError },
    #[error("the owner of the data is party 1: two parties at least; correct --local or --parties")]
    Alone,
    #[error("--input: this is party {me}, and the data is of {owner}; leave the flag out")]
    Foreign { me: usize, owner: Holder },
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
    #[error(
        "--input: the number of input {input:?} in {place} is not among the numbers {numbers}: scale the data, or give numbers more bits with --numbers"
    )]
    NoNumber {
        input: String,
        place: Place,
        numbers: NumberArg,
    },
    #[error(
        "--input: the number of input {input:?} in {place}, counted from 0, is further from zero than {range}, for which the model was calibrated: results might wrap around. Calibrate the model with such data (`madrigal model calibrate`), or give numbers more bits with --numbers"
    )]
    Beyond {
        input: String,
        place: Place,
        range: f64,
    },
    #[error(
        "{}: with this data, {operator} {node:?} makes a number that is not among the numbers {numbers} ({place} of its result, counted from 0), and would wrap around: scale the data, or give numbers more bits or fewer after the point with --numbers (`madrigal model calibrate` finds some)",
        path.display()
    )]
    Leaving {
        path: PathBuf,
        node: String,
        operator: String,
        place: Place,
        numbers: NumberArg,
    },
    #[error(
        "--check-range: a number may have left the range of the numbers {numbers} on the way, so there are no results: scale the data, or give numbers more bits or fewer after the point with --numbers, the same at all parties"
    )]
    Left { numbers: NumberArg },
    #[error("{problem}; give another --protocol or number of parties")]
    Plan { problem: String },
}

impl Unfit {
    /// A network of these layers that cannot be planned. What is wrong with an operator is told with the node that it is
    /// of.
    pub(crate) fn plan(error: &ExecuteError, layers: &[Layer]) -> Self {
        let problem = match error {
            ExecuteError::Program(error) => {
                let part = error.at.part().and_then(|part| usize::try_from(part).ok());
                match part.and_then(|part| layers.get(part)) {
                    Some(Layer { name, operator, .. }) => {
                        format!("{operator} {name:?}: {}", error.fault)
                    }
                    None => error.fault.to_string(),
                }
            }
            error => error.to_string(),
        };
        Self::Plan { problem }
    }
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
            Self::NoNumber { .. } | Self::Beyond { .. } | Self::Leaving { .. } => Status::File,
            Self::Left { .. } => Status::File,
            _ => Status::Usage,
        }
    }
}
