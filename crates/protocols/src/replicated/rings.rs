//! The worker on rings, its inputs and openings.
//!
//! | operation | rounds | elements sent |
//! |---|---|---|
//! | input of n elements | 1 | n, by the owner, to its next party |
//! | linear operations ([`RingShares`]) | 0 | 0 |
//! | opening of n elements | 1 | n to each receiver, by its previous party |

use std::ops::Range;

use futures_util::future::try_join_all;
use madrigal_core::{Party, Ring};
use madrigal_kernels::{marks, rings};
use madrigal_net::{Context, Result};

use super::flow::Flow;
use super::{
    BitShares, Depth, Masking, PARTIES, ReplicatedBits, RingShares, RingView, next, previous,
};
use madrigal_core::Zeroizing;

/// Blocks of elements that go through a circuit side by side.
pub(super) const WAYS: usize = 8;

/// Bits of a block, all rows of one component: elements times width.
const BLOCK_BITS: usize = 1 << 20;

/// Operations on shared ring elements and between them and shared bits, for three parties: one piece
/// of work on channels and generators of its own. All parties must call the same operations, with
/// batches of the same lengths, in the same order.
///
/// A batch is any number of elements. Long ones travel in pieces of 64 KiB, or through circuits in
/// blocks side by side; the number of rounds does not depend on that.
pub struct ReplicatedRings {
    /// Strand of the work that goes in one step after the other.
    pub(super) strand: ReplicatedBits,
    /// Strands of the work that goes side by side.
    pub(super) ways: Vec<ReplicatedBits>,
    pub(super) depth: Option<Depth>,
}

impl std::fmt::Debug for ReplicatedRings {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "ReplicatedRings({:?})", self.strand.context)
    }
}

impl ReplicatedRings {
    /// Opens the channels of `context` and of steps in it, and takes their generators. No message.
    ///
    /// # Errors
    /// [`madrigal_net::Error`] in the same cases as [`Context::channel`] and [`Context::shared_prg`].
    ///
    /// # Panics
    /// Unless there are three parties.
    pub fn new(context: Context) -> Result<Self> {
        let way = |i: usize| ReplicatedBits::new(context.step(&format!("way {i}")));
        Ok(Self {
            ways: (0..WAYS).map(way).collect::<Result<_>>()?,
            depth: None,
            strand: ReplicatedBits::new(context)?,
        })
    }

    /// Counts the rounds from now on in `context`, see [`madrigal_net::Channel::count_in`].
    pub fn count_in(&mut self, context: &Context) {
        self.strand.count_in(context);
    }

    /// Uses adders of this depth whatever the size of a batch. All parties must do the same.
    pub fn set_depth(&mut self, depth: Option<Depth>) {
        self.depth = depth;
    }

    /// Number of this party.
    pub fn me(&self) -> Party {
        self.strand.context.me()
    }

    /// Operations on bits in this worker's step, in order with its own.
    pub fn bits(&mut self) -> &mut ReplicatedBits {
        &mut self.strand
    }

    /// Shares the next inputs of all parties, `counts[p]` elements of party p's, of which `own` are
    /// ours. Gives our components for each owner. The owner P_p and its previous party take v_p from
    /// their generator, v_{p+2} is zero, and v_{p+1} = v - v_p goes to the next party.
    ///
    /// # Errors
    /// [`madrigal_net::Error`] of the network.
    ///
    /// # Panics
    /// If `own` has not `counts[me]` elements.
    pub async fn share<T: Ring>(
        &mut self,
        own: &[T],
        counts: [usize; PARTIES],
    ) -> Result<[RingShares<T>; PARTIES]> {
        self.strand.share(own, counts).await
    }

