//! Each operator against what it computes in the clear.

use std::collections::HashSet;

use super::*;

/// Models with inputs of shapes, and how far what they mean may be from what they compute in the clear.
fn operators() -> Vec<(&'static str, Net, f64)> {
    let step = 2f64.powi(-16);
    let unary = |operator: &'static str, bound: f64| {
        (
            operator,
            on_x(&[3, 5], &format!("y = {operator}(x)")),
            bound,
        )
    };
    let weights = |count: usize| -> Vec<f32> {
        (0..count)
            .map(|i| (i * 37 % 19) as f32 / 10.0 - 0.9)
            .collect()
    };
    let image = || Net::new(18).input("x", &[2, 4, 6, 5]);
    let line = || Net::new(18).input("x", &[2, 4, 9]);
    let both = |operator: &str| {
        Net::new(18)
            .input("x", &[2, 3])
            .input("z", &[3])
            .node(&format!("y = {operator}(x, z)"))
    };
    let spread = |net: Net, text: &str, strides: &[i64], dilations: &[i64], pads: &[i64]| {
        net.node(text)
            .int_list("strides", strides)
            .int_list("dilations", dilations)
            .int_list("pads", pads)
    };
    vec![
        unary("Neg", step),
        unary("Abs", step),
        unary("Relu", step),
        unary("Sign", 0.0),
        unary("Floor", 0.0),
        unary("Ceil", 0.0),
        unary("Sigmoid", 4.0 * step),
        unary("Tanh", 4.0 * step),
        unary("Erf", 4.0 * step),
        unary("Exp", 8.0 * step),
        unary("Softplus", 4.0 * step),
        unary("HardSigmoid", 4.0 * step),
        unary("HardSwish", 6.0 * step),
        unary("LeakyRelu", 3.0 * step),
        (
            "Softmax",
            on_x(&[3, 5], "y = Softmax(x)").int("axis", 0),
            8.0 * step,
        ),
        (
            "LogSoftmax",
            on_x(&[2, 3, 4], "y = LogSoftmax(x)").int("axis", 1),
            12.0 * step,
        ),
        (
            "Gelu",
            Net::new(20).input("x", &[7]).node("y = Gelu(x)"),
            4.0 * step,
        ),
        ("Add", both("Add"), 2.0 * step),
        ("Sub", both("Sub"), 2.0 * step),
        ("Mul", both("Mul"), 4.0 * step),
        ("Min", both("Min"), step),
        ("Max", both("Max"), step),
        (
            "Div by weights",
            on_x(&[2, 3], "y = Div(x, w)").constant("w", &[3], &[2.0, -0.5, 3.0]),
            4.0 * step,
        ),
        (
            "Div by a number",
            on_x(&[2, 3], "y = Div(x, w)").constant("w", &[], &[6.0]),
            4.0 * step,
        ),
        (
            "Pow",
            on_x(&[2, 3], "y = Pow(x, w)").constant("w", &[], &[3.0]),
            8.0 * step,
        ),
        (
            "Clip",
            on_x(&[2, 3], "y = Clip(x, a, b)")
                .constant("a", &[], &[-0.25])
                .constant("b", &[], &[0.5]),
            step,
        ),
        (
            "Clip whose upper bound is the lower one",
            on_x(&[2, 3], "y = Clip(x, a, b)")
                .constant("a", &[], &[0.5])
                .constant("b", &[], &[-0.25]),
            step,
        ),
        (
            "Div by large weights",
            on_x(&[3], "y = Div(x, w)").constant("w", &[3], &[255.0, 1000.0, -1.0]),
            2.0 * step,
        ),
        (
            "Pow with an axis of its own",
            on_x(&[3], "y = Pow(x, w)").constant("w", &[1, 1], &[2.0]),
            4.0 * step,
        ),
        (
            "Neg, Concat and ReduceSum of products",
            on_x(&[2, 3], "p = MatMul(x, w)")
                .constant("w", &[3, 3], &weights(9))
                .node("n = Neg(p)")
                .node("c = Concat(n, x)")
                .int("axis", 0)
                .ints("a", &[0])
                .node("y = ReduceSum(c, a)"),
            16.0 * step,
        ),
        (
            "PRelu",
            on_x(&[2, 3, 2], "y = PRelu(x, w)").constant("w", &[3, 1], &[0.5, -0.25, 2.0]),
            4.0 * step,
        ),
        (
            "Gemm",
            on_x(&[3, 4], "y = Gemm(x, w, b)")
                .int("transB", 1)
                .constant("w", &[5, 4], &weights(20))
                .constant("b", &[5], &weights(5)),
            8.0 * step,
        ),
        (
            "MatMul of a batch",
            on_x(&[2, 3, 4], "y = MatMul(x, w)").constant("w", &[4, 2], &weights(8)),
            8.0 * step,
        ),
        (
            "MatMul of secrets",
            Net::new(18)
                .input("x", &[2, 3, 4])
                .input("z", &[2, 4, 2])
                .node("y = MatMul(x, z)"),
            8.0 * step,
        ),
        (
            "Conv",
            spread(
                image(),
                "y = Conv(x, w, b)",
                &[2, 1],
                &[1, 2],
                &[1, 2, 0, 1],
            )
            .constant("w", &[3, 4, 3, 2], &weights(72))
            .constant("b", &[3], &weights(3)),
            24.0 * step,
        ),
        (
            "Conv in groups",
            spread(image(), "y = Conv(x, w)", &[1, 1], &[1, 1], &[0, 0, 0, 0])
                .int("group", 2)
                .constant("w", &[6, 2, 2, 2], &weights(48)),
            16.0 * step,
        ),
        (
            "Conv along a line",
            spread(line(), "y = Conv(x, w)", &[2], &[2], &[1, 3]).constant(
                "w",
                &[3, 4, 3],
                &weights(36),
            ),
            16.0 * step,
        ),
        (
            "ConvTranspose",
            spread(
                image(),
                "y = ConvTranspose(x, w, b)",
                &[2, 3],
                &[1, 2],
                &[1, 0, 0, 2],
            )
            .int_list("output_padding", &[1, 0])
            .constant("w", &[4, 3, 3, 2], &weights(72))
            .constant("b", &[3], &weights(3)),
            24.0 * step,
        ),
        (
            "ConvTranspose in groups",
            spread(
                image(),
                "y = ConvTranspose(x, w)",
                &[1, 2],
                &[1, 1],
                &[3, 0, 3, 1],
            )
            .int("group", 2)
            .constant("w", &[4, 2, 2, 2], &weights(32)),
            16.0 * step,
        ),
        (
            "MaxPool",
            spread(image(), "y = MaxPool(x)", &[2, 1], &[1, 2], &[1, 0, 1, 0])
                .int_list("kernel_shape", &[3, 2]),
            step,
        ),
        (
            "MaxPool along a line",
            spread(line(), "y = MaxPool(x)", &[2], &[1], &[1, 1]).int_list("kernel_shape", &[3]),
            step,
        ),
        (
            "AveragePool",
            image()
                .node("y = AveragePool(x)")
                .int_list("kernel_shape", &[2, 3])
                .int_list("strides", &[2, 2]),
            6.0 * step,
        ),
        (
            "AveragePool that counts what is there",
            image()
                .node("y = AveragePool(x)")
                .int_list("kernel_shape", &[3, 3])
                .int_list("pads", &[1, 1, 1, 0]),
            24.0 * step,
        ),
        (
            "GlobalAveragePool",
            image().node("y = GlobalAveragePool(x)"),
            32.0 * step,
        ),
        (
            "ReduceMax",
            image()
                .ints("axes", &[1, 3])
                .node("y = ReduceMax(x, axes)")
                .int("keepdims", 0),
            step,
        ),
        (
            "ReduceMean",
            image()
                .ints("axes", &[1, 3])
                .node("y = ReduceMean(x, axes)"),
            24.0 * step,
        ),
        (
            "ReduceSum",
            image()
                .ints("axes", &[0])
                .node("y = ReduceSum(x, axes)")
                .int("keepdims", 0),
            3.0 * step,
        ),
        (
            "ReduceProd",
            image().ints("axes", &[1]).node("y = ReduceProd(x, axes)"),
            12.0 * step,
        ),
        ("ArgMax", image().node("y = ArgMax(x)").int("axis", 2), 0.0),
        (
            "ArgMin, the last",
            image()
                .node("y = ArgMin(x)")
                .int("axis", 1)
                .int("select_last_index", 1),
            0.0,
        ),
        (
            "TopK",
            image()
                .ints("k", &[2])
                .node("y p = TopK(x, k)")
                .int("axis", 1)
                .output("p"),
            step,
        ),
        (
            "CumSum",
            image()
                .tensor(crate::common::ints("a", &[2]))
                .node("y = CumSum(x, a)")
                .int("exclusive", 1)
                .int("reverse", 1),
            6.0 * step,
        ),
        (
            "LayerNormalization",
            on_x(&[3, 8], "y = LayerNormalization(x, w, b)")
                .constant("w", &[8], &weights(8))
                .constant("b", &[8], &weights(8)),
            2f64.powi(-9),
        ),
        (
            "Transpose",
            image()
                .node("y = Transpose(x)")
                .int_list("perm", &[2, 0, 3, 1]),
            step,
        ),
        (
            "Slice",
            image()
                .ints("s", &[1, 4])
                .ints("e", &[4, -9])
                .ints("a", &[1, 3])
                .ints("d", &[2, -2])
                .node("y = Slice(x, s, e, a, d)"),
            step,
        ),
        (
            "Gather",
            image()
                .ints("i", &[3, 0, -1])
                .node("y = Gather(x, i)")
                .int("axis", 1),
            step,
        ),
        (
            "Concat",
            image()
                .node("h = Relu(x)")
                .node("y = Concat(x, h)")
                .int("axis", 1),
            step,
        ),
        (
            "Pad",
            image()
                .ints("p", &[0, 1, 0, 2, 0, 0, 1, 0])
                .constant("v", &[], &[-1.5])
                .node("y = Pad(x, p, v)"),
            step,
        ),
        (
            "Expand",
            on_x(&[3, 1], "y = Expand(x, s)").ints("s", &[2, 3, 4]),
            step,
        ),
        (
            "Less and Where",
            both("Less").node("v = Where(y, x, z)").output("v"),
            step,
        ),
        (
            "Cast and back",
            image()
                .node("i = Cast(x)")
                .int("to", 7)
                .node("v = Cast(i)")
                .int("to", 1)
                .node("y = Sub(x, v)"),
            step,
        ),
    ]
}

