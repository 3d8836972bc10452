//! Programs that cannot be: an error with the operator's line, and no panic.

use madrigal_program::{Everyone, Fault, Fixed, InputError, Inputs, Party, Program, ProgramError};

const ALICE: Party = Party::new(0);
const BOB: Party = Party::new(1);

/// The error of a program whose faulty operator stands on the line `line`.
#[track_caller]
fn refused(line: u32, p: Program) -> ProgramError {
    let error = p.finish().expect_err("a program that cannot be");
    assert_eq!(
        (error.at.file(), error.at.line()),
        (file!(), line),
        "{error}"
    );
    assert!(
        error
            .to_string()
            .starts_with(&format!("{}:{line}: ", file!())),
        "{error}"
    );
    error
}

/// Each operator that cannot be, alone on its line.
macro_rules! refuses {
    ($($fault:pat => |$p:ident, $x:ident, $y:ident| $operator:expr;)*) => {$(
        let mut p = Program::new(2);
        let $x = p.input::<u32>(ALICE, [4, 3]);
        let $y = p.input::<u32>(BOB, [2]);
        let $p = &mut p;
        let _ = $operator;
        let error = p.finish().expect_err(stringify!($operator));
        assert!(matches!(error.fault, $fault), "{}: {error}", stringify!($operator));
        assert_eq!(error.at.file(), file!());
        let text = error.to_string();
        assert!(text.contains("errors.rs:"), "{text}");
    )*};
}

#[test]
fn shapes_that_do_not_fit_name_the_line() {
    let mut p = Program::new(2);
    let x = p.input::<u32>(ALICE, [4, 3]);
    let y = p.input::<u32>(BOB, [2]);
    let line = line!() + 1;
    let sum = &x + &y;
    // Operators after the first error are not looked at.
    let _ = sum.at(7, 7).sum(9).lt(&x);
    let error = refused(line, p);
    assert_eq!(
        error.to_string(),
        format!(
            "{}:{line}: sum of shapes [4, 3] and [2]: compared from the last axis on, lengths must be equal or 1; reshape one of the two",
            file!()
        )
    );
}

