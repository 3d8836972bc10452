//! Tests how large circuits come out: gates that simplify themselves, and the sizes that docs/CIRCUITS.md tells.

#![allow(
    clippy::print_stdout,
    clippy::type_complexity,
    reason = "functions that make circuits, and the table as it should be"
)]

use madrigal_circuit::blocks::float::Format;
use madrigal_circuit::{Builder, Goal, Layer, Layered, Limits, Netlist, Sums, Wire};

use crate::blocks::{GOALS, build, evaluate};

/// Gates that simplify themselves.
#[test]
fn nothing_is_made_twice_or_for_nothing() {
    let mut b = Builder::new("same");
    let x = b.input(2);
    let (zero, one) = (b.constant(false), b.constant(true));
    let not = b.not(x[0]);
    assert_eq!(b.not(not), x[0]);
    assert_eq!([b.xor(x[0], x[0]), b.xor(x[0], not)], [zero, one]);
    assert_eq!(
        [b.and(x[0], x[0]), b.and(x[0], not), b.or(x[0], not)],
        [x[0], zero, one]
    );
    assert_eq!(
        [b.and(x[0], one), b.or(x[0], zero), b.xor(zero, x[0])],
        [x[0]; 3]
    );
    assert_eq!(b.and(x[0], x[1]), b.and(x[1], x[0]));
    let (sum, flipped) = (b.xor(x[0], x[1]), b.xor(x[1], not));
    assert_eq!(b.not(sum), flipped);
    let unused = b.and(x[0], x[1]);
    assert_eq!(b.depth(unused), 1);
    b.output(&[sum, x[0], sum, zero]);
    let netlist = b.finish();
    assert_eq!(
        (
            netlist.stats().and,
            netlist.stats().xor,
            netlist.stats().inv
        ),
        (0, 1, 0)
    );
    let outputs = evaluate(&netlist, &[vec![0], vec![1], vec![2], vec![3]]);
    assert_eq!(outputs, [[0], [0b111], [0b101], [0b010]]);
}

/// Whoever computes ANDs one after the other may nearly always write a result before the others have read.
#[test]
fn rows_of_results_are_seldom_read_by_later_ands() {
    let text = std::fs::read("tests/data/aes_128.txt").unwrap();
    let netlist = Netlist::read("aes_128", &text, &Limits::default()).unwrap();
    let program = Layered::compile(&netlist);
    let read_later = |layer: Layer<'_>| {
        let numbered = layer.ands.iter().enumerate();
        let later = |i: usize, dst| {
            layer.ands[i + 1..]
                .iter()
                .any(|and| [and.a, and.b].contains(&dst))
        };
        numbered.filter(|(i, and)| later(*i, and.dst)).count()
    };
    let waiting: usize = program.layers().map(read_later).sum();
    assert!(waiting * 100 < program.and_count(), "{waiting}");
}

/// ANDs and depth of a block for a goal, and sums of its ANDs.
fn counts(
    goal: Goal,
    widths: &[u32],
    circuit: &dyn Fn(&mut Builder, &[Vec<Wire>]) -> Vec<Vec<Wire>>,
) -> [u64; 3] {
    let netlist = build(goal, widths, circuit);
    let layered = Layered::compile(&netlist);
    assert_eq!(
        layered.and_count() as u64,
        netlist.stats().and + netlist.stats().or
    );
    let sums = Sums::of(&layered).sum_count();
    [layered.and_count(), layered.depth(), sums].map(|count| count as u64)
}

