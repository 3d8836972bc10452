//! Mutually authenticated TLS 1.3 between the parties of a [`Roster`].
//!
//! There is no certificate authority and no name: each side demands the other's pinned key, and a
//! certificate valid by its own clock. Anybody else is refused during the handshake with a TLS
//! alert, which the other side reads back as [`TlsError::RefusedDates`] or
//! [`TlsError::RefusedKey`]. Key exchange is X25519MLKEM768, so that traffic recorded today stays
//! closed to a later quantum computer; the bulk cipher is AES-128-GCM, of the library that is faster
//! here ([`libraries`]). Sessions are never resumed.
//!
//! # For transports
//! - In TLS 1.3 the dialing side finishes its handshake *before* the accepting side has seen its
//!   certificate. A refusal reaches it at its first read. So the accepting side speaks first, and
//!   the dialing side reports an open connection only after that first message.
//! - Until then the dialing side sends nothing: data that the accepting side never reads makes its
//!   kernel reset the connection, which may destroy the alert on its way.
//! - Before the handshake is complete, a name in an error of an accepted connection is a claim that
//!   anybody can make. Drop such a connection and keep listening; it must not end a session.
//! - A stranger can connect and stay silent: bound the time that a handshake may take.
//!
//! ```no_run
//! # use std::{net::TcpListener, path::Path, sync::Arc};
//! # use madrigal_net::{identity::{Identity, IdentityFiles}, roster::Roster, tls::{TlsParty, handshake}};
//! # fn main() -> Result<(), Box<dyn std::error::Error>> {
//! let roster = Arc::new(Roster::load(Path::new("parties.toml"))?);
//! let identity = Identity::load(&IdentityFiles::in_directory(Path::new("."), "alice"))?;
//! let tls = TlsParty::new(&identity, roster)?;
//!
//! let (mut socket, from) = TcpListener::bind("0.0.0.0:7700")?.accept()?;
//! let (mut connection, link) = tls.accept(&from.to_string())?;
//! let peer = handshake(&mut connection, &mut socket, &link)?;
//! # Ok(()) }
//! ```

use std::fmt;
use std::io::{self, Read, Write};
use std::ops::{Deref, DerefMut};
use std::sync::{Arc, OnceLock};

use rustls::client::Resumption;
use rustls::crypto::CryptoProvider;
use rustls::pki_types::ServerName;
use rustls::server::NoServerSessionStorage;
use rustls::sign::SingleCertAndKey;
use rustls::time_provider::{DefaultTimeProvider, TimeProvider};
use rustls::{
    ClientConfig, ClientConnection, CommonState, ConnectionCommon, ServerConfig, ServerConnection,
    SideData, version,
};

use crate::identity::{Identity, certified_fingerprint};
use crate::roster::Roster;

mod asked;
mod clients;
mod error;
mod own;
mod provider;
mod verify;
mod wire;
pub use asked::asked_protocols;
pub use clients::{CLIENT_ALPN, ClientTls, DialedServer, ServerTls};
pub use error::{Peer, TlsError};
use own::Own;
pub use provider::libraries;
use provider::provider;
use verify::{PinnedClients, PinnedServer};
pub use wire::{Turn, Wire};

/// The application protocol (RFC 7301) that both sides must name. It keeps connections for other
/// services out, and will tell versions apart.
pub const ALPN: &[u8] = madrigal_core::domains::ALPN;

/// Parties are known by their keys; this only fills the field that TLS wants filled.
const SERVER_NAME: &str = "madrigal";

/// One party's end of TLS: makes connections to and from the others of its roster.
#[derive(Clone)]
pub struct TlsParty {
    own: Own,
    provider: Arc<CryptoProvider>,
    clock: Arc<dyn TimeProvider>,
    signer: Arc<SingleCertAndKey>,
}

impl TlsParty {
    /// The roster's party that has this identity's key, with the system's clock.
    ///
    /// # Errors
    /// [`TlsError`]: the roster does not list the key, or the certificate is not valid now.
    pub fn new(identity: &Identity, roster: Arc<Roster>) -> Result<Self, TlsError> {
        Self::with_clock(identity, roster, Arc::new(DefaultTimeProvider))
    }

    /// Makes a party as [`TlsParty::new`] does, with another clock for the certificates' dates.
    ///
    /// # Errors
    /// [`TlsError`] in the same cases as [`TlsParty::new`].
    pub fn with_clock(
        identity: &Identity,
        roster: Arc<Roster>,
        clock: Arc<dyn TimeProvider>,
    ) -> Result<Self, TlsError> {
        let key = identity.fingerprint();
        let party = roster
            .by_key(&key)
            .ok_or(TlsError::OwnKeyNotListed { key })?;
        let ours = Self::build(identity, roster, party, clock)?;
        ours.objection()?;
        Ok(ours)
    }

