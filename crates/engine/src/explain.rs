//! Estimates of operations of a plan, one by one: cost and time.

use madrigal_core::time::{Bill, Link, Order, Rates, Time};
use madrigal_core::{Party, PhaseCost};
use madrigal_correlations::Needs;

use crate::plan::{OperationCost, Plan};
use crate::price::Spending;

/// One operation's part of a plan, with times.
#[derive(Debug, Clone)]
pub struct OperationEstimate {
    /// Exact, but for rounds: those of the operation by itself, of which operations side by side share
    /// some.
    pub cost: OperationCost,
    /// Blocks of elements that it is done in.
    pub blocks: usize,
    /// Cost of its correlations, made by themselves, and of preparing it: bytes, messages and AES blocks add up to those of
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
    /// Estimates what each operation costs `me`, and how long it takes on a machine with these rates over such links,
    /// in the order of the graph, inputs left out. An estimate: what operations take together is
    /// [`Plan::time`], in which they overlap.
    pub fn estimates(&self, me: Party, rates: &Rates, link: &Link) -> Vec<OperationEstimate> {
        let spec = self.spec();
        let mut work = vec![Blocks::default(); spec.graph.len()];
        let under_way = self.blocks_under_way().max(1) as u64;
        for (node, price, blocks) in self.prices() {
            let work = &mut work[node];
            work.count += blocks;
            // Blocks are side by side, each on a thread; a whole value has all of them to itself.
            work.threads = work.count.max(price.threads).min(spec.threads);
            work.ahead.add(&Spending::of(&price.setup, me), blocks);
            work.online.add(&Spending::of(&price.online, me), blocks);
        }
        let operations = self.operations(me).into_iter().zip(work);
        let made = operations.filter(|(cost, _)| cost.name.is_some());
        made.map(|(mut cost, mut work)| {
            // Blocks that cannot be under way at once wait for each other.
            let waves = (work.count as u64).div_ceil(under_way).max(1);
            let threads = work.threads;
            let [ahead_time, online_time] = [&mut work.ahead, &mut work.online].map(|spending| {
                spending.cost.rounds *= waves;
                spending.time(threads, rates, link)
            });
            (cost.ahead, cost.online) = (work.ahead.cost, work.online.cost);
            let (correlations, made) = self.correlations(me, &cost.needs, rates, link);
            OperationEstimate {
                blocks: work.count,
                setup: correlations + cost.ahead,
                setup_time: made.then(ahead_time),
                ahead_time,
                online_time,
                cost,
            }
        })
        .collect()
    }

    /// Cost of correlations, made by themselves, and the time that takes.
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
            threads: costs.threads(needs),
            order: Order::Stream,
        };
        (setup, bill.time(rates, link))
    }
}

/// All blocks of one operation.
#[derive(Clone, Default)]
struct Blocks {
    count: usize,
    threads: usize,
    ahead: Spending,
    online: Spending,
}
