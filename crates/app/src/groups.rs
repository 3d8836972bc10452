//! Tells the cost of parts of a program before it runs: the layers of a network, for example.

use madrigal_core::Party;
use madrigal_core::time::{Link, Rates};
use madrigal_engine::GroupEstimate;
use madrigal_program::Planned;
use serde::Serialize;

use crate::costs::Costs;

/// Costs of a part of a program at the party that has most of each.
#[derive(Debug, Clone, Default, Serialize)]
pub struct Group {
    /// The part's number; none of what belongs to no part.
    pub part: Option<u32>,
    /// Sharings of the part's values.
    pub sharings: Vec<String>,
    /// Costs of the part's correlations, made by themselves, and of what is prepared.
    pub setup: Costs,
    /// Costs of the part online, by itself.
    pub online: Costs,
    /// Payload that each party sends online, exactly.
    pub sent: Vec<u64>,
    /// Bytes of the part's correlations and values: more than are there at once.
    pub memory_bytes: u64,
}

impl Group {
    fn new(part: Option<u32>, estimate: &GroupEstimate) -> Self {
        let sharings = estimate.sharings.iter();
        Self {
            part,
            sharings: sharings.map(ToString::to_string).collect(),
            setup: Costs::new(&estimate.setup, Some(estimate.setup_time.total)),
            online: Costs::new(&estimate.online, Some(estimate.online_time.total)),
            sent: vec![estimate.online.bytes_sent],
            memory_bytes: estimate.kept_bytes,
        }
    }

    /// The larger of each, and what both parties send.
    fn most(self, other: Self) -> Self {
        Self {
            setup: self.setup.most(other.setup),
            online: self.online.most(other.online),
            sent: [self.sent, other.sent].concat(),
            memory_bytes: self.memory_bytes.max(other.memory_bytes),
            ..self
        }
    }
}

/// Gives the costs of each part of a program, on machines with these rates over such links; what belongs to no part comes
/// first.
pub fn groups(planned: &Planned, rates: &Rates, link: &Link) -> Vec<Group> {
    let of = |party| {
        let part = |operation| planned.executable.part(operation);
        let found = planned.plan.group_estimates(party, rates, link, part);
        let group = |(part, estimate): (&Option<u32>, &GroupEstimate)| Group::new(*part, estimate);
        found.iter().map(group).collect::<Vec<_>>()
    };
    let most = |one: Vec<Group>, other: Vec<Group>| {
        let both = one.into_iter().zip(other);
        both.map(|(one, other)| one.most(other)).collect()
    };
    let parties = planned.plan.spec().graph.parties();
    Party::all(parties).map(of).reduce(most).unwrap_or_default()
}
