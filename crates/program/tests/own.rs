//! A user's own circuits and operations in typed programs.

use std::sync::Arc;

use futures_util::future::LocalBoxFuture;
use madrigal_circuit::{Builder, Goal, Netlist, Wire};
use madrigal_engine::{Bill, Mismatch, Operation, Shares, Sharing, Sort, Turn};
use madrigal_operations::{ArithmeticGmwTool, BitTimes, Square, Test};
use madrigal_operations::{Depth, Predicate};
use madrigal_program::lower::Mix;
use madrigal_program::{
    Elementwise, Everyone, Fault, InputError, Inputs, Party, Plain, Program, Type,
};

use crate::lowering::agrees;

const MIXES: [(Mix, usize); 12] = [
    (Mix::AB, 2),
    (Mix::AB, 3),
    (Mix::AB, 5),
    (Mix::B, 2),
    (Mix::R, 3),
    (Mix::AY, 2),
    (Mix::Y, 3),
    (Mix::AY2, 2),
    (Mix::Y2, 2),
    (Mix::ALPHA_BETA, 2),
    (Mix::ALPHA_Y2, 2),
    (Mix::BETA, 2),
];

/// The larger of two signed numbers of 16 bits, and whether it is the first.
fn larger() -> Netlist {
    let mut b = Builder::new("larger");
    let (x, y) = (b.input(16), b.input(16));
    let less = b.less_signed(&y, &x);
    let larger = b.select(less, &x, &y);
    b.output(&larger);
    b.output(&[less]);
    b.finish()
}

#[test]
fn circuits_of_ones_own_are_evaluated_in_every_mix() {
    let ends = [i16::MIN, -1, 0, 1, i16::MAX];
    let (x, y): (Vec<i16>, Vec<i16>) = ends
        .iter()
        .flat_map(|&x| ends.iter().map(move |&y| (x, y)))
        .unzip();
    for (mix, parties) in MIXES {
        let mut p = Program::new(parties);
        let [a, b] = [0, 1].map(|party| p.input::<i16>(Party::new(party), x.len()));
        // Operators before and after it become one circuit with it where they are on bits.
        let (a, sum) = (&a ^ 1_i16, &a + &b);
        let types = [i16::TYPE, Type::BOOL];
        let made = p.circuit(&larger(), &[&a.untyped(), &sum.untyped()], &types);
        let [larger, first] = [&made[0], &made[1]];
        let larger = p.open(larger.typed::<i16>() + &b, Everyone);
        let first = p.open(first.typed::<bool>(), Everyone);
        let program = p.finish().unwrap();
        let inputs = Inputs::new().with(x.clone()).with(y.clone());
        let outputs = program.simulate(&inputs).unwrap();
        let pairs = x.iter().zip(&y);
        let pairs = pairs.map(|(&x, &y)| (x ^ 1, x.wrapping_add(y), y));
        let expected: Vec<i16> = pairs
            .clone()
            .map(|(x, sum, y)| x.max(sum).wrapping_add(y))
            .collect();
        assert_eq!(outputs.get(larger), expected);
        let expected: Vec<bool> = pairs.map(|(x, sum, _)| x > sum).collect();
        assert_eq!(outputs.get(first), expected);
        agrees(
            &program,
            &inputs,
            mix,
            Goal::Depth,
            "a circuit of one's own",
        );
    }
}

#[test]
fn circuits_that_do_not_fit_are_errors_of_the_program() {
    let fault = |types: &[Type], of: u32| {
        let mut p = Program::new(2);
        let x = p.input::<i16>(Party::new(0), ());
        let y = p.input::<i16>(Party::new(1), 2);
        let wide = p.input::<u32>(Party::new(1), ()).untyped();
        let other = match of {
            16 => x.untyped(),
            2 => y.untyped(),
            _ => wide,
        };
        let made = p.circuit(&larger(), &[&x.untyped(), &other], types);
        p.open_tensor(None, &made[0], Everyone);
        p.finish().unwrap_err().fault
    };
    let types = [i16::TYPE, Type::BOOL];
    let lengths = |fault: &Fault| matches!(fault, Fault::Lengths { .. });
    assert!(lengths(&fault(&types, 32)), "{}", fault(&types, 32));
    assert!(lengths(&fault(&types[..1], 16)));
    assert!(lengths(&fault(&[Type::BOOL, Type::BOOL], 16)));
    assert!(matches!(fault(&types, 2), Fault::Broadcast { .. }));
}

