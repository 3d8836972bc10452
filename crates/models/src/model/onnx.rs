//! Models as the commands read and tell them.

use std::path::{Path, PathBuf};

use madrigal_app::failure::{Failure, Fault, Result, Status};
use madrigal_nn::{Model, Options};

use crate::args::Sizes;
use crate::{models, remedies};

/// A model that the commands cannot take.
#[derive(Debug, thiserror::Error)]
#[error("{}: {problem}{}", path.display(), remedies::of_model(problem.as_ref()))]
struct Unsuited {
    path: PathBuf,
    problem: Box<dyn std::error::Error + Send + Sync>,
}

impl Fault for Unsuited {
    fn status(&self) -> Status {
        Status::File
    }
}

/// Gives the options of the import: one input at a time where nothing is said: exporters give the batch a name.
pub(super) fn options(batch: Option<u32>, sizes: &Sizes) -> Options {
    sizes.options(Some(batch.unwrap_or(1) as usize))
}

/// Says what is wrong with a model.
pub(super) fn wrong(
    file: &Path,
    problem: impl Into<Box<dyn std::error::Error + Send + Sync>>,
) -> Failure {
    Unsuited {
        path: file.to_owned(),
        problem: problem.into(),
    }
    .into()
}

/// Reads a model, with what is in files beside it.
pub(super) fn model(file: &Path, sizes: &Sizes) -> Result<Model> {
    models::open(file, sizes, |error| wrong(file, error))
}

/// Writes a shape as in 1 x 3 x 32 x 32.
pub(super) fn sizes(shape: &[usize]) -> String {
    match shape {
        [] => "1".to_owned(),
        sizes => {
            let sizes: Vec<String> = sizes.iter().map(usize::to_string).collect();
            sizes.join(" x ")
        }
    }
}
