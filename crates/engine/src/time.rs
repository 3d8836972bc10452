//! How long a plan takes: the bills of its phases, by the model of [`madrigal_core::time`].

use madrigal_circuit::Rows;
use madrigal_core::time::{Bill, Link, Order, Rates, Time, Work};
use madrigal_core::{Party, Phase};
use madrigal_protocols::Opening;

use crate::plan::{Phases, Plan};
use crate::protocol::Protocol;

/// Rounds of a job beside those of its phases: all parties say what they want, that they are done, and
/// hear that all are. Measured at a round trip of a second, where they are all that is left.
const JOB_ROUNDS: u64 = 3;

/// How long one party is expected to take.
#[derive(Clone, Copy, PartialEq, Debug, Default)]
pub struct PlanTime {
    /// Before the inputs are needed.
    pub setup: Time,
    /// From the inputs on.
    pub online: Time,
    /// From the opening of the job to its finish, in seconds.
    pub total: f64,
}

impl PlanTime {
    /// The part of one phase.
    pub fn phase(&self, phase: Phase) -> &Time {
        match phase {
            Phase::Setup => &self.setup,
            Phase::Online => &self.online,
        }
    }
}

impl Plan {
    /// How long `me` is expected to take on a machine with these rates, where every party has such a
    /// machine and such links to all others. It is an estimate: rounds, bytes and AES blocks in it are
    /// exact ([`Plan::cost`]), what they take is a model.
    pub fn time(&self, me: Party, rates: &Rates, link: &Link) -> PlanTime {
        let time = |bill: Bill| bill.time(rates, link);
        let [start, triples] = self.setup_bills(me).map(time);
        let setup = start.then(triples);
        let online = time(self.online_bill(me));
        let phases = match self.phases() {
            Phases::Sequential => setup.total + online.total,
            Phases::Interleaved => self.interleaved(&setup, &online),
        };
        PlanTime {
            setup,
            online,
            total: phases + JOB_ROUNDS as f64 * (link.latency + rates.hop),
        }
    }

    /// The longer phase hides the other one, but for the first part's triples and the last part's
    /// circuits; on one thread both have to be computed all the same.
    fn interleaved(&self, setup: &Time, online: &Time) -> f64 {
        let (longer, shorter) = if setup.total > online.total {
            (setup.total, online.total)
        } else {
            (online.total, setup.total)
        };
        let hidden = longer + shorter / self.parts().len().max(1) as f64;
        hidden.max(setup.computing + online.computing)
    }

    /// The start of the correlations' source, and the triples.
    fn setup_bills(&self, me: Party) -> [Bill; 2] {
        let spec = self.spec();
        let costs = spec.origin.costs(me, spec.parties);
        let needs = self.needs();
        let start = costs.start(&needs);
        let mut triples = self.cost(me).setup;
        triples.rounds -= start.rounds;
        triples.bytes_sent -= start.bytes_sent;
        triples.bytes_received -= start.bytes_received;
        triples.messages -= start.messages;
        triples.aes_blocks -= start.aes_blocks;
        [
            Bill::in_one_chain(start, costs.start_work(&needs), costs.links()),
            Bill {
                cost: triples,
                work: costs.bit_triples_work(self.triples() as u64),
                links: costs.links(),
                threads: costs.threads(),
                order: Order::Stream,
            },
        ]
    }

    fn online_bill(&self, me: Party) -> Bill {
        let spec = self.spec();
        let layered = spec.circuit.layered();
        let peers = spec.parties - 1;
        let links = match (spec.protocol, spec.opening) {
            (Protocol::B, Opening::Direct) => peers,
            (Protocol::B, Opening::Relay) if me.index() == 0 => peers,
            (Protocol::B, Opening::Relay) | (Protocol::R, _) => 1,
        };
        // Rows that are read and written: two and one by a local operation; by an AND those of its
        // operands, of its triple, of what is opened for each party and of the result.
        let rows_per_and = match spec.protocol {
            Protocol::B => 16 + 4 * peers,
            Protocol::R => 12,
        };
        let rows = 3 * spec.protocol.components() * layered.local_count()
            + rows_per_and * layered.and_count();
        Bill {
            cost: self.cost(me).online,
            work: Work {
                row_bytes: rows as f64 * Rows::stride_for(spec.lanes) as f64,
                ..Work::default()
            },
            links,
            threads: spec.threads,
            order: Order::Chains(self.workers().div_ceil(spec.threads)),
        }
    }
}
