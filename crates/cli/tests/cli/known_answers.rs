//! Circuits with known answers, through the command line.

use std::path::{Path, PathBuf};

use serde_json::Value;

use crate::command::{circuit, madrigal, write};

/// Runs one circuit on its cases, repeated up to `lanes` lanes.
fn check(file: &Path, cases: &[Value], parties: usize, transport: &str, lanes: usize) {
    let directory = tempfile::tempdir().unwrap();
    let path = directory.path();
    let mut inputs = vec![String::new(); parties];
    let mut expected = String::new();
    let mut values = 0;
    let list = |case: &Value, side: &str| -> Vec<String> {
        let list = case[side].as_array().expect("a list");
        list.iter()
            .map(|value| value.as_str().expect("a number").to_owned())
            .collect()
    };
    for case in cases.iter().cycle().take(lanes) {
        let case_inputs = list(case, "inputs");
        values = case_inputs.len();
        for (i, value) in case_inputs.iter().enumerate() {
            inputs[i % parties].push_str(value);
            inputs[i % parties].push(' ');
        }
        inputs.iter_mut().for_each(|text| text.push('\n'));
        expected.push_str(
            &list(case, "outputs")
                .join(" ")
                .to_lowercase()
                .replace("0x", ""),
        );
        expected.push('\n');
    }
    let mut line = format!(
        "run --circuit {} --local {parties} --transport {transport} --quiet",
        file.display()
    );
    for (party, text) in inputs.iter().enumerate().take(values) {
        write(path, &format!("in{party}"), text);
        line += &format!(" --input {party}=in{party}");
    }
    assert_eq!(madrigal(path, &line).good().stdout, expected, "{line}");
    if parties == 2 {
        let joined: Vec<String> = (0..lanes)
            .map(|lane| list(&cases[lane % cases.len()], "inputs").join(" "))
            .collect();
        write(path, "all", &joined.join("\n"));
        let line = format!("circuit eval {} --input all", file.display());
        assert_eq!(madrigal(path, &line).good().stdout, expected, "{line}");
    }
}

fn answers(file: &Path) -> Vec<(String, Vec<Value>)> {
    let text = std::fs::read_to_string(file).expect("known answers");
    let answers: Value = serde_json::from_str(&text).expect("JSON");
    let circuits = answers["circuits"].as_object().expect("circuits").clone();
    let cases = |circuit: Value| circuit["cases"].as_array().expect("cases").clone();
    circuits
        .into_iter()
        .map(|(name, circuit)| (name, cases(circuit)))
        .collect()
}

#[test]
fn small_circuits() {
    for (name, cases) in answers(&circuit("known_answers.json")) {
        check(&circuit(&name), &cases, 2, "memory", cases.len());
        check(&circuit(&name), &cases, 3, "memory", 1);
    }
}

/// Minutes; `cargo test -- --ignored` runs it.
#[test]
#[ignore = "takes minutes"]
fn all_circuits_with_many_parties_and_lanes() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..");
    let shared = std::env::var_os("MADRIGAL_SHARED").map_or(root.join("../shared"), PathBuf::from);
    let circuits = shared.join("data/circuits");
    if !circuits.exists() {
        println!("skipped: no {}; set MADRIGAL_SHARED", circuits.display());
        return;
    }
    for folder in ["bristol", "bristol_fashion"] {
        for (name, cases) in answers(&circuits.join(folder).join("known_answers.json")) {
            for parties in [2, 3, 5] {
                for lanes in [1, 1000] {
                    println!("{name}, {parties} parties, {lanes} lanes");
                    check(
                        &circuits.join(folder).join(&name),
                        &cases,
                        parties,
                        "tcp",
                        lanes,
                    );
                }
            }
        }
    }
}
