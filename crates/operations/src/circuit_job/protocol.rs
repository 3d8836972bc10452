//! Which protocol computes.

use std::fmt;
use std::ops::RangeInclusive;

use madrigal_core::MAX_PARTIES;
use madrigal_garbling::Scheme;
use madrigal_protocols::{aby2, replicated, yao};

/// The protocol that evaluates a circuit, by its letter in the papers.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
#[non_exhaustive]
pub enum Protocol {
    /// Boolean GMW ([`madrigal_protocols::gmw`]): any number of parties, all but one corrupted.
    #[default]
    B,
    /// Replicated sharing ([`madrigal_protocols::replicated`]): three parties, one corrupted.
    R,
    /// Garbled circuits ([`madrigal_protocols::yao`]): two parties, one corrupted; party 0 garbles.
    Y2(Scheme),
    /// BMR ([`madrigal_protocols::bmr`]): any number of parties, all but one corrupted.
    Y,
    /// Masked sharing ([`madrigal_protocols::aby2`]): two parties, one corrupted; setup depends on the circuit,
    /// and an AND opens one bit online.
    Beta,
}

impl fmt::Display for Protocol {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::B => "B",
            Self::R => "R",
            Self::Y => "Y",
            Self::Beta => "beta",
            Self::Y2(Scheme::HalfGates) => "Y2",
            Self::Y2(Scheme::ThreeHalves) => "Y2 by three halves",
        })
    }
}

impl Protocol {
    /// How many parties can run it.
    pub fn parties(self) -> RangeInclusive<usize> {
        match self {
            Self::B | Self::Y => 2..=MAX_PARTIES,
            Self::R => replicated::PARTIES..=replicated::PARTIES,
            Self::Y2(_) => yao::PARTIES..=yao::PARTIES,
            Self::Beta => aby2::PARTIES..=aby2::PARTIES,
        }
    }

    /// Components of a share, each as long as the value.
    pub fn components(self) -> usize {
        match self {
            Self::B | Self::Y | Self::Y2(_) => 1,
            Self::R | Self::Beta => 2,
        }
    }

    /// Boolean triples for each AND.
    pub fn triples_per_and(self) -> usize {
        match self {
            Self::B | Self::Y | Self::Beta => 1,
            Self::R | Self::Y2(_) => 0,
        }
    }
}