/// In loops, for each row, and in secret branches.
#[test]
fn circuits_stand_where_operators_do() {
    let mut p = Program::new(2);
    let [a, b] = [0, 1].map(|party| p.input::<i16>(Party::new(party), 12).reshape([3, 4]));
    let types = [i16::TYPE, Type::BOOL];
    let looped = p.repeat(3, a.clone(), |p, _, state| {
        let made = p.circuit(&larger(), &[&state.untyped(), &b.untyped()], &types);
        made[0].typed::<i16>() - 7_i16
    });
    let mapped = p.map((a.clone(), b.clone()), |p, (a, b)| {
        let made = p.circuit(&larger(), &[&a.untyped(), &b.untyped()], &types);
        made[0].typed::<i16>()
    });
    let chosen = p.if_secret(
        a.lt(&b),
        |p| p.circuit(&larger(), &[&a.untyped(), &b.untyped()], &types)[0].typed::<i16>(),
        |_| b.clone(),
    );
    p.open(looped, Everyone);
    p.open(mapped, Everyone);
    p.open(chosen, Everyone);
    let program = p.finish().unwrap();
    let inputs = Inputs::new()
        .with((0..12).map(|at| at * 931 - 5000).collect::<Vec<i16>>())
        .with((0..12).map(|at| 4000 - at * 700).collect::<Vec<i16>>());
    for mix in [Mix::AB, Mix::B, Mix::ALPHA_BETA, Mix::AY2] {
        agrees(&program, &inputs, mix, Goal::Size, "circuits inside");
    }
}

#[test]
fn operations_are_carried_out_in_the_sharings_they_take() {
    let program = |parties: usize| {
        let mut p = Program::new(parties);
        let x = p.input::<u32>(Party::new(0), 4);
        let bit = p.input::<u32>(Party::new(1), 4).lt(100_u32);
        let square: Arc<dyn Operation> = Arc::new(Square::<ArithmeticGmwTool>::new());
        let u32s: (Type, &[usize]) = (u32::TYPE, &[4]);
        let squares = p.operation(square, &[(&(&x + 1_u32).untyped(), Sharing::A)], &[u32s]);
        let times: Arc<dyn Operation> = Arc::new(BitTimes::<ArithmeticGmwTool>::new());
        let operands = [(&bit.untyped(), Sharing::B), (&squares[0], Sharing::A)];
        let kept = p.operation(times, &operands, &[u32s]);
        let opened = p.open(kept[0].typed::<u32>() * 3_u32, Everyone);
        (p.finish().unwrap(), opened)
    };
    let inputs = Inputs::new()
        .with(vec![0_u32, 1, u32::MAX, 70_000])
        .with(vec![0_u32, 99, 100, 7]);
    for parties in [2, 3, 5] {
        let (program, opened) = program(parties);
        let outputs = program.simulate(&inputs).unwrap();
        let last = 70_001_u32.wrapping_mul(70_001).wrapping_mul(3);
        assert_eq!(outputs.get(opened), [3, 12, 0, last]);
        agrees(&program, &inputs, Mix::AB, Goal::Size, "operations of A");
    }
    // A mix without the sharing names it, and the line.
    let (program, _) = program(2);
    let error = program.lower(Mix::ALPHA_BETA, Goal::Size).unwrap_err();
    assert!(error.at.file().ends_with("own.rs"), "{error}");
    let wanted = Sharing::A;
    assert!(matches!(error.fault, Fault::NotInMix { wanted: found, .. } if found == wanted));
    // In R ring elements become bits.
    let mut p = Program::new(3);
    let x = p.input::<i32>(Party::new(0), 3);
    let sign: Arc<dyn Operation> = Arc::new(Test::new(Predicate::Negative, Depth::Tree));
    let shape: (Type, &[usize]) = (Type::BOOL, &[3]);
    let negative = p.operation(sign, &[(&x.untyped(), Sharing::R)], &[shape]);
    p.open(negative[0].typed::<bool>(), Everyone);
    let program = p.finish().unwrap();
    let inputs = Inputs::new().with(vec![i32::MIN, 0, i32::MAX]);
    agrees(&program, &inputs, Mix::R, Goal::Size, "an operation of R");
}

/// Takes whatever there is, and nothing but zeros in the clear.
struct Nothing;

impl Operation for Nothing {
    fn name(&self) -> String {
        "nothing/1".into()
    }

    fn sorts(&self, inputs: &[Sort], _: usize) -> Result<Vec<Sort>, Mismatch> {
        Ok(inputs.to_vec())
    }

    fn bill(&self, _: &[Sort], _: &mut Bill) {}

    fn online<'a>(
        &'a self,
        _: &'a mut Turn<'_>,
        inputs: Vec<Arc<Shares>>,
    ) -> LocalBoxFuture<'a, madrigal_net::Result<Vec<Shares>>> {
        let same = inputs.iter().map(|value| value.as_ref().clone()).collect();
        Box::pin(std::future::ready(Ok(same)))
    }

    fn plain(&self, inputs: &[&Shares]) -> Result<Vec<Shares>, Mismatch> {
        let numbers: Vec<u64> = inputs[0].component::<u64>(0).to_vec();
        match numbers.iter().all(|&number| number == 0) {
            true => Ok(inputs.iter().map(|&value| value.clone()).collect()),
            false => Err(Mismatch::new("nothing but zeros is taken")),
        }
    }
}

