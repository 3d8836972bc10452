//! Faults while a query runs: every living party ends in time with the right rows, or with one error that names who is at fault.
//!
//! `MADRIGAL_FAULTS` sets how many are tried; `cargo xtask soak` tries them without end.
#![allow(clippy::print_stdout)] // what was tried

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering::Relaxed};

use madrigal_engine::{RunError, evaluate_program};
use madrigal_net::transport::Fault;
use madrigal_net::{Context, Error};
use madrigal_program::lower::Mix;
use madrigal_program::{Everyone, Inputs, Party, Planned};
use madrigal_tables::{Answer, Query};
use madrigal_testkit::{impatient, must_end_well, run_with_fault, seed};

use crate::costs::{Case, frame};

/// Trials under way at once: most of a trial is waiting for a limit to pass.
const AT_ONCE: usize = 4;
/// Trials unless told otherwise.
const TRIALS: u64 = 60;
/// Packets from one party to another among which a fault happens: the query has about as many.
const PACKETS: u32 = 36;

/// A query that joins, groups and sorts, with the rows that it gives.
struct Job {
    query: Query,
    inputs: Inputs,
    planned: Planned,
    expected: Answer,
}

impl Job {
    fn new() -> Self {
        let case = Case::new(12, 8);
        let query = Query::new(&frame(&case), 3, Everyone).unwrap();
        let inputs = case.inputs(&query, |row| (row * 5 % 7, 100 * row + 501));
        let outputs = query.computation().simulate(&inputs).unwrap();
        let expected = query.result(&outputs).unwrap();
        assert!(expected.rows.len() > 2, "{expected}");
        Self {
            planned: query.computation().plan(Mix::R, None, &|_| {}).unwrap(),
            query,
            inputs,
            expected,
        }
    }

    async fn work(self: Arc<Self>, context: Context) -> Result<Answer, Error> {
        let program = self.query.computation();
        let given = self.planned.given(program, &self.inputs, context.me());
        let given = given.unwrap();
        match evaluate_program(&context, &self.planned.plan, given, &|_| {}).await {
            Ok(values) => {
                let outputs = self.planned.executable.outputs(&values).unwrap();
                Ok(self.query.result(&outputs).unwrap())
            }
            Err(RunError::Net(error)) => Err(error),
            Err(other) => panic!("{other}"),
        }
    }
}

fn try_fault(job: &Arc<Job>, seed: u64) -> bool {
    let fault = Fault {
        at: (seed >> 8) as u32 % PACKETS,
        ..Fault::random(seed, 3)
    };
    let trial = |patience| {
        let (world, limit) = impatient(3, seed, patience);
        let (judge, job) = (Arc::clone(job), Arc::clone(job));
        let right = move |_: Party, answer: &Answer| *answer == judge.expected;
        let program = move |context| Arc::clone(&job).work(context);
        // Parties of a busy machine compute, and are neither silent nor stalled.
        run_with_fault(&world, fault, 4 * limit, program, right)
    };
    must_end_well(&format!("MADRIGAL_FAULT={seed}"), trial).fired
}

#[test]
fn queries_under_random_faults_end_right_or_with_an_error() {
    let job = Arc::new(Job::new());
    if let Ok(text) = std::env::var("MADRIGAL_FAULT") {
        let seed: u64 = text.parse().expect("MADRIGAL_FAULT is a number");
        try_fault(&job, seed);
        return;
    }
    let wanted = std::env::var("MADRIGAL_FAULTS").ok();
    let wanted = wanted.map(|text| text.parse().expect("MADRIGAL_FAULTS is a number"));
    let trials: u64 = wanted.unwrap_or(TRIALS);
    let first = seed();
    let (next, fired) = (AtomicU64::new(0), AtomicU64::new(0));
    std::thread::scope(|scope| {
        for _ in 0..AT_ONCE {
            scope.spawn(|| {
                loop {
                    let number = next.fetch_add(1, Relaxed);
                    if number >= trials {
                        return;
                    }
                    // The lower bits choose the fault, and others its place.
                    let seed = first.wrapping_add(number.wrapping_mul(0x9E37_79B9_7F4A_7C15));
                    fired.fetch_add(u64::from(try_fault(&job, seed)), Relaxed);
                }
            });
        }
    });
    let fired = fired.load(Relaxed);
    println!("{trials} trials, the fault came in {fired}");
    // A few trials may all have late faults.
    assert!(
        trials < 20 || fired * 2 > trials,
        "most faults should come before the query is over"
    );
}
