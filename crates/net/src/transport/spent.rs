//! Memory of a connection that serves again.

use std::collections::VecDeque;

use bytes::BytesMut;

/// Memory that was read into before, used again when nobody holds what came: new memory would have to be
/// paged in, which takes a quarter of the time of a copy from the socket.
#[derive(Default)]
pub(super) struct Spent(VecDeque<BytesMut>);

/// Pieces of memory that are kept for a connection.
const SPENT: usize = 2;

impl Spent {
    /// Makes room for `room` bytes more in `buffer`.
    pub(super) fn make_room(&mut self, buffer: &mut BytesMut, room: usize) {
        if buffer.try_reclaim(room) {
            return;
        }
        let room = buffer.len() + room;
        let free = self.0.iter_mut().position(|old| old.try_reclaim(room));
        let mut next = match free.and_then(|at| self.0.remove(at)) {
            Some(free) => free,
            None => BytesMut::with_capacity(room),
        };
        next.extend_from_slice(buffer);
        buffer.clear();
        if self.0.len() == SPENT {
            self.0.pop_front();
        }
        self.0.push_back(std::mem::replace(buffer, next));
    }
}

#[cfg(test)]
mod tests {
    use bytes::Bytes;

    use super::*;

    /// Bytes that came are read by whoever holds them, while more come into the same few pieces of memory.
    #[test]
    fn memory_serves_again_when_nobody_holds_it() {
        let mut spent = Spent::default();
        let mut buffer = BytesMut::new();
        let mut held: VecDeque<(Bytes, u8)> = VecDeque::new();
        let mut places = std::collections::HashSet::new();
        for turn in 0..1000_usize {
            let (number, rest) = (turn as u8, turn % 7 * 100);
            spent.make_room(&mut buffer, 4096);
            assert!(buffer.capacity() >= buffer.len() + 4096);
            places.insert(buffer.as_ptr() as usize / 64);
            // A part of a message that is not whole yet stands in front.
            let before = buffer.len();
            buffer.extend_from_slice(&vec![number; 4096]);
            let whole = buffer.split_to(buffer.len() - rest).freeze();
            assert!(whole[before..].iter().all(|&byte| byte == number));
            held.push_back((whole.slice(before..), number));
            while held.len() > turn % 4 {
                let (message, number) = held.pop_front().expect("one at least");
                assert!(message.iter().all(|&byte| byte == number));
            }
            assert!(buffer.iter().all(|&byte| byte == number) && buffer.len() == rest);
            assert!(spent.0.len() <= SPENT);
        }
        assert!(places.len() < 500, "{} times new memory", places.len());
    }
}