/// Numbers that the type has exactly, so that comparisons come out alike, no two of a tensor equal: the
/// order of equal ones is not the same on secrets.
fn rounded(tensors: Vec<Tensor>) -> Vec<Tensor> {
    let round = |one: Tensor| {
        let mut taken = HashSet::new();
        let mut free = |value: f64| {
            let mut steps = (value * 1024.0).round() as i64;
            while !taken.insert(steps) {
                steps += 1;
            }
            steps as f32 / 1024.0
        };
        let values: Vec<f32> = one.to_f64().into_iter().map(&mut free).collect();
        tensor(one.shape(), &values)
    };
    tensors.into_iter().map(round).collect()
}

#[test]
fn operators_mean_on_secrets_what_they_mean_in_the_clear() {
    let mut random = Random::new();
    for (name, net, bound) in operators() {
        let graph = net
            .output("y")
            .import()
            .unwrap_or_else(|error| panic!("{name}: {error}"));
        let data = rounded(floats_for(&graph, &mut random));
        let expected = graph.evaluate(&data).unwrap();
        close(&meant(&graph, &data), &expected, bound, name);
    }
}

/// Places that depend on data; those below 0 count from the end.
#[test]
fn secret_places_are_looked_up() {
    let net = Net::new(18)
        .input("x", &[4])
        .constant("t", &[3, 2], &[1.0, 2.0, 3.0, 4.0, 5.0, 6.0])
        .node("i = Cast(x)")
        .int("to", 7)
        .node("y = Gather(t, i)")
        .output("y");
    let graph = net.import().unwrap();
    let data = [tensor(&[4], &[2.0, -1.0, 0.0, -3.0])];
    let expected = graph.evaluate(&data).unwrap();
    close(&meant(&graph, &data), &expected, 1e-4, "a look-up");
}

