//! Runs the test cases that ONNX generates for its operators, and prints a table of what passed.
//!
//! ```sh
//! pip download onnx==1.22.0 --no-deps && unzip onnx-1.22.0*.whl 'onnx/backend/test/data/node/*'
//! cargo run --release -p madrigal-nn --example node_tests -- onnx/backend/test/data/node > docs/ONNX.md
//! ```
//!
//! A case is a folder `test_*` with `model.onnx` and `test_data_set_*/input_*.pb`, `output_*.pb`. Inputs that decide on
//! shapes (of Reshape, say) are inputs of these models; they are bound to constants here, and all others are not.

#![allow(
    clippy::print_stdout,
    clippy::print_stderr,
    reason = "a program for the terminal"
)]

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::process::ExitCode;

use madrigal_nn::{
    Data, Fault, Graph, ImportError, Limits, Model, Options, Problem, Tensor, proto, read_tensor,
};
use prost::Message as _;

/// Tolerances with which ONNX's own runner compares floats.
const RELATIVE: f64 = 1e-3;
const ABSOLUTE: f64 = 1e-7;

/// Ends of a case.
enum Outcome {
    /// Success, with the largest relative error of floats.
    Passed(f64),
    Failed(String),
    Unsupported(String),
}

/// Text about models before the table.
const BEFORE: &str = "\
## What a file may ask for

Reading a model, importing it and making a program of it takes at most 50 bytes of memory for each byte of its files and
256 MiB more: its parts, constants that are computed of others, and lists of places that planning keeps. `--file-memory`
gives another size (in the library `Limits::memory`). What asks for more is refused with the node that does so. Values that are
computed of data and needed at the same time take as much again at most, at 16 bytes for each element, and 400 bytes for each
element of the inputs. A value has at most 2^29 elements. A name has at most 4,096
bytes, a file 2 GiB and a million parts. Models are regular files; data in other files lies in the model's folder, and no link
leads elsewhere but to the folder of the file that the model's own name is a link to.

## Whose its numbers are

| in the file | whose |
|---|---|
| floats of an initializer, or of `value` or `value_floats` of a Constant: several, or one with dimensions, as in the shape `[1]` | the owner's |
| integers, in the same places, that become floats (a Cast, DequantizeLinear), several or one with dimensions | the owner's |
| what is computed of any of these, also Booleans of floats | the owner's |
| a float without dimensions, unless it goes only into what is the owner's | all parties' |
| one number that decides on the network: an exponent, a bound of Clip | all parties' |
| integers and Booleans that the network reads as such: shapes, places, masks, labels | all parties' |
| attributes, names, shapes, and what is computed of these | all parties' |

`madrigal model strip` writes a file in which all of the owner's is 0, and tells what all parties' is in it. It refuses a model
that it cannot import, and one in which a tensor of several numbers is both: weights, and integers that the network reads as such.

## Test cases
";

fn main() -> ExitCode {
    let Some(folder) = std::env::args().nth(1) else {
        eprintln!(
            "node_tests: name the folder with the cases: node_tests onnx/backend/test/data/node"
        );
        return ExitCode::FAILURE;
    };
    let cases = match cases(Path::new(&folder)) {
        Ok(cases) if !cases.is_empty() => cases,
        Ok(_) => {
            eprintln!("node_tests: there is no test_*/model.onnx in {folder}");
            return ExitCode::FAILURE;
        }
        Err(error) => {
            eprintln!("node_tests: {folder}: {error}");
            return ExitCode::FAILURE;
        }
    };
    let mut table: BTreeMap<String, Vec<(String, Outcome)>> = BTreeMap::new();
    for path in cases {
        let name = path.file_name().unwrap_or_default().to_string_lossy();
        let name = name.trim_start_matches("test_").to_string();
        let (operator, outcome) = case(&path);
        table.entry(operator).or_default().push((name, outcome));
    }
    print(&table);
    ExitCode::SUCCESS
}

fn cases(folder: &Path) -> std::io::Result<Vec<PathBuf>> {
    let mut found = Vec::new();
    for entry in std::fs::read_dir(folder)? {
        let path = entry?.path();
        let name = path
            .file_name()
            .unwrap_or_default()
            .to_string_lossy()
            .into_owned();
        if name.starts_with("test_") && path.join("model.onnx").exists() {
            found.push(path);
        }
    }
    found.sort();
    Ok(found)
}

