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

/// It went to standard output, which may be a log that others read.
#[cfg(unix)]
#[test]
fn a_result_that_cannot_be_written_at_last_is_kept_for_its_owner() {
    use std::os::unix::fs::PermissionsExt as _;
    if !Path::new("/dev/full").exists() {
        println!("skipped: there is no /dev/full");
        return;
    }
    let directory = adder();
    let line = format!("{COMPUTE} --output /dev/full");
    let ended = madrigal(directory.path(), &line).bad(3, &["cannot write the result /dev/full"]);
    assert_eq!(ended.stdout, "");
    let (_, rest) = ended.stderr.split_once("it is in ").unwrap();
    let (kept, _) = rest.split_once(" instead").unwrap();
    assert_eq!(fs::read_to_string(kept).unwrap(), SUM);
    let mode = fs::metadata(kept).unwrap().permissions().mode();
    assert_eq!(mode & 0o777, 0o600);
    fs::remove_file(kept).unwrap();
}

/// A file that is replaced is the old one or the new one, at each moment and whatever ends the program; nothing else is
/// left in its folder.
#[test]
fn results_are_put_in_their_place_whole() {
    let directory = adder();
    let path = directory.path();
    let before: Vec<_> = fs::read_dir(path).unwrap().collect();
    write(
        path,
        "o",
        "what was there before, and is longer than the result",
    );
    let line = format!("{COMPUTE} --transport memory --output o --stats s");
    madrigal(path, &line).good();
    assert_eq!(fs::read_to_string(path.join("o")).unwrap(), SUM);
    assert!(fs::read_to_string(path.join("s")).unwrap().ends_with("}\n"));
    assert_eq!(fs::read_dir(path).unwrap().count(), before.len() + 2);
}

/// A party's file is its own, and messages go to logs.
#[test]
fn errors_tell_own_values_only_where_that_is_asked_for() {
    let directory = adder();
    let path = directory.path();
    write(path, "a", "3\nq7\n");
    for transport in ["memory", "tcp"] {
        let line = format!("{COMPUTE} --transport {transport}");
        let told = madrigal(path, &line).bad(3, &["a, line 2, value 1", "(--show-values tells"]);
        assert!(!told.stderr.contains('q'), "{told}");
        let line = format!("{line} --show-values");
        let told = madrigal(path, &line).bad(3, &["a, line 2, value 1: a character `q`"]);
        assert!(!told.stderr.contains("--show-values"), "{told}");
    }
    write(path, "all", "3 4\nff z\n");
    let eval = "circuit eval sum.txt --input all";
    let told = madrigal(path, eval).bad(3, &["all, line 2, value 2: a character is"]);
    assert!(!told.stderr.contains('z'), "{told}");
    madrigal(path, &format!("{eval} --show-values")).bad(3, &["`z`"]);
}

/// A device never ends, and was read until memory was full.
#[cfg(unix)]
#[test]
fn devices_are_not_read() {
    let directory = adder();
    let path = directory.path();
    write(path, "all", "3 4\n");
    for line in [
        "circuit info /dev/zero",
        "circuit eval sum.txt --input /dev/zero",
        "run --circuit sum.txt --local 2 --input 0=/dev/zero --input 1=b",
        "model check /dev/zero",
        "explain --hycc /dev/zero",
        "demo aes-ctr --file /dev/zero --local 2",
    ] {
        madrigal(path, line).bad(3, &["/dev/zero: it is a device"]);
    }
}

