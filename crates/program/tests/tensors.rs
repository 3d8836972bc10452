//! Shapes, axes, matrices, tables, sorting.

use madrigal_circuit::Goal;
use madrigal_program::lower::Mix;
use madrigal_program::{
    Array, Everyone, Fixed, Inputs, Party, Plain, Program, Secret, Shape, Tensor,
};

use crate::lowering::agrees;
use crate::random::Random;
use crate::running::runs;

const ALICE: Party = Party::new(0);

/// Runs a program on one input.
#[track_caller]
fn run<A: Plain, R: Plain, const N: usize>(
    shape: [usize; N],
    values: &[A],
    program: impl FnOnce(&mut Program, Secret<A>) -> Secret<R>,
) -> (Vec<usize>, Vec<R>) {
    let mut p = Program::new(3);
    let x = p.input::<A>(ALICE, shape);
    let result = program(&mut p, x);
    let shape_of = result.shape().axes().to_vec();
    let opened = p.open(result, Everyone);
    let program = p.finish().expect("a program that can be");
    let inputs = Inputs::new().with((shape, values.to_vec()));
    let outputs = program.simulate(&inputs).expect("inputs as declared");
    for mix in [Mix::AB, Mix::B, Mix::R] {
        agrees(
            &program,
            &inputs,
            mix,
            Goal::Size,
            "an operation on tensors",
        );
    }
    (shape_of, outputs.get(opened))
}

fn counted(to: usize) -> Vec<u32> {
    (0..to as u32).collect()
}

#[test]
fn elements_move_as_in_numpy() {
    let x = counted(24);
    let same = |result: (Vec<usize>, Vec<u32>), shape: &[usize], values: &[u32]| {
        assert_eq!(result, (shape.to_vec(), values.to_vec()));
    };
    same(
        run([2, 3, 4], &x, |_, x| x.reshape([6, 4]).at(0, 5)),
        &[4],
        &[20, 21, 22, 23],
    );
    same(
        run([2, 3, 4], &x, |_, x| x.at(2, 1)),
        &[2, 3],
        &[1, 5, 9, 13, 17, 21],
    );
    same(
        run([2, 3, 4], &x, |_, x| x.slice(1, 1..).at(2, 0)),
        &[2, 2],
        &[4, 8, 16, 20],
    );
    same(
        run([2, 3], &x[..6], |_, x| x.transpose()),
        &[3, 2],
        &[0, 3, 1, 4, 2, 5],
    );
    same(
        run([2, 3, 2], &x[..12], |_, x| x.permute(&[2, 0, 1])),
        &[2, 2, 3],
        &[0, 2, 4, 6, 8, 10, 1, 3, 5, 7, 9, 11],
    );
    same(
        run([2, 3], &x[..6], |_, x| x.reverse(1)),
        &[2, 3],
        &[2, 1, 0, 5, 4, 3],
    );
    same(
        run([2, 3], &x[..6], |_, x| x.pick(1, &[2, 2, 0])),
        &[2, 3],
        &[2, 2, 0, 5, 5, 3],
    );
    same(
        run([2, 2], &x[..4], |_, x| x.join([[9u32], [8]], 1)),
        &[2, 3],
        &[0, 1, 9, 2, 3, 8],
    );
    same(
        run([2], &x[..2], |p, x| {
            let y = &x + 10;
            p.stack(&[x, y], 1)
        }),
        &[2, 2],
        &[0, 10, 1, 11],
    );
    same(
        run([2, 1], &x[..2], |_, x| x + [10u32, 20, 30]),
        &[2, 3],
        &[10, 20, 30, 11, 21, 31],
    );
    same(
        run([2], &x[..2], |_, x| x.broadcast_to([3, 2])),
        &[3, 2],
        &[0, 1, 0, 1, 0, 1],
    );
    same(
        run([2], &x[..2], |_, x| x.expand(1).expand(0)),
        &[1, 2, 1],
        &[0, 1],
    );
    same(run([0, 3], &[], |_, x| x.sum(0)), &[3], &[0, 0, 0]);
}

