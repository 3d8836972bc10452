//! Parties find each other over TCP: each dials the parties before it and accepts those after.
//!
//! On every connection, under TLS if there is TLS, the accepting side first sends a card that says
//! who it is, and the dialing side answers with its own. The accepting side's card tells the dialing
//! side that its certificate was accepted: in TLS 1.3 it could not know before, and bytes sent sooner
//! could cost it the alert that says why not. Under TLS the keys alone say who is there, and the cards
//! must bear them out.
//!
//! A newcomer that does not prove to be a party is turned away, and says nothing about the parties: the
//! wait for them goes on. The cost of such strangers is bounded ([`newcomers`]).

mod card;
mod connecting;
mod error;
mod newcomers;
mod refusals;

use std::sync::{Mutex, PoisonError};
use std::time::Duration;

use futures_util::future::{BoxFuture, Either, join, pending, select, try_join_all};
use madrigal_core::Party;
use tokio::net::{TcpListener, TcpStream};
use tokio::time::{Instant, sleep, sleep_until, timeout_at};

use super::tcp::{Met, TcpTransport};
use crate::tls::TlsParty;
use card::{CARD_BYTES, Card};
use connecting::Connecting;
pub use error::ConnectError;
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

/// Connects all parties. `addresses[i]` is where party `i` listens, as host:port; `listener` is our
/// own. Parties may start in any order within `patience`.
///
/// Runs in a tokio runtime with I/O and time, to which the connections belong from then on. The
/// session over them may be driven from anywhere ([`block_on`](crate::block_on) on a thread of one's
/// own), as long as that runtime runs: one of several threads does so by itself, a
/// `current_thread` one only inside its `block_on`.
///
/// A session over the connections compares, unless it has a name, at which address each two meet
/// ([`SessionConfig::name`](crate::SessionConfig::name)): so `addresses` are the same texts at all
/// parties.
///
/// # Errors
/// See [`ConnectError`]; both sides of a refused connection get one.
///
/// # Panics
/// Outside a tokio runtime.
pub fn connect<'a>(
    me: Party,
    addresses: &'a [String],
    listener: TcpListener,
    security: &'a Security,
    patience: Duration,
) -> BoxFuture<'a, Result<TcpTransport, ConnectError>> {
    connect_observed(me, addresses, listener, security, patience, &|_| {})
}

/// Connects as [`connect`] does, and tells `observe` what happens meanwhile.
///
/// # Errors
/// [`ConnectError`] in the same cases as [`connect`].
///
/// # Panics
/// In the same cases as [`connect`].
pub fn connect_observed<'a>(
    me: Party,
    addresses: &'a [String],
    listener: TcpListener,
    security: &'a Security,
    patience: Duration,
    observe: &'a (dyn Fn(Meeting<'_>) + Sync),
) -> BoxFuture<'a, Result<TcpTransport, ConnectError>> {
    let meeting = Ours {
        me,
        addresses,
        security,
        until: Instant::now() + patience,
        patience,
        missing: Mutex::new(me.others(addresses.len()).collect()),
        observe,
    };
    Box::pin(async move { meeting.all(listener).await })
}

/// The meeting, seen from here.
struct Ours<'a> {
    me: Party,
    addresses: &'a [String],
    security: &'a Security,
    until: Instant,
    patience: Duration,
    missing: Mutex<Vec<Party>>,
    observe: &'a (dyn Fn(Meeting<'_>) + Sync),
}

