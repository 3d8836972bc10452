//! Containers of one party's shares: what all of them can do, and any of them as one type.

use std::any::Any;
use std::collections::VecDeque;

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

/// [`Shares`] of any kind, in parts of one type that follow each other: lines that make correlations side by side each make
/// one, and nothing is copied to have them together.
pub struct AnyShares(VecDeque<Box<dyn Erased>>);

impl std::fmt::Debug for AnyShares {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "AnyShares({} left)", self.left())
    }
}

/// [`Shares`] without their type.
trait Erased: Any + Send {
    fn count_left(&self) -> usize;
    fn split_erased(&mut self, count: usize) -> Box<dyn Erased>;
    fn join_erased(self: Box<Self>, others: VecDeque<Box<dyn Erased>>) -> Box<dyn Erased>;
    fn write_strings(self: Box<Self>) -> Strings;
}

impl<S: Shares> Erased for S {
    fn count_left(&self) -> usize {
        self.left()
    }

    fn split_erased(&mut self, count: usize) -> Box<dyn Erased> {
        Box::new(self.split_front(count))
    }

    fn join_erased(self: Box<Self>, others: VecDeque<Box<dyn Erased>>) -> Box<dyn Erased> {
        let others = others.into_iter().map(typed);
        Box::new(S::concat(std::iter::once(*self).chain(others).collect()))
    }

    fn write_strings(self: Box<Self>) -> Strings {
        self.strings()
    }
}

/// Says why shares have the type that is asked for.
const KNOWN: &str = "the kind says of which type its shares are";
/// Says why there is a part.
const ONE: &str = "there is one part at least";

fn typed<S: Shares>(shares: Box<dyn Erased>) -> S {
    let shares: Box<dyn Any> = shares;
    *shares.downcast().expect(KNOWN)
}

impl AnyShares {
    /// Forgets the type of some shares.
    pub fn new(shares: impl Shares) -> Self {
        Self(VecDeque::from([Box::new(shares) as Box<dyn Erased>]))
    }

    /// Counts the items that are left.
    pub fn left(&self) -> usize {
        self.0.iter().map(|part| part.count_left()).sum()
    }

    /// Splits the first `count` items off.
    ///
    /// # Panics
    /// If there are fewer: then a plan was wrong.
    #[must_use]
    pub fn split_front(&mut self, count: usize) -> Self {
        let (mut taken, mut wanted) = (VecDeque::new(), count);
        while self.0.len() > 1 {
            let first = self.0.front().map_or(0, |part| part.count_left());
            if first > wanted {
                break;
            }
            taken.extend(self.0.pop_front());
            wanted -= first;
        }
        if wanted > 0 || taken.is_empty() {
            let first = self.0.front_mut().expect(ONE);
            taken.push_back(first.split_erased(wanted));
        }
        Self(taken)
    }

    /// Joins at least one part of one kind, in their order.
    ///
    /// # Panics
    /// Without parts.
    #[must_use]
    pub fn concat(parts: Vec<Self>) -> Self {
        let all = parts.into_iter().flat_map(|part| part.0);
        let (mut some, mut none): (VecDeque<_>, VecDeque<_>) =
            all.partition(|part| part.count_left() > 0);
        if some.is_empty() {
            some.push_back(none.pop_front().expect(ONE));
        }
        Self(some)
    }

    /// Makes one part of all.
    fn one(&mut self) -> &mut Box<dyn Erased> {
        if self.0.len() > 1 {
            let mut others = std::mem::take(&mut self.0);
            let first = others.pop_front().expect(ONE);
            self.0.push_back(first.join_erased(others));
        }
        self.0.front_mut().expect(ONE)
    }

    fn into_one(mut self) -> Box<dyn Erased> {
        self.one();
        self.0.pop_front().expect(ONE)
    }

    /// Gives all that are left as strings of bytes.
    pub fn strings(self) -> Strings {
        self.into_one().write_strings()
    }

    /// Gives the shares with their type.
    ///
    /// # Panics
    /// If they are of another type.
    pub fn typed<S: Shares>(self) -> S {
        typed(self.into_one())
    }

    /// Borrows the shares with their type.
    ///
    /// # Panics
    /// If they are of another type.
    pub fn get_mut<S: Shares>(&mut self) -> &mut S {
        let shares: &mut dyn Any = &mut **self.one();
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
