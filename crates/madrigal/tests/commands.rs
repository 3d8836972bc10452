//! A program as a command: what is wrong is told with the flag that mends it, parties on several machines,
//! estimates.

#![allow(clippy::unwrap_used)] // helpers of tests

use std::fs;
use std::net::{Ipv4Addr, TcpListener};
use std::path::{Path, PathBuf};
use std::thread;

use madrigal::app::remote::identity_files;
use madrigal::app::{App, Numbers, Staged};
use madrigal::net::identity::{Identity, Validity};
use madrigal::net::roster::{Roster, RosterEntry};
use madrigal::program::lower::Mix;
use madrigal::program::{Everyone, Fixed, Opened, StageError, Stages};
use madrigal::{Party, Phase};
use serde_json::Value;

/// Bids of two parties, weighed: of several types.
fn weighed() -> App<Opened<bool>> {
    App::new(
        "weighed",
        "Which of two weighed bids is higher",
        |p, numbers| {
            let bids = p.input_named::<i32>("bids", Party::new(0), [numbers.get("bids")]);
            let other = p.input_named::<i32>("other", Party::new(1), ());
            let weight = p.input_named::<Fixed<i64, 16>>("weight", Party::new(1), ());
            let secret = p.input::<bool>(Party::new(1), ());
            let first = bids.sum_all().to_fixed::<i64, 16>() * weight;
            let higher = first.gt(other.to_fixed::<i64, 16>());
            p.open_named("first-is-higher", higher & secret, Everyone)
        },
    )
    .number("bids", 2, 100, "Bids of the first party")
}

fn run(line: &str) -> Result<String, (String, u8)> {
    let words = std::iter::once("weighed").chain(line.split_whitespace());
    let done = weighed().run(words);
    done.map_err(|error| (error.to_string(), error.status() as u8))
}

/// An empty folder of this test alone.
pub(crate) fn empty_folder() -> PathBuf {
    let test = thread::current().name().unwrap().replace("::", "-");
    let folder = Path::new(env!("CARGO_TARGET_TMPDIR")).join(test);
    if folder.exists() {
        fs::remove_dir_all(&folder).unwrap();
    }
    fs::create_dir_all(&folder).unwrap();
    folder
}

const INPUTS: &str = "-i bids=3,0x2 -i other=-7 -i weight=-1.5 -i 3=true";

/// Two runs take their correlations from where they were made ahead; for a third none are left.
#[test]
fn correlations_of_runs_are_made_ahead() {
    let directory = empty_folder();
    let store = format!("--store {}", directory.join("ahead").display());
    let made = run(&format!("--local 2 {store} --prepare 2")).unwrap();
    assert!(made.contains("for 2 runs"), "{made}");
    let again = run(&format!("--local 2 {store} --prepare 2 -q")).unwrap_err();
    assert!(again.0.contains("not empty") && again.1 == 3, "{again:?}");
    for _ in 0..2 {
        let told = run(&format!("--local 2 --json {store} {INPUTS}")).unwrap();
        let told: Value = serde_json::from_str(&told).unwrap();
        assert_eq!(told["correlations"], "store");
        assert_eq!(told["outputs"]["first-is-higher"], false);
    }
    let none = run(&format!("--local 2 --quiet {store} {INPUTS}")).unwrap_err();
    assert!(none.0.contains("are left") && none.1 == 3, "{none:?}");
    for (line, flag) in [("check", "--store"), ("explain --prepare 1", "--prepare")] {
        let refused = run(&format!("{line} {store}")).unwrap_err();
        assert!(refused.0.contains(flag) && refused.1 == 2, "{refused:?}");
    }
    let told = run(&format!("explain {store}")).unwrap();
    assert!(told.contains("store"), "{told}");
}

#[test]
fn a_run_gives_its_outputs_by_name() {
    // 5 times -1.5 is less than -7.
    let told = run(&format!("--local 2 --quiet {INPUTS}")).unwrap();
    assert_eq!(told, "first-is-higher: false\n");
    let told = run(&format!("--local 3 --json --transport memory {INPUTS}")).unwrap();
    let told: Value = serde_json::from_str(&told).unwrap();
    assert_eq!(told["outputs"]["first-is-higher"], false);
    assert_eq!(told["parties"].as_array().unwrap().len(), 3);
    assert!(told["parties"][1]["online"]["bytes_sent"].as_u64().unwrap() > 0);
}

