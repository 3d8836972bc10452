//! Attacks carried out. Each prints its seed, from which all of it follows.

use madrigal_kernels::{Block, Prg};

use crate::decoding::{System, chance};
use crate::minors::{Code, exists, peel, random};
use crate::problem::{Problem, log2_binomial};
use crate::sparse::undetermined;

/// A linear equation with bits for coefficients, the value in the place past the last unknown.
pub(super) type Row = Vec<u64>;

pub(super) fn row(unknowns: usize) -> Row {
    vec![0; unknowns / 64 + 1]
}

pub(super) fn bit(row: &[u64], i: usize) -> bool {
    row[i / 64] >> (i % 64) & 1 == 1
}

pub(super) fn flip(row: &mut [u64], i: usize) {
    row[i / 64] ^= 1 << (i % 64);
}

fn add(to: &mut [u64], from: &[u64]) {
    for (to, from) in to.iter_mut().zip(from) {
        *to ^= from;
    }
}

/// Gauss-Jordan elimination of the first `columns` places; returns the pivots' columns, whose rows come
/// first and in their order.
pub(super) fn eliminate(rows: &mut [Row], columns: usize) -> Vec<usize> {
    let mut pivots = Vec::new();
    for column in 0..columns {
        let rank = pivots.len();
        let Some(found) = (rank..rows.len()).find(|&i| bit(&rows[i], column)) else {
            continue;
        };
        rows.swap(rank, found);
        let pivot = rows[rank].clone();
        for (i, row) in rows.iter_mut().enumerate() {
            if i != rank && bit(row, column) {
                add(row, &pivot);
            }
        }
        pivots.push(column);
    }
    pivots
}

/// A toy problem with its secret, and one error in each bin.
struct Toy {
    problem: Problem,
    code: Code,
    secret: Vec<bool>,
    values: Vec<bool>,
    errors: Vec<usize>,
}

impl Toy {
    fn new(seed: u64, [n, k, t, d]: [usize; 4]) -> Self {
        let code = Code::new(seed, n, k, d);
        let mut prg = Prg::new(Block::new(seed, 0x6572_726f));
        let mut words = vec![0; k + t];
        prg.fill_words(&mut words);
        let secret: Vec<bool> = words[..k].iter().map(|word| word & 1 == 1).collect();
        let errors: Vec<usize> = (0..t)
            .map(|bin| bin * (n / t) + words[k + bin] as usize % (n / t))
            .collect();
        let sum = |row: &[u32]| row.iter().fold(false, |sum, &j| sum ^ secret[j as usize]);
        let mut values: Vec<bool> = code.rows().map(sum).collect();
        for &error in &errors {
            values[error] ^= true;
        }
        Toy {
            problem: Problem::new(n, k, t, d).expect("a toy problem"),
            code,
            secret,
            values,
            errors,
        }
    }

    fn bin(&self) -> usize {
        self.problem.bin() as usize
    }

    /// The equation of row i, in `width` places, for the columns that have a number.
    fn equation(&self, i: usize, width: usize, numbers: &[Option<usize>]) -> Option<Row> {
        let mut equation = row(width);
        for &column in &self.code.ones[i * self.code.locality..][..self.code.locality] {
            flip(&mut equation, numbers[column as usize]?);
        }
        if self.values[i] {
            flip(&mut equation, width);
        }
        Some(equation)
    }

    /// The sums of the bins, which have exactly one error each.
    fn sums(&self, width: usize, numbers: &[Option<usize>]) -> Vec<Row> {
        let rows = 0..self.values.len();
        let bins = rows.step_by(self.bin()).map(|first| {
            let mut sum = row(width);
            flip(&mut sum, width);
            for i in first..first + self.bin() {
                add(
                    &mut sum,
                    &self.equation(i, width, numbers).expect("all columns"),
                );
            }
            sum
        });
        bins.collect()
    }

