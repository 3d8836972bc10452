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
use std::ops::Range;
use std::sync::Arc;

use madrigal_core::{Party, Zeroizing, bits};
use madrigal_kernels::Block;
use madrigal_net::{Context, Result};
use madrigal_ot::{OtError, softspoken::CHUNK};

use crate::elements::random_blocks;
use crate::extension::Batch;
use crate::layout::{Layout, Parts, parts};
use crate::links::{Answer, Ask, Call};
use crate::needs::enough;
use crate::rows::{Pool, Pooled, Rows};

/// OTs of one direction in a part: with k = 4 their extension message is one frame of 64 KiB.
const PART: usize = CHUNK;

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

    /// All of some, in their order.
    pub(crate) fn concat(parts: Vec<Self>) -> Self {
        let mut all: BTreeMap<Direction, Vec<Rows>> = BTreeMap::new();
        for (way, rows) in parts.into_iter().flat_map(|part| part.0) {
            all.entry(way).or_default().push(rows);
        }
        let all = all.into_iter();
        Self(all.map(|(way, parts)| (way, Rows::concat(parts))).collect())
    }

    /// How many from a sender to a receiver are left.
    pub fn left(&self, way: Direction) -> usize {
        self.0.get(&way).map_or(0, Rows::len)
    }

    /// Splits so many of each direction off, for a part of the work that runs on its own. Directions
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

/// The OTs of one call.
#[derive(Clone, Debug)]
pub(crate) struct RowsLayout {
    me: Party,
    counts: Arc<[(Direction, usize)]>,
    /// Of each direction the OTs with these numbers, as far as there are so many.
    portion: Range<usize>,
}

impl RowsLayout {
    pub(crate) fn new(
        me: Party,
        counts: &Arc<[(Direction, usize)]>,
        portion: Range<usize>,
    ) -> Self {
        let counts = Arc::clone(counts);
        Self {
            me,
            counts,
            portion,
        }
    }

    /// The longest direction.
    pub(crate) fn longest(counts: &[(Direction, usize)]) -> usize {
        counts.iter().map(|&(_, count)| count).max().unwrap_or(0)
    }

    /// How many send to a receiver in this call.
    fn senders_to(&self, receiver: Party) -> usize {
        let to = self.counts.iter().filter(|((_, to), _)| *to == receiver);
        to.filter(|(_, count)| *count > 0).count()
    }

    /// The most OTs that we receive from one sender.
    fn received(&self) -> usize {
        let ours = self.counts.iter().filter(|((_, to), _)| *to == self.me);
        ours.map(|&(way, _)| self.count(way)).max().unwrap_or(0)
    }

    fn count(&self, way: Direction) -> usize {
        let mut found = self.counts.iter().filter(|(other, _)| *other == way);
        let count = found.next().map_or(0, |&(_, count)| count);
        count.clamp(self.portion.start, self.portion.end) - self.portion.start
    }

    /// Of some items those that a direction has.
    fn of(&self, way: Direction, items: &Range<usize>) -> Range<usize> {
        let count = self.count(way);
        items.start.min(count)..items.end.min(count)
    }
}

impl Layout for RowsLayout {
    fn parts(&self) -> Box<dyn Parts> {
        parts(self.portion.len(), PART)
    }

    /// Directions end in different parts: each part is said by itself, from where the first one ends.
    fn alike(&self) -> Vec<(Range<usize>, u64)> {
        let all = self.counts.iter().map(|&(way, _)| self.count(way));
        let whole = all.filter(|&count| count > 0).min().unwrap_or(0) / PART;
        let first = (whole > 0).then_some((0..PART, whole as u64));
        let rest = self.parts().skip(whole).map(|items| (items, 1));
        first.into_iter().chain(rest).collect()
    }

    /// The choices of what we receive, once for all senders.
    fn drawn(&self) -> u64 {
        random_blocks(bits::bytes_for(self.received()), 1)
    }

    fn hashed(&self) -> bool {
        false
    }

    fn batch(&self, sender: Party, receiver: Party, items: &Range<usize>) -> Batch {
        Batch {
            ots: self.of((sender, receiver), items).len(),
            unit: 1,
            // A silent extension's own choices differ from sender to sender.
            free: self.senders_to(receiver) <= 1,
        }
    }

    fn corrections(&self, _: Party, _: Party, _: &Range<usize>) -> Option<usize> {
        None
    }
}

/// The OTs of one call on their way.
pub(crate) struct RowsCall {
    me: Party,
    layout: RowsLayout,
    rows: BTreeMap<Direction, Pooled>,
    choices: BTreeMap<Party, Zeroizing<Vec<u8>>>,
}

impl RowsCall {
    pub(crate) fn new(context: &Context, layout: RowsLayout, pool: &Pool) -> Self {
        let me = context.me();
        let (mut rows, mut choices) = (BTreeMap::new(), BTreeMap::new());
        let mut common = Zeroizing::new(vec![0; bits::bytes_for(layout.received())]);
        if !common.is_empty() {
            context.private_prg().fill(&mut common);
        }
        for &(way, _) in &*layout.counts {
            let count = layout.count(way);
            if way.0 == me || way.1 == me {
                rows.insert(way, pool.take(count));
            }
            if way.1 == me {
                let own = &common[..bits::bytes_for(count)];
                choices.insert(way.0, Zeroizing::new(own.to_vec()));
            }
        }
        Self {
            me,
            layout,
            rows,
            choices,
        }
    }

    pub(crate) fn finish(self) -> CorrelatedOts {
        let rows = self.rows.into_iter();
        CorrelatedOts(rows.map(|(way, rows)| (way, Rows::new(rows))).collect())
    }
}

/// Makes a row say its choice.
fn mark(row: &mut Block, choice: u64) {
    row.0[0] = row.0[0] & !1 | choice;
}

impl Call for RowsCall {
    fn layout(&self) -> Box<dyn Layout> {
        Box::new(self.layout.clone())
    }

    fn ask(&mut self, peer: Party, items: &Range<usize>, ots: Ask<'_>) -> Result<(), OtError> {
        let way = (peer, self.me);
        let place = self.layout.of(way, items);
        let (Some(rows), Some(choices)) = (self.rows.get_mut(&way), self.choices.get_mut(&peer))
        else {
            return Ok(());
        };
        let rows = &mut rows[place.clone()];
        // Parts begin at bytes.
        let choices = &mut choices[place.start / 8..place.end.div_ceil(8)];
        ots.rows(choices, rows)?;
        for (rows, byte) in rows.chunks_mut(8).zip(choices) {
            for (i, row) in rows.iter_mut().enumerate() {
                mark(row, (*byte >> i & 1).into());
            }
        }
        Ok(())
    }

    fn answer(
        &mut self,
        peer: Party,
        items: &Range<usize>,
        ots: Answer<'_>,
        _: &mut [u8],
    ) -> Result<(), OtError> {
        let way = (self.me, peer);
        let place = self.layout.of(way, items);
        let Some(rows) = self.rows.get_mut(&way) else {
            return Ok(());
        };
        let rows = &mut rows[place];
        ots.rows(rows)?;
        rows.iter_mut().for_each(|row| mark(row, 0));
        Ok(())
    }

    fn correct(&mut self, _: Party, _: &Range<usize>, _: &[u8]) -> Result<(), &'static str> {
        Err("there are no corrections for correlated OTs")
    }

    /// An OT of the longest direction counts for all.
    fn made(&self, items: &Range<usize>) -> usize {
        let ours = self.layout.counts.iter();
        ours.map(|&(way, _)| self.layout.of(way, items).len()).sum()
    }
}
