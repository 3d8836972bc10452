//! Files that a command writes. They are tried before any work: nothing is computed, and no correlation is used up, for a
//! result that then has no place. And they are written beside their places, under other names, which they lose once
//! they are whole: a disk that fills up, or a process that is killed, leaves what was there before, and never a half.

use std::fs::{self, File, OpenOptions};
use std::io::{self, BufWriter, Write};
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicU32, Ordering::Relaxed};

use crate::failure::{Failure, Fault, Result, Status};

/// A file to be written, and the flag that names it.
#[derive(Clone, Copy)]
pub struct Output<'a> {
    /// The flag.
    pub flag: &'static str,
    /// Action, for errors, as in "cannot write the result".
    pub action: &'static str,
    /// The file, if one is named.
    pub path: Option<&'a Path>,
}

/// Gives a file's name; `None` for `-`, which is standard output.
pub fn named(path: Option<&Path>) -> Option<&Path> {
    path.filter(|path| *path != Path::new("-"))
}

/// Checks that each file can be written, no two are the same, and none is one of `inputs`.
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
                return Err(FileFault::Overwrites { flag, path }.into());
            }
            if let Some(&(other, _)) = places.iter().find(|(_, known)| *known == place) {
                return Err(FileFault::SameFile { flag, other, path }.into());
            }
            places.push((flag, place));
        }
        try_to_write(path).map_err(Failure::file(output.action, path))?;
    }
    Ok(())
}

/// Tells where a path leads, if that is a file or may become one; devices and pipes may be named twice.
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

/// Tries whether a file can be written, and leaves everything as it was.
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

/// Why a file is not written.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum FileFault {
    /// A file that is read would be overwritten.
    #[error("{flag} {} would overwrite a file that is read; give another name", path.display())]
    Overwrites {
        /// The flag that names it.
        flag: &'static str,
        /// The file.
        path: PathBuf,
    },
    /// Two flags name one file.
    #[error("{other} and {flag} are the same file, {}; give each its own", path.display())]
    SameFile {
        /// The second flag.
        flag: &'static str,
        /// The first flag.
        other: &'static str,
        /// The file.
        path: PathBuf,
    },
    /// A result that was made has no place in its file.
    #[error("cannot write the result {}: {source}; {}", path.display(), instead(.kept))]
    Unwritten {
        /// The file.
        path: PathBuf,
        /// Message of the system.
        source: io::Error,
        /// Where the result is instead.
        kept: Option<PathBuf>,
    },
}

fn instead(kept: &Option<PathBuf>) -> String {
    match kept {
        Some(path) => format!("it is in {} instead, move it from there", path.display()),
        None => {
            "the folder for temporary files does not take it either: free some space and run again"
                .to_owned()
        }
    }
}

impl Fault for FileFault {
    fn status(&self) -> Status {
        match self {
            Self::Overwrites { .. } | Self::SameFile { .. } => Status::Usage,
            Self::Unwritten { .. } => Status::File,
        }
    }
}

/// The most links of links that are followed.
const MOST_LINKS: usize = 16;

/// Writer of a file's content, which may be called twice.
pub type Content<'a> = &'a dyn Fn(&mut dyn Write) -> io::Result<()>;

/// A file with its whole content that is not in its place yet. Dropping it removes it.
pub struct Pending {
    /// The file that the content is in; none if it went to its place at once, as to a device.
    beside: Option<PathBuf>,
    target: PathBuf,
}

impl Pending {
    /// Writes a content beside the place that it is for.
    pub fn new(path: &Path, content: Content<'_>) -> io::Result<Self> {
        let found = fs::metadata(path);
        let target = match &found {
            // A device or a pipe cannot be replaced.
            Ok(found) if !found.is_file() => {
                let mut file = OpenOptions::new().write(true).open(path)?;
                content(&mut file)?;
                let target = path.to_owned();
                return Ok(Self {
                    beside: None,
                    target,
                });
            }
            _ => followed(path),
        };
        let (file, beside) = match create_beside(&target) {
            Ok(made) => made,
            // The file may be written, but its folder may not.
            Err(error) if found.is_ok() && in_place_only(&error) => {
                in_place(&target, content)?;
                return Ok(Self {
                    beside: None,
                    target,
                });
            }
            Err(error) => return Err(error),
        };
        let pending = Self {
            beside: Some(beside),
            target,
        };
        if let Ok(found) = found {
            file.set_permissions(found.permissions())?;
        }
        let mut to = BufWriter::new(file);
        content(&mut to)?;
        // A full disk may show only now.
        to.into_inner()
            .map_err(io::IntoInnerError::into_error)?
            .sync_data()?;
        Ok(pending)
    }

