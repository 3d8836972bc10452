//! `doctor`: this machine, and the way to the others.

use std::time::SystemTime;

use serde::Serialize;

use super::peers::{self, PeerReport};
use crate::args::Doctor;
use crate::exit::Result;
use crate::machine::Machine;
use crate::stats::{print, print_json, rate, seconds, table};

#[derive(Serialize)]
struct DoctorReport {
    madrigal: &'static str,
    unix_seconds: u64,
    machine: Machine,
    #[serde(skip_serializing_if = "Option::is_none")]
    peers: Option<Vec<PeerReport>>,
}

pub fn run(args: Doctor) -> Result<()> {
    // The peers first: they run at the same time, and measuring takes a moment.
    let peers = match &args.peers {
        Some(roster) => Some(peers::examine(roster, &args)?),
        None => None,
    };
    let now = SystemTime::now().duration_since(SystemTime::UNIX_EPOCH);
    let report = DoctorReport {
        madrigal: env!("CARGO_PKG_VERSION"),
        unix_seconds: now.map_or(0, |since| since.as_secs()),
        machine: Machine::measure()?,
        peers,
    };
    if args.json {
        return print_json(&report);
    }
    let mut text = format!(
        "madrigal {}\n\n{}\n",
        report.madrigal,
        report.machine.table()
    );
    if let Some(peers) = &report.peers {
        text += &format!("\n{}\n", peers_table(peers));
        for peer in peers {
            if let Some(problem) = &peer.problem {
                text += &format!("\nparty {} `{}`: {problem}\n", peer.party, peer.name);
            }
        }
    }
    print(text.as_bytes())
}

fn peers_table(peers: &[PeerReport]) -> comfy_table::Table {
    let mut table = table(&[
        "party",
        "name",
        "address",
        "key",
        "round trip",
        "bandwidth",
        "clock",
        "state",
    ]);
    for peer in peers {
        table.add_row([
            peer.party.to_string(),
            peer.name.clone(),
            peer.address.clone(),
            peer.key.chars().take(15).collect::<String>() + "...",
            peer.round_trip_seconds.map(seconds).unwrap_or_default(),
            peer.bytes_per_second
                .map(|r| rate(r, "B/s"))
                .unwrap_or_default(),
            peer.clock_difference_seconds
                .map(|s| format!("{s:+.1} s"))
                .unwrap_or_default(),
            if peer.problem.is_none() {
                "good"
            } else {
                "see below"
            }
            .to_owned(),
        ]);
    }
    table
}
