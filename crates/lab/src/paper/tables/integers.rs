//! Table 8: integers in B and Y, 1,000 side by side.

use madrigal_core::Party;
use madrigal_program::lower::Mix;
use madrigal_program::{Everyone, Inputs, Program, Unsigned};

use super::{Jobs, of_one, random, run_program};
use crate::paper::bench::{Bench, Job, Quantity};
use crate::paper::published::Place;
use crate::programs::workloads::{Random, Recording, with_inputs};

const LANES: usize = 1000;

#[derive(Clone, Copy)]
enum Operation {
    Equal,
    Add,
    Divide,
    Greater,
    Multiply,
    Subtract,
}

/// The paper's names.
const OPERATIONS: [(&str, Operation); 6] = [
    ("EQ", Operation::Equal),
    ("ADD", Operation::Add),
    ("DIV", Operation::Divide),
    ("GT", Operation::Greater),
    ("MUL", Operation::Multiply),
    ("SUB", Operation::Subtract),
];

pub fn jobs(bench: &Bench<'_>, _: &Place) -> Jobs {
    let (mut jobs, lanes) = (Vec::new(), bench.scaled(LANES));
    of::<u8>(&mut jobs, lanes);
    of::<u16>(&mut jobs, lanes);
    of::<u32>(&mut jobs, lanes);
    of::<u64>(&mut jobs, lanes);
    Ok(jobs)
}

fn of<T: Unsigned>(jobs: &mut Vec<Job<'static>>, lanes: usize) {
    for (name, operation) in OPERATIONS {
        for mix in [Mix::B, Mix::Y] {
            let name = format!("{name}^{mix}/{}", T::TYPE.bits());
            let quantities = vec![Quantity::seconds(name, "total")];
            jobs.push(Job::new(quantities, move |bench, place| {
                let make =
                    |random: &mut Random, parties| make::<T>(random, parties, operation, lanes);
                run_program(bench, place, (mix, false), make, |measured| {
                    vec![of_one(measured, lanes, |times| times.beyond_base_ots)]
                })
            }));
        }
    }
}

fn make<T: Unsigned>(
    words: &mut Random,
    parties: usize,
    operation: Operation,
    lanes: usize,
) -> Recording {
    let mut p = Program::new(parties);
    let [x, y] = [0, 1].map(|owner| p.input::<T>(Party::new(owner), [lanes]));
    let number = match operation {
        Operation::Equal | Operation::Greater => None,
        Operation::Add => Some(&x + &y),
        Operation::Subtract => Some(&x - &y),
        Operation::Multiply => Some(&x * &y),
        Operation::Divide => Some(&x / &y),
    };
    match (number, operation) {
        (Some(number), _) => drop(p.open(number, Everyone)),
        (None, Operation::Equal) => drop(p.open(x.eq(&y), Everyone)),
        (None, _) => drop(p.open(x.gt(&y), Everyone)),
    }
    let [x, y] = [(); 2].map(|()| random::<T>(words, lanes));
    with_inputs(p, Inputs::new().with(x).with(y))
}
