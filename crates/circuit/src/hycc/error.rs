//! Errors in modules, in bundles, and in how they fit together.

use madrigal_core::budget::Spent;
use thiserror::Error;

/// A module's file that could not be read; names the file and the place.
#[derive(Debug, Clone, PartialEq, Eq, Error)]
#[error("{file}, byte {offset}: {kind}")]
pub struct ModuleError {
    /// The name that the caller gave the file.
    pub file: String,
    /// Place of the error, in bytes from the file's beginning.
    pub offset: u64,
    /// Kind of the error at this place.
    pub kind: ModuleErrorKind,
}

/// Errors in a module.
#[derive(Debug, Clone, PartialEq, Eq, Error)]
#[non_exhaustive]
pub enum ModuleErrorKind {
    /// Nothing follows where something should.
    #[error("the file ends within {expected}; it was cut off, fetch it again")]
    Short {
        /// Field that should have come.
        expected: &'static str,
    },
    /// Something follows where nothing should.
    #[error("{bytes} bytes follow the module's end; the file is damaged, fetch it again")]
    Trailing {
        /// Number of bytes.
        bytes: usize,
    },
    /// Another kind of file.
    #[error(
        "expected the number 0xcb11c06c with which HyCC's modules begin, found {found:#010x}; is this a HyCC module?"
    )]
    Magic {
        /// Number that came.
        found: u32,
    },
    /// Another version of the format.
    #[error(
        "the module is of version {found} of the format; only version 5 is known, compile it anew"
    )]
    Version {
        /// Version that came.
        found: u8,
    },
    /// More than the caller's limits allow.
    #[error(
        "{found} {what}, the limit is {limit}; split the module, or read it with other `Limits` in the library"
    )]
    Limit {
        /// Name of what is too many.
        what: &'static str,
        /// Number that there is.
        found: u64,
        /// Number that may be.
        limit: u64,
    },
    /// A number that cannot be there.
    #[error("{what} {found} cannot be; the file is damaged, or of another format")]
    Value {
        /// Name of the field.
        what: &'static str,
        /// Number that came.
        found: u64,
    },
    /// A name that is no text, or in which not every character is seen.
    #[error(
        "a name is no text in UTF-8, or has characters that cannot be seen; the file is damaged"
    )]
    Name,
    /// The file has another count than the header announces.
    #[error(
        "the header announces {expected} {what}, the file has {found}; it is damaged, fetch it again"
    )]
    Count {
        /// Name of what is counted.
        what: &'static str,
        /// Number that is announced.
        expected: u64,
        /// Number that is there.
        found: u64,
    },
    /// Pins that do not fit a variable's bits.
    #[error("the pins of {name:?} have {found} bits, its type has {expected}; the file is damaged")]
    Pins {
        /// The variable.
        name: String,
        /// Bits of its type.
        expected: u64,
        /// Bits of its pins.
        found: u64,
    },
    /// A wire that is not there.
    #[error(
        "wire {wire} does not exist here, where there are {wires}; gates must come in topological order"
    )]
    Wire {
        /// The wire.
        wire: u32,
        /// Number of wires.
        wires: u32,
    },
    /// A wire of another width.
    #[error("{gate} takes {expected}, found wire {wire} of {found} bits")]
    Width {
        /// Gate that reads the wire.
        gate: &'static str,
        /// Width that it takes.
        expected: &'static str,
        /// The wire.
        wire: u32,
        /// Width of the wire.
        found: u8,
    },
    /// Two variables of one name.
    #[error("two {side} are named {name:?}; variables are told apart by their names")]
    Twice {
        /// Side of the variables: inputs or outputs.
        side: &'static str,
        /// The name.
        name: String,
    },
    /// Calls that wait for each other.
    #[error(
        "the arguments of a call of {callee:?} depend on what it returns; no order of calls will do"
    )]
    Circular {
        /// Module that is called.
        callee: String,
    },
}

