//! Every operator on every type against Rust's own arithmetic.

use std::fmt::Debug;

use madrigal_circuit::Goal;
use madrigal_program::lower::Mix;
use madrigal_program::{
    Checked, Everyone, Fixed, Inputs, Integer, Party, Plain, Program, Secret, Signed, Unsigned,
    Window,
};

use crate::lowering::agrees;
use crate::random::Random;

const ALICE: Party = Party::new(0);
const BOB: Party = Party::new(1);

/// Edge values of a type, and random ones of all magnitudes.
fn samples<T: Plain>(random: &mut Random, count: usize) -> Vec<T> {
    let bits = T::TYPE.bits();
    let top = 1u128 << (bits - 1);
    let mut codes = vec![
        0,
        1,
        2,
        top,
        top - 1,
        top + 1,
        u128::MAX,
        u128::MAX - 1,
        3,
        7,
    ];
    codes.resize_with(codes.len() + count, || {
        random.word() >> (random.word() % u128::from(bits) + 128 - u128::from(bits))
    });
    codes.into_iter().map(T::decode).collect()
}

/// All pairs of two lists, as two lists.
fn pairs<A: Copy, B: Copy>(a: &[A], b: &[B]) -> (Vec<A>, Vec<B>) {
    a.iter()
        .flat_map(|&a| b.iter().map(move |&b| (a, b)))
        .unzip()
}

/// Runs a program on these inputs; gives what it opens as codes: by the oracle, and by the protocols of some mixes. Quotients that are
/// rounded either way are the oracle's alone; `truncation.rs` bounds the protocols' error.
#[track_caller]
fn outputs(p: Program, inputs: &Inputs) -> Vec<u128> {
    let program = p.finish().expect("a program that can be");
    let outputs = program.simulate(inputs).expect("inputs as declared");
    let either = program.describe().join(" ").contains("probabilistic");
    let mixes: &[Mix] = match either {
        true => &[],
        false => &[Mix::AB, Mix::B, Mix::R],
    };
    for (at, &mix) in mixes.iter().enumerate() {
        let goal = [Goal::Size, Goal::Depth][at % 2];
        agrees(&program, inputs, mix, goal, "an operator");
    }
    let first = outputs
        .arrays()
        .flatten()
        .next()
        .expect("a value that was opened");
    first.codes().collect()
}

/// Compares what `operator` makes of each element with what `plain` makes of it.
#[track_caller]
fn one<A: Plain, R: Plain>(
    values: &[A],
    operator: impl FnOnce(Secret<A>) -> Secret<R>,
    plain: impl Fn(A) -> R,
) {
    let mut p = Program::new(3);
    let x = p.input::<A>(ALICE, values.len());
    p.open(operator(x), Everyone);
    let expected: Vec<u128> = values.iter().map(|&x| plain(x).encode()).collect();
    assert_eq!(
        outputs(p, &Inputs::new().with(values)),
        expected,
        "of {values:?}"
    );
}

/// Compares an operator with its meaning for all pairs of elements: both secret, and either one public.
#[track_caller]
fn two<A: Plain, B: Plain, R: Plain>(
    a: &[A],
    b: &[B],
    operator: impl Fn(Secret<A>, Secret<B>) -> Secret<R>,
    plain: impl Fn(A, B) -> R,
) {
    let (a, b) = pairs(a, b);
    let pairs = a.iter().zip(&b);
    let expected: Vec<u128> = pairs.map(|(&a, &b)| plain(a, b).encode()).collect();
    for public in [None, Some(0), Some(1)] {
        let (mut p, mut inputs) = (Program::new(3), Inputs::new());
        let x = side(&mut p, &mut inputs, ALICE, &a, public == Some(0));
        let y = side(&mut p, &mut inputs, BOB, &b, public == Some(1));
        p.open(operator(x, y), Everyone);
        assert_eq!(outputs(p, &inputs), expected, "of {a:?} and {b:?}");
    }
}

/// One operand: a public tensor, or an input with its value.
fn side<T: Plain>(
    p: &mut Program,
    inputs: &mut Inputs,
    owner: Party,
    values: &[T],
    public: bool,
) -> Secret<T> {
    if public {
        return p.constant(values);
    }
    *inputs = std::mem::take(inputs).with(values);
    p.input(owner, values.len())
}

macro_rules! integers {
    ($name:ident: $($word:ident)*) => {$(
        {
            let mut random = Random::fresh();
            let values = samples::<$word>(&mut random, 6);
            $name!(values, $word, random);
        }
    )*};
}

