//! Circuits with branches, or anything else.
#![no_main]

mod common;

use madrigal_circuit::branches::{Branching, Form, Guarded};

libfuzzer_sys::fuzz_target!(|text: &[u8]| {
    let circuit = match Branching::read("fuzz", text, &common::LIMITS) {
        Ok(circuit) => circuit,
        Err(error) => return drop(error.to_string()),
    };
    let written = circuit.write();
    let again = Branching::read("again", &written, &common::LIMITS);
    let again = again.expect("what was written can be read");
    assert_eq!(again.digest(), circuit.digest());
    assert_eq!(again.write(), written);

    let (inputs, outputs) = common::check(&circuit.flatten());
    assert!(
        circuit.evaluate(&inputs) == outputs,
        "the flat circuit differs from the oracle"
    );
    for form in [Form::Gated, Form::Free] {
        let guarded = Guarded::compile(&circuit, form).interpret(&inputs);
        assert!(guarded == outputs, "{form:?} differs from the oracle");
    }
});
