//! How long a plan takes: the bills of its phases, by the model of [`madrigal_core::time`].

use madrigal_core::time::{Bill, Link, Order, Rates, Time};
use madrigal_core::{Party, Phase, PhaseCost};
use madrigal_correlations::Needs;
use madrigal_correlations_make::SupplyCosts;

use crate::phases::Phases;
use crate::plan::Plan;
use crate::price::Spending;
use crate::schedule::Task;
use crate::stream::StreamTime;

/// Rounds of a job beside those of its phases: all parties say what they want, that they are done, and
/// hear that all are. Measured at a round trip of a second, where they are all that is left.
pub(crate) const JOB_ROUNDS: u64 = 3;

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
    /// How long `me` is expected to take on a machine with these rates for each thread, where every party has such a
    /// machine and such links to all others. Threads share all that there is to compute: strands that compute lane by lane
    /// are spread over them, whole values are computed by all, and so are correlations, as far as these are many enough. What a
    /// link carries is the same for any number of them. It is an estimate: rounds, bytes and AES blocks in it are
    /// exact ([`Plan::cost`]), what they take is a model.
    pub fn time(&self, me: Party, rates: &Rates, link: &Link) -> PlanTime {
        let time = |bill: Bill| bill.time(rates, link);
        let [start, correlations] = self.setup_bills(me).map(time);
        let setup = start.then(correlations);
        let online = self.online_time(me, rates, link);
        let phases = match self.phases() {
            Phases::Sequential => setup.total + online.total,
            Phases::Interleaved if self.schedule().stream.is_some() => {
                self.streamed(me, rates, link, [&start, &setup, &online])
            }
            Phases::Interleaved => self.interleaved(&setup, &online),
        };
        PlanTime {
            setup,
            online,
            total: phases + JOB_ROUNDS as f64 * (link.latency + rates.hop),
        }
    }

    /// The longer phase hides the other one, but for the first part's correlations and the last part's
    /// tasks; on one thread both have to be computed all the same.
    fn interleaved(&self, setup: &Time, online: &Time) -> f64 {
        let (longer, shorter) = if setup.total > online.total {
            (setup.total, online.total)
        } else {
            (online.total, setup.total)
        };
        let hidden = longer + shorter / self.parts().len().max(1) as f64;
        hidden.max(setup.computing + online.computing)
    }

    /// Where Boolean triples come as they are made, the last ones are waited for, and what follows them.
    fn streamed(
        &self,
        me: Party,
        rates: &Rates,
        link: &Link,
        [start, setup, online]: [&Time; 3],
    ) -> f64 {
        let mut costs = self.spec().origin.costs(me, self.spec().graph.parties());
        let parts = self.schedule().parts.iter();
        let bytes: Vec<u64> = parts.map(|part| costs.fill(part).bytes_sent).collect();
        let others = bytes[0] as f64 / bytes.iter().sum::<u64>().max(1) as f64;
        // Time before the first triple: work of the source's own, and a message's way.
        let first = Bill::in_one_chain(PhaseCost::default(), costs.first_work(), costs.links());
        let first = first.time(rates, link).total + link.latency + rates.hop;
        let supply = StreamTime {
            others: (start.total + others * (setup.total - start.total) + first).min(setup.total),
            triples: setup.total,
        };
        let schedule = self.schedule();
        let chain = schedule.longest_chain(me, rates, link, &supply);
        chain
            .max(setup.computing + online.computing)
            .max(setup.sending + online.sending)
    }

    /// The start of the correlations' source, and the correlations.
    fn setup_bills(&self, me: Party) -> [Bill; 2] {
        let spec = self.spec();
        let costs = spec.origin.costs(me, spec.graph.parties());
        bills(&costs, &self.needs(), self.cost(me).setup)
    }

    /// All tasks, by the schedule: no less than all computing, no less than all bytes, no less than the
    /// longest chain of tasks that wait for each other.
    fn online_time(&self, me: Party, rates: &Rates, link: &Link) -> Time {
        let schedule = self.schedule();
        let tasks = schedule.tasks.iter();
        let link_bytes = |task: &Task| task.price.online.link_bytes[me.index()];
        let whole = Spending {
            cost: schedule.cost(me),
            link_bytes: tasks.clone().map(link_bytes).sum(),
            row_bytes: tasks.map(|task| task.price.online.row_bytes).sum(),
        };
        let whole = whole.time(self.spec().threads, rates, link);
        let at_once = StreamTime::default();
        let chain = schedule.longest_chain(me, rates, link, &at_once);
        Time {
            total: whole.computing.max(whole.sending).max(chain),
            ..whole
        }
    }
}

/// The start of a source, and the correlations: `whole` is the cost of both.
pub(crate) fn bills(costs: &SupplyCosts, needs: &Needs, whole: PhaseCost) -> [Bill; 2] {
    let mut start = costs.start(needs);
    let rest = PhaseCost {
        rounds: whole.rounds - start.rounds,
        bytes_sent: whole.bytes_sent - start.bytes_sent,
        bytes_received: whole.bytes_received - start.bytes_received,
        messages: whole.messages - start.messages,
        aes_blocks: whole.aes_blocks - start.aes_blocks,
    };
    if let SupplyCosts::Dealer(_) = costs {
        // It is the end, and nobody waits for it.
        start.rounds = 0;
    }
    [
        Bill::in_one_chain(start, costs.start_work(needs), costs.links()),
        Bill {
            cost: rest,
            work: costs.work(needs),
            links: costs.links(),
            threads: costs.threads(needs),
            order: Order::Stream,
        },
    ]
}
