//! Trained networks, as a user has them computed.

use std::path::{Path, PathBuf};

use serde_json::Value;

use crate::command::{madrigal, roster, start, write};
use crate::models::seed;

/// The drawn digits.
pub const CLASSES: [&str; 6] = ["7", "2", "1", "0", "4", "3"];

pub fn digits() -> String {
    let folder: PathBuf = [env!("CARGO_MANIFEST_DIR"), "../../examples/digits"]
        .iter()
        .collect();
    folder.canonicalize().unwrap().display().to_string()
}

/// The classes that are printed, line by line.
pub fn classes(text: &str) -> Vec<String> {
    let rows = text.lines().filter(|line| line.starts_with("  "));
    let class = |line: &str| {
        line.split_whitespace()
            .nth(1)
            .unwrap()
            .trim_end_matches(',')
            .to_owned()
    };
    rows.map(class).collect()
}

fn flags() -> String {
    let folder = digits();
    format!("infer --model {folder}/minionn_mnist.onnx --input {folder}/digits.npy")
}

#[test]
fn digits_are_told_apart() {
    let directory = tempfile::tempdir().unwrap();
    let path = directory.path();
    for (how, trusts) in [
        ("--local 2", "either of the two parties may be corrupted"),
        (
            "--local 3",
            "in R, the fastest by an estimate (--protocol): at most one of the 3 parties",
        ),
        (
            "--local 2 --protocol A+B --public-model --numbers 32.10",
            "",
        ),
    ] {
        let ended = madrigal(path, &format!("{} {how}", flags()));
        assert_eq!(ended.status, 0, "{ended:?}");
        assert_eq!(classes(&ended.stdout), CLASSES, "{how}");
        let (before, costs) = ended.stderr.split_at(ended.stderr.find('|').unwrap());
        assert!(costs.contains("online"), "{}", ended.stderr);
        // A mix that was named is not told.
        assert_eq!(before.is_empty(), trusts.is_empty(), "{}", ended.stderr);
        assert!(before.contains(trusts), "{}", ended.stderr);
    }
}

#[test]
fn a_mix_is_chosen_among_those_that_withstand_all_but_one() {
    let directory = tempfile::tempdir().unwrap();
    let path = directory.path();
    let model = format!("{}/minionn_mnist.onnx", digits());
    let told = |more: &str| -> Value {
        let ended = madrigal(path, &format!("model explain {model} -N 3 --json{more}"));
        serde_json::from_str(&ended.good().stdout).unwrap()
    };
    assert_eq!(told("")["chosen"], "R");
    let all = told(" --dishonest-majority");
    let mixes = all["mixes"].as_array().unwrap();
    assert!(!mixes.is_empty() && mixes.iter().all(|mix| mix["protocol"] != "R"));
    assert_eq!(all["chosen"], mixes[0]["protocol"]);
    let ended = madrigal(path, &format!("{} --local 3 --dishonest-majority", flags()));
    let words = format!(
        "in {}, the fastest by an estimate (--protocol): all parties but one may be corrupted",
        all["chosen"].as_str().unwrap()
    );
    assert!(ended.stderr.contains(&words), "{ended}");
    let both = format!("{} --local 3 --dishonest-majority --protocol R", flags());
    madrigal(path, &both).bad(2, &["--protocol", "--dishonest-majority"]);
}

/// Garbled circuits were chosen for a CNN, and took three times as long as `A+B`: a shared bit was priced as 64 OTs.
#[test]
fn the_mix_that_is_chosen_is_what_explain_shows_as_fastest() {
    let directory = tempfile::tempdir().unwrap();
    let path = directory.path();
    let own = format!("{}/minionn_mnist.onnx", digits());
    let mut models = vec![(own, "--batch 6", "A+B")];
    if let Some(shared) = crate::known_answers::shared_data() {
        let folder = shared.with_file_name("models");
        let model = |name: &str| folder.join(name).join(format!("{name}.onnx"));
        let model = |name| model(name).display().to_string();
        models.push((model("minionn_cifar10"), "", "A+B"));
        models.push((model("mlp_784_128_128_10"), "", "A+Y2"));
    }
    for (model, batch, fastest) in models {
        let line = format!("model explain {model} {batch} --local 2 --threads 1 --json");
        let told = madrigal(path, &line).good();
        let told: Value = serde_json::from_str(&told.stdout).unwrap();
        let mixes = told["mixes"].as_array().unwrap();
        let least = mixes.iter().min_by(|a, b| {
            let [a, b] = [a, b].map(|mix| mix["agreed_seconds"].as_f64().unwrap());
            a.total_cmp(&b)
        });
        assert_eq!(told["chosen"], least.unwrap()["protocol"], "{model}");
        assert_eq!(told["chosen"], fastest, "{model}");
    }
    // Other numbers of threads may make another one the fastest.
    let ended = madrigal(path, &format!("{} --local 2 --threads 1 --json", flags())).good();
    let ended: Value = serde_json::from_str(&ended.stdout).unwrap();
    assert_eq!(ended["protocol"], "A+B");
}