macro_rules! arithmetic {
    ($values:ident, $word:ident, $random:ident) => {{
        let v = &$values;
        two(v, v, |a, b| a + b, <$word>::wrapping_add);
        two(v, v, |a, b| a - b, <$word>::wrapping_sub);
        two(v, v, |a, b| a * b, <$word>::wrapping_mul);
        let divide = |a: $word, b: $word| if b == 0 { !0 } else { a.wrapping_div(b) };
        two(v, v, |a, b| a / b, divide);
        let remainder = |a: $word, b: $word| if b == 0 { a } else { a.wrapping_rem(b) };
        two(v, v, |a, b| a % b, remainder);
        one(v, |a| a.square(), |a| a.wrapping_mul(a));
        one(v, |a| a.times(5), |a| a.wrapping_mul(5));
        one(v, |a| &a * 8 + a, |a| a.wrapping_mul(9));
        one(v, |a| 100 - a, |a: $word| (100 as $word).wrapping_sub(a));
        one(v, |a| a / 8, |a| a / 8);
        one(v, |a| a % 8, |a| a % 8);
        one(v, |a| 100 / a, |a: $word| if a == 0 { !0 } else { 100 / a });
    }};
}

macro_rules! comparisons {
    ($values:ident, $word:ident, $random:ident) => {{
        let v = &$values;
        two(v, v, |a, b| a.lt(b), |a, b| a < b);
        two(v, v, |a, b| a.le(b), |a, b| a <= b);
        two(v, v, |a, b| a.gt(b), |a, b| a > b);
        two(v, v, |a, b| a.ge(b), |a, b| a >= b);
        two(v, v, |a, b| a.eq(b), |a, b| a == b);
        two(v, v, |a, b| a.ne(b), |a, b| a != b);
        two(v, v, |a, b| a.min(b), |a, b| a.min(b));
        two(v, v, |a, b| a.max(b), |a, b| a.max(b));
        one(v, |a| a.lt(17), |a| a < 17);
    }};
}

macro_rules! bits {
    ($values:ident, $word:ident, $random:ident) => {{
        let v = &$values;
        two(v, v, |a, b| a & b, |a, b| a & b);
        two(v, v, |a, b| a | b, |a, b| a | b);
        two(v, v, |a, b| a ^ b, |a, b| a ^ b);
        one(v, |a| !a, |a| !a);
        one(v, |a| a & 12, |a| a & 12);
        let bits = <$word>::BITS;
        for by in [0, 1, bits / 2, bits - 1] {
            one(v, |a| a << by, |a| a << by);
            one(v, |a| a >> by, |a| a >> by);
            one(v, |a| a.rotate_left(by), |a| a.rotate_left(by));
        }
        // Where all bits go, copies of the sign are left, or nothing.
        let gone = |a: $word| {
            if <$word>::MIN == 0 {
                0
            } else {
                a >> (bits - 1)
            }
        };
        one(v, |a| a << bits, |_| 0);
        one(v, |a| a >> (bits + 3), gone);
        let by = samples::<u8>(&mut $random, 3);
        let left = |a: $word, by: u8| a.checked_shl(by.into()).unwrap_or(0);
        let right = |a: $word, by: u8| a.checked_shr(by.into()).unwrap_or(gone(a));
        two(v, &by, |a, by| a << by, left);
        two(v, &by, |a, by| a >> by, right);
        two(
            v,
            &by,
            |a, by| a.rotate_left_by(&by),
            |a, by| a.rotate_left(u32::from(by) % bits),
        );
        one(v, |a| a.count_ones(), |a| a.count_ones());
        one(v, |a| a.leading_zeros(), |a| a.leading_zeros());
    }};
}

macro_rules! casts {
    ($values:ident, $word:ident, $random:ident) => {{
        casts_to!($values $word: u8 u16 u32 u64 u128 i8 i16 i32 i64 i128);
    }};
}

macro_rules! casts_to {
    ($values:ident $word:ident: $($to:ident)*) => {
        $(one(&$values, |a| a.cast::<$to>(), |a: $word| a as $to);)*
    };
}

#[test]
fn arithmetic_wraps_as_rust_does() {
    integers!(arithmetic: u8 u16 u32 u64 u128 i8 i16 i32 i64 i128);
}

#[test]
fn comparisons_order_as_rust_does() {
    integers!(comparisons: u8 u16 u32 u64 u128 i8 i16 i32 i64 i128);
}

#[test]
fn bits_move_as_in_rust() {
    integers!(bits: u8 u16 u32 u64 u128 i8 i16 i32 i64 i128);
}

#[test]
fn casts_are_those_of_as() {
    integers!(casts: u8 u16 u32 u64 u128 i8 i16 i32 i64 i128);
    one(&[false, true], |a| a.cast::<i64>(), i64::from);
}

