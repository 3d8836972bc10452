//! The verifiers: who may be at the other end.
//!
//! Order of checks: first whose key it is, so that a refusal can name the party; then the dates
//! and the certificate's own signature; rustls then checks that the other side holds the key.

use std::fmt;
use std::sync::{Arc, OnceLock};

use rustls::client::danger::{HandshakeSignatureValid, ServerCertVerified, ServerCertVerifier};
use rustls::crypto::{WebPkiSupportedAlgorithms, verify_tls13_signature};
use rustls::pki_types::{CertificateDer, ServerName, UnixTime};
use rustls::server::danger::{ClientCertVerified, ClientCertVerifier};
use rustls::{
    CertificateError, DigitallySignedStruct, DistinguishedName, Error, OtherError,
    PeerIncompatible, SignatureScheme,
};

use crate::fingerprint::Fingerprint;
use crate::identity::{certified_fingerprint, check_self_signed};
use crate::roster::Roster;

/// A certificate's key that is not the one expected. rustls sends the alert certificate_unknown
/// for it, and for nothing else that these verifiers refuse.
#[derive(Debug)]
pub(super) struct WrongKey(pub(super) Fingerprint);

impl fmt::Display for WrongKey {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "the key {} is not the pinned one", self.0)
    }
}

impl std::error::Error for WrongKey {}

fn wrong_key(key: Fingerprint) -> Error {
    CertificateError::Other(OtherError(Arc::new(WrongKey(key)))).into()
}

/// Defines what all verifiers do with signatures: TLS 1.3 alone, Ed25519 alone. TLS 1.2 is not compiled in, so nobody asks;
/// it is refused all the same.
macro_rules! tls13_signatures {
    () => {
        fn verify_tls12_signature(
            &self,
            _message: &[u8],
            _certificate: &CertificateDer<'_>,
            _signature: &DigitallySignedStruct,
        ) -> Result<HandshakeSignatureValid, Error> {
            Err(PeerIncompatible::ServerTlsVersionIsDisabledByOurConfig.into())
        }

        fn verify_tls13_signature(
            &self,
            message: &[u8],
            certificate: &CertificateDer<'_>,
            signature: &DigitallySignedStruct,
        ) -> Result<HandshakeSignatureValid, Error> {
            verify_tls13_signature(message, certificate, signature, &self.algorithms)
        }

        fn supported_verify_schemes(&self) -> Vec<SignatureScheme> {
            vec![SignatureScheme::ED25519]
        }
    };
}

/// Accepts the one party that was dialed.
#[derive(Debug)]
pub(super) struct PinnedServer {
    pub(super) roster: Arc<Roster>,
    pub(super) party: usize,
    pub(super) algorithms: WebPkiSupportedAlgorithms,
}

impl ServerCertVerifier for PinnedServer {
    fn verify_server_cert(
        &self,
        certificate: &CertificateDer<'_>,
        _intermediates: &[CertificateDer<'_>],
        _name: &ServerName<'_>,
        _ocsp: &[u8],
        now: UnixTime,
    ) -> Result<ServerCertVerified, Error> {
        let key = certified_fingerprint(certificate)?;
        if self.roster.by_key(&key) != Some(self.party) {
            return Err(wrong_key(key));
        }
        check_self_signed(certificate, now)?;
        Ok(ServerCertVerified::assertion())
    }

    tls13_signatures!();
}

/// Accepts any other party of the roster.
#[derive(Debug)]
pub(super) struct PinnedClients {
    pub(super) roster: Arc<Roster>,
    pub(super) own: usize,
    pub(super) algorithms: WebPkiSupportedAlgorithms,
    pub(super) claimed: Arc<OnceLock<usize>>,
}

impl ClientCertVerifier for PinnedClients {
    fn root_hint_subjects(&self) -> &[DistinguishedName] {
        &[]
    }

    fn verify_client_cert(
        &self,
        certificate: &CertificateDer<'_>,
        _intermediates: &[CertificateDer<'_>],
        now: UnixTime,
    ) -> Result<ClientCertVerified, Error> {
        let key = certified_fingerprint(certificate)?;
        match self.roster.by_key(&key) {
            Some(party) if party != self.own => {
                // One connection has one certificate; a second value could only be the same.
                let _ = self.claimed.set(party);
            }
            _ => return Err(wrong_key(key)),
        }
        check_self_signed(certificate, now)?;
        Ok(ClientCertVerified::assertion())
    }

    tls13_signatures!();
}

/// Accepts any client: with a certificate whose key it proves to have, or without one.
#[derive(Debug)]
pub(super) struct AnyClient {
    pub(super) algorithms: WebPkiSupportedAlgorithms,
}

impl ClientCertVerifier for AnyClient {
    fn client_auth_mandatory(&self) -> bool {
        false
    }

    fn root_hint_subjects(&self) -> &[DistinguishedName] {
        &[]
    }

    fn verify_client_cert(
        &self,
        certificate: &CertificateDer<'_>,
        _intermediates: &[CertificateDer<'_>],
        now: UnixTime,
    ) -> Result<ClientCertVerified, Error> {
        check_self_signed(certificate, now)?;
        Ok(ClientCertVerified::assertion())
    }

    tls13_signatures!();
}
