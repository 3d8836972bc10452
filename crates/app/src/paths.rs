//! Paths as serde writes them between processes of one machine: a text if they are one, else bytes. Serde's own
//! way refuses paths that are no UTF-8.

use std::ffi::OsString;
use std::path::{Path, PathBuf};

use serde::{Deserialize, Deserializer, Serialize, Serializer};

#[derive(Serialize, Deserialize)]
#[serde(untagged)]
enum Written {
    Text(String),
    Bytes(Vec<u8>),
}

/// Serializes a path, for `serde(with)`.
///
/// # Errors
/// Fails where the serializer does.
pub fn serialize<S: Serializer>(path: &Path, to: S) -> Result<S::Ok, S::Error> {
    let text = path.to_str().map(str::to_owned);
    let bytes = || Written::Bytes(path.as_os_str().as_encoded_bytes().to_vec());
    text.map_or_else(bytes, Written::Text).serialize(to)
}

/// Deserializes a path, for `serde(with)`.
///
/// # Errors
/// Fails where the deserializer does, and on paths in bytes where the system has none.
pub fn deserialize<'a, D: Deserializer<'a>>(from: D) -> Result<PathBuf, D::Error> {
    Ok(match Written::deserialize(from)? {
        Written::Text(text) => text.into(),
        Written::Bytes(bytes) => of_bytes(bytes).map_err(serde::de::Error::custom)?.into(),
    })
}

#[cfg(unix)]
fn of_bytes(bytes: Vec<u8>) -> Result<OsString, &'static str> {
    Ok(std::os::unix::ffi::OsStringExt::from_vec(bytes))
}

#[cfg(not(unix))]
fn of_bytes(_: Vec<u8>) -> Result<OsString, &'static str> {
    Err("a path that is no text of this system")
}
