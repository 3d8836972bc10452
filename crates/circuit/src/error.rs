//! Errors in a netlist or in the shape of its inputs.

use thiserror::Error;

use crate::branches::BranchTextError;

/// A netlist file that could not be read; names the file and the line.
#[derive(Debug, Clone, PartialEq, Eq, Error)]
#[error("{name}, line {line}: {kind}")]
pub struct ReadError {
    /// The name that the caller gave the file.
    pub name: String,
    /// The line, counted from 1.
    pub line: u64,
    /// Kind of the error in the line.
    pub kind: ReadErrorKind,
}

/// Errors in a line of a netlist file.
#[derive(Debug, Clone, PartialEq, Eq, Error)]
#[non_exhaustive]
pub enum ReadErrorKind {
    /// The header is wrong.
    #[error(transparent)]
    Header(#[from] HeaderError),
    /// A gate is wrong.
    #[error(transparent)]
    Gate(#[from] GateError),
    /// A statement of ABY's format is wrong.
    #[error(transparent)]
    Aby(#[from] AbyError),
    /// A statement of a circuit with branches is wrong.
    #[error(transparent)]
    Branches(#[from] BranchTextError),
}

/// A wrong statement of a file in ABY's format.
#[derive(Debug, Clone, PartialEq, Eq, Error)]
#[non_exhaustive]
pub enum AbyError {
    /// A token that should be a wire's number and is none.
    #[error(
        "expected the number of a wire, found '{found}', which is no decimal number below 2^32"
    )]
    NotAWire {
        /// The offending token, shortened.
        found: String,
    },
    /// Too few or too many wires.
    #[error("{statement} takes {expected} wires, found {found}; correct the line")]
    Wires {
        /// The statement.
        statement: &'static str,
        /// Number of operands that it takes.
        expected: usize,
        /// Number of operands that stand there.
        found: usize,
    },
    /// A wire that is read before it is assigned.
    #[error("wire {wire} is read before any line assigns it; lines must come in topological order")]
    Undefined {
        /// The wire.
        wire: i64,
    },
    /// A wire that is assigned twice.
    #[error(
        "wire {wire} is assigned a second time; each wire is an input, a constant or the output of one gate"
    )]
    Reassigned {
        /// The wire.
        wire: i64,
    },
    /// No line says what the outputs are.
    #[error("no line `O` names an output; the file was cut off, fetch it again")]
    NoOutput,
}

/// Widths of values that are not those of a circuit.
#[derive(Debug, Clone, PartialEq, Eq, Error)]
#[error(
    "the widths add up to {found} bits, and the circuit's values have {expected}; give as many"
)]
pub struct WidthsError {
    /// Bits of all the circuit's inputs, or of all its outputs.
    pub expected: u64,
    /// The widths' sum.
    pub found: u64,
}

