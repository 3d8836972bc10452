//! Shuffles: rows stay together, at the declared cost; no two have an order in common; mixes that cannot say so.

#![allow(clippy::unwrap_used)] // tests

use madrigal_circuit::Goal;
use madrigal_program::lower::Mix;
use madrigal_program::{
    Array, Computation, Everyone, ExecuteError, Fault, Fixed, Inputs, Party, Program, Tensor,
};

use crate::lowering::agrees;
use crate::random::Random;
use crate::running::runs;

const ALICE: Party = Party::new(0);

/// Mixes with as many parties that shuffle in them.
pub(crate) fn mixes() -> Vec<(Mix, usize)> {
    let names = [("R", 3), ("A+B", 2), ("B", 2), ("A+B+Y", 2), ("B+Y2", 2)];
    names
        .map(|(mix, parties)| (mix.parse().unwrap(), parties))
        .to_vec()
}

/// Shuffled and then sorted by a column without equal elements: so there is one result. A column of numbers is in the ring, where the mix has
/// one.
#[test]
fn rows_stay_together() {
    let mut random = Random::fresh();
    for (mix, parties) in mixes() {
        for shape in [[1, 0], [1, 1], [1, 2], [1, 300], [3, 5], [0, 4]] {
            let count = shape[0] * shape[1];
            let mut p = Program::new(parties);
            let key = p.input::<u32>(ALICE, shape);
            let flags = p.input::<bool>(Party::new(1), shape);
            let prices = p.input::<Fixed<i64, 8>>(ALICE, shape);
            let twice = &prices + &prices;
            let columns = [key.untyped(), flags.untyped(), twice.untyped()];
            let shuffled = Tensor::shuffle(&columns.each_ref());
            let sorted = Tensor::sort_by(&[(&shuffled[0], true)], &[&shuffled[1], &shuffled[2]]);
            for column in &sorted {
                let _ = p.open_tensor(None, column, Everyone);
            }
            let program = p.finish().unwrap();
            let first = random.half() as u32;
            let keys: Vec<u32> = (0..count as u32)
                .map(|at| first.wrapping_add(at.wrapping_mul(0x9e37_79b1)))
                .collect();
            let flags: Vec<bool> = (0..count).map(|_| random.half() & 1 == 1).collect();
            let prices: Vec<_> = (0..count)
                .map(|_| Fixed::<i64, 8>::from_raw(random.half() as i64 >> 9))
                .collect();
            let inputs = Inputs::new()
                .with((shape, keys))
                .with((shape, flags))
                .with((shape, prices));
            agrees(&program, &inputs, mix, Goal::Size, "a shuffle");
            runs(&program, &inputs, mix, Goal::Size, "a shuffle");
        }
    }
}

/// The lists that a program opens.
fn opened(program: &Computation, mix: Mix, inputs: &Inputs) -> Vec<Vec<u128>> {
    let planned = program.plan(mix, Some(Goal::Size), &|_| {}).unwrap();
    let ended = planned.run_locally(program, inputs).unwrap();
    let outputs = &ended[0].outputs;
    let codes = |array: Option<&Array>| array.unwrap().codes().collect();
    outputs.arrays().map(codes).collect()
}

