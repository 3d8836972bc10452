//! Circuits with branches, from the file to the result, in every protocol.

use std::fmt::Write as _;
use std::path::Path;

use serde_json::Value;
use tempfile::TempDir;

use crate::command::{madrigal, roster, start, write};

/// `random.txt`, a conditional of five branches, with inputs of both parties in eight lanes, and what it is in the clear.
fn own() -> (TempDir, String) {
    let directory = tempfile::tempdir().unwrap();
    let path = directory.path();
    let shape = "--branches 5 --inputs 12 --outputs 9 --ands 60 --xors 30 --layers 4 --seed 7";
    madrigal(
        path,
        &format!("circuit random {shape} --to branches -o random.txt"),
    )
    .good();
    let (mut all, mut first, mut second) = (String::new(), String::new(), String::new());
    for lane in 0..8 {
        let value = lane * 523 % 4096;
        let _ = writeln!(all, "{lane:x} {value:03x}");
        let _ = writeln!(first, "{lane:x}");
        let _ = writeln!(second, "{value:03x}");
    }
    for (name, text) in [("all", all), ("a", first), ("b", second)] {
        write(path, name, &text);
    }
    let clear = madrigal(path, "circuit eval random.txt --input all")
        .good()
        .stdout;
    (directory, clear)
}

fn json(path: &Path, line: &str) -> Value {
    serde_json::from_str(&madrigal(path, line).good().stdout).unwrap()
}

#[test]
fn every_protocol_computes_them() {
    let (directory, clear) = own();
    let path = directory.path();
    for (parties, rest) in [
        (2, "--protocol B"),
        (2, "--protocol B --branches all"),
        (2, "--protocol B --branches motif"),
        (2, "--protocol B --branches masked"),
        (2, "--protocol B --branches merged"),
        (3, "--protocol B --branches merged"),
        (2, "--protocol Y"),
        (2, "--protocol Y2"),
        (2, "--protocol beta"),
        (3, "--protocol R"),
    ] {
        let inputs = "--input 0=a --input 1=b --quiet --transport memory";
        let line = format!("run --circuit random.txt --local {parties} {rest} {inputs}");
        assert_eq!(madrigal(path, &line).good().stdout, clear, "{rest}");
    }
    // By processes of their own, which read it again with other widths.
    let line = "run --circuit random.txt --widths 3,5,7 --owners 0,1,0 --local 2 --quiet";
    write(path, "first", "4 1\n");
    write(path, "second", "1f\n");
    write(path, "whole", "4 3f\n");
    let told = madrigal(path, &format!("{line} --input 0=first --input 1=second"));
    let clear = madrigal(path, "circuit eval random.txt --input whole");
    assert_eq!(told.good().stdout, clear.good().stdout);
}

/// What is explained is what is spent; branches that share their cost spend less.
#[test]
fn their_costs_are_explained() {
    let (directory, _) = own();
    let path = directory.path();
    let mut triples = Vec::new();
    for way in ["all", "motif", "masked", "merged", "auto"] {
        let flags = format!("--circuit random.txt --local 2 --lanes 8 --branches {way}");
        let told = json(path, &format!("explain {flags} --json"));
        let branches = &told["branches"];
        assert_eq!(
            (&branches["conditionals"], &branches["most_branches"]),
            (&1.into(), &5.into())
        );
        if way == "auto" {
            let ways = branches["ways"].as_array().unwrap();
            assert_eq!(ways.len(), 4, "{branches}");
            let seconds = |way: &Value| way["seconds"].as_f64().unwrap();
            let least = ways.iter().map(seconds).fold(f64::INFINITY, f64::min);
            let taken: Vec<&Value> = ways.iter().filter(|way| way["taken"] == true).collect();
            assert_eq!(taken.len(), 1, "{branches}");
            assert_eq!(
                (seconds(taken[0]), &taken[0]["way"]),
                (least, &branches["way"])
            );
        } else {
            assert_eq!(branches["way"], way);
            triples.push(told["triples"].as_u64().unwrap());
        }
        let inputs = "--input 0=a --input 1=b --transport memory";
        let run = json(path, &format!("run {flags} {inputs} -o result --json"));
        for party in 0..2 {
            for phase in ["setup", "online"] {
                let [told, run] = [&told, &run].map(|report| &report["parties"][party][phase]);
                for count in ["bytes_sent", "bytes_received", "messages", "rounds"] {
                    assert_eq!(told[count], run[count], "{way}, {phase}, {count}");
                }
            }
        }
    }
    assert!(2 * triples[2] < triples[0], "all and masked: {triples:?}");
    let text = madrigal(path, "explain --circuit random.txt --local 2 --protocol Y2")
        .good()
        .stdout;
    let text = text.split_whitespace().collect::<Vec<_>>().join(" ");
    let told =
        "1 conditional of up to 5 branches: all branches are computed and multiplexed, for in Y2";
    assert!(text.contains(told), "{text}");
}

#[test]
fn they_are_shown_and_converted() {
    let (directory, clear) = own();
    let path = directory.path();
    let info = json(path, "circuit info random.txt --json");
    assert_eq!(
        (
            &info["format"],
            &info["conditionals"],
            &info["most_branches"]
        ),
        (&"branches".into(), &1.into(), &5.into())
    );
    madrigal(
        path,
        "circuit convert random.txt --to bristol-fashion -o flat.txt",
    )
    .good();
    madrigal(path, "circuit convert flat.txt --to branches -o again.txt").good();
    madrigal(path, "circuit convert random.txt --to branches -o same.txt").good();
    for file in ["flat.txt", "again.txt", "same.txt"] {
        let told = madrigal(path, &format!("circuit eval {file} --input all"));
        assert_eq!(told.good().stdout, clear, "{file}");
    }
    let [first, second] = ["random.txt", "same.txt"]
        .map(|file| json(path, &format!("circuit info {file} --json"))["digest"].clone());
    assert_eq!(first, second);
}

#[test]
fn mistakes_in_them_are_told() {
    let (directory, _) = own();
    let path = directory.path();
    let text = std::fs::read_to_string(path.join("random.txt")).unwrap();
    write(path, "wrong.txt", &text.replace("choose", "chose"));
    madrigal(path, "circuit info wrong.txt").bad(3, &["wrong.txt, line ", "found 'chose'"]);
    let given = "--local 2 --input 0=a --input 1=b";
    for protocol in ["Y2", "beta"] {
        let line =
            format!("run --circuit random.txt --protocol {protocol} --branches merged {given}");
        madrigal(path, &line).bad(2, &["`merged`", protocol]);
    }
    madrigal(
        path,
        "circuit convert random.txt --to bristol-fashion -o flat.txt",
    )
    .good();
    let line = format!("run --circuit flat.txt --branches masked {given}");
    madrigal(path, &line).bad(2, &["`masked`", "the circuit has none"]);
    // Parties that name different ways are told so.
    roster(path, 2);
    let party = |me: usize, rest: &str| {
        let shared = "--circuit random.txt --parties parties.toml --quiet --connect-timeout 30s";
        start(path, &format!("run {shared} --party {me} {rest}"))
    };
    let all = [
        party(0, "--input a --branches all"),
        party(1, "--input b --branches merged"),
    ];
    for ended in all.map(crate::command::Running::end) {
        assert_eq!(ended.status, 5, "{ended}");
        assert!(ended.stderr.contains("branches"), "{ended}");
    }
}
