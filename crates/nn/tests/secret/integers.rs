//! Integers: in the clear as ONNX has them, and the same on secrets, whatever the format of the floats.

use madrigal_nn::{Data, Element};

use super::*;
use crate::common::proto_integers;

/// ONNX's number of each type of integers, and the type.
const TYPES: [(i32, Element); 8] = [
    (2, Element::U8),
    (3, Element::I8),
    (4, Element::U16),
    (5, Element::I16),
    (6, Element::I32),
    (7, Element::I64),
    (12, Element::U32),
    (13, Element::U64),
];

/// Least and greatest integer.
fn ends(element: Element) -> (i128, i128) {
    let bits = 8 * element.bytes() as u32;
    match element.is_signed() {
        true => (-(1 << (bits - 1)), (1 << (bits - 1)) - 1),
        false => (0, (1 << bits) - 1),
    }
}

/// A number modulo two to the type's width.
fn wrapped(element: Element, value: i128) -> i128 {
    let (least, greatest) = ends(element);
    (value - least).rem_euclid(greatest - least + 1) + least
}

fn vector(element: Element, values: &[i128]) -> Tensor {
    let data = values.iter().map(|&value| value as i64).collect();
    Tensor::new(element, vec![values.len()], Data::Int(data)).unwrap()
}

fn numbers(tensor: &Tensor) -> Vec<i128> {
    let unsigned = tensor.element() == Element::U64;
    let number = |&value: &i64| match unsigned {
        true => i128::from(value as u64),
        false => i128::from(value),
    };
    match tensor.data() {
        Data::Int(values) => values.iter().map(number).collect(),
        Data::Bool(values) => values.iter().map(|&value| value.into()).collect(),
        _ => panic!("{tensor:?}"),
    }
}

/// The model in the clear and on secrets, which must be the same.
#[track_caller]
fn both(net: &Net, data: &[Tensor]) -> Vec<Tensor> {
    let graph = net.import().unwrap_or_else(|error| panic!("{error}"));
    let clear = graph.evaluate(data).unwrap();
    assert_eq!(meant(&graph, data), clear);
    clear
}

/// The ends of a type, numbers that no float of 64 bits has, small ones and some at random.
fn some(element: Element, random: &mut Random) -> Vec<i128> {
    let (least, greatest) = ends(element);
    let odd = (1_i128 << 53) + 1;
    let fixed = [
        least,
        least + 1,
        -1,
        0,
        1,
        2,
        7,
        odd,
        -odd,
        greatest - 1,
        greatest,
    ];
    let mut some: Vec<i128> = fixed.into_iter().map(|v| wrapped(element, v)).collect();
    for _ in 0..13 {
        let word = (random.below(1 << 32) as i128) << 32 | random.below(1 << 32) as i128;
        some.push(wrapped(element, word));
    }
    some
}

/// Sums, products, quotients, remainders, comparisons and extremes of all types wrap around, cut off and order as those of
/// ONNX do: at the ends of the types, and beyond the 53 bits of floats.
#[test]
fn arithmetic_of_integers_is_that_of_their_type() {
    let mut random = Random::new();
    for (code, element) in TYPES {
        let some = some(element, &mut random);
        let pairs: Vec<(i128, i128)> = some
            .iter()
            .flat_map(|&x| some.iter().map(move |&y| (x, y)))
            .filter(|&(_, y)| y != 0)
            .collect();
        let (x, y): (Vec<i128>, Vec<i128>) = pairs.iter().copied().unzip();
        let data = [vector(element, &x), vector(element, &y)];
        let count = pairs.len() as i64;
        type Meaning = fn(i128, i128) -> i128;
        let operators: [(&str, Meaning); 11] = [
            ("Add(x, y)", |x, y| x + y),
            ("Sub(x, y)", |x, y| x - y),
            ("Mul(x, y)", |x, y| x.wrapping_mul(y)),
            ("Div(x, y)", |x, y| x / y),
            ("Min(x, y)", i128::min),
            ("Max(x, y)", i128::max),
            ("Less(x, y)", |x, y| (x < y).into()),
            ("LessOrEqual(x, y)", |x, y| (x <= y).into()),
            ("Greater(x, y)", |x, y| (x > y).into()),
            ("Equal(x, y)", |x, y| (x == y).into()),
            ("Mod(x, y)", |x, y| {
                let rest = x % y;
                if rest != 0 && (rest < 0) != (y < 0) {
                    rest + y
                } else {
                    rest
                }
            }),
        ];
        let mut net = Net::new(18)
            .input_of("x", code, &[count])
            .input_of("y", code, &[count]);
        for (at, (operator, _)) in operators.iter().enumerate() {
            let name = format!("made_{at}");
            net = net.node(&format!("{name} = {operator}")).output(&name);
        }
        net = net.node("rest = Mod(x, y)").int("fmod", 1).output("rest");
        let made = both(&net, &data);
        for ((operator, meaning), made) in operators.iter().zip(&made) {
            for ((x, y), found) in pairs.iter().zip(numbers(made)) {
                let expected = wrapped(element, meaning(*x, *y));
                assert_eq!(found, expected, "{operator} of {element}, {x} and {y}");
            }
        }
        for ((x, y), found) in pairs.iter().zip(numbers(&made[operators.len()])) {
            assert_eq!(found, x % y, "{x} and {y}");
        }
    }
}

