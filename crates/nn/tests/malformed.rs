//! Files that are wrong, or made to do harm: each ends in an error that says what and where.

use madrigal_nn::{
    Fault, ImportError, Limits, Model, Options, Problem, ReadError, Tensor, TensorFault, proto,
    with_note,
};
use prost::Message as _;

use crate::common::{Net, floats, ints};

fn read(file: Vec<u8>) -> Result<Model, ReadError> {
    Model::read(file, &Limits::default())
}

fn only(error: ImportError) -> Problem {
    assert_eq!(error.problems.len(), 1, "{error}");
    error.problems.into_iter().next().unwrap()
}

/// The one fault of a model.
fn fault(net: &Net) -> Fault {
    match only(net.import().unwrap_err()) {
        Problem::Node { fault, .. } => fault,
        other => panic!("{other}"),
    }
}

#[test]
fn no_model_at_all() {
    assert!(matches!(
        read(b"hello".to_vec()),
        Err(ReadError::Malformed(_))
    ));
    assert_eq!(read(Vec::new()).unwrap_err(), ReadError::NoGraph);
    let mut file = Net::new(13).input("x", &[1]).output("x").file();
    file.truncate(file.len() - 3);
    assert!(matches!(read(file), Err(ReadError::Malformed(_))));
}

#[test]
fn versions() {
    for (opset, good) in [(5, false), (6, true), (27, true), (28, false), (-1, false)] {
        let file = Net::new(opset).input("x", &[1]).output("x").file();
        assert_eq!(read(file).is_ok(), good, "{opset}");
    }
    let mut none = Net::new(13).messages();
    none.opset_import.clear();
    assert_eq!(read(none.encode_to_vec()).unwrap_err(), ReadError::NoOpset);
}

/// A note is added to a file as it is, and the last one counts; without weights Madrigal's own stay.
#[test]
fn notes() {
    let file = Net::new(13).input("x", &[1]).output("x").file();
    let before = read(file.clone()).unwrap();
    assert_eq!(before.note("madrigal.numbers"), None);
    let mut noted = file;
    for (key, value) in [
        ("madrigal.numbers", "64.16"),
        ("author", "somebody"),
        ("madrigal.numbers", "32.12"),
    ] {
        noted = with_note(noted, key, value);
    }
    let after = read(noted).unwrap();
    assert_eq!(after.note("madrigal.numbers"), Some("32.12"));
    assert_eq!(after.note("author"), Some("somebody"));
    let bare = after.without_weights(&Options::default()).unwrap();
    let bare = read(bare.file).unwrap();
    assert_eq!(bare.note("madrigal.numbers"), Some("32.12"));
    assert_eq!(bare.note("author"), None);
    assert_eq!(bare.inputs(), before.inputs());
    // Notes that others wrote need not be text.
    let mut messages = Net::new(13).input("x", &[1]).output("x").messages();
    messages.metadata_props.push(proto::Property {
        key: b"madrigal.numbers".to_vec().into(),
        value: vec![0xff].into(),
    });
    let odd = read(messages.encode_to_vec()).unwrap();
    assert_eq!(odd.note("madrigal.numbers"), None);
}

#[test]
fn parts_of_the_format_that_are_not_supported() {
    let base = Net::new(13).messages();
    let mut functions = base.clone();
    functions.functions.push(Default::default());
    let error = read(functions.encode_to_vec()).unwrap_err();
    assert!(matches!(error, ReadError::Unsupported { .. }), "{error}");
    let mut sparse = base.clone();
    let graph = sparse.graph.as_mut().unwrap();
    graph.sparse_initializer.push(b"\x0a".to_vec().into());
    let error = read(sparse.encode_to_vec()).unwrap_err();
    assert!(matches!(error, ReadError::Malformed(_)), "{error}");
}

#[test]
fn limits_on_files() {
    let file = Net::new(13).input("x", &[1]).output("x").file();
    let limits = Limits {
        bytes: file.len() - 1,
        ..Limits::default()
    };
    let error = Model::read(file, &limits).unwrap_err();
    assert!(matches!(error, ReadError::TooLong { .. }), "{error}");
    // A million empty nodes are two megabytes.
    let graph: Vec<u8> = [0x0a, 0x00].repeat(1 << 20);
    let mut file = vec![0x3a];
    prost::encoding::encode_varint(graph.len() as u64, &mut file);
    file.extend(graph);
    let limits = Limits {
        parts: 1000,
        ..Limits::default()
    };
    let error = Model::read(file, &limits).unwrap_err();
    assert_eq!(error, ReadError::TooManyParts { limit: 1000 });
}

