//! Costs of a phase, as reports have them.

use madrigal_core::PhaseCost;
use serde::Serialize;

/// Costs of a phase.
#[derive(Debug, Clone, Copy, Default, Serialize)]
pub struct Costs {
    /// Length of the longest chain of messages, each of which waits for the one before.
    pub rounds: u64,
    /// Payload sent.
    pub bytes_sent: u64,
    /// Payload received.
    pub bytes_received: u64,
    /// Messages sent.
    pub messages: u64,
    /// AES-128 blocks computed.
    pub aes_blocks: u64,
    /// Time by an estimate; `null` where no network is named, or where nothing is done.
    pub seconds: Option<f64>,
}

impl Costs {
    pub(crate) fn new(cost: &PhaseCost, seconds: Option<f64>) -> Self {
        Self {
            rounds: cost.rounds,
            bytes_sent: cost.bytes_sent,
            bytes_received: cost.bytes_received,
            messages: cost.messages,
            aes_blocks: cost.aes_blocks,
            seconds,
        }
    }

    /// The larger of each.
    pub(crate) fn most(self, other: Self) -> Self {
        Self {
            rounds: self.rounds.max(other.rounds),
            bytes_sent: self.bytes_sent.max(other.bytes_sent),
            bytes_received: self.bytes_received.max(other.bytes_received),
            messages: self.messages.max(other.messages),
            aes_blocks: self.aes_blocks.max(other.aes_blocks),
            seconds: match (self.seconds, other.seconds) {
                (Some(own), Some(other)) => Some(own.max(other)),
                (own, other) => own.or(other),
            },
        }
    }
}
