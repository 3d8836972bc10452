//! Bristol Fashion files: the input follows a header that is well-formed, so that gates are reached.
#![no_main]

mod common;

use madrigal_circuit::Netlist;

libfuzzer_sys::fuzz_target!(|text: &[u8]| {
    let read = |text: &[u8]| match Netlist::read("fuzz", text, &common::LIMITS) {
        Ok(netlist) => drop(common::check(&netlist)),
        Err(error) => drop(error.to_string()),
    };
    read(text);
    let gates = text
        .split(|&byte| byte == b'\n')
        .filter(|line| !line.trim_ascii().is_empty())
        .count();
    for wires in [gates + 4, gates + 6] {
        let mut whole = format!("{gates} {wires}\n2 3 1\n2 1 2\n").into_bytes();
        whole.extend_from_slice(text);
        read(&whole);
    }
});
