//! Faults that can be made in a session on purpose.

use std::fmt;

use madrigal_core::Party;

use super::dice::Dice;

/// Something that goes wrong at one moment of a session; [`Faulty`](super::Faulty) makes it happen.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Fault {
    /// Kind of the fault.
    pub kind: FaultKind,
    /// The party that it happens to, or that misbehaves.
    pub party: Party,
    /// Peer of the fault, which happens when `party` sends to it...
    pub peer: Party,
    /// ...its packet of this number, counted from 0.
    pub at: u32,
    /// Fixes all that is left to chance.
    pub seed: u64,
}

/// The kinds of [`Fault`].
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum FaultKind {
    /// The party's process ends: its connections break.
    Kill,
    /// Nothing leaves or reaches the party any more; its connections stay.
    Stall,
    /// Nothing passes between the two parties any more.
    Cut {
        /// Whether both are told that they lost each other.
        noticed: bool,
    },
    /// Some bits of the packet change on the way.
    Corrupt,
    /// The packet loses its end.
    Truncate,
    /// The packet comes twice.
    Duplicate,
    /// The packet comes after those that follow it, its frames in reverse.
    Reorder,
    /// The party sends far too much of something.
    Flood(Flood),
}

/// Messages of a flood.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Flood {
    /// Random bytes.
    Bytes,
    /// Headers that announce gigabytes.
    Lengths,
    /// Sound frames for steps that nobody knows.
    Steps,
    /// Data beyond the window of one step.
    Window,
    /// Data whose place is far ahead.
    Ahead,
    /// Frames without content that never end their message.
    Parts,
    /// Credit for bytes that were never sent.
    Credits,
    /// Announcements of jobs without end.
    Jobs,
    /// Random bytes in the place of control messages.
    Control,
}

impl FaultKind {
    /// All of them.
    pub const ALL: [Self; 18] = [
        Self::Kill,
        Self::Stall,
        Self::Cut { noticed: false },
        Self::Cut { noticed: true },
        Self::Corrupt,
        Self::Corrupt,
        Self::Truncate,
        Self::Duplicate,
        Self::Reorder,
        Self::Flood(Flood::Bytes),
        Self::Flood(Flood::Lengths),
        Self::Flood(Flood::Steps),
        Self::Flood(Flood::Window),
        Self::Flood(Flood::Ahead),
        Self::Flood(Flood::Parts),
        Self::Flood(Flood::Credits),
        Self::Flood(Flood::Jobs),
        Self::Flood(Flood::Control),
    ];

    /// Whether a session has to bear it, and end as if nothing had happened.
    pub const fn harmless(self) -> bool {
        matches!(self, Self::Duplicate | Self::Reorder)
    }

    /// Whether frames vanish without a trace. Then a party only sees that nothing comes, and with
    /// more than two parties it may be another one that waits in vain itself.
    pub const fn traceless(self) -> bool {
        matches!(self, Self::Cut { noticed: false } | Self::Truncate)
    }
}

impl Fault {
    /// The fault that `seed` stands for, in a session of `parties`: any kind, among the first 24
    /// packets between any two.
    ///
    /// # Panics
    /// If there are fewer than two parties.
    pub fn random(seed: u64, parties: usize) -> Self {
        assert!(parties >= 2, "a session has at least 2 parties");
        let mut dice = Dice::new(seed, 1);
        let kind = FaultKind::ALL[dice.below(FaultKind::ALL.len())];
        let party = dice.below(parties);
        let peer = (party + 1 + dice.below(parties - 1)) % parties;
        Self {
            kind,
            party: Party::new(party),
            peer: Party::new(peer),
            at: dice.below(24) as u32,
            seed,
        }
    }
}

impl fmt::Display for Fault {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self {
            kind,
            party,
            peer,
            at,
            seed,
        } = self;
        let flood = |what| format!("{party} floods {peer} with {what}");
        let what = match kind {
            FaultKind::Kill => format!("{party} is killed"),
            FaultKind::Stall => format!("{party} stalls"),
            FaultKind::Cut { noticed: true } => format!("{party} and {peer} lose each other"),
            FaultKind::Cut { noticed: false } => {
                format!("nothing passes between {party} and {peer} any more")
            }
            FaultKind::Corrupt => "it is damaged".into(),
            FaultKind::Truncate => "it is cut short".into(),
            FaultKind::Duplicate => "it comes twice".into(),
            FaultKind::Reorder => "it comes late".into(),
            FaultKind::Flood(Flood::Bytes) => flood("random bytes"),
            FaultKind::Flood(Flood::Lengths) => flood("announcements of long frames"),
            FaultKind::Flood(Flood::Steps) => flood("frames of unknown steps"),
            FaultKind::Flood(Flood::Window) => flood("data beyond the window"),
            FaultKind::Flood(Flood::Ahead) => flood("data from far ahead"),
            FaultKind::Flood(Flood::Parts) => flood("messages without content and end"),
            FaultKind::Flood(Flood::Credits) => flood("credit"),
            FaultKind::Flood(Flood::Jobs) => flood("jobs"),
            FaultKind::Flood(Flood::Control) => flood("senseless control messages"),
        };
        write!(
            f,
            "at packet {at} from {party} to {peer}: {what} (seed {seed})"
        )
    }
}