    /// Makes party `party`, also where it is plain beforehand that the others will refuse us
    /// ([`objection`](Self::objection)): they learn the reason only from somebody who comes.
    ///
    /// # Errors
    /// [`TlsError`]: the roster has no such party or gives the key to another one, or the cryptographic library
    /// refused.
    pub fn presenting(
        identity: &Identity,
        roster: Arc<Roster>,
        party: usize,
    ) -> Result<Self, TlsError> {
        Self::build(identity, roster, party, Arc::new(DefaultTimeProvider))
    }

    fn build(
        identity: &Identity,
        roster: Arc<Roster>,
        party: usize,
        clock: Arc<dyn TimeProvider>,
    ) -> Result<Self, TlsError> {
        if party >= roster.len() {
            let (own, parties) = (party, roster.len());
            return Err(TlsError::NoSuchPeer {
                party,
                own,
                parties,
            });
        }
        let key = identity.fingerprint();
        // A party that dials the listed owner of its own key would meet itself, by whoever passes its bytes back.
        if let Some(owner) = roster.by_key(&key).filter(|&owner| owner != party) {
            return Err(TlsError::OwnKeyOfAnother { key, party, owner });
        }
        let signer = identity.certified_key().map_err(TlsError::Setup)?;
        Ok(Self {
            own: Own {
                roster,
                party,
                key,
                validity: identity.validity(),
            },
            provider: Arc::new(provider()),
            clock,
            signer: Arc::new(SingleCertAndKey::from(signer)),
        })
    }

    /// Whether others can accept us, by our own roster and clock.
    ///
    /// # Errors
    /// [`TlsError::OwnKeyNotListed`], [`TlsError::OwnDates`], [`TlsError::NoClock`].
    pub fn objection(&self) -> Result<(), TlsError> {
        let Own {
            roster,
            party,
            key,
            validity,
        } = &self.own;
        if roster.by_key(key) != Some(*party) {
            return Err(TlsError::OwnKeyNotListed { key: *key });
        }
        let now = self.clock.current_time().ok_or(TlsError::NoClock)?;
        if !validity.contains(now) {
            let validity = *validity;
            return Err(TlsError::OwnDates { validity, now });
        }
        Ok(())
    }

    /// Number of this party in the roster.
    pub fn party(&self) -> usize {
        self.own.party
    }

    /// The parties.
    pub fn roster(&self) -> &Arc<Roster> {
        &self.own.roster
    }

    /// A connection to `party`, to be driven over a stream that leads to its address.
    ///
    /// # Errors
    /// [`TlsError`]: `party` is this party or not in the roster.
    pub fn dial(&self, party: usize) -> Result<(ClientConnection, OtherSide), TlsError> {
        let (config, link) = self.dial_config(party)?;
        let connection = ClientConnection::new(config, server_name()).map_err(TlsError::Setup)?;
        Ok((connection, link))
    }

    /// Gives the configuration that [`TlsParty::dial`] connects with, for drivers that make their own connection; they
    /// pass [`server_name`].
    ///
    /// # Errors
    /// [`TlsError`] in the same cases as [`TlsParty::dial`].
    pub fn dial_config(&self, party: usize) -> Result<(Arc<ClientConfig>, OtherSide), TlsError> {
        if party == self.own.party || party >= self.own.roster.len() {
            return Err(TlsError::NoSuchPeer {
                party,
                own: self.own.party,
                parties: self.own.roster.len(),
            });
        }
        let verifier = PinnedServer {
            roster: self.own.roster.clone(),
            party,
            algorithms: self.provider.signature_verification_algorithms,
        };
        let mut config =
            ClientConfig::builder_with_details(self.provider.clone(), self.clock.clone())
                .with_protocol_versions(&[&version::TLS13])
                .map_err(TlsError::Setup)?
                .dangerous()
                .with_custom_certificate_verifier(Arc::new(verifier))
                .with_client_cert_resolver(self.signer.clone());
        config.resumption = Resumption::disabled();
        config.enable_sni = false;
        config.alpn_protocols = vec![ALPN.to_vec()];
        let link = OtherSide {
            own: self.own.clone(),
            end: End::Dialed(party),
        };
        Ok((Arc::new(config), link))
    }

    /// A connection that somebody opened to this party. `from` says where it came from, for
    /// errors.
    ///
    /// # Errors
    /// [`TlsError`]: the cryptographic library refused.
    pub fn accept(&self, from: &str) -> Result<(ServerConnection, OtherSide), TlsError> {
        let (config, link) = self.accept_config(from)?;
        let connection = ServerConnection::new(config).map_err(TlsError::Setup)?;
        Ok((connection, link))
    }

