//! Programs from files: what they take and give, in the clear and by real parties.

use std::path::Path;

use madrigal_nn::{Data, Element, Tensor, npy};
use madrigal_program::{Client, Everyone, Fixed, Party, Program};
use madrigal_program_file::proto::{self, length::Sort};
use madrigal_program_file::{ProgramFile, SaveProgram};
use tempfile::TempDir;

use crate::command::{madrigal, roster, start, write};
use crate::documented::check;

type Price = Fixed<i64, 16>;

/// `gap.mad`, of two parties, with prices and rates of three, and `sum.mad`, of n numbers of each party.
fn programs() -> TempDir {
    let directory = tempfile::tempdir().unwrap();
    let path = directory.path();
    let mut p = Program::new(2);
    let pay = p.input_named::<Price>("pay", Party::new(0), [3]);
    let rate = p.input_named::<Price>("rate", Party::new(1), [3]);
    p.require_named("rates are at most 10", &rate.le(10.0));
    let products = pay * rate;
    p.open_named("total", products.sum(0), Everyone);
    p.open_named("products", &products, Party::new(1));
    p.finish().unwrap().save(path.join("gap.mad")).unwrap();
    let length = proto::Length {
        sort: Sort::Dimension.into(),
        ..proto::Length::default()
    };
    let holder = |party| proto::Holder {
        who: Some(proto::holder::Who::Party(party)),
    };
    let input = |party: u32| proto::Input {
        owner: Some(holder(party)),
        name: format!("x{party}"),
        r#type: "u32".into(),
        axes: vec![1],
        ..proto::Input::default()
    };
    let node = |operation, operands: &[u32], lengths: &[i64]| proto::Node {
        operation,
        operands: operands.to_vec(),
        lengths: lengths.to_vec(),
        ..proto::Node::default()
    };
    let sum = proto::Program {
        parties: 2,
        mix: "A+B".into(),
        dimensions: vec!["n".into()],
        lengths: vec![length],
        inputs: vec![input(0), input(1)],
        operations: ["input", "multiply", "sum"].map(Into::into).to_vec(),
        graph: Some(proto::Graph {
            nodes: vec![
                node(0, &[], &[0]),
                node(0, &[], &[2]),
                node(1, &[0, 1], &[]),
                node(2, &[2], &[0]),
            ],
            results: vec![3],
        }),
        outputs: vec![proto::Output {
            to: vec![holder(0), holder(1)],
            name: "sum".into(),
            ..proto::Output::default()
        }],
        ..proto::Program::default()
    };
    let sum = ProgramFile::of_message(sum);
    sum.save(path.join("sum.mad")).unwrap();
    directory
}

fn array(path: &Path, numbers: &[f64]) {
    let data = Data::F64(numbers.to_vec());
    let tensor = Tensor::new(Element::F64, vec![numbers.len()], data).unwrap();
    std::fs::write(path, npy::write(&tensor)).unwrap();
}

const GIVEN: &str = "--input pay=pay.npy --input rate=0.5,2,0.25";

#[test]
fn a_program_is_told_simulated_run_checked_and_explained() {
    let directory = programs();
    let path = directory.path();
    array(&path.join("pay.npy"), &[100.0, 31.5, -8.0]);
    let told = |line: &str| madrigal(path, line).good().stdout;
    let info = told("program info gap.mad");
    assert!(
        info.starts_with("gap: 2 parties, A+B unless --mix says otherwise\n"),
        "{info}"
    );
    for line in [
        "takes pay: Fixed<i64, 16>[3] of party 0\n",
        "gives total to party 0, party 1\n",
        "gives products to party 1\n",
        "requires rates are at most 10, or gives nothing\n",
    ] {
        assert!(info.contains(line), "{info}");
    }
    let expected = "total: 111\nproducts: 50 63 -2\n";
    assert_eq!(told(&format!("program simulate gap.mad {GIVEN}")), expected);
    for mix in ["", "--mix B", "--mix A+Y", "--threads 2"] {
        let line = format!("program run gap.mad --local 2 {GIVEN} {mix}");
        assert_eq!(told(&line), expected, "{mix}");
    }
    let checked = told("program check gap.mad --input pay=1,2,3 --input rate=3,2,1");
    assert!(checked.starts_with("right: 2 parties"), "{checked}");
    let explained = told("program explain gap.mad --network wan");
    assert!(explained.contains("product"), "{explained}");
    // Outputs in files, one of each kind.
    let line = format!(
        "program run gap.mad --local 2 {GIVEN} --output total=total.csv --output products=products.npy"
    );
    assert_eq!(told(&line), "");
    assert_eq!(
        std::fs::read_to_string(path.join("total.csv")).unwrap(),
        "111\n"
    );
    let products = npy::read(&std::fs::read(path.join("products.npy")).unwrap()).unwrap();
    assert_eq!(products.to_f64(), [50.0, 63.0, -2.0]);
}

