//! The flags of `run` and `explain`, made a job.

use madrigal_app::holders::HolderArg;
use madrigal_app::jobs::{Job, ReadCircuit, Source, read_circuit};
use madrigal_operations::Circuit;

use crate::args::{ComputationFlags, Receivers};
use crate::exit::{Result, Usage};

impl ComputationFlags {
    /// Reads the circuit that the flags name.
    pub fn read(&self) -> Result<ReadCircuit> {
        let path = self.circuit();
        ReadCircuit::of(path, &read_circuit(path)?, self.widths.as_deref())
    }

    /// Makes the job that the flags mean, without its lanes.
    pub fn job(&self, parties: usize, circuit: &Circuit) -> Result<Job> {
        let values = circuit.inputs().len();
        let owners = match &self.owners {
            Some(owners) => owners.clone(),
            None => (0..values)
                .map(|value| HolderArg::Party(value % parties))
                .collect(),
        };
        if owners.len() != values {
            return Err(Usage::Owners {
                found: owners.len(),
                expected: values,
                circuit: self.circuit().to_owned(),
            }
            .into());
        }
        Receivers::checked("--owners", &owners, parties)?;
        let to = self.to.holders(parties)?;
        Ok(Job {
            circuit: Source::File(self.circuit().to_owned()),
            parties,
            owners,
            to,
            lanes: 0,
            how: self.how.clone(),
            branches: self.branches,
            repeat: 1,
            apart: false,
        })
    }
}
