//! Parity checks: as many as the formula says, and statistical decoding with them, carried out.

use madrigal_kernels::{Block, Prg};

use super::simulated::as_often_as;
use crate::checks::{distance, even, expected, free, needed, statistical, unstructured};
use crate::minors::Code;
use crate::problem::Problem;
use crate::stages;

/// All sums of rows of small codes, counted.
#[test]
fn checks_are_as_many_as_expected() {
    let [n, k, t, d] = [16, 7, 2, 4];
    let problem = Problem::new(n, k, t, d).expect("a toy problem");
    let codes = 9000..9400;
    println!("codes {codes:?}");
    let mut found = vec![0_u32; n + 1];
    for seed in codes.clone() {
        let code = Code::new(seed, n, k, d);
        let rows: Vec<u32> = code
            .rows()
            .map(|row| row.iter().fold(0, |sum, &j| sum ^ 1 << j))
            .collect();
        let mut sum = 0;
        for i in 1..1_u32 << n {
            // Gray's code: one row more or less each time.
            sum ^= rows[i.trailing_zeros() as usize];
            if sum == 0 {
                found[(i ^ i >> 1).count_ones() as usize] += 1;
            }
        }
    }
    for (w, &found) in found.iter().enumerate().skip(1) {
        let mean = expected(&problem, w as f64).exp2() * codes.clone().count() as f64;
        println!("{w} rows: {found} found, {mean:.1} expected");
        if mean > 200.0 {
            assert!((f64::from(found) / mean - 1.0).abs() < 0.2, "{w} rows");
        }
    }
    // Two indices of k are equal once in k times; one of two columns is named an even number of times with the other.
    assert!((even(1000.0, 2.0) + 1000_f64.log2()).abs() < 1e-6);
    assert!((even(2.0, 6.0) + 1.0).abs() < 1e-6);
}

/// Light checks would break every stage if they were free; they are not.
#[test]
fn light_checks_exist_but_are_not_found() {
    for stage in stages() {
        let problem = Problem::of(stage);
        let (least, (weight, number)) = (distance(&problem), free(&problem));
        println!("{stage:?}: {least} rows, 2^{number:.1} of {weight}");
        assert!(least < unstructured(&problem) && least <= weight);
        assert!(expected(&problem, least) >= 0.0 && expected(&problem, least - 1.0) < 0.0);
        assert!(expected(&problem, weight) >= number && number < 100.0);
        for few in [1.0, 2.0, 3.0, 4.0, 16.0, 64.0, least / 2.0] {
            assert!(expected(&problem, few.floor()) < -38.0, "{few} rows");
        }
        // The checks that elimination gives are dearer than those of lists.
        let plain = needed(&problem, problem.k / 2.0);
        let lists = statistical(&problem, problem.k);
        assert!(lists < plain && lists > 280.0, "{lists} {plain}");
    }
}

/// Checks of random rows show zero in all bits as often as they meet no error, and by chance beside that.
#[test]
fn checks_without_errors_show_zeros() {
    const BITS: usize = 8;
    let [n, k, t, d] = [200_usize, 40, 20, 10];
    let bin = n / t;
    let problem = Problem::new(n, k, t, d)
        .expect("a toy problem")
        .with_bits(BITS);
    println!("seeds from 11000");
    let (mut hits, mut chances, mut formula) = (0, Vec::new(), 0.0);
    for seed in 11_000..13_000 {
        let code = Code::new(seed, n, k, d);
        let mut words = vec![0_u64; n + k + 2 * t];
        Prg::new(Block::new(seed, 0x6368_6563)).fill_words(&mut words);
        let (order, words) = words.split_at(n);
        let (secret, errors) = words.split_at(k);
        let mut values: Vec<u8> = code
            .rows()
            .map(|row| row.iter().fold(0, |sum, &j| sum ^ secret[j as usize] as u8))
            .collect();
        for (i, error) in errors.as_chunks::<2>().0.iter().enumerate() {
            values[i * bin + error[0] as usize % bin] ^= error[1] as u8;
        }
        // Rows in a random order, each reduced by those before: the first that comes to zero is a check.
        let mut rows: Vec<usize> = (0..n).collect();
        rows.sort_by_key(|&row| order[row]);
        let mut reduced: Vec<(u64, Vec<bool>)> = Vec::new();
        let check = rows.iter().find_map(|&row| {
            let ones = &code.ones[row * d..][..d];
            let mut word = ones.iter().fold(0_u64, |sum, &j| sum ^ 1 << j);
            let mut check = vec![false; n];
            check[row] = true;
            for (other, rows) in &reduced {
                if word ^ other < word {
                    word ^= other;
                    check
                        .iter_mut()
                        .zip(rows)
                        .for_each(|(to, &from)| *to ^= from);
                }
            }
            if word == 0 {
                return Some(check);
            }
            let place = reduced.partition_point(|&(other, _)| other > word);
            reduced.insert(place, (word, check));
            None
        });
        let meets = check.expect("more rows than columns");
        let weight = meets.iter().filter(|&&meets| meets).count();
        let sum = (0..n)
            .filter(|&row| meets[row])
            .fold(0, |sum, row| sum ^ values[row]);
        hits += usize::from(sum == 0);
        let free = meets
            .chunks(bin)
            .map(|bin| bin.iter().filter(|&&meets| !meets).count() as f64 / bin.len() as f64);
        let free: f64 = free.product();
        chances.push(free + (1.0 - free) / f64::from(1 << BITS));
        formula += (-needed(&problem, weight as f64)).exp2();
    }
    as_often_as("checks without errors", hits, &chances);
    // The formula takes checks to be spread evenly, which is what suits an attacker best.
    let seen: f64 = chances.iter().sum();
    assert!((0.8..1.6).contains(&(formula / seen)), "{formula}, {seen}");
}
