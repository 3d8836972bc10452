//! Lengths that are given when a program is bound.

use madrigal_program::ir::Op;
use madrigal_program::{Computation, Everyone, Fixed, Inputs, Party, Program, Shape, View};
use madrigal_program_file::proto::{self, length::Sort};
use madrigal_program_file::{BindError, ProgramFile, choices, general};

/// Sum and mean of the products of two parties' columns of n numbers, and the middle ones of them in reverse order.
fn columns() -> proto::Program {
    let dimension = |number| proto::Length {
        sort: Sort::Dimension.into(),
        left: number,
        right: 0,
    };
    let of = |sort: Sort, left, right| proto::Length {
        sort: sort.into(),
        left,
        right,
    };
    // Number 0 in the table stands as 1, and so on.
    let n = 1;
    let lengths = vec![
        dimension(0),
        // n / 2, n - 1
        of(Sort::Quotient, n, 4),
        of(Sort::Difference, n, 2),
    ];
    let (half, last) = (3, 5);
    let text = "Fixed<i64, 16>".to_owned();
    let input = |party, name: &str| proto::Input {
        owner: Some(proto::Holder {
            who: Some(proto::holder::Who::Party(party)),
        }),
        name: name.into(),
        r#type: text.clone(),
        axes: vec![n],
        place: None,
    };
    let node = |operation, operands: &[u32], lengths: &[i64], texts: &[&str]| proto::Node {
        operation,
        operands: operands.to_vec(),
        lengths: lengths.to_vec(),
        texts: texts.iter().map(|&text| text.to_owned()).collect(),
        place: Some(proto::Place { file: 0, line: 7 }),
        ..proto::Node::default()
    };
    let operations = ["input", "multiply", "truncate", "sum", "ratio", "view"];
    let nodes = vec![
        node(0, &[], &[0], &[]),
        node(0, &[], &[2], &[]),
        node(1, &[0, 1], &[], &[]),
        node(2, &[2], &[32], &[]),
        // The sum, and its product with 1 / n.
        node(3, &[3], &[0], &[]),
        node(4, &[], &[2, n], &[&text]),
        node(1, &[4, 5], &[], &[]),
        node(2, &[6], &[32], &[]),
        // From the last one, half of them, backwards.
        node(5, &[3], &[last, half, -2], &[]),
    ];
    let everyone = [0, 1].map(|party| proto::Holder {
        who: Some(proto::holder::Who::Party(party)),
    });
    let output = |name: &str| proto::Output {
        to: everyone.to_vec(),
        name: name.into(),
        place: None,
    };
    proto::Program {
        parties: 2,
        mix: "A+B".into(),
        dimensions: vec!["n".into()],
        lengths,
        inputs: vec![input(0, "pay"), input(1, "rate")],
        operations: operations.map(Into::into).to_vec(),
        files: vec!["pay.py".into()],
        graph: Some(proto::Graph {
            nodes,
            results: vec![4, 7, 8],
        }),
        outputs: vec![output("total"), output("mean"), output("last")],
        requirements: vec![],
    }
}

type Price = Fixed<i64, 16>;

/// The program in Rust, for `n` numbers.
fn in_rust(n: usize) -> Computation {
    let mut p = Program::new(2);
    let pay = p.input_named::<Price>("pay", Party::new(0), [n]);
    let rate = p.input_named::<Price>("rate", Party::new(1), [n]);
    let products = pay * rate;
    let total = products.sum(0);
    let share = p.constant(Price::from_f64(1.0 / n as f64).unwrap_or_default());
    let mean = &total * &share;
    let backwards = Op::View(View {
        shape: Shape::checked(&[n / 2]).unwrap(),
        strides: vec![-1],
        offset: n - 1,
    });
    let last = p.record(backwards, &[&products.untyped()]);
    p.open_named("total", total, Everyone);
    p.open_named("mean", mean, Everyone);
    p.open_tensor(Some("last"), &last[0], Everyone);
    p.finish().unwrap()
}

#[test]
fn a_dimension_is_bound_to_any_length() {
    let file = ProgramFile::of_message(columns());
    let file = ProgramFile::read(&file.to_bytes(), &Default::default()).unwrap();
    assert_eq!(file.dimensions(), ["n"]);
    for n in [1_usize, 2, 3, 7, 100] {
        let program = file.bind(&[("n", n)]).unwrap();
        assert_eq!(program.describe(), in_rust(n).describe(), "{n}");
        let numbers = |f: fn(usize) -> f64| -> Vec<Price> {
            (0..n).map(|at| Price::from_f64(f(at)).unwrap()).collect()
        };
        let inputs = Inputs::new()
            .with_named("rate", numbers(|at| at as f64 / 4.0))
            .with_named("pay", numbers(|at| 8.0 * at as f64));
        let outputs = program.simulate(&inputs).unwrap();
        let products: Vec<f64> = (0..n).map(|at| 2.0 * (at * at) as f64).collect();
        let total: f64 = products.iter().sum();
        let read = |name: &str| -> Vec<f64> {
            let numbers = outputs.named::<Price>(name).unwrap();
            numbers.into_iter().map(Price::to_f64).collect()
        };
        assert_eq!(read("total"), [total], "{n}");
        assert!(
            (read("mean")[0] - total / n as f64).abs() <= total / 65536.0 + 1e-4,
            "{n}"
        );
        let last: Vec<f64> = products.into_iter().rev().take(n / 2).collect();
        assert_eq!(read("last"), last, "{n}");
    }
}

