//! Arrays as clear values of the engine, and back.

use madrigal_core::Ring;
use madrigal_engine::{Element, Shares, Sort, with_ring};

use crate::array::{Array, Words, with};
use crate::element::Type;

/// An array as a clear value.
pub(crate) fn shares(array: &Array, sort: Sort) -> Shares {
    debug_assert_eq!(array.words().len(), sort.len);
    match sort.element {
        Element::Ring(width) => with_ring!(width, T => {
            let mut shares = Shares::zeros(sort);
            let to = shares.component_mut::<T>(0).iter_mut();
            with!(array.words(), words => to.zip(words).for_each(|(to, &word)| {
                *to = <T as Ring>::from_u128(Ring::to_u128(word));
            }));
            shares
        }),
        Element::Bits(bits) => {
            with!(array.words(), words => Shares::bits_of(sort.sharing, bits, words))
        }
    }
}

/// The elements of a clear value.
pub(crate) fn words(value: &Shares, element: Type) -> Words {
    match value.sort().element {
        Element::Ring(width) => with_ring!(width, T => {
            let elements = value.component::<T>(0).iter();
            Words::collect(element, elements.map(|&element| Ring::to_u128(element)))
        }),
        Element::Bits(_) => match element.bits() {
            ..=8 => Words::W8(value.to_numbers().to_vec()),
            9..=16 => Words::W16(value.to_numbers().to_vec()),
            17..=32 => Words::W32(value.to_numbers().to_vec()),
            33..=64 => Words::W64(value.to_numbers().to_vec()),
            _ => Words::W128(value.to_numbers().to_vec()),
        },
    }
}
