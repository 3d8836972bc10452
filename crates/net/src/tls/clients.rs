//! TLS between the servers of a service and their clients, who compute nothing.
//!
//! A client pins each server's key, as parties pin each other's. A server asks a client for a certificate and does without: where there is
//! one, the handshake proves that the client has its key, and whose key it is the service knows. The application protocol is [`CLIENT_ALPN`], so that
//! clients and parties can come to one port and are never taken for each other. Sessions are not resumed.

use std::fmt;
use std::io;
use std::sync::Arc;

use rustls::client::Resumption;
use rustls::crypto::CryptoProvider;
use rustls::server::NoServerSessionStorage;
use rustls::sign::SingleCertAndKey;
use rustls::time_provider::{DefaultTimeProvider, TimeProvider};
use rustls::{ClientConfig, CommonState, Error, ServerConfig, version};

use super::error::{self, Peer, TlsError};
use super::own::Own;
use super::provider::provider;
use super::verify::{AnyClient, PinnedServer};
use crate::fingerprint::Fingerprint;
use crate::identity::{Identity, Validity, certified_fingerprint};
use crate::roster::Roster;

/// The application protocol (RFC 7301) between clients and servers of a service.
pub const CLIENT_ALPN: &[u8] = madrigal_core::domains::CLIENT_ALPN;

/// A client's end of TLS.
#[derive(Clone)]
pub struct ClientTls {
    own: Own,
    provider: Arc<CryptoProvider>,
    clock: Arc<dyn TimeProvider>,
    /// None: the client is anonymous, as far as TLS goes.
    signer: Option<Arc<SingleCertAndKey>>,
}

impl ClientTls {
    /// A client of the servers of a list, which shows `identity` if it has one.
    ///
    /// # Errors
    /// [`TlsError`]: the client's own certificate is not valid now, or the cryptographic library refused.
    pub fn new(roster: Arc<Roster>, identity: Option<&Identity>) -> Result<Self, TlsError> {
        Self::with_clock(roster, identity, Arc::new(DefaultTimeProvider))
    }

    /// Makes a client as [`ClientTls::new`] does, with another clock for the certificates' dates.
    ///
    /// # Errors
    /// [`TlsError`] in the same cases as [`ClientTls::new`].
    pub fn with_clock(
        roster: Arc<Roster>,
        identity: Option<&Identity>,
        clock: Arc<dyn TimeProvider>,
    ) -> Result<Self, TlsError> {
        if let Some(validity) = identity.map(Identity::validity) {
            let now = clock.current_time().ok_or(TlsError::NoClock)?;
            if !validity.contains(now) {
                return Err(TlsError::OwnDates { validity, now });
            }
        }
        let signer = identity.map(|identity| {
            let key = identity.certified_key().map_err(TlsError::Setup)?;
            Ok::<_, TlsError>(Arc::new(SingleCertAndKey::from(key)))
        });
        let no_key = Fingerprint::from_bytes([0; 32]);
        Ok(Self {
            own: Own {
                // No party of the list.
                party: roster.len(),
                roster,
                key: identity.map_or(no_key, Identity::fingerprint),
                validity: identity.map_or(Validity::ALWAYS, Identity::validity),
            },
            provider: Arc::new(provider()),
            clock,
            signer: signer.transpose()?,
        })
    }

    /// The servers.
    pub fn roster(&self) -> &Arc<Roster> {
        &self.own.roster
    }

    /// Configuration of connections to a server, for drivers that make them; they pass [`server_name`](super::server_name), and check the
    /// connection with [`DialedServer::check`] before they say anything.
    ///
    /// # Errors
    /// [`TlsError`]: there is no such server, or the cryptographic library refused.
    pub fn dial_config(
        &self,
        server: usize,
    ) -> Result<(Arc<ClientConfig>, DialedServer), TlsError> {
        if server >= self.own.roster.len() {
            return Err(TlsError::NoSuchPeer {
                party: server,
                own: self.own.party,
                parties: self.own.roster.len(),
            });
        }
        let verifier = PinnedServer {
            roster: self.own.roster.clone(),
            party: server,
            algorithms: self.provider.signature_verification_algorithms,
        };
        let config = ClientConfig::builder_with_details(self.provider.clone(), self.clock.clone())
            .with_protocol_versions(&[&version::TLS13])
            .map_err(TlsError::Setup)?
            .dangerous()
            .with_custom_certificate_verifier(Arc::new(verifier));
        let mut config = match &self.signer {
            Some(signer) => config.with_client_cert_resolver(signer.clone()),
            None => config.with_no_client_auth(),
        };
        config.resumption = Resumption::disabled();
        config.enable_sni = false;
        config.alpn_protocols = vec![CLIENT_ALPN.to_vec()];
        let link = DialedServer {
            own: self.own.clone(),
            server,
            anonymous: self.signer.is_none(),
        };
        Ok((Arc::new(config), link))
    }
}

impl fmt::Debug for ClientTls {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("ClientTls").field(&self.own).finish()
    }
}

/// A server that a client dials: turns rustls' errors into errors that name it and the remedy.
#[derive(Clone, Debug)]
pub struct DialedServer {
    own: Own,
    server: usize,
    anonymous: bool,
}

