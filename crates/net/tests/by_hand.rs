//! Cards made by hand from the tables of `schema/WIRE.md`, and connections that are dialed with them.
#![allow(clippy::unwrap_used, reason = "a failed unwrap is a failed test")]

use std::io::{Read, Write};
use std::net::TcpStream;
use std::time::Duration;

pub(crate) type CardBytes = [u8; 32];

/// The card of party 1, one of two, to party 0.
pub(crate) fn card(offer: u8, number: u8, tag: [u8; 16]) -> CardBytes {
    let mut card = [0; 32];
    card[..8].copy_from_slice(b"MADRIGAL");
    card[8..14].copy_from_slice(&[2, 1, 0, 2, offer, number]);
    card[16..].copy_from_slice(&tag);
    card
}

/// Tag of an accepting side's card.
pub(crate) fn tag(card: &CardBytes) -> [u8; 16] {
    card[16..].try_into().unwrap()
}

/// Dials party 0 in the clear as party 1, and gives the connection and the card that came.
pub(crate) fn dial(address: &str) -> (TcpStream, CardBytes) {
    let mut stream = TcpStream::connect(address).unwrap();
    let limit = Some(Duration::from_secs(60));
    stream.set_read_timeout(limit).unwrap();
    let mut theirs = [0; 32];
    stream.read_exact(&mut theirs).unwrap();
    (stream, theirs)
}

/// Dials all of `connections` connections as party 1, in the clear; they are those of the numbers.
pub(crate) fn dial_all(address: &str, connections: u8) -> Vec<TcpStream> {
    let (mut first, theirs) = dial(address);
    assert_eq!(theirs[8..12], [2, 0, 255, 2]);
    first
        .write_all(&card(connections, 0, tag(&theirs)))
        .unwrap();
    let further = |number| {
        let (mut stream, _) = dial(address);
        let card = card(connections, number, tag(&theirs));
        stream.write_all(&card).unwrap();
        stream
    };
    let further: Vec<_> = (1..connections).map(further).collect();
    std::iter::once(first).chain(further).collect()
}