#[test]
fn what_an_operation_refuses_is_an_error_that_names_its_line() {
    let mut p = Program::new(2);
    let x = p.input::<u64>(Party::new(0), ());
    let scalar: (Type, &[usize]) = (u64::TYPE, &[]);
    let made = p.operation(Arc::new(Nothing), &[(&x.untyped(), Sharing::A)], &[scalar]);
    p.open(made[0].typed::<u64>(), Everyone);
    let program = p.finish().unwrap();
    agrees(
        &program,
        &Inputs::new().with(0_u64),
        Mix::AB,
        Goal::Size,
        "an operation of one's own",
    );
    let error = program.simulate(&Inputs::new().with(1_u64)).unwrap_err();
    let told = error.to_string();
    assert!(matches!(error, InputError::Refused { .. }), "{told}");
    assert!(
        told.contains("own.rs") && told.contains("nothing but zeros"),
        "{told}"
    );
    // A square of bits, and results of another type or shape.
    let fault = |sharing: Sharing, result: (Type, &[usize])| {
        let mut p = Program::new(2);
        let x = p.input::<u64>(Party::new(0), ());
        let square: Arc<dyn Operation> = Arc::new(Square::<ArithmeticGmwTool>::new());
        p.operation(square, &[(&x.untyped(), sharing)], &[result]);
        p.finish().unwrap_err().fault
    };
    for (sharing, result) in [
        (Sharing::B, scalar),
        (Sharing::A, (u32::TYPE, &[][..])),
        (Sharing::A, (u64::TYPE, &[2][..])),
    ] {
        let fault = fault(sharing, result);
        assert!(matches!(fault, Fault::Operation { .. }), "{fault}");
    }
    let mut p = Program::new(2);
    let x = p.input::<u64>(Party::new(0), 3);
    let _ = p.map(x, |p, x| {
        p.operation(Arc::new(Nothing), &[(&x.untyped(), Sharing::A)], &[scalar])[0].typed::<u64>()
    });
    assert!(matches!(
        p.finish().unwrap_err().fault,
        Fault::Lengths { .. }
    ));
}

/// Counts the places at which two bytes differ.
struct Distance;

impl Elementwise for Distance {
    fn name(&self) -> String {
        "distance/1 of bytes".into()
    }

    fn results(&self, operands: &[Type]) -> Result<Vec<Type>, String> {
        match operands {
            &[a, b] if [a, b] == [u8::TYPE; 2] => Ok(vec![u8::TYPE]),
            other => Err(format!("two bytes are taken, {other:?} are given")),
        }
    }

    fn range(&self) -> Option<(i128, i128)> {
        Some((0, 8))
    }

    fn evaluate(&self, operands: &[Vec<u128>]) -> Vec<Vec<u128>> {
        let pairs = operands[0].iter().zip(&operands[1]);
        vec![pairs.map(|(a, b)| (a ^ b).count_ones().into()).collect()]
    }

    fn build(&self, builder: &mut Builder, operands: &[Vec<Wire>]) -> Vec<Vec<Wire>> {
        let differ = builder.xor_all(&operands[0], &operands[1]);
        let ones = builder.count_ones(&differ);
        vec![builder.zero_extend(&ones, 8)]
    }
}

#[test]
fn operators_of_ones_own_need_nothing_in_this_crate() {
    let every: Vec<u8> = (0..=255).collect();
    let turned: Vec<u8> = every.iter().map(|x| x.rotate_left(3) ^ 0x5a).collect();
    for (mix, parties) in MIXES {
        let mut p = Program::new(parties);
        let [a, b] = [0, 1].map(|party| p.input::<u8>(Party::new(party), 256).untyped());
        let distance = p.each(Arc::new(Distance), &[&a, &b], 1);
        let opened = p.open(distance[0].typed::<u8>(), Everyone);
        let program = p.finish().unwrap();
        let inputs = Inputs::new().with(every.clone()).with(turned.clone());
        let expected: Vec<u8> = (every.iter().zip(&turned))
            .map(|(a, b)| (a ^ b).count_ones() as u8)
            .collect();
        assert_eq!(program.simulate(&inputs).unwrap().get(opened), expected);
        agrees(
            &program,
            &inputs,
            mix,
            Goal::Size,
            "an operator of one's own",
        );
    }
    let mut p = Program::new(2);
    let wide = p.input::<u16>(Party::new(0), ()).untyped();
    p.each(Arc::new(Distance), &[&wide, &wide], 1);
    let fault = p.finish().unwrap_err().fault;
    assert!(fault.to_string().contains("two bytes are taken"), "{fault}");
}

#[test]
fn circuits_and_operators_of_no_elements_give_none() {
    for (mix, parties) in MIXES {
        let mut p = Program::new(parties);
        let [a, b] = [0, 1].map(|party| p.input::<i16>(Party::new(party), 0).untyped());
        let made = p.circuit(&larger(), &[&a, &b], &[i16::TYPE, Type::BOOL]);
        let opened = p.open(made[0].typed::<i16>(), Everyone);
        let program = p.finish().unwrap();
        let inputs = Inputs::new()
            .with(Vec::<i16>::new())
            .with(Vec::<i16>::new());
        assert!(program.simulate(&inputs).unwrap().get(opened).is_empty());
        agrees(&program, &inputs, mix, Goal::Size, "no elements");
    }
}
