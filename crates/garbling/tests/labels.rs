//! Labels, colours and tables that the evaluator sees look random, whatever the inputs.

use madrigal_circuit::{Layered, Rows};
use madrigal_garbling::{Block, Scheme, colours};
use madrigal_kernels::Prg;

use crate::support::{Both, SCHEMES, random, random_rows, read};

/// Checks how far a number of ones among fair coins is from half: at most eight standard deviations, 2^-50.
fn fair(ones: u64, coins: u64) -> bool {
    let off = (2 * ones) as f64 - coins as f64;
    off.abs() <= 8.0 * (coins as f64).sqrt()
}

/// The colours that the evaluator has in all rows, for inputs that are all 0 or all 1 in every lane.
#[test]
fn colours_are_even_whatever_the_inputs() {
    let mut random = random();
    let program = Layered::compile(&read("aes_128.txt"));
    let lanes = 200;
    for scheme in SCHEMES {
        for bit in [0, 0xff] {
            let mut inputs = Rows::new(256, lanes);
            inputs.as_bytes_mut().fill(bit);
            inputs.clear_padding();
            let mut both = Both::new(&program, scheme, lanes, &mut random);
            both.encode(&inputs, &mut random);
            both.run(1 << 16, |_| ());
            let mut ones = 0;
            for row in 0..program.rows() {
                let mut bits = vec![0; lanes / 8];
                colours(both.evaluator.labels(row), &mut bits);
                ones += bits
                    .iter()
                    .map(|byte| u64::from(byte.count_ones()))
                    .sum::<u64>();
            }
            // Rows hold sums of each other, but few.
            let coins = (program.rows() * lanes) as u64;
            assert!(fair(ones, coins), "{scheme:?}: {ones} of {coins}");
        }
    }
}

/// Every bit of a table is as often one as zero, and so is every bit of the difference of the tables of two
/// runs with one offset and other labels.
#[test]
fn tables_are_even() {
    let mut random = random();
    let program = Layered::compile(&read("int_mul8_size.bristol"));
    let lanes = 1000;
    for scheme in SCHEMES {
        let mut tables = Vec::new();
        for _ in 0..2 {
            let inputs = Rows::new(program.input_bits(), lanes);
            let mut both = Both::new(&program, scheme, lanes, &mut Prg::new(Block::new(7, 7)));
            both.encode(&inputs, &mut random);
            tables.push(both.run(1 << 16, |_| ()));
        }
        let difference: Vec<u8> = tables[0]
            .iter()
            .zip(&tables[1])
            .map(|(x, y)| x ^ y)
            .collect();
        tables.push(difference);
        for table in tables {
            for bit in 0..8 {
                let ones = table.iter().filter(|&&byte| byte >> bit & 1 == 1).count();
                assert!(
                    fair(ones as u64, table.len() as u64),
                    "{scheme:?}: bit {bit}"
                );
            }
        }
    }
}

/// The evaluator's label of each output is one of the two that the garbler has, and of no use for the other.
#[test]
fn labels_are_those_of_the_bits() {
    let mut random = random();
    let program = Layered::compile(&read("int_add8_depth.bristol"));
    for scheme in SCHEMES {
        let inputs = random_rows(program.input_bits(), 100, &mut random);
        let expected = program.interpret(&inputs).unwrap();
        let mut both = Both::new(&program, scheme, 100, &mut random);
        both.encode(&inputs, &mut random);
        both.run(1 << 16, |_| ());
        for (output, &row) in program.outputs().iter().enumerate() {
            let mut labels = vec![Block::ZERO; 100];
            let zero = both.garbler.labels(row as usize);
            both.offset.encode(zero, expected.row(output), &mut labels);
            assert!(
                labels == both.evaluator.labels(row as usize),
                "output {output}"
            );
        }
    }
}

/// The parties' names and the stream are part of the hash: other instances garble otherwise.
#[test]
fn instances_differ() {
    use madrigal_garbling::{Garbler, Instance, Offset, Program, Shape};
    let program = Layered::compile(&read("zero_equal.txt"));
    let shape = Shape {
        scheme: Scheme::HalfGates,
        rows: program.rows(),
        lanes: 1,
    };
    let ready = Program::new(&program);
    let one = crate::support::INSTANCE;
    let mut tables = Vec::new();
    for (instance, first) in [
        (one, 0),
        (one, 2),
        (Instance { stream: 6, ..one }, 0),
        (
            Instance {
                garbler: 1,
                evaluator: 0,
                ..one
            },
            0,
        ),
        (
            Instance {
                session: [4; 32],
                ..one
            },
            0,
        ),
    ] {
        let offset = Offset::from_block(Block::new(1, 2)).unwrap();
        let mut garbler = Garbler::new(instance, shape, first, &offset, Block::ZERO);
        let chunk = ready.chunks(shape, 1 << 16).next().unwrap();
        let mut table = vec![0; shape.table_bytes(chunk.ands.len())];
        garbler.garble(&chunk, &mut table).unwrap();
        tables.push(table);
    }
    tables.sort();
    tables.dedup();
    assert_eq!(tables.len(), 5);
}
