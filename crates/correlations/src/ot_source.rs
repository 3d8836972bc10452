//! Correlations by oblivious transfer.

use std::any::Any;
use std::sync::Arc;

use futures_util::future::LocalBoxFuture;
use madrigal_core::{Product, Ring};
use madrigal_kernels::Block;
use madrigal_net::{Context, Result};

use crate::BitTripleSource;
use crate::base::Base;
use crate::bit_triples::BitTriples;
use crate::correlated::{CorrelatedOts, Direction, RowsLayout};
use crate::extension::Extension;
use crate::in_order::Hand;
use crate::kind::{Width, with_ring};
use crate::lines::{Line, Lines, MAX_THREADS};
use crate::matrices::{ProductTriple, Tripled};
use crate::rings::{RingTriples, SquarePairs};
use crate::shared_bits::SharedBits;
use crate::source::Source;
use crate::vectors::{VectorTriples, vector_ots};

/// Makes every kind by oblivious transfer between all pairs of parties, over an [`Extension`] of one's
/// choice, and needs to trust nobody.
///
/// The base OTs are run once; each group of kinds (Boolean triples; ring triples, square pairs and
/// shared bits of every width; matrix triples; vector triples) starts extensions of its own from them
/// when it is first asked for. [`OtCosts`](crate::OtCosts) knows what all of it costs.
pub struct OtSource {
    context: Context,
    extension: Extension,
    lines: Lines,
}

impl std::fmt::Debug for OtSource {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "OtSource({:?}, {})", self.context, self.extension)
    }
}

impl OtSource {
    /// Runs the base OTs with all peers, two rounds. All parties name the same extension.
    ///
    /// # Errors
    /// Those of the network; a peer's malformed message.
    pub async fn new(context: &Context, extension: Extension) -> Result<Self> {
        Self::with_threads(context, extension, 1).await
    }

    /// The same, where calls for many items compute on up to so many threads at a time, 1 to
    /// [`MAX_THREADS`], each with extensions of its own (of the same base OTs), and so with what these
    /// begin with and keep. All parties name the same number; one means the caller's thread. A matrix
    /// triple is made by one thread.
    ///
    /// # Errors
    /// As [`new`](Self::new).
    ///
    /// # Panics
    /// Without threads, or with more.
    pub fn with_threads(
        context: &Context,
        extension: Extension,
        threads: usize,
    ) -> LocalBoxFuture<'_, Result<Self>> {
        assert!(
            (1..=MAX_THREADS).contains(&threads),
            "a source computes on 1 to {MAX_THREADS} threads"
        );
        Box::pin(Self::begin(context, extension, threads))
    }

    async fn begin(context: &Context, extension: Extension, threads: usize) -> Result<Self> {
        let context = context.step("correlations");
        let base = context.metered(Base::new(&context)).await?;
        Ok(Self {
            lines: Lines::new(&context, base, extension, threads)?,
            extension,
            context,
        })
    }

    /// The same, but that matrix triples of up to 64 bits are made by encryption ([`madrigal_lattice`])
    /// instead of OT: for all but the smallest matrices that is a fraction of the bytes and of
    /// the time. It rests on one more assumption, ring learning with errors. All parties do the same; local.
    /// Large matrices take up to 26 MB for a message, and 67 MB for what each peer has sent.
    ///
    /// # Errors
    /// The job's failure; a second call.
    pub fn with_lattice_matrices(mut self) -> Result<Self> {
        self.lines.encrypt_matrices()?;
        Ok(self)
    }

    /// The extension that it was made with.
    pub fn extension(&self) -> Extension {
        self.extension
    }

    /// On how many threads it computes, at most.
    pub fn threads(&self) -> usize {
        self.lines.count()
    }
}

/// What a call over some ring makes.
#[derive(Clone, Copy)]
enum Call {
    RingTriples(usize),
    SquarePairs(usize),
    SharedBits(usize),
    Products(Tripled, usize),
}

/// What is made: of the type that follows from the call and the ring.
type Made = Result<Box<dyn Any>>;

