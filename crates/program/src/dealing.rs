//! Values of clients, cut up for parties, and put together of the parties' shares.

use std::sync::Arc;

use madrigal_engine::{Shares, Sharing, Sort};
use madrigal_kernels::Prg;
use madrigal_operations::{Backend, CombineError};

use crate::computation::Computation;
use crate::lower::Mix;
use crate::simulate::{InputError, InputShare, Inputs, Outputs};

impl Computation {
    /// Deals what clients bring: gives the inputs of each party, which are its own values and its share of each
    /// client's. It is for trials and tests, where all values are known in one place.
    ///
    /// # Errors
    /// [`InputError`]: inputs that are missing, and any that are not what the program asks for.
    pub fn deal(
        &self,
        inputs: &Inputs,
        mix: Mix,
        random: &mut Prg,
    ) -> Result<Vec<Inputs>, InputError> {
        let ports = self.inputs();
        let arrays = inputs.arrays(ports)?;
        let mut dealt = vec![Inputs::new(); self.parties()];
        for (place, (port, array)) in ports.iter().zip(&arrays).enumerate() {
            if let Some(owner) = port.owner.party() {
                dealt[owner.index()].push(port, place, array.words().clone());
                continue;
            }
            let (sharing, element) = mix.kept_form(port.tensor_type.element);
            let sort = Sort::new(Sharing::PUBLIC, element, array.words().len());
            let clear = crate::clear::shares(array, sort);
            let shares = Backend::of(sharing)
                .kept
                .deal(&clear, self.parties(), random);
            for (own, shares) in dealt.iter_mut().zip(shares) {
                let submission = format!("dealt {place}");
                let share = InputShare { shares, submission };
                *own = std::mem::take(own).with_share_at(ports, place, share);
            }
        }
        Ok(dealt)
    }

    /// Puts together what clients get: of the outputs of all parties, in order, those that are for clients. Parties hand
    /// out shares that add up to the value, so nothing is checked: see `SECURITY.md` for what a party that lies can do.
    ///
    /// # Errors
    /// [`CombineError`]: outputs of too few parties, or of another program.
    pub fn put_together(&self, parties: &[Outputs]) -> Result<Outputs, CombineError> {
        let mut outputs = Outputs::none(self.outputs());
        for (number, port) in self.outputs().iter().enumerate() {
            if port.clients().next().is_none() {
                continue;
            }
            let shares = parties
                .iter()
                .filter_map(|party| party.shares().nth(number).flatten());
            let shares: Vec<Shares> = shares.cloned().collect();
            let sharing = shares
                .first()
                .map_or(Sharing::A, |share| share.sort().sharing);
            let value = Backend::of(sharing).kept.combine(&shares)?;
            outputs.put(
                number,
                Arc::new(crate::clear::array(&value, &port.tensor_type)),
            );
        }
        Ok(outputs)
    }
}