/// Casts between all types of integers, and to truth values; negation, magnitude and sign.
#[test]
fn casts_of_integers_wrap_around() {
    let mut random = Random::new();
    for (code, element) in TYPES {
        let x = some(element, &mut random);
        let data = [vector(element, &x)];
        let mut net = Net::new(18).input_of("x", code, &[x.len() as i64]);
        for (to, _) in TYPES {
            net = net.node(&format!("to_{to} = Cast(x)")).int("to", to.into());
            net = net.output(&format!("to_{to}"));
        }
        net = net.node("truth = Cast(x)").int("to", 9).output("truth");
        net = net.node("sign = Sign(x)").output("sign");
        net = net.node("size = Abs(x)").output("size");
        net = net.node("square = Mul(x, x)").output("square");
        let made = both(&net, &data);
        for ((_, to), made) in TYPES.iter().zip(&made) {
            let expected: Vec<i128> = x.iter().map(|&x| wrapped(*to, x)).collect();
            assert_eq!(numbers(made), expected, "{element} to {to}");
        }
        let [truth, sign, size, square] = &made[TYPES.len()..] else {
            panic!("{made:?}")
        };
        for (at, &x) in x.iter().enumerate() {
            assert_eq!(numbers(truth)[at], i128::from(x != 0));
            assert_eq!(numbers(sign)[at], x.signum());
            assert_eq!(numbers(size)[at], wrapped(element, x.abs()));
            assert_eq!(numbers(square)[at], wrapped(element, x.wrapping_mul(x)));
        }
    }
}

#[test]
fn floats_become_integers_without_their_fraction() {
    let x = [
        0.0,
        0.5,
        -0.5,
        1.99,
        -1.99,
        300.0,
        -129.25,
        65_535.0,
        2_000_000.5,
    ];
    let mut net = Net::new(18).input("x", &[x.len() as i64]);
    for (to, _) in TYPES {
        net = net.node(&format!("to_{to} = Cast(x)")).int("to", to.into());
        net = net.output(&format!("to_{to}"));
    }
    let made = both(&net, &[tensor(&[x.len()], &x)]);
    for ((_, to), made) in TYPES.iter().zip(&made) {
        let expected: Vec<i128> = x.iter().map(|&x| wrapped(*to, x as i128)).collect();
        assert_eq!(numbers(made), expected, "to {to}");
    }
    let back = Net::new(18)
        .input_of("x", 3, &[3])
        .node("y = Cast(x)")
        .int("to", 1)
        .output("y");
    let made = both(&back, &[vector(Element::I8, &[-128, 0, 127])]);
    assert_eq!(made[0].to_f64(), [-128.0, 0.0, 127.0]);
}

