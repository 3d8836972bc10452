//! Operations and sources of correlations that the engine does not know, by its public interface alone.

#![allow(clippy::unwrap_used)] // helpers of tests

use std::sync::Arc;

use futures_util::future::LocalBoxFuture;
use madrigal_core::{Party, PhaseCost, Ring};
use madrigal_correlations::{Call, Kind, Maker, Needs, Provider, Strings};
use madrigal_engine::{
    Bill, Element, Given, Mismatch, Opening, Operation, Origin, Plan, PlanSpec, RunError, Shares,
    Sharing, Sort, Tool, Turn, Width, evaluate_program,
};
use madrigal_net::transport::mesh;
use madrigal_net::{Channel, Context, Result};
use madrigal_operations::{
    ArithmeticGmwTool, Open, ReplicatedTool, RingStep, Rings, Share, Square,
};
use madrigal_testkit::{World, seed};

use crate::programs::{Built, check_all, own};

/// Tells values that one party knows to another one.
#[derive(Debug)]
struct Tell {
    from: Party,
    to: Party,
}

/// Channels of its own.
struct Telling(Vec<Channel>);

impl Tool for Telling {
    const STEP: &'static str = "telling";

    fn open(context: Context, _: Opening) -> Result<Self> {
        Ok(Self(context.channels()?))
    }

    fn count_in(&mut self, context: &Context) {
        self.0
            .iter_mut()
            .for_each(|channel| channel.count_in(context));
    }
}

impl Telling {
    fn with(&mut self, peer: Party) -> &mut Channel {
        let channel = self.0.iter_mut().find(|channel| channel.peer() == peer);
        channel.unwrap()
    }
}

impl Operation for Tell {
    fn name(&self) -> String {
        format!("tell/1 from {} to {}", self.from, self.to)
    }

    fn sorts(&self, inputs: &[Sort], _: usize) -> Result<Vec<Sort>, Mismatch> {
        match inputs {
            [value]
                if value.sharing.is_clear()
                    && value.sharing.is_known_to(self.from)
                    && value.element == Element::Ring(Width::W64) =>
            {
                let both = Sharing::clear(&[self.from, self.to]);
                Ok(vec![value.shared(both)])
            }
            _ => Err(Mismatch::new("a clear value of 64 bits wanted")),
        }
    }

    fn bill(&self, inputs: &[Sort], bill: &mut Bill) {
        bill.exchange(&[(self.from, self.to, inputs[0].bytes() as u64)]);
    }

    fn online<'a>(
        &'a self,
        turn: &'a mut Turn<'_>,
        inputs: Vec<Arc<Shares>>,
    ) -> LocalBoxFuture<'a, Result<Vec<Shares>>> {
        Box::pin(async move {
            let me = turn.me();
            let value = &inputs[0];
            let both = Sharing::clear(&[self.from, self.to]);
            let (tool, _) = turn.tool::<Telling>()?;
            let known = if me == self.from {
                let elements = value.component::<u64>(0);
                let bytes: Vec<u8> = elements.iter().flat_map(|x| x.to_le_bytes()).collect();
                tool.with(self.to).send(bytes).await?;
                Shares::clone(value).as_shared(both)
            } else if me == self.to {
                let bytes = tool.with(self.from).recv(8 * value.len()).await?;
                let words = bytes.chunks_exact(8);
                let elements: Vec<u64> = words
                    .map(|word| u64::from_le_bytes(word.try_into().unwrap()))
                    .collect();
                Shares::ring_of(both, elements)
            } else {
                Shares::unknown(value.sort().shared(both))
            };
            Ok(vec![known])
        })
    }

    fn plain(&self, inputs: &[&Shares]) -> Result<Vec<Shares>, Mismatch> {
        Ok(vec![inputs[0].clone()])
    }
}

/// Third powers, with the correlations of two operations of the protocol's.
struct Cube<P>(std::marker::PhantomData<fn() -> P>);

