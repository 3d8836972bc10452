//! Functions of rows and windows against real numbers.

use madrigal_program::{Everyone, Fixed, FixedWord, Inputs, Party, Program, Secret};

use crate::random::Random;

/// Runs a program on one matrix.
pub(super) fn run<W: FixedWord, const F: u32>(
    shape: &[usize],
    numbers: &[f64],
    program: impl FnOnce(Secret<Fixed<W, F>>) -> Secret<Fixed<W, F>>,
) -> (Vec<usize>, Vec<f64>) {
    let fixed = |&number: &f64| Fixed::from_f64(number).expect("in range");
    let numbers: Vec<Fixed<W, F>> = numbers.iter().map(fixed).collect();
    let mut p = Program::new(2);
    let x = p.input::<Fixed<W, F>>(Party::new(0), [numbers.len()]);
    let y = program(x.reshape(shape));
    let axes = y.shape().axes().to_vec();
    let y = p.open(y, Everyone);
    let program = p.finish().expect("a program that can be");
    let inputs = Inputs::new().with(numbers);
    let checked = program.check(&inputs).expect("inputs as declared");
    assert!(checked.overflows.is_empty(), "{:?}", checked.overflows);
    let outputs = checked.outputs.get(y);
    (axes, outputs.iter().map(|y| y.to_f64()).collect())
}

/// Numbers that the type has, so that nothing is lost before the function.
fn rows<const F: u32>(random: &mut Random, count: usize, most: f64) -> Vec<f64> {
    let steps = 2f64.powi(F as i32);
    let number = |random: &mut Random| {
        let unit = random.half() as f64 / u64::MAX as f64;
        ((2.0 * unit - 1.0) * most * steps).round() / steps
    };
    (0..count).map(|_| number(random)).collect()
}

fn softmaxes<W: FixedWord, const F: u32>(random: &mut Random, most: f64) {
    let steps = 2f64.powi(F.min(24) as i32);
    for length in [1, 2, 10, 100] {
        let (mut worst, mut worst_log) = (0.0_f64, 0.0_f64);
        for round in 0..20 {
            // Rows that are close to each other, and far apart.
            let most = most / f64::from(1 << (round % 4 * 2));
            let x = rows::<F>(random, 3 * length, most);
            let (_, found) = run::<W, F>(&[3, length], &x, |x| x.softmax(1));
            let (_, logs) = run::<W, F>(&[3, length], &x, |x| x.log_softmax(1));
            for (row, (found, logs)) in x
                .chunks(length)
                .zip(found.chunks(length).zip(logs.chunks(length)))
            {
                let most = row.iter().fold(f64::MIN, |a, &b| a.max(b));
                let sum: f64 = row.iter().map(|x| (x - most).exp()).sum();
                for (x, (found, log)) in row.iter().zip(found.iter().zip(logs)) {
                    worst = worst.max((found - (x - most).exp() / sum).abs() * steps);
                    worst_log = worst_log.max((log - (x - most - sum.ln())).abs() * steps);
                }
            }
        }
        let length = length as f64;
        assert!(
            worst <= 4.0 + length / 2.0,
            "{worst} steps, {length} elements"
        );
        assert!(
            worst_log <= 2.0 + 1.5 * length,
            "{worst_log} steps of the logarithm, {length} elements"
        );
    }
}

#[test]
fn softmax_is_within_its_bound() {
    let mut random = Random::fresh();
    softmaxes::<i16, 8>(&mut random, 60.0);
    softmaxes::<i32, 12>(&mut random, 1000.0);
    softmaxes::<i32, 16>(&mut random, 1000.0);
    softmaxes::<i64, 16>(&mut random, 1000.0);
    softmaxes::<i64, 24>(&mut random, 1000.0);
    softmaxes::<i64, 32>(&mut random, 1000.0);
}