    /// Puts the file in its place.
    pub fn finish(mut self) -> io::Result<()> {
        let Some(beside) = self.beside.take() else {
            return Ok(());
        };
        let moved = fs::rename(&beside, &self.target);
        let busy = |error: &io::Error| {
            // A file that is a mount of its own, as containers have them, is not replaced either.
            let kind = error.kind();
            matches!(
                kind,
                io::ErrorKind::ResourceBusy | io::ErrorKind::CrossesDevices
            )
        };
        let done = match moved {
            Err(error) if busy(&error) => in_place(&self.target, &|to| {
                io::copy(&mut File::open(&beside)?, to).map(drop)
            }),
            other => other,
        };
        let _ = fs::remove_file(&beside);
        done
    }
}

impl Drop for Pending {
    fn drop(&mut self) {
        if let Some(beside) = &self.beside {
            let _ = fs::remove_file(beside);
        }
    }
}

/// Writes a file, whole or not at all.
pub fn write(path: &Path, content: Content<'_>) -> io::Result<()> {
    Pending::new(path, content)?.finish()
}

/// Writes bytes, whole or not at all, to one of several files that a command writes.
pub fn write_bytes(action: &'static str, path: &Path, bytes: impl AsRef<[u8]>) -> Result<()> {
    let bytes = bytes.as_ref();
    write(path, &|to| to.write_all(bytes)).map_err(Failure::file(action, path))
}

/// Writes a result. If the disk has filled up since its place was tried, it is kept elsewhere, for the user's eyes alone:
/// correlations may be used up for it. It never goes to standard output, which may be a log.
pub fn write_result(path: &Path, content: Content<'_>) -> Result<()> {
    write(path, content).map_err(|source| unwritten(path, source, content))
}

/// Writes several results, of which either all are in their places, or none.
pub fn write_results(results: &[(PathBuf, Vec<u8>)]) -> Result<()> {
    let mut pending = Vec::with_capacity(results.len());
    for (path, bytes) in results {
        let content: Content<'_> = &|to| to.write_all(bytes);
        let written = Pending::new(path, content);
        pending.push(written.map_err(|source| unwritten(path, source, content))?);
    }
    for ((path, bytes), pending) in results.iter().zip(pending) {
        let finished = pending.finish();
        finished.map_err(|source| unwritten(path, source, &|to| to.write_all(bytes)))?;
    }
    Ok(())
}

fn unwritten(path: &Path, source: io::Error, content: Content<'_>) -> Failure {
    let kept = keep(content).ok();
    let path = path.to_owned();
    FileFault::Unwritten { path, source, kept }.into()
}

/// Writes a content to the system's folder for temporary files, and gives its path.
fn keep(content: Content<'_>) -> io::Result<PathBuf> {
    let (mut file, path) = create(&std::env::temp_dir(), "madrigal-result", "")?;
    match content(&mut file).and_then(|()| file.sync_data()) {
        Ok(()) => Ok(path),
        Err(error) => {
            let _ = fs::remove_file(&path);
            Err(error)
        }
    }
}

/// Gives the path that a path's links lead to; a file need not be there.
fn followed(path: &Path) -> PathBuf {
    let mut path = path.to_owned();
    for _ in 0..MOST_LINKS {
        let Ok(link) = fs::read_link(&path) else {
            break;
        };
        path = path.parent().unwrap_or(Path::new("")).join(link);
    }
    path
}

/// Makes a new file in the folder of another one, and gives its path.
fn create_beside(target: &Path) -> io::Result<(File, PathBuf)> {
    let folder = target.parent().filter(|path| !path.as_os_str().is_empty());
    create(folder.unwrap_or(Path::new(".")), ".madrigal", ".part")
}

/// Makes a new file in a folder, which only its owner may read; it gets the permissions of the file that it replaces
/// later.
fn create(folder: &Path, begin: &str, end: &str) -> io::Result<(File, PathBuf)> {
    static NEXT: AtomicU32 = AtomicU32::new(0);
    const TRIES: u32 = 1000;
    let mut options = OpenOptions::new();
    options.write(true).create_new(true);
    #[cfg(unix)]
    if begin == "madrigal-result" {
        std::os::unix::fs::OpenOptionsExt::mode(&mut options, 0o600);
    }
    let process = std::process::id();
    let mut last = None;
    for _ in 0..TRIES {
        let number = NEXT.fetch_add(1, Relaxed);
        let path = folder.join(format!("{begin}-{process}-{number}{end}"));
        match options.open(&path) {
            Ok(file) => return Ok((file, path)),
            // A process of this number left it when it was killed.
            Err(error) if error.kind() == io::ErrorKind::AlreadyExists => last = Some(error),
            Err(error) => return Err(error),
        }
    }
    Err(last.unwrap_or(io::ErrorKind::AlreadyExists.into()))
}

