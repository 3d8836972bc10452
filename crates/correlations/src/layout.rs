//! What a call sends to whom, from which both its messages and its cost follow.

use std::ops::Range;

use madrigal_core::Party;

use crate::extension::Batch;

/// How the items of a call are cut, and what goes over the network for them.
pub(crate) trait Layout: Copy {
    /// The items, part by part, the longest part first.
    fn parts(&self) -> impl ExactSizeIterator<Item = Range<usize>>;

    /// The OTs for some items that `sender` sends to `receiver`.
    fn batch(&self, sender: Party, receiver: Party, items: &Range<usize>) -> Batch;

    /// Bytes of the corrections that follow them; `None` where there is no such message.
    fn corrections(&self, sender: Party, receiver: Party, items: &Range<usize>) -> Option<usize>;

    /// AES blocks to stretch the masks of the receiver; the sender has twice as many.
    fn stretch_blocks(&self, _items: &Range<usize>) -> u64 {
        0
    }
}

/// `count` items in parts of `size`.
pub(crate) fn parts(count: usize, size: usize) -> impl ExactSizeIterator<Item = Range<usize>> {
    (0..count)
        .step_by(size)
        .map(move |start| start..count.min(start + size))
}
