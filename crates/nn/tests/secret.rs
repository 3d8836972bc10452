//! Models on secrets: what they mean against the model in the clear, and runs by all parties.

use madrigal_circuit::Goal;
use madrigal_core::Party;
use madrigal_nn::secret::{Format, Network, Roles};
use madrigal_nn::{Graph, Limits, Model, Options, Tensor, npy};
use madrigal_program::lower::Mix;
use madrigal_program::{Inputs, Rounding, Type};
use madrigal_testkit::shared_data;

use crate::common::{Net, Random, tensor};

const FORMAT: Format = Format {
    number: match Type::fixed(64, 16) {
        Some(number) => number,
        None => panic!("a type"),
    },
    rounding: Rounding::Exact,
};

/// The first owns the model, the second the data and the results.
fn roles(parties: usize) -> Roles {
    Roles {
        parties,
        model: Party::new(0),
        data: Party::new(1),
        to: vec![Party::new(1)],
        public_model: false,
    }
}

fn lowered(graph: &Graph, roles: &Roles) -> Network {
    match graph.on_secrets(roles, FORMAT) {
        Ok(network) => network,
        Err(error) => panic!("{error}"),
    }
}

fn given(network: &Network, graph: &Graph, data: &[Tensor]) -> Inputs {
    let inputs = network.with_weights(graph, Inputs::new()).unwrap();
    network.with_data(data, inputs).unwrap()
}

/// What the program means, without running it.
fn meant(graph: &Graph, data: &[Tensor]) -> Vec<Tensor> {
    let network = lowered(graph, &roles(2));
    let outputs = network.program().simulate(&given(&network, graph, data));
    let results = network.results(&outputs.unwrap());
    results.into_iter().map(|(_, one)| one.unwrap()).collect()
}

/// What all parties compute, of which the second one learns it, at the declared cost.
fn computed(graph: &Graph, data: &[Tensor], mix: Mix, parties: usize) -> Vec<Tensor> {
    let network = lowered(graph, &roles(parties));
    let planned = network.program().plan(mix, Some(Goal::Size), &|_| {});
    let planned = planned.unwrap_or_else(|error| panic!("{mix}: {error}"));
    let inputs = given(&network, graph, data);
    let ended = planned.run_locally(network.program(), &inputs).unwrap();
    for (me, one) in Party::all(parties).zip(&ended) {
        let spent = [one.outcome.setup.spent, one.outcome.online.spent];
        let cost = planned.plan.cost(me);
        assert_eq!(spent, [cost.setup, cost.online], "{me} in {mix}");
        let known = network.results(&one.outputs);
        assert!(
            known
                .iter()
                .all(|(_, one)| one.is_some() == (me.index() == 1))
        );
    }
    let results = network.results(&ended[1].outputs);
    results.into_iter().map(|(_, one)| one.unwrap()).collect()
}

/// Tensors of the same shapes whose numbers differ by `bound` at most; of integers and truth values not at all.
#[track_caller]
fn close(found: &[Tensor], expected: &[Tensor], bound: f64, what: &str) {
    assert_eq!(found.len(), expected.len(), "{what}");
    for (found, expected) in found.iter().zip(expected) {
        assert_eq!(found.shape(), expected.shape(), "{what}");
        assert_eq!(found.element(), expected.element(), "{what}");
        let bound = if found.element().is_float() {
            bound
        } else {
            0.0
        };
        let pairs = found.to_f64().into_iter().zip(expected.to_f64());
        for (place, (a, b)) in pairs.enumerate() {
            assert!((a - b).abs() <= bound, "{what}, {place}: {a}, not {b}");
        }
    }
}

/// A model of one node on `x` of a shape, whose other operands are weights.
fn on_x(shape: &[i64], text: &str) -> Net {
    Net::new(18).input("x", shape).node(text)
}

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

