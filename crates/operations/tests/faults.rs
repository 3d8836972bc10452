//! Random faults while a real job runs, at any step from the greeting to the finish: every live party
//! ends in time with the right result or one clear error.
//!
//! `MADRIGAL_FAULTS` sets how many are tried; `cargo xtask soak` tries them without end.
#![allow(clippy::print_stdout, clippy::unwrap_used)] // what was tried; helpers

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering::Relaxed};

use crate::common::{Planned, netlist, own, plan, random_rows, schemes};
use crate::programs::{Built, conversions, equal, own as own_values};
use madrigal_circuit::Rows;
use madrigal_core::{Party, Phase};
use madrigal_correlations_make::deal;
use madrigal_engine::{
    Given, Opening, Phases, Plan, PlanSpec, RunError, Shares, Width, evaluate_program,
};
use madrigal_kernels::{Block, Prg};
use madrigal_net::transport::Fault;
use madrigal_net::{Context, Error};
use madrigal_operations::{
    AlphaTool, ArithmeticGmwTool, BetaTool, BmrTool, Boolean, BooleanGmwTool, Circuit, Gated, Mul,
    ReplicatedTool, Rings, Scheme as BranchScheme, ShareToKeys, evaluate_rows,
};
use madrigal_testkit::{impatient, must_end_well, run_with_fault, seed};

/// Trials under way at once: most of a trial is waiting for a limit to pass.
const AT_ONCE: u64 = 8;

struct Job {
    plan: Planned,
    inputs: Rows,
    expected: Rows,
}

/// In which protocol, and with what.
#[derive(Clone, Copy, PartialEq, Eq)]
enum How {
    Boolean,
    Dealt,
    Masked,
    Garbled,
    GarbledByAll,
}

