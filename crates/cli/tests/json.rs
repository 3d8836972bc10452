//! `docs/STATISTICS.md` names the fields of all JSON that commands print: those, and no others.

use crate::command::{adder, madrigal, roster, start, write};
use crate::documented::check;

const RUN: &str = "The statistics of a run";
const CIRCUIT: &str = "A circuit";
const MACHINE: &str = "A machine";
const PHASE: &str = "A phase";
const PARTY: &str = "A party";
const PROVENANCE: &str = "Provenance";
const ESTIMATE: &str = "An estimate";
const OPERATION: &str = "An operation";

#[test]
fn every_field_is_documented_and_no_other() {
    let directory = adder();
    let path = directory.path();
    let told = |line: &str| madrigal(path, line).good().stdout;
    check(
        &[RUN, PARTY, PHASE, PROVENANCE, CIRCUIT],
        &told("run --circuit sum.txt --local 2 --input 0=a --input 1=b --output out --json"),
    );
    write(path, "key", "2b7e151628aed2a6abf7158809cf4f3c");
    let iv = "f0f1f2f3f4f5f6f7f8f9fafbfcfdfeff";
    let demo = format!("demo aes-ctr --file a --key key --iv {iv} --transport memory --json");
    check(&[RUN, PARTY, PHASE, PROVENANCE, CIRCUIT], &told(&demo));
    check(
        &["`madrigal circuit info --json`", CIRCUIT],
        &told("circuit info sum.txt --json"),
    );
    let model = crate::models::seed("conv.onnx");
    check(
        &["`madrigal model check --json`"],
        &told(&format!("model check {} --json", model.display())),
    );
    crate::hycc::program(path);
    // Names of the program's own are no fields.
    let without = |told: String| {
        told.replace("\"greater\"", "\"name\"")
            .replace("\"best\"", "\"name\"")
    };
    check(
        &["`madrigal run --hycc --json`", PARTY, PHASE, PROVENANCE],
        &without(told(
            "run --hycc program --local 2 --input INPUT_A=3 --input INPUT_B=5 --json",
        )),
    );
    let digits = format!("{}/minionn_mnist.onnx", crate::infer::digits());
    let prepare =
        format!("infer --model {digits} --local 2 --batch 1 --store ahead --prepare 1 --json");
    check(&["`madrigal infer --prepare --json`"], &told(&prepare));
    check(
        &["`madrigal explain --hycc --json`", OPERATION, ESTIMATE],
        &told("explain --hycc program --network wan --json"),
    );
    let shape = "--branches 2 --ands 20 --xors 20 --layers 2 --inputs 8 --outputs 8";
    told(&format!(
        "circuit random {shape} --to branches -o chosen.txt"
    ));
    let explained = ["sum.txt", "chosen.txt"]
        .map(|file| told(&format!("explain --circuit {file} --network wan --json")));
    check(
        &["`madrigal explain --json`", CIRCUIT, OPERATION, ESTIMATE],
        &explained.concat(),
    );
}

#[test]
fn the_fields_of_doctors_and_stores_are_documented() {
    let directory = adder();
    let path = directory.path();
    roster(path, 2);
    let doctors = [0, 1].map(|me| {
        let line = format!("doctor --peers parties.toml --identity p{me} --json");
        start(path, &line)
    });
    for running in doctors {
        let told = running.end().good().stdout;
        check(&["`madrigal doctor --json`", MACHINE], &told);
    }
    madrigal(path, "precompute --triples bits=100 --local 2 --store made").good();
    let told = madrigal(path, "store status made/party0 --json").good();
    check(&["`madrigal store status --json`"], &told.stdout);
}
