//! Sender and receiver on a thread each, joined by a channel of messages of bounded length.

use std::sync::Barrier;
use std::sync::mpsc::{Receiver, Sender, SyncSender, channel, sync_channel};
use std::thread;
use std::time::{Duration, Instant};

use madrigal_kernels::meter;
use madrigal_ot::OtError;

use crate::exit::{Failure, Result};

/// Messages that may be under way each way: enough that neither side waits for the other's hiccups,
/// and few enough to stay in the cache.
pub(super) const AHEAD: usize = 4;

/// Why one side of a run ended early.
#[derive(Debug)]
pub(super) enum Stop {
    /// The other side has gone, and knows why.
    Alone,
    Failed(Failure),
}

impl From<OtError> for Stop {
    /// Nobody but this program is at fault: it plays both sides.
    fn from(error: OtError) -> Self {
        Self::Failed(Failure::bug(error))
    }
}

impl From<Failure> for Stop {
    fn from(failure: Failure) -> Self {
        Self::Failed(failure)
    }
}

impl From<Stop> for Failure {
    fn from(stop: Stop) -> Self {
        match stop {
            Stop::Alone => Self::bug("a side of the OTs panicked"),
            Stop::Failed(failure) => failure,
        }
    }
}

pub(super) type Step<T> = Result<T, Stop>;

/// One side's end.
pub(super) struct Wire {
    to: SyncSender<Vec<u8>>,
    from: Receiver<Vec<u8>>,
    /// Messages that were read go back to their sender, to be filled again.
    back: Sender<Vec<u8>>,
    empty: Receiver<Vec<u8>>,
    bytes: u64,
    waited: Duration,
}

impl Wire {
    fn pair() -> (Self, Self) {
        let ((to_b, b_from), (to_a, a_from)) = (sync_channel(AHEAD), sync_channel(AHEAD));
        let ((back_to_b, b_empty), (back_to_a, a_empty)) = (channel(), channel());
        let end = |to, from, back, empty| Self {
            to,
            from,
            back,
            empty,
            bytes: 0,
            waited: Duration::ZERO,
        };
        (
            end(to_b, a_from, back_to_b, a_empty),
            end(to_a, b_from, back_to_a, b_empty),
        )
    }

    /// Room for a message of `len` bytes, with anything in it.
    pub fn room(&mut self, len: usize) -> Vec<u8> {
        let mut room = self.empty.try_recv().unwrap_or_default();
        room.resize(len, 0);
        room
    }

    pub fn send(&mut self, message: Vec<u8>) -> Step<()> {
        self.bytes += message.len() as u64;
        let start = Instant::now();
        let sent = self.to.send(message);
        self.waited += start.elapsed();
        sent.map_err(|_| Stop::Alone)
    }

    pub fn receive(&mut self) -> Step<Vec<u8>> {
        let start = Instant::now();
        let message = self.from.recv();
        self.waited += start.elapsed();
        message.map_err(|_| Stop::Alone)
    }

    pub fn give_back(&mut self, message: Vec<u8>) {
        // Whoever has gone needs no room.
        let _ = self.back.send(message);
    }
}

/// Costs of a run.
#[derive(Debug, Clone, Copy)]
pub(super) struct OtRun {
    /// Seconds from the start of both to the end of both.
    pub wall: f64,
    pub sender: Side,
    pub receiver: Side,
}

#[derive(Debug, Clone, Copy)]
pub(super) struct Side {
    /// Seconds in which it did not wait for the other.
    pub busy: f64,
    /// Bytes that it sent.
    pub bytes: u64,
    /// AES blocks that it computed.
    pub aes: u64,
}

/// Runs both sides at the same time.
pub(super) fn drive(
    sender: impl FnOnce(&mut Wire) -> Step<()> + Send,
    receiver: impl FnOnce(&mut Wire) -> Step<()> + Send,
) -> Result<OtRun> {
    let (left, right) = Wire::pair();
    let ready = Barrier::new(2);
    let (sender, receiver) = thread::scope(|scope| {
        let other = scope.spawn(|| side(right, &ready, receiver));
        (side(left, &ready, sender), other.join())
    });
    let receiver = receiver.map_err(|_| Stop::Alone)?;
    match (sender, receiver) {
        (Ok((start, end, sender)), Ok((other_start, other_end, receiver))) => Ok(OtRun {
            wall: (end.max(other_end) - start.min(other_start)).as_secs_f64(),
            sender,
            receiver,
        }),
        (Err(Stop::Failed(failure)), _) | (_, Err(Stop::Failed(failure))) => Err(failure),
        (Err(alone), _) | (_, Err(alone)) => Err(alone.into()),
    }
}

/// Takes the wire, so that the other side notices when this one ends.
fn side(
    mut wire: Wire,
    ready: &Barrier,
    work: impl FnOnce(&mut Wire) -> Step<()>,
) -> Step<(Instant, Instant, Side)> {
    ready.wait();
    let start = Instant::now();
    let (done, aes) = meter::metered(|| work(&mut wire));
    done?;
    let end = Instant::now();
    let side = Side {
        busy: (end - start).saturating_sub(wire.waited).as_secs_f64(),
        bytes: wire.bytes,
        aes,
    };
    Ok((start, end, side))
}
