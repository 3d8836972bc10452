//! Costs of operations, declared before they run and compared with the counters after.

use std::fmt;
use std::ops::{Add, AddAssign};

/// The two phases of a computation: `Setup` does not depend on inputs, `Online` does.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum Phase {
    /// Input-independent: base OTs, OT extension, triples.
    Setup,
    /// Input-dependent.
    Online,
}

impl Phase {
    /// Both phases, in the order in which they run.
    pub const ALL: [Phase; 2] = [Phase::Setup, Phase::Online];

    /// 0 for setup, 1 for online: the phase's place in a table.
    pub const fn index(self) -> usize {
        self as usize
    }
}

impl fmt::Display for Phase {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Phase::Setup => "setup",
            Phase::Online => "online",
        })
    }
}

/// Cost of one party in one phase.
///
/// Costs add up as work done one after the other does: rounds add as well. Work done side by side
/// takes the larger number of rounds, see [`PhaseCost::beside`].
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct PhaseCost {
    /// Length of the longest chain of messages, each of which waited for the one before.
    pub rounds: u64,
    /// Payload bytes this party sends to all others together.
    pub bytes_sent: u64,
    /// Payload bytes this party receives from all others together.
    pub bytes_received: u64,
    /// Messages this party sends.
    pub messages: u64,
    /// AES-128 blocks computed for generators and hashes. The rule for what counts as one is in
    /// `madrigal_kernels::meter`.
    pub aes_blocks: u64,
}

impl PhaseCost {
    /// The cost of this work and `other` done at the same time.
    #[must_use]
    pub fn beside(self, other: Self) -> Self {
        Self {
            rounds: self.rounds.max(other.rounds),
            ..self + other
        }
    }

    /// The cost of what came after `earlier`, of which this is the continuation.
    #[must_use]
    pub fn since(self, earlier: Self) -> Self {
        Self {
            rounds: self.rounds.saturating_sub(earlier.rounds),
            bytes_sent: self.bytes_sent.saturating_sub(earlier.bytes_sent),
            bytes_received: self.bytes_received.saturating_sub(earlier.bytes_received),
            messages: self.messages.saturating_sub(earlier.messages),
            aes_blocks: self.aes_blocks.saturating_sub(earlier.aes_blocks),
        }
    }

    /// The cost of doing this `times` times, one after the other.
    #[must_use]
    pub fn times(self, times: u64) -> Self {
        Self {
            rounds: self.rounds * times,
            bytes_sent: self.bytes_sent * times,
            bytes_received: self.bytes_received * times,
            messages: self.messages * times,
            aes_blocks: self.aes_blocks * times,
        }
    }
}

impl Add for PhaseCost {
    type Output = Self;

    fn add(self, other: Self) -> Self {
        Self {
            rounds: self.rounds + other.rounds,
            bytes_sent: self.bytes_sent + other.bytes_sent,
            bytes_received: self.bytes_received + other.bytes_received,
            messages: self.messages + other.messages,
            aes_blocks: self.aes_blocks + other.aes_blocks,
        }
    }
}

impl AddAssign for PhaseCost {
    fn add_assign(&mut self, other: Self) {
        *self = *self + other;
    }
}

/// Cost of one party in both phases.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct Cost {
    /// Cost before the inputs are needed.
    pub setup: PhaseCost,
    /// Cost from the inputs on.
    pub online: PhaseCost,
}

impl Cost {
    /// The part of one phase.
    pub fn phase(&self, phase: Phase) -> &PhaseCost {
        match phase {
            Phase::Setup => &self.setup,
            Phase::Online => &self.online,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rounds_add_in_sequence_and_overlap_side_by_side() {
        let one = PhaseCost {
            rounds: 2,
            bytes_sent: 10,
            bytes_received: 7,
            messages: 1,
            aes_blocks: 3,
        };
        assert_eq!((one + one).rounds, 4);
        assert_eq!(one.beside(one.times(2)).rounds, 4);
        assert_eq!(one.beside(one).bytes_sent, 20);
    }
}
