//! Failures have the right status and a message that says what to do, at both sides, and before a
//! time limit makes an end of it.

use std::time::{Duration, Instant, SystemTime};

use madrigal_net::identity::{Identity, IdentityFiles, Validity};

use crate::command::{Running, adder, circuit, madrigal, party, roster, write};

/// Less than parties wait for each other here. On a quiet machine all of it takes a second or two.
const LIMIT: Duration = Duration::from_secs(25);

#[track_caller]
fn refused(path: &std::path::Path, rest: &str, status: i32, parts: &[&str]) {
    let start = Instant::now();
    madrigal(path, &format!("run {rest}")).bad(status, parts);
    assert!(start.elapsed() < LIMIT);
}

/// Both sides end with these statuses and messages.
#[track_caller]
fn both_refuse(running: [Running; 2], expected: [(i32, &[&str]); 2]) {
    for (running, (status, parts)) in running.into_iter().zip(expected) {
        let ended = running.end().bad(status, parts);
        assert!(ended.time < LIMIT, "{:?}: {ended}", ended.time);
        assert_eq!(ended.stdout, "", "no result after an error");
    }
}

#[test]
fn flags_that_do_not_go_together() {
    let directory = adder();
    let path = directory.path();
    for (rest, part) in [
        ("--circuit sum.txt", "--local N"),
        ("--circuit sum.txt --local 1", "2 to 64"),
        ("--circuit sum.txt --local 2 --input 0=a", "--input 1=FILE"),
        ("--circuit sum.txt --local 2 --input a", "names no party"),
        (
            "--circuit sum.txt --local 2 --input 0=a --input 0=b",
            "twice",
        ),
        (
            "--circuit sum.txt --local 2 --input 0=a --input 2=b",
            "no party 2",
        ),
        (
            "--circuit sum.txt --local 3 --input 0=a --input 1=b --input 2=b",
            "owns no input value",
        ),
        (
            "--circuit sum.txt --local 2 --owners 0,5 --input 0=a",
            "no party 5",
        ),
        (
            "--circuit sum.txt --local 2 --owners 0 --input 0=a",
            "2 input values",
        ),
        (
            "--circuit sum.txt --local 2 --input 0=a --input 1=b --to 7",
            "no party 7",
        ),
        (
            "--circuit sum.txt --local 2 --input 0=a --input 1=b --lanes 3",
            "--lanes has 3 lanes",
        ),
        (
            "--circuit sum.txt --local 2 --input 0=a --input 1=b --json",
            "--output",
        ),
        (
            "--circuit sum.txt --local 2 --input 0=a --input 1=b --network moon",
            "none",
        ),
        (
            "--circuit sum.txt --local 2 --party 0 --parties x",
            "cannot be used",
        ),
        ("--circuit sum.txt --local 2 --deadline soon", "10s"),
    ] {
        refused(path, rest, 2, &[part]);
    }
}

#[test]
fn files_that_are_wrong() {
    let directory = adder();
    let path = directory.path();
    write(path, "hex", "3\nxy\n");
    write(path, "wide", "3\n100\n");
    write(path, "one", "3\n");
    write(path, "empty", "");
    write(path, "half.txt", "2 4\n1 2\n1 1\n2 1 0 1 2 AND\n");
    for (rest, parts) in [
        (
            "--circuit none.txt --local 2",
            &["none.txt", "No such file"][..],
        ),
        (
            "--circuit half.txt --local 2 --input 0=a --input 1=b",
            &["half.txt"],
        ),
        (
            "--circuit sum.txt --local 2 --input 0=none --input 1=b",
            &["none"],
        ),
        (
            "--circuit sum.txt --local 2 --input 0=hex --input 1=b",
            &["hex, line 2, value 1"],
        ),
        (
            "--circuit sum.txt --local 2 --input 0=a --input 1=wide",
            &["party 1", "wide, line 2"],
        ),
        (
            "--circuit sum.txt --local 2 --input 0=a --input 1=b --output no/where",
            &["no/where"],
        ),
        (
            "--circuit sum.txt --party 0 --parties none.toml --input a",
            &["none.toml"],
        ),
    ] {
        refused(path, rest, 3, parts);
    }
    let rest = "--circuit sum.txt --local 2 --input 0=a --input 1=one";
    refused(path, rest, 2, &["a has 2 lanes", "one has 1"]);
}

