//! Writes well-known networks as ONNX files, with random weights and a random input: to measure what they take where no
//! trained ones are at hand.
//!
//! ```sh
//! cargo run --release -p madrigal-nn --example zoo -- resnet50 zoo
//! cargo run --release -p madrigal-cli -- infer --model zoo/resnet50.onnx --input zoo/resnet50.npy --local 3
//! ```
//!
//! The second argument is the folder. Beside the model and the input it writes `NAME-expected.npy`, what the model
//! computes of it in the clear. Weights are drawn so that numbers neither vanish nor grow with the depth; normalisations
//! are taken to be folded into convolutions, as exporters do. Everything follows from a fixed seed.

#![allow(clippy::print_stderr, reason = "a program for the terminal")]

use std::path::Path;
use std::process::ExitCode;

use madrigal_nn::{Limits, Model, Options, Tensor, npy, proto};
use prost::Message as _;

type Failure = Box<dyn std::error::Error>;

const NAMES: [&str; 6] = [
    "cryptonets",
    "minionn-mnist",
    "minionn-cifar10",
    "squeezenet",
    "resnet50",
    "bert-tiny",
];

fn main() -> ExitCode {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let [name, folder] = &arguments[..] else {
        eprintln!(
            "zoo: name a network and a folder: zoo {} zoo",
            NAMES.join("|")
        );
        return ExitCode::FAILURE;
    };
    match write(name, Path::new(folder)) {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("zoo: {error}");
            ExitCode::FAILURE
        }
    }
}

fn write(name: &str, folder: &Path) -> Result<(), Failure> {
    let (net, shape) = match name {
        "cryptonets" => cryptonets(),
        "minionn-mnist" => minionn_mnist(),
        "minionn-cifar10" => minionn_cifar10(),
        "squeezenet" => squeezenet(),
        "resnet50" => resnet50(),
        "bert-tiny" => transformer(),
        other => return Err(format!("{other}: there are {}", NAMES.join(", ")).into()),
    };
    std::fs::create_dir_all(folder)?;
    let file = net.file("y", &shape);
    let mut random = Random(7);
    let count = shape.iter().product();
    let values = (0..count).map(|_| random.normal()).collect();
    let input = Tensor::f32(shape, values)?;
    let graph = Model::read(file.clone(), &Limits::default())?.import(&Options::default())?;
    let expected = graph.evaluate(std::slice::from_ref(&input))?;
    let put = |end: &str, bytes: &[u8]| std::fs::write(folder.join(format!("{name}{end}")), bytes);
    put(".onnx", &file)?;
    put(".npy", &npy::write(&input))?;
    put("-expected.npy", &npy::write(&expected[0]))?;
    Ok(())
}

/// SplitMix64 (Steele, Lea and Flood, 2014).
struct Random(u64);

impl Random {
    /// Draws a number from 0 to 1.
    fn uniform(&mut self) -> f64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut z = self.0;
        z = (z ^ z >> 30).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        z = (z ^ z >> 27).wrapping_mul(0x94d0_49bb_1331_11eb);
        ((z ^ z >> 31) >> 11) as f64 / (1_u64 << 53) as f64
    }

    /// Draws a number of mean 0 and variance 1: near enough to normal (Irwin-Hall).
    fn normal(&mut self) -> f32 {
        ((0..12).map(|_| self.uniform()).sum::<f64>() - 6.0) as f32
    }
}

/// A network that grows; values go by names.
struct Net {
    graph: proto::Graph,
    random: Random,
}

impl Net {
    fn new() -> Self {
        Self {
            graph: proto::Graph::default(),
            random: Random(1),
        }
    }

    /// Random weights of this standard deviation.
    fn weights(&mut self, shape: &[usize], deviation: f64) -> String {
        let name = format!("w{}", self.graph.initializer.len());
        let count: usize = shape.iter().product();
        let values = (0..count).map(|_| self.random.normal() * deviation as f32);
        self.graph.initializer.push(proto::Tensor {
            name: name.clone(),
            dims: shape.iter().map(|&size| size as i64).collect(),
            data_type: 1,
            raw_data: values.flat_map(f32::to_le_bytes).collect(),
            ..Default::default()
        });
        name
    }

