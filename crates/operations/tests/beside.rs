//! Preparations whose results are known before they end: chains of them take a few rounds of setup.

#![allow(clippy::unwrap_used)] // helpers of tests

use std::sync::Arc;

use futures_util::future::LocalBoxFuture;
use madrigal_circuit::{Builder, Wire};
use madrigal_core::Party;
use madrigal_engine::{
    Bill, Mismatch, Operation, Origin, Phases, Plan, PlanError, PlanSpec, Prepared, Shares, Sort,
    Turn, Width,
};
use madrigal_operations::{
    Addends, AlphaTool, BetaTool, Circuit, Compose, Linear, Mul, Netlist, Square,
};
use madrigal_testkit::seed;

use crate::limits::run_each;
use crate::programs::{Built, check, own};

const WIDTH: Width = Width::W32;

/// x to a power, one product after the other, in alpha.
fn chain(products: usize, len: usize, seed: u64) -> Built {
    let mut built = Built::new(2, seed);
    let x = built.ring::<AlphaTool>(WIDTH, len);
    let mut power = x;
    for _ in 0..products {
        let product = Mul::<AlphaTool>::new();
        power = built.graph.add_one(product, &[power, x]).unwrap();
    }
    built.open_to_all::<AlphaTool>(power);
    built
}

/// With phases that overlap, where nothing is prepared; and with correlations and preparations part by part, on two
/// threads, from a dealer. Gives how many parts there were.
fn check_otherwise(built: &Built, seed: u64) -> usize {
    let interleaved = PlanSpec {
        phases: Some(Phases::Interleaved),
        memory: 1 << 15,
        ..built.spec()
    };
    check(built, interleaved, seed);
    let parts = PlanSpec {
        phases: Some(Phases::Sequential),
        memory: 1 << 11,
        ..built.spec()
    };
    let planned = match Plan::new(parts.clone()) {
        // Kept values take more.
        Err(PlanError::Memory { needed, .. }) => PlanSpec {
            memory: needed as usize,
            ..parts
        },
        _ => parts,
    };
    let parts = Plan::new(planned.clone()).unwrap().parts().len();
    let threads = PlanSpec {
        threads: 2,
        ..planned.clone()
    };
    let dealt = PlanSpec {
        origin: Origin::Dealer,
        ..planned.clone()
    };
    for spec in [planned, threads, dealt] {
        check(built, spec, seed);
    }
    parts
}

fn setup_rounds(built: &Built) -> u64 {
    let plan = Plan::new(built.spec()).unwrap();
    plan.cost(Party::new(0)).setup.rounds
}

/// Products of few elements, and the opening, go to the six preparers of short messages, each of which does one after
/// the other.
#[test]
fn chains_of_products_are_prepared_side_by_side() {
    let seed = seed();
    let rounds = |products| setup_rounds(&chain(products, 3, seed));
    let first = rounds(1);
    for products in 1..=5 {
        assert_eq!(rounds(products), first);
    }
    assert_eq!(rounds(6), first + 1);
    assert_eq!(rounds(24), first + 4);
    for products in [2, 7, 40] {
        let built = chain(products, 3, seed);
        check(&built, built.spec(), seed);
        let parts = check_otherwise(&built, seed);
        assert!(parts > 1 || products < 40, "{parts} parts");
    }
}

/// Nothing is told of results without elements, whatever bills say.
#[test]
fn products_of_nothing() {
    let seed = seed();
    let built = chain(3, 0, seed);
    check(&built, built.spec(), seed);
    check_otherwise(&built, seed);
}

/// An operation that tells of its results once more than another one, or not although its bill says so.
#[derive(Debug)]
struct Misleading<O> {
    inner: O,
    tells: bool,
}

impl<O: Operation> Operation for Misleading<O> {
    fn name(&self) -> String {
        format!("misleading {}", self.inner.name())
    }

    fn sorts(&self, inputs: &[Sort], parties: usize) -> Result<Vec<Sort>, Mismatch> {
        self.inner.sorts(inputs, parties)
    }

    fn bill(&self, inputs: &[Sort], bill: &mut Bill) {
        self.inner.bill(inputs, bill);
        if !self.tells {
            bill.ahead(Bill::results_known);
        }
    }

    fn prepares(&self, inputs: &[Sort]) -> bool {
        self.inner.prepares(inputs)
    }

