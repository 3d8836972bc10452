//! Estimates of operations of a plan that belong together: the layers of a network, for example.

use std::collections::BTreeMap;

use madrigal_core::time::{Link, Rates, Time};
use madrigal_core::{Party, PhaseCost};
use madrigal_correlations::Needs;

use crate::explain::OperationEstimate;
use crate::plan::Plan;
use crate::sort::Sharing;

/// Operations of a plan that belong together, as one party spends for them.
#[derive(Debug, Clone, Default)]
pub struct GroupEstimate {
    /// Number of operations.
    pub operations: usize,
    /// Sharings of their results, each once, in the order in which they come.
    pub sharings: Vec<Sharing>,
    /// The correlations that they use up.
    pub needs: Needs,
    /// Cost of these, made by themselves, and of preparing the operations; rounds are those of correlations, and then of
    /// the longest chain of operations that are prepared one after the other.
    pub setup: PhaseCost,
    /// How long that takes.
    pub setup_time: Time,
    /// Bytes and messages are exact; rounds are those of the longest chain of the group's operations, by themselves.
    pub online: PhaseCost,
    /// How long that takes: all their work, or the longest chain, whichever is longer.
    pub online_time: Time,
    /// Bytes of the correlations, and of all values that the operations make: fewer are there at once.
    pub kept_bytes: u64,
}

/// Longest chain of operations of one group that ends in an operation.
#[derive(Clone, Copy, Default)]
struct Chain {
    ahead_rounds: u64,
    ahead_seconds: f64,
    rounds: u64,
    seconds: f64,
}

impl Chain {
    /// The longer of each.
    fn or(self, other: Self) -> Self {
        Self {
            ahead_rounds: self.ahead_rounds.max(other.ahead_rounds),
            ahead_seconds: self.ahead_seconds.max(other.ahead_seconds),
            rounds: self.rounds.max(other.rounds),
            seconds: self.seconds.max(other.seconds),
        }
    }

    /// This, and then an operation.
    fn then(self, next: &OperationEstimate) -> Self {
        Self {
            ahead_rounds: self.ahead_rounds + next.cost.ahead.rounds,
            ahead_seconds: self.ahead_seconds + next.ahead_time.total,
            rounds: self.rounds + next.cost.online.rounds,
            seconds: self.seconds + next.online_time.total,
        }
    }
}

/// A group as its operations are added up.
#[derive(Default)]
struct Sum {
    group: GroupEstimate,
    ahead: PhaseCost,
    ahead_time: Time,
    longest: Chain,
}

impl Plan {
    /// Estimates what groups of operations cost `me`, with times on a machine with these rates over such links. `group` tells of an
    /// operation, by its place in the graph, which group it belongs to. Groups that have no operation are left out.
    ///
    /// Estimates, as [`Plan::estimates`] are; groups at work side by side share rounds and time, and what
    /// correlations cost together is less than what groups would pay for them.
    pub fn group_estimates<G: Ord>(
        &self,
        me: Party,
        rates: &Rates,
        link: &Link,
        group: impl Fn(usize) -> G,
    ) -> BTreeMap<G, GroupEstimate> {
        let graph = &self.spec().graph;
        let mut sums: BTreeMap<G, Sum> = BTreeMap::new();
        let mut chains: Vec<Chain> = vec![Chain::default(); graph.len()];
        for estimate in self.estimates(me, rates, link) {
            let node = estimate.cost.operation;
            let own = group(node);
            let inputs = graph.node(node as u32).inputs.iter();
            let before = inputs
                .filter(|input| group(input.node as usize) == own)
                .map(|input| chains[input.node as usize]);
            let chain = before.fold(Chain::default(), Chain::or).then(&estimate);
            chains[node] = chain;
            let sum = sums.entry(own).or_default();
            sum.add(&estimate);
            sum.longest = sum.longest.or(chain);
        }
        let finished = |(group, sum): (G, Sum)| (group, sum.finish(self, me, rates, link));
        sums.into_iter().map(finished).collect()
    }
}

impl Sum {
    fn add(&mut self, estimate: &OperationEstimate) {
        let (group, cost) = (&mut self.group, &estimate.cost);
        group.operations += 1;
        for sort in cost.sorts.iter().filter(|sort| !sort.sharing.is_clear()) {
            if !group.sharings.contains(&sort.sharing) {
                group.sharings.push(sort.sharing);
            }
            group.kept_bytes += sort.bytes() as u64;
        }
        for (kind, count) in cost.needs.kinds() {
            group.needs.add(kind, count);
        }
        self.ahead += cost.ahead;
        group.online += cost.online;
        self.ahead_time = self.ahead_time.then(estimate.ahead_time);
        group.online_time = group.online_time.then(estimate.online_time);
    }

    fn finish(self, plan: &Plan, me: Party, rates: &Rates, link: &Link) -> GroupEstimate {
        let Self {
            mut group,
            mut ahead,
            ahead_time,
            longest,
        } = self;
        let (correlations, made) = plan.correlations(me, &group.needs, rates, link);
        ahead.rounds = longest.ahead_rounds;
        group.setup = correlations + ahead;
        group.setup_time = made.then(no_less(ahead_time, longest.ahead_seconds));
        group.online.rounds = longest.rounds;
        group.online_time = no_less(group.online_time, longest.seconds);
        group.kept_bytes += u64::try_from(group.needs.share_bytes()).unwrap_or(u64::MAX);
        group
    }
}

/// Operations of which some go on side by side, and a chain does not.
fn no_less(all: Time, chain: f64) -> Time {
    Time {
        total: all.computing.max(all.sending).max(chain),
        ..all
    }
}
