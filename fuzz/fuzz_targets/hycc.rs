//! A bundle, or modules of HyCC one after the other, each after its length in two bytes.
#![no_main]

use madrigal_circuit::Limits;
use madrigal_circuit::hycc::{BitSharing, Bundle, Linked, Module};

const LIMITS: Limits = Limits {
    gates: 1 << 12,
    wires: 1 << 14,
    input_bits: 1 << 12,
    values: 64,
    bytes: 1 << 24,
};

libfuzzer_sys::fuzz_target!(|bytes: &[u8]| {
    if let Err(error) = Bundle::read("fuzz", bytes) {
        drop(error.to_string());
    }
    let mut rest = bytes;
    let mut modules = Vec::new();
    while let Some((length, more)) = rest.split_first_chunk() {
        let length = usize::from(u16::from_le_bytes(*length)).min(more.len());
        let (module, more) = more.split_at(length);
        rest = more;
        match Module::read("fuzz", module, &LIMITS) {
            Ok(module) => modules.push((module, BitSharing::Yao)),
            Err(error) => return drop(error.to_string()),
        }
    }
    let flat = match Linked::new(modules, &LIMITS) {
        Ok(linked) => linked.flatten(),
        Err(error) => return drop(error.to_string()),
    };
    if let Ok(flat) = flat {
        let zeros = |ty: &madrigal_circuit::hycc::Type| vec![0; ty.bits() as usize];
        let inputs: Vec<_> = flat.inputs.iter().map(|input| zeros(&input.ty)).collect();
        for (output, bits) in flat.outputs.iter().zip(flat.evaluate(&inputs)) {
            assert_eq!(bits.len() as u64, output.ty.bits());
        }
    }
});