#[test]
fn what_is_wrong_is_told_with_its_flag() {
    let directory = empty_folder();
    let file = directory.join("bids.csv");
    fs::write(&file, "3\n4x\n").unwrap();
    let file = format!("--local 2 -i bids=@{}", file.display());
    for (line, status, words) in [
        ("", 2, "--local N"),
        (
            "--local 2",
            2,
            "--input bids=VALUES is missing: i32[2] of party 0",
        ),
        ("--local 2 -i bids", 2, "expected NAME=VALUES"),
        (
            "--local 2 -i bid=1",
            2,
            "no such input, but bids, other, weight, 3",
        ),
        (
            "--local 2 -i bids=1,2 -i bids=1,2",
            2,
            "--input bids=... is given twice",
        ),
        (
            "--local 2 -i bids=1",
            2,
            "--input bids=...: 1 elements, where 2 are expected",
        ),
        (
            "--local 2 -i bids=1,2147483648",
            2,
            "line 1: element 2 is no i32",
        ),
        ("--local 2 -i bids=1,+2", 2, "line 1: element 2 is no i32"),
        ("--local 2 -i weight=1e40", 2, "is no Fixed<i64, 16>"),
        ("--local 2 -i 3=yes", 2, "element 1 is no bool"),
        (&file, 3, "line 2: element 2 is no i32"),
        (
            "--local 2 -i bids=@/nowhere",
            3,
            "cannot read the input /nowhere",
        ),
        ("--local 2 --bids 101", 2, "--bids"),
        ("--local 2 --mix R", 2, "--mix"),
        ("--local 2 --network moon", 2, "--network"),
        ("--party 0 --parties /nowhere", 3, "/nowhere"),
        ("dance", 2, "dance"),
    ] {
        let (told, found) = run(line).unwrap_err();
        assert!(told.contains(words), "{line}: {told}");
        assert_eq!(found, status, "{line}: {told}");
        // The file's and the flag's numbers are secrets.
        assert!(
            !told.contains("4x") && !told.contains("2147483648"),
            "{told}"
        );
    }
}

#[test]
fn help_names_inputs_and_outputs() {
    let (told, _) = run("--help").unwrap_err();
    assert!(
        told.starts_with("Which of two weighed bids is higher"),
        "{told}"
    );
    for words in [
        "bids    i32[2] of party 0",
        "weight  Fixed<i64, 16> of party 1",
        "first-is-higher  bool to everyone",
        "--bids <N>",
        "Exit status:",
    ] {
        assert!(told.contains(words), "{words}: {told}");
    }
}

#[test]
fn an_estimate_says_what_each_operation_costs() {
    let told = run("explain --json --network wan --mix A+B").unwrap();
    let told: Value = serde_json::from_str(&told).unwrap();
    let operations = told["operations"].as_array().unwrap();
    let number = |value: &Value, phase: &str, key: &str| value[phase][key].as_u64().unwrap();
    for key in ["bytes_sent", "messages"] {
        let parts = operations.iter().map(|one| number(one, "online", key));
        let [sum, whole] = [parts.sum::<u64>(), number(&told, "online", key)];
        // Each is of the party that has most of it.
        assert!(whole <= sum && sum <= 2 * whole, "{key}: {sum} {whole}");
    }
    let longest = operations.iter().map(|one| number(one, "online", "rounds"));
    assert!(longest.max().unwrap() <= number(&told, "online", "rounds"));
    let source = |one: &Value| one["source"].as_str().unwrap().contains("commands.rs:");
    assert!(operations.iter().all(source), "{operations:?}");
    assert!(told["total_seconds"].as_f64().unwrap() > 0.1);
    let text = run("explain --network wan --mix A+B").unwrap();
    for words in [
        "operation",
        "sends",
        "online",
        "commands.rs:",
        "setup: about",
    ] {
        assert!(text.contains(words), "{words}: {text}");
    }
    assert!(!text.contains("compiled"), "{text}");
}

#[test]
fn a_long_line_has_shallow_circuits_by_itself() {
    let compare = |network: &str| {
        let app = App::new("compare", "", |p, _| {
            let [a, b] = ["a", "b"].map(|name| p.input_named::<u64>(name, Party::new(0), [100]));
            p.open(a.lt(b), Everyone)
        })
        .parties(3)
        .mix(Mix::R);
        let told = app.run(["compare", "explain", "--json", "--network", network]);
        let told: Value = serde_json::from_str(&told.unwrap()).unwrap();
        let rounds = told["online"]["rounds"].as_u64().unwrap();
        (told["circuits"].as_str().unwrap().to_owned(), rounds)
    };
    let (circuits, rounds) = compare("100ms,1Gbps");
    assert_eq!(circuits, "depth");
    assert!(rounds <= 9, "{rounds}");
}

