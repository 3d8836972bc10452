//! Tests the results of an import: versions brought together, constants computed, normalisations folded.

use madrigal_nn::{Graph, Op, Tensor, proto, supported_operators};

use crate::common::{Net, Random, counting, tensor};

/// The operators of a graph by name.
fn ops(graph: &Graph) -> Vec<&'static str> {
    graph.nodes().iter().map(|node| node.op.name()).collect()
}

/// Both give the same graph, and the same results.
fn same(old: Net, new: Net, shape: &[usize]) {
    let x = Random::new().tensor(shape);
    let (old, new) = (old.import().unwrap(), new.import().unwrap());
    assert_eq!(ops(&old), ops(&new));
    let [old, new] = [old, new].map(|graph| graph.evaluate(std::slice::from_ref(&x)).unwrap());
    assert_eq!(old, new);
}

#[test]
fn attributes_that_became_inputs() {
    let net = |opset: i64| Net::new(opset).input("x", &[2, 3, 4]);
    let old = net(7)
        .node("y = Clip(x)")
        .float("min", -0.5)
        .float("max", 0.5);
    let new = net(11)
        .constant("low", &[], &[-0.5])
        .constant("high", &[], &[0.5])
        .node("y = Clip(x, low, high)");
    same(old.output("y"), new.output("y"), &[2, 3, 4]);

    let old = net(7)
        .node("y = Slice(x)")
        .int_list("starts", &[1])
        .int_list("ends", &[3]);
    let old = old.int_list("axes", &[2]);
    let new = net(13)
        .ints("s", &[1])
        .ints("e", &[3])
        .ints("a", &[-1])
        .node("y = Slice(x, s, e, a)");
    same(old.output("y"), new.output("y"), &[2, 3, 4]);

    let old = net(7).node("y = Unsqueeze(x)").int_list("axes", &[0, 2]);
    let new = net(13).ints("a", &[0, -3]).node("y = Unsqueeze(x, a)");
    same(old.output("y"), new.output("y"), &[2, 3, 4]);

    let old = net(7)
        .node("a y = Split(x)")
        .int_list("split", &[1, 3])
        .int("axis", 2);
    let new = net(13)
        .ints("s", &[1, 3])
        .node("a y = Split(x, s)")
        .int("axis", 2);
    same(old.output("y"), new.output("y"), &[2, 3, 4]);

    let old = net(7)
        .node("y = ReduceSum(x)")
        .int_list("axes", &[1])
        .int("keepdims", 0);
    let new = net(13)
        .ints("a", &[1])
        .node("y = ReduceSum(x, a)")
        .int("keepdims", 0);
    same(old.output("y"), new.output("y"), &[2, 3, 4]);

    let old = net(13).node("y = ReduceMax(x)").int_list("axes", &[1]);
    let new = net(18).ints("a", &[1]).node("y = ReduceMax(x, a)");
    same(old.output("y"), new.output("y"), &[2, 3, 4]);

    let old = net(7).node("y i = TopK(x)").int("k", 2);
    let new = net(11).ints("k", &[2]).node("y i = TopK(x, k)");
    same(old.output("y"), new.output("y"), &[2, 3, 4]);

    let old = net(7)
        .node("y = Pad(x)")
        .int_list("pads", &[0, 1, 0, 0, 0, 2])
        .float("value", 3.0);
    let new = net(13)
        .ints("p", &[0, 1, 0, 0, 0, 2])
        .constant("v", &[], &[3.0]);
    same(
        old.output("y"),
        new.node("y = Pad(x, p, v)").output("y"),
        &[2, 3, 4],
    );
}

/// All dimensions from the axis on are one before version 13.
#[test]
fn softmax_changed_its_meaning() {
    let x = Random::new().tensor(&[2, 3, 4]);
    let run = |opset: i64, axis: i64| {
        let net = Net::new(opset)
            .input("x", &[2, 3, 4])
            .node("y = Softmax(x)")
            .int("axis", axis);
        net.output("y").run_f32(std::slice::from_ref(&x)).1
    };
    let sums = |values: &[f32], size: usize| {
        let rows = values.chunks(size).map(|row| row.iter().sum::<f32>());
        rows.fold(0.0f32, |worst, sum| worst.max((sum - 1.0).abs()))
    };
    assert!(sums(&run(9, 1), 12) < 1e-6);
    assert!(sums(&run(13, 1), 12) > 0.1);
    assert!(sums(&run(13, -1), 4) < 1e-6);
    assert_eq!(run(9, 2), run(13, 2));
}

