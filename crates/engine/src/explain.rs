//! What each operation of a plan costs, and how long it takes.

use madrigal_core::time::{Bill, Link, Order, Rates, Time};
use madrigal_core::{Party, PhaseCost};
use madrigal_correlations::Needs;

use crate::plan::{OperationCost, Plan};
use crate::schedule::seconds;

/// One operation's part of a plan, with times.
#[derive(Debug, Clone)]
pub struct OperationEstimate {
    /// Exact, but for rounds: those of the operation by itself, of which operations side by side share
    /// some.
    pub cost: OperationCost,
    /// Blocks of elements that it is done in.
    pub blocks: usize,
    /// What its correlations cost, made by themselves, and preparing it: bytes, messages and AES blocks add up to those of
    /// the setup but for its start (base OTs) and for what correlations share where they are made together.
    pub setup: PhaseCost,
    /// How long that takes.
    pub setup_time: Time,
    /// How long preparing it takes of that.
    pub ahead_time: Time,
    /// How long its blocks take, if nothing else is at work.
    pub online_time: Time,
}

impl Plan {
    /// What each operation costs `me`, and how long it takes on a machine with these rates over such links,
    /// in the order of the graph, inputs left out. An estimate: what operations take together is
    /// [`Plan::time`], in which they overlap.
    pub fn estimates(&self, me: Party, rates: &Rates, link: &Link) -> Vec<OperationEstimate> {
        let spec = self.spec();
        let mut work = vec![Online::default(); spec.graph.len()];
        let under_way = self.blocks_under_way().max(1) as u64;
        for (node, price, blocks) in self.prices() {
            let online = &mut work[node];
            online.blocks += blocks;
            online.link_bytes += price.link_bytes[me.index()] * blocks as u64;
            online.row_bytes += price.row_bytes * blocks as u64;
            online.rounds = online.rounds.max(price.costs[me.index()].rounds);
            let ahead = &price.setup;
            online.ahead_rounds = online.ahead_rounds.max(ahead.clock.of(me));
            online.ahead_link_bytes += ahead.link_bytes[me.index()] * blocks as u64;
            online.ahead_row_bytes += ahead.row_bytes * blocks as u64;
        }
        let operations = self.operations(me).into_iter().zip(work);
        let made = operations.filter(|(cost, _)| cost.name.is_some());
        made.map(|(mut cost, online)| {
            // Blocks that cannot be under way at once wait for each other.
            let waves = (online.blocks as u64).div_ceil(under_way).max(1);
            cost.online.rounds = online.rounds * waves;
            cost.ahead.rounds = online.ahead_rounds * waves;
            let online_time = seconds(
                cost.online,
                online.link_bytes,
                online.row_bytes,
                spec.threads,
                rates,
                link,
            );
            let (correlations, made) = self.correlations(me, &cost.needs, rates, link);
            let prepared = seconds(
                cost.ahead,
                online.ahead_link_bytes,
                online.ahead_row_bytes,
                spec.threads,
                rates,
                link,
            );
            OperationEstimate {
                blocks: online.blocks,
                setup: correlations + cost.ahead,
                setup_time: made.then(prepared),
                ahead_time: prepared,
                online_time,
                cost,
            }
        })
        .collect()
    }

    /// What correlations cost, made by themselves, and how long that takes.
    pub(crate) fn correlations(
        &self,
        me: Party,
        needs: &Needs,
        rates: &Rates,
        link: &Link,
    ) -> (PhaseCost, Time) {
        if needs.is_empty() {
            return Default::default();
        }
        let spec = self.spec();
        let mut costs = spec.origin.costs(me, spec.graph.parties());
        costs.start(needs);
        let setup = costs.fill(needs);
        let bill = Bill {
            cost: setup,
            work: costs.work(needs),
            links: costs.links(),
            threads: costs.threads(),
            order: Order::Stream,
        };
        (setup, bill.time(rates, link))
    }
}

/// All blocks of one operation.
#[derive(Clone, Default)]
struct Online {
    blocks: usize,
    rounds: u64,
    link_bytes: u64,
    row_bytes: u64,
    ahead_rounds: u64,
    ahead_link_bytes: u64,
    ahead_row_bytes: u64,
}
