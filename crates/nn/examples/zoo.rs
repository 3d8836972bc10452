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

use madrigal_nn::known::{self, Draft, Network, Random};
use madrigal_nn::{Limits, Model, Options, Tensor, npy, proto};

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
    let network = match name {
        "cryptonets" => known::cryptonets(),
        "minionn-mnist" => known::minionn_mnist(),
        "minionn-cifar10" => known::minionn_cifar10(),
        "squeezenet" => squeezenet(),
        "resnet50" => resnet50(),
        "bert-tiny" => transformer(),
        other => return Err(format!("{other}: there are {}", NAMES.join(", ")).into()),
    };
    std::fs::create_dir_all(folder)?;
    let shape = network.shape().to_vec();
    let file = network.file();
    let mut random = Random::new(7);
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

/// SqueezeNet 1.1 (Iandola et al., 2016), 224 x 224.
fn squeezenet() -> Network {
    let mut net = Draft::new();
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
    Network::new(net, vec![1, 3, 224, 224])
}

/// ResNet-50 (He et al., 2015; strides in the 3 x 3 convolutions), 224 x 224.
fn resnet50() -> Network {
    let mut net = Draft::new();
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
    Network::new(net, vec![1, 3, 224, 224])
}

/// Two layers of an encoder, hidden size 128, two heads, 32 tokens that are embedded already (Turc et al., 2019).
fn transformer() -> Network {
    const TOKENS: i64 = 32;
    const HIDDEN: usize = 128;
    const HEADS: i64 = 2;
    let mut net = Draft::new();
    let mut x = "x".to_owned();
    let each = HIDDEN as i64 / HEADS;
    let ints = |net: &mut Draft, values: &[i64]| {
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
    Network::new(net, vec![1, TOKENS as usize, HIDDEN])
}

/// The normalised sum of two values.
fn normalised(net: &mut Draft, x: &str, y: &str, hidden: usize) -> String {
    let sum = net.node("Add", &[x, y], &[]);
    let [w, b] = [1.0, 0.05].map(|deviation| net.weights(&[hidden], deviation));
    net.node("LayerNormalization", &[&sum, &w, &b], &[("axis", &[-1])])
}
