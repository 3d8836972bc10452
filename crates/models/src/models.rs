//! Models as files, and what of memory they may take.

use std::path::Path;

use madrigal_app::failure::{Failure, Result};
use madrigal_core::budget;
use madrigal_nn::{Limits, Model, ReadError};

use crate::args::Sizes;

/// Limits of a model.
fn limits(sizes: &Sizes) -> Limits {
    let mut limits = Limits::default();
    if let Some(memory) = sizes.file_memory {
        limits.memory = memory.0;
    }
    limits
}

/// The bytes of a model's file, which is a regular one.
pub(crate) fn bytes(path: &Path, sizes: &Sizes) -> Result<Vec<u8>> {
    let bytes = budget::read_regular(path, limits(sizes).bytes as u64);
    bytes.map_err(|error| Failure::file("read the model", path)(error.into()))
}

/// A model, with what is in files beside it; what is wrong with it is told by `wrong`.
pub(crate) fn open(
    path: &Path,
    sizes: &Sizes,
    wrong: impl FnOnce(ReadError) -> Failure,
) -> Result<Model> {
    Model::read_at(bytes(path, sizes)?, path, &limits(sizes)).map_err(wrong)
}