#[test]
fn lengths_that_do_not_fit_are_told() {
    let file = ProgramFile::of_message(columns());
    let error = file.bind(&[]).unwrap_err();
    assert_eq!(
        error.to_string(),
        "dimension n has no length: the program has the dimensions n; give one for each"
    );
    let error = file.bind(&[("n", 3), ("m", 4)]).unwrap_err();
    assert!(
        matches!(&error, BindError::Unknown { name, .. } if name == "m"),
        "{error}"
    );
    // The last of none; 1 / 0.
    for n in [0, usize::MAX] {
        let error = file.bind(&[("n", n)]).unwrap_err().to_string();
        assert!(
            error.contains("pay.py:7") || error.contains("n="),
            "{error}"
        );
    }
}

/// A program of two dimensions: views, products of matrices, a loop, and numbers that depend on both.
fn matrices(n: usize, m: usize) -> Computation {
    let mut p = Program::new(2);
    let x = p.input_named::<Price>("x", Party::new(0), [n, m]);
    let y = p.input_named::<Price>("y", Party::new(1), [m, n]);
    let product = x.matmul(&y).transpose();
    let backwards = x.reverse(0).slice(1, 1..).flatten();
    let rows = p.map(x, |_, row| row.sum(0));
    let repeated = p.repeat(n, rows, |_, _, state| &state + 1.0);
    let count = p.constant(Price::from_f64((n * m + n) as f64).unwrap());
    let mean = product.sum(0).sum(0) / count;
    p.open_named("product", product, Everyone);
    p.open_named("backwards", backwards, Everyone);
    p.open_named("repeated", repeated, Everyone);
    p.open_named("mean", mean, Everyone);
    p.finish().unwrap()
}

const NAMES: [&str; 2] = ["n", "m"];

fn generalised(
    record: impl Fn(usize, usize) -> Computation,
) -> Result<ProgramFile, madrigal_program_file::GeneralError> {
    let names = NAMES.map(String::from);
    let primes = [
        7, 11, 13, 17, 19, 23, 29, 31, 37, 41, 43, 47, 53, 59, 61, 67,
    ];
    let sample = |at: usize| {
        let (n, m) = (primes[at], primes[(3 * at + 5) % primes.len()]);
        (vec![n, m], ProgramFile::of(&record(n, m)).unwrap())
    };
    let samples: Vec<_> = (0..choices(2)).map(sample).collect();
    general(&names, &samples)
}

#[test]
fn programs_for_some_lengths_become_a_file_for_all() {
    let file = generalised(matrices).unwrap();
    let file = ProgramFile::read(&file.to_bytes(), &Default::default()).unwrap();
    for (n, m) in [(3, 2), (2, 9), (40, 5), (1000, 3), (2, 2)] {
        let bound = file.bind(&[("n", n), ("m", m)]).unwrap();
        let own = matrices(n, m);
        let (bound, own) = (bound.describe(), own.describe());
        let differ = own.iter().zip(&bound).find(|(a, b)| a != b);
        assert_eq!(differ, None, "{n}, {m}");
        assert_eq!(own.len(), bound.len());
    }
}

/// What no polynomial says is refused, with its line: lengths that are halved, operations that come and go.
#[test]
fn what_depends_on_lengths_otherwise_is_refused() {
    let halved = |n: usize, m: usize| {
        let mut p = Program::new(2);
        let x = p.input::<Price>(Party::new(0), [n, m]);
        p.open(x.slice(0, ..n / 2), Everyone);
        p.finish().unwrap()
    };
    let more = |n: usize, m: usize| {
        let mut p = Program::new(2);
        let x = p.input::<Price>(Party::new(0), [n, m]);
        let x = if n > 20 { &x + 1.0 } else { x };
        p.open(x, Everyone);
        p.finish().unwrap()
    };
    let inverse = |n: usize, m: usize| {
        let mut p = Program::new(2);
        let x = p.input::<Price>(Party::new(0), [n, m]);
        p.open(&x * (1.0 / n as f64), Everyone);
        p.finish().unwrap()
    };
    for (record, words) in [
        (&halved as &dyn Fn(usize, usize) -> Computation, "view"),
        (&more, "the number of operations"),
        (&inverse, "constant"),
    ] {
        let error = generalised(record).unwrap_err().to_string();
        assert!(error.contains(words), "{error}");
    }
    let names = NAMES.map(String::from);
    let error = general(&names, &[]).unwrap_err();
    assert!(error.to_string().contains("are needed"), "{error}");
}