    fn number(&mut self, value: f32) -> String {
        let name = format!("w{}", self.graph.initializer.len());
        self.graph.initializer.push(proto::Tensor {
            name: name.clone(),
            data_type: 1,
            raw_data: value.to_le_bytes().to_vec().into(),
            ..Default::default()
        });
        name
    }

    fn node(&mut self, operator: &str, inputs: &[&str], attributes: &[(&str, &[i64])]) -> String {
        let output = format!("v{}", self.graph.node.len());
        let attribute = |&(name, ints): &(&str, &[i64])| match ints {
            [i] if ["axis", "group", "keepdims"].contains(&name) => proto::Attribute {
                name: name.into(),
                r#type: 2,
                i: *i,
                ..Default::default()
            },
            ints => proto::Attribute {
                name: name.into(),
                r#type: 7,
                ints: ints.to_vec(),
                ..Default::default()
            },
        };
        self.graph.node.push(proto::Node {
            name: format!("/{operator}_{}", self.graph.node.len()),
            op_type: operator.into(),
            input: inputs.iter().map(|&name| name.into()).collect(),
            output: vec![output.clone()],
            attribute: attributes.iter().map(attribute).collect(),
            ..Default::default()
        });
        output
    }

    /// A convolution of k x k with a bias, whose results have about `gain` times the variance of what they see.
    fn conv(
        &mut self,
        x: &str,
        [channels, filters]: [usize; 2],
        [k, stride, pad]: [usize; 3],
        gain: f64,
    ) -> String {
        let deviation = (gain / (channels * k * k) as f64).sqrt();
        let w = self.weights(&[filters, channels, k, k], deviation);
        let b = self.weights(&[filters], 0.05);
        let [k, s, p] = [k, stride, pad].map(|size| size as i64);
        let attributes: [(&str, &[i64]); 3] = [
            ("kernel_shape", &[k, k]),
            ("strides", &[s, s]),
            ("pads", &[p, p, p, p]),
        ];
        self.node("Conv", &[x, &w, &b], &attributes)
    }

    fn relu(&mut self, x: &str) -> String {
        self.node("Relu", &[x], &[])
    }

    /// Adds an average pool of 2 x 2.
    fn average_pool(&mut self, x: &str) -> String {
        let attributes: [(&str, &[i64]); 2] = [("kernel_shape", &[2, 2]), ("strides", &[2, 2])];
        self.node("AveragePool", &[x], &attributes)
    }

    fn flatten(&mut self, x: &str) -> String {
        self.node("Flatten", &[x], &[("axis", &[1])])
    }

    fn max_pool(&mut self, x: &str, k: i64, stride: i64, pad: i64) -> String {
        let attributes: [(&str, &[i64]); 3] = [
            ("kernel_shape", &[k, k]),
            ("strides", &[stride, stride]),
            ("pads", &[pad, pad, pad, pad]),
        ];
        self.node("MaxPool", &[x], &attributes)
    }

    /// `x w + b`
    fn linear(&mut self, x: &str, [inner, columns]: [usize; 2], gain: f64) -> String {
        let w = self.weights(&[inner, columns], (gain / inner as f64).sqrt());
        let b = self.weights(&[columns], 0.05);
        let product = self.node("MatMul", &[x, &w], &[]);
        self.node("Add", &[&product, &b], &[])
    }