#[test]
fn tensors_of_files() {
    let of = |tensor: proto::Tensor| {
        let net = Net::new(13).tensor(tensor).output("w");
        match only(net.import().unwrap_err()) {
            Problem::Initializer { error } => {
                assert_eq!(error.tensor, "w");
                error.fault
            }
            other => panic!("{other}"),
        }
    };
    let length = |fault| matches!(fault, TensorFault::Length { .. });
    assert!(length(of(floats("w", &[3], &[1.0, 2.0]))));
    assert!(length(of(floats("w", &[1 << 28], &[1.0]))));
    let mut listed = ints("w", &[1, 2, 3]);
    listed.dims = vec![1 << 20, 4];
    assert!(length(of(listed.clone())));
    listed.dims = vec![1 << 40, 1 << 40];
    assert!(matches!(of(listed.clone()), TensorFault::TooLarge { .. }));
    listed.dims = vec![0, 1 << 62, 1 << 62];
    assert!(matches!(of(listed.clone()), TensorFault::TooLarge { .. }));
    listed.dims = vec![-3];
    assert!(matches!(of(listed.clone()), TensorFault::Dimension(_)));
    listed.dims = vec![1; 65];
    assert_eq!(of(listed.clone()), TensorFault::Rank(65));
    listed.dims = vec![3];
    listed.data_type = 8;
    assert_eq!(of(listed.clone()), TensorFault::Element(8));
    listed.data_location = 1;
    assert_eq!(of(listed.clone()), TensorFault::External);
    listed.data_location = 0;
    listed.segment = Some(Default::default());
    assert_eq!(of(listed), TensorFault::Segment);
}

#[test]
fn all_that_is_not_supported_is_told_at_once() {
    let net = Net::new(13)
        .input("x", &[2, 2])
        .node("a = LSTM(x)")
        .node("b = Relu(a)")
        .node("c = NonZero(b)")
        .node("d = Add(x, nothing)")
        .node("e = Softmax(x)")
        .int("axis", 7)
        .output("c")
        .output("d")
        .output("e");
    let error = net.import().unwrap_err();
    let told: Vec<(&str, &str)> = error
        .problems
        .iter()
        .map(|problem| match problem {
            Problem::Node { node, operator, .. } => (&node[..], &operator[..]),
            other => panic!("{other}"),
        })
        .collect();
    let expected = [
        ("node_0", "LSTM"),
        ("node_2", "NonZero"),
        ("node_3", "Add"),
        ("node_4", "Softmax"),
    ];
    assert_eq!(told, expected);
    let text = error.to_string();
    assert!(
        text.contains("4 reasons") && text.contains("LSTM \"node_0\""),
        "{text}"
    );
}

#[test]
fn names() {
    let twice = Net::new(13)
        .input("x", &[1])
        .node("x = Relu(x)")
        .output("x");
    assert!(matches!(fault(&twice), Fault::Redefined { .. }));
    let late = Net::new(13)
        .input("x", &[1])
        .node("y = Relu(z)")
        .node("z = Relu(x)")
        .output("y");
    assert!(matches!(fault(&late), Fault::Undefined { .. }));
    let none = Net::new(13).input("x", &[1]).output("y");
    assert!(matches!(
        only(none.import().unwrap_err()),
        Problem::OutputUndefined { .. }
    ));
    let mut foreign = Net::new(13)
        .input("x", &[1])
        .node("y = Gelu(x)")
        .output("y")
        .messages();
    foreign.graph.as_mut().unwrap().node[0].domain = "com.microsoft".into();
    let model = read(foreign.encode_to_vec()).unwrap();
    let error = model.import(&Options::default()).unwrap_err();
    assert!(error.to_string().contains("com.microsoft"), "{error}");
}

#[test]
fn operands_that_do_not_fit() {
    let net = |text: &str| {
        Net::new(13)
            .input("x", &[2, 3])
            .input("y", &[4, 5])
            .input_of("b", 9, &[2, 3])
            .ints("i", &[9])
            .ints("many", &[1 << 40, 1 << 40])
            .node(text)
            .output("z")
    };
    assert!(matches!(
        fault(&net("z = Add(x, y)")),
        Fault::Broadcast { .. }
    ));
    assert!(matches!(
        fault(&net("z = Add(x, b)")),
        Fault::Elements { .. }
    ));
    assert!(matches!(
        fault(&net("z = And(x, b)")),
        Fault::Element { .. }
    ));
    assert!(matches!(
        fault(&net("z = MatMul(x, y)")),
        Fault::Shape { .. }
    ));
    assert!(matches!(
        fault(&net("z = Gather(x, i)")),
        Fault::Index { .. }
    ));
    assert!(matches!(
        fault(&net("z = Add(x)")),
        Fault::InputMissing { index: 1 }
    ));
    assert!(matches!(
        fault(&net("z = Reshape(x, i)")),
        Fault::Shape { .. }
    ));
    assert!(matches!(
        fault(&net("z = Expand(i, many)")),
        Fault::TooLarge { .. }
    ));
    assert!(matches!(
        fault(&net("z = ConstantOfShape(many)")),
        Fault::TooLarge { .. }
    ));
    assert!(matches!(
        fault(&net("z = Concat(x, y)")),
        Fault::AttributeMissing { .. }
    ));
    assert!(matches!(
        fault(&net("z = Softmax(x)").text("axis", "1")),
        Fault::AttributeType { .. }
    ));
    let second = net("z w = Relu(x)").output("w");
    assert!(matches!(fault(&second), Fault::Output { .. }));
}

