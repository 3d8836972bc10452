//! Fewer nodes for the same results.

use madrigal_program::{Everyone, Party, Program, Secret};

const ALICE: Party = Party::new(0);

/// The operations of a program on one input, in words without their numbers.
fn operations(program: impl FnOnce(&mut Program, Secret<u32>) -> Secret<u32>) -> Vec<String> {
    let mut p = Program::new(2);
    let x = p.input::<u32>(ALICE, 4);
    let result = program(&mut p, x);
    p.open(result, Everyone);
    let program = p.finish().expect("a program that can be");
    let nodes = program.graph().nodes().iter();
    nodes.map(|node| node.op.to_string()).collect()
}

#[test]
fn public_operands_are_computed_with_at_once() {
    let constants = operations(|p, x| x + (p.constant(3u32) * 4 - 2));
    assert_eq!(constants.len(), 4, "{constants:?}"); // input, constant, view, sum
    assert_eq!(operations(|_, x| x * 8), ["input 0", "shift left by 3"]);
    assert_eq!(operations(|_, x| 16 * x), ["input 0", "shift left by 4"]);
    assert_eq!(operations(|_, x| x / 4), ["input 0", "shift right by 2"]);
    assert_eq!(operations(|_, x| (x + 0) * 1), ["input 0"]);
    assert_eq!(operations(|_, x| &x * &x), ["input 0", "square"]);
    assert!(operations(|_, x| x % 4).contains(&"and".to_owned()));
}

#[test]
fn equal_operations_are_done_once_and_unused_ones_never() {
    let found = operations(|_, x| {
        let _unused = x.sqrt();
        let (a, b) = (&x + &x, &x + &x);
        let swapped = a.lt(&x).select(&x, 1) + b.lt(&x).select(&x, 1);
        swapped.reshape([2, 2]).reshape([4])
    });
    let count = |name: &str| found.iter().filter(|op| *op == name).count();
    assert_eq!(
        (count("comparison"), count("select"), count("square root")),
        (1, 1, 0)
    );
}

#[test]
fn equal_programs_have_equal_digests_wherever_they_stand() {
    let program = |constant: u32, shape: usize, to: Party| {
        let mut p = Program::new(2);
        let x = p.input::<u32>(ALICE, shape);
        let state = p.repeat(3, x, |_, _, x| x + constant);
        p.open(state, to);
        p.finish().expect("a program that can be")
    };
    let first = program(3, 4, ALICE);
    assert_eq!(first.digest(), program(3, 4, ALICE).digest());
    for other in [
        program(4, 4, ALICE),
        program(3, 5, ALICE),
        program(3, 4, Party::new(1)),
    ] {
        assert_ne!(first.digest(), other.digest());
        let differ = first.describe().into_iter().zip(other.describe());
        assert!(differ.filter(|(a, b)| a != b).count() >= 1);
    }
}
