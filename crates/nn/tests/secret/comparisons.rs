//! Tests what a fixed point makes of models, and which numbers suffice.

use super::*;

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
    // With 16 bits, 5 after the point, the product's 10 leave 6 with the sign.
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
