//! Lines that benchmarks print for scripts. Times are never held against anything.

use std::collections::BTreeMap;
use std::path::Path;
use std::thread;

use serde_json::Value;

use crate::command::lab;

/// Everything that is measured.
const NAMES: [&str; 49] = [
    "base/endemic",
    "base/hauck-loss",
    "base/ml-kem",
    "rot/iknp",
    "rot/softspoken2",
    "rot/softspoken3",
    "rot/softspoken4",
    "rot/softspoken5",
    "rot/softspoken6",
    "rot/softspoken7",
    "rot/softspoken8",
    "rot/silent",
    "rot/1of16/softspoken2",
    "cot/iknp",
    "cot/softspoken2",
    "cot/softspoken3",
    "cot/softspoken4",
    "cot/softspoken5",
    "cot/softspoken6",
    "cot/softspoken7",
    "cot/softspoken8",
    "rotbit/iknp",
    "rotbit/softspoken2",
    "rotbit/softspoken3",
    "rotbit/softspoken4",
    "rotbit/softspoken5",
    "rotbit/softspoken6",
    "rotbit/softspoken7",
    "rotbit/softspoken8",
    "cot/silent",
    "got/128/softspoken2",
    "xcot/64/softspoken2",
    "acot/64/softspoken2",
    "triple/bit/n2",
    "triple/bit/n3",
    "triple/u8/n2",
    "triple/u16/n2",
    "triple/u32/n2",
    "triple/u64/n2",
    "triple/u64/n3",
    "triple/u128/n2",
    "square/u64/n2",
    "matrix/u64/128x128x128/n2",
    "matrix-lattice/u64/128x128x128/n2",
    "sharedbit/u32/n2",
    "sharedbit/u64/n2",
    "sharedbit/u32/n3",
    "sharedbit/u64/n3",
    "vector/128/n2",
];

/// The lines of `ot --json` by name.
fn ot(flags: &str) -> BTreeMap<String, Value> {
    let directory = tempfile::tempdir().unwrap();
    let told = lab(directory.path(), &format!("ot --json {flags}")).good();
    assert_eq!(told.stderr, "");
    let mut lines = BTreeMap::new();
    for line in told.stdout.lines() {
        let line: Value = serde_json::from_str(line).expect("a line is a JSON object");
        let name = line["name"].as_str().expect("a name").to_owned();
        let before = lines.insert(name, line);
        assert!(before.is_none(), "{before:?} comes twice");
    }
    lines
}

#[test]
fn every_name_has_its_line() {
    let lines = ot("--count 20k --repeat 1");
    let mut names = NAMES;
    names.sort_unstable();
    assert_eq!(
        lines.keys().collect::<Vec<_>>(),
        names.iter().collect::<Vec<_>>()
    );
    for (name, line) in &lines {
        let number = |field: &str| line[field].as_f64().unwrap_or(-1.0);
        for field in [
            "per_second",
            "minimum_per_second",
            "maximum_per_second",
            "bytes_per_op",
            "count",
            "seconds",
            "cores_free",
        ] {
            assert!(number(field) > 0.0, "{name}: {field} in {line}");
        }
        assert_eq!(line["repeats"], 1, "{name}");
        if name.starts_with("base/") || name.starts_with("matrix-lattice/") {
            assert!(line["ceiling_per_second"].is_null(), "{name}");
        } else {
            for field in [
                "aes_blocks_per_op",
                "ceiling_per_second",
                "reached",
                "setup_seconds",
            ] {
                assert!(number(field) > 0.0, "{name}: {field} in {line}");
            }
        }
        if ["base/", "rot", "cot/", "got/", "xcot/", "acot/"]
            .iter()
            .any(|prefix| name.starts_with(prefix))
        {
            assert!(number("sender_per_second") > 0.0, "{name}: {line}");
            assert!(number("receiver_per_second") > 0.0, "{name}: {line}");
            let sides = ["sender", "receiver"].map(|side| number(&format!("{side}_bytes_per_op")));
            let both = number("bytes_per_op");
            assert!(
                (sides[0] + sides[1] - both).abs() < 1e-6 * both,
                "{name}: {line}"
            );
        } else {
            assert!(line["sender_per_second"].is_null(), "{name}");
        }
    }
}

