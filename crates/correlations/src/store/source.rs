//! What a job has reserved, handed out in order.

use std::collections::BTreeMap;
use std::ops::Range;
use std::sync::Arc;

use futures_util::future::LocalBoxFuture;
use madrigal_core::PhaseCost;
use madrigal_net::{Context, Result, breathe};

use super::chunks::Reader;
use super::error::StoreError;
use super::opened::Opened;
use crate::kind::Kind;
use crate::maker::{Maker, Strings};
use crate::needs::Needs;
use crate::store_cost::reserve_cost;

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

    async fn read(&mut self, kind: Kind, count: usize, made: &dyn Fn(usize)) -> Result<Strings> {
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
}

impl Maker for StoreSource {
    fn make<'a>(
        &'a mut self,
        kind: Kind,
        count: usize,
        made: &'a dyn Fn(usize),
    ) -> LocalBoxFuture<'a, Result<Strings>> {
        Box::pin(self.read(kind, count, made))
    }
}
