//! Replicated sharing of bits.
//!
//! | operation | rounds | bytes sent |
//! |---|---|---|
//! | input of n bits ([`ReplicatedInputs`]) | 1 | ceil(n/8), by the owner, to its next party |
//! | XOR, NOT, constants | 0 | 0 |
//! | AND of n bits, or n sums of ANDs | 1 | ceil(n/8) by each party, to its previous one |
//! | opening of n bits | 1 | ceil(n/8) to each receiver, by its previous party |

use std::ops::Range;

use bytes::Bytes;
use madrigal_core::{Party, PhaseCost, Zeroizing, bits};
use madrigal_kernels::{self as kernels, marks};
use madrigal_net::{Context, Generator, Result, exchange_each};

use super::flow::{Draft, Pool, Spent};
use super::{BitShares, Neighbours, PARTIES, ZeroKeys, next, previous};
use crate::Rounds;

/// Bytes of products that stay in the first-level cache beside their operands.
const NEAR: usize = 8 << 10;

/// One party's two components of a string of shared bits.
pub type Shared = [Zeroizing<Vec<u8>>; 2];

/// The interactive operations of one piece of work, on channels and generators of its own.
pub struct ReplicatedBits {
    pub(super) context: Context,
    pub(super) neighbours: Neighbours,
    pub(super) zeros: ZeroKeys,
    pub(super) pool: Pool,
    spent: Spent,
}

impl std::fmt::Debug for ReplicatedBits {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "ReplicatedBits({:?})", self.context)
    }
}

impl ReplicatedBits {
    /// Opens the channels of `context` and takes its generators.
    ///
    /// # Errors
    /// [`madrigal_net::Error`] in the same cases as [`Context::channel`] and [`Context::shared_prg`].
    ///
    /// # Panics
    /// Unless there are three parties.
    pub fn new(context: Context) -> Result<Self> {
        Ok(Self {
            neighbours: Neighbours::new(&context)?,
            zeros: ZeroKeys::new(&context)?,
            pool: Pool::default(),
            spent: Spent::default(),
            context,
        })
    }

    /// Counts the rounds from now on in `context`, see [`madrigal_net::Channel::count_in`].
    pub fn count_in(&mut self, context: &Context) {
        self.context = context.clone();
        self.neighbours.count_in(context);
    }

    /// Makes this party's part of fresh sharings of zero, this many bytes; the cross terms of ANDs, or sums of these, go on top
    /// ([`kernels::replicated_carry`]).
    pub fn zeros(&mut self, bytes: usize) -> Draft {
        let mut z = self.spent.draft(bytes);
        self.zeros.fill_bits(&mut z);
        z
    }

    /// Cross terms of `count` products, or sums of products, of `each` bytes on fresh sharings of zero: `add` XORs those of
    /// the ones in a range into its second argument, while that is in the first-level cache.
    pub fn cross_terms(
        &mut self,
        count: usize,
        each: usize,
        mut add: impl FnMut(Range<usize>, &mut [u8]),
    ) -> Draft {
        let mut z = self.spent.draft(count * each);
        // Whole blocks of the generators.
        let unit = 16 >> each.trailing_zeros().min(4);
        let at_once = (NEAR / each.max(1)).max(1).next_multiple_of(unit);
        for first in (0..count).step_by(at_once) {
            let products = first..count.min(first + at_once);
            let z = &mut z[products.start * each..products.end * each];
            self.zeros.fill_bits(z);
            add(products, z);
        }
        z
    }

    /// Makes products, or sums of products, of cross terms: `z`, this party's cross terms on shares of zero ([`cross_terms`](Self::cross_terms),
    /// [`zeros`](Self::zeros)), is its first component; gives both. One round, `z`'s bytes sent.
    ///
    /// # Errors
    /// [`madrigal_net::Error`] of the network.
    pub async fn reshare(&mut self, z: Draft) -> Result<[Bytes; 2]> {
        let z = self.spent.message(z);
        let theirs = self.neighbours.reshare(z.clone()).await?;
        Ok([z, theirs])
    }

