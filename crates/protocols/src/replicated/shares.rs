//! Shares of ring elements and of bits, and what can be done with them without a message.

use std::fmt;
use std::ops::Range;

use madrigal_core::{Party, Ring, bits};
use madrigal_kernels::{Prg, rings};

use super::error::SharesError;
use super::view::RingView;
use super::{PARTIES, leads};
use madrigal_core::Zeroizing;

/// One party's shares of a batch of ring elements: its two components of each. Wiped when dropped.
#[derive(Clone)]
pub struct RingShares<T: Ring> {
    pub(super) components: [Zeroizing<Vec<T>>; 2],
}

impl<'a, T: Ring> From<&'a RingShares<T>> for RingView<'a, T> {
    fn from(shares: &'a RingShares<T>) -> Self {
        Self {
            components: shares.components(),
        }
    }
}

impl<T: Ring> RingView<'_, T> {
    /// A copy, to keep.
    #[must_use]
    pub fn to_shares(&self) -> RingShares<T> {
        RingShares::concat(&[*self])
    }
}

impl<T: Ring> fmt::Debug for RingShares<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "RingShares({} of {} bits)", self.len(), T::BITS)
    }
}

impl<T: Ring> RingShares<T> {
    /// Shares of `len` zeros.
    pub fn zeros(len: usize) -> Self {
        Self {
            components: [Zeroizing::zeros(len), Zeroizing::zeros(len)],
        }
    }

    /// Party `me`'s shares of values that all know. No message.
    pub fn constants(me: Party, values: &[T]) -> Self {
        let mut shares = Self::zeros(values.len());
        shares.add_constants(me, values);
        shares
    }

    /// Makes shares from a party's first and second component of each element, as a client sends them.
    ///
    /// # Errors
    /// [`SharesError::Lengths`] if there is not one of each.
    pub fn from_components(first: Vec<T>, second: Vec<T>) -> Result<Self, SharesError> {
        if first.len() != second.len() {
            return Err(SharesError::Lengths {
                first: first.len(),
                second: second.len(),
            });
        }
        Ok(Self {
            components: [first.into(), second.into()],
        })
    }

    /// Makes shares as [`from_components`](Self::from_components) does, of components that are wiped.
    ///
    /// # Errors
    /// [`SharesError::Lengths`] if there is not one of each.
    pub fn from_parts(components: [Zeroizing<Vec<T>>; 2]) -> Result<Self, SharesError> {
        let [first, second] = components.each_ref().map(|part| part.len());
        match first == second {
            true => Ok(Self { components }),
            false => Err(SharesError::Lengths { first, second }),
        }
    }

    /// Number of elements.
    pub fn len(&self) -> usize {
        self.components[0].len()
    }

    /// Whether there are none.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// The first and the second components: secrets, for those who send them on to their owner.
    pub fn components(&self) -> [&[T]; 2] {
        self.components.each_ref().map(|part| part.as_slice())
    }

    /// Gives the components, to keep.
    pub fn into_components(self) -> [Zeroizing<Vec<T>>; 2] {
        self.components
    }

