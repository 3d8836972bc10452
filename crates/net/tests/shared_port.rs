//! Parties meet on a port that serves others too, and meet there again when their session has ended.

#![cfg(feature = "sockets")]
#![allow(clippy::unwrap_used)] // helpers of tests

use std::io::{ErrorKind, Write as _};
use std::net::SocketAddr;
use std::sync::Arc;
use std::time::Duration;

use madrigal_core::Party;
use madrigal_net::identity::{Identity, Validity};
use madrigal_net::roster::Roster;
use madrigal_net::rustls::pki_types::ServerName;
use madrigal_net::rustls::{ClientConfig, ClientConnection, RootCertStore};
use madrigal_net::tls::{ALPN, TlsParty, asked_protocols};
use madrigal_net::transport::{ConnectConfig, HandOn, Security, connect, handing_on};
use madrigal_net::{Error, Session, SessionConfig};
use tokio::io::AsyncWriteExt as _;
use tokio::net::{TcpListener, TcpStream};

fn runtime() -> tokio::runtime::Runtime {
    tokio::runtime::Builder::new_multi_thread()
        .worker_threads(2)
        .enable_all()
        .build()
        .unwrap()
}

/// Two parties under TLS, and ports for them.
async fn parties() -> ([TlsParty; 2], [TcpListener; 2], Vec<String>) {
    let keys = [(); 2].map(|()| Identity::generate(Validity::days(1).unwrap()).unwrap());
    let listeners = [
        TcpListener::bind("127.0.0.1:0").await.unwrap(),
        TcpListener::bind("127.0.0.1:0").await.unwrap(),
    ];
    let addresses = listeners
        .each_ref()
        .map(|one| one.local_addr().unwrap().to_string());
    let entries = addresses.iter().zip(&keys);
    let entries = entries.map(|(address, key)| (address.parse().unwrap(), key.fingerprint()));
    let roster = Arc::new(Roster::local(entries).unwrap());
    let tls = keys.map(|key| TlsParty::new(&key, Arc::clone(&roster)).unwrap());
    (tls, listeners, addresses.to_vec())
}

/// Hands connections of parties on, and keeps the others.
async fn route(listener: TcpListener, hand: HandOn) {
    loop {
        let (stream, from) = listener.accept().await.unwrap();
        let hand = hand.clone();
        tokio::spawn(async move {
            let asked = asked_protocols(&stream).await;
            if asked.is_ok_and(|asked| asked.iter().any(|name| name == ALPN)) {
                assert!(hand.hand(stream, from));
            }
        });
    }
}

/// A session over TLS in which each party hears the other one's number.
async fn session(
    me: usize,
    addresses: &[String],
    security: &Security,
    incoming: &mut madrigal_net::transport::HandedOn,
) -> Result<Session, Error> {
    let config = ConnectConfig::new(Party::new(me), addresses, security);
    let transport = connect(config, incoming).await.unwrap();
    let session = Session::new(SessionConfig::new(Party::new(me), 2), transport);
    session.greet().await?;
    Ok(session)
}

#[test]
fn parties_meet_again_where_others_are_served_too() {
    runtime().block_on(async {
        let (tls, [zero, one], addresses) = parties().await;
        let ([hand, hand_one], [mut handed, mut handed_one]) = {
            let (a, b) = handing_on();
            let (c, d) = handing_on();
            ([a, c], [b, d])
        };
        let to = addresses[0].clone();
        tokio::spawn(route(zero, hand));
        tokio::spawn(route(one, hand_one));
        let [own, other] = tls.map(Security::Tls);
        for _ in 0..3 {
            // Somebody else's connection is not handed on and keeps nobody from meeting.
            let stranger = TcpStream::connect(&to).await.unwrap();
            let (a, b) = tokio::join!(
                session(0, &addresses, &own, &mut handed),
                session(1, &addresses, &other, &mut handed_one),
            );
            let (a, b) = (a.unwrap(), b.unwrap());
            assert_eq!(a.identity(), b.identity());
            drop(stranger);
            // One of them goes without a word, as a process does that is killed.
            b.fail(Error::Stopped {
                by: "a test".to_owned(),
            });
            tokio::join!(a.close(), b.close());
        }
    });
}

/// The first bytes of a connection under TLS that asks for these protocols.
fn hello(protocols: &[&[u8]]) -> Vec<u8> {
    let provider = Arc::new(madrigal_net::rustls::crypto::aws_lc_rs::default_provider());
    let mut config = ClientConfig::builder_with_provider(provider)
        .with_protocol_versions(&[&madrigal_net::rustls::version::TLS13])
        .unwrap()
        .with_root_certificates(RootCertStore::empty())
        .with_no_client_auth();
    config.alpn_protocols = protocols.iter().map(|name| name.to_vec()).collect();
    let name = ServerName::try_from("example.org").unwrap();
    let mut connection = ClientConnection::new(Arc::new(config), name).unwrap();
    let mut bytes = Vec::new();
    connection.write_tls(&mut bytes).unwrap();
    bytes
}

/// A connection, seen from both sides.
async fn pair() -> (TcpStream, TcpStream) {
    let listener = TcpListener::bind(SocketAddr::from(([127, 0, 0, 1], 0))).await;
    let listener = listener.unwrap();
    let dialed = TcpStream::connect(listener.local_addr().unwrap());
    let (dialed, accepted) = tokio::join!(dialed, listener.accept());
    (dialed.unwrap(), accepted.unwrap().0)
}

#[test]
fn protocols_are_read_and_nothing_is_taken() {
    runtime().block_on(async {
        for asked in [&[ALPN, b"other"][..], &[b"http/1.1"], &[]] {
            let bytes = hello(asked);
            // In one piece, and byte by byte at the end.
            for cut in [bytes.len(), bytes.len() - 3, 1] {
                let (mut dialed, accepted) = pair().await;
                let sent = bytes.clone();
                let send = async {
                    dialed.set_nodelay(true).unwrap();
                    dialed.write_all(&sent[..cut]).await.unwrap();
                    for byte in &sent[cut..sent.len().min(cut + 3)] {
                        tokio::time::sleep(Duration::from_millis(5)).await;
                        dialed.write_all(&[*byte]).await.unwrap();
                    }
                    dialed
                        .write_all(&sent[sent.len().min(cut + 3)..])
                        .await
                        .unwrap();
                };
                let ((), told) = tokio::join!(send, asked_protocols(&accepted));
                assert_eq!(told.unwrap(), asked);
                let mut left = vec![0; bytes.len()];
                assert_eq!(accepted.peek(&mut left).await.unwrap(), bytes.len());
                assert_eq!(left, bytes);
            }
        }
    });
}

#[test]
fn a_first_message_that_is_none_is_refused() {
    runtime().block_on(async {
        // A record of TLS that announces 16 KiB, and does not end within them.
        let mut long = vec![22, 3, 1, 64, 0, 1, 0, 255, 255];
        long.resize(1 << 15, 0);
        for (bytes, kind) in [
            (b"GET / HTTP/1.1\r\n\r\n".to_vec(), ErrorKind::InvalidData),
            (long, ErrorKind::InvalidData),
            (Vec::new(), ErrorKind::UnexpectedEof),
        ] {
            let (dialed, accepted) = pair().await;
            let mut dialed = dialed.into_std().unwrap();
            dialed.set_nonblocking(false).unwrap();
            dialed.write_all(&bytes).unwrap();
            if bytes.is_empty() {
                drop(dialed);
            }
            let told = asked_protocols(&accepted).await;
            assert_eq!(told.unwrap_err().kind(), kind);
        }
    });
}
