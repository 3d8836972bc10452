//! Table 7: single operations and conversions.

use madrigal_engine::{Graph, GraphError, PlanSpec};
use madrigal_operations::{BmrTool, BooleanGmwTool, FromKeys, ToKeys};
use madrigal_program::lower::{Mix, Sharing};
use madrigal_program::{Bits, Inputs, Plain, Secret, Unsigned};

use super::costs::{self, Size};
use super::{Jobs, of_one, random, random_inputs, run, run_program, setting};
use crate::exit::{Failure, Result};
use crate::graphs::Measured;
use crate::paper::bench::{Bench, Job, Quantity, Told};
use crate::paper::estimate::Estimate;
use crate::paper::published::{Place, Published, Sheet};
use crate::paper::unit::Unit;
use crate::programs::measure::Operations;
use crate::programs::workloads::{Random, Recorded, Recording};

/// Numbers of bits, of numbers, and of conversions of numbers, as the paper has them.
const BITS: usize = 1_000_000;
const NUMBERS: usize = 100_000;
const CONVERSIONS: usize = 1000;

const A: Sharing = Sharing::A;
const B: Sharing = Sharing::B;
const Y: Sharing = Sharing::Y;

/// An operation by itself, and the whole job.
const ALONE: &str = "alone";
const WHOLE: &str = "with sharing and opening";

/// Parts of a job.
#[derive(Clone)]
struct Parts {
    /// Operands that are shared, elements of each, and the row of one element.
    share: (u32, u32, String),
    /// The row of the operation, if there is one.
    operation: Option<String>,
    /// Elements that are opened, and the row of one.
    open: (u32, String),
    /// Operations side by side.
    ops: usize,
}

impl Parts {
    /// The quantities of a job: where it has no operation, those of sharing and opening.
    fn quantities(&self) -> Vec<Quantity> {
        let of = |row: &String, what| Quantity::seconds(row.clone(), what);
        match &self.operation {
            None => vec![of(&self.share.2, ALONE), of(&self.open.1, ALONE)],
            Some(row) => vec![of(row, ALONE), of(row, WHOLE)],
        }
    }

    /// Values of each quantity. Setup is the operation's, or without one the sharing's.
    fn told(&self, measured: &Measured) -> Vec<Estimate> {
        let of = |pick: &dyn Fn(&crate::graphs::Times) -> f64| of_one(measured, self.ops, pick);
        match self.operation {
            None => vec![
                of(&|times| times.setup_beyond_base_ots + times.parts[0] + times.parts[1]),
                of(&|times| times.parts[2]),
            ],
            Some(_) => vec![
                of(&|times| times.setup_beyond_base_ots + times.parts[1]),
                of(&|times| times.beyond_base_ots),
            ],
        }
    }
}

/// Finds the paper's value of a part, and adds up its rows for a whole job.
fn published(sheet: &Sheet, quantity: &Quantity, place: &Place) -> Vec<Published> {
    if quantity.what == ALONE {
        return sheet.at(&quantity.row, ALONE, place);
    }
    let Some(parts) = parts_of(&quantity.row) else {
        return Vec::new();
    };
    let own = |row: &str| {
        let found = sheet
            .at(row, ALONE, place)
            .into_iter()
            .find(|one| one.of == "MOTION");
        found.and_then(|one| one.value)
    };
    let (operands, elements, share) = &parts.share;
    let (opened, open) = &parts.open;
    let shared = own(share).map(|one| f64::from(operands * elements) * one);
    let opened = own(open).map(|one| f64::from(*opened) * one);
    let value = match (shared, own(&quantity.row), opened) {
        (Some(shared), Some(operation), Some(opened)) => shared + operation + opened,
        _ => return Vec::new(),
    };
    vec![Published {
        of: "MOTION",
        value: Some(value),
        bound: None,
        unit: Unit::Seconds,
    }]
}

/// The parts of a row of an operation: what is shared before it and opened after it.
fn parts_of(row: &str) -> Option<Parts> {
    let (name, bits) = row.split_once('/').unwrap_or((row, "1"));
    let bits: u32 = bits.parse().ok()?;
    let edge = |letter: &str, what: &str| match letter {
        "A" => (1, format!("{what}^A/{bits}")),
        letter => (bits, format!("{what}^{letter}")),
    };
    let (operands, from, to, ops) = match (name.split_once('^'), name.split_once('2')) {
        (Some((operation, letter)), _) => {
            let operands = if operation == "SQR" { 1 } else { 2 };
            let ops = if letter == "A" { NUMBERS } else { BITS };
            (operands, letter, letter, ops)
        }
        (None, Some((from, to))) => (1, from, to, if bits == 1 { BITS } else { CONVERSIONS }),
        (None, None) => return None,
    };
    let ((elements, share), open) = (edge(from, "Share"), edge(to, "Rec"));
    Some(Parts {
        share: (operands, elements, share),
        operation: Some(row.to_owned()),
        open,
        ops,
    })
}

pub fn jobs(bench: &Bench<'_>, _: &Place) -> Jobs {
    let mut jobs = Table {
        bench,
        jobs: Vec::new(),
    };
    jobs.bits();
    jobs.between();
    jobs.numbers::<u8>();
    jobs.numbers::<u16>();
    jobs.numbers::<u32>();
    jobs.numbers::<u64>();
    Ok(jobs.jobs)
}

