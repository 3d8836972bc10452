//! Values that are opened, and their receivers.

use std::marker::PhantomData;

use madrigal_core::Party;

use crate::element::Plain;
use crate::ports::Opened;
use crate::secret::{Secret, Tensor};

/// All parties, as receivers.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Everyone;

/// Receivers of a value: a [`Party`], an array, slice or vector of them, or [`Everyone`].
pub trait Receivers {
    /// The parties, in order, each once, of a program for `parties` parties.
    fn receivers(&self, parties: usize) -> Vec<Party>;
}

impl Receivers for Party {
    fn receivers(&self, _: usize) -> Vec<Party> {
        vec![*self]
    }
}

impl Receivers for Everyone {
    fn receivers(&self, parties: usize) -> Vec<Party> {
        (0..parties)
            .filter_map(|index| Party::checked(index, parties).ok())
            .collect()
    }
}

impl Receivers for &[Party] {
    fn receivers(&self, _: usize) -> Vec<Party> {
        let mut parties = self.to_vec();
        parties.sort();
        parties.dedup();
        parties
    }
}

impl<const N: usize> Receivers for [Party; N] {
    fn receivers(&self, parties: usize) -> Vec<Party> {
        self.as_slice().receivers(parties)
    }
}

impl Receivers for Vec<Party> {
    fn receivers(&self, parties: usize) -> Vec<Party> {
        self.as_slice().receivers(parties)
    }
}

/// Opens values one by one, for [`Open`].
pub struct Opener<'a> {
    /// Opens a value; gives the output's number.
    pub(crate) open: &'a mut dyn FnMut(&Tensor) -> usize,
}

/// Values that can be opened at once: secrets, references to them, tuples of up to four, vectors.
pub trait Open {
    /// Handles that the results are fetched with.
    type Handles;

    /// Opens each value.
    fn open(&self, opener: &mut Opener<'_>) -> Self::Handles;
}

impl<T: Plain> Open for Secret<T> {
    type Handles = Opened<T>;

    fn open(&self, opener: &mut Opener<'_>) -> Opened<T> {
        Opened {
            number: (opener.open)(self.tensor()),
            element: PhantomData,
        }
    }
}

impl<O: Open> Open for &O {
    type Handles = O::Handles;

    fn open(&self, opener: &mut Opener<'_>) -> O::Handles {
        (*self).open(opener)
    }
}

impl<O: Open> Open for Vec<O> {
    type Handles = Vec<O::Handles>;

    fn open(&self, opener: &mut Opener<'_>) -> Vec<O::Handles> {
        self.iter().map(|value| value.open(opener)).collect()
    }
}

macro_rules! tuples {
    ($($($part:ident)*;)*) => {$(
        impl<$($part: Open),*> Open for ($($part,)*) {
            type Handles = ($($part::Handles,)*);

            #[allow(non_snake_case)] // a part is named as its type is
            fn open(&self, opener: &mut Opener<'_>) -> Self::Handles {
                let ($($part,)*) = self;
                ($($part.open(opener),)*)
            }
        }
    )*};
}
tuples! { A B; A B C; A B C D; }
