//! Files: what cannot be written is refused before anything is done, and what is read is read once.

use std::fs;
use std::path::Path;

use crate::command::{SUM, adder, madrigal, roster, start, write};

const COMPUTE: &str = "run --circuit sum.txt --local 2 --input 0=a --input 1=b";
const KEY: &str = "2b7e151628aed2a6abf7158809cf4f3c";

fn used(directory: &Path) -> u64 {
    let told = madrigal(directory, "store status made/party0 --json").good();
    let status: serde_json::Value = serde_json::from_str(&told.stdout).unwrap();
    status["kinds"][0]["used"].as_u64().unwrap()
}

#[test]
fn what_cannot_be_written_is_refused_before_anything_is_used() {
    let directory = adder();
    let path = directory.path();
    fs::create_dir(path.join("full")).unwrap();
    let make = "precompute --triples bits=100 --local 2 --store made --quiet";
    madrigal(path, make).good();
    let compute = format!("{COMPUTE} --store made");
    for (rest, status, part) in [
        ("--output no/where", 3, "cannot write the result no/where"),
        ("--output full", 3, "cannot write the result full"),
        (
            "--output o --stats full",
            3,
            "cannot write the statistics full",
        ),
        (
            "--output o --stats o",
            2,
            "--output and --stats are the same file",
        ),
        (
            "--output o --stats ./o",
            2,
            "--output and --stats are the same file",
        ),
        (
            "--output full/../a",
            2,
            "--output full/../a would overwrite a file that is read",
        ),
        (
            "--output sum.txt",
            2,
            "--output sum.txt would overwrite a file that is read",
        ),
        (
            "--stats b",
            2,
            "--stats b would overwrite a file that is read",
        ),
        ("--output - --json", 2, "give --output FILE"),
    ] {
        madrigal(path, &format!("{compute} {rest}")).bad(status, &[part]);
    }
    assert_eq!(used(path), 0);
    assert!(!path.join("o").exists());
    assert_eq!(fs::read_to_string(path.join("a")).unwrap(), "3\nff\n");

    // A device takes as much as one likes; `-` is no file.
    let line = format!("{compute} --stats /dev/null --output -");
    assert_eq!(madrigal(path, &line).good().stdout, SUM);
    assert!(!path.join("-").exists());
    write(path, "all", "3 4\nff 2\n");
    let evaluated = madrigal(path, "circuit eval sum.txt --input all -o -").good();
    assert_eq!(evaluated.stdout, SUM);
    let convert = "circuit convert sum.txt --to bristol-fashion";
    madrigal(path, &format!("{convert} -o sum.txt")).bad(2, &["--output sum.txt"]);
    madrigal(path, &format!("{convert} -o full")).bad(3, &["full"]);
}

#[test]
fn a_result_that_cannot_be_written_at_last_is_not_lost() {
    if !Path::new("/dev/full").exists() {
        println!("skipped: there is no /dev/full");
        return;
    }
    let directory = adder();
    let line = format!("{COMPUTE} --output /dev/full");
    let ended = madrigal(directory.path(), &line).bad(3, &["/dev/full", "standard output"]);
    assert_eq!(ended.stdout, SUM);
}

#[cfg(unix)]
#[test]
fn pipes_are_read_once() {
    let directory = adder();
    let path = directory.path();
    for name in ["first", "second", "third"] {
        let made = std::process::Command::new("mkfifo")
            .arg(path.join(name))
            .status();
        assert!(made.unwrap().success());
    }
    let feed = |from: &str, to: &str| {
        let (from, to) = (path.join(from), path.join(to));
        std::thread::spawn(move || fs::copy(from, to).unwrap())
    };
    for transport in ["tcp", "memory"] {
        let fed = [("sum.txt", "third"), ("a", "first"), ("b", "second")];
        let fed = fed.map(|(from, to)| feed(from, to));
        let line = "run --circuit third --local 2 --input 0=first --input 1=second --transport";
        assert_eq!(
            madrigal(path, &format!("{line} {transport}")).good().stdout,
            SUM
        );
        for thread in fed {
            thread.join().unwrap();
        }
    }
}

