//! Which protocol computes.

use std::fmt;
use std::ops::RangeInclusive;

use madrigal_core::MAX_PARTIES;
use madrigal_protocols::replicated;

/// The protocol that evaluates a circuit, by its letter in the papers.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
#[non_exhaustive]
pub enum Protocol {
    /// Boolean GMW ([`madrigal_protocols::gmw`]): any number of parties, all but one corrupted.
    #[default]
    B,
    /// Replicated sharing ([`madrigal_protocols::replicated`]): three parties, one corrupted.
    R,
}

impl fmt::Display for Protocol {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::B => "B",
            Self::R => "R",
        })
    }
}

impl Protocol {
    /// How many parties can run it.
    pub fn parties(self) -> RangeInclusive<usize> {
        match self {
            Self::B => 2..=MAX_PARTIES,
            Self::R => replicated::PARTIES..=replicated::PARTIES,
        }
    }

    /// Components of a share, each as long as the value.
    pub fn components(self) -> usize {
        match self {
            Self::B => 1,
            Self::R => 2,
        }
    }

    /// Boolean triples for each AND.
    pub fn triples_per_and(self) -> usize {
        match self {
            Self::B => 1,
            Self::R => 0,
        }
    }
}
