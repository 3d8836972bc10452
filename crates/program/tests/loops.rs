//! Loops that stay loops.

use madrigal_program::{Everyone, Inputs, Party, Program};

const ALICE: Party = Party::new(0);

#[test]
fn a_loop_is_one_node_however_often_it_runs() {
    let nodes = |count: usize| {
        let mut p = Program::new(2);
        let x = p.input::<u64>(ALICE, ());
        let (a, _) = p.repeat(count, (x.clone(), x), |_, _, (a, b)| (&b + 1, &a + &b));
        let opened = p.open(a, Everyone);
        let program = p.finish().expect("a program that can be");
        (program.graph().nodes().len(), program, opened)
    };
    let (few, ..) = nodes(1);
    let (many, program, opened) = nodes(1_000_000);
    assert_eq!(few, many);
    let outputs = program
        .simulate(&Inputs::new().with(1u64))
        .expect("inputs as declared");
    let (mut a, mut b) = (1u64, 1u64);
    for _ in 0..1_000_000 {
        (a, b) = (b.wrapping_add(1), a.wrapping_add(b));
    }
    assert_eq!(outputs.get(opened), [a]);
}

#[test]
fn bodies_use_what_is_around_them() {
    let mut p = Program::new(2);
    let rows = p.input::<i32>(ALICE, [3, 2]);
    let scale = p.input::<i32>(ALICE, ());
    let zero = p.constant([0i32, 0]);
    // In each of 4 turns, for each of 3 rows: state = state * scale + row * (outer + 1).
    let result = p.repeat(4, zero, |p, outer, state| {
        let factor = outer.number().cast::<i32>() + 1;
        p.repeat(3, state, |_, inner, state| {
            state * &scale + rows.row(inner) * &factor
        })
    });
    let opened = p.open(result, Everyone);
    let program = p.finish().expect("a program that can be");
    let inputs = Inputs::new().with([[1i32, 2], [3, 4], [5, 6]]).with(3i32);
    let outputs = program.simulate(&inputs).expect("inputs as declared");
    let mut state = [0i32; 2];
    for outer in 0..4 {
        for row in [[1, 2], [3, 4], [5, 6]] {
            for at in 0..2 {
                state[at] = state[at]
                    .wrapping_mul(3)
                    .wrapping_add(row[at] * (outer + 1));
            }
        }
    }
    assert_eq!(outputs.get(opened), state);
}

#[test]
fn a_map_does_to_each_row_what_its_body_does() {
    let mut p = Program::new(2);
    let x = p.input::<u16>(ALICE, [4, 3]);
    let weights = p.input::<u16>(ALICE, [3, 2]);
    let table = p.input::<u16>(ALICE, 5);
    let offsets = p.input::<u16>(ALICE, 4);
    let result = p.map((x, offsets), |p, (row, offset)| {
        let (least, place) = row.min_with_place();
        let start = p.constant(1u16);
        let powers = p.repeat(3, start, |_, i, state| {
            state * &least + i.number().cast::<u16>()
        });
        let looked = place.look_up(&table);
        let product = row.expand(0).matmul(&weights).flatten();
        let inner = p.map(row.sort(), |_, element| element + &offset);
        let sums = row.reverse(0).prefix_sums(0);
        let together = p.concat(&[product, inner, sums.slice(0, 1..)], 0);
        let ends = p.stack(&[powers, looked, row.pick(0, &[2, 0]).at(0, 1)], 0);
        (together.join(ends, 0), table.clone())
    });
    assert_eq!(result.0.shape().axes(), [4, 10]);
    assert_eq!(result.1.shape().axes(), [4, 5]);
    let opened = p.open(result, Everyone);
    let program = p.finish().expect("a program that can be");
    let x = [[9u16, 4, 7], [1, 1, 8], [6, 5, 65535], [3, 2, 2]];
    let weights = [[1u16, 10], [2, 20], [3, 30]];
    let (table, offsets) = ([11u16, 22, 33, 44, 55], [100u16, 200, 300, 400]);
    let inputs = Inputs::new()
        .with(x)
        .with(weights)
        .with(table)
        .with(offsets);
    let outputs = program.simulate(&inputs).expect("inputs as declared");
    let mut expected = Vec::new();
    for (row, offset) in x.iter().zip(offsets) {
        let place = (0..3).min_by_key(|&at| row[at]).expect("three elements");
        let least = row[place];
        for column in 0..2 {
            let terms = row
                .iter()
                .zip(&weights)
                .map(|(x, w)| x.wrapping_mul(w[column]));
            expected.push(terms.fold(0, u16::wrapping_add));
        }
        let mut sorted = *row;
        sorted.sort();
        expected.extend(sorted.map(|element| element.wrapping_add(offset)));
        let first = row[2].wrapping_add(row[1]);
        expected.extend([first, first.wrapping_add(row[0])]);
        let powers = (0..3).fold(1u16, |state, i| state.wrapping_mul(least).wrapping_add(i));
        expected.extend([powers, table[place], row[0]]);
    }
    assert_eq!(outputs.get(opened.0), expected);
    assert_eq!(outputs.get(opened.1), table.repeat(4));
}

#[test]
fn what_does_not_change_is_computed_outside() {
    let mut p = Program::new(2);
    let x = p.input::<u32>(ALICE, ());
    let start = p.constant(0u32);
    // The square is of values around the body alone, so it stands there.
    let result = p.repeat(5, start, |_, _, state| state + x.square());
    p.open(result, Everyone);
    let program = p.finish().expect("a program that can be");
    let lines = program.describe();
    assert!(
        lines
            .iter()
            .any(|line| line.contains(": square") && !line.starts_with(' '))
    );
}
