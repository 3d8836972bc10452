//! What a computation needs of every kind of correlation, and the stock that holds just that.

use std::collections::BTreeMap;
use std::future::poll_fn;
use std::ops::AddAssign;
use std::task::Poll;

use madrigal_core::{Party, PhaseCost, Product, Ring, Zeroizing};
use madrigal_kernels::Block;
use madrigal_net::{Error, Result};

use crate::bit_triples::BitTriples;
use crate::correlated::{CorrelatedOts, Direction};
use crate::extension::Extension;
use crate::kind::{Kind, Width, with_ring};
use crate::matrices::{MatrixShape, ProductTriple, Tripled};
use crate::ot_costs::OtCosts;
use crate::rings::{RingTriples, SquarePairs};
use crate::shared_bits::SharedBits;
use crate::source::Source;
use crate::vectors::VectorTriples;

/// Exact numbers of correlations. Operations register theirs when a plan is made; the sum is what a
/// [`Stock`] is filled with.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Needs {
    bit_triples: usize,
    /// By the length of the vectors in bits.
    vector_triples: BTreeMap<usize, usize>,
    /// By the width of the ring in bits.
    rings: BTreeMap<usize, RingNeeds>,
    correlated_ots: BTreeMap<Direction, usize>,
}

/// The needs of one ring.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
struct RingNeeds {
    triples: usize,
    squares: usize,
    bits: usize,
    /// By the product that one triple is of ([`Tripled::alike`]).
    products: BTreeMap<Tripled, usize>,
}

impl Needs {
    /// Nothing yet.
    pub fn new() -> Self {
        Self::default()
    }

    /// Registers `count` Boolean triples.
    pub fn bit_triples(&mut self, count: usize) {
        self.bit_triples += count;
    }

    /// Registers `count` vector triples of vectors of `length` bits.
    pub fn vector_triples(&mut self, length: usize, count: usize) {
        if count > 0 {
            *self.vector_triples.entry(length).or_default() += count;
        }
    }

    /// Registers `count` triples over Z_2^l.
    pub fn ring_triples<T: Ring>(&mut self, count: usize) {
        self.ring::<T>(count, |ring| ring.triples += count);
    }

    /// Registers `count` square pairs over Z_2^l.
    pub fn square_pairs<T: Ring>(&mut self, count: usize) {
        self.ring::<T>(count, |ring| ring.squares += count);
    }

    /// Registers `count` shared bits over Z_2^l.
    pub fn shared_bits<T: Ring>(&mut self, count: usize) {
        self.ring::<T>(count, |ring| ring.bits += count);
    }

    /// Registers `count` matrix triples of one shape over Z_2^l.
    pub fn matrix_triples<T: Ring>(&mut self, shape: MatrixShape, count: usize) {
        self.product_triples::<T>(Product::Matrices(count, shape));
    }

    /// Registers what a product takes: a triple of a convolution, or one for each pair of matrices.
    pub fn product_triples<T: Ring>(&mut self, product: impl Into<Tripled>) {
        let (count, one) = product.into().alike();
        self.ring::<T>(count, |ring| {
            *ring.products.entry(one).or_default() += count;
        });
    }

    /// Registers `count` correlated OTs.
    pub fn correlated_ots(&mut self, sender: Party, receiver: Party, count: usize) {
        if count > 0 {
            *self.correlated_ots.entry((sender, receiver)).or_default() += count;
        }
    }

    /// The same without Boolean triples.
    #[must_use]
    pub fn without_bit_triples(&self) -> Self {
        Self {
            bit_triples: 0,
            ..self.clone()
        }
    }

    /// All correlated OTs, by direction, in order.
    pub fn all_correlated_ots(&self) -> Vec<(Direction, usize)> {
        let counts = self.correlated_ots.iter();
        counts.map(|(&way, &count)| (way, count)).collect()
    }

    fn ring<T: Ring>(&mut self, count: usize, register: impl FnOnce(&mut RingNeeds)) {
        if count > 0 {
            register(self.rings.entry(T::BITS).or_default());
        }
    }