impl DialedServer {
    /// Checks a connection whose handshake is complete: the server has named the protocol, and has the pinned key.
    ///
    /// # Errors
    /// [`TlsError`]: the handshake is not complete, or did not settle on [`CLIENT_ALPN`].
    pub fn check(&self, connection: &CommonState) -> Result<(), TlsError> {
        let unfinished = || TlsError::Unfinished {
            peer: Box::new(self.peer()),
        };
        if connection.is_handshaking() {
            return Err(unfinished());
        }
        // rustls lets a server pass that names no protocol at all.
        if connection.alpn_protocol() != Some(CLIENT_ALPN) {
            return Err(self.explain(&Error::NoApplicationProtocol));
        }
        let key = fingerprint(connection);
        match key.and_then(|key| self.own.roster.by_key(&key)) {
            Some(server) if server == self.server => Ok(()),
            _ => Err(unfinished()),
        }
    }

    /// The server, for people.
    pub fn peer(&self) -> Peer {
        let listed = self.own.roster.party(self.server);
        Peer {
            party: Some(self.server),
            name: listed.map(|entry| entry.name.clone()),
            dialed: true,
            address: listed.map_or_else(String::new, |entry| entry.address.to_string()),
        }
    }

    /// Explains a rustls error on this connection.
    pub fn explain(&self, error: &Error) -> TlsError {
        let peer = Box::new(self.peer());
        match error {
            // Alerts about a certificate are about one that was shown.
            Error::AlertReceived(_) if self.anonymous => TlsError::Protocol {
                peer,
                source: error.clone(),
            },
            _ => error::explain(&self.own, peer, error),
        }
    }

    /// Explains an I/O error of a stream under or over rustls on this connection.
    pub fn explain_io(&self, error: io::Error) -> TlsError {
        match error.get_ref().and_then(|e| e.downcast_ref::<Error>()) {
            Some(tls) => self.explain(tls),
            None => error::explain_io(Box::new(self.peer()), error),
        }
    }
}

/// A server's end of TLS for clients: one for all connections.
#[derive(Clone)]
pub struct ServerTls {
    config: Arc<ServerConfig>,
}

impl ServerTls {
    /// A server with this identity.
    ///
    /// # Errors
    /// [`TlsError`]: the certificate is not valid now, or the cryptographic library refused.
    pub fn new(identity: &Identity) -> Result<Self, TlsError> {
        Self::with_clock(identity, Arc::new(DefaultTimeProvider))
    }

    /// Makes a server as [`ServerTls::new`] does, with another clock for the certificates' dates.
    ///
    /// # Errors
    /// [`TlsError`] in the same cases as [`ServerTls::new`].
    pub fn with_clock(identity: &Identity, clock: Arc<dyn TimeProvider>) -> Result<Self, TlsError> {
        let (validity, now) = (identity.validity(), clock.current_time());
        let now = now.ok_or(TlsError::NoClock)?;
        if !validity.contains(now) {
            return Err(TlsError::OwnDates { validity, now });
        }
        let provider = Arc::new(provider());
        let verifier = AnyClient {
            algorithms: provider.signature_verification_algorithms,
        };
        let signer = identity.certified_key().map_err(TlsError::Setup)?;
        let mut config = ServerConfig::builder_with_details(provider, clock)
            .with_protocol_versions(&[&version::TLS13])
            .map_err(TlsError::Setup)?
            .with_client_cert_verifier(Arc::new(verifier))
            .with_cert_resolver(Arc::new(SingleCertAndKey::from(signer)));
        config.session_storage = Arc::new(NoServerSessionStorage {});
        config.send_tls13_tickets = 0;
        config.alpn_protocols = vec![CLIENT_ALPN.to_vec()];
        Ok(Self {
            config: Arc::new(config),
        })
    }

    /// Configuration of the connections that clients open, for drivers that make them. All connections share it.
    pub fn config(&self) -> Arc<ServerConfig> {
        self.config.clone()
    }

    /// Fingerprint of the key that the client on a connection has proved to have, or nothing if it showed none. `from` says where it came from,
    /// for errors.
    ///
    /// # Errors
    /// [`TlsError`]: the handshake is not complete, or did not settle on [`CLIENT_ALPN`].
    pub fn client(
        &self,
        connection: &CommonState,
        from: &str,
    ) -> Result<Option<Fingerprint>, TlsError> {
        let peer = || {
            Box::new(Peer {
                party: None,
                name: None,
                dialed: false,
                address: from.to_owned(),
            })
        };
        if connection.is_handshaking() {
            return Err(TlsError::Unfinished { peer: peer() });
        }
        if connection.alpn_protocol() != Some(CLIENT_ALPN) {
            return Err(TlsError::Incompatible {
                peer: peer(),
                source: Error::NoApplicationProtocol,
            });
        }
        Ok(fingerprint(connection))
    }
}

impl fmt::Debug for ServerTls {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("ServerTls")
    }
}

/// Fingerprint of the key of the other side's certificate, of which the handshake has proved that it has it.
fn fingerprint(connection: &CommonState) -> Option<Fingerprint> {
    let certificate = connection.peer_certificates()?.first()?;
    certified_fingerprint(certificate).ok()
}