#[test]
fn axes_are_put_together() {
    let x = [5i16, -3, 7, 7, 0, -32768];
    let of = |result: (Vec<usize>, Vec<i16>)| result.1;
    assert_eq!(of(run([2, 3], &x, |_, x| x.sum(0))), [12, -3, -32761]);
    assert_eq!(of(run([2, 3], &x, |_, x| x.sum(1))), [9, -32761]);
    assert_eq!(of(run([2, 3], &x, |_, x| x.product(1))), [-105, 0]);
    assert_eq!(of(run([2, 3], &x, |_, x| x.least(1))), [-3, -32768]);
    assert_eq!(of(run([2, 3], &x, |_, x| x.greatest(0))), [7, 0, 7]);
    assert_eq!(of(run([2, 3], &x, |_, x| x.sum_all())), [-32752]);
    assert_eq!(
        of(run([2, 3], &x, |_, x| x.prefix_sums(1))),
        [5, 2, 9, 7, 7, -32761]
    );
    assert_eq!(
        of(run([2, 3], &x, |_, x| x.prefix_sums(0))),
        [5, -3, 7, 12, -3, -32761]
    );
    assert_eq!(of(run([2, 3], &x, |_, x| x.all(0))), [5, 0, 0]);
    assert_eq!(of(run([2, 3], &x, |_, x| x.parity(0))), [2, -3, !32767 ^ 7]);
    let place = |result: (Vec<usize>, Vec<u32>)| result.1;
    assert_eq!(place(run([2, 3], &x, |_, x| x.min_with_place().1)), [1, 2]);
    assert_eq!(place(run([2, 3], &x, |_, x| x.max_with_place().1)), [2, 0]);
    assert_eq!(
        place(run([3], &[4u8, 4, 4], |_, x| x.max_with_place().1)),
        [0]
    );
    let bits = [true, false, true, true];
    assert_eq!(run([2, 2], &bits, |_, x| x.any(0)).1, [true, true]);
    assert_eq!(run([2, 2], &bits, |_, x| x.all(1)).1, [false, true]);
    assert_eq!(run([2, 2], &bits, |_, x| x.parity(1)).1, [true, false]);
    assert_eq!(run([2, 2], &bits, |_, x| x.count(1)).1, [1, 2]);
}

#[test]
fn matrices_multiply() {
    let mut random = Random::fresh();
    let (m, k, n) = (3, 4, 5);
    let a: Vec<u64> = (0..2 * m * k).map(|_| random.half()).collect();
    let b: Vec<u64> = (0..k * n).map(|_| random.half()).collect();
    let public = b.clone();
    let (shape, product) = run([2, m, k], &a, |_, x| x.matmul(([k, n], public)));
    assert_eq!(shape, [2, m, n]);
    for (at, &found) in product.iter().enumerate() {
        let (row, column) = (at / n, at % n);
        let terms = (0..k).map(|i| a[row * k + i].wrapping_mul(b[i * n + column]));
        assert_eq!(found, terms.fold(0, u64::wrapping_add));
    }
    let vector = run([3], &[1u8, 2, 3], |_, x| {
        x.matmul([[1u8, 0], [0, 1], [1, 1]])
    });
    assert_eq!(vector, (vec![2], vec![4, 5]));
    let column = run([2, 2], &[1u8, 2, 3, 4], |_, x| x.matmul([1u8, 1]));
    assert_eq!(column, (vec![2], vec![3, 7]));
    assert_eq!(
        run([3], &[1u8, 2, 3], |_, x| x.dot([1u8, 1, 100])),
        (vec![], vec![47])
    );
    // One rounding for the whole sum, not one for each product.
    type Price = Fixed<i32, 8>;
    let halves = [Price::from_raw(1), Price::from_raw(1)];
    let of = |scale| run([2], &halves, move |_, x| x.dot([scale, scale])).1[0].raw();
    assert_eq!(of(Price::from_raw(128)), 1);
    assert_eq!(of(Price::from_raw(127)), 0);
}

