//! `doctor`: this machine, and the way to the others.

use std::time::SystemTime;

use madrigal_kernels::{Kernels, ceilings};
use serde::Serialize;

use super::peers::{self, PeerReport};
use crate::args::Doctor;
use crate::exit::{Ending, Failure, Result};
use crate::machine::Machine;
use crate::numbers::{rate, seconds, table};
use crate::stats::{print, print_json};

#[derive(Serialize)]
struct DoctorReport {
    madrigal: &'static str,
    unix_seconds: u64,
    machine: Machine,
    /// Of one thread, each beside what bounds it.
    kernels: Vec<KernelReport>,
    #[serde(skip_serializing_if = "Option::is_none")]
    peers: Option<Vec<PeerReport>>,
    /// What `--link` takes: the slowest of the ways to the others.
    #[serde(skip_serializing_if = "Option::is_none")]
    link: Option<String>,
}

#[derive(Serialize)]
struct KernelReport {
    name: &'static str,
    per_second: f64,
    unit: &'static str,
    /// What `bound` alone would allow.
    allowed_per_second: f64,
    bound: &'static str,
}

/// The kernels at the level in use.
fn kernels() -> Vec<KernelReport> {
    let all = ceilings::measure_kernels(Kernels::detect(), "");
    let report = all.into_iter().map(|one| KernelReport {
        name: one.kernel.name,
        per_second: one.kernel.rate,
        unit: one.kernel.unit.per_second(),
        allowed_per_second: one.allowed,
        bound: one.bound.name(),
    });
    report.collect()
}

fn kernels_table(kernels: &[KernelReport]) -> comfy_table::Table {
    let mut table = table(&["kernel", "rate", "of what is allowed", "bound by"]);
    for one in kernels {
        table.add_row([
            one.name.to_owned(),
            rate(one.per_second, one.unit),
            format!("{:.0} %", 100.0 * one.per_second / one.allowed_per_second),
            one.bound.to_owned(),
        ]);
    }
    table
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
        kernels: kernels(),
        link: peers.as_deref().and_then(link),
        peers,
    };
    let problem = report.peers.as_deref().and_then(problem);
    if args.json {
        print_json(&report)?;
        return problem.map_or(Ok(()), Err);
    }
    let mut text = format!(
        "madrigal {}\n\n{}\n\n{}\n",
        report.madrigal,
        report.machine.table(),
        kernels_table(&report.kernels)
    );
    if let Some(peers) = &report.peers {
        text += &format!("\n{}\n", peers_table(peers));
        for peer in peers {
            if let Some(problem) = &peer.problem {
                let text_of = &problem.text;
                text += &format!("\nparty {} `{}`: {text_of}\n", peer.party, peer.name);
            }
        }
        if let Some(link) = &report.link {
            text += &format!(
                "\nAs measured from here, runs may say `--link {link}`; all parties must say the same.\n"
            );
        }
    }
    print(text.as_bytes())?;
    problem.map_or(Ok(()), Err)
}

/// What the program ends with if not all is well.
fn problem(peers: &[PeerReport]) -> Option<Failure> {
    let problems = peers.iter().filter_map(|peer| peer.problem.as_ref());
    // Somebody with a wrong key matters more than somebody who is not there.
    let status = problems.clone().map(|problem| problem.status);
    let peers = Ending::Peers {
        status: status.max_by_key(|status| *status as u8)?,
        problems: problems.count(),
        peers: peers.len(),
    };
    Some(peers.into())
}

/// The longest round trip and the least bandwidth of those that were measured, to two digits: what
/// `--link` tells a plan.
fn link(peers: &[PeerReport]) -> Option<String> {
    let longest = peers.iter().filter_map(|peer| peer.round_trip_seconds);
    let least = peers.iter().filter_map(|peer| peer.bytes_per_second);
    let micros = longest.max_by(f64::total_cmp)? * 1e6;
    let megabits = least.min_by(f64::total_cmp)? * 8.0 / 1e6;
    // No network is faster than the units can say.
    let [micros, megabits] = [micros, megabits].map(|value| two_digits(value.max(1.0)));
    Some(format!("{micros}us,{megabits}Mbps"))
}

fn two_digits(value: f64) -> u64 {
    let scale = 10_f64.powf((value.log10().floor() - 1.0).max(0.0));
    ((value / scale).round() * scale) as u64
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

#[cfg(test)]
mod tests {
    use madrigal_net::transport::Profile;

    use super::*;

    fn way(round_trip: Option<f64>, bytes_per_second: Option<f64>) -> PeerReport {
        PeerReport {
            party: 1,
            name: "bob".to_owned(),
            address: "bob.example:7000".to_owned(),
            key: "key".to_owned(),
            round_trip_seconds: round_trip,
            bytes_per_second,
            clock_difference_seconds: None,
            problem: None,
        }
    }

    #[test]
    fn the_slowest_way_is_what_runs_are_told() {
        let peers = [
            way(Some(0.0201), Some(125e6)),
            way(Some(0.000_07), Some(3.456e9)),
            way(None, None),
        ];
        let told = link(&peers).unwrap();
        assert_eq!(told, "20000us,1000Mbps");
        assert_eq!(Profile::parse(&told), Profile::parse("20ms,1Gbps"));
        assert_eq!(link(&peers[1..]).unwrap(), "70us,28000Mbps");
        // Whatever is measured can be said.
        let odd = link(&[way(Some(1e-9), Some(0.5))]).unwrap();
        assert_eq!(odd, "1us,1Mbps");
        Profile::parse(&odd).unwrap();
        assert_eq!(link(&peers[2..]), None);
    }
}
