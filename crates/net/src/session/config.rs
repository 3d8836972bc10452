//! Settings of a session.

use std::time::Duration;

use madrigal_core::Party;
use madrigal_core::time::FIRST_WINDOW;

use crate::frame::{FRAME_COST, MAX_PAYLOAD, WIRE_VERSION};
use crate::versions::{Speaks, Versions};

/// Versions of the session protocol that this program speaks. The layout of frames has the number of the oldest one: frames
/// travel before the parties know each other's newest.
const SESSION_PROTOCOL: Versions = Versions::only(WIRE_VERSION as u32);

/// The facts and limits of one party's session. Name and number of parties must be the same at all
/// parties; threads and limits are each party's own, but for the first window.
#[derive(Clone, Debug)]
pub struct SessionConfig {
    /// Number of this party.
    pub me: Party,
    /// Number of parties, at least 2.
    pub parties: usize,
    /// Name of the session, up to 64 bytes, the same at all parties and another one in each session
    /// that these parties have at the same time. It keeps connections of two such sessions apart that are
    /// forwarded crosswise. Where it is empty, the address at which two parties meet does, if the transport
    /// knows one ([`Transport::meeting`](crate::transport::Transport::meeting)).
    pub name: String,
    /// Bytes that may be under way on one channel at first, each frame with [`FRAME_COST`]. It is the same at
    /// all parties: it is part of the protocol version.
    pub window: u64,
    /// Bytes by which the windows of all channels that we receive from one peer on may grow together,
    /// where they are too small for a line with latency; each to [`MAX_WINDOW`](crate::MAX_WINDOW) at
    /// most. A peer that floods us can make us keep as much.
    pub growth: u64,
    /// Bytes that one peer may make us keep over all steps that we have not opened yet: its frames,
    /// counted as in windows, and 1 KiB for each step. A step that is open is bounded by its window.
    pub store: u64,
    /// Threads that this party computes with, which the others are told: the least number of all that compute
    /// is the session's [common one](crate::Session::common_threads). 0 if it computes nothing, as a dealer. Each
    /// party has its own; of more than 65536 this many are told.
    pub threads: usize,
    /// Time that the parties have to greet each other, and to announce a job that one has announced.
    pub patience: Duration,
    /// A peer of whom nothing at all is heard for this long, while something is awaited from it, is
    /// given up. Living parties send a sign of life four times as often.
    pub silence: Duration,
    /// A peer that lives but does not send what a step waits for is given up after this long.
    pub stall: Duration,
    /// Protocols above the session's that this party speaks, 16 at most: the others are told, and
    /// [`Session::spoken`](crate::Session::spoken) is the version of each that all have in common.
    pub speaks: Vec<Speaks>,
    /// Versions of the session protocol to announce; changed by tests alone.
    #[doc(hidden)]
    pub protocol: Versions,
    #[cfg(feature = "test-seeds")]
    #[doc(hidden)]
    pub test_seed: Option<u64>,
    /// Base OTs come from the seed too, which all parties of the test have.
    #[cfg(feature = "test-seeds")]
    #[doc(hidden)]
    pub test_base_ots: bool,
}

/// The smallest window: a frame of full length fits twice, so that the second travels while the
/// first is consumed.
pub const MIN_WINDOW: u64 = 2 * (MAX_PAYLOAD + FRAME_COST) as u64;

impl SessionConfig {
    /// One thread and the usual limits: windows of 4 MiB that may grow by 64 MiB, 10 seconds of patience and silence, 120 seconds of stall.
    pub fn new(me: Party, parties: usize) -> Self {
        Self {
            me,
            parties,
            name: String::new(),
            window: FIRST_WINDOW,
            growth: 64 << 20,
            store: 256 << 20,
            threads: 1,
            patience: Duration::from_secs(10),
            silence: Duration::from_secs(10),
            stall: Duration::from_secs(120),
            speaks: Vec::new(),
            protocol: SESSION_PROTOCOL,
            #[cfg(feature = "test-seeds")]
            test_seed: None,
            #[cfg(feature = "test-seeds")]
            test_base_ots: false,
        }
    }
}
