//! Networks layer by layer: what they will cost, what they have cost, and how exact they are.

use std::path::Path;

use serde_json::Value;

use crate::command::{madrigal, roster, start};
use crate::infer::digits;
use crate::models::seed;

fn json(text: &str) -> Value {
    serde_json::from_str(text).unwrap()
}

fn model() -> String {
    format!("{}/minionn_mnist.onnx", digits())
}

fn layers(of: &Value) -> Vec<&Value> {
    of["layers"].as_array().unwrap().iter().collect()
}

#[test]
fn a_mix_is_explained_layer_by_layer() {
    let directory = tempfile::tempdir().unwrap();
    let path = directory.path();
    let line = format!(
        "model explain {} --protocol A+B --network 20ms,100Mbps",
        model()
    );
    let told = madrigal(path, &line).good();
    for part in [
        "protocol A+B",
        "Conv",
        "Relu",
        "inputs and results",
        "rounds",
        "memory",
    ] {
        assert!(told.stdout.contains(part), "{part}: {told}");
    }
    // Also where no terminal says how wide it is.
    let mut tables = told.stdout.lines().filter(|line| line.starts_with('|'));
    assert!(tables.all(|line| line.chars().count() <= 80), "{told}");
    let told = json(&madrigal(path, &format!("{line} --json")).good().stdout);
    let mix = &told["mixes"][0];
    let known = json(
        &madrigal(path, &format!("model check {} --json", model()))
            .good()
            .stdout,
    );
    let layers = layers(mix);
    // And what belongs to none.
    assert_eq!(layers.len(), known["layers"].as_array().unwrap().len() + 1);
    let whole = mix["online"]["bytes_sent"].as_u64().unwrap();
    let sent: u64 = layers
        .iter()
        .map(|layer| layer["online"]["bytes_sent"].as_u64().unwrap())
        .sum();
    assert!(
        whole > 0 && (whole..2 * whole).contains(&sent),
        "{sent} of {whole}"
    );
    // Twice as many inputs.
    let more = json(
        &madrigal(path, &format!("{line} --json --batch 2"))
            .good()
            .stdout,
    );
    let more = &more["mixes"][0];
    assert!(more["setup"]["bytes_sent"].as_u64() > mix["setup"]["bytes_sent"].as_u64());
    assert_eq!(more["layers"][1]["shape"][0], 2);
}

#[test]
fn mixes_are_compared_and_the_fastest_is_taken() {
    let directory = tempfile::tempdir().unwrap();
    let path = directory.path();
    let model = seed("conv.onnx").display().to_string();
    let told = madrigal(path, &format!("model explain {model}")).good();
    for part in ["A+B", "A+Y2", "alpha+beta", "alpha+Y2", "--protocol"] {
        assert!(told.stdout.contains(part), "{part}: {told}");
    }
    let x = ["1"; 72].join(",");
    std::fs::write(path.join("x.csv"), x).unwrap();
    for (parties, line) in [(2, "none"), (2, "100ms,1Gbps"), (3, "none"), (4, "none")] {
        let flags = format!("--link {line} --threads 2 --json");
        let told = madrigal(path, &format!("model explain {model} -N {parties} {flags}")).good();
        let told = json(&told.stdout);
        let mixes = told["mixes"].as_array().unwrap();
        assert_eq!(mixes[0]["protocol"], told["chosen"]);
        assert!(
            mixes
                .iter()
                .all(|mix| mix["total_seconds"].as_f64().unwrap() > 0.0)
        );
        assert_eq!(mixes.len(), [4, 3, 2][parties - 2]);
        let run = format!("infer --model {model} --local {parties} --input x.csv {flags}");
        let run = json(&madrigal(path, &run).good().stdout);
        assert_eq!(run["protocol"], told["chosen"], "{parties} over {line}");
        assert_eq!(run["protocol_chosen"], true);
    }
    madrigal(path, &format!("model explain {model} --protocol R")).bad(2, &["--protocol"]);
}

/// The counters of a run come to what its layers are said to cost.
#[test]
fn statistics_tell_of_layers() {
    let directory = tempfile::tempdir().unwrap();
    let path = directory.path();
    let line = format!(
        "infer --model {} --input {}/digits.npy --local 3 --protocol R --json",
        model(),
        digits()
    );
    let told = json(&madrigal(path, &line).good().stdout);
    let layers = layers(&told);
    assert_eq!(layers.last().unwrap()["name"], "inputs and results");
    let number = |layer: &Value, field: &str| layer[field].as_u64().unwrap();
    let sent: u64 = layers
        .iter()
        .map(|one| number(one, "online_bytes_sent"))
        .sum();
    let parties = told["parties"].as_array().unwrap().iter();
    let spent: Vec<u64> = parties
        .map(|one| number(&one["online"], "bytes_sent"))
        .collect();
    let most = *spent.iter().max().unwrap();
    assert!(
        (most..=spent.iter().sum()).contains(&sent),
        "{sent} of {spent:?}"
    );
    assert!(layers.iter().any(|one| one["operator"] == "Conv"
        && one["online_seconds"].as_f64().unwrap() > 0.0
        && one["worked_seconds"].as_f64().unwrap() > 0.0
        && one["sharings"] == serde_json::json!(["R"])));
}

