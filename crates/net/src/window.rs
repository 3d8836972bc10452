//! Windows of channels, and their sizes. A window begins small and grows where it, and nothing else, holds the
//! channel up.
//!
//! A line with latency needs a window of its bandwidth times the round trip. With a smaller one it
//! stands still: the sender has used the window up, and says so; the receiver has consumed all that came,
//! and waits. How long it waits, of how much time, tells by how much the window is too small. A receiver
//! that is slower than what comes never waits, and a line that is full brings the next frame as soon as
//! the last one has ended, so neither makes a window grow: it would only make queues longer.
//!
//! Growing takes round trips in which the line stands still. Where it is known that much will come, and the
//! round trip is long, a window is given [a usual line's](FIRST_PACE) room at once.

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering::Relaxed};
use std::time::{Duration, Instant};

use madrigal_core::time::FIRST_PACE;

/// The largest window that a receiver may grant, in bytes as [`message_cost`](crate::frame::message_cost)
/// counts them: 5 Gbit/s at a round trip of 100 ms.
pub const MAX_WINDOW: u64 = madrigal_core::time::LARGEST_WINDOW;

/// A receiver holds its permission back until it is worth this part of the window.
const HELD_BACK: u64 = 8;
/// A window grows when the channel stands still for this part of the time.
const STILL: u32 = 8;
/// A window grows by no more than this factor at a time.
const MOST: u64 = madrigal_core::time::GROWTH;
/// Bytes, about, up to which frames that are sent together come together.
const PACKET: u64 = 64 << 10;

/// Bytes by which the windows of all channels with one peer may have grown, together.
#[derive(Debug)]
pub(crate) struct Room {
    left: AtomicU64,
}

impl Room {
    pub(crate) fn new(bytes: u64) -> Arc<Self> {
        Arc::new(Self {
            left: AtomicU64::new(bytes),
        })
    }

    /// Takes `bytes`, or what is left.
    fn take(&self, bytes: u64) -> u64 {
        let mut taken = 0;
        let _ = self.left.fetch_update(Relaxed, Relaxed, |left| {
            taken = bytes.min(left);
            Some(left - taken)
        });
        taken
    }

    fn give_back(&self, bytes: u64) {
        self.left.fetch_add(bytes, Relaxed);
    }
}

/// The window of one direction of a channel, at its receiver.
pub(crate) struct Window {
    bytes: u64,
    /// Bytes of the window that were taken of the room.
    grown: u64,
    /// Bytes in total that the sender may have sent, as it was told.
    granted: u64,
    room: Arc<Room>,
    /// Total beyond which the sender may send no more, as it has said; 0 if it has not said so, or could since.
    blocked: u64,
    /// Time since when the sender may not send and we wait.
    still: Option<Instant>,
    turn: Option<Turn>,
}

/// Observations since the window last grew or something first came.
struct Turn {
    since: Instant,
    arrived: u64,
    /// Time in which nothing came because of the window.
    still: Duration,
}

impl Window {
    pub(crate) fn new(bytes: u64, room: &Arc<Room>) -> Self {
        Self {
            bytes,
            grown: 0,
            granted: bytes,
            room: Arc::clone(room),
            blocked: 0,
            still: None,
            turn: None,
        }
    }

    pub(crate) fn bytes(&self) -> u64 {
        self.bytes
    }

    pub(crate) fn granted(&self) -> u64 {
        self.granted
    }

    /// Notes that `total` bytes were consumed in all. Gives the total that the sender is now permitted, where it is time to say
    /// so.
    pub(crate) fn consumed(&mut self, total: u64) -> Option<u64> {
        let allowed = total + self.bytes;
        let credit = allowed >= self.granted + self.bytes / HELD_BACK;
        if credit {
            self.granted = allowed;
        }
        credit.then_some(allowed)
    }

    /// `bytes` more will come than `consumed`. Gives the total that the sender is to be told at once, if any.
    pub(crate) fn expect(
        &mut self,
        bytes: u64,
        consumed: u64,
        round_trip: Duration,
    ) -> Option<u64> {
        let pace = (FIRST_PACE as f64 * round_trip.as_secs_f64()) as u64;
        let wanted = pace.min(bytes).min(MAX_WINDOW);
        self.grow(wanted.saturating_sub(self.bytes)).then(|| {
            self.granted = consumed + self.bytes;
            self.granted
        })
    }

    /// Grows, as far as there is room; whether it did.
    fn grow(&mut self, by: u64) -> bool {
        let more = self.room.take(by);
        self.bytes += more;
        self.grown += more;
        more > 0
    }

    /// The sender had used up this permission, `arrived` bytes have come. We wait for it or not.
    pub(crate) fn blocked(&mut self, limit: u64, arrived: u64, waiting: bool, now: Instant) {
        // Else it has heard of more since, and what it sent then has overtaken its complaint.
        self.blocked = if arrived <= limit { limit } else { 0 };
        if waiting {
            self.waits(now);
        }
    }