/// Two digits, the second with one pixel that is another.
fn pixels(pixel: &str) -> String {
    let line = |third: &str| {
        let pixel = |at: usize| if at == 2 { third } else { "0.5" };
        let line: Vec<&str> = (0..784).map(pixel).collect();
        line.join(",") + "\n"
    };
    line("0.5") + &line(pixel)
}

/// Before, numbers that are too large for what is made of them wrapped around, and the result was wrong with status 0.
#[test]
fn data_out_of_range_is_refused_before_anything_is_sent() {
    let directory = tempfile::tempdir().unwrap();
    let path = directory.path();
    let folder = digits();
    let model = format!("{folder}/minionn_mnist.onnx");
    write(path, "near.csv", &pixels("0.75"));
    write(path, "far.csv", &pixels("1e10"));
    write(path, "beyond.csv", &pixels("1e15"));
    write(path, "calibrated.csv", &pixels("17"));
    let infer = |model: &str, data: &str| format!("infer --model {model} --input {data}");
    let here = |data| format!("{} --local 2", infer(&model, data));
    madrigal(path, &here("near.csv")).good();
    let told = ["minionn_mnist.onnx", "Conv", "row 1", "64.16", "--numbers"];
    madrigal(path, &here("far.csv")).bad(3, &told);
    let told = ["--input", "row 1, element [0, 0, 2]", "64.16", "--numbers"];
    madrigal(path, &here("beyond.csv")).bad(3, &told);
    let wide = "--local 3 --protocol R --numbers 128.24";
    madrigal(path, &format!("{} {wide}", infer(&model, "far.csv"))).good();
    // Whoever has no weights knows what the model was calibrated for; nobody else runs, so nothing is sent.
    let sample = format!("{model} --input {folder}/digits.npy");
    madrigal(path, &format!("model calibrate {sample} -o whole.onnx")).good();
    madrigal(path, "model strip whole.onnx -o bare.onnx").good();
    roster(path, 2);
    let alone = |data, more| {
        let party = "--party 1 --parties parties.toml --connect-timeout 1s";
        madrigal(
            path,
            &format!("{} {party} {more}", infer("bare.onnx", data)),
        )
    };
    let told = [
        "--input",
        "row 1, element [0, 0, 2]",
        "than 16",
        "--numbers",
    ];
    alone("calibrated.csv", "").bad(3, &told);
    alone("near.csv", "").bad(4, &["--connect-timeout"]);
    alone("calibrated.csv", "--numbers 64.16").bad(4, &["--connect-timeout"]);
}

/// Who has no weights and a model that was not calibrated sees nothing wrong with its data; the parties do, together.
#[test]
fn parties_learn_that_a_number_may_have_left_its_range() {
    let directory = tempfile::tempdir().unwrap();
    let path = directory.path();
    roster(path, 2);
    let model = format!("{}/minionn_mnist.onnx", digits());
    madrigal(path, &format!("model strip {model} -o bare.onnx")).good();
    write(path, "near.csv", &pixels("0.75"));
    write(path, "far.csv", &pixels("1e10"));
    let both = |data: &str| {
        let party = "--parties parties.toml --protocol A+B --check-range --party";
        let owner = start(path, &format!("infer --model {model} --batch 2 {party} 0"));
        let line = format!("infer --model bare.onnx --input {data} {party} 1");
        [owner, start(path, &line)].map(crate::command::Running::end)
    };
    for party in both("far.csv") {
        let told = ["--check-range", "64.16", "no results", "--numbers"];
        let party = party.bad(3, &told);
        assert_eq!(party.stdout, "");
    }
    let [owner, data] = both("near.csv").map(crate::command::Ended::good);
    assert_eq!(
        (owner.stdout.as_str(), classes(&data.stdout).len()),
        ("", 2)
    );
    let line = format!("{} --local 3 --check-range -q --report page.html", flags());
    assert_eq!(classes(&madrigal(path, &line).good().stdout), CLASSES);
    let page = std::fs::read_to_string(path.join("page.html")).unwrap();
    assert!(page.contains("one bit was opened to all parties"));
}

