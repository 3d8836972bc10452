//! Cards: the first message of each side of a fresh connection.

use madrigal_core::{Party, domains};

use crate::control::printable;

pub(super) const CARD_VERSION: u8 = 2;
/// Bytes of a card up to its tag: all that a card of version 1 had, so that either version can tell the other.
pub(super) const HEAD_BYTES: usize = 16;
/// Number in a card in the place of whom it is for, while its sender does not know who is there.
const ANYONE: u8 = 0xff;

/// The most connections that two parties may have.
pub const MAX_CONNECTIONS: usize = 16;

/// Random bytes that tell apart the connections that one party accepts.
pub(super) type Tag = [u8; 16];

/// Name of the number of parties where it differs.
pub(super) const PARTIES: &str = "the number of parties";

/// `MADRIGAL`, the version, the sender, whom it means (or [`ANYONE`]), the number of parties, the number of connections that
/// the sender offers, the number of this one, two zero bytes, and a tag.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) struct Card {
    pub(super) from: u8,
    to: u8,
    parties: u8,
    /// Number of connections that the sender offers.
    pub(super) offer: u8,
    /// Number of this connection; 0 in the accepting side's card.
    pub(super) number: u8,
    /// Tag of this connection in the accepting side's card, of the pair's first connection in the dialing side's.
    pub(super) tag: Tag,
}

impl Card {
    /// The card for a peer, if it is known who that is, on the first connection and without a tag.
    pub(super) fn new(me: Party, peer: Option<Party>, parties: usize, offer: u8) -> Self {
        // All are at most 64.
        let [from, parties] = [me.index(), parties].map(|n| n as u8);
        Self {
            from,
            to: peer.map_or(ANYONE, |peer| peer.index() as u8),
            parties,
            offer,
            number: 0,
            tag: Tag::default(),
        }
    }

    pub(super) fn encode(self) -> [u8; HEAD_BYTES + size_of::<Tag>()] {
        let mut bytes = [0; HEAD_BYTES + size_of::<Tag>()];
        bytes[..8].copy_from_slice(domains::CARD);
        let Self {
            from, to, parties, ..
        } = self;
        let facts = [CARD_VERSION, from, to, parties, self.offer, self.number];
        bytes[8..14].copy_from_slice(&facts);
        bytes[HEAD_BYTES..].copy_from_slice(&self.tag);
        bytes
    }

    /// The card that begins with these bytes, still without its tag; else what they are instead.
    pub(super) fn decode(bytes: [u8; HEAD_BYTES]) -> Result<Self, String> {
        let [name @ .., version, from, to, parties, offer, number, a, b] = bytes;
        if name != *domains::CARD {
            return Err(format!("`{}`", printable(&String::from_utf8_lossy(&bytes))));
        }
        if version != CARD_VERSION {
            return Err(format!("version {version}"));
        }
        if !(1..=MAX_CONNECTIONS).contains(&offer.into()) {
            return Err(format!(
                "an introduction that offers {offer} connections, where 1 to {MAX_CONNECTIONS} can be"
            ));
        }
        if usize::from(number) >= MAX_CONNECTIONS || [a, b] != [0, 0] {
            return Err("a malformed introduction".to_owned());
        }
        Ok(Self {
            from,
            to,
            parties,
            offer,
            number,
            tag: Tag::default(),
        })
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