/// A wrong header of a netlist file.
#[derive(Debug, Clone, PartialEq, Eq, Error)]
#[non_exhaustive]
pub enum HeaderError {
    /// The file ended before its header did.
    #[error("the file ends before {expected}; it is empty or was cut off, fetch it again")]
    Missing {
        /// Text that should have come.
        expected: &'static str,
    },
    /// A token that is not an unsigned decimal number below 2^32.
    #[error(
        "expected {expected}, found '{found}', which is no decimal number below 2^32; is this a Bristol file?"
    )]
    NotANumber {
        /// Numbers that the line should hold.
        expected: &'static str,
        /// The offending token, shortened.
        found: String,
    },
    /// The first line does not hold two numbers.
    #[error(
        "expected the two numbers 'gates wires', found {found} numbers; is this a Bristol file?"
    )]
    Counts {
        /// Number of numbers that stood there.
        found: usize,
    },
    /// The second line of the old format does not hold three numbers.
    #[error(
        "expected either the old Bristol format's three numbers (bits of input 1, of input 2, of the output) or, for \
         Bristol Fashion, this line and the next as 'count width ... width'; found {found} numbers and no such next line"
    )]
    OldWidths {
        /// Number of numbers that stood there.
        found: usize,
    },
    /// A Bristol Fashion line whose first number does not count the others.
    #[error(
        "expected 'count width ... width' for the {side} values: the count says {count}, but {found} widths follow"
    )]
    FashionWidths {
        /// `input` or `output`.
        side: &'static str,
        /// The announced number of values.
        count: u32,
        /// The widths that follow.
        found: usize,
    },
    /// More than the caller's limits allow.
    #[error(
        "the header announces {found} {what}, the limit is {limit}; split the circuit, or read it with other `Limits` in the library"
    )]
    Limit {
        /// Name of what is too many.
        what: &'static str,
        /// Number that was announced.
        found: u64,
        /// Number that is allowed.
        limit: u64,
    },
    /// A wire that nothing drives.
    #[error(
        "the header announces {wires} wires, but inputs and gates drive {driven}: {what} {wire} is never assigned; \
         correct the header or add the missing gates"
    )]
    Unassigned {
        /// `wire` or `output wire`.
        what: &'static str,
        /// The first such wire.
        wire: u32,
        /// The announced number of wires.
        wires: u32,
        /// The wires that inputs and gates drive.
        driven: u32,
    },
    /// More wires than the rest of the file can assign.
    #[error(
        "the header announces {wires} wires, {inputs} of them inputs; a file of {bytes} bytes cannot assign the \
         others; it was cut off or the header is wrong"
    )]
    TooShort {
        /// The announced number of wires.
        wires: u32,
        /// Sum of the input widths, bits.
        inputs: u32,
        /// Length of the file in bytes.
        bytes: usize,
    },
    /// More input bits than a text of this length can read a good part of.
    #[error(
        "the header announces {inputs} input bits, and a file of {bytes} bytes reads few of them; beyond {free}, a \
         file has a byte for each: leave out the inputs that nothing reads"
    )]
    Unread {
        /// Sum of the input widths, bits.
        inputs: u32,
        /// Length of the file in bytes.
        bytes: usize,
        /// Input bits that any file may have.
        free: usize,
    },
    /// More output bits than wires.
    #[error(
        "the outputs take {outputs} bits, but there are only {wires} wires; correct the header"
    )]
    OutputsExceedWires {
        /// Sum of the output widths, bits.
        outputs: u64,
        /// The announced number of wires.
        wires: u64,
    },
    /// More input bits than wires.
    #[error("the inputs take {inputs} bits, but there are only {wires} wires; correct the header")]
    InputsExceedWires {
        /// Sum of the input widths, bits.
        inputs: u64,
        /// The announced number of wires.
        wires: u64,
    },
    /// Fewer or more gate lines than announced.
    #[error(
        "the header announces {expected} gates, {found} gate lines came; the file was cut off or the header is wrong"
    )]
    GateCount {
        /// The announced number of gates.
        expected: u64,
        /// The gates that came (one more than expected when reading stopped there).
        found: u64,
    },
}

