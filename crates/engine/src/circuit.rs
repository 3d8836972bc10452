//! A circuit ready to be planned: compiled, with the widths of its values.

use std::sync::{Arc, OnceLock};

use madrigal_circuit::{Layered, Netlist, Stats};
use madrigal_garbling::{Program, Walk};

/// A compiled circuit.
#[derive(Debug, Clone)]
pub struct Circuit {
    name: String,
    inputs: Vec<u32>,
    outputs: Vec<u32>,
    digest: [u8; 32],
    stats: Stats,
    layered: Layered,
    /// Of the compiled program; every job compares it.
    compiled_digest: [u8; 32],
    /// Made when it is first garbled.
    labels: OnceLock<Arc<Walk>>,
}

impl Circuit {
    /// Compiles a netlist.
    pub fn new(netlist: &Netlist) -> Self {
        let layered = Layered::compile(netlist);
        Self {
            name: netlist.name().to_owned(),
            inputs: netlist.inputs().to_vec(),
            outputs: netlist.outputs().to_vec(),
            digest: netlist.digest(),
            stats: netlist.stats(),
            compiled_digest: layered.digest(),
            layered,
            labels: OnceLock::new(),
        }
    }

    /// The name that the netlist was read under.
    pub fn name(&self) -> &str {
        &self.name
    }

    /// Widths of the input values, in bits.
    pub fn inputs(&self) -> &[u32] {
        &self.inputs
    }

    /// Widths of the output values, in bits.
    pub fn outputs(&self) -> &[u32] {
        &self.outputs
    }

    /// SHA-256 of the netlist's meaning.
    pub fn digest(&self) -> [u8; 32] {
        self.digest
    }

    /// SHA-256 of the [compiled program](Self::layered), with the order of its gates.
    pub fn compiled_digest(&self) -> [u8; 32] {
        self.compiled_digest
    }

    /// What the file holds. The compiled program may have fewer ANDs.
    pub fn stats(&self) -> &Stats {
        &self.stats
    }

    /// The compiled program.
    pub fn layered(&self) -> &Layered {
        &self.layered
    }

    /// The compiled program, ready to be garbled.
    pub(crate) fn garbled(&self) -> Program<'_> {
        let labels = self
            .labels
            .get_or_init(|| Program::new(&self.layered).walk());
        Program::again(&self.layered, Arc::clone(labels))
    }

    /// Bits of all output values together.
    pub(crate) fn output_bits(&self) -> usize {
        self.outputs.iter().map(|&width| width as usize).sum()
    }
}
