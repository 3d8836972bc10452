//! Programs of the HyCC compiler, and circuits of ABY, as a user has them computed.

use std::path::Path;

use serde_json::Value;
use tempfile::TempDir;

use crate::command::{Ended, madrigal, roster, start, write};
use encoder::{HyccModule, HyccType, op};

// The program must not be built with what tests of the library turn on, so the crate is no dependency.
#[allow(dead_code)]
#[path = "../../testkit/src/hycc.rs"]
mod encoder;

/// `program`: `best = (a + b) * a` in a module of words, and `greater`, the greater one of that and b, bit
/// by bit; bundles `yaohybrid` and `gmwhybrid`.
pub fn program(path: &Path) {
    let folder = path.join("program");
    std::fs::create_dir(&folder).unwrap();
    let word = HyccType::int(16);
    let mut main = HyccModule::new("mpc_main");
    let b = main.input("INPUT_B", 1, &word, 16)[0];
    let a = main.input("INPUT_A", 0, &word, 16)[0];
    let greater = main.call("greater", &[("r", word.clone())], 16)[0][0];
    let sum = main.gate(op::ADD, &[a, b]);
    let product = main.gate(op::MUL, &[sum, a]);
    main.output("best", &word, &[product]);
    main.output("greater", &word, &[greater]);
    main.argument(0, "y", &word, &[b]);
    main.argument(0, "x", &word, &[product]);
    let mut module = HyccModule::new("greater");
    let x = module.input("x", 0, &word, 1);
    let y = module.input("y", 0, &word, 1);
    // Unsigned: whether y's bits are the greater ones, from the lowest on.
    let mut less = module.gate(op::XOR, &[x[0], x[0]]);
    for (&x, &y) in x.iter().zip(&y) {
        let differ = module.gate(op::XOR, &[x, y]);
        let other = module.gate(op::XOR, &[less, y]);
        let change = module.gate(op::AND, &[differ, other]);
        less = module.gate(op::XOR, &[less, change]);
    }
    let chosen = x.iter().zip(&y).map(|(&x, &y)| {
        let differ = module.gate(op::XOR, &[x, y]);
        let change = module.gate(op::AND, &[differ, less]);
        module.gate(op::XOR, &[x, change])
    });
    let chosen: Vec<u32> = chosen.collect();
    module.output("r", &word, &chosen);
    let put = |name: &str, bytes: &[u8]| std::fs::write(folder.join(name), bytes).unwrap();
    put("mpc_main@arith.circ", &main.bytes());
    put("greater@bool_size.circ", &module.bytes());
    put(
        "yaohybrid.cmb",
        b"mpc_main@arith.circ\n\ngreater@bool_size.circ\n",
    );
    put(
        "gmwhybrid.cmb",
        b"mpc_main@arith.circ\ngreater@bool_size.circ : gmw\n",
    );
}

fn own() -> TempDir {
    let directory = tempfile::tempdir().unwrap();
    program(directory.path());
    directory
}

/// Outputs of two runs: a, b = 3, 5 and -2, 700.
const RESULT: &str = "best := 24;\ngreater := 24;\n---\nbest := -1396;\ngreater := -1396;\n";

fn inputs(path: &Path) {
    write(path, "a", "INPUT_A := 3;\n---\nINPUT_A := -2;\n");
    write(path, "b", "INPUT_B := 5\n---\nINPUT_B := 0x2bc\n");
}

#[test]
fn programs_run_in_their_partition() {
    let directory = own();
    let path = directory.path();
    inputs(path);
    let run =
        |rest: &str| -> Ended { madrigal(path, &format!("run --hycc program {rest}")).good() };
    for rest in [
        "--local 2",
        "--local 2 --bundle gmwhybrid --transport memory",
        "--local 2 --garbled Y --transport memory",
        "--local 2 --bits B --transport memory --broadcast relay",
        "--local 2 --words alpha --layered beta --transport memory",
        "--local 2 --words alpha --bundle gmwhybrid --layered beta --transport memory",
        "--local 2 --bits beta --transport memory",
        "--local 3 --words R --bits R --transport memory",
        "--local 3",
        "--local 3 --bundle gmwhybrid.cmb --transport memory --phases interleaved",
        "--local 5 --transport memory --threads 2",
    ] {
        let told = run(&format!("{rest} --input 0=a --input 1=b"));
        assert_eq!(told.stdout, RESULT, "{told}");
        assert!(told.stderr.contains("online"), "{told}");
    }
    // By name, and both ways.
    let named = run("--local 2 --input INPUT_A=3 --input INPUT_B=5 --quiet");
    assert_eq!(
        (&named.stdout[..], &named.stderr[..]),
        ("best := 24;\ngreater := 24;\n", "")
    );
    write(path, "five", "5\n");
    let mixed = run("--local 2 --input 0=a --input INPUT_B=@five --output out --quiet");
    assert_eq!(mixed.stdout, "");
    let out = std::fs::read_to_string(path.join("out")).unwrap();
    assert_eq!(
        out,
        "best := 24;\ngreater := 24;\n---\nbest := -6;\ngreater := -6;\n"
    );
    // A bundle and a module by themselves.
    let bundle = madrigal(
        path,
        "run --hycc program/gmwhybrid.cmb --local 2 --input 0=a --input 1=b",
    );
    assert_eq!(bundle.good().stdout, RESULT);
    let module = "run --hycc program/greater@bool_size.circ --local 2 --input x=5 --input y=[9]";
    madrigal(path, module).bad(2, &["--input y=...", "y is int16"]);
}