/// Chains as torch writes `x.view(x.size(0), -1)`.
#[test]
fn chains_of_shapes_are_computed() {
    let net = Net::new(13)
        .input("x", &[-1, 3, 4])
        .ints("zero", &[0])
        .ints("rest", &[-1])
        .node("s = Shape(x)")
        .node("n = Gather(s, zero)")
        .node("t = Concat(n, rest)")
        .int("axis", 0)
        .node("y = Reshape(x, t)")
        .output("y");
    let graph = net.import_with(&madrigal_nn::Options::batch(5)).unwrap();
    assert_eq!(ops(&graph), ["Reshape"]);
    assert!(graph.constants().is_empty());
    assert_eq!(graph.value(graph.outputs()[0].1).ty.shape, [5, 12]);
}

#[test]
fn what_does_nothing_goes() {
    let net = Net::new(13)
        .input("x", &[2, 3])
        .ints("same", &[2, 3])
        .node("a = Identity(x)")
        .node("b m = Dropout(a)")
        .node("c = Cast(b)")
        .int("to", 1)
        .node("d = Reshape(c, same)")
        .node("e = Transpose(d)")
        .int_list("perm", &[0, 1])
        .node("dead = Exp(e)")
        .node("y = Relu(e)")
        .output("y")
        .output("e");
    let graph = net.import().unwrap();
    assert_eq!(ops(&graph), ["Relu"]);
    assert_eq!(graph.outputs()[1].1, graph.inputs()[0].1);
    let x = tensor(&[2, 3], &[-1.0; 6]);
    let made = graph.evaluate(std::slice::from_ref(&x)).unwrap();
    assert_eq!(made[1], x);
}

/// Convolution and batch normalisation one after the other, and computed apart.
#[test]
fn normalisation_joins_what_is_before_it() {
    let mut random = Random::new();
    for (linear, operator, weights, shape) in [
        ("Conv", "Conv", vec![4, 2, 3, 3], vec![1, 2, 5, 5]),
        (
            "ConvTranspose",
            "ConvTranspose",
            vec![2, 4, 3, 3],
            vec![1, 2, 5, 5],
        ),
        ("Gemm", "MatMul", vec![6, 4], vec![3, 6]),
        ("MatMul", "MatMul", vec![6, 4], vec![3, 6]),
    ] {
        let size = |shape: &[usize]| shape.iter().map(|&v| v as i64).collect::<Vec<_>>();
        let net = Net::new(13).input("x", &size(&shape));
        let w = random.tensor(&weights);
        let net = net.constant("w", &size(&weights), w.as_f32().unwrap());
        let net = ["s", "b", "m"].iter().fold(net, |net, name| {
            net.constant(name, &[4], random.tensor(&[4]).as_f32().unwrap())
        });
        let net = net
            .constant("v", &[4], &[0.5, 1.0, 1.5, 2.0])
            .node(&format!("c = {linear}(x, w)"))
            .node("y = BatchNormalization(c, s, b, m, v)")
            .output("y");
        let graph = net.import().unwrap();
        assert_eq!(ops(&graph), [operator], "{linear}");
        assert_eq!(graph.constants().len(), 2, "{linear}");
        // With the product as an output too it cannot be changed.
        let apart = net.output("c").import().unwrap();
        assert_eq!(ops(&apart), [operator, "Mul", "Add"], "{linear}");
        let x = [random.tensor(&shape)];
        let (one, other) = (graph.evaluate(&x).unwrap(), apart.evaluate(&x).unwrap());
        let pairs = one[0]
            .as_f32()
            .unwrap()
            .iter()
            .zip(other[0].as_f32().unwrap());
        pairs.for_each(|(a, b)| assert!((a - b).abs() < 1e-5, "{linear}: {a}, {b}"));
    }
}

#[test]
fn biases_join_products() {
    let net = Net::new(13)
        .input("x", &[2, 5, 3])
        .constant("w", &[3, 4], &[1.0; 12])
        .constant("b", &[4], &[1.0, 2.0, 3.0, 4.0])
        .node("p = MatMul(x, w)")
        .node("y = Add(b, p)")
        .output("y");
    let graph = net.import().unwrap();
    assert_eq!(ops(&graph), ["MatMul"]);
    assert_eq!(graph.nodes()[0].inputs.len(), 3);
    let made = graph.evaluate(&[counting(&[2, 5, 3])]).unwrap();
    assert_eq!(made[0].as_f32().unwrap()[..5], [4.0, 5.0, 6.0, 7.0, 13.0]);
    let count = graph.count();
    assert_eq!(
        (count.parameters, count.multiplications),
        (16, 2 * 5 * 3 * 4)
    );
}

