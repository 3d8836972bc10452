//! The flags of `run` and `explain`, made a job.

use madrigal_app::jobs::{Job, Source, read_netlist, with_widths};
use madrigal_circuit::Netlist;
use madrigal_core::Party;
use madrigal_operations::Circuit;

use crate::args::ComputationFlags;
use crate::exit::{Result, Usage};

impl ComputationFlags {
    /// Reads the circuit that the flags name.
    pub fn netlist(&self) -> Result<Netlist> {
        let path = self.circuit();
        with_widths(read_netlist(path)?, path, self.widths.as_deref())
    }

    /// Makes the job that the flags mean, without its lanes.
    pub fn job(&self, parties: usize, circuit: &Circuit) -> Result<Job> {
        let values = circuit.inputs().len();
        let owners = match &self.owners {
            Some(owners) => owners.clone(),
            None => (0..values).map(|value| value % parties).collect(),
        };
        if owners.len() != values {
            return Err(Usage::Owners {
                found: owners.len(),
                expected: values,
                circuit: self.circuit().to_owned(),
            }
            .into());
        }
        Usage::checked("--owners", &owners, parties)?;
        let to = self.to.parties(parties)?;
        Ok(Job {
            circuit: Source::File(self.circuit().to_owned()),
            parties,
            owners,
            to: to.into_iter().map(Party::index).collect(),
            lanes: 0,
            how: self.how.clone(),
            repeat: 1,
            apart: false,
        })
    }
}