#[test]
fn shapes_must_be_known() {
    let net = Net::new(13)
        .input("x", &[2, 3])
        .input_of("shape", 7, &[1])
        .node("t = Add(shape, shape)")
        .node("y = Reshape(x, t)")
        .output("y");
    let Fault::NotConstant { inputs, .. } = fault(&net) else {
        panic!()
    };
    assert_eq!(inputs, ["shape"]);
    let mut options = Options::default();
    let three = Tensor::i64(vec![1], vec![3]).unwrap();
    options.constants.insert("shape".into(), three);
    let graph = net.import_with(&options).unwrap();
    assert_eq!(graph.inputs().len(), 1);
    assert_eq!(graph.value(graph.outputs()[0].1).ty.shape, [6]);
}

#[test]
fn dimensions_must_be_known() {
    let net = Net::new(13)
        .input("x", &[-1, 3])
        .node("y = Relu(x)")
        .output("y");
    let problem = only(net.import().unwrap_err());
    let Problem::Dimension { input, axis, name } = problem else {
        panic!("{problem}")
    };
    assert_eq!((&input[..], axis, &name[..]), ("x", 0, "N"));
    let shape = |options: &Options| {
        let graph = net.import_with(options).unwrap();
        graph.value(graph.outputs()[0].1).ty.shape.clone()
    };
    assert_eq!(shape(&Options::batch(7)), [7, 3]);
    let mut options = Options::default();
    options.dimensions.insert("N".into(), 5);
    assert_eq!(shape(&options), [5, 3]);
    options.shapes.insert("x".into(), vec![4, 8]);
    assert_eq!(shape(&options), [4, 8]);
    options.shapes.insert("x".into(), vec![4]);
    let problem = only(net.import_with(&options).unwrap_err());
    assert!(matches!(problem, Problem::Given { .. }), "{problem}");
    options.shapes.clear();
    options.shapes.insert("nobody".into(), vec![4]);
    let problem = only(net.import_with(&options).unwrap_err());
    assert!(matches!(problem, Problem::NoSuchInput { .. }), "{problem}");
}

/// A model whose exporter wrote the size of the batch that it saw says so, not what that does to a shape.
#[test]
fn a_model_for_one_input_says_so() {
    let reshaped = |to: &[i64]| {
        Net::new(13)
            .input("x", &[1, 3, 4])
            .ints("t", to)
            .node("y = Reshape(x, t)")
            .output("y")
    };
    let net = reshaped(&[1, 12]);
    net.import_with(&Options::batch(1)).unwrap();
    let problem = only(net.import_with(&Options::batch(5)).unwrap_err());
    let Problem::OneAtATime { batch, node } = &problem else {
        panic!("{problem}")
    };
    assert_eq!((*batch, &node[..]), (5, "node_0"));
    let text = problem.to_string();
    assert!(text.contains("one input at a time"), "{text}");
    // A fault that one input has, too, is told as it is.
    for batch in [1, 5] {
        let wrong = reshaped(&[1, 5]).import_with(&Options::batch(batch));
        let problem = only(wrong.unwrap_err());
        assert!(matches!(problem, Problem::Node { .. }), "{problem}");
    }
    // With the size left open it takes any.
    reshaped(&[-1, 12]).import_with(&Options::batch(5)).unwrap();
}

/// A batch whose tensors are too large is told as that: a smaller one mends it, whatever the model was exported for.
#[test]
fn a_batch_that_is_too_large_says_so() {
    let net = Net::new(13)
        .input("x", &[1, 2])
        .constant("w", &[2, 100], &[0.5; 200])
        .node("y = MatMul(x, w)")
        .output("y");
    let limits = Limits {
        elements: 500,
        ..Limits::default()
    };
    let import = |batch| {
        let model = Model::read(net.file(), &limits).unwrap();
        model.import(&Options::batch(batch))
    };
    import(1).unwrap();
    let problem = only(import(6).unwrap_err());
    let Problem::Node { fault, .. } = &problem else {
        panic!("{problem}")
    };
    assert!(matches!(fault, Fault::TooLarge { .. }), "{problem}");
}