    /// Shares of x & y, for `count` bits. The bits beyond them in the last byte are ignored, and
    /// unspecified in the result.
    ///
    /// # Errors
    /// [`madrigal_net::Error`] of the network.
    ///
    /// # Panics
    /// If a string has not `ceil(count / 8)` bytes.
    pub async fn and(&mut self, x: [&[u8]; 2], y: [&[u8]; 2], count: usize) -> Result<[Bytes; 2]> {
        let mut z = self.zeros(bits::bytes_for(count));
        kernels::replicated_and(x, y, &mut z);
        bits::clear_tail(&mut z, count);
        self.reshare(z).await
    }

    /// The `count` bits that `first` and `second` share, for the parties in `to`; `None` for others.
    ///
    /// # Errors
    /// [`madrigal_net::Error`] of the network.
    pub async fn open(
        &mut self,
        [first, second]: [&[u8]; 2],
        count: usize,
        to: &[Party],
    ) -> Result<Option<Zeroizing<Vec<u8>>>> {
        let bytes = bits::bytes_for(count);
        self.open_strings([&first[..bytes], &second[..bytes]], count, to)
            .await
    }

    /// Opens the bits of all rows: each row in whole bytes, with zeros beyond its end.
    pub(super) async fn open_rows(
        &mut self,
        shares: &BitShares,
        to: &[Party],
    ) -> Result<Option<Zeroizing<Vec<u8>>>> {
        self.open_strings(shares.components(), shares.count(), to)
            .await
    }

    /// Opens strings of `count` bits each, which begin at bytes. The part of shares beyond a string's end
    /// has no meaning, and nobody shall see it: it does not travel.
    async fn open_strings(
        &mut self,
        [first, second]: [&[u8]; 2],
        count: usize,
        to: &[Party],
    ) -> Result<Option<Zeroizing<Vec<u8>>>> {
        let me = self.context.me();
        let bytes = first.len();
        let clear_tails = |strings: &mut [u8]| {
            for string in strings.chunks_mut(bits::bytes_for(count).max(1)) {
                bits::clear_tail(string, count);
            }
        };
        let gets = to.contains(&me);
        let message = to.contains(&next(me)).then(|| {
            let mut message = first.to_vec();
            clear_tails(&mut message);
            Bytes::from(message)
        });
        let Neighbours { previous, next } = &mut self.neighbours;
        let received = exchange_each(
            message.map(|message| (&mut next.tx, message)),
            gets.then_some((&mut previous.rx, bytes)),
        );
        let theirs = received.await?.pop();
        Ok(theirs.map(|theirs| {
            let mut sum = Zeroizing::new(first.to_vec());
            kernels::xor_into(&mut sum, second);
            kernels::xor_into(&mut sum, &theirs);
            clear_tails(&mut sum);
            // From here on it is its receiver's to look at.
            marks::public(sum.as_mut_slice());
            sum
        }))
    }

    /// Cost of ANDs of `count` bits in one step, but for rounds.
    pub fn and_cost(count: usize) -> PhaseCost {
        let bytes = bits::bytes_for(count) as u64;
        PhaseCost {
            rounds: 0,
            bytes_sent: bytes,
            bytes_received: bytes,
            messages: 1,
            aes_blocks: 2 * bytes.div_ceil(16),
        }
    }

    /// Takes the rounds of ANDs into `clock`.
    pub fn and_rounds(clock: &mut Rounds) {
        let each = Party::all(PARTIES).map(|party| (party, previous(party)));
        clock.exchange(&each.collect::<Vec<_>>());
    }

    /// Cost for party `me` of opening `count` bits to the parties `to`, but for rounds.
    pub fn open_cost(me: Party, count: usize, to: &[Party]) -> PhaseCost {
        let bytes = bits::bytes_for(count) as u64;
        let sends = u64::from(to.contains(&next(me)));
        PhaseCost {
            rounds: 0,
            bytes_sent: sends * bytes,
            bytes_received: u64::from(to.contains(&me)) * bytes,
            messages: sends,
            aes_blocks: 0,
        }
    }

