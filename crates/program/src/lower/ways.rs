//! How conditionals on secrets are computed, and why so.

use std::fmt;

use madrigal_operations::{Gated, Scheme};

use crate::error::Source;

/// How a conditional on secrets is computed.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Way {
    /// All branches are computed, and one of their results is chosen.
    Multiplexed,
    /// Branches in `B` that share their cost.
    Shared(Scheme),
    /// Branches of sums and products in `A` that share their cost.
    Rings(Gated),
}

impl Way {
    /// The ways of a circuit with branches.
    pub const ALL: [Self; 4] = [
        Self::Multiplexed,
        Self::Shared(Scheme::Vectors),
        Self::Shared(Scheme::Masked),
        Self::Shared(Scheme::Merged),
    ];
}

impl fmt::Display for Way {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Multiplexed => f.write_str("multiplexed"),
            Self::Shared(scheme) => f.write_str(scheme.name()),
            Self::Rings(_) => f.write_str("on ring elements"),
        }
    }
}

/// A conditional on secrets of a program, and how it is computed.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Conditional {
    /// Line where it was asked for.
    pub at: Source,
    /// Number of branches.
    pub branches: usize,
    /// Number of choices that are made: its elements.
    pub elements: usize,
    /// How it is computed.
    pub way: Way,
    /// Why its branches do not share their cost, where that is known before any estimate.
    pub why: Option<Why>,
}

/// Why all branches of a conditional are computed.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Why {
    /// The sharing that bits are in saves nothing by it, or does not do it; in words.
    Sharing(&'static str),
    /// A branch does more than is done to each element by itself, or is too large for a circuit.
    Form,
    /// Branches that share their cost take longer on this line.
    Slower,
}

impl fmt::Display for Why {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Sharing(why) => f.write_str(why),
            Self::Form => f.write_str(
                "for a branch does more than is done to each element by itself, or is too large",
            ),
            Self::Slower => f.write_str("for that is faster on this line"),
        }
    }
}

impl fmt::Display for Conditional {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self {
            at,
            branches,
            elements,
            way,
            why,
        } = self;
        write!(f, "{at}: {elements} choices among {branches} branches, ")?;
        match way {
            Way::Multiplexed => f.write_str("all computed and multiplexed")?,
            Way::Shared(scheme) => {
                return write!(f, "at the cost of one ({})", scheme.name());
            }
            Way::Rings(Gated::Triples) => {
                return f.write_str("at the cost of one (on ring elements)");
            }
            Way::Rings(Gated::Products) => {
                return f.write_str("at the cost of one (on ring elements, two rounds a layer)");
            }
        }
        why.map_or(Ok(()), |why| write!(f, ", {why}"))
    }
}