#[test]
fn what_is_explained_is_what_is_spent() {
    let directory = own();
    let path = directory.path();
    for (parties, rest) in [
        (2, ""),
        (3, ""),
        (2, "--bits B"),
        (2, "--words alpha --bits beta"),
    ] {
        let run = format!(
            "run --hycc program {rest} --local {parties} --input INPUT_A=3 --input INPUT_B=5 --json"
        );
        let run: Value = serde_json::from_str(&madrigal(path, &run).good().stdout).unwrap();
        assert_eq!(
            run["outputs"],
            serde_json::json!([{"best": 24, "greater": 24}])
        );
        let explained = format!("explain --hycc program {rest} --local {parties} --json");
        let told = madrigal(path, &explained).good().stdout;
        let told: Value = serde_json::from_str(&told).unwrap();
        assert_eq!(told["modules"], run["modules"]);
        for party in 0..parties {
            for phase in ["setup", "online"] {
                for field in [
                    "rounds",
                    "bytes_sent",
                    "bytes_received",
                    "messages",
                    "aes_blocks",
                ] {
                    let declared = &told["costs"][party][phase][field];
                    assert_eq!(
                        declared, &run["figures"][party][phase][field],
                        "{phase} {field}"
                    );
                }
            }
        }
    }
    let text = madrigal(path, "explain --hycc program --local 2")
        .good()
        .stdout;
    for part in [
        "greater@bool_size.circ",
        "A",
        "Y2",
        "INPUT_A: int16, of party 0",
        "best: int16",
    ] {
        assert!(text.contains(part), "{part}: {text}");
    }
}

/// Runs one after the other: figures of each, and no value in what is told of the command line.
#[test]
fn programs_are_repeated() {
    let directory = own();
    let path = directory.path();
    let line = "run --hycc program --local 2 --words alpha --layered beta --input INPUT_A=3 \
        --input INPUT_B=5 --repeat 3 --transport memory --json";
    let told: Value = serde_json::from_str(&madrigal(path, line).good().stdout).unwrap();
    assert_eq!(told["repeat"], 3);
    assert_eq!(
        told["outputs"],
        serde_json::json!([{"best": 24, "greater": 24}])
    );
    for party in told["figures"].as_array().unwrap() {
        let runs = party["runs"].as_array().unwrap();
        assert_eq!(runs.len(), 3);
        let bytes = |run: &Value| run["online"]["bytes_sent"].as_u64();
        assert!(runs.iter().all(|run| bytes(run) == bytes(&runs[0])));
        let names = party["primitives"].as_array().unwrap().iter();
        let names: Vec<_> = names.map(|one| one["name"].as_str().unwrap()).collect();
        assert!(
            names.contains(&"base OTs") && names.contains(&"correlated OTs"),
            "{names:?}"
        );
    }
    let command = told["provenance"]["command"].to_string();
    assert!(
        command.contains("INPUT_A=...") && !command.contains("INPUT_A=3"),
        "{command}"
    );
}

