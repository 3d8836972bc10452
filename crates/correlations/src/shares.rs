//! Containers of one party's shares: what all of them can do, and any of them as one type.

use std::any::Any;

use madrigal_core::{Ring, Zeroizing};
use madrigal_net::{Error, Result};

/// One party's shares of some items of a kind, as strings in which the items stand one after the other:
/// [`Kind::strings`](crate::Kind::strings) of them.
pub type Strings = Vec<Zeroizing<Vec<u8>>>;

/// One party's shares of items of one kind, to be used from the front, each once.
pub trait Shares: Sized + Send + 'static {
    /// Counts the items that are left.
    fn left(&self) -> usize;

    /// Splits the first `count` items off.
    ///
    /// # Panics
    /// If there are fewer: then a plan was wrong.
    #[must_use]
    fn split_front(&mut self, count: usize) -> Self;

    /// Joins at least one part of one kind, in their order.
    #[must_use]
    fn concat(parts: Vec<Self>) -> Self;

    /// Gives all that are left as strings of bytes.
    fn strings(self) -> Strings;
}

/// [`Shares`] of any kind.
pub struct AnyShares(Box<dyn Erased>);

impl std::fmt::Debug for AnyShares {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "AnyShares({} left)", self.left())
    }
}

/// [`Shares`] without their type.
trait Erased: Any + Send {
    fn count_left(&self) -> usize;
    fn split_erased(&mut self, count: usize) -> AnyShares;
    fn join_erased(self: Box<Self>, others: Vec<AnyShares>) -> AnyShares;
    fn write_strings(self: Box<Self>) -> Strings;
}

impl<S: Shares> Erased for S {
    fn count_left(&self) -> usize {
        self.left()
    }

    fn split_erased(&mut self, count: usize) -> AnyShares {
        AnyShares::new(self.split_front(count))
    }

    fn join_erased(self: Box<Self>, others: Vec<AnyShares>) -> AnyShares {
        let others = others.into_iter().map(AnyShares::typed);
        AnyShares::new(S::concat(std::iter::once(*self).chain(others).collect()))
    }

    fn write_strings(self: Box<Self>) -> Strings {
        self.strings()
    }
}

/// Says why shares have the type that is asked for.
const KNOWN: &str = "the kind says of which type its shares are";

impl AnyShares {
    /// Forgets the type of some shares.
    pub fn new(shares: impl Shares) -> Self {
        Self(Box::new(shares))
    }

    /// Counts the items that are left.
    pub fn left(&self) -> usize {
        self.0.count_left()
    }

    /// Splits the first `count` items off.
    ///
    /// # Panics
    /// If there are fewer: then a plan was wrong.
    #[must_use]
    pub fn split_front(&mut self, count: usize) -> Self {
        self.0.split_erased(count)
    }

    /// Joins at least one part of one kind, in their order.
    ///
    /// # Panics
    /// Without parts; if they are of different types.
    #[must_use]
    pub fn concat(mut parts: Vec<Self>) -> Self {
        let first = parts.remove(0);
        match parts.is_empty() {
            true => first,
            false => first.0.join_erased(parts),
        }
    }

    /// Gives all that are left as strings of bytes.
    pub fn strings(self) -> Strings {
        self.0.write_strings()
    }

    /// Gives the shares with their type.
    ///
    /// # Panics
    /// If they are of another type.
    pub fn typed<S: Shares>(self) -> S {
        let shares: Box<dyn Any> = self.0;
        *shares.downcast().expect(KNOWN)
    }

    /// Borrows the shares with their type.
    ///
    /// # Panics
    /// If they are of another type.
    pub fn get_mut<S: Shares>(&mut self) -> &mut S {
        let shares: &mut dyn Any = &mut *self.0;
        shares.downcast_mut().expect(KNOWN)
    }
}

/// Reads the elements of a string.
pub(crate) fn elements<T: Ring>(bytes: &[u8]) -> Zeroizing<Vec<T>> {
    Zeroizing::new(bytes.chunks_exact(T::BYTES).map(T::read).collect())
}

/// Writes pieces of elements, one after the other.
pub(crate) fn written<T: Ring>(pieces: &[&[T]]) -> Zeroizing<Vec<u8>> {
    let all: usize = pieces.iter().map(|piece| piece.len()).sum();
    let mut bytes = Zeroizing::new(vec![0; all * T::BYTES]);
    let mut rest = &mut bytes[..];
    for piece in pieces {
        let (here, others) = rest.split_at_mut(piece.len() * T::BYTES);
        for (place, element) in here.chunks_exact_mut(T::BYTES).zip(*piece) {
            element.write(place);
        }
        rest = others;
    }
    bytes
}

/// Checks that `wanted` items are left.
pub(crate) fn enough(what: impl ToString, wanted: usize, left: usize) -> Result<()> {
    match wanted <= left {
        true => Ok(()),
        false => Err(Error::Short {
            what: what.to_string(),
            wanted,
            left,
        }),
    }
}
