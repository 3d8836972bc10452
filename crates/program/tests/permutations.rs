//! Permutations: those of sorts bring rows into the order of sorts; what is done is undone; at the declared cost; of tensors there are none.

#![allow(clippy::unwrap_used)] // tests

use madrigal_circuit::Goal;
use madrigal_program::ir::Op;
use madrigal_program::lower::Mix;
use madrigal_program::{
    Array, Computation, Everyone, Fault, Fixed, Inputs, Party, Permutation, Program, Secret, Tensor,
};

use crate::lowering::agrees;
use crate::random::Random;
use crate::running::runs;
use crate::shuffles::mixes;

const ALICE: Party = Party::new(0);
const BOB: Party = Party::new(1);

/// Opens tensors to all.
fn open(p: &mut Program, tensors: &[Tensor]) {
    for tensor in tensors {
        let _ = p.open_tensor(None, tensor, Everyone);
    }
}

/// The lists that a run opens, by the protocols or in the clear.
fn opened(program: &Computation, inputs: &Inputs, mix: Option<Mix>) -> Vec<Vec<u128>> {
    let codes = |array: Option<&Array>| array.unwrap().codes().collect();
    let Some(mix) = mix else {
        let outputs = program.simulate(inputs).unwrap();
        return outputs.arrays().map(codes).collect();
    };
    let planned = program.plan(mix, Some(Goal::Size), &|_| {}).unwrap();
    let ended = planned.run_locally(program, inputs).unwrap();
    ended[0].outputs.arrays().map(codes).collect()
}

/// By a key with few values and one with many: columns of bits and of numbers come as a sort brings them; places are those of an oracle of
/// this test; orders are undone and put behind each other.
#[test]
fn orders_of_sorts_are_values() {
    let mut random = Random::fresh();
    for (mix, parties) in mixes() {
        for rows in [0, 1, 2, 1000] {
            if rows == 1000 && !matches!((parties, mix.to_string().as_str()), (3, _) | (_, "A+B")) {
                continue;
            }
            let mut p = Program::new(parties);
            let few = p.input::<u8>(ALICE, [rows]);
            let many = p.input::<i16>(BOB, [rows]);
            let flags = p.input::<bool>(BOB, [rows]);
            let prices = p.input::<Fixed<i64, 8>>(ALICE, [rows]);
            let columns = [
                flags.untyped(),
                (&prices + &prices).untyped(),
                many.untyped(),
            ];
            let columns = columns.each_ref();
            let keys = [few.untyped(), many.untyped()];
            let by = [(&keys[0], true), (&keys[1], false)];
            let sorted = Tensor::sort_by(&by, &columns);
            let order = Permutation::sorting(&by);
            assert_eq!(order.rows(), rows);
            assert_eq!(format!("{order:?}"), format!("Permutation of {rows} rows"));
            let applied = order.apply(&columns);
            let undone = order.inverse().apply(&applied.each_ref_of());
            let other = Permutation::sorting(&[(&keys[1], true)]);
            let both = order.then(&other);
            open(&mut p, &sorted[2..]);
            open(&mut p, &applied);
            open(&mut p, &undone);
            open(&mut p, &columns.map(Clone::clone));
            open(&mut p, &both.apply(&columns[..1]));
            open(&mut p, &other.apply(&[&applied[0]]));
            open(&mut p, &both.then(&both.inverse()).apply(&columns[2..]));
            open(&mut p, &[order.places(), order.inverse().places()]);
            assert!(order.apply(&[]).is_empty());
            let program = p.finish().unwrap();
            let few: Vec<u8> = (0..rows).map(|_| random.half() as u8 % 3).collect();
            let many: Vec<i16> = (0..rows).map(|_| random.half() as i16 >> 4).collect();
            let flags: Vec<bool> = (0..rows).map(|_| random.half() & 1 == 1).collect();
            let prices = (0..rows).map(|_| Fixed::<i64, 8>::from_raw(random.half() as i64 >> 9));
            let inputs = Inputs::new()
                .with(&few[..])
                .with(&many[..])
                .with(flags)
                .with(prices.collect::<Vec<_>>());
            let lists = opened(&program, &inputs, None);
            assert_eq!(lists[..3], lists[3..6]);
            assert_eq!(lists[6..9], lists[9..12]);
            assert_eq!(lists[12], lists[13]);
            assert_eq!(lists[14], lists[11]);
            let mut places: Vec<u128> = (0..rows as u128).collect();
            let key = |&row: &u128| (255 - few[row as usize], many[row as usize]);
            places.sort_by_key(key);
            assert_eq!(lists[16], places);
            for (place, row) in places.iter().enumerate() {
                assert_eq!(lists[15][*row as usize], place as u128);
            }
            agrees(&program, &inputs, mix, Goal::Size, "orders");
            runs(&program, &inputs, mix, Goal::Size, "orders");
        }
    }
}

