//! Errors of a TLS connection, whose fault they are, and what to do.

use std::fmt;
use std::io;

use rustls::pki_types::UnixTime;
use rustls::{AlertDescription, CertificateError, Error};

use super::own::Own;
use super::verify::WrongKey;
use crate::fingerprint::Fingerprint;
use crate::identity::{Validity, utc};

/// The other side of a connection, as far as it is known.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Peer {
    /// The party. On an accepted connection whose handshake is not complete, only a claim.
    pub party: Option<usize>,
    /// Name of the peer in the roster.
    pub name: Option<String>,
    /// Whether this side dialed.
    pub dialed: bool,
    /// The address that was dialed, or from which it came.
    pub address: String,
}

impl fmt::Display for Peer {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match (self.party, &self.name) {
            (Some(party), Some(name)) => write!(f, "party {party} `{name}`")?,
            (Some(party), None) => write!(f, "party {party}")?,
            (None, _) => f.write_str("an unknown peer")?,
        }
        let way = if self.dialed {
            "dialed at"
        } else {
            "connecting from"
        };
        write!(f, " ({way} {})", self.address)
    }
}

/// Reasons why a TLS connection could not be made or kept. "Our" is the side that reports.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum TlsError {
    /// A roster of this party without itself.
    #[error(
        "our own key {key} is not ours in parties.toml, so the others refuse it; put it into our section as `key`, or start with the key file that belongs to the listed key"
    )]
    OwnKeyNotListed {
        /// Our key.
        key: Fingerprint,
    },
    /// A roster of this party that gives its key to another party.
    #[error(
        "our own key {key} is that of party {owner} in parties.toml, not of party {party}; start with the number or the key file that is ours"
    )]
    OwnKeyOfAnother {
        /// Our key.
        key: Fingerprint,
        /// Number of this party.
        party: usize,
        /// Party whose key it is.
        owner: usize,
    },
    /// Our own certificate cannot be accepted by anybody.
    #[error("our own certificate is valid from {validity}, and now it is {}; renew it (the key and its fingerprint stay), or set this machine's clock", utc(*now))]
    OwnDates {
        /// Our certificate's period.
        validity: Validity,
        /// Our clock.
        now: UnixTime,
    },
    /// The system has no clock.
    #[error(
        "the system clock cannot be read, so certificates cannot be checked; set this machine's clock"
    )]
    NoClock,
    /// A party was dialed that is no peer.
    #[error(
        "party {party} cannot be dialed: we are party {own} of {parties} (counted from 0); this is a fault of the calling program"
    )]
    NoSuchPeer {
        /// The party asked for.
        party: usize,
        /// Number of this party.
        own: usize,
        /// Parties in the roster.
        parties: usize,
    },
    /// The party at the dialed address has another key.
    #[error("{peer} has the key {got}, but parties.toml pins {expected}{}; ask that party for its fingerprint by a channel you trust and correct `key` or `address`. If it did not change its key, somebody else answers at this address", belongs_to(.owner))]
    WrongKey {
        /// The party that was dialed.
        peer: Box<Peer>,
        /// The key in our roster.
        expected: Fingerprint,
        /// The key that came.
        got: Fingerprint,
        /// The listed party whose key came instead.
        owner: Option<String>,
    },
    /// Somebody connected whose key is not in our roster.
    #[error(
        "{peer} has the key {got}, which our parties.toml gives to no other party; if it is a party of this computation, ask it for its fingerprint by a channel you trust and correct its `key`. If not, nothing is to be done: it was refused"
    )]
    UnknownKey {
        /// Peer that connected.
        peer: Box<Peer>,
        /// The key that came.
        got: Fingerprint,
    },
    /// The peer's certificate is too old.
    #[error("the certificate of {peer} expired on {}, and by our clock it is {}; that party renews it and restarts (its fingerprint stays), or the clocks must be set", utc(*not_after), utc(*now))]
    Expired {
        /// Peer whose certificate it is.
        peer: Box<Peer>,
        /// Last second of the certificate.
        not_after: UnixTime,
        /// Our clock.
        now: UnixTime,
    },
    /// The peer's certificate begins in the future.
    #[error("the certificate of {peer} is valid only from {}, and by our clock it is {}; compare the clocks of both machines", utc(*not_before), utc(*now))]
    NotYetValid {
        /// Peer whose certificate it is.
        peer: Box<Peer>,
        /// First second of the certificate.
        not_before: UnixTime,
        /// Our clock.
        now: UnixTime,
    },
    /// The peer's certificate is damaged or falsely signed.
    #[error(
        "the certificate of {peer} is unusable: {source}; that party renews it and restarts (its fingerprint stays)"
    )]
    BadCertificate {
        /// Peer whose certificate it is.
        peer: Box<Peer>,
        /// Error that rustls found.
        source: Error,
    },
    /// The peer showed no certificate.
    #[error(
        "{peer} presented no certificate, so it is no party of this computation; it was refused, and nothing is to be done unless a party connects through a proxy that ends TLS"
    )]
    NoCertificate {
        /// Peer that connected.
        peer: Box<Peer>,
    },
    /// The peer found our certificate outside its dates.
    #[error(
        "{peer} refused our certificate because it is stale or not yet valid by that party's clock; ours is valid from {validity}. Renew it and restart (the fingerprint stays); if the dates are right, compare the clocks of both machines"
    )]
    RefusedDates {
        /// Peer that refused.
        peer: Box<Peer>,
        /// Our certificate's period.
        validity: Validity,
    },
    /// The peer has another key for us.
    #[error(
        "{peer} refused our key: its parties.toml has another key for us, or does not list us. Ours is {key}: compare the fingerprints and correct `key` in that party's file, or start with the key file that it expects"
    )]
    RefusedKey {
        /// Peer that refused.
        peer: Box<Peer>,
        /// Our key.
        key: Fingerprint,
    },
    /// The peer refused for another reason.
    #[error(
        "{peer} refused the connection with the TLS alert {alert:?}; look for the reason in that party's log"
    )]
    Refused {
        /// Peer that refused.
        peer: Box<Peer>,
        /// Alert of the peer.
        alert: AlertDescription,
    },
    /// No common version, cipher or protocol.
    #[error(
        "{peer} speaks TLS, but not as madrigal does (expected: TLS 1.3, protocol madrigal/1, Ed25519 certificates; found: {source}); check the address, and that both sides run compatible versions of madrigal"
    )]
    Incompatible {
        /// The other side.
        peer: Box<Peer>,
        /// Error that rustls found.
        source: Error,
    },
    /// The bytes are no TLS.
    #[error(
        "{peer} does not speak TLS ({source}); check the address and port, and that the other side uses TLS too"
    )]
    NotTls {
        /// The other side.
        peer: Box<Peer>,
        /// Error that rustls found.
        source: Error,
    },
    /// A record failed its authentication.
    #[error(
        "a record from {peer} was altered on its way: its authentication failed. The connection is closed; suspect the network or a proxy between the parties, then run again"
    )]
    Altered {
        /// The other side.
        peer: Box<Peer>,
    },
    /// The peer broke the protocol in another way.
    #[error(
        "the TLS connection with {peer} failed: {source}; if it happens again, report it with this text"
    )]
    Protocol {
        /// The other side.
        peer: Box<Peer>,
        /// Error that rustls found.
        source: Error,
    },
    /// The connection ended without a goodbye.
    #[error(
        "{peer} closed the connection without saying so; see that party's log for why it stopped, and check the network between the parties"
    )]
    Closed {
        /// The other side.
        peer: Box<Peer>,
    },
    /// The stream below failed.
    #[error(
        "the connection with {peer} failed: {source}; check that the party runs and that the network lets it through"
    )]
    Io {
        /// The other side.
        peer: Box<Peer>,
        /// The operating system's answer.
        source: io::Error,
    },
    /// The handshake has not shown yet who the peer is.
    #[error("the handshake with {peer} is not complete; this is a fault of the calling program")]
    Unfinished {
        /// The other side.
        peer: Box<Peer>,
    },
    /// rustls would not take our key or settings.
    #[error("TLS could not be set up: {0}; this is a fault of this program, not of your input")]
    Setup(#[source] Error),
}

