//! Bulk speed of TLS in one thread, without sockets: rustls' buffered against its unbuffered API.
//!
//! `cargo bench -p madrigal-net --bench tls` prints GB/s (10^9 bytes of plaintext per second) for
//! sealing alone, opening alone, and both after another, at several message sizes.
#![allow(
    clippy::print_stdout,
    clippy::unwrap_used,
    reason = "a program for people"
)]

use std::io::{Read, Write};
use std::sync::Arc;
use std::time::{Duration, Instant};

use madrigal_net::identity::{Identity, Validity};
use madrigal_net::roster::{Address, Roster};
use madrigal_net::tls::{TlsParty, server_name};
use rustls::client::UnbufferedClientConnection;
use rustls::server::UnbufferedServerConnection;
use rustls::unbuffered::{ConnectionState, UnbufferedStatus};
use rustls::{ClientConnection, ServerConnection};

/// Plaintext per measurement, bytes.
const VOLUME: usize = 128 << 20;
/// Number of measurements, the best of which counts: other programs only ever slow one down.
const RUNS: u32 = 7;
const SIZES: [usize; 5] = [1 << 10, 4 << 10, 16 << 10, 64 << 10, 256 << 10];

/// Step that a handshake wants next.
#[derive(PartialEq)]
enum Next {
    Again,
    Peer,
    Traffic,
}

/// Handles one state of the unbuffered handshake; the two sides' states differ only in type.
macro_rules! step {
    ($connection:expr, $incoming:expr, $outgoing:expr) => {{
        let UnbufferedStatus { discard, state, .. } =
            $connection.process_tls_records(&mut $incoming);
        let next = match state.unwrap() {
            ConnectionState::EncodeTlsData(mut data) => {
                let mut bytes = vec![0; 1 << 14];
                let n = data.encode(&mut bytes).unwrap();
                $outgoing.extend_from_slice(&bytes[..n]);
                Next::Again
            }
            ConnectionState::TransmitTlsData(data) => {
                data.done();
                Next::Again
            }
            ConnectionState::BlockedHandshake => Next::Peer,
            ConnectionState::WriteTraffic(_) => Next::Traffic,
            other => panic!("{other:?}"),
        };
        $incoming.drain(..discard);
        next
    }};
}

fn main() {
    let identities = [0, 1].map(|_| Identity::generate(Validity::days(1).unwrap()).unwrap());
    let entry = |i: usize| {
        let address: Address = format!("127.0.0.1:{}", 7000 + i).parse().unwrap();
        (address, identities[i].fingerprint())
    };
    let roster = Arc::new(Roster::local((0..2).map(entry)).unwrap());
    let [a, b] = identities
        .each_ref()
        .map(|i| TlsParty::new(i, roster.clone()).unwrap());

    println!(
        "{:>10} {:>10} {:>8} {:>8} {:>8}",
        "API", "message", "seal", "open", "both"
    );
    for size in SIZES {
        report("buffered", size, || buffered(&a, &b, size));
        report("unbuffered", size, || unbuffered(&a, &b, size));
    }
    handshakes(&a, &b);
}

fn report(api: &str, size: usize, mut measure: impl FnMut() -> (Duration, Duration)) {
    let (mut seal, mut open) = measure();
    for _ in 1..RUNS {
        let (s, o) = measure();
        (seal, open) = (seal.min(s), open.min(o));
    }
    let speed = |time: Duration| VOLUME as f64 / time.as_secs_f64() / 1e9;
    println!(
        "{api:>10} {size:>10} {:8.2} {:8.2} {:8.2}",
        speed(seal),
        speed(open),
        speed(seal + open)
    );
}

