//! What the agreement on a store costs: known to programs without stores too, which plan jobs.

use madrigal_core::PhaseCost;

use crate::needs::Needs;

/// Bytes of a store's id and of a mark, as they are sent.
pub(crate) const ID_BYTES: usize = 32;
const MARK_BYTES: usize = 8;

/// Cost for one of `parties` parties of reserving `needs`: one round, unless nothing is needed.
pub(crate) fn reserve_cost(parties: usize, needs: &Needs) -> PhaseCost {
    if needs.is_empty() {
        return PhaseCost::default();
    }
    exchange_cost(parties, ID_BYTES + MARK_BYTES * needs.kinds().len())
}

/// Cost for one of `parties` parties of a message of `bytes` each way. One round.
pub(crate) fn exchange_cost(parties: usize, bytes: usize) -> PhaseCost {
    let peers = parties as u64 - 1;
    PhaseCost {
        rounds: 1,
        bytes_sent: peers * bytes as u64,
        bytes_received: peers * bytes as u64,
        messages: peers,
        aes_blocks: 0,
    }
}