    fn of_ring<T: Ring>(&self) -> RingNeeds {
        self.rings.get(&T::BITS).cloned().unwrap_or_default()
    }

    /// Registers `count` items of a kind.
    pub fn add(&mut self, kind: Kind, count: usize) {
        match kind {
            Kind::BitTriples => self.bit_triples(count),
            Kind::VectorTriples { length } => self.vector_triples(length, count),
            Kind::RingTriples(width) => with_ring!(width, T => self.ring_triples::<T>(count)),
            Kind::SquarePairs(width) => with_ring!(width, T => self.square_pairs::<T>(count)),
            Kind::SharedBits(width) => with_ring!(width, T => self.shared_bits::<T>(count)),
            Kind::MatrixTriples(..)
            | Kind::ConvolutionTriples(..)
            | Kind::SplitMatrixTriples(..)
            | Kind::SplitConvolutionTriples(..) => {
                if let Some((width, one)) = kind.product() {
                    with_ring!(width, T => self.ring::<T>(count, |ring| {
                        *ring.products.entry(one).or_default() += count;
                    }));
                }
            }
            Kind::CorrelatedOts { sender, receiver } => {
                self.correlated_ots(sender, receiver, count);
            }
        }
    }

    /// How many items of a kind are needed.
    pub fn of(&self, kind: Kind) -> usize {
        let ring = |width: Width| self.rings.get(&width.bits());
        match kind {
            Kind::BitTriples => self.bit_triples,
            Kind::VectorTriples { length } => {
                self.vector_triples.get(&length).copied().unwrap_or(0)
            }
            Kind::RingTriples(width) => ring(width).map_or(0, |ring| ring.triples),
            Kind::SquarePairs(width) => ring(width).map_or(0, |ring| ring.squares),
            Kind::SharedBits(width) => ring(width).map_or(0, |ring| ring.bits),
            Kind::MatrixTriples(..)
            | Kind::ConvolutionTriples(..)
            | Kind::SplitMatrixTriples(..)
            | Kind::SplitConvolutionTriples(..) => {
                let wanted = kind.product();
                wanted
                    .and_then(|(width, one)| ring(width)?.products.get(&one).copied())
                    .unwrap_or(0)
            }
            Kind::CorrelatedOts { sender, receiver } => {
                let count = self.correlated_ots.get(&(sender, receiver));
                count.copied().unwrap_or(0)
            }
        }
    }

    /// The kinds of which something is needed, with the numbers of items, in the order in which
    /// [`Stock::fill`] has them made.
    pub fn kinds(&self) -> Vec<(Kind, usize)> {
        let mut all = vec![(Kind::BitTriples, self.bit_triples)];
        for (&length, &count) in &self.vector_triples {
            all.push((Kind::VectorTriples { length }, count));
        }
        for width in Width::ALL {
            let Some(ring) = self.rings.get(&width.bits()) else {
                continue;
            };
            all.push((Kind::RingTriples(width), ring.triples));
            all.push((Kind::SquarePairs(width), ring.squares));
            all.push((Kind::SharedBits(width), ring.bits));
            for (&one, &count) in &ring.products {
                all.push((Kind::of_product(width, one).0, count));
            }
        }
        for (&(sender, receiver), &count) in &self.correlated_ots {
            all.push((Kind::CorrelatedOts { sender, receiver }, count));
        }
        all.retain(|&(_, count)| count > 0);
        all
    }

    /// Whether nothing is needed, not even base OTs.
    pub fn is_empty(&self) -> bool {
        *self == Self::default()
    }

    /// What it costs `me` to fill a stock with this from a new [`OtSource`](crate::OtSource) with that
    /// extension on one thread, base OTs included.
    pub fn ot_cost(&self, extension: Extension, me: Party, parties: usize) -> PhaseCost {
        self.ot_cost_in_batches(OtCosts::new(extension, me, parties), |_| usize::MAX)
    }

