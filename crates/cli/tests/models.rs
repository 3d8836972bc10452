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

/// A model of the trials.
fn trial(name: &str) -> String {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/trials");
    folder.join(name).display().to_string()
}

/// A model whose images may have any size.
#[test]
fn sizes_are_told_to_every_command() {
    let directory = tempfile::tempdir().unwrap();
    let path = directory.path();
    let model = format!("{}/model.onnx", trial("dyn_hw_cnn"));
    for command in ["model check", "model explain --parties 2 --protocol A+B"] {
        let told = madrigal(path, &format!("{command} {model} --dim H=6 --dim W=4")).good();
        assert!(told.stdout.contains("1 x 2 x 1 x 1"), "{told}");
        let told = madrigal(path, &format!("{command} {model} --shape x=1,1,6,4")).good();
        assert!(told.stdout.contains("1 x 2 x 1 x 1"), "{told}");
        madrigal(path, &format!("{command} {model}")).bad(3, &["\"H\"", "--dim"]);
    }
    let stripped = format!("model strip {model} --output bare.onnx --dim H=6 --dim W=6");
    madrigal(path, &stripped).good();
    // Sizes of the flags and of the data must agree.
    let line = format!(
        "model compare {model} --input {}/in0.npy",
        trial("dyn_hw_cnn")
    );
    madrigal(path, &format!("{line} --dim H=6")).good();
    madrigal(path, &format!("{line} --dim H=5")).bad(3, &["\"H\" is 6 in the data, and 5"]);
}

/// It passed before, as all operators are known, and `infer` refused the model.
#[test]
fn check_passes_nothing_that_infer_refuses() {
    let directory = tempfile::tempdir().unwrap();
    let path = directory.path();
    let income = format!("{}/model.onnx", trial("skl_kmeans_income"));
    madrigal(path, &format!("model check {income}")).bad(3, &["14161003520", "--numbers"]);
    madrigal(path, &format!("model check {income} --numbers 64.12")).good();
    let cube = format!("{}/model.onnx", trial("conv3d"));
    madrigal(path, &format!("model check {cube}")).bad(3, &["one or two axes"]);
}

/// A network as a program for servers that hold its weights: with the weights that were written beside it, it says what the network does.
#[test]
fn a_program_of_a_model_says_what_the_model_does() {
    let directory = tempfile::tempdir().unwrap();
    let path = directory.path();
    let digits = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../examples/digits");
    let digits = digits.canonicalize().unwrap();
    let model = digits.join("minionn_mnist.onnx");
    std::fs::create_dir(path.join("weights")).unwrap();
    let line = format!(
        "model program {} --numbers 32.12 --owner lab --data member --weights weights -o digits.mad",
        model.display()
    );
    let told = madrigal(path, &line).good();
    for part in [
        "3 servers",
        "input: Fixed<i32, 12> [1, 1, 28, 28] of client member",
        "w1: Fixed<i32, 12> [16, 1, 5, 5] of client lab",
    ] {
        assert!(told.stdout.contains(part), "{part}: {told}");
    }
    let weights = (1..=8).map(|at| format!(" --input w{at}=weights/w{at}.npy"));
    let line = format!(
        "program simulate digits.mad --dim inputs=6 --input input={}{} --output logits=logits.csv",
        digits.join("digits.npy").display(),
        weights.collect::<String>()
    );
    madrigal(path, &line).good();
    let logits = std::fs::read_to_string(path.join("logits.csv")).unwrap();
    let rows = logits.lines().map(|line| {
        let numbers = line.split(',').map(|number| number.parse::<f64>().unwrap());
        let best = numbers
            .enumerate()
            .max_by(|one, other| one.1.total_cmp(&other.1));
        best.unwrap().0
    });
    assert_eq!(rows.collect::<Vec<_>>(), [7, 2, 1, 0, 4, 3]);
    // Nothing of what the owner brings is in the program: the file of a model without weights gives the same.
    let stripped = format!("model strip {} -o stripped.onnx", model.display());
    madrigal(path, &stripped).good();
    let line = "model program stripped.onnx --numbers 32.12 --owner lab -o again.mad";
    madrigal(path, line).good();
    let [first, again] =
        ["digits.mad", "again.mad"].map(|name| std::fs::read(path.join(name)).unwrap());
    assert!(first == again, "the program depends on weights");
}