trait EachRef {
    fn each_ref_of(&self) -> Vec<&Tensor>;
}

impl EachRef for Vec<Tensor> {
    fn each_ref_of(&self) -> Vec<&Tensor> {
        self.iter().collect()
    }
}

/// Random orders bring each row somewhere, the same for all columns, and are undone; no two are alike, as that of 40 rows happens once in
/// 10^47 times. In the clear they leave rows where they are.
#[test]
fn orders_at_random_are_values() {
    const ROWS: usize = 40;
    let all: Vec<u16> = (0..ROWS as u16).collect();
    for (mix, parties) in mixes() {
        let mut p = Program::new(parties);
        let x = p.input::<u16>(ALICE, ROWS);
        let twice = (&x + &x).untyped();
        let x = x.untyped();
        let orders = [(); 2].map(|()| Permutation::random(&mut p, ROWS));
        let both = orders[0].then(&orders[1]);
        let first = orders[0].apply(&[&x, &twice]);
        open(&mut p, &first);
        open(&mut p, &orders[1].apply(&[&x]));
        open(&mut p, &both.apply(&[&x]));
        open(&mut p, &orders[1].apply(&[&first[0]]));
        open(&mut p, &orders[0].inverse().apply(&[&first[0]]));
        open(&mut p, &[both.inverse().places()]);
        let program = p.finish().unwrap();
        let inputs = Inputs::new().with(&all[..]);
        let lists = opened(&program, &inputs, Some(mix));
        let one: Vec<u128> = lists[0].iter().map(|x| 2 * x).collect();
        assert_eq!(lists[1], one, "{mix}");
        assert_eq!(lists[3], lists[4], "{mix}");
        assert!(lists[5].iter().copied().eq(0..ROWS as u128), "{mix}");
        // Row i of the result was row i of the inverse's places.
        assert_eq!(lists[6], lists[3], "{mix}");
        for (at, list) in lists[..3].iter().enumerate().filter(|(at, _)| *at != 1) {
            assert!(!list.is_sorted(), "{mix}: {at}");
            let mut sorted = list.clone();
            sorted.sort_unstable();
            assert!(sorted.iter().copied().eq(0..ROWS as u128), "{mix}: {at}");
        }
        assert_ne!(lists[0], lists[2]);
        let clear = opened(&program, &inputs, None);
        assert!(clear[3].iter().copied().eq(0..ROWS as u128));
    }
}

