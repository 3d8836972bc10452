//! Two parties agree on their connections: cards made by hand, each with something wrong, and parties that do not keep to
//! what they offered.

#![cfg(feature = "sockets")]
#![allow(clippy::unwrap_used, reason = "a failed unwrap is a failed test")]

use std::io::{self, Read, Write};
use std::net::{Shutdown, TcpListener, TcpStream};
use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant};

use madrigal_core::Party;
use madrigal_net::identity::{Identity, Validity};
use madrigal_net::roster::Roster;
use madrigal_net::tls::TlsParty;
use madrigal_net::transport::{
    ConnectConfig, ConnectError, MAX_CONNECTIONS, Meeting, Security, connect,
};

use crate::by_hand::{CardBytes, card, dial, dial_all, tag};

/// Listeners of two parties on this machine, and where they are.
fn listeners() -> ([TcpListener; 2], [String; 2]) {
    let listeners = [(); 2].map(|()| TcpListener::bind("127.0.0.1:0").unwrap());
    let address = |listener: &TcpListener| listener.local_addr().unwrap().to_string();
    let addresses = listeners.each_ref().map(address);
    (listeners, addresses)
}

/// Meets, and gives the number of connections with the other party of two.
fn meet(config: ConnectConfig<'_>, listener: TcpListener) -> Result<usize, ConnectError> {
    let runtime = tokio::runtime::Builder::new_current_thread()
        .enable_all()
        .build()
        .unwrap();
    runtime.block_on(async {
        listener.set_nonblocking(true).unwrap();
        let listener = tokio::net::TcpListener::from_std(listener).unwrap();
        let transport = connect(config, listener).await?;
        assert_eq!(transport.connections(config.me), 0);
        Ok(transport.connections(Party::new(1 - config.me.index())))
    })
}

