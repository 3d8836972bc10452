//! Shares of values that belong to nobody in the session: dealt by whoever brings a value, combined by whoever receives it.
//!
//! Parties keep values between stages as sums of *parts* ([`Keeping`]): ring elements add up, bits are XORed. Here the
//! same shares are made of a clear value and put together again, as plain data and without a session. Who does that is no
//! party: in MOTION (section 3.3) and in the protocol of Araki et al. (section 4) those who bring data are other
//! people than those who compute.

use madrigal_core::{Party, bits};
use madrigal_engine::{Element, Held, Shares, Sharing, Sort, with_ring};
use madrigal_kernels::{Prg, rings, xor_into};
use madrigal_protocols::replicated::PARTIES as THREE;
use thiserror::Error;

use crate::backend::Keeping;
use crate::parts::Parts;

impl Keeping {
    /// Cuts a clear value into the shares of `parties` parties, in order, as they keep values of this sharing.
    ///
    /// All parts but the last one are what `rng` gives; the last one is the value minus these. So any parts but one are
    /// uniform whatever the value is, if nobody else has the generator (property: pseudorandom generator): the shares of
    /// all parties but one, or of one party of three that hold two parts each, tell nothing of it.
    ///
    /// # Panics
    /// If the value is not clear or not known here, or `parties` parties cannot hold such shares.
    pub fn deal(&self, value: &Shares, parties: usize, rng: &mut Prg) -> Vec<Shares> {
        let last = self.parts.count(parties) - 1;
        self.deal_around(value, parties, last, rng)
    }

    /// Deals so that part `rest` is the value minus the others.
    fn deal_around(
        &self,
        value: &Shares,
        parties: usize,
        rest: usize,
        rng: &mut Prg,
    ) -> Vec<Shares> {
        assert!(
            value.is_known() && value.sort().sharing.is_clear(),
            "{value:?} is no clear value"
        );
        let parts = self.parts.count(parties);
        let one = |_| match value.sort().element {
            Element::Ring(width) => with_ring!(width, T => random_numbers::<T>(value.len(), rng)),
            Element::Bits(_) => random_bits(*value.sort(), rng),
        };
        let mut drawn: Vec<Shares> = (1..parts).map(one).collect();
        let mut left = value.clone().as_shared(Sharing::PUBLIC);
        for part in &drawn {
            combine_into(&mut left, part, Sign::Minus);
        }
        drawn.insert(rest, left);
        let share = |party| {
            let held = self.parts.held_by(party, parties);
            let held: Vec<&Shares> = held.into_iter().map(|part| &drawn[part]).collect();
            joined(self.sharing, &held)
        };
        Party::all(parties).map(share).collect()
    }

    /// The clear value that all parties' shares of it give, in order of the parties.
    ///
    /// Where each part is there twice the copies must agree; in other sharings any shares are a sharing of some value.
    ///
    /// # Errors
    /// [`CombineError`]: too few or too many shares, shares of other sorts, or copies of a part that differ.
    pub fn combine(&self, shares: &[Shares]) -> Result<Shares, CombineError> {
        let Some(first) = shares.first() else {
            return Err(CombineError::Count {
                got: 0,
                needs: self.holders_in_words(),
            });
        };
        if self.parts == Parts::TwoOfThree && shares.len() != THREE || shares.len() < 2 {
            let (got, needs) = (shares.len(), self.holders_in_words());
            return Err(CombineError::Count { got, needs });
        }
        let parties = shares.len();
        let sort = first.sort().shared(self.sharing);
        for (party, share) in Party::all(parties).zip(shares) {
            if *share.sort() != sort || !share.is_known() {
                let (got, expected) = (*share.sort(), sort);
                return Err(CombineError::Sort {
                    party,
                    got,
                    expected,
                });
            }
        }
        let mut sum = Shares::zeros(sort.shared(Sharing::PUBLIC));
        for part in 0..self.parts.count(parties) {
            let mut copies = self.parts.holders(part, parties).into_iter().map(|party| {
                let held = self.parts.held_by(party, parties);
                let component = held.iter().position(|&held| held == part);
                let component = component.expect("a holder of the part");
                (party, component_of(&shares[party.index()], component))
            });
            let (first, copy) = copies.next().expect("each part has a holder");
            for (second, other) in copies {
                if let Some(element) = difference(&copy, &other) {
                    return Err(CombineError::Copies {
                        part,
                        first,
                        second,
                        element,
                    });
                }
            }
            combine_into(&mut sum, &copy, Sign::Plus);
        }
        Ok(sum)
    }

    fn holders_in_words(&self) -> &'static str {
        match self.parts {
            Parts::OneEach => "one of each party, of two at least",
            Parts::TwoOfThree => "those of three parties",
        }
    }
}

