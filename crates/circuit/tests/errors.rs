//! Tests what readers accept, and what they say about the rest.

#![allow(
    clippy::unwrap_used,
    clippy::print_stdout,
    reason = "a test may fail, and says why it skips"
)]

use madrigal_circuit::values::{self, ValueLimits};
use madrigal_circuit::{Format, Layered, Limits, Netlist, WriteError};

fn read(text: &str) -> Result<Netlist, String> {
    Netlist::read("f", text.as_bytes(), &Limits::default()).map_err(|error| error.to_string())
}

/// An AND in both formats, with all that is tolerated.
#[test]
fn tolerated() {
    let plain = read("1 3\n1 1 1\n\n2 1 0 1 2 AND\n").unwrap();
    assert_eq!(
        (plain.format(), plain.inputs(), plain.outputs()),
        (Format::Bristol, &[1, 1][..], &[1][..])
    );
    for text in [
        "1 3\n1 1 1\n2 1 0 1 2 AND",
        "1 3 \r\n1 1 1\t\r\n \r\n2 1 0 1 2 AND \r\n\r\n",
        "\n 1  3\n\n1 1 1\n    \n  2 1  0 1 2   AND\n\n\n",
        "# by hand\n1 3 # gates wires\n1 1 1\n#\n2 1 0 1 2 AND# the gate\n#end",
        "1 3\r1 1 1\r\r2 1 0 1 2 AND\r",
    ] {
        assert_eq!(read(text).unwrap(), plain, "{text:?}");
    }
    let fashion = read("1 3\n2 1 1\n1 1\n\n2 1 0 1 2 AND\n").unwrap();
    assert_eq!(
        (fashion.format(), fashion.inputs(), fashion.outputs()),
        (Format::BristolFashion, &[1, 1][..], &[1][..])
    );
    assert_eq!(fashion.digest(), plain.digest());
    for text in [
        "1 3\n2 1 1 \n1 1 \n         \n2 1 0 1 2 AND\n\n",
        "1 3\r\n2 1 1\r\n\r\n1 1\r\n2 1 0 1 2 AND",
    ] {
        assert_eq!(read(text).unwrap(), fashion, "{text:?}");
    }
}

/// Whatever ends a line, it is one line.
#[test]
fn lines_are_counted_as_editors_do() {
    for end in ["\n", "\r", "\r\n"] {
        let text = ["1 3", "# a comment", "", "1 1 1", "2 1 0 1 2 NEITHER"].join(end);
        let told = read(&text).unwrap_err();
        assert!(told.starts_with("f, line 5: unknown operation"), "{told}");
    }
}

/// XNOR, NAND and NOR, among MANDs and where outputs are inputs.
#[test]
fn inverted_gates_mean_what_they_say() {
    let gates = "2 1 0 1 2 XNOR\n2 1 2 1 3 NAND\n4 2 0 2 3 1 4 5 MAND\n2 1 5 2 6 NOR\n";
    let text = format!("4 7\n2 1 1\n3 1 1 2\n{gates}");
    let netlist = read(&text).unwrap();
    // The wires 3 to 6 are the outputs, and the last ones.
    assert_eq!(netlist.output_wires(), netlist.wires() - 4..netlist.wires());
    let within = read("1 3\n1 2\n1 3\n2 1 0 1 2 NOR").unwrap();
    for (netlist, outputs) in [(netlist, [1, 1, 2].to_vec()), (within, vec![3])] {
        let written = netlist.write().unwrap();
        let again = Netlist::read("again", &written, &Limits::default()).unwrap();
        assert_eq!(again.digest(), netlist.digest());
        for lane in 0..4_u32 {
            let (a, b) = (lane & 1, lane >> 1);
            let input = match netlist.inputs() {
                [1, 1] => format!("{a} {b}\n"),
                _ => format!("{lane}\n"),
            };
            let widths = netlist.inputs();
            let rows = values::read("in", input.as_bytes(), widths, &Default::default());
            let rows = rows.unwrap();
            let xnor = 1 ^ a ^ b;
            let nand = 1 ^ (xnor & b);
            let [low, high] = [a & nand, xnor & b];
            let nor = 1 ^ (high | xnor);
            let expected = match outputs.len() {
                3 => format!("{nand} {low} {}\n", high | nor << 1),
                _ => format!("{}\n", lane | (1 ^ (a | b)) << 2),
            };
            for found in [
                netlist.evaluate(&rows).unwrap(),
                Layered::compile(&netlist).interpret(&rows).unwrap(),
            ] {
                let found = values::write(&found, &outputs).unwrap();
                assert_eq!(String::from_utf8(found).unwrap(), expected, "{lane}");
            }
        }
    }
}

