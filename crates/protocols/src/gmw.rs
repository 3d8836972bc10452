//! Boolean GMW (protocol B; MOTION 6.2): a bit is the XOR of the parties' shares.
//!
//! Secure against semi-honest corruption of all parties but one. Everything works on strings of
//! packed bits ([`madrigal_core::bits`]): one call opens, or ANDs, as many bits as there are.
//!
//! | operation | rounds | bytes sent by each party |
//! |---|---|---|
//! | input ([`InputSharing`]) | 0 | 0 |
//! | XOR, NOT, constants | 0 | 0 |
//! | AND of n bits ([`BooleanGmw::and`]) | 1 ([`Opening::Direct`]) or 2 | 2 ceil(n/8) to each peer, or see [`Opening::cost`] |
//! | opening of n bits ([`BooleanGmw::open`]) | 1 or 2 | ceil(n/8) to each receiver, or see [`Opening::cost`] |
//!
//! XOR is the XOR of shares. NOT, and XOR with a constant, are done by party 0 alone (the *leader*).

use madrigal_core::{Party, PhaseCost, bits};
use madrigal_correlations::{BitTriples, Scratch};
use madrigal_kernels::{self as kernels, marks};
use madrigal_net::{Channel, Context, Generator, Result};
use zeroize::Zeroizing;

use crate::Opening;

/// The party that adds public constants.
pub const LEADER: Party = Party::new(0);

/// The interactive operations of one piece of work, on channels of its own.
pub struct BooleanGmw {
    context: Context,
    channels: Vec<Channel>,
    opening: Opening,
    scratch: Scratch,
}

impl std::fmt::Debug for BooleanGmw {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "BooleanGmw({:?}, {})", self.context, self.opening)
    }
}

impl BooleanGmw {
    /// Opens the channels of `context`.
    ///
    /// # Errors
    /// Those of [`Context::channels`].
    pub fn new(context: Context, opening: Opening) -> Result<Self> {
        let channels = context.channels()?;
        Ok(Self {
            context,
            channels,
            opening,
            scratch: Scratch::default(),
        })
    }

    /// Counts the rounds from now on in `context`, see [`Channel::count_in`].
    pub fn count_in(&mut self, context: &Context) {
        self.context = context.clone();
        self.channels
            .iter_mut()
            .for_each(|channel| channel.count_in(context));
    }

    /// Shares of x & y, with `count` fresh triples (Beaver; MOTION 6.1 over Z_2):
    ///
    /// d = open(x ^ a), e = open(y ^ b), z = c ^ (d & b) ^ (e & a) ^ (d & e), where the leader alone
    /// adds d & e. d and e are x and y under one-time pads, so opening them tells nothing.
    ///
    /// All strings have `ceil(count / 8)` bytes; what `x` and `y` have past bit `count` is ignored,
    /// what `z` has there is unspecified.
    ///
    /// # Errors
    /// Those of the network.
    ///
    /// # Panics
    /// If a string has another length or `triples` holds fewer than `count`: a plan was wrong.
    pub async fn and(
        &mut self,
        triples: &mut BitTriples,
        x: &[u8],
        y: &[u8],
        count: usize,
        z: &mut [u8],
    ) -> Result<()> {
        let bytes = bits::bytes_for(count);
        let triple = triples.take(count, &mut self.scratch);
        let mut masked = Zeroizing::new(vec![0; 2 * bytes]);
        let (d, e) = masked.split_at_mut(bytes);
        kernels::xor(d, x, triple.a);
        kernels::xor(e, y, triple.b);
        // Past the end are bits of other triples, which must stay unknown.
        bits::clear_tail(d, count);
        bits::clear_tail(e, count);

        let opened = self
            .opening
            .to_all(&self.context, &mut self.channels, &masked)
            .await?;
        let (d, e) = opened.split_at(bytes);
        let leader = self.context.me() == LEADER;
        kernels::beaver_bits(z, triple.a, triple.b, triple.c, d, e, leader);
        Ok(())
    }

    /// The `count` bits that `share` shares, for the parties in `to`; `None` for the others.
    ///
    /// # Errors
    /// Those of the network.
    pub async fn open(
        &mut self,
        share: &[u8],
        count: usize,
        to: &[Party],
    ) -> Result<Option<Zeroizing<Vec<u8>>>> {
        let mut share = Zeroizing::new(share.to_vec());
        bits::clear_tail(&mut share, count);
        let mut opened = self
            .opening
            .to_some(&self.context, &mut self.channels, &share, to)
            .await?;
        // From here on it is its receiver's to look at.
        if let Some(opened) = &mut opened {
            marks::public(opened.as_mut_slice());
        }
        Ok(opened)
    }

    /// Cost for party `me` of one [`and`](Self::and) of `count` bits, but for rounds.
    pub fn and_cost(opening: Opening, me: Party, parties: usize, count: usize) -> PhaseCost {
        let all: Vec<Party> = Party::all(parties).collect();
        opening.cost(me, parties, 2 * bits::bytes_for(count) as u64, &all)
    }

    /// Cost for party `me` of one [`open`](Self::open) of `count` bits, but for rounds.
    pub fn open_cost(
        opening: Opening,
        me: Party,
        parties: usize,
        count: usize,
        to: &[Party],
    ) -> PhaseCost {
        opening.cost(me, parties, bits::bytes_for(count) as u64, to)
    }
}

/// Shares inputs of one party without communication (MOTION 6.1): everyone else's share is what
/// a generator gives that only it and the owner have, the owner's is the input XOR all of these.
///
/// Each call goes on in the generators' streams, so no mask is used twice.
pub struct InputSharing {
    context: Context,
    owner: Party,
    masks: Vec<Generator>,
}

impl std::fmt::Debug for InputSharing {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "InputSharing({:?}, of {})", self.context, self.owner)
    }
}

impl InputSharing {
    /// Takes the shared generators of `context`, a step of its own for each owner.
    ///
    /// # Errors
    /// That the step's generators are in use already.
    pub fn new(context: Context, owner: Party) -> Result<Self> {
        let masks = if context.me() == owner {
            context
                .peers()
                .map(|peer| context.shared_prg(peer))
                .collect::<Result<_>>()?
        } else {
            vec![context.shared_prg(owner)?]
        };
        Ok(Self {
            context,
            owner,
            masks,
        })
    }

    /// Shares the next input. All parties share inputs of the same lengths in the same order.
    ///
    /// `share` holds the input at the owner, anything elsewhere, and the share afterwards.
    pub fn share(&mut self, share: &mut [u8]) {
        if self.context.me() != self.owner {
            share.fill(0);
        }
        self.masks.iter_mut().for_each(|mask| mask.xor_into(share));
    }
}

/// AES blocks that party `me` spends on sharing an input of `bytes` bytes.
pub fn share_aes_blocks(me: Party, owner: Party, parties: usize, bytes: u64) -> u64 {
    let blocks = bytes.div_ceil(16);
    if me == owner {
        blocks * (parties as u64 - 1)
    } else {
        blocks
    }
}