    /// The same by the costs of any source, which is called several times for a kind, each time but the
    /// last for as many items as `batch` says.
    pub(crate) fn ot_cost_in_batches(
        &self,
        mut costs: OtCosts,
        batch: impl Fn(Kind) -> usize,
    ) -> PhaseCost {
        if self.is_empty() {
            return PhaseCost::default();
        }
        let mut total = costs.base();
        for (kind, count) in self.kinds() {
            if let Kind::CorrelatedOts { .. } = kind {
                // All directions at once, at the end.
                continue;
            }
            let batch = batch(kind).max(1);
            let mut left = count;
            while left > 0 {
                let now = left.min(batch);
                total += costs.items(kind, now);
                left -= now;
            }
        }
        if !self.correlated_ots.is_empty() {
            total += costs.correlated_ots(&self.all_correlated_ots());
        }
        total
    }
}

impl OtCosts {
    /// Cost of the next call for `count` items of a kind; of triples of products, of as many calls as it takes.
    pub(crate) fn items(&mut self, kind: Kind, count: usize) -> PhaseCost {
        match kind {
            Kind::BitTriples => self.bit_triples(count),
            Kind::VectorTriples { length } => self.vector_triples(length, count),
            Kind::RingTriples(width) => with_ring!(width, T => self.ring_triples::<T>(count)),
            Kind::SquarePairs(width) => with_ring!(width, T => self.square_pairs::<T>(count)),
            Kind::SharedBits(width) => with_ring!(width, T => self.shared_bits::<T>(count)),
            Kind::MatrixTriples(..)
            | Kind::ConvolutionTriples(..)
            | Kind::SplitMatrixTriples(..)
            | Kind::SplitConvolutionTriples(..) => {
                let product = kind.product();
                product.map_or(PhaseCost::default(), |(width, one)| {
                    self.products(width, one, count)
                })
            }
            Kind::CorrelatedOts { sender, receiver } => {
                self.correlated_ots(&[((sender, receiver), count)])
            }
        }
    }

    fn products(&mut self, width: Width, one: Tripled, count: usize) -> PhaseCost {
        let (kind, _) = Kind::of_product(width, one);
        let mut call = |now| with_ring!(width, T => self.product_triples::<T>(one, now));
        calls(kind, count).fold(PhaseCost::default(), |total, now| total + call(now))
    }
}

/// The calls in which a stock has so many items made.
pub(crate) fn calls(kind: Kind, count: usize) -> impl Iterator<Item = usize> {
    let together = match kind.product() {
        Some((width, one)) => products_together(width, one),
        None => count.max(1),
    };
    (0..count)
        .step_by(together)
        .map(move |start| together.min(count - start))
}

/// Bytes of a party's shares of the triples of products that a stock has made in one call.
const TOGETHER: usize = 16 << 20;

/// Triples of products that a stock has made in one call: they are copied when they are there.
pub(crate) fn products_together(width: Width, one: Tripled) -> usize {
    let bits: u128 = Kind::of_product(width, one)
        .0
        .columns()
        .iter()
        .fold(0, |all, &column| all.saturating_add(column));
    usize::try_from(8 * TOGETHER as u128 / bits.max(1)).map_or(1, |fit| fit.max(1))
}

impl AddAssign<&Needs> for Needs {
    fn add_assign(&mut self, other: &Needs) {
        self.bit_triples += other.bit_triples;
        for (&length, &count) in &other.vector_triples {
            self.vector_triples(length, count);
        }
        for (&width, more) in &other.rings {
            let ring = self.rings.entry(width).or_default();
            ring.triples += more.triples;
            ring.squares += more.squares;
            ring.bits += more.bits;
            for (&one, &count) in &more.products {
                *ring.products.entry(one).or_default() += count;
            }
        }
        for (&(sender, receiver), &count) in &other.correlated_ots {
            self.correlated_ots(sender, receiver, count);
        }
    }
}