/// Keys for two parties and their list.
fn machines(directory: &Path) {
    let mut entries = Vec::new();
    for name in ["alice", "bob"] {
        let identity = Identity::generate(Validity::days(1).unwrap()).unwrap();
        identity
            .save(&identity_files(&directory.join(name)))
            .unwrap();
        let free = TcpListener::bind((Ipv4Addr::LOCALHOST, 0)).unwrap();
        entries.push(RosterEntry {
            name: name.into(),
            address: free.local_addr().unwrap().to_string().parse().unwrap(),
            key: identity.fingerprint(),
            sealing: None,
        });
    }
    let list = Roster::new(entries).unwrap().to_toml();
    fs::write(directory.join("parties.toml"), list).unwrap();
}

/// What two parties with these arguments get.
fn both(lines: [&str; 2]) -> [Result<String, (String, u8)>; 2] {
    both_with(&run, lines)
}

/// The same of another command.
fn both_with(
    run: &(impl Fn(&str) -> Result<String, (String, u8)> + Sync),
    lines: [&str; 2],
) -> [Result<String, (String, u8)>; 2] {
    let directory = empty_folder();
    machines(&directory);
    thread::scope(|scope| {
        let parties = [0, 1].map(|me| {
            let directory = directory.display();
            let name = ["alice", "bob"][me];
            let line = format!(
                "--party {me} --parties {directory}/parties.toml --identity {directory}/{name} -q {}",
                lines[me]
            );
            scope.spawn(move || run(&line))
        });
        parties.map(|party| party.join().unwrap())
    })
}

#[test]
fn real_parties_bring_their_own_inputs() {
    let told = both(["-i bids=3,-9", "-i other=-7 -i weight=0.5 -i 3=1"]);
    for told in told {
        assert_eq!(told.unwrap(), "first-is-higher: true\n");
    }
}

#[test]
fn a_party_reads_its_own_inputs_alone() {
    let [first, second] = both([
        "-i other=3",
        "--connect-timeout 1s -i other=1 -i weight=0 -i 3=1",
    ]);
    let (told, status) = first.unwrap_err();
    assert!(told.contains("is for party 1; this is party 0"), "{told}");
    assert_eq!(status, 2);
    assert_eq!(second.unwrap_err().1, 4);
}

#[test]
fn parties_with_different_programs_learn_in_what() {
    let [first, second] = both([
        "--bids 3 -i bids=1,2,3",
        "--bids 2 -i other=1 -i weight=0 -i 3=1",
    ]);
    for told in [first, second] {
        let (told, status) = told.unwrap_err();
        assert_eq!(status, 5, "{told}");
        let [here, there] = [
            "--bids is 3 here and 2 there",
            "--bids is 2 here and 3 there",
        ];
        assert!(told.contains(here) || told.contains(there), "{told}");
    }
    let [first, _] = both([
        "-i bids=1,2 --mix B",
        "-i other=1 -i weight=0 -i 3=1 --mix A+B",
    ]);
    let (told, status) = first.unwrap_err();
    assert_eq!(status, 5, "{told}");
    assert!(told.contains("mix is B here and A+B there"), "{told}");
    assert!(told.contains("--mix"), "{told}");
}

/// All names in JSON but those of outputs.
fn names(value: &Value, found: &mut Vec<String>) {
    match value {
        Value::Object(fields) => {
            for (name, value) in fields {
                found.push(name.clone());
                if name != "outputs" {
                    names(value, found);
                }
            }
        }
        Value::Array(values) => values.iter().for_each(|value| names(value, found)),
        _ => {}
    }
}

#[test]
fn what_is_printed_for_scripts_is_documented() {
    let documents = include_str!("../../../docs/STATISTICS.md");
    let headings = [
        "A program as a command",
        "A party",
        "Provenance",
        "A phase",
        "An estimate",
        "An operation",
    ];
    let section = headings.map(|heading| {
        let (_, section) = documents.split_once(&format!("\n## {heading}\n")).unwrap();
        section.split("\n## ").next().unwrap()
    });
    let section = section.concat();
    let run_line = format!("--local 2 --json --transport memory {INPUTS}");
    for line in [&*run_line, "explain --json", "check --json --mix A+B"] {
        let told: Value = serde_json::from_str(&run(line).unwrap()).unwrap();
        let mut found = Vec::new();
        names(&told, &mut found);
        for name in found {
            let told = [
                format!("`{name}`"),
                format!(".{name}`"),
                format!("`{name}[i]`"),
            ];
            assert!(told.iter().any(|name| section.contains(name)), "{name}");
        }
    }
}