/// Tells whether a folder takes no new file, while the files in it may be writable.
fn in_place_only(error: &io::Error) -> bool {
    use io::ErrorKind::{PermissionDenied, ReadOnlyFilesystem};
    matches!(error.kind(), PermissionDenied | ReadOnlyFilesystem)
}

/// Writes a file in its place. The file is empty if that fails.
fn in_place(path: &Path, content: Content<'_>) -> io::Result<()> {
    let file = OpenOptions::new().write(true).truncate(true).open(path)?;
    let mut to = BufWriter::new(&file);
    let written = content(&mut to).and_then(|()| to.flush());
    drop(to);
    let written = written.and_then(|()| file.sync_data());
    if written.is_err() {
        let _ = file.set_len(0);
    }
    written
}

#[cfg(test)]
mod tests {
    use super::*;

    const FULL: Content<'static> = &|to| {
        to.write_all(b"a half")?;
        Err(io::ErrorKind::StorageFull.into())
    };

    fn names(folder: &Path) -> Vec<String> {
        let names = fs::read_dir(folder).unwrap();
        let name = |entry: io::Result<fs::DirEntry>| entry.unwrap().file_name();
        let mut names: Vec<_> = names
            .map(name)
            .map(|name| name.into_string().unwrap())
            .collect();
        names.sort();
        names
    }

    /// A disk that filled up left the beginning of a result where the last one had been.
    #[test]
    fn a_disk_that_fills_up_leaves_no_half() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("result");
        assert!(write(&path, FULL).is_err());
        assert!(names(folder.path()).is_empty());
        write(&path, &|to| to.write_all(b"whole")).unwrap();
        assert!(write(&path, FULL).is_err());
        assert_eq!(fs::read(&path).unwrap(), b"whole");
        assert_eq!(names(folder.path()), ["result"]);
    }

    #[test]
    fn of_several_results_all_are_there_or_none() {
        let folder = tempfile::tempdir().unwrap();
        let at = |name: &str| folder.path().join(name);
        let results = [(at("a"), vec![1]), (at("no/where"), vec![2])];
        let failed = write_results(&results).unwrap_err().to_string();
        assert!(names(folder.path()).is_empty(), "{failed}");
        // The second result was kept.
        let kept = failed.rsplit_once("it is in ").unwrap().1;
        let kept = kept.split_once(" instead").unwrap().0;
        assert_eq!(fs::read(kept).unwrap(), [2]);
        fs::remove_file(kept).unwrap();
        write_results(&[(at("a"), vec![1]), (at("b"), vec![2])]).unwrap();
        assert_eq!(names(folder.path()), ["a", "b"]);
    }

    #[cfg(unix)]
    #[test]
    fn links_and_permissions_stay() {
        use std::os::unix::fs::{PermissionsExt as _, symlink};
        let folder = tempfile::tempdir().unwrap();
        let at = |name: &str| folder.path().join(name);
        fs::write(at("file"), "old").unwrap();
        fs::set_permissions(at("file"), fs::Permissions::from_mode(0o640)).unwrap();
        symlink("file", at("link")).unwrap();
        symlink("new", at("to-nothing")).unwrap();
        for name in ["link", "to-nothing"] {
            write(&at(name), &|to| to.write_all(b"new")).unwrap();
        }
        assert_eq!(fs::read(at("file")).unwrap(), b"new");
        assert_eq!(fs::read(at("new")).unwrap(), b"new");
        assert!(fs::symlink_metadata(at("link")).unwrap().is_symlink());
        let mode = fs::metadata(at("file")).unwrap().permissions().mode();
        assert_eq!(mode & 0o777, 0o640);
        assert_eq!(names(folder.path()), ["file", "link", "new", "to-nothing"]);
    }

    #[test]
    fn what_cannot_be_replaced_is_written_in_place_and_empty_if_that_fails() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("mounted");
        fs::write(&path, "a long old text").unwrap();
        in_place(&path, &|to| to.write_all(b"new")).unwrap();
        assert_eq!(fs::read(&path).unwrap(), b"new");
        assert!(in_place(&path, FULL).is_err());
        assert_eq!(fs::read(&path).unwrap(), b"");
    }
}
