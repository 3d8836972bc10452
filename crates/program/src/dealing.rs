//! Values of clients, cut up for parties, and put together of the parties' shares.

use std::sync::Arc;

use madrigal_core::Party;
use madrigal_engine::{Shares, Sharing};
use madrigal_kernels::Prg;
use madrigal_operations::{Backend, CombineError};

use crate::array::Array;
use crate::computation::Computation;
use crate::lower::Mix;
use crate::ports::InputPort;
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
                dealt[owner.index()].push(port, place, array.elements().clone());
                continue;
            }
            let shares = self.dealt(place, array, mix, random);
            for (own, share) in dealt.iter_mut().zip(shares) {
                *own = std::mem::take(own).with_share_at(ports, place, share);
            }
        }
        Ok(dealt)
    }

    /// Adds to inputs a party's share of what each client brings, of which the values are among the inputs where no share is.
    /// Parties with a generator from the same seed deal the same shares.
    pub(crate) fn deal_to(
        &self,
        me: Party,
        inputs: &Inputs,
        mix: Mix,
        random: &mut Prg,
    ) -> Result<Inputs, InputError> {
        let ports = self.inputs();
        let shares = inputs.shares_of(ports)?;
        let needed =
            |place: usize| ports[place].owner.client().is_some() && shares[place].is_none();
        let place_of = |port: &InputPort| ports.iter().position(|one| std::ptr::eq(one, port));
        let arrays = inputs.arrays_of(ports, |port| place_of(port).is_some_and(needed))?;
        let mut own = inputs.clone();
        for (place, array) in arrays.iter().enumerate() {
            if let Some(array) = array.as_ref().filter(|_| needed(place)) {
                let share = self
                    .dealt(place, array, mix, random)
                    .swap_remove(me.index());
                own = own.with_share_at(ports, place, share);
            }
        }
        Ok(own)
    }

    /// The shares of all parties of a client's value for the input at `place`.
    fn dealt(&self, place: usize, array: &Array, mix: Mix, random: &mut Prg) -> Vec<InputShare> {
        let (sharing, element) = mix.kept_form(array.element());
        let clear = array.to_shares(element);
        let kept = &Backend::of(sharing).kept;
        let shares = kept.deal(&clear, self.parties(), random);
        let share = |shares| InputShare {
            shares,
            submission: format!("dealt {place}"),
        };
        shares.into_iter().map(share).collect()
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