/// What is explained is what is spent.
#[test]
fn costs_are_those_of_the_estimate() {
    let report = run(&format!("--local 2 --json --mix A+B {INPUTS}")).unwrap();
    let report: Value = serde_json::from_str(&report).unwrap();
    let told = run("explain --local 2 --json --mix A+B").unwrap();
    let told: Value = serde_json::from_str(&told).unwrap();
    for phase in Phase::ALL {
        let phase = phase.to_string();
        for key in [
            "bytes_sent",
            "bytes_received",
            "messages",
            "rounds",
            "aes_blocks",
        ] {
            let spent = report["parties"].as_array().unwrap().iter();
            let spent = spent.map(|party| party[&phase][key].as_u64().unwrap());
            assert_eq!(spent.max(), told[&phase][key].as_u64(), "{phase} {key}");
        }
    }
}

/// How often a secret is halved until it is below a limit; the last stage is for the second party.
async fn halvings(mut stages: Stages<'_>, numbers: &Numbers) -> Result<String, StageError> {
    let mut p = stages.program();
    let secret = p.input_named::<u32>("secret", Party::new(0), ());
    let mut kept = p.keep(&secret);
    stages.run(p).await?;
    loop {
        let mut p = stages.program();
        let secret = p.kept(&kept);
        let below = secret.lt(numbers.get("limit") as u32);
        let below = p.open_named("below", below, Everyone);
        kept = p.keep(&(secret >> 1));
        if stages.run(p).await?.get(below) == [true] {
            break;
        }
    }
    let times = stages.ended() - 2;
    let mut p = stages.program();
    let (secret, weight) = (
        p.kept(&kept),
        p.input_named::<u32>("weight", Party::new(1), ()),
    );
    let product = p.open_named("product", secret * weight, Party::new(1));
    let product = stages.last(p).await?.get_if_known(product);
    let product = product.map_or(String::new(), |product| format!(", {}", product[0]));
    Ok(format!("{times} halvings{product}"))
}

fn run_stages(line: &str) -> Result<String, (String, u8)> {
    let app = Staged::new("halvings", "How often a number is halved", halvings);
    let app = app.number("limit", 4, 1 << 20, "Where it ends");
    let words = std::iter::once("halvings").chain(line.split_whitespace());
    let done = app.run(words);
    done.map_err(|error| (error.to_string(), error.status() as u8))
}

#[test]
fn stages_are_a_command() {
    let [first, second] = both_with(&run_stages, ["-i secret=41", "-i weight=10"]);
    assert_eq!(first.unwrap(), "4 halvings\n");
    assert_eq!(second.unwrap(), "4 halvings, 10\n");
    for told in both_with(
        &run_stages,
        ["--limit 4 -i secret=41", "--limit 5 -i weight=10"],
    ) {
        let (told, status) = told.unwrap_err();
        assert!(told.contains("--limit is") && status == 5, "{told}");
    }
    let told = run_stages("explain -i secret=41 --json").unwrap();
    let told: Value = serde_json::from_str(&told).unwrap();
    assert_eq!(told["random"], serde_json::json!(["weight"]));
    let stages = told["stages"].as_array().unwrap();
    assert_eq!(stages.len(), 7);
    assert_eq!(stages[0]["keeps"], serde_json::json!(["1 x u32 (A)"]));
    let told = run_stages("explain -i secret=41").unwrap();
    assert!(
        told.contains("7 stages") && told.contains("below:"),
        "{told}"
    );
    let told = run_stages("check -i secret=41 -i weight=3 --mix B").unwrap();
    assert!(
        told.starts_with("right: 7 stages of 2 parties, mixes B"),
        "{told}"
    );
    for (line, status, words) in [
        (
            "--local 2 -i secret=1",
            2,
            "--input weight=VALUES is missing",
        ),
        ("check -i secrets=1", 2, "no stage has asked for it"),
        ("--local 2 --store here -i secret=1", 2, "--store"),
        ("--local 2 -i secret=x", 2, "element 1 is no u32"),
        ("--local 2 -i secret=@/nowhere", 3, "/nowhere"),
        ("--local 2 --mix R -i secret=1 -i weight=1", 2, "--mix"),
    ] {
        let (told, found) = run_stages(line).unwrap_err();
        assert!(told.contains(words) && found == status, "{line}: {told}");
    }
}
