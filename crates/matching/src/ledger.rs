//! A list's ledger: which queries it has answered, how many its owner allows, and how much they may tell.
//!
//! Whoever may ask often learns who is in a list, from sizes alone: with the list less one person asked for a second time, say. So a query is counted before
//! anything of the list is told, and one beyond the limit is refused. A run that fails on the way has told something, too, and stays counted;
//! one that goes on from there has its name in the ledger, and is counted once.
//!
//! A ledger with a budget adds up the epsilons and the deltas of its queries, whoever learns an answer: it may be handed on. A query without noise tells more than any budget
//! allows, and so does the exact size of the list.

use std::fs::{self, File};
use std::io;
use std::path::{Path, PathBuf};

use madrigal_app::files::Pending;
use madrigal_noise::{Delta, Epsilon, Noise};
use serde::Deserialize;

/// Epsilons and deltas that a list may spend in all.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Budget {
    /// Sum of the epsilons.
    pub epsilon: Epsilon,
    /// Sum of the deltas, if it is said: 1e-6 otherwise.
    pub delta: Option<Delta>,
}

/// Limits of a file's budget.
#[derive(Clone, Copy)]
struct Limits {
    epsilon: Epsilon,
    delta: Delta,
}

/// A ledger's file, and the limits that flags gave.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Ledger {
    /// The file (TOML).
    pub path: PathBuf,
    /// Queries that the list may answer in all, if a flag says so: a new file begins with it.
    pub limit: Option<u64>,
    /// Epsilons and deltas that the list may spend, likewise.
    pub budget: Option<Budget>,
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
    /// Noise of the answer.
    pub noise: Option<Noise>,
    /// Whether the other party is told a bound in place of the number of keys.
    pub is_bounded: bool,
    /// Name of a run that goes on where it was lost, which is counted once.
    pub run: Option<String>,
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
    /// Queries have spent what the list's owner allows.
    #[error("{} has queries with epsilons of {spent} in all, this one would spend {asked} more, and {budget} are allowed: ask with more noise, or the list's owner decides whether to raise `budget` there", path.display())]
    OverBudget {
        /// The ledger.
        path: PathBuf,
        /// Sum of the epsilons in it.
        spent: Epsilon,
        /// Epsilon of the query.
        asked: Epsilon,
        /// Sum that is allowed.
        budget: Epsilon,
    },
    /// Queries have spent the deltas that the list's owner allows.
    #[error("{} has queries with deltas of {spent} in all, this one would spend {asked} more, and {budget} are allowed: ask with a smaller delta, or the list's owner decides whether to raise `budget_delta` there", path.display())]
    OverDelta {
        /// The ledger.
        path: PathBuf,
        /// Sum of the deltas in it.
        spent: Delta,
        /// Delta of the query.
        asked: Delta,
        /// Sum that is allowed.
        budget: Delta,
    },
    /// A query without noise, which spends more than any budget.
    #[error("{} has a budget, and an answer without noise would tell more than any: ask for --size with --noise, or give another ledger", path.display())]
    Exact {
        /// The ledger.
        path: PathBuf,
    },
    /// A query that tells how many keys the list has.
    #[error("{} has a budget, and the exact number of keys would tell more than any: give --bound, a number that does not depend on who is in the list, or give another ledger", path.display())]
    Unbounded {
        /// The ledger.
        path: PathBuf,
    },
    /// A new ledger without a limit.
    #[error("{} does not exist: give --limit N or --budget EPSILON[,DELTA] to begin it", path.display())]
    NoLimit {
        /// The ledger.
        path: PathBuf,
    },
    /// Two limits.
    #[error("--{name} {flag}: {} says {found}; leave the flag out, or correct the file", path.display())]
    OtherLimit {
        /// The ledger.
        path: PathBuf,
        /// `limit`, `budget`, or its delta.
        name: &'static str,
        /// Limit of the file, or that it has none.
        found: String,
        /// Limit of the flag.
        flag: String,
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
    limit: Option<u64>,
    budget: Option<f64>,
    budget_delta: Option<f64>,
    #[serde(default)]
    query: Vec<KeptEntry>,
}

