//! Models handed over without their weights: nothing of what was trained is left in the file, whatever it was stored as.
//!
//! Before, only floats of several numbers in initializers and in attributes of one kind were made 0, so that weights
//! stored as anything else were handed over, and the report of a run denied it.

use madrigal_core::Party;
use madrigal_nn::{Graph, Limits, Model, Options, StripError, Stripped, Tensor, proto};
use madrigal_program::Inputs;
use madrigal_program::lower::Mix;
use prost::Message as _;

use crate::common::{Net, floats, ints};
use crate::secret::{close, given, lowered, roles};

/// Bytes that only what was trained has in this order.
const MARK: [u8; 4] = [0x5e, 0x42, 0x67, 0x71];

/// A float of moderate size that has three bytes of the mark.
fn marked() -> f32 {
    f32::from_le_bytes([0x5e, 0x42, 0x67, 0x3f])
}

fn read(file: &[u8]) -> Model {
    Model::read(file.to_vec(), &Limits::default()).unwrap()
}

fn stripped(file: &[u8]) -> Stripped {
    match read(file).without_weights(&Options::default()) {
        Ok(stripped) => stripped,
        Err(error) => panic!("{error}"),
    }
}

fn found(file: &[u8], bytes: &[u8]) -> bool {
    file.windows(bytes.len()).any(|window| window == bytes)
}

/// A tensor of ONNX's element type `code` with these bytes.
fn raw(name: &str, code: i32, shape: &[i64], bytes: &[u8]) -> proto::Tensor {
    proto::Tensor {
        name: name.into(),
        dims: shape.to_vec(),
        data_type: code,
        raw_data: bytes.to_vec().into(),
        ..Default::default()
    }
}

fn of_x() -> Net {
    Net::new(18).input("x", &[2, 4])
}

/// The model on random data, alone from its file.
fn alone(graph: &Graph) -> Vec<Tensor> {
    let x = Tensor::f32(vec![2, 4], (1..9).map(|v| v as f32 / 4.0).collect()).unwrap();
    graph.evaluate(&[x]).unwrap()
}

/// Nothing of the mark is left; who has the stripped file alone gets another result; and together with the owner, who
/// has the whole one, the same as in the clear.
#[track_caller]
fn hides(what: &str, file: &[u8], marks: &[&[u8]]) {
    for mark in marks {
        assert!(found(file, mark), "{what}: the test is wrong");
    }
    let bare = stripped(file);
    for mark in marks {
        assert!(!found(&bare.file, mark), "{what}: {mark:?} is in it");
    }
    let whole = read(file).import(&Options::default()).unwrap();
    let other = read(&bare.file).import(&Options::default()).unwrap();
    assert!(whole.trained() > 0, "{what}");
    assert_eq!(other.trained(), 0, "{what}");
    let expected = alone(&whole);
    assert_ne!(alone(&other), expected, "{what}");
    let roles = roles(2);
    let (owner, guest) = (lowered(&whole, &roles), lowered(&other, &roles));
    let plan = |network: &madrigal_nn::secret::Network| {
        let planned = network.program().plan(Mix::usual(2)[0], None, &|_| {});
        planned.unwrap()
    };
    let planned = plan(&guest);
    // Facts that the parties compare before they begin.
    let facts = |planned: &madrigal_program::Planned| format!("{:?}", planned.plan.facts());
    assert_eq!(facts(&planned), facts(&plan(&owner)), "{what}");
    let x = Tensor::f32(vec![2, 4], (1..9).map(|v| v as f32 / 4.0).collect()).unwrap();
    let inputs = given(&owner, &whole, &[x]);
    let ended = planned.run_locally(guest.program(), &inputs).unwrap();
    let results = guest.results(&ended[1].outputs);
    let results: Vec<Tensor> = results.into_iter().map(|(_, one)| one.unwrap()).collect();
    close(&results, &expected, 0.05, what);
}