/// What a source made for some [`Needs`]: each item is handed out once.
pub struct Stock {
    bit_triples: BitTriples,
    vector_triples: BTreeMap<usize, VectorTriples>,
    u8: Shelf<u8>,
    u16: Shelf<u16>,
    u32: Shelf<u32>,
    u64: Shelf<u64>,
    u128: Shelf<u128>,
    correlated_ots: CorrelatedOts,
    offset: Option<Zeroizing<Block>>,
    steps: Option<Box<dyn Steps>>,
}

/// Where the Boolean triples of later steps come from, for work that begins before all of them are there.
pub trait Steps: Send {
    /// Those of the next step, when they are there.
    ///
    /// # Errors
    /// Those of whatever makes them.
    fn poll_next(&mut self, waiting: &mut std::task::Context<'_>) -> Poll<Result<BitTriples>>;
}

/// Why a stock has as much as is taken.
const REGISTERED: &str = "what is taken was registered";

/// The part of a stock that belongs to one ring.
#[doc(hidden)]
pub struct Shelf<T: Ring> {
    triples: RingTriples<T>,
    squares: SquarePairs<T>,
    bits: SharedBits<T>,
    products: BTreeMap<Tripled, Vec<ProductTriple<T>>>,
}

/// A ring that a [`Stock`] has room for: all of them.
pub trait Kept: Ring {
    #[doc(hidden)]
    fn shelf(stock: &mut Stock) -> &mut Shelf<Self>;
}

macro_rules! kept {
    ($($ring:ident)*) => {$(
        impl Kept for $ring {
            fn shelf(stock: &mut Stock) -> &mut Shelf<Self> {
                &mut stock.$ring
            }
        }
    )*};
}
kept!(u8 u16 u32 u64 u128);

impl<T: Ring> Shelf<T> {
    fn empty() -> Self {
        let empty = Zeroizing::default;
        Self {
            triples: RingTriples::new(empty(), empty(), empty()),
            squares: SquarePairs::new(empty(), empty()),
            bits: SharedBits::new(empty()),
            products: BTreeMap::new(),
        }
    }

    /// # Panics
    /// If fewer are left.
    fn take(&mut self, needs: &RingNeeds) -> Self {
        let mut shelf = Self::empty();
        if needs.triples > 0 {
            shelf.triples = self.triples.split_front(needs.triples);
        }
        if needs.squares > 0 {
            shelf.squares = self.squares.split_front(needs.squares);
        }
        if needs.bits > 0 {
            shelf.bits = self.bits.split_front(needs.bits);
        }
        for (&one, &count) in &needs.products {
            let triples = self.take_products(one, count);
            shelf.products.insert(one, triples.expect(REGISTERED));
        }
        shelf
    }

    async fn fill(
        source: &mut impl Source,
        needs: RingNeeds,
        made: &dyn Fn(usize),
    ) -> Result<Self> {
        let mut shelf = Self::empty();
        if needs.triples > 0 {
            shelf.triples = source.ring_triples(needs.triples, made).await?;
        }
        if needs.squares > 0 {
            shelf.squares = source.square_pairs(needs.squares, made).await?;
        }
        if needs.bits > 0 {
            shelf.bits = source.shared_bits(needs.bits, made).await?;
        }
        for (one, count) in needs.products {
            let mut triples = Vec::with_capacity(count);
            let together = products_together(Width::of::<T>(), one);
            while triples.len() < count {
                let now = together.min(count - triples.len());
                triples.append(&mut source.product_triples(one, now, made).await?);
            }
            shelf.products.insert(one, triples);
        }
        Ok(shelf)
    }

    fn take_products(&mut self, one: Tripled, count: usize) -> Result<Vec<ProductTriple<T>>> {
        let all = self.products.get_mut(&one);
        let left = all.as_ref().map_or(0, |all| all.len());
        let kind = || Kind::of_product(Width::of::<T>(), one).0;
        let kept = left.checked_sub(count);
        let kept = kept.ok_or_else(|| short(kind(), count, left))?;
        Ok(all.map(|all| all.split_off(kept)).unwrap_or_default())
    }
}

impl std::fmt::Debug for Stock {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(
            f,
            "Stock({} bit triples and others)",
            self.bit_triples.len()
        )
    }
}

