//! ABY's format: what files mean, and what is no such file.

#![allow(clippy::unwrap_used, reason = "a test may fail")]

use madrigal_circuit::{Layered, Limits, Netlist, values};
use madrigal_testkit::shared_data;
use serde_json::Value;

/// All statements, an empty `C`, constants, noise, and outputs that are an input, a constant and a gate that
/// is not the last.
const EVERYTHING: &str = "#Statistics:\n\nS 3 1\t2\nC\nnoise of some kind\n0 -2\n1 -3\n\
    A 1 2 10\nX\t3  -3 11\r\nI 1 12\nM 1 2 3 13\nA 11 12 14\nDFFs:\n#Outputs\nO 14 10 13 3 -3 -2\n";

fn read(text: &str) -> Result<Netlist, String> {
    let read = Netlist::read("own.aby", text.as_bytes(), &Limits::default());
    read.map_err(|error| error.to_string())
}

#[test]
fn statements_mean_what_they_say() {
    let netlist = read(EVERYTHING).unwrap();
    assert_eq!((netlist.inputs(), netlist.outputs()), (&[3][..], &[6][..]));
    assert!(Netlist::is_aby(EVERYTHING.as_bytes()));
    for lane in 0..8u32 {
        // Bit 0 is wire 3, bit 1 is wire 1, bit 2 is wire 2.
        let [w3, w1, w2] = [0, 1, 2].map(|bit| lane >> bit & 1 == 1);
        let chosen = if w3 { w2 } else { w1 };
        let bits = [!w3 & !w1, w1 & w2, chosen, w3, true, false];
        let expected = (0..)
            .zip(bits)
            .fold(0, |all, (at, bit)| all | u32::from(bit) << at);
        let text = format!("{lane:x}\n");
        let inputs = values::read("in", text.as_bytes(), &[3], &Default::default()).unwrap();
        for rows in [
            netlist.evaluate(&inputs).unwrap(),
            Layered::compile(&netlist).interpret(&inputs).unwrap(),
        ] {
            let found = values::write(&rows, &[6]).unwrap();
            assert_eq!(found, format!("{expected:02x}\n").into_bytes(), "{lane}");
        }
    }
    // The circuit is the same in Bristol Fashion.
    let written = netlist.write().unwrap();
    let again = Netlist::read("again", &written, &Limits::default()).unwrap();
    assert_eq!(again.digest(), netlist.digest());
}

/// One value in ABY's file may be of two parties.
#[test]
fn input_bits_are_values_of_other_widths() {
    let one = read("S 0 1 2 3 # of both\nA 0 2 4 # a comment\nO 4\n").unwrap();
    assert_eq!(one.inputs(), [4]);
    let two = one.clone().with_inputs(&[1, 3]).unwrap();
    assert_eq!((two.inputs(), two.gates()), (&[1, 3][..], one.gates()));
    assert_ne!(two.digest(), one.digest());
    let told = one.with_inputs(&[2, 3]).unwrap_err().to_string();
    assert!(told.contains("5 bits") && told.contains("have 4"), "{told}");
}

/// The client's inputs come first, wherever they stand.
#[test]
fn values_are_lines() {
    let netlist = read("S 0 1\nC 2 3 4\nA 0 2 5\nS 6\nO 5 6\nO 4\n").unwrap();
    assert_eq!(netlist.inputs(), [3, 2, 1]);
    assert_eq!(netlist.outputs(), [2, 1]);
}