/// Before, these were told as mixes that differ, or as the inside of an operation.
#[test]
fn parties_learn_which_flag_differs() {
    let directory = tempfile::tempdir().unwrap();
    let path = directory.path();
    roster(path, 2);
    let row = vec!["0.5"; 72].join(",");
    write(path, "x.csv", &format!("{row}\n{row}\n"));
    let model = seed("conv.onnx").display().to_string();
    let other = seed("slices.onnx").display().to_string();
    let both = |first: &str, second: &str, words: [&str; 2]| {
        let start = |party: usize, line: &str| {
            let line = line.replace("MODEL", &model).replace("OTHER", &other);
            let line = format!("infer --party {party} --parties parties.toml --model {line}");
            start(path, &line)
        };
        let parties = [
            start(0, first),
            start(1, &format!("{second} --input x.csv")),
        ];
        for (party, words) in parties.into_iter().zip(words) {
            party.end().bad(5, &["another program", words]);
        }
    };
    both(
        "MODEL --batch 3",
        "MODEL",
        ["--batch is 3 here and 2 there", "--batch is 2 here"],
    );
    both(
        "MODEL --batch 2",
        "MODEL --numbers 64.12",
        [
            "--numbers is 64.16 here and 64.12 there",
            "--numbers is 64.12",
        ],
    );
    both(
        "MODEL --batch 2 --to all",
        "MODEL",
        ["--to is 0,1 here and 1 there", "--to is 1 here"],
    );
    both(
        "MODEL --batch 2 --link wan",
        "MODEL",
        ["--link or --network is", "--link or --network is"],
    );
    both(
        "MODEL --batch 2 --protocol A+B",
        "MODEL --protocol alpha+beta",
        ["mix is A+B here and alpha+beta there", "--protocol"],
    );
    both("OTHER --batch 2", "MODEL", ["--model is", "--model is"]);
}

#[test]
fn results_are_arrays_and_costs_are_json() {
    let directory = tempfile::tempdir().unwrap();
    let path = directory.path();
    let line = format!(
        "{} --local 3 --repeat 2 --output logits.npy --stats s.json -q",
        flags()
    );
    let ended = madrigal(path, &line);
    assert_eq!(
        (ended.status, &ended.stdout[..], &ended.stderr[..]),
        (0, "", ""),
        "{ended:?}"
    );
    let array = std::fs::read(path.join("logits.npy")).unwrap();
    let header = String::from_utf8_lossy(&array[..128]).into_owned();
    assert!(
        header.contains("'<f4'") && header.contains("(6, 10,)"),
        "{header}"
    );
    let text = std::fs::read_to_string(path.join("s.json")).unwrap();
    let statistics: Value = serde_json::from_str(&text).unwrap();
    assert_eq!(statistics["protocol"], "R");
    assert_eq!(statistics["batch"], 6);
    assert_eq!(statistics["parameters"], 33542);
    assert_eq!(statistics["numbers"], serde_json::json!([64, 16]));
    assert_eq!(statistics["repeat"], 2);
    for party in statistics["parties"].as_array().unwrap() {
        assert_eq!(party["runs"].as_array().unwrap().len(), 2);
        assert!(party["total_spread"]["max"].as_f64() >= party["total_seconds"].as_f64());
    }
    let parties = statistics["parties"].as_array().unwrap();
    assert_eq!(parties.len(), 3);
    for party in parties {
        assert!(party["online"]["seconds"].as_f64().unwrap() > 0.0);
        assert!(party["online"]["bytes_sent"].as_u64().unwrap() > 0);
    }
}