/// Party 0 waits, while `dials` does what it does to its address, until both are done.
fn waits(
    offer: usize,
    patience: Duration,
    observe: &(dyn Fn(Meeting<'_>) + Sync),
    dials: impl FnOnce(&str),
) -> Result<usize, ConnectError> {
    let ([zero, _], addresses) = listeners();
    std::thread::scope(|scope| {
        let all = &addresses;
        let waiting = scope.spawn(move || {
            let config = ConnectConfig {
                patience,
                connections: offer,
                observe,
                ..ConnectConfig::new(Party::new(0), all, &Security::Clear)
            };
            meet(config, zero)
        });
        dials(&addresses[0]);
        waiting.join().unwrap()
    })
}

/// Whether the other side closes a connection without a word.
fn is_closed(stream: &mut TcpStream) -> bool {
    matches!(stream.read(&mut [0]), Ok(0) | Err(_))
}

/// A change of a card that is right, and what the error says of it.
type Wrong = (&'static str, fn(&mut CardBytes));

#[rustfmt::skip]
const WRONG: [Wrong; 14] = [
    ("answered `MADRIGAX", |card| card[7] = b'X'),
    ("answered version 1;", |card| card[8] = 1),
    ("answered version 255;", |card| card[8] = 255),
    ("dialed party 0 as party 0", |card| card[9] = 0),
    ("dialed party 0 as party 2", |card| card[9] = 2),
    ("our number is 1 there and 0 here", |card| card[10] = 1),
    ("the number of parties is 3 there and 2 here", |card| card[11] = 3),
    ("offers 0 connections", |card| card[12] = 0),
    ("offers 17 connections", |card| card[12] = 17),
    ("offers 255 connections", |card| card[12] = 255),
    ("malformed", |card| card[13] = 16),
    ("malformed", |card| card[13] = 255),
    ("malformed", |card| card[15] = 1),
    ("does not answer our introduction", |card| card[31] ^= 1),
];

/// Whoever waits says what was wrong, at the latest when its patience is over.
#[test]
fn a_card_with_a_wrong_field_is_refused_by_who_accepts() {
    std::thread::scope(|scope| {
        for (says, change) in WRONG {
            scope.spawn(move || {
                let patience = Duration::from_secs(2);
                let met = waits(2, patience, &|_| {}, |address| {
                    let (mut stream, theirs) = dial(address);
                    let mut card = card(2, 0, tag(&theirs));
                    change(&mut card);
                    stream.write_all(&card).unwrap();
                    assert!(is_closed(&mut stream), "{says}");
                });
                let error = met.unwrap_err().to_string();
                assert!(error.contains(says), "{error}");
            });
        }
    });
}

/// Party 1 dials, and `accepts` does what it does to those who come to party 0.
fn dials(
    offer: usize,
    accepts: impl FnOnce(TcpListener) + Send,
) -> (Result<usize, ConnectError>, Duration) {
    let ([zero, one], addresses) = listeners();
    std::thread::scope(|scope| {
        scope.spawn(move || accepts(zero));
        let begin = Instant::now();
        let config = ConnectConfig {
            connections: offer,
            ..ConnectConfig::new(Party::new(1), &addresses, &Security::Clear)
        };
        (meet(config, one), begin.elapsed())
    })
}

/// Takes a connection as party 0, and gives the card that is sent with the one that comes.
fn accept(listener: &TcpListener, offer: u8, change: fn(&mut CardBytes)) -> (TcpStream, CardBytes) {
    let (mut stream, _) = listener.accept().unwrap();
    let mut ours = card(offer, 0, [7; 16]);
    ours[9..11].copy_from_slice(&[0, 255]);
    change(&mut ours);
    stream.write_all(&ours).unwrap();
    let mut theirs = [0; 32];
    // Whoever refuses our card may have gone.
    let _ = stream.read_exact(&mut theirs);
    (stream, theirs)
}

#[test]
fn a_card_with_a_wrong_field_is_refused_by_who_dials() {
    #[rustfmt::skip]
    let wrong: [Wrong; 8] = [
        ("answered `MADRIGAX", |card| card[7] = b'X'),
        ("answered version 1;", |card| card[8] = 1),
        ("that party's number is 1 there and 0 here", |card| card[9] = 1),
        ("our number is 0 there and 1 here", |card| card[10] = 0),
        ("the number of parties is 3 there and 2 here", |card| card[11] = 3),
        ("offers 0 connections", |card| card[12] = 0),
        ("offers 255 connections", |card| card[12] = 255),
        ("malformed", |card| card[14] = 9),
    ];
    for (says, change) in wrong {
        let (met, _) = dials(2, |listener| drop(accept(&listener, 2, change)));
        let error = met.unwrap_err().to_string();
        assert!(error.contains(says), "{error}");
    }
}

/// A card of version 1 had 16 bytes: each side says what the other speaks, and waits for no more.
#[test]
fn a_card_of_another_version_is_named_as_such() {
    let old = *b"MADRIGAL\x01\x00\xff\x02\0\0\0\0";
    let (met, took) = dials(1, |listener| {
        let (mut stream, _) = listener.accept().unwrap();
        stream.write_all(&old).unwrap();
        assert!(is_closed(&mut stream));
    });
    let error = met.unwrap_err().to_string();
    assert!(error.contains("answered version 1;"), "{error}");
    assert!(took < Duration::from_secs(4), "{took:?}");
    let said = Mutex::new(Vec::new());
    let note = |meeting: Meeting<'_>| {
        if let Meeting::Refused { why, .. } = meeting {
            said.lock().unwrap().push(why.to_string());
        }
    };
    let met = waits(1, Duration::from_secs(2), &note, |address| {
        let (mut stream, _) = dial(address);
        stream.write_all(&old).unwrap();
        assert!(is_closed(&mut stream));
    });
    met.unwrap_err();
    let said = said.into_inner().unwrap();
    assert!(said[0].contains("answered version 1;"), "{said:?}");
}

/// Two parties have as many connections as the one that offers fewer.
#[test]
fn the_smaller_offer_counts() {
    let identities = [(); 2].map(|()| Identity::generate(Validity::days(1).unwrap()).unwrap());
    for secure in [false, true] {
        for offers in [[1, 1], [1, 4], [4, 2], [3, 3], [MAX_CONNECTIONS; 2]] {
            let (listeners, addresses) = listeners();
            let entries = addresses.iter().zip(&identities);
            let entries = entries.map(|(at, key)| (at.parse().unwrap(), key.fingerprint()));
            let roster = Arc::new(Roster::local(entries).unwrap());
            let security = identities.each_ref().map(|key| match secure {
                true => Security::Tls(TlsParty::new(key, Arc::clone(&roster)).unwrap()),
                false => Security::Clear,
            });
            let parties = Party::all(2).zip(listeners).zip(&security).zip(offers);
            std::thread::scope(|scope| {
                let start = |(((me, listener), security), connections)| {
                    let config = ConnectConfig {
                        connections,
                        ..ConnectConfig::new(me, &addresses, security)
                    };
                    scope.spawn(move || meet(config, listener))
                };
                let both: Vec<_> = parties.map(start).collect();
                for party in both {
                    let agreed = offers[0].min(offers[1]);
                    assert_eq!(party.join().unwrap().unwrap(), agreed, "{offers:?}");
                }
            });
        }
    }
}

/// Passes the first connection on to `to`, and the others elsewhere. Gives the address.
fn crossing(to: String, others: String) -> String {
    let door = TcpListener::bind("127.0.0.1:0").unwrap();
    let address = door.local_addr().unwrap().to_string();
    std::thread::spawn(move || {
        for (number, near) in door.incoming().flatten().enumerate() {
            let far = TcpStream::connect(if number == 0 { &to } else { &others }).unwrap();
            let (near_too, far_too) = (near.try_clone().unwrap(), far.try_clone().unwrap());
            std::thread::spawn(move || {
                let _ = io::copy(&mut &near, &mut &far);
                let _ = far.shutdown(Shutdown::Write);
            });
            std::thread::spawn(move || {
                let _ = io::copy(&mut &far_too, &mut &near_too);
                let _ = near_too.shutdown(Shutdown::Write);
            });
        }
    });
    address
}

/// Somebody forwards all connections but the first to another run of the same parties, whose keys fit: neither
/// run takes them for its own.
#[test]
fn connections_of_two_runs_are_not_mixed() {
    let identities = [(); 2].map(|()| Identity::generate(Validity::days(1).unwrap()).unwrap());
    let runs = [listeners(), listeners()];
    let doors = [0, 1].map(|run: usize| {
        let [straight, crosswise] = [run, 1 - run].map(|run| runs[run].1[0].clone());
        crossing(straight, crosswise)
    });
    std::thread::scope(|scope| {
        let mut waiting = Vec::new();
        for (([zero, one], [_, at_one]), door) in runs.into_iter().zip(doors) {
            let addresses = [door, at_one];
            let entries = addresses.iter().zip(&identities);
            let entries = entries.map(|(at, key)| (at.parse().unwrap(), key.fingerprint()));
            let roster = Arc::new(Roster::local(entries).unwrap());
            for ((me, listener), key) in Party::all(2).zip([zero, one]).zip(&identities) {
                let security = Security::Tls(TlsParty::new(key, Arc::clone(&roster)).unwrap());
                let addresses = addresses.clone();
                let party = scope.spawn(move || {
                    let config = ConnectConfig {
                        connections: 3,
                        ..ConnectConfig::new(me, &addresses, &security)
                    };
                    meet(config, listener)
                });
                if me.index() == 0 {
                    waiting.push(party);
                }
            }
        }
        for party in waiting {
            let error = party.join().unwrap().unwrap_err();
            let text = error.to_string();
            assert!(
                matches!(
                    &error,
                    ConnectError::Incomplete {
                        came: 1,
                        agreed: 3,
                        ..
                    }
                ),
                "{text}"
            );
            assert!(text.contains("it is one of another run"), "{text}");
        }
    });
}

/// A party may introduce its connections in any order; those that are none of what was agreed on are not
/// kept, and the others meet all the same.
#[test]
fn connections_of_other_runs_and_more_than_agreed_are_not_kept() {
    let said = Mutex::new(Vec::new());
    let note = |meeting: Meeting<'_>| {
        if let Meeting::Refused { why, .. } = meeting {
            said.lock().unwrap().push(why.to_string());
        }
    };
    let met = waits(4, Duration::from_secs(30), &note, |address| {
        let (mut first, theirs) = dial(address);
        let with = |number, tag| {
            let (mut stream, _) = dial(address);
            stream.write_all(&card(3, number, tag)).unwrap();
            stream
        };
        // Two of them come before the first; one names a tag that nobody gave.
        let early = with(2, tag(&theirs));
        let mut astray = with(1, [5; 16]);
        std::thread::sleep(Duration::from_millis(300));
        first.write_all(&card(3, 0, tag(&theirs))).unwrap();
        assert!(is_closed(&mut astray));
        // It offers three: 0 to 2.
        for wrong in [
            with(3, tag(&theirs)),
            with(2, tag(&theirs)),
            with(1, [0; 16]),
        ] {
            assert!(is_closed(&mut { wrong }));
        }
        // A second first connection, as of a second process of the same party, and one that follows it.
        let (mut second, others) = dial(address);
        second.write_all(&card(3, 0, tag(&others))).unwrap();
        assert!(is_closed(&mut second));
        assert!(is_closed(&mut with(1, tag(&others))));
        let last = with(1, tag(&theirs));
        // They live until all are there.
        std::thread::sleep(Duration::from_millis(300));
        drop((first, early, last));
    });
    assert_eq!(met.unwrap(), 3);
    let said = said.into_inner().unwrap();
    // One place and one kind of fault are told once.
    assert_eq!(said.len(), 1, "{said:?}");
    assert!(
        said[0].contains("a connection of party 1 from 127.0.0.1"),
        "{said:?}"
    );
}

/// Nobody who floods a waiting party with connections that it calls party 1's holds more than a few of them.
#[test]
fn connections_ahead_of_the_first_are_bounded() {
    let met = waits(16, Duration::from_secs(30), &|_| {}, |address| {
        let mut ahead: Vec<TcpStream> = Vec::new();
        for number in 0..200_u8 {
            let (mut stream, _) = dial(address);
            stream
                .write_all(&card(16, 1 + number % 15, [number; 16]))
                .unwrap();
            ahead.push(stream);
        }
        std::thread::sleep(Duration::from_millis(500));
        ahead
            .iter()
            .for_each(|stream| stream.set_nonblocking(true).unwrap());
        let held = |stream: &mut TcpStream| {
            let read = stream.read(&mut [0]);
            read.is_err_and(|error| error.kind() == std::io::ErrorKind::WouldBlock)
        };
        let held = ahead
            .iter_mut()
            .filter_map(|stream| held(stream).then_some(()))
            .count();
        assert!(held <= 2 * MAX_CONNECTIONS, "{held} are kept");
        drop(dial_all(address, 16));
    });
    assert_eq!(met.unwrap(), 16);
}

/// A party whose other connections do not come is named, with how many came.
#[test]
fn a_party_that_ends_half_way_is_named_by_who_accepts() {
    let begin = Instant::now();
    let patience = Duration::from_secs(60);
    let met = waits(4, patience, &|_| {}, |address| {
        let (mut first, theirs) = dial(address);
        first.write_all(&card(4, 0, tag(&theirs))).unwrap();
        let (mut second, _) = dial(address);
        second.write_all(&card(4, 1, tag(&theirs))).unwrap();
    });
    let error = met.unwrap_err();
    assert!(
        matches!(&error, ConnectError::Incomplete { peer, came: 2, agreed: 4, .. } if peer.index() == 1),
        "{error}"
    );
    assert!(begin.elapsed() < patience / 2);
}

#[test]
fn a_party_that_ends_half_way_is_named_by_who_dials() {
    let (met, took) = dials(4, |listener| {
        let kept = accept(&listener, 4, |_| {});
        // One of the three that follow is answered, and then nobody listens.
        let further = accept(&listener, 4, |_| {});
        assert_eq!((kept.1[13], tag(&further.1)), (0, [7; 16]));
        assert!((1..4).contains(&further.1[13]));
    });
    let error = met.unwrap_err().to_string();
    assert!(
        error.contains("party 0") && error.contains("connection "),
        "{error}"
    );
    assert!(took < Duration::from_secs(20), "{took:?}");
}
