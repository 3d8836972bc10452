//! Programs that are measured, with their inputs, by name.
//!
//! A family is a function that adds its rows to the list; [`all`] names the families.

use std::ops::Range;

use madrigal_core::Party;
use madrigal_program::lower::Mix;
use madrigal_program::{
    Everyone, Fixed, Inputs, Integer, Number, Program, ProgramError, Secret, Signed, Window,
};

use crate::exit::{Failure, Result};
use crate::programs::workloads::{Random, Recorded, Recording, with_inputs};

/// One name of the benchmark.
pub(super) struct Workload {
    pub name: String,
    /// The mix and the number of parties.
    pub mix: (Mix, usize),
    /// Number of values that go in.
    pub values: usize,
    make: Box<Make>,
}

/// Records a program with random inputs in a mix.
type Make = dyn Fn(&mut Random, (Mix, usize)) -> std::result::Result<Case, ProgramError>;

/// A program with inputs, and where its result is not exact, the real numbers of its first output.
pub(super) struct Case {
    pub recorded: Recorded,
    pub exact: Option<Vec<f64>>,
}

impl Workload {
    /// The program, with random inputs.
    pub(super) fn make(&self) -> Result<Case> {
        (self.make)(&mut Random::new()?, self.mix).map_err(Failure::bug)
    }
}

/// Numbers of networks.
type Number16 = Fixed<i64, 16>;

pub(super) fn all() -> Vec<Workload> {
    let mut all = Vec::new();
    relu::<i64>(&mut all, "u64");
    relu::<i32>(&mut all, "u32");
    products(&mut all);
    softmax(&mut all);
    gelu(&mut all);
    each(&mut all, "exp", EITHER_SIGN, |x| x.exp(), f64::exp);
    each(
        &mut all,
        "sigmoid",
        EITHER_SIGN,
        |x| x.sigmoid(),
        |x| 1.0 / (1.0 + (-x).exp()),
    );
    each(&mut all, "tanh", EITHER_SIGN, |x| x.tanh(), f64::tanh);
    each(
        &mut all,
        "reciprocal",
        0.1..100.0,
        |x| x.reciprocal(),
        f64::recip,
    );
    each(&mut all, "sqrt", 0.0..100.0, |x| x.sqrt(), f64::sqrt);
    all
}

/// Adds ReLU of signed numbers of as many bits as the name says.
fn relu<T: Signed + Integer>(all: &mut Vec<Workload>, name: &str) {
    const VALUES: usize = 100_000;
    for mix in [
        (Mix::AB, 2),
        (Mix::AY2, 2),
        (Mix::ALPHA_BETA, 2),
        (Mix::BETA, 2),
        (Mix::ALPHA_Y2, 2),
        (Mix::R, 3),
    ] {
        all.push(Workload {
            name: format!("relu/{name}/{VALUES}/{}", mix.0),
            mix,
            values: VALUES,
            make: Box::new(|random, mix| {
                let mut numbers = || -> Vec<T> {
                    let words = random.words(VALUES);
                    words
                        .into_iter()
                        .map(|word| T::decode(word.into()))
                        .collect()
                };
                let (x, y) = (numbers(), numbers());
                let recorded = on_shared(mix, x, y, |x| x.relu())?;
                Ok(Case {
                    recorded,
                    exact: None,
                })
            }),
        });
    }
}

/// A product of two parties' matrices of 128 x 128, and a convolution as networks have them: one party's image of 64
/// channels of 56 x 56, another one's 64 filters of 3 x 3.
fn products(all: &mut Vec<Workload>) {
    const SIDE: usize = 128;
    const IMAGE: [usize; 4] = [1, 64, 56, 56];
    const FILTERS: [usize; 4] = [64, 64, 3, 3];
    let window = Window {
        padding: [[1, 1], [1, 1]],
        ..Window::default()
    };
    let shapes = [
        (
            format!("matmul/u64/{SIDE}"),
            [vec![SIDE, SIDE], vec![SIDE, SIDE]],
            true,
        ),
        (
            "conv/u64/64x56x56x64x3".to_owned(),
            [FILTERS.to_vec(), IMAGE.to_vec()],
            false,
        ),
    ];
    for mix in [(Mix::AB, 2), (Mix::ALPHA_BETA, 2), (Mix::R, 3)] {
        for (name, axes, matrices) in shapes.clone() {
            let values = axes.iter().map(|axes| axes.iter().product::<usize>()).sum();
            all.push(Workload {
                name: format!("{name}/{}", mix.0),
                mix,
                values,
                make: Box::new(move |random, (_, parties)| {
                    let mut p = Program::new(parties);
                    let mut inputs = Inputs::new();
                    let mut secrets = Vec::new();
                    for (owner, axes) in axes.iter().enumerate() {
                        secrets.push(p.input::<u64>(Party::new(owner), &axes[..]));
                        let count = axes.iter().product();
                        let shape = secrets[owner].shape().clone();
                        inputs = inputs.with((shape, random.words(count)));
                    }
                    let product = match matrices {
                        true => secrets[0].matmul(&secrets[1]),
                        false => secrets[1].convolve(&secrets[0], window),
                    };
                    p.open(product, Party::new(1));
                    Ok(Case {
                        recorded: with_inputs(p, inputs)?,
                        exact: None,
                    })
                }),
            });
        }
    }
}