fn any<T: 'static>(made: Result<T>) -> Made {
    Ok(Box::new(made?))
}

fn typed<T: 'static>(made: Made) -> Result<T> {
    let made = made?.downcast();
    Ok(*made.expect("the call and the ring say what is made"))
}

/// The work of the calls, boxed so that it is compiled here: what is generic or `async` to the outside is
/// compiled again by every crate that has a source, for five rings.
impl OtSource {
    fn over_ring<'a>(
        &'a mut self,
        width: Width,
        call: Call,
        made: &'a dyn Fn(usize),
    ) -> LocalBoxFuture<'a, Made> {
        with_ring!(width, T => match call {
            Call::RingTriples(count) => Box::pin(async move {
                any(self.make_ring_triples::<T>(count, made).await)
            }),
            Call::SquarePairs(count) => Box::pin(async move {
                any(self.make_square_pairs::<T>(count, made).await)
            }),
            Call::SharedBits(count) => Box::pin(async move {
                any(self.make_shared_bits::<T>(count, made).await)
            }),
            Call::Products(one, count) => Box::pin(async move {
                any(self.make_product_triples::<T>(one, count, made).await)
            }),
        })
    }

    async fn make_ring_triples<T: Ring>(
        &mut self,
        count: usize,
        made: &dyn Fn(usize),
    ) -> Result<RingTriples<T>> {
        self.context.tally("ring triples", &[count, T::BITS]);
        let work = async |line: &mut Line, count, made: &dyn Fn(usize)| {
            line.ring_triples(count, made).await
        };
        let parts = self.lines.run(count, T::BITS, made, work).await?;
        Ok(RingTriples::concat(parts))
    }

    async fn make_square_pairs<T: Ring>(
        &mut self,
        count: usize,
        made: &dyn Fn(usize),
    ) -> Result<SquarePairs<T>> {
        self.context.tally("square pairs", &[count, T::BITS]);
        let work = async |line: &mut Line, count, made: &dyn Fn(usize)| {
            line.square_pairs(count, made).await
        };
        let parts = self.lines.run(count, T::BITS, made, work).await?;
        Ok(SquarePairs::concat(parts))
    }

    async fn make_shared_bits<T: Ring>(
        &mut self,
        count: usize,
        made: &dyn Fn(usize),
    ) -> Result<SharedBits<T>> {
        self.context.tally("shared bits", &[count, T::BITS]);
        let work = async |line: &mut Line, count, made: &dyn Fn(usize)| {
            line.shared_bits(count, made).await
        };
        let parts = self.lines.run(count, 1, made, work).await?;
        Ok(SharedBits::concat(parts))
    }

    async fn make_product_triples<T: Ring>(
        &mut self,
        one: Tripled,
        count: usize,
        made: &dyn Fn(usize),
    ) -> Result<Vec<ProductTriple<T>>> {
        one.check(self.context.parties())?;
        let mut numbers = vec![count, T::BITS];
        numbers.extend(one.left.map(|left| 1 + left.index()));
        let what = match one.product {
            Product::Matrices(_, shape) => {
                numbers.extend([shape.rows, shape.inner, shape.columns]);
                "matrix triples"
            }
            Product::Convolution(convolution) => {
                numbers.extend(convolution.numbers());
                "convolution triples"
            }
        };
        self.context.tally(what, &numbers);
        let work = async move |line: &mut Line, _, made: &dyn Fn(usize)| {
            line.product_triples(one, count, made).await
        };
        let mut parts = self.lines.run(1, 1, made, work).await?;
        Ok(parts.remove(0))
    }

    fn make_bit_triples<'a>(
        &'a mut self,
        count: usize,
        made: &'a dyn Fn(usize),
    ) -> LocalBoxFuture<'a, Result<BitTriples>> {
        Box::pin(async move {
            self.context.tally("bit triples", &[count]);
            let work = async |line: &mut Line, count, made: &dyn Fn(usize)| {
                line.bit_triples(count, made).await
            };
            let parts = self.lines.run(count, 1, made, work).await?;
            Ok(BitTriples::concat(parts))
        })
    }

    fn make_bit_triples_as_made<'a>(
        &'a mut self,
        count: usize,
        made: &'a dyn Fn(usize),
        hand: &'a Hand,
    ) -> LocalBoxFuture<'a, Result<()>> {
        Box::pin(async move {
            self.context.tally("bit triples", &[count]);
            self.lines.bit_triples_as_made(count, made, hand).await
        })
    }

    fn make_vector_triples<'a>(
        &'a mut self,
        length: usize,
        count: usize,
        made: &'a dyn Fn(usize),
    ) -> LocalBoxFuture<'a, Result<VectorTriples>> {
        Box::pin(async move {
            self.context.tally("vector triples", &[count, length]);
            let work = async move |line: &mut Line, count, made: &dyn Fn(usize)| {
                line.vector_triples(length, count, made).await
            };
            let ots = vector_ots(length);
            let parts = self.lines.run(count, ots, made, work).await?;
            Ok(VectorTriples::concat(length, parts))
        })
    }

    fn make_correlated_ots<'a>(
        &'a mut self,
        counts: &'a [(Direction, usize)],
        made: &'a dyn Fn(usize),
    ) -> LocalBoxFuture<'a, Result<CorrelatedOts>> {
        Box::pin(async move {
            let tally =
                |&((from, to), count): &(Direction, usize)| [from.index(), to.index(), count];
            let tally: Vec<usize> = counts.iter().flat_map(tally).collect();
            self.context.tally("correlated OTs", &tally);
            let longest = RowsLayout::longest(counts);
            let counts: Arc<[(Direction, usize)]> = counts.into();
            let parts = self.lines.correlated_ots(longest, counts, made).await?;
            Ok(CorrelatedOts::concat(parts))
        })
    }
}