#[test]
fn the_demonstration_loses_neither_key_nor_file() {
    let directory = adder();
    let path = directory.path();
    let text = "a plaintext of more than one block";
    write(path, "file", text);
    write(path, "key", KEY);
    let demo = "demo aes-ctr --file file --local 2 --transport memory";
    for (rest, status, part) in [
        ("-q", 2, "without --key"),
        ("--json", 2, "without --key"),
        ("--stats - --key key", 2, "without --iv"),
        ("-q --key key", 2, "without --iv"),
        (
            "--out file",
            2,
            "--out file would overwrite a file that is read",
        ),
        (
            "--key key --out key",
            2,
            "--out key would overwrite a file that is read",
        ),
        ("--out same --stats same", 2, "--out and --stats"),
        ("--out -", 2, "--out -"),
        ("--out no/where", 3, "cannot write the ciphertext no/where"),
        (
            "--correlations store",
            2,
            "--correlations store is for `madrigal run`",
        ),
    ] {
        madrigal(path, &format!("{demo} {rest}")).bad(status, &[part]);
    }
    assert_eq!(fs::read_to_string(path.join("file")).unwrap(), text);
    assert!(!path.join("file.enc").exists());
    let iv = "--iv 000102030405060708090a0b0c0d0e0f";
    let quiet = madrigal(path, &format!("{demo} --key key {iv} -q")).good();
    assert_eq!(quiet.stdout, "");
    roster(path, 2);
    let line = "demo aes-ctr --file file --party 1 --parties parties.toml -q";
    madrigal(path, line).bad(2, &["without --iv"]);
}

#[test]
fn the_demonstration_claims_what_its_protocol_holds() {
    let directory = adder();
    let path = directory.path();
    write(path, "file", "text");
    let demo = "demo aes-ctr --file file --local 3 --transport memory";
    for (rest, claim) in [
        ("--protocol B", "even if all but one pool"),
        ("--protocol R", "as long as no two of the three pool"),
        (
            "--correlations dealer",
            "and the dealer works with none of them",
        ),
    ] {
        let told = madrigal(path, &format!("{demo} {rest}")).good();
        assert!(told.stdout.contains(claim), "{told}");
        let all_but_one = told.stdout.contains("all but one");
        assert_eq!(all_but_one, !rest.ends_with('R'), "{told}");
    }
    let two = "demo aes-ctr --file file --local 2 --transport memory --protocol beta";
    let told = madrigal(path, two).good();
    let claim = "as long as the two do not pool what they saw";
    assert!(told.stdout.contains(claim), "{told}");
}

#[test]
fn a_circuit_without_inputs_is_evaluated() {
    let directory = adder();
    let path = directory.path();
    // A constant is the output.
    write(path, "one", "1 1\n0\n1 1\n\n1 1 1 0 EQ\n");
    assert_eq!(madrigal(path, "circuit eval one").good().stdout, "1\n");
    let three = madrigal(path, "circuit eval one --lanes 3").good();
    assert_eq!(three.stdout, "1\n1\n1\n");
    madrigal(path, "circuit eval one --input a").bad(2, &["0 input values", "--lanes"]);
    madrigal(path, "circuit eval sum.txt").bad(2, &["2 input values", "--input FILE"]);
    write(path, "all", "3 4\nff 2\n");
    let line = "circuit eval sum.txt --input all --lanes 3";
    madrigal(path, line).bad(2, &["--lanes has 3", "all has 2"]);
}