/// The extensions send 128 / k bits for each OT, and the silent one less than one.
#[test]
fn an_ot_takes_the_bytes_that_theory_says() {
    let only = "--only /iknp --only /softspoken2 --only /softspoken4 --only /softspoken8";
    let lines = ot(&format!("--count 100k --repeat 1 {only}"));
    for (k, extension) in [
        (1, "iknp"),
        (2, "softspoken2"),
        (4, "softspoken4"),
        (8, "softspoken8"),
    ] {
        for output in ["rot", "cot", "rotbit"] {
            near(
                &lines[&format!("{output}/{extension}")],
                16.0 / f64::from(k),
            );
        }
    }
    near(&lines["got/128/softspoken2"], 8.0 + 32.0);
    near(&lines["xcot/64/softspoken2"], 8.0 + 8.0);
    near(&lines["acot/64/softspoken2"], 8.0 + 8.0);
    near(&lines["rot/1of16/softspoken2"], 4.0 * 8.0);

    let lines = ot("--count 4M --repeat 1 --only cot/silent");
    let bytes = lines["cot/silent"]["bytes_per_op"].as_f64().unwrap();
    assert!(8.0 * bytes < 1.0, "{bytes} bytes for each OT");
}

/// Within 2 % of what theory says.
fn near(line: &Value, theory: f64) {
    let bytes = line["bytes_per_op"].as_f64().unwrap();
    assert!((bytes / theory - 1.0).abs() < 0.02, "{theory}: {line}");
}

#[test]
fn a_table_for_people_and_a_hint_for_the_lost() {
    let directory = tempfile::tempdir().unwrap();
    let line = "ot --count 1k --repeat 2 --only triple/bit/n2 --only base/hauck";
    let told = lab(directory.path(), line).good();
    for part in ["triple/bit/n2", "base/hauck-loss", "AES ceiling", "reached"] {
        assert!(told.stdout.contains(part), "{part} in {told}");
    }
    assert!(!told.stdout.contains("base/endemic"), "{told}");
    let told = lab(directory.path(), "ot --only nonsense");
    assert_eq!(told.status, 2, "{told}");
    assert!(told.stderr.contains("cot/softspoken4"), "{told}");
}

#[test]
fn garbled_circuits() {
    let directory = tempfile::tempdir().unwrap();
    let path = directory.path();
    let told = lab(path, "garbling --count 1k --repeat 2 --json").good();
    let mut names = Vec::new();
    for line in told.stdout.lines() {
        let line: Value = serde_json::from_str(line).expect("a line is a JSON object");
        let number = |field: &str| line[field].as_f64().unwrap_or(-1.0);
        assert!(
            number("per_second") > 0.0 && number("ceiling_per_second") > 0.0,
            "{line}"
        );
        let free = number("cores_free");
        assert!(free > 0.0 && free <= 1.0, "{line}");
        let name = line["name"].as_str().unwrap().to_owned();
        let (bytes, blocks) = match &*name.split('/').take(2).collect::<Vec<_>>().join("/") {
            "garble/half" => (32.0, 4.0),
            "evaluate/half" => (32.0, 2.0),
            "garble/threehalves" => (24.64, 6.03),
            "evaluate/threehalves" => (24.64, 3.0),
            "garble/bmr2" => (48.0, 9.0),
            "evaluate/bmr2" => (48.0, 5.0),
            "garble/bmr3" | "evaluate/bmr3" => (96.0, 13.0),
            _ => panic!("{line} has no counts"),
        };
        assert!((number("bytes_per_op") - bytes).abs() < 0.03, "{line}");
        assert!(
            (number("aes_blocks_per_op") - blocks).abs() < 0.03,
            "{line}"
        );
        names.push(name);
    }
    names.sort_unstable();
    let parts = |sides: [&str; 2]| {
        sides.map(|side| {
            ["half", "threehalves"]
                .map(|scheme| ["aes", "aes1", "wide"].map(|what| format!("{side}/{scheme}/{what}")))
        })
    };
    let two = parts(["evaluate", "garble"]);
    let all = ["evaluate", "garble"].map(|side| [2, 3].map(|n| format!("{side}/bmr{n}/wide")));
    let mut expected = [two.as_flattened().as_flattened(), all.as_flattened()].concat();
    expected.sort_unstable();
    assert_eq!(names, expected);
    let told = lab(
        path,
        "garbling --count 1k --repeat 1 --only evaluate/half/aes1",
    )
    .good();
    assert!(told.stdout.contains("evaluate/half/aes1"), "{told}");
    assert!(!told.stdout.contains("garble/half"), "{told}");
    lab(path, "garbling --only nothing").bad(2, &["evaluate/threehalves/wide"]);
}

#[test]
fn circuits_are_compared_with_the_machine() {
    let directory = tempfile::tempdir().unwrap();
    let line = "aes --lanes 8 --repeat 2 --transport memory --json";
    let report = lab(directory.path(), line).good().stdout;
    let report: Value = serde_json::from_str(&report).expect("JSON");
    assert!(report["results"][0]["reached"].as_f64().unwrap() > 0.0);
    assert_eq!(report["statistics"]["circuit"]["and"], 6400);
}