    /// Adds `other`, element by element.
    ///
    /// # Panics
    /// If the batches differ in length; so do all operations on two batches.
    pub fn add_assign<'a>(&mut self, other: impl Into<RingView<'a, T>>) {
        self.each(other.into(), rings::add_into);
    }

    /// Subtracts `other`, element by element.
    ///
    /// # Panics
    /// If the batches differ in length.
    pub fn sub_assign<'a>(&mut self, other: impl Into<RingView<'a, T>>) {
        self.each(other.into(), rings::sub_into);
    }

    fn each(&mut self, other: RingView<'_, T>, operation: impl Fn(&mut [T], &[T])) {
        assert_eq!(self.len(), other.len(), "batches of one length");
        for (part, other) in self.components.iter_mut().zip(other.components()) {
            operation(part, other);
        }
    }

    /// Changes all signs.
    pub fn negate(&mut self) {
        self.scale(T::ZERO.sub(T::ONE));
    }

    /// Multiplies all elements by a public constant.
    pub fn scale(&mut self, by: T) {
        for part in &mut self.components {
            part.iter_mut().for_each(|x| *x = x.mul(by));
        }
    }

    /// Multiplies each element by a public constant of its own.
    ///
    /// # Panics
    /// If there are not as many.
    pub fn scale_each(&mut self, by: &[T]) {
        assert_eq!(self.len(), by.len(), "a constant for each element");
        for part in &mut self.components {
            rings::mul_into(part, by);
        }
    }

    /// Adds values that all know; `me` is the party whose shares these are.
    ///
    /// # Panics
    /// If there are not as many as elements.
    pub fn add_constants(&mut self, me: Party, values: &[T]) {
        assert_eq!(self.len(), values.len(), "a constant for each element");
        for (part, leads) in self.components.iter_mut().zip(leads(me)) {
            if leads {
                rings::add_into(part, values);
            }
        }
    }

    /// Adds one value that all know to each element.
    pub fn add_constant(&mut self, me: Party, value: T) {
        for (part, leads) in self.components.iter_mut().zip(leads(me)) {
            if leads {
                part.iter_mut().for_each(|x| *x = x.add(value));
            }
        }
    }

    /// A copy of some of the elements.
    ///
    /// # Panics
    /// If there are fewer elements.
    #[must_use]
    pub fn slice(&self, range: Range<usize>) -> Self {
        RingView::from(self).slice(range).to_shares()
    }

    /// The elements of all batches, one after the other.
    #[must_use]
    pub fn concat(batches: &[RingView<'_, T>]) -> Self {
        let part = |component: usize| {
            let parts: Vec<&[T]> = batches
                .iter()
                .map(|batch| batch.components()[component])
                .collect();
            Zeroizing::from(parts.concat())
        };
        Self {
            components: [part(0), part(1)],
        }
    }
}

/// Index of the one of a party's components that is v_2, if one is.
pub(super) const fn third(me: Party) -> Option<usize> {
    match me.index() {
        1 => Some(1),
        2 => Some(0),
        _ => None,
    }
}

/// One party's shares of rows of bits, row by row and each row in whole bytes: bit i of a row belongs
/// to element i. The bits beyond the last element in a row's last byte have no meaning. Wiped when
/// dropped.
#[derive(Clone)]
pub struct BitShares {
    pub(super) components: [Zeroizing<Vec<u8>>; 2],
    pub(super) rows: usize,
    pub(super) count: usize,
}

impl fmt::Debug for BitShares {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "BitShares({} rows of {} bits)", self.rows, self.count)
    }
}

impl BitShares {
    /// Shares of zeros.
    pub fn zeros(rows: usize, count: usize) -> Self {
        let part = || Zeroizing::zeros(rows * bits::bytes_for(count));
        Self {
            components: [part(), part()],
            rows,
            count,
        }
    }

    /// Makes shares from a party's components, each of `rows` rows of `ceil(count / 8)` bytes: of
    /// [`ReplicatedBits`](super::ReplicatedBits) for one row.
    ///
    /// # Errors
    /// [`SharesError::Bytes`] if a component has another length.
    pub fn from_components(
        parts: [&[u8]; 2],
        rows: usize,
        count: usize,
    ) -> Result<Self, SharesError> {
        let expected = rows * bits::bytes_for(count);
        if let Some(part) = parts.iter().find(|part| part.len() != expected) {
            return Err(SharesError::Bytes {
                got: part.len(),
                expected,
            });
        }
        Ok(Self {
            components: parts.map(|part| part.to_vec().into()),
            rows,
            count,
        })
    }

    /// Number of rows.
    pub fn rows(&self) -> usize {
        self.rows
    }

    /// Number of bits in each row.
    pub fn count(&self) -> usize {
        self.count
    }

    /// Bytes of a row.
    pub(super) fn stride(&self) -> usize {
        bits::bytes_for(self.count)
    }

    /// The components, all rows.
    pub fn components(&self) -> [&[u8]; 2] {
        self.components.each_ref().map(|part| part.as_slice())
    }

