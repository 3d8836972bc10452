//! How parties find each other over TCP: each dials the parties before it and accepts those after.
//!
//! On every connection, under TLS if there is TLS, the accepting side first sends a card that says
//! who it is, and the dialing side answers with its own. The accepting side's card tells the dialing
//! side that its certificate was accepted: in TLS 1.3 it could not know before, and bytes sent sooner
//! could cost it the alert that says why not. Under TLS the keys must bear the cards out.

use std::io;
use std::time::Duration;

use bytes::{Buf, BytesMut};
use futures_util::future::{join, try_join_all};
use madrigal_core::Party;
use tokio::net::{TcpListener, TcpStream};
use tokio::time::{Instant, sleep, sleep_until, timeout_at};

use super::tcp::{Met, Nonblocking, TcpTransport};
use crate::control::printable;
use crate::tls::{Link, TlsError, TlsParty};

/// How connections are protected.
#[derive(Debug, Clone)]
pub enum Security {
    /// Nothing: whoever can reach the port can pose as a party, and whoever sees the packets sees
    /// them. For tests, and for networks that are protected otherwise.
    Clear,
    /// TLS 1.3 with pinned keys.
    Tls(TlsParty),
}

/// Why the parties did not all meet.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum ConnectError {
    /// A party could not be reached in time.
    #[error("{peer} could not be reached at {address} within {:.1} s ({reason}); see that it was started and that `address` is right, or raise --connect-timeout", .after.as_secs_f64())]
    Unreachable {
        /// Whom we dialed.
        peer: Party,
        /// Where.
        address: String,
        /// How long.
        after: Duration,
        /// The last try's failure.
        reason: String,
    },
    /// A party did not dial us in time.
    #[error("{} did not connect to us within {:.1} s{}; see that it was started with our address, or raise --connect-timeout", list(.missing), .after.as_secs_f64(), turned_away(.refused))]
    Missing {
        /// Who did not come.
        missing: Vec<Party>,
        /// How long we waited.
        after: Duration,
        /// Why somebody who came was turned away, if somebody was.
        refused: Option<String>,
    },
    /// The TLS connection to a party could not be made.
    #[error(transparent)]
    Tls(#[from] TlsError),
    /// The other side is not whom we mean, or does not mean us.
    #[error(
        "the connection with {peer} at {address}: {what} is {theirs} there and {ours} here; start both with the same parties.toml{} and different --party",
        dealers(what)
    )]
    Card {
        /// Whom we mean.
        peer: Party,
        /// Where.
        address: String,
        /// Which fact differs.
        what: &'static str,
        /// The fact here.
        ours: String,
        /// The fact there.
        theirs: String,
    },
    /// Somebody dialed us with a number that cannot be.
    #[error(
        "somebody at {address} dialed {me} as party {claimed}, but only the parties after {me} of {parties} dial it; give each process its own --party, and all the same parties.toml and --correlations (a [dealer] is one party more)"
    )]
    Number {
        /// Where from.
        address: String,
        /// Who we are.
        me: Party,
        /// The number it gave.
        claimed: u8,
        /// How many parties there are.
        parties: usize,
    },
    /// The other side speaks something else.
    #[error(
        "the other side at {address} does not speak madrigal's protocol version {}: it answered {got}; install the same version at both, and use the same --transport",
        CARD_VERSION
    )]
    Foreign {
        /// Where.
        address: String,
        /// What came.
        got: String,
    },
    /// The operating system refused something.
    #[error("{what}: {source}")]
    System {
        /// What we were doing.
        what: String,
        /// The system's reason.
        source: io::Error,
    },
}

impl ConnectError {
    /// Whether who dialed us did not even begin to speak as parties do: a port scanner, a probe of a
    /// load balancer, a browser. That says nothing about the parties that we wait for.
    fn is_of_a_stranger(&self) -> bool {
        match self {
            Self::Foreign { .. } | Self::System { .. } => true,
            Self::Tls(error) => matches!(
                error,
                TlsError::NotTls { .. }
                    | TlsError::Incompatible { .. }
                    | TlsError::NoCertificate { .. }
                    | TlsError::Closed { .. }
                    | TlsError::Io { .. }
            ),
            _ => false,
        }
    }
}