struct Table<'a> {
    bench: &'a Bench<'a>,
    jobs: Vec<Job<'static>>,
}

impl Table<'_> {
    fn add(
        &mut self,
        parts: Parts,
        run: impl FnOnce(&Bench<'_>, &Place, &Parts) -> Result<Told> + 'static,
    ) {
        let parts = Parts {
            ops: self.bench.scaled(parts.ops),
            ..parts
        };
        self.jobs.push(Job {
            published,
            ..Job::new(parts.quantities(), move |bench, place| {
                run(bench, place, &parts)
            })
        });
    }

    fn program(
        &mut self,
        parts: Parts,
        mix: Mix,
        make: impl FnOnce(&mut Random, usize, usize) -> Recording + 'static,
    ) {
        self.add(parts, move |bench, place, parts| {
            let make = |random: &mut Random, parties| make(random, parties, parts.ops);
            run_program(bench, place, (mix, true), make, |measured| {
                parts.told(measured)
            })
        });
    }

    /// A job of an operation's row.
    fn operation(
        &mut self,
        row: &str,
        mix: Mix,
        make: impl FnOnce(&mut Random, usize, usize) -> Recording + 'static,
    ) {
        if let Some(parts) = parts_of(row) {
            self.program(parts, mix, make);
        }
    }

    /// Between B and Y. No typed program has this mix: the operations are a graph.
    fn between(&mut self) {
        type Make = fn(Size) -> std::result::Result<Graph, GraphError>;
        let b2y: Make = |size| costs::converted::<BooleanGmwTool, BmrTool>(size, ToKeys::new());
        let y2b: Make = |size| costs::converted::<BmrTool, BooleanGmwTool>(size, FromKeys::new());
        for (row, make) in [("B2Y/1", b2y), ("Y2B/1", y2b)] {
            let Some(parts) = parts_of(row) else {
                continue;
            };
            self.add(parts, move |bench, place, parts| {
                let (parties, count) = (place.parties, parts.ops);
                let size = Size {
                    parties,
                    count,
                    variants: bench.args.variants(),
                };
                let graph = make(size).map_err(Failure::bug)?;
                let inputs = random_inputs(&graph)?;
                let setting = setting(bench, place, true)?;
                let planned = Operations::new(PlanSpec::new(graph), inputs, &setting)?;
                run(bench, &planned, &setting, |measured| parts.told(measured))
            });
        }
    }

    fn bits(&mut self) {
        type Of = fn(&Secret<bool>, &Secret<bool>) -> Secret<bool>;
        let operations: [(&str, Of); 2] = [("AND", |x, y| x & y), ("XOR", |x, y| x ^ y)];
        for (letter, sharing, mix) in [("B", B, Mix::B), ("Y", Y, Mix::Y)] {
            let edges = Parts {
                share: (1, 1, format!("Share^{letter}")),
                operation: None,
                open: (1, format!("Rec^{letter}")),
                ops: BITS,
            };
            self.program(edges, mix, move |random, parties, ops| {
                one::<bool>(random, parties, ops, |x| x.to(sharing))
            });
            for (name, operation) in operations {
                self.operation(
                    &format!("{name}^{letter}"),
                    mix,
                    move |random, parties, ops| {
                        two(random, parties, ops, |x, y| {
                            operation(&x.to(sharing), &y.to(sharing))
                        })
                    },
                );
            }
        }
    }

    fn numbers<T: Unsigned>(&mut self) {
        let width = T::TYPE.bits();
        let edges = Parts {
            share: (1, 1, format!("Share^A/{width}")),
            operation: None,
            open: (1, format!("Rec^A/{width}")),
            ops: NUMBERS,
        };
        self.program(edges, Mix::AB, |random, parties, ops| {
            one::<T>(random, parties, ops, |x| x.to(A))
        });
        type Of<T> = fn(&Secret<T>, &Secret<T>) -> Secret<T>;
        let operations: [(&str, Of<T>); 3] = [
            ("ADD", |x, y| x + y),
            ("MUL", |x, y| x * y),
            // The second operand is not used, and so not shared.
            ("SQR", |x, _| x.square()),
        ];
        for (name, operation) in operations {
            self.operation(
                &format!("{name}^A/{width}"),
                Mix::AB,
                move |random, parties, ops| {
                    two(random, parties, ops, |x: Secret<T>, y: Secret<T>| {
                        operation(&x.to(A), &y.to(A)).to(A)
                    })
                },
            );
        }
        let conversions = [
            ("A2B", A, B, Mix::AB),
            ("A2Y", A, Y, Mix::AY),
            ("B2A", B, A, Mix::AB),
            ("Y2A", Y, A, Mix::AY),
        ];
        for (name, from, to, mix) in conversions {
            self.operation(
                &format!("{name}/{width}"),
                mix,
                move |random, parties, ops| one::<T>(random, parties, ops, |x| x.to(from).to(to)),
            );
        }
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
        program: costs::of_one(Size::usual(parties, count), function)?,
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
        program: costs::program(Size::usual(parties, count), function)?,
        inputs: Inputs::new().with(x).with(y),
    })
}