#[test]
fn three_parties_over_each_transport() {
    let directory = tempfile::tempdir().unwrap();
    let path = directory.path();
    let line = "r3 --repeat 1 --scale 0.0001 --json --only aes128 --only and";
    let ended = lab(path, line).good();
    let lines: Vec<serde_json::Value> = ended
        .stdout
        .lines()
        .map(|line| serde_json::from_str(line).unwrap())
        .collect();
    let names: Vec<&str> = lines
        .iter()
        .map(|line| line["name"].as_str().unwrap())
        .collect();
    for name in [
        "and/memory",
        "and/tcp",
        "and/tls",
        "aes128/memory",
        "aes128/one/tls",
    ] {
        assert_eq!(
            names.iter().filter(|one| **one == name).count(),
            1,
            "{name}: {names:?}"
        );
    }
    for line in &lines {
        assert!(line["per_second"].as_f64().unwrap() > 0.0, "{line}");
    }
    // A bit for each AND, and the inputs and outputs of a lane of 8,192 of them.
    let and = lines[0]["bytes_per_op"].as_f64().unwrap();
    assert!((0.125..0.13).contains(&and), "{and}");
    let line =
        "r3 --repeat 1 --scale 0.0001 --json --threads 1,3 --only and/memory --only lt64/tls";
    let threads: Vec<u64> = lab(path, line)
        .good()
        .stdout
        .lines()
        .map(|line| {
            serde_json::from_str::<Value>(line).unwrap()["threads"]
                .as_u64()
                .unwrap()
        })
        .collect();
    assert_eq!(threads, [1, 3, 1, 3]);
    let line = "r3 --repeat 1 --scale 0.00001 --plots plots --threads 1,2";
    let told = lab(path, line).good();
    assert!(told.stdout.contains("| tls "), "{told}");
    let drawn = |plot: &str| {
        let text = std::fs::read_to_string(path.join("plots").join(plot)).unwrap();
        let is_drawn = text.starts_with("<svg") && text.contains("polyline");
        assert!(is_drawn, "{plot}");
        text
    };
    drawn("throughput.svg");
    drawn("latency.svg");
    assert!(drawn("scaling.svg").contains("threads of each party"));
    lab(path, "r3 --only nothing").bad(2, &["and/memory"]);
}

#[test]
fn programs_by_name() {
    let directory = tempfile::tempdir().unwrap();
    let path = directory.path();
    let flags = "--repeat 1 --transport memory --threads 2 --only 2b/ --only b2a --only r/n3";
    let told = lab(path, &format!("programs --json {flags}")).good();
    assert_eq!(told.stderr, "");
    let mut names = Vec::new();
    for line in told.stdout.lines() {
        let line: Value = serde_json::from_str(line).expect("a line is a JSON object");
        let number = |field: &str| line[field].as_f64().unwrap_or(-1.0);
        let name = line["name"].as_str().unwrap().to_owned();
        assert!(number("seconds") >= number("online_seconds"), "{line}");
        assert!(number("online_seconds") > 0.0, "{line}");
        let conversion = !name.starts_with("biometric");
        assert_eq!(conversion, number("per_second") > 0.0, "{line}");
        assert_eq!(conversion, number("base_ots_seconds") > 0.0, "{line}");
        names.push(name);
    }
    assert_eq!(names, ["b2a/u32/n2", "a2b/u32/n2", "biometric/r/n3/4096"]);
    let table = lab(path, "programs --repeat 1 --only a2b").good();
    assert!(table.stdout.contains("a2b/u32/n2"), "{table}");
    let all = ["mul/u64/n3", "matmul/u64/1000/n2", "lt/u64/n2", "figure1"];
    lab(path, "programs --only nothing").bad(2, &all);
}

/// The lines that `paper --json` prints.
fn paper(path: &Path, flags: &str) -> Vec<Value> {
    let told = lab(path, &format!("paper --json {flags}")).good();
    assert_eq!(told.stderr, "");
    let line = |line| serde_json::from_str(line).expect("a line is a JSON object");
    told.stdout.lines().map(line).collect()
}

/// The mean of our runs in a line.
fn ours(line: &Value) -> f64 {
    line["ours"]["mean"]
        .as_f64()
        .unwrap_or_else(|| panic!("{line}"))
}