    /// The receiver has consumed all that came, and waits.
    pub(crate) fn waits(&mut self, now: Instant) {
        if self.blocked > 0 {
            self.still.get_or_insert(now);
        }
    }

    /// A frame of this size has come after `arrived` bytes.
    pub(crate) fn arrives(&mut self, size: u64, arrived: u64, now: Instant) {
        let still = self.still.take();
        // Else it was sent before the complaint, which has overtaken it: there will be more to wait for.
        let after = arrived + size > self.blocked;
        if after {
            self.blocked = 0;
        }
        let turn = self.turn.get_or_insert(Turn {
            since: now,
            arrived,
            still: Duration::ZERO,
        });
        let Some(still) = still.filter(|_| after) else {
            return;
        };
        let (elapsed, came) = (now - turn.since, arrived - turn.arrived);
        if came == 0 {
            return;
        }
        // The line is at work on a frame before that has come.
        let share = (size + PACKET) as f64 / came as f64;
        turn.still += (now - still).saturating_sub(elapsed.mul_f64(share.min(1.0)));
        if came < self.bytes / 2 || turn.still.is_zero() || turn.still * STILL < elapsed {
            return;
        }
        let busy = elapsed.saturating_sub(turn.still).as_secs_f64();
        let times = (1.25 * elapsed.as_secs_f64() / busy).min(MOST as f64);
        let bytes = ((self.bytes as f64 * times) as u64).min(MAX_WINDOW);
        self.grow(bytes.saturating_sub(self.bytes));
        self.turn = None;
    }

    /// Nobody receives any more: what comes is not kept.
    pub(crate) fn close(&mut self) {
        self.bytes -= self.grown;
        self.room.give_back(std::mem::take(&mut self.grown));
        // Permissions that were granted stay so.
        self.blocked = 0;
        self.still = None;
    }
}

