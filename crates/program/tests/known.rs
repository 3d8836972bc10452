//! Products of matrices and convolutions with an operand that one party brought.

use madrigal_circuit::Goal;
use madrigal_engine::{Matrices, Origin, Plan, PlanSpec};
use madrigal_program::lower::Mix;
use madrigal_program::{
    Array, Computation, Everyone, Inputs, Number, Party, Program, Secret, Window,
};

use crate::lowering::agrees;
use crate::random::Random;
use crate::running::runs;

const ALICE: Party = Party::new(0);
const BOB: Party = Party::new(1);

/// The operations of a program in a mix, by their names.
fn operations(program: &Computation, mix: Mix) -> Vec<String> {
    let executable = program
        .executable(mix, Goal::Size)
        .expect("a program that can be");
    executable.graph().describe().collect()
}

/// Number of operands that one party knows, and of values that are shared in A.
fn counted(program: &Computation, mix: Mix) -> [usize; 2] {
    let all = operations(program, mix);
    let of = |text: &str| all.iter().filter(|name| name.contains(text)).count();
    [of(" operand of party"), of("share/1 in A")]
}

fn elements(random: &mut Random, count: usize) -> Vec<u32> {
    let element = || random.half() as u32;
    std::iter::repeat_with(element).take(count).collect()
}

#[track_caller]
fn check(
    parties: usize,
    shapes: [&[usize]; 2],
    build: impl Fn(&mut Program, Secret<u32>, Secret<u32>) -> Secret<u32>,
    expected: [usize; 2],
) {
    let mut p = Program::new(parties);
    let [x, y] = [(ALICE, shapes[0]), (BOB, shapes[1])]
        .map(|(owner, shape)| p.input::<u32>(owner, shape.to_vec()));
    let sizes = [&x, &y].map(|input| input.shape().clone());
    let made = build(&mut p, x, y);
    p.open(made, Everyone);
    let program = p.finish().expect("a program that can be");
    let mut random = Random::fresh();
    let mut inputs = Inputs::new();
    for shape in &sizes {
        let array = Array::of(shape, &elements(&mut random, shape.elements()));
        inputs = inputs.with_array(None, array.expect("as many as the shape has"));
    }
    let what = "a product with an operand that one party knows";
    let mixes: &[Mix] = match parties {
        2 => &[Mix::AB, Mix::AY2],
        _ => &[Mix::AB],
    };
    for &mix in mixes {
        assert_eq!(
            counted(&program, mix),
            expected,
            "{:#?}",
            operations(&program, mix)
        );
        agrees(&program, &inputs, mix, Goal::Size, what);
        runs(&program, &inputs, mix, Goal::Size, what);
    }
}

/// As it comes, with its elements moved, and beside another use of it, for which it is shared.
#[test]
fn what_one_party_brought_stays_clear() {
    let (a, b): (&[usize], &[usize]) = (&[3, 4], &[4, 2]);
    check(2, [a, b], |_, x, y| x.matmul(y), [1, 1]);
    check(2, [a, &[2, 4]], |_, x, y| x.matmul(y.transpose()), [1, 1]);
    check(
        2,
        [b, a],
        |_, x, y| x.transpose().matmul(y.transpose()),
        [1, 1],
    );
    // The second product's left operand is a secret of both.
    check(
        2,
        [&[3, 3], &[3, 3]],
        |_, x, y| x.matmul(&y).matmul(y),
        [2, 1],
    );
    let both = |_: &mut Program, x: Secret<u32>, y: Secret<u32>| x.matmul(&y) + x.at(0, 0).at(0, 0);
    check(2, [&[2, 2], &[2, 2]], both, [1, 2]);
    // Who has both operands shares one.
    check(2, [&[2, 2], &[2, 2]], |_, x, y| x.matmul(&x) + y, [1, 2]);
    let parts = |_: &mut Program, x: Secret<u32>, y: Secret<u32>| {
        let joined = x.slice(0, ..1).join(x.slice(0, 1..).reverse(1), 0);
        (&y + &y).matmul(joined)
    };
    check(2, [&[2, 3], &[4, 2]], parts, [1, 1]);
    let images = |_: &mut Program, x: Secret<u32>, y: Secret<u32>| {
        let square = &x * &x;
        square
            .convolve(&y, Window::default())
            .convolve(y, Window::default())
    };
    check(2, [&[1, 2, 4, 4], &[2, 2, 2, 2]], images, [2, 1]);
}

/// Where it cannot be, or brings nothing.
#[test]
fn what_is_shared_as_before() {
    check(3, [&[3, 4], &[4, 2]], |_, x, y| x.matmul(y), [0, 2]);
    // Sums of what two parties have are secrets of both.
    let sums = |_: &mut Program, x: Secret<u32>, y: Secret<u32>| (&x + &y).matmul(x - y);
    check(2, [&[2, 2], &[2, 2]], sums, [0, 2]);
    check(2, [&[2, 2], &[2, 2]], |_, x, y| x * y, [0, 2]);
}