impl TlsError {
    /// The other side, when the error has to do with one.
    pub fn peer(&self) -> Option<&Peer> {
        match self {
            Self::OwnKeyNotListed { .. }
            | Self::OwnKeyOfAnother { .. }
            | Self::OwnDates { .. }
            | Self::NoClock
            | Self::NoSuchPeer { .. }
            | Self::Setup(_) => None,
            Self::WrongKey { peer, .. }
            | Self::UnknownKey { peer, .. }
            | Self::Expired { peer, .. }
            | Self::NotYetValid { peer, .. }
            | Self::BadCertificate { peer, .. }
            | Self::NoCertificate { peer }
            | Self::RefusedDates { peer, .. }
            | Self::RefusedKey { peer, .. }
            | Self::Refused { peer, .. }
            | Self::Incompatible { peer, .. }
            | Self::NotTls { peer, .. }
            | Self::Altered { peer }
            | Self::Protocol { peer, .. }
            | Self::Closed { peer }
            | Self::Io { peer, .. }
            | Self::Unfinished { peer } => Some(peer),
        }
    }
}

fn belongs_to(owner: &Option<String>) -> String {
    match owner {
        Some(owner) => {
            format!(" (the key that came is the one of {owner}: two addresses may be exchanged)")
        }
        None => String::new(),
    }
}

