//! Estimates how long work takes: a [`Bill`] of what a party computes and sends, at the [`Rates`] of its machine,
//! over a [`Link`].
//!
//! # The model
//! A bill is work that goes on in one way from its beginning to its end; bills one after the other add
//! up. For each of them, a party
//!
//! - *computes*: every AES block and every unit of [`Work`] at the machine's rate, and every byte and
//!   message on its way through the operating system; its threads share this evenly;
//! - *sends*: the bytes of its fullest link, in the direction that has more of them, at the link's
//!   bandwidth;
//! - *waits*: for each round one latency of the link, and the machine's own time to wake who waits.
//!
//! A bill may have several *chains* of messages under way on each thread: while one waits, another
//! computes or sends. The work of all chains takes no less than the computing and the sending of all of
//! them, and no less than one chain by itself:
//!
//! max(computing, sending, waiting + (computing + sending) / chains)
//!
//! In a *stream* all messages but the first follow each other without waiting, as many as the line
//! holds; the last one's rounds come at the end:
//!
//! waiting + growing + max(computing, sending)
//!
//! *Growing*: a channel's window is small at first: [`FIRST_WINDOW`], or what [`FIRST_PACE`] brings in a round
//! trip where that is more. A line that holds more stands still
//! for the rest of each round trip until the window is as large, which takes two round trips for
//! the first step and one for each other one, of a factor of [`GROWTH`]. A stream at the pace of
//! the slower of line and computing needs no larger window than that.
//!
//! Not in the model: what other programs and other parties on the same machine take of it, packets
//! that are lost, jitter, and TLS.

use crate::PhaseCost;

/// Bytes that may be under way on a channel at first.
pub const FIRST_WINDOW: u64 = 4 << 20;
/// Bytes that may be under way on a channel at most.
pub const LARGEST_WINDOW: u64 = 64 << 20;
/// Factor by which a window grows at a time.
pub const GROWTH: u64 = 4;
/// Bytes per second that a line is taken to carry before it has shown what it does: where its round trip is
/// long, so much of what is known to come may be under way from the beginning.
pub const FIRST_PACE: u64 = 160_000_000;

/// Rates of one core of a machine that does nothing else: what it does in a second.
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct Rates {
    /// Blocks of AES-128, as protocols compute them.
    pub aes_blocks: f64,
    /// See [`Work::base_ots`].
    pub base_ots: f64,
    /// See [`Work::extended_ots`].
    pub extended_ots: f64,
    /// See [`Work::silent_rows`].
    pub silent_rows: f64,
    /// See [`Work::tree_leaves`].
    pub tree_leaves: f64,
    /// See [`Work::row_bytes`].
    pub row_bytes: f64,
    /// See [`Work::store_bytes`].
    pub store_bytes: f64,
    /// Bytes handed to the operating system or taken from it.
    pub network_bytes: f64,
    /// Messages sent.
    pub messages: f64,
    /// Seconds (no rate) from a message's sending to its receiver's work, over a network without
    /// any latency.
    pub hop: f64,
}

impl Rates {
    /// One core of a Zen 5 processor with VAES-512, to scale what was not measured on another machine.
    /// docs/NETWORKS.md has these rates; bytes and messages go through memory, and
    /// `hop` is that of its loopback interface.
    pub const ZEN_5: Self = Self {
        aes_blocks: 2.5e9,
        // 128 of them take both sides 7.2 ms.
        base_ots: 2.0 * 128.0 / 7.2e-3,
        extended_ots: 1e9,
        silent_rows: 1e9 / 7.0,
        tree_leaves: 1e9 / 70.0,
        row_bytes: 75e9,
        store_bytes: 1e9,
        network_bytes: 12.5e9,
        messages: 2e5,
        hop: 30e-6,
    };

    /// Rates of a machine that takes no time: the time that is left is the network's.
    pub const UNBOUNDED: Self = Self {
        aes_blocks: f64::INFINITY,
        base_ots: f64::INFINITY,
        extended_ots: f64::INFINITY,
        silent_rows: f64::INFINITY,
        tree_leaves: f64::INFINITY,
        row_bytes: f64::INFINITY,
        store_bytes: f64::INFINITY,
        network_bytes: f64::INFINITY,
        messages: f64::INFINITY,
        hop: 0.0,
    };

    /// Scales the rates to a party that has this part of a core, 0 to 1.
    #[must_use]
    pub fn of_part(self, part: f64) -> Self {
        Self {
            aes_blocks: self.aes_blocks * part,
            base_ots: self.base_ots * part,
            extended_ots: self.extended_ots * part,
            silent_rows: self.silent_rows * part,
            tree_leaves: self.tree_leaves * part,
            row_bytes: self.row_bytes * part,
            store_bytes: self.store_bytes * part,
            network_bytes: self.network_bytes * part,
            messages: self.messages * part,
            hop: self.hop,
        }
    }
}

