//! Wrong arguments are refused, and wrong bytes that cannot be seen to be wrong do no harm.

use madrigal_circuit::Layered;
use madrigal_garbling::{Block, Fault, Garbler, GarblingError, Offset, Program, Scheme, Shape};

use crate::support::{Both, INSTANCE, SCHEMES, random, random_rows, read};

#[test]
fn tables_of_other_lengths() {
    let mut random = random();
    let program = Layered::compile(&read("int_add8_size.bristol"));
    let ready = Program::new(&program);
    for (scheme, lanes) in SCHEMES
        .into_iter()
        .flat_map(|s| [1, 7, 64, 1000].map(|l| (s, l)))
    {
        let mut both = Both::new(&program, scheme, lanes, &mut random);
        let chunk = ready.chunks(both.shape, 1 << 16).next().unwrap();
        let due = both.shape.table_bytes(chunk.ands.len());
        for got in [0, 1, due - 1, due + 1, 2 * due] {
            let error = both.evaluator.evaluate(&chunk, &vec![0; got]).unwrap_err();
            assert_eq!(error.fault(), Fault::Peer);
            let told = error.to_string();
            assert!(
                told.contains(&format!("{got} bytes where {due} are due")),
                "{told}"
            );
            let error = both.garbler.garble(&chunk, &mut vec![0; got]).unwrap_err();
            assert_eq!(error.fault(), Fault::Caller);
        }
        // Nothing has been done to it: it goes on with the right one.
        let inputs = random_rows(program.input_bits(), lanes, &mut random);
        both.encode(&inputs, &mut random);
        both.run(1 << 16, |_| ());
        assert!(both.decode() == program.interpret(&inputs).unwrap());
    }
}

/// A flipped bit makes other labels of the lane it is for, and of no other; nothing panics.
#[test]
fn damaged_tables_give_other_labels() {
    let mut random = random();
    let program = Layered::compile(&read("int_mul8_size.bristol"));
    for (scheme, lanes) in SCHEMES
        .into_iter()
        .flat_map(|s| [1, 5, 64, 100].map(|l| (s, l)))
    {
        let inputs = random_rows(program.input_bits(), lanes, &mut random);
        let mut changed = 0;
        for place in 0..30 {
            let mut both = Both::new(&program, scheme, lanes, &mut random);
            both.encode(&inputs, &mut random);
            let mut flip = true;
            both.run(1 << 16, |table| {
                if std::mem::take(&mut flip) {
                    let at = place * 7919 % (8 * table.len());
                    table[at / 8] ^= 1 << (at % 8);
                }
            });
            let labels = program.outputs().iter().map(|&row| {
                let (ours, theirs) = (
                    both.garbler.labels(row as usize),
                    both.evaluator.labels(row as usize),
                );
                let offset = both.offset.expose();
                let lanes = ours.iter().zip(theirs).enumerate();
                lanes
                    .filter(|&(_, (&x, &y))| x != y && x ^ offset != y)
                    .map(|(lane, _)| lane)
                    .collect::<Vec<_>>()
            });
            let mut lanes: Vec<usize> = labels.flatten().collect();
            lanes.sort_unstable();
            lanes.dedup();
            assert!(lanes.len() <= 1, "one lane was damaged, not {lanes:?}");
            changed += lanes.len();
        }
        // The colours decide whether a bit of the table is used at all: half of them are.
        assert!(changed > 0, "{scheme:?}, {lanes} lanes");
    }
}

#[test]
fn offsets_and_labels() {
    let error = Offset::from_block(Block::new(2, 3)).unwrap_err();
    assert_eq!(error, GarblingError::EvenOffset);
    assert_eq!(error.fault(), Fault::Caller);
    let program = Layered::compile(&read("int_add8_size.bristol"));
    let mut both = Both::new(&program, Scheme::HalfGates, 3, &mut random());
    for labels in [0, 2, 4] {
        let labels = vec![Block::ZERO; labels];
        assert!(both.garbler.set(0, &labels).is_err());
        assert!(both.evaluator.set(0, &labels).is_err());
    }
}

/// No number of a piece comes twice, not even past the last.
#[test]
fn numbers_end() {
    let program = Layered::compile(&read("int_add8_size.bristol"));
    let shape = Shape {
        scheme: Scheme::HalfGates,
        rows: program.rows(),
        lanes: 65,
    };
    let offset = Offset::from_block(Block::new(1, 3)).unwrap();
    let mut garbler = Garbler::new(INSTANCE, shape, u64::MAX - 3, &offset, Block::ZERO);
    let mut done = 0;
    for chunk in Program::new(&program).chunks(shape, 1) {
        let mut table = vec![0; shape.table_bytes(chunk.ands.len())];
        match garbler.garble(&chunk, &mut table) {
            Ok(()) => done += 1,
            Err(error) => {
                assert_eq!(error.fault(), Fault::Caller);
                assert!(
                    matches!(error, GarblingError::Exhausted { pieces: 2, .. }),
                    "{error}"
                );
                break;
            }
        }
    }
    // Two pieces each.
    assert_eq!(done, 1);
}