fn norms<W: FixedWord, const F: u32>(random: &mut Random, most: f64) {
    let steps = 2f64.powi(F.min(24) as i32);
    for length in [2, 10, 128] {
        let mut worst = 0.0_f64;
        for round in 0..20 {
            let most = most / f64::from(1 << (round % 3));
            let x = rows::<F>(random, length, most);
            let mean = x.iter().sum::<f64>() / length as f64;
            let square = |x: &f64| (x - mean) * (x - mean);
            let variance = x.iter().map(square).sum::<f64>() / length as f64;
            let epsilon = 2f64.powi(-6);
            let (_, found) = run::<W, F>(&[length], &x, |x| x.layer_norm(0, epsilon));
            let root = 1.0 / (variance + epsilon).sqrt();
            for (x, found) in x.iter().zip(found) {
                let exact = (x - mean) * root;
                let error = (found - exact).abs() * steps;
                let share = 0.5 + 2.0 * root * root;
                worst = worst.max(error / (2.0 + 2.0 * root + share * exact.abs()));
            }
        }
        assert!(worst <= 1.0, "{worst} of the bound, {length} elements");
    }
}

#[test]
fn layers_are_normalised_within_their_bound() {
    let mut random = Random::fresh();
    norms::<i16, 8>(&mut random, 3.0);
    norms::<i32, 12>(&mut random, 8.0);
    norms::<i32, 16>(&mut random, 8.0);
    norms::<i64, 16>(&mut random, 100.0);
    norms::<i64, 20>(&mut random, 8.0);
}

#[test]
fn windows_are_pooled() {
    let x: Vec<f64> = (0..24).map(|at| f64::from(at * 7 % 24)).collect();
    let at = |row: usize, column: usize, plane: usize| x[plane * 12 + row * 4 + column];
    let (shape, found) = run::<i32, 8>(&[2, 3, 4], &x, |x| x.max_pool([2, 2], [1, 2]));
    assert_eq!(shape, [2, 2, 2]);
    let (_, averages) = run::<i32, 8>(&[2, 3, 4], &x, |x| x.average_pool([2, 2], [1, 2]));
    for plane in 0..2 {
        for (row, column) in [(0, 0), (0, 1), (1, 0), (1, 1)] {
            let window = [(0, 0), (0, 1), (1, 0), (1, 1)];
            let window = window.map(|(down, right)| at(row + down, 2 * column + right, plane));
            let place = plane * 4 + row * 2 + column;
            assert_eq!(found[place], window.into_iter().fold(0.0, f64::max));
            assert_eq!(averages[place], window.iter().sum::<f64>() / 4.0);
        }
    }
    let (shape, means) = run::<i32, 8>(&[2, 3, 4], &x, |x| x.mean(1));
    assert_eq!(shape, [2, 4]);
    let mean = (at(0, 1, 1) + at(1, 1, 1) + at(2, 1, 1)) / 3.0;
    assert!((means[5] - mean).abs() <= (1.0 + mean / 8.0) / 256.0);
}

#[test]
fn wrong_windows_and_factors_are_errors() {
    type X = Fixed<i32, 8>;
    let fails = |program: fn(Secret<X>) -> Secret<X>| {
        let mut p = Program::new(2);
        let x = p.input::<X>(Party::new(0), [2, 3]);
        let y = program(x);
        p.open(y, Everyone);
        p.finish().expect_err("a mistake").to_string()
    };
    let error = fails(|x| x.max_pool([3, 1], [1, 1]));
    assert!(error.contains("[2, 3] with filters [3, 1]"), "{error}");
    let error = fails(|x| x.flatten().max_pool([1, 1], [1, 1]));
    assert!(error.contains("axis 1"), "{error}");
    let error = fails(|x| x.max_pool([1, 1], [0, 1]));
    assert!(error.contains("strides"), "{error}");
    let error = fails(|x| x.divided_by(0.0));
    assert!(error.contains("inf"), "{error}");
    let error = fails(|x| x.leaky_relu(f64::NAN));
    assert!(error.contains("NaN"), "{error}");
    let error = fails(|x| x.softmax(2));
    assert!(error.contains("axis 2"), "{error}");
    let error = fails(|x| x.layer_norm(7, 0.1));
    assert!(error.contains("axis 7"), "{error}");
    let error = fails(|x| x.clip(-1.0, 1e30));
    assert!(error.contains("1000000000000000000000000000000"), "{error}");
}