#[test]
fn circuits_are_as_small_as_the_documents_say() {
    type Circuit = Box<dyn Fn(&mut Builder, &[Vec<Wire>]) -> Vec<Vec<Wire>>>;
    let row =
        |name: &'static str, widths: &[u32], circuit: Circuit| (name, widths.to_vec(), circuit);
    let f = |op: fn(&mut Builder, Format, &[Wire], &[Wire]) -> Vec<Wire>, format| -> Circuit {
        Box::new(move |b, x| vec![op(b, format, &x[0], &x[1])])
    };
    let rows = [
        row(
            "sum, 64 bits",
            &[64; 2],
            Box::new(|b, x| vec![b.add(&x[0], &x[1])]),
        ),
        row(
            "comparison, 64 bits, signed",
            &[64; 2],
            Box::new(|b, x| vec![vec![b.less_signed(&x[0], &x[1])]]),
        ),
        row(
            "equality, 64 bits",
            &[64; 2],
            Box::new(|b, x| vec![vec![b.equal(&x[0], &x[1])]]),
        ),
        row(
            "product, 32 by 32 to 32 bits",
            &[32; 2],
            Box::new(|b, x| vec![b.mul(&x[0], &x[1])]),
        ),
        row(
            "product, 64 by 64 to 64 bits",
            &[64; 2],
            Box::new(|b, x| vec![b.mul(&x[0], &x[1])]),
        ),
        row(
            "product, 64 by 64 to 128 bits",
            &[64; 2],
            Box::new(|b, x| vec![b.mul_wide(&x[0], &x[1])]),
        ),
        row(
            "quotient, 32 bits",
            &[32; 2],
            Box::new(|b, x| vec![b.quotient(&x[0], &x[1])]),
        ),
        row(
            "quotient, 64 bits",
            &[64; 2],
            Box::new(|b, x| vec![b.quotient(&x[0], &x[1])]),
        ),
        row(
            "quotient, 32 bits, signed",
            &[32; 2],
            Box::new(|b, x| vec![b.divide_signed(&x[0], &x[1]).0]),
        ),
        row(
            "quotient, 32 bits, signed, 16 after the point",
            &[32; 2],
            Box::new(|b, x| vec![b.divide_fixed(&x[0], &x[1], 16)]),
        ),
        row(
            "square root, 64 to 32 bits",
            &[64],
            Box::new(|b, x| vec![b.square_root(&x[0]).0]),
        ),
        row(
            "number of ones, 64 bits",
            &[64],
            Box::new(|b, x| vec![b.count_ones(&x[0])]),
        ),
        row(
            "shift by a secret amount, 64 bits",
            &[64, 6],
            Box::new(|b, x| vec![b.shift_left(&x[0], &x[1])]),
        ),
        row(
            "AES-128 with key schedule",
            &[128; 2],
            Box::new(|b, x| vec![b.aes128(&x[0], &x[1])]),
        ),
        row(
            "AES-128, round keys given",
            &[1408, 128],
            Box::new(|b, x| vec![b.aes128_expanded(&x[0], &x[1])]),
        ),
        row(
            "SHA-256, a block, state given",
            &[256, 512],
            Box::new(|b, x| vec![b.sha256_block(&x[0], &x[1])]),
        ),
        row(
            "SHA-256, the first block",
            &[512],
            Box::new(|b, x| {
                let start = b.sha256_start();
                vec![b.sha256_block(&start, &x[0])]
            }),
        ),
        row("float32 sum", &[32; 2], f(Builder::float_add, Format::F32)),
        row(
            "float32 product",
            &[32; 2],
            f(Builder::float_mul, Format::F32),
        ),
        row(
            "float32 quotient",
            &[32; 2],
            f(Builder::float_div, Format::F32),
        ),
        row(
            "float32 square root",
            &[32],
            Box::new(|b, x| vec![b.float_sqrt(Format::F32, &x[0])]),
        ),
        row(
            "float32 comparison",
            &[32; 2],
            Box::new(|b, x| vec![vec![b.float_less(Format::F32, &x[0], &x[1])]]),
        ),
        row("float64 sum", &[64; 2], f(Builder::float_add, Format::F64)),
        row(
            "float64 product",
            &[64; 2],
            f(Builder::float_mul, Format::F64),
        ),
        row(
            "float64 quotient",
            &[64; 2],
            f(Builder::float_div, Format::F64),
        ),
        row(
            "float64 square root",
            &[64],
            Box::new(|b, x| vec![b.float_sqrt(Format::F64, &x[0])]),
        ),
        row(
            "float64 comparison",
            &[64; 2],
            Box::new(|b, x| vec![vec![b.float_less(Format::F64, &x[0], &x[1])]]),
        ),
    ];
    let page = include_str!("../../../docs/CIRCUITS.md");
    let (table, _) = page.split_once("\n# ").expect("another chapter follows");
    for (name, widths, circuit) in &rows {
        let [size, depth] = GOALS.map(|goal| {
            let [ands, depth, sums] = counts(goal, widths, &**circuit);
            let counts = format!("{} / {}", thousands(ands), thousands(depth));
            (counts, thousands(sums))
        });
        let row = format!(
            "| {name} | {} | {} | {} / {} |",
            size.0, depth.0, size.1, depth.1
        );
        println!("{row}");
        assert!(
            table.contains(&row),
            "docs/CIRCUITS.md should say
{row}"
        );
    }
    let stated = table.lines().filter(|line| line.starts_with("| ")).count() - 1;
    assert_eq!(stated, rows.len(), "rows of docs/CIRCUITS.md");
}

fn thousands(number: u64) -> String {
    match number / 1000 {
        0 => number.to_string(),
        above => format!("{above},{:03}", number % 1000),
    }
}
