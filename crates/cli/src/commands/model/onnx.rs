//! Models as the commands read and tell them.

use std::path::Path;

use madrigal_nn::{Model, Options};

use crate::args::Sizes;
use crate::exit::{Content, Failure, Result};
use crate::models;

/// Gives the options of the import: one input at a time where nothing is said: exporters give the batch a name.
pub fn options(batch: Option<u32>, sizes: &Sizes) -> Options {
    sizes.options(Some(batch.unwrap_or(1) as usize))
}

/// Says what is wrong with a model.
pub fn wrong(file: &Path, problem: impl std::error::Error + Send + Sync + 'static) -> Failure {
    Content::Model {
        path: file.to_owned(),
        problem: problem.into(),
    }
    .into()
}

/// Reads a model, with what is in files beside it.
pub fn model(file: &Path, sizes: &Sizes) -> Result<Model> {
    models::open(file, sizes, |error| wrong(file, error))
}

/// Writes a shape as in 1 x 3 x 32 x 32.
pub fn sizes(shape: &[usize]) -> String {
    match shape {
        [] => "1".to_owned(),
        sizes => {
            let sizes: Vec<String> = sizes.iter().map(usize::to_string).collect();
            sizes.join(" x ")
        }
    }
}