/// An entry's fields, most of which are for people: their number counts, and the sums of their epsilons and deltas.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct KeptEntry {
    #[serde(rename = "when")]
    _when: String,
    with: String,
    #[serde(rename = "list")]
    _list: String,
    #[serde(rename = "question")]
    _question: String,
    epsilon: Option<f64>,
    delta: Option<f64>,
    #[serde(rename = "each")]
    _each: Option<u64>,
    run: Option<String>,
}

/// Bytes of the longest ledger.
const MOST: u64 = 64 << 20;

impl Ledger {
    /// Counts a query, which may be answered then, and gives the number of queries. A query whose run is in the ledger with the other party of that time
    /// is not counted again. Runs at the same time wait for each other here.
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
            Err(error) if error.kind() == io::ErrorKind::NotFound => self
                .begun()
                .ok_or_else(|| LedgerError::NoLimit { path: path.clone() })?,
            Err(error) => return Err(failed(error)),
        };
        let entries: Kept = toml::from_str(&text).map_err(|error| self.wrong(error.to_string()))?;
        let budget = self.budget_of(path, &entries)?;
        let is_there =
            |query: &KeptEntry| query.run == entry.run && query.with == plain(&entry.with);
        if entry.run.is_some() && entries.query.iter().any(is_there) {
            return Ok(entries.query.len() as u64);
        }
        self.allowed(path, &entries, entry, budget)?;
        let noise = entry.noise.map(|noise| {
            let (epsilon, delta) = (noise.epsilon(), noise.exact_delta());
            let each = match noise.each() {
                1 => String::new(),
                each => format!("each = {each}\n"),
            };
            format!("epsilon = {epsilon}\ndelta = {delta}\n{each}")
        });
        let run = entry.run.as_deref();
        let run = run.map_or(String::new(), |run| format!("run = {}\n", quoted(run)));
        let text = format!(
            "{}\n\n[[query]]\nwhen = {}\nwith = {}\nlist = {}\nquestion = {}\n{}{run}",
            text.trim_end(),
            quoted(&entry.when),
            quoted(&entry.with),
            quoted(&entry.list),
            quoted(&entry.question),
            noise.unwrap_or_default()
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
        Ok(entries.query.len() as u64 + 1)
    }

    /// The text with which a new ledger begins, if flags say what it allows.
    fn begun(&self) -> Option<String> {
        let limit = self.limit.map(|limit| format!("limit = {limit}\n"));
        let budget = self.budget.map(|Budget { epsilon, delta }| {
            let delta = delta.unwrap_or(Delta::MILLIONTH);
            format!("budget = {epsilon}\nbudget_delta = {delta}\n")
        });
        let about = match (&limit, &budget) {
            (None, None) => return None,
            (_, None) => "how many it may answer in all",
            (None, _) => "the sums of the epsilons and deltas that they may spend in all",
            _ => {
                "how many it may answer in all, and the sums of the epsilons and deltas that they may spend"
            }
        };
        let [limit, budget] = [limit, budget].map(Option::unwrap_or_default);
        Some(format!(
            "# Queries that this list has answered, and {about}.\n{limit}{budget}"
        ))
    }

    fn delta(&self, name: &str, number: f64) -> Result<Delta, LedgerError> {
        Delta::new(number).map_err(|error| self.wrong(format!("{name}: {error}")))
    }

    fn epsilon(&self, name: &str, number: f64) -> Result<Epsilon, LedgerError> {
        Epsilon::new(number).map_err(|error| self.wrong(format!("{name}: {error}")))
    }

    /// Checks that a file has limits, which are those of the flags, and gives its budget.
    fn budget_of(&self, path: &Path, kept: &Kept) -> Result<Option<Limits>, LedgerError> {
        let path = || path.to_owned();
        let budget = kept.budget.map(|number| self.epsilon("budget", number));
        let budget = budget.transpose()?;
        let delta = match (kept.budget_delta, budget) {
            (Some(_), None) => {
                return Err(self.wrong("it has `budget_delta` and no `budget`".to_owned()));
            }
            (Some(number), Some(_)) => self.delta("budget_delta", number)?,
            (None, _) => Delta::MILLIONTH,
        };
        if kept.limit.is_none() && budget.is_none() {
            return Err(self.wrong("it has neither `limit` nor `budget`".to_owned()));
        }
        differ("limit", self.limit, kept.limit, path)?;
        let flag = self.budget;
        differ("budget", flag.map(|flag| flag.epsilon), budget, path)?;
        let flag = flag.and_then(|flag| flag.delta);
        differ("budget with a delta of", flag, Some(delta), path)?;
        Ok(budget.map(|epsilon| Limits { epsilon, delta }))
    }

    /// Checks that a ledger allows one more query.
    fn allowed(
        &self,
        path: &Path,
        kept: &Kept,
        entry: &Entry,
        budget: Option<Limits>,
    ) -> Result<(), LedgerError> {
        let path = || path.to_owned();
        let found = kept.query.len() as u64;
        if let Some(limit) = kept.limit.filter(|&limit| found >= limit) {
            return Err(LedgerError::Spent {
                path: path(),
                found,
                limit,
            });
        }
        let Some(budget) = budget else { return Ok(()) };
        let Some(noise) = entry.noise else {
            return Err(LedgerError::Exact { path: path() });
        };
        if !entry.is_bounded {
            return Err(LedgerError::Unbounded { path: path() });
        }
        let (mut spent, mut chance) = (Epsilon::ZERO, Delta::ZERO);
        for query in &kept.query {
            let Some(number) = query.epsilon else {
                let problem = "it has a `budget`, and queries without noise, which spend more than any: begin another one";
                return Err(self.wrong(problem.to_owned()));
            };
            spent = spent.plus(self.epsilon("epsilon of a query", number)?);
            let Some(number) = query.delta else {
                let problem =
                    "it has a `budget`, and a query with `epsilon` and no `delta`: add what it was";
                return Err(self.wrong(problem.to_owned()));
            };
            chance = chance.plus(self.delta("delta of a query", number)?);
        }
        let asked = noise.epsilon();
        if spent.plus(asked) > budget.epsilon {
            return Err(LedgerError::OverBudget {
                path: path(),
                spent,
                asked,
                budget: budget.epsilon,
            });
        }
        let asked = noise.exact_delta();
        if chance.plus(asked) > budget.delta {
            return Err(LedgerError::OverDelta {
                path: path(),
                spent: chance,
                asked,
                budget: budget.delta,
            });
        }
        Ok(())
    }

    fn wrong(&self, problem: String) -> LedgerError {
        LedgerError::Content {
            path: self.path.clone(),
            problem,
        }
    }
}

/// Checks that a flag, if it was given, says what the file says.
fn differ<T: PartialEq + ToString>(
    name: &'static str,
    flag: Option<T>,
    found: Option<T>,
    path: impl Fn() -> PathBuf,
) -> Result<(), LedgerError> {
    match flag {
        Some(flag) if found.as_ref() != Some(&flag) => Err(LedgerError::OtherLimit {
            path: path(),
            name,
            found: found.map_or_else(|| "none".to_owned(), |found| found.to_string()),
            flag: flag.to_string(),
        }),
        _ => Ok(()),
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
    serde_json::Value::String(plain(text)).to_string()
}

/// A text without control characters.
fn plain(text: &str) -> String {
    let plain = text
        .chars()
        .map(|char| if char.is_control() { ' ' } else { char });
    plain.collect()
}
