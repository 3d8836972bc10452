//! Quotients by powers of two that come of two parties' shares and of carries: exact for all numbers, in every mix.

use madrigal_circuit::Goal;
use madrigal_program::lower::Mix;
use madrigal_program::{
    Computation, Everyone, Fixed, Inputs, Party, Plain, Program, Rounding, Tensor, Type,
};

use crate::lowering::agrees;
use crate::random::Random;
use crate::running::runs;

const LEN: usize = 12;

/// A product of a number with F bits after the point and an integer, without these bits, times another integer: it is
/// wanted in the ring alone, unless it is `read`. With random inputs, among them the edges of the type.
macro_rules! case {
    ($number:ident, $fraction:literal, $parties:expr, $read:expr) => {{
        let mut p = Program::new($parties);
        let x = p.input::<Fixed<$number, $fraction>>(Party::new(0), [LEN]);
        let y = p.input::<$number>(Party::new(1), [LEN]).untyped();
        let product = x.untyped().times(&y);
        let quotient = product.truncate($fraction, Rounding::Exact);
        p.open_tensor(None, &quotient.times(&y), Everyone);
        if $read {
            p.open_tensor(None, &quotient.less(&y), Everyone);
        }
        let mut random = Random::fresh();
        let edges = [0, 1, -1, $number::MIN, $number::MAX];
        let mut draw = |at: usize| match edges.get(at) {
            Some(&edge) => edge,
            None => (u128::from(random.half()) << 64 | u128::from(random.half())) as $number,
        };
        let x: Vec<_> = (0..LEN)
            .map(|at| Fixed::<$number, $fraction>::from_raw(draw(at)))
            .collect();
        let y: Vec<$number> = (0..LEN)
            .map(|at| if at < edges.len() { 1 } else { draw(at) })
            .collect();
        let program = p.finish().expect("a program that can be");
        (program, Inputs::new().with(x).with(y))
    }};
}

fn of_carries(program: &Computation, mix: Mix) -> bool {
    let executable = program.executable(mix, Goal::Depth);
    let executable = executable.expect("a program that can be");
    let mut names = executable.graph().describe();
    names.any(|name| name.contains("shift shares/1"))
}

#[test]
fn quotients_are_exact() {
    for (what, (program, inputs)) in [
        ("i16 by 2^5", case!(i16, 5, 2, false)),
        ("i16 by 2^8", case!(i16, 8, 2, false)),
        ("i32 by 2^8", case!(i32, 8, 2, false)),
        ("i32 by 2^30", case!(i32, 30, 2, false)),
        ("i64 by 2", case!(i64, 1, 2, false)),
        ("i64 by 2^16", case!(i64, 16, 2, false)),
        ("i64 by 2^33", case!(i64, 33, 2, false)),
        ("i128 by 2^64", case!(i128, 64, 2, false)),
    ] {
        for mix in [Mix::AB, Mix::AY2, Mix::AY, Mix::ALPHA_BETA, Mix::ALPHA_Y2] {
            assert_eq!(
                of_carries(&program, mix),
                mix != Mix::AY2,
                "{what} in {mix}"
            );
            for goal in [Goal::Size, Goal::Depth] {
                agrees(&program, &inputs, mix, goal, what);
            }
            runs(&program, &inputs, mix, Goal::Depth, what);
        }
        runs(&program, &inputs, Mix::AB, Goal::Size, what);
    }
}

/// Where its bits are read anyway, and among more parties.
#[test]
fn others_are_cut_off_on_bits() {
    for (what, (program, inputs)) in [
        ("a quotient that is read", case!(i64, 16, 2, true)),
        ("a quotient of three parties", case!(i64, 16, 3, false)),
    ] {
        assert!(!of_carries(&program, Mix::AB), "{what}");
        runs(&program, &inputs, Mix::AB, Goal::Size, what);
    }
}

/// Three shared bits instead of one for each bit of the number, and no more rounds.
#[test]
fn carries_take_less_than_bits() {
    let cost = |read: bool| {
        let (program, _) = case!(i64, 16, 2, read);
        let executable = program.executable(Mix::AB, Goal::Depth);
        let plan = executable.expect("a program that can be").plan();
        let cost = plan.expect("a plan").cost(Party::new(0));
        (cost.setup.bytes_sent, cost.online.rounds)
    };
    let (carries, bits) = (cost(false), cost(true));
    assert!(carries.0 < bits.0, "{carries:?}, {bits:?}");
    assert!(carries.1 <= bits.1, "{carries:?}, {bits:?}");
}

/// Whether a program's circuits take the carry alone of shares whose sum's sign is known.
pub(crate) fn of_low_carries(program: &Computation, mix: Mix) -> bool {
    let lowered = program.lower(mix, Goal::Depth);
    let steps = lowered.expect("a program that can be").describe();
    steps.iter().any(|step| step.contains("carry of shares"))
}

/// Makes a quotient, with numbers of two parties.
type Made = fn(&Tensor, &Tensor) -> Tensor;

