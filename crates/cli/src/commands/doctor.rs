//! `doctor`: this machine, and the way to the others.

use std::time::SystemTime;

use madrigal_engine::{Extension, MAX_THREADS};
use madrigal_kernels::{Kernels, Level, ceilings};
use madrigal_net::transport::Profile;
use serde::Serialize;

use super::peers::{self, PeerReport};
use crate::args::Doctor;
use crate::exit::{Failure, PeerProblems, Result};
use crate::figures::{print, print_json};
use crate::machine::Machine;
use crate::numbers::{Table, counted, rate, seconds, table};

#[derive(Serialize)]
struct DoctorReport {
    /// Version of the program.
    madrigal: &'static str,
    /// Clock of this machine.
    unix_seconds: u64,
    /// This machine.
    machine: Machine,
    /// Kernels at the level in use, on one thread.
    kernels: Vec<KernelReport>,
    /// Other parties; only with `--peers`.
    #[serde(skip_serializing_if = "Option::is_none")]
    peers: Option<Vec<PeerReport>>,
    /// Value for `--link`: the slowest of the links to the others. Only with `--peers`, and if at least one could be
    /// measured.
    #[serde(skip_serializing_if = "Option::is_none")]
    link: Option<String>,
    /// Threads of each party beyond which Boolean triples come no faster over that link. Only with it.
    #[serde(skip_serializing_if = "Option::is_none")]
    link_threads: Option<usize>,
    /// Sentence that says whether one can go on, and what is to be mended before.
    verdict: String,
}

