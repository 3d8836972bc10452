//! Ring elements or bits.

use madrigal_engine::{Element, Sharing, Width};
use madrigal_operations::Backend;

use super::Mix;

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

/// The ring of `bits` bits.
pub(super) fn width(bits: u32) -> Width {
    let found = Width::ALL
        .into_iter()
        .find(|width| width.bits() == bits as usize);
    found.expect("rings have 8, 16, 32, 64 or 128 bits")
}
