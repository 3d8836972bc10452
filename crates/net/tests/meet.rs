//! Parties find each other over TCP, whoever else dials their ports.

#![cfg(feature = "sockets")]
#![allow(clippy::unwrap_used)] // helpers of tests

use std::io::Write;
use std::net::TcpStream;
use std::time::Duration;

use madrigal_core::Party;
use madrigal_net::transport::{ConnectError, Security, TcpTransport, connect};

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
    let runtime = tokio::runtime::Builder::new_current_thread()
        .enable_all()
        .build()
        .unwrap();
    runtime.block_on(async {
        let listener = tokio::net::TcpListener::from_std(listener).unwrap();
        let me = Party::new(me);
        connect(me, addresses, listener, &Security::Clear, patience).await
    })
}

/// What dials open ports of the net all day long: says something, or nothing, and goes.
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
