//! Needs of a computation of every kind of correlation, also as text: `bits=10M,u64=100k`.

#[cfg(test)]
mod tests;

use std::collections::BTreeMap;
use std::fmt;
use std::ops::AddAssign;
use std::str::FromStr;

use madrigal_core::{MatrixShape, Party, Ring};

use crate::correlated::Direction;
use crate::kind::{Kind, KindError};
use crate::product_triples::Tripled;
use crate::text::{cut, number};
use crate::width::Width;

/// The most items of one kind that a text may ask for.
const MAX_COUNT: u64 = 1 << 48;
/// The most bytes that a text may ask for: one party's shares of everything.
const MAX_BYTES: u128 = 1 << 60;
/// Bytes of a party's shares of triples of products that a stock has made in one call: they are copied when they are
/// there.
const TOGETHER: u128 = 16 << 20;

/// Exact numbers of correlations. Operations register theirs when a plan is made; the sum is what a
/// [`Stock`](crate::Stock) is filled with.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Needs {
    /// Kinds with their numbers of items, none of them zero, in the order in which they are made.
    counts: Vec<(Kind, usize)>,
}

impl Needs {
    /// Makes needs of nothing.
    pub fn new() -> Self {
        Self::default()
    }

    /// Registers `count` items of a kind.
    pub fn add(&mut self, kind: Kind, count: usize) {
        if count == 0 {
            return;
        }
        if let Some((_, known)) = self.counts.iter_mut().find(|(known, _)| *known == kind) {
            *known += count;
            return;
        }
        let before = |(known, _): &(Kind, usize)| known.made_before(&kind).is_lt();
        let place = self.counts.partition_point(before);
        // There are many needs of one kind.
        self.counts.reserve_exact(1);
        self.counts.insert(place, (kind, count));
    }

    /// Registers `count` Boolean triples.
    pub fn bit_triples(&mut self, count: usize) {
        self.add(Kind::BitTriples, count);
    }

    /// Registers `count` vector triples of vectors of `length` bits.
    pub fn vector_triples(&mut self, length: usize, count: usize) {
        self.add(Kind::VectorTriples { length }, count);
    }

    /// Registers `count` triples over Z_2^l.
    pub fn ring_triples<T: Ring>(&mut self, count: usize) {
        self.add(Kind::RingTriples(Width::of::<T>()), count);
    }

    /// Registers `count` square pairs over Z_2^l.
    pub fn square_pairs<T: Ring>(&mut self, count: usize) {
        self.add(Kind::SquarePairs(Width::of::<T>()), count);
    }

    /// Registers `count` shared bits over Z_2^l.
    pub fn shared_bits<T: Ring>(&mut self, count: usize) {
        self.add(Kind::SharedBits(Width::of::<T>()), count);
    }

    /// Registers `count` matrix triples of one shape over Z_2^l.
    pub fn matrix_triples<T: Ring>(&mut self, shape: MatrixShape, count: usize) {
        self.add(Kind::MatrixTriples(Width::of::<T>(), shape), count);
    }

    /// Registers what a product takes: a triple of a convolution, or one for each pair of matrices.
    pub fn product_triples<T: Ring>(&mut self, product: impl Into<Tripled>) {
        let (kind, count) = Kind::of_product(Width::of::<T>(), product);
        self.add(kind, count);
    }

    /// Registers `count` correlated OTs.
    pub fn correlated_ots(&mut self, sender: Party, receiver: Party, count: usize) {
        self.add(Kind::CorrelatedOts { sender, receiver }, count);
    }

    /// Gives the needs without Boolean triples.
    #[must_use]
    pub fn without_bit_triples(&self) -> Self {
        let mut others = self.clone();
        others.counts.retain(|(kind, _)| *kind != Kind::BitTriples);
        others
    }

    /// Gives all correlated OTs, by direction, in order.
    pub fn all_correlated_ots(&self) -> Vec<(Direction, usize)> {
        let ots = self.counts.iter().filter_map(|&(kind, count)| match kind {
            Kind::CorrelatedOts { sender, receiver } => Some(((sender, receiver), count)),
            _ => None,
        });
        ots.collect()
    }

    /// Says how many items of a kind are needed.
    pub fn of(&self, kind: Kind) -> usize {
        let mut found = self.counts.iter().filter(|(known, _)| *known == kind);
        found.next().map_or(0, |&(_, count)| count)
    }

    /// Gives the kinds of which something is needed, with the numbers of items, in the order in which
    /// [`Stock::fill`](crate::Stock::fill) has them made.
    pub fn kinds(&self) -> Vec<(Kind, usize)> {
        self.counts.clone()
    }

    /// Says whether nothing is needed, not even base OTs.
    pub fn is_empty(&self) -> bool {
        self.counts.is_empty()
    }

