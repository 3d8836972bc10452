//! Maps of the bits that are zero on errors: what a solution leaves shows them, and equations of higher degree find
//! them.

use madrigal_kernels::{Block, Prg};

use super::simulated::{Row, as_often_as, bit, eliminate, flip, row};
use crate::decoding::System;
use crate::interleaved::chance;
use crate::minors::Code;
use crate::problem::Problem;
use crate::sparse::undetermined;

/// A toy problem of 8 bits.
struct Toy {
    code: Code,
    secret: Vec<u8>,
    values: Vec<u8>,
    /// Row and value of each bin's error.
    errors: Vec<(usize, u8)>,
    /// A random number for each row.
    order: Vec<u64>,
}

impl Toy {
    /// Takes the lowest `bits` of each element.
    fn new(seed: u64, [n, k, t, d]: [usize; 4], bits: usize) -> Self {
        let code = Code::new(seed, n, k, d);
        let mut words = vec![0_u64; n + k + 2 * t];
        Prg::new(Block::new(seed, 0x6d61_7073)).fill_words(&mut words);
        let (order, words) = words.split_at(n);
        let low = |word: u64| (word & ((1 << bits) - 1)) as u8;
        let (secret, errors) = words.split_at(k);
        let secret: Vec<u8> = secret.iter().map(|&word| low(word)).collect();
        let error = |(i, pair): (usize, &[u64; 2])| {
            (i * (n / t) + pair[0] as usize % (n / t), low(pair[1]))
        };
        let errors: Vec<_> = errors
            .as_chunks::<2>()
            .0
            .iter()
            .enumerate()
            .map(error)
            .collect();
        let sum = |row: &[u32]| row.iter().fold(0, |sum, &j| sum ^ secret[j as usize]);
        let mut values: Vec<u8> = code.rows().map(sum).collect();
        for &(row, error) in &errors {
            values[row] ^= error;
        }
        Toy {
            code,
            secret,
            values,
            errors,
            order: order.to_vec(),
        }
    }

    fn ones(&self, row: usize) -> u64 {
        let ones = &self.code.ones[row * self.code.locality..][..self.code.locality];
        ones.iter().fold(0, |sum, &j| sum ^ 1 << j)
    }
}

/// A linear map of the bits to one bit.
fn under(map: u8, value: u8) -> bool {
    (map & value).count_ones() % 2 == 1
}

/// Rows that were solved for, and what the solution leaves on all others: its value, and the places among the solved rows whose
/// errors are in it.
struct Solution {
    solved: Vec<usize>,
    left: Vec<(u8, u64)>,
}

impl Solution {
    /// Takes the first independent rows in the random order.
    fn of(toy: &Toy) -> Self {
        let mut rows: Vec<usize> = (0..toy.values.len()).collect();
        rows.sort_by_key(|&row| toy.order[row]);
        let mut reduced: Vec<(u64, u8, u64)> = Vec::new();
        let (mut solved, mut left) = (Vec::new(), Vec::new());
        for row in rows {
            let mut word = (toy.ones(row), toy.values[row], 0);
            for other in &reduced {
                if word.0 ^ other.0 < word.0 {
                    word = (word.0 ^ other.0, word.1 ^ other.1, word.2 ^ other.2);
                }
            }
            if word.0 == 0 {
                left.push((word.1, word.2));
            } else {
                word.2 ^= 1 << solved.len();
                solved.push(row);
                let place = reduced.partition_point(|other| other.0 > word.0);
                reduced.insert(place, word);
            }
        }
        Solution { solved, left }
    }

    /// Whether few ones are left under a map once the values of the solved rows in `wrong` have been changed: half of all rows are ones
    /// under a map that is wrong.
    fn light(&self, map: u8, wrong: u64) -> bool {
        let one = |&&(value, places): &&(u8, u64)| {
            under(map, value) ^ ((places & wrong).count_ones() % 2 == 1)
        };
        4 * self.left.iter().filter(one).count() < self.left.len()
    }
}

