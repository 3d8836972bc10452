//! What goes from one stage of a run to later ones.

use madrigal_engine::Element;
use madrigal_operations::Backend;

use super::Domain;
use super::lowering::{Lowering, Native, Result};
use super::steps::{Action, Slot};
use crate::error::Fault;
use crate::ir::Value;

impl Lowering<'_> {
    /// A value of an earlier stage, in the form that it was kept in.
    pub(super) fn take(&mut self, number: usize, place: usize) -> Result<()> {
        let content = self.ports.taken[place].cell.content();
        let kept = content.and_then(|content| content.sort);
        let kept = kept.ok_or_else(|| self.fault(Fault::NotKept))?;
        let domain = match kept.element {
            Element::Ring(_) => Domain::Ring,
            Element::Bits(_) => Domain::Bits,
        };
        let backend = self.backend(domain);
        if backend.kept.sharing != kept.sharing {
            let (found, mix) = (kept.sharing.name(), self.mix.to_string());
            return Err(self.fault(Fault::KeptIn { found, mix }));
        }
        let taken = self.action(Action::Taken(place), &[], kept);
        let slot = self.chain(backend.from_kept(), &[taken])?[0];
        let form = &mut self.forms[number][0];
        match domain {
            Domain::Ring => form.ring = Some(slot),
            Domain::Bits => form.bits = Some(slot),
        }
        Ok(())
    }

    /// A value for later stages, as it is; where it could be either, as it is used here, else as arithmetic has it.
    pub(super) fn keep(&mut self, value: Value) -> Result<Slot> {
        self.operator = "a kept value".into();
        let wants = self.wants[value.node as usize][value.output as usize];
        let bits = match self.native(value) {
            Native::Bits => true,
            Native::Ring => false,
            Native::Free if self.element(value).is_bool() => true,
            Native::Free => !self.mix.arithmetic_is_in_a_ring() || wants.bits && !wants.ring,
        };
        let slot = match bits {
            true => self.bits_slot(value)?,
            false => self.ring_slot(value)?,
        };
        let backend = Backend::of(self.draft.sort(slot).sharing);
        Ok(self.chain(backend.to_kept(), &[slot])?[0])
    }
}
