//! Operations that each party does by itself.

use std::future::ready;
use std::sync::Arc;

use madrigal_core::Party;
use madrigal_net::Result;

use crate::bill::Bill;
use crate::operation::{Mismatch, Online, Operation, Prepared, Preparing, Turn};
use crate::shares::Shares;
use crate::sort::Sort;

/// An operation that each party does to its own shares, without a message. Every type that has it is an [`Operation`].
///
/// Where labels or masks flow through it, it is [prepared](Operation::prepare) too, by doing to what is known of its
/// inputs what it does to shares.
pub trait Local: Send + Sync {
    /// Names the operation, as [`Operation::name`] does.
    fn name(&self) -> String;

    /// Says what it makes of values of these sorts, among `parties` parties.
    ///
    /// # Errors
    /// [`Mismatch`] where values do not fit.
    fn sorts(&self, inputs: &[Sort], parties: usize) -> Result<Vec<Sort>, Mismatch>;

    /// Says whether it works lane by lane, as [`Operation::is_lane_wise`] does.
    fn is_lane_wise(&self) -> bool {
        true
    }

    /// Counts the bytes of vectors that it reads and writes.
    fn touched(&self, inputs: &[Sort]) -> u64;

    /// Says whether it is done before any input is there.
    fn prepares(&self, inputs: &[Sort]) -> bool {
        inputs.iter().any(|sort| sort.sharing.begins_ahead())
    }

    /// Says whether doing that needs clear values, as [`Operation::needs_clear`] does.
    fn needs_clear(&self) -> bool {
        false
    }

    /// Makes the results of `me`'s shares.
    ///
    /// # Errors
    /// [`Mismatch`] for a value that the operation is not for, where it can tell.
    fn shares(&self, inputs: &[&Shares], me: Party) -> Result<Vec<Shares>, Mismatch>;

    /// Computes in the clear, on values known to all; unless said otherwise it does what it does to shares.
    ///
    /// # Errors
    /// [`Mismatch`] for a value that the operation is not for, where it can tell.
    fn plain(&self, inputs: &[&Shares]) -> Result<Vec<Shares>, Mismatch> {
        self.shares(inputs, Party::new(0))
    }
}

/// Makes the results at the party whose turn it is.
fn made(local: &impl Local, turn: &Turn<'_>, inputs: &[Arc<Shares>]) -> Result<Vec<Shares>> {
    let inputs: Vec<&Shares> = inputs.iter().map(Arc::as_ref).collect();
    let made = local.shares(&inputs, turn.me());
    made.map_err(|problem| turn.refuse(&problem))
}

impl<L: Local> Operation for L {
    fn name(&self) -> String {
        Local::name(self)
    }

    fn sorts(&self, inputs: &[Sort], parties: usize) -> Result<Vec<Sort>, Mismatch> {
        Local::sorts(self, inputs, parties)
    }

    fn is_lane_wise(&self) -> bool {
        Local::is_lane_wise(self)
    }

    fn bill(&self, inputs: &[Sort], bill: &mut Bill) {
        bill.touch(self.touched(inputs));
    }

    fn prepares(&self, inputs: &[Sort]) -> bool {
        Local::prepares(self, inputs)
    }

    fn needs_clear(&self) -> bool {
        Local::needs_clear(self)
    }

    fn prepare<'a>(&'a self, turn: &'a mut Turn<'_>, inputs: Vec<Arc<Shares>>) -> Preparing<'a> {
        let prepared = |results| Prepared {
            results,
            kept: Box::new(()),
        };
        Box::pin(ready(made(self, turn, &inputs).map(prepared)))
    }

    fn online<'a>(&'a self, turn: &'a mut Turn<'_>, inputs: Vec<Arc<Shares>>) -> Online<'a> {
        Box::pin(ready(made(self, turn, &inputs)))
    }

    fn plain(&self, inputs: &[&Shares]) -> Result<Vec<Shares>, Mismatch> {
        Local::plain(self, inputs)
    }
}