#[test]
fn every_operator_refuses() {
    refuses! {
        Fault::Broadcast { .. } => |_p, x, y| x.lt(&y);
        Fault::Broadcast { .. } => |_p, x, y| x.gt(&y).select(&x, 0);
        Fault::Broadcast { .. } => |_p, x, y| x.lt(3).select(&y, &x);
        Fault::Broadcast { .. } => |_p, x, y| &x << &y;
        Fault::Broadcast { .. } => |_p, x, y| x.dot(&y);
        Fault::Broadcast { .. } => |_p, x, y| { let _ = &x; y.broadcast_to([3]) };
        Fault::Broadcast { .. } => |_p, x, y| x.sort_with(&y);
        Fault::Axis { .. } => |_p, x, y| { let _ = &y; x.sum(2) };
        Fault::Axis { .. } => |_p, x, y| { let _ = &y; x.prefix_sums(2) };
        Fault::Axis { .. } => |_p, x, y| { let _ = &y; x.slice(2, ..) };
        Fault::Axis { .. } => |_p, x, y| { let _ = &x; y.at(0, 0).sort() };
        Fault::Axis { .. } => |_p, x, y| { let _ = &x; y.at(0, 0).min_with_place() };
        Fault::Axis { .. } => |_p, x, y| { let _ = &x; y.look_up::<u8>(3u8) };
        Fault::Empty { .. } => |_p, x, y| { let _ = &y; x.slice(1, ..0).least(1) };
        Fault::Reshape { .. } => |_p, x, y| { let _ = &y; x.reshape([5, 2]) };
        Fault::TooLarge { .. } => |_p, x, y| { let _ = (&x, &y); x.expand(0).broadcast_to([1 << 62, 4, 3]) };
        Fault::TooLarge { .. } => |p, x, y| { let _ = (&x, &y); p.input::<u8>(ALICE, [1 << 40, 1 << 40]) };
        Fault::Inner { .. } => |_p, x, y| x.matmul(&y);
        Fault::Inner { .. } => |_p, x, y| x.matmul(y.at(0, 0));
        Fault::Range { .. } => |_p, x, y| { let _ = &y; x.slice(1, 2..5) };
        Fault::Range { .. } => |_p, x, y| { let _ = &y; x.at(0, 4) };
        Fault::Range { .. } => |_p, x, y| { let _ = &y; x.pick(0, &[1, 9]) };
        Fault::Range { .. } => |_p, x, y| { let _ = &y; x.top(4) };
        Fault::Order { .. } => |_p, x, y| { let _ = &y; x.permute(&[0, 0]) };
        Fault::Join { .. } => |_p, x, y| x.join(y.expand(0), 0);
        Fault::Join { .. } => |p, x, y| p.stack(&[x, y], 0);
        Fault::Join { .. } => |_p, x, y| x.join_on(&y, &y);
        Fault::Lengths { .. } => |p, x, y| { let _ = (&x, &y); p.concat::<u8>(&[], 0) };
        Fault::Elements { .. } => |p, x, y| { let _ = (&x, &y); p.constant(([2, 2], vec![1u8])) };
        Fault::Constant { .. } => |p, x, y| { let _ = (&x, &y); p.constant(Fixed::<i16, 8>::default()) + 128.0 };
        Fault::Constant { .. } => |_p, x, y| { let _ = &y; x.times(-1) };
        Fault::Party(_) => |p, x, y| { let _ = (&x, &y); p.input::<u8>(Party::new(2), ()) };
        Fault::Party(_) => |p, x, y| { let _ = &y; p.open(x, Party::new(5)) };
        Fault::Nobody => |p, x, y| { let _ = &y; p.open(x, [] as [Party; 0]) };
        Fault::Name { .. } => |p, x, y| { p.open_named("a", x, BOB); p.open_named("a", y, BOB) };
        Fault::Foreign { .. } => |_p, x, y| { let _ = &y; x + Program::new(2).constant(3u32) };
        Fault::InLoop { .. } => |p, x, y| { let _ = &y; p.repeat(2, x, |p, _, x| x + p.input::<u32>(ALICE, ())) };
        Fault::InLoop { .. } => |p, x, y| { let _ = &y; p.repeat(2, x, |p, _, x| { p.open(&x, BOB); x }) };
        Fault::InBranch { .. } => |p, x, y| { let _ = &y; p.if_secret(x.lt(3), |p| p.input::<u32>(ALICE, ()), |_| x.at(0, 0).at(0, 0)) };
        Fault::InBranch { .. } => |p, x, y| { let _ = &y; p.if_secret(x.lt(3), |_| x.clone(), |p| { p.open(&x, BOB); x.clone() }) };
        Fault::InBranch { .. } => |p, x, y| p.match_secret(&y, [&|p| p.repeat(2, y.clone(), |p, _, y| { p.open(&x, BOB); y })]);
        Fault::InBranch { .. } => |p, x, y| { let _ = &x; p.repeat(2, y, |p, _, y| p.if_secret(y.lt(3), |p| { p.open(&y, BOB); y.clone() }, |_| &y + 1)) };
        Fault::Broadcast { .. } => |p, x, y| p.if_secret(x.lt(3), |_| x.clone(), |_| y.clone());
        Fault::Broadcast { .. } => |p, x, y| p.match_secret(&y, [&|_| x.clone(), &|_| &x + 1]);
        Fault::Branches { .. } => |p, x, y| p.if_secret(x.lt(3), |_| vec![x.clone()], |_| vec![x.clone(), y.at(0, 0)]);
        Fault::BranchCount { .. } => |p, x, y| { let _ = &y; p.match_numbered(&x, 0, |_, _| x.clone()) };
        Fault::BranchCount { .. } => |p, x, y| { let _ = &y; p.match_numbered(&x, 5000, |_, _| x.at(0, 0)) };
        Fault::Escaped { .. } => |p, x, y| { let _ = &y; let mut kept = None; let made = p.if_secret(x.lt(3), |_| { kept = Some(&x + 1); x.clone() }, |_| &x * 2); made + kept.expect("the branch was recorded") };
        Fault::Foreign { .. } => |p, x, y| { let _ = &y; p.if_secret(x.lt(3), |_| x.clone(), |_| Program::new(2).constant(3u32)) };
        Fault::State { .. } => |p, x, y| { let _ = &y; p.repeat(2, x, |_, _, x| x.sum(0)) };
        Fault::Lengths { .. } => |p, x, y| { let _ = &y; p.repeat(2, vec![x], |_, _, x| [x.clone(), x].concat()) };
        Fault::Range { .. } => |p, x, y| { let _ = &x; p.repeat(3, x.at(0, 0), |_, i, x| x + y.row(i)) };
        Fault::Mapped { .. } => |p, x, y| p.map((x, y), |_, (x, y)| x + y);
        Fault::Mapped { .. } => |p, x, y| { let _ = &x; p.map(y.at(0, 0), |_, y| y + 1) };
    }
}