#[test]
fn a_party_that_does_not_come() {
    let directory = adder();
    let path = directory.path();
    roster(path, 2);
    party(path, 0, "--input a --connect-timeout 1s")
        .end()
        .bad(4, &["party 1", "did not connect"]);
    party(path, 1, "--input b --connect-timeout 1s")
        .end()
        .bad(4, &["party 0", "could not be reached"]);
    party(path, 2, "--input b").end().bad(2, &["0 to 1"]);
    party(path, 0, "--to 0").end().bad(2, &["--input 0=FILE"]);
    party(path, 0, "--owners 1,1").end().bad(2, &["--lanes"]);
    party(path, 0, "--input a --identity p1")
        .end()
        .bad(2, &["party 1"]);
    party(path, 0, "--input 1=b")
        .end()
        .bad(2, &["reads only its own input"]);
}

#[test]
fn a_key_that_is_not_the_one_in_the_roster() {
    let directory = adder();
    let path = directory.path();
    roster(path, 2);
    // Party 1 has another key, which its own list of parties has.
    madrigal(path, "keygen --out other").good();
    let other = std::fs::read_to_string(path.join("parties.toml")).unwrap();
    let key = |name: &str| {
        let files = IdentityFiles::in_directory(path, name);
        Identity::load(&files).unwrap().fingerprint().to_string()
    };
    write(
        path,
        "other.toml",
        &other.replace(&key("p1"), &key("other")),
    );
    let running = [
        party(path, 0, "--input a --connect-timeout 4s"),
        crate::command::start(
            path,
            "run --circuit sum.txt --party 1 --parties other.toml --identity other --input b --connect-timeout 4s",
        ),
    ];
    let theirs = key("other");
    both_refuse(running, [(5, &[&theirs]), (5, &["party 0", &theirs])]);
    // Party 1 has another key, and has told nobody, not even its own list of parties.
    let running = [
        party(path, 0, "--input a --connect-timeout 4s"),
        party(path, 1, "--input b --identity other"),
    ];
    both_refuse(running, [(5, &[&theirs]), (3, &[&theirs])]);
}

#[test]
fn a_certificate_that_has_expired() {
    let directory = adder();
    let path = directory.path();
    roster(path, 2);
    let now = SystemTime::now();
    let day = Duration::from_secs(86_400);
    let renew = |files: &IdentityFiles, from: SystemTime, to: SystemTime| {
        let validity = Validity::new(from, to).unwrap();
        let identity = Identity::renew_from_key(&files.key, validity).unwrap();
        identity.save_certificate(&files.certificate).unwrap();
    };
    // Expired before the start: its owner knows at once, and comes so that the others learn it.
    for (expired, other) in [(1, 0), (0, 1)] {
        let input = |party: usize| format!("--input {} --connect-timeout 3s", ["a", "b"][party]);
        let files = IdentityFiles::in_directory(path, &format!("p{expired}"));
        renew(&files, now - 2 * day, now - day);
        let running = [expired, other].map(|i| party(path, i, &input(i)));
        let name = format!("party {expired}");
        both_refuse(
            running,
            [(3, &["keygen --renew"]), (5, &["expired", &name])],
        );
        renew(&files, now - day, now + day);
    }
    // One that expires while its owner waits for the others is refused by them.
    let files = IdentityFiles::in_directory(path, "p1");
    renew(
        &files,
        now - day,
        SystemTime::now() + Duration::from_secs(4),
    );
    let one = party(path, 1, "--input b");
    std::thread::sleep(Duration::from_millis(5000));
    let running = [party(path, 0, "--input a --connect-timeout 4s"), one];
    both_refuse(running, [(5, &["expired"]), (5, &["keygen --renew"])]);
}

