//! The attack on several bits at once, carried out: it succeeds as often as the formula says.

use madrigal_kernels::{Block, Prg};

use super::simulated::as_often_as;
use crate::decoding::System;
use crate::interleaved::interleaved;
use crate::minors::Code;
use crate::problem::Problem;

const BITS: usize = 16;

/// An equation: a bit for each unknown, and the value.
#[derive(Clone)]
struct Equation {
    ones: [u64; 2],
    value: u16,
}

/// The values of all unknowns by the equations, or `None` if they do not determine them.
fn solve(mut equations: Vec<Equation>, unknowns: usize) -> Option<Vec<u16>> {
    for j in 0..unknowns {
        let bit = |e: &Equation| e.ones[j / 64] >> (j % 64) & 1 == 1;
        let found = (j..equations.len()).find(|&i| bit(&equations[i]))?;
        equations.swap(j, found);
        let pivot = equations[j].clone();
        for (i, equation) in equations.iter_mut().enumerate() {
            if i != j && bit(equation) {
                equation.ones = [0, 1].map(|word| equation.ones[word] ^ pivot.ones[word]);
                equation.value ^= pivot.value;
            }
        }
    }
    Some(equations[..unknowns].iter().map(|e| e.value).collect())
}

/// Dimensions of the space that the words span.
fn rank(mut words: Vec<u16>) -> usize {
    let mut rank = 0;
    while let Some(word) = words.pop() {
        if word != 0 {
            rank += 1;
            let lowest = word & word.wrapping_neg();
            for other in &mut words {
                if *other & lowest != 0 {
                    *other ^= word;
                }
            }
        }
    }
    rank
}

/// Chance that h random errors leave a map of the bits that is zero on all of them.
fn deficient(h: usize) -> f64 {
    let new = |i: usize| 1.0 - (i as f64 - h as f64).exp2();
    if h < BITS {
        1.0
    } else {
        1.0 - (0..BITS).map(new).product::<f64>()
    }
}

#[test]
fn some_map_of_the_bits_is_solved() {
    let [n, k, t, d] = [768_usize, 128, 96, 9];
    let (mut hits, mut chances) = (0, Vec::new());
    let problem = Problem::new(n, k, t, d)
        .expect("a toy problem")
        .with_bits(BITS);
    for seed in 7000..7300 {
        let code = Code::new(seed, n, k, d);
        let mut prg = Prg::new(Block::new(seed, 0x696e_7465));
        let mut words = vec![0_u64; k + 2 * t + n];
        prg.fill_words(&mut words);
        let (secret, words) = words.split_at(k);
        let (errors, order) = words.split_at(2 * t);
        let mut values: Vec<u16> = code
            .rows()
            .map(|row| {
                row.iter()
                    .fold(0, |sum, &j| sum ^ secret[j as usize] as u16)
            })
            .collect();
        let bin = n / t;
        let mut wrong = vec![false; n];
        for (place, error) in errors.as_chunks::<2>().0.iter().enumerate() {
            let row = place * bin + place_in(error[0], bin);
            values[row] ^= error[1] as u16;
            wrong[row] = true;
        }
        // Random rows, until they determine the unknowns.
        let mut rows: Vec<usize> = (0..n).collect();
        rows.sort_by_key(|&row| order[row]);
        let equation = |row: usize| {
            let mut ones = [0; 2];
            for &j in &code.ones[row * d..][..d] {
                ones[j as usize / 64] ^= 1 << (j % 64);
            }
            Equation {
                ones,
                value: values[row],
            }
        };
        let Some(taken) = independent(&rows, k, |row| equation(row).ones) else {
            continue;
        };
        let found = solve(taken.iter().map(|&row| equation(row)).collect(), k).expect("full rank");
        let off = found.iter().zip(secret).map(|(&a, &b)| a ^ b as u16);
        hits += usize::from(rank(off.collect()) < BITS);
        let h = taken.iter().filter(|&&row| wrong[row]).count();
        chances.push(deficient(h));
    }
    as_often_as("interleaved", hits, &chances);
    // The formula, without the work, for all numbers of errors together.
    let system = System {
        unknowns: k as f64,
        solve: 0.0,
    };
    let formula = (-interleaved(&problem, &system)).exp2();
    let seen = chances.iter().sum::<f64>() / chances.len() as f64;
    assert!((0.6..1.7).contains(&(formula / seen)), "{formula}, {seen}");
}

fn place_in(word: u64, bin: usize) -> usize {
    ((word >> 32) as usize * bin) >> 32
}

/// The first rows that are independent, as many as unknowns.
fn independent(
    rows: &[usize],
    unknowns: usize,
    ones: impl Fn(usize) -> [u64; 2],
) -> Option<Vec<usize>> {
    let mut reduced: Vec<u128> = Vec::new();
    let mut taken = Vec::new();
    for &row in rows {
        let [low, high] = ones(row);
        let mut word = u128::from(low) | u128::from(high) << 64;
        for &other in &reduced {
            word = word.min(word ^ other);
        }
        if word != 0 {
            reduced.push(word);
            reduced.sort_unstable_by(|a, b| b.cmp(a));
            taken.push(row);
        }
        if taken.len() == unknowns {
            return Some(taken);
        }
    }
    None
}