#[test]
fn mistakes_are_told_with_their_line() {
    for (text, line, what) in [
        ("S 0\nA 0 1 2\nO 2\n", 2, "wire 1 is read before"),
        (
            "S 0 1\nA 0 1 0\nO 0\n",
            2,
            "wire 0 is assigned a second time",
        ),
        ("S 0 0\nO 0\n", 1, "wire 0 is assigned a second time"),
        ("S 0 1\n\nA 0 1\nO 0\n", 3, "A takes 3 wires, found 2"),
        ("S 0 1\nM 0 1 0 1 5\nO 0\n", 2, "M takes 4 wires, found 5"),
        (
            "S 0 1\n0 -2 -3\nO 0\n",
            2,
            "a constant takes 1 wires, found 2",
        ),
        ("S 0 x\nO 0\n", 1, "found 'x'"),
        ("S 0\nI 0 -\nO 0\n", 2, "found '-'"),
        ("S 0\nI 0 4294967296\nO 0\n", 2, "below 2^32"),
        ("S 0\nO 7\n", 2, "wire 7 is read before"),
        ("S 0 1\nA 0 1 2\n", 3, "no line `O`"),
        ("S 0 1\nA 0 1 2\nO\n", 3, "no line `O`"),
    ] {
        let told = read(text).unwrap_err();
        let place = format!("own.aby, line {line}: ");
        // The end is the last line that is not blank, or the one after it.
        let at_end = what.starts_with("no line") && told.starts_with("own.aby, line ");
        assert!(told.starts_with(&place) || at_end, "{text:?}: {told}");
        assert!(told.contains(what), "{text:?}: {told}");
    }
    let limits = Limits {
        gates: 1,
        input_bits: 2,
        values: 1,
        ..Limits::default()
    };
    for text in [
        "S 0 1 2\nO 0\n",
        "S 0\nC 1\nO 0\n",
        "S 0\nI 0 1\nI 1 2\nO 2\n",
        "S 0\nO 0\nO 0\n",
    ] {
        let refused = Netlist::read("own.aby", text.as_bytes(), &limits).unwrap_err();
        assert!(refused.to_string().contains("the limit is"), "{refused}");
    }
}

/// Every prefix of a file, and the file with any byte changed, is read or refused.
#[test]
fn damage_is_read_or_refused() {
    let text = EVERYTHING.as_bytes();
    for end in 0..text.len() {
        drop(Netlist::read("cut", &text[..end], &Limits::default()));
        for byte in [0, b'-', b'9', b'\n', b'O', 0xff] {
            let mut text = text.to_vec();
            text[end] = byte;
            drop(Netlist::read("changed", &text, &Limits::default()));
        }
    }
}

/// ABY's own files, where they are at hand.
#[test]
fn all_shared_data() {
    let Some(shared) = shared_data() else { return };
    let folder = shared.join("data/circuits/aby");
    let answers = std::fs::read_to_string(folder.join("known_answers.json")).unwrap();
    let answers: Value = serde_json::from_str(&answers).unwrap();
    let number = |value: &Value| {
        let digits = value.as_str().unwrap().trim_start_matches("0x");
        u128::from_str_radix(digits, 16).unwrap()
    };
    let joined = |values: &Value, ports: &Value| {
        let mut place = 0;
        let mut all = 0u128;
        let values = values.as_array().unwrap().iter();
        for (value, port) in values.zip(ports.as_array().unwrap()) {
            all |= number(value) << place;
            place += port["width"].as_u64().unwrap();
        }
        all
    };
    let mut cases = 0;
    for (file, answer) in answers["circuits"].as_object().unwrap() {
        let text = std::fs::read(folder.join(file)).unwrap();
        let netlist = Netlist::read(file, &text, &Limits::default()).unwrap();
        let program = Layered::compile(&netlist);
        let list = answer["cases"].as_array().unwrap();
        let lines = list.iter().map(|case| {
            let inputs = joined(&case["inputs"], &answer["inputs"]);
            format!("{inputs:x}\n")
        });
        let lines: String = lines.collect();
        let inputs = values::read(
            file,
            lines.as_bytes(),
            netlist.inputs(),
            &Default::default(),
        );
        let inputs = inputs.unwrap();
        let found = values::write(&program.interpret(&inputs).unwrap(), netlist.outputs());
        let found = String::from_utf8(found.unwrap()).unwrap();
        for (case, found) in list.iter().zip(found.lines()) {
            let expected = joined(&case["outputs"], &answer["outputs"]);
            assert_eq!(u128::from_str_radix(found, 16).unwrap(), expected, "{file}");
            cases += 1;
        }
    }
    assert!(cases > 20, "{cases} answers in {}", folder.display());
}