    /// Gives the bytes of one party's shares of all items: of the one that has most, since not all take part in
    /// correlated OTs.
    pub fn share_bytes(&self) -> u128 {
        let mut all: u128 = 0;
        let mut own: BTreeMap<Party, u128> = BTreeMap::new();
        for &(kind, count) in &self.counts {
            let column = |bits: u128| bits.saturating_mul(count as u128).div_ceil(8);
            let columns = kind.columns().into_iter().map(column);
            let bytes = columns.fold(0, u128::saturating_add);
            if let Kind::CorrelatedOts { sender, receiver } = kind {
                for party in [sender, receiver] {
                    let own = own.entry(party).or_default();
                    *own = own.saturating_add(bytes);
                }
            } else {
                all = all.saturating_add(bytes);
            }
        }
        all.saturating_add(own.into_values().max().unwrap_or(0))
    }

    /// Gives what a source tells of, all together, as it makes all items: [`Kind::steps`] of each.
    pub fn steps(&self) -> u64 {
        self.counts.iter().fold(0, |sum, &(kind, count)| {
            sum.saturating_add(kind.steps().saturating_mul(count as u64))
        })
    }
}

impl AddAssign<&Needs> for Needs {
    fn add_assign(&mut self, other: &Needs) {
        for &(kind, count) in &other.counts {
            self.add(kind, count);
        }
    }
}

/// Gives the calls in which a stock has `count` items made: one, but for triples of products.
pub fn calls(kind: Kind, count: usize) -> impl Iterator<Item = usize> {
    let together = match kind.product() {
        Some(_) => products_together(kind),
        None => count.max(1),
    };
    (0..count)
        .step_by(together)
        .map(move |start| together.min(count - start))
}

/// Gives the number of triples of products that a stock has made in one call.
pub fn products_together(kind: Kind) -> usize {
    let columns = kind.columns().into_iter();
    let bits = columns.fold(0, u128::saturating_add);
    usize::try_from(8 * TOGETHER / bits.max(1)).map_or(1, |fit| fit.max(1))
}

/// Needs of nothing are the empty text, which is not read back.
impl fmt::Display for Needs {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (index, &(kind, count)) in self.counts.iter().enumerate() {
            let comma = if index > 0 { "," } else { "" };
            let (count, unit) = match count {
                count if count % 1_000_000_000 == 0 => (count / 1_000_000_000, "G"),
                count if count % 1_000_000 == 0 => (count / 1_000_000, "M"),
                count if count % 1000 == 0 => (count / 1000, "k"),
                count => (count, ""),
            };
            write!(f, "{comma}{kind}={count}{unit}")?;
        }
        Ok(())
    }
}

/// Why a text does not say what is needed.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum NeedsError {
    /// Nothing at all.
    #[error("nothing is asked for; write for example bits=10M,u64=100k")]
    Nothing,
    /// A part without `=`.
    #[error("`{text}` is no kind with a number; write for example bits=10M,u64=100k")]
    Part {
        /// The part.
        text: String,
    },
    /// No such kind.
    #[error(transparent)]
    Kind(#[from] KindError),
    /// No number, or one out of range.
    #[error(
        "`{text}` is not a number of items from 1 to 2^48; write digits, and k, M or G for thousands, millions or billions"
    )]
    Count {
        /// The number.
        text: String,
    },
    /// A kind that was there before.
    #[error("{kind} is there twice; add the two numbers up")]
    Twice {
        /// The kind.
        kind: Box<Kind>,
    },
    /// More than any disk holds.
    #[error("that is more than 2^60 bytes for each party; ask for less")]
    TooLarge,
}

impl FromStr for Needs {
    type Err = NeedsError;

    fn from_str(text: &str) -> Result<Self, NeedsError> {
        if text.trim().is_empty() {
            return Err(NeedsError::Nothing);
        }
        let mut needs = Self::new();
        for part in text.split(',') {
            let part = part.trim();
            let (kind, count) = part
                .split_once('=')
                .ok_or_else(|| NeedsError::Part { text: cut(part) })?;
            let kind: Kind = kind.trim().parse()?;
            if needs.of(kind) > 0 {
                let kind = Box::new(kind);
                return Err(NeedsError::Twice { kind });
            }
            needs.add(kind, read_count(count.trim())?);
        }
        if needs.share_bytes() > MAX_BYTES {
            return Err(NeedsError::TooLarge);
        }
        Ok(needs)
    }
}

fn read_count(text: &str) -> Result<usize, NeedsError> {
    let wrong = || NeedsError::Count { text: cut(text) };
    let (digits, factor) = match text.char_indices().last() {
        Some((at, 'k' | 'K')) => (&text[..at], 1000),
        Some((at, 'M')) => (&text[..at], 1_000_000),
        Some((at, 'G')) => (&text[..at], 1_000_000_000),
        _ => (text, 1),
    };
    number(digits)
        .and_then(|count| count.checked_mul(factor))
        .filter(|&count| count as u64 <= MAX_COUNT)
        .ok_or_else(wrong)
}