/// Keys of several types, of which the first ones are often equal; one row, which three parties in R and two in B sort by opened
/// comparisons, and several, which networks sort. What is equal stays in its order.
#[test]
fn rows_are_sorted_by_keys() {
    let mut random = Random::fresh();
    let mut below = |bound: u64| random.half() % bound;
    let shapes = [(1, 0), (1, 1), (1, 2), (1, 9), (1, 300), (2, 7)];
    for (parties, (rows, length)) in [3, 2]
        .into_iter()
        .flat_map(|n| shapes.map(|shape| (n, shape)))
    {
        let count = rows * length;
        let flags: Vec<bool> = (0..count).map(|_| below(2) == 1).collect();
        let small: Vec<i8> = (0..count)
            .map(|_| [i8::MIN, -1, 0, i8::MAX][below(4) as usize])
            .collect();
        let prices: Vec<Fixed<i32, 8>> = (0..count)
            .map(|_| Fixed::from_raw(128 * below(5) as i32 - 256))
            .collect();
        let places: Vec<u32> = (0..count as u32).collect();
        let mut p = Program::new(parties);
        let shape = [rows, length];
        let (a, b) = (p.input::<bool>(ALICE, shape), p.input::<i8>(ALICE, shape));
        let (c, d) = (
            p.input::<Fixed<i32, 8>>(ALICE, shape),
            p.input::<u32>(ALICE, shape),
        );
        // A column of numbers is in the ring, where the mix has one.
        let twice = &d + &d;
        let sorted = Tensor::sort_by(
            &[
                (&a.untyped(), true),
                (&b.untyped(), false),
                (&c.untyped(), true),
            ],
            &[&twice.untyped(), &d.untyped()],
        );
        let opened = (
            p.open(sorted[0].typed::<bool>(), Everyone),
            p.open(sorted[1].typed::<i8>(), Everyone),
            p.open(sorted[2].typed::<Fixed<i32, 8>>(), Everyone),
            p.open(sorted[3].typed::<u32>(), Everyone),
            p.open(sorted[4].typed::<u32>(), Everyone),
        );
        let program = p.finish().expect("a program that can be");
        let inputs = Inputs::new()
            .with((shape, flags.clone()))
            .with((shape, small.clone()))
            .with((shape, prices.clone()))
            .with((shape, places.clone()));
        let outputs = program.simulate(&inputs).expect("inputs as declared");
        let mut expected: Vec<usize> = (0..count).collect();
        for row in expected.chunks_mut(length.max(1)) {
            row.sort_by(|&x, &y| {
                let first = flags[y].cmp(&flags[x]).then(small[x].cmp(&small[y]));
                first.then(prices[y].raw().cmp(&prices[x].raw()))
            });
        }
        let places = |places: Vec<u32>| places.into_iter().map(|place| place as usize);
        assert!(places(outputs.get(opened.4)).eq(expected.iter().copied()));
        assert!(places(outputs.get(opened.3)).eq(expected.iter().map(|place| 2 * place)));
        assert!(
            outputs
                .get(opened.0)
                .into_iter()
                .eq(expected.iter().map(|&at| flags[at]))
        );
        assert!(
            outputs
                .get(opened.1)
                .into_iter()
                .eq(expected.iter().map(|&at| small[at]))
        );
        assert!(
            outputs
                .get(opened.2)
                .into_iter()
                .eq(expected.iter().map(|&at| prices[at]))
        );
        for mix in [Mix::AB, Mix::B, Mix::R] {
            let fits = mix != Mix::R || parties == 3;
            if fits && (mix == Mix::R || parties == 2 || length < 100) {
                agrees(&program, &inputs, mix, Goal::Size, "a sort by keys");
            }
        }
    }
}

/// A key of one bit, whose rows two parties and three count where there is a ring; alike ones, too.
#[test]
fn rows_are_sorted_by_a_bit() {
    let mut random = Random::fresh();
    for (mix, parties) in [(Mix::R, 3), (Mix::AB, 2), (Mix::B, 2), (Mix::AB, 3)] {
        for (length, kind) in [(0, 0), (1, 1), (2, 2), (9, 0), (9, 1), (9, 2), (300, 2)] {
            if parties == 3 && mix == Mix::AB && length > 9 {
                continue;
            }
            let flags: Vec<bool> = (0..length)
                .map(|_| kind == 1 || kind == 2 && random.half() & 1 == 1)
                .collect();
            let places: Vec<u32> = (0..length as u32).collect();
            let mut p = Program::new(parties);
            let key = p.input::<bool>(ALICE, length).untyped();
            let column = p.input::<u32>(Party::new(1), length);
            let twice = (&column + &column).untyped();
            for descending in [false, true] {
                let sorted = Tensor::sort_by(&[(&key, descending)], &[&column.untyped(), &twice]);
                for column in sorted {
                    let _ = p.open_tensor(None, &column, Everyone);
                }
            }
            let program = p.finish().expect("a program that can be");
            let inputs = Inputs::new().with(&flags[..]).with(&places[..]);
            agrees(&program, &inputs, mix, Goal::Size, "a sort by a bit");
            runs(&program, &inputs, mix, Goal::Size, "a sort by a bit");
            // What is equal stays in its order.
            let outputs = program.simulate(&inputs).expect("inputs as declared");
            let second = outputs.arrays().nth(1).flatten().expect("opened to all");
            let mut expected: Vec<u128> = (0..length as u128).collect();
            expected.sort_by_key(|&at| flags[at as usize]);
            assert!(second.codes().eq(expected));
        }
    }
}