/// Work of a party beside AES blocks, in units that a machine has rates for.
#[derive(Clone, Copy, PartialEq, Debug, Default)]
pub struct Work {
    /// Base OTs, each side of each by itself.
    pub base_ots: f64,
    /// OTs that are extended, each side of each by itself: transposition, and the rows' way through
    /// the caches.
    pub extended_ots: f64,
    /// Rows of silent OT, each side of each by itself: sums of rows at random places.
    pub silent_rows: f64,
    /// Leaves of the trees that an extension begins with.
    pub tree_leaves: f64,
    /// Bytes of a circuit's rows that are read or written.
    pub row_bytes: f64,
    /// Bytes that are read from a store and decrypted.
    pub store_bytes: f64,
}

impl Work {
    /// Gives this work `times` times.
    #[must_use]
    pub fn times(self, times: f64) -> Self {
        Self {
            base_ots: self.base_ots * times,
            extended_ots: self.extended_ots * times,
            silent_rows: self.silent_rows * times,
            tree_leaves: self.tree_leaves * times,
            row_bytes: self.row_bytes * times,
            store_bytes: self.store_bytes * times,
        }
    }

    /// Seconds on one core.
    pub fn seconds(&self, rates: &Rates) -> f64 {
        [
            (self.base_ots, rates.base_ots),
            (self.extended_ots, rates.extended_ots),
            (self.silent_rows, rates.silent_rows),
            (self.tree_leaves, rates.tree_leaves),
            (self.row_bytes, rates.row_bytes),
            (self.store_bytes, rates.store_bytes),
        ]
        .into_iter()
        .map(|(units, rate)| units / rate)
        .sum()
    }
}

/// The link between each two parties.
#[derive(Clone, Copy, PartialEq, Debug, Default)]
pub struct Link {
    /// Seconds from one end to the other.
    pub latency: f64,
    /// Bandwidth of each direction; `None`: as many bytes as come.
    pub bytes_per_second: Option<f64>,
}

impl Link {
    /// Bytes of a stream's messages to one peer and from it that a party keeps because of a long round trip: what
    /// has left and has not arrived, and what has arrived before it is looked at. None where first windows
    /// hold all that is under way.
    pub fn under_way(&self) -> u64 {
        let window = first_window(2.0 * self.latency) as u64;
        if window > FIRST_WINDOW { 2 * window } else { 0 }
    }
}

/// Work that goes on in one way from its beginning to its end.
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct Bill {
    /// Cost of one party.
    pub cost: PhaseCost,
    /// Work of the party besides.
    pub work: Work,
    /// Links that its bytes are spread over evenly.
    pub links: usize,
    /// Threads that share its computing.
    pub threads: usize,
    /// Order in which its messages wait for each other.
    pub order: Order,
}

/// Ways in which messages wait for each other.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Order {
    /// Chains that are under way at once, for each thread; in each, no message is sent before the last
    /// one has arrived.
    Chains(usize),
    /// Whatever is ready is sent.
    Stream,
}

/// Seconds that work takes, and what they are spent on. Computing, sending and waiting overlap, so that
/// the total may be less than their sum.
#[derive(Clone, Copy, PartialEq, Debug, Default)]
pub struct Time {
    /// All threads at work.
    pub computing: f64,
    /// The fullest link at work.
    pub sending: f64,
    /// Time for messages that have to arrive before others can be sent, and for windows that are too small.
    pub waiting: f64,
    /// Time from the beginning to the end.
    pub total: f64,
}

impl Bill {
    /// Work on one thread, with no message sent before the last one has arrived.
    pub fn in_one_chain(cost: PhaseCost, work: Work, links: usize) -> Self {
        Self {
            cost,
            work,
            links,
            threads: 1,
            order: Order::Chains(1),
        }
    }

    /// Estimates the time that it takes, by the model that the source of this module explains.
    pub fn time(&self, rates: &Rates, link: &Link) -> Time {
        let PhaseCost {
            rounds,
            bytes_sent,
            bytes_received,
            messages,
            aes_blocks,
        } = self.cost;
        let one_core = aes_blocks as f64 / rates.aes_blocks
            + self.work.seconds(rates)
            + (bytes_sent + bytes_received) as f64 / rates.network_bytes
            + messages as f64 / rates.messages;
        let computing = one_core / self.threads.max(1) as f64;
        let fullest = bytes_sent.max(bytes_received) as f64 / self.links.max(1) as f64;
        let sending = link.bytes_per_second.map_or(0.0, |rate| fullest / rate);
        let hop = link.latency + rates.hop;
        let mut waiting = rounds as f64 * hop;
        let one_chain = match self.order {
            Order::Chains(chains) => waiting + (computing + sending) / chains.max(1) as f64,
            Order::Stream => {
                let busy = computing.max(sending);
                let round_trip = 2.0 * hop;
                waiting += growing(fullest, busy, round_trip, first_window(round_trip));
                waiting + busy
            }
        };
        Time {
            computing,
            sending,
            waiting,
            total: one_chain.max(computing).max(sending),
        }
    }
}

