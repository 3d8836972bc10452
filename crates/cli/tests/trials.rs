//! Small inputs made after what users of other systems met: each folder of `trials/` has its files, the commands
//! (`cmd.sh`), and what is right (`expected.json`).
//!
//! | in `expected.json` | what it says |
//! |---|---|
//! | `about` | what the trial shows |
//! | `right`, `within` | the outputs of the model, of onnxruntime unless `about` says otherwise; how far off a number may be: so much, and so large a part of it |
//! | `prints` | the lines that each command writes |
//! | `makes` | the file or folder that the command makes; `?` stands for any byte |
//! | `refused` | parts of the message with which each command refuses: what is wrong, where, and what to do |
//! | `but` | what is refused of a trial that is right else: a part of the command, and parts of the message |
//! | `tells` | a part of the `model compare` that must tell of numbers that left their range |
//! | `pending` | why the trial is run, but not judged |
//!
//! `MADRIGAL_TRIALS=NAME,...` runs those alone whose names begin so, and tells of the others nothing.

use std::collections::VecDeque;
use std::ffi::OsString;
use std::fs;
use std::os::unix::ffi::OsStrExt as _;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::sync::Mutex;
use std::thread;

use madrigal_nn::{Tensor, npy};
use serde_json::Value;

/// The folder of all trials.
fn folder() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/trials")
}

/// Result of a command.
struct Ran {
    status: Option<i32>,
    stdout: String,
    stderr: String,
}

/// Runs a line of `cmd.sh`.
fn shell(directory: &Path, line: &str) -> Ran {
    let output = Command::new("sh")
        .args(["-c", line])
        .env("MADRIGAL", env!("CARGO_BIN_EXE_madrigal"))
        // Results that cannot be written elsewhere are kept there.
        .env("TMPDIR", directory)
        .current_dir(directory)
        .stdin(Stdio::null())
        .output()
        .expect("a shell starts");
    let text = |bytes: &[u8]| String::from_utf8_lossy(bytes).into_owned();
    Ran {
        status: output.status.code(),
        stdout: text(&output.stdout),
        stderr: text(&output.stderr),
    }
}

/// A trial: all that is wrong with it.
fn trial(name: &str, expected: &Value) -> Vec<String> {
    let copy = tempfile::tempdir().unwrap();
    let directory = copy.path();
    for file in fs::read_dir(folder().join(name)).unwrap() {
        let file = file.unwrap();
        fs::copy(file.path(), directory.join(file.file_name())).unwrap();
    }
    let script = fs::read_to_string(directory.join("cmd.sh")).unwrap();
    let lines = script.lines().map(str::trim);
    let lines = lines.filter(|line| !line.is_empty() && !line.starts_with(['#', ':']));
    let mut wrong = Vec::new();
    let mut judged = 0;
    for line in lines {
        // The table is for people.
        let line = match line.contains("model compare") {
            true => format!("{line} --json"),
            false => line.to_owned(),
        };
        let ran = shell(directory, &line);
        let found = match line.contains("$MADRIGAL") {
            true => {
                judged += 1;
                judge(directory, &line, &ran, expected)
            }
            false => (ran.status != Some(0)).then(|| "it failed".to_owned()),
        };
        if let Some(problem) = found {
            let Ran { status, stderr, .. } = &ran;
            let told = stderr.trim_end();
            wrong.push(format!(
                "{name}: {line}\n  {problem}\n  status {status:?}: {told}"
            ));
        }
    }
    if judged == 0 {
        wrong.push(format!("{name}: cmd.sh has no command"));
    }
    wrong
}

/// Lists what is wrong with a command's result.
fn judge(directory: &Path, line: &str, ran: &Ran, expected: &Value) -> Option<String> {
    // Whatever comes of it: no source of ours in a message, and no panic.
    if ran.stderr.contains(".rs:") || ran.stderr.contains("panicked") {
        return Some("the message names our source".to_owned());
    }
    let mut but = expected["but"].as_object().into_iter().flatten();
    let but = but.find(|(part, _)| line.contains(&part[..]));
    let refused = but.map_or(&expected["refused"], |(_, parts)| parts);
    if let Some(parts) = refused.as_array() {
        let parts = parts.iter().filter_map(Value::as_str);
        let missing: Vec<&str> = parts.filter(|part| !ran.stderr.contains(part)).collect();
        return match (ran.status, &missing[..]) {
            (Some(2 | 3), []) => None,
            (Some(2 | 3), missing) => Some(format!("the refusal lacks {missing:?}")),
            _ => Some("it is not refused".to_owned()),
        };
    }
    if ran.status != Some(0) {
        return Some("it failed".to_owned());
    }
    if let Some(lines) = expected["prints"].as_array() {
        let found: Vec<&str> = ran.stdout.lines().collect();
        return (*lines != found).then(|| format!("it printed {found:?}"));
    }
    if let Some(name) = expected["makes"].as_str() {
        return (!makes(directory, name)).then(|| format!("there is no {name}"));
    }
    if expected["tells"]
        .as_str()
        .is_some_and(|part| line.contains(part))
    {
        let told: Value = serde_json::from_str(&ran.stdout).unwrap();
        let none = told["overflows"].as_array().is_none_or(Vec::is_empty);
        return none.then(|| "it tells of no number that left its range".to_owned());
    }
    if line.contains("model compare") {
        return compared(&ran.stdout, expected);
    }
    if line.contains("$MADRIGAL infer") {
        return inferred(directory, expected);
    }
    None
}

