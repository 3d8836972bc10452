//! Messages of a call between the parties, from which both its messages and its cost follow.

use std::ops::Range;

use madrigal_core::Party;

use crate::ot::extension::Batch;

/// Parts of items; the last one is known without a walk.
pub(crate) trait Parts:
    ExactSizeIterator<Item = Range<usize>> + DoubleEndedIterator
{
}

impl<I: ExactSizeIterator<Item = Range<usize>> + DoubleEndedIterator> Parts for I {}

/// How the items of a call are cut, and what goes over the network for them.
pub(crate) trait CallLayout {
    /// The items, part by part; with stages, stage by stage. All parts of a stage but the last are of
    /// one length, which it does not exceed.
    fn parts(&self) -> Box<dyn Parts>;

    /// Parts for which the same is said below, with their number: at most two kinds of each stage.
    fn alike(&self) -> Vec<(Range<usize>, u64)> {
        let mut parts = self.parts();
        let Some(last) = parts.next_back() else {
            return Vec::new();
        };
        let whole = parts.len() as u64;
        let first = parts.next().unwrap_or_else(|| last.clone());
        vec![(first, whole), (last, 1)]
    }

    /// Parts of a *stage*, if there are stages: what is sent in answer to a part depends on the masks that were
    /// asked for and on the corrections of the part with the same place in the stage before.
    fn stage_parts(&self) -> Option<usize> {
        None
    }

    /// The OTs for some items that `sender` sends to `receiver`. What is said of items here and below
    /// depends on their number and stage alone.
    fn batch(&self, sender: Party, receiver: Party, items: &Range<usize>) -> Batch;

    /// Bytes of the corrections that follow them; `None` where there is no such message.
    fn corrections(&self, sender: Party, receiver: Party, items: &Range<usize>) -> Option<usize>;

    /// AES blocks of what a party draws for all items: its random values.
    fn drawn(&self) -> u64;

    /// Whether rows are hashed into masks.
    fn hashed(&self) -> bool {
        true
    }

    /// AES blocks to stretch the masks of the receiver; the sender has twice as many.
    fn stretch_blocks(&self, _items: &Range<usize>) -> u64 {
        0
    }
}

/// `count` items in parts of `size`.
pub(crate) fn parts(count: usize, size: usize) -> Box<dyn Parts> {
    let starts = (0..count).step_by(size);
    Box::new(starts.map(move |start| start..count.min(start + size)))
}