#[test]
fn strip_hides_weights_of_every_form() {
    let value = marked();
    let bytes = value.to_le_bytes();
    let ones = [1.0f32; 8];
    let w8 = [value, 0.5, value, -1.0, 0.25, value, 2.0, 0.75];
    let linear = |net: Net| net.node("y = MatMul(x, w)").output("y").file();
    // Signed bytes with a scale and a zero point, for each column.
    let int8 = of_x()
        .tensor(raw("q", 3, &[4, 2], &[MARK, MARK].concat()))
        .constant("scale", &[2], &[value / 64.0, 0.01])
        .tensor(raw("zero", 3, &[2], &[0x21, 0x12]))
        .node("w = DequantizeLinear(q, scale, zero)")
        .int("axis", 1)
        .node("y = MatMul(x, w)")
        .output("y");
    hides("int8", &int8.file(), &[&MARK, &[0x21, 0x12]]);
    // One scale for all: it is a number without dimensions, and of the weights alone.
    let one_scale = of_x()
        .tensor(raw("q", 2, &[4, 2], &[MARK, MARK].concat()))
        .constant("scale", &[], &[value / 64.0])
        .node("w = DequantizeLinear(q, scale)")
        .node("y = MatMul(x, w)")
        .output("y");
    let scale = (value / 64.0).to_le_bytes();
    hides("uint8", &one_scale.file(), &[&MARK, &scale]);
    // Integers that become floats.
    let integers = of_x()
        .tensor(proto::Tensor {
            dims: vec![4, 2],
            ..ints("q", &[0x5e, 0x42, 0x67, 0x71, 1, 2, 3, 4])
        })
        .node("f = Cast(q)")
        .int("to", 1)
        .constant("s", &[1], &[0.01])
        .node("w = Mul(f, s)");
    hides("integers", &linear(integers), &[&MARK]);
    // A list of floats in an attribute, and a tensor in one.
    let list = proto::Attribute {
        name: "value_floats".into(),
        r#type: 6,
        floats: w8.to_vec(),
        ..Default::default()
    };
    let mut file = of_x()
        .node("v = Constant()")
        .ints("shape", &[4, 2])
        .node("w = Reshape(v, shape)")
        .node("y = MatMul(x, w)")
        .output("y")
        .messages();
    let node = &mut file.graph.as_mut().unwrap().node[0];
    node.input.clear();
    node.attribute.push(list);
    hides("value_floats", &file.encode_to_vec(), &[&bytes]);
    let node = &mut file.graph.as_mut().unwrap().node[0];
    node.attribute[0] = proto::Attribute {
        name: "value".into(),
        r#type: 4,
        t: Some(floats("t", &[8], &w8)),
        ..Default::default()
    };
    hides("value", &file.encode_to_vec(), &[&bytes]);
    // Floats of two bytes, as integers.
    let halves = of_x().tensor(proto::Tensor {
        name: "h".into(),
        dims: vec![4, 2],
        data_type: 10,
        int32_data: vec![0x395e; 8],
        ..Default::default()
    });
    let halves = halves.node("w = Cast(h)").int("to", 1);
    hides("halves", &linear(halves), &[&[0xde, 0x72, 0xde, 0x72]]);
    // One output, so its bias is a single number, and its slope another one.
    let single = of_x()
        .constant("w", &[4, 1], &ones[..4])
        .constant("b", &[1], &[value])
        .constant("slope", &[1], &[value / 4.0])
        .node("m = MatMul(x, w)")
        .node("a = Add(m, b)")
        .node("n = Neg(a)")
        .node("y = PRelu(n, slope)")
        .output("y");
    let slope = (value / 4.0).to_le_bytes();
    hides("a bias of one output", &single.file(), &[&bytes, &slope]);
    // A divisor of one number.
    let divided = of_x()
        .constant("d", &[1], &[value])
        .node("y = Div(x, d)")
        .output("y");
    hides("a divisor", &divided.file(), &[&bytes]);
    // A tensor that is a mask only after a comparison of weights.
    let mask = of_x()
        .constant("w", &[4], &[value, -value, value, -value])
        .constant("zero", &[], &[0.0])
        .node("m = Greater(w, zero)")
        .node("y = Where(m, x, zero)")
        .output("y");
    hides("a mask", &mask.file(), &[&bytes]);
    // A normalisation that joins the product before it.
    let mut normalised = of_x().constant("w", &[4, 2], &w8);
    for name in ["scale", "bias", "mean", "variance"] {
        normalised = normalised.constant(name, &[2], &[value, 0.5]);
    }
    let normalised = normalised
        .node("m = MatMul(x, w)")
        .node("y = BatchNormalization(m, scale, bias, mean, variance)")
        .output("y");
    hides("a normalisation", &normalised.file(), &[&bytes]);
}

