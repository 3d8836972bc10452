//! Programs of the compiler with answers that were computed without them, each with its partition.

use std::cell::Cell;
use std::path::Path;
use std::time::Instant;

use madrigal_circuit::Limits;
use madrigal_hycc::{Flat, Options, Sharing, load};
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

/// Each file of each program, with its answers.
fn each_file(folder: &Path, check: impl Fn(&str, &Value)) -> usize {
    let mut count = 0;
    for answer in answers(folder)["programs"].as_object().unwrap().values() {
        let lists = ["bundles", "files"]
            .into_iter()
            .filter_map(|key| answer[key].as_array());
        for file in lists.flatten() {
            check(file.as_str().unwrap(), answer);
            count += 1;
        }
    }
    count
}

/// Every bundle of every program, in its partition, by two and by three parties.
#[test]
fn all_shared_data() {
    let Some(shared) = shared_data() else { return };
    let folder = shared.join("data/circuits/hycc");
    let count = each_file(&folder, |file, answer| {
        // Products bit by bit are large.
        let most = if file.ends_with("only.cmb") { 2 } else { 12 };
        for parties in [2, 3] {
            check(&folder, file, answer, &Options::default(), parties, most);
        }
    });
    assert!(count >= 45, "{count} programs in {}", folder.display());
}

/// Every bundle with every protocol in the place of each that its partition names: between two parties A and alpha for
/// words, B and beta for few layers, Y and Y2 for few gates, each with each of the others, and any three of them in every
/// second file; among three parties R for all.
#[test]
fn all_assignments_of_protocols() {
    let Some(shared) = shared_data() else { return };
    let folder = shared.join("data/circuits/hycc");
    // Either half has every two protocols together, which is all there is for a partition into two.
    let mut halves = [Vec::new(), Vec::new()];
    for (w, words) in [Sharing::A, Sharing::ALPHA].into_iter().enumerate() {
        for (l, layered) in [Sharing::B, Sharing::BETA].into_iter().enumerate() {
            for (g, garbled) in [Sharing::Y, Sharing::Y2].into_iter().enumerate() {
                halves[(w + l + g) % 2].push(Options {
                    words,
                    layered,
                    garbled: Some(garbled),
                    bits: None,
                });
            }
        }
    }
    let all_in_r = Options {
        words: Sharing::R,
        bits: Some(Sharing::R),
        ..Options::default()
    };
    let turn = Cell::new(0);
    each_file(&folder, |file, answer| {
        let half = &halves[turn.replace(1 - turn.get())];
        // Where one protocol does it all, the first two have both that there are.
        let most = if file.ends_with("only.cmb") { 2 } else { 4 };
        for options in &half[..most] {
            check(&folder, file, answer, options, 2, 1);
        }
        check(&folder, file, answer, &all_in_r, 3, 2);
    });
}

/// Runs the bundle with one protocol for all bits.
#[test]
fn partitions_can_be_overridden() {
    let Some(shared) = shared_data() else { return };
    let folder = shared.join("data/circuits/hycc");
    let answers = answers(&folder);
    let (file, answer) = (
        "dot_threshold64/yaohybrid.cmb",
        &answers["programs"]["dot_threshold64"],
    );
    for words in [Sharing::A, Sharing::ALPHA] {
        for bits in [Sharing::B, Sharing::BETA, Sharing::Y, Sharing::Y2] {
            let options = Options {
                words,
                bits: Some(bits),
                ..Options::default()
            };
            check(&folder, file, answer, &options, 2, 1);
        }
    }
}