#[test]
fn a_value_of_a_body_stays_there() {
    // In an operator, in an opening, in another loop, and of a loop in a loop.
    for place in 0..4 {
        let mut p = Program::new(2);
        let x = p.input::<u32>(ALICE, ());
        let (mut kept, mut deep) = (None, None);
        let after = p.repeat(2, &x + 1, |p, _, state| {
            let _ = &state + &x;
            kept = Some(&state + 1);
            p.repeat(2, state, |_, turn, state| {
                deep = Some(&state + 1);
                state + turn.number()
            })
        });
        let kept = kept.expect("the body was recorded");
        let deep = deep.expect("the body was recorded");
        let line = line!() + 2;
        match place {
            0 => drop(kept + after),
            1 => drop(p.open(kept, BOB)),
            2 => drop(p.repeat(2, kept, |_, _, state| state)),
            _ => drop(x + deep),
        }
        let error = p.finish().expect_err("a program that cannot be");
        assert!(matches!(error.fault, Fault::Escaped { .. }), "{error}");
        assert_eq!(error.at.line(), line + place, "{error}");
    }
}

#[test]
fn there_is_a_party_at_least() {
    let line = line!() + 1;
    let p = Program::new(0);
    assert!(matches!(refused(line, p).fault, Fault::Party(_)));
}

#[test]
fn inputs_that_are_not_asked_for_are_told() {
    let mut p = Program::new(2);
    let x = p.input_named::<u32>("bids", ALICE, 3);
    let y = p.input::<i8>(BOB, ());
    p.open_named("sum", x.sum(0) + y.cast(), Everyone);
    let program = p.finish().expect("a program that can be");
    let simulate = |inputs: Inputs| {
        program
            .simulate(&inputs)
            .map(|outputs| outputs.named("sum"))
    };
    assert_eq!(
        simulate(Inputs::new().with([1u32, 2, 3]).with(-2i8)),
        Ok(Ok(vec![4u32]))
    );
    let named = Inputs::new().with_named("bids", [1u32, 2, 3]).with(-2i8);
    assert_eq!(simulate(named.clone()), Ok(Ok(vec![4])));
    let error = |inputs| simulate(inputs).expect_err("inputs that the program does not ask for");
    assert!(matches!(
        error(Inputs::new().with([1u32, 2, 3])),
        InputError::Missing { .. }
    ));
    assert!(matches!(
        error(Inputs::new().with([1u32, 2])),
        InputError::Sort { .. }
    ));
    assert!(matches!(
        error(Inputs::new().with([1u8, 2, 3])),
        InputError::Sort { .. }
    ));
    assert!(matches!(
        error(Inputs::new().with(([3], vec![1u32]))),
        InputError::Elements { .. }
    ));
    assert!(matches!(
        error(named.clone().with(0i8)),
        InputError::Many { .. }
    ));
    assert!(matches!(
        error(named.with_named("asks", 3u32)),
        InputError::Name { .. }
    ));
}