/// The greatest of what is there, however small it is beside the padding.
#[test]
fn padding_is_less_than_any_number() {
    let net = Net::new(18)
        .input("x", &[1, 1, 2, 2])
        .node("y = MaxPool(x)")
        .int_list("kernel_shape", &[2, 2])
        .int_list("pads", &[1, 1, 1, 1])
        .output("y");
    let graph = net.import().unwrap();
    let least = -(2f32.powi(47));
    let data = [tensor(&[1, 1, 2, 2], &[least; 4])];
    let expected = graph.evaluate(&data).unwrap();
    close(&meant(&graph, &data), &expected, 0.0, "the least numbers");
}

/// A model that asks for more than any measure is refused before anything is put together.
#[test]
fn padding_without_end_is_refused() {
    let far = 1_i64 << 31;
    let pool = on_x(&[1, 1, 1, 1], "y = AveragePool(x)")
        .int_list("kernel_shape", &[far, 1])
        .int_list("pads", &[far - 1, 0, 0, 0]);
    let spread = on_x(&[1, 1, 2, 1], "y = ConvTranspose(x, w)")
        .int_list("strides", &[far, 1])
        .int_list("pads", &[far, 0, 0, 0])
        .constant("w", &[1, 1, 1, 1], &[1.0]);
    for net in [pool, spread] {
        let graph = net.output("y").import().unwrap();
        let error = graph.on_secrets(&roles(2), FORMAT).unwrap_err().to_string();
        assert!(error.contains("are allowed"), "{error}");
    }
}
