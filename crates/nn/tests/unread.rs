//! Tests parts that serve no output of a model, which exporters leave behind; and forms that old and other exporters write.

use madrigal_nn::{Limits, Model, Options, Problem};
use prost::Message as _;

use crate::common::{Net, counting, floats, tensor};

/// A tensor of texts, which no operator takes.
fn texts(name: &str) -> madrigal_nn::proto::Tensor {
    madrigal_nn::proto::Tensor {
        data_type: 8,
        ..floats(name, &[2], &[])
    }
}

/// A sparse tensor of this name, as a file has it: its first field are the values, whose name it bears.
fn sparse(name: &str) -> Vec<u8> {
    let mut values = Vec::new();
    prost::encoding::string::encode(8, &name.to_owned(), &mut values);
    let mut file = Vec::new();
    prost::encoding::bytes::encode(1, &values, &mut file);
    file
}

/// Unread tensors, nodes, outputs of nodes and graphs for training were refused before, though they change nothing.
#[test]
fn what_serves_no_output_is_passed_over() {
    let net = Net::new(13)
        .input("x", &[2, 3, 2, 2])
        .tensor(texts("labels"))
        .constant("one", &[3], &[1.0; 3])
        .constant("zero", &[3], &[0.0; 3])
        .node("n mean var saved_mean saved_var = BatchNormalization(x, one, zero, zero, one)")
        .node("d mask = Dropout(n)")
        .node("y places = MaxPool(d)")
        .int_list("kernel_shape", &[2, 2])
        .node("h = LSTM(x)")
        .node("s = Constant()")
        .text("value_string", "of no use")
        .node("t = Relu(nowhere)")
        .output("y");
    let mut messages = net.messages();
    messages.training_info.push(b"a graph".to_vec().into());
    let graph = messages.graph.as_mut().unwrap();
    graph.sparse_initializer.push(sparse("thin").into());
    let model = Model::read(messages.encode_to_vec(), &Limits::default()).unwrap();
    let made = model.import(&Options::default()).unwrap();
    let found = made.evaluate(&[counting(&[2, 3, 2, 2])]).unwrap();
    let found = found[0].to_f64();
    // With five outputs declared, version 13 normalises by the batch: channel c has 4 c + 0..4 and that plus 12.
    let deviation = (36.0 + 1.25 + 1e-5f64).sqrt();
    let expected = [-4.5, -4.5, -4.5, 7.5, 7.5, 7.5].map(|x| x / deviation);
    let near = found
        .iter()
        .zip(expected)
        .all(|(a, b)| (a - b).abs() < 1e-5);
    assert!(near, "{found:?}");
}

/// All of that is told where somebody reads it.
#[test]
fn what_is_read_is_told() {
    let base = || Net::new(13).input("x", &[1, 3, 2, 2]);
    for (net, part) in [
        (base().tensor(texts("t")).node("y = Relu(t)"), "type 8"),
        (
            base()
                .node("z y = MaxPool(x)")
                .int_list("kernel_shape", &[2, 2]),
            "Indices",
        ),
        (
            base().node("y = Constant()").text("value_string", "it"),
            "string",
        ),
        (base().node("h = LSTM(x)").node("y = Relu(h)"), "LSTM"),
        (base().node("y = Relu(thin)"), "tensor \"thin\" is sparse"),
    ] {
        let mut messages = net.output("y").messages();
        let graph = messages.graph.as_mut().unwrap();
        graph.sparse_initializer.push(sparse("thin").into());
        let model = Model::read(messages.encode_to_vec(), &Limits::default()).unwrap();
        let told = model.import(&Options::default()).unwrap_err().to_string();
        assert!(told.contains(part), "{part}: {told}");
    }
}

/// A node that makes a value which is there already is told of it, though nobody reads it.
#[test]
fn a_value_is_made_once() {
    let net = Net::new(13).input("x", &[1]);
    let net = net.node("a = Relu(x)").node("a = Neg(x)").output("x");
    assert!(net.import().is_err());
}

/// Sparse weights that old files list among the inputs are no inputs.
#[test]
fn unread_weights_are_no_inputs() {
    let net = Net::new(13).input("x", &[1]).input("w", &[1]);
    let net = net
        .constant("w", &[1], &[1.0])
        .node("y = Relu(x)")
        .output("y");
    assert_eq!(net.import().unwrap().inputs().len(), 1);
}

