//! What a job has reserved, handed out in order.

use std::collections::BTreeMap;
use std::ops::Range;
use std::sync::Arc;

use madrigal_core::{PhaseCost, Product, Ring};
use madrigal_net::{Context, Result, breathe};
use zeroize::Zeroizing;

use super::chunks::{Columns, Reader};
use super::convert::elements;
use super::error::StoreError;
use super::opened::Opened;
use crate::BitTripleSource;
use crate::bit_triples::BitTriples;
use crate::kind::{Kind, Width};
use crate::matrices::ProductTriple;
use crate::needs::Needs;
use crate::rings::{RingTriples, SquarePairs};
use crate::shared_bits::SharedBits;
use crate::source::Source;
use crate::store_cost::reserve_cost;
use crate::vectors::VectorTriples;

/// The items of a store that one job has reserved; see [`Store::reserve`](super::Store::reserve).
pub struct StoreSource {
    context: Context,
    shelves: BTreeMap<Kind, Shelf>,
    /// Keeps the store locked.
    _opened: Arc<Opened>,
}

struct Shelf {
    reader: Reader,
    /// Reserved and not handed out yet.
    left: Range<u64>,
}

impl std::fmt::Debug for StoreSource {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "StoreSource({:?})", self.context)
    }
}

impl StoreSource {
    pub(super) fn new(
        context: Context,
        opened: Arc<Opened>,
        reserved: BTreeMap<Kind, Range<u64>>,
    ) -> Result<Self, StoreError> {
        let shelf = |(kind, left): (Kind, Range<u64>)| {
            let reader = opened.reader(kind)?;
            Ok((kind, Shelf { reader, left }))
        };
        Ok(Self {
            shelves: reserved.into_iter().map(shelf).collect::<Result<_, _>>()?,
            context,
            _opened: opened,
        })
    }

    /// Cost of [`Store::reserve`](super::Store::reserve) for one of `parties` parties; handing out
    /// costs nothing more. One round: to each peer the store's id and 8 bytes for each kind that is
    /// needed.
    pub fn cost(parties: usize, needs: &Needs) -> PhaseCost {
        reserve_cost(parties, needs)
    }

    async fn read(&mut self, kind: Kind, count: usize, made: &dyn Fn(usize)) -> Result<Columns> {
        let failed = |error: StoreError| error.fail(&self.context);
        let left = |shelf: &Shelf| shelf.left.end - shelf.left.start;
        let reserved = self.shelves.get(&kind).map_or(0, left);
        let (Some(shelf), true) = (self.shelves.get_mut(&kind), count as u64 <= reserved) else {
            return Err(failed(StoreError::Unreserved {
                kind: Box::new(kind),
                asked: count as u64,
                left: reserved,
            }));
        };
        let items = shelf.left.start..shelf.left.start + count as u64;
        // Gone from here on, also if the reading fails or is given up.
        shelf.left.start = items.end;
        let mut columns = shelf.reader.room(count);
        let mut at = 0;
        for (chunk, items) in shelf.reader.pieces(items) {
            let count = (items.end - items.start) as usize;
            shelf
                .reader
                .read((chunk, items), &mut columns, at)
                .map_err(failed)?;
            at += count;
            made(count.saturating_mul(usize::try_from(kind.steps()).unwrap_or(usize::MAX)));
            breathe().await;
        }
        Ok(columns)
    }

    /// The columns of elements of a ring.
    async fn elements<T: Ring, const K: usize>(
        &mut self,
        kind: Kind,
        count: usize,
        made: &dyn Fn(usize),
    ) -> Result<[Zeroizing<Vec<T>>; K]> {
        if count == 0 {
            return Ok(std::array::from_fn(|_| Zeroizing::default()));
        }
        let columns = self.read(kind, count, made).await?;
        Ok(std::array::from_fn(|index| elements(&columns[index])))
    }

    /// The columns as they are kept.
    async fn strings<const K: usize>(
        &mut self,
        kind: Kind,
        count: usize,
        made: &dyn Fn(usize),
    ) -> Result<[Zeroizing<Vec<u8>>; K]> {
        if count == 0 {
            return Ok(std::array::from_fn(|_| Zeroizing::default()));
        }
        let mut columns = self.read(kind, count, made).await?.into_iter();
        Ok(std::array::from_fn(|_| columns.next().unwrap_or_default()))
    }
}

impl BitTripleSource for StoreSource {
    async fn bit_triples(&mut self, count: usize, made: &dyn Fn(usize)) -> Result<BitTriples> {
        let [a, b, c] = self.strings(Kind::BitTriples, count, made).await?;
        Ok(BitTriples::new(a, b, c, count))
    }
}

impl Source for StoreSource {
    async fn ring_triples<T: Ring>(
        &mut self,
        count: usize,
        made: &dyn Fn(usize),
    ) -> Result<RingTriples<T>> {
        let kind = Kind::RingTriples(Width::of::<T>());
        let [a, b, c] = self.elements(kind, count, made).await?;
        Ok(RingTriples::new(a, b, c))
    }

    async fn square_pairs<T: Ring>(
        &mut self,
        count: usize,
        made: &dyn Fn(usize),
    ) -> Result<SquarePairs<T>> {
        let kind = Kind::SquarePairs(Width::of::<T>());
        let [a, c] = self.elements(kind, count, made).await?;
        Ok(SquarePairs::new(a, c))
    }

    async fn shared_bits<T: Ring>(
        &mut self,
        count: usize,
        made: &dyn Fn(usize),
    ) -> Result<SharedBits<T>> {
        let kind = Kind::SharedBits(Width::of::<T>());
        let [b] = self.elements(kind, count, made).await?;
        Ok(SharedBits::new(b))
    }

    async fn product_triples<T: Ring>(
        &mut self,
        one: Product,
        count: usize,
        made: &dyn Fn(usize),
    ) -> Result<Vec<ProductTriple<T>>> {
        let (kind, _) = Kind::of_product(Width::of::<T>(), one);
        let mut triples = Vec::with_capacity(count);
        for _ in 0..count {
            let [a, b, c] = self.elements(kind, 1, made).await?;
            triples.push(ProductTriple::new(one, a, b, c));
        }
        Ok(triples)
    }

    async fn vector_triples(
        &mut self,
        length: usize,
        count: usize,
        made: &dyn Fn(usize),
    ) -> Result<VectorTriples> {
        let kind = Kind::VectorTriples { length };
        let [a, b, c] = self.strings(kind, count, made).await?;
        Ok(VectorTriples::new(length, a, b, c))
    }
}
