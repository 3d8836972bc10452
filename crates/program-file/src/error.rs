//! Why a program is not written, read, or bound.

use std::path::PathBuf;

use madrigal_core::budget::{FileError, Spent};
use madrigal_program::{ProgramError, Source, TypeError};
use thiserror::Error;

/// Why a program cannot be a file.
#[derive(Debug, Error)]
#[non_exhaustive]
pub enum SaveError {
    /// An operation that files do not hold.
    #[error(
        "{at}: {operation} cannot be saved: files hold the operations of the library, and circuits; run this program from its source"
    )]
    Operation {
        /// Line where it stands.
        at: Source,
        /// The operation.
        operation: String,
    },
    /// A stage of a run.
    #[error(
        "{at}: a program that takes or keeps values of other stages cannot be saved; save one that stands alone"
    )]
    Stage {
        /// Line where it does so.
        at: Source,
    },
    /// A file that cannot be written.
    #[error("cannot write {}: {problem}; check the path and its permissions", path.display())]
    File {
        /// The file.
        path: PathBuf,
        /// Error of the operating system.
        problem: std::io::Error,
    },
}

/// Why a file is no program.
#[derive(Debug, Error)]
#[non_exhaustive]
pub enum ReadError {
    /// A file that cannot be read.
    #[error("cannot read {}: {problem}", path.display())]
    File {
        /// The file.
        path: PathBuf,
        /// What is wrong.
        problem: FileError,
    },
    /// Bytes of something else.
    #[error("it is no program file, whose first words say that it is one")]
    Other,
    /// A version that this library does not know.
    #[error(
        "it is of version {found} of the format, and this library reads version {known}: read it with a later one, or have it written again"
    )]
    Version {
        /// The file's version.
        found: u32,
        /// The version that is read.
        known: u32,
    },
    /// No message of a program.
    #[error("it is damaged: {0}")]
    Malformed(String),
    /// A part that names what is not there.
    #[error("it is damaged: {what} {number}, and there are {count}")]
    Missing {
        /// The part.
        what: &'static str,
        /// Number of the part.
        number: i64,
        /// Number of those that there are.
        count: usize,
    },
    /// More parts than are allowed.
    #[error("it has more than {limit} {what}")]
    TooMany {
        /// The parts.
        what: &'static str,
        /// Most that are allowed.
        limit: usize,
    },
    /// More memory than a file of this length may take.
    #[error(transparent)]
    Memory(#[from] Spent),
    /// A name that cannot be one.
    #[error("it is damaged: {name:?} cannot be {what}")]
    Name {
        /// The name.
        name: String,
        /// Thing that it would name.
        what: &'static str,
    },
}

/// Why a program file makes no program with these lengths.
#[derive(Debug, Error)]
#[non_exhaustive]
pub enum BindError {
    /// A dimension without a length.
    #[error("dimension {name} has no length: the program has {all}; give one for each")]
    Unbound {
        /// The dimension.
        name: String,
        /// All dimensions of the program.
        all: String,
    },
    /// A length for a dimension that there is not.
    #[error("a length for dimension {name}, and the program has {all}")]
    Unknown {
        /// The name.
        name: String,
        /// All dimensions of the program.
        all: String,
    },
    /// A length that is none with these dimensions.
    #[error("with {lengths} {what}; give other lengths")]
    Length {
        /// The lengths that were given.
        lengths: String,
        /// The problem.
        what: String,
    },
    /// An operation that this library does not know.
    #[error(
        "{at}: the program has the operation {name:?}, which this library does not know: read it with a later one"
    )]
    Operation {
        /// Line where it stands.
        at: Source,
        /// Name of the operation.
        name: String,
    },
    /// An operation whose parts are not what it takes.
    #[error("{at}: {operation} is not well-formed: {what}")]
    Parts {
        /// Line where it stands.
        at: Source,
        /// Name of the operation.
        operation: String,
        /// The problem.
        what: String,
    },
    /// A type that there is not.
    #[error("{at}: {problem}")]
    Type {
        /// Line where it stands.
        at: Source,
        /// The problem.
        problem: TypeError,
    },
    /// Values that are too many or too long.
    #[error(
        "{at}: the values of the program have more than {limit} elements by here, loops counted: give shorter lengths"
    )]
    Elements {
        /// Line of the value with which they do.
        at: Source,
        /// Most that are allowed.
        limit: u64,
    },
    /// More memory than a file of this length may take.
    #[error(transparent)]
    Memory(#[from] Spent),
    /// A program that cannot be.
    #[error(transparent)]
    Program(#[from] ProgramError),
    /// Contents that name what is not there.
    #[error(transparent)]
    Read(#[from] ReadError),
}
