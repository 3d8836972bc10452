//! Costs of a plan at each party, for people and scripts.

use madrigal_core::PhaseCost;
use serde::Serialize;

use crate::numbers::{Table, bytes, count, table};

/// Counts of a phase of one party.
#[derive(Serialize)]
pub struct Counts {
    /// Rounds, exactly as a run will have them; so are the four counts that follow.
    pub rounds: u64,
    /// Payload sent.
    pub bytes_sent: u64,
    /// Payload received.
    pub bytes_received: u64,
    /// Messages sent.
    pub messages: u64,
    /// AES-128 blocks computed.
    pub aes_blocks: u64,
}

impl From<&PhaseCost> for Counts {
    fn from(cost: &PhaseCost) -> Self {
        Self {
            rounds: cost.rounds,
            bytes_sent: cost.bytes_sent,
            bytes_received: cost.bytes_received,
            messages: cost.messages,
            aes_blocks: cost.aes_blocks,
        }
    }
}

/// Rows of one party: its number, its memory, and the counts of setup and online, each with further cells.
pub type PartyRows<'a> = (usize, usize, [(&'a Counts, Vec<String>); 2]);

/// Makes a table with two rows for each party; `more` is the header of the further cells.
pub fn costs_table<'a>(parties: impl Iterator<Item = PartyRows<'a>>, more: &[&str]) -> Table {
    let usual = [
        "party",
        "phase",
        "rounds",
        "sends",
        "receives",
        "messages",
        "AES blocks",
        "memory",
    ];
    let mut costs = table(&[&usual, more].concat());
    for (party, memory, phases) in parties {
        for (name, (counts, more)) in ["setup", "online"].into_iter().zip(phases) {
            let only_first = |text: String| match name {
                "setup" => text,
                _ => String::new(),
            };
            let usual = vec![
                only_first(party.to_string()),
                name.to_owned(),
                count(counts.rounds),
                bytes(counts.bytes_sent),
                bytes(counts.bytes_received),
                count(counts.messages),
                count(counts.aes_blocks),
                only_first(bytes(memory as u64)),
            ];
            costs.add_row([usual, more].concat());
        }
    }
    costs
}
