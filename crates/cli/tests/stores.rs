//! Correlations made ahead: by all parties here, by real ones, and what is refused.

use std::path::Path;

use serde_json::Value;

use crate::command::{SUM, adder, madrigal, party, roster, start};

/// Reads what `store status --json` says of party `me`'s local store.
fn status(directory: &Path, me: usize) -> Value {
    let line = format!("store status made/party{me} --json --verify");
    serde_json::from_str(&madrigal(directory, &line).good().stdout).unwrap()
}

fn used(directory: &Path, me: usize) -> u64 {
    status(directory, me)["kinds"][0]["used"].as_u64().unwrap()
}

#[test]
fn made_here_and_used_until_nothing_is_left() {
    let directory = adder();
    let path = directory.path();
    let made = madrigal(
        path,
        "precompute --triples bits=100,u64=3 --local 2 --store made --threads 2",
    )
    .good();
    assert!(made.stdout.contains("| bits |  100 |"), "{made}");
    let compute = "run --circuit sum.txt --local 2 --input 0=a --input 1=b --store made";
    // An adder of 8 bits needs 7 ANDs or so for each of two lanes.
    let first = madrigal(path, &format!("{compute} --json --output sum")).good();
    let statistics: Value = serde_json::from_str(&first.stdout).unwrap();
    assert_eq!(statistics["correlations"], "store");
    assert_eq!(statistics["parties"][0]["setup"]["bytes_sent"], 40);
    let each = used(path, 0);
    assert!((10..=40).contains(&each) && each == used(path, 1), "{each}");
    // Over memory, twice in one session; the lock is that of the process.
    let twice = madrigal(path, &format!("{compute} --transport memory --repeat 2")).good();
    assert_eq!(twice.stdout, SUM);
    assert_eq!(used(path, 0), 3 * each);
    for done in 3..100 / each {
        assert_eq!(madrigal(path, compute).good().stdout, SUM, "after {done}");
    }
    madrigal(path, compute).bad(3, &["`bits` are needed", "are left", "madrigal precompute"]);
    assert_eq!(used(path, 1), 100 / each * each);
    madrigal(path, "precompute --triples bits=1 --local 2 --store made").bad(3, &["not empty"]);
}

#[test]
fn refused_and_said_why() {
    let directory = adder();
    let path = directory.path();
    let compute = "run --circuit sum.txt --local 2 --input 0=a --input 1=b --store";
    for name in ["made", "other"] {
        let line = format!("precompute --triples bits=100 --local 2 --store {name} --quiet");
        assert_eq!(madrigal(path, &line).good().stdout, "");
    }
    madrigal(path, &format!("{compute} nowhere")).bad(3, &["nowhere/party", "does not exist"]);
    madrigal(path, "precompute --triples bits=1Q --local 2 --store x").bad(2, &["1Q"]);
    madrigal(path, "precompute --triples bits=1 --store x").bad(2, &["--local N"]);
    let line = format!("{compute} made --correlations dealer");
    madrigal(path, &line).bad(2, &["two origins"]);
    let line = "run --circuit sum.txt --local 2 --input 0=a --input 1=b --correlations store";
    madrigal(path, &format!("{line} --transport memory")).bad(2, &["--store DIR"]);
    let line = "explain --circuit sum.txt --lanes 2 --correlations store --json";
    let cost: Value = serde_json::from_str(&madrigal(path, line).good().stdout).unwrap();
    assert_eq!(cost["parties"][1]["setup"]["bytes_sent"], 40);
    madrigal(path, "store status nowhere").bad(3, &["nowhere.key"]);

    // Party 1 takes the store of another session.
    let rename = |from: &str, to: &str| std::fs::rename(path.join(from), path.join(to)).unwrap();
    rename("made/party1", "made/aside");
    rename("made/party1.key", "made/aside.key");
    rename("other/party1", "made/party1");
    rename("other/party1.key", "made/party1.key");
    madrigal(path, &format!("{compute} made")).bad(3, &["uses store", "precompute"]);
    rename("made/party1", "other/party1");
    rename("made/party1.key", "other/party1.key");
    rename("made/aside", "made/party1");
    rename("made/aside.key", "made/party1.key");
    madrigal(path, &format!("{compute} made")).good();

    // A damaged byte.
    let bits = path.join("made/party0/bits");
    let mut bytes = std::fs::read(&bits).unwrap();
    bytes[3] ^= 1;
    std::fs::write(&bits, bytes).unwrap();
    madrigal(path, &format!("{compute} made")).bad(3, &["`bits` is damaged"]);
    let line = "store status made/party0 --verify --json";
    let damaged = madrigal(path, line).bad(3, &["made/party0", "`bits` is damaged"]);
    let damaged: Value = serde_json::from_str(&damaged.stdout).unwrap();
    assert_eq!(damaged["usable"], false);
}

