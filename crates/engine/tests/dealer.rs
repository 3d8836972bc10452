//! A dealer that has nothing to do is not a party that stalls, nor do the others stall it.

#![allow(clippy::unwrap_used)] // helpers of tests

mod common;

use std::time::Duration;

use common::{netlist, own, random_rows};
use madrigal_core::{Party, Phase};
use madrigal_engine::{JobSpec, Opening, Origin, Phases, Plan, Protocol, run, serve};
use madrigal_kernels::{Block, Prg};
use madrigal_net::transport::mesh;
use madrigal_net::{Session, block_on};
use madrigal_testkit::{World, seed};

/// Sixteen blocks of a tenth of a second each: nobody waits for long, but all takes longer than a
/// stall.
fn slow(protocol: Protocol, parties: usize, origin: Origin) {
    let netlist = netlist("int_add8_size.bristol");
    let plan = common::plan(
        &netlist,
        parties,
        1 << 20,
        &[0, 1],
        Opening::Direct,
        Phases::Sequential,
        1 << 30,
    );
    let plan = Plan::new(JobSpec {
        protocol,
        origin,
        ..plan.spec().clone()
    })
    .unwrap();
    let seed = seed();
    let lanes = plan.spec().lanes;
    let inputs = random_rows(
        netlist.input_bits() as usize,
        lanes,
        &mut Prg::new(Block::new(seed, 1)),
    );
    let all = parties + origin.helpers();
    let world = World::new(all, seed).with_limits(|limits| limits.stall = Duration::from_secs(3));
    let (world, plan, inputs) = (&world, &plan, &inputs);
    let results: Vec<Result<(), String>> = std::thread::scope(|scope| {
        let threads: Vec<_> = Party::all(all)
            .zip(mesh(all))
            .map(|(me, transport)| {
                scope.spawn(move || {
                    block_on(async {
                        let session = Session::new(world.config(me), transport);
                        session.greet().await.map_err(|error| error.to_string())?;
                        let done = if me.index() < parties {
                            let slowly = |progress: madrigal_engine::Progress| {
                                if progress.phase == Phase::Online {
                                    std::thread::sleep(Duration::from_millis(400));
                                }
                            };
                            let own = own(plan, inputs, me);
                            let done = run(&session, 1, plan, &own, None, &slowly).await;
                            done.map(drop).map_err(|error| error.to_string())
                        } else {
                            let done = serve(&session, None).await;
                            done.map(drop).map_err(|error| error.to_string())
                        };
                        session.close().await;
                        done
                    })
                })
            })
            .collect();
        threads
            .into_iter()
            .map(|thread| thread.join().unwrap())
            .collect()
    });
    assert!(results.iter().all(Result::is_ok), "{results:#?}");
}

#[test]
fn a_long_online_phase_without_a_dealer() {
    slow(Protocol::R, 3, Origin::Ot);
}

#[test]
fn a_long_online_phase_with_a_dealer_that_is_not_needed() {
    slow(Protocol::R, 3, Origin::Dealer);
}

#[test]
fn a_long_online_phase_with_a_dealer() {
    slow(Protocol::B, 2, Origin::Dealer);
}
