//! Programs that are measured, with their inputs.

use std::time::Duration;

use madrigal_core::Party;
use madrigal_kernels::{Block, Prg};
use madrigal_net::transport::Profile;
use madrigal_program::lower::{Mix, Sharing};
use madrigal_program::{Computation, Everyone, Inputs, Program, ProgramError, Secret};
use madrigal_psi_programs::{Ask, Parts, Question};

use crate::exit::{Failure, Result};
use crate::reach::Network;

/// Rows and columns of the matrices.
const SIZE: usize = 1000;
/// Features of an entry.
const FEATURES: usize = 4;
/// Products one after the other, and side by side, of `figure1`.
const DEPTH: usize = 100;
const WIDTH: usize = 1_000_000;

/// Items that each of two parties has, of `matched`.
const ITEMS: u64 = 1_000_000;

/// One name of the benchmark.
pub(super) struct Workload {
    pub name: &'static str,
    /// The mix and the number of parties.
    pub mix: (Mix, usize),
    /// Operations of which a rate is told.
    pub ops: Option<usize>,
    /// Times are told without base OTs too.
    pub beyond_base_ots: bool,
    /// Network of the runs, unless `--network` names another.
    pub network: Network,
    make: Make,
    /// Parts of the same program, each as a program of its own.
    parts: &'static [Make],
}

/// A program and inputs for it.
pub struct Recorded {
    pub program: Computation,
    pub inputs: Inputs,
}

pub type Recording = std::result::Result<Recorded, ProgramError>;

/// Records a program for a number of parties, with random inputs.
type Make = fn(&mut Random, usize) -> Recording;

impl Workload {
    const fn new(name: &'static str, mix: (Mix, usize), make: Make) -> Self {
        Self {
            name,
            mix,
            ops: None,
            beyond_base_ots: false,
            network: Network::new(None),
            make,
            parts: &[],
        }
    }

    /// The program, with random inputs.
    pub(super) fn make(&self) -> Result<Recorded> {
        self.recorded(self.make)
    }

    /// Each part of the program as one of its own.
    pub(super) fn parts(&self) -> Result<Vec<Recorded>> {
        self.parts.iter().map(|&part| self.recorded(part)).collect()
    }

    fn recorded(&self, make: Make) -> Result<Recorded> {
        make(&mut Random::new()?, self.mix.1).map_err(Failure::bug)
    }
}

pub(super) fn all() -> Vec<Workload> {
    let (ab2, ab3, r3) = ((Mix::AB, 2), (Mix::AB, 3), (Mix::R, 3));
    let (ay2, ay3) = ((Mix::AY, 2), (Mix::AY, 3));
    let latency = Profile {
        latency: Duration::from_millis(20),
        ..Profile::default()
    };
    let (few, many): (Make, Make) = (
        |random, parties| matching(random, parties, 1024),
        |random, parties| matching(random, parties, 4096),
    );
    let conversion = |name, mix, make| Workload {
        ops: Some(1000),
        beyond_base_ots: true,
        ..Workload::new(name, mix, make)
    };
    vec![
        Workload {
            ops: Some(1_000_000),
            ..Workload::new("mul/u64/n2", ab2, products)
        },
        Workload {
            ops: Some(1_000_000),
            ..Workload::new("mul/u64/n3", ab3, products)
        },
        Workload {
            ops: Some(SIZE.pow(3)),
            ..Workload::new("matmul/u64/1000/n2", ab2, |random, parties| {
                matrices(random, parties, SIZE)
            })
        },
        conversion("b2a/u32/n2", ab2, |random, parties| {
            conversions(random, parties, [Sharing::B, Sharing::A])
        }),
        conversion("a2b/u32/n2", ab2, |random, parties| {
            conversions(random, parties, [Sharing::A, Sharing::B])
        }),
        conversion("y2a/u32/n2", ay2, |random, parties| {
            conversions(random, parties, [Sharing::Y, Sharing::A])
        }),
        conversion("a2y/u32/n2", ay2, |random, parties| {
            conversions(random, parties, [Sharing::A, Sharing::Y])
        }),
        Workload {
            ops: Some(100_000),
            ..Workload::new("lt/u64/n2", ab2, comparisons)
        },
        Workload {
            ops: Some(ITEMS as usize),
            ..Workload::new("matched/count/n2", ab2, |random, _| {
                matched(random, [Ask::Count])
            })
        },
        Workload {
            ops: Some(ITEMS as usize),
            ..Workload::new("matched/sum/n2", ab2, |random, _| {
                matched(random, [Ask::Count, Ask::Sum])
            })
        },
        Workload::new("biometric/ab/n3/1024", ab3, few),
        Workload::new("biometric/ab/n3/4096", ab3, many),
        Workload::new("biometric/ay/n3/1024", ay3, few),
        Workload::new("biometric/ay/n3/4096", ay3, many),
        Workload::new("biometric/r/n3/4096", r3, many),
        Workload {
            network: Network::new(Some(latency)),
            parts: &[
                |random, parties| figure1(random, parties, [true, false]),
                |random, parties| figure1(random, parties, [false, true]),
            ],
            ..Workload::new("figure1", ab2, |random, parties| {
                figure1(random, parties, [true, true])
            })
        },
    ]
}

/// Values that need not be secret.
pub struct Random(Prg);

impl Random {
    pub fn new() -> Result<Self> {
        let mut seed = [0; 16];
        getrandom::fill(&mut seed).map_err(Failure::bug)?;
        Ok(Self(Prg::new(Block::from_bytes(seed))))
    }

