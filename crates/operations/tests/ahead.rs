//! A party that is late: the others run ahead of it on many strands, and are not taken for hostile.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering::Relaxed};
use std::time::Duration;

use futures_util::future::LocalBoxFuture;
use madrigal_core::Party;
use madrigal_engine::{
    Bill, Element, Given, Graph, Mismatch, Opening, Operation, Plan, PlanSpec, Shares, Sharing,
    Sort, Tool, Turn, Width, run_program,
};
use madrigal_net::transport::mesh;
use madrigal_net::{Channel, Context, Result, Session, block_on, exchange};
use madrigal_testkit::{World, seed};

/// Nearly a whole window, for a message.
const BYTES: usize = 4_100_000;
/// More of them than a session keeps for steps that are not open.
const OPERATIONS: usize = 80;

/// All send each other a long message; party 1 is late with the first one.
#[derive(Debug)]
struct Swap {
    number: usize,
    late: Arc<AtomicBool>,
}

struct Swapping(Vec<Channel>);

impl Tool for Swapping {
    const STEP: &'static str = "swapping";

    fn open(context: Context, _: Opening) -> Result<Self> {
        Ok(Self(context.channels()?))
    }

    fn count_in(&mut self, context: &Context) {
        self.0
            .iter_mut()
            .for_each(|channel| channel.count_in(context));
    }
}

impl Operation for Swap {
    fn name(&self) -> String {
        format!("swap/1 number {}", self.number)
    }

    fn sorts(&self, inputs: &[Sort], _: usize) -> Result<Vec<Sort>, Mismatch> {
        Ok(inputs.to_vec())
    }

    fn is_lane_wise(&self) -> bool {
        false
    }

    fn bill(&self, _: &[Sort], bill: &mut Bill) {
        let all = || Party::all(2);
        let pairs = all().flat_map(|from| from.others(2).map(move |to| (from, to)));
        let messages: Vec<_> = pairs.map(|(from, to)| (from, to, BYTES as u64)).collect();
        bill.exchange(&messages);
    }

    fn online<'a>(
        &'a self,
        turn: &'a mut Turn<'_>,
        inputs: Vec<Arc<Shares>>,
    ) -> LocalBoxFuture<'a, Result<Vec<Shares>>> {
        Box::pin(async move {
            if turn.me() == Party::new(1) && !self.late.swap(true, Relaxed) {
                // As long as it sleeps it opens nothing.
                std::thread::sleep(Duration::from_millis(600));
            }
            let (tool, _) = turn.tool::<Swapping>()?;
            exchange(&mut tool.0, vec![0; BYTES], BYTES).await?;
            Ok(vec![Shares::clone(&inputs[0])])
        })
    }

    fn plain(&self, inputs: &[&Shares]) -> Result<Vec<Shares>, Mismatch> {
        Ok(vec![inputs[0].clone()])
    }
}

#[test]
fn many_long_messages_to_a_party_that_is_late() -> Result<(), Box<dyn std::error::Error>> {
    let mut graph = Graph::new(2);
    let sort = Sort {
        element: Element::Ring(Width::W64),
        len: 1,
        sharing: Sharing::clear(&[Party::new(0)]),
    };
    let input = graph.input(sort);
    let late = Arc::new(AtomicBool::new(false));
    for number in 0..OPERATIONS {
        let late = Arc::clone(&late);
        let swapped = graph.add(Arc::new(Swap { number, late }), &[input])?;
        swapped.into_iter().for_each(|value| graph.output(value));
    }
    let plan = Plan::new(PlanSpec::new(graph))?;
    assert!(plan.strands() > 8, "{}", plan.strands());
    let (world, plan) = (&World::new(2, seed()), &plan);
    let ended = std::thread::scope(|scope| {
        let parties = Party::all(2).zip(mesh(2)).map(|(me, transport)| {
            scope.spawn(move || {
                block_on(async {
                    let session = Session::new(world.config(me), transport);
                    let run = async {
                        session.greet().await.map_err(|error| error.to_string())?;
                        let known = match me.index() {
                            0 => Shares::ring_of(sort.sharing, vec![7_u64]),
                            _ => Shares::unknown(sort),
                        };
                        let given = Given {
                            inputs: vec![known],
                            ..Given::default()
                        };
                        let outcome = run_program(&session, 1, plan, given, None, &|_| {}).await;
                        outcome.map_err(|error| error.to_string())
                    };
                    let outcome = run.await;
                    session.close().await;
                    outcome.map(|outcome| outcome.outputs.len())
                })
            })
        });
        let parties: Vec<_> = parties.collect();
        let ended = parties.into_iter().map(|party| party.join());
        ended.collect::<Vec<_>>()
    });
    for outcome in ended {
        assert_eq!(outcome.map_err(|_| "a panic")?, Ok(OPERATIONS));
    }
    Ok(())
}