/// A body moves rows by an order from around it, and each row of a map by an order of its own.
#[test]
fn bodies_move_rows() {
    for (mix, parties) in [(Mix::R, 3), (Mix::AB, 2)] {
        let mut p = Program::new(parties);
        let key = p.input::<u8>(ALICE, 5);
        let rows = p.input::<u16>(BOB, [2, 5]);
        let list = p.input::<u16>(ALICE, 5);
        let order = Permutation::sorting(&[(&key.untyped(), false)]);
        let apply = |order: &Permutation, list: &Secret<u16>| {
            order.apply(&[&list.untyped()])[0].typed::<u16>()
        };
        let thrice = p.repeat(3, list.clone(), |_, _, list| apply(&order, &list) + 1);
        let mapped = p.map(rows.clone(), |_, row| apply(&order, &row));
        let apart = p.map(rows, |_, row| {
            let own = Permutation::sorting(&[(&row.untyped(), true)]);
            apply(&own.inverse(), &list)
        });
        let condition = key.sum(0).gt(100u8);
        let chosen = p.if_secret(&condition, |_| apply(&order, &list), |_| list.clone());
        for value in [thrice, mapped, apart, chosen] {
            p.open(value, Everyone);
        }
        let program = p.finish().unwrap();
        for last in [9, 99] {
            let inputs = Inputs::new()
                .with([5u8, 1, 5, 0, last])
                .with([[9u16, 8, 7, 6, 8], [2, 2, 0, 65535, 1]])
                .with([100u16, 200, 300, 400, 500]);
            agrees(&program, &inputs, mix, Goal::Depth, "moved in bodies");
            runs(&program, &inputs, mix, Goal::Size, "moved in bodies");
            let lists = opened(&program, &inputs, None);
            assert_eq!(lists[1][..5], [6, 8, 9, 7, 8]);
            assert_eq!(lists[2][5..], [200, 300, 500, 100, 400]);
            let expected = match last {
                99 => [400, 200, 100, 300, 500],
                _ => [100, 200, 300, 400, 500],
            };
            assert_eq!(lists[3], expected);
        }
    }
}

/// Whatever stands in a tensor, it moves no rows: directly, in a body, or as what a sort or a shuffle made of it.
#[test]
fn tensors_are_no_permutations() {
    let refused = |record: &dyn Fn(&mut Program, &Tensor, &Tensor) -> Tensor| {
        let mut p = Program::new(3);
        let places = p.input::<u32>(ALICE, 4).untyped();
        let x = p.input::<u32>(BOB, 4).untyped();
        let moved = record(&mut p, &places, &x);
        let _ = p.open_tensor(None, &moved, Everyone);
        p.finish().map(drop).map_err(|error| error.fault)
    };
    let moved = |p: &mut Program, places: &Tensor, x: &Tensor| {
        p.record(Op::MoveRows, &[places, x]).remove(0)
    };
    let rows = |p: &mut Program| p.record(Op::Numbered(4), &[]).remove(0);
    let none = Err(Fault::NoPermutation);
    assert_eq!(refused(&moved), none);
    assert_eq!(
        refused(&|p, places, x| moved(p, &Tensor::shuffle(&[places])[0], x)),
        none
    );
    assert_eq!(
        refused(&|p, places, x| moved(p, &Tensor::sort_by(&[(places, false)], &[x])[0], x)),
        none
    );
    assert_eq!(
        refused(&|p, _, x| {
            let rows = rows(p);
            moved(p, &rows.plus(&rows), x)
        }),
        none
    );
    assert_eq!(
        refused(&|p, places, x| {
            let rows = rows(p);
            let places = moved(p, &rows, places);
            moved(p, &places, x)
        }),
        none
    );
    let state = |p: &mut Program, count: usize, operands: &[&Tensor], carried: usize| {
        let mut body = p.body_of(2);
        let typed = |tensor: &Tensor| madrigal_program::TensorType {
            element: tensor.element(),
            shape: tensor.shape().clone(),
        };
        let [a, b] = [0, 1].map(|at| body.argument(at, typed(operands[at])));
        let places = if carried == 2 { &a } else { &b };
        let made = moved(&mut body, places, &a);
        let results: Vec<&Tensor> = [&made, &b].into_iter().take(carried).collect();
        let (body, captured) = body.into_body(&results).unwrap();
        assert!(captured.is_empty());
        let op = Op::Repeat {
            count,
            carried,
            body,
        };
        p.record(op, operands).remove(0)
    };
    assert_eq!(refused(&|p, places, x| state(p, 2, &[x, places], 1)), none);
    assert_eq!(
        refused(&|p, _, x| {
            let rows = rows(p);
            state(p, 2, &[&rows, x], 2)
        }),
        none
    );
    // What follows from the rows' numbers alone is one.
    let fine = |record: &dyn Fn(&mut Program, &Tensor, &Tensor) -> Tensor| {
        assert_eq!(refused(record), Ok(()));
    };
    fine(&|p, _, x| {
        let rows = rows(p);
        state(p, 2, &[x, &rows], 1)
    });
    fine(&|p, key, x| {
        let rows = rows(p);
        let sorted = Tensor::sort_by(&[(key, true)], &[&rows]).remove(1);
        let twice = moved(p, &sorted, &Tensor::shuffle(&[&rows])[0]);
        moved(p, &twice, x)
    });
    // Other shapes and types are no places of these rows.
    for axes in [&[3_usize][..], &[2, 2], &[]] {
        let mut p = Program::new(3);
        let order = Permutation::random(&mut p, 4);
        let x = p.tensor_input(None, ALICE, order.places().element(), axes);
        let _ = p.open_tensor(None, &order.apply(&[&x])[0], Everyone);
        assert!(p.finish().is_err(), "{axes:?}");
    }
    let mut p = Program::new(3);
    let key = p.input::<u32>(ALICE, [2, 2]).untyped();
    let order = Permutation::sorting(&[(&key, false)]);
    let _ = p.open_tensor(None, &order.places(), Everyone);
    let text = p.finish().unwrap_err().to_string();
    assert!(
        text.contains("keys of shape [2, 2], and it takes lists"),
        "{text}"
    );
    let mut p = Program::new(3);
    let order = Permutation::random(&mut p, 1 << 33);
    let _ = p.open_tensor(None, &order.places(), Everyone);
    let text = p.finish().unwrap_err().to_string();
    assert!(
        text.contains("numbers of 8589934592 rows: there are less"),
        "{text}"
    );
}