/// Rows of one input, of a public list, in a loop and in a map: each shuffle has an order of its own. That two of 40 rows are alike happens
/// once in 10^47 times.
#[test]
fn no_two_orders_have_anything_in_common() {
    const ROWS: usize = 40;
    let all: Vec<u16> = (0..ROWS as u16).collect();
    for (mix, parties) in [(Mix::R, 3), (Mix::AB, 2)] {
        let mut p = Program::new(parties);
        let x = p.input::<u16>(ALICE, ROWS);
        let public = p.constant(&all[..]);
        let again = |x: &Tensor| Tensor::shuffle(&[x]).remove(0);
        for _ in 0..2 {
            let _ = p.open_tensor(None, &again(&x.untyped()), Everyone);
            let _ = p.open_tensor(None, &again(&public.untyped()), Everyone);
        }
        let rows = p.input::<u16>(ALICE, [2, ROWS]);
        let apart = again(&rows.untyped());
        for row in 0..2 {
            let _ = p.open_tensor(None, &apart.at(0, row), Everyone);
        }
        // Rows of a map, which all shuffle the same.
        let mapped = p.map(rows, |p, row| {
            let list = p.constant(&all[..]);
            row - &list + again(&list.untyped()).typed::<u16>()
        });
        for row in 0..2 {
            let _ = p.open_tensor(None, &mapped.untyped().at(0, row), Everyone);
        }
        let rows = p.input::<u16>(ALICE, [2, ROWS]);
        let mapped = p.map(rows, |p, row| {
            let list = p.constant(&all[..]);
            let shuffled = p.repeat(2, list.clone(), |_, _, list| {
                again(&list.untyped()).typed::<u16>()
            });
            row - &list + shuffled
        });
        for row in 0..2 {
            let _ = p.open_tensor(None, &mapped.untyped().at(0, row), Everyone);
        }
        let program = p.finish().unwrap();
        let inputs = Inputs::new()
            .with(&all[..])
            .with(([2, ROWS], all.repeat(2)))
            .with(([2, ROWS], all.repeat(2)));
        let lists = opened(&program, mix, &inputs);
        assert_eq!(lists.len(), 10);
        for (at, list) in lists.iter().enumerate() {
            let mut sorted = list.clone();
            sorted.sort_unstable();
            assert!(
                sorted.iter().copied().eq(0..ROWS as u128),
                "{mix}: {list:?}"
            );
            assert!(!list.is_sorted(), "{mix}: list {at}");
            assert!(!lists[..at].contains(list), "{mix}: list {at}");
        }
        // In the clear they stay as they are.
        let outputs = program.simulate(&inputs).unwrap();
        assert!(
            outputs
                .arrays()
                .all(|array| array.unwrap().codes().eq(0..ROWS as u128))
        );
    }
}

#[test]
fn mixes_that_cannot_shuffle_say_so() {
    for (mix, parties) in [
        ("Y", 2),
        ("A+Y2", 2),
        ("alpha+beta", 2),
        ("A+B", 3),
        ("A+B+Y", 4),
    ] {
        let mut p = Program::new(parties);
        let x = p.input::<u16>(ALICE, 9).untyped();
        let _ = p.open_tensor(None, &Tensor::shuffle(&[&x])[0], Everyone);
        let program = p.finish().unwrap();
        let fault = program.lower(mix.parse().unwrap(), Goal::Size).unwrap_err();
        assert!(
            matches!(fault.fault, Fault::NoShuffle { .. }),
            "{mix}: {fault}"
        );
        let text = format!(
            "a shuffle of rows, which {parties} parties cannot do in the mix {mix}; there are A+B of 2 parties, R of 3 parties, B of 2 parties"
        );
        assert_eq!(fault.fault.to_string(), text);
        let planned = program.plan(mix.parse().unwrap(), None, &|_| {});
        assert!(matches!(planned, Err(ExecuteError::Program(_))), "{mix}");
        // Where the plan chooses, it takes one that can.
        match program.plan(Mix::AUTO, Some(Goal::Size), &|_| {}) {
            Ok(planned) => assert!(parties < 4, "{}", planned.executable.mix()),
            Err(error) => assert_eq!((parties, error.to_string().contains("R of 3")), (4, true)),
        }
    }
}

#[test]
fn too_many_lists_and_other_shapes_are_refused() {
    let mut p = Program::new(3);
    let x = p.input::<u8>(ALICE, [4097, 2]).untyped();
    let _ = p.open_tensor(None, &Tensor::shuffle(&[&x])[0], Everyone);
    let fault = p.finish().unwrap().lower(Mix::R, Goal::Size).unwrap_err();
    let text = "shuffle: 4097 lists, each in an order of its own; at most 4096";
    assert_eq!(fault.fault.to_string(), text);
    for axes in [&[3_usize][..], &[2, 2], &[]] {
        let mut p = Program::new(3);
        let x = p.input::<u8>(ALICE, [2]).untyped();
        let y = p.tensor_input(None, ALICE, x.element(), axes);
        let _ = p.open_tensor(None, &Tensor::shuffle(&[&y, &x])[0], Everyone);
        assert!(p.finish().is_err(), "{axes:?}");
    }
}
