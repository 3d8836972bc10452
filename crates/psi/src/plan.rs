//! Sizes: what both parties know before the first key is used, and all lengths that follow from it.

use std::f64::consts::LN_2;

use madrigal_correlations_make::{Security, VOLE_ANSWER_BYTES, VOLE_CHALLENGE_BYTES};
use madrigal_kernels::Block;
use madrigal_okvs::Shape;

use crate::PsiError;
use crate::oracle::PROOF_BYTES;

/// Statistical security: what may go wrong by chance does with a probability of 2^-40 at most.
pub const STATISTICAL: u32 = 40;

/// The most keys of one partition of a list, so that its number fits beside a tag.
pub(crate) const MOST_OF_PARTITION: u64 = 1 << PLACE_BITS;

/// Bits of a key's place in its partition.
pub(crate) const PLACE_BITS: u32 = 28;

/// Keys of a list of which the receiver's values have 64 bits: n of the sender's keys agree with a store of such values by chance
/// with probability n 2^-64.
const MOST_NARROW: u64 = (1 << 23) / 10 * 13;

/// Distinct keys of both lists: exact numbers or bounds.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Sizes {
    /// Keys of the receiver, who learns which of its keys the sender has.
    pub receiver: u64,
    /// Keys of the sender.
    pub sender: u64,
}

/// How two lists are matched. Both parties make the same plan from the same sizes.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct PsiPlan {
    pub(crate) sizes: Sizes,
    pub(crate) partitions: usize,
    /// Partitions that are matched, in this order.
    pub(crate) left: Vec<usize>,
    pub(crate) replies: bool,
    wide: bool,
    security: Security,
    pub(crate) payloads: bool,
    pub(crate) receiver_keys: usize,
    pub(crate) sender_keys: usize,
    pub(crate) shape: Shape,
}

impl PsiPlan {
    /// Makes a plan for lists of these sizes, cut into `partitions` by their digests. With `replies` the sender learns which of its
    /// keys the receiver has, too.
    ///
    /// One partition has exactly as many keys as the sizes say; several are padded to a bound that a partition of
    /// uniform digests exceeds with a probability of 2^-60.
    ///
    /// # Errors
    /// [`PsiError::TooLarge`] if a partition would be too large: take more.
    pub fn new(sizes: Sizes, partitions: usize, replies: bool) -> Result<Self, PsiError> {
        let partitions = partitions.max(1);
        let [receiver, sender] =
            [sizes.receiver, sizes.sender].map(|keys| partition_bound(keys, partitions as u64));
        let most = MOST_OF_PARTITION.min(Shape::MOST_KEYS);
        if receiver.max(sender) > most {
            return Err(PsiError::TooLarge {
                keys: receiver.max(sender),
                most,
                partitions,
            });
        }
        Ok(Self {
            sizes,
            partitions,
            left: (0..partitions).collect(),
            replies,
            payloads: false,
            security: Security::SemiHonest,
            wide: sizes.sender.max(sizes.receiver) > MOST_NARROW,
            receiver_keys: receiver as usize,
            sender_keys: sender as usize,
            shape: Shape::for_keys(receiver).map_err(|error| PsiError::Bug(error.to_string()))?,
        })
    }

    /// The sizes that it was made for.
    pub const fn sizes(&self) -> Sizes {
        self.sizes
    }

    /// Number of partitions.
    pub const fn partitions(&self) -> usize {
        self.partitions
    }

    /// Whether the sender learns the result, too.
    pub const fn replies(&self) -> bool {
        self.replies
    }

    /// The most keys that a partition may have: of the receiver, of the sender.
    pub const fn keys_of_partition(&self) -> [usize; 2] {
        [self.receiver_keys, self.sender_keys]
    }

    /// The partition of a digest: partitions are ranges of digests, in order.
    pub fn partition_of(&self, digest: Block) -> usize {
        partition_of(digest, self.partitions)
    }

    /// Whether values and masks have 128 bits, for lists that are too long for 64.
    pub const fn wide(&self) -> bool {
        self.wide
    }

    /// Makes it a plan with values of 128 bits, also for lists short enough for 64.
    #[must_use]
    pub fn with_wide_values(self) -> Self {
        Self { wide: true, ..self }
    }

    /// Makes it a plan against parties of this kind, which both parties have to agree on. Against malicious ones values have 128 bits.
    #[must_use]
    pub fn with_security(self, security: Security) -> Self {
        let wide = self.wide || matches!(security, Security::Malicious);
        Self {
            security,
            wide,
            ..self
        }
    }

    /// Parties against which lists are protected.
    pub const fn security(&self) -> Security {
        self.security
    }

    /// Whether these are malicious.
    pub(crate) const fn checked(&self) -> bool {
        matches!(self.security, Security::Malicious)
    }