/// Paths and names come from others; a terminal takes what stands in them for commands.
#[cfg(unix)]
#[test]
fn nothing_foreign_commands_the_terminal() {
    let hostile = "x\u{1b}]0;y\u{7}\r\u{202e}\u{2028}";
    let plain = |text: &str| {
        let seen = |c: char| c == '\n' || c == '\t' || madrigal_core::text::is_plain(c);
        text.chars().all(seen)
    };
    let directory = adder();
    let path = directory.path();
    let said = |line: &[&str], status: i32| {
        let mut command = std::process::Command::new(env!("CARGO_BIN_EXE_madrigal"));
        let ended = command.args(line).current_dir(path).output().unwrap();
        let [out, err] = [ended.stdout, ended.stderr].map(|text| String::from_utf8(text).unwrap());
        assert_eq!(ended.status.code(), Some(status), "{line:?} {err}");
        assert!(plain(&out) && plain(&err), "{line:?} {out:?} {err:?}");
        out + &err
    };
    // The name of a circuit's file, missing and there; as a figure in JSON, which says the same.
    assert!(said(&["circuit", "info", hostile], 3).contains("x\\u{1b}]0;y\\u{7}"));
    fs::copy(path.join("sum.txt"), path.join(hostile)).unwrap();
    said(&["explain", "--circuit", hostile], 0);
    let json = said(&["circuit", "info", hostile, "--json"], 0);
    let figures: serde_json::Value = serde_json::from_str(&json).unwrap();
    assert!(
        figures["name"].as_str().unwrap().ends_with(hostile),
        "{figures}"
    );
    // Texts of a circuit, a list of parties, a bundle, a table.
    write(
        path,
        "c.txt",
        &format!("1 3\n2 1 1\n1 1\n\n2 1 0 1 2 {hostile}\n"),
    );
    said(&["circuit", "info", "c.txt"], 3);
    let list = format!("[[party]]\nid = 0\n\"{hostile}\" = 1\naddress = \"{hostile}:1\"\n");
    write(
        path,
        "parties.toml",
        &list.replace(['\r', '\u{1b}', '\u{7}'], ""),
    );
    said(&["doctor", "--peers", "parties.toml"], 3);
    write(path, "p.cmb", &format!("{hostile}.circ : {hostile}\n"));
    said(&["explain", "--hycc", "p.cmb"], 3);
    // Operators of a model, one that there is and one that there is not.
    let model = fs::read(crate::models::seed("conv.onnx")).unwrap();
    for (old, new) in [("Relu", "\u{1b}[2J"), ("Flatten", "\u{202e}\u{9b}2J")] {
        let at = model
            .windows(old.len())
            .position(|part| part == old.as_bytes());
        let mut model = model.clone();
        let at = at.unwrap();
        model[at..at + old.len()].copy_from_slice(new.as_bytes());
        fs::write(path.join("m.onnx"), model).unwrap();
        said(&["model", "check", "m.onnx"], 3);
    }
    write(path, hostile, "no\ncircuit\n");
    let circuit = format!("0={hostile}");
    said(
        &[
            "run",
            "--circuit",
            "sum.txt",
            "--local",
            "2",
            "--input",
            &circuit,
            "--input",
            "1=b",
        ],
        3,
    );
}

/// As many lanes as a flag may say, of more bits than fit: the process was ended by the system, without a word.
#[test]
fn lanes_that_no_memory_holds_are_refused() {
    let directory = tempfile::tempdir().unwrap();
    let path = directory.path();
    // 2^20 outputs: 2^47 bytes of them.
    let gates: String = (0..1 << 20).map(|at| format!("1 1 1 {at} EQ\n")).collect();
    write(
        path,
        "ones",
        &format!("1048576 1048576\n0\n1 1048576\n\n{gates}"),
    );
    let lanes = "--lanes 1073741824";
    let parts = ["1,073,741,824 lanes take 131072 GiB", "--lanes"];
    madrigal(path, &format!("circuit eval ones {lanes}")).bad(2, &parts);
    let run = "run --circuit ones --local 2 --transport memory";
    madrigal(path, &format!("{run} {lanes}")).bad(2, &parts);
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
        ("--protocol R", "as long as no two parties pool"),
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
    madrigal(path, COMPUTE).bad(
        3,
        &["a, line 2, value 1: a character is not a hexadecimal digit"],
    );
}
