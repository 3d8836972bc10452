//! Tags of the sender's keys as one message, in which the receiver looks for its own.
//!
//! A tag is a hash of 64 or 72 bits and h more. Sorted by these h bits, tags tell them by their places (Elias 1974, Fano 1971): a one for each
//! tag and a zero after the last one of each value, in some 2 bits for a tag instead of h. Nobody needs the sender's order, and it must not be told:
//! tags with the same h bits are sorted by the others.
//!
//! Against malicious parties a tag has up to 128 bits. Those beyond the 72 and h are its *rest*: they follow after the marks, in the order of the tags.

use madrigal_core::Zeroizing;
use madrigal_kernels::Block;

use crate::lists::Matched;
use crate::oracle::{proof, same};
use crate::plan::{PLACE_BITS, PsiPlan};

/// Low bits that are kept of a tag.
const LOW_BITS: u32 = 72;

/// Parts of about this many tags are sorted at a time, in the cache.
const PART: usize = 4096;

/// The most tags of one value of the high bits that are taken. Of n tags with h high bits, n at most 2^h, more than k of an honest list have one value with a
/// chance of 2^h / (k + 1)!: of 2^28 tags more than 32 with 2^-94. A sender that gives all of its tags one value would see by the receiver's time
/// whether the receiver has a key there, and have it compare all pairs of keys.
const MOST_SAME: u32 = 32;

/// Tags of one partition: for each, its high bits, 72 low ones and the place of its key.
pub(crate) struct Tags(Zeroizing<Vec<u128>>);

/// One tag with its place.
pub(crate) fn tag(plan: &PsiPlan, hash: Block, place: u32) -> u128 {
    let high = u128::from(hash.hi()) >> (64 - plan.high_bits().max(1)) & high_mask(plan);
    let low = u128::from(hash.lo()) | u128::from(hash.hi() & 0xff) << 64;
    let low = low & (u128::MAX >> (128 - 8 * plan.low_bytes() as u32));
    (high << LOW_BITS | low) << PLACE_BITS | u128::from(place)
}

/// The rest of a tag.
pub(crate) const fn rest(plan: &PsiPlan, hash: Block) -> u64 {
    hash.hi() >> 8 & ((1 << plan.rest_bits()) - 1)
}

const fn high_mask(plan: &PsiPlan) -> u128 {
    (1 << plan.high_bits()) - 1
}

/// The place of the key that a tag is of.
const fn place(tag: u128) -> u32 {
    (tag & ((1 << PLACE_BITS) - 1)) as u32
}

const fn low(tag: u128) -> u128 {
    tag >> PLACE_BITS & ((1 << LOW_BITS) - 1)
}

const fn high(tag: u128) -> usize {
    (tag >> (PLACE_BITS + LOW_BITS)) as usize
}

impl Tags {
    /// Sorts the tags of a whole partition.
    pub(crate) fn sorted(plan: &PsiPlan, tags: &[u128]) -> Self {
        let parts = (tags.len() / PART).max(1).next_power_of_two();
        let bits = parts.ilog2().min(plan.high_bits());
        let part = |tag: u128| high(tag) >> (plan.high_bits() - bits);
        let mut next = vec![0_usize; (1 << bits) + 1];
        for &tag in tags {
            next[part(tag) + 1] += 1;
        }
        for i in 1..next.len() {
            next[i] += next[i - 1];
        }
        let mut sorted = Zeroizing::<Vec<u128>>::zeros(tags.len());
        let mut at = next.clone();
        for &tag in tags {
            let at = &mut at[part(tag)];
            sorted[*at] = tag;
            *at += 1;
        }
        for range in next.windows(2) {
            sorted[range[0]..range[1]].sort_unstable();
        }
        Self(sorted)
    }

