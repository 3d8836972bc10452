//! Two parties meet over loopback TCP; every refusal is seen from both sides.
#![allow(
    clippy::unwrap_used,
    reason = "test helpers; a failed unwrap is a failed test"
)]

use std::io::{self, Read, Write};
use std::net::{TcpListener, TcpStream};
use std::sync::Arc;
use std::thread;
use std::time::{Duration, SystemTime};

use madrigal_net::fingerprint::Fingerprint;
use madrigal_net::identity::{Identity, Validity};
use madrigal_net::roster::{Roster, RosterEntry};
use madrigal_net::tls::{OtherSide, TlsError, TlsParty, handshake, server_name};
use rustls::pki_types::UnixTime;
use rustls::time_provider::TimeProvider;
use rustls::{ClientConnection, Stream};

const DAY: u64 = 86_400;
/// Time at which the tests take place, seconds since 1970.
const NOW: u64 = 1_800_000_000;

#[derive(Debug)]
struct Clock(u64);

impl TimeProvider for Clock {
    fn current_time(&self) -> Option<UnixTime> {
        Some(UnixTime::since_unix_epoch(Duration::from_secs(self.0)))
    }
}

fn identity(from: u64, to: u64) -> Identity {
    let at = |seconds| SystemTime::UNIX_EPOCH + Duration::from_secs(seconds);
    Identity::generate(Validity::new(at(from), at(to)).unwrap()).unwrap()
}

fn fresh() -> Identity {
    identity(NOW - DAY, NOW + DAY)
}

fn roster(keys: &[Fingerprint]) -> Arc<Roster> {
    let entry = |(i, key): (usize, &Fingerprint)| RosterEntry {
        name: ["alice", "bob", "carol"][i].into(),
        address: format!("127.0.0.1:{}", 7700 + i).parse().unwrap(),
        key: *key,
        sealing: None,
    };
    Arc::new(Roster::new(keys.iter().enumerate().map(entry).collect()).unwrap())
}

fn party(identity: &Identity, roster: &Arc<Roster>) -> TlsParty {
    party_at(NOW, identity, roster)
}

fn party_at(now: u64, identity: &Identity, roster: &Arc<Roster>) -> TlsParty {
    TlsParty::with_clock(identity, roster.clone(), Arc::new(Clock(now))).unwrap()
}

fn sockets() -> (TcpStream, TcpStream) {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let dialed = TcpStream::connect(listener.local_addr().unwrap()).unwrap();
    let accepted = listener.accept().unwrap().0;
    for socket in [&dialed, &accepted] {
        let limit = Some(Duration::from_secs(20));
        socket.set_read_timeout(limit).unwrap();
        socket.set_write_timeout(limit).unwrap();
    }
    (dialed, accepted)
}

fn accept(tls: &TlsParty, mut socket: TcpStream) -> Result<usize, TlsError> {
    let (mut connection, link) = tls.accept("192.0.2.9:1234")?;
    let peer = handshake(&mut connection, &mut socket, &link)?;
    // The accepting side speaks first, as the module demands.
    Stream::new(&mut connection, &mut socket)
        .write_all(b"welcome")
        .map_err(|error| link.explain_io(error))?;
    Ok(peer)
}

fn dial(
    (mut connection, link): (ClientConnection, OtherSide),
    mut socket: TcpStream,
) -> Result<usize, TlsError> {
    let peer = handshake(&mut connection, &mut socket, &link)?;
    let mut greeting = [0; 7];
    Stream::new(&mut connection, &mut socket)
        .read_exact(&mut greeting)
        .map_err(|error| link.explain_io(error))?;
    assert_eq!(&greeting, b"welcome");
    Ok(peer)
}

/// `dialer` dials party `target`, and `acceptor` answers. The dialer's result comes first.
fn meet(
    dialer: &TlsParty,
    target: usize,
    acceptor: &TlsParty,
) -> (Result<usize, TlsError>, Result<usize, TlsError>) {
    let (dialed, accepted) = sockets();
    thread::scope(|scope| {
        let acceptor = scope.spawn(|| accept(acceptor, accepted));
        let dialer = dial(dialer.dial(target).unwrap(), dialed);
        (dialer, acceptor.join().unwrap())
    })
}

/// The error must be the expected one, name the peer, and say all of this.
#[track_caller]
fn assert_says(error: &TlsError, words: &[&str]) {
    let text = error.to_string();
    for word in words {
        assert!(text.contains(word), "`{word}` is missing in: {text}");
    }
}

