//! What holds for every netlist that is read.

use madrigal_circuit::{Layered, Limits, Netlist, Rows};

/// Small enough that reading, compiling and evaluating take milliseconds at most.
pub const LIMITS: Limits = Limits {
    gates: 1 << 12,
    wires: 1 << 13,
    input_bits: 1 << 12,
    values: 64,
    bytes: 1 << 24,
};

/// Writes and reads, compiles and evaluates a netlist; returns its outputs for the inputs that it made.
pub fn check(netlist: &Netlist) -> (Rows, Rows) {
    let text = netlist
        .write()
        .expect("a netlist that was read can be written");
    let again =
        Netlist::read(netlist.name(), &text, &LIMITS).expect("what was written can be read");
    assert_eq!(&again, netlist);
    assert_eq!(again.digest(), netlist.digest());

    let program = Layered::compile(netlist);
    let stats = netlist.stats();
    assert!(program.depth() <= stats.and_depth as usize);
    assert!(program.and_count() as u64 <= stats.and + stats.or);

    let inputs = noise(netlist.input_bits() as usize, 70);
    let outputs = netlist
        .evaluate(&inputs)
        .expect("there is a row per input bit");
    let layered = program
        .interpret(&inputs)
        .expect("there is a row per input bit");
    assert!(
        outputs == layered,
        "the layered program differs from the oracle"
    );
    (inputs, outputs)
}

fn noise(rows: usize, lanes: usize) -> Rows {
    let mut all = Rows::new(rows, lanes);
    let mut state = 1u64;
    for byte in all.as_bytes_mut() {
        state = state
            .wrapping_mul(6364136223846793005)
            .wrapping_add(1442695040888963407);
        *byte = (state >> 56) as u8;
    }
    all.clear_padding();
    all
}