pub(super) fn explain(own: &Own, peer: Box<Peer>, error: &Error) -> TlsError {
    let source = error.clone();
    match error {
        Error::InvalidCertificate(refused) => explain_certificate(own, peer, refused),
        Error::AlertReceived(alert) => explain_alert(own, peer, *alert, source),
        Error::NoCertificatesPresented => TlsError::NoCertificate { peer },
        Error::PeerIncompatible(_) | Error::NoApplicationProtocol => {
            TlsError::Incompatible { peer, source }
        }
        Error::InvalidMessage(_) => TlsError::NotTls { peer, source },
        Error::DecryptError => TlsError::Altered { peer },
        _ => TlsError::Protocol { peer, source },
    }
}

fn explain_certificate(own: &Own, peer: Box<Peer>, refused: &CertificateError) -> TlsError {
    match refused {
        CertificateError::ExpiredContext { time, not_after } => TlsError::Expired {
            peer,
            not_after: *not_after,
            now: *time,
        },
        CertificateError::NotValidYetContext { time, not_before } => TlsError::NotYetValid {
            peer,
            not_before: *not_before,
            now: *time,
        },
        CertificateError::Other(other) => match other.0.downcast_ref::<WrongKey>() {
            Some(WrongKey(got)) => explain_key(own, peer, *got),
            None => bad_certificate(peer, refused),
        },
        _ => bad_certificate(peer, refused),
    }
}

fn bad_certificate(peer: Box<Peer>, refused: &CertificateError) -> TlsError {
    TlsError::BadCertificate {
        peer,
        source: Error::InvalidCertificate(refused.clone()),
    }
}

fn explain_key(own: &Own, peer: Box<Peer>, got: Fingerprint) -> TlsError {
    let expected = match peer.party {
        Some(party) if peer.dialed => own.roster.party(party).map(|entry| entry.key),
        _ => None,
    };
    let Some(expected) = expected else {
        return TlsError::UnknownKey { peer, got };
    };
    let owner = own.roster.by_key(&got).and_then(|party| {
        let name = &own.roster.party(party)?.name;
        Some(if party == own.party {
            "ourselves".to_owned()
        } else {
            format!("party {party} `{name}`")
        })
    });
    TlsError::WrongKey {
        peer,
        expected,
        got,
        owner,
    }
}

fn explain_alert(own: &Own, peer: Box<Peer>, alert: AlertDescription, source: Error) -> TlsError {
    match alert {
        AlertDescription::CertificateExpired => TlsError::RefusedDates {
            peer,
            validity: own.validity,
        },
        // Our own program sends certificate_unknown; others may say that they know no authority.
        AlertDescription::CertificateUnknown | AlertDescription::UnknownCA => {
            TlsError::RefusedKey { peer, key: own.key }
        }
        AlertDescription::ProtocolVersion
        | AlertDescription::HandshakeFailure
        | AlertDescription::InsufficientSecurity
        | AlertDescription::NoApplicationProtocol => TlsError::Incompatible { peer, source },
        // The peer could not authenticate what we sent.
        AlertDescription::BadRecordMac => TlsError::Altered { peer },
        _ => TlsError::Refused { peer, alert },
    }
}

pub(super) fn explain_io(peer: Box<Peer>, source: io::Error) -> TlsError {
    match source.kind() {
        io::ErrorKind::UnexpectedEof
        | io::ErrorKind::ConnectionReset
        | io::ErrorKind::ConnectionAborted
        | io::ErrorKind::BrokenPipe => TlsError::Closed { peer },
        _ => TlsError::Io { peer, source },
    }
}
