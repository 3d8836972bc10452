//! Parties with different numbers of threads: they plan for the least, compute what is due at the cost that is declared, and fail
//! as ever.

use std::path::Path;

use madrigal_program::{Everyone, Party, Program};
use madrigal_program_file::SaveProgram;
use serde_json::Value;

use crate::command::{Ended, circuit, madrigal, roster, start, write};
use crate::models::seed;

/// Costs that are counted to the byte.
const COUNTS: [&str; 5] = [
    "rounds",
    "bytes_sent",
    "bytes_received",
    "messages",
    "aes_blocks",
];

/// Counts of both phases, each the most of all these.
fn most<'a>(all: impl IntoIterator<Item = &'a Value>) -> Vec<u64> {
    let counts = |one: &Value| -> Vec<u64> {
        let phases =
            ["setup", "online"].map(|phase| COUNTS.map(|count| one[phase][count].as_u64()));
        let all = phases.iter().flatten();
        all.map(|count| count.expect("a count")).collect()
    };
    let all: Vec<Vec<u64>> = all.into_iter().map(counts).collect();
    let most = |place: usize| all.iter().map(|counts| counts[place]).max();
    (0..2 * COUNTS.len())
        .map(|place| most(place).expect("a party"))
        .collect()
}

fn json(ended: &Ended) -> Value {
    serde_json::from_str(&ended.stdout).unwrap_or_else(|error| panic!("{error}: {ended}"))
}

/// Runs a party for each number of threads; gives what each tells as JSON.
fn parties(path: &Path, numbers: &[&str], line: impl Fn(usize) -> String) -> Vec<Value> {
    let start = |(party, threads): (usize, &&str)| {
        let line = line(party);
        let who = format!("--party {party} --parties parties.toml --threads {threads} --json");
        start(path, &format!("{line} {who} --connect-timeout 60s"))
    };
    let running: Vec<_> = numbers.iter().enumerate().map(start).collect();
    let ended = running.into_iter().map(|party| party.end().good());
    ended.map(|ended| json(&ended)).collect()
}

fn numbers(count: u32, step: u32) -> String {
    let all = (0..count).map(|i| (i.wrapping_mul(step) % 50_021).to_string());
    all.collect::<Vec<_>>().join(",")
}

/// Sums and products, comparisons of them, and a product of matrices.
fn program(path: &Path, parties: usize) {
    let mut p = Program::new(parties);
    let [x, y] = [("x", 0), ("y", 1)]
        .map(|(name, party)| p.input_named::<u32>(name, Party::new(party), [40, 40]));
    let greater = (&x * &y).max(&x + &y);
    p.open_named("greater", greater.sum(0), Everyone);
    p.open_named("product", x.matmul(&y).at(0, 3), Everyone);
    let program = p.finish().expect("a program that can be");
    program.save(path.join("both.mad")).expect("a file");
    write(path, "x.csv", &numbers(1600, 7919));
    write(path, "y.csv", &numbers(1600, 104_729));
}

#[test]
fn programs_are_computed_by_parties_with_different_threads() {
    let two: &[(&str, &[&str])] = &[
        ("A+B", &["1", "3"]),
        ("A+Y2", &["8", "2"]),
        ("alpha+beta", &["1", "auto"]),
    ];
    let three: &[(&str, &[&str])] = &[("R", &["8", "2", "3"])];
    for all in [two, three] {
        let directory = tempfile::tempdir().unwrap();
        let path = directory.path();
        let count = all[0].1.len();
        roster(path, count);
        program(path, count);
        let inputs = ["--input x=@x.csv", "--input y=@y.csv", ""];
        let clear = format!("program simulate both.mad --json {}", inputs.join(" "));
        let clear = json(&madrigal(path, &clear).good());
        for &(mix, numbers) in all {
            let about = format!("{mix}, {numbers:?} threads");
            let least = numbers
                .iter()
                .filter_map(|one| one.parse::<u64>().ok())
                .min();
            let told = parties(path, numbers, |party| {
                format!("program run both.mad --mix {mix} {}", inputs[party])
            });
            for one in &told {
                assert_eq!(one["outputs"], clear["outputs"], "{about}");
                assert_eq!(one["threads"].as_u64(), least, "{about}");
            }
            let threads = least.unwrap();
            let declared =
                format!("program explain both.mad --mix {mix} --threads {threads} --json");
            let declared = json(&madrigal(path, &declared).good());
            let spent = most(told.iter().map(|one| &one["parties"][0]));
            assert_eq!(spent, most([&declared]), "{about}");
        }
    }
}

