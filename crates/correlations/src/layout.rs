//! What a call sends to whom, from which both its messages and its cost follow.

use std::ops::Range;

use madrigal_core::Party;

use crate::extension::Batch;

/// Parts of items; the last one is known without a walk.
pub(crate) trait Parts:
    ExactSizeIterator<Item = Range<usize>> + DoubleEndedIterator
{
}

impl<I: ExactSizeIterator<Item = Range<usize>> + DoubleEndedIterator> Parts for I {}

/// How the items of a call are cut, and what goes over the network for them.
pub(crate) trait Layout {
    /// The items, part by part. All parts but the last are of one length, which it does not exceed.
    fn parts(&self) -> Box<dyn Parts>;

    /// The OTs for some items that `sender` sends to `receiver`. What is said of items here and below
    /// depends on their number alone.
    fn batch(&self, sender: Party, receiver: Party, items: &Range<usize>) -> Batch;

    /// Bytes of the corrections that follow them; `None` where there is no such message.
    fn corrections(&self, sender: Party, receiver: Party, items: &Range<usize>) -> Option<usize>;

    /// AES blocks of what a party draws for all items: its random values.
    fn drawn(&self) -> u64;

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