impl Stock {
    /// Has `source` make exactly `needs`, kind after kind in a fixed order; all parties have the same
    /// needs. `made` hears, as it goes, how many more items of any kind are done.
    ///
    /// # Errors
    /// Those of the source.
    pub async fn fill(
        source: &mut impl Source,
        needs: &Needs,
        made: &dyn Fn(usize),
    ) -> Result<Self> {
        let bit_triples = match needs.bit_triples {
            0 => BitTriples::none(),
            count => source.bit_triples(count, made).await?,
        };
        let mut vector_triples = BTreeMap::new();
        for (&length, &count) in &needs.vector_triples {
            let triples = source.vector_triples(length, count, made).await?;
            vector_triples.insert(length, triples);
        }
        Ok(Self {
            bit_triples,
            vector_triples,
            u8: Shelf::fill(source, needs.of_ring::<u8>(), made).await?,
            u16: Shelf::fill(source, needs.of_ring::<u16>(), made).await?,
            u32: Shelf::fill(source, needs.of_ring::<u32>(), made).await?,
            u64: Shelf::fill(source, needs.of_ring::<u64>(), made).await?,
            u128: Shelf::fill(source, needs.of_ring::<u128>(), made).await?,
            correlated_ots: match &needs.all_correlated_ots()[..] {
                [] => CorrelatedOts::default(),
                counts => source.correlated_ots(counts, made).await?,
            },
            offset: source.offset().map(Zeroizing::new),
            steps: None,
        })
    }

    /// Nothing at all.
    pub fn empty() -> Self {
        Self {
            bit_triples: BitTriples::none(),
            vector_triples: BTreeMap::new(),
            u8: Shelf::empty(),
            u16: Shelf::empty(),
            u32: Shelf::empty(),
            u64: Shelf::empty(),
            u128: Shelf::empty(),
            correlated_ots: CorrelatedOts::default(),
            offset: None,
            steps: None,
        }
    }

    /// What `needs` says of what is left, as a stock of `me`'s own.
    ///
    /// # Panics
    /// If there is less.
    #[must_use]
    pub fn take(&mut self, needs: &Needs, me: Party) -> Self {
        let vector_triples = needs.vector_triples.iter();
        let vector_triples = vector_triples
            .map(|(&length, &count)| {
                let triples = self.vector_triples(length, count);
                (length, triples.expect(REGISTERED))
            })
            .collect();
        Self {
            bit_triples: match needs.bit_triples {
                0 => BitTriples::none(),
                count => self.bit_triples.split_front(count),
            },
            vector_triples,
            u8: self.u8.take(&needs.of_ring::<u8>()),
            u16: self.u16.take(&needs.of_ring::<u16>()),
            u32: self.u32.take(&needs.of_ring::<u32>()),
            u64: self.u64.take(&needs.of_ring::<u64>()),
            u128: self.u128.take(&needs.of_ring::<u128>()),
            correlated_ots: self
                .correlated_ots
                .split_front(needs.all_correlated_ots(), me),
            offset: self.offset.clone(),
            steps: None,
        }
    }

    /// Puts Boolean triples in place of those that are there.
    pub fn set_bit_triples(&mut self, triples: BitTriples) {
        self.bit_triples = triples;
    }

    /// From now on [`next_step`](Self::next_step) waits for these.
    pub fn set_steps(&mut self, steps: Box<dyn Steps>) {
        self.steps = Some(steps);
    }

    /// Waits for the Boolean triples of the next step; those of the one before are used up. Nothing happens
    /// where all of them are there from the beginning.
    ///
    /// # Errors
    /// Those of whatever makes them.
    pub async fn next_step(&mut self) -> Result<()> {
        if let Some(steps) = &mut self.steps {
            self.bit_triples = poll_fn(|waiting| steps.poll_next(waiting)).await?;
        }
        Ok(())
    }

