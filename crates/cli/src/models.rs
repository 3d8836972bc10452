//! Models as files, and what of memory they may take.

use std::path::Path;

use madrigal_core::budget;
use madrigal_nn::{Limits, Model, ReadError};

use crate::exit::{Failure, Result, Usage};

/// The variable that allows models more memory, in MiB, for what they ask for without having it.
const MEMORY: &str = "MADRIGAL_MODEL_MEMORY";

/// What a model may ask for.
fn limits() -> Result<Limits> {
    let mut limits = Limits::default();
    if let Some(found) = std::env::var_os(MEMORY) {
        let mib: Option<u64> = found.to_str().and_then(|text| text.parse().ok());
        limits.memory = mib
            .and_then(|mib| mib.checked_mul(1 << 20))
            .ok_or_else(|| {
                let found = found.to_string_lossy().into_owned();
                Usage::Mebibytes {
                    variable: MEMORY,
                    found,
                }
            })?;
    }
    Ok(limits)
}

/// The bytes of a model's file, which is a regular one.
pub fn bytes(path: &Path) -> Result<Vec<u8>> {
    let bytes = budget::read_regular(path, limits()?.bytes as u64);
    bytes.map_err(|error| Failure::file("read the model", path)(error.into()))
}

/// A model, with what is in files beside it; what is wrong with it is told by `wrong`.
pub fn open(path: &Path, wrong: impl FnOnce(ReadError) -> Failure) -> Result<Model> {
    Model::read_at(bytes(path)?, path, &limits()?).map_err(wrong)
}
