//! The stock that holds just what a computation needs, and gives out each item once.

use std::future::poll_fn;
use std::task::Poll;

use madrigal_core::{MatrixShape, Party, Product, Ring, Zeroizing};
use madrigal_kernels::Block;
use madrigal_net::Result;

use crate::bit_shares::SharedBits;
use crate::bit_triples::BitTriples;
use crate::chosen_numbers::ChosenNumbers;
use crate::correlated::CorrelatedOts;
use crate::kind::Kind;
use crate::needs::{Needs, calls};
use crate::product_triples::{ProductTriple, ProductTriples, Tripled};
use crate::ring_triples::{RingTriples, SquarePairs};
use crate::shares::{AnyShares, Shares, enough};
use crate::source::Source;
use crate::vector_triples::VectorTriples;
use crate::width::Width;

/// Correlations that a source made for some [`Needs`]: each item is handed out once.
#[derive(Default)]
pub struct Stock {
    /// Shares of each kind, of which there are few.
    shares: Vec<(Kind, AnyShares)>,
    correlated_ots: CorrelatedOts,
    offset: Option<Zeroizing<Block>>,
    steps: Option<Box<dyn Steps>>,
}

/// Where the Boolean triples of later steps come from, for work that begins before all of them are there.
pub trait Steps: Send {
    /// Gives those of the next step, when they are there.
    ///
    /// # Errors
    /// [`Error`](madrigal_net::Error) of the source that makes them.
    fn poll_next(&mut self, waiting: &mut std::task::Context<'_>) -> Poll<Result<BitTriples>>;
}

impl std::fmt::Debug for Stock {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let left = self.shares.iter();
        let left = left.map(|(kind, shares)| format!("{kind}={}", shares.left()));
        let left: Vec<_> = left.collect();
        write!(f, "Stock({})", left.join(","))
    }
}

impl Stock {
    /// Has `source` make exactly `needs`, kind after kind in a fixed order; all parties have the same
    /// needs. `made` hears, as it goes, how many more items of any kind are done.
    ///
    /// # Errors
    /// [`Error`](madrigal_net::Error) of the source.
    pub async fn fill(
        source: &mut impl Source,
        needs: &Needs,
        made: &dyn Fn(usize),
    ) -> Result<Self> {
        let mut stock = Self::empty();
        let mut wanted = Vec::new();
        for (kind, count) in needs.kinds() {
            match (kind, kind.product()) {
                // All directions at once, at the end.
                (Kind::CorrelatedOts { .. }, _) => {}
                (_, Some(_)) => wanted.extend(calls(kind, count).map(|count| (kind, count))),
                _ => stock.put(kind, source.items(kind, count, made).await?),
            }
        }
        let mut products: Vec<(Kind, Vec<AnyShares>)> = Vec::new();
        let triples = match wanted.is_empty() {
            true => Vec::new(),
            false => source.products(&wanted, made).await?,
        };
        for ((kind, _), shares) in wanted.iter().zip(triples) {
            match products.last_mut() {
                Some((known, parts)) if known == kind => parts.push(shares),
                _ => products.push((*kind, vec![shares])),
            }
        }
        for (kind, parts) in products {
            stock.put(kind, AnyShares::concat(parts));
        }
        let correlated = needs.all_correlated_ots();
        if !correlated.is_empty() {
            stock.correlated_ots = source.correlated_ots(&correlated, made).await?;
        }
        stock.offset = source.offset().map(Zeroizing::new);
        Ok(stock)
    }

    /// Makes a stock of nothing at all.
    pub fn empty() -> Self {
        Self::default()
    }

    /// Takes what `needs` says of what is left, as a stock of `me`'s own.
    ///
    /// # Panics
    /// If there is less: then something was not registered.
    #[must_use]
    pub fn take(&mut self, needs: &Needs, me: Party) -> Self {
        let mut stock = Self::empty();
        for (kind, count) in needs.kinds() {
            if let Kind::CorrelatedOts { .. } = kind {
                continue;
            }
            let shares = self.left(kind).expect("what is taken was registered");
            stock.put(kind, shares.split_front(count));
        }
        let correlated = needs.all_correlated_ots();
        stock.correlated_ots = self.correlated_ots.split_front(correlated, me);
        stock.offset = self.offset.clone();
        stock
    }

    /// Puts Boolean triples in place of those that are there.
    pub fn set_bit_triples(&mut self, triples: BitTriples) {
        self.put(Kind::BitTriples, AnyShares::new(triples));
    }

    fn left(&mut self, kind: Kind) -> Option<&mut AnyShares> {
        let mut found = self.shares.iter_mut().filter(|(known, _)| *known == kind);
        found.next().map(|(_, shares)| shares)
    }

    fn put(&mut self, kind: Kind, shares: AnyShares) {
        match self.left(kind) {
            Some(place) => *place = shares,
            None => {
                self.shares.reserve_exact(1);
                self.shares.push((kind, shares));
            }
        }
    }

    /// From now on [`next_step`](Self::next_step) waits for these.
    pub fn set_steps(&mut self, steps: Box<dyn Steps>) {
        self.steps = Some(steps);
    }