/// Costs are known by arithmetic alone: no row has more bits than the paper's, whatever the number of parties.
#[test]
fn costs_of_motion() {
    let directory = tempfile::tempdir().unwrap();
    let lines = paper(directory.path(), "--table 6 -N 2,3,8");
    assert_eq!(lines.len(), 3 * 19 * 6);
    for line in &lines {
        let theirs = line["published"]["MOTION"].as_f64().unwrap();
        let (row, what) = (
            line["row"].as_str().unwrap(),
            line["what"].as_str().unwrap(),
        );
        // The paper's formula is of one opened element, where two are opened.
        let opened = if (row, what) == ("MUL^A", "online bits") {
            2.0
        } else {
            1.0
        };
        if what.ends_with("bits") {
            assert!(ours(line) <= 1.01 * opened * theirs, "{line}");
        }
        let parties = line["parties"].as_f64().unwrap();
        let pairs = parties * (parties - 1.0);
        match (row, what) {
            ("AND^B", "online bits") => assert_eq!(ours(line), 2.0 * pairs),
            ("AND^B", "setup bits") => assert!((ours(line) / (128.0 * pairs) - 1.0).abs() < 0.01),
            ("AND^B", "online messages") => assert_eq!(ours(line), 1.0),
            // Garbled tables are in setup for any number of parties.
            ("AND^Y", "online bits") => assert_eq!(ours(line), 0.0, "{line}"),
            _ => {}
        }
    }
}

#[test]
fn tables_of_motion() {
    let directory = tempfile::tempdir().unwrap();
    let path = directory.path();
    let only = "--only ADD^B/8 --only GT^Y/8 --only A2B/8 --only Rec^B";
    let mut lines = paper(
        path,
        &format!("--table 8 --repeat 2 -N 3 --network lan {only}"),
    );
    let flags = "--repeat 1 -N 3 --network none --network lan --scale 0.05";
    lines.extend(paper(path, &format!("--table 7 {flags} {only}")));
    let rows: Vec<_> = lines
        .iter()
        .map(|line| line["row"].as_str().unwrap())
        .collect();
    let of_7 = ["Rec^B", "A2B/8", "A2B/8"];
    assert_eq!(
        rows,
        [["ADD^B/8", "GT^Y/8"].as_slice(), &of_7, &of_7].concat()
    );
    for line in &lines {
        assert!(ours(line) > 0.0, "{line}");
        assert_eq!(
            line["ours"]["within"].is_null(),
            line["number"] == 7,
            "{line}"
        );
        // The paper has no network without latency.
        assert_eq!(
            line["times_as_good"].is_null(),
            line["network"] == "none",
            "{line}"
        );
    }
    let [alone, whole] = [&lines[6], &lines[7]];
    assert_eq!(
        (&alone["what"], &whole["what"]),
        (&"alone".into(), &"with sharing and opening".into())
    );
    // Two networks and two numbers of parties are four places.
    let flags = "--repeat 1 -N 2,3 --network lan --network none --scale 0.001 --only XC-OT/1";
    let ots = paper(path, &format!("--table 2 {flags}"));
    assert_eq!(ots.len(), 2 * 2 * 2);
    let published = |line: &&Value| line["published"]["MOTION"].is_number();
    assert_eq!(ots.iter().filter(published).count(), 2);
}

#[test]
fn tables_say_what_they_do_not_run_and_refuse_what_they_do_not_obey() {
    let directory = tempfile::tempdir().unwrap();
    let path = directory.path();
    let lines = paper(
        path,
        "--table 7 --only AND^Y --network motion-aws -N 20 --limit 0 --scale 0.01",
    );
    for line in &lines {
        assert!(line["ours"].is_null(), "{line}");
        assert!(
            line["not_run"].as_str().unwrap().contains("--limit"),
            "{line}"
        );
        assert!(line["published"]["MOTION"].is_number(), "{line}");
    }
    assert_eq!(lines.len(), 2);
    let listed = lab(path, "paper --table 5 --list").good();
    for text in ["ABY", "gates/A+Y", "13.1 s"] {
        assert!(listed.stdout.contains(text), "{listed}");
    }
    let table = lab(path, "paper --table 6 --only Share").good();
    assert!(table.stdout.contains("Share^Y"), "{table}");
    let refused = |flags: &str, said: &[&str]| lab(path, &format!("paper {flags}")).bad(2, said);
    refused(
        "--table 6 --network lan",
        &["--network", "table 6 of MOTION"],
    );
    refused("--table 6 --repeat 3", &["--repeat", "leave it out"]);
    refused("--table 2 --limit 3", &["--limit", "table 2 of MOTION"]);
    refused(
        "--table 1 --of motion2nx -N 3",
        &["--parties", "table 1 of MOTION2NX"],
    );
    refused(
        "--table 7 --model x.onnx",
        &["--model", "table 7 of MOTION"],
    );
    refused(
        "--figure 11 --repeat 3",
        &["--repeat", "figure 11 of Masked Triples"],
    );
    refused(
        "--figure 6 --circuits 3",
        &["--circuits", "figure 6 of MOTIF"],
    );
    refused("--table 7 --only nothing", &["MUL^A/64"]);
    refused(
        "--table 4 --of motion2nx",
        &["no table 4", "table 3 of MOTION2NX"],
    );
    refused(
        "--table 2 --of motif",
        &["no table 2", "no tables of that paper"],
    );
    refused("--table 7 --network wann", &["wann"]);
    refused("", &["--figure", "--table"]);
}

