//! Connections that others dial to us, until those of each party are all there.
//!
//! A party dials one connection first; its number and ours agree on how many there will be, and the party dials
//! the others side by side. They name the tag that we gave the first one, so that no connection of another run is
//! taken for one of this. One of them may have introduced itself before the first one has.

use std::time::Duration;

use madrigal_core::Party;
use tokio::time::Instant;

use super::card::{MAX_CONNECTIONS, Tag};
use super::error::ConnectError;
use crate::transport::connection::Met;
use crate::transport::tcp::MetParty;

/// Time that a party's other connections may take to come after its first one.
const COMPLETION: Duration = Duration::from_secs(10);

/// A connection of a party, introduced.
pub(super) struct Newcomer {
    pub(super) peer: Party,
    /// Number that it has among the party's connections, as the party says.
    pub(super) number: u8,
    /// Number of connections that the party offers.
    pub(super) offer: u8,
    /// Tag of the party's first connection, as the party says.
    pub(super) tag: Tag,
    pub(super) met: Met,
    pub(super) address: String,
}

/// Parties that dial us.
pub(super) struct Gathering {
    /// Number of connections that we offer.
    offer: u8,
    meeting: String,
    parties: Vec<Coming>,
}

/// One of them.
pub(super) struct Coming {
    peer: Party,
    first: Option<First>,
    connections: Vec<Option<Met>>,
    /// Connections that have come before the first.
    ahead: Vec<Newcomer>,
}

/// A fact that a party's first connection has settled.
struct First {
    tag: Tag,
    due: Instant,
}

impl Coming {
    fn came(&self) -> usize {
        self.connections.iter().flatten().count()
    }

    fn complete(&self) -> bool {
        self.first.is_some() && self.came() == self.connections.len()
    }

    fn forget(&mut self) {
        self.first = None;
        self.connections.clear();
    }

    /// The error that its connections have not all come.
    pub(super) fn incomplete(&self, refused: Vec<ConnectError>) -> ConnectError {
        ConnectError::Incomplete {
            peer: self.peer,
            came: self.came(),
            agreed: self.connections.len(),
            after: COMPLETION,
            refused,
        }
    }

    /// Takes one connection, after the first has come; a second one of the same number is not kept.
    fn place(&mut self, tag: Tag, newcomer: Newcomer) -> Result<(), ConnectError> {
        let refuse = |problem| {
            Err(ConnectError::Astray {
                peer: newcomer.peer,
                address: newcomer.address.clone(),
                problem,
            })
        };
        if newcomer.tag != tag {
            return refuse("it is one of another run");
        }
        match self.connections.get_mut(usize::from(newcomer.number)) {
            None => refuse("there are more than the two agreed on"),
            Some(Some(_)) => refuse("it has the number of another one"),
            Some(place) => {
                *place = Some(newcomer.met);
                Ok(())
            }
        }
    }
}

impl Gathering {
    pub(super) fn new(parties: impl Iterator<Item = Party>, offer: u8, meeting: &str) -> Self {
        let coming = |peer| Coming {
            peer,
            first: None,
            connections: Vec::new(),
            ahead: Vec::new(),
        };
        Self {
            offer,
            meeting: meeting.to_owned(),
            parties: parties.map(coming).collect(),
        }
    }

    /// Takes a connection. Gives the party if this is its first, and tells `refuse` of connections that are
    /// not kept; of a second one that would be the first, which may be its party's next try, nothing.
    pub(super) fn take(
        &mut self,
        newcomer: Newcomer,
        mut refuse: impl FnMut(ConnectError),
    ) -> Option<Party> {
        let of_it = |coming: &&mut Coming| coming.peer == newcomer.peer;
        let coming = self.parties.iter_mut().find(of_it)?;
        match &coming.first {
            Some(_) if newcomer.number == 0 => None,
            Some(First { tag, .. }) => {
                let tag = *tag;
                coming.place(tag, newcomer).unwrap_or_else(refuse);
                None
            }
            None if newcomer.number > 0 => {
                if coming.ahead.len() < MAX_CONNECTIONS {
                    coming.ahead.push(newcomer);
                }
                None
            }
            None => {
                let due = Instant::now() + COMPLETION;
                let (peer, tag) = (newcomer.peer, newcomer.tag);
                let agreed = self.offer.min(newcomer.offer);
                coming.first = Some(First { tag, due });
                coming.connections.resize_with(agreed.into(), || None);
                coming.connections[0] = Some(newcomer.met);
                for newcomer in std::mem::take(&mut coming.ahead) {
                    coming.place(tag, newcomer).unwrap_or_else(&mut refuse);
                }
                Some(peer)
            }
        }
    }

    /// Forgets what a party has brought: it begins anew.
    pub(super) fn forget(&mut self, party: Party) {
        let forgotten = self
            .parties
            .iter_mut()
            .filter(|coming| coming.peer == party);
        forgotten.for_each(Coming::forget);
    }

    /// Forgets what parties have brought one of whose connections was cut.
    pub(super) fn forget_cut(&mut self) {
        let cut = |coming: &&mut Coming| coming.connections.iter().flatten().any(Met::is_cut);
        self.parties.iter_mut().filter(cut).for_each(Coming::forget);
    }

    /// Parties that have not come with all their connections.
    pub(super) fn missing(&self) -> impl Iterator<Item = Party> {
        let missing = self.parties.iter().filter(|coming| !coming.complete());
        missing.map(|coming| coming.peer)
    }

    /// Whether all connections of all parties are there.
    pub(super) fn complete(&self) -> bool {
        self.parties.iter().all(Coming::complete)
    }

    /// Whether all parties are there, with some of their connections at least.
    pub(super) fn all_came(&self) -> bool {
        self.parties.iter().all(|coming| coming.first.is_some())
    }

    /// The next party that is to be there with all its connections, and when.
    pub(super) fn due(&self) -> Option<(Instant, &Coming)> {
        let waited = self.parties.iter().filter(|coming| !coming.complete());
        let due = waited.filter_map(|coming| Some((coming.first.as_ref()?.due, coming)));
        due.min_by_key(|(due, _)| *due)
    }

    pub(super) fn into_met(self) -> impl Iterator<Item = MetParty> {
        let meeting = self.meeting;
        self.parties.into_iter().map(move |coming| MetParty {
            peer: coming.peer,
            meeting: meeting.clone(),
            connections: coming.connections.into_iter().flatten().collect(),
        })
    }
}