/// Netlists without gates, values of width 0, outputs that are inputs.
#[test]
fn small_ones() {
    let copy = read("0 2\n2 0 2\n").unwrap();
    assert_eq!(
        (copy.inputs(), copy.outputs(), copy.output_wires()),
        (&[2][..], &[2][..], 0..2)
    );
    let widths = read("1 1\n2 0 0\n3 0 1 0\n1 1 1 0 EQ").unwrap();
    assert_eq!(
        (widths.inputs(), widths.outputs()),
        (&[0, 0][..], &[0, 1, 0][..])
    );
    let nothing = read("0 0\n0\n0").unwrap();
    assert_eq!((nothing.inputs().len(), nothing.outputs().len()), (0, 0));
}

#[test]
fn refused_netlists() {
    let old = "1 3\n1 1 1\n";
    let new = "1 3\n2 1 1\n1 1\n";
    let gate = |header: &str, gate: &str| format!("{header}\n{gate}\n");
    for (text, expected) in [
        (
            String::new(),
            "line 1: the file ends before the first line 'gates wires'",
        ),
        ("\n \n".into(), "line 2: the file ends before"),
        ("1 3".into(), "line 1: the file ends before the second line"),
        (
            "<html>".into(),
            "line 1: expected the first line 'gates wires', found '<html>'",
        ),
        ("1 x".into(), "found 'x'"),
        ("1 -3".into(), "found '-3'"),
        (
            "1 4294967296".into(),
            "found '4294967296', which is no decimal number below 2^32",
        ),
        (
            "1 3 4\n1 1 1".into(),
            "line 1: expected the two numbers 'gates wires', found 3",
        ),
        (
            "1 4294967295\n1 1 1".into(),
            "announces 4294967295 wires, the limit is 268435456",
        ),
        (
            "4294967295 3\n1 1 1".into(),
            "announces 4294967295 gates, the limit is",
        ),
        (
            "1 3\n1 1\n2 1 0 1 2 AND".into(),
            "line 2: expected either the old Bristol format's three numbers",
        ),
        (
            "1 3\n3 1 1\n1 1\n2 1 0 1 2 AND".into(),
            "input values: the count says 3, but 2 widths follow",
        ),
        (
            "1 3\n2 1 1 1\n1 1\n2 1 0 1 2 AND".into(),
            "input values: the count says 2, but 3 widths follow",
        ),
        (
            "1 3\n2 1 1\n2 1\n2 1 0 1 2 AND".into(),
            "line 3: expected 'count width ... width' for the output values: the count says 2, but 1",
        ),
        (
            "1 3\n2 2 2\n1 1\n2 1 0 1 2 AND".into(),
            "the inputs take 4 bits, but there are only 3 wires",
        ),
        (
            "1 3\n2 1 1\n2 2 2\n2 1 0 1 2 AND".into(),
            "the outputs take 4 bits, but there are only 3 wires",
        ),
        (
            "1 30000000\n2 29999998 1\n1 1\n2 1 0 1 2 AND".into(),
            "29999999 input bits, the limit is 16777216",
        ),
        (
            "1 268435456\n1 1 1\n2 1 0 1 2 AND".into(),
            "cannot assign the others",
        ),
        // Compiled, this one took half a gigabyte.
        (
            "1 16777217\n1 16777216\n1 1\n1 1 0 16777216 INV".into(),
            "16777216 input bits, and a file of 44 bytes reads few of them",
        ),
        (
            gate(old, "2 1 0 1 2"),
            "line 4: expected '#in #out in... out... OP', but no operation",
        ),
        (
            gate(old, "2 1 0 1 2 AND AND"),
            "line 4: 'AND' follows the operation",
        ),
        (
            gate(old, "2 1 0 1 2 AND 2 1 0 1 2 AND"),
            "'2' follows the operation",
        ),
        (
            gate(old, "2 1 0 1 2 NXOR"),
            "unknown operation 'NXOR'; the old Bristol format has XOR, AND, OR, XNOR, NAND, NOR, INV and NOT",
        ),
        (gate(old, "2 1 0 1 2 and"), "unknown operation 'and'"),
        (gate(old, "1 1 0 2 EQW"), "unknown operation 'EQW'; the old"),
        (
            gate(new, "2 1 0 1 2 MUX"),
            "unknown operation 'MUX'; Bristol Fashion has XOR",
        ),
        (
            gate(old, "2 1 0 2 AND"),
            "announces 2 inputs and 1 outputs, but 2 wire numbers follow",
        ),
        (gate(old, "2 1 0 1 1 2 AND"), "but 4 wire numbers follow"),
        (
            gate(old, "4294967295 4294967295 0 AND"),
            "announces 4294967295 inputs",
        ),
        (gate(old, "AND"), "but 0 wire numbers follow"),
        (
            gate(old, "3 1 0 1 1 2 AND"),
            "AND takes 2 inputs and 1 output, found 3 inputs and 1 outputs",
        ),
        (
            gate(old, "1 2 0 1 2 AND"),
            "AND takes 2 inputs and 1 output, found 1 inputs and 2 outputs",
        ),
        (gate(old, "2 1 0 1 2 INV"), "INV takes 1 input and 1 output"),
        (gate(new, "2 1 0 1 2 EQ"), "EQ takes 1 input and 1 output"),
        (
            gate(new, "1 1 2 2 EQ"),
            "EQ assigns a constant, 0 or 1, found 2",
        ),
        (
            gate(new, "3 1 0 1 1 2 MAND"),
            "MAND takes 2n inputs and n outputs",
        ),
        (gate(new, "0 0 MAND"), "MAND takes 2n inputs"),
        (
            gate(old, "2 1 0 3 2 AND"),
            "wire 3 is out of range; the netlist has 3 wires, 0 to 2",
        ),
        (gate(old, "2 1 0 1 3 AND"), "wire 3 is out of range"),
        (
            gate(old, "2 1 0 2 2 AND"),
            "wire 2 is read before any gate assigns it",
        ),
        (
            gate(old, "2 1 0 1 1 AND"),
            "wire 1 is an input (wires 0 to 1) and cannot be assigned",
        ),
        (
            "2 4\n1 1 1\n2 1 0 1 2 AND\n2 1 0 1 2 AND".into(),
            "line 4: wire 2 is assigned a second time",
        ),
        (
            "2 4\n1 1 1\n2 1 0 1 2 AND\n".into(),
            "announces 2 gates, 1 gate lines came",
        ),
        (
            "1 3\n1 1 1\n2 1 0 1 2 AND\n2 1 0 1 2 AND".into(),
            "line 4: the header announces 1 gates, 2 gate lines came",
        ),
        (
            "1 4\n1 1 1\n2 1 0 1 3 AND".into(),
            "announces 4 wires, but inputs and gates drive 3: wire 2 is never assigned",
        ),
        (
            "1 4\n1 1 2\n2 1 0 1 3 AND".into(),
            "output wire 2 is never assigned",
        ),
    ] {
        let error = read(&text).expect_err(&text);
        assert!(
            error.starts_with("f, line ") && error.contains(expected),
            "{text:?}: {error}"
        );
    }
}