impl<P: Rings> std::fmt::Debug for Cube<P> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(&self.name())
    }
}

impl<P: Rings> Operation for Cube<P> {
    fn name(&self) -> String {
        format!("cube/1 in {}", P::SHARING)
    }

    fn sorts(&self, inputs: &[Sort], parties: usize) -> Result<Vec<Sort>, Mismatch> {
        let [value] = inputs else {
            return Err(Mismatch::new("one value wanted"));
        };
        P::holds(value.element, parties)?;
        if (value.sharing, value.element) != (P::SHARING, Element::Ring(Width::W64)) {
            return Err(Mismatch::new(format!("{value} is nothing to cube")));
        }
        Ok(vec![*value])
    }

    fn bill(&self, inputs: &[Sort], bill: &mut Bill) {
        P::step_bill::<u64>(RingStep::Square, inputs, bill);
        P::step_bill::<u64>(RingStep::Mul, &[inputs[0]; 2], bill);
    }

    fn online<'a>(
        &'a self,
        turn: &'a mut Turn<'_>,
        inputs: Vec<Arc<Shares>>,
    ) -> LocalBoxFuture<'a, Result<Vec<Shares>>> {
        Box::pin(async move {
            let (tool, stock) = turn.tool::<P>()?;
            let squares = tool
                .step::<u64>(RingStep::Square, &[&inputs[0]], stock)
                .await?;
            let factors = [&squares[0], &*inputs[0]];
            tool.step::<u64>(RingStep::Mul, &factors, stock).await
        })
    }

    fn plain(&self, inputs: &[&Shares]) -> Result<Vec<Shares>, Mismatch> {
        let cube = |x: &u64| x.mul(*x).mul(*x);
        let cubes: Vec<u64> = inputs[0].component(0).iter().map(cube).collect();
        Ok(vec![Shares::ring_of(Sharing::PUBLIC, cubes)])
    }
}

/// The first party tells the second one, which shares what it was told: cubes of it are opened.
fn told_and_cubed<P: Rings>(parties: usize, len: usize, seed: u64) {
    let [first, second] = [0, 1].map(Party::new);
    let mut built = Built::new(parties, seed);
    let mine = Sharing::clear(&[first]);
    let elements: Vec<u64> = (0..len as u64)
        .map(|i| (seed ^ i).wrapping_mul(0x9e37_79b9_7f4a_7c15))
        .collect();
    let graph = &mut built.graph;
    let x = graph.input(Sort::new(mine, Element::Ring(Width::W64), len));
    let tell = Tell {
        from: first,
        to: second,
    };
    let told = graph.add_one(tell, &[x]).unwrap();
    let shared = graph.add_one(Share::<P>::new(second), &[told]).unwrap();
    let cube = Cube::<P>(std::marker::PhantomData);
    let cubes = graph.add_one(cube, &[shared]).unwrap();
    let opened = graph
        .add_one(Open::<P>::new(vec![first]), &[cubes])
        .unwrap();
    graph.output(told);
    graph.output(opened);
    built.inputs.push(Shares::ring_of(mine, elements));
    check_all(&built, seed);
}

#[test]
fn operations_of_ones_own_run_and_cost_what_they_say() {
    let seed = seed();
    for len in [1, 9000] {
        told_and_cubed::<ArithmeticGmwTool>(2, len, seed);
        told_and_cubed::<ReplicatedTool>(3, len, seed);
    }
}

/// Declares one square, and takes two.
#[derive(Debug)]
struct Greedy;

impl Operation for Greedy {
    fn name(&self) -> String {
        "greedy/1".into()
    }

    fn sorts(&self, inputs: &[Sort], _: usize) -> Result<Vec<Sort>, Mismatch> {
        Ok(inputs.to_vec())
    }

    fn bill(&self, inputs: &[Sort], bill: &mut Bill) {
        ArithmeticGmwTool::step_bill::<u64>(RingStep::Square, inputs, bill);
    }