    /// The most keys that a receiver can have a partition's store hold, who follows no rule and tries `2^tries` keys for it: of the receiver's
    /// [keys of a partition](Self::keys_of_partition) there are fewer. `None` if that many tries would break more than this.
    ///
    /// A store of m columns that has the values of n keys among q whose digests are uniform exists with a chance of (q over n) 2^(-128 (n - m)) at most, and
    /// (q over n) is less than (e q / n)^n. The union is over stores, seeds and choices of keys, for digests and rows (of the ideal cipher) jointly.
    pub fn most_of_store(&self, tries: u32) -> Option<u64> {
        let columns = self.shape.columns() as f64;
        let chance = f64::from(STATISTICAL);
        let mut keys = columns;
        // A fixed point, from below: the right side falls as keys grow.
        for _ in 0..60 {
            let choices = (f64::from(tries) + 1.0_f64.exp().log2() - keys.log2()).max(0.0);
            if choices >= 127.0 {
                return None;
            }
            // A seed is chosen, too: 128 bits.
            keys = (128.0 * (columns + 1.0) + chance) / (128.0 - choices);
        }
        Some(keys.ceil() as u64)
    }

    /// Makes it a plan in which the receiver also learns 64 bits that the sender has with each key, its payload, of those keys that both have.
    #[must_use]
    pub fn with_payloads(self) -> Self {
        Self {
            payloads: true,
            ..self
        }
    }

    /// Makes it a plan of those partitions alone that are not `done`, as an earlier run on the same digests has them.
    #[must_use]
    pub fn without(mut self, done: impl Fn(usize) -> bool) -> Self {
        self.left.retain(|&partition| !done(partition));
        self
    }

    /// Partitions that are matched, in this order.
    pub fn left(&self) -> &[usize] {
        &self.left
    }

    /// Whether the receiver learns payloads.
    pub const fn payloads(&self) -> bool {
        self.payloads
    }

    /// Bits of a tag that are told by its place among the others.
    pub(crate) const fn high_bits(&self) -> u32 {
        (self.sender_keys as u64).next_power_of_two().ilog2()
    }

    /// Bytes of a tag that are sent as they are. All pairs of keys of one partition are compared; with tags of `high_bits` more bits
    /// than these, two that differ agree with a probability of 2^-40 in all.
    pub(crate) const fn low_bytes(&self) -> usize {
        // The sender's keys in a partition are at most 2^high_bits, so each of the receiver's meets less than one of them.
        if self.wide() { 9 } else { 8 }
    }

    /// Bits of a tag beyond those that its place and its low bytes tell: against malicious parties up to 128 in all, as whoever looks for
    /// digests whose tags agree would find some.
    pub(crate) const fn rest_bits(&self) -> u32 {
        if self.checked() {
            56 - self.high_bits()
        } else {
            0
        }
    }

    /// Bytes of these bits of a tag.
    pub(crate) const fn rest_bytes(&self) -> usize {
        self.rest_bits().div_ceil(8) as usize
    }

    /// Bytes of all tags of a partition, with their payloads, after the answer to a challenge.
    pub(crate) const fn tag_bytes(&self) -> usize {
        let of_tag = self.low_bytes() + self.rest_bytes();
        of_tag * self.sender_keys + self.mark_bytes() + self.payload_bytes() + self.answer_bytes()
    }

    /// Bytes of a challenge of VOLE.
    pub(crate) const fn challenge_bytes(&self) -> usize {
        if self.checked() {
            VOLE_CHALLENGE_BYTES
        } else {
            0
        }
    }

    /// Bytes of the answer.
    pub(crate) const fn answer_bytes(&self) -> usize {
        if self.checked() { VOLE_ANSWER_BYTES } else { 0 }
    }

    /// Bytes of all payloads of a partition.
    pub(crate) const fn payload_bytes(&self) -> usize {
        if self.payloads {
            8 * self.sender_keys
        } else {
            0
        }
    }

    /// Bytes that tell where tags are.
    pub(crate) const fn mark_bytes(&self) -> usize {
        (self.sender_keys + (1 << self.high_bits())).div_ceil(8)
    }

    /// Bytes of a store's element.
    pub(crate) const fn element_bytes(&self) -> usize {
        if self.wide() { 16 } else { 8 }
    }

    /// Bytes that tell the sender which of its tags were met.
    pub(crate) const fn reply_bytes(&self) -> usize {
        if self.replies {
            self.marks_met() + self.proof_bytes()
        } else {
            0
        }
    }

    /// Bytes of a mark for each of the sender's tags.
    pub(crate) const fn marks_met(&self) -> usize {
        self.sender_keys.div_ceil(8)
    }

    /// Bytes that prove a reply.
    const fn proof_bytes(&self) -> usize {
        if self.checked() { PROOF_BYTES } else { 0 }
    }

    /// Whether replies are proved.
    pub(crate) const fn proved(&self) -> bool {
        self.replies && self.checked()
    }
}

/// The partition of a digest among `partitions`.
pub fn partition_of(digest: Block, partitions: usize) -> usize {
    ((u128::from(digest.hi()) * partitions as u128) >> 64) as usize
}

/// Bound of the keys in a partition of `keys` keys: exact for one partition, and else exceeded by some partition with a probability of 2^-60.
///
/// Bernstein's inequality: a sum of independent bits with mean mu exceeds mu + t with probability exp(-t^2 / (2 mu + 2 t / 3)).
fn partition_bound(keys: u64, partitions: u64) -> u64 {
    if partitions == 1 {
        return keys;
    }
    let mean = keys as f64 / partitions as f64;
    let log = LN_2 * (60.0 + (partitions as f64).log2());
    let more = log / 3.0 + (log * log / 9.0 + 2.0 * mean * log).sqrt();
    keys.min((mean + more).ceil() as u64)
}
