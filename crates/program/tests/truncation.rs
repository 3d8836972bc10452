//! Quotients by powers of two that come of two parties' shares and of carries: exact for all numbers, in every mix.

use madrigal_circuit::Goal;
use madrigal_program::lower::Mix;
use madrigal_program::{Computation, Everyone, Fixed, Inputs, Party, Program, Rounding};

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