    fn online<'a>(
        &'a self,
        turn: &'a mut Turn<'_>,
        inputs: Vec<Arc<Shares>>,
    ) -> LocalBoxFuture<'a, Result<Vec<Shares>>> {
        Box::pin(async move {
            let (tool, stock) = turn.tool::<ArithmeticGmwTool>()?;
            let squares = tool
                .step::<u64>(RingStep::Square, &[&inputs[0]], stock)
                .await?;
            tool.step::<u64>(RingStep::Square, &[&squares[0]], stock)
                .await
        })
    }

    fn plain(&self, inputs: &[&Shares]) -> Result<Vec<Shares>, Mismatch> {
        Ok(vec![inputs[0].clone()])
    }
}

/// Gives out strings that are too short.
#[derive(Debug)]
struct Stingy;

impl Provider for Stingy {
    fn name(&self) -> String {
        "stingy/1".into()
    }

    fn serves(&self, _: Kind) -> bool {
        true
    }

    fn bill(&self, _: &Call<'_>) -> PhaseCost {
        PhaseCost::default()
    }

    fn open<'a>(
        &'a self,
        _: &'a Context,
        _: &'a Needs,
    ) -> LocalBoxFuture<'a, Result<Box<dyn Maker>>> {
        Box::pin(std::future::ready(Ok(Box::new(Self) as Box<dyn Maker>)))
    }
}

impl Maker for Stingy {
    fn make<'a>(
        &'a mut self,
        kind: Kind,
        count: usize,
        _: &'a dyn Fn(usize),
    ) -> LocalBoxFuture<'a, Result<Strings>> {
        let strings = kind.strings(count).into_iter();
        let strings = strings.map(|len| vec![0; len - 1].into()).collect();
        Box::pin(std::future::ready(Ok(strings)))
    }
}

/// Failures that both parties hear of a program that squares five numbers.
fn squares_fail(operation: impl Operation + 'static, origin: Origin) -> Vec<String> {
    let mut built = Built::new(2, seed());
    let x = built.ring::<ArithmeticGmwTool>(Width::W64, 5);
    let made = built.graph.add_one(operation, &[x]).unwrap();
    let open = Open::<ArithmeticGmwTool>::new(Party::all(2).collect());
    let opened = built.graph.add_one(open, &[made]).unwrap();
    built.graph.output(opened);
    let spec = PlanSpec {
        origin,
        ..built.spec()
    };
    let plan = Plan::new(spec).unwrap();
    let (plan, built) = (&plan, &built);
    let ended = World::new(2, seed()).run_over(mesh(2), |context| async move {
        let given = Given {
            inputs: own(&built.graph, &built.inputs, context.me()),
            ..Given::default()
        };
        match evaluate_program(&context, plan, given, &|_| {}).await {
            Ok(outputs) => Ok(outputs),
            Err(RunError::Net(error)) => Err(error),
            Err(other) => panic!("{other}"),
        }
    });
    let error = |result: Result<_>| result.err().unwrap().to_string();
    ended.into_iter().map(error).collect()
}

/// A party may have heard first that the other one has left, but not both.
fn told(errors: &[String], what: &str) {
    assert!(
        errors.iter().any(|error| error.contains(what)),
        "{errors:?}"
    );
}

#[test]
fn an_operation_that_takes_more_than_it_declares_is_named() {
    let errors = squares_fail(Greedy, Origin::default());
    told(&errors, "operation `greedy/1`");
    told(&errors, "5 squares-u64 wanted, and 0 left");
}

#[test]
fn a_source_that_gives_too_little_is_named() {
    let errors = squares_fail(Square::<ArithmeticGmwTool>::new(), Origin::own(Stingy));
    told(&errors, "correlations by `stingy/1`");
    told(&errors, "[39, 39] bytes for 5 x squares-u64");
}
