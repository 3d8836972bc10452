//! Every circuit with known answers through the command line: 2, 3 or 5 parties, one lane or many.
//!
//! The circuits of crates/circuit's test data always; all of a folder of shared data (`circuits/`
//! below `MADRIGAL_SHARED`, or `../shared/data` beside the repository) where there is one.
//! `MADRIGAL_REQUIRE_SHARED=1` makes its absence a failure.
#![allow(clippy::print_stdout)] // which data was there
#![allow(clippy::unwrap_used)] // a failed unwrap is a failed test with a location

use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::atomic::{AtomicUsize, Ordering::Relaxed};

use serde_json::Value;

/// One circuit and its cases.
struct Known {
    file: PathBuf,
    /// Hexadecimal inputs and outputs.
    cases: Vec<(Vec<String>, Vec<String>)>,
}

impl Known {
    /// Number of lanes that are many: a large circuit adds gates, and lanes that fill bytes and a part of
    /// another are enough there.
    fn many_lanes(&self) -> usize {
        let text = std::fs::read_to_string(&self.file).unwrap();
        let gates = text.split_whitespace().next().unwrap();
        let gates: usize = gates.parse().unwrap();
        if gates > 2_000 { 20 } else { 1000 }
    }
}

fn own_data() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../circuit/tests/data")
}

pub fn shared_data() -> Option<PathBuf> {
    let beside = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../../shared/data");
    let root = std::env::var_os("MADRIGAL_SHARED").map_or(beside, PathBuf::from);
    let found = [root.join("circuits"), root.join("data/circuits")]
        .into_iter()
        .find(|path| path.is_dir());
    let required = std::env::var_os("MADRIGAL_REQUIRE_SHARED").is_some_and(|value| value == "1");
    assert!(
        found.is_some() || !required,
        "there are no circuits below {}",
        root.display()
    );
    found
}

/// The circuits of one folder's known_answers.json.
fn known(folder: &Path) -> Vec<Known> {
    let text = std::fs::read_to_string(folder.join("known_answers.json")).unwrap();
    let json: Value = serde_json::from_str(&text).unwrap();
    let strings = |value: &Value| -> Vec<String> {
        let texts = value.as_array().unwrap().iter();
        texts
            .map(|text| text.as_str().unwrap().trim_start_matches("0x").to_owned())
            .collect()
    };
    let circuit = |(name, circuit): (&String, &Value)| {
        let file = circuit["file"].as_str().unwrap_or(name);
        let cases = circuit["cases"].as_array().unwrap();
        let cases = cases
            .iter()
            .map(|case| (strings(&case["inputs"]), strings(&case["outputs"])));
        Known {
            file: folder.join(file),
            cases: cases.collect(),
        }
    };
    let circuits = json["circuits"].as_object().unwrap().iter().map(circuit);
    circuits.filter(|known| known.file.is_file()).collect()
}

/// Who computes, and how.
#[derive(Clone, Copy)]
struct Way {
    parties: usize,
    protocol: &'static str,
    correlations: &'static str,
}

const WAYS: [Way; 7] = [
    way(2, "B", "ot"),
    way(3, "B", "ot"),
    way(5, "B", "ot"),
    way(3, "B", "dealer"),
    way(3, "R", "ot"),
    way(2, "beta", "ot"),
    way(2, "beta", "dealer"),
];

const fn way(parties: usize, protocol: &'static str, correlations: &'static str) -> Way {
    Way {
        parties,
        protocol,
        correlations,
    }
}

