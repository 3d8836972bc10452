//! Values that go from one stage of a run to later ones.

use madrigal_operations::Backend;

use super::domain::Domain;
use super::state::{Lowering, Native, Result};
use super::steps::{Action, Slot};
use crate::error::Fault;
use crate::ir::Value;

impl Lowering<'_> {
    /// A value of an earlier stage, in the form that it was kept in.
    pub(super) fn take(&mut self, number: usize, place: usize) -> Result<()> {
        let content = self.ports.taken[place].cell.content();
        let kept = content.and_then(|content| content.sort);
        let kept = kept.ok_or_else(|| self.fault(Fault::NotKept))?;
        let domain = Domain::holding(kept.element);
        let backend = self.backend(domain);
        if backend.kept.sharing != kept.sharing {
            let (found, mix) = (kept.sharing.name(), self.mix.to_string());
            return Err(self.fault(Fault::KeptIn { found, mix }));
        }
        let taken = self.action(Action::Taken(place), &[], kept);
        let slot = self.chain(backend.from_kept(), &[taken])?[0];
        self.forms[number][0].set(domain, slot);
        Ok(())
    }

    /// A value for later stages, as it is; where it could be either, as it is used here, else as arithmetic has it.
    pub(super) fn keep(&mut self, value: Value) -> Result<Slot> {
        self.operator = "a kept value".into();
        let wants = self.wants[value.node as usize][value.output as usize];
        let ring = self.mix.arithmetic_is_in_a_ring() && (wants.ring || !wants.bits);
        let domain = match self.native(value) {
            Native::Free if ring && !self.element(value).is_bool() => Domain::Ring,
            native => native.domain(),
        };
        let slot = self.where_held(value, |lowering| lowering.slot(value, domain))?;
        let backend = Backend::of(self.draft.sort(slot).sharing);
        Ok(self.chain(backend.to_kept(), &[slot])?[0])
    }
}
