//! Table 8: integers in B and Y, 1,000 side by side.

use madrigal_core::Party;
use madrigal_program::lower::Mix;
use madrigal_program::{Everyone, Inputs, Program, Unsigned};

use super::bench::{Case, CaseProgram, random};
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

pub(super) fn cases() -> Vec<Case> {
    let mut cases = Vec::new();
    of::<u8>(&mut cases);
    of::<u16>(&mut cases);
    of::<u32>(&mut cases);
    of::<u64>(&mut cases);
    cases
}

fn of<T: Unsigned>(cases: &mut Vec<Case>) {
    for (name, operation) in OPERATIONS {
        for mix in [Mix::B, Mix::Y] {
            let name = format!("{name}^{mix}/{}", T::TYPE.bits());
            cases.push(Case {
                paper: vec![(1, name.clone())],
                name,
                mix,
                ops: LANES,
                whole: false,
                make: CaseProgram::program(move |random, parties| {
                    make::<T>(random, parties, operation)
                }),
            });
        }
    }
}

fn make<T: Unsigned>(words: &mut Random, parties: usize, operation: Operation) -> Recording {
    let mut p = Program::new(parties);
    let [x, y] = [0, 1].map(|owner| p.input::<T>(Party::new(owner), [LANES]));
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
    let [x, y] = [(); 2].map(|()| random::<T>(words, LANES));
    with_inputs(p, Inputs::new().with(x).with(y))
}