#[test]
fn parties_that_compute_different_things() {
    let directory = adder();
    let path = directory.path();
    roster(path, 2);
    std::fs::copy(circuit("int_sub8_size.bristol"), path.join("other.txt")).unwrap();
    write(path, "three", "1\n2\n3\n");
    let running = [
        party(path, 0, "--input a"),
        crate::command::start(
            path,
            "run --circuit other.txt --party 1 --parties parties.toml --input b",
        ),
    ];
    let expected: (i32, &[&str]) = (5, &["another program", "circuit"]);
    both_refuse(running, [expected; 2]);
    let running = [party(path, 0, "--input a"), party(path, 1, "--input three")];
    let expected: (i32, &[&str]) = (5, &["another program", "lanes"]);
    both_refuse(running, [expected; 2]);
}

#[test]
fn parties_of_different_versions() {
    let directory = adder();
    let path = directory.path();
    roster(path, 2);
    let running = [
        party(path, 0, "--input a"),
        party(path, 1, "--input b --test-protocol-version 77"),
    ];
    both_refuse(
        running,
        [(5, &["version 77"]), (5, &["we speak version 77"])],
    );
}

#[test]
fn parties_that_compute_differently_often() {
    let directory = adder();
    let path = directory.path();
    roster(path, 2);
    let running = [
        party(path, 0, "--input a --repeat 3"),
        party(path, 1, "--input b"),
    ];
    let expected: (i32, &[&str]) = (5, &["repetitions", "--repeat"]);
    both_refuse(running, [expected; 2]);
    let running = [
        party(path, 0, "--input a --memory 100MiB"),
        party(path, 1, "--input b"),
    ];
    let expected: (i32, &[&str]) = (5, &["memory for correlations is", "--memory"]);
    both_refuse(running, [expected; 2]);
    // Parties that plan for different lines.
    let running = [
        party(path, 0, "--input a --network lan"),
        party(path, 1, "--input b"),
    ];
    let expected: (i32, &[&str]) = (5, &["line is", "--link"]);
    both_refuse(running, [expected; 2]);
}

#[test]
fn flags_for_correlations_that_nobody_makes() {
    let directory = adder();
    let path = directory.path();
    let run = |local: usize, rest: &str| {
        format!("run --circuit sum.txt --local {local} --input 0=a --input 1=b {rest}")
    };
    for rest in [
        "--correlations dealer",
        "--correlations store",
        "--store made",
        "--extension silent",
    ] {
        let flag = if rest.contains("ext") {
            "--extension"
        } else {
            "--correlations"
        };
        madrigal(path, &run(3, &format!("--protocol R {rest}"))).bad(2, &[flag, "protocol R"]);
    }
    madrigal(path, &run(2, "--correlations dealer --extension iknp")).bad(2, &["--extension"]);
    madrigal(path, &run(2, "--correlations ot --store made")).bad(2, &["two origins"]);
    let statistics = madrigal(
        path,
        &run(3, "--protocol R --stats R.json --phases interleaved"),
    );
    assert_eq!(statistics.good().stdout, crate::command::SUM);
    let text = std::fs::read_to_string(path.join("R.json")).unwrap();
    let statistics: serde_json::Value = serde_json::from_str(&text).unwrap();
    assert_eq!(statistics["correlations"], "none");
    let line = "explain --circuit sum.txt --protocol R --parties 3 --json";
    let explained = madrigal(path, line).good();
    let explained: serde_json::Value = serde_json::from_str(&explained.stdout).unwrap();
    assert_eq!(explained["correlations"], "none");
}

