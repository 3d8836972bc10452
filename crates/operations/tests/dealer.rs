//! A dealer that has nothing to do is not a party that stalls, nor do the others stall it.

#![allow(clippy::unwrap_used)] // helpers of tests

use std::time::Duration;

use crate::common::{netlist, own, random_rows};
use madrigal_core::{Party, Phase};
use madrigal_engine::{Opening, Phases, RunError, Sharing, serve};
use madrigal_kernels::{Block, Prg};
use madrigal_net::transport::mesh;
use madrigal_net::{Session, block_on};
use madrigal_operations::{Backend, run_rows};
use madrigal_testkit::{World, seed};

/// Dozens of tasks of a tenth of a second each: nobody waits for long, but all takes longer than a stall.
fn slow(sharing: Sharing, parties: usize, dealer: bool) {
    let netlist = netlist("int_add8_size.bristol");
    let plan = crate::common::plan(
        &netlist,
        parties,
        1 << 20,
        &[0, 1],
        Opening::Direct,
        Phases::Sequential,
        1 << 30,
    );
    let plan = plan.in_protocol(Backend::of(sharing));
    let plan = if dealer {
        crate::common::dealt(&plan)
    } else {
        plan
    };
    let seed = seed();
    let lanes = plan.job.lanes;
    let inputs = random_rows(
        netlist.input_bits() as usize,
        lanes,
        &mut Prg::new(Block::new(seed, 1)),
    );
    let all = parties + usize::from(dealer);
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
                                    std::thread::sleep(Duration::from_millis(100));
                                }
                            };
                            let own = own(&plan.job, inputs, me);
                            let done = run_rows(&session, 1, plan, own, None, &slowly).await;
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
    slow(Sharing::R, 3, false);
}

#[test]
fn a_long_online_phase_with_a_dealer_that_is_not_needed() {
    slow(Sharing::R, 3, true);
}

#[test]
fn a_long_online_phase_with_a_dealer() {
    slow(Sharing::B, 2, true);
}

#[test]
fn a_dealer_that_runs_the_plan_itself_is_refused() {
    let netlist = netlist("int_add8_size.bristol");
    let to = [0, 1];
    let plan = crate::common::plan(
        &netlist,
        2,
        1,
        &to,
        Opening::Direct,
        Phases::Sequential,
        1 << 20,
    );
    let plan = crate::common::dealt(&plan);
    let dealer = Party::new(2);
    let session = Session::new(
        World::new(3, seed()).config(dealer),
        mesh(3).into_iter().last().unwrap(),
    );
    let nothing = own(
        &plan.job,
        &random_rows(16, 1, &mut Prg::new(Block::ZERO)),
        dealer,
    );
    let refused = block_on(run_rows(&session, 1, &plan, nothing, None, &|_| {}));
    assert_eq!(refused.map(drop), Err(RunError::Helper { party: dealer }));
}
