//! Correlated OTs between given parties, as they come out of an extension: rows `q` at the sender and
//! `t = q ^ c Delta` at the receiver, for the receiver's random choices `c` and the sender's offset
//! `Delta`, which is one for all its OTs of a job. Rows are not hashed: they are what garbling takes for
//! labels (free XOR), and for shares of products of bits with the offset.
//!
//! The offset is odd, and a row's lowest bit says its choice: that of `q` is 0 and that of `t` is `c`. So
//! `Delta` has 127 random bits, a row as many.
//!
//! **Choices are common**: at the same place a receiver has the same choice with all its senders, so that one
//! bit of its own is multiplied by the offsets of all others. Where it has one sender only and the extension
//! gives random choices (silent), they are `c`, and the receiver sends nothing.

use std::collections::BTreeMap;

use madrigal_core::{Party, Zeroizing};
use madrigal_kernels::Block;
use madrigal_net::Result;

use crate::rows::{Pool, Pooled, Rows};
use crate::shares::enough;

/// From a sender to a receiver.
pub type Direction = (Party, Party);

/// One party's rows of correlated OTs with any peers, to be used from the front, each once.
///
/// Not `Clone`; wiped when the last part is dropped; `Debug` shows counts alone. Of OTs between two other
/// parties there is nothing in it.
#[derive(Default)]
pub struct CorrelatedOts(BTreeMap<Direction, Rows>);

impl std::fmt::Debug for CorrelatedOts {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let left = self.0.iter().map(|(&(from, to), rows)| {
            let [from, to] = [from, to].map(Party::index);
            format!("{} from {from} to {to}", rows.len())
        });
        let left: Vec<_> = left.collect();
        write!(f, "CorrelatedOts({})", left.join(", "))
    }
}

impl CorrelatedOts {
    /// From rows by direction; those of a receiver have the choice as their lowest bit, those of a sender
    /// 0.
    pub fn new(rows: impl IntoIterator<Item = (Direction, Zeroizing<Vec<Block>>)>) -> Self {
        let pooled = |(way, rows): (Direction, Zeroizing<Vec<Block>>)| {
            let mut own = Pool::default().take(rows.len());
            own.copy_from_slice(&rows);
            (way, Rows::new(own))
        };
        Self(rows.into_iter().map(pooled).collect())
    }

    /// Takes rows by direction without a copy.
    pub fn of_pooled(rows: impl IntoIterator<Item = (Direction, Pooled)>) -> Self {
        let rows = rows.into_iter();
        Self(rows.map(|(way, rows)| (way, Rows::new(rows))).collect())
    }

    /// Joins parts, in their order.
    #[must_use]
    pub fn concat(parts: Vec<Self>) -> Self {
        let mut all: BTreeMap<Direction, Vec<Rows>> = BTreeMap::new();
        for (way, rows) in parts.into_iter().flat_map(|part| part.0) {
            all.entry(way).or_default().push(rows);
        }
        let all = all.into_iter();
        Self(all.map(|(way, parts)| (way, Rows::concat(parts))).collect())
    }

    /// Counts the OTs from a sender to a receiver that are left.
    pub fn left(&self, way: Direction) -> usize {
        self.0.get(&way).map_or(0, Rows::len)
    }

    /// Splits `counts` OTs of each direction off, for a part of the work that runs on its own. Directions
    /// between other parties are passed over.
    ///
    /// # Panics
    /// If there are fewer: then a plan was wrong.
    #[must_use]
    pub fn split_front(
        &mut self,
        counts: impl IntoIterator<Item = (Direction, usize)>,
        me: Party,
    ) -> Self {
        let ours = |&((from, to), _): &(Direction, usize)| from == me || to == me;
        let split = |(way, count): (Direction, usize)| {
            let rows = self.0.get_mut(&way);
            let Some(rows) = rows else {
                panic!("{count} correlated OTs wanted, none registered");
            };
            (way, rows.split_front(count))
        };
        Self(counts.into_iter().filter(ours).map(split).collect())
    }

    /// Uses the first rows of every direction at once, as many as `count` says.
    ///
    /// # Errors
    /// [`Error::Short`](madrigal_net::Error::Short) if there are fewer: then a plan was wrong.
    pub fn take_each(
        &mut self,
        count: impl Fn(Direction) -> usize,
    ) -> Result<Vec<(Direction, &[Block])>> {
        let ways = self.0.iter_mut();
        ways.map(|(&way, rows)| {
            let count = count(way);
            enough("correlated OTs", count, rows.len())?;
            Ok((way, rows.take(count)))
        })
        .collect()
    }

    /// Uses the first `count` rows of a direction.
    ///
    /// # Errors
    /// [`Error::Short`](madrigal_net::Error::Short) if there are fewer: then a plan was wrong.
    pub fn take(&mut self, way: Direction, count: usize) -> Result<&[Block]> {
        enough("correlated OTs", count, self.left(way))?;
        Ok(match self.0.get_mut(&way) {
            Some(rows) => rows.take(count),
            None => &[],
        })
    }
}