#[test]
fn parties_meet_and_know_each_other() {
    let identities = [fresh(), fresh(), fresh()];
    let roster = roster(&identities.each_ref().map(Identity::fingerprint));
    let parties = identities
        .each_ref()
        .map(|identity| party(identity, &roster));
    for i in 0..3 {
        for j in (0..3).filter(|&j| j != i) {
            let (dialer, acceptor) = meet(&parties[i], j, &parties[j]);
            assert_eq!((dialer.unwrap(), acceptor.unwrap()), (j, i));
        }
    }
}

#[test]
fn preferred_algorithms_are_chosen_and_nothing_is_resumed() {
    let (a, b) = (fresh(), fresh());
    let roster = roster(&[a.fingerprint(), b.fingerprint()]);
    let (a, b) = (party(&a, &roster), party(&b, &roster));
    let (mut dialed, mut accepted) = sockets();
    thread::scope(|scope| {
        scope.spawn(move || {
            let (mut connection, link) = b.accept("test").unwrap();
            handshake(&mut connection, &mut accepted, &link).unwrap();
        });
        let (mut connection, link) = a.dial(1).unwrap();
        handshake(&mut connection, &mut dialed, &link).unwrap();
        let suite = connection.negotiated_cipher_suite().unwrap().suite();
        assert_eq!(suite, rustls::CipherSuite::TLS13_AES_128_GCM_SHA256);
        let group = connection.negotiated_key_exchange_group().unwrap().name();
        assert_eq!(group, rustls::NamedGroup::X25519MLKEM768);
        assert_eq!(connection.tls13_tickets_received(), 0);
    });
}

#[test]
fn a_renewed_certificate_keeps_its_pin() {
    let (a, b) = (identity(NOW - 9 * DAY, NOW - 5 * DAY), fresh());
    let roster = roster(&[a.fingerprint(), b.fingerprint()]);
    let at = |seconds| SystemTime::UNIX_EPOCH + Duration::from_secs(seconds);
    let a = a
        .renew(Validity::new(at(NOW - 1), at(NOW + DAY)).unwrap())
        .unwrap();
    let (dialer, acceptor) = meet(&party(&a, &roster), 1, &party(&b, &roster));
    assert_eq!((dialer.unwrap(), acceptor.unwrap()), (1, 0));
}

#[test]
fn dialed_party_with_another_key() {
    let (a, b, old) = (fresh(), fresh(), fresh());
    let ours = party(&a, &roster(&[a.fingerprint(), old.fingerprint()]));
    let theirs = party(&b, &roster(&[a.fingerprint(), b.fingerprint()]));
    let (dialer, acceptor) = meet(&ours, 1, &theirs);
    let (dialer, acceptor) = (dialer.unwrap_err(), acceptor.unwrap_err());
    assert!(
        matches!(&dialer, TlsError::WrongKey { owner: None, got, .. } if *got == b.fingerprint())
    );
    assert_says(
        &dialer,
        &[
            "party 1 `bob` (dialed at 127.0.0.1:7701)",
            &old.fingerprint().to_string(),
            "parties.toml",
        ],
    );
    assert!(matches!(&acceptor, TlsError::RefusedKey { key, .. } if *key == b.fingerprint()));
    assert_says(
        &acceptor,
        &[
            "connecting from 192.0.2.9:1234",
            "refused our key",
            "compare the fingerprints",
        ],
    );
}

#[test]
fn accepted_party_with_another_key() {
    let (a, b, old) = (fresh(), fresh(), fresh());
    let ours = party(&a, &roster(&[a.fingerprint(), b.fingerprint()]));
    let theirs = party(&b, &roster(&[old.fingerprint(), b.fingerprint()]));
    let (dialer, acceptor) = meet(&ours, 1, &theirs);
    let (dialer, acceptor) = (dialer.unwrap_err(), acceptor.unwrap_err());
    assert!(matches!(&dialer, TlsError::RefusedKey { key, .. } if *key == a.fingerprint()));
    assert_says(&dialer, &["party 1 `bob`", "refused our key"]);
    assert!(matches!(&acceptor, TlsError::UnknownKey { got, .. } if *got == a.fingerprint()));
    assert_eq!(acceptor.peer().unwrap().party, None);
}

