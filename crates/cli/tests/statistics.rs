//! The JSON that scripts read, and the estimate that must agree with it.

use serde_json::Value;

use crate::command::{adder, madrigal};

fn json(text: &str) -> Value {
    serde_json::from_str(text).expect("JSON")
}

#[test]
fn the_fields_that_scripts_rely_on() {
    let directory = adder();
    let path = directory.path();
    for transport in ["memory", "tcp"] {
        let line = format!(
            "run --circuit sum.txt --local 2 --input 0=a --input 1=b --transport {transport} --repeat 3 --output out --stats stats.json"
        );
        let told = madrigal(path, &line).good();
        assert!(told.stderr.contains("AES blocks"), "{told}");
        let statistics = json(&std::fs::read_to_string(path.join("stats.json")).unwrap());
        assert_eq!(statistics["lanes"], 2);
        assert_eq!(statistics["circuit"]["and"], 7);
        assert_eq!(statistics["circuit"]["depth"], 7);
        assert_eq!(statistics["repeat"], 3);
        let provenance = &statistics["provenance"];
        let command = provenance["command"].as_array().unwrap();
        assert!(command.contains(&"--repeat".into()) && command.contains(&"0=a".into()));
        assert_eq!(
            provenance["written"].as_str().unwrap().len(),
            20,
            "{provenance}"
        );
        assert!(provenance["cores"].as_u64() > Some(0) && provenance["level"].is_string());
        for party in 0..2 {
            let party = &statistics["parties"][party];
            for phase in ["setup", "online"] {
                for field in [
                    "seconds",
                    "bytes_sent",
                    "bytes_received",
                    "messages",
                    "rounds",
                ] {
                    assert!(
                        party[phase][field].as_f64().unwrap() > 0.0,
                        "{phase}.{field}"
                    );
                }
            }
            assert_eq!(party["runs"].as_array().unwrap().len(), 3);
            let spread = &party["setup"]["seconds_spread"];
            let [min, median, max] =
                ["min", "median", "max"].map(|one| spread[one].as_f64().unwrap());
            assert!(min <= median && median <= max, "{spread}");
            assert!(spread["mean"].as_f64() >= Some(min), "{spread}");
            // Setup consists of its primitives, to the byte.
            let primitives = party["primitives"].as_array().unwrap();
            let names: Vec<_> = primitives
                .iter()
                .map(|one| one["name"].as_str().unwrap())
                .collect();
            assert_eq!(names, ["base OTs", "bit triples (bits)"]);
            assert_eq!(
                (&primitives[0]["items"], &primitives[1]["items"]),
                (&256.into(), &14.into())
            );
            for field in [
                "bytes_sent",
                "bytes_received",
                "messages",
                "rounds",
                "aes_blocks",
            ] {
                let all = primitives.iter().map(|one| one[field].as_u64().unwrap());
                assert_eq!(Some(all.sum()), party["setup"][field].as_u64(), "{field}");
            }
            if cfg!(target_os = "linux") {
                assert!(party["peak_rss_bytes"].as_u64().unwrap() > 1 << 20);
            }
        }
    }
    let line = "run --circuit sum.txt --local 2 --input 0=a --input 1=b --output out --json";
    let told = madrigal(path, line).good();
    assert_eq!(json(&told.stdout)["lanes"], 2);
    assert_eq!(told.stderr, "");
}

/// Where messages are long under way, masked bits go through two layers of ANDs in a round: what is explained is run, and
/// gives the same.
#[test]
fn masked_circuits_take_fewer_rounds_on_long_lines() {
    let directory = adder();
    let path = directory.path();
    let rounds = |protocol: &str| {
        let flags = format!("--circuit sum.txt --protocol {protocol} --network wan");
        let explained = format!("explain {flags} -N 2 --lanes 2 --json");
        let explained = json(&madrigal(path, &explained).good().stdout);
        let line =
            format!("run {flags} --local 2 --input 0=a --input 1=b --output {protocol} --json");
        let spent = json(&madrigal(path, &line).good().stdout);
        let rounds = |told: &Value| told["parties"][0]["online"]["rounds"].as_u64();
        assert_eq!(rounds(&explained), rounds(&spent));
        rounds(&spent).unwrap()
    };
    // Seven layers and the opening; the inputs, and seven layers in four rounds.
    assert_eq!((rounds("B"), rounds("beta")), (8, 5));
    let output = |protocol| std::fs::read(path.join(protocol)).unwrap();
    assert_eq!(output("B"), output("beta"));
}

#[test]
fn explain_tells_what_run_spends() {
    let directory = adder();
    let path = directory.path();
    for how in [
        "--broadcast direct",
        "--broadcast relay",
        "--phases interleaved",
        "--threads 3",
    ] {
        let explained = format!("explain --circuit sum.txt --local 3 --lanes 2 {how} --json");
        let explained = json(&madrigal(path, &explained).good().stdout);
        let line = format!(
            "run --circuit sum.txt --local 3 --input 0=a --input 1=b --transport memory {how} --output out --json"
        );
        let spent = json(&madrigal(path, &line).good().stdout);
        for party in 0..3 {
            for phase in ["setup", "online"] {
                for field in [
                    "bytes_sent",
                    "bytes_received",
                    "messages",
                    "rounds",
                    "aes_blocks",
                ] {
                    assert_eq!(
                        explained["parties"][party][phase][field],
                        spent["parties"][party][phase][field],
                        "{how}, party {party}, {phase}.{field}"
                    );
                }
            }
        }
    }
    let told = madrigal(path, "explain --circuit sum.txt --network wan").good();
    assert!(told.stdout.contains("at least"), "{told}");
}