    fn prepare<'a>(
        &'a self,
        turn: &'a mut Turn<'_>,
        inputs: Vec<Arc<Shares>>,
    ) -> LocalBoxFuture<'a, madrigal_net::Result<Prepared>> {
        Box::pin(async move {
            let early = turn.early();
            let prepared = self.inner.prepare(turn, inputs).await?;
            if self.tells {
                let results = early.tell(prepared.results);
                return Ok(Prepared {
                    results,
                    ..prepared
                });
            }
            Ok(prepared)
        })
    }

    fn online<'a>(
        &'a self,
        turn: &'a mut Turn<'_>,
        inputs: Vec<Arc<Shares>>,
    ) -> LocalBoxFuture<'a, madrigal_net::Result<Vec<Shares>>> {
        self.inner.online(turn, inputs)
    }

    fn plain(&self, inputs: &[&Shares]) -> Result<Vec<Shares>, Mismatch> {
        self.inner.plain(inputs)
    }
}

#[test]
fn telling_otherwise_than_the_bill_is_an_error() {
    let seed = seed();
    let ended = |operation: Arc<dyn Operation>, operands: usize| -> Vec<String> {
        let mut built = Built::new(2, seed);
        let x = built.ring::<AlphaTool>(WIDTH, 3);
        let made = built.graph.add(operation, &vec![x; operands]).unwrap();
        built.open_to_all::<AlphaTool>(made[0]);
        let plan = Plan::new(built.spec()).unwrap();
        let inputs = [0, 1].map(|me| own(&built.graph, &built.inputs, Party::new(me)));
        let ended = run_each(&[plan.clone(), plan], &inputs);
        let errors = ended.into_iter().map(|ended| ended.unwrap_err());
        errors.map(|error| error.to_string()).collect()
    };
    let twice = Misleading {
        inner: Mul::<AlphaTool>::new(),
        tells: true,
    };
    let never = Misleading {
        inner: Linear::<AlphaTool>::new(vec![3], 1),
        tells: false,
    };
    for error in ended(Arc::new(twice), 2) {
        assert!(error.contains("told of its results 2 times"), "{error}");
    }
    for error in ended(Arc::new(never), 1) {
        assert!(error.contains("told of its results 0 times"), "{error}");
    }
}

/// Those with long messages go one after the other, but nothing else waits for them.
#[test]
fn long_messages_have_a_preparer_of_their_own() {
    let seed = seed();
    // Two operands of 4 bytes each, in one block: more than 256 KiB.
    let long = 40_000;
    let built = chain(3, long, seed);
    check(&built, built.spec(), seed);
}

/// Conversions both ways and circuits: of each what the next one needs is known before it is prepared.
fn mixed(layers: usize, len: usize, seed: u64) -> Built {
    // Numbers that add up, and numbers of which the second is to be taken away.
    let circuit = |of: fn(&mut Builder, &[Wire], &[Wire]) -> Vec<Wire>| {
        let mut builder = Builder::new("of two");
        let [a, b] = [32, 32].map(|width| builder.input(width));
        let made = of(&mut builder, &a, &b);
        builder.output(&made);
        builder.finish()
    };
    let sum = Circuit::new(&circuit(Builder::add));
    let difference = Circuit::new(&circuit(Builder::sub)).in_pairs();
    let circuits = [sum, difference].map(Arc::new);
    let mut built = Built::new(2, seed);
    let mut x = built.ring::<AlphaTool>(WIDTH, len);
    let graph = &mut built.graph;
    for layer in 0..layers {
        let squared = graph.add_one(Square::<AlphaTool>::new(), &[x]).unwrap();
        let addends = Arc::new(Addends::<AlphaTool>::new(2, layer % 2 == 1));
        let addends = graph.add(addends, &[squared]).unwrap();
        let netlist = Netlist::<BetaTool>::new(Arc::clone(&circuits[layer % 2]), 1);
        let bits = graph.add_one(netlist, &addends).unwrap();
        let back = Compose::<AlphaTool>::new(WIDTH, false);
        x = graph.add_one(back, &[bits]).unwrap();
    }
    built.open_to_all::<AlphaTool>(x);
    built
}

#[test]
fn mixed_programs_are_prepared_in_a_few_rounds() {
    let seed = seed();
    // Six layers of three operations, of which a circuit in pairs takes two rounds: 21 rounds, one after the other.
    let (one, six) = (
        setup_rounds(&mixed(1, 5, seed)),
        setup_rounds(&mixed(6, 5, seed)),
    );
    assert!(six <= one + 4, "{six} rounds of setup, {one} of a sixth");
    for len in [1, 5, 300] {
        let built = mixed(4, len, seed);
        check(&built, built.spec(), seed);
        let parts = check_otherwise(&built, seed);
        assert!(parts > 1 || len < 300, "{parts} parts");
    }
}
