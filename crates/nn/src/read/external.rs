//! Tensors whose data is in a file beside the model's, as exporters write large ones.

use std::collections::HashMap;
use std::fs::File;
use std::io::Read as _;
use std::path::Path;

use bytes::Bytes;

use super::ReadError;
use crate::proto;

/// Reads a file of at most `limit` bytes.
fn file(path: &Path, limit: usize) -> Result<Bytes, ReadError> {
    let unreadable = |error: std::io::Error| ReadError::Unreadable {
        path: path.display().to_string(),
        error: error.to_string(),
    };
    let mut bytes = Vec::new();
    let file = File::open(path).map_err(unreadable)?;
    // One more, so that a longer file shows.
    let most = (limit as u64).saturating_add(1);
    file.take(most)
        .read_to_end(&mut bytes)
        .map_err(unreadable)?;
    match bytes.len() > limit {
        true => Err(ReadError::TooLong {
            found: bytes.len(),
            limit,
        }),
        false => Ok(bytes.into()),
    }
}

/// Puts the data that is in other files into the tensors. These files may have `left` bytes together.
pub(super) fn fetch(
    graph: &mut proto::Graph,
    folder: &Path,
    mut left: usize,
) -> Result<(), ReadError> {
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
            let bytes = file(&folder.join(location), left)?;
            left -= bytes.len();
            files.insert(location.to_string(), bytes);
        }
        let whole = &files[location];
        let number = |key: &str| entry(key).map_or(Some(None), |text| text.parse().ok().map(Some));
        let (offset, length) = (number("offset"), number("length"));
        let (Some(offset), Some(length)) = (offset, length) else {
            return Err(wrong(location, "at an offset and of a length in bytes"));
        };
        let start: usize = offset.unwrap_or(0);
        let end = length.map_or(Some(whole.len()), |length| start.checked_add(length));
        let end = end.filter(|&end| start <= end && end <= whole.len());
        let end = end.ok_or_else(|| wrong(location, "within that file"))?;
        named = named
            .checked_sub(end - start)
            .ok_or_else(|| wrong(location, "apart from others': together they are too large"))?;
        let data = whole.slice(start..end);
        (tensor.raw_data, tensor.data_location) = (data, 0);
    }
    Ok(())
}