    /// Gives the configuration that [`TlsParty::accept`] answers with, for drivers that make their own connection. It
    /// serves one connection: the link learns from it who that is.
    ///
    /// # Errors
    /// [`TlsError`] in the same cases as [`TlsParty::accept`].
    pub fn accept_config(&self, from: &str) -> Result<(Arc<ServerConfig>, OtherSide), TlsError> {
        let claimed = Arc::new(OnceLock::new());
        let verifier = PinnedClients {
            roster: self.own.roster.clone(),
            own: self.own.party,
            algorithms: self.provider.signature_verification_algorithms,
            claimed: claimed.clone(),
        };
        let mut config =
            ServerConfig::builder_with_details(self.provider.clone(), self.clock.clone())
                .with_protocol_versions(&[&version::TLS13])
                .map_err(TlsError::Setup)?
                .with_client_cert_verifier(Arc::new(verifier))
                .with_cert_resolver(self.signer.clone());
        config.session_storage = Arc::new(NoServerSessionStorage {});
        config.send_tls13_tickets = 0;
        config.alpn_protocols = vec![ALPN.to_vec()];
        let from = from.to_owned();
        let link = OtherSide {
            own: self.own.clone(),
            end: End::Accepted { from, claimed },
        };
        Ok((Arc::new(config), link))
    }
}

impl fmt::Debug for TlsParty {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("TlsParty").field(&self.own).finish()
    }
}

/// The name that dialing connections are made with. It is not sent and not checked.
pub fn server_name() -> ServerName<'static> {
    // The literal is a valid DNS name; the address is never reached and harmless.
    ServerName::try_from(SERVER_NAME).unwrap_or(ServerName::from(std::net::Ipv4Addr::UNSPECIFIED))
}

/// A connection, seen from here: turns rustls' errors into errors that name the party
/// and the remedy.
#[derive(Clone, Debug)]
pub struct OtherSide {
    own: Own,
    end: End,
}

#[derive(Clone, Debug)]
enum End {
    Dialed(usize),
    Accepted {
        from: String,
        /// Set when a listed key was presented, before its possession is proved.
        claimed: Arc<OnceLock<usize>>,
    },
}

impl OtherSide {
    /// Gives the number of the other side's party, proved by the handshake that `connection` has completed.
    /// Pass a rustls connection of either side.
    ///
    /// # Errors
    /// [`TlsError`]: the handshake is not complete, or did not settle on the protocol [`ALPN`].
    pub fn peer_party(&self, connection: &CommonState) -> Result<usize, TlsError> {
        if connection.is_handshaking() {
            return Err(TlsError::Unfinished {
                peer: Box::new(self.peer()),
            });
        }
        // rustls lets a client pass that names no protocol at all.
        if connection.alpn_protocol() != Some(ALPN) {
            return Err(self.explain(&rustls::Error::NoApplicationProtocol));
        }
        connection
            .peer_certificates()
            .and_then(|certificates| certificates.first())
            .and_then(|certificate| certified_fingerprint(certificate).ok())
            .and_then(|key| self.own.roster.by_key(&key))
            .ok_or_else(|| TlsError::Unfinished {
                peer: Box::new(self.peer()),
            })
    }

    /// The other side, for people.
    pub fn peer(&self) -> Peer {
        let listed = |party: usize| self.own.roster.party(party);
        match &self.end {
            End::Dialed(party) => Peer {
                party: Some(*party),
                name: listed(*party).map(|entry| entry.name.clone()),
                dialed: true,
                address: listed(*party).map_or_else(String::new, |entry| entry.address.to_string()),
            },
            End::Accepted { from, claimed } => {
                let party = claimed.get().copied();
                Peer {
                    party,
                    name: party.and_then(listed).map(|entry| entry.name.clone()),
                    dialed: false,
                    address: from.clone(),
                }
            }
        }
    }

    /// Explains a rustls error on this connection.
    pub fn explain(&self, error: &rustls::Error) -> TlsError {
        error::explain(&self.own, Box::new(self.peer()), error)
    }

    /// Explains an I/O error of a stream under or over rustls on this connection.
    pub fn explain_io(&self, error: io::Error) -> TlsError {
        match error
            .get_ref()
            .and_then(|e| e.downcast_ref::<rustls::Error>())
        {
            Some(tls) => self.explain(tls),
            None => error::explain_io(Box::new(self.peer()), error),
        }
    }
}

/// Runs a handshake to its end over a blocking stream and tells which party is there. When this
/// side refuses, the alert has been sent before the error comes back.
///
/// On a dialed connection the other side may still refuse: see the module's first note.
///
/// # Errors
/// Either side refused, or the stream failed; all of [`TlsError`].
pub fn handshake<C, D>(
    connection: &mut C,
    stream: &mut (impl Read + Write),
    link: &OtherSide,
) -> Result<usize, TlsError>
where
    C: DerefMut + Deref<Target = ConnectionCommon<D>>,
    D: SideData,
{
    while connection.is_handshaking() || connection.wants_write() {
        let (read, written) = connection
            .complete_io(stream)
            .map_err(|error| link.explain_io(error))?;
        if read == 0 && written == 0 {
            return Err(TlsError::Closed {
                peer: Box::new(link.peer()),
            });
        }
    }
    link.peer_party(connection)
}
