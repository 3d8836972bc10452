//! ANDs by correlated OTs that were made before, in one round (MOTION 6.2, "More efficient AND Gates without MTs", with the
//! precomputed C-OT of 5.1.3), in place of triples.
//!
//! `x & y` is the XOR of all `x_i & y_j`. A party has its own `x_i & y_i`; each other one is an OT of a bit, which P_i
//! receives and P_j sends, so each pair of parties does one each way. Setup makes random OTs: of two random bits `k_0`,
//! `k_1 = k_0 ^ d` at P_j, P_i has the one of a random choice r. Online P_i tells `p = r ^ x_i`, and P_j tells `e = d ^ y_j`,
//! which does not wait for p: either way it is the XOR of both bits and of y_j. Then P_j has `k_0 ^ p d`, and P_i has
//!
//! `k_r ^ x_i e = k_0 ^ r d ^ x_i d ^ x_i y_j = (k_0 ^ p d) ^ x_i y_j`:
//!
//! shares of the product. As many bytes travel online as with triples, 2 bits for each AND to each peer, in one round. In setup
//! nothing is made of the random OTs, so no bit is sent beside those of the extension: triples of three and more parties
//! take N - 2 bits, and a message that waits for the extension's, because a party has one b against all peers.
//! Openings through a relay are not to be had, since each pair has messages of its own.
//!
//! # Random OTs of correlated ones
//! A correlated OT gives the sender a row q and the receiver `q ^ r Delta`, with the same choices r against all senders
//! ([`madrigal_correlations::CorrelatedOts`]); `k_0` and `k_1` are the lowest bits of `H(q)` and `H(q ^ Delta)`. Setup hashes,
//! and keeps four bits for each AND and peer, where the choice is one for all peers.
//!
//! # Security
//! Against semi-honest corruption of all parties but one. `p` is under the choice r, which is uniform, used for one AND,
//! and unknown to all others; all senders see the same p, as if each were told it by the others. `e` is under the one of
//! k_0 and k_1 that P_i lacks: the hash of a row at distance Delta from what P_i knows, of which Delta has 127 random bits.
//! [`RowHash`] is correlation robust for rows that differ, as those of the extension do but for a chance; each has a number
//! of its own in the step and direction, and is hashed for one AND. Nothing that is masked depends on Delta, so no circular
//! robustness is asked for, also where the job's other operations use rows of the same Delta unhashed. Shares of the
//! products are random to all others: `k_0 ^ p d` is a bit of the sender's that nothing else shows.

use bytes::Bytes;
use madrigal_core::{Party, PhaseCost, Zeroizing, bits, domains};
use madrigal_garbling::bmr::PeerRows;
use madrigal_kernels::{self as kernels, Block, RowHash, marks};
use madrigal_net::{Channel, Result, exchange_each};
use sha2::{Digest, Sha256};

use super::BooleanGmw;

/// A string of bits of ours.
type Bits = Zeroizing<Vec<u8>>;

/// One party's bits of random OTs with a peer, packed.
struct WithPeer {
    /// `k_0` of what we send.
    zero: Bits,
    /// `k_0 ^ k_1` of the same.
    both: Bits,
    /// `k_r` of what we receive.
    received: Bits,
}

/// Random OTs of bits with all peers, in both directions: each is good for one AND.
///
/// Secret; wiped when dropped; `Debug` shows counts alone.
pub struct BitOts {
    count: usize,
    used: usize,
    /// Choices r of what we receive, the same from all peers.
    choices: Bits,
    with: Vec<WithPeer>,
}

impl std::fmt::Debug for BitOts {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "BitOts({} of {} left)", self.left(), self.count)
    }
}

impl BitOts {
    /// ANDs that are left.
    pub fn left(&self) -> usize {
        self.count - self.used
    }

    /// Bytes of memory that those of `count` ANDs take.
    pub const fn bytes(parties: usize, count: usize) -> usize {
        (1 + 3 * (parties - 1)) * bits::bytes_for(count)
    }
}

fn string(count: usize) -> Bits {
    Zeroizing::new(vec![0; bits::bytes_for(count)])
}

/// Takes `count` bits from `at` on.
fn taken(from: &[u8], at: usize, count: usize) -> Bits {
    let mut bits = string(count);
    bits::take(from, at, &mut bits, count);
    bits
}

