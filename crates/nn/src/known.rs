//! Networks of papers with random weights, as ONNX files: to measure what they take where no trained ones are at hand.
//!
//! Weights are drawn so that numbers neither vanish nor grow with the depth; everything follows from a fixed seed.

use prost::Message as _;

use crate::proto;

/// SplitMix64 (Steele, Lea and Flood, 2014).
#[derive(Debug, Clone)]
pub struct Random(u64);

impl Random {
    /// Begins with a seed.
    pub const fn new(seed: u64) -> Self {
        Self(seed)
    }

    /// Draws a number from 0 to 1.
    pub fn uniform(&mut self) -> f64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut z = self.0;
        z = (z ^ z >> 30).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        z = (z ^ z >> 27).wrapping_mul(0x94d0_49bb_1331_11eb);
        ((z ^ z >> 31) >> 11) as f64 / (1_u64 << 53) as f64
    }

    /// Draws a number of mean 0 and variance 1: near enough to normal (Irwin-Hall).
    pub fn normal(&mut self) -> f32 {
        ((0..12).map(|_| self.uniform()).sum::<f64>() - 6.0) as f32
    }
}

/// A network that grows; values go by names, the input is `x`.
#[derive(Debug)]
pub struct Draft {
    /// Nodes and weights so far.
    pub graph: proto::Graph,
    random: Random,
}

impl Default for Draft {
    fn default() -> Self {
        Self::new()
    }
}

impl Draft {
    /// A network without nodes, whose weights follow from a fixed seed.
    pub fn new() -> Self {
        Self {
            graph: proto::Graph::default(),
            random: Random::new(1),
        }
    }

    /// Random weights of this standard deviation.
    pub fn weights(&mut self, shape: &[usize], deviation: f64) -> String {
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

    /// One number, as a weight.
    pub fn number(&mut self, value: f32) -> String {
        let name = format!("w{}", self.graph.initializer.len());
        self.graph.initializer.push(proto::Tensor {
            name: name.clone(),
            data_type: 1,
            raw_data: value.to_le_bytes().to_vec().into(),
            ..Default::default()
        });
        name
    }

    /// Adds a node with attributes of whole numbers; gives the name of its result.
    pub fn node(
        &mut self,
        operator: &str,
        inputs: &[&str],
        attributes: &[(&str, &[i64])],
    ) -> String {
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
    pub fn conv(
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

    /// `max(x, 0)`
    pub fn relu(&mut self, x: &str) -> String {
        self.node("Relu", &[x], &[])
    }

    /// Adds an average pool of 2 x 2.
    pub fn average_pool(&mut self, x: &str) -> String {
        let attributes: [(&str, &[i64]); 2] = [("kernel_shape", &[2, 2]), ("strides", &[2, 2])];
        self.node("AveragePool", &[x], &attributes)
    }

    /// All axes but the first as one.
    pub fn flatten(&mut self, x: &str) -> String {
        self.node("Flatten", &[x], &[("axis", &[1])])
    }

    /// Adds a max pool of k x k.
    pub fn max_pool(&mut self, x: &str, k: i64, stride: i64, pad: i64) -> String {
        let attributes: [(&str, &[i64]); 3] = [
            ("kernel_shape", &[k, k]),
            ("strides", &[stride, stride]),
            ("pads", &[pad, pad, pad, pad]),
        ];
        self.node("MaxPool", &[x], &attributes)
    }

    /// `x w + b`
    pub fn linear(&mut self, x: &str, [inner, columns]: [usize; 2], gain: f64) -> String {
        let w = self.weights(&[inner, columns], (gain / inner as f64).sqrt());
        let b = self.weights(&[columns], 0.05);
        let product = self.node("MatMul", &[x, &w], &[]);
        self.node("Add", &[&product, &b], &[])
    }

    /// The file, of an input of this shape, whose output is the last node's result.
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

/// A network, and the shape of its input.
#[derive(Debug)]
pub struct Network {
    draft: Draft,
    shape: Vec<usize>,
}

impl Network {
    /// This network of an input of this shape.
    pub fn new(draft: Draft, shape: Vec<usize>) -> Self {
        Self { draft, shape }
    }

    /// Shape of the input `x`.
    pub fn shape(&self) -> &[usize] {
        &self.shape
    }

    /// The ONNX file; the output is called `y`.
    pub fn file(self) -> Vec<u8> {
        self.draft.file("y", &self.shape)
    }
}

/// CryptoNets (Dowlin et al., 2016) with ReLU, for images of 28 x 28.
pub fn cryptonets() -> Network {
    let mut net = Draft::new();
    let x = net.conv("x", [1, 5], [5, 2, 1], 2.0);
    let x = net.relu(&x);
    let x = net.flatten(&x);
    let x = net.linear(&x, [845, 100], 2.0);
    let x = net.relu(&x);
    net.linear(&x, [100, 10], 2.0);
    Network::new(net, vec![1, 1, 28, 28])
}

/// MiniONN's network for MNIST (Liu et al., 2017).
pub fn minionn_mnist() -> Network {
    let mut net = Draft::new();
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
    Network::new(net, vec![1, 1, 28, 28])
}

/// MiniONN's network for CIFAR-10 (Liu et al., 2017).
pub fn minionn_cifar10() -> Network {
    let mut net = Draft::new();
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
    Network::new(net, vec![1, 3, 32, 32])
}
