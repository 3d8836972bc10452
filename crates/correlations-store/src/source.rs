//! Items that a job has reserved, handed out in order.

use std::collections::BTreeMap;
use std::ops::Range;
use std::sync::Arc;

use futures_util::future::LocalBoxFuture;
use madrigal_core::PhaseCost;
use madrigal_correlations::{Kind, Maker, Needs, Strings, reserve_cost};
use madrigal_net::{Context, Result, breathe};

use crate::chunks::Reader;
use crate::error::StoreError;
use crate::opened::Opened;

/// The items of a store that one job has reserved; see [`Store::reserve`](crate::Store::reserve).
pub struct StoreSource {
    context: Context,
    kinds: BTreeMap<Kind, ReservedItems>,
    /// Keeps the store locked.
    _opened: Arc<Opened>,
}

struct ReservedItems {
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
    pub(crate) fn new(
        context: Context,
        opened: Arc<Opened>,
        reserved: BTreeMap<Kind, Range<u64>>,
    ) -> Result<Self, StoreError> {
        let own = |(kind, left): (Kind, Range<u64>)| {
            let reader = opened.reader(kind)?;
            Ok((kind, ReservedItems { reader, left }))
        };
        Ok(Self {
            kinds: reserved.into_iter().map(own).collect::<Result<_, _>>()?,
            context,
            _opened: opened,
        })
    }

    /// Cost of [`Store::reserve`](crate::Store::reserve) for one of `parties` parties; handing out
    /// costs nothing more. One round: to each peer the store's id and 8 bytes for each kind that is
    /// needed.
    pub fn cost(parties: usize, needs: &Needs) -> PhaseCost {
        reserve_cost(parties, needs)
    }

    async fn read(&mut self, kind: Kind, count: usize, made: &dyn Fn(usize)) -> Result<Strings> {
        let failed = |error: StoreError| error.fail(&self.context);
        let left = |own: &ReservedItems| own.left.end - own.left.start;
        let reserved = self.kinds.get(&kind).map_or(0, left);
        let (Some(own), true) = (self.kinds.get_mut(&kind), count as u64 <= reserved) else {
            return Err(failed(StoreError::Unreserved {
                kind: Box::new(kind),
                asked: count as u64,
                left: reserved,
            }));
        };
        let items = own.left.start..own.left.start + count as u64;
        // Gone from here on, also if the reading fails or is given up.
        own.left.start = items.end;
        let mut columns = own.reader.room(count);
        let mut at = 0;
        for (chunk, items) in own.reader.pieces(items) {
            let count = (items.end - items.start) as usize;
            own.reader
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
