//! `model`: what a network consists of, and all that is not supported.

use std::path::{Path, PathBuf};

use serde_json::{Value, json};

use crate::command::madrigal;

/// A small model: Conv, Relu, MaxPool, Flatten.
pub(crate) fn seed(name: &str) -> PathBuf {
    let seeds = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../fuzz/seeds/onnx");
    seeds.join(name).canonicalize().unwrap()
}

#[test]
fn check_tells_what_a_model_holds() {
    let directory = tempfile::tempdir().unwrap();
    let model = seed("conv.onnx");
    let line = format!("model check {} --batch 5", model.display());
    let told = madrigal(directory.path(), &line).good();
    for part in ["1 Conv", "MaxPool", "5 x 2 x 6 x 6", "5 x 18"] {
        assert!(told.stdout.contains(part), "{part}: {told}");
    }
    let told = madrigal(directory.path(), &format!("{line} --json")).good();
    let told: Value = serde_json::from_str(&told.stdout).unwrap();
    let x = json!([{"name": "x", "element": "float32", "shape": [5, 2, 6, 6]}]);
    assert_eq!(told["inputs"], x);
    assert_eq!(
        (&told["opset"], &told["parameters"]),
        (&json!(13), &json!(36))
    );
    // Five images, two maps of 6 x 6, each the sum of two channels under 3 x 3 weights.
    assert_eq!(told["multiplications"], json!(5 * 2 * 36 * 2 * 9));
}

/// As exporters write models: the batch has a name.
#[test]
fn a_named_batch_is_one_unless_told() {
    let directory = tempfile::tempdir().unwrap();
    let line = format!("model check {}", seed("batch.onnx").display());
    for (flags, shape) in [
        ("", "1 x 3"),
        (" --batch 4", "4 x 3"),
        (" --dim n=7", "7 x 3"),
    ] {
        let told = madrigal(directory.path(), &format!("{line}{flags}")).good();
        assert!(told.stdout.contains(shape), "{shape}: {told}");
    }
    madrigal(directory.path(), &format!("{line} --dim other=7")).bad(3, &["\"n\"", "--batch"]);
}

#[test]
fn what_cannot_be_used_is_named() {
    let directory = tempfile::tempdir().unwrap();
    let path = directory.path();
    let mut file = std::fs::read(seed("conv.onnx")).unwrap();
    for (old, new) in [("Relu", "LSTM"), ("Flatten", "NonZero")] {
        let at = file
            .windows(old.len())
            .position(|part| part == old.as_bytes())
            .unwrap();
        file[at..at + new.len()].copy_from_slice(new.as_bytes());
    }
    std::fs::write(path.join("other.onnx"), &file).unwrap();
    let told = [
        "other.onnx",
        "2 reasons",
        "LSTM \"node_1\"",
        "NonZero \"node_3\"",
    ];
    madrigal(path, "model check other.onnx").bad(3, &told);
    std::fs::write(path.join("cut.onnx"), &file[..50]).unwrap();
    madrigal(path, "model check cut.onnx").bad(3, &["cut.onnx", "damaged"]);
    madrigal(path, "model check nowhere.onnx").bad(3, &["nowhere.onnx"]);
    let model = seed("conv.onnx");
    let line = format!("model check {} --shape x=1,2", model.display());
    madrigal(path, &line).bad(3, &["4 dimensions", "--shape"]);
    madrigal(path, &format!("model check {} --dim N", model.display())).bad(2, &["NAME=SIZE"]);
}
