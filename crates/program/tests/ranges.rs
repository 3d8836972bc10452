//! Known ranges of values, against the numbers that come: a quotient between two parties takes fewer carries
//! where it is told that a value is small.

use madrigal_circuit::Goal;
use madrigal_program::generator::{Recipe, bounds};
use madrigal_program::lower::Mix;
use madrigal_program::{
    Computation, Everyone, Fixed, FixedWord, Inputs, Party, Plain, Program, Rounding, Tensor, Type,
};

use crate::random::Random;
use crate::running::runs;
use crate::truncation::of_low_carries;

/// All mixes of two parties.
const MIXES: [Mix; 9] = [
    Mix::AB,
    Mix::ALPHA_BETA,
    Mix::ALPHA_Y2,
    Mix::AY,
    Mix::AY2,
    Mix::B,
    Mix::Y,
    Mix::Y2,
    Mix::BETA,
];

/// Those in which a quotient is made of the parties' shares and carries.
const OF_CARRIES: [Mix; 4] = [Mix::AB, Mix::AY, Mix::ALPHA_BETA, Mix::ALPHA_Y2];

const LANES: usize = 24;

/// Functions of one number.
const FUNCTIONS: [fn(&Tensor) -> Tensor; 13] = [
    Tensor::tanh,
    Tensor::erf,
    Tensor::ln,
    Tensor::sigmoid,
    Tensor::gelu,
    Tensor::gelu_tanh,
    Tensor::silu,
    Tensor::softplus,
    Tensor::exp,
    Tensor::reciprocal,
    Tensor::sqrt,
    Tensor::inverse_sqrt,
    Tensor::relu,
];

/// `f(x) q` cut off, times an integer, for each function f and a number q that is itself what was cut off a product:
/// as far from 0 as it can be, and the product in turn from 2^(l - 2) to 2^(l - 1), of l bits.
fn products<W: FixedWord, const F: u32>() -> (Computation, Inputs) {
    let element = Fixed::<W, F>::TYPE;
    let bits = element.bits();
    let mut random = Random::fresh();
    let mut p = Program::new(2);
    let mut inputs = Inputs::new();
    let mut number = |code: i128| Fixed::<W, F>::decode(code as u128);
    for function in FUNCTIONS {
        let [x, a, b, y] =
            [0, 1, 0, 1].map(|party| p.input::<Fixed<W, F>>(Party::new(party), [LANES]).untyped());
        let value = function(&x);
        let q = a.times(&b).truncate(F, Rounding::Exact);
        let product = value.times(&q).truncate(F, Rounding::Exact);
        p.open_tensor(None, &product.times(&y.cast(product.element())), Everyone);
        // The function's results, to choose q by.
        let arguments: Vec<i128> = (0..LANES)
            .map(|at| match at % 4 {
                0 => 11 << F,
                1 => -(11 << F),
                2 => (1 << (bits - 1)) - 1 - (random.half() & 7) as i128,
                _ => (random.word() >> (128 - bits + 1)) as i128,
            })
            .collect();
        let arguments: Vec<_> = arguments.into_iter().map(&mut number).collect();
        let values = of::<W, F>(function, &arguments);
        // q = a b 2^-F, with b = 2^(F - 1).
        let mut wanted = Vec::with_capacity(LANES);
        for value in values {
            let product = (1 << (bits - 2)) + (random.word() >> (128 - bits + 2)) as i128;
            let most = (1 << (bits - 1 - F)) - 1;
            let q = (product / if value == 0 { 1 } else { value }).clamp(-most, most);
            wanted.push(if random.half() & 1 == 0 { q } else { -q });
        }
        let a: Vec<_> = wanted.iter().map(|q| number(q * 2)).collect();
        let b: Vec<_> = (0..LANES).map(|_| number(1 << (F - 1))).collect();
        let y: Vec<_> = (0..LANES).map(|at| number(1 + at as i128)).collect();
        inputs = inputs.with(arguments).with(a).with(b).with(y);
    }
    (p.finish().expect("a program that can be"), inputs)
}

/// A function's results as steps.
fn of<W: FixedWord, const F: u32>(
    function: fn(&Tensor) -> Tensor,
    arguments: &[Fixed<W, F>],
) -> Vec<i128> {
    let element = Fixed::<W, F>::TYPE;
    let mut p = Program::new(2);
    let x = p.input::<Fixed<W, F>>(Party::new(0), [arguments.len()]);
    p.open_tensor(None, &function(&x.untyped()), Everyone);
    let program = p.finish().expect("a program that can be");
    let outputs = program.simulate(&Inputs::new().with(arguments.to_vec()));
    let outputs = outputs.expect("inputs as declared");
    let values = outputs.arrays().next().flatten().expect("an output");
    let unused = 128 - element.bits();
    let code = |code: u128| (code << unused) as i128 >> unused;
    values.codes().map(code).collect()
}

