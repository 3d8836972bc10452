//! Parties find each other over TCP: each dials the parties before it and accepts those after.
//!
//! On every connection, under TLS if there is TLS, the accepting side first sends a card that says
//! who it is, and the dialing side answers with its own. The accepting side's card tells the dialing
//! side that its certificate was accepted: in TLS 1.3 it could not know before, and bytes sent sooner
//! could cost it the alert that says why not. Under TLS the keys alone say who is there, and the cards
//! must bear them out.
//!
//! Two parties may have several connections. On the first one the cards agree on their number, the smaller of
//! what the two offer; the dialing side then dials the others side by side, each with a card and under TLS with keys of
//! its own. A tag that the accepting side has drawn for the first one binds them to it ([`gathering`]).
//!
//! A newcomer that does not prove to be a party is turned away, and says nothing about the parties: the
//! wait for them goes on. The cost of such strangers is bounded ([`newcomers`]).

mod again;
mod card;
mod connecting;
mod error;
mod gathering;
mod incoming;
mod newcomers;
mod refusals;

use std::net::SocketAddr;
use std::sync::{Mutex, PoisonError};
use std::time::Duration;

use futures_util::future::{BoxFuture, Either, join, pending, select, try_join_all};
use madrigal_core::Party;
use tokio::net::TcpStream;
use tokio::time::{Instant, sleep, sleep_until, timeout_at};

use super::connection::Met;
use super::tcp::{MetParty, TcpTransport};
use crate::tls::TlsParty;
pub use card::MAX_CONNECTIONS;
use card::{Card, HEAD_BYTES, Tag};
use connecting::Connecting;
pub use error::ConnectError;
use gathering::{Gathering, Newcomer};
pub use incoming::{HandOn, HandedOn, Incoming, handing_on};
use newcomers::Newcomers;
use refusals::Refusals;

/// Protection of connections.
#[derive(Debug, Clone)]
pub enum Security {
    /// Nothing: whoever can reach the port can pose as a party, and whoever sees the packets sees
    /// them. For tests, and for networks that are protected otherwise.
    Clear,
    /// TLS 1.3 with pinned keys.
    Tls(TlsParty),
}

/// A stranger may hold a connection open no longer than this before it has shown who it is.
const INTRODUCTION: Duration = Duration::from_secs(5);
/// Time that the missing parties have to come after a party was refused (under TLS: by its key), or one that speaks as parties
/// do in the clear, the missing parties have this long to come all the same: who was refused was probably one of them.
const GRACE: Duration = Duration::from_secs(3);
/// A party that waits for longer than this says for whom.
const MOMENT: Duration = Duration::from_secs(2);

/// Events while the parties look for each other.
#[derive(Debug)]
#[non_exhaustive]
pub enum Meeting<'a> {
    /// Some have not come within a moment: told once.
    Waiting {
        /// Parties that have not come.
        missing: &'a [Party],
    },
    /// Somebody was turned away, and the wait goes on: told a few times at most, and once of those who
    /// come from one place with one fault.
    Refused {
        /// Reason.
        why: &'a ConnectError,
        /// Whether of others, from now on, nothing is told any more.
        last: bool,
    },
}

/// How a party meets the others: who they are, and how many connections it offers each.
#[derive(Clone, Copy)]
pub struct ConnectConfig<'a> {
    /// Number of this party.
    pub me: Party,
    /// Addresses where the parties listen, as host:port, by their numbers. They are the same texts at all parties, as a
    /// session over the connections compares, unless it has a name, at which address each two meet
    /// ([`SessionConfig::name`](crate::SessionConfig::name)).
    pub addresses: &'a [String],
    /// Protection of the connections.
    pub security: &'a Security,
    /// Time within which the parties start, in any order.
    pub patience: Duration,
    /// Number of connections that this party offers each other one, 1 to [`MAX_CONNECTIONS`]; two parties have as
    /// many as the one that offers fewer. Each is read by a task of its own, and several threads can send on
    /// several. One is best where a party computes on one thread.
    pub connections: usize,
    /// Told what happens meanwhile.
    pub observe: &'a (dyn Fn(Meeting<'_>) + Sync),
}

impl std::fmt::Debug for ConnectConfig<'_> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("ConnectConfig")
            .field("me", &self.me)
            .field("addresses", &self.addresses)
            .field("security", &self.security)
            .field("patience", &self.patience)
            .field("connections", &self.connections)
            .finish_non_exhaustive()
    }
}