/// Integers of 64 bits used to go through floats, which have 53: on their way in, as constants, and on their way out.
#[test]
fn large_integers_pass_unchanged() {
    let large = [
        9_007_199_254_740_993,
        -9_007_199_254_740_993,
        i64::MIN,
        i64::MAX,
    ];
    let net = Net::new(18)
        .input_of("x", 7, &[4])
        .ints("one", &[1])
        .ints("w", &large)
        .node("same = Identity(x)")
        .output("same")
        .node("more = Add(x, one)")
        .output("more")
        .node("none = Sub(x, w)")
        .output("none")
        .node("greatest = ReduceMax(x)")
        .int("keepdims", 0)
        .output("greatest")
        .node("place = ArgMin(x)")
        .int("keepdims", 0)
        .output("place");
    let data = [Tensor::i64(vec![4], large.to_vec()).unwrap()];
    let made = both(&net, &data);
    assert_eq!(made[0].as_ints(), Some(&large[..]));
    let more = large.map(|x| x.wrapping_add(1));
    assert_eq!(made[1].as_ints(), Some(&more[..]));
    assert_eq!(made[2].as_ints(), Some(&[0; 4][..]));
    assert_eq!(made[3].as_ints(), Some(&[i64::MAX][..]));
    assert_eq!(made[4].as_ints(), Some(&[2][..]));
    // Formats of fewer bits change nothing.
    let graph = net.import().unwrap();
    let narrow = Format {
        number: Type::fixed(32, 12).unwrap(),
        ..FORMAT
    };
    let network = graph.on_secrets(&roles(2), narrow).unwrap();
    let outputs = network.program().simulate(&given(&network, &graph, &data));
    let results = network.results(&outputs.unwrap());
    assert_eq!(results[1].1.as_ref().unwrap().as_ints(), Some(&more[..]));
    let compared = graph.compare(FORMAT, &data).unwrap();
    assert!(compared.overflows.is_empty(), "{:?}", compared.overflows);
    assert!(compared.outputs.iter().all(|one| one.largest_error == 0.0));
}

/// Results of many integers, of matrices and of images, wrap around, too.
#[test]
fn sums_and_products_of_integers() {
    let net = Net::new(18)
        .input_of("x", 6, &[2, 3])
        .tensor(proto_integers("w", 6, &[3, 2], &[1, -2, 3, 1 << 30, 5, -6]))
        .ints("axis", &[1])
        .ints("three", &[3])
        .node("sum = ReduceSum(x, axis)")
        .output("sum")
        .node("product = ReduceProd(x, axis)")
        .output("product")
        .node("mean = ReduceMean(x, axis)")
        .output("mean")
        .node("running = CumSum(x, axis)")
        .output("running")
        .node("matrix = MatMul(x, w)")
        .output("matrix")
        .node("power = Pow(x, three)")
        .output("power");
    let x = [1 << 30, 1 << 30, 7, -5, i32::MIN.into(), 3];
    let data = [Tensor::new(Element::I32, vec![2, 3], Data::Int(x.to_vec())).unwrap()];
    let made = both(&net, &data);
    let wrapped = |x: i64| i64::from(x as i32);
    assert_eq!(
        made[0].as_ints(),
        Some(&[wrapped((1 << 31) + 7), wrapped(-2 + (1 << 31))][..])
    );
    assert_eq!(made[2].as_ints(), Some(&[715_827_885, -715_827_883][..]));
    assert_eq!(made[5].as_ints().unwrap()[2..4], [343, -125]);
    let image = Net::new(18)
        .input_of("x", 2, &[1, 1, 3, 3])
        .input_of("w", 2, &[1, 1, 2, 2])
        .node("conv = ConvInteger(x, w)")
        .output("conv")
        .node("pool = MaxPool(x)")
        .int_list("kernel_shape", &[2, 2])
        .output("pool");
    let x = Tensor::new(
        Element::U8,
        vec![1, 1, 3, 3],
        Data::Int((247..256).collect()),
    )
    .unwrap();
    let w = Tensor::new(Element::U8, vec![1, 1, 2, 2], Data::Int(vec![255; 4])).unwrap();
    let made = both(&image, &[x, w]);
    assert_eq!(made[0].as_ints().unwrap()[0], 255 * (247 + 248 + 250 + 251));
    assert_eq!(made[1].as_ints(), Some(&[251, 252, 254, 255][..]));
}