/// Two processes over TLS; the first one's results are for the second alone.
#[test]
fn owners_of_model_and_data_on_machines_of_their_own() {
    let directory = tempfile::tempdir().unwrap();
    let path = directory.path();
    roster(path, 2);
    let folder = digits();
    // All that party 1 has of the model.
    let whole = format!("{folder}/minionn_mnist.onnx");
    let stripped = madrigal(path, &format!("model strip {whole} --output bare.onnx"));
    assert_eq!(stripped.status, 0, "{stripped:?}");
    assert!(stripped.stdout.contains("taken out"), "{stripped:?}");
    let bare = std::fs::read(path.join("bare.onnx")).unwrap();
    let zeros = bare.iter().filter(|&&byte| byte == 0).count();
    assert!(zeros > 4 * 33_000, "{zeros}");
    let model = |file: &str| format!("infer --model {file} --parties parties.toml");
    let owner = start(path, &format!("{} --party 0 --batch 6", model(&whole)));
    let data = format!(
        "{} --party 1 --input {folder}/digits.npy --report page.html",
        model("bare.onnx")
    );
    let data = start(path, &data);
    let (owner, data) = (owner.end(), data.end());
    assert_eq!((owner.status, data.status), (0, 0), "{owner:?} {data:?}");
    assert_eq!(owner.stdout, "");
    assert!(owner.stderr.contains("gets no result"), "{}", owner.stderr);
    assert_eq!(classes(&data.stdout), CLASSES);
    // Party 1 saw the weights neither in the run nor in its file.
    let page = std::fs::read_to_string(path.join("page.html")).unwrap();
    for part in ["did not see it", "read the model has none of them"] {
        assert!(page.contains(part), "{part}");
    }
}

fn fails(path: &Path, line: &str, status: i32, parts: &[&str]) {
    let ended = madrigal(path, line);
    assert_eq!(ended.status, status, "{ended:?}");
    for part in parts {
        assert!(
            ended.stderr.contains(part),
            "{part:?} is not in {}",
            ended.stderr
        );
    }
}

#[test]
fn what_is_wrong_is_named() {
    let directory = tempfile::tempdir().unwrap();
    let path = directory.path();
    let folder = digits();
    let model = format!("{folder}/minionn_mnist.onnx");
    write(path, "no.onnx", "this is no model");
    write(path, "no.npy", "this is no array");
    let good = format!("--input {folder}/digits.npy --local 2");
    fails(
        path,
        &format!("infer --model no.onnx {good}"),
        3,
        &["no.onnx", "no ONNX file"],
    );
    fails(
        path,
        &format!("infer --model missing.onnx {good}"),
        3,
        &["missing.onnx"],
    );
    let model = format!("infer --model {model}");
    fails(
        path,
        &format!("{model} --input no.npy --local 2"),
        3,
        &["no.npy", "numpy.save"],
    );
    fails(
        path,
        &format!("{model} --input no.onnx --local 2"),
        3,
        &["no.onnx", ".npy", ".csv", ".png"],
    );
    fails(
        path,
        &format!("{model} --local 2"),
        2,
        &["--input names no file"],
    );
    fails(
        path,
        &format!("{model} {good} --batch 5"),
        3,
        &["has 6 in its first dimension"],
    );
    fails(
        path,
        &format!("{model} {good} --protocol R"),
        2,
        &["--protocol"],
    );
    fails(
        path,
        &format!("{model} {good} --numbers 64.40"),
        2,
        &["64.16"],
    );
    fails(
        path,
        &format!("{model} --input {folder}/digits.npy --local 1"),
        2,
        &["2 to 64"],
    );
    fails(
        path,
        &format!("{model} {good} --output no.npy/x"),
        3,
        &["cannot write the result"],
    );
    fails(path, &model, 2, &["--local"]);
}

