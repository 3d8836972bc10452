//! Correlated OTs as they come out of an extension: how they are made.
//!
//! **Choices are common**: at the same place a receiver has the same choice with all its senders, so that one
//! bit of its own is multiplied by the offsets of all others. Where it has one sender only and the extension
//! gives random choices (silent), they are `c`, and the receiver sends nothing.

use std::collections::BTreeMap;
use std::ops::Range;
use std::sync::Arc;

use madrigal_core::{Party, Zeroizing, bits};
use madrigal_correlations::{CorrelatedOts, Direction, Pool, Pooled};
use madrigal_kernels::Block;
use madrigal_net::Context;
use madrigal_ot::{OtError, softspoken::CHUNK};

use crate::ot::elements::random_blocks;
use crate::ot::extension::Batch;
use crate::ot::layout::{CallLayout, Parts, parts};
use crate::ot::links::{Answer, Ask, OtCall};

/// OTs of one direction in a part: with k = 4 their extension message is one frame of 64 KiB.
const PART: usize = CHUNK;

/// The OTs of one call.
#[derive(Clone, Debug)]
pub(crate) struct RowsLayout {
    me: Party,
    counts: Arc<[(Direction, usize)]>,
    /// Numbers of the OTs of each direction that are made, as far as there are any.
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

    /// Counts the parties that send to a receiver in this call.
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

    /// Gives those of some items that a direction has.
    fn of(&self, way: Direction, items: &Range<usize>) -> Range<usize> {
        let count = self.count(way);
        items.start.min(count)..items.end.min(count)
    }
}

impl CallLayout for RowsLayout {
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
        CorrelatedOts::of_pooled(self.rows)
    }
}

/// Makes a row say its choice.
fn mark(row: &mut Block, choice: u64) {
    row.0[0] = row.0[0] & !1 | choice;
}

impl OtCall for RowsCall {
    fn layout(&self) -> Box<dyn CallLayout> {
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
