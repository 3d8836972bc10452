//! Files that a command is to write, tried before any work: nothing is computed, and no correlation
//! is used up, for a result that then has no place.

use std::fs::{self, OpenOptions};
use std::io;
use std::path::{Path, PathBuf};

use crate::exit::{Failure, Result, Usage};

/// A file to be written, and the flag that names it.
#[derive(Clone, Copy)]
pub struct Output<'a> {
    pub flag: &'static str,
    /// For errors, as in "cannot write the result".
    pub action: &'static str,
    pub path: Option<&'a Path>,
}

/// A file's name; `None` for `-`, which is standard output.
pub fn named(path: Option<&Path>) -> Option<&Path> {
    path.filter(|path| *path != Path::new("-"))
}

/// Each file can be written, no two are the same, and none is one of `inputs`.
pub fn check<'a>(inputs: impl IntoIterator<Item = &'a Path>, outputs: &[Output<'a>]) -> Result<()> {
    let inputs: Vec<PathBuf> = inputs.into_iter().filter_map(place).collect();
    let mut places: Vec<(&'static str, PathBuf)> = Vec::new();
    for output in outputs {
        let (flag, Some(path)) = (output.flag, named(output.path)) else {
            continue;
        };
        if let Some(place) = place(path) {
            let path = path.to_owned();
            if inputs.contains(&place) {
                return Err(Usage::Overwrites { flag, path }.into());
            }
            if let Some(&(other, _)) = places.iter().find(|(_, known)| *known == place) {
                return Err(Usage::SameFile { flag, other, path }.into());
            }
            places.push((flag, place));
        }
        try_to_write(path).map_err(Failure::file(output.action, path))?;
    }
    Ok(())
}

/// Where a path leads, if that is a file or may become one; devices and pipes may be named twice.
fn place(path: &Path) -> Option<PathBuf> {
    match fs::metadata(path) {
        Ok(found) if found.is_file() => fs::canonicalize(path).ok(),
        Ok(_) => None,
        Err(_) => {
            let parent = path.parent().filter(|path| !path.as_os_str().is_empty());
            let parent = fs::canonicalize(parent.unwrap_or(Path::new("."))).ok()?;
            Some(parent.join(path.file_name()?))
        }
    }
}

/// Leaves everything as it was.
fn try_to_write(path: &Path) -> io::Result<()> {
    match fs::metadata(path) {
        Ok(found) if found.is_dir() => Err(io::ErrorKind::IsADirectory.into()),
        Ok(found) if found.is_file() => OpenOptions::new().write(true).open(path).map(drop),
        // A pipe would wait for its reader, and take this for the end.
        Ok(_) => Ok(()),
        Err(_) => match OpenOptions::new().write(true).create_new(true).open(path) {
            Ok(_) => fs::remove_file(path),
            // A link to a file that is not there yet.
            Err(error) if error.kind() == io::ErrorKind::AlreadyExists => Ok(()),
            Err(error) => Err(error),
        },
    }
}
