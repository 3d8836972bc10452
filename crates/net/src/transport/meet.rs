//! How parties find each other over TCP: each dials the parties before it and accepts those after.
//!
//! On every connection, under TLS if there is TLS, the accepting side first sends a card that says
//! who it is, and the dialing side answers with its own. The accepting side's card tells the dialing
//! side that its certificate was accepted: in TLS 1.3 it could not know before, and bytes sent sooner
//! could cost it the alert that says why not. Under TLS the keys must bear the cards out.

mod card;
mod error;
mod line;

use std::time::Duration;

use futures_util::future::{BoxFuture, join, try_join_all};
use madrigal_core::Party;
use tokio::net::{TcpListener, TcpStream};
use tokio::time::{Instant, sleep, sleep_until, timeout_at};

use super::tcp::{Met, TcpTransport};
use crate::tls::TlsParty;
use card::{CARD_BYTES, Card};
pub use error::ConnectError;
use line::Line;

/// How connections are protected.
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
/// After somebody was refused who speaks as parties do, the missing parties have this long to come
/// all the same: who was refused was probably one of them.
const GRACE: Duration = Duration::from_secs(3);

/// Connects all parties. `addresses[i]` is where party `i` listens, as host:port; `listener` is our
/// own. Parties may start in any order within `patience`.
///
/// Runs in a tokio runtime with I/O and time, to which the connections belong from then on. The
/// session over them may be driven from anywhere ([`block_on`](crate::block_on) on a thread of one's
/// own), as long as that runtime runs: one of several threads does so by itself, a
/// `current_thread` one only inside its `block_on`.
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
    Box::pin(connect_all(me, addresses, listener, security, patience))
}

async fn connect_all(
    me: Party,
    addresses: &[String],
    listener: TcpListener,
    security: &Security,
    patience: Duration,
) -> Result<TcpTransport, ConnectError> {
    let meeting = Meeting {
        me,
        parties: addresses.len(),
        security,
        until: Instant::now() + patience,
        patience,
    };
    let dialed = try_join_all((0..me.index()).map(|i| meeting.dial(Party::new(i), &addresses[i])));
    // Not `try_join`: when dialing fails at once, accepting still tells those who come why.
    let (dialed, accepted) = join(dialed, meeting.accept_all(listener)).await;
    let (mut met, accepted) = (dialed?, accepted?);
    met.extend(accepted);
    met.sort_by_key(|met| met.peer);
    Ok(TcpTransport::new(me, met))
}

struct Meeting<'a> {
    me: Party,
    parties: usize,
    security: &'a Security,
    until: Instant,
    patience: Duration,
}

impl Meeting<'_> {
    async fn dial(&self, peer: Party, address: &str) -> Result<Met, ConnectError> {
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
        timeout_at(until, self.introduce(peer, address, stream))
            .await
            .unwrap_or_else(|_| Err(unanswered()))
    }

    /// The dialing side of a fresh connection.
    async fn introduce(
        &self,
        peer: Party,
        address: &str,
        stream: TcpStream,
    ) -> Result<Met, ConnectError> {
        let mut line = Line::new(stream, address)?;
        if let Security::Tls(tls) = self.security {
            let (connection, link) = tls.dial(peer.index())?;
            line.secure(connection.into(), link).await?;
        }
        let ours = self.card(Some(peer));
        let theirs = receive_card(&mut line).await?;
        // Sent before it is compared: if they do not fit, the other side learns it too.
        line.send(&ours.encode()).await?;
        self.compare(peer, address, ours, theirs)?;
        Ok(met(line, peer))
    }

    async fn accept_all(&self, listener: TcpListener) -> Result<Vec<Met>, ConnectError> {
        let mut missing: Vec<Party> = (self.me.index() + 1..self.parties)
            .map(Party::new)
            .collect();
        let mut met = Vec::new();
        let mut until = self.until;
        let mut refused: Option<ConnectError> = None;
        let mut stranger: Option<String> = None;
        let mut newcomers = futures_util::stream::FuturesUnordered::new();
        while !missing.is_empty() {
            use futures_util::StreamExt;
            tokio::select! {
                () = sleep_until(until) => {
                    // A party's own failure to introduce itself is told as it is.
                    return Err(refused.unwrap_or(ConnectError::Missing {
                        missing,
                        after: self.patience,
                        refused: stranger,
                    }));
                }
                incoming = listener.accept() => match incoming {
                    Ok((stream, from)) => newcomers.push(self.receive(stream, from.to_string())),
                    // Out of descriptors, or the newcomer has gone: others may still come.
                    Err(_) => sleep(Duration::from_millis(10)).await,
                },
                Some(newcomer) = newcomers.next(), if !newcomers.is_empty() => match newcomer {
                    Ok(newcomer) if missing.contains(&newcomer.peer) => {
                        missing.retain(|&party| party != newcomer.peer);
                        met.push(newcomer);
                    }
                    Ok(_) => {} // a second connection of the same party: the first one counts
                    Err(error) if error.is_of_a_stranger() => stranger = Some(error.to_string()),
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
        let mut line = Line::new(stream, from)?;
        let mut proved = None;
        if let Security::Tls(tls) = self.security {
            let (connection, link) = tls.accept(from)?;
            proved = Some(line.secure(connection.into(), link).await?);
        }
        let proved = match proved {
            Some(index) => Party::checked(index, self.parties).ok(),
            None => None,
        };
        line.send(&self.card(proved).encode()).await?;
        let theirs = receive_card(&mut line).await?;
        let claimed = Party::checked(theirs.from.into(), self.parties).ok();
        let Some(peer) = proved.or(claimed).filter(|&peer| peer > self.me) else {
            return Err(ConnectError::Number {
                address: from.to_owned(),
                me: self.me,
                claimed: theirs.from,
                parties: self.parties,
            });
        };
        self.compare(peer, from, self.card(Some(peer)), theirs)?;
        Ok(met(line, peer))
    }

    fn card(&self, peer: Option<Party>) -> Card {
        Card::new(self.me, peer, self.parties)
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

async fn receive_card(line: &mut Line<'_>) -> Result<Card, ConnectError> {
    let bytes = line.receive::<CARD_BYTES>().await?;
    Card::decode(bytes).map_err(|got| ConnectError::Foreign {
        address: line.address().to_owned(),
        got,
    })
}

fn met(line: Line<'_>, peer: Party) -> Met {
    let (stream, tls, early) = line.into_parts();
    Met {
        peer,
        stream,
        tls,
        early,
    }
}