/// The operator that a case is about: of its graph the rarest, by name, and of several nodes the word "composed".
fn operator(file: &[u8]) -> String {
    let Ok(model) = proto::Model::decode(file) else {
        return "(not read)".into();
    };
    let nodes = model.graph.map(|graph| graph.node).unwrap_or_default();
    match &nodes[..] {
        [node] if node.domain.is_empty() => node.op_type.clone(),
        [node] => format!("{}.{}", node.domain, node.op_type),
        _ => "(functions of several nodes)".into(),
    }
}

fn case(path: &Path) -> (String, Outcome) {
    let file = match std::fs::read(path.join("model.onnx")) {
        Ok(file) => file,
        Err(error) => return ("(not read)".into(), Outcome::Failed(error.to_string())),
    };
    let operator = operator(&file);
    let mut worst = 0.0f64;
    for set in (0..)
        .map(|n| path.join(format!("test_data_set_{n}")))
        .take_while(|p| p.exists())
    {
        match data_set(&file, &set) {
            Outcome::Passed(error) => worst = worst.max(error),
            other => return (operator, other),
        }
    }
    (operator, Outcome::Passed(worst))
}

fn data_set(file: &[u8], set: &Path) -> Outcome {
    let limits = Limits::default();
    let model = match Model::read(file.to_vec(), &limits) {
        Ok(model) => model,
        Err(error) => return Outcome::Unsupported(error.to_string()),
    };
    let (inputs, outputs) = match (tensors(set, "input"), tensors(set, "output")) {
        (Ok(inputs), Ok(outputs)) => (inputs, outputs),
        (Err(error), _) | (_, Err(error)) => {
            // Sequences, strings, floats of 8 bits and less; the model's own error says more where it has one.
            let of_model = model.import(&Options::default()).err();
            return Outcome::Unsupported(of_model.map_or(error, |e| first(&e)));
        }
    };
    // Inputs in files follow the model's; where a name is empty, its place counts.
    let names: Vec<String> = proto::Model::decode(file)
        .ok()
        .and_then(|model| model.graph)
        .map(|graph| graph.input.into_iter().map(|input| input.name).collect())
        .unwrap_or_default();
    let given: BTreeMap<String, Tensor> = names.into_iter().zip(inputs).collect();
    let graph = match import(&model, &given) {
        Ok(graph) => graph,
        Err(error) => return Outcome::Unsupported(first(&error)),
    };
    let inputs = graph.inputs().iter().map(|(name, _)| given[name].clone());
    let made = match graph.evaluate(&inputs.collect::<Vec<_>>()) {
        Ok(made) => made,
        Err(error) => return Outcome::Failed(error.to_string()),
    };
    if made.len() != outputs.len() {
        return Outcome::Failed(format!("{} outputs, not {}", made.len(), outputs.len()));
    }
    let mut worst = 0.0f64;
    for (found, expected) in made.iter().zip(&outputs) {
        match compare(found, expected) {
            Ok(error) => worst = worst.max(error),
            Err(problem) => return Outcome::Failed(problem),
        }
    }
    Outcome::Passed(worst)
}

fn tensors(set: &Path, kind: &str) -> Result<Vec<Tensor>, String> {
    let paths = (0..).map(|n| set.join(format!("{kind}_{n}.pb")));
    let read = paths.take_while(|path| path.exists()).map(|path| {
        let file = std::fs::read(&path).map_err(|e| e.to_string())?;
        let tensor = read_tensor(file, &Limits::default());
        tensor
            .map(|(_, tensor)| tensor)
            .map_err(|e| e.fault.to_string())
    });
    read.collect()
}

/// Imports; inputs that must be constants become some.
fn import(model: &Model, given: &BTreeMap<String, Tensor>) -> Result<Graph, ImportError> {
    let mut options = Options::default();
    for (name, tensor) in given {
        options.shapes.insert(name.clone(), tensor.shape().to_vec());
    }
    loop {
        let error = match model.import(&options) {
            Ok(graph) => return Ok(graph),
            Err(error) => error,
        };
        let bound = options.constants.len();
        for problem in &error.problems {
            if let Problem::Node {
                fault: Fault::NotConstant { inputs, .. },
                ..
            } = problem
            {
                for input in inputs {
                    options
                        .constants
                        .insert(input.clone(), given[input].clone());
                }
            }
        }
        if options.constants.len() == bound {
            return Err(error);
        }
    }
}

/// The first problem, without the node's name.
fn first(error: &ImportError) -> String {
    match error.problems.first() {
        Some(Problem::Node {
            operator, fault, ..
        }) => format!("{operator}: {fault}"),
        Some(Problem::InputElement { code, .. }) => {
            format!("inputs with elements of type {code} in ONNX's numbering")
        }
        Some(Problem::InputKind { .. }) => "inputs that are no tensors".into(),
        Some(problem) => problem.to_string(),
        None => String::new(),
    }
}

