//! Batches in pieces: a piece is computed while the ones before are under way.

use std::collections::VecDeque;
use std::fmt;
use std::ops::{Deref, DerefMut, Range};

use bytes::{Buf, Bytes, BytesMut};
use madrigal_core::Ring;
use madrigal_kernels::rings;
use madrigal_net::{Context, Receiver, Result, Sender, breathe};

/// Bytes of a message of a batch: it stays in the first or second level cache between being computed
/// and being sent.
pub(super) const PIECE: usize = 64 << 10;

/// Pieces that are sent before the first one is received. With that one they fit half of the smallest
/// window, so that nobody who sends waits for somebody who does too.
const AHEAD: usize = 2;

const _: () = assert!((AHEAD + 1) as u64 * (PIECE as u64 + 1024) <= madrigal_net::MIN_WINDOW / 2);

/// The pieces of a batch of `count` elements.
pub(super) fn pieces<T: Ring>(count: usize) -> impl ExactSizeIterator<Item = Range<usize>> {
    let each = PIECE / T::BYTES;
    let piece = move |i: usize| i * each..((i + 1) * each).min(count);
    (0..count.div_ceil(each)).map(piece)
}

/// Buffers of messages, used again when their receivers are done with them, so that long streams of
/// batches take no new memory. Their content is masked and goes over the wire, so they are not wiped.
#[derive(Default)]
pub(super) struct Pool(VecDeque<BytesMut>);

/// Buffers that are kept: what may be under way to one party, and what a transport still queues.
const POOLED: usize = 16;

impl Pool {
    /// A message with these bytes.
    pub(super) fn message(&mut self, bytes: &[u8]) -> Bytes {
        // The one used last, as it may still be in the cache.
        let free = (self.0.iter_mut()).rposition(|buffer| buffer.try_reclaim(bytes.len()));
        let mut buffer = free
            .and_then(|index| self.0.remove(index))
            .unwrap_or_else(|| BytesMut::with_capacity(bytes.len().max(PIECE)));
        buffer.extend_from_slice(bytes);
        let message = buffer.split().freeze();
        if self.0.len() == POOLED {
            self.0.pop_front();
        }
        self.0.push_back(buffer);
        message
    }
}

/// Long messages, whose memory is used again when nobody reads them any more.
#[derive(Default)]
pub(super) struct Spent(Vec<Bytes>);

/// Messages that are kept: one is computed, one is on its way, and what is read is those of all rounds of a tree
/// of carries.
const SPENT: usize = 9;

/// Bytes of a cache line.
const LINE: usize = 64;

impl Spent {
    /// Gives `len` bytes, with whatever they held before.
    pub(super) fn draft(&mut self, len: usize) -> Draft {
        let free = self.0.iter().position(Bytes::is_unique);
        let old = free.and_then(|index| self.0.swap_remove(index).try_into_mut().ok());
        let memory = old.filter(|old| old.len() >= len).unwrap_or_else(|| {
            // Memory from an allocator need not begin at a cache line.
            let mut new = BytesMut::zeroed(len + LINE);
            new.advance(new.as_ptr().align_offset(LINE).min(LINE));
            new
        });
        Draft { memory, len }
    }

    /// The message, which comes back one day.
    pub(super) fn message(&mut self, draft: Draft) -> Bytes {
        let memory = draft.memory.freeze();
        let message = memory.slice(..draft.len);
        if self.0.len() < SPENT {
            self.0.push(memory);
        }
        message
    }
}

/// A long message that is being made, in memory that may be longer.
pub struct Draft {
    memory: BytesMut,
    len: usize,
}

/// Shows the length alone: the bytes may be a share.
impl fmt::Debug for Draft {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Draft({})", self.len)
    }
}

impl Deref for Draft {
    type Target = [u8];

    fn deref(&self) -> &[u8] {
        &self.memory[..self.len]
    }
}

impl DerefMut for Draft {
    fn deref_mut(&mut self) -> &mut [u8] {
        &mut self.memory[..self.len]
    }
}

