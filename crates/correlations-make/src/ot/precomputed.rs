//! Correlated OTs of bits online, from random OTs made before (MOTION 5.1.3 and Table 2, "our
//! optimization" of Beaver's): one round.
//!
//! For random OTs with masks k_0, k_1 at the sender and r, k_r at the receiver, the sender's message
//! k_0 ^ k_1 ^ a does not depend on which mask is which, and the receiver's r ^ c not on the
//! correlation a: neither waits for the other. At the end the sender has a random x, the receiver
//! x ^ c a for the choice c that it made only now.

use bytes::Bytes;
use madrigal_core::{Party, PhaseCost, Zeroizing, bits};
use madrigal_net::{Channel, Context, Result, exchange_one};
use madrigal_ot::flavour;

use crate::ot::base::fail;

/// The sender's part of random OTs of bits with one peer, each good for one correlated OT.
pub struct PrecomputedSender {
    channel: Channel,
    count: usize,
    k0: Zeroizing<Vec<u8>>,
    k1: Zeroizing<Vec<u8>>,
}

/// The receiver's part.
pub struct PrecomputedReceiver {
    channel: Channel,
    count: usize,
    random: Zeroizing<Vec<u8>>,
    k: Zeroizing<Vec<u8>>,
}

impl std::fmt::Debug for PrecomputedSender {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "PrecomputedSender({} OTs)", self.count)
    }
}

impl std::fmt::Debug for PrecomputedReceiver {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "PrecomputedReceiver({} OTs)", self.count)
    }
}

/// Cost for either party: `ceil(count / 8)` bytes each way in one round, each message sent without
/// waiting for the other.
pub fn precomputed_cost(count: usize) -> PhaseCost {
    let bytes = bits::bytes_for(count) as u64;
    PhaseCost {
        rounds: 1,
        bytes_sent: bytes,
        bytes_received: bytes,
        messages: 1,
        aes_blocks: 0,
    }
}

/// Sends ours and receives the other's, of the same length.
async fn cross(Channel { tx, rx }: &mut Channel, message: Vec<u8>) -> Result<Bytes> {
    let expected = message.len();
    exchange_one(tx, message, rx, expected).await
}

impl PrecomputedSender {
    /// Takes the masks of `count` random OTs to `peer`, packed, `ceil(count / 8)` bytes each
    /// ([`flavour::sender_random_bits`]). The correlated OTs run in the step of `context`.
    ///
    /// # Errors
    /// If the step has a channel to the peer already; the job's failure.
    ///
    /// # Panics
    /// If the masks have another length.
    pub fn new(
        context: &Context,
        peer: Party,
        count: usize,
        k0: Zeroizing<Vec<u8>>,
        k1: Zeroizing<Vec<u8>>,
    ) -> Result<Self> {
        assert_eq!([k0.len(), k1.len()], [bits::bytes_for(count); 2], "masks");
        Ok(Self {
            channel: context.channel(peer)?,
            count,
            k0,
            k1,
        })
    }

    /// Gives x for the packed correlations a. One round; [`precomputed_cost`].
    ///
    /// # Errors
    /// [`madrigal_net::Error`] of the network; of a peer's malformed message.
    ///
    /// # Panics
    /// If there are not as many correlations as OTs.
    pub async fn correlate(mut self, correlation: &[u8]) -> Result<Zeroizing<Vec<u8>>> {
        let count = self.count;
        assert_eq!(correlation.len(), bits::bytes_for(count), "correlations");
        let mut message = vec![0; correlation.len()];
        flavour::sender_correlated_bits(count, correlation, &self.k0, &self.k1, &mut message)
            .map_err(|error| fail(&self.channel.rx, error))?;
        let flips = cross(&mut self.channel, message).await?;
        flavour::sender_precomputed_correlated_bits(count, &flips, &mut self.k0, &self.k1)
            .map_err(|error| fail(&self.channel.rx, error))?;
        Ok(self.k0)
    }
}

impl PrecomputedReceiver {
    /// Takes the choices and masks of `count` random OTs from `peer`, packed, `ceil(count / 8)` bytes
    /// each ([`flavour::receiver_random_bits`]). The choices are uniform and serve for nothing else.
    ///
    /// # Errors
    /// If the step has a channel to the peer already; the job's failure.
    ///
    /// # Panics
    /// If choices or masks have another length.
    pub fn new(
        context: &Context,
        peer: Party,
        count: usize,
        random: Zeroizing<Vec<u8>>,
        k: Zeroizing<Vec<u8>>,
    ) -> Result<Self> {
        assert_eq!([random.len(), k.len()], [bits::bytes_for(count); 2], "OTs");
        Ok(Self {
            channel: context.channel(peer)?,
            count,
            random,
            k,
        })
    }

    /// Gives x ^ c a for the packed choices c. One round; [`precomputed_cost`].
    ///
    /// # Errors
    /// [`madrigal_net::Error`] of the network; of a peer's malformed message.
    ///
    /// # Panics
    /// If there are not as many choices as OTs.
    pub async fn choose(mut self, choices: &[u8]) -> Result<Zeroizing<Vec<u8>>> {
        let count = self.count;
        assert_eq!(choices.len(), bits::bytes_for(count), "choices");
        let flips = flavour::choice_flips(count, &self.random, choices)
            .map_err(|error| fail(&self.channel.rx, error))?;
        let corrections = cross(&mut self.channel, flips).await?;
        flavour::receiver_correlated_bits(count, choices, &corrections, &mut self.k)
            .map_err(|error| fail(&self.channel.rx, error))?;
        Ok(self.k)
    }
}
