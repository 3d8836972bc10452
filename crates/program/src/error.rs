//! Faults of a program, each with its place in the source.

use std::fmt;

use madrigal_core::PartyError;
use madrigal_engine::Mismatch;
use thiserror::Error;

use crate::element::Type;
use crate::holder::{Client, Holder};
use crate::lower::Sharing;
use crate::shape::{MAX_ELEMENTS, MAX_RANK, Shape};
pub use crate::source::Source;
use crate::tensor_type::TensorType;

/// An operator that cannot be, with its place in the source.
#[derive(Debug, Clone, PartialEq, Eq, Error)]
#[error("{at}: {fault}")]
pub struct ProgramError {
    /// Line where the operator stands.
    pub at: Source,
    /// The fault of the operator.
    pub fault: Fault,
}

/// A fault of an operator of a program.
#[derive(Debug, Clone, PartialEq, Eq, Error)]
#[non_exhaustive]
pub enum Fault {
    /// Shapes that do not broadcast.
    #[error(
        "{operator} of shapes {left} and {right}: compared from the last axis on, lengths must be equal or 1; reshape one of the two"
    )]
    Broadcast {
        /// The operator.
        operator: String,
        /// The first operand's shape.
        left: Shape,
        /// The second one's.
        right: Shape,
    },
    /// An axis that the value does not have.
    #[error("{operator} along axis {axis} of a value of shape {shape}, which has {} axes, counted from 0", .shape.rank())]
    Axis {
        /// The operator.
        operator: String,
        /// The axis that was named.
        axis: usize,
        /// The value's shape.
        shape: Shape,
    },
    /// An axis without elements where there must be one.
    #[error(
        "{operator} along axis {axis} of a value of shape {shape}: no element has no such result"
    )]
    Empty {
        /// The operator.
        operator: String,
        /// The axis.
        axis: usize,
        /// The value's shape.
        shape: Shape,
    },
    /// A shape of another number of elements.
    #[error("a value of shape {from} with {} elements cannot take shape {to:?}", .from.elements())]
    Reshape {
        /// The value's shape.
        from: Shape,
        /// The axes that were asked for.
        to: Vec<usize>,
    },
    /// A shape that is too large.
    #[error("shape {axes:?}: a value has at most {MAX_ELEMENTS} elements and {MAX_RANK} axes")]
    TooLarge {
        /// The axes.
        axes: Vec<usize>,
    },
    /// Matrices that do not fit.
    #[error("a matrix product of shapes {left} and {right}: the last axis of the first must be as long as the {} of the second", if .right.rank() == 1 { "axis" } else { "last but one" })]
    Inner {
        /// The first matrix's shape.
        left: Shape,
        /// The second one's.
        right: Shape,
    },
    /// Images and filters that do not fit.
    #[error(
        "a convolution of images {images} with filters {filters} in {groups} groups: images have axes for themselves, channels, rows and columns; filters for themselves, the channels of a group, rows and columns, no more of these than the padded image; groups divide channels and filters; strides and dilations are not 0"
    )]
    Convolution {
        /// The images' shape.
        images: Shape,
        /// The filters'.
        filters: Shape,
        /// Groups of channels.
        groups: usize,
    },
    /// A value of another type.
    #[error("a value of {found} where one of {expected} is wanted; cast it, or say the other type")]
    OtherType {
        /// The type that is wanted.
        expected: Type,
        /// The type of the value.
        found: Type,
    },
    /// A range or an index beyond an axis.
    #[error("{from}..{to} along axis {axis} of a value of shape {shape}: the axis is shorter")]
    Range {
        /// The first index.
        from: usize,
        /// One more than the last.
        to: usize,
        /// The axis.
        axis: usize,
        /// The value's shape.
        shape: Shape,
    },
    /// Axes that are no permutation.
    #[error("{order:?} does not name each axis of a value of shape {shape} once")]
    Order {
        /// The axes that were given.
        order: Vec<usize>,
        /// The value's shape.
        shape: Shape,
    },
    /// Parts that do not fit together.
    #[error("joining shapes {shapes:?} along axis {axis}: all other axes must have equal lengths")]
    Join {
        /// The parts' shapes.
        shapes: Vec<Shape>,
        /// The axis.
        axis: usize,
    },
    /// Fewer or more elements than the shape says.
    #[error("{found} elements for shape {axes:?}, which has {expected}")]
    Elements {
        /// The axes that were given.
        axes: Vec<usize>,
        /// Elements that they have.
        expected: usize,
        /// Elements that were given.
        found: usize,
    },
    /// Elements of another type; operators of typed secrets do not meet this.
    #[error("{operator} of {found}, which it is not defined for")]
    Element {
        /// The operator.
        operator: String,
        /// The operands' types.
        found: Words<Type>,
    },
    /// A number that the type does not have.
    #[error("the constant {value} is no number of type {element}")]
    Constant {
        /// The number, in decimal.
        value: String,
        /// The type.
        element: Type,
    },
    /// A party that does not take part.
    #[error(transparent)]
    Party(#[from] PartyError),
    /// A client whose name cannot be one.
    #[error(
        "a client's name is 1 to {} letters, digits, `-`, `_` and `.`, not {name:?}",
        Client::LONGEST
    )]
    ClientName {
        /// The name.
        name: String,
    },
    /// A client of a single party.
    #[error(
        "a single party has no shares: it would see all that a client brings or gets; compute with two or more"
    )]
    OneParty,
    /// Nobody to open a value to.
    #[error("a value is opened to nobody; name one party at least")]
    Nobody,
    /// A value of another program.
    #[error("{operator} of values of two programs; values stay with the program that made them")]
    Foreign {
        /// The operator.
        operator: String,
    },
    /// A value of the body of a loop or a branch outside of it.
    #[error(
        "{operator} of a value of a loop's body or a secret branch outside of it; make it part of the loop's state, or of what the body gives"
    )]
    Escaped {
        /// The operator.
        operator: String,
    },
    /// An input or an opening in a loop.
    #[error("{what} in a loop's body; it belongs before or after the loop")]
    InLoop {
        /// `an input`, `an opening`, or what has to do with other stages.
        what: &'static str,
    },
    /// An input or an opening in a secret branch.
    #[error(
        "{what} in a secret branch, where all would see whether that branch is active; it belongs before or after the conditional"
    )]
    InBranch {
        /// `an input`, `an opening`, or what has to do with other stages.
        what: &'static str,
    },
    /// Branches of one conditional that give different numbers of values.
    #[error(
        "branch {branch} of {operator} gives {found} values, and branch 0 gives {expected}; all must give as many"
    )]
    Branches {
        /// The conditional.
        operator: String,
        /// Number of the branch, counted from 0; of `if_secret` the first one is 0.
        branch: usize,
        /// Values that branch 0 gives.
        expected: usize,
        /// Values that this one gives.
        found: usize,
    },
    /// A conditional without branches, or with too many.
    #[error("{operator} of {found} branches; there must be 1 to {most}")]
    BranchCount {
        /// The conditional.
        operator: String,
        /// Branches.
        found: usize,
        /// The most that there can be.
        most: usize,
    },
    /// A loop whose body changes the type or shape of its state.
    #[error(
        "part {part} of the loop's state goes into the body as {before} and comes out as {after}; it must stay the same"
    )]
    State {
        /// Number of the part, counted from 0.
        part: usize,
        /// As it goes in.
        before: Box<TensorType>,
        /// As it comes out.
        after: Box<TensorType>,
    },
    /// Mapped values of different lengths.
    #[error("map over values of shapes {shapes:?}: all must have a first axis of one length")]
    Mapped {
        /// Their shapes.
        shapes: Vec<Shape>,
    },
    /// A name that stands for something else.
    #[error("the name {name:?} is taken by another {side}")]
    Name {
        /// The name.
        name: String,
        /// `input` or `output`.
        side: &'static str,
    },
    /// A value that is in another sharing than its operator needs.
    #[error(
        "{operator} in {wanted} of a value in {found}; convert it with `to`, or leave conversions to the mix"
    )]
    Sharing {
        /// The operator.
        operator: Box<str>,
        /// The sharing it is in.
        found: Sharing,
        /// The sharing that the operator takes.
        wanted: Sharing,
    },
    /// A sharing that the program's mix does not have.
    #[error("a value is to be in {wanted}, which the mix {mix} does not have")]
    NotInMix {
        /// The sharing.
        wanted: Sharing,
        /// The mix.
        mix: String,
    },
    /// Rows that are moved to places which are no [`Permutation`](crate::Permutation).
    #[error(
        "rows are moved by a tensor that is no permutation of them; take one of a sort, of a shuffle, or made of such"
    )]
    NoPermutation,
    /// A shuffle in a mix that has no way to do it.
    #[error(
        "a shuffle of rows, which {parties} parties cannot do in the mix {mix}; there are {have}"
    )]
    NoShuffle {
        /// The mix.
        mix: String,
        /// Number of parties.
        parties: usize,
        /// The mixes that can, and for how many parties.
        have: Words<String>,
    },
    /// Noise that cannot be drawn.
    #[error("noise: {problem}")]
    Noise {
        /// Problem, and what to do.
        problem: String,
    },
    /// Random bits that parties draw together, in a mix that has no way to do it.
    #[error(
        "noise that nobody knows, which the parties cannot draw in the mix {mix}; there are {have}"
    )]
    NoJointBits {
        /// The mix.
        mix: String,
        /// The mixes that can.
        have: Words<String>,
    },
    /// An opening to some where all must know what is done next.
    #[error(
        "a value is opened to {to} alone, and another stage may follow: what decides it must be known to all parties; open it to everyone, or in the last stage"
    )]
    OpenedToSome {
        /// Those who learn it.
        to: Words<Holder>,
    },
    /// A value that is kept, or was, by a program that is no stage.
    #[error("{what} in a program that is no stage; take the program from `Stages::program`")]
    NoStage {
        /// `a value to keep` or `a value of an earlier stage`.
        what: &'static str,
    },
    /// A value of another run of stages.
    #[error(
        "a value that belongs to another run of stages: shares of different runs do not go together"
    )]
    OtherRun,
    /// A value that no stage has kept yet.
    #[error(
        "a value of an earlier stage that has not kept it yet; run the stage before the next one takes it"
    )]
    NotKept,
    /// A value that was kept in a sharing that the mix cannot take.
    #[error(
        "a value that an earlier stage keeps in {found}, which the mix {mix} does not have; run both stages in mixes that have it"
    )]
    KeptIn {
        /// The sharing it is kept in.
        found: &'static str,
        /// The mix.
        mix: String,
    },
    /// Values that the operation of a protocol does not take.
    #[error("{operator}: {problem}")]
    Operation {
        /// The operator.
        operator: String,
        /// Reason that the operation gives.
        problem: Mismatch,
    },
    /// A list that an operation takes none of.
    #[error("{operator}: {what}")]
    Lengths {
        /// The operator.
        operator: String,
        /// The misfit, in words.
        what: String,
    },
}

/// A list, separated by commas.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Words<T>(pub Vec<T>);

impl<T: fmt::Display> fmt::Display for Words<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let words: Vec<String> = self.0.iter().map(ToString::to_string).collect();
        f.write_str(&words.join(", "))
    }
}