/// What else makes this fact differ.
fn dealers(what: &str) -> &'static str {
    if what == PARTIES {
        " and --correlations (a [dealer] is one party more)"
    } else {
        ""
    }
}

fn list(parties: &[Party]) -> String {
    parties
        .iter()
        .map(Party::to_string)
        .collect::<Vec<_>>()
        .join(", ")
}

fn turned_away(refused: &Option<String>) -> String {
    refused
        .as_ref()
        .map(|why| format!("; somebody was refused: {why}"))
        .unwrap_or_default()
}

const PARTIES: &str = "the number of parties";

const CARD_VERSION: u8 = 1;
const CARD_BYTES: usize = 16;
/// In the place of whom a card is for, while its sender does not know who is there.
const ANYONE: u8 = 0xff;
/// A stranger may hold a connection open no longer than this before it has shown who it is.
const INTRODUCTION: Duration = Duration::from_secs(5);
/// After somebody was refused who speaks as parties do, the missing parties have this long to come
/// all the same: who was refused was probably one of them.
const GRACE: Duration = Duration::from_secs(3);

/// What each side says first: `MADRIGAL`, the version, the sender, whom it means (or
/// [`ANYONE`]), the number of parties, and four zero bytes.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
struct Card {
    from: u8,
    to: u8,
    parties: u8,
}

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
pub async fn connect(
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
        let theirs = line.receive_card().await?;
        // Sent before it is compared: if they do not fit, the other side learns it too.
        line.send(&ours.encode()).await?;
        self.compare(peer, address, ours, theirs)?;
        Ok(line.into_met(peer))
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
        let theirs = line.receive_card().await?;
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
        Ok(line.into_met(peer))
    }

    fn card(&self, peer: Option<Party>) -> Card {
        // All are at most 64.
        let [from, parties] = [self.me.index(), self.parties].map(|n| n as u8);
        Card {
            from,
            to: peer.map_or(ANYONE, |peer| peer.index() as u8),
            parties,
        }
    }

    fn compare(
        &self,
        peer: Party,
        address: &str,
        ours: Card,
        theirs: Card,
    ) -> Result<(), ConnectError> {
        let facts = [
            (PARTIES, ours.parties, theirs.parties),
            ("that party's number", ours.to, theirs.from),
            ("our number", ours.from, theirs.to),
        ];
        for (what, ours, theirs) in facts {
            if ours != theirs && theirs != ANYONE {
                return Err(ConnectError::Card {
                    peer,
                    address: address.to_owned(),
                    what,
                    ours: ours.to_string(),
                    theirs: theirs.to_string(),
                });
            }
        }
        Ok(())
    }
}

impl Card {
    fn encode(self) -> [u8; CARD_BYTES] {
        let mut bytes = *b"MADRIGAL\0\0\0\0\0\0\0\0";
        bytes[8..12].copy_from_slice(&[CARD_VERSION, self.from, self.to, self.parties]);
        bytes
    }

    fn decode(bytes: [u8; CARD_BYTES], address: &str) -> Result<Self, ConnectError> {
        let foreign = |got: String| {
            Err(ConnectError::Foreign {
                address: address.to_owned(),
                got,
            })
        };
        let [name @ .., version, from, to, parties, 0, 0, 0, 0] = bytes else {
            return foreign("a malformed introduction".to_owned());
        };
        if name != *b"MADRIGAL" {
            return foreign(format!("`{}`", printable(&String::from_utf8_lossy(&bytes))));
        }
        if version != CARD_VERSION {
            return foreign(format!("version {version}"));
        }
        Ok(Self { from, to, parties })
    }
}

/// A connection that is being made.
struct Line<'a> {
    stream: TcpStream,
    address: &'a str,
    tls: Option<(rustls::Connection, Link)>,
    early: BytesMut,
}

impl<'a> Line<'a> {
    fn new(stream: TcpStream, address: &'a str) -> Result<Self, ConnectError> {
        // Without it each round waits 40 ms for the other side's delayed acknowledgement.
        stream
            .set_nodelay(true)
            .map_err(|source| failed("setting TCP_NODELAY", source))?;
        Ok(Self {
            stream,
            address,
            tls: None,
            early: BytesMut::new(),
        })
    }

