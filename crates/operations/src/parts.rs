//! Parts that values are kept as, and who holds which.

use madrigal_core::Party;
use madrigal_protocols::replicated::PARTIES as THREE;

/// Parts that a kept value is the sum of (of bits, the XOR), and which of them each party holds.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Parts {
    /// As many as there are parties: party i holds part i. Any parts are a sharing of some value.
    OneEach,
    /// Three of three parties: party i holds parts i and i + 1, modulo 3, so that each part is there twice. The copies
    /// of honest parties agree.
    TwoOfThree,
}

impl Parts {
    /// Counts the parts of a value of `parties` parties.
    ///
    /// # Panics
    /// If `parties` parties cannot hold such parts.
    pub fn count(self, parties: usize) -> usize {
        match self {
            Self::OneEach => parties,
            Self::TwoOfThree => {
                assert_eq!(parties, THREE, "two of three parts are of three parties");
                THREE
            }
        }
    }

    /// Numbers of the parts that `party` holds, in the order of the components of its share.
    ///
    /// # Panics
    /// If there is no such party.
    pub fn held_by(self, party: Party, parties: usize) -> Vec<usize> {
        let (first, count) = (party.index(), self.count(parties));
        assert!(first < parties, "{party} is none of {parties} parties");
        let held = match self {
            Self::OneEach => 1,
            Self::TwoOfThree => 2,
        };
        (first..first + held).map(|part| part % count).collect()
    }

    /// The parties that hold part `part`, in order.
    pub fn holders(self, part: usize, parties: usize) -> Vec<Party> {
        let holds = |party: &Party| self.held_by(*party, parties).contains(&part);
        Party::all(parties).filter(holds).collect()
    }
}