/// Parts beside the weights: fields of other types, tensors of types that are not supported, nodes that serve no output,
/// attributes that nobody reads, texts, and what a later version of the format may have.
#[test]
fn strip_drops_what_nobody_reads() {
    let weights = [0.5f32; 8];
    let secret = &MARK[..];
    let mut net = of_x()
        .constant("w", &[4, 2], &weights)
        .constant("unread", &[4, 2], &[marked(); 8])
        .node("y = MatMul(x, w)")
        .node("z = If(x)")
        .output("y")
        .messages();
    net.producer_version = String::from_utf8(secret.to_vec()).unwrap();
    net.metadata_props.push(proto::Property {
        key: b"author".to_vec().into(),
        value: secret.to_vec().into(),
    });
    net.training_info.push(secret.to_vec().into());
    let graph = net.graph.as_mut().unwrap();
    graph.name = String::from_utf8(secret.to_vec()).unwrap();
    let mut also = graph.initializer[0].clone();
    also.int64_data = MARK.map(i64::from).to_vec();
    also.float_data = vec![marked()];
    also.double_data = vec![f64::from_le_bytes(
        [MARK, MARK].concat().try_into().unwrap(),
    )];
    also.int32_data = MARK.map(i32::from).to_vec();
    also.uint64_data = MARK.map(u64::from).to_vec();
    graph.initializer[0] = also;
    // A sparse one: its values are a tensor.
    let sparse = raw("sparse", 3, &[4], secret).encode_to_vec();
    graph
        .sparse_initializer
        .push([&[0x0a, sparse.len() as u8][..], &sparse].concat().into());
    // Complex numbers, and floats of eight bits.
    for (name, code) in [("complex", 14), ("eight", 17)] {
        graph.initializer.push(raw(name, code, &[1], secret));
    }
    let attribute = |name: &str| proto::Attribute {
        name: name.into(),
        r#type: 1,
        f: marked(),
        s: secret.to_vec().into(),
        g: Some(secret.to_vec().into()),
        t: Some(raw("t", 3, &[4], secret)),
        floats: vec![marked()],
        ints: MARK.map(i64::from).to_vec(),
        strings: vec![secret.to_vec().into()],
        sparse_tensor: Some(secret.to_vec().into()),
        ..Default::default()
    };
    graph.node[0]
        .attribute
        .push(attribute("of_another_operator"));
    // A body of a branch that serves no output.
    graph.node[1].attribute.push(attribute("then_branch"));
    let mut file = net.encode_to_vec();
    // A description (field 6), and a field that is not known.
    for field in [6u64 << 3 | 2, 99 << 3 | 2] {
        prost::encoding::encode_varint(field, &mut file);
        file.extend([&[4], secret].concat());
    }
    let model = read(&file);
    let bare = model.without_weights(&Options::default()).unwrap();
    assert!(!found(&bare.file, secret));
    assert!(!found(&bare.file, &marked().to_le_bytes()));
    for name in [
        "unread",
        "complex",
        "eight",
        "of_another_operator",
        "then_branch",
    ] {
        assert!(found(&file, name.as_bytes()), "{name}");
        assert!(!found(&bare.file, name.as_bytes()), "{name}");
    }
}

/// Numbers that the architecture needs stay, and are told: nothing else does.
#[test]
fn strip_tells_what_stays_readable() {
    let net = of_x()
        .constant("w", &[4, 2], &[0.5; 8])
        .constant("half", &[], &[0.5])
        .constant("low", &[1], &[-1.0])
        .ints("shape", &[4, 1])
        .node("m = MatMul(x, w)")
        .node("h = Mul(m, half)")
        .node("c = Clip(h, low)")
        .node("r = LeakyRelu(c)")
        .float("alpha", 0.25)
        .node("y = Reshape(r, shape)")
        .output("y");
    let bare = stripped(&net.file());
    let told: Vec<(&str, &str, u64)> = (bare.readable.iter())
        .map(|one| (&one.name[..], &one.kind[..], one.count))
        .collect();
    // The factor joins the weights, and is no more to be read than they are.
    let expected = [
        ("low", "float32 [1]", 1),
        ("shape", "int64 [2]", 2),
        ("r, alpha", "attribute: float", 1),
    ];
    assert_eq!(told, expected);
    assert_eq!((bare.tensors, bare.numbers), (2, 9));
}

/// A model of which nobody can say what was trained is not handed over.
#[test]
fn strip_refuses_what_cannot_be_stripped() {
    let refused = |net: &Net| {
        let model = read(&net.file());
        model.without_weights(&Options::default()).unwrap_err()
    };
    let branches = of_x().node("y = If(x)").output("y");
    assert!(matches!(refused(&branches), StripError::Import(_)));
    // Integers that choose places, and are weights too.
    let both = of_x()
        .ints("i", &[0, 1, 2, 3])
        .node("g = Gather(x, i)")
        .int("axis", 1)
        .node("f = Cast(i)")
        .int("to", 1)
        .node("y = Mul(g, f)")
        .output("y");
    let error = refused(&both);
    assert!(
        matches!(&error, StripError::Both { name } if name == "i"),
        "{error}"
    );
    // Weights that are divided by as integers are a fault where they are 0.
    let divided = of_x()
        .ints("n", &[60, 60, 60, 60])
        .ints("d", &[2, 3, 4, 5])
        .node("q = Div(n, d)")
        .node("f = Cast(q)")
        .int("to", 1)
        .node("y = Mul(x, f)")
        .output("y");
    assert!(matches!(refused(&divided), StripError::Import(_)));
}

/// A party that has read weights from its own file is told so, whatever they are stored as.
#[test]
fn a_file_with_weights_counts_them_by_origin() {
    let net = of_x()
        .tensor(raw("q", 3, &[4, 2], &[1, 2, 3, 0, 5, 6, 7, 8]))
        .constant("scale", &[], &[0.5])
        .node("w = DequantizeLinear(q, scale)")
        .node("y = MatMul(x, w)")
        .output("y");
    let graph = net.import().unwrap();
    // Seven integers that are not 0, and their scale.
    assert_eq!(graph.trained(), 8);
    let roles = roles(2);
    let network = lowered(&graph, &roles);
    let shown = network.shown(&graph);
    assert_eq!((shown.to_all, shown.to_owner), (0, 8));
    assert!(network.with_weights(&graph, Inputs::new()).is_ok());
    assert_eq!(roles.model, Party::new(0));
}