#[test]
fn signed_and_unsigned_have_operators_of_their_own() {
    fn signed<T: Signed + Integer + Debug>(negate: fn(T) -> T, abs: fn(T) -> T) {
        let values = samples::<T>(&mut Random::fresh(), 20);
        one(&values, |a| -a, negate);
        one(&values, |a| a.abs(), abs);
    }
    fn root<T: Unsigned>(root: fn(T) -> T) {
        one(&samples::<T>(&mut Random::fresh(), 20), |a| a.sqrt(), root);
    }
    signed(i8::wrapping_neg, i8::wrapping_abs);
    signed(i16::wrapping_neg, i16::wrapping_abs);
    signed(i32::wrapping_neg, i32::wrapping_abs);
    signed(i64::wrapping_neg, i64::wrapping_abs);
    signed(i128::wrapping_neg, i128::wrapping_abs);
    root(u8::isqrt);
    root(u16::isqrt);
    root(u32::isqrt);
    root(u64::isqrt);
    root(u128::isqrt);
}

#[test]
fn truth_values_have_logic() {
    let v = [false, true];
    two(&v, &v, |a, b| a & b, |a, b| a & b);
    two(&v, &v, |a, b| a | b, |a, b| a | b);
    two(&v, &v, |a, b| a ^ b, |a, b| a ^ b);
    two(&v, &v, |a, b| a.eq(b), |a, b| a == b);
    one(&v, |a| !a, |a| !a);
    let numbers = samples::<i16>(&mut Random::fresh(), 4);
    two(
        &v,
        &numbers,
        |condition, x| condition.select(&x, -x.clone()),
        |condition, x| if condition { x } else { x.wrapping_neg() },
    );
}

/// The next bits of `rest / b` after the point, with its sign.
fn long_rest(rest: i128, b: i128, bits: u32) -> i128 {
    let (mut left, by) = (rest.unsigned_abs(), b.unsigned_abs());
    let mut digits = 0_i128;
    for _ in 0..bits {
        left *= 2;
        digits = digits << 1 | i128::from(left >= by);
        left -= if left >= by { by } else { 0 };
    }
    if (rest < 0) == (b < 0) {
        digits
    } else {
        -digits
    }
}

#[test]
fn fixed_point_numbers_are_rounded_down() {
    fn tests<W: madrigal_program::FixedWord, const F: u32>(raw: &[i64])
    where
        Fixed<W, F>: Plain,
    {
        type Wide = i128;
        let numbers: Vec<Fixed<W, F>> = raw
            .iter()
            .map(|&raw| Fixed::from_raw(W::decode(raw as Wide as u128)))
            .collect();
        let of = |number: Fixed<W, F>| {
            let unused = 128 - W::TYPE.bits();
            (number.encode() << unused) as Wide >> unused
        };
        let back = |raw: Wide| Fixed::<W, F>::decode(raw as u128);
        // The product wraps at the width before it is cut.
        let cut = |product: Wide| {
            let unused = 128 - W::TYPE.bits();
            back(((product as u128) << unused) as Wide >> unused >> F)
        };
        two(
            &numbers,
            &numbers,
            |a, b| a + b,
            |a, b| back(of(a).wrapping_add(of(b))),
        );
        two(
            &numbers,
            &numbers,
            |a, b| a - b,
            |a, b| back(of(a).wrapping_sub(of(b))),
        );
        two(
            &numbers,
            &numbers,
            |a, b| a * b,
            |a, b| cut(of(a).wrapping_mul(of(b))),
        );
        two(
            &numbers,
            &numbers,
            |a, b| a.mul_probabilistic(b),
            |a, b| cut(of(a).wrapping_mul(of(b))),
        );
        two(
            &numbers,
            &numbers,
            |a, b| a / b,
            |a, b| {
                let (a, b) = (of(a), of(b));
                match (b, a.checked_shl(F).filter(|wide| wide >> F == a)) {
                    (0, _) => back(-1),
                    (_, Some(wide)) => back(wide.wrapping_div(b)),
                    // Beyond the oracle's words: by halves of the quotient.
                    (_, None) => {
                        let (whole, rest) = (a / b, a % b);
                        back((whole << F).wrapping_add(long_rest(rest, b, F)))
                    }
                }
            },
        );
        two(&numbers, &numbers, |a, b| a.lt(b), |a, b| of(a) < of(b));
        one(&numbers, |a| a.square(), |a| cut(of(a).wrapping_mul(of(a))));
        one(&numbers, |a| a.times(-3), |a| back(of(a).wrapping_mul(-3)));
        one(&numbers, |a| a.floor(), |a| W::decode((of(a) >> F) as u128));
        one(&numbers, |a| a.raw(), |a| a.raw());
        one(&numbers, |a| -a, |a| back(of(a).wrapping_neg()));
        one(&numbers, |a| a.abs(), |a| back(of(a).wrapping_abs()));
        one(
            &numbers,
            |a| a.raw().to_fixed::<W, F>(),
            |a| back(of(a) << F),
        );
    }
    let raw = [
        0, 1, -1, 5, 1000, -1000, 12345, -12345, 32767, -32768, 256, 255,
    ];
    tests::<i16, 8>(&raw);
    tests::<i32, 16>(&raw);
    tests::<i64, 16>(&[&raw[..], &[1 << 40, -(1 << 40), i64::MIN, i64::MAX]].concat());
    tests::<i128, 40>(&[&raw[..], &[1 << 60, i64::MIN]].concat());
}