/// Each phase's time is told with its spread over the runs, and the parties' results are those of one run.
#[test]
fn a_program_that_is_repeated_tells_the_spread() {
    let directory = programs();
    let path = directory.path();
    let line =
        "program run gap.mad --local 2 --input pay=1,2,3 --input rate=1,2,3 --repeat 3 --json";
    let told = madrigal(path, line).good().stdout;
    let report: serde_json::Value = serde_json::from_str(&told).unwrap();
    assert_eq!(
        (&report["repeat"], &report["outputs"]["total"]),
        (&3.into(), &14.into())
    );
    for party in report["parties"].as_array().unwrap() {
        let runs = party["runs"].as_array().unwrap();
        assert_eq!(runs.len(), 3);
        for phase in ["setup", "online"] {
            let spread = &party[phase]["seconds_spread"];
            let of = |name: &str| spread[name].as_f64().unwrap();
            let mut seconds: Vec<f64> = runs
                .iter()
                .map(|run| run[phase]["seconds"].as_f64().unwrap())
                .collect();
            seconds.sort_by(f64::total_cmp);
            assert_eq!([of("min"), of("median"), of("max")], seconds[..], "{phase}");
            let mean = seconds.iter().sum::<f64>() / 3.0;
            assert!((of("mean") - mean).abs() < 1e-9 && of("standard_deviation") >= 0.0);
            let bytes = |run: &serde_json::Value| run[phase]["bytes_sent"].as_u64();
            assert!(
                runs.iter()
                    .all(|run| bytes(run) == party[phase]["bytes_sent"].as_u64())
            );
        }
    }
}

#[test]
fn real_parties_run_a_file_and_differ_by_its_lengths() {
    let directory = programs();
    let path = directory.path();
    roster(path, 2);
    let run = |me: usize, n: usize, numbers: &str| {
        let line = format!(
            "program run sum.mad --dim n={n} --party {me} --parties parties.toml --identity p{me} --input x{me}={numbers} -q"
        );
        start(path, &line)
    };
    let parties = [run(0, 3, "1,2,3"), run(1, 3, "10,20,30")];
    for party in parties {
        assert_eq!(party.end().good().stdout, "sum: 140\n");
    }
    let parties = [run(0, 3, "1,2,3"), run(1, 4, "10,20,30,40")];
    for party in parties {
        let ended = party.end();
        assert_eq!(ended.status, 5, "{}", ended.stderr);
        assert!(ended.stderr.contains("--dim n"), "{}", ended.stderr);
    }
}

#[test]
fn what_does_not_fit_is_told() {
    let directory = programs();
    let path = directory.path();
    array(&path.join("four.npy"), &[1.0; 4]);
    write(path, "other.mad", "1 2 3\n");
    let mut p = Program::new(2);
    let x = p.input::<u8>(Client::new("dora"), ());
    p.open(x, Party::new(0));
    p.finish().unwrap().save(path.join("client.mad")).unwrap();
    for (line, status, words) in [
        ("info none.mad", 3, "none.mad"),
        ("info other.mad", 3, "it is no program file"),
        ("run sum.mad --local 2", 2, "dimension n has no length"),
        (
            "run gap.mad --local 2 --dim n=3",
            2,
            "the program has no dimensions",
        ),
        (
            "run gap.mad --local 3",
            2,
            "the program is for 2 parties, and there are 3",
        ),
        (
            "run gap.mad --local 2 --input pay=1,2,3",
            2,
            "--input rate=VALUES is missing",
        ),
        (
            "run gap.mad --local 2 --input pay=four.npy",
            3,
            "an array of shape [4]",
        ),
        (
            "simulate gap.mad --input pay=1,2,3 --input rate=1,2,11",
            6,
            "rates are at most 10",
        ),
        (
            "run gap.mad --local 2 --input pay=1,2,3 --input rate=1,2,11",
            6,
            "party 1",
        ),
        (
            "simulate gap.mad --input pay=1,2,3 --input rate=1,2,3 --output sum=x.csv",
            2,
            "no such output has come here, but total, products",
        ),
        (
            "simulate gap.mad --output total=x.csv --output total=y.csv",
            2,
            "is given twice",
        ),
        ("run gap.mad --local 2 --prepare 2", 2, "--store"),
    ] {
        let ended = madrigal(path, &format!("program {line}"));
        assert_eq!(ended.status, status, "{line}: {}", ended.stderr);
        assert!(ended.stderr.contains(words), "{line}: {}", ended.stderr);
    }
    let told = madrigal(path, "program run client.mad --local 2 --input 0=7").good();
    assert_eq!(told.stdout, "0: 7\n");
}