impl BitTripleSource for OtSource {
    async fn bit_triples(&mut self, count: usize, made: &dyn Fn(usize)) -> Result<BitTriples> {
        self.make_bit_triples(count, made).await
    }

    async fn bit_triples_as_made(
        &mut self,
        count: usize,
        made: &dyn Fn(usize),
        hand: &Hand,
    ) -> Result<()> {
        self.make_bit_triples_as_made(count, made, hand).await
    }
}

impl Source for OtSource {
    async fn ring_triples<T: Ring>(
        &mut self,
        count: usize,
        made: &dyn Fn(usize),
    ) -> Result<RingTriples<T>> {
        typed(
            self.over_ring(Width::of::<T>(), Call::RingTriples(count), made)
                .await,
        )
    }

    async fn square_pairs<T: Ring>(
        &mut self,
        count: usize,
        made: &dyn Fn(usize),
    ) -> Result<SquarePairs<T>> {
        typed(
            self.over_ring(Width::of::<T>(), Call::SquarePairs(count), made)
                .await,
        )
    }

    async fn shared_bits<T: Ring>(
        &mut self,
        count: usize,
        made: &dyn Fn(usize),
    ) -> Result<SharedBits<T>> {
        typed(
            self.over_ring(Width::of::<T>(), Call::SharedBits(count), made)
                .await,
        )
    }

    async fn product_triples<T: Ring>(
        &mut self,
        one: impl Into<Tripled>,
        count: usize,
        made: &dyn Fn(usize),
    ) -> Result<Vec<ProductTriple<T>>> {
        let call = Call::Products(one.into(), count);
        typed(self.over_ring(Width::of::<T>(), call, made).await)
    }

    async fn vector_triples(
        &mut self,
        length: usize,
        count: usize,
        made: &dyn Fn(usize),
    ) -> Result<VectorTriples> {
        self.make_vector_triples(length, count, made).await
    }

    async fn correlated_ots(
        &mut self,
        counts: &[(Direction, usize)],
        made: &dyn Fn(usize),
    ) -> Result<CorrelatedOts> {
        self.make_correlated_ots(counts, made).await
    }

    fn offset(&self) -> Option<Block> {
        Some(self.lines.offset())
    }
}