    /// The first `count` Boolean triples that are left; so for the kinds below.
    ///
    /// # Errors
    /// [`Error::Short`] if there are fewer: then something was not registered. So do all of these.
    pub fn bit_triples(&mut self, count: usize) -> Result<BitTriples> {
        enough("bit triples", count, self.bit_triples.len())?;
        Ok(self.bit_triples.split_front(count))
    }

    /// All Boolean triples that are left, to take some of.
    pub fn bit_triples_left(&mut self) -> &mut BitTriples {
        &mut self.bit_triples
    }

    /// Vector triples of vectors of `length` bits.
    ///
    /// # Errors
    /// [`Error::Short`].
    pub fn vector_triples(&mut self, length: usize, count: usize) -> Result<VectorTriples> {
        let triples = self.vector_triples.get_mut(&length);
        let left = triples.as_ref().map_or(0, |triples| triples.len());
        match triples {
            Some(triples) if count <= left => Ok(triples.split_front(count)),
            _ => Err(short(Kind::VectorTriples { length }, count, left)),
        }
    }

    /// Triples over Z_2^l.
    ///
    /// # Errors
    /// [`Error::Short`].
    pub fn ring_triples<T: Kept>(&mut self, count: usize) -> Result<RingTriples<T>> {
        let triples = &mut T::shelf(self).triples;
        enough(Kind::RingTriples(Width::of::<T>()), count, triples.len())?;
        Ok(triples.split_front(count))
    }

    /// Square pairs over Z_2^l.
    ///
    /// # Errors
    /// [`Error::Short`].
    pub fn square_pairs<T: Kept>(&mut self, count: usize) -> Result<SquarePairs<T>> {
        let pairs = &mut T::shelf(self).squares;
        enough(Kind::SquarePairs(Width::of::<T>()), count, pairs.len())?;
        Ok(pairs.split_front(count))
    }

    /// Shared bits over Z_2^l.
    ///
    /// # Errors
    /// [`Error::Short`].
    pub fn shared_bits<T: Kept>(&mut self, count: usize) -> Result<SharedBits<T>> {
        let bits = &mut T::shelf(self).bits;
        enough(Kind::SharedBits(Width::of::<T>()), count, bits.len())?;
        Ok(bits.split_front(count))
    }

    /// Correlated OTs with all peers, to take some of.
    pub fn correlated_ots(&mut self) -> &mut CorrelatedOts {
        &mut self.correlated_ots
    }

    /// Nothing but the offset.
    #[must_use]
    pub fn emptied(self) -> Self {
        Self {
            offset: self.offset,
            ..Self::empty()
        }
    }

    /// Takes an offset of the caller's, odd and random, for a job whose source has none.
    pub fn set_offset(&mut self, offset: Block) {
        self.offset = Some(Zeroizing::new(offset));
    }

    /// The offset of those that this party sends, if they come from a source that has one.
    pub fn offset(&self) -> Option<&Block> {
        self.offset.as_deref()
    }

    /// A matrix triple over Z_2^l.
    ///
    /// # Errors
    /// [`Error::Short`].
    pub fn matrix_triple<T: Kept>(&mut self, shape: MatrixShape) -> Result<ProductTriple<T>> {
        self.product_triple(Product::Matrices(1, shape))
    }

    /// A triple of a product over Z_2^l: of several pairs of matrices, one of all of them.
    ///
    /// # Errors
    /// [`Error::Short`].
    pub fn product_triple<T: Kept>(
        &mut self,
        product: impl Into<Tripled>,
    ) -> Result<ProductTriple<T>> {
        let tripled = product.into();
        let (count, one) = tripled.alike();
        let triples = T::shelf(self).take_products(one, count)?;
        Ok(ProductTriple::beside(tripled.product, triples))
    }
}

/// Whether there are so many left.
pub(crate) fn enough(what: impl ToString, wanted: usize, left: usize) -> Result<()> {
    match wanted <= left {
        true => Ok(()),
        false => Err(short(what, wanted, left)),
    }
}

fn short(what: impl ToString, wanted: usize, left: usize) -> Error {
    let what = what.to_string();
    Error::Short { what, wanted, left }
}