/// A session has 64 places, and a dealer takes one.
#[test]
fn no_place_for_a_dealer() {
    let directory = adder();
    let path = directory.path();
    let dealt = "--circuit sum.txt --correlations dealer";
    let full = "at most 63 parties";
    for transport in ["memory", "tcp"] {
        let line =
            format!("run {dealt} --local 64 --input 0=a --input 1=b --transport {transport}");
        madrigal(path, &line).bad(2, &[full]);
    }
    madrigal(path, &format!("explain {dealt} --parties 64")).bad(2, &[full]);
    madrigal(path, &format!("explain {dealt} --parties 63")).good();
}

#[test]
fn a_party_that_is_killed() {
    let directory = adder();
    let path = directory.path();
    roster(path, 3);
    // Slow enough to be killed in the middle.
    let slow = "--network 2s";
    let mut running = [
        party(path, 0, &format!("--input a {slow}")),
        party(path, 1, &format!("--input b {slow}")),
        party(path, 2, &format!("--lanes 2 {slow}")),
    ];
    std::thread::sleep(Duration::from_millis(1000));
    running[1].kill();
    let [zero, one, two] = running;
    // Whichever of them sees it first and tells the other.
    zero.end().bad(4, &["party 1"]);
    two.end().bad(4, &["party 1"]);
    one.end();
}

#[test]
#[cfg(target_os = "linux")]
fn processes_do_not_outlive_their_starter() {
    let directory = adder();
    let line = "run --circuit sum.txt --local 2 --input 0=a --input 1=b --network 3s";
    let mut running = crate::command::start(directory.path(), line);
    let children = || -> Vec<u32> {
        let path = format!("/proc/{0}/task/{0}/children", running.id());
        let text = std::fs::read_to_string(path).unwrap_or_default();
        text.split_whitespace()
            .filter_map(|id| id.parse().ok())
            .collect()
    };
    let mut started = Vec::new();
    let start = Instant::now();
    while started.len() < 2 && start.elapsed() < LIMIT {
        std::thread::sleep(Duration::from_millis(20));
        started = children();
    }
    assert_eq!(started.len(), 2);
    std::thread::sleep(Duration::from_millis(500));
    running.kill();
    let alive = |id: &u32| {
        let state = std::fs::read_to_string(format!("/proc/{id}/stat")).unwrap_or_default();
        !state.is_empty() && !state.contains(") Z")
    };
    let start = Instant::now();
    while started.iter().any(alive) {
        assert!(start.elapsed() < LIMIT, "{started:?} still run");
        std::thread::sleep(Duration::from_millis(20));
    }
}

#[test]
#[cfg(target_os = "linux")]
fn a_killed_process_is_named() {
    let directory = adder();
    let line = "run --circuit sum.txt --local 3 --input 0=a --input 1=b --network 3s";
    let running = crate::command::start(directory.path(), line);
    let path = format!("/proc/{0}/task/{0}/children", running.id());
    let start = Instant::now();
    let victim = loop {
        let text = std::fs::read_to_string(&path).unwrap_or_default();
        if let Some(victim) = text.split_whitespace().nth(2) {
            break victim.to_owned();
        }
        assert!(start.elapsed() < LIMIT);
        std::thread::sleep(Duration::from_millis(20));
    };
    std::thread::sleep(Duration::from_millis(500));
    std::process::Command::new("sh")
        .args(["-c", &format!("kill -9 {victim}")])
        .status()
        .unwrap();
    running.end().bad(4, &["party 2", "killed by signal 9"]);
}

#[test]
fn a_deadline_is_kept_by_short_work_too() {
    let directory = adder();
    let path = directory.path();
    for transport in ["memory", "tcp"] {
        let line = format!(
            "run --circuit sum.txt --local 2 --input 0=a --input 1=b --transport {transport} --deadline 1ms"
        );
        madrigal(path, &line).bad(4, &["--deadline"]);
    }
}
