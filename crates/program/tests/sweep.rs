//! Every operator on every type, run by all parties: in every mix, among 2, 3 and 5 parties, in 1, 7, 64 and
//! 1,000 lanes, edges included, against the oracle.
//!
//! All types and operators are one program. By default each type meets each mix of A, B and R and each number
//! of lanes, but not every pair of these, and numbers of more than 32 bits meet 1,000 lanes in R alone;
//! `MADRIGAL_SWEEP=all` runs everything with everything, in the other mixes too; `MADRIGAL_SWEEP=A+Y`, that
//! mix alone.
#![allow(clippy::print_stdout)] // what has passed, and how long it took

use std::sync::atomic::AtomicUsize;
use std::sync::atomic::Ordering::Relaxed;
use std::time::Instant;

use madrigal_circuit::Goal;
use madrigal_core::Party;
use madrigal_program::lower::Mix;
use madrigal_program::{
    Bits, Everyone, Fixed, FixedWord, Inputs, Integer, Number, Plain, Program, Secret, Signed,
    Unsigned,
};

use crate::random::Random;
use crate::running::runs;

/// Mixes with numbers of parties, the usual ones first. Arithmetic alone is what A+B does in A: `+ - *`, sums,
/// products, squares, matrices.
const MIXES: [(Mix, usize); 18] = [
    (Mix::AB, 2),
    (Mix::B, 3),
    (Mix::R, 3),
    (Mix::AB, 5),
    (Mix::B, 2),
    (Mix::AB, 3),
    (Mix::B, 5),
    (Mix::AY2, 2),
    (Mix::Y2, 2),
    (Mix::AY, 2),
    (Mix::AY, 3),
    (Mix::AY, 5),
    (Mix::Y, 2),
    (Mix::Y, 3),
    (Mix::Y, 5),
    (Mix::ALPHA_BETA, 2),
    (Mix::ALPHA_Y2, 2),
    (Mix::BETA, 2),
];
/// Number of usual ones among them.
const USUAL: usize = 7;
const LANES: [usize; 4] = [1, 7, 64, 1000];

/// A program that grows, with its inputs.
struct Sweep {
    program: Program,
    inputs: Inputs,
    random: Random,
    lanes: usize,
    /// Types of many bits and lanes are too much for operators that take a circuit of their square.
    all: bool,
}

impl Sweep {
    /// Edges, small numbers and any, as many as there are lanes.
    fn values<T: Plain>(&mut self) -> Vec<T> {
        let bits = T::TYPE.bits();
        let top = 1_u128 << (bits - 1);
        let edges = [0, 1, u128::MAX, top, top - 1, top + 1, 2, u128::MAX - 1];
        let first = self.random.half() as usize;
        let value = |at: usize| match (first + at) % 3 {
            0 => edges[(first + at) / 3 % edges.len()],
            1 => self.random.word() >> (128 - 1 - self.random.half() % u128::from(bits) as u64),
            _ => self.random.word(),
        };
        (0..self.lanes).map(value).map(T::decode).collect()
    }

    fn input<T: Plain>(&mut self) -> Secret<T> {
        let values = self.values::<T>();
        let owner = Party::new(self.random.half() as usize % self.program.parties());
        let inputs = std::mem::take(&mut self.inputs);
        self.inputs = inputs.with(values);
        self.program.input(owner, [self.lanes])
    }

    fn open<T: Plain>(&mut self, value: Secret<T>) {
        self.program.open(value, Everyone);
    }

    /// Whether a circuit of about width^2 gates is not too much.
    fn may_be_large<T: Plain>(&self) -> bool {
        self.all || self.lanes * T::TYPE.bits() as usize <= 1024
    }

    fn on_any<T: Plain>(&mut self) -> [Secret<T>; 2] {
        let [x, y] = [self.input::<T>(), self.input::<T>()];
        let condition = self.input::<bool>();
        self.open(x.eq(&y));
        self.open(x.ne(&x));
        self.open(condition.select(&x, &y));
        self.open(x.reverse(0));
        let places = self.input::<u8>();
        self.open((places % 9).look_up(x.slice(0, ..self.lanes.min(7))));
        [x, y]
    }

    fn on_bits<T: Bits>(&mut self, [x, y]: &[Secret<T>; 2]) {
        self.open(x & y);
        self.open(x | y);
        self.open(x ^ y);
        self.open(!x);
        let rows = self.program.stack(&[x.clone(), y.clone(), x ^ y], 0);
        self.open(rows.all(0));
        self.open(rows.any(0));
        self.open(rows.parity(0));
    }

    fn on_number<T: Number>(&mut self, [x, y]: &[Secret<T>; 2]) {
        self.open(x + y);
        self.open(x - y);
        self.open(x.times(3));
        self.open(x.lt(y));
        self.open(x.ge(y));
        self.open(x.min(y));
        self.open(x.max(y));
        self.open(x.sum(0));
        self.open(x.prefix_sums(0));
        let few = x.slice(0, ..self.lanes.min(8));
        self.open(few.sort());
        let (most, place) = few.max_with_place();
        self.open(most);
        self.open(place);
        self.open(few.least(0));
        if self.may_be_large::<T>() {
            self.open(x * y);
            self.open(x.square());
            self.open(x.dot(y));
            let [row, two] = [1, 2].map(|rows| {
                few.slice(0, ..few.elements() / rows * rows)
                    .reshape([rows, few.elements() / rows])
            });
            self.open(two.matmul(two.transpose()));
            self.open(row.matmul(row.transpose()));
            self.open(x / y);
        }
    }

