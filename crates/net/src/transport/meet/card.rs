//! Cards: the first message of each side of a fresh connection.

use madrigal_core::{Party, domains};

use crate::control::printable;

pub(super) const CARD_VERSION: u8 = 1;
pub(super) const CARD_BYTES: usize = 16;
/// Number in a card in the place of whom it is for, while its sender does not know who is there.
const ANYONE: u8 = 0xff;

/// Name of the number of parties where it differs.
pub(super) const PARTIES: &str = "the number of parties";

/// `MADRIGAL`, the version, the sender, whom it means (or [`ANYONE`]), the number of parties, and four
/// zero bytes.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) struct Card {
    pub(super) from: u8,
    to: u8,
    parties: u8,
}

impl Card {
    /// The card for a peer, if it is known who that is.
    pub(super) fn new(me: Party, peer: Option<Party>, parties: usize) -> Self {
        // All are at most 64.
        let [from, parties] = [me.index(), parties].map(|n| n as u8);
        Self {
            from,
            to: peer.map_or(ANYONE, |peer| peer.index() as u8),
            parties,
        }
    }

    pub(super) fn encode(self) -> [u8; CARD_BYTES] {
        let mut bytes = [0; CARD_BYTES];
        bytes[..8].copy_from_slice(domains::CARD);
        bytes[8..12].copy_from_slice(&[CARD_VERSION, self.from, self.to, self.parties]);
        bytes
    }

    /// The card that these bytes are; else what they are instead.
    pub(super) fn decode(bytes: [u8; CARD_BYTES]) -> Result<Self, String> {
        let [name @ .., version, from, to, parties, 0, 0, 0, 0] = bytes else {
            return Err("a malformed introduction".to_owned());
        };
        if name != *domains::CARD {
            return Err(format!("`{}`", printable(&String::from_utf8_lossy(&bytes))));
        }
        if version != CARD_VERSION {
            return Err(format!("version {version}"));
        }
        Ok(Self { from, to, parties })
    }

    /// The first fact in which the other side's card differs from what ours says: its name, ours, theirs.
    pub(super) fn difference(self, theirs: Self) -> Option<(&'static str, u8, u8)> {
        let facts = [
            (PARTIES, self.parties, theirs.parties),
            ("that party's number", self.to, theirs.from),
            ("our number", self.from, theirs.to),
        ];
        let differs = |&(_, ours, theirs): &(_, u8, u8)| ours != theirs && theirs != ANYONE;
        facts.into_iter().find(differs)
    }
}
