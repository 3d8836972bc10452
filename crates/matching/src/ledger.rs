//! A list's ledger: which queries it has answered, and how many its owner allows.
//!
//! Whoever may ask often learns who is in a list, from sizes alone: with the list less one person asked for a second time, say. So a query is counted before
//! anything of the list is told, and one beyond the limit is refused. A run that fails on the way has told something, too, and stays counted.

use std::fs::{self, File};
use std::io;
use std::path::{Path, PathBuf};

use madrigal_app::files::Pending;
use serde::Deserialize;

/// A ledger's file, and the limit that a flag gave.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Ledger {
    /// The file (TOML).
    pub path: PathBuf,
    /// Queries that the list may answer in all, if a flag says so: a new file begins with it.
    pub limit: Option<u64>,
}

/// A query as it is written down.
#[derive(Debug, Clone)]
pub struct Entry {
    /// Time in UTC.
    pub when: String,
    /// The other party: its name, or its number.
    pub with: String,
    /// The list's file.
    pub list: String,
    /// The question, and who learns the answer.
    pub question: String,
}

/// Reasons why a query is not counted, and so not answered.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum LedgerError {
    /// The list has answered as many as its owner allows.
    #[error("{} has {found} queries, and {limit} are allowed: the list's owner decides whether to raise `limit` there", path.display())]
    Spent {
        /// The ledger.
        path: PathBuf,
        /// Queries in it.
        found: u64,
        /// Queries that are allowed.
        limit: u64,
    },
    /// A new ledger without a limit.
    #[error("{} does not exist: give --limit N to begin it", path.display())]
    NoLimit {
        /// The ledger.
        path: PathBuf,
    },
    /// Two limits.
    #[error("--limit {flag}: {} says {found}; leave the flag out, or correct the file", path.display())]
    OtherLimit {
        /// The ledger.
        path: PathBuf,
        /// Limit of the file.
        found: u64,
        /// Limit of the flag.
        flag: u64,
    },
    /// A file that is no ledger.
    #[error("{} is no ledger: {problem}; correct it, or give another file", path.display())]
    Content {
        /// The file.
        path: PathBuf,
        /// Fault that was found.
        problem: String,
    },
    /// A file that cannot be read or written.
    #[error("cannot keep the ledger {}: {source}; check the path and its permissions", path.display())]
    File {
        /// The file.
        path: PathBuf,
        /// Message of the system.
        source: io::Error,
    },
}

/// The file's fields.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Kept {
    limit: u64,
    #[serde(default)]
    query: Vec<KeptEntry>,
}

/// An entry's fields, which are for people: their number alone counts.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct KeptEntry {
    #[serde(rename = "when")]
    _when: String,
    #[serde(rename = "with")]
    _with: String,
    #[serde(rename = "list")]
    _list: String,
    #[serde(rename = "question")]
    _question: String,
}

/// Bytes of the longest ledger.
const MOST: u64 = 64 << 20;

impl Ledger {
    /// Counts a query, which may be answered then. Runs at the same time wait for each other here.
    ///
    /// # Errors
    /// [`LedgerError`]: the query must not be answered.
    pub fn count(&self, entry: &Entry) -> Result<u64, LedgerError> {
        // Links to one ledger lead to one lock.
        let path = &fs::canonicalize(&self.path).unwrap_or_else(|_| self.path.clone());
        let failed = |source| LedgerError::File {
            path: path.clone(),
            source,
        };
        let lock = File::options()
            .create(true)
            .truncate(false)
            .write(true)
            .open(beside(path))
            .map_err(failed)?;
        lock.lock().map_err(failed)?;
        let text = match fs::metadata(path) {
            Ok(found) if found.len() > MOST => {
                let problem = format!("it has {} bytes, and {MOST} are the most", found.len());
                return Err(self.wrong(problem));
            }
            Ok(_) => fs::read_to_string(path).map_err(failed)?,
            Err(error) if error.kind() == io::ErrorKind::NotFound => {
                let limit = self
                    .limit
                    .ok_or_else(|| LedgerError::NoLimit { path: path.clone() })?;
                format!(
                    "# Queries that this list has answered, and how many it may answer in all.\nlimit = {limit}\n"
                )
            }
            Err(error) => return Err(failed(error)),
        };
        let kept: Kept = toml::from_str(&text).map_err(|error| self.wrong(error.to_string()))?;
        let (found, limit) = (kept.query.len() as u64, kept.limit);
        if let Some(flag) = self.limit.filter(|&flag| flag != limit) {
            let path = path.clone();
            return Err(LedgerError::OtherLimit {
                path,
                found: limit,
                flag,
            });
        }
        if found >= limit {
            let path = path.clone();
            return Err(LedgerError::Spent { path, found, limit });
        }
        let text = format!(
            "{}\n\n[[query]]\nwhen = {}\nwith = {}\nlist = {}\nquestion = {}\n",
            text.trim_end(),
            quoted(&entry.when),
            quoted(&entry.with),
            quoted(&entry.list),
            quoted(&entry.question)
        );
        let content = |to: &mut dyn io::Write| to.write_all(text.as_bytes());
        let written = Pending::new(path, &content).and_then(Pending::finish);
        // An answer must not be forgotten with the machine's power.
        let kept = written.and_then(|()| {
            File::open(path)?.sync_all()?;
            // The name is the directory's.
            let folder = path
                .parent()
                .filter(|folder| !folder.as_os_str().is_empty());
            File::open(folder.unwrap_or(Path::new(".")))?.sync_all()
        });
        kept.map_err(failed)?;
        // The lock goes with its file.
        drop(lock);
        Ok(found + 1)
    }

    fn wrong(&self, problem: String) -> LedgerError {
        LedgerError::Content {
            path: self.path.clone(),
            problem,
        }
    }
}

/// The file by which runs at the same time wait for each other. It stays: whoever removed it might remove another one's lock.
fn beside(path: &Path) -> PathBuf {
    let mut name = path.as_os_str().to_owned();
    name.push(".lock");
    name.into()
}

/// A text as TOML has it: as JSON has it, once it is without control characters.
fn quoted(text: &str) -> String {
    let plain = text
        .chars()
        .map(|char| if char.is_control() { ' ' } else { char });
    serde_json::Value::String(plain.collect()).to_string()
}
