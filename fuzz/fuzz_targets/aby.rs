//! Files in ABY's format, or anything else.
#![no_main]

mod common;

use madrigal_circuit::Netlist;

libfuzzer_sys::fuzz_target!(|text: &[u8]| {
    match Netlist::read_aby("fuzz", text, &common::LIMITS) {
        Ok(netlist) => drop(common::check(&netlist)),
        Err(error) => drop(error.to_string()),
    }
});