#[test]
fn parties_that_differ_in_the_mix_are_told_so() {
    let directory = tempfile::tempdir().unwrap();
    let path = directory.path();
    roster(path, 2);
    let model = seed("conv.onnx").display().to_string();
    let line = format!("infer --model {model} --parties parties.toml --batch 1");
    std::fs::write(path.join("x.csv"), ["1"; 72].join(",")).unwrap();
    let one = start(path, &format!("{line} --party 0 --protocol A+B"));
    let other = start(
        path,
        &format!("{line} --party 1 --input x.csv --protocol A+Y2"),
    );
    one.end().bad(5, &["mix", "A+Y2", "--protocol"]);
    other.end().bad(5, &["mix", "A+B", "--protocol"]);
}

fn page(directory: &Path, line: &str) -> String {
    madrigal(directory, &format!("{line} --report page.html")).good();
    std::fs::read_to_string(directory.join("page.html")).unwrap()
}

#[test]
fn a_page_tells_of_a_run() {
    let directory = tempfile::tempdir().unwrap();
    let path = directory.path();
    let flags = format!("infer --model {} --input {}/digits.npy", model(), digits());
    let made = page(
        path,
        &format!("{flags} --local 2 --protocol A+B -q --output r.npy"),
    );
    let known = json(
        &madrigal(path, &format!("model check {} --json", model()))
            .good()
            .stdout,
    );
    for layer in layers(&known) {
        let name = layer["name"].as_str().unwrap();
        assert!(made.contains(&format!(">{name}</bdi>")), "{name}");
    }
    for part in [
        "minionn_mnist.onnx",
        "A+B",
        "weights (33,",
        "exactly the plan",
        "one process",
    ] {
        assert!(made.contains(part), "{part}");
    }
    for foreign in ["http:", "https:", "src=", "<script", "url("] {
        assert!(!made.contains(foreign), "{foreign}");
    }
    // All three give what two of them get, and nothing between lines is secret.
    let made = page(
        path,
        &format!("{flags} --local 3 --protocol R --to 0,2 --public-model --transport memory -q"),
    );
    assert!(made.contains("no two of the three parties") && made.contains("party 0, party 2"));
    assert!(made.contains("weights and other constants") && made.contains("memory of one process"));
    madrigal(
        path,
        &format!("{flags} --local 2 --report page.html --output page.html"),
    )
    .bad(2, &["--report", "same file"]);
}

/// Whoever made the model chose the names of its layers.
#[test]
fn names_of_a_model_inject_nothing_into_a_page() {
    let directory = tempfile::tempdir().unwrap();
    let path = directory.path();
    let mut file = std::fs::read(seed("conv.onnx")).unwrap();
    for (old, new) in [
        ("node_0", "<b>a&\""),
        ("node_1", "'><i>x"),
        ("node_2", "<!--<p"),
    ] {
        let at = file.windows(6).position(|part| part == old.as_bytes());
        file[at.unwrap()..][..6].copy_from_slice(new.as_bytes());
    }
    std::fs::write(path.join("hostile.onnx"), &file).unwrap();
    std::fs::write(path.join("x.csv"), ["1"; 72].join(",")).unwrap();
    let made = page(
        path,
        "infer --model hostile.onnx --local 3 --protocol R --input x.csv -q",
    );
    for hostile in ["<b>a", "'><i>x", "<!--<p", "<i>x"] {
        assert!(!made.contains(hostile), "{hostile}");
    }
    assert!(made.contains("&lt;b&gt;a&amp;&quot;") && made.contains("&lt;!--&lt;p"));
    let line = "model compare hostile.onnx --input x.csv --plot plot.svg";
    madrigal(path, line).good();
    let drawn = std::fs::read_to_string(path.join("plot.svg")).unwrap();
    assert!(
        !drawn.contains("<b>a") && drawn.contains("&lt;b&gt;a"),
        "{drawn}"
    );
}

#[test]
fn errors_of_layers_are_drawn() {
    let directory = tempfile::tempdir().unwrap();
    let path = directory.path();
    let sample = format!("{} --input {}/digits.npy", model(), digits());
    let line = format!("model compare {sample} --plot plot.svg --json");
    let told = json(&madrigal(path, &line).good().stdout);
    let drawn = std::fs::read_to_string(path.join("plot.svg")).unwrap();
    assert_eq!(drawn.matches("<circle").count(), layers(&told).len());
    assert!(drawn.contains("64.16"), "{drawn}");
    let line = format!("model compare {sample} --plot nowhere/plot.svg");
    madrigal(path, &line).bad(3, &["nowhere/plot.svg"]);
}