    /// Takes the rounds of an opening into `clock`.
    pub fn open_rounds(clock: &mut Rounds, to: &[Party]) {
        let each = to.iter().map(|&party| (previous(party), party));
        clock.exchange(&each.collect::<Vec<_>>());
    }
}

/// Shares inputs of the parties. The owner P_p and its previous party take v_p from their generator,
/// v_{p+2} is zero, and v_{p+1}, the input under that mask, goes to the next party.
pub struct ReplicatedInputs {
    context: Context,
    neighbours: Neighbours,
    /// Masks of our own inputs; masks of the next party's.
    masks: [Generator; 2],
}

impl std::fmt::Debug for ReplicatedInputs {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "ReplicatedInputs({:?})", self.context)
    }
}

impl ReplicatedInputs {
    /// Opens the channels of `context`, a step of its own, and takes its generators.
    ///
    /// # Errors
    /// [`madrigal_net::Error`] in the same cases as [`ReplicatedBits::new`].
    ///
    /// # Panics
    /// Unless there are three parties.
    pub fn new(context: Context) -> Result<Self> {
        let me = context.me();
        Ok(Self {
            neighbours: Neighbours::new(&context)?,
            masks: [
                context.shared_prg(previous(me))?,
                context.shared_prg(next(me))?,
            ],
            context,
        })
    }

    /// Counts the rounds from now on in `context`, see [`madrigal_net::Channel::count_in`].
    pub fn count_in(&mut self, context: &Context) {
        self.context = context.clone();
        self.neighbours.count_in(context);
    }

    /// Shares the next inputs of all parties, `counts[p]` bits of party p's, of which `own` are ours.
    /// Gives our components for each owner.
    ///
    /// # Errors
    /// [`madrigal_net::Error`] of the network.
    ///
    /// # Panics
    /// If `own` has not `ceil(counts[me] / 8)` bytes.
    pub async fn share(
        &mut self,
        own: &[u8],
        counts: [usize; PARTIES],
    ) -> Result<[Shared; PARTIES]> {
        let me = self.context.me();
        let bytes = counts.map(bits::bytes_for);
        assert_eq!(own.len(), bytes[me.index()], "our inputs in packed bits");
        let zeros = |bytes| Zeroizing::new(vec![0; bytes]);
        let mut shares = bytes.map(|bytes| [zeros(bytes), zeros(bytes)]);

        let [mask, sum] = &mut shares[me.index()];
        self.masks[0].fill(mask);
        bits::clear_tail(mask, counts[me.index()]);
        kernels::xor(sum, mask, own);
        bits::clear_tail(sum, counts[me.index()]);
        let message = Bytes::from(sum.to_vec());
        let after = next(me).index();
        let mask = &mut shares[after][1];
        self.masks[1].fill(mask);
        bits::clear_tail(mask, counts[after]);
        let before = previous(me).index();
        let expected = bytes[before];
        let Neighbours { previous, next } = &mut self.neighbours;
        let received = exchange_each(
            (!message.is_empty()).then_some((&mut next.tx, message)),
            (expected > 0).then_some((&mut previous.rx, expected)),
        );
        if let Some(theirs) = received.await?.pop() {
            shares[before][0].copy_from_slice(&theirs);
        }
        Ok(shares)
    }

    /// Cost for party `me` of one call, but for rounds.
    pub fn cost(me: Party, counts: [usize; PARTIES]) -> PhaseCost {
        let bytes = |party: Party| bits::bytes_for(counts[party.index()]) as u64;
        PhaseCost {
            rounds: 0,
            bytes_sent: bytes(me),
            bytes_received: bytes(previous(me)),
            messages: u64::from(bytes(me) > 0),
            aes_blocks: bytes(me).div_ceil(16) + bytes(next(me)).div_ceil(16),
        }
    }

    /// Takes the rounds of one call into `clock`.
    pub fn rounds(clock: &mut Rounds, counts: [usize; PARTIES]) {
        let owners = Party::all(PARTIES).filter(|owner| counts[owner.index()] > 0);
        clock.exchange(&owners.map(|owner| (owner, next(owner))).collect::<Vec<_>>());
    }
}