#[test]
fn exchanged_addresses_are_named() {
    let ids = [fresh(), fresh(), fresh()];
    let roster = roster(&ids.each_ref().map(Identity::fingerprint));
    let (dialer, _) = meet(&party(&ids[0], &roster), 1, &party(&ids[2], &roster));
    assert_says(
        &dialer.unwrap_err(),
        &["party 1 `bob`", "the one of party 2 `carol`"],
    );
    // The address leads back to the dialing party itself.
    let alice = party(&ids[0], &roster);
    let (dialer, _) = meet(&alice, 1, &alice);
    assert_says(&dialer.unwrap_err(), &["the one of ourselves"]);
}

#[test]
fn expired_certificates() {
    let (a, b) = (fresh(), identity(NOW - 9 * DAY, NOW + 9 * DAY));
    let roster = roster(&[a.fingerprint(), b.fingerprint()]);
    let (alice, bob) = (party(&a, &roster), party_at(NOW + 5 * DAY, &b, &roster));
    let (dialer, acceptor) = meet(&alice, 1, &bob);
    let (dialer, acceptor) = (dialer.unwrap_err(), acceptor.unwrap_err());
    assert!(matches!(dialer, TlsError::RefusedDates { .. }), "{dialer}");
    let period = "2027-01-14 08:00 UTC to 2027-01-16 08:00 UTC";
    assert_says(&dialer, &["party 1 `bob`", "Renew it", period]);
    assert!(matches!(acceptor, TlsError::Expired { .. }), "{acceptor}");
    assert_eq!(acceptor.peer().unwrap().party, Some(0));
    let dates = [
        "expired on 2027-01-16 08:00 UTC",
        "it is 2027-01-20 08:00 UTC",
    ];
    assert_says(
        &acceptor,
        &["party 0 `alice` (connecting from", dates[0], dates[1]],
    );

    let (dialer, acceptor) = meet(&bob, 0, &alice);
    assert!(matches!(dialer.unwrap_err(), TlsError::Expired { .. }));
    assert!(matches!(
        acceptor.unwrap_err(),
        TlsError::RefusedDates { .. }
    ));
}

#[test]
fn certificates_not_yet_valid() {
    let (a, b) = (fresh(), identity(NOW - 9 * DAY, NOW + 9 * DAY));
    let roster = roster(&[a.fingerprint(), b.fingerprint()]);
    let (alice, bob) = (party(&a, &roster), party_at(NOW - 5 * DAY, &b, &roster));
    let (dialer, acceptor) = meet(&alice, 1, &bob);
    assert!(matches!(dialer.unwrap_err(), TlsError::RefusedDates { .. }));
    let acceptor = acceptor.unwrap_err();
    assert!(
        matches!(acceptor, TlsError::NotYetValid { .. }),
        "{acceptor}"
    );
    assert_says(&acceptor, &["party 0 `alice`", "compare the clocks"]);
    let (dialer, acceptor) = meet(&bob, 0, &alice);
    assert!(matches!(dialer.unwrap_err(), TlsError::NotYetValid { .. }));
    assert!(matches!(
        acceptor.unwrap_err(),
        TlsError::RefusedDates { .. }
    ));
}

#[test]
fn own_certificate_is_checked_before_any_connection() {
    let (a, b) = (identity(NOW - 2 * DAY, NOW - DAY), fresh());
    let listed = roster(&[a.fingerprint(), b.fingerprint()]);
    let expired = TlsParty::with_clock(&a, listed, Arc::new(Clock(NOW))).unwrap_err();
    assert!(matches!(expired, TlsError::OwnDates { .. }));
    let others = roster(&[fresh().fingerprint(), b.fingerprint()]);
    let unlisted = TlsParty::with_clock(&a, others, Arc::new(Clock(NOW))).unwrap_err();
    assert!(matches!(unlisted, TlsError::OwnKeyNotListed { .. }));
}

/// A thief has the certificate of a party, which is public, but not its key.
#[test]
fn stolen_certificate_with_another_key() {
    use rustls::sign::{CertifiedKey, SingleCertAndKey};
    let (a, b) = (fresh(), fresh());
    let listed = roster(&[a.fingerprint(), b.fingerprint()]);
    let thief_key = rustls::crypto::aws_lc_rs::sign::any_eddsa_type(
        &aws_lc_rs::signature::Ed25519KeyPair::generate()
            .unwrap()
            .to_pkcs8v1()
            .unwrap()
            .as_ref()
            .into(),
    )
    .unwrap();
    let stolen = CertifiedKey::new(vec![a.certificate().clone()], thief_key);
    let (config, link) = party(&a, &listed).dial_config(1).unwrap();
    let mut config = (*config).clone();
    config.client_auth_cert_resolver = Arc::new(SingleCertAndKey::from(stolen));
    let thief = ClientConnection::new(Arc::new(config), server_name()).unwrap();

    let (dialed, accepted) = sockets();
    let bob = party(&b, &listed);
    let acceptor = thread::spawn(move || accept(&bob, accepted));
    assert!(dial((thief, link), dialed).is_err());
    let error = acceptor.join().unwrap().unwrap_err();
    assert!(
        matches!(
            error,
            TlsError::BadCertificate { .. } | TlsError::Protocol { .. }
        ),
        "{error:?}"
    );
}