    /// The values of `shares` for the parties in `to`; `None` for others.
    ///
    /// # Errors
    /// [`madrigal_net::Error`] of the network.
    pub async fn open<'a, T: Ring>(
        &mut self,
        shares: impl Into<RingView<'a, T>>,
        to: &[Party],
    ) -> Result<Option<Vec<T>>> {
        self.open_masked(shares.into(), Masking::Sums, to).await
    }

    /// [`open`](Self::open), of elements whose components give them in either way.
    pub(super) async fn open_masked<T: Ring>(
        &mut self,
        shares: RingView<'_, T>,
        masking: Masking,
        to: &[Party],
    ) -> Result<Option<Vec<T>>> {
        let strand = &mut self.strand;
        let me = strand.context.me();
        let [first, second] = shares.components();
        let gets = to.contains(&me);
        let sends = if to.contains(&next(me)) {
            first.len()
        } else {
            0
        };
        let mut sum = Zeroizing::zeros(if gets { first.len() } else { 0 });
        let out = &mut *sum;
        let flow = Flow {
            context: &strand.context,
            to: &mut strand.neighbours.next.tx,
            from: &mut strand.neighbours.previous.rx,
            pool: &mut strand.pool,
        };
        flow.run::<T>(
            sends,
            |piece, send| send(&first[piece]),
            out.len(),
            |piece, theirs| {
                let out = &mut out[piece.clone()];
                rings::as_bytes_mut(out).copy_from_slice(theirs);
                masking.add(out, &first[piece.clone()]);
                masking.add(out, &second[piece]);
            },
        )
        .await?;
        // From here on it is its receiver's to look at.
        Ok(gets.then(|| {
            marks::public(sum.as_mut_slice());
            std::mem::take(&mut *sum)
        }))
    }

    /// The bits of all rows of `shares` for the parties in `to`, with zeros beyond each row's end;
    /// `None` for others. One round, the rows' bytes.
    ///
    /// # Errors
    /// [`madrigal_net::Error`] of the network.
    pub async fn open_bits(&mut self, shares: &BitShares, to: &[Party]) -> Result<Option<Vec<u8>>> {
        let opened = self.strand.open_rows(shares, to).await?;
        Ok(opened.map(|opened| opened.to_vec()))
    }

    /// Runs `work` on the blocks of a batch of `count` elements of `width` bits, several side by side.
    /// Gives what it made of each.
    pub(super) async fn in_blocks<R>(
        &mut self,
        count: usize,
        width: usize,
        work: impl AsyncFn(&mut ReplicatedBits, Range<usize>) -> Result<R>,
    ) -> Result<Vec<(Range<usize>, R)>> {
        self.in_these(blocks(count, width), work).await
    }

    /// Runs `work` on these blocks of a batch, several side by side. Gives what it made of each.
    pub(super) async fn in_these<R>(
        &mut self,
        blocks: impl Iterator<Item = Range<usize>>,
        work: impl AsyncFn(&mut ReplicatedBits, Range<usize>) -> Result<R>,
    ) -> Result<Vec<(Range<usize>, R)>> {
        let blocks = blocks.map(|block| (block, ()));
        let work = async |strand: &mut ReplicatedBits, block, ()| work(strand, block).await;
        self.side_by_side(blocks, work).await
    }

    /// Makes elements in blocks, where `work` writes the components of a block's elements.
    pub(super) async fn made_in_blocks<T: Ring>(
        &mut self,
        count: usize,
        width: usize,
        work: impl AsyncFn(&mut ReplicatedBits, Range<usize>, [&mut [T]; 2]) -> Result<()>,
    ) -> Result<RingShares<T>> {
        let mut made = RingShares::zeros(count);
        let [mut first, mut second] = made.components.each_mut().map(|part| part.as_mut_slice());
        let blocks = blocks(count, width).map(|block| {
            let parts = [&mut first, &mut second].map(|rest| {
                let (part, after) = std::mem::take(rest).split_at_mut(block.len());
                *rest = after;
                part
            });
            (block, parts)
        });
        self.side_by_side(blocks, work).await?;
        Ok(made)
    }

    pub(super) async fn side_by_side<P, R>(
        &mut self,
        blocks: impl Iterator<Item = (Range<usize>, P)>,
        work: impl AsyncFn(&mut ReplicatedBits, Range<usize>, P) -> Result<R>,
    ) -> Result<Vec<(Range<usize>, R)>> {
        let mut of_ways: [Vec<_>; WAYS] = Default::default();
        for (number, block) in blocks.enumerate() {
            of_ways[number % WAYS].push(block);
        }
        let context = self.strand.context.clone();
        let start = context.beside();
        let (work, context, start) = (&work, &context, &start);
        let ways = self
            .ways
            .iter_mut()
            .zip(of_ways)
            .map(|(strand, blocks)| async move {
                let mut done = Vec::new();
                for (block, with) in blocks {
                    let beside = start.beside();
                    strand.count_in(&beside);
                    done.push((block.clone(), work(strand, block, with).await?));
                    context.join(&beside);
                }
                Ok(done)
            });
        let done: Vec<Vec<_>> = try_join_all(ways).await?;
        Ok(done.into_iter().flatten().collect())
    }
}

/// The blocks of `count` elements of `width` bits. Each but the last has a multiple of 64 elements.
pub(super) fn blocks(count: usize, width: usize) -> impl Iterator<Item = Range<usize>> {
    blocks_of(count, block_length(width))
}

/// Elements of `width` bits in a block.
pub(super) const fn block_length(width: usize) -> usize {
    let length = BLOCK_BITS / width / 64 * 64;
    if length > 64 { length } else { 64 }
}

/// Blocks of `each` elements, but for the last one.
pub(super) fn blocks_of(count: usize, each: usize) -> impl Iterator<Item = Range<usize>> {
    (0..count.div_ceil(each)).map(move |i| i * each..((i + 1) * each).min(count))
}

impl ReplicatedBits {
    /// [`ReplicatedRings::share`].
    pub(super) async fn share<T: Ring>(
        &mut self,
        own: &[T],
        counts: [usize; PARTIES],
    ) -> Result<[RingShares<T>; PARTIES]> {
        let me = self.context.me();
        assert_eq!(own.len(), counts[me.index()], "our inputs");
        let mut shares = counts.map(RingShares::<T>::zeros);

        self.zeros.second.fill(rings::as_bytes_mut(
            &mut shares[next(me).index()].components[1],
        ));
        let [mine, theirs] = shares
            .get_disjoint_mut([me.index(), previous(me).index()])
            .expect("two parties of three");
        let [mask, sum] = &mut mine.components;
        self.zeros.first.fill(rings::as_bytes_mut(mask));
        let received = &mut theirs.components[0];
        let flow = Flow {
            context: &self.context,
            to: &mut self.neighbours.next.tx,
            from: &mut self.neighbours.previous.rx,
            pool: &mut self.pool,
        };
        let receives = received.len();
        flow.run::<T>(
            own.len(),
            |piece, send| {
                let sum = &mut sum[piece.clone()];
                sum.copy_from_slice(&own[piece.clone()]);
                rings::sub_into(sum, &mask[piece]);
                send(sum);
            },
            receives,
            |piece, theirs| rings::as_bytes_mut(&mut received[piece]).copy_from_slice(theirs),
        )
        .await?;
        Ok(shares)
    }
}
