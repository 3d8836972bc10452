//! Where correlations come from.

use std::sync::Arc;

use madrigal_core::time::Work;
use madrigal_core::{Party, PhaseCost, Product, Ring};
use madrigal_kernels::Block;
use madrigal_net::{Context, Error, Result};
use madrigal_ot::KAPPA;

use crate::BitTripleSource;
use crate::base::{Base, Group, base_cost};
use crate::bit_triples::BitTriples;
use crate::choice::bit_triple_work;
use crate::correlated::{CorrelatedOts, Direction, RowsLayout};
use crate::extension::Extension;
use crate::in_order::Hand;
use crate::kind::Kind;
use crate::layout::Layout;
use crate::ledger::Ledger;
use crate::lines::{Line, Lines, MAX_THREADS, beside, portions, ranges};
use crate::matrices::{self, EncryptedCosts, MatrixLayout, MatrixShape, ProductTriple, Tripled};
use crate::needs::Needs;
use crate::ot_triples::BitLayout;
use crate::rings::{self, RingTriples, SquarePairs};
use crate::shared_bits::{ChainLayout, SharedBits};
use crate::vectors::{VectorLayout, VectorTriples};

/// A place that correlations of every kind come from.
///
/// All parties call the same methods with the same counts in the same order. `made` hears, as it
/// goes, how many more items are done. Errors are those of the network; a failure leaves the source
/// unusable.
pub trait Source: BitTripleSource {
    /// Makes this party's shares of `count` fresh triples over Z_2^l.
    ///
    /// # Errors
    /// Those of the network.
    fn ring_triples<T: Ring>(
        &mut self,
        count: usize,
        made: &dyn Fn(usize),
    ) -> impl Future<Output = Result<RingTriples<T>>>;

    /// Makes this party's shares of `count` fresh square pairs over Z_2^l.
    ///
    /// # Errors
    /// Those of the network.
    fn square_pairs<T: Ring>(
        &mut self,
        count: usize,
        made: &dyn Fn(usize),
    ) -> impl Future<Output = Result<SquarePairs<T>>>;

    /// Makes this party's shares of `count` fresh random bits over Z_2^l.
    ///
    /// # Errors
    /// Those of the network.
    fn shared_bits<T: Ring>(
        &mut self,
        count: usize,
        made: &dyn Fn(usize),
    ) -> impl Future<Output = Result<SharedBits<T>>>;

    /// Makes this party's shares of a fresh matrix triple over Z_2^l. `made` hears of products of
    /// elements.
    ///
    /// # Errors
    /// Those of the network.
    fn matrix_triple<T: Ring>(
        &mut self,
        shape: MatrixShape,
        made: &dyn Fn(usize),
    ) -> impl Future<Output = Result<ProductTriple<T>>> {
        async move {
            let mut triples = self.matrix_triples(shape, 1, made).await?;
            Ok(triples.remove(0))
        }
    }

    /// Makes this party's shares of `count` fresh matrix triples of one shape over Z_2^l, in one call: all
    /// of them are there at once.
    ///
    /// # Errors
    /// Those of the network.
    fn matrix_triples<T: Ring>(
        &mut self,
        shape: MatrixShape,
        count: usize,
        made: &dyn Fn(usize),
    ) -> impl Future<Output = Result<Vec<ProductTriple<T>>>> {
        self.product_triples(Product::Matrices(1, shape), count, made)
    }

    /// Makes this party's shares of `count` fresh triples of one product over Z_2^l, in one call: A and B random, C
    /// their product. Matrices come as one pair for each triple.
    ///
    /// # Errors
    /// Those of the network; factors that two parties have, among others than two.
    fn product_triples<T: Ring>(
        &mut self,
        one: impl Into<Tripled>,
        count: usize,
        made: &dyn Fn(usize),
    ) -> impl Future<Output = Result<Vec<ProductTriple<T>>>>;

    /// Makes this party's shares of `count` fresh vector triples, of vectors of `length` bits.
    ///
    /// # Errors
    /// Those of the network.
    fn vector_triples(
        &mut self,
        length: usize,
        count: usize,
        made: &dyn Fn(usize),
    ) -> impl Future<Output = Result<VectorTriples>>;

    /// Makes fresh correlated OTs, so many from each sender to each receiver, all at the same time; gives
    /// those that this party has a part in. Directions are in ascending order, each there once.
    ///
    /// # Errors
    /// Those of the network; that this source makes none (plans refuse such a job beforehand).
    fn correlated_ots(
        &mut self,
        counts: &[(Direction, usize)],
        made: &dyn Fn(usize),
    ) -> impl Future<Output = Result<CorrelatedOts>> {
        let _ = (counts, made);
        std::future::ready(Err(Error::Ended {
            reason: "correlated OTs come from oblivious transfer alone; choose it as the origin of correlations".into(),
        }))
    }