#[test]
fn mixes_that_cannot_shuffle_move_no_rows() {
    for (mix, parties) in [("Y", 2), ("alpha+beta", 2), ("A+B", 3)] {
        let mut p = Program::new(parties);
        let x = p.input::<u32>(ALICE, 9).untyped();
        let order = Permutation::sorting(&[(&x, false)]);
        open(&mut p, &order.apply(&[&x]));
        let program = p.finish().unwrap();
        let fault = program.lower(mix.parse().unwrap(), Goal::Size).unwrap_err();
        assert!(
            matches!(fault.fault, Fault::NoShuffle { .. }),
            "{mix}: {fault}"
        );
        let planned = program.plan(Mix::AUTO, Some(Goal::Size), &|_| {});
        assert!(planned.is_ok(), "{mix}");
    }
}

/// What nothing uses is not computed: an order alone is its sort, and one that is applied twice opens places twice.
#[test]
fn unused_inverses_cost_nothing() {
    let steps = |record: &dyn Fn(&mut Program, &Tensor) -> Vec<Tensor>| {
        let mut p = Program::new(3);
        let x = p.input::<u32>(ALICE, 9).untyped();
        let made = record(&mut p, &x);
        open(&mut p, &made);
        let lowered = p.finish().unwrap().lower(Mix::R, Goal::Size).unwrap();
        let lines = lowered.describe();
        let count = |name: &str| lines.iter().filter(|line| line.contains(name)).count();
        [count(": sort by "), count(": shuffle/"), count(": place/")]
    };
    let sorting = |x: &Tensor| Permutation::sorting(&[(x, false)]);
    assert_eq!(
        steps(&|_, x| sorting(x).inverse().apply(&[x, x])),
        [1, 0, 1]
    );
    assert_eq!(steps(&|_, x| sorting(x).apply(&[x])), [1, 0, 2]);
    assert_eq!(
        steps(&|_, x| vec![sorting(x).inverse().places()]),
        [1, 0, 0]
    );
    assert_eq!(
        steps(&|p, x| Permutation::random(p, 9).apply(&[x])),
        [0, 1, 1]
    );
}