    /// The message: an answer, low bits of all tags, then the marks, then the payloads as `masked` has them by the places of their keys, and the rests of tags, likewise.
    pub(crate) fn message(
        &self,
        plan: &PsiPlan,
        (masked, rests): (&[u64], &[u64]),
        answer: &[u8],
    ) -> Vec<u8> {
        let mut message = Vec::with_capacity(plan.tag_bytes());
        message.extend_from_slice(answer);
        let bytes = plan.low_bytes();
        for &tag in self.0.iter() {
            message.extend_from_slice(&low(tag).to_le_bytes()[..bytes]);
        }
        let mut marks = vec![0_u8; plan.mark_bytes()];
        for (i, &tag) in self.0.iter().enumerate() {
            let bit = i + high(tag);
            marks[bit / 8] |= 1 << (bit % 8);
        }
        message.append(&mut marks);
        if plan.payloads {
            for &tag in self.0.iter() {
                message.extend_from_slice(&masked[place(tag) as usize].to_le_bytes());
            }
        }
        let bytes = plan.rest_bytes();
        if bytes > 0 {
            for &tag in self.0.iter() {
                message.extend_from_slice(&rests[place(tag) as usize].to_le_bytes()[..bytes]);
            }
        }
        message
    }

    /// Places of the keys whose tags the receiver has met, as its reply marks them. Tags beyond the `own` keys are padding.
    ///
    /// # Errors
    /// A text that says in what the reply is none.
    pub(crate) fn met(&self, reply: &[u8], own: usize) -> Result<Matched, &'static str> {
        let places = self.marked(reply)?;
        if places.iter().any(|&place| place as usize >= own) {
            return Err("it marks a tag that is padding");
        }
        Ok(Matched {
            places,
            ..Matched::default()
        })
    }

    /// Does so for a reply with a proof, by what the receiver must know of each key by its place, padding too. Whatever is wrong with it, the receiver hears the same.
    ///
    /// # Errors
    /// A text likewise.
    pub(crate) fn proved(
        &self,
        reply: (&[u8], &[u8]),
        own: usize,
        (id, known): (&[u8; 32], &[u64]),
    ) -> Result<Matched, &'static str> {
        let wrong = "it marks tags without a proof that it has their keys";
        let places = self.marked(reply.0).map_err(|_| wrong)?;
        let right = proof(id, places.iter().map(|&place| known[place as usize]));
        let padding = places.iter().any(|&place| place as usize >= own);
        if !same(&right, reply.1) || padding {
            return Err(wrong);
        }
        Ok(Matched {
            places,
            ..Matched::default()
        })
    }

    /// Places of the keys whose tags are marked.
    fn marked(&self, reply: &[u8]) -> Result<Vec<u32>, &'static str> {
        let bit = |i: usize| reply[i / 8] >> (i % 8) & 1 == 1;
        if (self.0.len()..8 * reply.len()).any(bit) {
            return Err("it marks tags beyond the last one");
        }
        let met = self.0.iter().enumerate().filter(|&(i, _)| bit(i));
        Ok(met.map(|(_, &tag)| place(tag)).collect())
    }
}

/// The sender's tags as they come.
pub(crate) struct Received<'a> {
    plan: &'a PsiPlan,
    lows: &'a [u8],
    payloads: &'a [u8],
    rests: &'a [u8],
    /// Number of the first tag with each value of the high bits, and of all tags at the end.
    starts: Vec<u32>,
}