fn buffered(a: &TlsParty, b: &TlsParty, size: usize) -> (Duration, Duration) {
    let (mut client, mut server) = meet(a, b);
    client.set_buffer_limit(None);
    let mut wire = Vec::with_capacity(2 * size + 4096);
    let message = vec![7; size];
    let mut plain = vec![0; size];
    let (mut seal, mut open) = (Duration::ZERO, Duration::ZERO);
    for _ in 0..VOLUME / size {
        wire.clear();
        let start = Instant::now();
        client.writer().write_all(&message).unwrap();
        while client.wants_write() {
            client.write_tls(&mut wire).unwrap();
        }
        seal += start.elapsed();

        let start = Instant::now();
        let (mut bytes, mut filled) = (wire.as_slice(), 0);
        while filled < size {
            server.read_tls(&mut bytes).unwrap();
            server.process_new_packets().unwrap();
            while filled < size {
                match server.reader().read(&mut plain[filled..]) {
                    Ok(n) => filled += n,
                    Err(_) => break,
                }
            }
        }
        open += start.elapsed();
    }
    assert_eq!(plain, message);
    (seal, open)
}

fn feed(bytes: &mut &[u8], mut read: impl FnMut(&mut &[u8]) -> std::io::Result<usize>) {
    while !bytes.is_empty() {
        read(bytes).unwrap();
    }
}

fn unbuffered(a: &TlsParty, b: &TlsParty, size: usize) -> (Duration, Duration) {
    let (config, _) = a.dial_config(1).unwrap();
    let mut client = UnbufferedClientConnection::new(config, server_name()).unwrap();
    let (config, _) = b.accept_config("bench").unwrap();
    let mut server = UnbufferedServerConnection::new(config).unwrap();
    let (mut to_server, mut to_client) = (Vec::new(), Vec::new());
    loop {
        let mine = loop {
            match step!(client, to_client, to_server) {
                Next::Again => continue,
                next => break next,
            }
        };
        let theirs = loop {
            match step!(server, to_server, to_client) {
                Next::Again => continue,
                next => break next,
            }
        };
        if mine == Next::Traffic && theirs == Next::Traffic {
            break;
        }
    }

    let message = vec![7; size];
    let mut plain = vec![0; size];
    let mut wire = vec![0; size + 256 * (size / 16384 + 1)];
    let (mut seal, mut open) = (Duration::ZERO, Duration::ZERO);
    for _ in 0..VOLUME / size {
        let start = Instant::now();
        let status = client.process_tls_records(&mut []);
        let written = match status.state.unwrap() {
            ConnectionState::WriteTraffic(mut traffic) => {
                traffic.encrypt(&message, &mut wire).unwrap()
            }
            other => panic!("{other:?}"),
        };
        seal += start.elapsed();

        let start = Instant::now();
        let (mut used, mut filled) = (0, 0);
        while filled < size {
            let UnbufferedStatus {
                mut discard, state, ..
            } = server.process_tls_records(&mut wire[used..written]);
            if let ConnectionState::ReadTraffic(mut traffic) = state.unwrap() {
                while let Some(record) = traffic.next_record() {
                    let record = record.unwrap();
                    discard += record.discard;
                    plain[filled..filled + record.payload.len()].copy_from_slice(record.payload);
                    filled += record.payload.len();
                }
            }
            used += discard;
        }
        open += start.elapsed();
    }
    assert_eq!(plain, message);
    (seal, open)
}

fn meet(a: &TlsParty, b: &TlsParty) -> (ClientConnection, ServerConnection) {
    let (mut client, _) = a.dial(1).unwrap();
    let (mut server, _) = b.accept("bench").unwrap();
    let mut wire = Vec::new();
    while client.is_handshaking() || server.is_handshaking() {
        wire.clear();
        while client.wants_write() {
            client.write_tls(&mut wire).unwrap();
        }
        feed(&mut wire.as_slice(), |bytes| server.read_tls(bytes));
        server.process_new_packets().unwrap();
        wire.clear();
        while server.wants_write() {
            server.write_tls(&mut wire).unwrap();
        }
        feed(&mut wire.as_slice(), |bytes| client.read_tls(bytes));
        client.process_new_packets().unwrap();
    }
    (client, server)
}

fn handshakes(a: &TlsParty, b: &TlsParty) {
    const HANDSHAKES: u32 = 200;
    let start = Instant::now();
    for _ in 0..HANDSHAKES {
        meet(a, b);
    }
    println!(
        "handshake, both sides: {:.2?}",
        start.elapsed() / HANDSHAKES
    );
}