/// The largest relative error, where there is one at all; floats within ONNX's tolerance, all else equal.
fn compare(found: &Tensor, expected: &Tensor) -> Result<f64, String> {
    if (found.element(), found.shape()) != (expected.element(), expected.shape()) {
        return Err(format!(
            "{} of {:?}, not {} of {:?}",
            found.element(),
            found.shape(),
            expected.element(),
            expected.shape()
        ));
    }
    if matches!(found.data(), Data::Int(_) | Data::Bool(_)) {
        return match found == expected {
            true => Ok(0.0),
            false => Err(format!("{:?}, not {:?}", some(found), some(expected))),
        };
    }
    let mut worst = 0.0f64;
    for (a, b) in found.to_f64().into_iter().zip(expected.to_f64()) {
        if a == b || (a.is_nan() && b.is_nan()) {
            continue;
        }
        let error = (a - b).abs();
        if error.is_nan() || error > ABSOLUTE + RELATIVE * b.abs() {
            return Err(format!("{a}, not {b}"));
        }
        // Relative to what is compared, so that a number near 0 does not count for all.
        worst = worst.max(error / b.abs().max(ABSOLUTE / RELATIVE));
    }
    Ok(worst)
}

fn some(tensor: &Tensor) -> Vec<f64> {
    tensor.to_f64().into_iter().take(6).collect()
}

fn print(table: &BTreeMap<String, Vec<(String, Outcome)>>) {
    let of = |cases: &[(String, Outcome)], kind: fn(&Outcome) -> bool| {
        cases.iter().filter(|(_, outcome)| kind(outcome)).count()
    };
    let passed = |o: &Outcome| matches!(o, Outcome::Passed(_));
    let failed = |o: &Outcome| matches!(o, Outcome::Failed(_));
    let unsupported = |o: &Outcome| matches!(o, Outcome::Unsupported(_));
    let sum = |kind| table.values().map(|cases| of(cases, kind)).sum::<usize>();
    println!("# ONNX\n");
    println!(
        "The file is written by the command at the head of `crates/nn/examples/node_tests.rs`: change that, not this.\n"
    );
    println!("{BEFORE}");
    println!(
        "ONNX comes with a test case for each use of its operators. This table says how Madrigal's evaluation in the\n\
         clear does on those of release 1.22. Floats must be within {RELATIVE:e} of the expected ones, relative, or\n\
         {ABSOLUTE:e}; integers and Booleans equal. Inputs that decide on shapes are bound to constants, others are not.\n"
    );
    println!(
        "**{} passed, {} failed, {} not supported.** Which operators are supported: `supported_operators()` of the\n\
         crate `madrigal-nn`.\n",
        sum(passed),
        sum(failed),
        sum(unsupported)
    );
    println!("| operator | passed | failed | not supported | largest error |");
    println!("|---|---|---|---|---|");
    for (operator, cases) in table {
        let errors = cases.iter().map(|(_, outcome)| match outcome {
            Outcome::Passed(error) => *error,
            _ => 0.0,
        });
        let worst = errors.fold(0.0, f64::max);
        let worst = if worst == 0.0 {
            String::new()
        } else {
            format!("{worst:.1e}")
        };
        let counts = [of(cases, passed), of(cases, failed), of(cases, unsupported)];
        let [passed, failed, unsupported] = counts.map(|n| match n {
            0 => String::new(),
            n => n.to_string(),
        });
        println!("| {operator} | {passed} | {failed} | {unsupported} | {worst} |");
    }
    let all = || table.values().flatten();
    if sum(failed) > 0 {
        println!("\n## Failed\n\n| case | what came |\n|---|---|");
    }
    for (name, outcome) in all() {
        if let Outcome::Failed(reason) = outcome {
            row(name, reason);
        }
    }
    let mut reasons: BTreeMap<&str, Vec<&str>> = BTreeMap::new();
    for (name, outcome) in all() {
        if let Outcome::Unsupported(reason) = outcome {
            reasons.entry(reason).or_default().push(name);
        }
    }
    println!("\n## Not supported\n\n| cases | reason | such as |\n|---|---|---|");
    for (reason, names) in reasons {
        row(
            &names.len().to_string(),
            &format!("{reason} | {}", names[0]),
        );
    }
}

fn row(first: &str, second: &str) {
    println!("| {first} | {} |", second.replace('\n', " "));
}
