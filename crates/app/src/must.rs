//! Conditions that an input's owner makes sure of before anything is sent.
//!
//! A program computes what its inputs mean only where they are what it takes them for: persons of whom each is listed
//! once, groups that there are, numbers whose squares fit. Whatever one party's input alone decides is decided at that
//! party, on values that it knows: it costs nothing, and the others learn no more than that the party does not go on.

use madrigal_core::Zeroizing;
use madrigal_program::Array;

use crate::public_numbers::Numbers;

/// Conditions on an input.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Must {
    /// No element is further than this from zero.
    AtMost(u128),
    /// No two elements are equal.
    Differ,
    /// The elements' distances from zero add up to no more than this.
    SumToAtMost(u128),
}

/// Elements that are not as they must be, by their places, counted from 1. Elements are secrets: no value is told.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub(crate) enum Breach {
    #[error("element {place} is further than {most} from zero")]
    Above { place: usize, most: u128 },
    #[error("elements {first} and {second} are equal")]
    Equal { first: usize, second: usize },
    #[error("the elements' distances from zero add up to more than {most}")]
    Sum { most: u128 },
}

/// An input, by its name, with what must hold of it for these public numbers, and why.
pub(crate) struct Rule {
    pub(crate) input: &'static str,
    pub(crate) must: Box<dyn Fn(&Numbers) -> Must>,
    pub(crate) why: &'static str,
}

/// A condition on one owner's inputs, once the program's public numbers are known.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Required {
    pub(crate) input: &'static str,
    pub(crate) must: Must,
    pub(crate) why: &'static str,
}

impl Rule {
    pub(crate) fn required(&self, numbers: &Numbers) -> Required {
        Required {
            input: self.input,
            must: (self.must)(numbers),
            why: self.why,
        }
    }
}

impl Must {
    /// Tells the condition in words, of elements.
    pub(crate) fn told(self) -> String {
        match self {
            Self::AtMost(most) => format!("at most {most}"),
            Self::Differ => "no two equal".to_owned(),
            Self::SumToAtMost(most) => format!("at most {most} together"),
        }
    }

    pub(crate) fn check(self, array: &Array) -> Result<(), Breach> {
        let (signed, bits) = (array.element().is_signed(), array.element().bits());
        // Zeros are above a code's bits.
        let distance = |code: u128| match signed && code >> (bits - 1) & 1 == 1 {
            true => (u128::MAX >> (128 - bits)).wrapping_sub(code) + 1,
            false => code,
        };
        let distances = array.codes().map(distance);
        match self {
            Self::AtMost(most) => match { distances }.position(|distance| distance > most) {
                Some(place) => Err(Breach::Above {
                    place: place + 1,
                    most,
                }),
                None => Ok(()),
            },
            Self::Differ => {
                let mut sorted = Zeroizing::new(array.codes().collect::<Vec<u128>>());
                sorted.sort_unstable();
                let Some(pair) = sorted.windows(2).find(|pair| pair[0] == pair[1]) else {
                    return Ok(());
                };
                let mut places = (1..).zip(array.codes());
                let mut next = || places.find(|(_, code)| *code == pair[0]);
                match (next(), next()) {
                    (Some((first, _)), Some((second, _))) => Err(Breach::Equal { first, second }),
                    _ => unreachable!("the list was sorted from these elements"),
                }
            }
            Self::SumToAtMost(most) => {
                let sum = { distances }.try_fold(0, u128::checked_add);
                match sum.is_some_and(|sum| sum <= most) {
                    true => Ok(()),
                    false => Err(Breach::Sum { most }),
                }
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use madrigal_program::{Plain, Shape};

    use super::*;

    fn check<T: Plain>(must: Must, elements: &[T]) -> Result<(), Breach> {
        let shape = Shape::checked(&[elements.len()]).unwrap();
        must.check(&Array::of(&shape, elements).unwrap())
    }

    #[test]
    fn elements_are_held_against_what_must_be() {
        let above = |place, most| Err(Breach::Above { place, most });
        assert_eq!(check(Must::AtMost(7), &[0u32, 7]), Ok(()));
        assert_eq!(check(Must::AtMost(7), &[0u32, 8, 9]), above(2, 7));
        assert_eq!(check(Must::AtMost(7), &[7i8, -7]), Ok(()));
        assert_eq!(check(Must::AtMost(7), &[7i8, -7, -8]), above(3, 7));
        assert_eq!(check(Must::AtMost(127), &[i8::MIN]), above(1, 127));
        assert_eq!(check(Must::AtMost(128), &[i8::MIN]), Ok(()));
        let least = [i128::MIN];
        assert_eq!(check(Must::AtMost(1 << 127), &least), Ok(()));
        assert_eq!(
            check(Must::AtMost((1 << 127) - 1), &least),
            above(1, (1 << 127) - 1)
        );
        assert_eq!(check(Must::Differ, &[3u64, 1, 2]), Ok(()));
        let (first, second) = (2, 4);
        assert_eq!(
            check(Must::Differ, &[3u64, 1, 2, 1]),
            Err(Breach::Equal { first, second })
        );
        let sum = Must::SumToAtMost(10);
        assert_eq!(check(sum, &[3i32, -7]), Ok(()));
        assert_eq!(check(sum, &[4i32, -7]), Err(Breach::Sum { most: 10 }));
        let most = u128::MAX;
        assert_eq!(
            check(Must::SumToAtMost(most), &[most, 1]),
            Err(Breach::Sum { most })
        );
    }
}