/// Under a map that is zero on the errors of the solved rows what the solution leaves is light, under all others it is
/// not. So the maps are seen without the secret, and there are as many as the formulas say.
#[test]
fn what_is_left_shows_the_maps() {
    const BITS: usize = 8;
    let [n, k, t, d] = [200_usize, 40, 50, 9];
    // Bins of four rows: denser errors than any estimate is meant for.
    let problem = Problem {
        n: n as f64,
        k: k as f64,
        t: t as f64,
        d: d as f64,
        bits: BITS as f64,
        sums: 0.0,
    };
    println!("seeds from 14000");
    let [mut tries, mut defects, mut maps] = [0_u32; 3];
    // Tries that find a map which leaves no error, or one at most; and those where there is one.
    let (mut found, mut there) = ([0_u32; 2], [0_u32; 2]);
    for seed in 14_000..14_400 {
        let toy = Toy::new(seed, [n, k, t, d], BITS);
        let solution = Solution::of(&toy);
        if solution.solved.len() < k {
            continue;
        }
        tries += 1;
        let met = |row: &usize| solution.solved.contains(row);
        let errors: Vec<u8> = (toy.errors.iter())
            .filter_map(|(row, error)| met(row).then_some(*error))
            .collect();
        let leaves = |map: u8| errors.iter().filter(|&&error| under(map, error)).count();
        let seen = (1..=u8::MAX).filter(|&map| solution.light(map, 0)).count();
        // A wrong map may look right by chance, or a right one wrong, where few rows are left.
        defects += u32::from(seen != (1..=u8::MAX).filter(|&map| leaves(map) == 0).count());
        maps += seen as u32;
        // One error more is found by trying all places.
        let with_one = |map| (0..k).any(|place| solution.light(map, 1 << place));
        found[0] += u32::from(seen > 0);
        found[1] += u32::from(seen > 0 || (1..=u8::MAX).any(with_one));
        for (w, there) in there.iter_mut().enumerate() {
            *there += u32::from((1..=u8::MAX).any(|map| leaves(map) <= w));
        }
    }
    println!("{defects} of {tries} tries show other maps than there are");
    assert!(tries > 300 && 20 * defects < tries);
    let tries = f64::from(tries);
    let share = k as f64 / n as f64;
    for (w, (found, there)) in found.into_iter().zip(there).enumerate() {
        let formula = chance(&problem, share, BITS as f64, w as f64).exp2() * tries;
        println!("{w} errors: {found} tries succeed, {there} could, {formula:.1} by the formula");
        assert!(found.abs_diff(there) * 20 < there, "{found}, not {there}");
        // The formula allows itself a map wherever one is expected, up to 1.7 times as often as there is one.
        let ratio = formula / f64::from(there);
        assert!((0.9..1.7).contains(&ratio), "{w} errors: {ratio}");
    }
    let exact = vec![exact(&problem, k, BITS); tries as usize];
    as_often_as("maps", found[0] as usize, &exact);
    // Pooled Gauss under each of the 255 maps, with the work left out.
    let gauss = System {
        unknowns: k as f64,
        solve: 0.0,
    };
    let expected = (-gauss.gauss(&problem)).exp2() * 255.0 * tries;
    println!("{maps} maps are right, {expected:.1} expected");
    assert!((0.75..1.33).contains(&(f64::from(maps) / expected)));
}

/// Chance that errors in random rows leave a map: their number is binomial, their rank that of random elements.
fn exact(problem: &Problem, rows: usize, bits: usize) -> f64 {
    let hit = rows as f64 / problem.n;
    let mut probability = (1.0 - hit).powf(problem.t);
    let mut total = 0.0;
    for h in 0..=problem.t as usize {
        let full: f64 = (0..bits)
            .map(|i| 1.0 - (i as f64 - h as f64).exp2())
            .product();
        total += probability * if h < bits { 1.0 } else { 1.0 - full };
        probability *= (problem.t - h as f64) / (h as f64 + 1.0) * hit / (1.0 - hit);
    }
    total
}

/// A polynomial in the bits of the map, which come first, and of the secret: bits of a monomial.
type Polynomial = Vec<u32>;

impl Toy {
    /// The error of a row under a map that is unknown: the map of its value, and its columns.
    fn error(&self, row: usize, bits: usize) -> Polynomial {
        let of_map = (0..bits).filter(|b| self.values[row] >> b & 1 == 1);
        let columns = &self.code.ones[row * self.code.locality..][..self.code.locality];
        let columns = columns.iter().map(|&j| j as usize + bits);
        of_map.chain(columns).map(|place| 1 << place).collect()
    }

