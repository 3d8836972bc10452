//! Parties find each other over TCP, whoever else dials their ports.

#![cfg(feature = "sockets")]
#![allow(clippy::unwrap_used)] // helpers of tests

use std::io::{Read, Write};
use std::net::TcpStream;
use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant, SystemTime};

use madrigal_core::Party;
use madrigal_net::identity::{Identity, Validity};
use madrigal_net::roster::Roster;
use madrigal_net::tls::{TlsError, TlsParty, handshake};
use madrigal_net::transport::{
    ConnectConfig, ConnectError, Meeting, Security, TcpTransport, connect,
};

use crate::by_hand::{CardBytes, card, tag};

/// A listener on a free port, with its address.
fn listener() -> (std::net::TcpListener, String) {
    let listener = std::net::TcpListener::bind("127.0.0.1:0").unwrap();
    listener.set_nonblocking(true).unwrap();
    let address = listener.local_addr().unwrap().to_string();
    (listener, address)
}

fn meet(
    me: usize,
    addresses: &[String],
    listener: std::net::TcpListener,
    patience: Duration,
) -> Result<TcpTransport, ConnectError> {
    meet_over(me, addresses, listener, &Security::Clear, patience, &|_| {})
}

fn meet_over(
    me: usize,
    addresses: &[String],
    listener: std::net::TcpListener,
    security: &Security,
    patience: Duration,
    observe: &(dyn Fn(Meeting<'_>) + Sync),
) -> Result<TcpTransport, ConnectError> {
    let runtime = tokio::runtime::Builder::new_current_thread()
        .enable_all()
        .build()
        .unwrap();
    runtime.block_on(async {
        let listener = tokio::net::TcpListener::from_std(listener).unwrap();
        let config = ConnectConfig {
            patience,
            observe,
            ..ConnectConfig::new(Party::new(me), addresses, security)
        };
        connect(config, listener).await
    })
}

/// Acts as programs do that dial open ports of the net all day long: says something, or nothing, and goes.
fn probe(address: &str) {
    let mut web = TcpStream::connect(address).unwrap();
    web.write_all(b"GET / HTTP/1.1\r\nHost: x\r\n\r\n").unwrap();
    drop(TcpStream::connect(address).unwrap());
}

#[test]
fn strangers_do_not_end_the_meeting() {
    let ((zero, at_zero), (one, at_one)) = (listener(), listener());
    let addresses = [at_zero, at_one];
    let patience = Duration::from_secs(30);
    std::thread::scope(|scope| {
        let waiting = scope.spawn(|| meet(0, &addresses, zero, patience).map(drop));
        probe(&addresses[0]);
        // Longer than is left to parties after one of them was refused.
        std::thread::sleep(Duration::from_secs(4));
        meet(1, &addresses, one, patience).unwrap();
        waiting.join().unwrap().unwrap();
    });
}

#[test]
fn who_is_missing_is_named_and_the_stranger_besides() {
    let ((zero, at_zero), (_, at_one)) = (listener(), listener());
    let addresses = [at_zero, at_one];
    std::thread::scope(|scope| {
        let waiting = scope.spawn(|| meet(0, &addresses, zero, Duration::from_secs(4)).map(drop));
        probe(&addresses[0]);
        let error = waiting.join().unwrap().unwrap_err();
        assert!(matches!(&error, ConnectError::Missing { .. }), "{error}");
        let text = error.to_string();
        assert!(
            text.contains("party 1") && text.contains("refused"),
            "{text}"
        );
    });
}

/// One counts a dealer as a party and the other does not: both hear why they do not meet, at once.
#[test]
fn both_sides_learn_that_their_numbers_of_parties_differ() {
    let ((zero, at_zero), (one, at_one), (_, nobody)) = (listener(), listener(), listener());
    let (two, three) = (
        vec![at_zero.clone(), at_one.clone()],
        vec![at_zero, at_one, nobody],
    );
    for (of_zero, of_one) in [(&two, &three), (&three, &two)] {
        let (zero, one) = (zero.try_clone().unwrap(), one.try_clone().unwrap());
        let patience = Duration::from_secs(30);
        let start = std::time::Instant::now();
        let errors = std::thread::scope(|scope| {
            let waiting = scope.spawn(move || meet(0, of_zero, zero, patience).map(drop));
            // Party 2 never comes; that is not what is wrong.
            let of_one = &of_one[..];
            let dialing =
                scope.spawn(move || meet(1, of_one, one, Duration::from_secs(2)).map(drop));
            [waiting, dialing].map(|party| party.join().unwrap().unwrap_err())
        });
        for error in errors {
            assert!(matches!(&error, ConnectError::Card { .. }), "{error}");
            let text = error.to_string();
            assert!(
                text.contains("number of parties") && text.contains("dealer"),
                "{text}"
            );
        }
        assert!(start.elapsed() < Duration::from_secs(10));
    }
}

const DAY: Duration = Duration::from_secs(86_400);

/// Keys of parties that trust each other, and what each makes of them.
fn keys<const N: usize>(addresses: [&str; N]) -> [TlsParty; N] {
    let identities = addresses.map(|_| Identity::generate(Validity::days(1).unwrap()).unwrap());
    let entries = addresses.iter().zip(&identities);
    let entry = |(address, key): (&&str, &Identity)| (address.parse().unwrap(), key.fingerprint());
    let roster = Arc::new(Roster::local(entries.map(entry)).unwrap());
    identities.map(|identity| TlsParty::new(&identity, Arc::clone(&roster)).unwrap())
}

/// Dials party 0 as whoever `tls` is, and says what card it likes. Gives the other side's answer.
fn pose(tls: &TlsParty, address: &str, mut card: CardBytes) -> Result<(), TlsError> {
    let (mut connection, link) = tls.dial(0)?;
    let mut stream = TcpStream::connect(address).unwrap();
    stream
        .set_read_timeout(Some(Duration::from_secs(20)))
        .unwrap();
    handshake(&mut connection, &mut stream, &link)?;
    let mut tls = rustls::Stream::new(&mut connection, &mut stream);
    let explain = |error| link.explain_io(error);
    let mut theirs = [0; 32];
    tls.read_exact(&mut theirs).map_err(explain)?;
    card[16..].copy_from_slice(&tag(&theirs));
    tls.write_all(&card).map_err(explain)?;
    // Whoever took us for a party would go on to greet us.
    tls.read_exact(&mut [0]).map_err(explain)
}

/// Words that were said of those who were refused.
type Said = Mutex<Vec<String>>;

fn note(said: &Said) -> impl Fn(Meeting<'_>) + Sync + '_ {
    move |meeting| {
        if let Meeting::Refused { why, .. } = meeting {
            said.lock().unwrap().push(why.to_string());
        }
    }
}

/// Carol is on the list, but only its first two meet. Before, her key was not looked at: the card that she sent
/// was believed, and she was party 1.
#[test]
fn a_listed_party_that_is_not_of_the_session_cannot_pose_as_one_that_is() {
    let ((zero, at_zero), (one, at_one)) = (listener(), listener());
    let [alice, bob, carol] = keys([&at_zero, &at_one, "127.0.0.1:9"]);
    let addresses = [at_zero, at_one];
    let said = Said::default();
    let observe = note(&said);
    let patience = Duration::from_secs(30);
    std::thread::scope(|scope| {
        let alice = Security::Tls(alice);
        let (all, observe) = (&addresses, &observe);
        let waiting =
            scope.spawn(move || meet_over(0, all, zero, &alice, patience, observe).map(drop));
        let mut card = card(1, 0, [0; 16]);
        for from in [1, 2] {
            card[9] = from;
            let ended = pose(&carol, &addresses[0], card).unwrap_err();
            assert!(matches!(ended, TlsError::Closed { .. }), "{ended}");
        }
        assert!(!waiting.is_finished());
        let bob = Security::Tls(bob);
        let met = meet_over(1, &addresses, one, &bob, patience, &|_| {});
        waiting.join().unwrap().unwrap();
        drop(met.unwrap());
    });
    let said = said.lock().unwrap();
    // Twice from one place with one fault is told once.
    assert_eq!(said.len(), 1, "{said:?}");
    assert!(said[0].contains("party 2 of the list"), "{said:?}");
}

/// A key that nobody knows, and an old certificate that anybody can have seen: neither ends the wait. Before,
/// either ended it after 3 seconds.
#[test]
fn strangers_with_a_certificate_do_not_end_the_meeting() {
    let ((zero, at_zero), (one, at_one)) = (listener(), listener());
    let identities = [(); 2].map(|()| Identity::generate(Validity::days(1).unwrap()).unwrap());
    let entries = [&at_zero, &at_one].into_iter().zip(&identities);
    let entry =
        |(address, key): (&String, &Identity)| (address.parse().unwrap(), key.fingerprint());
    let roster = Arc::new(Roster::local(entries.map(entry)).unwrap());
    let [alice, bob] = [0, 1].map(|i| TlsParty::new(&identities[i], Arc::clone(&roster)).unwrap());
    let [_, bobs] = identities;
    let stranger = Identity::generate(Validity::days(1).unwrap()).unwrap();
    let now = SystemTime::now();
    let old = bobs
        .renew(Validity::new(now - 2 * DAY, now - DAY).unwrap())
        .unwrap();
    let [stranger, old] =
        [stranger, old].map(|key| TlsParty::presenting(&key, Arc::clone(&roster), 1).unwrap());
    let addresses = [at_zero, at_one];
    let said = Said::default();
    let observe = note(&said);
    std::thread::scope(|scope| {
        let alice = Security::Tls(alice);
        let (all, observe) = (&addresses, &observe);
        let patience = Duration::from_secs(30);
        let again = (zero.try_clone().unwrap(), alice.clone());
        let waiting =
            scope.spawn(move || meet_over(0, all, zero, &alice, patience, observe).map(drop));
        for _ in 0..3 {
            let card = card(1, 0, [0; 16]);
            let ended = pose(&stranger, &addresses[0], card).unwrap_err();
            assert!(matches!(ended, TlsError::RefusedKey { .. }), "{ended}");
            let ended = pose(&old, &addresses[0], card).unwrap_err();
            assert!(matches!(ended, TlsError::RefusedDates { .. }), "{ended}");
        }
        // Longer than is left after a party itself was refused.
        std::thread::sleep(Duration::from_millis(3500));
        let bob = Security::Tls(bob);
        let met = meet_over(1, &addresses, one, &bob, patience, &|_| {});
        waiting.join().unwrap().unwrap();
        drop(met.unwrap());
        // Where no party comes, the end of the wait says who was refused, and what names a party comes first.
        let (zero, alice) = again;
        let patience = Duration::from_secs(2);
        let start = Instant::now();
        let waiting =
            scope.spawn(move || meet_over(0, all, zero, &alice, patience, &|_| {}).map(drop));
        for one in [&stranger, &old] {
            pose(one, &addresses[0], [0; 32]).unwrap_err();
        }
        let error = waiting.join().unwrap().unwrap_err();
        assert!(start.elapsed() >= patience);
        let ConnectError::Missing { refused, .. } = &error else {
            panic!("{error}");
        };
        assert_eq!(refused.len(), 2);
        assert!(matches!(
            refused[0],
            ConnectError::Tls(TlsError::Expired { .. })
        ));
        let text = error.to_string();
        assert!(
            text.contains("party 1 `party1`") && text.contains("unknown peer"),
            "{text}"
        );
    });
    let said = said.lock().unwrap();
    assert_eq!(said.len(), 2, "{said:?}");
}