/// Whether something has this name, but for bytes that are no text.
fn makes(directory: &Path, name: &str) -> bool {
    let entries = fs::read_dir(directory).unwrap();
    let mut names = entries.map(|entry| entry.unwrap().file_name());
    let same = |found: OsString| {
        let found = found.as_bytes().iter().zip(name.bytes());
        found.clone().count() == name.len() && { found }.all(|(&a, b)| a == b || b == b'?')
    };
    names.any(same)
}

/// How far off a number may be.
fn allowed(expected: &Value, number: f64) -> f64 {
    let within = |at: usize| expected["within"][at].as_f64().unwrap();
    within(0) + within(1) * number.abs()
}

/// Reads what `model compare` tells of the outputs.
fn compared(told: &str, expected: &Value) -> Option<String> {
    let told: Value = serde_json::from_str(told).unwrap();
    let outputs = told["outputs"].as_array().unwrap();
    for output in outputs {
        let name = output["name"].as_str().unwrap();
        let (error, greatest) = (&output["largest_error"], &output["greatest"]);
        let (Some(error), Some(greatest)) = (error.as_f64(), greatest.as_f64()) else {
            return Some(format!("of {name} it tells no numbers"));
        };
        if error > allowed(expected, greatest) {
            return Some(format!("it tells an error of {error} of {name}"));
        }
    }
    match told["overflows"].as_array().unwrap().is_empty() {
        true => None,
        false => Some(format!("it tells of overflows: {}", told["overflows"])),
    }
}

/// The arrays that `infer --output out.npy` wrote, which are taken away for the next command.
fn inferred(directory: &Path, expected: &Value) -> Option<String> {
    let outputs = expected["right"].as_object().unwrap();
    for (name, right) in outputs {
        let file = match outputs.len() {
            1 => "out.npy".to_owned(),
            _ => format!("out-{name}.npy"),
        };
        let path = directory.join(file);
        let Ok(bytes) = fs::read(&path) else {
            return Some(format!("it wrote no {name}"));
        };
        fs::remove_file(&path).unwrap();
        let found = npy::read(&bytes).unwrap();
        if let Some(problem) = same(&found, right, expected) {
            return Some(format!("{name}: {problem}"));
        }
    }
    None
}

/// Integers must be the same, to the last bit.
fn same(found: &Tensor, right: &Value, expected: &Value) -> Option<String> {
    let shape: Vec<Value> = found.shape().iter().map(|&size| size.into()).collect();
    if right["shape"] != Value::from(shape) {
        return Some(format!("its shape is {:?}", found.shape()));
    }
    let numbers = right["values"].as_array().unwrap();
    if let Some(integers) = found.as_ints() {
        let all: Vec<i64> = numbers.iter().filter_map(Value::as_i64).collect();
        return (integers != all).then(|| format!("{integers:?}, not {all:?}"));
    }
    let pairs = found.to_f64().into_iter().zip(numbers);
    for (place, (found, number)) in pairs.enumerate() {
        let number = number.as_f64().unwrap();
        let near = (found - number).abs() <= allowed(expected, number);
        if !near {
            return Some(format!("element {place} is {found}, not {number}"));
        }
    }
    None
}

/// The trials, sorted by name, and what is right.
fn all() -> Vec<(String, Value)> {
    let only = std::env::var("MADRIGAL_TRIALS").unwrap_or_default();
    let mut found = Vec::new();
    for entry in fs::read_dir(folder()).unwrap() {
        let entry = entry.unwrap();
        if !entry.file_type().unwrap().is_dir() {
            continue;
        }
        let name = entry.file_name().into_string().unwrap();
        if only.split(',').any(|begin| name.starts_with(begin)) {
            let expected = fs::read_to_string(entry.path().join("expected.json")).unwrap();
            found.push((name, serde_json::from_str(&expected).unwrap()));
        }
    }
    found.sort_by(|(a, _), (b, _)| a.cmp(b));
    found
}

#[test]
fn every_trial_comes_out_right_or_is_refused_with_a_reason() {
    let all = all();
    assert!(!all.is_empty(), "there are no trials of these names");
    let judged = all
        .iter()
        .filter(|(_, one)| one["pending"].is_null())
        .count();
    let count = all.len();
    let queue = Mutex::new(VecDeque::from(all));
    let wrong = Mutex::new(Vec::new());
    // They wait for each other's parties more than they compute.
    let workers = 2 * thread::available_parallelism().map_or(1, usize::from);
    thread::scope(|scope| {
        for _ in 0..workers {
            scope.spawn(|| {
                loop {
                    let Some((name, expected)) = queue.lock().unwrap().pop_front() else {
                        break;
                    };
                    let found = trial(&name, &expected);
                    match expected["pending"].as_str() {
                        None => wrong.lock().unwrap().extend(found),
                        Some(why) if found.is_empty() => println!("{name}: right, though {why}"),
                        Some(why) => println!("{name}: wrong, as {why}: {}", found.join("\n")),
                    }
                }
            });
        }
    });
    let wrong = wrong.into_inner().unwrap();
    assert!(
        wrong.is_empty(),
        "of {judged} trials, beside {} pending, {} commands went wrong:\n{}",
        count - judged,
        wrong.len(),
        wrong.join("\n")
    );
}
