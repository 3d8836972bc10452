//! Memory of idle connections of a service's clients, at the server: `cargo run --release -p madrigal-net --example idle_clients`.
#![allow(clippy::print_stdout, reason = "a program for the terminal")]

use std::error::Error;
use std::sync::Arc;

use madrigal_net::identity::{Identity, Validity};
use madrigal_net::roster::Roster;
use madrigal_net::tls::{ClientTls, ServerTls, server_name};
use rustls::{ClientConnection, Connection, ServerConnection};

const CONNECTIONS: usize = 10_000;

fn main() -> Result<(), Box<dyn Error>> {
    let [server, other, client] = [(); 3].map(|()| Identity::generate(Validity::days(1)?));
    let (server, other, client) = (server?, other?, client?);
    let entry = |(port, identity): (u16, &Identity)| {
        let address = format!("127.0.0.1:{port}").parse()?;
        Ok((address, identity.fingerprint()))
    };
    let listed: Result<Vec<_>, Box<dyn Error>> = [(7700, &server), (7701, &other)]
        .into_iter()
        .map(entry)
        .collect();
    let roster = Arc::new(Roster::local(listed?)?);
    let accepting = ServerTls::new(&server)?;
    // All stay: memory that was given back would be taken again, and not be seen.
    let mut all = Vec::new();
    for identity in [None, Some(&client)] {
        let dialing = ClientTls::new(roster.clone(), identity)?;
        let mut idle = Vec::with_capacity(CONNECTIONS);
        let before = resident()?;
        for _ in 0..CONNECTIONS {
            let (config, _) = dialing.dial_config(0)?;
            let mut near = ClientConnection::new(config, server_name())?.into();
            let mut far: Connection = ServerConnection::new(accepting.config())?.into();
            while near_or_far_shakes(&near, &far) {
                carry(&mut near, &mut far)?;
                carry(&mut far, &mut near)?;
            }
            idle.push(Box::new(far));
        }
        let taken = resident()?.saturating_sub(before);
        let who = if identity.is_some() {
            "with a key"
        } else {
            "anonymous"
        };
        println!(
            "{CONNECTIONS} idle connections of clients, {who}: {:.1} KiB each",
            taken as f64 / 1024.0 / CONNECTIONS as f64
        );
        all.push(idle);
    }
    Ok(())
}

fn near_or_far_shakes(near: &Connection, far: &Connection) -> bool {
    near.is_handshaking() || far.is_handshaking()
}

fn carry(from: &mut Connection, to: &mut Connection) -> Result<(), Box<dyn Error>> {
    let mut wire = Vec::new();
    while from.wants_write() {
        from.write_tls(&mut wire)?;
    }
    let mut rest = wire.as_slice();
    while !rest.is_empty() {
        to.read_tls(&mut rest)?;
        to.process_new_packets()?;
    }
    Ok(())
}

/// Bytes of this process in memory.
fn resident() -> Result<usize, Box<dyn Error>> {
    let pages = std::fs::read_to_string("/proc/self/statm")?;
    let pages: usize = pages.split_whitespace().nth(1).unwrap_or("0").parse()?;
    Ok(pages * 4096)
}
