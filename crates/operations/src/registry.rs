//! Finds protocols' records, and says which operations lead from one protocol to another.

use madrigal_core::{MAX_PARTIES, Party};
use madrigal_correlations::Width;

use crate::backend::{Backend, Bits, Chain, DynOperation, Numbers};
use crate::backends::ALL;
use madrigal_engine::Sharing;

impl Backend {
    /// The record of the protocol that shares so.
    ///
    /// # Panics
    /// If `sharing` is of no protocol in [`ALL`]: it is clear, or of a user's own protocol.
    pub fn of(sharing: Sharing) -> &'static Self {
        let found = ALL.iter().find(|backend| backend.sharing == sharing);
        found.unwrap_or_else(|| panic!("no protocol shares in {sharing}"))
    }

    /// Finds the record of a protocol by its name.
    pub fn named(name: &str) -> Option<&'static Self> {
        ALL.iter().find(|backend| backend.name == name)
    }

    /// Counts the parties, of `parties`, that may be corrupted together, semi-honest, and learn nothing of the others.
    pub fn withstands(&self, parties: usize) -> usize {
        match self.honest_majority {
            true => 1,
            false => parties - 1,
        }
    }

    /// Tells the number of parties that can run the protocol.
    pub fn parties_in_words(&self) -> String {
        let (least, most) = (self.parties.start(), self.parties.end());
        match least == most {
            true => least.to_string(),
            false => format!("{least} to {most}"),
        }
    }

    /// Tells what the protocol is, for how many parties, and how many of them may be corrupted.
    pub fn in_words(&self) -> String {
        let corrupted = match self.honest_majority || *self.parties.end() == 2 {
            true => "one",
            false => "all but one",
        };
        format!(
            "{}; {} parties, of which {corrupted} may be corrupted",
            self.about,
            self.parties_in_words()
        )
    }

    /// Operations of the protocol on bits.
    ///
    /// # Panics
    /// If it does not compute on bits: mixes name others for these.
    pub fn bits(&self) -> &Bits {
        let bits = self.bits.as_ref();
        bits.unwrap_or_else(|| panic!("{} does not compute on bits", self.name))
    }

    /// Operations of the protocol on ring elements.
    ///
    /// # Panics
    /// If it does not compute on ring elements: mixes name others for these.
    pub fn numbers(&self) -> &Numbers {
        let numbers = self.numbers.as_ref();
        numbers.unwrap_or_else(|| panic!("{} does not compute on ring elements", self.name))
    }

    /// Shares a clear value, which all or one party knows.
    pub fn share(&self, from: Sharing) -> DynOperation {
        match from == Sharing::PUBLIC {
            true => self.edges.constant(),
            false => {
                let owner = Party::all(MAX_PARTIES).find(|&party| from.is_known_to(party));
                self.edges
                    .share(owner.expect("somebody knows a clear value"))
            }
        }
    }

    /// Makes shares that can be kept of values.
    pub fn to_kept(&self) -> Chain {
        self.kept.to.iter().map(|make| make()).collect()
    }

    /// Makes values of shares that were kept.
    pub fn from_kept(&self) -> Chain {
        self.kept.from.iter().map(|make| make()).collect()
    }

    /// Makes bits, in this protocol, of the numbers that add up to ring elements in `ring`, all but the first one
    /// negated if so.
    pub fn split(&self, ring: &Self, parties: usize, negated: bool) -> Chain {
        let numbers = ring.numbers();
        if let Some(split) = self.bits().split {
            return vec![split(ring.sharing, negated)];
        }
        if numbers.with.first() == Some(&self.sharing) {
            return vec![numbers.rings.addends(parties, negated)];
        }
        // All numbers become bits of this protocol in one message.
        let kept = Self::of(ring.kept.sharing).numbers();
        let mut chain = ring.to_kept();
        chain.push(kept.rings.addends(parties, negated));
        chain.extend(self.from_kept());
        chain
    }

    /// Makes ring elements, in this protocol, of bits in `bits`.
    pub fn compose(&self, bits: &Self, width: Width, signed: bool) -> Chain {
        let numbers = self.numbers();
        if numbers.with.first() == Some(&bits.sharing) {
            return vec![numbers.rings.compose(width, signed)];
        }
        let mut chain = match bits.bits().compose {
            Some(compose) => vec![compose(width, signed)],
            None => {
                let kept = Self::of(self.kept.sharing).numbers();
                let mut chain = bits.to_kept();
                chain.push(kept.rings.compose(width, signed));
                chain
            }
        };
        chain.extend(self.from_kept());
        chain
    }

    /// Makes bits of this protocol of bits in `bits`, which is kept as this one is.
    pub fn bits_from(&self, bits: &Self) -> Chain {
        if self == bits {
            return Chain::new();
        }
        let mut chain = bits.to_kept();
        chain.extend(self.from_kept());
        chain
    }

    /// Makes bits that this protocol multiplies with its ring elements of bits in `bits`.
    pub fn bits_for_products(&self, bits: &Self) -> Chain {
        Self::of(self.numbers().with[0]).bits_from(bits)
    }
}
