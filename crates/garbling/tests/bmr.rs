//! Circuits garbled by N parties give what the circuits give.

use madrigal_circuit::{Builder, Layered, Rows};
use madrigal_garbling::bmr::{Evaluation, Garbling, Gates, Hashed, PeerRows, Products, Shape};
use madrigal_garbling::{Block, Chunk, GarblingError, Program};
use madrigal_kernels::Prg;
use proptest::prelude::*;

use crate::parties::{All, INSTANCE, sum, xor};
use crate::support::{circuit, random, random_rows, read};

/// Computes the circuit in the clear.
fn plain(program: &Layered, inputs: &Rows) -> Rows {
    program.interpret(inputs).unwrap()
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(150))]

    /// Whatever the circuit, the parties, the lanes and the chunks.
    #[test]
    fn random_circuits(
        netlist in circuit(), parties in 2usize..6, lanes in 0usize..150, bytes in 0usize..20000,
        seed: u64,
    ) {
        let program = Layered::compile(&netlist);
        let mut random = Prg::new(Block::new(seed, 2));
        let inputs = random_rows(program.input_bits(), lanes, &mut random);
        let expected = netlist.evaluate(&inputs).unwrap();
        let all = All::new(&program, parties, lanes, &mut random);
        all.check(&inputs, &expected, bytes);
    }
}

#[test]
fn aes_for_any_number_of_lanes() {
    let mut random = random();
    let program = Layered::compile(&read("aes_128.txt"));
    for (parties, lanes) in [(2, 1), (2, 7), (2, 64), (2, 100), (3, 1), (3, 9), (5, 2)] {
        let inputs = random_rows(program.input_bits(), lanes, &mut random);
        let all = All::new(&program, parties, lanes, &mut random);
        all.check(&inputs, &plain(&program, &inputs), 1 << 16);
    }
}

/// The first AND of a layer frees no row, so that its result takes one that the second reads: it waits, whatever the
/// lanes and the chunks.
#[test]
fn a_row_that_is_still_read_is_not_written() {
    let mut builder = Builder::new("waits");
    let input = builder.input(4);
    let first = [(0, 1), (2, 3)].map(|(a, b)| builder.and(input[a], input[b]));
    let second = [0, 1].map(|i| builder.and(first[i], input[i]));
    builder.output(&second);
    let netlist = builder.finish();
    let program = Layered::compile(&netlist);
    let ready = Program::new(&program);
    let waits = |chunk: &Chunk<'_>| chunk.at_once.iter().any(|at_once| !at_once);
    let shape = Shape {
        parties: 3,
        rows: program.rows(),
        lanes: 1,
        gates: Gates::TwoOts,
    };
    assert!(shape.chunks(&ready, 1 << 16).any(|chunk| waits(&chunk)));
    let mut random = random();
    for (parties, lanes, bytes) in [(2, 1, 1), (2, 200, 1000), (3, 20, 1 << 16), (3, 64, 1)] {
        let inputs = random_rows(4, lanes, &mut random);
        let expected = netlist.evaluate(&inputs).unwrap();
        let all = All::new(&program, parties, lanes, &mut random);
        all.check(&inputs, &expected, bytes);
    }
}

/// Outputs that are constants, inputs, and negations of either.
#[test]
fn what_needs_no_table() {
    let mut builder = Builder::new("local");
    let input = builder.input(2);
    let (one, zero) = (builder.constant(true), builder.constant(false));
    let (not, sum) = (builder.not(input[0]), builder.xor(input[0], input[1]));
    builder.output(&[one, zero, not, sum, input[1], not]);
    let netlist = builder.finish();
    let program = Layered::compile(&netlist);
    let mut random = random();
    let inputs = random_rows(2, 11, &mut random);
    let all = All::new(&program, 3, 11, &mut random);
    let expected = netlist.evaluate(&inputs).unwrap();
    all.check(&inputs, &expected, 1000);
}