/// Mixes in which functions with a fixed point are measured.
const MIXES: [(Mix, usize); 6] = [
    (Mix::AB, 2),
    (Mix::AY2, 2),
    (Mix::ALPHA_BETA, 2),
    (Mix::ALPHA_Y2, 2),
    (Mix::B, 2),
    (Mix::R, 3),
];

/// Rows of ten numbers from -8 to 8.
fn softmax(all: &mut Vec<Workload>) {
    const ROW: usize = 10;
    fixed(
        all,
        "softmax",
        EITHER_SIGN,
        |x| x.reshape([VALUES / ROW, ROW]).softmax(1).flatten(),
        |x| {
            let row = |row: &[f64]| -> Vec<f64> {
                let sum: f64 = row.iter().map(|x| x.exp()).sum();
                row.iter().map(|x| x.exp() / sum).collect()
            };
            x.chunks(ROW).flat_map(row).collect()
        },
    );
}

/// Numbers from -8 to 8. The distribution function by its series, which is exact enough there.
fn gelu(all: &mut Vec<Workload>) {
    let real = |x: f64| {
        let (mut term, mut sum) = (x, x);
        for n in 1..300 {
            term *= x * x / f64::from(2 * n + 1);
            sum += term;
        }
        let density = (-x * x / 2.0).exp() / (2.0 * std::f64::consts::PI).sqrt();
        x * (0.5 + density * sum)
    };
    each(all, "gelu", EITHER_SIGN, |x| x.gelu(), real);
}

/// A function of each number by itself.
fn each(
    all: &mut Vec<Workload>,
    name: &str,
    numbers: Range<f64>,
    function: fn(&Secret<Number16>) -> Secret<Number16>,
    real: impl Fn(f64) -> f64 + Copy + 'static,
) {
    let real = move |x: &[f64]| x.iter().map(|&x| real(x)).collect();
    fixed(all, name, numbers, function, real);
}

/// Numbers of a function with a fixed point.
const VALUES: usize = 10_000;

/// Numbers that most functions are measured on.
const EITHER_SIGN: Range<f64> = -8.0..8.0;

/// A function of such numbers in all mixes, and what it is in real numbers.
fn fixed(
    all: &mut Vec<Workload>,
    name: &str,
    numbers: Range<f64>,
    function: fn(&Secret<Number16>) -> Secret<Number16>,
    real: impl Fn(&[f64]) -> Vec<f64> + Copy + 'static,
) {
    // Each number is a sum of two.
    let [least, most] = [numbers.start, numbers.end].map(|x| (x / 2.0 * 65536.0) as i64);
    for mix in MIXES {
        all.push(Workload {
            name: format!("{name}/{VALUES}/{}", mix.0),
            mix,
            values: VALUES,
            make: Box::new(move |random, mix| {
                let mut numbers = || -> Vec<Number16> {
                    let number = |word: u64| {
                        let above = (u128::from(word) * (most - least) as u128) >> 64;
                        Number16::from_raw(least + above as i64)
                    };
                    random.words(VALUES).into_iter().map(number).collect()
                };
                let (x, y) = (numbers(), numbers());
                let sums: Vec<f64> = x
                    .iter()
                    .zip(&y)
                    .map(|(x, y)| x.to_f64() + y.to_f64())
                    .collect();
                let recorded = on_shared(mix, x, y, function)?;
                let exact = Some(real(&sums));
                Ok(Case { recorded, exact })
            }),
        });
    }
}

/// A function of numbers as they come out of a sum, in the ring where the mix has one, which stay there until
/// they are opened. In `B` and `beta` sums are circuits, so that the first party's numbers are taken as they
/// come.
fn on_shared<T: Number>(
    (mix, parties): (Mix, usize),
    x: Vec<T>,
    y: Vec<T>,
    function: impl Fn(&Secret<T>) -> Secret<T>,
) -> Recording {
    let mut p = Program::new(parties);
    let mut input = |party| p.input::<T>(Party::new(party), [x.len()]);
    if mix.arithmetic_is_in_a_ring() {
        let sum = input(0) + input(1);
        p.open(function(&sum).to(mix.ring()), Everyone);
        return with_inputs(p, Inputs::new().with(x).with(y));
    }
    let sums = x
        .iter()
        .zip(&y)
        .map(|(x, y)| T::decode(x.encode().wrapping_add(y.encode())));
    let sums: Vec<T> = sums.collect();
    let numbers = input(0);
    p.open(function(&numbers), Everyone);
    with_inputs(p, Inputs::new().with(sums))
}
