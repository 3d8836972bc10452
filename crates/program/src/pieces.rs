//! Arrays that come piece by piece.

use madrigal_core::Wipe;

use crate::array::{Array, Words};
use crate::element::Type;
use crate::shape::Shape;

/// An array whose elements come piece by piece, so that whoever converts them need not hold all of them twice.
///
/// It may hold secrets of its owner: it is wiped when dropped.
///
/// ```
/// use madrigal_program::{ArrayPieces, Shape, Type};
///
/// let number = "Fixed<i32, 8>".parse::<Type>()?;
/// let mut pieces = ArrayPieces::new(number, Shape::checked(&[3]).expect("three elements"));
/// assert!(pieces.push_f64([1.5, -2.0].into_iter()).is_ok());
/// assert_eq!(pieces.push_f64([1e9].into_iter()), Err(2)); // the element at 2 is out of the type's range
/// assert!(pieces.push_f64([0.25].into_iter()).is_ok());
/// let array = pieces.finish().expect("as many as the shape says");
/// assert_eq!(array.to_f64(), [1.5, -2.0, 0.25]);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
pub struct ArrayPieces {
    element: Type,
    shape: Shape,
    words: Words,
}

impl ArrayPieces {
    /// No elements yet of an array of this type and shape.
    pub fn new(element: Type, shape: Shape) -> Self {
        let words = Words::with_room(element, shape.elements());
        Self {
            element,
            shape,
            words,
        }
    }

    /// The type of the elements.
    pub fn element(&self) -> Type {
        self.element
    }

    /// The lengths of the axes.
    pub fn shape(&self) -> &Shape {
        &self.shape
    }

    /// Number of elements that have not come yet.
    pub fn missing(&self) -> usize {
        self.shape.elements() - self.words.len()
    }

    /// Takes the next elements by their bits in two's complement, of which those above the type's are left out. Those that are
    /// more than the shape says are left out, too.
    pub fn push_codes(&mut self, codes: impl Iterator<Item = u128>) {
        let mask = self.element.mask();
        let missing = self.missing();
        self.words.push(codes.take(missing).map(|code| code & mask));
    }

    /// Takes the numbers of the type nearest to these as the next elements. Those that are more than the shape says are left out.
    ///
    /// # Errors
    /// The place in the array of the first number that is out of the type's range or none; then none of these is taken.
    pub fn push_f64(&mut self, numbers: impl Iterator<Item = f64> + Clone) -> Result<(), usize> {
        let element = self.element;
        let codes = numbers
            .take(self.missing())
            .map(|number| element.nearest(number));
        if let Some(place) = codes.clone().position(|code| code.is_none()) {
            return Err(self.words.len() + place);
        }
        self.words.push(codes.map(Option::unwrap_or_default));
        Ok(())
    }

    /// The array, or `None` if elements are missing.
    pub fn finish(mut self) -> Option<Array> {
        if self.missing() > 0 {
            return None;
        }
        let words = std::mem::replace(&mut self.words, Words::W8(Vec::new()));
        Some(Array::new(self.element, self.shape.clone(), words))
    }
}

impl Drop for ArrayPieces {
    fn drop(&mut self) {
        self.words.wipe();
    }
}

impl std::fmt::Debug for ArrayPieces {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "{}{}", self.element, self.shape)
    }
}
