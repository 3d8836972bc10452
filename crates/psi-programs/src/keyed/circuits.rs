//! AES-128 in parts: the keys of all rounds of a key that is shared by all parties, and rounds under them.

use std::sync::Arc;

use madrigal_circuit::{Builder, Goal, Netlist, Wire};
use madrigal_operations::Circuit;

/// Bits of a key, of a digest, of a tag.
pub(super) const BITS: usize = 128;
/// Rounds of AES-128; there is a key more.
pub(super) const ROUNDS: usize = 10;

/// Circuits for a number of parties.
#[derive(Debug, Clone)]
pub(super) struct Circuits {
    /// Keys of all rounds, of a part of the key by each party.
    pub(super) keys: Arc<Circuit>,
    /// Block, of a part by each party.
    pub(super) block: Arc<Circuit>,
    /// State after the first round, of a digest and the first two keys.
    first: Arc<Circuit>,
    /// Next state, of a state and a key.
    middle: Arc<Circuit>,
    /// Tag, of the state before the last round and its key.
    last: Arc<Circuit>,
}

impl Circuits {
    pub(super) fn new(parties: usize, goal: Goal) -> Self {
        Self {
            keys: compiled(keys(parties, goal)),
            block: compiled(block(parties)),
            first: compiled(round("first round of AES-128", 2, false, goal)),
            middle: compiled(round("round of AES-128", 1, false, goal)),
            last: compiled(round("last round of AES-128", 1, true, goal)),
        }
    }

    /// The circuit of a round, counted from 1 on. It takes the state, and its key; the first one the key before, too.
    pub(super) fn round(&self, round: usize) -> &Arc<Circuit> {
        match round {
            1 => &self.first,
            ROUNDS => &self.last,
            _ => &self.middle,
        }
    }
}

fn compiled(netlist: Netlist) -> Arc<Circuit> {
    Arc::new(Circuit::new(&netlist))
}

/// The key is the XOR of its parts. Its schedule takes 40 S-boxes, once for all digests.
fn keys(parties: usize, goal: Goal) -> Netlist {
    let mut builder = Builder::new("round keys of AES-128").with_goal(goal);
    let key = sum(&mut builder, parties);
    let keys = builder.aes128_keys(&key);
    keys.chunks(BITS).for_each(|key| builder.output(key));
    builder.finish()
}

/// A block is the XOR of its parts.
fn block(parties: usize) -> Netlist {
    let mut builder = Builder::new("block of its parts");
    let block = sum(&mut builder, parties);
    builder.output(&block);
    builder.finish()
}

/// The XOR of an input for each party.
fn sum(builder: &mut Builder, parties: usize) -> Vec<Wire> {
    let mut sum = builder.input(BITS as u32);
    for _ in 1..parties {
        let part = builder.input(BITS as u32);
        sum = sum
            .iter()
            .zip(&part)
            .map(|(&a, &b)| builder.xor(a, b))
            .collect();
    }
    sum
}

/// A round, before which all but the last of its keys are added.
fn round(name: &str, keys: usize, last: bool, goal: Goal) -> Netlist {
    let mut builder = Builder::new(name).with_goal(goal);
    let mut state = builder.input(BITS as u32);
    for number in 1..=keys {
        let key = builder.input(BITS as u32);
        state = match number == keys {
            true => builder.aes128_round(&state, &key, last),
            false => state
                .iter()
                .zip(&key)
                .map(|(&a, &b)| builder.xor(a, b))
                .collect(),
        };
    }
    builder.output(&state);
    builder.finish()
}
