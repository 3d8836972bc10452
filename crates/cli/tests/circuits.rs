//! `circuit`: what is in a file, the other format, the result in the clear.

use serde_json::Value;

use crate::command::{SUM, adder, circuit, madrigal, write};

#[test]
fn info_tells_what_the_file_holds() {
    let directory = adder();
    let path = directory.path();
    let told = madrigal(path, "circuit info sum.txt").good();
    assert!(told.stdout.contains("XOR"), "{told}");
    let aes = circuit("aes_128.txt");
    let told = madrigal(path, &format!("circuit info {} --json", aes.display())).good();
    let figures: Value = serde_json::from_str(&told.stdout).unwrap();
    assert_eq!(
        (&figures["and"], &figures["depth"]),
        (&6400.into(), &60.into())
    );
}

#[test]
fn formats_convert_both_ways_and_mean_the_same() {
    let directory = adder();
    let path = directory.path();
    write(path, "all", "3 4\nff 2\n");
    madrigal(
        path,
        "circuit convert sum.txt --to bristol-fashion -o new.txt",
    )
    .good();
    madrigal(path, "circuit convert new.txt --to bristol -o old.txt").good();
    for file in ["sum.txt", "new.txt", "old.txt"] {
        let told = madrigal(path, &format!("circuit eval {file} --input all")).good();
        assert_eq!(told.stdout, SUM, "{file}");
    }
    write(path, "three", "1 1\n3 1 1 1\n1 1\n\n1 1 0 3 INV\n");
    madrigal(path, "circuit convert three --to bristol").bad(3, &["three"]);
    write(path, "huge", "200000000 200000002\n1 2\n1 1\n\n");
    madrigal(path, "circuit info huge").bad(3, &["200000000 gates", "split the circuit"]);
    madrigal(path, "circuit eval sum.txt --input none").bad(3, &["none"]);
}

#[test]
fn random_circuits_have_branches() {
    let directory = tempfile::tempdir().unwrap();
    let path = directory.path();
    let small = "circuit random --branches 3 --inputs 8 --outputs 4 --ands 40 --xors 20 --layers 3";
    let circuit = madrigal(path, &format!("{small} --output random.txt"));
    circuit.good();
    let info = madrigal(path, "circuit info random.txt --json").good();
    let info: serde_json::Value = serde_json::from_str(&info.stdout).unwrap();
    assert!(info["and"].as_u64() >= Some(120), "{info}");
    madrigal(path, "circuit random --inputs 1").bad(2, &["--ands"]);
}
