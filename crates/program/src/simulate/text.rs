//! Values as people write them.

use madrigal_core::Zeroizing;
use thiserror::Error;

use super::ports::Inputs;
use crate::array::{Array, Words};
use crate::element::Type;
use crate::ports::InputPort;
use crate::shape::{MAX_ELEMENTS, Shape};

/// A text that is no value of an input.
#[derive(Debug, Clone, PartialEq, Eq, Error)]
#[non_exhaustive]
pub enum TextError {
    /// An element that the type does not have. It is a secret: only its place is told.
    #[error("line {line}: element {place} is no {element}")]
    Element {
        /// Counted from 1.
        line: usize,
        /// Number of the element in the text, counted from 1.
        place: usize,
        /// The input's type.
        element: Type,
    },
    /// Too few elements, or too many.
    #[error("{found} elements, where {expected} are expected")]
    Elements {
        /// Number of elements of the input's shape.
        expected: usize,
        /// Number of elements in the text.
        found: usize,
    },
}

impl Inputs {
    /// Reads the value of the input at `place` among a program's `ports`: elements row by row, with commas,
    /// spaces or line ends between them; `true` or `false`, integers in decimal or, after `0x`, in
    /// hexadecimal, numbers with a fixed point in decimal, to the 53 bits that `f64` has.
    ///
    /// # Errors
    /// Elements that the input's type does not have, and another number of them than its shape has.
    ///
    /// # Panics
    /// If there is no such port.
    pub fn read(&mut self, ports: &[InputPort], place: usize, text: &str) -> Result<(), TextError> {
        let port = &ports[place];
        let sort = &port.tensor_type;
        let array = Array::read(sort.element, Some(&sort.shape), text)?;
        self.push(port, place, array.elements().clone());
        Ok(())
    }
}

impl Array {
    /// Reads elements row by row, as [`Inputs::read`] does; without a shape they are a vector.
    ///
    /// # Errors
    /// [`TextError`]: elements that the type does not have, and another number of them than the shape has.
    pub fn read(element: Type, shape: Option<&Shape>, text: &str) -> Result<Self, TextError> {
        let expected = shape.map_or(MAX_ELEMENTS, Shape::elements);
        let mut codes = Zeroizing::new(Vec::with_capacity(expected.min(text.len() / 2 + 1)));
        let mut found = 0;
        for (line, text) in (1..).zip(text.lines()) {
            let separate = |c: char| c == ',' || c == ';' || c.is_whitespace();
            for word in text.split(separate).filter(|word| !word.is_empty()) {
                found += 1;
                let Some(code) = element.read(word) else {
                    let place = found;
                    return Err(TextError::Element {
                        line,
                        place,
                        element,
                    });
                };
                // Elements that do not fit are counted, not kept.
                if found <= expected {
                    codes.push(code);
                }
            }
        }
        let shape = shape.cloned().unwrap_or_else(|| Shape::of(vec![found]));
        match found == shape.elements() {
            true => {
                let words = Words::collect(element, codes.iter().copied());
                Ok(Self::new(element, shape, words))
            }
            false => Err(TextError::Elements { expected, found }),
        }
    }
}

impl Inputs {
    /// Gives the inputs at these places among `ports` random values that follow from `seed`: edges of their
    /// types, small numbers, and any. For tests: they are no secrets.
    pub fn fill(&mut self, ports: &[InputPort], places: &[usize], seed: u64) {
        let mut state = seed;
        for &place in places {
            let (element, shape) = (
                ports[place].tensor_type.element,
                &ports[place].tensor_type.shape,
            );
            let codes = (0..shape.elements()).map(|_| {
                let [kind, high, low] = [(); 3].map(|()| next(&mut state));
                let word = u128::from(high) << 64 | u128::from(low);
                let code = match kind % 6 {
                    0 => word % 2,
                    1 => element.mask() - word % 2,
                    2 => (1 << (element.bits() - 1)) - word % 2,
                    3 => word >> ((kind >> 8) % 128),
                    _ => word,
                };
                code & element.mask()
            });
            let words = Words::collect(element, codes);
            self.push(&ports[place], place, words);
        }
    }
}

/// 64 bits (Steele, Lea and Flood, "Fast splittable pseudorandom number generators", 2014).
fn next(state: &mut u64) -> u64 {
    *state = state.wrapping_add(0x9e37_79b9_7f4a_7c15);
    let z = (*state ^ *state >> 30).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    let z = (z ^ z >> 27).wrapping_mul(0x94d0_49bb_1331_11eb);
    z ^ z >> 31
}

impl Array {
    /// The elements as [`Inputs::read`] reads them, row by row.
    pub fn texts(&self) -> impl ExactSizeIterator<Item = String> + '_ {
        let element = self.element();
        self.codes().map(move |code| element.write(code))
    }
}

impl Type {
    /// The code of an element.
    fn read(self, word: &str) -> Option<u128> {
        if self.is_bool() {
            return match word {
                "1" | "true" => Some(1),
                "0" | "false" => Some(0),
                _ => None,
            };
        }
        if self.fraction() > 0 {
            return self.nearest(word.parse().ok()?);
        }
        let (negative, digits) = match word.strip_prefix('-') {
            Some(digits) => (true, digits),
            None => (false, word),
        };
        let magnitude = match digits.strip_prefix("0x") {
            // Another sign is none of the number's digits.
            Some(digits) if digits.bytes().all(|b| b.is_ascii_hexdigit()) => {
                u128::from_str_radix(digits, 16).ok()?
            }
            None if digits.bytes().all(|b| b.is_ascii_digit()) => digits.parse().ok()?,
            _ => return None,
        };
        let most = match (self.is_signed(), negative) {
            (true, true) => self.least(),
            (true, false) => self.least() - 1,
            (false, true) => 0,
            (false, false) => self.mask(),
        };
        let code = if negative {
            magnitude.wrapping_neg()
        } else {
            magnitude
        };
        (magnitude <= most).then_some(code & self.mask())
    }

    /// An element from its code.
    fn write(self, code: u128) -> String {
        match (self.is_bool(), self.fraction(), self.is_signed()) {
            (true, ..) => (code == 1).to_string(),
            (_, 0, true) => self.extend(code).to_string(),
            (_, 0, false) => code.to_string(),
            _ => self.number(code).to_string(),
        }
    }
}
