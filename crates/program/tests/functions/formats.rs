//! Functions of every format that there is: the circuits do what the oracle does, and nothing panics.

use madrigal_circuit::Goal;
use madrigal_program::lower::Mix;
use madrigal_program::{Array, Inputs, Party, Program, Shape, Tensor, Type};

use crate::lowering::agrees;

const FUNCTIONS: [fn(&Tensor) -> Tensor; 19] = [
    Tensor::relu,
    Tensor::sign,
    Tensor::sigmoid,
    Tensor::tanh,
    Tensor::erf,
    Tensor::gelu,
    Tensor::gelu_tanh,
    Tensor::silu,
    Tensor::softplus,
    Tensor::exp,
    Tensor::ln,
    Tensor::reciprocal,
    Tensor::sqrt,
    Tensor::inverse_sqrt,
    |x| x.divided_by(1.25),
    |x| x.leaky_relu(-0.3),
    |x| x.softmax(0),
    |x| x.log_softmax(0),
    |x| x.layer_norm(0, 0.5),
];

fn every_function(element: Type) {
    let width = f64::from(element.bits() - 1 - element.fraction());
    let most = 2f64.powf(width);
    let step = 2f64.powf(-f64::from(element.fraction()));
    let numbers = [
        0.0,
        step,
        -step,
        2.0 * step,
        -3.0 * step,
        1.0 - step,
        0.3,
        -0.7,
        most / 2.0,
        -most / 2.0,
        -most,
        most * 0.99,
        most.sqrt(),
        -most.sqrt(),
        most / 3.0,
    ];
    let numbers = numbers.map(|x| if x < most { x } else { 0.0 });
    let mut p = Program::new(2);
    let x = p.tensor_input(None, Party::new(0), element, &[numbers.len()]);
    for function in FUNCTIONS {
        p.open_tensor(None, &function(&x), Party::new(1));
    }
    let program = p.finish().expect("a program that can be");
    let shape = Shape::checked(&[numbers.len()]).expect("a shape");
    let array = Array::from_f64(element, &shape, &numbers).expect("numbers in range");
    let inputs = Inputs::new().with_array(None, array);
    agrees(&program, &inputs, Mix::AB, Goal::Size, &element.to_string());
}

#[test]
fn every_format_has_its_functions() {
    for fraction in 1..15 {
        every_function(Type::fixed(16, fraction).expect("a format"));
    }
    for (bits, fraction) in [
        (32, 1),
        (32, 20),
        (32, 30),
        (64, 1),
        (64, 30),
        (64, 45),
        (64, 62),
        (128, 1),
        (128, 64),
        (128, 100),
        (128, 126),
    ] {
        every_function(Type::fixed(bits, fraction).expect("a format"));
    }
}

/// Functions of other types are errors that name the type.
#[test]
fn other_types_have_none() {
    let fails = |element: Type, function: fn(&Tensor) -> Tensor| {
        let mut p = Program::new(2);
        let x = p.tensor_input(None, Party::new(0), element, &[2]);
        p.open_tensor(None, &function(&x), Party::new(1));
        p.finish().expect_err("a mistake").to_string()
    };
    let word = Type::PLACE;
    for function in [Tensor::sigmoid, Tensor::exp, Tensor::sqrt] {
        let error = fails(word, function);
        assert!(error.contains("u32"), "{error}");
    }
    let error = fails(word, |x| x.softmax(0));
    assert!(error.contains("u32"), "{error}");
    let error = fails(Type::BOOL, |x| x.gelu());
    assert!(error.contains("bool"), "{error}");
}
