//! Prices: cost and time of one call of an operation. Blocks of one length cost the same, but for rounds.

use madrigal_core::time::{Bill as PriceBill, Link, Rates, Time, Work};
use madrigal_core::{Party, PhaseCost};
use madrigal_correlations::Needs;
use madrigal_protocols::{Opening, Rounds};

use crate::bill::{Bill, BillParts, PhaseBill};
use crate::graph::{Graph, Node};
use crate::strands::Lead;

/// Limits on which the cutting and the order depend, beside the program.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Limits {
    pub(crate) opening: Opening,
    pub(crate) threads: usize,
    /// Line between any two parties, as they agreed to expect it.
    pub(crate) line: Link,
    /// Bytes that the correlations of one block may take.
    pub(crate) block_needs: usize,
    /// Bytes that blocks under way may take, all together.
    pub(crate) block_memory: usize,
    pub(crate) ahead: Ahead,
}

/// Operations that are prepared before inputs are there, of those that can be.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Ahead {
    /// None.
    Nothing,
    /// All but those on values that two parties garble: tables travel online, and nobody keeps them.
    ButTables,
    /// All.
    All,
}

impl Ahead {
    pub(crate) fn prepares(self, node: &Node) -> bool {
        match self {
            Self::Nothing => false,
            Self::ButTables => node.prepares && !node.of_tables(),
            Self::All => node.prepares,
        }
    }
}

/// Cost of one call of an operation.
#[derive(Debug)]
pub(crate) struct Price {
    /// Cost of preparing it.
    pub(crate) setup: PhaseBill,
    pub(crate) online: PhaseBill,
    /// Correlations of setup and of online.
    pub(crate) needs: Needs,
    pub(crate) lead: Lead,
    /// Threads that one call computes on, where nothing else is at work: one of a strand's that works lane by lane, all for
    /// whole values.
    pub(crate) threads: usize,
    /// Time online of the party that has most to do.
    pub(crate) nanoseconds: u64,
    /// Boolean triples that each step takes.
    pub(crate) steps: Vec<usize>,
    /// Bytes that each party keeps from setup on.
    pub(crate) kept: Vec<u64>,
    /// Whether what is known of the results in setup is known before the rest of setup is done.
    pub(crate) known: bool,
}

impl Price {
    /// Price of a node for `len` elements.
    pub(crate) fn new(graph: &Graph, node: u32, len: usize, limits: &Limits) -> Self {
        let none = [(); 2].map(|()| Rounds::new(graph.parties()));
        let prepares = limits.ahead.prepares(graph.node(node));
        let parts = call(graph, node, len, none, limits.opening, prepares);
        let BillParts {
            setup,
            online,
            kept,
            known,
        } = parts;
        let mut needs = online.needs.clone();
        needs += &setup.needs;
        let mut price = Self {
            needs,
            lead: Lead::of([&setup, &online], known.is_some()),
            threads: match graph.node(node).is_lane_wise() {
                true => 1,
                false => limits.threads,
            },
            nanoseconds: 0,
            steps: online.steps(),
            known: known.is_some(),
            setup,
            online,
            kept,
        };
        // All parties must arrive at the same order: rates and arithmetic are fixed, and the party that has
        // most to do counts.
        let seconds = |party| price.online_seconds(party, &Rates::ZEN_5, &limits.line);
        let longest = Party::all(graph.parties()).map(seconds).fold(0.0, f64::max);
        price.nanoseconds = ((longest * 1e9) as u64).max(1);
        price
    }

    /// Seconds that one call takes online, where nothing else is at work.
    pub(crate) fn online_seconds(&self, me: Party, rates: &Rates, link: &Link) -> f64 {
        let spending = Spending::of(&self.online, me);
        spending.time(self.threads, rates, link).total
    }
}

/// Goes through one call of a node for `len` elements, after the rounds of setup and of online in `clocks`.
pub(crate) fn call(
    graph: &Graph,
    node: u32,
    len: usize,
    clocks: [Rounds; 2],
    opening: Opening,
    prepares: bool,
) -> BillParts {
    let mut bill = Bill::after(clocks, graph.parties(), opening, prepares);
    let operation = graph.node(node).operation.as_ref();
    if let Some(operation) = operation.filter(|_| !graph.node(node).is_empty()) {
        operation.bill(&graph.input_sorts(node, len), &mut bill);
    }
    bill.into_parts()
}

/// Work of one party, one message after the other.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Spending {
    pub(crate) cost: PhaseCost,
    /// Bytes of the party's fullest link.
    pub(crate) link_bytes: u64,
    pub(crate) row_bytes: u64,
}

impl Spending {
    /// Share of one party in a phase of a call.
    pub(crate) fn of(bill: &PhaseBill, me: Party) -> Self {
        Self {
            cost: bill.cost(me),
            link_bytes: bill.link_bytes[me.index()],
            row_bytes: bill.row_bytes,
        }
    }

    /// Adds `times` blocks side by side: rounds are those of the longest.
    pub(crate) fn add(&mut self, block: &Self, times: usize) {
        let rounds = self.cost.rounds.max(block.cost.rounds);
        self.cost += block.cost.times(times as u64);
        self.cost.rounds = rounds;
        self.link_bytes += block.link_bytes * times as u64;
        self.row_bytes += block.row_bytes * times as u64;
    }

    /// Time that it takes on `threads` threads.
    pub(crate) fn time(&self, threads: usize, rates: &Rates, link: &Link) -> Time {
        let work = Work {
            row_bytes: self.row_bytes as f64,
            ..Work::default()
        };
        let computed = PriceBill {
            threads,
            ..PriceBill::in_one_chain(self.cost, work, 1)
        };
        let anywhere = Link {
            bytes_per_second: None,
            ..*link
        };
        let time = computed.time(rates, &anywhere);
        let rate = link.bytes_per_second;
        let sending = rate.map_or(0.0, |rate| self.link_bytes as f64 / rate);
        Time {
            sending,
            total: time.computing + time.waiting + sending,
            ..time
        }
    }
}