#[test]
fn fixed_point_numbers_meet_public_floats() {
    type Price = Fixed<i64, 16>;
    let mut p = Program::new(2);
    let x = p.input::<Price>(ALICE, 2);
    let opened = p.open((&x * 0.5, x + 1.25), BOB);
    let program = p.finish().expect("a program that can be");
    let prices = [3.0, -2.5].map(|price| Price::from_f64(price).expect("in range"));
    let outputs = program
        .simulate(&Inputs::new().with(prices))
        .expect("inputs as declared");
    let floats = |opened| {
        outputs
            .get(opened)
            .into_iter()
            .map(Price::to_f64)
            .collect::<Vec<_>>()
    };
    assert_eq!(floats(opened.0), [1.5, -1.25]);
    assert_eq!(floats(opened.1), [4.25, -1.25]);
}

/// The lines of a program's mistakes, counted from the line that `here` gives.
fn mistakes(here: u32, checked: &Checked) -> Vec<(u32, usize)> {
    let overflows = checked.overflows.iter();
    overflows
        .map(|found| (found.at.line() - here, found.place))
        .collect()
}

/// Sums of products are told by the largest numbers where these suffice, and one by one where not.
#[test]
fn the_check_finds_products_of_matrices_that_leave_their_range() {
    let seen = |x: [i8; 4], y: [i8; 4]| {
        let mut p = Program::new(2);
        let here = line!();
        let [x_in, y_in] = [(); 2].map(|()| p.input::<i8>(ALICE, 4).reshape([2, 2]));
        let product = x_in.matmul(&y_in);
        let [image, filter] = [&x_in, &y_in].map(|each| each.reshape([1, 1, 2, 2]));
        let window = image.convolve(filter, Window::default());
        p.open((product, window), BOB);
        let program = p.finish().expect("a program that can be");
        let checked = program
            .check(&Inputs::new().with(x).with(y))
            .expect("inputs as declared");
        mistakes(here, &checked)
    };
    // 11 * 11 + 2 * 3 = 127, and all far from the range.
    assert_eq!(seen([11, 2, 0, 0], [11, 0, 3, 0]), []);
    // The bound by the largest numbers is beyond the range, and no sum is.
    assert_eq!(seen([100, 0, 0, 1], [1, 0, 100, 0]), []);
    assert_eq!(seen([-128, 0, 0, 0], [1, 0, 0, 0]), []);
    // 11 * 11 + 7 = 128 in the last row; the window sums all four products.
    assert_eq!(seen([0, 0, 11, 1], [11, 0, 7, 0]), [(2, 2)]);
    assert_eq!(seen([1, 1, 11, 1], [1, 1, 11, 5]), [(4, 0)]);
    // 64 * -2 is -128, and 65 * -2 below the range.
    assert_eq!(seen([64, 0, 0, 0], [-2, 0, 0, 0]), []);
    assert_eq!(seen([65, 0, 0, 0], [-2, 0, 0, 0]), [(2, 0), (4, 0)]);
    assert_eq!(seen([127, 127, 0, 0], [1, 0, 1, 0]), [(2, 0)]);
}

#[test]
fn the_check_names_what_leaves_its_range() {
    let mut p = Program::new(2);
    let here = line!();
    let x = p.input::<u8>(ALICE, 3);
    let sum = &x + 56;
    let product = &x * &x;
    let quotient = &x / (&x - 7); // both wrong, at different elements
    let fine = x.cast::<u32>() * 1000;
    let opened = p.open((sum, product, quotient), BOB);
    let fine = p.open(fine, BOB);
    let program = p.finish().expect("a program that can be");
    let checked = program
        .check(&Inputs::new().with([7u8, 20, 200]))
        .expect("inputs as declared");
    assert_eq!(mistakes(here, &checked), [(2, 2), (3, 1), (4, 0)]);
    assert!(
        checked.overflows[0].to_string().contains("operators.rs:"),
        "{}",
        checked.overflows[0]
    );
    assert_eq!(checked.outputs.get(opened.0), [63, 76, 0]);
    assert_eq!(checked.outputs.get(fine), [7000, 20_000, 200_000]);
    let checked = program
        .check(&Inputs::new().with([0u8, 8, 9]))
        .expect("inputs as declared");
    assert_eq!(mistakes(here, &checked), [(4, 0)]);
}