/// Where no model is given one is made; one that is not there is named.
#[test]
fn tables_of_networks() {
    let directory = tempfile::tempdir().unwrap();
    let path = directory.path();
    let of = "--of motion2nx --table 1 --network lan --repeat 1";
    let lines = paper(path, &format!("{of} --only alpha+beta/32 --limit 2"));
    let whats: Vec<_> = lines
        .iter()
        .map(|line| (&line["row"], &line["what"]))
        .collect();
    assert_eq!(whats.len(), 6, "{whats:?}");
    let lines = paper(path, "--table 5 --network lan -N 3 --repeat 1 --only A+B");
    let rows: Vec<_> = lines
        .iter()
        .map(|line| line["row"].as_str().unwrap())
        .collect();
    assert_eq!(rows, ["gates/A+B", "A+B"]);
    lines.iter().for_each(|line| assert!(ours(line) > 0.0));
    lab(path, "paper --table 5 --model none.onnx --network lan").bad(3, &["none.onnx"]);
}

#[test]
fn figures_of_branches() {
    let directory = tempfile::tempdir().unwrap();
    let path = directory.path();
    let value = |lines: &[Value], row: &str, what: &str| {
        let mut found = lines
            .iter()
            .filter(|line| line["row"] == row && line["what"] == what);
        ours(found.next().unwrap_or_else(|| panic!("{row} {what}")))
    };
    let lines = paper(path, "--figure 8 --circuits 4");
    let deep = paper(path, "--figure 8 --circuits 4 --merging depth");
    let [aligned, by_depth] = [&lines, &deep].map(|lines| value(lines, "motif/b2", "OTs"));
    // Triples of one branch, where plain takes those of two and a multiplexer's.
    let saved = value(&lines, "masked/b2", "OTs, times less than plain");
    assert!((saved - 2.0).abs() < 0.01, "{saved}");
    assert!(aligned < by_depth, "{aligned} {by_depth}");
    let least = value(&lines, "masked/b2", "OTs, times less than motif, least");
    assert!(least >= 1.0, "{least}");
    let plots = "--figure 6 --plots plots";
    let lines = paper(path, plots);
    for line in lines.iter().filter(|line| line["what"] == "bytes") {
        if let Some(theirs) = line["published"]["MOTIF"].as_f64() {
            assert!(ours(line) < 1.04 * theirs, "{line}");
        }
    }
    let text = std::fs::read_to_string(path.join("plots/figure6.svg")).unwrap();
    assert!(text.contains("figure 6 of MOTIF"));
}

#[test]
fn three_parties_with_slicing() {
    let directory = tempfile::tempdir().unwrap();
    let lines = paper(
        directory.path(),
        "--table 2 --of araki --scale 0.05 --repeat 2 --only AES/1",
    );
    let whats = ["blocks", "blocks, 95 % within", "latency"];
    for (row, lines) in ["AES/1", "AES/10", "AES/16"].iter().zip(lines.chunks(3)) {
        for (what, line) in whats.iter().zip(lines) {
            assert_eq!(
                (&line["row"], &line["what"]),
                (&(*row).into(), &(*what).into())
            );
            assert_eq!(
                line["ours"].is_null(),
                line["not_run"].is_string(),
                "{line}"
            );
        }
    }
    let (blocks, latency) = (ours(&lines[0]), ours(&lines[2]));
    assert!(
        (blocks * latency / 640.0 - 1.0).abs() < 0.5,
        "{blocks} {latency}"
    );
}

#[test]
fn tensors_by_name() {
    let directory = tempfile::tempdir().unwrap();
    let path = directory.path();
    let flags = "--repeat 1 --transport memory --only relu/u32/100000/R --only gelu/10000/A+B \
                 --only sqrt/10000/R";
    let told = lab(path, &format!("tensors --json {flags}")).good();
    assert_eq!(told.stderr, "");
    let mut names = Vec::new();
    for line in told.stdout.lines() {
        let line: Value = serde_json::from_str(line).expect("a line is a JSON object");
        let number = |field: &str| line[field].as_f64();
        let name = line["name"].as_str().unwrap().to_owned();
        assert!(number("seconds") >= number("online_seconds"), "{line}");
        assert!(number("bytes") >= number("online_bytes"), "{line}");
        assert!(number("online_bytes") > Some(0.0), "{line}");
        // Only what is not exact has an error: a step at most, or of roots above 4 a part of themselves.
        let most = if name.starts_with("sqrt") { 5.0 } else { 1.0 };
        let exact = name.starts_with("relu");
        let error = number("largest_error");
        assert_eq!(
            error.is_some_and(|error| error > 0.0 && error <= most),
            !exact,
            "{line}"
        );
        names.push(name);
    }
    assert_eq!(
        names,
        ["relu/u32/100000/R", "gelu/10000/A+B", "sqrt/10000/R"]
    );
    let table = lab(path, "tensors --repeat 1 --only relu/u32/100000/R").good();
    assert!(table.stdout.contains("relu/u32/100000/R"), "{table}");
    let all = [
        "relu/u64/100000/alpha+beta",
        "softmax/10000/R",
        "exp/10000/A+B",
        "sigmoid/10000/A+Y2",
        "tanh/10000/alpha+beta",
        "reciprocal/10000/B",
        "sqrt/10000/R",
    ];
    lab(path, "tensors --only nothing").bad(2, &all);
}

