//! Two runs of the program at the same time, and somebody without a key who forwards connections of one to
//! the other.

use std::net::TcpListener;
use std::path::Path;

use madrigal_testkit::forward;

use crate::command::{Ended, SUM, adder, free_port, roster, start, write};

/// Two runs by the parties of one list, and who forwards connections to party `crossed` of one to the other.
/// How all parties of both end.
fn spliced(path: &Path, parties: usize, crossed: Option<usize>, rest: &str) -> Vec<Ended> {
    let list = std::fs::read_to_string(path.join("parties.toml")).unwrap();
    let bind = || TcpListener::bind("127.0.0.1:0").unwrap();
    let address = |listener: &TcpListener| listener.local_addr().unwrap().to_string();
    // Where parties listen; others dial those in between.
    let inside = [(); 2].map(|()| {
        let free = (0..parties).map(|_| format!("127.0.0.1:{}", free_port()));
        free.collect::<Vec<_>>()
    });
    let mut running = Vec::new();
    for run in 0..2 {
        let mut lines: Vec<String> = list.lines().map(str::to_owned).collect();
        let places = lines.iter_mut().filter(|line| line.starts_with("address"));
        for (party, place) in places.enumerate() {
            let door = bind();
            *place = format!("address = \"{}\"", address(&door));
            let to = run ^ usize::from(crossed == Some(party));
            forward(door, inside[to][party].clone());
        }
        write(path, &format!("run{run}.toml"), &(lines.join("\n") + "\n"));
        for party in 0..parties {
            let brought = ["--input a", "--input b", "--lanes 2"][party];
            let line = format!(
                "run --circuit sum.txt --parties run{run}.toml --identity p{party} --party {party} --quiet \
                 --connect-timeout 30s --listen {} {brought} {rest}",
                inside[run][party]
            );
            running.push(start(path, &line));
        }
    }
    running.into_iter().map(|party| party.end()).collect()
}

/// Before, the parties computed with those of the other run: exit 0, and the other run's values.
#[test]
fn runs_that_are_forwarded_crosswise_compute_nothing() {
    let directory = adder();
    let path = directory.path();
    roster(path, 3);
    for ended in spliced(path, 3, None, "--protocol R") {
        assert_eq!(ended.good().stdout, SUM);
    }
    for protocol in ["R", "Y"] {
        for ended in spliced(path, 3, Some(0), &format!("--protocol {protocol}")) {
            let ended = ended.bad(5, &["crosswise"]);
            assert_eq!(ended.stdout, "");
        }
    }
    // Sessions that a name does not tell apart, the identity does.
    for ended in spliced(path, 3, Some(1), "--protocol B --session same") {
        let ended = ended.bad(4, &["crosswise"]);
        assert_eq!(ended.stdout, "");
    }
    roster_of_two(path);
    for ended in spliced(path, 2, Some(0), "--protocol Y2") {
        let ended = ended.bad(5, &["party 0 is at", "crosswise", "--session"]);
        assert_eq!(ended.stdout, "");
    }
}

/// The first two of the list.
fn roster_of_two(path: &Path) {
    let list = std::fs::read_to_string(path.join("parties.toml")).unwrap();
    let (two, _) = list.rsplit_once("[[party]]").unwrap();
    write(path, "parties.toml", two);
}

/// Lists may give different addresses of a party (as behind NAT) if the run has a name.
#[test]
fn a_name_stands_in_for_addresses_that_differ() {
    let directory = adder();
    let path = directory.path();
    roster(path, 2);
    let list = std::fs::read_to_string(path.join("parties.toml")).unwrap();
    // Party 1's own list gives party 0 another name of this machine.
    let inside = list.replacen("127.0.0.1:", "localhost:", 1);
    write(path, "inside.toml", &inside);
    let both = |rest: &str| {
        let zero = format!(
            "run --circuit sum.txt --parties inside.toml --party 0 --quiet --input a --connect-timeout 30s {rest}"
        );
        [
            start(path, &zero),
            crate::command::party(path, 1, &format!("--input b {rest}")),
        ]
        .map(|party| party.end())
    };
    for ended in both("--session tuesday") {
        assert_eq!(ended.good().stdout, SUM);
    }
    for ended in both("") {
        ended.bad(
            5,
            &["party 0 is at", "localhost:", "127.0.0.1:", "--session"],
        );
    }
}