/// Runs `attack` against an accepting party and returns what that party says.
fn attacked(attack: impl FnOnce(TcpStream) + Send + 'static) -> TlsError {
    let (a, b) = (fresh(), fresh());
    let bob = party(&b, &roster(&[a.fingerprint(), b.fingerprint()]));
    let (dialed, accepted) = sockets();
    let attacker = thread::spawn(move || attack(dialed));
    let error = accept(&bob, accepted).unwrap_err();
    attacker.join().unwrap();
    error
}

fn drain(mut socket: TcpStream) {
    let _ = io::copy(&mut socket, &mut io::sink());
}

#[test]
fn peers_that_are_no_parties() {
    let no_tls = attacked(|mut socket| {
        socket
            .write_all(b"GET / HTTP/1.1\r\nHost: x\r\n\r\n")
            .unwrap();
        drain(socket);
    });
    assert!(matches!(no_tls, TlsError::NotTls { .. }), "{no_tls:?}");

    let silent = attacked(drop);
    assert!(matches!(silent, TlsError::Closed { .. }), "{silent:?}");

    let no_certificate = attacked(|mut socket| {
        let (a, b) = (fresh(), fresh());
        let listed = roster(&[a.fingerprint(), b.fingerprint()]);
        let (config, _) = party(&a, &listed).dial_config(1).unwrap();
        let mut config = (*config).clone();
        config
            .dangerous()
            .set_certificate_verifier(Arc::new(AcceptAnything));
        config.client_auth_cert_resolver = Arc::new(NoCertificate);
        let mut connection = ClientConnection::new(Arc::new(config), server_name()).unwrap();
        let _ = connection.complete_io(&mut socket);
        drain(socket);
    });
    assert!(
        matches!(no_certificate, TlsError::NoCertificate { .. }),
        "{no_certificate:?}"
    );
}

/// The first flight of a client that knows nothing newer than TLS 1.2 (RFC 5246, section 7.4.1.2).
#[test]
fn tls12_is_refused() {
    let error = attacked(|mut socket| {
        let mut hello = vec![3, 3];
        hello.extend([7; 32]); // random
        hello.push(0); // no session
        hello.extend([0, 2, 0xc0, 0x2b]); // ECDHE-ECDSA-AES128-GCM-SHA256
        hello.extend([1, 0]); // no compression
        let extensions = [
            &[0, 10, 0, 4, 0, 2, 0, 29][..], // x25519
            &[0, 13, 0, 4, 0, 2, 8, 7],      // ed25519
            &[0, 11, 0, 2, 1, 0],            // uncompressed points
        ]
        .concat();
        hello.extend((extensions.len() as u16).to_be_bytes());
        hello.extend(extensions);
        let mut record = vec![22, 3, 1];
        record.extend((hello.len() as u16 + 4).to_be_bytes());
        record.extend([1, 0]);
        record.extend((hello.len() as u16).to_be_bytes());
        record.extend(hello);
        socket.write_all(&record).unwrap();
        let mut alert = [0; 7];
        socket.read_exact(&mut alert).unwrap();
        assert_eq!(alert[0], 21, "an alert");
        assert_eq!(alert[5..], [2, 70], "fatal, protocol_version");
    });
    assert!(matches!(error, TlsError::Incompatible { .. }), "{error:?}");
    assert_says(&error, &["TLS 1.3"]);
}

#[test]
fn other_application_protocols_are_refused() {
    for protocols in [vec![b"h2".to_vec()], vec![]] {
        let (a, b) = (fresh(), fresh());
        let listed = roster(&[a.fingerprint(), b.fingerprint()]);
        let (config, link) = party(&a, &listed).dial_config(1).unwrap();
        let mut config = (*config).clone();
        config.alpn_protocols = protocols;
        let other = ClientConnection::new(Arc::new(config), server_name()).unwrap();
        let (dialed, accepted) = sockets();
        let bob = party(&b, &listed);
        let acceptor = thread::spawn(move || accept(&bob, accepted));
        let dialer = dial((other, link), dialed).unwrap_err();
        assert!(
            matches!(dialer, TlsError::Incompatible { .. }),
            "{dialer:?}"
        );
        let acceptor = acceptor.join().unwrap().unwrap_err();
        assert!(
            matches!(acceptor, TlsError::Incompatible { .. }),
            "{acceptor:?}"
        );
    }
}

