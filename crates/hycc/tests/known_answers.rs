//! Programs of the compiler with answers that were computed without them, each with its partition.

use std::path::Path;
use std::time::Instant;

use madrigal_circuit::Limits;
use madrigal_hycc::{BitProtocol, Flat, Options, load};
use madrigal_testkit::shared_data;
use serde_json::Value;

use crate::common::run;

/// The bits of a hexadecimal number.
fn flat_bits(value: &Value, width: usize) -> Vec<u8> {
    let digits = value.as_str().unwrap().trim_start_matches("0x");
    let nibbles = digits
        .chars()
        .rev()
        .map(|digit| digit.to_digit(16).unwrap());
    let bits = nibbles.flat_map(|nibble| (0..4).map(move |bit| (nibble >> bit & 1) as u8));
    let mut bits: Vec<u8> = bits.collect();
    bits.resize(width.max(bits.len()), 0);
    bits.truncate(width);
    bits
}

fn answers(folder: &Path) -> Value {
    let text = std::fs::read_to_string(folder.join("known_answers.json")).unwrap();
    serde_json::from_str(&text).unwrap()
}

/// Inputs of these cases.
fn inputs(flat: &Flat, cases: &[Value]) -> Vec<Vec<Vec<u8>>> {
    let of = |case: &Value| {
        let inputs = flat.inputs.iter();
        let bits = inputs
            .map(|input| flat_bits(&case["flat_inputs"][&input.name], input.ty.bits() as usize));
        bits.collect()
    };
    cases.iter().map(of).collect()
}

fn check(
    folder: &Path,
    file: &str,
    answer: &Value,
    options: &Options,
    parties: usize,
    most: usize,
) {
    let loaded = load(&folder.join(file), None, &Limits::default()).unwrap();
    let cases = answer["cases"].as_array().unwrap();
    let cases = &cases[..cases.len().min(most)];
    let began = Instant::now();
    let found = run(&loaded.flat, options, parties, &inputs(&loaded.flat, cases));
    for (case, found) in cases.iter().zip(found) {
        for (output, found) in loaded.flat.outputs.iter().zip(found) {
            let expected = flat_bits(&case["flat_outputs"][&output.name], found.len());
            assert_eq!(found, expected, "{file} of {parties}: {}", output.name);
        }
    }
    println!(
        "{file}, N = {parties}: {} answers in {:?}",
        cases.len(),
        began.elapsed()
    );
}

/// Every bundle of every program, in its partition, by two and by three parties.
#[test]
fn all_shared_data() {
    let Some(shared) = shared_data() else { return };
    let folder = shared.join("data/circuits/hycc");
    let answers = answers(&folder);
    let mut count = 0;
    for answer in answers["programs"].as_object().unwrap().values() {
        let lists = ["bundles", "files"]
            .into_iter()
            .filter_map(|key| answer[key].as_array());
        for file in lists.flatten() {
            let file = file.as_str().unwrap();
            // Products bit by bit are large.
            let most = if file.ends_with("only.cmb") { 2 } else { 12 };
            for parties in [2, 3] {
                check(&folder, file, answer, &Options::default(), parties, most);
                count += 1;
            }
        }
    }
    assert!(count >= 90, "{count} programs in {}", folder.display());
}

/// Runs the bundle with other protocols for its bits.
#[test]
fn partitions_can_be_overridden() {
    let Some(shared) = shared_data() else { return };
    let folder = shared.join("data/circuits/hycc");
    let answers = answers(&folder);
    let (file, answer) = (
        "dot_threshold64/yaohybrid.cmb",
        &answers["programs"]["dot_threshold64"],
    );
    for bits in [BitProtocol::B, BitProtocol::Y, BitProtocol::Y2] {
        let options = Options {
            bits: Some(bits),
            ..Options::default()
        };
        check(&folder, file, answer, &options, 2, 1);
    }
    let options = Options {
        garbled: Some(BitProtocol::Y),
        ..Options::default()
    };
    check(&folder, file, answer, &options, 2, 1);
}