#[test]
fn the_fields_of_programs_from_files_are_documented() {
    let directory = programs();
    let path = directory.path();
    let told = |line: &str| {
        let told = madrigal(path, line).good().stdout;
        // Names of the program's own are no fields.
        ["total", "products"].iter().fold(told, |told, name| {
            told.replace(&format!("\"{name}\":"), "\"program\":")
        })
    };
    check(
        &["`madrigal program info --json`"],
        &told("program info gap.mad --json"),
    );
    let given = "--input pay=1,2,3 --input rate=1,2,3 --json";
    check(
        &["`madrigal program simulate --json`"],
        &told(&format!("program simulate gap.mad {given}")),
    );
}

/// An adder of two values of four bits, with a bit of carry.
fn adder() -> String {
    let mut b = madrigal_circuit::Builder::new("adder");
    let (x, y) = (b.input(4), b.input(4));
    let zero = b.constant(false);
    let [x, y] = [x, y].map(|bits| [&bits[..], &[zero]].concat());
    let sum = b.add(&x, &y);
    b.output(&sum);
    let text = b
        .finish()
        .write_as(madrigal_circuit::Format::BristolFashion);
    String::from_utf8(text.unwrap()).unwrap()
}

#[test]
fn a_circuit_is_made_a_program() {
    let directory = tempfile::tempdir().unwrap();
    let path = directory.path();
    write(path, "adder.txt", &adder());
    let make = |words: &str| madrigal(path, &format!("program circuit adder.txt {words}"));
    let made = make("--parties 2 --input x=0 --input y=1 --output sum=0,1 --save one.mad");
    assert_eq!(made.status, 0, "{}", made.stderr);
    let told = &made.stdout;
    assert!(told.contains("takes x: bool[4] of party 0"), "{told}");
    assert!(told.contains("gives sum to party 0, party 1"), "{told}");
    let run = madrigal(
        path,
        "program run one.mad --local 2 --input x=1,1,0,1 --input y=1,1,1,0",
    );
    assert_eq!(run.status, 0, "{}", run.stderr);
    // 11 + 7 = 18, lowest bits first.
    let digits: String = run.stdout.replace("true", "1").replace("false", "0");
    let digits: String = digits.chars().filter(char::is_ascii_digit).collect();
    assert!(digits.contains("01001"), "{}", run.stdout);
    // At each place of an axis, for clients.
    let made = make(
        "--parties 3 --input x=member --input y=member --output sum=office --each members --save each.mad",
    );
    assert_eq!(made.status, 0, "{}", made.stderr);
    let told = &made.stdout;
    assert!(told.contains("dimensions: members"), "{told}");
    assert!(
        told.contains("takes x: bool[members, 4] of client member"),
        "{told}"
    );
    let refused = [
        (
            "--parties 2 --input x=0 --output sum=0",
            "has 2 inputs, and 1 have a name",
        ),
        (
            "--parties 2 --input x=0 --input y=2 --output sum=0",
            "--input y=2: it is neither the number of a party, 0 to 1",
        ),
        (
            "--parties 2 --input x=0 --input y=a,b --output sum=0",
            "--input y=a,b",
        ),
        ("--parties 1 --input x=0 --output sum=0", "--parties 1"),
        (
            "--parties 2 --input x=0 --input y=1 --output sum=0 --widths 4,5",
            "9 bits",
        ),
    ];
    for (words, why) in refused {
        let error = make(&format!("{words} --save none.mad"));
        assert_eq!(error.status, 2, "{}", error.stderr);
        assert!(error.stderr.contains(why), "{words}: {}", error.stderr);
        assert!(!path.join("none.mad").exists());
    }
}