/// Half of the bytes of what is sent for two shared operands, in both phases.
#[test]
fn it_takes_half() {
    let bytes = |shared: bool| {
        let mut p = Program::new(2);
        let x = p.input::<u64>(ALICE, [64, 64]);
        let y = p.input::<u64>(BOB, [64, 64]);
        let y = if shared { &y + &x } else { y };
        let x = if shared { &x + &y } else { x };
        p.open(x.matmul(y), Everyone);
        let program = p.finish().expect("a program that can be");
        let executable = program.executable(Mix::AB, Goal::Size).expect("it can be");
        let plan = executable.plan().expect("a plan");
        let all = Party::all(2).map(|me| plan.cost(me));
        let result = 64 * 64 * 8;
        let [setup, online] = all.fold([0; 2], |[setup, online], cost| {
            let opened = cost.online.bytes_sent - result;
            [setup + cost.setup.bytes_sent, online + opened]
        });
        [setup, online]
    };
    let [shared, known] = [true, false].map(bytes);
    assert_eq!(2 * known[1], shared[1]);
    // Base OTs are the same.
    assert!(known[0] < shared[0] * 51 / 100, "{known:?}, {shared:?}");
}

/// Bits of a comparison that choose among one party's numbers: Listing 2 of MOTION.
fn chosen<T: Number>(parties: usize, owner: Party, count: usize) -> Computation {
    let mut p = Program::new(parties);
    let weights = p.input::<T>(owner, [count]);
    let bits = p.input::<bool>(Party::new(parties - 1), [count]);
    let more = p.input::<bool>(ALICE, [count]);
    let other = p.input::<T>(BOB, ());
    let sum = (bits & more).select(weights, T::default()).sum(0);
    p.open(sum + other, Everyone);
    p.finish().expect("a program that can be")
}

fn chooses<T: Number>(parties: usize, owner: Party) {
    let count = 13;
    let program = chosen::<T>(parties, owner, count);
    let mut random = Random::fresh();
    let mut inputs = Inputs::new();
    let ends = [0, 1, u128::MAX, 1 << (T::TYPE.bits() - 1)];
    let numbers: Vec<T> = (0..count)
        .map(|i| T::decode(ends.get(i).copied().unwrap_or_else(|| random.word())))
        .collect();
    inputs = inputs.with(&numbers[..]);
    for _ in 0..2 {
        let bits: Vec<bool> = (0..count).map(|_| random.half() & 1 == 1).collect();
        inputs = inputs.with(&bits[..]);
    }
    inputs = inputs.with(T::decode(random.word()));
    let mixes: &[Mix] = match parties {
        2 => &[Mix::AB, Mix::AY2, Mix::AY],
        _ => &[Mix::AB, Mix::AY],
    };
    for &mix in mixes {
        let all = operations(&program, mix);
        let known = format!("bit-times-known/1 in A, numbers of {owner}");
        assert!(
            all.iter().any(|name| name.contains(&known)),
            "{mix}: {all:#?}"
        );
        let what = "bits times numbers that one party knows";
        agrees(&program, &inputs, mix, Goal::Size, what);
        runs(&program, &inputs, mix, Goal::Size, what);
    }
}

#[test]
fn bits_choose_numbers_of_every_width() {
    for parties in [2, 3, 5] {
        chooses::<u64>(parties, Party::new(parties - 1));
        chooses::<u32>(parties, ALICE);
    }
    chooses::<u8>(3, BOB);
    chooses::<u16>(2, ALICE);
    chooses::<u128>(2, BOB);
}

/// A bit that is shared times a number that one party knows takes 24 bytes and a bit with IKNP, both phases and parties
/// together: a random OT of 16 bytes, the masked number of 8, the masked bit.
#[test]
fn listing_2_takes_one_ot_for_a_product() {
    let bytes = |count: usize| {
        let mut p = Program::new(2);
        let weights = p.input::<u64>(ALICE, [count]);
        let bits = p.input::<bool>(BOB, [count]);
        p.open(bits.select(weights, 0).sum(0), Everyone);
        let program = p.finish().expect("a program that can be");
        let executable = program.executable(Mix::AB, Goal::Size).expect("it can be");
        let plan = Plan::new(PlanSpec {
            origin: Origin::Ot {
                extension: "iknp".parse().expect("an extension"),
                threads: 1,
                matrices: Matrices::Ot,
            },
            ..executable.spec()
        });
        let plan = plan.expect("a plan");
        let sent = |me| plan.cost(me).setup.bytes_sent + plan.cost(me).online.bytes_sent;
        Party::all(2).map(sent).sum::<u64>()
    };
    let [one, two] = [1024, 2048].map(bytes);
    assert_eq!(two - one, 1024 * (16 + 8) + 1024 / 8);
}