    /// Whether the equations determine the columns with a number, as they are in the secret.
    fn solved(&self, mut equations: Vec<Row>, width: usize, numbers: &[Option<usize>]) -> bool {
        let pivots = eliminate(&mut equations, width);
        let consistent = equations[pivots.len()..].iter().all(|row| !bit(row, width));
        let values = pivots
            .iter()
            .zip(&equations)
            .map(|(&j, row)| (j, bit(row, width)));
        let mut found = vec![None; width];
        values.for_each(|(j, value)| found[j] = Some(value));
        // Rows with an even number of ones leave the secret and its complement apart by nothing. And
        // a column of such a small minor may have no row by bad luck.
        let differences = (self.secret.iter().zip(numbers))
            .filter_map(|(&bit, number)| Some(bit ^ found[(*number)?]?));
        let ones = differences.filter(|&differs| differs).count();
        let right = ones == 0 || ones == pivots.len() && self.code.locality.is_multiple_of(2);
        consistent && right && 50 * pivots.len() >= 49 * width
    }
}

/// Whether `hits` of as many tries as there are chances are within 4.5 standard deviations.
pub(super) fn as_often_as(what: &str, hits: usize, chances: &[f64]) {
    let mean: f64 = chances.iter().sum();
    let deviation = chances.iter().map(|p| p * (1.0 - p)).sum::<f64>().sqrt();
    let tries = chances.len();
    println!("{what}: {hits} of {tries}, {mean:.1} +- {deviation:.1} expected");
    assert!(mean > 20.0, "{what}: {mean} hits expected show nothing");
    assert!((hits as f64 - mean).abs() < 4.5 * deviation, "{what}");
}

fn seeds(first: u64, tries: u64) -> impl Iterator<Item = u64> {
    println!("seeds from {first}");
    first..first + tries
}

fn numbered(columns: &[bool]) -> (usize, Vec<Option<usize>>) {
    let mut count = 0;
    let numbers = columns.iter().map(|&kept| {
        count += usize::from(kept);
        kept.then(|| count - 1)
    });
    let numbers = numbers.collect();
    (count, numbers)
}

#[test]
fn pooled_gauss() {
    let [n, k, t, d] = [4096_usize, 200, 32, 10];
    // Takes equally many rows from each bin, and some more than unknowns, to make the rank full.
    let each = (k - t + 10).div_ceil(t);
    let (mut hits, mut chances) = (0, Vec::new());
    for seed in seeds(100, 400) {
        let toy = Toy::new(seed, [n, k, t, d]);
        let (width, numbers) = numbered(&vec![true; k]);
        let mut equations = toy.sums(width, &numbers);
        for bin in 0..t {
            let rows = bin * toy.bin()..bin * toy.bin() + each;
            equations.extend(rows.filter_map(|i| toy.equation(i, width, &numbers)));
        }
        hits += usize::from(toy.solved(equations, width, &numbers));
        let system = System {
            unknowns: (each * t) as f64,
            solve: 0.0,
        };
        chances.push((-system.gauss(&toy.problem)).exp2());
    }
    as_often_as("pooled Gauss", hits, &chances);
}

const MINOR: [usize; 4] = [9000, 600, 36, 10];
/// Rows more than columns, so that a wrong solution shows.
const SURPLUS: usize = 12;

/// Solves the minor that `choose` finds in each toy; returns the mean share of the columns.
fn minors(what: &str, first: u64, choose: impl Fn(&Toy, &mut Prg) -> Vec<bool>) -> f64 {
    let (mut hits, mut chances, mut columns) = (0, Vec::new(), 0);
    for seed in seeds(first, 250) {
        let toy = Toy::new(seed, MINOR);
        let (width, numbers) = numbered(&choose(&toy, &mut Prg::new(Block::new(seed, 1))));
        let rows = 0..toy.values.len();
        let equations: Vec<Row> = rows
            .filter_map(|i| toy.equation(i, width, &numbers))
            .collect();
        let system = System {
            unknowns: equations.len() as f64,
            solve: 0.0,
        };
        chances.push((-system.gauss(&toy.problem)).exp2());
        hits += usize::from(toy.solved(equations, width, &numbers));
        columns += width;
    }
    as_often_as(what, hits, &chances);
    columns as f64 / chances.len() as f64 / MINOR[1] as f64
}

