//! Values of clients: shares that they have dealt, and shares that they are handed.

use std::sync::Arc;

use madrigal_engine::Sort;
use madrigal_operations::{Backend, HandOut};

use super::domain::Domain;
use super::state::{Lowering, Result};
use super::steps::{Action, Slot};
use crate::ir::Value;

impl Lowering<'_> {
    /// A client's input, in the one form that the client has shared it in: see [`Mix::kept_form`](super::Mix::kept_form).
    pub(super) fn dealt(&mut self, number: usize, place: usize) -> Result<()> {
        let port = &self.ports.inputs[place];
        let (sharing, element) = self.mix.kept_form(port.tensor_type.element);
        let sort = Sort::new(sharing, element, port.tensor_type.shape.elements());
        let at = std::mem::replace(&mut self.at, port.at);
        let dealt = self.action(Action::Input(place), &[], sort);
        let domain = Domain::holding(element);
        let slot = self.chain(self.backend(domain).from_kept(), &[dealt])?[0];
        self.at = at;
        self.forms[number][0].set(domain, slot);
        Ok(())
    }

    /// A value as shares for clients, in the form that the type and the mix say.
    pub(super) fn handed_out(&mut self, value: Value) -> Result<Slot> {
        let (_, element) = self.mix.kept_form(self.element(value));
        let slot = self.slot(value, Domain::holding(element))?;
        let backend = Backend::of(self.draft.sort(slot).sharing);
        let kept = self.chain(backend.to_kept(), &[slot])?[0];
        self.ending(Arc::new(HandOut), kept)
    }
}
