//! Values that are opened, and their receivers.

use std::marker::PhantomData;

use madrigal_core::Party;

use crate::element::Plain;
use crate::holder::{Client, Holder};
use crate::ports::Opened;
use crate::secret::{Secret, Tensor};

/// All parties, as receivers.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Everyone;

/// Receivers of a value: a [`Party`], a [`Client`], an array, slice or vector of such, a pair of receivers, or [`Everyone`].
pub trait Receivers {
    /// The receivers, parties first, in order, each once, of a program for `parties` parties.
    fn receivers(&self, parties: usize) -> Vec<Holder>;
}

impl Receivers for Everyone {
    fn receivers(&self, parties: usize) -> Vec<Holder> {
        (0..parties)
            .filter_map(|index| Party::checked(index, parties).ok())
            .map(Holder::from)
            .collect()
    }
}

/// Sorts receivers, and keeps one of equal ones.
fn each_once(mut holders: Vec<Holder>) -> Vec<Holder> {
    holders.sort();
    holders.dedup();
    holders
}

macro_rules! one {
    ($($holder:ty)*) => {$(
        impl Receivers for $holder {
            fn receivers(&self, _: usize) -> Vec<Holder> {
                vec![Holder::from(self.clone())]
            }
        }
    )*};
}
one! { Party Client &Client Holder }

impl<T: Receivers> Receivers for &[T] {
    fn receivers(&self, parties: usize) -> Vec<Holder> {
        each_once(self.iter().flat_map(|one| one.receivers(parties)).collect())
    }
}

impl<T: Receivers, const N: usize> Receivers for [T; N] {
    fn receivers(&self, parties: usize) -> Vec<Holder> {
        self.as_slice().receivers(parties)
    }
}

impl<T: Receivers> Receivers for Vec<T> {
    fn receivers(&self, parties: usize) -> Vec<Holder> {
        self.as_slice().receivers(parties)
    }
}

impl<A: Receivers, B: Receivers> Receivers for (A, B) {
    fn receivers(&self, parties: usize) -> Vec<Holder> {
        let (a, b) = (self.0.receivers(parties), self.1.receivers(parties));
        each_once([a, b].concat())
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