#[test]
fn random_minors() {
    let share = minors("random minors", 200, |toy, prg| {
        // Columns in a random order: a row is in once its last column is.
        let k = toy.code.columns;
        let mut keys = vec![0; k];
        prg.fill_words(&mut keys);
        let mut order: Vec<usize> = (0..k).collect();
        order.sort_by_key(|&column| keys[column]);
        let mut place = vec![0; k];
        order
            .iter()
            .enumerate()
            .for_each(|(i, &column)| place[column] = i);
        let mut complete = vec![0; k];
        for row in toy.code.rows() {
            let last = row.iter().map(|&column| place[column as usize]).max();
            complete[last.expect("ten ones")] += 1;
        }
        let mut rows = 0;
        let enough = |&i: &usize| {
            rows += complete[i];
            rows >= i + 1 + SURPLUS
        };
        let last = (0..k).find(enough).expect("all columns have enough rows");
        place.iter().map(|&place| place <= last).collect()
    });
    let problem = dense();
    assert!((share - random(&problem)).abs() < 0.01, "{share}");
}

#[test]
fn greedy_minors() {
    let share = minors("greedy minors", 300, |toy, prg| {
        // A fresh choice for each try: some columns are dropped at random first.
        let mut words = [0; 8];
        prg.fill_words(&mut words);
        let mut dropped: Vec<usize> = words.map(|word| word as usize % MINOR[1]).into();
        dropped.sort_unstable();
        dropped.dedup();
        peel(&toy.code, SURPLUS, &dropped)
    });
    let (best, random) = (exists(&dense()), random(&dense()));
    assert!(
        best < share && share < 0.95 * random,
        "{best} {share} {random}"
    );
}

/// The columns of full-sized codes: no greedy attacker comes below the bound.
#[test]
fn greed_stays_above_the_bound() {
    for (seed, [n, k, t, d]) in [(1, [43_520, 9_728, 340, 10]), (2, [60_000, 4_000, 600, 8])] {
        let problem = Problem::new(n, k, t, d).expect("a problem");
        let left = peel(&Code::new(seed, n, k, d), SURPLUS, &[]);
        let share = left.iter().filter(|&&kept| kept).count() as f64 / k as f64;
        let (best, random) = (exists(&problem), random(&problem));
        println!("greedy {share:.3} between {best:.3} and {random:.3}");
        assert!(best < share && share < 0.95 * random);
        let kept = |row: &[u32]| row.iter().all(|&column| left[column as usize]);
        let rows = Code::new(seed, n, k, d)
            .rows()
            .filter(|row| kept(row))
            .count();
        assert!(rows as f64 >= share * k as f64);
    }
}

fn dense() -> Problem {
    let [n, k, t, d] = MINOR;
    Problem::new(n, k, t, d).expect("a toy problem")
}

