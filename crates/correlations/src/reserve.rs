//! Correlations that parties have kept from an earlier job: what a job is told of them, and what it costs to agree on
//! which are taken.

use std::fmt;

use futures_util::future::LocalBoxFuture;
use madrigal_core::PhaseCost;
use madrigal_net::{Context, Result};

use crate::maker::Maker;
use crate::needs::Needs;

/// Bytes of a store's id, as they are sent.
pub const ID_BYTES: usize = 32;
/// Bytes of the mark of a kind, as they are sent.
const MARK_BYTES: usize = 8;

/// A keeper of correlations of earlier jobs.
pub trait Reserve: fmt::Debug + Send {
    /// Reserves what a job needs, together with all other parties, who need the same: see [`reserve_cost`].
    ///
    /// # Errors
    /// [`Error`](madrigal_net::Error) of the network; [`Error::Store`](madrigal_net::Error::Store) for all else.
    fn reserve<'a>(
        &'a mut self,
        context: &'a Context,
        needs: &'a Needs,
    ) -> LocalBoxFuture<'a, Result<Box<dyn Maker>>>;
}

/// Means of a party for the sources of a job, besides the other parties. Nothing by default,
/// which is all that oblivious transfer needs; made from an opened store for a job that takes its correlations from
/// stores.
#[derive(Debug, Default)]
pub struct Means<'a> {
    /// Store, without borrowed parts: so a party's means live as long as the shortest of its borrows.
    store: Option<&'a mut (dyn Reserve + 'static)>,
}

impl<'a> Means<'a> {
    /// Brings a store along.
    pub fn of_store(store: &'a mut (dyn Reserve + 'static)) -> Self {
        Self { store: Some(store) }
    }

    /// Says whether a store was brought along.
    pub fn is_some(&self) -> bool {
        self.store.is_some()
    }

    /// Gives the store that was brought along.
    pub fn store(self) -> Option<&'a mut (dyn Reserve + 'static)> {
        self.store
    }
}

/// Gives the cost for one of `parties` parties of reserving `needs`: one round, unless nothing is needed.
pub fn reserve_cost(parties: usize, needs: &Needs) -> PhaseCost {
    if needs.is_empty() {
        return PhaseCost::default();
    }
    exchange_cost(parties, ID_BYTES + MARK_BYTES * needs.kinds().len())
}

/// Gives the cost for one of `parties` parties of a message of `bytes` each way. One round.
pub fn exchange_cost(parties: usize, bytes: usize) -> PhaseCost {
    let peers = parties as u64 - 1;
    PhaseCost {
        rounds: 1,
        bytes_sent: peers * bytes as u64,
        bytes_received: peers * bytes as u64,
        messages: peers,
        aes_blocks: 0,
    }
}