/// All parties compute these integers, in rings and in bits.
#[test]
fn integers_are_computed_in_every_mix() {
    let net = Net::new(18)
        .input_of("x", 3, &[4])
        .input_of("z", 7, &[2])
        .ints("seven", &[7])
        .node("square = Mul(x, x)")
        .output("square")
        .node("wide = Cast(x)")
        .int("to", 12)
        .output("wide")
        .node("rest = Mod(z, seven)")
        .output("rest")
        .node("more = Add(z, seven)")
        .output("more");
    let graph = net.import().unwrap();
    let data = [
        vector(Element::I8, &[-128, 100, -1, 127]),
        vector(Element::I64, &[i64::MAX.into(), -9_007_199_254_740_993]),
    ];
    let expected = graph.evaluate(&data).unwrap();
    for (mix, parties) in [
        (Mix::AB, 2),
        (Mix::R, 3),
        (Mix::AY2, 2),
        (Mix::ALPHA_BETA, 2),
    ] {
        assert_eq!(computed(&graph, &data, mix, parties), expected, "{mix}");
    }
}

/// Data of other types is taken where each number is one of the input's, and refused where one is not.
#[test]
fn data_is_converted_exactly_or_refused() {
    let net = Net::new(18)
        .input_of("x", 2, &[3])
        .node("y = Add(x, x)")
        .output("y");
    let graph = net.import().unwrap();
    let network = lowered(&graph, &roles(2));
    let taken = tensor(&[3], &[0.0, 100.0, 255.0]);
    let outputs =
        network
            .program()
            .simulate(&given(&network, &graph, std::slice::from_ref(&taken)));
    let results = network.results(&outputs.unwrap());
    assert_eq!(
        results[0].1.as_ref().unwrap().as_ints(),
        Some(&[0, 200, 254][..])
    );
    assert_eq!(
        graph.compare(FORMAT, &[taken]).unwrap().outputs[0].largest_error,
        0.0
    );
    for (wrong, part) in [
        (
            tensor(&[3], &[0.0, 0.5, 1.0]),
            "element 1: the number is no",
        ),
        (tensor(&[3], &[0.0, 1.0, 256.0]), "from 0 to 255"),
        (
            tensor(&[3], &[f32::NAN, 1.0, 2.0]),
            "element 0: the number is no",
        ),
        (
            vector(Element::I64, &[1, 2, -1]),
            "element 2: the number is no",
        ),
    ] {
        let data = [wrong];
        let error = network
            .with_data(&data, Inputs::new())
            .unwrap_err()
            .to_string();
        assert!(error.contains("\"x\"") && error.contains(part), "{error}");
        let error = graph.compare(FORMAT, &data).unwrap_err().to_string();
        assert!(error.contains(part), "{error}");
    }
    // Floats take all numbers.
    let net = Net::new(18).input("x", &[3]).node("y = Neg(x)").output("y");
    let graph = net.import().unwrap();
    let bytes = vector(Element::U8, &[0, 7, 255]);
    let compared = graph.compare(FORMAT, &[bytes]).unwrap();
    assert_eq!(compared.outputs[0].largest_error, 0.0);
    let double = Tensor::new(Element::F64, vec![3], Data::F64(vec![0.5, -1.0, 2.0])).unwrap();
    assert!(graph.compare(FORMAT, &[double]).is_ok());
}

/// `Round` used to round ties up.
#[test]
fn ties_are_rounded_to_even() {
    let x = [
        -2.5,
        -1.5,
        -0.5,
        0.5,
        1.5,
        2.5,
        3.5,
        -3.5,
        0.49,
        -0.51,
        7.0,
        -1e6 - 0.5,
    ];
    let net = Net::new(18)
        .input("x", &[12])
        .node("y = Round(x)")
        .output("y");
    let graph = net.import().unwrap();
    let found = meant(&graph, &[tensor(&[12], &x)]);
    let expected: Vec<f64> = x.iter().map(|&x| f64::from(x).round_ties_even()).collect();
    let found: Vec<f64> = found[0].to_f64();
    assert_eq!(found, expected);
}