/// Version 6 of the operators shapes operands by attributes.
#[test]
fn version_6_is_read_as_it_was_meant() {
    let net = |shape: &[i64]| {
        let count: i64 = shape.iter().product();
        let values: Vec<f32> = (1..=count).map(|value| value as f32).collect();
        Net::new(6)
            .input("x", &[1, 2, 2])
            .constant("c", shape, &values)
    };
    let x = tensor(&[1, 2, 2], &[-1.0, -2.0, 3.0, 4.0]);
    let run = |net: Net| net.output("y").run_f32(std::slice::from_ref(&x)).1;
    let added = run(net(&[2])
        .node("y = Add(x, c)")
        .int("broadcast", 1)
        .int("axis", 1));
    assert_eq!(added, [0.0, -1.0, 5.0, 6.0]);
    let last = run(net(&[2]).node("y = Mul(x, c)").int("broadcast", 1));
    assert_eq!(last, [-1.0, -4.0, 3.0, 8.0]);
    let slopes = run(net(&[2]).node("y = PRelu(x, c)"));
    assert_eq!(slopes, [-1.0, -2.0, 3.0, 4.0]);
    assert!(
        net(&[2])
            .node("y = Add(x, c)")
            .output("y")
            .import()
            .is_err()
    );
    let batch = net(&[2])
        .node("y = BatchNormalization(x, c, c, c, c)")
        .output("y");
    let told = batch.import().unwrap_err().to_string();
    assert!(told.contains("is_test"), "{told}");
    assert!(batch.clone().input("z", &[1]).import().is_err());
}

/// Exporters write -1 where others write a name.
#[test]
fn an_open_size_may_be_written_as_minus_one() {
    let mut messages = Net::new(13).input("x", &[5, 2]).output("x").messages();
    let graph = messages.graph.as_mut().unwrap();
    let Some(madrigal_nn::proto::r#type::Value::TensorType(ty)) =
        &mut graph.input[0].r#type.as_mut().unwrap().value
    else {
        panic!("it is a tensor")
    };
    ty.shape.as_mut().unwrap().dim[0].value =
        Some(madrigal_nn::proto::dimension::Value::DimValue(-1));
    let model = Model::read(messages.encode_to_vec(), &Limits::default()).unwrap();
    let graph = model.import(&Options::batch(3)).unwrap();
    assert_eq!(graph.value(graph.inputs()[0].1).ty.shape, [3, 2]);
    let error = model.import(&Options::default()).unwrap_err();
    assert!(matches!(
        error.problems[..],
        [Problem::Dimension { axis: 0, .. }]
    ));
}

/// Padding that a maximum never takes is the pool's own; where a window has nothing else it stays.
#[test]
fn a_maximum_passes_padding_over() {
    for (fill, pads, fused) in [
        (f32::MIN, [0, 0, 1, 0, 0, 1], true),
        (f32::NEG_INFINITY, [0, 0, 1, 0, 0, 0], true),
        (-1e9, [0, 0, 1, 0, 0, 1], false),
        (f32::MIN, [0, 1, 1, 0, 0, 1], false),
        (f32::MIN, [0, 0, 2, 0, 0, 2], false),
    ] {
        let net = Net::new(13)
            .input("x", &[1, 2, 5])
            .ints("pads", &pads)
            .constant("fill", &[], &[fill])
            .node("p = Pad(x, pads, fill)")
            .node("y = MaxPool(p)")
            .int_list("kernel_shape", &[2])
            .int_list("strides", &[2])
            .output("y");
        let graph = net.import().unwrap();
        let names: Vec<&str> = graph.nodes().iter().map(|node| node.op.name()).collect();
        let expected: &[&str] = if fused {
            &["MaxPool"]
        } else {
            &["Pad", "MaxPool"]
        };
        assert_eq!(names, expected, "{pads:?} {fill}");
        if fused {
            let x = tensor(
                &[1, 2, 5],
                &[-9.0, 1.0, 2.0, -4.0, -5.0, -7.0, 0.0, -8.0, 1.0, 3.0],
            );
            let (shape, found) = net.run_f32(&[x]);
            assert_eq!(shape, [1, 2, 3]);
            assert_eq!(found[..3], [-9.0, 2.0, -4.0]);
            assert_eq!(found[3..], [-7.0, 0.0, 3.0]);
        }
    }
}