/// Quotients by 2^F of what is made of numbers of 16 bits and taken as one of `element`, with F bits after the point;
/// opened times a number. With all pairs of edges of the type, and random numbers.
fn of_i16(made: Made, element: Type) -> (Computation, Inputs) {
    let mut p = Program::new(2);
    let [x, y] = [0, 1].map(|party| p.input::<i16>(Party::new(party), [40]).untyped());
    let quotient = made(&x, &y).cast(element);
    let quotient = quotient.truncate(element.fraction(), Rounding::Exact);
    let word = quotient.element();
    p.open_tensor(None, &quotient.times(&y.cast(word)), Everyone);
    let mut random = Random::fresh();
    let edges = [0, 1, -1, i16::MIN, i16::MAX];
    let mut draw = |at: usize, step: usize| match at {
        0..25 => edges[at / step % 5],
        _ => random.half() as i16,
    };
    let x: Vec<i16> = (0..40).map(|at| draw(at, 1)).collect();
    let y: Vec<i16> = (0..40).map(|at| draw(at, 5)).collect();
    let program = p.finish().expect("a program that can be");
    (program, Inputs::new().with(x).with(y))
}

const I32: Type = <i32 as Plain>::TYPE;
const I128: Type = <i128 as Plain>::TYPE;

/// Positive parts, sums and products of numbers that leave room in their type: exact, and by a carry through the bits
/// that are cut off alone.
#[test]
fn quotients_of_what_has_a_known_range() {
    let cases: [(&str, Made, Type, bool); 12] = [
        (
            "ReLU",
            |x, y| x.times(y).relu(),
            <Fixed<i16, 5> as Plain>::TYPE,
            true,
        ),
        (
            "ReLU by 2^15",
            |x, y| x.times(y).relu(),
            <Fixed<i16, 15> as Plain>::TYPE,
            true,
        ),
        (
            "the greater of it and 0",
            |x, y| x.max(&y.minus(y)),
            <Fixed<i16, 3> as Plain>::TYPE,
            false,
        ),
        (
            "anything",
            |x, y| x.times(y),
            <Fixed<i16, 5> as Plain>::TYPE,
            false,
        ),
        (
            "a square that may wrap",
            |x, _| x.square(),
            <Fixed<i16, 5> as Plain>::TYPE,
            false,
        ),
        (
            "a magnitude",
            |x, _| x.abs(),
            <Fixed<i16, 5> as Plain>::TYPE,
            false,
        ),
        (
            "products with room",
            |x, y| x.cast(I32).times(&y.cast(I32)),
            <Fixed<i32, 16> as Plain>::TYPE,
            false,
        ),
        (
            "products with much room",
            |x, y| x.cast(I128).times(&y.cast(I128)),
            <Fixed<i128, 16> as Plain>::TYPE,
            true,
        ),
        (
            "a square",
            |x, _| x.cast(I32).square(),
            <Fixed<i32, 7> as Plain>::TYPE,
            true,
        ),
        (
            "a magnitude and a square",
            |x, y| x.cast(I32).abs().plus(&y.cast(I32).square()),
            <Fixed<i32, 1> as Plain>::TYPE,
            true,
        ),
        (
            "half of the type",
            |x, _| x.cast(I32).times(&x.cast(I32).relu()),
            <Fixed<i32, 30> as Plain>::TYPE,
            true,
        ),
        (
            "less than half of it",
            |x, y| x.relu().cast(I32).times(&y.relu().cast(I32)),
            <Fixed<i32, 30> as Plain>::TYPE,
            true,
        ),
    ];
    for (what, made, element, known) in cases {
        let (program, inputs) = of_i16(made, element);
        for mix in [Mix::AB, Mix::AY, Mix::ALPHA_BETA, Mix::ALPHA_Y2] {
            let fewer = of_low_carries(&program, mix);
            assert_eq!(fewer, known, "{what} in {mix}");
            for goal in [Goal::Size, Goal::Depth] {
                agrees(&program, &inputs, mix, goal, what);
            }
            runs(&program, &inputs, mix, Goal::Depth, what);
        }
        // Among others nothing changes.
        assert!(!of_low_carries(&program, Mix::AY2), "{what}");
        runs(&program, &inputs, Mix::AB, Goal::Size, what);
    }
}

/// Less than a quarter for 16 of 64 bits, and a round less.
#[test]
fn known_signs_take_less() {
    const POINT: Type = <Fixed<i64, 16> as Plain>::TYPE;
    let cost = |positive: bool, cut: bool| {
        let mut p = Program::new(2);
        let [x, y] = [0, 1].map(|party| p.input::<i64>(Party::new(party), [100]).untyped());
        let x = x.times(&y);
        let x = if positive { x.relu() } else { x };
        let x = match cut {
            true => x.cast(POINT).truncate(16, Rounding::Exact),
            false => x,
        };
        p.open_tensor(None, &x.times(&y), Everyone);
        let program = p.finish().expect("a program that can be");
        let executable = program.executable(Mix::AB, Goal::Depth);
        let plan = executable.expect("a program that can be").plan();
        let cost = plan.expect("a plan").cost(Party::new(0));
        let (setup, online) = (cost.setup, cost.online);
        [setup.bytes_sent, online.bytes_sent, online.rounds]
    };
    let of_cut = |positive: bool| {
        let [with, without] = [true, false].map(|cut| cost(positive, cut));
        [0, 1, 2].map(|place| with[place] - without[place])
    };
    let (any, positive) = (of_cut(false), of_cut(true));
    assert!(4 * positive[0] < any[0], "{positive:?}, {any:?}");
    assert!(4 * positive[1] < any[1], "{positive:?}, {any:?}");
    assert_eq!(positive[2] + 1, any[2], "{positive:?}, {any:?}");
}