/// Every bit flip in the ciphertext is found and ends the connection.
#[test]
fn altered_records_are_found() {
    let (a, b) = (fresh(), fresh());
    let listed = roster(&[a.fingerprint(), b.fingerprint()]);
    let (alice, bob) = (party(&a, &listed), party(&b, &listed));
    let (mut dialed, mut accepted) = sockets();
    let acceptor = thread::spawn(move || {
        let (mut connection, link) = bob.accept("test").unwrap();
        handshake(&mut connection, &mut accepted, &link).unwrap();
        connection.writer().write_all(b"secret").unwrap();
        let mut record = Vec::new();
        connection.write_tls(&mut record).unwrap();
        *record.last_mut().unwrap() ^= 1;
        accepted.write_all(&record).unwrap();
        let mut byte = [0];
        let error = Stream::new(&mut connection, &mut accepted)
            .read(&mut byte)
            .unwrap_err();
        link.explain_io(error)
    });
    let (mut connection, link) = alice.dial(1).unwrap();
    handshake(&mut connection, &mut dialed, &link).unwrap();
    let error = Stream::new(&mut connection, &mut dialed)
        .read(&mut [0])
        .unwrap_err();
    assert!(matches!(link.explain_io(error), TlsError::Altered { .. }));
    assert!(matches!(acceptor.join().unwrap(), TlsError::Altered { .. }));
}

#[derive(Debug)]
struct NoCertificate;

impl rustls::client::ResolvesClientCert for NoCertificate {
    fn resolve(
        &self,
        _: &[&[u8]],
        _: &[rustls::SignatureScheme],
    ) -> Option<Arc<rustls::sign::CertifiedKey>> {
        None
    }
    fn has_certs(&self) -> bool {
        false
    }
}

/// An attacker does not care whom it talks to.
#[derive(Debug)]
struct AcceptAnything;

impl rustls::client::danger::ServerCertVerifier for AcceptAnything {
    fn verify_server_cert(
        &self,
        _: &rustls::pki_types::CertificateDer<'_>,
        _: &[rustls::pki_types::CertificateDer<'_>],
        _: &rustls::pki_types::ServerName<'_>,
        _: &[u8],
        _: UnixTime,
    ) -> Result<rustls::client::danger::ServerCertVerified, rustls::Error> {
        Ok(rustls::client::danger::ServerCertVerified::assertion())
    }
    fn verify_tls12_signature(
        &self,
        _: &[u8],
        _: &rustls::pki_types::CertificateDer<'_>,
        _: &rustls::DigitallySignedStruct,
    ) -> Result<rustls::client::danger::HandshakeSignatureValid, rustls::Error> {
        Ok(rustls::client::danger::HandshakeSignatureValid::assertion())
    }
    fn verify_tls13_signature(
        &self,
        _: &[u8],
        _: &rustls::pki_types::CertificateDer<'_>,
        _: &rustls::DigitallySignedStruct,
    ) -> Result<rustls::client::danger::HandshakeSignatureValid, rustls::Error> {
        Ok(rustls::client::danger::HandshakeSignatureValid::assertion())
    }
    fn supported_verify_schemes(&self) -> Vec<rustls::SignatureScheme> {
        vec![rustls::SignatureScheme::ED25519]
    }
}

/// A party that dials the listed owner of its own key would meet itself, by whoever passes its bytes back.
#[test]
fn nobody_presents_itself_under_another_partys_number() {
    let now = SystemTime::now()
        .duration_since(SystemTime::UNIX_EPOCH)
        .unwrap()
        .as_secs();
    let identities = [(); 3].map(|()| identity(now - DAY, now + DAY));
    let roster = roster(&identities.each_ref().map(Identity::fingerprint));
    let refused = TlsParty::presenting(&identities[2], roster.clone(), 1).unwrap_err();
    assert!(matches!(
        refused,
        TlsError::OwnKeyOfAnother {
            party: 1,
            owner: 2,
            ..
        }
    ));
    // A key that nobody has can be shown: the others then say what is wrong with it.
    let unlisted = identity(now - DAY, now + DAY);
    assert!(TlsParty::presenting(&unlisted, roster, 1).is_ok());
}
