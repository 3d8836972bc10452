//! What goes from one stage of a run to later ones.

use madrigal_engine::Element as Holds;

use super::lowering::{Lowering, Native, Result};
use super::steps::{Action, Held, Holding, Slot};
use super::{Domain, Sharing};
use crate::error::Fault;
use crate::ir::Value;

impl Sharing {
    /// The sharing in which its values are kept: shares that are the same thing in every job.
    pub(crate) const fn kept(self) -> Self {
        match self {
            Self::Arithmetic | Self::Alpha => Self::Arithmetic,
            Self::Boolean | Self::Garbled | Self::GarbledByOne | Self::Beta => Self::Boolean,
            Self::Replicated => Self::Replicated,
        }
    }
}

impl Lowering<'_> {
    /// A value of an earlier stage, in the form that it was kept in.
    pub(super) fn take(&mut self, number: usize, place: usize) -> Result<()> {
        let content = self.ports.taken[place].cell.content();
        let kept = content.and_then(|content| content.sort);
        let kept = kept.ok_or_else(|| self.fault(Fault::NotKept))?;
        let domain = match kept.element {
            Holds::Ring(_) => Domain::Ring,
            Holds::Bits(_) => Domain::Bits,
        };
        if crate::execute::engine_sharing(self.sharing(domain).kept()) != kept.sharing {
            let (found, mix) = (kept.sharing.name(), self.mix.to_string());
            return Err(self.fault(Fault::KeptIn { found, mix }));
        }
        let bits = kept.element.bits() as u32;
        let held = match domain {
            Domain::Ring => self.ring_of(bits, kept.len),
            Domain::Bits => self.bits_of(bits, kept.len),
        };
        let slot = self.action(Action::Taken(place), &[], held);
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
            Native::Free => !self.mix.arithmetic().has_ring() || wants.bits && !wants.ring,
        };
        let (domain, slot) = match bits {
            true => (Domain::Bits, self.bits_slot(value)?),
            false => (Domain::Ring, self.ring_slot(value)?),
        };
        let held = Held {
            holding: Holding::Shared(self.sharing(domain).kept()),
            ..self.draft.held(slot).clone()
        };
        Ok(self.action(Action::Keep, &[slot], held))
    }
}