/// A wrong table gives wrong bits of the ANDs that read it, and no panic.
#[test]
fn tampered_tables_are_not_noticed() {
    let mut builder = Builder::new("and");
    let input = builder.input(2);
    let product = builder.and(input[0], input[1]);
    builder.output(&[product]);
    let program = Layered::compile(&builder.finish());
    let mut random = random();
    let inputs = random_rows(2, 64, &mut random);
    let all = All::new(&program, 2, 64, &mut random);
    let (mut tables, outputs) = all.garble(1000);
    let masks = sum(outputs.iter().map(|part| part.masks().clone()));
    // The colour in the first coefficient of lane 5.
    tables[1][16 * 5] ^= 1;
    let got = all.evaluate(0, 1000, &all.activate(&inputs), &tables);
    let mut bits = got.colours(1);
    xor(bits.as_bytes_mut(), masks.as_bytes());
    xor(bits.as_bytes_mut(), plain(&program, &inputs).as_bytes());
    assert_eq!(bits.row(0), (1_u64 << 5).to_le_bytes());
    // Anything of the right length gives something.
    for _ in 0..20 {
        tables.iter_mut().for_each(|table| random.fill(table));
        all.evaluate(0, 1000, &all.activate(&inputs), &tables);
    }
}

#[test]
fn wrong_lengths_are_refused() {
    let mut builder = Builder::new("and");
    let input = builder.input(2);
    let product = builder.and(input[0], input[1]);
    builder.output(&[product]);
    let program = Layered::compile(&builder.finish());
    let mut random = random();
    let all = All::new(&program, 2, 3, &mut random);
    let (shape, party) = (all.shape, &all.parties[0]);
    let ready = Program::new(&program);
    let chunk = shape.chunks(&ready, 1000).next().unwrap();
    let (ots, flips) = (party.dealt.ots(), all.flips_of_others(0));
    let products = Products {
        ots: &ots,
        own: &party.own,
        flips: &flips,
    };
    let new = |first| Garbling::new(INSTANCE, shape, first, 0, &party.offset, &party.seed);
    let (mut x, mut y, mut short) = ([0; 144], [0; 144], [0; 143]);
    let refused = |result: Result<(), GarblingError>, words: &str| {
        let error = result.unwrap_err().to_string();
        assert!(error.contains(words), "{error}");
    };
    let mut garbling = new(0);
    refused(garbling.garble(&chunk, products, &mut [&mut x]), "columns");
    refused(
        garbling.garble(&chunk, products, &mut [&mut x, &mut short]),
        "bytes of a column: 144 are due and 143",
    );
    let few = [PeerRows {
        sent: &party.dealt.sent[0][..15],
        ..ots[0]
    }];
    let few = Products {
        ots: &few,
        ..products
    };
    refused(
        garbling.garble(&chunk, few, &mut [&mut x, &mut y]),
        "correlated OTs",
    );
    refused(
        Hashed::new(&ready, (INSTANCE, 0), 0, &party.offset, shape, few.ots).map(|_| ()),
        "correlated OTs",
    );
    garbling
        .garble(&chunk, products, &mut [&mut x, &mut y])
        .unwrap();
    // The block has no second chunk, and a plane of whole bytes room for a few more.
    garbling
        .garble(&chunk, products, &mut [&mut x, &mut y])
        .unwrap();
    refused(
        garbling.garble(&chunk, products, &mut [&mut x, &mut y]),
        "products of a block: 9 are due and 8",
    );
    refused(
        new(u64::MAX).garble(&chunk, products, &mut [&mut x, &mut y]),
        "start an instance",
    );
    refused(
        new(0).set(0, 0, &[Block::ZERO; 2], products),
        "keys of a row: 3",
    );
    let mut evaluation = Evaluation::new(INSTANCE, shape, 0, 0, &party.offset, &party.seed);
    refused(
        evaluation.evaluate(&chunk, &mut [&x[..], &y]),
        "columns of others",
    );
    refused(
        evaluation.evaluate(&chunk, &mut [&short[..]]),
        "bytes of a column",
    );
    let shown = format!(
        "{garbling:?} {evaluation:?} {:?} {:?}",
        party.seed, party.inputs
    );
    assert!(!shown.contains("Block("), "{shown}");
}
