//! Garbled circuits give what the circuits give.

use madrigal_circuit::{Builder, Layered, Netlist, values};
use madrigal_garbling::{Evaluator, Garbler, Program, Scheme, Shape};
use madrigal_kernels::{Block, Prg};
use proptest::prelude::*;
use serde_json::Value;

use crate::support::{Both, SCHEMES, circuit, compute, random, random_rows, read};

proptest! {
    #![proptest_config(ProptestConfig::with_cases(300))]

    /// Whatever the circuit, the lanes and the chunks.
    #[test]
    fn random_circuits(netlist in circuit(), lanes in 0usize..150, bytes in 0usize..5000, seed: u64) {
        let program = Layered::compile(&netlist);
        let mut random = Prg::new(Block::new(seed, 2));
        let inputs = random_rows(program.input_bits(), lanes, &mut random);
        let expected = netlist.evaluate(&inputs).unwrap();
        for scheme in SCHEMES {
            prop_assert!(compute(&program, scheme, &inputs, bytes, &mut random) == expected, "{scheme:?}");
        }
    }
}

#[test]
fn known_answers() {
    let mut random = random();
    let folder = concat!(env!("CARGO_MANIFEST_DIR"), "/../circuit/tests/data");
    let answers = std::fs::read_to_string(format!("{folder}/known_answers.json")).unwrap();
    let answers: Value = serde_json::from_str(&answers).unwrap();
    for (file, answer) in answers["circuits"].as_object().unwrap() {
        let netlist = read(file);
        let program = Layered::compile(&netlist);
        let side = |side: &str, widths: &[u32]| {
            let mut lines = String::new();
            for case in answer["cases"].as_array().unwrap() {
                for value in case[side].as_array().unwrap() {
                    lines += value.as_str().unwrap();
                    lines += " ";
                }
                lines += "\n";
            }
            values::read(file, lines.as_bytes(), widths, &Default::default()).unwrap()
        };
        let inputs = side("inputs", netlist.inputs());
        let expected = side("outputs", netlist.outputs());
        for scheme in SCHEMES {
            let got = compute(&program, scheme, &inputs, 1 << 16, &mut random);
            assert!(got == expected, "{file}, {scheme:?}");
        }
    }
}

#[test]
fn any_number_of_lanes() {
    let mut random = random();
    for (file, lanes) in [
        ("aes_128.txt", 1),
        ("aes_128.txt", 7),
        ("aes_128.txt", 64),
        ("int_mul8_size.bristol", 1000),
    ] {
        let program = Layered::compile(&read(file));
        let inputs = random_rows(program.input_bits(), lanes, &mut random);
        let expected = program.interpret(&inputs).unwrap();
        for scheme in SCHEMES {
            let got = compute(&program, scheme, &inputs, 1 << 16, &mut random);
            assert!(got == expected, "{file}, {lanes} lanes, {scheme:?}");
        }
    }
}

/// The compression of SHA-256: the empty message and "abc", as FIPS 180-4 has them.
#[test]
fn sha_256() {
    let path = concat!(env!("CARGO_MANIFEST_DIR"), "/../lab/circuits/sha256.txt");
    let text = std::fs::read(path).unwrap();
    let netlist = Netlist::read("SHA-256", &text, &Default::default()).unwrap();
    let program = Layered::compile(&netlist);
    let state = "6a09e667bb67ae853c6ef372a54ff53a510e527f9b05688c1f83d9ab5be0cd19";
    let blocks = [
        format!("80{} {state}\n", "0".repeat(126)),
        format!("61626380{}18 {state}\n", "0".repeat(118)),
    ];
    let digests = "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855\n\
                   ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad\n";
    let read = |text: &str, widths| {
        values::read("values", text.as_bytes(), widths, &Default::default()).unwrap()
    };
    let inputs = read(&blocks.concat(), netlist.inputs());
    for scheme in SCHEMES {
        let got = compute(&program, scheme, &inputs, 1 << 16, &mut random());
        assert!(got == read(digests, netlist.outputs()), "{scheme:?}");
    }
}

/// Two blocks of one instance, one after the other in the same memory, the second one smaller.
#[test]
fn blocks_share_an_instance() {
    let mut random = random();
    let program = Layered::compile(&read("zero_equal.txt"));
    for scheme in SCHEMES {
        let mut both = Both::new(&program, scheme, 70, &mut random);
        let mut first = 0;
        for lanes in [70, 3, 90] {
            let shape = Shape {
                lanes,
                ..both.shape
            };
            both.garbler.restart(shape, first);
            both.evaluator.restart(shape, first);
            both.shape = shape;
            first += shape.pieces_of(&program);
            let inputs = random_rows(program.input_bits(), lanes, &mut random);
            both.encode(&inputs, &mut random);
            both.run(3000, |_| ());
            assert!(
                both.decode() == program.interpret(&inputs).unwrap(),
                "{lanes} lanes"
            );
        }
    }
}

#[test]
fn bytes_of_an_and() {
    let program = Layered::compile(&read("aes_128.txt"));
    for (scheme, lanes, at_most) in [
        (Scheme::HalfGates, 1, 32.0),
        (Scheme::HalfGates, 1000, 32.0),
        (Scheme::ThreeHalves, 1, 24.65),
        (Scheme::ThreeHalves, 7, 24.65),
        (Scheme::ThreeHalves, 1000, 24.625),
    ] {
        let shape = Shape {
            scheme,
            rows: program.rows(),
            lanes,
        };
        let each = shape.table_bytes_of(&program) as f64 / (6400 * lanes) as f64;
        assert!(
            each <= at_most && each >= at_most - 0.05,
            "{scheme:?}, {lanes} lanes: {each}"
        );
        // Cutting costs nothing.
        for bytes in [0, 1000, 1 << 20] {
            let program = Program::new(&program);
            let cut = program.chunks(shape, bytes);
            let cut: Vec<_> = cut.map(|chunk| chunk.ands.len()).collect();
            let length: usize = cut.iter().map(|&ands| shape.table_bytes(ands)).sum();
            assert_eq!(length as u64, shape.table_bytes_of(program.layered()));
            let pieces: u64 = cut.iter().map(|&ands| shape.pieces(ands)).sum();
            assert_eq!(pieces, shape.pieces_of(program.layered()));
        }
    }
}

/// Memory follows the rows, not the gates.
#[test]
fn long_circuits_stay_small() {
    let mut builder = Builder::new("chain");
    let input = builder.input(2);
    let (mut a, mut b) = (input[0], input[1]);
    for _ in 0..10_000 {
        let product = builder.and(a, b);
        (a, b) = (builder.xor(b, product), builder.not(product));
    }
    builder.output(&[a, b]);
    let netlist = builder.finish();
    let program = Layered::compile(&netlist);
    assert!(program.rows() < 8, "{} rows", program.rows());
    let mut random = random();
    let inputs = random_rows(2, 5, &mut random);
    let got = compute(&program, Scheme::ThreeHalves, &inputs, 4096, &mut random);
    assert!(got == netlist.evaluate(&inputs).unwrap());
}

/// Labels never show, nor does the offset.
#[test]
fn debug_is_redacted() {
    let program = Layered::compile(&read("zero_equal.txt"));
    let both = Both::new(&program, Scheme::HalfGates, 2, &mut random());
    let shown = format!("{:?} {:?} {:?}", both.garbler, both.evaluator, both.offset);
    assert!(
        shown.contains("lanes: 2") && shown.contains("Offset(..)"),
        "{shown}"
    );
    assert!(!shown.contains("Block"), "{shown}");
    fn send<T: Send>() {}
    send::<Garbler>();
    send::<Evaluator>();
}
