//! Ring elements or bits.

use madrigal_engine::{Element, Sharing, Width};
use madrigal_operations::Backend;

use super::Mix;
use crate::element::Type;

/// Ring elements or bits.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub(super) enum Domain {
    Ring,
    Bits,
}

impl Domain {
    /// The domain of elements.
    pub(super) fn holding(element: Element) -> Self {
        match element {
            Element::Ring(_) => Self::Ring,
            Element::Bits(_) => Self::Bits,
        }
    }

    /// The domain of values in a sharing; of one that holds both, the domain that arithmetic is done in.
    pub(super) fn of(sharing: Sharing, mix: Mix) -> Self {
        let backend = Backend::of(sharing);
        match (&backend.numbers, &backend.bits) {
            (Some(_), None) => Self::Ring,
            (None, _) => Self::Bits,
            _ if mix.arithmetic() == sharing => Self::Ring,
            _ => Self::Bits,
        }
    }

    /// An element of `bits` bits.
    pub(super) fn element(self, bits: u32) -> Element {
        match self {
            Self::Ring => Element::Ring(width(bits)),
            Self::Bits => Element::Bits(bits as usize),
        }
    }
}

impl Mix {
    /// The form in which a value of this type is shared where it comes from outside of the session: numbers as
    /// ring elements where the mix computes on such, else as bits; booleans as bits. It depends on the type and the
    /// mix alone, so a client can make shares without a plan.
    pub fn kept_form(self, element: Type) -> (Sharing, Element) {
        if element.is_bool() || !self.arithmetic_is_in_a_ring() {
            return self.kept_bits(element);
        }
        let kept = Backend::of(self.ring()).kept.sharing;
        (kept, Domain::Ring.element(element.bits()))
    }

    /// The form in which the bits of a value of this type are shared where it comes from outside of the session: circuits
    /// that a file has take them so.
    pub fn kept_bits(self, element: Type) -> (Sharing, Element) {
        let kept = Backend::of(self.bits()).kept.sharing;
        (kept, Domain::Bits.element(element.bits()))
    }
}

/// The ring of `bits` bits.
pub(super) fn width(bits: u32) -> Width {
    let found = Width::ALL
        .into_iter()
        .find(|width| width.bits() == bits as usize);
    found.expect("rings have 8, 16, 32, 64 or 128 bits")
}
