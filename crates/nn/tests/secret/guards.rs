//! The bit that says whether a number may have left its range.

use super::*;

/// Numbers of 32 bits, so that it does not take much to leave their range.
const SHORT: Format = Format {
    number: match Type::fixed(32, 8) {
        Some(number) => number,
        None => panic!("a type"),
    },
    rounding: Rounding::Exact,
};

/// A network with what can leave a range, and what cannot.
fn net(random: &mut Random) -> Graph {
    let mut numbers = |count: usize| -> Vec<f32> { (0..count).map(|_| random.float()).collect() };
    let net = Net::new(13)
        .input("x", &[2, 2, 6, 6])
        .constant("f", &[3, 2, 3, 3], &numbers(54))
        .constant("g", &[3], &numbers(3))
        .constant("w", &[3, 12], &numbers(36))
        .constant("b", &[3], &numbers(3))
        .constant("s", &[3], &numbers(3))
        .node("c = Conv(x, f, g)")
        .node("r = Relu(c)")
        .node("m = AveragePool(r)")
        .int_list("kernel_shape", &[2, 2])
        .int_list("strides", &[2, 2])
        .node("d = Flatten(m)")
        .node("y = Gemm(d, w, b)")
        .int("transB", 1)
        .node("z = Mul(y, s)")
        .node("q = Mul(z, z)")
        .node("a = Add(q, z)")
        .output("a");
    net.import().unwrap()
}

fn checked(graph: &Graph, parties: usize) -> Network {
    let network = graph.on_secrets_checked(&roles(parties), SHORT);
    network.unwrap_or_else(|error| panic!("{error}"))
}

fn scaled(data: &[Tensor], factor: f32) -> Vec<Tensor> {
    let of = |one: &Tensor| {
        let numbers: Vec<f32> = one.to_f64().iter().map(|&x| x as f32 * factor).collect();
        tensor(one.shape(), &numbers)
    };
    data.iter().map(of).collect()
}

/// Data that grows makes numbers wrap around sooner or later: never without the bit, and no ordinary data with it.
#[test]
fn no_number_leaves_its_range_without_the_bit() {
    let mut random = Random::new();
    let (mut wrapped, mut clean) = (0, 0);
    for round in 0..12 {
        let graph = net(&mut random);
        let data = floats_for(&graph, &mut random);
        let network = checked(&graph, 2);
        for exponent in -2..14 {
            let data = scaled(&data, 2_f32.powi(exponent));
            let inputs = given(&network, &graph, &data);
            let meant = network.program().check(&inputs).unwrap();
            let told = network.may_have_left(&meant.outputs).unwrap();
            let what = format!("round {round}, data times 2^{exponent}");
            match meant.overflows.is_empty() {
                true => clean += usize::from(!told),
                false => wrapped += 1,
            }
            assert!(
                told || meant.overflows.is_empty(),
                "{what}: {:?}",
                meant.overflows
            );
            if exponent <= 0 {
                assert!(!told, "{what} is ordinary");
                let found = network.results(&meant.outputs).into_iter();
                let found: Vec<Tensor> = found.filter_map(|(_, one)| one).collect();
                close(&found, &graph.evaluate(&data).unwrap(), 2.0, &what);
            }
        }
    }
    assert!(
        wrapped > 20 && clean > 20,
        "{wrapped} wrapped, {clean} clean"
    );
}

/// All parties learn the bit in every mix, at the declared cost, and nothing else than before.
#[test]
fn the_bit_is_computed_in_every_mix() {
    let mut random = Random::new();
    let graph = net(&mut random);
    let data = floats_for(&graph, &mut random);
    for (mix, parties) in [
        (Mix::AB, 2),
        (Mix::AY2, 2),
        (Mix::ALPHA_BETA, 2),
        (Mix::ALPHA_Y2, 2),
        (Mix::AB, 3),
        (Mix::AY, 3),
        (Mix::R, 3),
    ] {
        let network = checked(&graph, parties);
        let planned = network.program().plan(mix, Some(Goal::Size), &|_| {});
        let planned = planned.unwrap_or_else(|error| panic!("{mix}: {error}"));
        for (factor, left) in [(0.5, false), (4096.0, true)] {
            let data = scaled(&data, factor);
            let inputs = given(&network, &graph, &data);
            let meant = network.program().simulate(&inputs).unwrap();
            let ended = planned.run_locally(network.program(), &inputs).unwrap();
            for (me, one) in Party::all(parties).zip(&ended) {
                let spent = [one.outcome.setup.spent, one.outcome.online.spent];
                let cost = planned.plan.cost(me);
                assert_eq!(spent, [cost.setup, cost.online], "{me} in {mix}");
                assert_eq!(
                    network.may_have_left(&one.outputs),
                    Some(left),
                    "{me} in {mix}"
                );
                let known = network.results(&one.outputs);
                let gets = me.index() == 1;
                assert!(
                    known.iter().all(|(_, one)| one.is_some() == gets),
                    "{me} in {mix}"
                );
            }
            let found = network.results(&ended[1].outputs);
            assert_eq!(found, network.results(&meant), "{mix}");
        }
    }
}

/// A model without the check has no such bit, and what cannot be checked is refused by name.
#[test]
fn a_check_is_there_or_refused() {
    let graph = on_x(&[2, 3], "y = Softmax(x)")
        .output("y")
        .import()
        .unwrap();
    let network = lowered(&graph, &roles(2));
    assert_eq!(network.program().outputs().len(), 1);
    let refused = graph.on_secrets_checked(&roles(2), FORMAT).unwrap_err();
    let told = refused.to_string();
    assert!(
        told.contains("Softmax") && told.contains("not checked"),
        "{told}"
    );
}

#[test]
fn elements_have_places_along_the_axes() {
    use madrigal_nn::secret::place;

    let all: Vec<_> = (0..6).map(|at| place(&[3, 2], at)).collect();
    let [a, b, c, d, e, f] = [[0, 0], [0, 1], [1, 0], [1, 1], [2, 0], [2, 1]];
    assert_eq!(all, [a, b, c, d, e, f]);
    assert_eq!(place(&[], 0), []);
    assert_eq!(place(&[2, 3, 4], 23), [1, 2, 3]);
}