/// Tokens are shown short and printable.
#[test]
fn tokens_in_messages() {
    let mut text = b"1 3\n1 1 1\n2 1 0 1 2 ".to_vec();
    text.extend(std::iter::repeat_n(b'A', 5000));
    text.push(0xff);
    let error = Netlist::read("f", &text, &Limits::default())
        .unwrap_err()
        .to_string();
    assert!(
        error.contains("'AAAAAAAAAAAAAAAAAAAAAAAA...'") && error.len() < 200,
        "{error}"
    );
    let error = Netlist::read("f", b"\x1b[2J 1", &Limits::default())
        .unwrap_err()
        .to_string();
    assert!(error.contains(r"\x1b[2J") && error.is_ascii(), "{error}");
}

#[test]
fn limits_hold() {
    let text = b"1 3\n2 1 1\n1 1\n2 1 0 1 2 AND";
    let ok = Limits {
        gates: 1,
        wires: 3,
        input_bits: 2,
        values: 2,
        ..Limits::default()
    };
    assert!(Netlist::read("f", text, &ok).is_ok());
    for limits in [
        Limits { gates: 0, ..ok },
        Limits { wires: 2, ..ok },
        Limits {
            input_bits: 1,
            ..ok
        },
        Limits { values: 1, ..ok },
    ] {
        let error = Netlist::read("f", text, &limits).unwrap_err().to_string();
        assert!(error.contains("the limit is"), "{error}");
    }
}