impl<'a> Received<'a> {
    /// Reads a message of the length that the plan says, after its answer.
    ///
    /// # Errors
    /// A text that says in what the message is no list of tags.
    pub(crate) fn read(plan: &'a PsiPlan, message: &'a [u8]) -> Result<Self, &'static str> {
        let (lows, marks) = message.split_at(plan.low_bytes() * plan.sender_keys);
        let (marks, payloads) = marks.split_at(plan.mark_bytes());
        let (payloads, rests) = payloads.split_at(plan.payload_bytes());
        let values = 1 << plan.high_bits();
        let mut starts = Vec::with_capacity(values + 1);
        starts.push(0);
        let mut tags = 0_u32;
        'all: for (i, bytes) in marks.chunks(8).enumerate() {
            let mut word = [0; 8];
            word[..bytes.len()].copy_from_slice(bytes);
            let mut word = u64::from_le_bytes(word);
            let mut left = 8 * bytes.len() as u32;
            while left > 0 {
                let ones = word.trailing_ones().min(left);
                tags += ones;
                left -= ones;
                if left == 0 {
                    break;
                }
                if tags - starts.last().copied().unwrap_or(0) > MOST_SAME {
                    return Err(
                        "its marks say that more tags begin alike than those of an honest list do",
                    );
                }
                starts.push(tags);
                if starts.len() > values {
                    let rest = word.checked_shr(ones).unwrap_or(0);
                    let last = (i + 1) * 8 >= marks.len();
                    if rest != 0 || !last {
                        return Err("its marks end early");
                    }
                    break 'all;
                }
                word = word.checked_shr(ones + 1).unwrap_or(0);
                left -= 1;
            }
        }
        if starts.len() != values + 1 || tags as usize != plan.sender_keys {
            return Err("its marks are not those of as many tags as the sender has keys");
        }
        Ok(Self {
            plan,
            lows,
            payloads,
            rests,
            starts,
        })
    }

    fn low(&self, i: usize) -> u128 {
        let bytes = self.plan.low_bytes();
        let mut low = [0; 16];
        low[..bytes].copy_from_slice(&self.lows[bytes * i..][..bytes]);
        u128::from_le_bytes(low)
    }

    /// The payload of a tag, as it was sent.
    fn payload(&self, i: usize) -> u64 {
        let bytes = self.payloads[8 * i..].first_chunk();
        u64::from_le_bytes(*bytes.unwrap_or(&[0; 8]))
    }

    /// Whether a tag has this rest.
    fn has_rest(&self, i: usize, rest: u64) -> bool {
        let bytes = self.plan.rest_bytes();
        self.rests[bytes * i..][..bytes] == rest.to_le_bytes()[..bytes]
    }

    /// The receiver's keys whose tags are among these, and a mark for each tag that was met, with a proof where the plan has one.
    pub(crate) fn matches(&self, own: &Own) -> (Matched, Vec<u8>) {
        let mut matched = Matched::default();
        let mut reply = vec![0; self.plan.reply_bytes()];
        let mut met = Vec::new();
        self.each_match(own, |place, i| {
            matched.places.push(place);
            if self.plan.payloads {
                matched
                    .payloads
                    .push(self.payload(i) ^ own.pads[place as usize]);
            }
            if self.plan.proved() {
                met.push((i, place));
            } else if let Some(byte) = reply.get_mut(i / 8) {
                *byte |= 1 << (i % 8);
            }
        });
        if self.plan.proved() {
            // A cheating sender may send a tag twice, and no two keys of ours have one tag but by chance: each tag is marked once.
            met.sort_unstable();
            met.dedup_by_key(|&mut (i, _)| i);
            for &(i, _) in &met {
                reply[i / 8] |= 1 << (i % 8);
            }
            let known = met.iter().map(|&(_, place)| own.known[place as usize]);
            reply[self.plan.marks_met()..].copy_from_slice(&proof(&own.id, known));
        }
        (matched, reply)
    }

    /// Tells the place of each of the receiver's keys whose tag is among these, and the number of the tag.
    fn each_match(&self, own: &Own, mut tell: impl FnMut(u32, usize)) {
        // Reads from memory of several tags go on at the same time.
        let mut ranges = [(0, 0); 64];
        for tags in own.tags.chunks(ranges.len()) {
            for (range, &tag) in ranges.iter_mut().zip(tags) {
                *range = (self.starts[high(tag)], self.starts[high(tag) + 1]);
            }
            for (&(start, end), &tag) in ranges.iter().zip(tags) {
                let mut tags = start as usize..end as usize;
                let met = tags.find(|&i| {
                    self.low(i) == low(tag)
                        && (own.rests.is_empty()
                            || self.has_rest(i, own.rests[place(tag) as usize]))
                });
                if let Some(met) = met.filter(|_| (place(tag) as usize) < own.keys) {
                    tell(place(tag), met);
                }
            }
        }
    }
}

/// Tags of a party's own keys, with their places, and more by the place of each key where the plan has it.
pub(crate) struct Own {
    /// Public identifier of the partition's step.
    pub(crate) id: [u8; 32],
    /// Number of the keys; what comes after them is padding.
    pub(crate) keys: usize,
    pub(crate) tags: Zeroizing<Vec<u128>>,
    /// Pads of payloads.
    pub(crate) pads: Zeroizing<Vec<u64>>,
    /// Rests of tags.
    pub(crate) rests: Zeroizing<Vec<u64>>,
    /// Pads that prove that one has a key.
    pub(crate) known: Zeroizing<Vec<u64>>,
}
