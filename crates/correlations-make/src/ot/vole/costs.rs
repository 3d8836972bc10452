//! Costs of an instance.

use madrigal_core::PhaseCost;
use madrigal_kernels::Element;
use madrigal_ot::KAPPA;
use madrigal_ot::cost::{self, Cost};
use madrigal_ot::vole::{VoleParams, mask_elements};

use super::start::Plan;
use super::{Security, pieces};
use crate::ot::base::stream_cost;

/// Costs of one instance of [`VoleKeys`](super::VoleKeys) and [`VoleValues`](super::VoleValues), call by call.
#[derive(Clone, Debug)]
pub struct VoleCosts<V> {
    params: VoleParams<V>,
    elements: u64,
    security: Security,
    made: u64,
}

/// Cost of one call for both sides.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct VoleCost {
    /// Cost for the party that has Delta.
    pub keys: PhaseCost,
    /// Cost for the party that makes values.
    pub values: PhaseCost,
}

impl<V: Element> VoleCosts<V> {
    /// Makes the costs of an instance for about `elements` elements.
    pub fn new(elements: u64, security: Security) -> Self {
        Self {
            params: VoleParams::for_elements(elements),
            elements,
            security,
            made: 0,
        }
    }

    /// Cost of [`VoleKeys::new`](super::VoleKeys::new) and [`VoleValues::new`](super::VoleValues::new).
    pub fn start(&self) -> VoleCost {
        let plan = Plan::<V>::new(self.elements, self.security);
        let rows = plan.rows as u64;
        let base = cost::softspoken_setup(plan.k) + cost::softspoken(plan.k, rows);
        let setup = self.params.setup_cost(&plan.silent);
        let stream = stream_cost(2);
        let first = plan.first_len() as u64;
        let (check, more) = match self.security {
            Security::SemiHonest => (Cost::default(), 0),
            Security::Malicious => (cost::softspoken_check(rows), 1),
        };
        let to_values = check.sender_bytes + plan.shift_len() as u64 + setup.sender_bytes;
        let to_keys = first + check.receiver_bytes;
        VoleCost {
            keys: PhaseCost {
                rounds: 2 + check.rounds,
                bytes_sent: to_values,
                bytes_received: to_keys,
                messages: 1 + more,
                // Two seeds of the sender's own; with the check its seed and that of shifts.
                aes_blocks: stream.aes_blocks
                    + base.sender_aes
                    + check.sender_aes
                    + setup.sender_aes
                    + 2
                    + 2 * more,
            },
            values: PhaseCost {
                rounds: 2 + check.rounds,
                bytes_sent: to_keys,
                bytes_received: to_values,
                messages: 1 + more,
                aes_blocks: stream.aes_blocks
                    + base.receiver_aes
                    + check.receiver_aes
                    + setup.receiver_aes
                    + rows.div_ceil(KAPPA as u64),
            },
        }
    }

    /// Cost of the next call for `m` elements.
    pub fn extend(&mut self, m: usize) -> VoleCost {
        let silent = self.params.silent(self.elements);
        let mut total = VoleCost::default();
        for (range, masked) in pieces(m, self.security) {
            let mask = if masked { mask_elements::<V>() } else { 0 };
            let now = range.len() + mask;
            let one = self.params.cost(&silent, self.made, now);
            let shifts = match self.security {
                Security::SemiHonest => 0,
                Security::Malicious => self.params.groups(self.made, now) as u64,
            };
            total.keys += PhaseCost {
                rounds: 0,
                bytes_sent: one.sender_bytes,
                bytes_received: 0,
                messages: 1,
                aes_blocks: one.sender_aes + shifts,
            };
            total.values += PhaseCost {
                rounds: 0,
                bytes_sent: 0,
                bytes_received: one.sender_bytes,
                messages: 0,
                aes_blocks: one.receiver_aes + shifts,
            };
            self.made += now as u64;
        }
        total
    }

    /// Cost of [`VoleValues::challenge`](super::VoleValues::challenge) and [`VoleKeys::answer`](super::VoleKeys::answer) for `m` elements: work alone, since the caller sends
    /// their bytes.
    pub fn check(&self, m: usize) -> VoleCost {
        let aes_blocks = |aes_blocks: u64| PhaseCost {
            aes_blocks,
            ..PhaseCost::default()
        };
        VoleCost {
            keys: aes_blocks(m as u64),
            // And the seed.
            values: aes_blocks(m as u64 + 1),
        }
    }
}
