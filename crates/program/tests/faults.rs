//! Random faults while programs on typed secrets run, of many operators in all protocols: every living party
//! ends in time with the right outputs or one clear error.
//!
//! `MADRIGAL_FAULTS` sets how many are tried; `cargo xtask soak` tries them without end.
#![allow(clippy::print_stdout)] // what was tried

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering::Relaxed};

use madrigal_circuit::Goal;
use madrigal_core::Party;
use madrigal_engine::{Given, Phases, RunError, evaluate_program};
use madrigal_net::transport::Fault;
use madrigal_net::{Context, Error};
use madrigal_program::generator::Recipe;
use madrigal_program::lower::Mix;
use madrigal_program::{Computation, Inputs, Outputs, Planned};
use madrigal_testkit::{impatient, must_end_well, run_with_fault};

use crate::lowering::dealt_by;
use crate::random::Random;

/// Trials under way at once: most of a trial is waiting for a limit to pass.
const AT_ONCE: usize = 4;
/// The most correlations of a trial, as steps of making them.
const MOST_STEPS: u64 = 1 << 16;
const MIXES: [(Mix, usize); 7] = [
    (Mix::AB, 2),
    (Mix::R, 3),
    (Mix::AB, 3),
    (Mix::B, 5),
    (Mix::AY2, 2),
    (Mix::AY, 3),
    (Mix::ALPHA_BETA, 2),
];

struct Job {
    program: Computation,
    /// By party.
    inputs: Vec<Inputs>,
    planned: Planned,
    expected: Outputs,
}

impl Job {
    /// The first from `seed` on that is over soon where nothing happens to it.
    fn quick(mix: Mix, parties: usize, seed: u64) -> Self {
        let jobs = (seed..).map(|seed| Self::new(mix, parties, seed));
        let quick = |job: &Self| job.planned.plan.needs().steps() <= MOST_STEPS;
        jobs.into_iter()
            .find(quick)
            .expect("there are such programs")
    }

    fn new(mix: Mix, parties: usize, seed: u64) -> Self {
        let recipe = Recipe {
            seed,
            parties,
            operations: 12,
            mix,
            functions: false,
        };
        let (program, inputs) = recipe.cook().expect("a program that can be");
        let goal = [Goal::Size, Goal::Depth][seed as usize % 2];
        let planned = program.plan(mix, Some(goal), &|spec| {
            if (seed / 2).is_multiple_of(3) {
                (spec.phases, spec.memory) = (Some(Phases::Interleaved), 64 << 10);
            }
            spec.threads = 1 + usize::from((seed / 8).is_multiple_of(4));
            if (seed / 32).is_multiple_of(2) {
                // Far away, circuits on masked bits do two layers in a round.
                spec.line.latency = 0.05;
            }
        });
        Self {
            planned: planned.expect("a plan that can be"),
            expected: program.simulate(&inputs).expect("inputs as declared"),
            inputs: dealt_by(&program, &inputs, mix),
            program,
        }
    }

    async fn work(self: Arc<Self>, context: Context) -> Result<Outputs, Error> {
        let given = Given {
            inputs: self
                .planned
                .executable
                .given(
                    &self.program,
                    &self.inputs[context.me().index()],
                    context.me(),
                )
                .expect("inputs as declared"),
            ..Given::default()
        };
        match evaluate_program(&context, &self.planned.plan, given, &|_| {}).await {
            Ok(values) => {
                Ok((self.planned.executable.outputs(&values)).expect("what is required holds"))
            }
            Err(RunError::Net(error)) => Err(error),
            Err(other) => panic!("{other}"),
        }
    }

    fn is_right(&self, me: Party, outputs: &Outputs) -> bool {
        let ports = self.program.outputs().iter();
        let all = outputs.arrays().zip(self.expected.arrays()).zip(ports);
        all.into_iter()
            .all(|((found, expected), port)| found == expected.filter(|_| port.is_for(me)))
    }
}

fn try_fault(number: usize, seed: u64) -> bool {
    let (mix, parties) = MIXES[number % MIXES.len()];
    let fault = Fault {
        at: (seed >> 8) as u32 % 60,
        ..Fault::random(seed, parties)
    };
    let job = Arc::new(Job::quick(mix, parties, seed));
    let trial = |patience| {
        let (world, limit) = impatient(parties, seed, patience);
        let (judge, job) = (Arc::clone(&job), Arc::clone(&job));
        let right = move |me: Party, outputs: &Outputs| judge.is_right(me, outputs);
        let program = move |context| Arc::clone(&job).work(context);
        // Parties of a busy machine compute, and are neither silent nor stalled.
        run_with_fault(&world, fault, 4 * limit, program, right)
    };
    must_end_well(&format!("MADRIGAL_FAULT={number},{seed}"), trial).fired
}

#[test]
fn mixed_programs_under_random_faults_end_right_or_with_an_error() {
    if let Ok(text) = std::env::var("MADRIGAL_FAULT") {
        let (number, seed) = text.split_once(',').expect("MADRIGAL_FAULT=number,seed");
        let [number, seed] = [number, seed].map(|text| text.parse::<u64>().expect("a number"));
        try_fault(number as usize, seed);
        return;
    }
    let wanted = std::env::var("MADRIGAL_FAULTS").ok();
    // For each number of parties, as elsewhere.
    let trials = wanted.map_or(80, |text| {
        MIXES.len() * text.parse::<usize>().expect("MADRIGAL_FAULTS is a number")
    });
    let mut random = Random::fresh();
    let seeds: Vec<u64> = (0..trials).map(|_| random.half()).collect();
    let (next, fired) = (AtomicU64::new(0), AtomicU64::new(0));
    std::thread::scope(|scope| {
        for _ in 0..AT_ONCE {
            scope.spawn(|| {
                loop {
                    let number = next.fetch_add(1, Relaxed) as usize;
                    let Some(&seed) = seeds.get(number) else {
                        return;
                    };
                    fired.fetch_add(u64::from(try_fault(number, seed)), Relaxed);
                }
            });
        }
    });
    let fired = fired.load(Relaxed) as usize;
    println!("{trials} trials, the fault came in {fired}");
    assert!(
        fired * 4 > trials,
        "many faults should come before the job is over"
    );
}
