//! Random faults while a real job runs, at any step from the greeting to the finish: every live party
//! ends in time with the right result or one clear error.
//!
//! `MADRIGAL_FAULTS` sets how many are tried; `cargo xtask soak` tries them without end.
#![allow(clippy::print_stdout, clippy::unwrap_used)] // what was tried; helpers

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering::Relaxed};

use crate::common::{netlist, own, plan, random_rows};
use madrigal_circuit::Rows;
use madrigal_core::{Party, Phase};
use madrigal_correlations::deal;
use madrigal_engine::{Opening, Phases, Plan, RunError, evaluate};
use madrigal_kernels::{Block, Prg};
use madrigal_net::transport::Fault;
use madrigal_net::{Context, Error};
use madrigal_testkit::{impatient, must_end_well, run_with_fault, seed};

/// Trials under way at once: most of a trial is waiting for a limit to pass.
const AT_ONCE: u64 = 8;

struct Job {
    plan: Plan,
    inputs: Rows,
    expected: Rows,
}

/// The session's last party is a dealer, or computes like the others.
fn job(parties: usize, dealer: bool, seed: u64) -> Job {
    let parties = parties - usize::from(dealer);
    let netlist = netlist("int_div8_size.bristol");
    let opening = if seed.is_multiple_of(2) {
        Opening::Direct
    } else {
        Opening::Relay
    };
    let (lanes, memory, phases) = match seed % 3 {
        0 => (1, 1 << 20, Phases::Sequential),
        1 => (1000, 1 << 20, Phases::Sequential),
        _ => (1000, 16 << 10, Phases::Interleaved),
    };
    let plan = plan(
        &netlist,
        parties,
        lanes,
        &[0, parties - 1],
        opening,
        phases,
        memory,
    );
    let plan = if dealer {
        crate::common::dealt(&plan)
    } else {
        plan
    };
    let plan = crate::common::threaded(&plan, 1 + seed as usize % 5 / 3);
    let inputs = random_rows(
        netlist.input_bits() as usize,
        lanes,
        &mut Prg::new(Block::new(seed, 1)),
    );
    let expected = netlist.evaluate(&inputs).unwrap();
    Job {
        plan,
        inputs,
        expected,
    }
}

async fn work(job: Arc<Job>, context: Context) -> Result<Option<Rows>, Error> {
    if context.me().index() >= job.plan.spec().parties {
        deal(&context.enter(Phase::Setup, "setup")).await?;
        return Ok(None);
    }
    let own = own(&job.plan, &job.inputs, context.me());
    match evaluate(&context, &job.plan, own, &|_| {}).await {
        Ok(output) => Ok(output),
        Err(RunError::Net(error)) => Err(error),
        Err(other) => panic!("{other}"),
    }
}

fn try_fault(parties: usize, dealer: bool, seed: u64) -> bool {
    let fault = Fault {
        // With a dealer there are few messages.
        at: (seed >> 8) as u32 % if dealer { 24 } else { 90 },
        ..Fault::random(seed, parties)
    };
    let job = Arc::new(job(parties, dealer, seed));
    let trial = |patience| {
        let (world, limit) = impatient(parties, seed, patience);
        let (judge, job) = (Arc::clone(&job), Arc::clone(&job));
        let right = move |me: Party, output: &Option<Rows>| match output {
            Some(output) => *output == judge.expected,
            None => !judge.plan.spec().to.contains(&me), // a dealer too
        };
        let program = move |context| work(Arc::clone(&job), context);
        run_with_fault(&world, fault, limit, program, right)
    };
    must_end_well(&format!("MADRIGAL_FAULT={parties},{seed}"), trial).fired
}

#[test]
fn a_job_under_random_faults_ends_right_or_with_an_error() {
    under_random_faults(false);
}

#[test]
fn a_job_with_a_dealer_under_random_faults_ends_right_or_with_an_error() {
    under_random_faults(true);
}

fn under_random_faults(dealer: bool) {
    if let Ok(text) = std::env::var("MADRIGAL_FAULT") {
        let (parties, seed) = text.split_once(',').expect("MADRIGAL_FAULT=parties,seed");
        try_fault(parties.parse().unwrap(), dealer, seed.parse().unwrap());
        return;
    }
    let wanted = std::env::var("MADRIGAL_FAULTS").ok();
    let trials = wanted.map_or(200, |text| {
        text.parse().expect("MADRIGAL_FAULTS is a number")
    });
    let seed = seed();
    let (next, fired) = (AtomicU64::new(0), AtomicU64::new(0));
    std::thread::scope(|scope| {
        for _ in 0..AT_ONCE {
            scope.spawn(|| {
                loop {
                    let number = next.fetch_add(1, Relaxed);
                    if number >= trials {
                        return;
                    }
                    let mut prg = Prg::new(Block::new(seed, number));
                    let parties = 2 + usize::from(dealer) + (number % 2) as usize;
                    let came = try_fault(parties, dealer, prg.next_block().lo());
                    fired.fetch_add(u64::from(came), Relaxed);
                }
            });
        }
    });
    let fired = fired.load(Relaxed);
    println!("{trials} trials, the fault came in {fired}");
    assert!(
        fired * 3 > trials,
        "most faults should come before the job is over"
    );
}