fn floats_for(graph: &Graph, random: &mut Random) -> Vec<Tensor> {
    let inputs = graph.inputs().iter();
    inputs
        .map(|(_, id)| random.tensor(&graph.value(*id).ty.shape))
        .collect()
}

/// Numbers that the type has exactly, so that comparisons come out alike.
fn rounded(tensors: Vec<Tensor>) -> Vec<Tensor> {
    let round = |one: Tensor| {
        let values: Vec<f32> = one
            .to_f64()
            .iter()
            .map(|v| ((v * 1024.0).round() / 1024.0) as f32)
            .collect();
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

/// A network with most of what the others have, run in every mix.
#[test]
fn all_parties_compute_what_the_program_means() {
    let mut random = Random::new();
    let numbers = |random: &mut Random, count: usize| -> Vec<f32> {
        (0..count).map(|_| random.float()).collect()
    };
    let net = Net::new(13)
        .input("x", &[2, 1, 6, 6])
        .constant("f", &[2, 1, 3, 3], &numbers(&mut random, 18))
        .constant("g", &[2], &numbers(&mut random, 2))
        .constant("w", &[3, 8], &numbers(&mut random, 24))
        .constant("b", &[3], &numbers(&mut random, 3))
        .node("c = Conv(x, f, g)")
        .node("r = Relu(c)")
        .node("m = MaxPool(r)")
        .int_list("kernel_shape", &[2, 2])
        .int_list("strides", &[2, 2])
        .node("d = Flatten(m)")
        .node("y = Gemm(d, w, b)")
        .int("transB", 1)
        .node("i = ArgMax(y)")
        .int("axis", 1)
        .output("y")
        .output("i");
    let graph = net.import().unwrap();
    let data = floats_for(&graph, &mut random);
    let expected = meant(&graph, &data);
    close(
        &expected[..1],
        &graph.evaluate(&data).unwrap()[..1],
        1e-3,
        "the clear",
    );
    for (mix, parties) in [
        (Mix::AB, 2),
        (Mix::AY2, 2),
        (Mix::ALPHA_BETA, 2),
        (Mix::ALPHA_Y2, 2),
        (Mix::B, 2),
        (Mix::AB, 3),
        (Mix::AY, 3),
        (Mix::R, 3),
        (Mix::AB, 5),
    ] {
        let found = computed(&graph, &data, mix, parties);
        close(&found, &expected, 0.0, &format!("{mix} of {parties}"));
    }
}

/// The program says nothing of the weights: with others it is the same.
#[test]
fn programs_do_not_depend_on_weights() {
    let program = |factor: f32| {
        let w: Vec<f32> = (0..6).map(|i| factor * i as f32).collect();
        let graph = on_x(&[2, 3], "y = MatMul(x, w)").constant("w", &[3, 2], &w);
        let graph = graph.output("y").import().unwrap();
        lowered(&graph, &roles(2)).program().describe()
    };
    assert_eq!(program(1.0), program(-0.5));
    assert!(program(1.0).iter().any(|line| line.contains("weights 0")));
}

/// Nothing is multiplied under sharing where all know the weights.
#[test]
fn public_weights_cost_nothing() {
    let graph =
        on_x(&[2, 3], "y = MatMul(x, w)").constant("w", &[3, 2], &[1.0, 2.0, 3.0, 4.0, 5.0, 6.0]);
    let graph = graph.output("y").import().unwrap();
    let roles = Roles {
        public_model: true,
        ..roles(2)
    };
    let network = lowered(&graph, &roles);
    let planned = network.program().plan(Mix::AB, None, &|_| {}).unwrap();
    let matrices = planned.plan.needs().kinds().into_iter();
    let matrices = matrices.filter(|(kind, _)| kind.to_string().starts_with("matrix"));
    assert_eq!(matrices.count(), 0);
    let data = [tensor(&[2, 3], &[1.0, 2.0, 3.0, -1.0, 0.5, 0.25])];
    let outputs = network
        .program()
        .simulate(&given(&network, &graph, &data))
        .unwrap();
    let found: Vec<Tensor> = network
        .results(&outputs)
        .into_iter()
        .filter_map(|(_, one)| one)
        .collect();
    close(
        &found,
        &graph.evaluate(&data).unwrap(),
        1e-3,
        "public weights",
    );
}

/// All that cannot be done is told at once.
#[test]
fn what_cannot_be_done_on_secrets_is_named() {
    let net = Net::new(18)
        .input("x", &[2, 3])
        .node("a = Sin(x)")
        .node("b = Pow(x, e)")
        .constant("e", &[], &[2.5])
        .node("c = Relu(a)")
        .node("y = Add(b, c)")
        .output("y");
    let error = net
        .import()
        .unwrap()
        .on_secrets(&roles(2), FORMAT)
        .unwrap_err();
    let nodes: Vec<_> = error
        .nodes
        .iter()
        .map(|unfit| &unfit.operator[..])
        .collect();
    assert_eq!(nodes, ["Sin", "Pow"]);
    let text = error.to_string();
    assert!(text.contains("and not 2.5"), "{text}");
}

#[test]
fn numbers_out_of_range_are_named() {
    let graph = on_x(&[2], "y = Add(x, w)").constant("w", &[2], &[1.0, 1e18]);
    let graph = graph.output("y").import().unwrap();
    let network = lowered(&graph, &roles(2));
    let text = network
        .with_weights(&graph, Inputs::new())
        .unwrap_err()
        .to_string();
    assert!(text.contains("99999998"), "{text}");
    let wrong = [tensor(&[2], &[f32::NAN, 0.0])];
    let text = network
        .with_data(&wrong, Inputs::new())
        .unwrap_err()
        .to_string();
    assert!(text.contains("\"x\" holds NaN"), "{text}");
    let wrong = [tensor(&[3], &[0.0; 3])];
    assert!(network.with_data(&wrong, Inputs::new()).is_err());
    assert!(network.with_data(&[], Inputs::new()).is_err());
}

/// Trained networks: the logits that onnxruntime has, within a bound, and so the same classes.
fn trained(name: &str, images: usize, bound: f64, runs: &[(Mix, usize)]) {
    let Some(shared) = shared_data() else { return };
    let folder = shared.join("data/models").join(name);
    let load = |file: &str| npy::read(&std::fs::read(folder.join(file)).unwrap()).unwrap();
    let first = |all: &Tensor, count: usize| {
        let each: usize = all.shape()[1..].iter().product();
        let shape = [&[count], &all.shape()[1..]].concat();
        tensor(&shape, &all.as_f32().unwrap()[..count * each])
    };
    let (all, logits) = (load("images.npy"), load("logits.npy"));
    let file = std::fs::read(folder.join(format!("{name}.onnx"))).unwrap();
    let model = Model::read(file, &Limits::default()).unwrap();
    let graph = |count| model.import(&Options::batch(count)).unwrap();
    let data = [first(&all, images)];
    let found = meant(&graph(images), &data);
    close(&found, &[first(&logits, images)], bound, name);
    let one = [first(&all, 1)];
    let expected = meant(&graph(1), &one);
    for &(mix, parties) in runs {
        let found = computed(&graph(1), &one, mix, parties);
        close(
            &found,
            &expected,
            0.0,
            &format!("{name} in {mix} of {parties}"),
        );
    }
}

#[test]
fn trained_networks_keep_their_logits() {
    let all = [
        (Mix::AB, 2),
        (Mix::AY2, 2),
        (Mix::ALPHA_BETA, 2),
        (Mix::ALPHA_Y2, 2),
        (Mix::AB, 3),
        (Mix::R, 3),
    ];
    trained("cryptonets_relu", 8, 0.005, &all);
    trained(
        "cryptonets_square",
        8,
        0.02,
        &[(Mix::ALPHA_BETA, 2), (Mix::R, 3)],
    );
    trained("mlp_784_128_128_10", 8, 0.005, &[(Mix::R, 3)]);
    trained("minionn_mnist", 4, 0.01, &[(Mix::R, 3)]);
    trained("minionn_cifar10", 1, 0.01, &[]);
}

/// `y = relu(x w)`, whose products are at most 40.
fn product() -> (Graph, [Tensor; 1]) {
    let net =
        on_x(&[2, 3], "h = MatMul(x, w)").constant("w", &[3, 2], &[1.0, 2.0, 3.0, 4.0, 5.0, 6.5]);
    let graph = net.node("y = Relu(h)").output("y").import().unwrap();
    (graph, [tensor(&[2, 3], &[1.0, 2.0, 4.6, -1.0, 0.5, 0.25])])
}

#[test]
fn comparisons_tell_where_numbers_leave_their_range() {
    let (graph, data) = product();
    let format = |bits, fraction| Format {
        number: Type::fixed(bits, fraction).unwrap(),
        ..FORMAT
    };
    let good = graph.compare(FORMAT, &data).unwrap();
    let [product, relu] = &good.layers[..] else {
        panic!("{good:?}")
    };
    // 2 + 8 + 29.9 with 32 bits after the point, and with 16.
    assert!((product.greatest - 39.9).abs() < 1e-5, "{product:?}");
    assert!(
        (product.room - (31.0 - 39.9_f64.log2())).abs() < 1e-6,
        "{product:?}"
    );
    assert!(
        (relu.room - (47.0 - 39.9_f64.log2())).abs() < 1e-6,
        "{relu:?}"
    );
    assert!(good.outputs[0].largest_error < 2f64.powi(-12), "{good:?}");
    assert_eq!([good.outputs[0].rows, good.outputs[0].changed], [2, 0]);
    // Of 16 bits, 5 after the point, the product's 10 leave 6 with the sign.
    let bad = graph.compare(format(16, 5), &data).unwrap();
    assert!(
        bad.layers[0].room < 0.0 && bad.layers[1].room > 0.0,
        "{bad:?}"
    );
    assert!(bad.outputs[0].largest_error > 30.0, "{bad:?}");
    assert_eq!(bad.outputs[0].changed, 1);
}

#[test]
fn calibration_leaves_the_room_that_is_asked_for() {
    let (graph, data) = product();
    for (bits, spare) in [(32, 0), (32, 4), (64, 3)] {
        let number = graph.calibrated(bits, spare, &data).unwrap().unwrap();
        let format = Format { number, ..FORMAT };
        let room = graph.compare(format, &data).unwrap().layers[0].room;
        let enough = f64::from(spare) <= room;
        assert!(
            enough && (room < f64::from(spare) + 3.0 || number.fraction() == 24),
            "{number}: {room}"
        );
    }
    assert_eq!(graph.calibrated(16, 4, &data).unwrap(), None);
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

#[test]
fn numbers_without_room_for_products_are_refused() {
    let (graph, _) = product();
    let number = Type::fixed(32, 16).unwrap();
    let error = graph.on_secrets(&roles(2), Format { number, ..FORMAT });
    assert!(
        error
            .unwrap_err()
            .to_string()
            .contains("fewer bits after the point")
    );
}

/// A sum within a node leaves its range, though its result does not.
#[test]
fn sums_that_leave_their_range_are_told() {
    let graph = on_x(&[1, 1, 64, 64], "y = GlobalAveragePool(x)").output("y");
    let graph = graph.import().unwrap();
    let data = [tensor(&[1, 1, 64, 64], &[40.0; 4096])];
    let compare = |bits, fraction| {
        let number = Type::fixed(bits, fraction).unwrap();
        graph.compare(Format { number, ..FORMAT }, &data).unwrap()
    };
    assert!(compare(64, 16).overflows.is_empty());
    let bad = compare(32, 14);
    assert!(
        !bad.overflows.is_empty() && bad.layers[0].room > 0.0,
        "{bad:?}"
    );
}