#[test]
fn branches_by_name() {
    let directory = tempfile::tempdir().unwrap();
    let path = directory.path();
    let flags = "--branches 2,5 --ands 300 --layers 4 --repeat 1 --network lan";
    let told = lab(path, &format!("branches --json {flags}")).good();
    let lines: Vec<Value> = told
        .stdout
        .lines()
        .map(|line| serde_json::from_str(line).expect("a line is a JSON object"))
        .collect();
    let names: Vec<&str> = lines
        .iter()
        .map(|line| line["name"].as_str().unwrap())
        .collect();
    let ways = ["plain", "motif", "masked", "merged"];
    let expected = [2, 5].map(|b| ways.map(|way| format!("{way}/b{b}")));
    assert_eq!(names, expected.concat());
    for line in &lines {
        let number = |field: &str| line[field].as_u64().expect("a number");
        assert!(number("setup_bytes") < number("total_bytes"), "{line}");
        assert!(number("rounds") > 0 && number("ots") >= 600, "{line}");
        assert!(line["seconds"].as_f64() > Some(0.0), "{line}");
    }
    let ots = |name: usize| lines[name]["ots"].as_u64().unwrap();
    assert!(ots(4) > 4 * ots(6), "five branches, and one's triples");
    let table = lab(path, &format!("branches --only masked/b5 -N 3 {flags}")).good();
    assert!(table.stdout.contains("masked/b5"), "{table}");
    let rings = format!("branches --json --products 100 {flags}");
    let told = lab(path, &rings).good();
    let lines: Vec<Value> = told
        .stdout
        .lines()
        .map(|line| serde_json::from_str(line).expect("a line is a JSON object"))
        .collect();
    let names: Vec<&str> = lines
        .iter()
        .map(|line| line["name"].as_str().unwrap())
        .collect();
    let expected =
        [2, 5].map(|b| ["all", "one", "two-rounds"].map(|way| format!("rings/{way}/b{b}")));
    assert_eq!(names, expected.concat());
    let less = |name: usize| lines[name]["less_total_bytes"].as_f64().unwrap();
    assert!(less(4) > 2.5, "{}", lines[4]);
    lab(path, "branches --only nothing").bad(2, &["plain/b2", "merged/b32"]);
}

/// Small jobs of each kind; whether they keep to limits that are meant for large ones does not matter.
#[test]
fn jobs_over_lines_by_name() {
    let directory = tempfile::tempdir().unwrap();
    let path = directory.path();
    // They mostly wait for their lines, so several commands run at a time.
    let wanted = [
        &["far/n2/dealer", "chance3"][..],
        &["far/n2/softspoken4/u64", "far/r/online"],
        &["falling"],
        &["disordered"],
    ];
    let told: Vec<String> = thread::scope(|scope| {
        let running = wanted.map(|names| {
            let only: String = names.iter().map(|name| format!(" --only {name}")).collect();
            let line = format!("lines --json --scale 0.0002 --seed 5{only}");
            scope.spawn(move || lab(path, &line).good())
        });
        let ended = running.into_iter().map(|one| one.join().unwrap());
        let told = ended.map(|told| {
            assert_eq!(told.stderr, "");
            told.stdout
        });
        told.collect()
    });
    let mut names = Vec::new();
    for line in told.iter().flat_map(|told| told.lines()) {
        let line: Value = serde_json::from_str(line).expect("a line is a JSON object");
        let number = |field: &str| line[field].as_f64().unwrap_or(-1.0);
        for field in [
            "seconds",
            "limit_seconds",
            "line_seconds",
            "expected_seconds",
        ] {
            assert!(number(field) > 0.0, "{field}: {line}");
        }
        let ratio = number("expected_seconds") / number("seconds");
        assert!(
            (number("expected_ratio") / ratio - 1.0).abs() < 1e-9,
            "{line}"
        );
        assert_eq!(number("seed"), 5.0);
        names.push(line["name"].as_str().unwrap().to_owned());
    }
    let wanted = wanted.concat();
    assert_eq!(names.len(), wanted.len(), "{names:?}");
    for wanted in wanted {
        assert!(
            names.iter().any(|name| name.starts_with(wanted)),
            "{wanted}"
        );
    }
    let all = ["narrow/n5/silent", "far/n3/million"];
    lab(path, "lines --only nothing").bad(2, &all);
}