#[test]
fn samples_tell_which_numbers_suffice() {
    let directory = tempfile::tempdir().unwrap();
    let path = directory.path();
    let folder = digits();
    let sample = format!("{folder}/minionn_mnist.onnx --input {folder}/digits.npy");
    let ended = madrigal(path, &format!("model compare {sample} --numbers 16.7"));
    assert_eq!(ended.status, 0, "{ended:?}");
    assert!(ended.stdout.contains("out of range"), "{}", ended.stdout);
    let ended = madrigal(path, &format!("model calibrate {sample} --json"));
    let found: Value = serde_json::from_str(&ended.stdout).unwrap();
    for choice in found["choices"].as_array().unwrap() {
        assert_eq!(choice["outputs"][0]["changed"], 0, "{choice}");
        let rooms = choice["layers"].as_array().unwrap().iter();
        assert!(
            rooms
                .map(|one| one["room"].as_f64().unwrap())
                .all(|room| room >= 4.0)
        );
    }
    assert_eq!(found["choices"].as_array().unwrap().len(), 2);
    let chosen = &found["chosen"];
    assert_eq!(chosen[0], 32, "{chosen}");
    // Notes that are written into the model are read from it, also without its weights.
    let written = format!("model calibrate {sample} --output whole.onnx");
    assert!(
        madrigal(path, &written)
            .good()
            .stdout
            .contains("chosen, in")
    );
    madrigal(path, "model strip whole.onnx --output bare.onnx").good();
    for model in ["whole.onnx", "bare.onnx"] {
        let told = madrigal(
            path,
            &format!("model explain {model} --protocol A+B --json"),
        );
        let told: Value = serde_json::from_str(&told.good().stdout).unwrap();
        assert_eq!(&told["numbers"], chosen, "{model}");
    }
    let told = |more: &str| -> Value {
        let input = format!("--input {folder}/digits.npy --local 2 --protocol A+B --json");
        let ended = madrigal(path, &format!("infer --model whole.onnx {input} {more}"));
        serde_json::from_str(&ended.good().stdout).unwrap()
    };
    assert_eq!(&told("")["numbers"], chosen);
    assert_eq!(
        told("--numbers 64.12")["numbers"],
        serde_json::json!([64, 12])
    );
    fails(
        path,
        &format!("model calibrate {sample} --output none.onnx --error 1e-9"),
        3,
        &["--error"],
    );
    assert!(!path.join("none.onnx").exists());
    for wrong in ["nan", "-1", "much"] {
        let flags = format!("model calibrate {sample} --error={wrong}");
        fails(path, &flags, 2, &["--error", "0.01"]);
    }
    let mut noted = std::fs::read(path.join("whole.onnx")).unwrap();
    let at = noted.windows(3).rposition(|text| text == b"32.").unwrap();
    noted[at] = b'7';
    std::fs::write(path.join("odd.onnx"), noted).unwrap();
    let odd = "model explain odd.onnx";
    fails(path, odd, 3, &["madrigal.numbers", "--numbers"]);
    let ended = madrigal(path, &format!("{} --local 3 --json", flags()));
    let found: Value = serde_json::from_str(&ended.stdout).unwrap();
    assert_eq!(found["results"][0]["shape"], serde_json::json!([6, 10]));
    assert_eq!(found["results"][0]["numbers"].as_array().unwrap().len(), 60);
    fails(path, "model compare no.onnx --input no.npy", 3, &["no.npy"]);
}

/// Correlations made by a run of its own: the answer is the same, and its setup sends far less.
#[test]
fn setup_is_done_ahead() {
    let directory = tempfile::tempdir().unwrap();
    let path = directory.path();
    // The products of masks are opened in every run of alpha and beta.
    for (mix, least) in [("A+B", 1000), ("alpha+beta", 5)] {
        let flags = format!("{} --local 2 --protocol {mix} --numbers 32.10", flags());
        let made = madrigal(
            path,
            &format!("{flags} --batch 6 --prepare 2 --store {mix} --json"),
        );
        let made: Value = serde_json::from_str(&made.good().stdout).unwrap();
        assert_eq!(
            (&made["runs"], made["directory"].as_str()),
            (&2.into(), Some(mix))
        );
        assert!(made["store_bytes"].as_u64() > Some(100_000), "{made}");
        let told = |flags: &str| -> Value {
            let ended = madrigal(path, &format!("{flags} --json")).good();
            serde_json::from_str(&ended.stdout).unwrap()
        };
        let (usual, first) = (told(&flags), told(&format!("{flags} --store {mix}")));
        assert_eq!(first["correlations"], "store");
        assert_eq!(usual["results"], first["results"]);
        for party in 0..2 {
            let bytes = |run: &Value, phase: &str| {
                run["parties"][party][phase]["bytes_sent"].as_u64().unwrap()
            };
            // Where correlations are there already, circuits may have more ANDs to be less deep.
            assert!(bytes(&first, "online") >= bytes(&usual, "online"));
            let rounds = |run: &Value| run["parties"][party]["online"]["rounds"].as_u64();
            assert!(rounds(&first) <= rounds(&usual), "{mix}");
            let [before, after] = [&usual, &first].map(|run| bytes(run, "setup"));
            assert!(
                least * after < before,
                "{mix}: {before} and {after} bytes in setup"
            );
        }
        assert_eq!(
            madrigal(path, &format!("{flags} --store {mix} -q")).status,
            0
        );
        let third = format!("{flags} --store {mix}");
        madrigal(path, &third).bad(3, &["are needed", "are left", "--prepare"]);
    }
    let line = format!("{} --local 3 --protocol R --prepare 1 --store r", flags());
    madrigal(path, &line).bad(2, &["no correlations are needed", "--store"]);
    assert!(!path.join("r").exists());
    madrigal(path, &format!("{} --local 2 --prepare 1", flags())).bad(2, &["--store"]);
}