/// The two ways of a batch, and the count of rounds that it is part of.
pub(super) struct Flow<'a> {
    pub(super) context: &'a Context,
    pub(super) to: &'a mut Sender,
    pub(super) from: &'a mut Receiver,
    pub(super) pool: &'a mut Pool,
}

impl Flow<'_> {
    /// Sends the pieces of a batch of `sends` elements and receives those of one of `receives`: all of
    /// it in one round, however many pieces there are, as none waits for another one. `make` gives what
    /// to send of a range to its second argument, once.
    pub(super) async fn run<T: Ring>(
        self,
        sends: usize,
        mut make: impl FnMut(Range<usize>, &mut dyn FnMut(&[T])),
        receives: usize,
        mut take: impl FnMut(Range<usize>, &[u8]),
    ) -> Result<()> {
        let (sent, heard) = (self.context.beside(), self.context.beside());
        self.to.count_in(&sent);
        self.from.count_in(&heard);
        let (mut out, mut back) = (pieces::<T>(sends), pieces::<T>(receives));
        let turns = (out.len() + AHEAD).max(back.len() + AHEAD);
        for turn in 0..turns {
            if let Some(piece) = out.next() {
                let mut message = Bytes::new();
                make(piece, &mut |elements| {
                    message = self.pool.message(rings::as_bytes(elements));
                });
                self.to.send(message).await?;
            }
            if turn >= AHEAD
                && let Some(piece) = back.next()
            {
                let theirs = self.from.recv(piece.len() * T::BYTES).await?;
                take(piece, &theirs);
            } else if turn % 16 == 15 {
                // A party that only sends lets others have their messages.
                breathe().await;
            }
        }
        self.context.join(&heard);
        self.to.count_in(self.context);
        self.from.count_in(self.context);
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn messages_are_made_in_the_free_buffer_used_last() {
        let mut pool = Pool::default();
        let mut message = |byte: u8| pool.message(&[byte; PIECE]);
        let [one, two, three] = [1, 2, 3].map(&mut message);
        let [first, second] = [&one, &two].map(|message| message.as_ptr());
        drop((one, two));
        assert_eq!(message(4).as_ptr(), second);
        // It is free again, and then it is not.
        let four = message(4);
        assert_eq!(four.as_ptr(), second);
        assert_eq!(message(5).as_ptr(), first);
        assert!(three.iter().all(|byte| *byte == 3) && four.iter().all(|byte| *byte == 4));
        let many: Vec<Bytes> = (0..2 * POOLED as u8).map(message).collect();
        for (byte, message) in (0..).zip(&many) {
            assert!(message[..] == [byte; PIECE], "message {byte}");
        }
        assert_eq!(pool.0.len(), POOLED);
        // Short ones follow each other in what is left of one.
        drop(many);
        let [one, two] = [1, 2].map(|byte| pool.message(&[byte; 10]));
        assert_eq!(one.as_ptr().wrapping_add(10), two.as_ptr());
        assert_eq!((&one[..], &two[..]), (&[1; 10][..], &[2; 10][..]));
    }

    #[test]
    fn memory_of_messages_is_used_again_once_nobody_reads_them() {
        let mut spent = Spent::default();
        let mut draft = spent.draft(1000);
        let memory = draft.as_ptr();
        assert_eq!((draft.len(), memory.align_offset(LINE)), (1000, 0));
        draft.fill(7);
        assert_eq!(format!("{draft:?}"), "Draft(1000)");
        let message = spent.message(draft);
        assert_eq!(&message[..], [7; 1000]);
        // It is being read.
        assert_ne!(spent.draft(1000).as_ptr(), memory);
        drop(message);
        let shorter = spent.draft(3);
        assert_eq!((&*shorter, shorter.as_ptr()), (&[7; 3][..], memory));
        let message = spent.message(shorter);
        assert_eq!(message.len(), 3);
        drop(message);
        let again = spent.draft(1000);
        assert_eq!((again.len(), again.as_ptr()), (1000, memory));
        drop(spent.message(again));
        let longer = spent.draft(5000);
        assert_eq!(
            (longer.len(), longer.as_ptr().align_offset(LINE)),
            (5000, 0)
        );
    }
}
