//! Circuits with answers that were computed without them: reader, oracle and layered program.

#![allow(
    clippy::unwrap_used,
    clippy::print_stdout,
    reason = "a test may fail, and says why it skips"
)]

use std::path::Path;

use madrigal_circuit::{Format, Layered, Limits, Netlist, Sums, values};
use madrigal_testkit::shared_data;
use serde_json::Value;

/// The data that came with the repository.
#[test]
fn own_data() {
    check_folder(
        &Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/data"),
        &mut |_, _, _| {},
    );
}

/// The whole collection, where it is at hand.
#[test]
fn all_shared_data() {
    let Some(shared) = shared_data() else { return };
    for (folder, table_columns) in [("bristol", 10), ("bristol_fashion", 10)] {
        let folder = shared.join("data/circuits").join(folder);
        let readme = std::fs::read_to_string(folder.join("README.md")).unwrap();
        let mut rows = 0;
        check_folder(&folder, &mut |file, netlist, _| {
            let row = readme
                .lines()
                .find(|line| line.starts_with(&format!("| {file} |")))
                .unwrap();
            let cells: Vec<_> = row.split('|').map(str::trim).skip(1).collect();
            assert_eq!(cells.len(), table_columns + 1, "{row}");
            let s = netlist.stats();
            let mut other = Vec::new();
            for (name, count) in [
                ("OR", s.or),
                ("EQ", s.constant),
                ("EQW", s.copy),
                ("MAND", s.mand),
            ] {
                if count > 0 {
                    other.push(format!("{name}:{count}"));
                }
            }
            let numbers = [s.gates, s.wires, s.and, s.xor, s.inv].map(|n| n.to_string());
            assert_eq!(cells[2..7], numbers, "{row}");
            assert_eq!(cells[7], other.join(" "), "{row}");
            assert_eq!(
                cells[8..10],
                [s.and_depth.to_string(), s.total_depth.to_string()],
                "{row}"
            );
            rows += 1;
        });
        assert!(rows > 8, "{rows} circuits in {}", folder.display());
    }
}

fn check_folder(folder: &Path, also: &mut dyn FnMut(&str, &Netlist, &Layered)) {
    let answers = std::fs::read_to_string(folder.join("known_answers.json")).unwrap();
    let answers: Value = serde_json::from_str(&answers).unwrap();
    for (file, answer) in answers["circuits"].as_object().unwrap() {
        let text = std::fs::read(folder.join(file)).unwrap();
        let netlist = Netlist::read(file, &text, &Limits::default()).unwrap();
        let old = answer["header"] == "bristol_old";
        assert_eq!(netlist.format() == Format::Bristol, old, "{file}");
        let widths = |side| -> Vec<u32> {
            answer[side]
                .as_array()
                .unwrap()
                .iter()
                .map(|v| v["width"].as_u64().unwrap() as u32)
                .collect()
        };
        assert_eq!(netlist.inputs(), widths("inputs"), "{file}");
        assert_eq!(netlist.outputs(), widths("outputs"), "{file}");

        let program = Layered::compile(&netlist);
        let inputs = values::read(
            file,
            &lines(answer, "inputs"),
            netlist.inputs(),
            &Default::default(),
        )
        .unwrap();
        let expected = values::read(
            file,
            &lines(answer, "outputs"),
            netlist.outputs(),
            &Default::default(),
        )
        .unwrap();
        assert!(
            netlist.evaluate(&inputs).unwrap() == expected,
            "{file}: the oracle"
        );
        assert!(
            program.interpret(&inputs).unwrap() == expected,
            "{file}: the layered program"
        );

        let sums = Sums::of(&program);
        assert!(
            sums.interpret(&inputs).unwrap() == expected,
            "{file}: sums of products"
        );

        let stats = netlist.stats();
        assert!(
            program.depth() <= stats.and_depth as usize,
            "{file}: layers"
        );
        assert!(
            program.and_count() as u64 <= stats.and + stats.or,
            "{file}: ANDs"
        );
        println!(
            "{file}: {} ANDs ({} sums), {} layers, widest {}, {} local operations, {} rows",
            program.and_count(),
            sums.sum_count(),
            program.depth(),
            program.widest_layer(),
            program.local_count(),
            program.rows()
        );
        let written = netlist.write().unwrap();
        assert_eq!(
            Netlist::read(file, &written, &Limits::default()).unwrap(),
            netlist,
            "{file}: written and read"
        );
        also(file, &netlist, &program);
    }
}

fn lines(answer: &Value, side: &str) -> Vec<u8> {
    let cases = answer["cases"].as_array().unwrap().iter();
    let line = |case: &Value| {
        let values: Vec<_> = case[side]
            .as_array()
            .unwrap()
            .iter()
            .map(|v| v.as_str().unwrap().to_owned())
            .collect();
        values.join(" ") + "\n"
    };
    cases.map(line).collect::<String>().into_bytes()
}