    /// The offset of the correlated OTs that this party sends: odd, secret, one for the whole job. `None`
    /// where the source makes no OTs.
    fn offset(&self) -> Option<Block> {
        None
    }
}

/// Makes every kind by oblivious transfer between all pairs of parties, over an [`Extension`] of one's
/// choice, and needs to trust nobody.
///
/// The base OTs are run once; each group of kinds (Boolean triples; ring triples, square pairs and
/// shared bits of every width; matrix triples; vector triples) starts extensions of its own from them
/// when it is first asked for. [`OtCosts`] knows what all of it costs.
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
    pub async fn with_threads(
        context: &Context,
        extension: Extension,
        threads: usize,
    ) -> Result<Self> {
        assert!(
            (1..=MAX_THREADS).contains(&threads),
            "a source computes on 1 to {MAX_THREADS} threads"
        );
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

impl BitTripleSource for OtSource {
    async fn bit_triples(&mut self, count: usize, made: &dyn Fn(usize)) -> Result<BitTriples> {
        self.context.tally("bit triples", &[count]);
        let work = async |line: &mut Line, count, made: &dyn Fn(usize)| {
            line.bit_triples(count, made).await
        };
        let parts = self.lines.run(count, 1, made, work).await?;
        Ok(BitTriples::concat(parts))
    }

    async fn bit_triples_as_made(
        &mut self,
        count: usize,
        made: &dyn Fn(usize),
        hand: &Hand,
    ) -> Result<()> {
        self.context.tally("bit triples", &[count]);
        self.lines.bit_triples_as_made(count, made, hand).await
    }
}

impl Source for OtSource {
    async fn ring_triples<T: Ring>(
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

    async fn square_pairs<T: Ring>(
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

    async fn shared_bits<T: Ring>(
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

    async fn product_triples<T: Ring>(
        &mut self,
        one: impl Into<Tripled>,
        count: usize,
        made: &dyn Fn(usize),
    ) -> Result<Vec<ProductTriple<T>>> {
        let one = one.into();
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

    async fn vector_triples(
        &mut self,
        length: usize,
        count: usize,
        made: &dyn Fn(usize),
    ) -> Result<VectorTriples> {
        self.context.tally("vector triples", &[count, length]);
        let work = async move |line: &mut Line, count, made: &dyn Fn(usize)| {
            line.vector_triples(length, count, made).await
        };
        let ots = vector_ots(length);
        let parts = self.lines.run(count, ots, made, work).await?;
        Ok(VectorTriples::concat(length, parts))
    }

    async fn correlated_ots(
        &mut self,
        counts: &[(Direction, usize)],
        made: &dyn Fn(usize),
    ) -> Result<CorrelatedOts> {
        let tally = |&((from, to), count): &(Direction, usize)| [from.index(), to.index(), count];
        let tally: Vec<usize> = counts.iter().flat_map(tally).collect();
        self.context.tally("correlated OTs", &tally);
        let longest = RowsLayout::longest(counts);
        let counts: Arc<[(Direction, usize)]> = counts.into();
        let parts = self.lines.correlated_ots(longest, counts, made).await?;
        Ok(CorrelatedOts::concat(parts))
    }

    fn offset(&self) -> Option<Block> {
        Some(self.lines.offset())
    }
}

/// OTs that the work for a vector triple is worth: its masks are stretched.
fn vector_ots(length: usize) -> usize {
    8 + length / 128
}

/// What an [`OtSource`] costs one party, call by call: asked for the same kinds and counts in the same
/// order, it gives what each call will spend, to the byte. What a group of kinds spends to begin is in
/// its first call.
#[derive(Clone, Debug)]
pub struct OtCosts {
    extension: Extension,
    me: Party,
    parties: usize,
    /// By line, by [`Group`].
    ledgers: Vec<[Ledger; Group::COUNT]>,
    encrypted: Option<EncryptedCosts>,
}

impl OtCosts {
    /// Those of a new source with `extension`, for `me` of `parties` parties.
    pub fn new(extension: Extension, me: Party, parties: usize) -> Self {
        Self::with_threads(extension, 1, me, parties)
    }

    /// Those of [`OtSource::with_threads`].
    pub fn with_threads(extension: Extension, threads: usize, me: Party, parties: usize) -> Self {
        let ledgers = || std::array::from_fn(|_| Ledger::new(extension, me, parties));
        Self {
            extension,
            me,
            parties,
            ledgers: (0..threads).map(|_| ledgers()).collect(),
            encrypted: None,
        }
    }

    /// Those of [`OtSource::with_lattice_matrices`].
    #[must_use]
    pub fn with_lattice_matrices(self) -> Self {
        Self {
            encrypted: Some(EncryptedCosts::default()),
            ..self
        }
    }

    /// Cost of [`OtSource::new`].
    pub fn base(&self) -> PhaseCost {
        base_cost(self.parties)
    }

    /// What [`OtSource::new`] computes beside AES blocks: with each peer, base OTs in both directions.
    pub(crate) fn base_work(&self) -> Work {
        Work {
            base_ots: 2.0 * (KAPPA * (self.parties - 1)) as f64,
            ..Work::default()
        }
    }

    /// What calls for Boolean triples compute beside AES blocks, `count` triples together.
    pub(crate) fn bit_triples_work(&self, count: u64) -> Work {
        let lines = portions(self.extension, count as usize, 1, self.ledgers.len()).len();
        bit_triple_work(self.extension, count, lines).times((self.parties - 1) as f64)
    }

    /// The same for what `needs` takes, matrices by encryption priced as the OTs that take as long.
    pub(crate) fn work(&self, needs: &Needs) -> Work {
        let (mut triples, mut transforms) = (0, 0);
        for (kind, count) in needs.kinds() {
            let encrypted = match kind.product() {
                Some((width, one)) if self.encrypted.is_some() => matrices::transforms(width, one),
                _ => None,
            };
            match encrypted {
                Some(each) => transforms += each * count as u64,
                None => triples += in_bit_triples(kind) * count as u64,
            }
        }
        let mut work = self.bit_triples_work(triples);
        work.extended_ots += transforms as f64 * OF_TRANSFORM * (self.parties - 1) as f64;
        work
    }

    pub(crate) fn parties(&self) -> usize {
        self.parties
    }

    pub(crate) fn threads(&self) -> usize {
        self.ledgers.len()
    }

    /// A call for `count` items of this many OTs each, of which `layout` says the cost of some.
    fn call<L: Layout>(
        &mut self,
        group: Group,
        count: usize,
        ots: usize,
        layout: impl Fn(usize) -> L,
    ) -> PhaseCost {
        self.calls(group, count, ots, layout, 1)
    }

    /// So many such calls; several only when all lines that they take have begun.
    fn calls<L: Layout>(
        &mut self,
        group: Group,
        count: usize,
        ots: usize,
        layout: impl Fn(usize) -> L,
        times: u64,
    ) -> PhaseCost {
        let portions = portions(self.extension, count, ots, self.ledgers.len());
        let lines = self.ledgers.iter_mut().zip(portions);
        beside(lines.map(|(line, count)| line[group as usize].calls(&layout(count), times)))
    }

    /// Cost of [`bit_triples`](BitTripleSource::bit_triples): for each peer an OT each way, and a bit
    /// to each peer but one. One round for two parties, else two.
    pub fn bit_triples(&mut self, count: usize) -> PhaseCost {
        self.bit_triples_times(count, 1)
    }

    /// Cost of so many calls of [`bit_triples`](BitTripleSource::bit_triples), one after the other, by
    /// arithmetic: it takes no longer for many.
    pub fn bit_triples_times(&mut self, count: usize, times: u64) -> PhaseCost {
        let parties = self.parties;
        let layout = |count| BitLayout { parties, count };
        // The first call is by itself: lines may begin in it.
        let mut total = PhaseCost::default();
        for times in [times.min(1), times.saturating_sub(1)] {
            total += self.calls(Group::Bits, count, 1, layout, times);
        }
        total
    }

    /// Cost of [`ring_triples`](Source::ring_triples): for each peer l OTs and l (l + 1) / 2 bits each
    /// way, per triple. Two rounds; with silent OT one for two parties, else three.
    pub fn ring_triples<T: Ring>(&mut self, count: usize) -> PhaseCost {
        let parties = self.parties;
        let layout = |count| rings::triples_layout::<T>(parties, count);
        self.call(Group::Rings, count, T::BITS, layout)
    }

    /// Cost of [`square_pairs`](Source::square_pairs): for each peer l - 1 OTs, half of them each way,
    /// with l (l - 1) / 2 bits, per pair. Rounds as for triples.
    pub fn square_pairs<T: Ring>(&mut self, count: usize) -> PhaseCost {
        let parties = self.parties;
        let layout = |count| rings::squares_layout::<T>(parties, count);
        self.call(Group::Rings, count, T::BITS, layout)
    }

    /// Cost of [`shared_bits`](Source::shared_bits): for each peer an OT, half of them each way, with
    /// l - 1 bits, per bit (their number is rounded up to a multiple of N). N rounds; with silent OT one
    /// for two parties, else N + 1.
    pub fn shared_bits<T: Ring>(&mut self, count: usize) -> PhaseCost {
        let parties = self.parties;
        let layout = |count| ChainLayout::new::<T>(parties, count);
        self.call(Group::Rings, count, 1, layout)
    }

    /// Cost of [`matrix_triple`](Source::matrix_triple): with p = min(m, n), q = max(m, n), to each
    /// peer p k l OTs, and as many strings of q elements that take half their bytes. Two rounds. By
    /// encryption: what [`madrigal_lattice::Layout`] says, each way with each peer; two rounds for
    /// requests of about 26 MB.
    pub fn matrix_triple<T: Ring>(&mut self, shape: MatrixShape) -> PhaseCost {
        self.matrix_triples::<T>(shape, 1)
    }

    /// Cost of [`matrix_triples`](Source::matrix_triples): that of as many, but two rounds for all of them.
    /// By encryption, requests of about 26 MB go together.
    pub fn matrix_triples<T: Ring>(&mut self, shape: MatrixShape, count: usize) -> PhaseCost {
        self.product_triples::<T>(Product::Matrices(1, shape), count)
    }

    /// Cost of [`product_triples`](Source::product_triples), of convolutions by OT as of the matrices that they
    /// [are](Product::pieces).
    pub fn product_triples<T: Ring>(&mut self, one: impl Into<Tripled>, count: usize) -> PhaseCost {
        let one = one.into();
        if let Some(encrypted) = self.encrypted.as_mut().filter(|_| matrices::serves::<T>()) {
            return encrypted.triples::<T>((self.me, self.parties), one, count);
        }
        let layout = MatrixLayout::new::<T>(self.me, one, count);
        self.call(Group::Matrices, 1, 1, |_| layout)
    }

    /// Cost of [`vector_triples`](Source::vector_triples): an OT with each peer and the bytes of a
    /// vector to all peers but one, per triple. One round for two parties, else two.
    pub fn vector_triples(&mut self, length: usize, count: usize) -> PhaseCost {
        self.call(Group::Vectors, count, vector_ots(length), |count| {
            VectorLayout { length, count }
        })
    }

    /// Cost of [`correlated_ots`](Source::correlated_ots): an OT each, without hashes. One round; two
    /// with silent OT in the first call.
    pub fn correlated_ots(&mut self, counts: &[(Direction, usize)]) -> PhaseCost {
        let longest = RowsLayout::longest(counts);
        let counts: Arc<[(Direction, usize)]> = counts.into();
        let (me, lines) = (self.me, self.ledgers.len());
        let ranges = ranges(self.extension, longest, 1, lines);
        let lines = self.ledgers.iter_mut().zip(ranges);
        beside(lines.map(|(line, portion)| {
            line[Group::Rows as usize].calls(&RowsLayout::new(me, &counts, portion), 1)
        }))
    }
}

/// As many Boolean triples as take about as many OTs as one item.
fn in_bit_triples(kind: Kind) -> u64 {
    match kind {
        Kind::BitTriples | Kind::VectorTriples { .. } | Kind::CorrelatedOts { .. } => 1,
        Kind::RingTriples(width) | Kind::SquarePairs(width) | Kind::SharedBits(width) => {
            width.bits() as u64
        }
        Kind::MatrixTriples(width, shape) => (width.bits() * shape.rows * shape.inner) as u64,
        Kind::ConvolutionTriples(width, convolution) => {
            let shape = convolution.matrices();
            let entries = shape.rows.min(shape.columns) * shape.inner;
            (width.bits() * convolution.groups * entries) as u64
        }
        // One way instead of both.
        Kind::SplitMatrixTriples(width, shape, _) => {
            in_bit_triples(Kind::MatrixTriples(width, shape)).div_ceil(2)
        }
        Kind::SplitConvolutionTriples(width, convolution, _) => {
            in_bit_triples(Kind::ConvolutionTriples(width, convolution)).div_ceil(2)
        }
    }
}

/// OTs that are extended in the time of a [transform](madrigal_lattice::Layout::transforms): measured on a core with
/// AVX-512, by networks whose setup is little else.
const OF_TRANSFORM: f64 = 12_500.0;
