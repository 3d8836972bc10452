//! Bins as inputs of a program.

use madrigal_program::{Party, Program, Secret};

/// Numbers and names that both parties know.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Parts {
    /// Bins: the length of all inputs.
    pub bins: usize,
    /// Low bits of tags that are compared: b of them agree by chance in any of m bins with probability m 2^-b.
    pub tag_bits: u32,
    /// The party whose items are in the bins.
    pub receiver: Party,
    /// The other one.
    pub sender: Party,
}

impl Parts {
    /// Bins of two parties, whose tags agree by chance in any bin once in 2^40 times. Where lists are matched part by part, the bins of
    /// all parts count for that: then [`tag_bits`](Self::tag_bits) is [`tag_bits_for`](Self::tag_bits_for) all of them.
    #[must_use]
    pub fn new(bins: usize, receiver: Party, sender: Party) -> Self {
        Self {
            bins,
            tag_bits: Self::tag_bits_for(bins as u64),
            receiver,
            sender,
        }
    }

    /// Bits of tags that agree by chance in any of this many bins once in 2^40 times: 64 at most, which is enough for 2^24 bins.
    #[must_use]
    pub fn tag_bits_for(bins: u64) -> u32 {
        let log = u64::BITS - bins.saturating_sub(1).leading_zeros();
        (40 + log).min(u64::BITS)
    }
}

/// Items in bins, and whether both parties have them.
#[derive(Debug, Clone)]
pub struct Matched {
    parts: Parts,
    in_both: Secret<bool>,
}

/// A number for each bin, as a difference of numbers that one party each knows: the sender's for the bin's item if both have
/// it, and anything otherwise.
#[derive(Debug, Clone)]
pub struct Payload {
    masked: Secret<u64>,
    masks: Option<Secret<u64>>,
}

impl Matched {
    /// Asks for the inputs of either party: words `[bins]` of type `u64`, first the receiver's tags, then the sender's.
    #[track_caller]
    pub fn new(p: &mut Program, parts: Parts) -> Self {
        let found = p.input_named::<u64>("tags found", parts.receiver, [parts.bins]);
        let targets = p.input_named::<u64>("tags drawn", parts.sender, [parts.bins]);
        let other_bits = u64::BITS - parts.tag_bits.clamp(1, u64::BITS);
        let in_both = match other_bits {
            0 => found.eq(targets),
            others => (found << others).eq(targets << others),
        };
        Self { in_both, parts }
    }

    /// Numbers and names that both parties know.
    pub fn parts(&self) -> Parts {
        self.parts
    }

    /// Whether each bin's item is in both sets, `[bins]`; false for bins without one.
    pub fn in_both(&self) -> &Secret<bool> {
        &self.in_both
    }

    /// Asks for the inputs of a payload of the sender's: words `[bins]` of type `u64`, first the receiver's masked payloads, then the
    /// sender's masks.
    #[track_caller]
    pub fn payload(&self, p: &mut Program) -> Payload {
        let Parts { bins, .. } = self.parts;
        let masked = p.input_named::<u64>("masked payloads", self.parts.receiver, [bins]);
        let masks = p.input_named::<u64>("masks", self.parts.sender, [bins]);
        Payload {
            masked,
            masks: Some(masks),
        }
    }

    /// Asks for numbers of the receiver's, by bins: words `[bins]` of type `u64`, two's complement for negative ones.
    #[track_caller]
    pub fn own_payload(&self, p: &mut Program) -> Payload {
        let masked = p.input_named::<u64>("own payloads", self.parts.receiver, [self.parts.bins]);
        Payload {
            masked,
            masks: None,
        }
    }

    /// The number of items in both sets.
    #[track_caller]
    pub fn count(&self) -> Secret<u64> {
        self.in_both.cast::<u64>().sum(0)
    }

    /// The sum of a payload over the items in both sets, modulo 2^64: exact if payloads
    /// passed [`check_payloads`](crate::check_payloads).
    #[track_caller]
    pub fn sum(&self, payload: &Payload) -> Secret<i64> {
        let chosen = |numbers: &Secret<u64>| self.in_both.select(numbers, 0).sum(0);
        let sum = chosen(&payload.masked);
        let sum = match &payload.masks {
            Some(masks) => sum - chosen(masks),
            None => sum,
        };
        sum.cast()
    }

    /// The payload of each item in both sets, `[bins]`, and 0 for all other bins: for programs that go on with single numbers.
    #[track_caller]
    pub fn values(&self, payload: &Payload) -> Secret<i64> {
        let chosen = |numbers: &Secret<u64>| self.in_both.select(numbers, 0);
        let values = chosen(&payload.masked);
        let values = match &payload.masks {
            Some(masks) => values - chosen(masks),
            None => values,
        };
        values.cast()
    }
}