impl<'a> ConnectConfig<'a> {
    /// One connection for each pair of parties, which have 30 seconds to start; nobody is told what happens meanwhile.
    pub fn new(me: Party, addresses: &'a [String], security: &'a Security) -> Self {
        Self {
            me,
            addresses,
            security,
            patience: Duration::from_secs(30),
            connections: 1,
            observe: &|_| {},
        }
    }
}

/// Connects all parties; `incoming` is our own listener, or what is [handed on](handing_on) of a port that serves others too.
///
/// Runs in a tokio runtime with I/O and time, to which the connections belong from then on. The
/// session over them may be driven from anywhere ([`block_on`](crate::block_on) on a thread of one's
/// own), as long as that runtime runs: one of several threads does so by itself, a
/// `current_thread` one only inside its `block_on`. With several connections for each pair, a runtime of as many
/// threads reads them side by side.
///
/// # Errors
/// See [`ConnectError`]; both sides of a refused connection get one.
///
/// # Panics
/// Outside a tokio runtime; with a number of connections that cannot be.
pub fn connect<'a>(
    config: ConnectConfig<'a>,
    incoming: impl Into<Incoming<'a>>,
) -> BoxFuture<'a, Result<TcpTransport, ConnectError>> {
    meet(config, incoming.into())
}

fn meet<'a>(
    config: ConnectConfig<'a>,
    incoming: Incoming<'a>,
) -> BoxFuture<'a, Result<TcpTransport, ConnectError>> {
    assert!(
        (1..=MAX_CONNECTIONS).contains(&config.connections),
        "a party offers 1 to {MAX_CONNECTIONS} connections"
    );
    let meeting = Ours {
        me: config.me,
        addresses: config.addresses,
        security: config.security,
        until: Instant::now() + config.patience,
        patience: config.patience,
        offer: config.connections as u8,
        missing: Mutex::new(config.me.others(config.addresses.len()).collect()),
        observe: config.observe,
    };
    Box::pin(async move {
        match incoming.is_shared() {
            true => meeting.all_again(incoming).await,
            false => meeting.all(incoming).await,
        }
    })
}

/// The meeting, seen from here.
struct Ours<'a> {
    me: Party,
    addresses: &'a [String],
    security: &'a Security,
    until: Instant,
    patience: Duration,
    /// Number of connections that we offer.
    offer: u8,
    missing: Mutex<Vec<Party>>,
    observe: &'a (dyn Fn(Meeting<'_>) + Sync),
}

