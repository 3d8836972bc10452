//! Errors in a circuit with branches, and in a file of one.

use madrigal_core::budget::Spent;

/// The most branches of one conditional.
pub const MAX_BRANCHES: usize = 1 << 12;
/// The version that is written, and the only one that is read.
pub(super) const VERSION: u32 = 1;
/// The most bytes of a name.
pub(super) const NAME: usize = 64;

/// The most conditionals that stand in each other.
pub const MAX_NESTING: usize = 64;

/// Reasons why circuits do not fit together.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum BranchError {
    /// A conditional without branches, or with too many.
    #[error("a conditional has {found} branches; it must have 1 to {MAX_BRANCHES}")]
    Branches {
        /// Branches.
        found: usize,
    },
    /// The wrong number of wires for the number of the branch.
    #[error("a conditional of {branches} branches needs {expected} index bits, {found} were given")]
    Index {
        /// Branches.
        branches: usize,
        /// Bits wanted.
        expected: usize,
        /// Bits given.
        found: usize,
    },
    /// A part that reads another number of wires.
    #[error("{what} `{name}` has {expected} input bits, {found} were given")]
    Inputs {
        /// `netlist` or `branch`.
        what: &'static str,
        /// Name of the netlist or branch.
        name: String,
        /// Bits that it has.
        expected: usize,
        /// Bits that were given.
        found: usize,
    },
    /// Branches of one conditional with different numbers of outputs.
    #[error("branch `{name}` has {found} output bits, the first branch has {expected}")]
    Outputs {
        /// The branch.
        name: String,
        /// Bits of the first branch.
        expected: usize,
        /// Bits of this one.
        found: usize,
    },
    /// A wire that is not there yet.
    #[error("wire {wire} is read, but only {wires} wires are there by then")]
    Wire {
        /// The wire.
        wire: u32,
        /// Wires so far.
        wires: u32,
    },
    /// More conditionals in each other than a computer's stack is for.
    #[error("more than {MAX_NESTING} conditionals stand in each other")]
    Nesting,
    /// Too many wires in all.
    #[error("the circuit and its branches have more than 2^28 wires, outputs and parts together")]
    TooLarge,
}

/// A wrong line in a file of a circuit with branches.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum BranchTextError {
    /// Another version, or none.
    #[error(
        "expected the first line `branches {VERSION}`, found version '{found}'; a newer madrigal may read it"
    )]
    Version {
        /// The version, shortened.
        found: String,
    },
    /// A line that is no statement where it stands.
    #[error("expected {expected}, found '{found}'; correct the line")]
    Statement {
        /// Statements that may stand here.
        expected: &'static str,
        /// The line's first word, shortened.
        found: String,
    },
    /// A statement with another number of words.
    #[error("expected `{expected}`; correct the line")]
    Words {
        /// Form of the statement.
        expected: &'static str,
    },
    /// A name that is none.
    #[error(
        "'{found}' is no name: a name has up to {NAME} letters, digits and signs `_`, `-` and `.`, begins with a letter, and is none of of, on and end"
    )]
    Name {
        /// Text that stands there, shortened.
        found: String,
    },
    /// A name that is defined twice.
    #[error("{name} is defined a second time; give each part a name of its own")]
    Twice {
        /// The name.
        name: String,
    },
    /// A part that is not there.
    #[error("no part {name} is defined before this line; define it, or correct the name")]
    Unknown {
        /// The name.
        name: String,
    },
    /// A token that is no wire and no range of wires.
    #[error("expected the number of a wire or a range such as 3-7, found '{found}'")]
    NotAWire {
        /// Token that stands there, shortened.
        found: String,
    },
    /// An input value after a wire was made.
    #[error("the inputs of a circuit come before all else in it; move the line up")]
    LateInput,
    /// Circuits that do not fit together.
    #[error(transparent)]
    Fit(#[from] BranchError),
    /// The file's circuit takes too much memory.
    #[error("the circuit is too large: {0}")]
    Memory(#[from] Spent),
    /// The file ends within a part.
    #[error("the file ends within {name}, before a line `end`; it was cut off, fetch it again")]
    CutOff {
        /// Name of the part.
        name: String,
    },
    /// A file that defines no circuit last.
    #[error(
        "the last part of the file is the circuit that it means, and there is none; end it with `circuit NAME` and its lines"
    )]
    NoCircuit,
}