    /// Errors of the first `whole` bins, and products of two errors of each other bin, all of which are zero.
    fn equations(&self, bits: usize, whole: usize) -> [Vec<Polynomial>; 2] {
        let (n, bin) = (self.values.len(), self.values.len() / self.errors.len());
        let mut products = Vec::new();
        for i in whole * bin..n {
            for j in (i + 1..n).take_while(|j| i / bin == j / bin) {
                let times = |a: u32| self.error(j, bits).into_iter().map(move |b| a | b);
                products.push(self.error(i, bits).into_iter().flat_map(times).collect());
            }
        }
        let errors = (0..whole * bin).map(|i| self.error(i, bits)).collect();
        [errors, products]
    }
}

/// The equations times all monomials up to `degree`, as rows in the monomials but the constant.
fn macaulay(
    [linear, quadratic]: &[Vec<Polynomial>; 2],
    monomials: &[u32],
    degree: u32,
) -> Vec<Row> {
    let places = monomials.iter().enumerate().map(|(i, &m)| (m, i));
    let places: std::collections::HashMap<u32, usize> = places.collect();
    let mut rows = Vec::new();
    for (equations, most) in [(linear, degree - 1), (quadratic, degree.saturating_sub(2))] {
        let factors = monomials.iter().filter(|m| m.count_ones() <= most);
        for factor in factors.chain(&[0]) {
            for equation in equations {
                let mut product = row(monomials.len());
                for term in equation {
                    flip(&mut product, places[&(term | factor)]);
                }
                rows.push(product);
            }
        }
    }
    rows
}

/// The products of a bin's errors with the map as unknowns, after B - 1 whole bins were taken to have no error, which some
/// map always makes right: they leave what the Hilbert series says, down to that map and the secret under it.
#[test]
fn products_of_errors_determine_map_and_secret() {
    const BITS: usize = 4;
    let (bin, d, whole) = (4, 3, BITS - 1);
    for (k, bins, degree) in [
        (22, 12, 2),
        (18, 24, 2),
        (16, 9, 3),
        (18, 12, 3),
        (20, 3, 3),
        (21, 4, 3),
    ] {
        let t = bins + whole;
        // The whole bins' errors are to be independent, so that one map alone is zero on them.
        let right = |toy: &Toy, map: u8| toy.errors[..whole].iter().all(|&(_, e)| !under(map, e));
        let (seed, toy) = (15_100..)
            .map(|seed| (seed, Toy::new(seed, [t * bin, k, t, d], BITS)))
            .find(|(_, toy)| (1..1 << BITS).filter(|&map| right(toy, map)).count() == 1)
            .expect("most toys are");
        println!("seed {seed}: {k} unknowns and {BITS} bits, {bins} bins, degree {degree}");
        let equations = toy.equations(BITS, whole);
        let variables = k + BITS;
        let mut monomials: Vec<u32> = (1..1 << variables)
            .filter(|m: &u32| m.count_ones() <= degree)
            .collect();
        monomials.sort_by_key(|m| m.count_ones());
        let mut rows = macaulay(&equations, &monomials, degree);
        let pivots = eliminate(&mut rows, monomials.len());
        let found = monomials.len() - pivots.len();
        let mut linear = macaulay(&[equations[0].clone(), vec![]], &monomials[..variables], 1);
        let unknowns = (variables - eliminate(&mut linear, variables).len()) as f64;
        // Forms without a constant, so the series' constant is none of them.
        let left = undetermined(unknowns, bins as f64, bin as f64, degree as usize) - 1.0;
        println!("{found} monomials of {unknowns} unknowns are left, {left} expected");
        if left > 0.0 {
            let ratio = found as f64 / left;
            assert!((0.95..1.05).contains(&ratio), "{found}, not {left}");
            continue;
        }
        assert_eq!(found, 1, "monomials that are left");
        // One monomial is free; all that have its bit in their equation are one, the others zero.
        let mut free = (0..monomials.len()).filter(|j| !pivots.contains(j));
        let free = free.next().expect("one is left");
        let one = |place: usize| {
            let at = monomials.iter().position(|&m| m == 1 << place);
            let pivot = pivots.iter().position(|&pivot| Some(pivot) == at);
            pivot.map_or(at == Some(free), |pivot| bit(&rows[pivot], free))
        };
        let map = (0..BITS).fold(0, |map, b| map | u8::from(one(b)) << b);
        assert!(map != 0 && right(&toy, map), "the map");
        assert!((0..k).all(|j| one(BITS + j) == under(map, toy.secret[j])));
    }
}