    /// Runs the TLS handshake; gives the party that the other side has proved to be.
    async fn secure(
        &mut self,
        mut connection: rustls::Connection,
        link: Link,
    ) -> Result<usize, ConnectError> {
        connection.set_buffer_limit(None);
        self.tls = Some((connection, link));
        while self
            .tls
            .as_ref()
            .is_some_and(|(tls, _)| tls.is_handshaking() || tls.wants_write())
        {
            self.push().await?;
            if self
                .tls
                .as_ref()
                .is_some_and(|(tls, _)| tls.is_handshaking())
            {
                self.pull().await?;
            }
        }
        let Some((tls, link)) = &self.tls else {
            unreachable!("it was set above")
        };
        Ok(link.peer_party(tls)?)
    }

    fn explain(&self, error: io::Error) -> ConnectError {
        match &self.tls {
            Some((_, link)) => ConnectError::Tls(link.explain_io(error)),
            None => failed(&format!("speaking with {}", self.address), error),
        }
    }

    /// Writes what TLS has to write.
    async fn push(&mut self) -> Result<(), ConnectError> {
        while let Some((tls, _)) = &mut self.tls {
            if !tls.wants_write() {
                break;
            }
            match tls.write_tls(&mut Nonblocking(&self.stream)) {
                Ok(_) => {}
                Err(error) if error.kind() == io::ErrorKind::WouldBlock => {
                    self.stream
                        .writable()
                        .await
                        .map_err(|error| self.explain(error))?;
                }
                Err(error) => {
                    // Why the other side went may be there to be read.
                    let explained = self.explain(error);
                    return Err(self.pull().await.err().unwrap_or(explained));
                }
            }
        }
        Ok(())
    }

    /// Reads once, and appends what it means to `early`.
    async fn pull(&mut self) -> Result<(), ConnectError> {
        loop {
            self.stream
                .readable()
                .await
                .map_err(|error| self.explain(error))?;
            let came = match &mut self.tls {
                Some((tls, _)) => tls.read_tls(&mut Nonblocking(&self.stream)),
                None => self.stream.try_read_buf(&mut self.early),
            };
            match came {
                Ok(0) => return Err(self.explain(io::ErrorKind::UnexpectedEof.into())),
                Ok(_) => break,
                Err(error) if error.kind() == io::ErrorKind::WouldBlock => {}
                Err(error) => return Err(self.explain(error)),
            }
        }
        let Some((tls, link)) = &mut self.tls else {
            return Ok(());
        };
        match tls.process_new_packets() {
            Ok(state) => {
                let start = self.early.len();
                self.early
                    .resize(start + state.plaintext_bytes_to_read(), 0);
                let read = io::Read::read_exact(&mut tls.reader(), &mut self.early[start..]);
                read.map_err(|error| self.explain(error))
            }
            Err(error) => {
                let error = link.explain(&error);
                // The alert tells the other side why; it is small enough to leave at once.
                let _ = tls.write_tls(&mut Nonblocking(&self.stream));
                Err(error.into())
            }
        }
    }

    async fn send(&mut self, bytes: &[u8]) -> Result<(), ConnectError> {
        if let Some((tls, _)) = &mut self.tls {
            let written = io::Write::write_all(&mut tls.writer(), bytes);
            written.map_err(|error| self.explain(error))?;
            return self.push().await;
        }
        let mut rest = bytes;
        while rest.has_remaining() {
            self.stream
                .writable()
                .await
                .map_err(|error| self.explain(error))?;
            match self.stream.try_write(rest) {
                Ok(written) => rest.advance(written),
                Err(error) if error.kind() == io::ErrorKind::WouldBlock => {}
                Err(error) => return Err(self.explain(error)),
            }
        }
        Ok(())
    }

    async fn receive_card(&mut self) -> Result<Card, ConnectError> {
        while self.early.len() < CARD_BYTES {
            self.pull().await?;
        }
        let mut bytes = [0; CARD_BYTES];
        self.early.copy_to_slice(&mut bytes);
        Card::decode(bytes, self.address)
    }

    fn into_met(self, peer: Party) -> Met {
        let tls = self.tls.map(|(tls, _)| tls);
        Met {
            peer,
            stream: self.stream,
            tls,
            early: self.early,
        }
    }
}

fn failed(what: &str, source: io::Error) -> ConnectError {
    ConnectError::System {
        what: what.to_owned(),
        source,
    }
}
