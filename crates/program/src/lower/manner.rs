//! The ways in which a program can be lowered.

use std::sync::Arc;

use madrigal_circuit::Goal;
use madrigal_engine::Sharing;

/// Conditionals on secrets that become one operation, where they can.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum OneOperation {
    /// None: all branches are computed.
    Nothing,
    /// Those that are circuits with branches.
    Bits,
    /// Those whose branches are sums and products.
    Rings,
    /// These, and of the others those that are circuits.
    Both,
}

impl OneOperation {
    pub(super) const fn bits(self) -> bool {
        matches!(self, Self::Bits | Self::Both)
    }

    pub(super) const fn rings(self) -> bool {
        matches!(self, Self::Rings | Self::Both)
    }
}

/// How a program is lowered where there is more than one way.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Manner {
    /// Goal of circuits: what they save.
    pub(crate) goal: Goal,
    /// Conditionals that are one operation.
    pub(crate) kept: OneOperation,
    /// ANDs that are worth as much as a round, for tournaments among many elements; 0 if these go pair by pair.
    pub(crate) round: u64,
    /// The sharing of bits of what nothing says of where it is, in the place of the mix's first one.
    pub(crate) home: Option<Sharing>,
    /// The sharing of bits that the plan has chosen for each operation of the graph, as far as it has.
    pub(crate) held: Option<Arc<[Option<Sharing>]>>,
}

impl Manner {
    /// As programs are lowered without a plan.
    pub(crate) fn usual(goal: Goal, kept: OneOperation) -> Self {
        Self {
            goal,
            kept,
            round: 0,
            home: None,
            held: None,
        }
    }
}