impl ModuleErrorKind {
    /// A number that cannot be there.
    pub(super) fn value(what: &'static str, found: impl Into<u64>) -> Self {
        let found = found.into();
        Self::Value { what, found }
    }
}

/// A bundle that could not be read; names the file and the line.
#[derive(Debug, Clone, PartialEq, Eq, Error)]
#[non_exhaustive]
pub enum BundleError {
    /// A line that is no text.
    #[error("{file}, line {line}: the line is no text in UTF-8; is this a bundle of HyCC modules?")]
    Text {
        /// The name that the caller gave the file.
        file: String,
        /// The line, counted from 1.
        line: u64,
    },
    /// A sharing that there is not.
    #[error("{file}, line {line}: {found:?} is no sharing; write `yao` or `gmw` after the colon")]
    Sharing {
        /// The name that the caller gave the file.
        file: String,
        /// The line, counted from 1.
        line: u64,
        /// Text that came.
        found: String,
    },
    /// No modules.
    #[error("{file}: the bundle names no module; give one module's file on each line")]
    Empty {
        /// The name that the caller gave the file.
        file: String,
    },
    /// More modules than can be.
    #[error("{file}: more than {limit} modules; split the bundle")]
    Limit {
        /// The name that the caller gave the file.
        file: String,
        /// Number of bytes that may be.
        limit: u64,
    },
}

/// Modules that do not fit together.
#[derive(Debug, Clone, PartialEq, Eq, Error)]
#[non_exhaustive]
pub enum LinkError {
    /// Two modules of one name.
    #[error(
        "{first} and {second} are both the module {module:?}; a program has one variant of each, name a bundle that lists one"
    )]
    Twice {
        /// The module.
        module: String,
        /// First file of the module.
        first: String,
        /// Second file of the module.
        second: String,
    },
    /// No module to begin with.
    #[error(
        "no module is named mpc_main among {modules}; a program begins there, or is a single module"
    )]
    NoMain {
        /// Number of modules.
        modules: usize,
    },
    /// A callee that is not there.
    #[error("{file}: the module calls {callee:?}, which no file has; add it to the bundle")]
    NoCallee {
        /// The caller's file.
        file: String,
        /// Module that is called.
        callee: String,
    },
    /// Arguments or returns that the callee does not have.
    #[error("{file}: a call of {callee:?} with {problem}; are both files of one compilation?")]
    Call {
        /// The caller's file.
        file: String,
        /// Module that is called.
        callee: String,
        /// Problem that does not fit.
        problem: String,
    },
    /// Modules that call themselves, through others or not.
    #[error(
        "{file}: the module calls itself, directly or through others; circuits have no recursion"
    )]
    Recursive {
        /// The module's file.
        file: String,
    },
    /// Calls within calls within calls.
    #[error("calls go {depth} deep, the limit is {limit}; inline some modules")]
    Deep {
        /// Depth of the calls.
        depth: usize,
        /// Depth that they may have.
        limit: usize,
    },
    /// Too large when each call has its own gates.
    #[error(
        "the program has {found} {what} with all of its calls, the limit is {limit}; read it with other `Limits` in the library"
    )]
    Limit {
        /// Name of what is too many.
        what: &'static str,
        /// Number that there is.
        found: u64,
        /// Number that may be.
        limit: u64,
    },
    /// More memory than the caller's limits allow.
    #[error(
        "with all of its calls the program has {wires} wires and {calls} calls and variables of calls: {spent}"
    )]
    Memory {
        /// Wires of the program, a call's as often as it is called.
        wires: u64,
        /// Calls, and the variables at them.
        calls: u64,
        /// Memory that these take.
        spent: Spent,
    },
    /// A word that no ring has.
    #[error(
        "{file}: a word of {bits} bits where a call joins bits and words; words have 8, 16, 32 or 64"
    )]
    Word {
        /// The module's file.
        file: String,
        /// Bits of the word.
        bits: u32,
    },
}
