//! Quotients of networks, whose divisors may be large.

use super::*;

/// Quotients of networks that large numbers divide, in whatever way the file says it.
#[test]
fn networks_divide_by_large_numbers() {
    let step = 2f64.powi(-16);
    let x = [1e6_f32, 100.0, -5e4, 1e7];
    let y = [7e4_f32, 3.0, 3e4, -3.7e4];
    let expected: Vec<f64> = x
        .iter()
        .zip(&y)
        .map(|(&x, &y)| f64::from(x) / f64::from(y))
        .collect();
    let data = [tensor(&[4], &x), tensor(&[4], &y)];
    let inputs = || Net::new(18).input("x", &[4]).input("y", &[4]);
    let nets = [
        inputs().node("z = Div(x, y)"),
        inputs().node("r = Reciprocal(y)").node("z = Mul(r, x)"),
        inputs()
            .constant("e", &[], &[-1.0])
            .node("r = Pow(y, e)")
            .node("z = Mul(x, r)"),
    ];
    for net in nets {
        let graph = net.output("z").import().unwrap();
        for (found, expected) in meant(&graph, &data)[0].to_f64().into_iter().zip(&expected) {
            let error = (found - expected).abs();
            assert!(
                error <= step * (1.0 + expected.abs()),
                "{found}, not {expected}"
            );
        }
    }
    // By weights, whose quotients used to be beyond the range from 2^23 on.
    let net = Net::new(18)
        .input("x", &[4])
        .constant("w", &[4], &[2.0, 3.0, 1e6, -0.25])
        .node("z = Div(x, w)")
        .output("z");
    let graph = net.import().unwrap();
    let large = tensor(&[4], &[1e9, -1e10, 3e6, 1e5]);
    let found = meant(&graph, &[large])[0].to_f64();
    for (found, expected) in found.into_iter().zip([5e8, -1e10 / 3.0, 3.0, -4e5]) {
        let error = (found - expected).abs();
        assert!(
            error <= step + expected.abs() * 1e-7,
            "{found}, not {expected}"
        );
    }
    for (divisor, part) in [(0.0, "hold 0 (element 1)"), (1e-30, "hold 0.00000")] {
        let net = Net::new(18)
            .input("x", &[2])
            .constant("w", &[2], &[1.0, divisor]);
        let graph = net.node("z = Div(x, w)").output("z").import().unwrap();
        let network = lowered(&graph, &roles(2));
        let error = network
            .with_weights(&graph, Inputs::new())
            .unwrap_err()
            .to_string();
        assert!(error.contains(part), "{error}");
        let net = Net::new(18).input("x", &[2]).constant("w", &[], &[divisor]);
        let graph = net.node("z = Div(x, w)").output("z").import().unwrap();
        let error = graph.on_secrets(&roles(2), FORMAT).unwrap_err().to_string();
        assert!(
            error.contains("Div \"node_0\"") && error.contains("divides by"),
            "{error}"
        );
    }
}

/// Divisors that batches are normalised by are small where numbers are large: of the factor 1/3000 16 bits after the point are
/// 22 steps.
#[test]
fn batches_of_large_numbers_are_normalised_exactly() {
    let x = [3000.0_f32, -12_000.5, 6000.0, 0.0, 1e6, -3e7];
    let net = on_x(&[3, 2], "y = BatchNormalization(x, s, b, m, v)")
        .constant("s", &[2], &[1.0, 0.5])
        .constant("b", &[2], &[0.25, -1.0])
        .constant("m", &[2], &[3000.0, -100.0])
        .constant("v", &[2], &[9e6, 1.0]);
    let graph = net.output("y").import().unwrap();
    let data = [tensor(&[3, 2], &x)];
    let exact = graph.evaluate(&data).unwrap();
    for (found, exact) in meant(&graph, &data)[0]
        .to_f64()
        .into_iter()
        .zip(exact[0].to_f64())
    {
        let error = (found - exact).abs();
        assert!(
            error <= 2f64.powi(-15) + exact.abs() * 3e-7,
            "{found}, not {exact}"
        );
    }
}