    /// The components of one row.
    ///
    /// # Panics
    /// If there is no such row.
    pub fn row(&self, row: usize) -> [&[u8]; 2] {
        let stride = self.stride();
        self.components()
            .map(|part| &part[row * stride..][..stride])
    }

    /// The components of one row, to be written.
    ///
    /// # Panics
    /// If there is no such row.
    pub fn row_mut(&mut self, row: usize) -> [&mut [u8]; 2] {
        let stride = self.stride();
        let row = row * stride..(row + 1) * stride;
        self.components
            .each_mut()
            .map(|part| &mut part[row.clone()])
    }

    /// A copy of one row.
    ///
    /// # Panics
    /// If there is no such row.
    #[must_use]
    pub fn take_row(&self, row: usize) -> Self {
        Self {
            components: self.row(row).map(|part| part.to_vec().into()),
            rows: 1,
            count: self.count,
        }
    }

    /// XORs `other` into these.
    ///
    /// # Panics
    /// If there are not as many.
    pub fn xor_assign(&mut self, other: &Self) {
        assert_eq!(
            (self.rows, self.count),
            (other.rows, other.count),
            "rows of one shape"
        );
        for (part, other) in self.components.iter_mut().zip(&other.components) {
            madrigal_kernels::xor_into(part, other);
        }
    }

    /// Inverts all bits; `me` is the party whose shares these are.
    pub fn invert(&mut self, me: Party) {
        for (part, leads) in self.components.iter_mut().zip(leads(me)) {
            if leads {
                madrigal_kernels::not_into(part);
            }
        }
    }

    /// Writes the rows of a block of elements that begins with element `at`, a multiple of 8.
    pub(super) fn place(&mut self, at: usize, block: &Self) {
        let (stride, part) = (self.stride(), block.stride());
        for (to, from) in self.components.iter_mut().zip(&block.components) {
            for (to, from) in to.chunks_mut(stride).zip(from.chunks(part)) {
                to[at / 8..][..part].copy_from_slice(from);
            }
        }
    }
}

/// Cuts values into the shares of the three parties: what a client that is none of them does. `rng`
/// must be a generator that nobody else has.
pub fn deal<T: Ring>(values: &[T], rng: &mut Prg) -> [RingShares<T>; PARTIES] {
    let mut parts: [Zeroizing<Vec<T>>; PARTIES] =
        std::array::from_fn(|_| Zeroizing::zeros(values.len()));
    let [v0, v1, v2] = &mut parts;
    rng.fill(rings::as_bytes_mut(v0));
    rng.fill(rings::as_bytes_mut(v1));
    v2.copy_from_slice(values);
    rings::sub_into(v2, v0);
    rings::sub_into(v2, v1);
    std::array::from_fn(|i| RingShares {
        components: [parts[i].clone(), parts[(i + 1) % PARTIES].clone()],
    })
}

/// The values that the three parties' shares give: what a client does with an output. Each component
/// comes twice, and both copies must agree.
///
/// # Errors
/// [`SharesError`] naming the parties that disagree.
pub fn combine<T: Ring>(shares: &[RingShares<T>; PARTIES]) -> Result<Vec<T>, SharesError> {
    let expected = shares[0].len();
    for (party, shares) in Party::all(PARTIES).zip(shares) {
        if shares.len() != expected {
            let got = shares.len();
            return Err(SharesError::Counts {
                party,
                got,
                expected,
            });
        }
    }
    for first in Party::all(PARTIES) {
        let second = super::next(first);
        let ours = shares[first.index()].components()[1];
        let theirs = shares[second.index()].components()[0];
        if let Some(element) = ours.iter().zip(theirs).position(|(a, b)| a != b) {
            return Err(SharesError::Copies {
                first,
                second,
                element,
            });
        }
    }
    let mut values = shares[0].components()[0].to_vec();
    rings::add_into(&mut values, shares[0].components()[1]);
    rings::add_into(&mut values, shares[1].components()[1]);
    Ok(values)
}
