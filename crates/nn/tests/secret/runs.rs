//! Programs and runs: by all parties, in every mix; what cannot be.

use super::*;

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
