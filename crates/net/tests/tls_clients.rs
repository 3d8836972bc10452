//! Clients of a service meet its servers, in memory; every refusal is seen.
#![allow(
    clippy::unwrap_used,
    reason = "test helpers; a failed unwrap is a failed test"
)]

use std::sync::Arc;
use std::time::{Duration, SystemTime};

use bytes::BytesMut;
use madrigal_net::fingerprint::Fingerprint;
use madrigal_net::identity::{Identity, Validity};
use madrigal_net::roster::{Roster, RosterEntry};
use madrigal_net::tls::{
    CLIENT_ALPN, ClientTls, ServerTls, TlsError, TlsParty, Turn, Wire, server_name,
};
use rustls::client::ResolvesClientCert;
use rustls::sign::CertifiedKey;
use rustls::{ClientConfig, ClientConnection, Connection, ServerConnection, SignatureScheme};
use tokio::io::{AsyncRead, AsyncWrite, DuplexStream, duplex};

fn fresh() -> Identity {
    Identity::generate(Validity::days(1).unwrap()).unwrap()
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

fn run<T>(work: impl Future<Output = T>) -> T {
    let runtime = tokio::runtime::Builder::new_current_thread()
        .enable_all()
        .build()
        .unwrap();
    let limited = async { tokio::time::timeout(Duration::from_secs(20), work).await };
    runtime.block_on(limited).expect("in time")
}

/// Both ends of a connection that a client with this configuration opens, once their handshakes are over or have failed.
async fn meet(
    config: Arc<ClientConfig>,
    server: &ServerTls,
    room: usize,
) -> [std::io::Result<Wire<DuplexStream>>; 2] {
    let (near, far) = duplex(room);
    let dialed = ClientConnection::new(config, server_name()).unwrap();
    let accepted = ServerConnection::new(server.config()).unwrap();
    let ends = tokio::join!(
        shaken(near, Connection::from(dialed)),
        shaken(far, Connection::from(accepted))
    );
    [ends.0, ends.1]
}

async fn shaken<S: AsyncRead + AsyncWrite + Unpin>(
    socket: S,
    connection: Connection,
) -> std::io::Result<Wire<S>> {
    let mut wire = Wire::tls(socket, connection);
    wire.handshake().await.map(|()| wire)
}

/// Sends a string and receives one of `length` bytes meanwhile.
async fn exchange<S: AsyncRead + AsyncWrite + Unpin>(
    wire: &mut Wire<S>,
    send: &[u8],
    length: usize,
) -> Vec<u8> {
    let mut output = BytesMut::from(send);
    let mut came = Vec::new();
    while !output.is_empty() || came.len() < length {
        let mut take = |bytes: &[u8]| came.extend_from_slice(bytes);
        let turn = wire.turn(&mut output, true, &mut take).await;
        assert_ne!(turn.unwrap(), Turn::Ended);
    }
    came
}

#[test]
fn clients_with_and_without_a_key_are_told_apart() {
    let (server, other, client) = (fresh(), fresh(), fresh());
    let roster = roster(&[other.fingerprint(), server.fingerprint()]);
    let accepting = ServerTls::new(&server).unwrap();
    for identity in [None, Some(&client)] {
        let tls = ClientTls::new(roster.clone(), identity).unwrap();
        let (config, link) = tls.dial_config(1).unwrap();
        // Little room on the wire: both sides wait in the midst of records.
        for room in [100, 1 << 16] {
            run(async {
                let [near, far] = meet(config.clone(), &accepting, room).await;
                let (mut near, mut far) = (near.unwrap(), far.unwrap());
                link.check(near.connection().unwrap()).unwrap();
                let known = accepting.client(far.connection().unwrap(), "here").unwrap();
                assert_eq!(known, identity.map(Identity::fingerprint));
                let question: Vec<u8> = (0..100_000_u32).map(|i| (i ^ i >> 8) as u8).collect();
                let answer: Vec<u8> = question.iter().map(|byte| !byte).collect();
                let (came, went) = tokio::join!(
                    exchange(&mut near, &question, answer.len()),
                    exchange(&mut far, &answer, question.len())
                );
                assert!(came == answer && went == question);
                let [mut nothing, mut none] = [BytesMut::new(), BytesMut::new()];
                let mut take = |_: &[u8]| panic!("no bytes");
                let (closed, turn) = tokio::join!(
                    near.close(&mut nothing),
                    far.turn(&mut none, true, &mut take)
                );
                assert_eq!((closed.unwrap(), turn.unwrap()), ((), Turn::Ended));
            });
        }
    }
}

/// A connection that is cut is no end: whoever cut it may have cut off something.
#[test]
fn a_cut_is_no_end() {
    let (server, other) = (fresh(), fresh());
    let tls = ClientTls::new(roster(&[server.fingerprint(), other.fingerprint()]), None).unwrap();
    let accepting = ServerTls::new(&server).unwrap();
    run(async {
        let [near, far] = meet(tls.dial_config(0).unwrap().0, &accepting, 4096).await;
        drop(near.unwrap());
        let error = far
            .unwrap()
            .turn(&mut BytesMut::new(), true, &mut |_| ())
            .await;
        assert_eq!(error.unwrap_err().kind(), std::io::ErrorKind::UnexpectedEof);
    });
}

#[test]
fn another_server_is_refused() {
    let (server, other) = (fresh(), fresh());
    let roster = roster(&[server.fingerprint(), other.fingerprint()]);
    let tls = ClientTls::new(roster, None).unwrap();
    assert!(matches!(
        tls.dial_config(2),
        Err(TlsError::NoSuchPeer { .. })
    ));
    for impostor in [&other, &fresh()] {
        let accepting = ServerTls::new(impostor).unwrap();
        let (config, link) = tls.dial_config(0).unwrap();
        let [near, far] = run(meet(config, &accepting, 4096));
        assert!(far.is_err());
        let error = link.explain_io(near.unwrap_err());
        let TlsError::WrongKey { expected, got, .. } = &error else {
            panic!("{error}");
        };
        assert_eq!(
            (*expected, *got),
            (server.fingerprint(), impostor.fingerprint())
        );
        assert!(error.to_string().contains("`alice`"), "{error}");
    }
}

/// Parties and clients do not meet by accident, though the keys are the same.
#[test]
fn protocols_are_kept_apart() {
    let (server, party) = (fresh(), fresh());
    let roster = roster(&[server.fingerprint(), party.fingerprint()]);
    let accepting = ServerTls::new(&server).unwrap();
    let dialing = TlsParty::new(&party, roster.clone()).unwrap();
    let [near, far] = run(meet(dialing.dial_config(0).unwrap().0, &accepting, 4096));
    assert!(near.is_err() && far.is_err());

    let accepting = TlsParty::new(&server, roster.clone()).unwrap();
    let dialing = ClientTls::new(roster, Some(&party)).unwrap();
    let (config, _) = dialing.dial_config(0).unwrap();
    let (near, far) = duplex(4096);
    let dialed = ClientConnection::new(config, server_name()).unwrap();
    let accepted = ServerConnection::new(accepting.accept_config("here").unwrap().0).unwrap();
    let ends = async { tokio::join!(shaken(near, dialed.into()), shaken(far, accepted.into())) };
    let (near, far) = run(ends);
    assert!(near.is_err() && far.is_err());

    // A client that names no protocol.
    let anonymous = ClientTls::new(dialing.roster().clone(), None).unwrap();
    let (config, link) = anonymous.dial_config(0).unwrap();
    let mut nameless = (*config).clone();
    nameless.alpn_protocols.clear();
    let accepting = ServerTls::new(&server).unwrap();
    let [near, far] = run(meet(Arc::new(nameless), &accepting, 4096));
    let (near, far) = (near.unwrap(), far.unwrap());
    assert!(accepting.client(far.connection().unwrap(), "here").is_err());
    assert!(link.check(near.connection().unwrap()).is_err());
    assert_eq!(CLIENT_ALPN, b"madrigal-client/1");
}

#[test]
fn certificates_out_of_date_are_refused() {
    let (server, other) = (fresh(), fresh());
    let roster = roster(&[server.fingerprint(), other.fingerprint()]);
    let at = |days: u64| SystemTime::now() - Duration::from_secs(86_400 * days);
    let old = Identity::generate(Validity::new(at(9), at(8)).unwrap()).unwrap();
    let made = ClientTls::new(roster.clone(), Some(&old));
    assert!(matches!(made, Err(TlsError::OwnDates { .. })));
    assert!(matches!(
        ServerTls::new(&old),
        Err(TlsError::OwnDates { .. })
    ));
    // A client whose clock is wrong meets the server's.
    #[derive(Debug)]
    struct Past;
    impl rustls::time_provider::TimeProvider for Past {
        fn current_time(&self) -> Option<rustls::pki_types::UnixTime> {
            let now = rustls::pki_types::UnixTime::now().as_secs();
            let then = Duration::from_secs(now - 86_400 * 8 - 43_200);
            Some(rustls::pki_types::UnixTime::since_unix_epoch(then))
        }
    }
    let past = ClientTls::with_clock(roster, Some(&old), Arc::new(Past)).unwrap();
    let mut config = (*past.dial_config(0).unwrap().0).clone();
    config.time_provider = Arc::new(rustls::time_provider::DefaultTimeProvider);
    let [_, far] = run(meet(
        Arc::new(config),
        &ServerTls::new(&server).unwrap(),
        4096,
    ));
    assert!(far.is_err());
}

/// A certificate alone proves nothing: it is public.
#[test]
fn who_lacks_the_key_is_refused() {
    #[derive(Debug)]
    struct Thief(Arc<CertifiedKey>);
    impl ResolvesClientCert for Thief {
        fn resolve(&self, _: &[&[u8]], _: &[SignatureScheme]) -> Option<Arc<CertifiedKey>> {
            Some(self.0.clone())
        }

        fn has_certs(&self) -> bool {
            true
        }
    }
    let (server, other, client) = (fresh(), fresh(), fresh());
    let roster = roster(&[server.fingerprint(), other.fingerprint()]);
    let tls = ClientTls::new(roster, Some(&client)).unwrap();
    let (config, _) = tls.dial_config(0).unwrap();
    let resolver = &config.client_auth_cert_resolver;
    let own = resolver.resolve(&[], &[SignatureScheme::ED25519]).unwrap();
    let stolen = vec![other.certificate().clone()];
    for (certificates, works) in [(own.cert.clone(), true), (stolen, false)] {
        let mut config = (*config).clone();
        let key = CertifiedKey::new(certificates, own.key.clone());
        config.client_auth_cert_resolver = Arc::new(Thief(Arc::new(key)));
        let [_, far] = run(meet(
            Arc::new(config),
            &ServerTls::new(&server).unwrap(),
            4096,
        ));
        assert_eq!(far.is_ok(), works);
    }
}