/// Runs one circuit with `lanes` lanes, the cases over and over, and compares all output.
fn check(known: &Known, way: Way, lanes: usize, transport: &str, folder: &Path) {
    let Way {
        parties,
        protocol,
        correlations,
    } = way;
    let name = known.file.file_name().unwrap().to_string_lossy();
    let about = format!(
        "{name}, {protocol}, {parties} parties, {correlations}, {lanes} lanes, {transport}"
    );
    let values = known.cases[0].0.len();
    let folder = folder.join(about.replace([' ', ','], "_"));
    std::fs::create_dir_all(&folder).unwrap();
    let cases = || known.cases.iter().cycle().take(lanes);
    let mut command = Command::new(env!("CARGO_BIN_EXE_madrigal"));
    command.args([
        "run",
        "--protocol",
        protocol,
        "--correlations",
        correlations,
        "--transport",
        transport,
        "--local",
        &parties.to_string(),
    ]);
    command.arg("--circuit").arg(&known.file);
    for party in 0..parties.min(values) {
        let line = |(inputs, _): &(Vec<String>, Vec<String>)| {
            let own = inputs.iter().skip(party).step_by(parties);
            own.map(String::as_str).collect::<Vec<_>>().join(" ")
        };
        let text = cases().map(|case| line(case) + "\n").collect::<String>();
        let file = folder.join(format!("input{party}"));
        std::fs::write(&file, text).unwrap();
        command
            .arg("--input")
            .arg(format!("{party}={}", file.display()));
    }
    let output = folder.join("output");
    let ended = command.arg("--output").arg(&output).output().unwrap();
    assert!(
        ended.status.success(),
        "{about}: {}",
        String::from_utf8_lossy(&ended.stderr)
    );
    let text = std::fs::read_to_string(output).unwrap();
    assert_eq!(text.lines().count(), lanes, "{about}");
    for (lane, (line, (_, expected))) in text.lines().zip(cases()).enumerate() {
        // The width fixes the number of digits of a result; the answers may have another.
        let number = |text: &str| text.trim_start_matches('0').to_owned();
        let same = line
            .split(' ')
            .map(number)
            .eq(expected.iter().map(|value| number(value)));
        assert!(same, "lane {lane} is {line}, not {expected:?}: {about}");
    }
}

/// With how many lanes a circuit is run in each way.
#[derive(Clone, Copy)]
enum Lanes {
    /// One, and many.
    Both,
    /// One or many in turns: each circuit is run with either, and so is each way.
    InTurns,
}

/// Checks everything, two runs at a time. A circuit is run in the ways that its place in the list is given.
fn check_all(
    circuits: &[Known],
    ways: impl Fn(usize) -> Vec<Way>,
    lanes: Lanes,
    transports: &[&str],
) {
    let folder = tempfile::tempdir().unwrap();
    let mut runs = Vec::new();
    for (at, known) in circuits.iter().enumerate() {
        let both = [1, known.many_lanes()];
        for (turn, way) in (at..).zip(ways(at)) {
            let lanes = match lanes {
                Lanes::Both => &both[..],
                Lanes::InTurns => &both[turn % 2..][..1],
            };
            for &lanes in lanes {
                for &transport in transports {
                    runs.push((known, way, lanes, transport));
                }
            }
        }
    }
    let next = AtomicUsize::new(0);
    std::thread::scope(|scope| {
        for _ in 0..2 {
            scope.spawn(|| {
                while let Some(&(known, way, lanes, transport)) =
                    runs.get(next.fetch_add(1, Relaxed))
                {
                    check(known, way, lanes, transport, folder.path());
                }
            });
        }
    });
    println!(
        "{} circuits, {} runs, all right",
        circuits.len(),
        runs.len()
    );
}

#[test]
fn own_circuits_in_one_process_and_in_many() {
    let circuits = known(&own_data());
    assert!(circuits.len() >= 10, "{} circuits", circuits.len());
    let ways = |_| WAYS.to_vec();
    check_all(&circuits, ways, Lanes::InTurns, &["memory"]);
    let few: Vec<Known> = circuits
        .into_iter()
        .filter(|known| {
            ["adder64.txt", "int_gt8_size.bristol"]
                .iter()
                .any(|name| known.file.ends_with(name))
        })
        .collect();
    // Every way has one lane and many here; a connection's encryption sees neither.
    check_all(&few, ways, Lanes::Both, &["tcp"]);
    check_all(&few, ways, Lanes::InTurns, &["tls"]);
}

#[test]
fn all_shared_circuits() {
    let Some(shared) = shared_data() else {
        println!("no shared data: set MADRIGAL_SHARED to test all circuits");
        return;
    };
    for (format, least) in [("bristol", 30), ("bristol_fashion", 8)] {
        let circuits = known(&shared.join(format));
        assert!(
            circuits.len() >= least,
            "{} circuits in {format}",
            circuits.len()
        );
        // Where correlations come from is the same to each circuit, and so is what lanes do to a way: our own are
        // enough for that. Numbers of parties in B come in turns, each with one lane and with many.
        let ways = |at: usize| {
            vec![
                way([2, 3, 5][at % 3], "B", "ot"),
                way(3, "R", "ot"),
                way(2, "beta", "ot"),
            ]
        };
        check_all(&circuits, ways, Lanes::InTurns, &["memory"]);
    }
}