/// Lists with one error in either half of the bins, on l bits: how often they lie so, and how many
/// pairs match by chance.
#[test]
fn lists_of_one_error() {
    const L: usize = 8;
    let [n, k, t, d] = [1024_usize, 73, 16, 10];
    // The rank is one less than the number of columns, since all rows are even.
    let each = (k - 1 - t + L) / t;
    let (mut hits, mut chances, mut matches, mut tried) = (0, Vec::new(), 0, 0);
    for seed in seeds(400, 1200) {
        let toy = Toy::new(seed, [n, k, t, d]);
        let (_, numbers) = numbered(&vec![true; k]);
        let chosen: Vec<usize> = (0..t)
            .flat_map(|bin| bin * toy.bin()..bin * toy.bin() + each)
            .collect();
        // Beside each equation and its value, a mark of its own: what the checks are sums of.
        let width = k + 1 + chosen.len();
        let mut equations: Vec<Row> = chosen
            .iter()
            .filter_map(|&i| toy.equation(i, k, &numbers))
            .chain(toy.sums(k, &numbers))
            .map(|mut equation| {
                equation.resize(width / 64 + 1, 0);
                equation
            })
            .collect();
        for (i, equation) in equations.iter_mut().take(chosen.len()).enumerate() {
            flip(equation, k + 1 + i);
        }
        let rank = eliminate(&mut equations, k).len();
        let checks = &equations[rank..];
        if checks.len() != L {
            continue;
        }
        tried += 1;
        let pack = |place: usize| {
            let bits = checks.iter().map(|check| bit(check, place));
            bits.fold(0_u32, |all, bit| all << 1 | u32::from(bit))
        };
        let syndrome = pack(k);
        let marks: Vec<u32> = (0..chosen.len()).map(|i| pack(k + 1 + i)).collect();
        let (left, right) = marks.split_at(marks.len() / 2);
        let mut found = false;
        for (i, a) in left.iter().enumerate() {
            for (j, b) in right.iter().enumerate() {
                if a ^ b == syndrome {
                    matches += 1;
                    let wrong = [chosen[i], chosen[left.len() + j]];
                    let right = |row: &usize| toy.errors.contains(row) == wrong.contains(row);
                    found |= chosen.iter().all(right);
                }
            }
        }
        hits += usize::from(found);
        let places = 2.0 * log2_binomial(t as f64 / 2.0, 1.0);
        chances.push(chance(&toy.problem, places, 2.0, each as f64).exp2());
    }
    as_often_as("lists", hits, &chances);
    let list = (t / 2 * each) as f64;
    let expected = f64::from(tried) * list * list / f64::from(1 << L);
    let ratio = f64::from(matches) / expected;
    assert!((0.9..1.15).contains(&ratio), "{ratio} times the matches");
}

/// The products of a bin's errors, times all monomials of lower degree: what they leave is what the
/// Hilbert series says, down to the secret alone.
#[test]
fn products_of_errors_determine_the_secret() {
    for (k, degree) in [(14, 2), (20, 2), (23, 2), (23, 3)] {
        let (t, bin) = (6, 8);
        let (seed, mut monomials) = (500, vec![0_u32]);
        println!("seed {seed}: {k} unknowns, degree {degree}");
        let mut first = 0;
        for _ in 0..degree {
            let end = monomials.len();
            for i in first..end {
                let above = 32 - monomials[i].leading_zeros();
                let next: Vec<u32> = (above..k).map(|j| monomials[i] | 1 << j).collect();
                monomials.extend(next);
            }
            first = end;
        }
        let place: std::collections::HashMap<u32, usize> =
            monomials.iter().enumerate().map(|(i, &m)| (m, i)).collect();
        let toy = Toy::new(seed, [t * bin, k as usize, t, 3]);
        // The error of a row as a polynomial: its columns and its value.
        let error = |i: usize| -> Vec<u32> {
            let columns = &toy.code.ones[3 * i..3 * i + 3];
            let ones = columns.iter().map(|&column| 1 << column);
            ones.chain(toy.values[i].then_some(0)).collect()
        };
        let mut rows = Vec::new();
        let lower = |m: &&u32| m.count_ones() as usize <= degree - 2;
        for (i, j) in (0..t * bin).flat_map(|i| (i + 1..t * bin).map(move |j| (i, j))) {
            if i / bin != j / bin {
                continue;
            }
            for m in monomials.iter().filter(lower) {
                let mut equation = row(monomials.len());
                for a in error(i) {
                    for b in error(j) {
                        flip(&mut equation, place[&(a | b | m)]);
                    }
                }
                rows.push(equation);
            }
        }
        let rank = eliminate(&mut rows, monomials.len()).len();
        let left = undetermined(f64::from(k), t as f64, bin as f64, degree);
        let found = (monomials.len() - rank) as f64;
        println!("{found} monomials are left, {left} expected");
        // The constant is one; the secret makes it and all others known.
        if left == 0.0 {
            assert!(found <= 2.0, "{found} are left");
        } else {
            assert!(
                (found / left - 1.0).abs() < 0.05,
                "{found} are left, not {left}"
            );
        }
    }
}