/// Shares that do not go together.
#[derive(Debug, Clone, PartialEq, Eq, Error)]
#[non_exhaustive]
pub enum CombineError {
    /// Too few or too many shares.
    #[error(
        "{got} shares came, and a value is put together of {needs}: give all of them, each once"
    )]
    Count {
        /// Number of shares.
        got: usize,
        /// Number that there should be, in words.
        needs: &'static str,
    },
    /// Shares of values of different sorts.
    #[error(
        "the share of {party} is of {got} where {expected} was expected: the shares are of different values, ask for those of one"
    )]
    Sort {
        /// Party whose share it is.
        party: Party,
        /// Sort of its share.
        got: Sort,
        /// Sort of party 0's share.
        expected: Sort,
    },
    /// Copies of a part that differ.
    #[error(
        "{first} and {second} both hold part {part}, and their copies differ from element {element} on: one of the two gave a wrong share, or whoever dealt the value gave them different ones; do not use the value"
    )]
    Copies {
        /// Number of the part.
        part: usize,
        /// One of the parties.
        first: Party,
        /// The other one.
        second: Party,
        /// The first element that differs.
        element: usize,
    },
}

#[derive(Clone, Copy)]
enum Sign {
    Plus,
    Minus,
}

fn random_numbers<T: Held>(len: usize, rng: &mut Prg) -> Shares {
    let mut numbers = madrigal_core::Zeroizing::<Vec<T>>::zeros(len);
    rng.fill(rings::as_bytes_mut(&mut numbers));
    Shares::ring_of(Sharing::PUBLIC, numbers)
}

/// Bits whose padding is zero, as that of values is.
fn random_bits(sort: Sort, rng: &mut Prg) -> Shares {
    let mut drawn = Shares::zeros(sort.shared(Sharing::PUBLIC));
    rng.fill_words(drawn.words_mut());
    clear_padding(&mut drawn);
    drawn
}

fn clear_padding(value: &mut Shares) {
    let len = value.len();
    for plane in 0..value.sort().element.bits() {
        for component in 0..value.sort().sharing.components() {
            let plane = value.plane_mut(plane, component);
            plane[bits::bytes_for(len)..].fill(0);
            bits::clear_tail(plane, len);
        }
    }
}

/// Adds or subtracts a part, of one component each.
fn combine_into(sum: &mut Shares, part: &Shares, sign: Sign) {
    match part.sort().element {
        Element::Bits(_) => xor_into(sum.plane_bytes_mut(), part.plane_bytes()),
        Element::Ring(width) => with_ring!(width, T => {
            let (sum, part) = (sum.component_mut::<T>(0), part.component::<T>(0));
            match sign {
                Sign::Plus => rings::add_into(sum, part),
                Sign::Minus => rings::sub_into(sum, part),
            }
        }),
    }
}

/// A share of several parts, as its components.
fn joined(sharing: Sharing, parts: &[&Shares]) -> Shares {
    let mut share = Shares::zeros(parts[0].sort().shared(sharing));
    for (component, part) in parts.iter().enumerate() {
        match part.sort().element {
            Element::Bits(planes) => (0..planes).for_each(|plane| {
                let to = share.plane_mut(plane, component);
                to.copy_from_slice(part.plane(plane, 0));
            }),
            Element::Ring(width) => with_ring!(width, T => {
                share.component_mut::<T>(component).copy_from_slice(part.component::<T>(0));
            }),
        }
    }
    share
}

/// One component of a share, with zeros as its padding.
fn component_of(share: &Shares, component: usize) -> Shares {
    let mut part = Shares::zeros(share.sort().shared(Sharing::PUBLIC));
    match share.sort().element {
        Element::Bits(planes) => {
            for plane in 0..planes {
                part.plane_mut(plane, 0)
                    .copy_from_slice(share.plane(plane, component));
            }
            clear_padding(&mut part);
        }
        Element::Ring(width) => with_ring!(width, T => {
            part.component_mut::<T>(0).copy_from_slice(share.component::<T>(component));
        }),
    }
    part
}

/// The first element in which two copies differ.
fn difference(one: &Shares, other: &Shares) -> Option<usize> {
    match one.sort().element {
        Element::Bits(planes) => (0..planes)
            .filter_map(|plane| {
                let (one, other) = (one.plane(plane, 0), other.plane(plane, 0));
                let byte = one.iter().zip(other).position(|(a, b)| a != b)?;
                Some(8 * byte + (one[byte] ^ other[byte]).trailing_zeros() as usize)
            })
            .min(),
        Element::Ring(width) => with_ring!(width, T => {
            let (one, other) = (one.component::<T>(0), other.component::<T>(0));
            one.iter().zip(other).position(|(a, b)| a != b)
        }),
    }
}

#[cfg(test)]
mod tests;
