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
//! | AND of n bits by OTs made before ([`BooleanGmw::and_by_ots`]) | 1 | 2 ceil(n/8) to each peer |
//! | opening of n bits ([`BooleanGmw::open`]) | 1 or 2 | ceil(n/8) to each receiver, or see [`Opening::cost`] |
//! | shuffle of n rows of w bytes, of two parties ([`BooleanGmw::shuffle`]) | 2 | n w, and more ahead |
//! | sort of n rows, of two parties ([`BooleanGmw::sort`]) | 2, and for each of the course's comparisons an adder's and 1 | a shuffle, 2 bits for each AND, a bit for each comparison |
//!
//! XOR is the XOR of shares. NOT, and XOR with a constant, are done by party 0 alone (the *leader*).

mod network;
mod ots;
mod shuffle;
mod sort;
mod table;
mod vectors;

use madrigal_core::{Party, PhaseCost, Zeroizing, bits};
use madrigal_correlations::{BitTriples, Scratch};
use madrigal_kernels::{self as kernels, marks};
use madrigal_net::{Channel, Context, Result};

pub use self::ots::BitOts;
pub use self::shuffle::{Shuffle, ShuffleOts};
pub use self::sort::{RowPlace, SortPlan};
pub use self::table::{RowFormat, Table};
pub use self::vectors::BitVectors;
use crate::Opening;
pub use crate::inputs::{InputSharing, share_aes_blocks};

/// The party that adds public constants.
pub const LEADER: Party = Party::new(0);

/// The interactive operations of one piece of work, on channels of its own.
pub struct BooleanGmw {
    context: Context,
    channels: Vec<Channel>,
    opening: Opening,
    everyone: Vec<Party>,
    scratch: Scratch,
    /// Numbers of rows of OTs that have been hashed, in each direction.
    hashed: u64,
    /// Numbers of seeds of shuffles that have been stretched, in each direction.
    stretched: u64,
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
    /// [`madrigal_net::Error`] in the same cases as [`Context::channels`].
    pub fn new(context: Context, opening: Opening) -> Result<Self> {
        let channels = context.channels()?;
        let everyone = Party::all(context.parties()).collect();
        Ok(Self {
            context,
            channels,
            opening,
            everyone,
            scratch: Scratch::default(),
            hashed: 0,
            stretched: 0,
        })
    }

    /// Counts the rounds from now on in `context`, see [`Channel::count_in`].
    pub fn count_in(&mut self, context: &Context) {
        self.context = context.clone();
        self.channels
            .iter_mut()
            .for_each(|channel| channel.count_in(context));
    }

    /// Fills a string from a fresh generator that nobody else has: a share of random bits.
    pub fn fill_privately(&self, share: &mut [u8]) {
        self.context.private_prg().fill(share);
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
    /// [`madrigal_net::Error`] of the network.
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
        let none = &mut [];
        self.and_vectors((triples, count), [x, y], z, none).await
    }

    /// Does [`and`](Self::and) and, in the same opening, products of shared bits with vectors of shared bits, from vector triples
    /// (VS gates; MOTIF 5.1): d = open(x ^ a), E = open(Y ^ B), Z = C ^ (d & B) ^ (E & a) ^ (d & E), in each vector.
    ///
    /// # Errors
    /// [`madrigal_net::Error`] of the network.
    ///
    /// # Panics
    /// If strings differ in length, as for [`and`](Self::and); if there are fewer vector triples, or shorter ones, than products.
    pub async fn and_vectors(
        &mut self,
        (triples, count): (&mut BitTriples, usize),
        [x, y]: [&[u8]; 2],
        z: &mut [u8],
        vectors: &mut [BitVectors],
    ) -> Result<()> {
        let bytes = bits::bytes_for(count);
        let triple = triples.take(count, &mut self.scratch)?;
        let opened: usize = vectors.iter().map(BitVectors::opened_bytes).sum();
        let mut masked = Zeroizing::new(vec![0; 2 * bytes + opened]);
        let (d, rest) = masked.split_at_mut(bytes);
        let (e, mut rest) = rest.split_at_mut(bytes);
        let mut kept = Vec::with_capacity(vectors.len());
        for vectors in &mut *vectors {
            let own;
            (own, rest) = rest.split_at_mut(vectors.opened_bytes());
            kept.push(vectors.mask(own));
        }
        kernels::xor(d, x, triple.a);
        kernels::xor(e, y, triple.b);
        // Past the end are bits of other triples, which must stay unknown.
        bits::clear_tail(d, count);
        bits::clear_tail(e, count);

        self.opening
            .add_up(
                &kernels::xor_into,
                &self.context,
                &mut self.channels,
                &mut masked,
                &self.everyone,
            )
            .await?;
        let (d, rest) = masked.split_at(bytes);
        let (e, mut rest) = rest.split_at(bytes);
        let leader = self.context.me() == LEADER;
        kernels::beaver_bits(z, triple.a, triple.b, triple.c, d, e, leader);
        for (vectors, kept) in vectors.iter_mut().zip(kept) {
            let own;
            (own, rest) = rest.split_at(vectors.opened_bytes());
            vectors.multiply(&kept, own, leader);
        }
        Ok(())
    }

    /// The `count` bits that `share` shares, for the parties in `to`; `None` for the others.
    ///
    /// # Errors
    /// [`madrigal_net::Error`] of the network.
    pub async fn open(
        &mut self,
        share: &[u8],
        count: usize,
        to: &[Party],
    ) -> Result<Option<Zeroizing<Vec<u8>>>> {
        let mut share = Zeroizing::new(share.to_vec());
        bits::clear_tail(&mut share, count);
        let opened = self.opening.add_up(
            &kernels::xor_into,
            &self.context,
            &mut self.channels,
            &mut share,
            to,
        );
        Ok(opened.await?.then(|| {
            // From here on it is its receiver's to look at.
            marks::public(share.as_mut_slice());
            share
        }))
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