/// The session's last party is a dealer, or computes like the others.
fn job(parties: usize, how: How, seed: u64) -> Job {
    let dealer = how == How::Dealt;
    let parties = parties - usize::from(dealer);
    let netlist = netlist("int_div8_size.bristol");
    let opening = if seed.is_multiple_of(2) {
        Opening::Direct
    } else {
        Opening::Relay
    };
    let (lanes, memory, phases) = match seed % 4 {
        0 => (1, 1 << 20, Phases::Sequential),
        1 => (1000, 1 << 20, Phases::Sequential),
        2 => (1000, 16 << 10, Phases::Interleaved),
        _ => (1000, 4 << 20, Phases::Interleaved),
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
    let plan = match how {
        How::Boolean => plan,
        How::Dealt => crate::common::dealt(&plan),
        How::Masked => crate::common::masked(&plan),
        How::Garbled => {
            let scheme = schemes()[(seed >> 4) as usize % 2];
            plan.in_protocol(scheme)
        }
        How::GarbledByAll => {
            // Tables of a job in sequential phases are kept.
            let memory = if phases == Phases::Sequential {
                64 << 20
            } else {
                memory
            };
            crate::common::garbled_by_all(&plan.with(|spec| PlanSpec { memory, ..spec }))
        }
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
    if context.me().index() >= job.plan.job.parties {
        deal(&context.enter(Phase::Setup, "setup")).await?;
        return Ok(None);
    }
    let own = own(&job.plan.job, &job.inputs, context.me());
    match evaluate_rows(&context, &job.plan, own, &|_| {}).await {
        Ok(output) => Ok(output),
        Err(RunError::Net(error)) => Err(error),
        Err(other) => panic!("{other}"),
    }
}

fn try_fault(parties: usize, how: How, seed: u64) -> bool {
    let dealer = how == How::Dealt;
    let fault = Fault {
        // With a dealer there are few messages.
        at: (seed >> 8) as u32 % if dealer { 24 } else { 90 },
        ..Fault::random(seed, parties)
    };
    let job = Arc::new(job(parties, how, seed));
    let trial = |patience| {
        let (world, limit) = impatient(parties, seed, patience);
        let (judge, job) = (Arc::clone(&job), Arc::clone(&job));
        let right = move |me: Party, output: &Option<Rows>| match output {
            Some(output) => *output == judge.expected,
            None => !judge.plan.job.to.contains(&me), // a dealer too
        };
        let program = move |context| work(Arc::clone(&job), context);
        run_with_fault(&world, fault, limit, program, right)
    };
    must_end_well(&format!("MADRIGAL_FAULT={parties},{seed}"), trial).fired
}

/// A program and its inputs, with the outputs that it should have.
struct Program {
    plan: Plan,
    inputs: Vec<Shares>,
    expected: Vec<Shares>,
}

/// Products, conversions and bits times numbers, one after the other.
fn program<P: Rings, B: Boolean>(parties: usize, seed: u64) -> Program {
    let mut built = Built::new(parties, seed);
    let len = if seed.is_multiple_of(3) { 1 } else { 300 };
    let x = built.ring::<P>(Width::W8, len);
    let y = built.ring::<P>(Width::W8, len);
    let product = built.graph.add_one(Mul::<P>::new(), &[x, y]).unwrap();
    let [less, chosen, back] = conversions::<P, B>(&mut built.graph, Width::W8, [product, y]);
    built.open_to_all::<B>(less);
    built.open::<P>(chosen, &[0]);
    built.open::<P>(back, &[parties - 1]);
    let spec = PlanSpec {
        opening: [Opening::Direct, Opening::Relay][seed as usize % 2],
        phases: [None, Some(Phases::Interleaved)][seed as usize / 2 % 2],
        memory: 16 << 10 << (seed / 4 % 2 * 8),
        threads: 1 + seed as usize / 8 % 2,
        ..PlanSpec::new(built.graph.clone())
    };
    let spec = PlanSpec {
        memory: if spec.phases.is_none() {
            64 << 20
        } else {
            spec.memory
        },
        ..spec
    };
    Program {
        plan: Plan::new(spec).unwrap(),
        expected: built.graph.simulate(&built.inputs).unwrap(),
        inputs: built.inputs,
    }
}

async fn work_on_values(job: Arc<Program>, context: Context) -> Result<Vec<Shares>, Error> {
    let given = Given {
        inputs: own_values(&job.plan.spec().graph, &job.inputs, context.me()),
        ..Given::default()
    };
    match evaluate_program(&context, &job.plan, given, &|_| {}).await {
        Ok(outputs) => Ok(outputs),
        Err(RunError::Net(error)) => Err(error),
        Err(other) => panic!("{other}"),
    }
}

fn try_program(program: Program, messages: u32, seed: u64) -> bool {
    let parties = program.plan.spec().graph.parties();
    let fault = Fault {
        at: (seed >> 8) as u32 % messages,
        ..Fault::random(seed, parties)
    };
    let job = Arc::new(program);
    let trial = |patience| {
        let (world, limit) = impatient(parties, seed, patience);
        let (judge, job) = (Arc::clone(&job), Arc::clone(&job));
        let right = move |me: Party, outputs: &Vec<Shares>| {
            let graph = &judge.plan.spec().graph;
            let mut all = outputs.iter().zip(&judge.expected).zip(graph.outputs());
            all.all(|((output, expected), value)| {
                let known = graph.sort(*value).sharing.is_known_to(me);
                output.is_known() == known && (!known || equal(output, expected))
            })
        };
        let program = move |context| work_on_values(Arc::clone(&job), context);
        run_with_fault(&world, fault, limit, program, right)
    };
    must_end_well(&format!("MADRIGAL_FAULT={parties},{seed}"), trial).fired
}

/// More strands than `try_join_all` looks at each by itself, most of which wait for others and not for messages.
#[test]
fn strands_that_wait_for_each_other_hear_of_a_fault() {
    let seed = seed();
    for trial in 0..24 {
        let seed = seed.wrapping_add(trial << 8);
        let mut built = Built::new(2, seed);
        let mut chains: Vec<_> = (0..48)
            .map(|_| built.ring::<ArithmeticGmwTool>(Width::W8, 1))
            .collect();
        for step in 0..4 {
            let before = chains.clone();
            for (place, chain) in chains.iter_mut().enumerate() {
                let other = before[(place + 7 * step + 5) % before.len()];
                let product = Mul::<ArithmeticGmwTool>::new();
                *chain = built.graph.add_one(product, &[*chain, other]).unwrap();
            }
        }
        for chain in chains {
            built.open_to_all::<ArithmeticGmwTool>(chain);
        }
        let spec = PlanSpec {
            phases: Some(Phases::Interleaved),
            memory: 16 << 10,
            ..PlanSpec::new(built.graph.clone())
        };
        let program = Program {
            plan: Plan::new(spec).unwrap(),
            expected: built.graph.simulate(&built.inputs).unwrap(),
            inputs: built.inputs,
        };
        try_program(program, 24, seed);
    }
}

#[test]
fn a_job_under_random_faults_ends_right_or_with_an_error() {
    under_random_faults([2, 3], |parties, seed| {
        try_fault(parties, How::Boolean, seed)
    });
}

#[test]
fn a_job_with_a_dealer_under_random_faults_ends_right_or_with_an_error() {
    under_random_faults([3, 4], |parties, seed| try_fault(parties, How::Dealt, seed));
}

#[test]
fn a_job_with_masks_under_random_faults_ends_right_or_with_an_error() {
    under_random_faults([2, 2], |parties, seed| {
        try_fault(parties, How::Masked, seed)
    });
}

#[test]
fn a_garbled_job_under_random_faults_ends_right_or_with_an_error() {
    under_random_faults([2, 2], |parties, seed| {
        try_fault(parties, How::Garbled, seed)
    });
}

#[test]
fn a_job_garbled_by_all_under_random_faults_ends_right_or_with_an_error() {
    under_random_faults([2, 3], |parties, seed| {
        try_fault(parties, How::GarbledByAll, seed)
    });
}

#[test]
fn a_program_in_a_and_b_under_random_faults_ends_right_or_with_an_error() {
    under_random_faults([2, 3], |parties, seed| {
        let program = program::<ArithmeticGmwTool, BooleanGmwTool>(parties, seed);
        try_program(program, 40, seed)
    });
}

#[test]
fn secret_branches_under_random_faults_end_right_or_with_an_error() {
    under_random_faults([2, 3], |parties, seed| {
        let scheme = BranchScheme::ALL[seed as usize % 3];
        let lanes = [1, 300][seed as usize / 4 % 2];
        let branching = Arc::new(crate::branches::uneven());
        let built = crate::branches::built(&branching, scheme, parties, lanes, seed);
        let spec = PlanSpec {
            opening: [Opening::Direct, Opening::Relay][seed as usize / 8 % 2],
            phases: [None, Some(Phases::Interleaved)][seed as usize / 16 % 2],
            ..PlanSpec::new(built.graph.clone())
        };
        let program = Program {
            plan: Plan::new(spec).unwrap(),
            expected: built.graph.simulate(&built.inputs).unwrap(),
            inputs: built.inputs,
        };
        try_program(program, 24, seed)
    });
}

#[test]
fn variants_under_random_faults_end_right_or_with_an_error() {
    use crate::variants::{BY_OTS, THREE, built, to_keys};
    under_random_faults([2, 3], |parties, seed| {
        let len = [1, 300][seed as usize / 4 % 2];
        let netlist = netlist("int_add8_size.bristol");
        let circuit = |variants| Circuit::new(&netlist).with_variants(variants);
        let built = match seed % 3 {
            0 => built::<BooleanGmwTool>(&circuit(BY_OTS), parties, len, seed),
            1 => built::<BmrTool>(&circuit(THREE), parties, len, seed),
            _ => to_keys(Arc::new(ShareToKeys::new()), parties, len, seed),
        };
        let spec = PlanSpec {
            opening: [Opening::Direct, Opening::Relay][seed as usize / 8 % 2],
            phases: [None, Some(Phases::Interleaved)][seed as usize / 16 % 2],
            ..PlanSpec::new(built.graph.clone())
        };
        let program = Program {
            plan: Plan::new(spec).unwrap(),
            expected: built.graph.simulate(&built.inputs).unwrap(),
            inputs: built.inputs,
        };
        try_program(program, 40, seed)
    });
}

#[test]
fn ring_branches_under_random_faults_end_right_or_with_an_error() {
    under_random_faults([2, 3], |parties, seed| {
        let lanes = [1, 300][seed as usize / 4 % 2];
        let gated = Gated::ALL[seed as usize / 32 % 2];
        let formulas = crate::ring_branches::uneven();
        let built = crate::ring_branches::built(&formulas, gated, parties, lanes, seed);
        let spec = PlanSpec {
            opening: [Opening::Direct, Opening::Relay][seed as usize / 8 % 2],
            phases: [None, Some(Phases::Interleaved)][seed as usize / 16 % 2],
            ..PlanSpec::new(built.graph.clone())
        };
        let program = Program {
            plan: Plan::new(spec).unwrap(),
            expected: built.graph.simulate(&built.inputs).unwrap(),
            inputs: built.inputs,
        };
        try_program(program, 24, seed)
    });
}

#[test]
fn a_program_in_alpha_and_beta_under_random_faults_ends_right_or_with_an_error() {
    under_random_faults([2, 2], |parties, seed| {
        let program = program::<AlphaTool, BetaTool>(parties, seed);
        try_program(program, 40, seed)
    });
}

#[test]
fn products_of_bits_under_random_faults_end_right_or_with_an_error() {
    under_random_faults([2, 2], |_, seed| {
        let width = Width::ALL[seed as usize % Width::ALL.len()];
        let len = [1, 300][seed as usize / 8 % 2];
        let built = crate::pairs::opened(width, len, seed);
        let spec = PlanSpec {
            phases: [None, Some(Phases::Interleaved)][seed as usize / 16 % 2],
            threads: 1 + seed as usize / 32 % 2,
            ..built.spec()
        };
        let program = Program {
            plan: Plan::new(spec).unwrap(),
            expected: built.graph.simulate(&built.inputs).unwrap(),
            inputs: built.inputs,
        };
        try_program(program, 16, seed)
    });
}

#[test]
fn two_layers_in_a_round_under_random_faults_end_right_or_with_an_error() {
    under_random_faults([2, 2], |_, seed| {
        let (built, spec) = crate::two_layers::under_faults(seed);
        let program = Program {
            plan: Plan::new(spec).unwrap(),
            expected: built.graph.simulate(&built.inputs).unwrap(),
            inputs: built.inputs,
        };
        try_program(program, 24, seed)
    });
}

#[test]
fn a_program_in_r_under_random_faults_ends_right_or_with_an_error() {
    under_random_faults([3, 3], |parties, seed| {
        let program = program::<ReplicatedTool, ReplicatedTool>(parties, seed);
        try_program(program, 24, seed)
    });
}

/// Trials among as many parties as it says, one number after the other.
pub(crate) fn under_random_faults(sizes: [usize; 2], try_one: impl Fn(usize, u64) -> bool + Sync) {
    if let Ok(text) = std::env::var("MADRIGAL_FAULT") {
        let (parties, seed) = text.split_once(',').expect("MADRIGAL_FAULT=parties,seed");
        try_one(parties.parse().unwrap(), seed.parse().unwrap());
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
                    let parties = sizes[(number % 2) as usize];
                    let came = try_one(parties, prg.next_block().lo());
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