#[test]
fn keys_have_names_and_dates_that_fit() {
    let directory = adder();
    let path = directory.path();
    madrigal(path, "keygen --out a\"b").bad(2, &["--out a\"b", "letters"]);
    assert!(!path.join("a\"b.key").exists());
    for days in ["0", "4000000"] {
        madrigal(path, &format!("keygen --days {days}")).bad(2, &["--days"]);
    }
    madrigal(path, "keygen --out p").good();
    let renewed = madrigal(path, "keygen --out p --renew").good();
    assert!(
        renewed.stdout.contains("no parties.toml changes"),
        "{renewed}"
    );
    assert!(!renewed.stdout.contains("[[party]]"), "{renewed}");
    madrigal(path, "keygen --out p --renew --address h:1").bad(2, &["--renew"]);
}

#[test]
fn the_store_of_another_number_of_parties() {
    let directory = adder();
    let path = directory.path();
    madrigal(path, "precompute --triples bits=60 --local 2 --store made").good();
    madrigal(path, "store status made").bad(3, &["stores of 2 parties", "made/party0"]);
    let three = "run --circuit sum.txt --local 3 --input 0=a --input 1=b --store made";
    madrigal(path, three).bad(3, &["of 2 parties, not of 3", "--local 2"]);
    // Enough for two, not for five.
    let line = format!("{COMPUTE} --store made --repeat");
    let few = madrigal(path, &format!("{line} 5")).bad(3, &["60 of 60 are left"]);
    assert_eq!(used(path), 0, "{few}");
    madrigal(path, &format!("{line} 2")).good();
    let each = used(path) / 2;
    let needed = format!("{} `bits` are needed", 5 * each);
    assert!(few.stderr.contains(&needed), "{few}");
    let line = format!("{COMPUTE} --correlations store");
    madrigal(path, &line).bad(2, &["madrigal: --correlations store needs --store DIR"]);
}

#[test]
fn a_failed_precomputation_leaves_nothing() {
    let directory = adder();
    let path = directory.path();
    let make = "precompute --triples bits=100M --local 2 --store made --transport";
    for transport in ["memory", "tcp"] {
        let line = format!("{make} {transport} --deadline 200ms");
        let ended = start(path, &line).end();
        assert_ne!(ended.status, 0, "{ended}");
        for me in 0..2 {
            for name in [format!("made/party{me}"), format!("made/party{me}.key")] {
                assert!(!path.join(&name).exists(), "{transport}: {name}");
            }
        }
    }
    // Nor does one that never begins, and what was there stays.
    fs::create_dir_all(path.join("made/party0")).unwrap();
    write(path, "made/party0/mine", "");
    madrigal(path, "precompute --triples bits=9 --local 3 --store made").bad(3, &["not empty"]);
    let left = fs::read_dir(path.join("made")).unwrap().count();
    assert!(left == 1 && path.join("made/party0/mine").exists());
}

#[test]
fn who_gets_no_result_is_told_so() {
    let directory = adder();
    let path = directory.path();
    roster(path, 2);
    let run = "run --circuit sum.txt --parties parties.toml --to 0";
    let [zero, one] = [
        "--party 0 --input a",
        "--party 1 --input b --output none --quiet",
    ]
    .map(|rest| start(path, &format!("{run} {rest}")))
    .map(|running| running.end().good());
    assert_eq!(zero.stdout, SUM);
    assert!(one.stderr.contains("nothing is written to none"), "{one}");
    // Standard output is free for its statistics.
    let [_, one] = ["--party 0 --input a", "--party 1 --input b --json"]
        .map(|rest| start(path, &format!("{run} {rest}")))
        .map(|running| running.end().good());
    assert!(one.stdout.starts_with('{'), "{one}");
}

#[test]
fn texts_from_other_systems() {
    let directory = adder();
    let path = directory.path();
    write(path, "a", "\u{feff}3\r\nff\r\n");
    let circuit = fs::read_to_string(path.join("sum.txt")).unwrap();
    write(path, "sum.txt", &format!("\u{feff}{circuit}"));
    assert_eq!(madrigal(path, COMPUTE).good().stdout, SUM);
    write(path, "a", "3\n12,5\n");
    madrigal(path, COMPUTE).bad(3, &["a, line 2, value 1: `,` is not a hexadecimal digit"]);
}