impl Ours<'_> {
    async fn all(&self, listener: TcpListener) -> Result<TcpTransport, ConnectError> {
        let dialed = try_join_all((0..self.me.index()).map(|i| self.dial(Party::new(i))));
        // Not `try_join`: when dialing fails at once, accepting still tells those who come why.
        let all = Box::pin(join(dialed, self.accept_all(listener)));
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

    async fn dial(&self, peer: Party) -> Result<Met, ConnectError> {
        let address = &*self.addresses[peer.index()];
        let mut pause = Duration::from_millis(2);
        let stream = loop {
            let reason = match timeout_at(self.until, TcpStream::connect(address)).await {
                Ok(Ok(stream)) => break stream,
                Ok(Err(error)) => error.to_string(),
                Err(_) => "no answer".to_owned(),
            };
            if Instant::now() + pause >= self.until {
                let (address, after) = (address.to_owned(), self.patience);
                return Err(ConnectError::Unreachable {
                    peer,
                    address,
                    after,
                    reason,
                });
            }
            sleep(pause).await;
            pause = (pause * 2).min(Duration::from_millis(200));
        };
        let unanswered = || ConnectError::Unreachable {
            peer,
            address: address.to_owned(),
            after: self.patience,
            reason: "it took the connection but did not answer".to_owned(),
        };
        let until = self.until.max(Instant::now() + INTRODUCTION);
        let met = timeout_at(until, self.introduce(peer, address, stream)).await;
        let met = met.unwrap_or_else(|_| Err(unanswered()))?;
        self.came(peer);
        Ok(met)
    }

    /// The dialing side of a fresh connection.
    async fn introduce(
        &self,
        peer: Party,
        address: &str,
        stream: TcpStream,
    ) -> Result<Met, ConnectError> {
        let mut line = Connecting::new(stream, address)?;
        if let Security::Tls(tls) = self.security {
            let (connection, link) = tls.dial(peer.index())?;
            line.secure(connection.into(), link).await?;
        }
        let ours = self.card(Some(peer));
        let theirs = receive_card(&mut line).await?;
        // Sent before it is compared: if they do not fit, the other side learns it too.
        line.send(&ours.encode()).await?;
        self.compare(peer, address, ours, theirs)?;
        Ok(met(line, peer, address))
    }

    async fn accept_all(&self, listener: TcpListener) -> Result<Vec<Met>, ConnectError> {
        let above = self.parties() - self.me.index() - 1;
        let mut met = Vec::new();
        let mut until = self.until;
        let mut refused: Option<ConnectError> = None;
        let mut strangers = Refusals::default();
        let mut newcomers = Newcomers::new(self.parties());
        while met.len() < above {
            tokio::select! {
                () = sleep_until(until) => {
                    let after = |party: &Party| *party > self.me;
                    // A party's own failure to introduce itself is told as it is.
                    return Err(refused.unwrap_or_else(|| ConnectError::Missing {
                        missing: self.missing().into_iter().filter(after).collect(),
                        after: self.patience,
                        refused: std::mem::take(&mut strangers).most_telling(),
                    }));
                }
                incoming = listener.accept() => match incoming {
                    Ok((stream, from)) => {
                        newcomers.admit(from, self.receive(stream, from.to_string()));
                    }
                    // Out of descriptors, or the newcomer has gone: others may still come.
                    Err(_) => sleep(Duration::from_millis(10)).await,
                },
                Some((from, newcomer)) = newcomers.next() => match newcomer {
                    // A second connection of the same party is not kept: the first one counts.
                    Ok(newcomer) => met.extend(self.came(newcomer.peer).then_some(newcomer)),
                    Err(error) if of_a_stranger(&error) => {
                        strangers.note(from.ip(), error, |why, last| {
                            (self.observe)(Meeting::Refused { why, last });
                        });
                    }
                    Err(error) => {
                        until = until.min(Instant::now() + GRACE);
                        refused.get_or_insert(error);
                    }
                },
            }
        }
        Ok(met)
    }

    /// The accepting side of a fresh connection.
    async fn receive(&self, stream: TcpStream, from: String) -> Result<Met, ConnectError> {
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

    async fn receive_patiently(&self, stream: TcpStream, from: &str) -> Result<Met, ConnectError> {
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
        line.send(&self.card(known).encode()).await?;
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
        Ok(met(line, peer, &self.addresses[self.me.index()]))
    }

    fn card(&self, peer: Option<Party>) -> Card {
        Card::new(self.me, peer, self.parties())
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
    let bytes = line.receive::<CARD_BYTES>().await?;
    Card::decode(bytes).map_err(|got| ConnectError::Foreign {
        address: line.address().to_owned(),
        got,
    })
}

fn met(line: Connecting<'_>, peer: Party, meeting: &str) -> Met {
    let (stream, tls, early) = line.into_parts();
    Met {
        peer,
        stream,
        tls,
        early,
        meeting: meeting.to_owned(),
    }
}
