//! Bytes of a connection that wait for the socket.

use std::collections::VecDeque;
use std::io::IoSlice;

use bytes::{Buf, Bytes};

/// Pieces of bytes in the order in which they leave.
#[derive(Default)]
pub(super) struct Queue {
    pieces: VecDeque<Bytes>,
    bytes: usize,
}

impl Queue {
    pub(super) fn is_empty(&self) -> bool {
        self.bytes == 0
    }

    /// Bytes in it.
    pub(super) fn bytes(&self) -> usize {
        self.bytes
    }

    pub(super) fn extend(&mut self, pieces: Vec<Bytes>) {
        self.bytes += pieces.iter().map(Bytes::len).sum::<usize>();
        self.pieces.extend(pieces);
    }

    /// Lays its first pieces into `slices`, up to `most` bytes of them, and gives their number.
    pub(super) fn fill<'a>(&'a self, slices: &mut [IoSlice<'a>], most: usize) -> usize {
        let (mut given, mut count) = (0, 0);
        for (slice, piece) in slices.iter_mut().zip(&self.pieces) {
            let part = piece.len().min(most - given);
            *slice = IoSlice::new(&piece[..part]);
            given += part;
            count += 1;
            if given == most {
                break;
            }
        }
        count
    }

    /// Drops the first `bytes` bytes, and what is empty there.
    pub(super) fn consume(&mut self, mut bytes: usize) {
        self.bytes -= bytes;
        while let Some(front) = self.pieces.front_mut() {
            if front.len() > bytes {
                front.advance(bytes);
                return;
            }
            bytes -= front.len();
            self.pieces.pop_front();
        }
    }

    pub(super) fn clear(&mut self) {
        *self = Self::default();
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// However much is taken at a time, the bytes leave once and in order.
    #[test]
    fn bytes_leave_in_order() {
        for most in [1, 2, 7, 64, 1000] {
            let mut queue = Queue::default();
            let mut sent = Vec::new();
            let mut left = Vec::new();
            for length in 1..40_u8 {
                let pieces = [vec![length; length.into()], vec![0; 3]].map(Bytes::from);
                sent.extend(pieces.iter().flatten().copied());
                queue.extend(pieces.into());
                if length % 3 == 0 {
                    take(&mut queue, most, &mut left);
                }
            }
            while !queue.is_empty() {
                assert_eq!(queue.bytes(), sent.len() - left.len());
                take(&mut queue, most, &mut left);
            }
            assert_eq!(left, sent);
        }
    }

    /// Takes at most `most` bytes of up to three pieces.
    fn take(queue: &mut Queue, most: usize, left: &mut Vec<u8>) {
        let mut slices = [IoSlice::new(&[]); 3];
        let count = queue.fill(&mut slices, most);
        let bytes: Vec<u8> = slices[..count]
            .iter()
            .flat_map(|slice| slice.to_vec())
            .collect();
        assert!((1..=most).contains(&bytes.len()));
        left.extend_from_slice(&bytes);
        queue.consume(bytes.len());
    }
}
