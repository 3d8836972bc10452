//! Table 7: single operations and conversions.

use madrigal_operations::{BmrTool, BooleanGmwTool, FromKeys, ToKeys};
use madrigal_program::lower::{Mix, Sharing};
use madrigal_program::{Bits, Inputs, Plain, Secret, Unsigned};

use super::bench::{Case, CaseProgram, random};
use super::costs::{self, Size};
use super::published::Part;
use crate::programs::workloads::{Random, Recorded, Recording};

/// Numbers of bits, of numbers, and of conversions of numbers, as the paper has them.
const BITS: usize = 1_000_000;
const NUMBERS: usize = 100_000;
const CONVERSIONS: usize = 1000;

const A: Sharing = Sharing::A;
const B: Sharing = Sharing::B;
const Y: Sharing = Sharing::Y;

pub(super) fn cases() -> Vec<Case> {
    let mut cases = Vec::new();
    bits(&mut cases);
    between(&mut cases);
    numbers::<u8>(&mut cases);
    numbers::<u16>(&mut cases);
    numbers::<u32>(&mut cases);
    numbers::<u64>(&mut cases);
    cases
}

fn case(
    name: String,
    paper: Vec<Part>,
    mix: Mix,
    ops: usize,
    make: impl Fn(&mut Random, usize) -> Recording + 'static,
) -> Case {
    Case {
        name,
        mix,
        ops,
        whole: false,
        paper,
        make: CaseProgram::program(make),
    }
}

/// Between B and Y.
fn between(cases: &mut Vec<Case>) {
    let b2y = |size| costs::converted::<BooleanGmwTool, BmrTool>(size, ToKeys::new());
    let y2b = |size| costs::converted::<BmrTool, BooleanGmwTool>(size, FromKeys::new());
    let both = [
        ("B2Y/1", ["Share^B", "Rec^Y"], CaseProgram::Graph(b2y)),
        ("Y2B/1", ["Share^Y", "Rec^B"], CaseProgram::Graph(y2b)),
    ];
    cases.extend(both.map(|(name, [share, open], make)| Case {
        name: name.to_owned(),
        paper: [share, name, open].map(|part| (1, part.to_owned())).into(),
        // No typed program has this mix: the operations are a graph.
        mix: Mix::Y,
        ops: BITS,
        whole: false,
        make,
    }));
}

fn bits(cases: &mut Vec<Case>) {
    type Of = fn(&Secret<bool>, &Secret<bool>) -> Secret<bool>;
    let operations: [(&str, Of); 2] = [("AND", |x, y| x & y), ("XOR", |x, y| x ^ y)];
    for (letter, sharing, mix) in [("B", B, Mix::B), ("Y", Y, Mix::Y)] {
        let [share, open] = ["Share", "Rec"].map(|name| format!("{name}^{letter}"));
        let name = format!("{share} and {open}");
        let paper = vec![(1, share.clone()), (1, open.clone())];
        cases.push(case(name, paper, mix, BITS, move |random, parties| {
            one::<bool>(random, parties, BITS, |x| x.to(sharing))
        }));
        for (name, operation) in operations {
            let name = format!("{name}^{letter}");
            let paper = vec![(2, share.clone()), (1, name.clone()), (1, open.clone())];
            cases.push(case(name, paper, mix, BITS, move |random, parties| {
                two(random, parties, BITS, |x, y| {
                    operation(&x.to(sharing), &y.to(sharing))
                })
            }));
        }
    }
}

fn numbers<T: Unsigned>(cases: &mut Vec<Case>) {
    let width = T::TYPE.bits();
    let [share, open] = ["Share^A", "Rec^A"].map(|name| format!("{name}/{width}"));
    let name = format!("{share} and {open}");
    let paper = vec![(1, share.clone()), (1, open.clone())];
    cases.push(case(name, paper, Mix::AB, NUMBERS, |random, parties| {
        one::<T>(random, parties, NUMBERS, |x| x.to(A))
    }));
    type Of<T> = fn(&Secret<T>, &Secret<T>) -> Secret<T>;
    let operations: [(&str, Of<T>); 3] = [
        ("ADD", |x, y| x + y),
        ("MUL", |x, y| x * y),
        // The second operand is not used, and so not shared.
        ("SQR", |x, _| x.square()),
    ];
    for (name, operation) in operations {
        let square = name == "SQR";
        let name = format!("{name}^A/{width}");
        let shared = if square { 1 } else { 2 };
        let paper = vec![
            (shared, share.clone()),
            (1, name.clone()),
            (1, open.clone()),
        ];
        cases.push(case(
            name,
            paper,
            Mix::AB,
            NUMBERS,
            move |random, parties| {
                two(random, parties, NUMBERS, |x: Secret<T>, y: Secret<T>| {
                    operation(&x.to(A), &y.to(A)).to(A)
                })
            },
        ));
    }
    let conversions = [
        ("A2B", A, B, Mix::AB),
        ("A2Y", A, Y, Mix::AY),
        ("B2A", B, A, Mix::AB),
        ("Y2A", Y, A, Mix::AY),
    ];
    let edge = |what: &str, sharing| match sharing {
        A => (1, format!("{what}^A/{width}")),
        B => (width, format!("{what}^B")),
        _ => (width, format!("{what}^Y")),
    };
    for (name, from, to, mix) in conversions {
        let name = format!("{name}/{width}");
        let paper = vec![edge("Share", from), (1, name.clone()), edge("Rec", to)];
        cases.push(case(
            name,
            paper,
            mix,
            CONVERSIONS,
            move |random, parties| one::<T>(random, parties, CONVERSIONS, |x| x.to(from).to(to)),
        ));
    }
}

/// A function of one party's values, opened to all.
fn one<T: Plain>(
    words: &mut Random,
    parties: usize,
    count: usize,
    function: impl Fn(Secret<T>) -> Secret<T>,
) -> Recording {
    Ok(Recorded {
        program: costs::of_one(Size { parties, count }, function)?,
        inputs: Inputs::new().with(random::<T>(words, count)),
    })
}

/// A function of the values of two.
fn two<T: Bits>(
    words: &mut Random,
    parties: usize,
    count: usize,
    function: impl Fn(Secret<T>, Secret<T>) -> Secret<T>,
) -> Recording {
    let [x, y] = [(); 2].map(|()| random::<T>(words, count));
    Ok(Recorded {
        program: costs::program(Size { parties, count }, function)?,
        inputs: Inputs::new().with(x).with(y),
    })
}
