//! The flags of `run` and `explain`, made a job.

use madrigal_app::jobs::{Job, Source, read_netlist, with_widths};
use madrigal_circuit::Netlist;
use madrigal_core::Party;
use madrigal_operations::Circuit;

use crate::args::{Receivers, Work};
use crate::exit::{Result, Usage};

impl Work {
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
        check_parties("--owners", &owners, parties)?;
        let to = match &self.to {
            Receivers::All => (0..parties).collect(),
            Receivers::These(to) if to.is_empty() => return Err(Usage::NoReceiver.into()),
            Receivers::These(to) => to.clone(),
        };
        check_parties("--to", &to, parties)?;
        Ok(Job {
            circuit: Source::File(self.circuit().to_owned()),
            parties,
            owners,
            to,
            lanes: 0,
            how: self.how.clone(),
            repeat: 1,
            apart: false,
        })
    }
}

fn check_parties(flag: &'static str, named: &[usize], parties: usize) -> Result<()> {
    for &index in named {
        Party::checked(index, parties).map_err(|source| Usage::Party { flag, source })?;
    }
    Ok(())
}