/// Constants may not take more time or memory than allowed, however few bytes ask for them.
#[test]
fn constants_are_bounded() {
    let mut net = Net::new(13).constant("w0", &[64, 64], &[0.5; 4096]);
    for step in 0..40 {
        net = net.node(&format!("w{} = MatMul(w{step}, w{step})", step + 1));
    }
    let file = net.output("w40").file();
    let limits = Limits {
        work: 64 * 64 * 64 * 30,
        ..Limits::default()
    };
    let import = |limits| {
        Model::read(file.clone(), &limits)
            .unwrap()
            .import(&Options::default())
    };
    let text = import(limits).unwrap_err().to_string();
    assert!(
        text.contains("multiplications") && text.contains("node_30"),
        "{text}"
    );
    let limits = Limits {
        elements: 64 * 64 * 10,
        ..Limits::default()
    };
    let text = import(limits).unwrap_err().to_string();
    assert!(
        text.contains("elements") && text.contains("node_10"),
        "{text}"
    );
    assert!(import(Limits::default()).is_ok());
}

/// Exporters keep large weights in a file of their own.
#[test]
fn data_beside_the_model() {
    let folder = tempfile::tempdir().unwrap();
    let values: Vec<u8> = [9.0f32, 1.0, 2.0]
        .iter()
        .flat_map(|v| v.to_le_bytes())
        .collect();
    std::fs::write(folder.path().join("weights"), &values).unwrap();
    let path = folder.path().join("model.onnx");
    let of = |entries: &[(&str, &str)]| {
        let mut weights = floats("w", &[2], &[]);
        weights.data_location = 1;
        weights.external_data = entries
            .iter()
            .map(|(key, value)| proto::Entry {
                key: key.to_string(),
                value: value.to_string(),
            })
            .collect();
        let net = Net::new(13)
            .input("x", &[2])
            .tensor(weights)
            .node("y = Add(x, w)");
        std::fs::write(&path, net.output("y").file()).unwrap();
        Model::read_beside(
            std::fs::read(&path).unwrap(),
            folder.path(),
            &Limits::default(),
        )
    };
    // Location as some exporters write it.
    of(&[("location", "./weights"), ("offset", "4"), ("length", "8")]).unwrap();
    let model = of(&[("location", "weights"), ("offset", "4"), ("length", "8")]).unwrap();
    let graph = model.import(&Options::default()).unwrap();
    let x = Tensor::f32(vec![2], vec![10.0, 20.0]).unwrap();
    assert_eq!(
        graph.evaluate(&[x]).unwrap()[0].as_f32().unwrap(),
        [11.0, 22.0]
    );
    for place in [
        "/etc/passwd",
        "../weights",
        "..",
        "",
        "./../weights",
        ".//weights",
        "weights/",
    ] {
        let error = of(&[("location", place)]).unwrap_err();
        assert!(
            matches!(error, ReadError::External { .. }),
            "{place}: {error}"
        );
    }
    for (offset, length) in [
        ("4", "9"),
        ("13", "0"),
        ("-1", "4"),
        ("18446744073709551615", "8"),
    ] {
        let error = of(&[
            ("location", "weights"),
            ("offset", offset),
            ("length", length),
        ]);
        assert!(
            matches!(error, Err(ReadError::External { .. })),
            "{offset} {length}"
        );
    }
    let error = of(&[("location", "nowhere")]).unwrap_err();
    assert!(matches!(error, ReadError::Unreadable { .. }), "{error}");
    // The whole file is too much for the tensor.
    let error = of(&[("location", "weights")])
        .unwrap()
        .import(&Options::default());
    assert!(matches!(
        only(error.unwrap_err()),
        Problem::Initializer { .. }
    ));
    // Tensors that name the same bytes again and again.
    let mut net = Net::new(13).input("x", &[2]);
    for at in 0..40 {
        let mut weights = floats(&format!("w{at}"), &[2], &[]);
        weights.data_location = 1;
        weights.external_data = vec![proto::Entry {
            key: "location".into(),
            value: "weights".into(),
        }];
        net = net.tensor(weights);
    }
    let file = net.node("y = Relu(x)").output("y").file();
    let limits = Limits {
        bytes: file.len() + 400,
        ..Limits::default()
    };
    let error = Model::read_beside(file, folder.path(), &limits).unwrap_err();
    assert!(error.to_string().contains("too large"), "{error}");
    let limits = Limits {
        bytes: std::fs::metadata(&path).unwrap().len() as usize + 11,
        ..Limits::default()
    };
    let file = std::fs::read(&path).unwrap();
    let error = Model::read_beside(file, folder.path(), &limits).unwrap_err();
    assert!(matches!(error, ReadError::TooLong { .. }), "{error}");
}