/// Activations that consist of others, against their formulas.
#[test]
fn activations() {
    type Formula = fn(f64) -> f64;
    let cases: [(&str, Formula); 11] = [
        ("HardSwish", |x| x * (x / 6.0 + 0.5).clamp(0.0, 1.0)),
        ("HardSigmoid", |x| (0.2 * x + 0.5).clamp(0.0, 1.0)),
        ("Elu", |x| if x < 0.0 { x.exp() - 1.0 } else { x }),
        ("Celu", |x| x.max(0.0) + (x.exp() - 1.0).min(0.0)),
        ("Softsign", |x| x / (1.0 + x.abs())),
        ("ThresholdedRelu", |x| if x > 1.0 { x } else { 0.0 }),
        ("LeakyRelu", |x| if x < 0.0 { 0.01 * x } else { x }),
        ("Mish", |x| x * x.exp().ln_1p().tanh()),
        ("Sigmoid", |x| 1.0 / (1.0 + (-x).exp())),
        ("Swish", |x| x / (1.0 + (-x).exp())),
        ("Softplus", |x| x.exp().ln_1p()),
    ];
    let values: Vec<f32> = (-40..=40).map(|v| v as f32 / 8.0).collect();
    for (name, formula) in cases {
        let net = Net::new(24)
            .input("x", &[81])
            .node(&format!("y = {name}(x)"))
            .output("y");
        let (_, found) = net.run_f32(&[tensor(&[81], &values)]);
        for (x, y) in values.iter().zip(found) {
            let expected = formula(f64::from(*x)) as f32;
            assert!(
                (y - expected).abs() < 1e-5,
                "{name}({x}) = {y}, not {expected}"
            );
        }
    }
}

/// Known values of the error function (Abramowitz and Stegun, table 7.1).
#[test]
fn error_function() {
    let net = Net::new(13)
        .input_of("x", 11, &[6])
        .node("y = Erf(x)")
        .output("y");
    let x = vec![0.0, 0.5, 1.0, -2.0, 3.5, 9.0];
    let x = Tensor::new(
        madrigal_nn::Element::F64,
        vec![6],
        madrigal_nn::Data::F64(x),
    )
    .unwrap();
    let expected = [
        0.0,
        0.520_499_877_813_046_5,
        0.842_700_792_949_714_9,
        -0.995_322_265_018_952_7,
        0.999_999_256_901_627_7,
        1.0,
    ];
    for (found, expected) in net.run(&[x])[0].to_f64().into_iter().zip(expected) {
        assert!((found - expected).abs() < 1e-14, "{found}, not {expected}");
    }
}

/// A quantised product is that of the numbers that its integers stand for, rounded.
#[test]
fn quantised_products() {
    let of = |name: &str, code: i32, values: &[i32]| proto::Tensor {
        name: name.into(),
        dims: if values.len() == 1 {
            vec![]
        } else {
            vec![2, 2]
        },
        data_type: code,
        int32_data: values.to_vec(),
        ..Default::default()
    };
    let net = Net::new(13)
        .input("x", &[2, 2])
        .constant("sx", &[], &[0.5])
        .tensor(of("zx", 2, &[128]))
        .tensor(of("w", 2, &[1, 2, 3, 4]))
        .constant("sw", &[], &[0.25])
        .tensor(of("zw", 2, &[2]))
        .constant("sy", &[], &[0.125])
        .tensor(of("zy", 2, &[100]))
        .node("q = QuantizeLinear(x, sx, zx)")
        .node("p = QLinearMatMul(q, sx, zx, w, sw, zw, sy, zy)")
        .node("y = DequantizeLinear(p, sy, zy)")
        .output("y");
    let (_, found) = net.run_f32(&[tensor(&[2, 2], &[1.0, 2.0, -3.3, 1000.0])]);
    // x is 1, 2, -3.5, 63.5 (the greatest), w is -0.25, 0, 0.25, 0.5; y lies between -12.5 and 19.375.
    assert_eq!(found, [0.25, 1.0, 16.75, 19.375]);
}

#[test]
fn operators_are_listed_once() {
    let names = supported_operators();
    assert!(names.len() > 100 && names.contains(&"Conv"), "{names:?}");
    assert!(names.is_sorted());
    assert!(matches!(
        Net::new(13)
            .input("x", &[1])
            .node("y = Relu(x)")
            .output("y")
            .import()
            .unwrap()
            .nodes()[0]
            .op,
        Op::Unary(madrigal_nn::Unary::Relu)
    ));
}
