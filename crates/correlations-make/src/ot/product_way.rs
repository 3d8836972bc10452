//! The ways in which triples of products are made, and the choice between them.

use madrigal_core::Party;
use madrigal_correlations::Needs;

use crate::ot::costs::OtCosts;
use crate::ot::extension::Extension;

/// Way in which triples of products are made. All other correlations are made by oblivious transfer.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Matrices {
    /// Additively homomorphic encryption ([`OtSource::with_lattice_matrices`](crate::OtSource::with_lattice_matrices)),
    /// which sends a fraction of the bytes; those of 128-bit elements by oblivious transfer.
    #[default]
    Lattice,
    /// Oblivious transfer.
    Ot,
}

impl std::fmt::Display for Matrices {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(match self {
            Self::Lattice => "lattice",
            Self::Ot => "ot",
        })
    }
}

impl Matrices {
    /// Gives the costs of a source that makes triples of products so.
    pub(crate) fn applied(self, costs: OtCosts) -> OtCosts {
        match self {
            Self::Lattice => costs.with_lattice_matrices(),
            Self::Ot => costs,
        }
    }

    /// Chooses the way that sends fewer bytes for the triples of products among `needs`. It depends on nothing
    /// else, so that parties that have agreed on these have agreed on it.
    #[must_use]
    pub fn choose(extension: Extension, parties: usize, needs: &Needs) -> Self {
        let mut matrices = Needs::new();
        for (kind, count) in needs.kinds() {
            if kind.product().is_some() {
                matrices.add(kind, count);
            }
        }
        if matrices.is_empty() || parties < 2 {
            return Self::Ot;
        }
        let bytes = |of: Self| {
            let sent = |me| {
                let costs = OtCosts::new(extension, me, parties);
                let mut costs = of.applied(costs);
                let kinds = matrices.kinds().into_iter();
                kinds
                    .map(|(kind, count)| costs.items(kind, count).bytes_sent)
                    .sum::<u64>()
            };
            Party::all(parties).map(sent).sum::<u64>()
        };
        match bytes(Self::Lattice) < bytes(Self::Ot) {
            true => Self::Lattice,
            false => Self::Ot,
        }
    }
}