#[test]
fn formats_that_do_not_fit() {
    let write = |text: &str| read(text).unwrap().write_as(Format::Bristol);
    assert_eq!(
        write("0 3\n3 1 1 1\n1 1\n"),
        Err(WriteError::Inputs { found: 3 })
    );
    assert_eq!(
        write("0 2\n1 2\n2 1 1\n"),
        Err(WriteError::Outputs { found: 2 })
    );
    assert_eq!(write("1 1\n0\n1 1\n1 1 1 0 EQ"), Err(WriteError::Constant));
    assert_eq!(
        write("1 3\n1 2\n1 2\n1 1 0 2 EQW"),
        Err(WriteError::InputIsOutput)
    );
}

#[test]
fn refused_values() {
    let limits = ValueLimits {
        lanes: 3,
        line_bytes: 20,
        bytes: 1 << 10,
    };
    for (text, widths, expected) in [
        (
            "",
            &[8][..],
            "f: no values; expected one line per lane with 1 hexadecimal numbers",
        ),
        (" \n\n", &[8], "f: no values"),
        ("12\n\n34", &[8], "f, line 2: the line is blank"),
        ("12 34", &[8], "f, line 1: expected 1 value, found 2"),
        (
            "12\n12 34",
            &[8, 8],
            "f, line 1: expected 2 values, found 1",
        ),
        ("1 2", &[], "expected 0 values, found 2"),
        (
            "1g",
            &[8],
            "f, line 1, value 1: a character is not a hexadecimal digit",
        ),
        (
            "12 0x",
            &[8, 8],
            "f, line 1, value 2: a character is not a hexadecimal digit",
        ),
        ("12 -1", &[8, 8], "value 2: a character is not"),
        ("+1", &[8], "a character is not"),
        ("1\u{e9}", &[8], "a character is not"),
        ("\u{1b}[1m", &[8], "a character is not"),
        ("x23", &[8], "a character is not"),
        (
            "012",
            &[8],
            "value 1: 3 hexadecimal digits, but 8 bits take at most 2",
        ),
        (
            "0x123",
            &[8],
            "3 hexadecimal digits, but 8 bits take at most 2",
        ),
        ("40", &[6], "value 1: the number does not fit 6 bits"),
        ("2", &[1], "does not fit 1 bits"),
        ("200", &[9], "does not fit 9 bits"),
        ("1", &[0], "does not fit 0 bits"),
        (
            "00",
            &[0],
            "2 hexadecimal digits, but 0 bits take at most 1",
        ),
        ("z", &[0], "a character is not"),
        ("1\n1\n1\n1", &[8], "f, line 4: 4 lanes, the limit is 3"),
        (
            "1                     2",
            &[8],
            "line 1: 23 bytes on the line, the limit is 20",
        ),
        ("1", &[1 << 20], "bytes of values, the limit is 1024"),
        (
            "1",
            &[u32::MAX, u32::MAX],
            "bytes of values, the limit is 1024",
        ),
    ] {
        let error = values::read("f", text.as_bytes(), widths, &limits)
            .expect_err(text)
            .to_string();
        assert!(error.contains(expected), "{text:?}: {error}");
    }
}

/// Errors tell the place of a secret, `Debug` its shape.
#[test]
fn secrets_stay_out_of_messages() {
    let error = values::read("f", b"dead beefy", &[16, 16], &ValueLimits::default()).unwrap_err();
    let rows = values::read("f", b"dead beef", &[16, 16], &ValueLimits::default()).unwrap();
    for shown in [format!("{error:?} {error}"), format!("{rows:?}")] {
        assert!(
            !shown.contains("dead") && !shown.contains("beef"),
            "{shown}"
        );
    }
}