    /// Values that follow from a seed.
    pub fn of(seed: u64) -> Self {
        Self(Prg::new(Block::new(seed, 0)))
    }

    pub fn fill(&mut self, bytes: &mut [u8]) {
        self.0.fill(bytes);
    }

    pub fn words(&mut self, count: usize) -> Vec<u64> {
        let mut words = vec![0; count];
        self.0.fill_words(&mut words);
        words
    }

    /// Numbers of this many bits.
    fn numbers(&mut self, count: usize, bits: u32) -> Vec<u32> {
        let words = self.words(count).into_iter();
        words.map(|word| (word >> (64 - bits)) as u32).collect()
    }
}

const SERVER: Party = Party::new(0);
const CLIENT: Party = Party::new(1);

pub fn with_inputs(p: Program, inputs: Inputs) -> Recording {
    Ok(Recorded {
        program: p.finish()?,
        inputs,
    })
}

fn products(random: &mut Random, parties: usize) -> Recording {
    const COUNT: usize = 1_000_000;
    let mut p = Program::new(parties);
    let [x, y] = [SERVER, CLIENT].map(|owner| p.input::<u64>(owner, [COUNT]));
    let _ = p.open(x * y, CLIENT);
    let [x, y] = [(); 2].map(|()| random.words(COUNT));
    with_inputs(p, Inputs::new().with(x).with(y))
}

/// A product of two parties' square matrices.
pub fn matrices(random: &mut Random, parties: usize, size: usize) -> Recording {
    let mut p = Program::new(parties);
    let shape = [size, size];
    let [x, y] = [SERVER, CLIENT].map(|owner| p.input::<u64>(owner, shape));
    let _ = p.open(x.matmul(&y), CLIENT);
    let inputs = Inputs::new()
        .with((shape, random.words(size * size)))
        .with((shape, random.words(size * size)));
    with_inputs(p, inputs)
}

/// Numbers that are shared in one way, then in another.
fn conversions(random: &mut Random, parties: usize, [from, to]: [Sharing; 2]) -> Recording {
    const COUNT: usize = 1000;
    let mut p = Program::new(parties);
    let x = p.input::<u32>(SERVER, [COUNT]).to(from).to(to);
    let _ = p.open(x, CLIENT);
    with_inputs(p, Inputs::new().with(random.numbers(COUNT, 32)))
}

/// Comparisons of numbers that are shared in A.
fn comparisons(random: &mut Random, parties: usize) -> Recording {
    const COUNT: usize = 100_000;
    let mut p = Program::new(parties);
    let [x, y] = [SERVER, CLIENT].map(|owner| {
        let number = p.input::<u64>(owner, [COUNT]);
        number.to(Sharing::A)
    });
    let _ = p.open(x.lt(&y), CLIENT);
    let [x, y] = [(); 2].map(|()| random.words(COUNT));
    with_inputs(p, Inputs::new().with(x).with(y))
}

/// The program that follows when two lists were put into bins: every third bin's item is in both of them.
fn matched<const N: usize>(random: &mut Random, asks: [Ask; N]) -> Recording {
    let bins = (ITEMS + ITEMS / 4) as usize;
    let question = Question::new(asks);
    let parts = Parts::new(bins, CLIENT, SERVER);
    let asked = question.program(parts, Everyone)?;
    let [found, mut targets] = [(); 2].map(|()| random.words(bins));
    for bin in (0..bins).step_by(3) {
        targets[bin] = found[bin];
    }
    let mut inputs = Inputs::new().with(found).with(targets);
    if question.has(Ask::Sum) {
        inputs = inputs.with(random.words(bins)).with(random.words(bins));
    }
    Ok(Recorded {
        program: asked.program,
        inputs,
    })
}

/// The nearest entry of a table, and its squared distance.
pub fn matching(random: &mut Random, parties: usize, entries: usize) -> Recording {
    let mut p = Program::new(parties);
    let table = p.input::<u32>(SERVER, [entries, FEATURES]);
    let query = p.input::<u32>(CLIENT, [FEATURES]);
    let distances = (table - query).square().sum(1);
    let _ = p.open(distances.min_with_place(), CLIENT);
    let table = random.numbers(entries * FEATURES, 8);
    let inputs = Inputs::new().with(([entries, FEATURES], table));
    with_inputs(p, inputs.with(random.numbers(FEATURES, 8)))
}

/// Figure 1 of MOTION: a deep, narrow part beside a wide, shallow one, which do not depend on each other.
fn figure1(random: &mut Random, parties: usize, [deep, wide]: [bool; 2]) -> Recording {
    let mut p = Program::new(parties);
    let mut inputs = Inputs::new();
    if deep {
        let [mut x, y]: [Secret<u64>; 2] = [SERVER, CLIENT].map(|owner| p.input(owner, [1]));
        for _ in 0..DEPTH {
            x = &x * &y;
        }
        let _ = p.open(x, Everyone);
        inputs = inputs.with(random.words(1)).with(random.words(1));
    }
    if wide {
        let [x, y]: [Secret<u64>; 2] = [SERVER, CLIENT].map(|owner| p.input(owner, [WIDTH]));
        let _ = p.open(x * y, Everyone);
        inputs = inputs.with(random.words(WIDTH)).with(random.words(WIDTH));
    }
    with_inputs(p, inputs)
}