#[test]
fn networks_sort() {
    let mut random = Random::fresh();
    for length in [1, 2, 3, 7, 16, 33] {
        let x: Vec<i32> = (0..2 * length).map(|_| random.half() as i32 % 50).collect();
        let (_, sorted) = run([2, length], &x, |_, x| x.sort());
        let mut expected = x.clone();
        expected.chunks_mut(length).for_each(<[i32]>::sort);
        assert_eq!(sorted, expected);
        let keep = length.div_ceil(2);
        let (shape, top) = run([2, length], &x, |_, x| x.top(keep));
        assert_eq!(shape, [2, keep]);
        for (row, top) in expected.chunks(length).zip(top.chunks(keep)) {
            assert!(row.iter().rev().take(keep).eq(top));
        }
        let along = x.clone();
        let (_, carried) = run([2, length], &x, |p, x| {
            let along = p.constant(([2, length], along));
            x.sort_with(&along).1
        });
        assert_eq!(carried, sorted);
    }
}

#[test]
fn tables_are_looked_up() {
    let places = [0u8, 2, 3, 255, 1];
    let found = run([5], &places, |_, x| x.look_up::<u64>([70u64, 80, 90]));
    assert_eq!(found, (vec![5], vec![70, 90, 0, 0, 80]));
    let rows = run([2], &[1u32, 7], |_, x| {
        x.look_up::<i8>([[1i8, -2], [3, -4]])
    });
    assert_eq!(rows, (vec![2, 2], vec![3, -4, 0, 0]));
    // A secret table.
    let found = run([4], &[9u16, 8, 7, 6], |p, x| {
        let places = p.constant([3u64, 1 << 40, 0]);
        places.look_up(&x)
    });
    assert_eq!(found, (vec![3], vec![6, 0, 9]));
}

#[test]
fn short_lists_are_joined() {
    let mut p = Program::new(2);
    let left = p.input::<u32>(ALICE, 4);
    let keys = p.input::<u32>(Party::new(1), 3);
    let values = p.input::<i64>(Party::new(1), 3);
    let (found, joined) = left.join_on(&keys, &values);
    let opened = p.open((found, joined), Everyone);
    let program = p.finish().expect("a program that can be");
    let inputs = Inputs::new()
        .with([4u32, 5, 6, 7])
        .with([7u32, 9, 4])
        .with([-70i64, 1, 40]);
    let outputs = program.simulate(&inputs).expect("inputs as declared");
    assert_eq!(outputs.get(opened.0), [true, false, false, true]);
    assert_eq!(outputs.get(opened.1), [40, 0, 0, -70]);
}

#[test]
fn arrays_give_rows() {
    let shape = Shape::checked(&[4, 3]).expect("a shape");
    let array = Array::of(&shape, &counted(12)).expect("as many elements");
    for (range, first, rows) in [
        (0..4, 0, 4),
        (1..3, 3, 2),
        (3..4, 9, 1),
        (2..2, 6, 0),
        (4..4, 12, 0),
    ] {
        let some = array.rows(range).expect("places that there are");
        assert_eq!(some.shape().axes(), [rows, 3]);
        let numbers: Vec<u32> = (first..first + 3 * rows as u32).collect();
        assert_eq!(some.to_vec::<u32>(), Some(numbers));
    }
    let backwards = std::ops::Range { start: 3, end: 2 };
    for wrong in [0..5, 4..5, backwards, 0..usize::MAX] {
        assert!(array.rows(wrong).is_none());
    }
    let one = Array::of(&Shape::scalar(), &[7_u32]).expect("one element");
    assert!(one.rows(0..1).is_none());
    // No elements, and places all the same.
    let empty = Shape::checked(&[5, 0]).expect("a shape");
    let empty = Array::of::<u32>(&empty, &[]).expect("no elements");
    assert_eq!(empty.rows(1..3).expect("places").shape().axes(), [2, 0]);
}