    /// Waits for the Boolean triples of the next step; those of the one before are used up. Nothing happens
    /// where all of them are there from the beginning.
    ///
    /// # Errors
    /// [`Error`](madrigal_net::Error) of the source that makes them.
    pub async fn next_step(&mut self) -> Result<()> {
        if let Some(steps) = &mut self.steps {
            let triples = poll_fn(|waiting| steps.poll_next(waiting)).await?;
            self.set_bit_triples(triples);
        }
        Ok(())
    }

    /// Takes the first `count` items that are left of a kind, whose shares have the type `S`.
    ///
    /// # Errors
    /// [`Error::Short`](madrigal_net::Error::Short) if there are fewer: then something was not registered. So do all
    /// methods below.
    ///
    /// # Panics
    /// If shares of the kind have another type.
    pub fn items<S: Shares>(&mut self, kind: Kind, count: usize) -> Result<S> {
        let shares = self.left(kind);
        let left = shares.as_ref().map_or(0, |shares| shares.left());
        enough(kind, count, left)?;
        Ok(match shares {
            Some(shares) => shares.get_mut::<S>().split_front(count),
            None => kind.shares(Vec::new(), 0).typed(),
        })
    }

    /// Takes Boolean triples.
    ///
    /// # Errors
    /// [`Error::Short`](madrigal_net::Error::Short).
    pub fn bit_triples(&mut self, count: usize) -> Result<BitTriples> {
        self.items(Kind::BitTriples, count)
    }

    /// Borrows all Boolean triples that are left, to take some of.
    pub fn bit_triples_left(&mut self) -> &mut BitTriples {
        let known = (self.shares.iter()).position(|(kind, _)| *kind == Kind::BitTriples);
        let place = known.unwrap_or_else(|| {
            self.set_bit_triples(BitTriples::none());
            self.shares.len() - 1
        });
        self.shares[place].1.get_mut()
    }

    /// Takes vector triples of vectors of `length` bits.
    ///
    /// # Errors
    /// [`Error::Short`](madrigal_net::Error::Short).
    pub fn vector_triples(&mut self, length: usize, count: usize) -> Result<VectorTriples> {
        self.items(Kind::VectorTriples { length }, count)
    }

    /// Takes triples over Z_2^l.
    ///
    /// # Errors
    /// [`Error::Short`](madrigal_net::Error::Short).
    pub fn ring_triples<T: Ring>(&mut self, count: usize) -> Result<RingTriples<T>> {
        self.items(Kind::RingTriples(Width::of::<T>()), count)
    }

    /// Takes square pairs over Z_2^l.
    ///
    /// # Errors
    /// [`Error::Short`](madrigal_net::Error::Short).
    pub fn square_pairs<T: Ring>(&mut self, count: usize) -> Result<SquarePairs<T>> {
        self.items(Kind::SquarePairs(Width::of::<T>()), count)
    }

    /// Takes shared bits over Z_2^l.
    ///
    /// # Errors
    /// [`Error::Short`](madrigal_net::Error::Short).
    pub fn shared_bits<T: Ring>(&mut self, count: usize) -> Result<SharedBits<T>> {
        self.items(Kind::SharedBits(Width::of::<T>()), count)
    }

    /// Takes bits beside their products with numbers over Z_2^l that `owner` knows.
    ///
    /// # Errors
    /// [`Error::Short`](madrigal_net::Error::Short).
    pub fn chosen_numbers<T: Ring>(
        &mut self,
        owner: Party,
        count: usize,
    ) -> Result<ChosenNumbers<T>> {
        self.items(Kind::ChosenNumbers(Width::of::<T>(), owner), count)
    }

    /// Takes a matrix triple over Z_2^l.
    ///
    /// # Errors
    /// [`Error::Short`](madrigal_net::Error::Short).
    pub fn matrix_triple<T: Ring>(&mut self, shape: MatrixShape) -> Result<ProductTriple<T>> {
        self.product_triple(Product::Matrices(1, shape))
    }

    /// Takes a triple of a product over Z_2^l: of several pairs of matrices, one of all of them.
    ///
    /// # Errors
    /// [`Error::Short`](madrigal_net::Error::Short).
    pub fn product_triple<T: Ring>(
        &mut self,
        product: impl Into<Tripled>,
    ) -> Result<ProductTriple<T>> {
        let tripled = product.into();
        let (kind, count) = Kind::of_product(Width::of::<T>(), tripled);
        let triples = self.items::<ProductTriples<T>>(kind, count)?;
        Ok(ProductTriple::beside(tripled.product, triples.into_vec()))
    }

    /// Borrows the correlated OTs with all peers, to take some of.
    pub fn correlated_ots(&mut self) -> &mut CorrelatedOts {
        &mut self.correlated_ots
    }

    /// Gives a stock of nothing but the offset.
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

    /// Gives the offset of those OTs that this party sends, if they come from a source that has one.
    pub fn offset(&self) -> Option<&Block> {
        self.offset.as_deref()
    }
}