impl Drop for Window {
    fn drop(&mut self) {
        self.room.give_back(self.grown);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const MIB: u64 = 1 << 20;
    const FRAME: u64 = 64 << 10;

    /// A channel over a line, by a clock of its own: a sender that sends all it may, a receiver that
    /// takes what it gets `per_frame` after the one before. Gives the window after `frames` frames, and
    /// the time they took.
    fn run(
        latency: Duration,
        bytes_per_second: f64,
        per_frame: Duration,
        room: &Arc<Room>,
        frames: usize,
    ) -> (u64, Duration) {
        let epoch = Instant::now();
        let mut window = Window::new(4 * MIB, room);
        let on_line = Duration::from_secs_f64(FRAME as f64 / bytes_per_second);
        // Events in the order of their time: permissions on their way back, and frames.
        let mut credits = std::collections::VecDeque::new();
        let (mut limit, mut sent) = (4 * MIB, 0);
        let (mut sender, mut line, mut receiver) = (epoch, epoch, epoch);
        for number in 0..frames as u64 {
            let mut complaint = None;
            while sent + FRAME > limit {
                complaint.get_or_insert((sender, limit));
                let (at, allowed) = credits.pop_front().expect("a permission is on its way");
                sender = sender.max(at);
                limit = allowed;
            }
            sent += FRAME;
            let begin = line.max(sender);
            if let Some((said, limit)) = complaint {
                // It follows the frame before.
                let heard = said.max(line) + latency;
                let waiting = receiver <= heard;
                window.blocked(limit, number * FRAME, waiting, heard);
                window.waits(heard.max(receiver));
            }
            line = begin + on_line;
            let arrives = line + latency;
            window.arrives(FRAME, number * FRAME, arrives);
            receiver = receiver.max(arrives) + per_frame;
            if let Some(allowed) = window.consumed((number + 1) * FRAME) {
                credits.push_back((receiver + latency, allowed));
            }
        }
        (window.bytes(), receiver - epoch)
    }

    /// Events on a line that brings everything up to `jitter` late, by chance.
    #[derive(PartialEq, Eq, PartialOrd, Ord)]
    enum Event {
        Frame(u64),
        Complaint(u64),
        Credit(u64),
    }

    /// Runs over such a line, with a receiver that takes at once what is in order.
    fn run_disordered(
        latency: Duration,
        bytes_per_second: f64,
        jitter: Duration,
        frames: u64,
    ) -> (u64, Duration) {
        use std::cmp::Reverse;
        let epoch = Instant::now();
        let mut window = Window::new(4 * MIB, &room());
        let on_line = Duration::from_secs_f64(FRAME as f64 / bytes_per_second);
        let mut chance = 1_u64;
        let mut late = move || {
            // A generator of Lehmer's.
            chance = chance * 48_271 % 0x7fff_ffff;
            jitter.mul_f64(chance as f64 / f64::from(0x7fff_ffff_u32))
        };
        let mut events = std::collections::BinaryHeap::new();
        let (mut limit, mut complained, mut sent, mut line) = (4 * MIB, 0, 0, epoch);
        let (mut arrived, mut next, mut now) = (0, 0, epoch);
        let mut early = std::collections::BTreeSet::new();
        loop {
            while sent < frames && (sent + 1) * FRAME <= limit {
                line = line.max(now) + on_line;
                events.push(Reverse((line + latency + late(), Event::Frame(sent))));
                sent += 1;
            }
            if sent < frames && complained < limit {
                complained = limit;
                let at = line.max(now) + latency + late();
                events.push(Reverse((at, Event::Complaint(limit))));
            }
            let Some(Reverse((at, event))) = events.pop() else {
                return (window.bytes(), now - epoch);
            };
            now = at;
            match event {
                Event::Credit(allowed) => limit = limit.max(allowed),
                Event::Complaint(limit) => window.blocked(limit, arrived, true, now),
                Event::Frame(number) => {
                    window.arrives(FRAME, arrived, now);
                    arrived += FRAME;
                    early.insert(number);
                    while early.remove(&next) {
                        next += 1;
                        if let Some(allowed) = window.consumed(next * FRAME) {
                            events.push(Reverse((now + latency + late(), Event::Credit(allowed))));
                        }
                    }
                    window.waits(now);
                }
            }
        }
    }

    fn room() -> Arc<Room> {
        Room::new(MAX_WINDOW)
    }

    #[test]
    fn a_long_fat_line_gets_the_window_that_it_needs() {
        let latency = Duration::from_millis(50);
        let (window, time) = run(latency, 125e6, Duration::ZERO, &room(), 4000);
        assert!((12 * MIB..40 * MIB).contains(&window), "{window}");
        let line = Duration::from_secs_f64(4000.0 * FRAME as f64 / 125e6);
        assert!(time < line + 6 * latency, "{time:?} for {line:?}");
    }

    /// A complaint may overtake what was sent before it.
    #[test]
    fn so_does_one_that_brings_frames_in_another_order() {
        let (latency, frames) = (Duration::from_millis(50), 2000);
        let line = Duration::from_secs_f64(frames as f64 * FRAME as f64 / 125e6);
        for jitter in [0, 1, 5, 20].map(Duration::from_millis) {
            let (window, time) = run_disordered(latency, 125e6, jitter, frames);
            assert!((12 * MIB..40 * MIB).contains(&window), "{window}");
            assert!(
                time < line + 10 * latency,
                "{time:?} for {line:?} {jitter:?}"
            );
        }
    }

    #[test]
    fn a_line_that_is_full_does_not() {
        for latency in [1, 10] {
            let latency = Duration::from_millis(latency);
            let (window, _) = run(latency, 12.5e6, Duration::ZERO, &room(), 4000);
            assert_eq!(window, 4 * MIB, "{latency:?}");
        }
    }

    #[test]
    fn nor_does_a_receiver_that_is_slower_than_the_line() {
        let (latency, slow) = (Duration::from_millis(10), Duration::from_millis(1));
        let (window, _) = run(latency, 1.25e9, slow, &room(), 4000);
        assert_eq!(window, 4 * MIB);
    }

    #[test]
    fn what_is_expected_has_room_at_once_where_the_round_trip_is_long() {
        let expect = |bytes, milliseconds| {
            let mut window = Window::new(4 * MIB, &room());
            let told = window.expect(bytes, MIB, Duration::from_millis(milliseconds));
            assert_eq!(
                told,
                (window.bytes() > 4 * MIB).then(|| MIB + window.bytes())
            );
            assert_eq!(window.granted(), told.unwrap_or(4 * MIB));
            window.bytes()
        };
        assert_eq!(expect(1 << 30, 100), FIRST_PACE / 10);
        assert_eq!(expect(5 * MIB, 100), 5 * MIB);
        assert_eq!(expect(3 * MIB, 100), 4 * MIB);
        assert_eq!(expect(1 << 30, 20), 4 * MIB);
        assert_eq!(expect(u64::MAX, 10_000), MAX_WINDOW);
        let little = Room::new(MIB);
        let mut window = Window::new(4 * MIB, &little);
        let told = window.expect(1 << 30, 0, Duration::from_millis(100));
        assert_eq!(told, Some(5 * MIB));
        assert_eq!(window.expect(1 << 30, 0, Duration::from_millis(100)), None);
    }

    #[test]
    fn what_all_windows_have_grown_is_bounded_and_given_back() {
        let room = Room::new(6 * MIB);
        let latency = Duration::from_millis(50);
        for _ in 0..2 {
            let (window, _) = run(latency, 1.25e9, Duration::ZERO, &room, 4000);
            assert_eq!(window, 10 * MIB);
        }
        let mut window = Window::new(MIB, &room);
        window.grown = room.take(u64::MAX);
        assert_eq!(window.grown, 6 * MIB);
        window.bytes += window.grown;
        assert_eq!(room.take(1), 0);
        window.close();
        assert_eq!((window.bytes(), room.take(1)), (MIB, 1));
    }
}
