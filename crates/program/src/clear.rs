//! Arrays as clear values of the engine, and back.

use std::sync::Arc;

use madrigal_core::Ring;
use madrigal_engine::{Element, Mismatch, Operation, Shares, Sharing, Sort, with_ring};

use crate::array::{Array, Words, with};
use crate::element::Type;
use crate::shape::Shape;
use crate::tensor_type::TensorType;

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

/// A clear value as an array.
pub(crate) fn array(value: &Shares, typed: &TensorType) -> Array {
    let words = words(value, typed.element);
    Array::new(typed.element, typed.shape.clone(), words)
}

/// The elements of a clear value.
pub(crate) fn words(value: &Shares, element: Type) -> Words {
    match value.sort().element {
        Element::Ring(width) => with_ring!(width, T => {
            let elements = value.component::<T>(0).iter();
            Words::collect(element, elements.map(|&element| Ring::to_u128(element)))
        }),
        Element::Bits(_) => match element.bits() {
            ..=8 => Words::W8(numbers(value)),
            9..=16 => Words::W16(numbers(value)),
            17..=32 => Words::W32(numbers(value)),
            33..=64 => Words::W64(numbers(value)),
            _ => Words::W128(numbers(value)),
        },
    }
}

/// The numbers of an output, which is bits that fit and is known here.
fn numbers<T: Ring>(value: &Shares) -> Vec<T> {
    let numbers = value.to_numbers();
    numbers.expect("an output that is known").to_vec()
}

impl Array {
    /// The elements as a clear value of this kind of elements, which [`Mix::kept_form`](crate::lower::Mix::kept_form) gives.
    ///
    /// # Panics
    /// If the kind has fewer bits than the type.
    pub fn to_shares(&self, element: Element) -> Shares {
        assert!(
            element.bits() >= self.element().bits() as usize,
            "{element} for {self:?}"
        );
        shares(
            self,
            Sort::new(Sharing::PUBLIC, element, self.words().len()),
        )
    }

    /// The array whose elements a clear value has, as [`to_shares`](Self::to_shares) made them; `None` if it has another
    /// number of elements, is not clear or not known here, or its elements have another number of bits.
    pub fn from_shares(element: Type, shape: &Shape, value: &Shares) -> Option<Self> {
        let sort = value.sort();
        let fits = value.is_known()
            && sort.sharing.is_clear()
            && sort.len == shape.elements()
            && sort.element.bits() == element.bits() as usize;
        fits.then(|| Self::new(element, shape.clone(), words(value, element)))
    }
}

/// Carries out an operation on clear values, each as elements of these.
///
/// # Errors
/// [`Mismatch`] if the operation is not for these values.
pub(crate) fn by_operation(
    operation: &dyn Operation,
    inputs: &[Arc<Array>],
    elements: &[Element],
    outputs: &[TensorType],
) -> Result<Vec<Array>, Mismatch> {
    let values: Vec<Shares> = (inputs.iter().zip(elements))
        .map(|(array, &element)| {
            shares(
                array,
                Sort::new(Sharing::PUBLIC, element, array.words().len()),
            )
        })
        .collect();
    let values: Vec<&Shares> = values.iter().collect();
    let made = operation.plain(&values)?;
    let array = |(made, sort): (&Shares, &TensorType)| {
        Array::new(sort.element, sort.shape.clone(), words(made, sort.element))
    };
    Ok(made.iter().zip(outputs).map(array).collect())
}