/// Three machines; the third brings nothing and alone gets the result.
#[test]
fn real_parties_run_programs() {
    let directory = own();
    let path = directory.path();
    inputs(path);
    roster(path, 3);
    let party = |me: usize, rest: &str| {
        let shared = "--hycc program --parties parties.toml --to 2 --quiet --connect-timeout 30s";
        start(path, &format!("run {shared} --party {me} {rest}"))
    };
    let all = [
        party(0, "--input a"),
        party(1, "--input 1=b"),
        party(2, "--lanes 2"),
    ];
    let [first, second, third] = all.map(|running| running.end().good().stdout);
    assert_eq!((&first[..], &second[..], &third[..]), ("", "", RESULT));
    // Who computes in another protocol is told so.
    let all = [
        party(0, "--input a"),
        party(1, "--input 1=b --bits B"),
        party(2, "--lanes 2"),
    ];
    for ended in all.map(crate::command::Running::end) {
        assert_eq!(ended.status, 5, "{ended}");
    }
}

#[test]
fn mistakes_are_told() {
    let directory = own();
    let path = directory.path();
    inputs(path);
    let fails = |status, line: &str, parts: &[&str]| {
        madrigal(path, line).bad(status, parts);
    };
    let given = "--local 2 --input INPUT_A=3 --input INPUT_B=5";
    fails(3, &format!("run --hycc nowhere {given}"), &["nowhere"]);
    fails(
        3,
        &format!("run --hycc program --bundle nothing {given}"),
        &["nothing.cmb"],
    );
    fails(2, "run --hycc program", &["say who takes part"]);
    fails(
        2,
        &format!("run --hycc program --circuit x {given}"),
        &["--circuit"],
    );
    fails(
        2,
        &format!("run --hycc program --protocol B {given}"),
        &["--protocol"],
    );
    fails(2, &format!("run --circuit x --bits B {given}"), &["--bits"]);
    fails(2, "run --local 2", &["--circuit"]);
    fails(
        2,
        "run --hycc program --local 2 --input INPUT_A=3",
        &["INPUT_B (int16) has no value"],
    );
    fails(
        2,
        &format!("run --hycc program {given} --input INPUT_A=4"),
        &["given twice"],
    );
    fails(
        2,
        &format!("run --hycc program {given} --input OTHER=4"),
        &["INPUT_B, INPUT_A"],
    );
    fails(
        2,
        "run --hycc program --local 2 --input INPUT_A=32768 --input INPUT_B=5",
        &["int16"],
    );
    fails(2, &format!("run --hycc program {given} --to 2"), &["--to"]);
    fails(
        2,
        "run --hycc program --local 3 --garbled Y2 --input 0=a --input 1=b",
        &["Y2 is for 2 parties, not 3", "--garbled"],
    );
    fails(
        2,
        "run --hycc program --local 2 --input 0=a --input INPUT_B=5 --lanes 3",
        &["3 lanes"],
    );
    fails(
        2,
        "run --hycc program --local 3 --input 0=a --input 2=b",
        &["party 2 has no input"],
    );
    write(path, "wrong", "INPUT_A := 3;\n---\n\nINPUT_A := x;\n");
    fails(
        3,
        "run --hycc program --local 2 --input 0=wrong --input 1=b",
        &["wrong: line 4", "int16"],
    );
    fails(
        3,
        "run --hycc program --local 2 --input 0=b --input 1=b",
        &["b: line 1", "INPUT_B"],
    );
    // Files that are no modules and no bundles.
    let text = std::fs::read(path.join("program/greater@bool_size.circ")).unwrap();
    std::fs::write(path.join("program/greater@bool_size.circ"), &text[..100]).unwrap();
    fails(
        3,
        &format!("run --hycc program {given}"),
        &["greater@bool_size.circ, byte", "the file ends"],
    );
    write(path, "program/yaohybrid.cmb", "mpc_main@arith.circ : xyz\n");
    fails(
        3,
        &format!("run --hycc program {given}"),
        &["yaohybrid.cmb, line 1", "xyz"],
    );
    write(path, "program/yaohybrid.cmb", "mpc_main@arith.circ\n");
    fails(
        3,
        "explain --hycc program",
        &["yaohybrid.cmb", "greater", "no file has"],
    );
    write(path, "program/mine.txt", "mpc_main@arith.circ\n");
    fails(
        3,
        &format!("run --hycc program/mine.txt {given}"),
        &["is this a HyCC module?"],
    );
}

/// A folder's own bundles, none of them the usual one.
#[test]
fn which_bundle_is_asked() {
    let directory = own();
    let path = directory.path();
    for (from, to) in [("yaohybrid", "one"), ("gmwhybrid", "two")] {
        let file = |name: &str| path.join(format!("program/{name}.cmb"));
        std::fs::rename(file(from), file(to)).unwrap();
    }
    let given = "run --hycc program --local 2 --input INPUT_A=3 --input INPUT_B=5";
    madrigal(path, given).bad(2, &["one.cmb, two.cmb", "--bundle"]);
    let found = madrigal(path, &format!("{given} --bundle two")).good();
    assert_eq!(found.stdout, "best := 24;\ngreater := 24;\n");
}