/// A result of tanh, erf or ln was taken to lie among the first few steps from 0, as the type that it comes in has no
/// bits after the point: then a product of it could not reach 2^(l - 2), its quotient took the fewer carries of small
/// numbers, and where it did, the result was wrong for some of the shares.
#[test]
fn products_of_functions_are_exact_in_every_mix() {
    let (program, inputs) = products::<i32, 12>();
    for mix in MIXES {
        runs(&program, &inputs, mix, Goal::Depth, "products in 32.12");
    }
    let (program, inputs) = products::<i64, 16>();
    for mix in OF_CARRIES {
        runs(&program, &inputs, mix, Goal::Depth, "products in 64.16");
    }
}

/// Each operation on each type, of operands at the ends of ranges and between them.
#[test]
fn results_stay_in_their_ranges() {
    let mut random = Random::fresh();
    for _ in 0..6_000 {
        let seed = random.half();
        if let Err(what) = bounds::operation(seed) {
            panic!("operation {seed}: {what}");
        }
    }
}

#[test]
fn functions_stay_in_their_ranges() {
    let mut random = Random::fresh();
    for (bits, fraction) in [
        (16, 1),
        (16, 6),
        (16, 14),
        (32, 12),
        (32, 30),
        (64, 16),
        (64, 40),
        (128, 40),
        (128, 126),
    ] {
        let element = Type::fixed(bits, fraction).expect("a type");
        if let Err(what) = bounds::functions(element, random.half()) {
            panic!("{what}");
        }
    }
}

#[test]
fn values_of_programs_stay_in_their_ranges() {
    let mut random = Random::fresh();
    let mix = Mix::AB;
    for _ in 0..50 {
        let recipe = Recipe {
            seed: random.half(),
            parties: 2,
            operations: 30,
            mix,
            functions: true,
        };
        let (program, inputs) = recipe.cook().expect("a program that can be");
        if let Err(what) = bounds::program(&program, &inputs) {
            panic!("{recipe:?}: {what}");
        }
    }
}

/// Nothing is given away where all is known: or quotients of small numbers would take carries that they do not need.
#[test]
fn ranges_are_no_wider_than_results() {
    if let Err(what) = bounds::narrow() {
        panic!("{what}");
    }
}

/// A quotient of numbers from -2^(l - 2) on and below 2^(l - 2) takes the fewer carries, for as many bits as leave two;
/// of a range that reaches one further on either side it does not. Both are exact at the ends.
#[test]
fn fewer_carries_are_taken_up_to_a_quarter_of_the_type() {
    for (by, more, known) in [
        (1, 0, true),
        (16, 0, true),
        (30, 0, true),
        (16, -1, false),
        (16, 1, false),
    ] {
        let mut p = Program::new(2);
        let [high, low, y] = [0, 1, 1].map(|party| p.input::<i16>(Party::new(party), [LANES]));
        // From -2^15 to 2^15 - 1 each, the second from 0 on.
        let number = (high.cast::<i32>() << 15) + low.relu().cast::<i32>() + more;
        let element = Type::fixed(32, by).expect("a type");
        let quotient = number.untyped().cast(element);
        let quotient = quotient.truncate(by, Rounding::Exact);
        let y = y.cast::<i32>().untyped();
        p.open_tensor(None, &quotient.times(&y), Everyone);
        let program = p.finish().expect("a program that can be");
        let mut random = Random::fresh();
        let ends = [(i16::MIN, 0), (i16::MAX, i16::MAX), (0, 0), (-1, i16::MAX)];
        let numbers: Vec<(i16, i16)> = (0..LANES)
            .map(|at| match ends.get(at % 6) {
                Some(&end) => end,
                None => (random.half() as i16, random.half() as i16),
            })
            .collect();
        let (high, low): (Vec<_>, Vec<_>) = numbers.into_iter().unzip();
        let inputs = Inputs::new().with(high).with(low).with(vec![3_i16; LANES]);
        for mix in OF_CARRIES {
            let what = format!("a quotient by 2^{by} of {more} more");
            assert_eq!(of_low_carries(&program, mix), known, "{what} in {mix}");
            runs(&program, &inputs, mix, Goal::Depth, &what);
        }
    }
}