    /// The file, whose output is the last node's result.
    fn file(mut self, output: &str, shape: &[usize]) -> Vec<u8> {
        if let Some(last) = self.graph.node.last_mut() {
            last.output = vec![output.into()];
        }
        let dim = |&size: &usize| proto::Dimension {
            value: Some(proto::dimension::Value::DimValue(size as i64)),
        };
        let tensor = proto::TensorType {
            elem_type: 1,
            shape: Some(proto::Shape {
                dim: shape.iter().map(dim).collect(),
            }),
        };
        let value = Some(proto::r#type::Value::TensorType(tensor));
        self.graph.input.push(proto::ValueInfo {
            name: "x".into(),
            r#type: Some(proto::Type { value }),
        });
        self.graph.output.push(proto::ValueInfo {
            name: output.into(),
            r#type: None,
        });
        proto::Model {
            ir_version: 8,
            producer_name: "madrigal zoo".into(),
            graph: Some(self.graph),
            opset_import: vec![proto::OperatorSet {
                version: 17,
                ..Default::default()
            }],
            ..Default::default()
        }
        .encode_to_vec()
    }
}

/// CryptoNets (Dowlin et al., 2016) with ReLU, for images of 28 x 28.
fn cryptonets() -> (Net, Vec<usize>) {
    let mut net = Net::new();
    let x = net.conv("x", [1, 5], [5, 2, 1], 2.0);
    let x = net.relu(&x);
    let x = net.flatten(&x);
    let x = net.linear(&x, [845, 100], 2.0);
    let x = net.relu(&x);
    net.linear(&x, [100, 10], 2.0);
    (net, vec![1, 1, 28, 28])
}

/// MiniONN's network for MNIST (Liu et al., 2017).
fn minionn_mnist() -> (Net, Vec<usize>) {
    let mut net = Net::new();
    let mut x = "x".to_owned();
    for channels in [1, 16] {
        x = net.conv(&x, [channels, 16], [5, 1, 0], 2.0);
        x = net.relu(&x);
        x = net.max_pool(&x, 2, 2, 0);
    }
    let x = net.flatten(&x);
    let x = net.linear(&x, [256, 100], 2.0);
    let x = net.relu(&x);
    net.linear(&x, [100, 10], 2.0);
    (net, vec![1, 1, 28, 28])
}

/// MiniONN's network for CIFAR-10 (Liu et al., 2017).
fn minionn_cifar10() -> (Net, Vec<usize>) {
    let mut net = Net::new();
    let mut x = "x".to_owned();
    let layers = [
        ([3, 64], 3, false),
        ([64, 64], 3, true),
        ([64, 64], 3, false),
        ([64, 64], 3, true),
        ([64, 64], 3, false),
        ([64, 64], 1, false),
        ([64, 16], 1, false),
    ];
    for (channels, k, pooled) in layers {
        x = net.conv(&x, channels, [k, 1, k / 2], 2.0);
        x = net.relu(&x);
        if pooled {
            x = net.average_pool(&x);
        }
    }
    let x = net.flatten(&x);
    net.linear(&x, [1024, 10], 2.0);
    (net, vec![1, 3, 32, 32])
}

/// SqueezeNet 1.1 (Iandola et al., 2016), 224 x 224.
fn squeezenet() -> (Net, Vec<usize>) {
    let mut net = Net::new();
    let x = net.conv("x", [3, 64], [3, 2, 0], 2.0);
    let x = net.relu(&x);
    let mut x = net.max_pool(&x, 3, 2, 0);
    let fires = [
        [64, 16, 64],
        [128, 16, 64],
        [128, 32, 128],
        [256, 32, 128],
        [256, 48, 192],
        [384, 48, 192],
        [384, 64, 256],
        [512, 64, 256],
    ];
    for (at, [channels, squeezed, expanded]) in fires.into_iter().enumerate() {
        if at == 2 || at == 4 {
            x = net.max_pool(&x, 3, 2, 0);
        }
        let s = net.conv(&x, [channels, squeezed], [1, 1, 0], 2.0);
        let s = net.relu(&s);
        let one = net.conv(&s, [squeezed, expanded], [1, 1, 0], 2.0);
        let one = net.relu(&one);
        let three = net.conv(&s, [squeezed, expanded], [3, 1, 1], 2.0);
        let three = net.relu(&three);
        x = net.node("Concat", &[&one, &three], &[("axis", &[1])]);
    }
    let x = net.conv(&x, [512, 1000], [1, 1, 0], 2.0);
    let x = net.relu(&x);
    let x = net.node("GlobalAveragePool", &[&x], &[]);
    net.node("Flatten", &[&x], &[("axis", &[1])]);
    (net, vec![1, 3, 224, 224])
}

/// ResNet-50 (He et al., 2015; strides in the 3 x 3 convolutions), 224 x 224.
fn resnet50() -> (Net, Vec<usize>) {
    let mut net = Net::new();
    let x = net.conv("x", [3, 64], [7, 2, 3], 2.0);
    let x = net.relu(&x);
    let mut x = net.max_pool(&x, 3, 2, 1);
    let mut channels = 64;
    for (stage, blocks) in [3, 4, 6, 3].into_iter().enumerate() {
        let width = 64 << stage;
        for block in 0..blocks {
            let stride = if block == 0 && stage > 0 { 2 } else { 1 };
            let y = net.conv(&x, [channels, width], [1, 1, 0], 2.0);
            let y = net.relu(&y);
            let y = net.conv(&y, [width, width], [3, stride, 1], 2.0);
            let y = net.relu(&y);
            let y = net.conv(&y, [width, 4 * width], [1, 1, 0], 0.1);
            if block == 0 {
                x = net.conv(&x, [channels, 4 * width], [1, stride, 0], 1.0);
            }
            let sum = net.node("Add", &[&y, &x], &[]);
            x = net.relu(&sum);
            channels = 4 * width;
        }
    }
    let x = net.node("GlobalAveragePool", &[&x], &[]);
    let x = net.node("Flatten", &[&x], &[("axis", &[1])]);
    net.linear(&x, [2048, 1000], 1.0);
    (net, vec![1, 3, 224, 224])
}

/// Two layers of an encoder, hidden size 128, two heads, 32 tokens that are embedded already (Turc et al., 2019).
fn transformer() -> (Net, Vec<usize>) {
    const TOKENS: i64 = 32;
    const HIDDEN: usize = 128;
    const HEADS: i64 = 2;
    let mut net = Net::new();
    let mut x = "x".to_owned();
    let each = HIDDEN as i64 / HEADS;
    let ints = |net: &mut Net, values: &[i64]| {
        let name = format!("w{}", net.graph.initializer.len());
        net.graph.initializer.push(proto::Tensor {
            name: name.clone(),
            dims: vec![values.len() as i64],
            data_type: 7,
            int64_data: values.to_vec(),
            ..Default::default()
        });
        name
    };
    for _ in 0..2 {
        let split = ints(&mut net, &[1, TOKENS, HEADS, each]);
        let whole = ints(&mut net, &[1, TOKENS, HIDDEN as i64]);
        let mut heads = Vec::new();
        for order in [[0, 2, 1, 3], [0, 2, 3, 1], [0, 2, 1, 3]] {
            let y = net.linear(&x, [HIDDEN, HIDDEN], 1.0);
            let y = net.node("Reshape", &[&y, &split], &[]);
            heads.push(net.node("Transpose", &[&y], &[("perm", &order)]));
        }
        let scale = net.number(1.0 / (each as f32).sqrt());
        let scores = net.node("MatMul", &[&heads[0], &heads[1]], &[]);
        let scores = net.node("Mul", &[&scores, &scale], &[]);
        let shares = net.node("Softmax", &[&scores], &[("axis", &[-1])]);
        let mixed = net.node("MatMul", &[&shares, &heads[2]], &[]);
        let mixed = net.node("Transpose", &[&mixed], &[("perm", &[0, 2, 1, 3])]);
        let mixed = net.node("Reshape", &[&mixed, &whole], &[]);
        let mixed = net.linear(&mixed, [HIDDEN, HIDDEN], 1.0);
        x = normalised(&mut net, &x, &mixed, HIDDEN);
        let wide = net.linear(&x, [HIDDEN, 4 * HIDDEN], 1.0);
        // GELU, as exporters before operator set 20 write it.
        let root = net.number(std::f32::consts::SQRT_2);
        let [one, half] = [1.0, 0.5].map(|value| net.number(value));
        let y = net.node("Div", &[&wide, &root], &[]);
        let y = net.node("Erf", &[&y], &[]);
        let y = net.node("Add", &[&y, &one], &[]);
        let y = net.node("Mul", &[&wide, &y], &[]);
        let y = net.node("Mul", &[&y, &half], &[]);
        let y = net.linear(&y, [4 * HIDDEN, HIDDEN], 1.0);
        x = normalised(&mut net, &x, &y, HIDDEN);
    }
    (net, vec![1, TOKENS as usize, HIDDEN])
}

/// The normalised sum of two values.
fn normalised(net: &mut Net, x: &str, y: &str, hidden: usize) -> String {
    let sum = net.node("Add", &[x, y], &[]);
    let [w, b] = [1.0, 0.05].map(|deviation| net.weights(&[hidden], deviation));
    net.node("LayerNormalization", &[&sum, &w, &b], &[("axis", &[-1])])
}
