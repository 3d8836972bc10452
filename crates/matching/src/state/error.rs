//! Errors of states.

use std::io;
use std::path::{Path, PathBuf};

/// Reasons why a run does not go on, or cannot keep its state.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum StateError {
    /// A directory or file that cannot be used.
    #[error("cannot use {} for the state of the run: {source}; check the directory and its permissions, or free some space", path.display())]
    File {
        /// The directory, or a file in it.
        path: PathBuf,
        /// Message of the system.
        source: io::Error,
    },
    /// A directory that others can read.
    #[error("{}: others than its owner can use the directory: name one that is not there yet, or take these rights away (chmod 700)", path.display())]
    Open {
        /// The directory.
        path: PathBuf,
    },
    /// A directory that another run uses.
    #[error("{}: another run uses the directory: wait for its end, or name a directory for each party and run", path.display())]
    Used {
        /// The directory.
        path: PathBuf,
    },
    /// A file that is no state.
    #[error("{}: {problem}: name another directory, or remove this one at both parties to begin anew", path.display())]
    Content {
        /// The file.
        path: PathBuf,
        /// Problem with it.
        problem: String,
    },
    /// A state of another question.
    #[error("{}: it has a run whose {what} was {then}, and now it is {now}: ask as then, or remove the directory at both parties to begin anew", path.display())]
    Question {
        /// The directory.
        path: PathBuf,
        /// Part of the question.
        what: String,
        /// The part as the state has it.
        then: String,
        /// The part as this run has it.
        now: String,
    },
    /// A list that has changed.
    #[error("{}: the list has other keys or payloads now than when the run began: bring it back to what it was, or remove the directory at both parties to begin anew", path.display())]
    Changed {
        /// The directory.
        path: PathBuf,
    },
    /// The other party's list has another size.
    #[error("{}: the lists had {then:?} keys when the run began, and now {now:?}: bring them back to what they were, or remove the directory at both parties to begin anew", path.display())]
    Sizes {
        /// The directory.
        path: PathBuf,
        /// Sizes as the state has them, by the parties' order.
        then: [u64; 2],
        /// Sizes now.
        now: [u64; 2],
    },
    /// The other party has nothing to go on from.
    #[error("{}: party {other} has no state of the run that this directory has: have it name the directory of that run, or remove this one to begin anew", path.display())]
    OtherHasNone {
        /// The directory.
        path: PathBuf,
        /// The other party.
        other: usize,
    },
    /// The other party would go on, and this one cannot.
    #[error("{}: party {other} would go on with a run of which this directory has nothing: name the directory of that run, or have that party remove its own to begin anew", path.display())]
    None {
        /// The directory.
        path: PathBuf,
        /// The other party.
        other: usize,
    },
    /// The whole answer is there, and a session that goes on is of no use to it.
    #[error("{}: it has all of the answer, and the other party has forgotten the run, so that this session has ended: ask again in another one, which does not need the other party for it", path.display())]
    Answered {
        /// The directory.
        path: PathBuf,
    },
    /// Both parties have states, of different runs.
    #[error("{}: it has another run than the directory of party {other}: name those of one run, or remove both to begin anew", path.display())]
    OtherRun {
        /// The directory.
        path: PathBuf,
        /// The other party.
        other: usize,
    },
}

/// Gives the error of a file that cannot be used.
pub(super) fn failed(path: &Path, source: io::Error) -> StateError {
    StateError::File {
        path: path.to_owned(),
        source,
    }
}