/// The window that a channel begins with, in bytes.
fn first_window(round_trip: f64) -> f64 {
    (FIRST_PACE as f64 * round_trip).clamp(FIRST_WINDOW as f64, LARGEST_WINDOW as f64)
}

/// Computes how long a channel stands still because the `window` that it begins with is too small, where `bytes`
/// would take `seconds` otherwise.
fn growing(bytes: f64, seconds: f64, round_trip: f64, window: f64) -> f64 {
    let pace = bytes / seconds.max(f64::MIN_POSITIVE);
    let largest = LARGEST_WINDOW as f64;
    let (mut window, mut left, mut still) = (window, bytes, 0.0);
    let mut first = true;
    while left > window && window < pace * round_trip {
        let each = round_trip - window / pace;
        if window >= largest {
            return still + (left / window).floor() * each;
        }
        still += each;
        left -= window;
        if !std::mem::take(&mut first) {
            window = (window * GROWTH as f64).min(largest);
        }
    }
    still
}

impl Time {
    /// Gives the bill of this and then `next`.
    #[must_use]
    pub fn then(self, next: Self) -> Self {
        Self {
            computing: self.computing + next.computing,
            sending: self.sending + next.sending,
            waiting: self.waiting + next.waiting,
            total: self.total + next.total,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A machine on which all figures are round.
    const MACHINE: Rates = Rates {
        aes_blocks: 1e9,
        base_ots: 1e4,
        extended_ots: 1e9,
        silent_rows: 1e8,
        tree_leaves: 1e7,
        row_bytes: 1e10,
        store_bytes: 1e9,
        network_bytes: 1e9,
        messages: 1e5,
        hop: 1e-5,
    };

    fn bill(order: Order) -> Bill {
        Bill {
            cost: PhaseCost {
                rounds: 100,
                bytes_sent: 2_000_000,
                bytes_received: 1_000_000,
                messages: 200,
                aes_blocks: 5_000_000,
            },
            work: Work {
                base_ots: 10.0,
                ..Work::default()
            },
            links: 2,
            threads: 1,
            order,
        }
    }

    #[test]
    fn computing_sending_and_waiting_of_one_chain_add_up() {
        let link = Link {
            latency: 9e-5,
            bytes_per_second: Some(1e8),
        };
        let time = bill(Order::Chains(1)).time(&MACHINE, &link);
        // 5 ms of AES, 1 ms of base OTs, 3 ms of bytes, 2 ms of messages; one of two links has 1 MB.
        let close =
            |found: f64, expected: f64| assert!((found - expected).abs() < 1e-12, "{found}");
        close(time.computing, 0.011);
        close(time.sending, 0.010);
        close(time.waiting, 0.010);
        close(time.total, 0.031);
        // Two chains: half of the work is behind the other's waiting.
        close(bill(Order::Chains(2)).time(&MACHINE, &link).total, 0.0205);
        // Never less than the processor or the link is at work.
        close(
            bill(Order::Chains(1000)).time(&MACHINE, &link).total,
            0.0110,
        );
        // Bytes are sent after they are computed; then come the rounds.
        close(bill(Order::Stream).time(&MACHINE, &link).total, 0.0210);
        let twice = time.then(time);
        close(twice.total, 0.062);
        let threads = Bill {
            threads: 2,
            ..bill(Order::Chains(1))
        };
        close(threads.time(&MACHINE, &link).computing, 0.0055);
    }

    /// Against a channel that was followed frame by frame.
    #[test]
    fn a_long_fat_line_waits_for_its_window() {
        let line = |milliseconds: f64, megabits: f64, mib: f64| {
            let (round_trip, pace) = (milliseconds / 1e3, megabits * 1e6 / 8.0);
            let bytes = mib * f64::from(1 << 20);
            growing(bytes, bytes / pace, round_trip, FIRST_WINDOW as f64) / round_trip
        };
        for (milliseconds, megabits, mib, round_trips) in [
            (100.0, 1000.0, 4.0, 0.0),
            (100.0, 1000.0, 8.0, 0.71),
            (100.0, 1000.0, 256.0, 1.38),
            (100.0, 500.0, 256.0, 0.75),
            (200.0, 1000.0, 256.0, 2.10),
            (200.0, 5000.0, 512.0, 6.53),
            (20.0, 1000.0, 256.0, 0.0),
        ] {
            let found = line(milliseconds, megabits, mib);
            let off = 0.1 + 0.08 * round_trips;
            assert!((found - round_trips).abs() < off, "{found} {round_trips}");
        }
        let windows = [0.02, 0.1, 1.0].map(first_window);
        assert_eq!(windows, [FIRST_WINDOW as f64, 16e6, LARGEST_WINDOW as f64]);
    }

    #[test]
    fn nothing_takes_no_time() {
        let nothing = Bill::in_one_chain(PhaseCost::default(), Work::default(), 0);
        assert_eq!(nothing.time(&MACHINE, &Link::default()), Time::default());
    }
}