/// A wrong gate.
#[derive(Debug, Clone, PartialEq, Eq, Error)]
#[non_exhaustive]
pub enum GateError {
    /// A token that should be a number and is none, or is too large.
    #[error(
        "expected a wire number or a count, found '{found}', which is no decimal number below 2^32"
    )]
    NotANumber {
        /// The offending token, shortened.
        found: String,
    },
    /// The line ends without the name of an operation.
    #[error(
        "expected '#in #out in... out... OP', but no operation ends the line; the line was cut off"
    )]
    NoOperation,
    /// Something follows the operation.
    #[error(
        "'{found}' follows the operation; expected the end of the line, put each gate on its own line"
    )]
    Trailing {
        /// The first token after the operation, shortened.
        found: String,
    },
    /// Too many wires, with those of gates that become two.
    #[error(
        "with a wire more for each XNOR, NAND and NOR the circuit has more than {limit} wires; split it"
    )]
    Wires {
        /// The most that a circuit can have.
        limit: u32,
    },
    /// An operation that is unknown, or not part of this format.
    #[error("unknown operation '{found}'; {format} has {known}")]
    Operation {
        /// The name that came, shortened.
        found: String,
        /// The format of the file.
        format: &'static str,
        /// The operations that the format has.
        known: &'static str,
    },
    /// The counts at the start of the line do not fit the numbers that follow.
    #[error(
        "the gate announces {ins} inputs and {outs} outputs, but {found} wire numbers follow; correct the line"
    )]
    Operands {
        /// Announced inputs.
        ins: u32,
        /// Announced outputs.
        outs: u32,
        /// Numbers that follow.
        found: usize,
    },
    /// A number of inputs or outputs that the operation does not have.
    #[error("{op} takes {expected}, found {ins} inputs and {outs} outputs; correct the line")]
    Arity {
        /// The operation.
        op: &'static str,
        /// Operands that it takes.
        expected: &'static str,
        /// Announced inputs.
        ins: u32,
        /// Announced outputs.
        outs: u32,
    },
    /// A constant that is neither 0 nor 1.
    #[error("EQ assigns a constant, 0 or 1, found {found}; to copy a wire use EQW")]
    Constant {
        /// The number that came.
        found: u32,
    },
    /// A wire beyond the announced number.
    #[error("wire {wire} is out of range; the netlist has {wires} wires, 0 to {last}", last = wires.saturating_sub(1))]
    Range {
        /// The wire.
        wire: u32,
        /// Wires of the netlist.
        wires: u32,
    },
    /// A wire that is read before a gate assigns it.
    #[error("wire {wire} is read before any gate assigns it; gates must come in topological order")]
    Undefined {
        /// The wire.
        wire: u32,
    },
    /// A wire that is assigned twice.
    #[error(
        "wire {wire} is assigned a second time; each wire is an input or the output of one gate"
    )]
    Reassigned {
        /// The wire.
        wire: u32,
    },
    /// A gate would assign an input wire.
    #[error("wire {wire} is an input (wires 0 to {last}) and cannot be assigned by a gate", last = inputs.saturating_sub(1))]
    AssignsInput {
        /// The wire.
        wire: u32,
        /// Number of input wires.
        inputs: u32,
    },
}

/// A netlist that the chosen format cannot express.
#[derive(Debug, Clone, PartialEq, Eq, Error)]
#[non_exhaustive]
pub enum WriteError {
    /// The old format has two input values.
    #[error(
        "the old Bristol format has at most two input values, this netlist has {found}; write Bristol Fashion instead"
    )]
    Inputs {
        /// Input values of the netlist.
        found: usize,
    },
    /// The old format has one output value.
    #[error(
        "the old Bristol format has one output value, this netlist has {found}; write Bristol Fashion instead"
    )]
    Outputs {
        /// Output values of the netlist.
        found: usize,
    },
    /// A constant is made from a wire there, and there is none.
    #[error(
        "the old Bristol format has no constants and this netlist no input wire to make one from; write Bristol Fashion instead"
    )]
    Constant,
    /// An input wire that is also an output cannot stay both when wires are added between.
    #[error(
        "expressing constants and copies with the old format's gates adds wires between the inputs and the outputs, \
         but some input wires are outputs; write Bristol Fashion instead"
    )]
    InputIsOutput,
    /// Expressing the netlist needs more wires than there can be.
    #[error(
        "expressed with the old format's gates the netlist would have more than {limit} wires; write Bristol Fashion instead"
    )]
    TooLarge {
        /// The most wires a netlist can have.
        limit: u32,
    },
}

/// Rows that do not fit what they are used for.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Error)]
#[error(
    "expected {expected} rows (one per wire, all values together), got {found}; give every value in circuit order"
)]
pub struct ShapeError {
    /// Rows expected.
    pub expected: usize,
    /// Rows given.
    pub found: usize,
}