#[test]
fn phases_without_work_have_no_speed() {
    let directory = tempfile::tempdir().unwrap();
    let line = "aes --protocol R --parties 3 --lanes 1 --repeat 1 --transport memory";
    let told = lab(directory.path(), line).good();
    assert!(!told.stdout.contains("setup:"), "{told}");
    assert!(
        told.stdout.contains("rounds/s") && told.stdout.contains("lanes/s"),
        "{told}"
    );
}

/// Each run compares its result with the oracle's, or fails.
#[test]
fn tables_have_a_line_for_each_name() {
    let directory = tempfile::tempdir().unwrap();
    let path = directory.path();
    let told = lab(path, "tables --rows 300 --repeat 1 --json").good();
    assert_eq!(told.stderr, "");
    let mut names = Vec::new();
    for line in told.stdout.lines() {
        let line: Value = serde_json::from_str(line).expect("a line is a JSON object");
        let name = line["name"].as_str().expect("a name").to_owned();
        for field in [
            "seconds",
            "online_seconds",
            "bytes",
            "rounds",
            "share",
            "aes_blocks_per_second",
            "of_loopback",
        ] {
            assert!(
                line[field].as_f64() > Some(0.0),
                "{name}: {field} in {line}"
            );
        }
        assert_eq!(
            (&line["transport"], &line["rows"]),
            (&"tls".into(), &300.into())
        );
        names.push(name);
    }
    let all = [
        "shuffle/r3",
        "sort64/r3",
        "join/r3",
        "groupby/r3",
        "shuffle/n2",
        "sort64/n2",
        "join/n2",
        "groupby/n2",
    ];
    assert_eq!(names, all);
    let table = lab(
        path,
        "tables --rows 1 --repeat 1 --only join/r3 --transport memory",
    )
    .good();
    assert!(table.stdout.contains("| join/r3"), "{}", table.stdout);
    lab(path, "tables --only nothing").bad(2, &["shuffle/r3", "groupby/n2"]);
    lab(path, "tables --rows 0").bad(2, &["--rows"]);
}

/// Names of `madrigal-lab scaling` with their parties.
const SCALING: [(&str, u64); 11] = [
    ("cifar/A+B", 2),
    ("cifar/alpha+beta", 2),
    ("cifar/R", 3),
    ("aes/B", 2),
    ("aes/Y2", 2),
    ("aes/Y", 2),
    ("aes/R", 3),
    ("lt64/R", 3),
    ("and/R", 3),
    ("mul64/R", 3),
    ("matmul1000/A", 2),
];

/// Each run compares its result with the oracle's, or fails.
#[test]
fn scaling_has_a_line_for_each_name_and_number_of_threads() {
    let directory = tempfile::tempdir().unwrap();
    let line = "scaling --scale 0.0005 --repeat 1 --threads 2,1 --json";
    let told = lab(directory.path(), line).good();
    assert_eq!(told.stderr, "");
    let mut lines = BTreeMap::new();
    for line in told.stdout.lines() {
        let line: Value = serde_json::from_str(line).expect("a line is a JSON object");
        let name = line["name"].as_str().expect("a name").to_owned();
        let threads = line["threads"].as_u64().expect("a number of threads");
        let before = lines.insert((name, threads), line);
        assert!(before.is_none(), "{before:?} comes twice");
    }
    let mut names: Vec<_> = SCALING
        .iter()
        .flat_map(|(name, _)| [1, 2].map(|threads| ((*name).to_owned(), threads)))
        .collect();
    names.sort_unstable();
    assert_eq!(lines.keys().cloned().collect::<Vec<_>>(), names);
    for ((name, threads), line) in &lines {
        let number = |field: &str| line[field].as_f64().unwrap_or(-1.0);
        for field in [
            "seconds",
            "minimum_seconds",
            "maximum_seconds",
            "online_seconds",
            "ops",
            "per_second",
            "speed_up",
            "bytes_sent",
            "rounds",
            "aes_blocks_per_second",
            "one_connection_bytes_per_second",
            "loopback_bytes_per_second",
            "of_loopback",
            "cores",
            "cores_free",
        ] {
            assert!(number(field) > 0.0, "{name}: {field} in {line}");
        }
        let parties = SCALING.iter().find(|(one, _)| one == name).unwrap().1;
        let wanted = parties * threads;
        assert_eq!(line["transport"], "tls", "{line}");
        assert_eq!(line["parties"], parties, "{line}");
        assert_eq!(line["cores_wanted"], wanted, "{line}");
        assert_eq!(
            line["is_crowded"],
            wanted > line["cores"].as_u64().unwrap(),
            "{line}"
        );
        assert_eq!(line["repeats"], 1, "{line}");
        assert!(line["unit"].is_string(), "{line}");
        if cfg!(target_os = "linux") {
            let connections = line["connections"].as_u64().unwrap();
            assert!(connections >= parties * (parties - 1) / 2, "{line}");
            for field in ["peak_rss_bytes", "processor_seconds"] {
                assert!(number(field) > 0.0, "{name}: {field} in {line}");
            }
            assert!(number("busiest_thread_seconds") >= 0.0, "{line}");
        }
        if *threads == 1 {
            assert_eq!(number("speed_up"), 1.0, "{line}");
        }
    }
}