#[derive(Serialize)]
struct KernelReport {
    /// Name of the kernel.
    name: &'static str,
    /// Rate of the kernel.
    per_second: f64,
    /// Unit of both rates.
    unit: &'static str,
    /// Rate that the level would allow if nothing but `bound` were at work.
    allowed_per_second: f64,
    /// Limit of the kernel.
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

fn kernels_table(kernels: &[KernelReport]) -> Table {
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
    let machine = Machine::measure()?;
    let link = peers.as_deref().and_then(link);
    let report = DoctorReport {
        madrigal: env!("CARGO_PKG_VERSION"),
        unix_seconds: now.map_or(0, |since| since.as_secs()),
        verdict: verdict(&machine, peers.as_deref()),
        machine,
        kernels: kernels(),
        link_threads: link.as_deref().and_then(link_threads),
        link,
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
        for peer in peers {
            // A certificate is judged by each party's own clock.
            let off = peer.clock_difference_seconds.map_or(0.0, f64::abs);
            if off > 120.0 {
                let (party, name) = (peer.party, &peer.name);
                text += &format!(
                    "\nThe clocks of party {party} `{name}` and this machine differ by {:.0} min: set the one that is wrong.\n",
                    off / 60.0
                );
            }
        }
        if let Some(link) = &report.link {
            let threads = counted(report.link_threads.unwrap_or(1) as u64, "thread");
            text += &format!(
                "\nAs measured from here, runs may say `--link {link}`; all parties must say the same. Over such a line Boolean\n\
                 triples come no faster on more than {threads} of each party; all else that is computed may.\n"
            );
        }
    }
    text += &format!("\n{}\n", report.verdict);
    print(text.as_bytes())?;
    problem.map_or(Ok(()), Err)
}

/// A party has a socket for each other one, and files of its own.
const FEW_FILES: u64 = 256;
/// Clocks that differ by more, in seconds, soon disagree on whether a certificate is valid.
const APART: f64 = 60.0;
/// Where less of the cores is free, runs take longer than they would.
const BUSY: f64 = 0.8;

/// One sentence that all of the report comes to.
fn verdict(machine: &Machine, peers: Option<&[PeerReport]>) -> String {
    let mut wrong = Vec::new();
    let all = peers.unwrap_or_default();
    let ill = all.iter().filter(|peer| peer.problem.is_some()).count();
    if ill > 0 {
        wrong.push(format!(
            "{ill} of {} other parties, as told above",
            all.len()
        ));
    }
    let apart = |peer: &&PeerReport| {
        let difference = peer.clock_difference_seconds;
        difference.is_some_and(|seconds| seconds.abs() > APART)
    };
    let clocks: Vec<_> = all
        .iter()
        .filter(apart)
        .map(|peer| peer.party.to_string())
        .collect();
    if !clocks.is_empty() {
        let parties = clocks.join(", ");
        wrong.push(format!(
            "the clock here or of party {parties}: they are minutes apart"
        ));
    }
    if let Some(files) = machine.open_files.filter(|&files| files < FEW_FILES) {
        wrong.push(format!(
            "the limit of open files (`ulimit -n`), which is {files}"
        ));
    }
    let mut slow = Vec::new();
    if machine.level == Level::Portable.name() {
        slow.push("AES is computed without the processor's instructions for it".to_owned());
    }
    if machine.cores_free < BUSY {
        slow.push(format!(
            "other work leaves {:.0} % of the cores",
            100.0 * machine.cores_free
        ));
    }
    let others = match peers {
        Some(_) => "this machine and the ways to all other parties are as they should be",
        None => "this machine is as it should be; --peers looks at the ways to the others",
    };
    match (&wrong[..], &slow[..]) {
        ([], []) => format!("Good to go: {others}."),
        ([], slow) => format!("Good to go, but slower than need be: {}.", slow.join("; ")),
        (wrong, _) => format!("Mend first: {}.", wrong.join("; ")),
    }
}

/// Gives the failure that the program ends with if a party has a problem.
fn problem(peers: &[PeerReport]) -> Option<Failure> {
    let problems = peers.iter().filter_map(|peer| peer.problem.as_ref());
    // Somebody with a wrong key matters more than somebody who is not there.
    let status = problems.clone().map(|problem| problem.status);
    let peers = PeerProblems {
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

/// Threads beyond which Boolean triples come no faster over such a link, between processors like this one.
fn link_threads(link: &str) -> Option<usize> {
    let profile = Profile::parse(link).ok()?;
    Some(Extension::threads_that_help(
        &profile,
        Kernels::detect().level(),
        MAX_THREADS,
    ))
}

fn two_digits(value: f64) -> u64 {
    let scale = 10_f64.powf((value.log10().floor() - 1.0).max(0.0));
    ((value / scale).round() * scale) as u64
}

fn peers_table(peers: &[PeerReport]) -> Table {
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
    use madrigal_app::threads::AutoThreads;

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
    fn a_doctor_ends_with_what_is_to_be_done() {
        let machine = |level, files, free| Machine {
            processor: None,
            cores: 2,
            cores_free: free,
            threads: AutoThreads::here(),
            loopback_threads: 2,
            free_memory: None,
            level,
            levels: vec![level],
            kernels: Vec::new(),
            loopback_round_trip_seconds: 1e-5,
            loopback_bytes_per_second: 1e9,
            open_files: Some(files),
            hashed_blocks: 1e9,
            aes_blocks: 1e9,
        };
        let well = machine("vaes512", 1024, 1.0);
        assert!(verdict(&well, None).starts_with("Good to go: this machine"));
        let mut peers = [way(Some(0.02), Some(1e8)), way(Some(0.02), Some(1e8))];
        assert!(verdict(&well, Some(&peers)).contains("all other parties"));
        let slow = verdict(&machine("portable", 1024, 0.5), Some(&peers));
        assert!(slow.starts_with("Good to go, but"), "{slow}");
        assert!(slow.contains("AES") && slow.contains("50 %"), "{slow}");
        peers[1].clock_difference_seconds = Some(-200.0);
        peers[0].problem = Some("no answer".to_owned().into());
        let told = verdict(&machine("vaes512", 64, 1.0), Some(&peers));
        assert!(told.starts_with("Mend first: 1 of 2"), "{told}");
        for word in ["clock", "ulimit -n"] {
            assert!(told.contains(word), "{word}: {told}");
        }
        for text in [slow, told] {
            assert_eq!(text.matches('.').count(), 1, "{text}");
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