#[test]
fn circuits_are_computed_by_parties_with_different_threads() {
    let two: &[(&str, &[&str])] = &[
        ("B", &["1", "3"]),
        ("Y2", &["8", "2"]),
        ("beta", &["8", "2"]),
    ];
    let three: &[(&str, &[&str])] = &[("R", &["3", "1", "2"])];
    for all in [two, three] {
        let directory = tempfile::tempdir().unwrap();
        let path = directory.path();
        roster(path, all[0].1.len());
        std::fs::copy(circuit("int_add8_size.bristol"), path.join("sum.txt")).unwrap();
        let lanes = 5000_u32;
        let values = |step: u32| {
            let line = |i: u32| format!("{:02x}\n", i.wrapping_mul(step) % 256);
            (0..lanes).map(line).collect::<String>()
        };
        write(path, "0", &values(7));
        write(path, "1", &values(11));
        let sums = |i: u32| format!("{:02x}\n", (i * 7 % 256 + i * 11 % 256) % 256);
        let sums: String = (0..lanes).map(sums).collect();
        for &(protocol, numbers) in all {
            let about = format!("{protocol}, {numbers:?} threads");
            let told = parties(path, numbers, |party| {
                let input = match party {
                    0 | 1 => format!("--input {party}"),
                    _ => format!("--lanes {lanes}"),
                };
                format!("run --circuit sum.txt --protocol {protocol} {input} --output out{party}")
            });
            let least = numbers
                .iter()
                .filter_map(|one| one.parse::<u64>().ok())
                .min();
            let declared = format!(
                "explain --circuit sum.txt --protocol {protocol} --parties {} --lanes {lanes} --threads {} --json",
                numbers.len(),
                least.unwrap()
            );
            let declared = json(&madrigal(path, &declared).good());
            for (party, one) in told.iter().enumerate() {
                let out = std::fs::read_to_string(path.join(format!("out{party}"))).unwrap();
                assert_eq!(out, sums, "{about}");
                assert_eq!(one["threads"].as_u64(), least, "{about}");
                let spent = most([&one["parties"][party]]);
                assert_eq!(spent, most([&declared["parties"][party]]), "{about}");
            }
        }
    }
}

/// Their stores are made on the threads that they have in common, whatever each of them has later.
#[test]
fn stores_are_made_by_parties_with_different_threads() {
    let directory = tempfile::tempdir().unwrap();
    let path = directory.path();
    roster(path, 2);
    program(path, 2);
    let inputs = ["--input x=@x.csv", "--input y=@y.csv"];
    let line = |party: usize, more: &str| {
        format!("program run both.mad --mix A+B --store s{party} --store-key s{party}.key {more}")
    };
    let made = parties(path, &["3", "1"], |party| line(party, "--prepare 2"));
    assert_eq!(made[0]["store"], made[1]["store"]);
    let clear = format!("program simulate both.mad --json {}", inputs.join(" "));
    let clear = json(&madrigal(path, &clear).good());
    for numbers in [["1", "3"], ["2", "2"]] {
        for one in parties(path, &numbers, |party| line(party, inputs[party])) {
            assert_eq!(one["outputs"], clear["outputs"], "{numbers:?}");
        }
    }
    let start = |party: usize, threads: usize| {
        let who = format!("--party {party} --parties parties.toml --threads {threads}");
        start(
            path,
            &format!("precompute --triples bits=100k --store p{party} --store-key k{party} {who}"),
        )
    };
    let made = [start(0, 1), start(1, 4)].map(|party| party.end().good());
    let names = made.map(|ended| ended.stdout.split(' ').nth(1).map(str::to_owned));
    assert_eq!(names[0], names[1]);
}

/// A party that is gone is named by the others, whatever their numbers of threads.
#[cfg(unix)]
#[test]
fn one_of_different_threads_is_lost() {
    let directory = tempfile::tempdir().unwrap();
    let path = directory.path();
    roster(path, 2);
    program(path, 2);
    let start = |party: usize| {
        let input = ["--input x=@x.csv", "--input y=@y.csv"][party];
        let who = format!("--party {party} --parties parties.toml");
        let threads = [3, 1][party];
        // Slow enough to be lost in the middle.
        let line = format!(
            "program run both.mad --mix A+B {input} {who} --threads {threads} --network 1s -q"
        );
        crate::command::start(path, &line)
    };
    let running = [start(0), start(1)];
    std::thread::sleep(std::time::Duration::from_millis(2500));
    let kill = std::process::Command::new("kill")
        .args(["-KILL", &running[1].id().to_string()])
        .status();
    assert!(kill.unwrap().success());
    let [zero, one] = running.map(crate::command::Running::end);
    assert_ne!(one.status, 0, "{one}");
    zero.bad(4, &["lost party 1"]);
}

/// The mix that nobody names is chosen for the threads that they have in common.
#[test]
fn networks_and_tables_are_computed_by_parties_with_different_threads() {
    let directory = tempfile::tempdir().unwrap();
    let path = directory.path();
    roster(path, 2);
    let row = vec!["0.5"; 72].join(",");
    write(path, "x.csv", &format!("{row}\n{row}\n"));
    let model = format!("infer --model {} -q", seed("conv.onnx").display());
    let here = format!("{model} --local 2 --input x.csv --threads 1 --json");
    let here = json(&madrigal(path, &here).good());
    let data = ["--batch 2", "--input x.csv"];
    let told = parties(path, &["8", "2"], |party| {
        format!("{model} {}", data[party])
    });
    assert_eq!(told[1]["results"], here["results"]);
    for one in &told {
        assert_eq!(one["threads"], 2);
        assert_eq!(one["protocol"], told[0]["protocol"]);
    }
    write(path, "0.csv", "pay\n1\n2\n3\n4\n5\n6\n");
    write(path, "1.csv", "pay\n7\n8\n9\n");
    let told = parties(path, &["3", "1"], |party| {
        format!("stats {party}.csv --sum pay --least 1 --yes")
    });
    for one in told {
        assert_eq!(
            (&one["threads"], &one["answers"][0]["value"]),
            (&1.into(), &45.into()),
            "{one}"
        );
    }
}
