//! Tensors whose data is in a file beside the model's, as exporters write large ones.

use std::collections::HashMap;
use std::fs;
use std::path::Path;

use bytes::Bytes;
use madrigal_core::budget::{FileError, read_regular};

use super::error::ReadError;
use crate::proto;

/// Reads a regular file of at most `limit` bytes.
fn file(path: &Path, limit: usize) -> Result<Bytes, ReadError> {
    let bytes = read_regular(path, limit as u64);
    bytes.map(Bytes::from).map_err(|error| match error {
        FileError::TooLong { .. } => ReadError::TooLong {
            found: limit.saturating_add(1),
            limit,
        },
        other => ReadError::Unreadable {
            path: path.display().to_string(),
            error: other.to_string(),
        },
    })
}

/// Whether a file beside the model is there, links followed: in the model's folder, or in the one of the file that the
/// model's name is a link to, where stores of models keep both.
fn is_beside(path: &Path, folder: &Path, model: Option<&Path>) -> bool {
    let whole = |path: &Path| match path.as_os_str().is_empty() {
        true => fs::canonicalize("."),
        false => fs::canonicalize(path),
    };
    let Ok(real) = whole(path) else {
        // A file that is not there is told by whoever reads it.
        return true;
    };
    let model = model.and_then(|model| whole(model).ok());
    let homes = [
        whole(folder).ok(),
        model.and_then(|model| model.parent().map(Path::to_owned)),
    ];
    homes
        .iter()
        .flatten()
        .any(|home| real.parent() == Some(home))
}

/// Puts the data that is in other files into the tensors: how many bytes these files have, of `left` that they may have
/// together. `model` is the model's own file, where it has one.
pub(super) fn fetch(
    graph: &mut proto::Graph,
    (folder, model): (&Path, Option<&Path>),
    mut left: usize,
) -> Result<usize, ReadError> {
    let whole = left;
    let mut files: HashMap<String, Bytes> = HashMap::new();
    // Many tensors may name the same bytes, and each will have a copy.
    let mut named = left;
    for tensor in graph
        .initializer
        .iter_mut()
        .filter(|t| t.data_location == 1)
    {
        let name = tensor.name.clone();
        let wrong = |place: &str, expected| ReadError::External {
            tensor: name.clone(),
            place: place.to_string(),
            expected,
        };
        let entry = |key: &str| {
            let found = tensor.external_data.iter().find(|entry| entry.key == key);
            found.map(|entry| &entry.value[..])
        };
        let location = entry("location").unwrap_or_default();
        // Some exporters write `./` before it.
        let location = location.trim_start_matches("./");
        // A model must not name files elsewhere: who reads it is not who wrote it.
        let plain = Path::new(location)
            .file_name()
            .is_some_and(|own| own == location);
        if !plain {
            return Err(wrong(location, "a file beside the model"));
        }
        if !files.contains_key(location) {
            let path = folder.join(location);
            if !is_beside(&path, folder, model) {
                return Err(wrong(
                    location,
                    "a file beside the model, and no link to one elsewhere",
                ));
            }
            let bytes = file(&path, left)?;
            left -= bytes.len();
            files.insert(location.to_string(), bytes);
        }
        let bytes = &files[location];
        let number = |key: &str| entry(key).map_or(Some(None), |text| text.parse().ok().map(Some));
        let (offset, length) = (number("offset"), number("length"));
        let (Some(offset), Some(length)) = (offset, length) else {
            return Err(wrong(location, "at an offset and of a length in bytes"));
        };
        let start: usize = offset.unwrap_or(0);
        let end = length.map_or(Some(bytes.len()), |length| start.checked_add(length));
        let end = end.filter(|&end| start <= end && end <= bytes.len());
        let end = end.ok_or_else(|| wrong(location, "within that file"))?;
        named = named
            .checked_sub(end - start)
            .ok_or_else(|| wrong(location, "apart from others': together they are too large"))?;
        let data = bytes.slice(start..end);
        (tensor.raw_data, tensor.data_location) = (data, 0);
    }
    Ok(whole - left)
}