    fn on_integer<T: Integer>(&mut self, [x, y]: &[Secret<T>; 2]) {
        let by = T::TYPE.bits() / 3;
        self.open(x << by);
        self.open(x >> by);
        self.open(x.rotate_left(by));
        self.open(x.count_ones());
        self.open(x.leading_zeros());
        self.open(x.cast::<i16>());
        self.open(x.cast::<u128>());
        if self.may_be_large::<T>() {
            self.open(x % y);
            let rows = self.program.stack(&[x.clone(), y.clone(), x + y], 0);
            self.open(rows.product(0));
        }
    }

    fn on_unsigned<T: Unsigned>(&mut self) {
        let both = self.on_any::<T>();
        self.on_number(&both);
        self.on_integer(&both);
        self.on_bits(&both);
        let [x, y] = both;
        let by = y % T::decode(70);
        self.open(&x << &by);
        self.open(&x >> &by);
        self.open(x.rotate_left_by(&by));
        if self.may_be_large::<T>() {
            self.open(x.sqrt());
        }
    }

    fn on_signed<T: Signed + Integer>(&mut self) {
        let both = self.on_any::<T>();
        self.on_number(&both);
        self.on_integer(&both);
        self.on_bits(&both);
        let [x, _] = both;
        self.open(-&x);
        self.open(x.abs());
    }

    fn on_fixed<W: FixedWord, const F: u32>(&mut self) {
        let both = self.on_any::<Fixed<W, F>>();
        self.on_number(&both);
        let [x, _] = both;
        self.open(-&x);
        self.open(x.abs());
        self.open(x.floor());
        self.open(x.raw().to_fixed::<W, F>());
    }

    fn on_type(&mut self, number: usize) {
        match number {
            0 => {
                let both = self.on_any::<bool>();
                self.on_bits(&both);
                let [x, _] = both;
                self.open(x.count(0));
                self.open(x.cast::<i64>());
            }
            1 => self.on_unsigned::<u8>(),
            2 => self.on_unsigned::<u16>(),
            3 => self.on_unsigned::<u32>(),
            4 => self.on_unsigned::<u64>(),
            5 => self.on_unsigned::<u128>(),
            6 => self.on_signed::<i8>(),
            7 => self.on_signed::<i16>(),
            8 => self.on_signed::<i32>(),
            9 => self.on_signed::<i64>(),
            10 => self.on_signed::<i128>(),
            11 => self.on_fixed::<i16, 6>(),
            12 => self.on_fixed::<i32, 12>(),
            13 => self.on_fixed::<i64, 20>(),
            _ => self.on_fixed::<i128, 40>(),
        }
    }
}

const TYPES: usize = 15;
/// Types of more than 32 bits.
const WIDE: [usize; 6] = [4, 5, 9, 10, 13, 14];

#[test]
fn every_operator_on_every_type_in_every_mix() {
    let wanted = std::env::var("MADRIGAL_SWEEP").ok();
    let all = wanted.is_some();
    let mixes = match wanted.as_deref() {
        None => MIXES[..USUAL].to_vec(),
        Some("all") => MIXES.to_vec(),
        Some(name) => {
            let named = |(mix, _): &(Mix, usize)| mix.to_string() == name;
            MIXES.into_iter().filter(named).collect()
        }
    };
    assert!(!mixes.is_empty(), "MADRIGAL_SWEEP is `all` or a mix");
    let seed = madrigal_testkit::seed();
    let mut runs = Vec::new();
    for number in 0..mixes.len() {
        for turn in 0..if all { LANES.len() } else { 1 } {
            let goals = [Goal::Size, Goal::Depth];
            let one = &goals[number % 2..][..1];
            let goals = if all { &goals[..] } else { one };
            runs.extend(goals.iter().map(|&goal| (number, turn, goal)));
        }
    }
    let next = AtomicUsize::new(0);
    // A run's parties compute side by side.
    let workers = std::thread::available_parallelism().map_or(1, |cores| cores.get().div_ceil(4));
    std::thread::scope(|scope| {
        for _ in 0..workers {
            scope.spawn(|| {
                while let Some(&(number, turn, goal)) = runs.get(next.fetch_add(1, Relaxed)) {
                    let start = Instant::now();
                    sweep(&mixes, number, turn, goal, all, seed);
                    let (mix, parties) = mixes[number];
                    let seconds = start.elapsed().as_secs();
                    println!("{mix}, {parties} parties, turn {turn}, {goal:?}: {seconds} s");
                }
            });
        }
    });
}

/// All types and operators as one program in the mix of this number.
fn sweep(mixes: &[(Mix, usize)], number: usize, turn: usize, goal: Goal, all: bool, seed: u64) {
    let (mix, parties) = mixes[number];
    let mut sweep = Sweep {
        program: Program::new(parties),
        inputs: Inputs::new(),
        random: Random::new(seed.wrapping_add((number * LANES.len() + turn) as u64)),
        lanes: 0,
        all,
    };
    for ty in 0..TYPES {
        let lanes = LANES[(ty + number + turn) % LANES.len()];
        // Wide numbers in many lanes take minutes.
        let few = !all && WIDE.contains(&ty) && mix != Mix::R;
        sweep.lanes = if few { lanes.min(64) } else { lanes };
        sweep.on_type(ty);
    }
    let program = sweep.program.finish().expect("a program that can be");
    let what = format!("the sweep, turn {turn}, {parties} parties");
    runs(&program, &sweep.inputs, mix, goal, &what);
}