#[test]
fn scaling_is_drawn_and_works_over_each_transport() {
    let directory = tempfile::tempdir().unwrap();
    let path = directory.path();
    let few = "--scale 0.0005 --only mul64/R --threads 1,2 --plots plots";
    for (transport, more, words) in [
        ("memory", "--repeat 2", "median of 2 runs"),
        ("tcp", "--repeat 1 --only cifar/alpha", "cifar/alpha+beta"),
    ] {
        let line = format!("scaling {few} {more} --transport {transport}");
        let told = lab(path, &line).good().stdout;
        for text in ["products/s", words] {
            assert!(told.contains(text), "{told}");
        }
        let raw = told.contains("loopback TCP carries");
        assert_eq!(raw, transport == "tcp", "{told}");
        for file in ["speed-up.svg", "work.svg", "memory.svg"] {
            let text = std::fs::read_to_string(path.join("plots").join(file)).unwrap();
            assert!(text.starts_with("<svg"), "{text}");
        }
        let text = std::fs::read_to_string(path.join("plots/speed-up.svg")).unwrap();
        assert!(text.contains("mul64/R"), "{text}");
        std::fs::remove_dir_all(path.join("plots")).unwrap();
    }
    let ceiling = "scaling --scale 0.0005 --repeat 1 --threads 1,3 --only mul64/R --ceiling --json";
    for transport in ["memory", "tls"] {
        let told = lab(path, &format!("{ceiling} --transport {transport}")).good();
        assert_eq!(told.stderr, "");
        let lines: Vec<Value> = told
            .stdout
            .lines()
            .map(|line| serde_json::from_str(line).unwrap())
            .collect();
        let [one, three] = &lines[..] else {
            panic!("{told}");
        };
        let number = |line: &Value, field: &str| line[field].as_f64().expect("a number");
        for field in ["ceiling", "of_ceiling", "speed_up"] {
            assert_eq!(number(one, field), 1.0, "{one}");
        }
        let times = 3.0 * number(one, "seconds") / number(three, "copies_seconds");
        let part = number(three, "speed_up") / times;
        assert!(
            (number(three, "ceiling") / times - 1.0).abs() < 1e-9,
            "{lines:?}"
        );
        assert!(
            (number(three, "of_ceiling") / part - 1.0).abs() < 1e-9,
            "{lines:?}"
        );
    }
    let lonely = "scaling --ceiling --threads 2,4 --only and/R";
    lab(path, lonely).bad(2, &["--ceiling", "add 1 to --threads"]);
    // One thread is not measured: nothing to compare with.
    let alone = "scaling --scale 0.0005 --repeat 1 --threads 2 --only and/R --transport tcp --json";
    let told = lab(path, alone).good().stdout;
    let told: Value = serde_json::from_str(&told).unwrap();
    for field in ["speed_up", "copies_seconds", "ceiling", "of_ceiling"] {
        assert!(told[field].is_null(), "{told}");
    }
    lab(path, "scaling --only nothing").bad(2, &["cifar/A+B", "matmul1000/A"]);
    lab(path, "scaling --threads 0").bad(2, &["--threads"]);
}

/// Images for a network that servers hold: each is answered, with the scores that the network gives in the clear.
#[test]
fn inference_is_right() {
    let directory = tempfile::tempdir().unwrap();
    let line = "serve --only inference --connections 3 --submissions 40 --json";
    let told = lab(directory.path(), line).good();
    let row: Value = serde_json::from_str(&told.stdout).unwrap();
    assert_eq!(row["name"], "inference");
    assert_eq!(
        (row["lost"].as_u64(), row["wrong"].as_u64()),
        (Some(0), Some(0))
    );
    let answered = row["per_second"].as_f64().unwrap() * row["seconds"].as_f64().unwrap();
    assert_eq!(answered.round(), 40.0, "{told}");
}
