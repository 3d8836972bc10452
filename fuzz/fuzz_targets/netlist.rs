//! Valid netlists of every kind of gate, made from the input's bytes.
#![no_main]

mod common;

use std::fmt::Write as _;

use madrigal_circuit::{Format, Netlist};

libfuzzer_sys::fuzz_target!(|bytes: &[u8]| {
    let Some(text) = compose(&bytes[..bytes.len().min(1 << 10)]) else {
        return;
    };
    let netlist =
        Netlist::read("fuzz", text.as_bytes(), &common::LIMITS).expect("the netlist is valid");
    let (inputs, outputs) = common::check(&netlist);
    if let Ok(old) = netlist.write_as(Format::Bristol) {
        let old =
            Netlist::read("old", &old, &common::LIMITS).expect("what was written can be read");
        assert_eq!(old.format(), Format::Bristol);
        assert!(
            old.evaluate(&inputs).expect("same inputs") == outputs,
            "the old-format form differs"
        );
    }
});

/// Two input widths, an output width, then per gate its kind and operands, counted back from the newest wire.
fn compose(bytes: &[u8]) -> Option<String> {
    let (&[first, second, output], mut rest) = bytes.split_first_chunk()?;
    let (first, second) = (u32::from(first % 9), u32::from(second % 9));
    let mut wires = first + second;
    let mut gates = String::new();
    let mut count = 0;
    let mut next = || {
        let (&byte, tail) = rest.split_first()?;
        rest = tail;
        Some(u32::from(byte))
    };
    while let Some(kind) = next() {
        let Some(pick) = next() else { break };
        let mut wire = |wires: u32| next().map(|byte| wires - 1 - byte % wires);
        let a = if wires == 0 {
            0
        } else {
            wires - 1 - pick % wires
        };
        match kind % 8 {
            _ if wires == 0 => writeln!(gates, "1 1 {} {wires} EQ", pick & 1),
            0 => writeln!(gates, "1 1 {} {wires} EQ", pick & 1),
            1 => writeln!(gates, "1 1 {a} {wires} EQW"),
            2 => writeln!(gates, "1 1 {a} {wires} INV"),
            3 => {
                let Some((b, c)) = wire(wires).zip(wire(wires)) else {
                    break;
                };
                writeln!(gates, "4 2 {a} {b} {c} {a} {wires} {} MAND", wires + 1)
            }
            4 => {
                let Some(b) = wire(wires) else { break };
                writeln!(gates, "2 1 {a} {b} {wires} OR")
            }
            5 => {
                let Some(b) = wire(wires) else { break };
                writeln!(gates, "2 1 {a} {b} {wires} XOR")
            }
            _ => {
                let Some(b) = wire(wires) else { break };
                writeln!(gates, "2 1 {a} {b} {wires} AND")
            }
        }
        .ok()?;
        wires += if wires > 0 && kind % 8 == 3 { 2 } else { 1 };
        count += 1;
    }
    let output = u32::from(output).min(wires);
    Some(format!(
        "{count} {wires}\n2 {first} {second}\n1 {output}\n\n{gates}"
    ))
}