impl BooleanGmw {
    /// Makes random OTs of correlated ones: `ots` are with each peer, as many each way as `choices`, which are ours, packed, the
    /// same with all; `offset` is our own. Nothing is sent.
    ///
    /// # Panics
    /// If there is another number of peers or of rows: a plan was wrong.
    pub fn bit_ots(
        &mut self,
        offset: &Block,
        choices: &[u8],
        count: usize,
        ots: &[PeerRows<'_>],
    ) -> BitOts {
        assert_eq!(ots.len(), self.channels.len(), "OTs with each peer");
        let me = self.context.me();
        let first = self.hashed;
        // Whole bytes: keys change between them.
        self.hashed += (count as u64).next_multiple_of(8);
        let hashes: Vec<_> = self.channels.iter().map(Channel::peer).collect();
        let hashes = hashes
            .into_iter()
            .map(|peer| [self.ot_hash(me, peer), self.ot_hash(peer, me)]);
        let make = |([ours, theirs], rows): ([RowHash; 2], &PeerRows<'_>)| {
            let with = [string(count), string(count), string(count)];
            let [mut zero, mut both, mut received] = with;
            let mut one = string(count);
            ours.hash_bits(first, Block::ZERO, &rows.sent[..count], &mut zero);
            ours.hash_bits(first, *offset, &rows.sent[..count], &mut one);
            theirs.hash_bits(first, Block::ZERO, &rows.received[..count], &mut received);
            kernels::xor(&mut both, &zero, &one);
            WithPeer {
                zero,
                both,
                received,
            }
        };
        let with = self
            .context
            .metered_now(|| hashes.zip(ots).map(make).collect());
        BitOts {
            count,
            used: 0,
            choices: taken(choices, 0, count),
            with,
        }
    }

    /// The hash of rows from `sender` to `receiver`.
    fn ot_hash(&self, sender: Party, receiver: Party) -> RowHash {
        let mut hash = Sha256::new()
            .chain_update(domains::GMW_OTS)
            .chain_update(self.context.public_id());
        for party in [sender, receiver] {
            hash.update((party.index() as u64).to_le_bytes());
        }
        let digest: [u8; 32] = hash.finalize().into();
        RowHash::new(Block::from_bytes(*digest.first_chunk().unwrap_or(&[0; 16])))
    }

    /// Shares of x & y of `count` bits, with as many random OTs. One message to each peer, whatever the way of opening.
    ///
    /// # Errors
    /// [`madrigal_net::Error`] of the network, and a peer's message with bits past its end.
    ///
    /// # Panics
    /// If a string has another length or there are fewer OTs: a plan was wrong.
    pub async fn and_by_ots(
        &mut self,
        ots: &mut BitOts,
        [x, y]: [&[u8]; 2],
        count: usize,
        z: &mut [u8],
    ) -> Result<()> {
        assert!(ots.left() >= count, "{count} ANDs of {ots:?}");
        let (bytes, at) = (bits::bytes_for(count), ots.used);
        ots.used += count;
        if count == 0 {
            return Ok(());
        }
        let mut flips = taken(&ots.choices, at, count);
        kernels::xor_into(&mut flips, x);
        bits::clear_tail(&mut flips, count);
        let message = |with: &WithPeer| {
            let mut told = taken(&with.both, at, count);
            kernels::xor_into(&mut told, y);
            bits::clear_tail(&mut told, count);
            let mut message = [&flips[..], &told].concat();
            marks::public(&mut message[..]);
            Bytes::from(message)
        };
        let messages: Vec<_> = ots.with.iter().map(message).collect();
        let (mut sends, mut receives) = (Vec::new(), Vec::new());
        for (channel, message) in self.channels.iter_mut().zip(messages) {
            let Channel { tx, rx } = channel;
            receives.push((rx, 2 * bytes));
            sends.push((tx, message));
        }
        let answers = exchange_each(sends, receives).await?;

        kernels::and(z, x, y);
        let mut product = string(count);
        for ((channel, with), answer) in self.channels.iter().zip(&ots.with).zip(&answers) {
            let (flips, told) = answer.split_at(bytes);
            if ![flips, told]
                .iter()
                .all(|bits| bits::tail_is_clear(bits, count))
            {
                return Err(channel.refuse("bits past the end of a string"));
            }
            // As the sender.
            kernels::xor_into(z, &taken(&with.zero, at, count));
            kernels::and(&mut product, &taken(&with.both, at, count), flips);
            kernels::xor_into(z, &product);
            // As the receiver.
            kernels::xor_into(z, &taken(&with.received, at, count));
            kernels::and(&mut product, x, told);
            kernels::xor_into(z, &product);
        }
        Ok(())
    }

    /// Cost of [`bit_ots`](Self::bit_ots) for each party, without the correlated OTs.
    pub fn bit_ots_cost(parties: usize, count: usize) -> PhaseCost {
        PhaseCost {
            aes_blocks: 3 * (parties as u64 - 1) * count as u64,
            ..PhaseCost::default()
        }
    }

    /// Bytes that each party sends each peer for [`and_by_ots`](Self::and_by_ots) of `count` bits, in one message where there
    /// are any.
    pub fn and_by_ots_bytes(count: usize) -> u64 {
        2 * bits::bytes_for(count) as u64
    }
}