/// Also not the directory that all parties' stores were to be in.
#[test]
fn a_store_that_is_refused_leaves_nothing_behind() {
    let directory = tempfile::tempdir().unwrap();
    let path = directory.path();
    for transport in ["tcp", "memory"] {
        // One of these takes 206 GB.
        let triples = "matrix-u128-65536x65536x65536=1";
        let line = format!(
            "precompute --triples {triples} --local 3 --store new/made --transport {transport}"
        );
        madrigal(path, &line).bad(3, &["new/made/party"]);
        assert!(!path.join("new").exists(), "{transport}");
    }
}

#[test]
fn real_parties_make_and_use_stores_over_tls() {
    let directory = adder();
    let path = directory.path();
    roster(path, 2);
    let make = |me: usize, triples| {
        let line = format!(
            "precompute --triples {triples} --store s{me} --party {me} --parties parties.toml"
        );
        start(path, &line)
    };
    // They must want the same.
    let differing = [make(0, "bits=64"), make(1, "bits=65")].map(|running| running.end());
    for one in differing {
        one.bad(5, &["triples is"]);
    }
    assert!(!path.join("s0").exists(), "nothing is left of it");
    for running in [make(0, "bits=64"), make(1, "bits=64")] {
        running.end().good();
    }
    for me in 0..2 {
        let line = format!("store status s{me} --identity p{me} --verify");
        assert!(path.join(format!("p{me}.store-key")).exists());
        madrigal(path, &line).good();
    }
    let running = [("a", 0), ("b", 1)]
        .map(|(input, me)| party(path, me, &format!("--input {input} --store s{me}")));
    for running in running {
        assert_eq!(running.end().good().stdout, SUM);
    }
    // One from its store, one not.
    let running =
        [("--input a --store s0", 0), ("--input b", 1)].map(|(rest, me)| party(path, me, rest));
    for running in running {
        running.end().bad(5, &["correlations is"]);
    }
}

#[test]
fn matrices_by_encryption_or_by_ot() {
    let directory = tempfile::tempdir().unwrap();
    let path = directory.path();
    roster(path, 2);
    let sent = |how: &str| {
        let line = format!(
            "precompute --triples matrix-u64-32x32x32=2,matrix-u128-2x2x2=1 --local 2 --store {how} --matrices {how}"
        );
        let told = madrigal(path, &line).good();
        madrigal(path, &format!("store status {how}/party0 --verify")).good();
        let words: Vec<&str> = told.stdout.split_whitespace().collect();
        let at = words.iter().position(|&word| word == "most").unwrap();
        (
            words[at + 1].parse::<f64>().unwrap(),
            words[at + 2].to_owned(),
        )
    };
    let ((ot, unit), (lattice, same)) = (sent("ot"), sent("lattice"));
    assert_eq!((unit.as_str(), same.as_str()), ("MiB.", "MiB."));
    assert!(lattice < ot / 5.0, "{lattice} and {ot}");
    let running = [(0, "ot"), (1, "lattice")].map(|(me, how)| {
        let line = format!(
            "precompute --triples matrix-u8-1x1x1=1 --store s{me} --party {me} --parties parties.toml --matrices {how}"
        );
        start(path, &line)
    });
    for running in running {
        running.end().bad(5, &["matrices is"]);
    }
}

#[test]
fn what_was_killed_while_it_was_made_is_never_used() {
    let directory = adder();
    let path = directory.path();
    let line = "precompute --triples u64=100M --local 2 --transport memory --store made";
    let mut running = start(path, line);
    let begun = || (0..2).all(|me| path.join(format!("made/party{me}/header.partial")).exists());
    let start = std::time::Instant::now();
    while !begun() && start.elapsed().as_secs() < 300 {
        std::thread::sleep(std::time::Duration::from_millis(5));
    }
    running.kill();
    running.end();
    madrigal(path, "store status made/party0").bad(3, &["incomplete", "remove the directory"]);
    let compute = "run --circuit sum.txt --local 2 --input 0=a --input 1=b --store made";
    madrigal(path, compute).bad(3, &["incomplete"]);
    madrigal(path, "precompute --triples bits=9 --local 2 --store made").bad(3, &["incomplete"]);
}