#[test]
fn circuits_of_aby_are_circuits() {
    let directory = tempfile::tempdir().unwrap();
    let path = directory.path();
    let text = "#Inputs\nS 0 1 2 3\nC\n0 -2\n1 -3\nM\t0 1 2 4\nX 4 -3 5\nDFFs:\nO 4 5\n";
    write(path, "mux.aby", text);
    write(path, "in", "1\n5\n7\n");
    let run = "run --circuit mux.aby --local 2 --input 0=in";
    for protocol in ["B", "Y2"] {
        let line = format!("{run} --protocol {protocol}");
        assert_eq!(
            madrigal(path, &line).good().stdout,
            "1\n2\n1\n",
            "{protocol}"
        );
    }
    let info = madrigal(path, "circuit info mux.aby --json").good().stdout;
    let info: Value = serde_json::from_str(&info).unwrap();
    assert_eq!((&info["format"], &info["and"]), (&"aby".into(), &1.into()));
    let fashion = madrigal(path, "circuit convert mux.aby --to bristol-fashion")
        .good()
        .stdout;
    write(path, "mux.txt", &fashion);
    let again = madrigal(path, "circuit eval mux.txt --input in")
        .good()
        .stdout;
    assert_eq!(again, "1\n2\n1\n");
    write(path, "wrong.aby", &text.replace("X 4", "X 9"));
    madrigal(path, "circuit info wrong.aby")
        .bad(3, &["wrong.aby, line 7", "wire 9 is read before"]);
}

/// A value of the shared answers, as HyCC writes it.
fn written(value: &Value) -> String {
    match value {
        Value::Array(elements) => {
            let all: Vec<_> = elements.iter().map(written).collect();
            format!("[{}]", all.join(", "))
        }
        Value::Object(members) => {
            let member = |(name, value): (&String, &Value)| format!("{name}: {};", written(value));
            format!(
                "{{{}}}",
                members.iter().map(member).collect::<Vec<_>>().join(" ")
            )
        }
        other => other.to_string(),
    }
}

/// Each folder of the shared programs, as the compiler's users have it: in the bundle that is taken by
/// itself, and in the Boolean one; by two and by three parties.
#[test]
fn all_shared_programs() {
    let Some(shared) = crate::known_answers::shared_data() else {
        println!("no shared data: set MADRIGAL_SHARED to test all programs");
        return;
    };
    let shared = shared.join("hycc");
    let answers = std::fs::read_to_string(shared.join("known_answers.json")).unwrap();
    let answers: Value = serde_json::from_str(&answers).unwrap();
    let mut count = 0;
    for (name, answer) in answers["programs"].as_object().unwrap() {
        let folder = shared.join(name);
        if !folder.join("yaohybrid.cmb").is_file() {
            continue;
        }
        let directory = tempfile::tempdir().unwrap();
        let path = directory.path();
        let cases = answer["cases"].as_array().unwrap();
        for owner in ["A", "B"] {
            let run = |case: &Value| -> String {
                let all = answer["inputs"].as_array().unwrap().iter();
                let own = all.filter(|input| input["owner"] == owner);
                let line = |input: &Value| {
                    let name = input["name"].as_str().unwrap();
                    format!("{name} := {};\n", written(&case["inputs"][name]))
                };
                own.map(line).collect()
            };
            let runs: Vec<_> = cases.iter().map(run).collect();
            write(path, owner, &runs.join("---\n"));
        }
        for (parties, bundle) in [(2, "yaohybrid"), (3, "yaohybrid"), (2, "gmwhybrid")] {
            let bundle = match bundle {
                "yaohybrid" => String::new(),
                other => format!("--bundle {other}"),
            };
            let line = format!(
                "run --hycc {} {bundle} --local {parties} --input 0=A --input 1=B --json",
                folder.display()
            );
            let told = madrigal(path, &line).good().stdout;
            let told: Value = serde_json::from_str(&told).unwrap();
            for (run, case) in cases.iter().enumerate() {
                for (name, expected) in case["outputs"].as_object().unwrap() {
                    let found = written(&told["outputs"][run][name]).replace('"', "");
                    assert_eq!(found, written(expected), "{line}: {name}");
                    count += 1;
                }
            }
        }
    }
    assert!(count > 200, "{count} outputs");
}