impl Ours<'_> {
    async fn all(&self, incoming: Incoming<'_>) -> Result<TcpTransport, ConnectError> {
        let dialed = try_join_all((0..self.me.index()).map(|i| self.dial(Party::new(i))));
        // Not `try_join`: when dialing fails at once, accepting still tells those who come why.
        let all = Box::pin(join(dialed, self.accept_all(incoming)));
        let waiting = async {
            sleep(MOMENT).await;
            (self.observe)(Meeting::Waiting {
                missing: &self.missing(),
            });
            pending::<()>().await;
        };
        let Either::Left(((dialed, accepted), _)) = select(all, Box::pin(waiting)).await else {
            unreachable!("whoever has said for whom it waits goes on waiting")
        };
        let (mut met, accepted) = (dialed?, accepted?);
        met.extend(accepted);
        met.sort_by_key(|met| met.peer);
        Ok(TcpTransport::new(self.me, met))
    }

    fn missing(&self) -> Vec<Party> {
        let missing = self.missing.lock().unwrap_or_else(PoisonError::into_inner);
        missing.clone()
    }

    /// Whether a party was missing, which it is no more.
    fn came(&self, party: Party) -> bool {
        let mut missing = self.missing.lock().unwrap_or_else(PoisonError::into_inner);
        let before = missing.len();
        missing.retain(|&other| other != party);
        missing.len() < before
    }

    fn parties(&self) -> usize {
        self.addresses.len()
    }

    async fn dial(&self, peer: Party) -> Result<MetParty, ConnectError> {
        let (first, theirs) = self.dial_one(peer, self.until, None).await?;
        // Whoever has just answered does so again at once.
        let until = Instant::now() + INTRODUCTION;
        let others = (1..self.offer.min(theirs.offer))
            .map(|number| self.dial_one(peer, until, Some((number, theirs.tag))));
        let others = try_join_all(others).await?.into_iter();
        self.came(peer);
        let others = others.map(|(met, _)| met);
        Ok(MetParty {
            peer,
            meeting: self.addresses[peer.index()].clone(),
            connections: std::iter::once(first).chain(others).collect(),
        })
    }

    /// Dials the first connection, or the one of this number to whoever gave the first one this tag. Gives the
    /// other side's card, too.
    async fn dial_one(
        &self,
        peer: Party,
        until: Instant,
        further: Option<(u8, Tag)>,
    ) -> Result<(Met, Card), ConnectError> {
        let address = &*self.addresses[peer.index()];
        let begin = Instant::now();
        let unreachable = |reason: String| ConnectError::Unreachable {
            peer,
            address: address.to_owned(),
            after: match further {
                None => self.patience,
                Some(_) => begin.elapsed(),
            },
            reason: match further {
                None => reason,
                Some((number, _)) => format!("{reason}, to connection {}", number + 1),
            },
        };
        let mut pause = Duration::from_millis(2);
        let stream = loop {
            let reason = match timeout_at(until, TcpStream::connect(address)).await {
                Ok(Ok(stream)) => break stream,
                Ok(Err(error)) => error.to_string(),
                Err(_) => "no answer".to_owned(),
            };
            if Instant::now() + pause >= until {
                return Err(unreachable(reason));
            }
            sleep(pause).await;
            pause = (pause * 2).min(Duration::from_millis(200));
        };
        let until = until.max(Instant::now() + INTRODUCTION);
        let introduction = self.introduce(peer, address, stream, further);
        let unanswered = || unreachable("it took the connection but did not answer".to_owned());
        let met = timeout_at(until, introduction).await;
        let met = met.unwrap_or_else(|_| Err(unanswered()));
        met.map_err(|error| match error {
            // Whoever has answered before has gone since.
            ConnectError::System { source, .. } if further.is_some() => {
                unreachable(source.to_string())
            }
            error => error,
        })
    }

    /// The dialing side of a fresh connection.
    async fn introduce(
        &self,
        peer: Party,
        address: &str,
        stream: TcpStream,
        further: Option<(u8, Tag)>,
    ) -> Result<(Met, Card), ConnectError> {
        let mut line = Connecting::new(stream, address)?;
        if let Security::Tls(tls) = self.security {
            let (connection, link) = tls.dial(peer.index())?;
            line.secure(connection.into(), link).await?;
        }
        let theirs = receive_card(&mut line).await?;
        let mut ours = self.card(Some(peer));
        (ours.number, ours.tag) = further.unwrap_or((0, theirs.tag));
        // Sent before it is compared: if they do not fit, the other side learns it too.
        line.send(&ours.encode()).await?;
        self.compare(peer, address, ours, theirs)?;
        Ok((line.into_met(), theirs))
    }

    async fn accept_all(&self, mut incoming: Incoming<'_>) -> Result<Vec<MetParty>, ConnectError> {
        let above = || (self.me.index() + 1..self.parties()).map(Party::new);
        let address = &self.addresses[self.me.index()];
        let mut gathering = Gathering::new(above(), self.offer, address);
        let mut until = self.until;
        let mut refused: Option<ConnectError> = None;
        let mut strangers = Refusals::default();
        let mut newcomers = Newcomers::new(above().count() * usize::from(self.offer));
        while !gathering.complete() {
            let missing = (!gathering.all_came()).then_some(until);
            let due = gathering.due();
            let limit = missing.into_iter().chain(due.map(|(due, _)| due)).min();
            let limit = limit.unwrap_or(until);
            tokio::select! {
                () = sleep_until(limit) => {
                    // A party's own failure to introduce itself is told as it is.
                    let strangers = std::mem::take(&mut strangers).most_telling();
                    return Err(refused.unwrap_or_else(|| match due {
                        Some((due, coming)) if due <= limit => coming.incomplete(strangers),
                        _ => self.not_come(strangers),
                    }));
                }
                came = incoming.next() => match came {
                    Ok((stream, from)) => {
                        newcomers.admit(from, self.receive(stream, from.to_string()));
                    }
                    // Out of descriptors, or the newcomer has gone: others may still come.
                    Err(_) => sleep(Duration::from_millis(10)).await,
                },
                Some((from, newcomer)) = newcomers.next() => match newcomer {
                    // A second first connection of the same party is not kept: the first one counts.
                    Ok(newcomer) => {
                        let first = gathering.take(newcomer, |error| {
                            self.turn_away(&mut strangers, from, error);
                        });
                        first.inspect(|&party| _ = self.came(party));
                    }
                    Err(error) if of_a_stranger(&error) => {
                        self.turn_away(&mut strangers, from, error);
                    }
                    Err(error) => {
                        until = until.min(Instant::now() + GRACE);
                        refused.get_or_insert(error);
                    }
                },
            }
        }
        Ok(gathering.into_met().collect())
    }

    fn turn_away(&self, strangers: &mut Refusals, from: SocketAddr, error: ConnectError) {
        strangers.note(from.ip(), error, |why, last| {
            (self.observe)(Meeting::Refused { why, last });
        });
    }

    /// The error that parties which dial us have not come.
    fn not_come(&self, refused: Vec<ConnectError>) -> ConnectError {
        let mut missing = self.missing();
        missing.retain(|&party| party > self.me);
        ConnectError::Missing {
            missing,
            after: self.patience,
            refused,
        }
    }

    /// The accepting side of a fresh connection.
    async fn receive(&self, stream: TcpStream, from: String) -> Result<Newcomer, ConnectError> {
        let silent = || ConnectError::Foreign {
            address: from.clone(),
            got: "nothing".to_owned(),
        };
        timeout_at(
            Instant::now() + INTRODUCTION,
            self.receive_patiently(stream, &from),
        )
        .await
        .unwrap_or_else(|_| Err(silent()))
    }

    async fn receive_patiently(
        &self,
        stream: TcpStream,
        from: &str,
    ) -> Result<Newcomer, ConnectError> {
        let mut line = Connecting::new(stream, from)?;
        let parties = self.parties();
        // Party that the key proves; nothing that the other side says makes up for it.
        let mut proved = None;
        if let Security::Tls(tls) = self.security {
            let (connection, link) = tls.accept(from)?;
            let index = line.secure(connection.into(), link).await?;
            proved = Some(Party::checked(index, parties).map_err(|_| index));
        }
        let known = proved.and_then(Result::ok);
        let mut ours = self.card(known);
        // Nobody else knows it under TLS: who names it has had it of this connection.
        getrandom::fill(&mut ours.tag).expect("the operating system gives randomness");
        line.send(&ours.encode()).await?;
        let theirs = receive_card(&mut line).await?;
        let peer = match proved {
            Some(Ok(proved)) => Some(proved),
            Some(Err(index)) => {
                return Err(ConnectError::Outsider {
                    address: from.to_owned(),
                    index,
                    parties,
                });
            }
            None => Party::checked(theirs.from.into(), parties).ok(),
        };
        let Some(peer) = peer.filter(|&peer| peer > self.me) else {
            return Err(ConnectError::Number {
                address: from.to_owned(),
                me: self.me,
                claimed: theirs.from,
                parties,
            });
        };
        self.compare(peer, from, self.card(Some(peer)), theirs)?;
        if theirs.number == 0 && theirs.tag != ours.tag {
            return Err(ConnectError::Astray {
                peer,
                address: from.to_owned(),
                problem: "it does not answer our introduction",
            });
        }
        Ok(Newcomer {
            peer,
            number: theirs.number,
            offer: theirs.offer,
            tag: theirs.tag,
            met: line.into_met(),
            address: from.to_owned(),
        })
    }

    fn card(&self, peer: Option<Party>) -> Card {
        Card::new(self.me, peer, self.parties(), self.offer)
    }

    fn compare(
        &self,
        peer: Party,
        address: &str,
        ours: Card,
        theirs: Card,
    ) -> Result<(), ConnectError> {
        match ours.difference(theirs) {
            None => Ok(()),
            Some((what, ours, theirs)) => Err(ConnectError::Card {
                peer,
                address: address.to_owned(),
                what,
                ours: ours.to_string(),
                theirs: theirs.to_string(),
            }),
        }
    }
}

/// Whether this says nothing about the parties that we wait for: under TLS all that comes from who has
/// not proved to be one of them, as certificates are public and alerts are anybody's.
fn of_a_stranger(error: &ConnectError) -> bool {
    !matches!(
        error,
        ConnectError::Card { .. } | ConnectError::Number { .. }
    )
}

async fn receive_card(line: &mut Connecting<'_>) -> Result<Card, ConnectError> {
    let bytes = line.receive::<HEAD_BYTES>().await?;
    let mut card = Card::decode(bytes).map_err(|got| ConnectError::Foreign {
        address: line.address().to_owned(),
        got,
    })?;
    // Who speaks another version may say no more.
    card.tag = line.receive().await?;
    Ok(card)
}
